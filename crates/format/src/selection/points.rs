//! Selections of single elements.

use super::{Form, rank, version};
use crate::bytes::{Reader, Writer};
use crate::error::Result;

/// A list of elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointList {
    /// Version 1, or version 2 with any width.
    pub form: Form,
    /// The number of dimensions, at least 1.
    pub rank: usize,
    /// The coordinates, `rank` consecutive numbers for each element.
    pub coords: Vec<u64>,
}

impl PointList {
    /// Returns a list in the form that libhdf5 chooses. `is_compact` is true in a file for HDF5 1.12 and
    /// later.
    pub fn new(rank: usize, coords: Vec<u64>, is_compact: bool) -> Self {
        let count = coords.len().checked_div(rank).unwrap_or(0) as u64;
        let largest = coords.iter().copied().max().unwrap_or(0).max(count);
        let form =
            if is_compact || largest > u32::MAX.into() { Form::narrowest(2, largest) } else { Form::V1 };
        Self { form, rank, coords }
    }

    /// Returns the coordinates of each element.
    pub fn points(&self) -> impl ExactSizeIterator<Item = &[u64]> {
        self.coords.chunks_exact(self.rank.max(1))
    }

    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self> {
        let version = version(r, 2, "1 or 2")?;
        let form = if version == 1 {
            // Reserved, and the length, which follows from the number of points.
            r.skip(8)?;
            Form::V1
        } else {
            Form::read(r, version)?
        };
        let rank = rank(r)?;
        let count = form.get(r)?;
        let coords = form.list(r, count.checked_mul(rank as u64))?;
        Ok(Self { form, rank, coords })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u32(self.form.version);
        if self.form.version == 1 {
            w.zeros(4);
            w.uint(8 + 4 * self.coords.len() as u64, 4);
        } else {
            w.u8(self.form.width);
        }
        w.uint(self.rank as u64, 4);
        self.form.put(w, self.points().len() as u64);
        self.form.put_list(w, &self.coords);
    }
}

#[cfg(test)]
mod tests {
    use crate::error::ErrorKind;
    use crate::golden::{error, golden};
    use crate::selection::{Form, PointList, StoredSelection};

    /// h5py 3.16 (HDF5 2.0): `SpaceID.encode()` and a region reference with `libver="latest"`.
    #[test]
    fn points_of_both_versions_round_trip() {
        let coords = vec![1, 2, 9, 19, 0, 0];
        let first: StoredSelection = golden(
            "01000000 01000000 00000000 20000000 02000000 03000000 \
             01000000 02000000 09000000 13000000 00000000 00000000",
            &(),
        );
        assert_eq!(first, StoredSelection::Points(PointList::new(2, coords.clone(), false)));
        let second: StoredSelection = golden("01000000 02000000 02 02000000 0200 0100 0200 0900 1300", &());
        assert_eq!(second, StoredSelection::Points(PointList::new(2, coords[..4].to_vec(), true)));
        let far: StoredSelection =
            golden("01000000 02000000 08 01000000 0100000000000000 0000000002000000", &());
        assert_eq!(far, StoredSelection::Points(PointList::new(1, vec![1 << 33], false)));
    }

    #[test]
    fn numbers_take_the_fewest_bytes() {
        let width = |largest| PointList::new(1, vec![largest], true).form;
        assert_eq!(width(0xffff), Form { version: 2, width: 2 });
        assert_eq!(width(0x1_0000), Form { version: 2, width: 4 });
        assert_eq!(width(0x1_0000_0000), Form { version: 2, width: 8 });
    }

    #[test]
    fn more_points_than_bytes_are_an_error_before_memory_is_allocated() {
        let kind =
            error::<StoredSelection>("01000000 02000000 08 02000000 ffffffffffffff7f 0100000000000000", &());
        assert!(matches!(kind, ErrorKind::Truncated { .. }), "{kind:?}");
    }
}
