//! Selections of blocks: version 1 lists them, versions 2 and 3 also describe them by start, stride, count
//! and block.

use super::{Form, StoredSelection, rank, version};
use crate::bytes::{Reader, Writer};
use crate::error::Result;

/// Blocks of equal shape at equal distances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegularHyperslab {
    /// Version 2, or version 3 with any width.
    pub form: Form,
    /// The blocks along each dimension. At most one has no end.
    pub axes: Vec<RegularAxis>,
}

/// The blocks along one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegularAxis {
    /// The first index of the first block.
    pub start: u64,
    /// The distance from one block to the next.
    pub stride: u64,
    /// The number of blocks, or `None` if they do not end.
    pub count: Option<u64>,
    /// The number of indices of a block, or `None` if the only block does not end.
    pub block: Option<u64>,
}

/// A list of blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockList {
    /// Any version and width.
    pub form: Form,
    /// The number of dimensions, at least 1.
    pub rank: usize,
    /// For each block, the coordinates of its first element and of its last element.
    pub corners: Vec<u64>,
}

/// Flags, bit 0: the blocks are regular.
const REGULAR: u8 = 1;

/// The most regular blocks that are listed in version 1. libhdf5 lists up to 2^32 blocks. Every library that
/// reads virtual datasets reads version 2, which is shorter.
const MOST_LISTED: u64 = 1024;

/// Decodes a hyperslab after the selection type.
pub(super) fn decode(r: &mut Reader<'_>) -> Result<StoredSelection> {
    let (form, flags) = match version(r, 3, "1, 2 or 3")? {
        1 => {
            r.skip(4)?;
            (Form::V1, 0)
        }
        2 => (Form { version: 2, width: 8 }, r.flags(REGULAR, "only bit 0")?),
        version => {
            let flags = r.flags(REGULAR, "only bit 0")?;
            (Form::read(r, version)?, flags)
        }
    };
    if form.version < 3 {
        r.skip(4)?; // the length, which follows from the number of blocks
    }
    let rank = rank(r)?;
    if flags & REGULAR == 0 {
        return BlockList::decode(r, form, rank).map(StoredSelection::Blocks);
    }
    let axes = (0..rank).map(|_| RegularAxis::decode(r, form)).collect::<Result<Vec<_>>>()?;
    if axes.iter().filter(|axis| axis.is_unlimited()).count() > 1 {
        return Err(r.bad_value("Count", u64::MAX, "limited in all dimensions but one"));
    }
    Ok(StoredSelection::Regular(RegularHyperslab { form, axes }))
}

impl RegularAxis {
    /// Returns whether the indices do not end.
    pub fn is_unlimited(&self) -> bool {
        self.count.is_none() || self.block.is_none()
    }

    /// Returns the last index, if there is one and it fits a `u64`.
    pub fn last(&self) -> Option<u64> {
        let before = self.count?.checked_sub(1)?.checked_mul(self.stride)?;
        self.start.checked_add(before)?.checked_add(self.block?.checked_sub(1)?)
    }

    fn decode(r: &mut Reader<'_>, form: Form) -> Result<Self> {
        let limited = |value| (value != form.unlimited()).then_some(value);
        let (start, stride) = (form.get(r)?, form.get(r)?);
        let axis = Self { start, stride, count: limited(form.get(r)?), block: limited(form.get(r)?) };
        if axis.block.is_none() && axis.count != Some(1) {
            return Err(r.bad_value("Count", axis.count.unwrap_or(u64::MAX), "1 for a block without end"));
        }
        // Blocks that overlap would select elements twice.
        if axis.count != Some(1)
            && axis.count != Some(0)
            && axis.block.is_some_and(|block| axis.stride < block)
        {
            return Err(r.bad_value("Stride", axis.stride, "at least the size of a block"));
        }
        Ok(axis)
    }

    fn encode(&self, w: &mut Writer<'_>, form: Form) {
        form.put(w, self.start);
        form.put(w, self.stride);
        form.put(w, self.count.unwrap_or(form.unlimited()));
        form.put(w, self.block.unwrap_or(form.unlimited()));
    }

    /// Returns the largest number that the encoding stores. A number with all bits set would be read as
    /// unlimited, so a count or block needs one bit more. libhdf5 forgets that.
    fn largest(&self) -> u64 {
        let ends = [self.count, self.block].map(|end| end.map_or(0, |end| end.saturating_add(1)));
        [self.start, self.stride, self.last().unwrap_or(0)].into_iter().chain(ends).max().unwrap_or(0)
    }
}

impl Form {
    /// The value of a count or block without end: all bits set.
    fn unlimited(self) -> u64 {
        u64::MAX >> (64 - 8 * u32::from(self.width))
    }
}

impl RegularHyperslab {
    /// Returns the dimension in which the blocks do not end.
    pub fn unlimited_axis(&self) -> Option<usize> {
        self.axes.iter().position(RegularAxis::is_unlimited)
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        let rank = self.axes.len();
        w.u32(self.form.version);
        w.u8(REGULAR);
        if self.form.version < 3 {
            w.uint(4 + 4 * 8 * rank as u64, 4);
        } else {
            w.u8(self.form.width);
        }
        w.uint(rank as u64, 4);
        for axis in &self.axes {
            axis.encode(w, self.form);
        }
    }
}

