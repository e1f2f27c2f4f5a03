//! The doubling table of a fractal heap (spec III.G): finds the block that contains a heap offset.
//!
//! An indirect block is a table with `width` columns. Blocks in the first two rows have the starting size. In
//! each later row the size doubles. Rows name direct blocks as long as the block size is at most the largest
//! direct size. Later rows name indirect blocks, whose tables follow the same rule.

use crate::addr::Addr;
use crate::bytes::Widths;

/// The shape of a heap's blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeapGeometry {
    /// The address of the heap's header, which every block repeats.
    pub heap: Addr,
    /// The number of columns of the doubling table; a power of two.
    pub width: u16,
    /// The size in bytes of the blocks in the first two rows; a power of two.
    pub starting_size: u64,
    /// The size in bytes of the largest direct block; a power of two.
    pub max_direct_size: u64,
    /// The number of bits of the largest heap offset.
    pub max_heap_bits: u16,
    /// Whether direct blocks go through filters.
    pub filtered: bool,
    /// Whether direct blocks have a checksum.
    pub checksummed: bool,
}

/// One step of the search for an offset: the entry of an indirect block to follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeapStep {
    /// The number of the entry in the indirect block.
    pub entry: usize,
    /// The offset within the block that the entry names.
    pub within: u64,
    /// The block that the entry names.
    pub child: HeapChild,
}

/// A block that an entry names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeapChild {
    /// A direct block.
    Direct {
        /// The size of the block in bytes before filtering.
        size: u64,
    },
    /// An indirect block.
    Indirect {
        /// The number of rows of the block.
        rows: u16,
    },
}

impl HeapGeometry {
    /// Returns whether the sizes are powers of two and consistent with each other. If not, the results of the
    /// other methods mean nothing.
    pub fn is_sound(&self) -> bool {
        self.width.is_power_of_two()
            && self.starting_size.is_power_of_two()
            && self.max_direct_size.is_power_of_two()
            && self.max_direct_size >= self.starting_size
            && self.first_row_bits() < 63
            && self.max_heap_bits <= 64
            && u32::from(self.max_heap_bits) >= self.first_row_bits()
            // An indirect block in the first such row must have room for at least one row of its own.
            && self.max_direct_size.saturating_mul(2).ilog2() >= self.first_row_bits()
    }

    /// Returns the number of rows that name direct blocks, in an indirect block with at least as many rows.
    pub fn direct_rows(&self) -> u16 {
        narrow(self.max_direct_size.max(1).ilog2().saturating_sub(self.start_bits()) + 2)
    }

    /// Returns the number of rows of the largest root block.
    pub fn max_root_rows(&self) -> u16 {
        narrow(u32::from(self.max_heap_bits).saturating_sub(self.first_row_bits()) + 1)
    }

    /// Returns the size in bytes of each block in row `row`.
    pub fn row_block_size(&self, row: u16) -> u64 {
        doubled(self.starting_size, u32::from(row.saturating_sub(1)))
    }

    /// Returns the offset of row `row` in the space of an indirect block.
    pub fn row_offset(&self, row: u16) -> u64 {
        match row {
            0 => 0,
            row => doubled(self.starting_size.saturating_mul(self.width.into()), u32::from(row) - 1),
        }
    }

    /// Returns the block that entry `entry` of an indirect block names, and its offset in that block's space.
    pub fn entry(&self, entry: usize) -> (HeapChild, u64) {
        let width = usize::from(self.width.max(1));
        let row = u16::try_from(entry / width).unwrap_or(u16::MAX);
        let column = (entry % width) as u64;
        let offset = self.row_offset(row).saturating_add(self.row_block_size(row).saturating_mul(column));
        (self.child(row), offset)
    }

