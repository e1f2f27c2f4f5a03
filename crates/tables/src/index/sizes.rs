//! The sizes of the parts of an index.
//!
//! An index is a sequence of *positions*, one for each row. Positions are cut into *slices*; the values of a
//! slice are sorted. A slice is cut into *chunks*, which are chunks of the datasets of the index; the values
//! at their starts are the *bounds*. Positions after the last whole slice are the *last row* of the index, in
//! datasets of its own. *Blocks* of slices limit how far rows move.

use super::Kind;

/// The sizes of an index, in positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) superblock: u64,
    pub(super) block: u64,
    pub(super) slice: u64,
    pub(super) chunk: u64,
    /// Every how many-th value is stored.
    pub(super) reduction: u64,
}

/// The most bytes of the values of a slice: the most that PyTables makes.
const SLICE_BYTES: u64 = 100 << 20;
/// The most chunks that PyTables counts when it chooses a block.
const BLOCK_CHUNKS: u64 = 1 << 20;

impl Sizes {
    /// Chooses the sizes for `rows` values of `size` bytes, near those that PyTables chooses: a chunk of 64
    /// values at one row, and twice as many for each factor of 10. All sizes but the outer ones are powers of
    /// two. `rows_in_chunk` are the rows in a chunk of the table.
    pub(super) fn choose(kind: Kind, optlevel: u8, rows: u64, size: usize, rows_in_chunk: u64) -> Self {
        let zone = rows.clamp(100_000, 1_000_000_000_000).ilog10();
        let mut chunk = 64_u64 << zone;
        let mut slice = chunk * 64;
        while slice.saturating_mul(size as u64) > SLICE_BYTES && slice > 2 * chunk {
            slice /= 2;
        }
        if kind != Kind::Ultralight {
            match optlevel {
                0..=2 => slice /= 2,
                6..=8 => chunk /= 2,
                9 => (chunk, slice) = (chunk / 2, slice * 2),
                _ => {}
            }
        }
        slice = slice.max(2 * chunk).min(1 << 30);
        let reduction = reduction(kind, optlevel, slice, chunk);
        let mut sizes = Self { superblock: 0, block: 0, slice, chunk, reduction };
        // A slice that is no multiple of its buckets touches one more of them, and 256 are the most.
        let fewest = rows_in_chunk.min(sizes.chunk);
        if kind == Kind::Ultralight && (128 * fewest..=256 * fewest).contains(&sizes.slice) {
            sizes.slice /= 2;
        }
        sizes.block = whole(rows, sizes.chunk, sizes.slice);
        sizes.superblock = whole(rows, sizes.slice, sizes.block);
        sizes
    }

    /// Takes the sizes of superblocks, blocks, slices and chunks, if they can be those of an index.
    pub(super) fn given(
        kind: Kind,
        optlevel: u8,
        [superblock, block, slice, chunk]: [u64; 4],
    ) -> Option<Self> {
        let are_multiples = chunk > 0
            && slice > chunk
            && slice <= 1 << 30
            && [(slice, chunk), (block, slice), (superblock, block)]
                .iter()
                .all(|(all, part)| all.is_multiple_of(*part));
        let are_sizes = are_multiples && block >= slice && superblock >= block && superblock < 1 << 48;
        are_sizes.then(|| Self {
            superblock,
            block,
            slice,
            chunk,
            reduction: reduction(kind, optlevel, slice, chunk),
        })
    }

    /// Returns the number of rows in a bucket, the unit in which kinds other than `full` give rows. It is the
    /// rule of PyTables.
    pub(super) fn bucket(&self, kind: Kind, rows_in_chunk: u64) -> u64 {
        let bucket = rows_in_chunk.min(self.chunk).max(1);
        match kind {
            Kind::Ultralight if self.slice > bucket << 8 => self.slice.div_ceil(1 << 8),
            Kind::Light if self.block > bucket << 16 => self.block.div_ceil(1 << 16),
            _ => bucket,
        }
    }

    /// Returns the number of slices in a block.
    pub(super) fn slices_in_block(&self) -> u64 {
        (self.block / self.slice).max(1)
    }

    /// Returns the number of chunks in a slice.
    pub(super) fn chunks_in_slice(&self) -> u64 {
        self.slice.div_ceil(self.chunk)
    }
}

/// Returns every how many-th value PyTables stores.
fn reduction(kind: Kind, optlevel: u8, slice: u64, chunk: u64) -> u64 {
    let reduction = match (kind, optlevel) {
        (Kind::Ultralight, 0..=3) => 8,
        (Kind::Ultralight, 4..=6) | (Kind::Light, 0..=3) => 4,
        (Kind::Ultralight, 7..=8) | (Kind::Light, 4..=6) | (Kind::Medium, 0..=3) => 2,
        _ => 1,
    };
    if slice > chunk * reduction && chunk.is_multiple_of(reduction) { reduction } else { 1 }
}

/// Returns the size that holds the rows, counted in parts of `part`, as whole parts of `unit`.
fn whole(rows: u64, part: u64, unit: u64) -> u64 {
    let parts = (rows / part + 1).min(BLOCK_CHUNKS);
    (part * parts / unit + 1) * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_pytables_at_powers_of_ten() {
        // PyTables 3.11.1: the table of the tests has 10^8 rows of float64.
        let sizes = Sizes::choose(Kind::Full, 9, 100_000_000, 8, 4096);
        assert_eq!((sizes.chunk, sizes.slice, sizes.reduction), (8192, 1 << 21, 1));
        let sizes = Sizes::choose(Kind::Medium, 6, 1000, 4, 3640);
        assert_eq!((sizes.chunk, sizes.slice), (1024, 131_072));
        assert_eq!((sizes.block, sizes.superblock), (131_072, 262_144));
    }

    #[test]
    fn numbers_of_buckets_fit_their_kind() {
        for rows in [1, 5000, 1_000_000, 3_000_000_000] {
            for rows_in_chunk in [1, 7, 1000, 3640, 100_000] {
                for optlevel in 0..10 {
                    let sizes = Sizes::choose(Kind::Ultralight, optlevel, rows, 8, rows_in_chunk);
                    let bucket = sizes.bucket(Kind::Ultralight, rows_in_chunk);
                    let aligned = u64::from(!sizes.slice.is_multiple_of(bucket));
                    assert!(sizes.slice.div_ceil(bucket) + aligned <= 256, "{sizes:?}, {bucket}");
                    let sizes = Sizes::choose(Kind::Light, optlevel, rows, 8, rows_in_chunk);
                    let bucket = sizes.bucket(Kind::Light, rows_in_chunk);
                    assert!(sizes.block.div_ceil(bucket) <= 1 << 16, "{sizes:?}, {bucket}");
                    assert!(sizes.slice.is_multiple_of(sizes.chunk) && sizes.chunk >= 2 * sizes.reduction);
                }
            }
        }
    }
}