impl BlockList {
    /// Returns the corners of each block: the coordinates of the first element and of the last element.
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = (&[u64], &[u64])> {
        let rank = self.rank.max(1);
        self.corners.chunks_exact(2 * rank).map(move |corners| corners.split_at(rank))
    }

    fn decode(r: &mut Reader<'_>, form: Form, rank: usize) -> Result<Self> {
        let count = form.get(r)?;
        let corners = form.list(r, count.checked_mul(2 * rank as u64))?;
        let blocks = Self { form, rank, corners };
        for (first, last) in blocks.blocks() {
            if let Some((_, &end)) = first.iter().zip(last).find(|(first, last)| first > last) {
                return Err(r.bad_value("Ending Offset", end, "at least the starting offset"));
            }
        }
        Ok(blocks)
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u32(self.form.version);
        match self.form.version {
            1 => w.zeros(4),
            _ => w.u8(0), // flags
        }
        if self.form.version < 3 {
            let numbers = self.corners.len() as u64 + 1;
            w.uint(4 + u64::from(self.form.width) * numbers, 4);
        } else {
            w.u8(self.form.width);
        }
        w.uint(self.rank as u64, 4);
        self.form.put(w, self.blocks().len() as u64);
        self.form.put_list(w, &self.corners);
    }
}

impl StoredSelection {
    /// Returns regular blocks in the form that libhdf5 chooses. `is_compact` is true in a file for HDF5 1.12
    /// and later.
    pub fn regular(axes: Vec<RegularAxis>, is_compact: bool) -> Self {
        Self::regular_within(axes, (!is_compact).then_some(MOST_LISTED))
    }

    /// Returns regular blocks, listed if they end and are at most `listed`, and otherwise described by start,
    /// stride, count and block. `None` takes version 3, which HDF5 1.12 is the first to read.
    pub fn regular_within(axes: Vec<RegularAxis>, listed: Option<u64>) -> Self {
        let largest = axes.iter().map(RegularAxis::largest).max().unwrap_or(0);
        let Some(listed) = listed else {
            return Self::Regular(RegularHyperslab { form: Form::narrowest(3, largest), axes });
        };
        let counts = axes.iter().map(|axis| axis.count.filter(|_| axis.block.is_some()));
        let count = counts.into_iter().try_fold(1_u64, |total, count| total.checked_mul(count?));
        if count.is_none_or(|count| count > listed.min(MOST_LISTED)) || largest > u32::MAX.into() {
            return Self::Regular(RegularHyperslab { form: Form { version: 2, width: 8 }, axes });
        }
        Self::Blocks(BlockList { form: Form::V1, rank: axes.len(), corners: corners_of(&axes) })
    }

    /// Returns a list of blocks, each with the coordinates of its first element and of its last element, in
    /// the form that libhdf5 chooses. `is_compact` is true in a file for HDF5 1.12 and later.
    ///
    /// A list with coordinates above 2^32 needs version 3, which HDF5 1.12 is the first to read.
    pub fn blocks(rank: usize, corners: Vec<u64>, is_compact: bool) -> Self {
        let count = corners.len() as u64 / (2 * rank.max(1) as u64);
        let largest = corners.iter().copied().max().unwrap_or(0).max(count);
        let form =
            if is_compact || largest > u32::MAX.into() { Form::narrowest(3, largest) } else { Form::V1 };
        Self::Blocks(BlockList { form, rank, corners })
    }
}

