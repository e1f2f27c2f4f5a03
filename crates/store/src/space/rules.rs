//! What space is for, and the rules by which it is allocated.

/// What an extent is for. Metadata are kept together, so that they do not fragment the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpaceKind {
    /// A structure.
    Metadata,
    /// Elements of a dataset.
    Raw,
    /// A collection of the global heap. In a file with pages it shares pages with elements, as in libhdf5.
    GlobalHeap,
}

/// The kind of a page of extents that are shorter than a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Small {
    Metadata,
    Data,
}

impl SpaceKind {
    pub(crate) fn small(self) -> Small {
        if self == Self::Metadata { Small::Metadata } else { Small::Data }
    }
}

/// The extents that begin at multiples of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alignment {
    /// The length in bytes of the shortest such extent.
    pub threshold: u64,
    /// The number.
    pub step: u64,
}

impl Default for Alignment {
    fn default() -> Self {
        Self { threshold: 1, step: 1 }
    }
}

impl Alignment {
    pub(crate) fn of(self, len: u64) -> u64 {
        if len >= self.threshold { self.step.max(1) } else { 1 }
    }
}

/// How the space of a file is allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpaceRules {
    /// The size of a page in bytes, if space is allocated in pages.
    pub page: Option<u64>,
    /// The extents that are aligned. Without effect in pages.
    pub alignment: Alignment,
    /// The size of the blocks from which metadata are allocated, in bytes. Without effect in pages.
    pub metadata_block: Option<u64>,
}
