//! Filter pipeline message, type 11 (spec IV.A.2.l).

use crate::bytes::{Reader, Writer};
use crate::error::Result;
use crate::structure::Structure;

/// The filters of a chunked dataset, in the order in which writers apply them.
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
    /// The registered number of the filter.
    pub id: u16,
    /// The name, if stored.
    pub name: Option<String>,
    /// Flags. Bit 0: a chunk may be stored without the filter if the filter fails.
    pub flags: u16,
    /// The parameters of the filter ("client data").
    pub client_data: Vec<u32>,
}

impl FilterSpec {
    /// Returns whether a chunk may be stored without this filter if the filter fails.
    pub fn is_optional(&self) -> bool {
        self.flags & 1 != 0
    }
}

/// The largest number of filters in a pipeline, which is the number of bits in a chunk's filter mask.
pub const MAX_FILTERS: u8 = 32;

/// Filters with lower numbers are defined by the library. Version 2 does not store their names.
const FIRST_REGISTERED: u16 = 256;

impl Structure for FilterPipeline {
    const NAME: &'static str = "filter pipeline message";
    const SPEC: &'static str = "IV.A.2.l";
    type Context = ();

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        let version = r.version_in(1..=2, "1 and 2")?;
        let count = r.u8()?;
        r.at_most(1, "Number of Filters", count.into(), MAX_FILTERS.into())?;
        if version == 1 {
            r.skip(6)?;
        }
        let filters = (0..count).map(|_| FilterSpec::decode(r, version)).collect::<Result<_>>()?;
        Ok(Self { version, filters })
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.u8(self.version);
        w.uint(self.filters.len() as u64, 1);
        if self.version == 1 {
            w.zeros(6);
        }
        for filter in &self.filters {
            filter.encode(w, self.version);
        }
    }
}

impl FilterSpec {
    fn decode(r: &mut Reader<'_>, version: u8) -> Result<Self> {
        let id = r.u16()?;
        let name_len = if stores_name(version, id) { r.u16()? } else { 0 };
        let flags = r.u16()?;
        let count = usize::from(r.u16()?);
        let name = name(r.bytes(name_len.into())?);
        let mut data = r.sub(4 * count)?;
        let client_data = (0..count).map(|_| data.u32()).collect::<Result<_>>()?;
        if version == 1 && count % 2 == 1 {
            r.skip(4)?;
        }
        Ok(Self { id, name, flags, client_data })
    }

    fn encode(&self, w: &mut Writer<'_>, version: u8) {
        let name_len = self.name_len(version);
        w.u16(self.id);
        if stores_name(version, self.id) {
            w.uint(name_len as u64, 2);
        }
        w.u16(self.flags);
        w.uint(self.client_data.len() as u64, 2);
        if let (Some(name), 1..) = (&self.name, name_len) {
            w.bytes(name.as_bytes());
            w.zeros(name_len - name.len());
        }
        for &value in &self.client_data {
            w.u32(value);
        }
        if version == 1 && self.client_data.len() % 2 == 1 {
            w.zeros(4);
        }
    }

    /// Returns the bytes of the stored name with its final zero; in version 1 padded to a multiple of eight.
    fn name_len(&self, version: u8) -> usize {
        match &self.name {
            Some(name) if version == 1 => (name.len() + 1).next_multiple_of(8),
            Some(name) if stores_name(version, self.id) => name.len() + 1,
            _ => 0,
        }
    }
}

fn stores_name(version: u8, id: u16) -> bool {
    version == 1 || id >= FIRST_REGISTERED
}

/// Returns a filter's name up to the first zero. The name only informs users, so invalid UTF-8 is replaced
/// instead of refused.
fn name(bytes: &[u8]) -> Option<String> {
    let text = bytes.split(|&byte| byte == 0).next()?;
    (!bytes.is_empty()).then(|| String::from_utf8_lossy(text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::golden;

    /// Shuffle and deflate, written by h5py 3.16 with both bounds of `libver`.
    #[test]
    fn both_versions_round_trip_bytes_of_libhdf5() {
        let old: FilterPipeline = golden::golden(
            "01 02 00*6 0200 0800 0100 0100 73687566666c6500 02000000 00*4 0100 0800 0100 0100 6465666c61746500 04000000 00*4",
            &(),
        );
        let new: FilterPipeline =
            golden::golden("02 02 0200 0100 0100 02000000 0100 0100 0100 04000000", &());
        let ids =
            |pipeline: &FilterPipeline| pipeline.filters.iter().map(|filter| filter.id).collect::<Vec<_>>();
        assert_eq!((ids(&old), ids(&new)), (vec![2, 1], vec![2, 1]));
        assert_eq!(old.filters[0].name.as_deref(), Some("shuffle"));
        assert_eq!((old.filters[1].client_data.as_slice(), &new.filters[1].name), (&[4][..], &None));
    }

    /// LZF, written by h5py 3.16 with `libver="latest"`.
    #[test]
    fn version_2_stores_the_name_of_a_registered_filter() {
        let pipeline: FilterPipeline =
            golden::golden("02 01 007d 0400 0100 0300 6c7a6600 04000000 05010000 18000000", &());
        let filter = &pipeline.filters[0];
        assert_eq!((filter.id, filter.name.as_deref()), (32000, Some("lzf")));
        assert_eq!((filter.client_data.as_slice(), filter.is_optional()), (&[4, 0x105, 24][..], true));
    }

    #[test]
    fn more_filters_than_filter_mask_bits_are_refused() {
        let error = golden::error::<FilterPipeline>("02 21", &());
        assert_eq!(error, ErrorKind::TooLarge { field: "Number of Filters", value: 33, limit: 32 });
    }
}