    /// Returns the entry that leads to `offset`, which counts from the beginning of the indirect block.
    pub fn step(&self, offset: u64) -> HeapStep {
        let first_row = self.row_offset(1);
        let row = match offset {
            offset if offset < first_row => 0,
            offset => narrow(offset.ilog2() - self.first_row_bits() + 1),
        };
        let (size, into_row) = (self.row_block_size(row).max(1), offset - self.row_offset(row));
        let column = usize::try_from(into_row / size).unwrap_or(usize::MAX);
        let entry = (usize::from(row) * usize::from(self.width)).saturating_add(column);
        HeapStep { entry, within: into_row % size, child: self.child(row) }
    }

    /// Returns whether `len` bytes at a heap offset are inside one direct block, after the block's prefix.
    pub fn is_in_one_block(&self, offset: u64, len: u64, widths: Widths) -> bool {
        let mut step = self.step(offset);
        loop {
            match step.child {
                HeapChild::Direct { size } => {
                    let begins_after = step.within >= self.direct_overhead(widths) as u64;
                    return begins_after && step.within.saturating_add(len) <= size;
                }
                // A block has fewer rows than the block above it.
                HeapChild::Indirect { .. } => step = self.step(step.within),
            }
        }
    }

    fn child(&self, row: u16) -> HeapChild {
        let size = self.row_block_size(row);
        if row < self.direct_rows() {
            return HeapChild::Direct { size };
        }
        let rows = size.max(1).ilog2().saturating_sub(self.first_row_bits()) + 1;
        HeapChild::Indirect { rows: narrow(rows) }
    }

    /// Returns the size of a heap offset in bytes.
    pub fn offset_width(&self) -> usize {
        usize::from(self.max_heap_bits).div_ceil(8)
    }

    /// Returns the number of bytes before a direct block's data. They count as part of the heap's space.
    pub fn direct_overhead(&self, widths: Widths) -> usize {
        let checksum = if self.checksummed { 4 } else { 0 };
        4 + 1 + widths.offset.bytes() + self.offset_width() + checksum
    }

    /// Returns the room for objects, in bytes, of all direct blocks below the first `rows` rows.
    pub fn capacity(&self, rows: u16, widths: Widths) -> u64 {
        let overhead = self.direct_overhead(widths) as u64;
        // `before[row]` is the capacity of the rows before `row`. An indirect block in a row always has fewer
        // rows than precede that row.
        let mut before: Vec<u64> = vec![0];
        for row in 0..rows {
            let block = match self.child(row) {
                HeapChild::Direct { size } => size.saturating_sub(overhead),
                HeapChild::Indirect { rows } => before.get(usize::from(rows)).copied().unwrap_or(0),
            };
            let all = block.saturating_mul(self.width.into());
            before.push(before.last().copied().unwrap_or(0).saturating_add(all));
        }
        before.last().copied().unwrap_or(0)
    }

    /// Returns the size in bytes of an indirect block with `rows` rows.
    pub fn indirect_len(&self, rows: u16, widths: Widths) -> usize {
        let (width, address) = (usize::from(self.width), widths.offset.bytes());
        let direct = usize::from(rows.min(self.direct_rows()));
        let indirect = usize::from(rows) - direct;
        let filtering = if self.filtered { widths.length.bytes() + 4 } else { 0 };
        4 + 1
            + address
            + self.offset_width()
            + direct * width * (address + filtering)
            + indirect * width * address
            + 4
    }

    fn start_bits(&self) -> u32 {
        self.starting_size.max(1).ilog2()
    }

    /// Returns the number of bits of an offset in the first row.
    fn first_row_bits(&self) -> u32 {
        self.start_bits() + u32::from(self.width.max(1)).ilog2()
    }
}

/// Returns `value * 2^times`, saturating at `u64::MAX`.
fn doubled(value: u64, times: u32) -> u64 {
    1_u64.checked_shl(times).map_or(u64::MAX, |factor| value.saturating_mul(factor))
}

