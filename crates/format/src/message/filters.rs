//! Filter pipeline message, type 11 (spec IV.A.2.l).

/// The filters of a chunked dataset, in the order in which a writer applies them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FilterPipeline {
    /// The version of the message: 1 or 2.
    pub version: u8,
    /// The filters.
    pub filters: Vec<FilterSpec>,
}

/// One filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterSpec {
    /// Its registered number.
    pub id: u16,
    /// Its name, if stored.
    pub name: Option<String>,
    /// Flags; bit 0: a chunk may be stored without it if it fails.
    pub flags: u16,
    /// Its parameters ("client data").
    pub client_data: Vec<u32>,
}

impl FilterSpec {
    /// Whether chunks may be stored without this filter.
    pub fn is_optional(&self) -> bool {
        self.flags & 1 != 0
    }
}