/// Returns the corners of limited blocks, in row-major order.
fn corners_of(axes: &[RegularAxis]) -> Vec<u64> {
    let mut corners = Vec::new();
    let mut at = vec![0; axes.len()];
    if axes.iter().any(|axis| axis.count == Some(0) || axis.block == Some(0)) {
        return corners;
    }
    loop {
        let firsts = axes.iter().zip(&at).map(|(axis, number)| axis.start + axis.stride * number);
        corners.extend(firsts.clone());
        corners.extend(firsts.zip(axes).map(|(first, axis)| first + axis.block.unwrap_or(1) - 1));
        let next = at.iter().zip(axes).rposition(|(&number, axis)| number + 1 < axis.count.unwrap_or(1));
        let Some(next) = next else { return corners };
        at.iter_mut().skip(next + 1).for_each(|number| *number = 0);
        at.iter_mut().skip(next).take(1).for_each(|number| *number += 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::golden::{error, golden};

    fn axis(start: u64, stride: u64, count: u64, block: u64) -> RegularAxis {
        RegularAxis { start, stride, count: Some(count), block: Some(block) }
    }

    const ENDLESS: RegularAxis = RegularAxis { start: 0, stride: 1, count: None, block: Some(1) };

    /// The mappings of virtual datasets of h5py 3.16 (HDF5 2.0), `libver` "earliest" and "latest".
    #[test]
    fn one_block_round_trips_in_the_form_that_libhdf5_chooses() {
        let old: StoredSelection =
            golden("02000000 01000000 00000000 10000000 01000000 01000000 02000000 04000000", &());
        assert_eq!(old, StoredSelection::regular(vec![axis(2, 1, 1, 3)], false));
        let new: StoredSelection = golden("02000000 03000000 01 02 01000000 0200 0100 0100 0300", &());
        assert_eq!(new, StoredSelection::regular(vec![axis(2, 1, 1, 3)], true));
        let far: StoredSelection = golden(
            "02000000 02000000 01 24000000 01000000 \
             0000000001000000 0100000000000000 0100000000000000 0300000000000000",
            &(),
        );
        assert_eq!(far, StoredSelection::regular(vec![axis(1 << 32, 1, 1, 3)], false));
    }

    #[test]
    fn blocks_without_end_round_trip() {
        let old: StoredSelection = golden(
            "02000000 02000000 01 24000000 01000000 \
             0000000000000000 0100000000000000 ffffffffffffffff 0100000000000000",
            &(),
        );
        assert_eq!(old, StoredSelection::regular(vec![ENDLESS], false));
        assert_eq!(old.unlimited_axis(), Some(0));
        let new: StoredSelection = golden("02000000 03000000 01 02 01000000 0000 0100 ffff 0100", &());
        assert_eq!(new, StoredSelection::regular(vec![ENDLESS], true));
        let block: StoredSelection = golden("02000000 03000000 01 02 01000000 0000 0100 0100 ffff", &());
        let endless = RegularAxis { count: Some(1), block: None, ..ENDLESS };
        assert_eq!(block, StoredSelection::regular(vec![endless], true));
    }

    #[test]
    fn lists_of_blocks_round_trip() {
        let corners = vec![0, 0, 1, 1, 5, 5, 5, 8];
        let old: StoredSelection = golden(
            "02000000 01000000 00000000 28000000 02000000 02000000 \
             00000000 00000000 01000000 01000000 05000000 05000000 05000000 08000000",
            &(),
        );
        assert_eq!(old, StoredSelection::blocks(2, corners.clone(), false));
        let new: StoredSelection =
            golden("02000000 03000000 00 02 02000000 0200 0000 0000 0100 0100 0500 0500 0500 0800", &());
        assert_eq!(new, StoredSelection::blocks(2, corners, true));
    }

    /// h5py 3.16: `SpaceID.encode()` of a regular hyperslab.
    #[test]
    fn version_1_lists_regular_blocks_in_row_major_order() {
        let listed: StoredSelection = golden(
            "02000000 01000000 00000000 48000000 02000000 04000000 \
             01000000 02000000 02000000 02000000 01000000 06000000 02000000 06000000 \
             04000000 02000000 05000000 02000000 04000000 06000000 05000000 06000000",
            &(),
        );
        assert_eq!(listed, StoredSelection::regular(vec![axis(1, 3, 2, 2), axis(2, 4, 2, 1)], false));
        let many = StoredSelection::regular(vec![axis(0, 2, 1025, 1)], false);
        assert!(matches!(many, StoredSelection::Regular(_)), "{many:?}");
    }

    #[test]
    fn a_count_with_all_bits_set_is_stored_wider() {
        let full = |block| StoredSelection::regular(vec![axis(0, 1, 1, block)], true);
        for block in [0xfffe, 0xffff, 0xffff_fffe, 0xffff_ffff] {
            let mut bytes = Vec::new();
            Writer::new(&mut bytes, crate::Widths::EIGHT).structure(&full(block), &());
            let found = Reader::new(&bytes, crate::Widths::EIGHT, crate::Addr::new(0)).structure(&());
            assert_eq!(found, Ok(full(block)));
        }
    }

    #[test]
    fn blocks_that_overlap_run_backwards_or_are_cut_short_are_errors() {
        let kind = error::<StoredSelection>("02000000 03000000 01 02 01000000 0000 0100 0200 0300", &());
        assert!(matches!(kind, ErrorKind::Value { field: "Stride", .. }), "{kind:?}");
        let kind = error::<StoredSelection>("02000000 03000000 01 02 01000000 0000 0100 0200 ffff", &());
        assert!(matches!(kind, ErrorKind::Value { field: "Count", .. }), "{kind:?}");
        let two = "02000000 03000000 01 02 02000000 0000 0100 ffff 0100 0000 0100 ffff 0100";
        let kind = error::<StoredSelection>(two, &());
        assert!(matches!(kind, ErrorKind::Value { field: "Count", .. }), "{kind:?}");
        let kind = error::<StoredSelection>("02000000 03000000 00 02 01000000 0100 0500 0400", &());
        assert!(matches!(kind, ErrorKind::Value { field: "Ending Offset", value: 4, .. }), "{kind:?}");
        let kind = error::<StoredSelection>("02000000 03000000 00 08 01000000 ffffffffffffff7f", &());
        assert!(matches!(kind, ErrorKind::Truncated { .. }), "{kind:?}");
    }
}