/// Converts a number of rows. A heap has no more rows than an offset has bits, so the number fits.
fn narrow(rows: u32) -> u16 {
    u16::try_from(rows).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The geometry that libhdf5 gives the links of a group.
    const LINKS: HeapGeometry = HeapGeometry {
        heap: Addr::new(0),
        width: 4,
        starting_size: 512,
        max_direct_size: 65536,
        max_heap_bits: 32,
        filtered: false,
        checksummed: true,
    };

    #[test]
    fn row_block_sizes_double_from_the_second_row_on() {
        assert!(LINKS.is_sound());
        assert_eq!(LINKS.direct_rows(), 9);
        assert_eq!(LINKS.max_root_rows(), 22);
        assert_eq!([0, 1, 2, 8, 9].map(|row| LINKS.row_block_size(row)), [512, 512, 1024, 65536, 131_072]);
    }

    #[test]
    fn blocks_follow_each_other_without_gaps() {
        for geometry in [LINKS, HeapGeometry { width: 1, starting_size: 256, max_direct_size: 1024, ..LINKS }]
        {
            let mut next = 0;
            for entry in 0..usize::from(geometry.width) * 14 {
                let (child, offset) = geometry.entry(entry);
                assert_eq!(offset, next);
                let size = geometry.row_block_size(u16::try_from(entry).unwrap() / geometry.width);
                for within in [0, 1, size / 2, size - 1] {
                    assert_eq!(geometry.step(offset + within), HeapStep { entry, within, child });
                }
                // The rows of an indirect block cover exactly the size of the block.
                match child {
                    HeapChild::Direct { size: direct } => assert_eq!(direct, size),
                    HeapChild::Indirect { rows } => assert_eq!(geometry.row_offset(rows), size),
                }
                next += size;
            }
        }
    }

    #[test]
    fn bytes_are_in_one_block_after_its_prefix_and_before_its_end() {
        let prefix = LINKS.direct_overhead(Widths::EIGHT) as u64;
        // The first block of a row of indirect blocks is a direct block, too.
        for (start, size) in [(0, 512), (512, 512), (2048, 512), (8192, 2048), (LINKS.row_offset(9), 512)] {
            for (offset, len, expected) in [
                (start + prefix, size - prefix, true),
                (start + prefix, size - prefix + 1, false),
                (start + prefix - 1, 1, false),
                (start + size - 1, 1, true),
                (start + size - 1, 2, false),
                (start + prefix, u64::MAX, false),
            ] {
                assert_eq!(LINKS.is_in_one_block(offset, len, Widths::EIGHT), expected, "{offset}, {len}");
            }
        }
    }

    #[test]
    fn the_capacity_is_the_sum_over_all_direct_blocks() {
        fn sum(geometry: HeapGeometry, rows: u16) -> u64 {
            let entries = 0..usize::from(rows * geometry.width);
            entries
                .map(|entry| match geometry.entry(entry).0 {
                    HeapChild::Direct { size } => size - geometry.direct_overhead(Widths::EIGHT) as u64,
                    HeapChild::Indirect { rows } => sum(geometry, rows),
                })
                .sum()
        }
        for rows in 0..18 {
            assert_eq!(LINKS.capacity(rows, Widths::EIGHT), sum(LINKS, rows));
        }
        assert_eq!(LINKS.capacity(8, Widths::EIGHT), LINKS.row_offset(8) - 32 * 21);
    }

    #[test]
    fn inconsistent_sizes_are_not_sound() {
        assert!(!HeapGeometry { width: 3, ..LINKS }.is_sound());
        assert!(!HeapGeometry { starting_size: 0, ..LINKS }.is_sound());
        assert!(!HeapGeometry { max_direct_size: 256, ..LINKS }.is_sound());
        assert!(!HeapGeometry { max_direct_size: 512, ..LINKS }.is_sound());
        assert!(!HeapGeometry { max_heap_bits: 65, ..LINKS }.is_sound());
        assert!(!HeapGeometry { max_heap_bits: 10, ..LINKS }.is_sound());
    }
}
