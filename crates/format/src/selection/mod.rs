//! Serialized dataspace selections (spec VIII.A): the elements that a region reference names, and both sides
//! of a mapping of a virtual dataset.

mod hyperslab;
mod points;

pub use hyperslab::{BlockList, RegularAxis, RegularHyperslab};
pub use points::PointList;

use crate::bytes::{Reader, Widths, Writer};
use crate::error::{ErrorKind, Result};
use crate::message::dataspace::MAX_RANK;
use crate::structure::Structure;

/// A selection of the elements of a dataspace, as a file stores it. The shape of the dataspace is not part of
/// it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredSelection {
    /// No elements.
    None,
    /// Single elements, in any order.
    Points(PointList),
    /// Blocks of equal shape at equal distances.
    Regular(RegularHyperslab),
    /// Any blocks. The elements are in row-major order of the dataspace, not block by block.
    Blocks(BlockList),
    /// All elements.
    All,
}

/// The form in which numbers are stored. The version and the width follow from each other in versions 1
/// (4 bytes) and 2 of hyperslabs (8 bytes).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// The version of the selection info.
    pub version: u32,
    /// The number of bytes of each number: 2, 4 or 8.
    pub width: u8,
}

const NONE: u32 = 0;
const POINTS: u32 = 1;
const HYPERSLABS: u32 = 2;
const ALL: u32 = 3;

impl StoredSelection {
    /// Returns the number of dimensions, or `None` for a selection that fits any dataspace.
    pub fn rank(&self) -> Option<usize> {
        match self {
            Self::None | Self::All => None,
            Self::Points(points) => Some(points.rank),
            Self::Regular(slab) => Some(slab.axes.len()),
            Self::Blocks(blocks) => Some(blocks.rank),
        }
    }

    /// Returns the dimension in which the selection has no end.
    pub fn unlimited_axis(&self) -> Option<usize> {
        match self {
            Self::Regular(slab) => slab.unlimited_axis(),
            _ => None,
        }
    }
}

impl Form {
    /// Numbers of 4 bytes, as in version 1.
    pub const V1: Self = Self { version: 1, width: 4 };

    /// Returns the form of the newest version, `version`, for numbers up to `largest`.
    fn narrowest(version: u32, largest: u64) -> Self {
        let width = match largest {
            0..=0xffff => 2,
            0x1_0000..=0xffff_ffff => 4,
            _ => 8,
        };
        Self { version, width }
    }

    fn read(r: &mut Reader<'_>, version: u32) -> Result<Self> {
        match r.u8()? {
            width @ (2 | 4 | 8) => Ok(Self { version, width }),
            width => {
                let (field, value) = ("Encode Size", width.into());
                Err(r.error_back(1, ErrorKind::Value { field, value, expected: "2, 4 or 8" }))
            }
        }
    }

    fn get(self, r: &mut Reader<'_>) -> Result<u64> {
        r.uint(self.width.into())
    }

    fn put(self, w: &mut Writer<'_>, value: u64) {
        w.uint(value, self.width.into());
    }

    /// Reads `count` numbers. The bytes must be there before memory is allocated for the numbers.
    fn list(self, r: &mut Reader<'_>, count: Option<u64>) -> Result<Vec<u64>> {
        let count = count.and_then(|count| usize::try_from(count).ok()).unwrap_or(usize::MAX);
        let mut numbers = r.sub(count.saturating_mul(self.width.into()))?;
        (0..count).map(|_| self.get(&mut numbers)).collect()
    }

    fn put_list(self, w: &mut Writer<'_>, numbers: &[u64]) {
        for &number in numbers {
            self.put(w, number);
        }
    }
}

/// Reads "Rank".
fn rank(r: &mut Reader<'_>) -> Result<usize> {
    match r.u32()? {
        rank @ 1.. if rank as usize <= MAX_RANK => Ok(rank as usize),
        rank => {
            let (field, value) = ("Rank", rank.into());
            Err(r.error_back(4, ErrorKind::Value { field, value, expected: "1 to 32" }))
        }
    }
}

/// Reads the version of a selection info.
fn version(r: &mut Reader<'_>, newest: u32, known: &'static str) -> Result<u32> {
    match r.u32()? {
        version if (1..=newest).contains(&version) => Ok(version),
        version => {
            let found = u8::try_from(version).unwrap_or(u8::MAX);
            Err(r.error_back(4, ErrorKind::Version { found, known }))
        }
    }
}

impl Structure for StoredSelection {
    const NAME: &'static str = "dataspace selection";
    const SPEC: &'static str = "VIII.A";
    type Context = ();

    fn read_len(_: Widths, (): &()) -> usize {
        64
    }

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        match r.u32()? {
            kind @ (NONE | ALL) => {
                version(r, 1, "1")?;
                r.skip(8)?;
                Ok(if kind == ALL { Self::All } else { Self::None })
            }
            POINTS => PointList::decode(r).map(Self::Points),
            HYPERSLABS => hyperslab::decode(r),
            kind => {
                let (field, value) = ("Selection Type", kind.into());
                Err(r.error_back(4, ErrorKind::Value { field, value, expected: "0 to 3" }))
            }
        }
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        match self {
            Self::None | Self::All => {
                w.u32(if *self == Self::All { ALL } else { NONE });
                w.u32(1);
                w.zeros(8);
            }
            Self::Points(points) => {
                w.u32(POINTS);
                points.encode(w);
            }
            Self::Regular(slab) => {
                w.u32(HYPERSLABS);
                slab.encode(w);
            }
            Self::Blocks(blocks) => {
                w.u32(HYPERSLABS);
                blocks.encode(w);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::{error, golden};

    /// h5py 3.16 (HDF5 2.0): `SpaceID.encode()`.
    #[test]
    fn all_and_none_have_no_data() {
        let none: StoredSelection = golden("00000000 01000000 00*8", &());
        assert_eq!((none.rank(), none), (None, StoredSelection::None));
        let all: StoredSelection = golden("03000000 01000000 00*8", &());
        assert_eq!((all.unlimited_axis(), all), (None, StoredSelection::All));
    }

    #[test]
    fn unknown_types_versions_and_widths_are_errors() {
        let kind = error::<StoredSelection>("04000000 01000000 00*8", &());
        assert!(matches!(kind, ErrorKind::Value { field: "Selection Type", value: 4, .. }), "{kind:?}");
        for (bytes, known) in [
            ("03000000 02000000 00*8", "1"),
            ("01000000 03000000 00*8", "1 or 2"),
            ("02000000 04000000 00*8", "1, 2 or 3"),
        ] {
            let kind = error::<StoredSelection>(bytes, &());
            assert!(matches!(kind, ErrorKind::Version { known: found, .. } if found == known), "{kind:?}");
        }
        let kind = error::<StoredSelection>("02000000 03000000 01 03 01000000 00*32", &());
        assert!(matches!(kind, ErrorKind::Value { field: "Encode Size", value: 3, .. }), "{kind:?}");
        let kind = error::<StoredSelection>("02000000 03000000 01 02 21000000 00*32", &());
        assert!(matches!(kind, ErrorKind::Value { field: "Rank", value: 33, .. }), "{kind:?}");
    }
}
