//! Chooses how the elements of one piece get to the destination, before any byte is read.

use super::place::Wanted;

/// The way of elements from the file to the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// For a piece that was never written: the fill value is written to the destination.
    Fill,
    /// For a piece in memory (changed, cached, or in the object header): copied.
    Copy,
    /// For an unfiltered piece: only the selected spans are read, directly into the destination if they are
    /// contiguous there.
    Direct,
    /// For a small unfiltered piece: read whole, together with its neighbours, then copied.
    Whole,
    /// Decoded directly into the destination.
    DecodeInto,
    /// For a Blosc chunk: only the touched blocks are decoded, directly into the destination.
    Blocks,
    /// Decoded into a worker's buffer, then copied. The last filter may assemble elements in the destination.
    Scatter,
    /// Decoded into newly allocated memory, copied, and cached for the next read.
    Keep,
}

/// The properties of a filtered chunk that decide its route, besides the selected elements.
#[derive(Debug, Clone, Copy)]
pub(in crate::engine) struct Filtered {
    /// Whether Blosc is the only filter. Blosc can decode a part of a chunk.
    pub(in crate::engine) is_blosc: bool,
    /// The size of the decoded chunk and of an element, in bytes.
    pub(in crate::engine) decoded: usize,
    pub(in crate::engine) element_size: usize,
    /// Whether the cache accepts a chunk of this size.
    pub(in crate::engine) may_keep: bool,
}

impl Route {
    /// All routes.
    pub const ALL: [Self; 8] = [
        Self::Fill,
        Self::Copy,
        Self::Direct,
        Self::Whole,
        Self::DecodeInto,
        Self::Blocks,
        Self::Scatter,
        Self::Keep,
    ];

    /// Returns the route's name, as `explain` prints it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fill => "fill",
            Self::Copy => "copy",
            Self::Direct => "direct",
            Self::Whole => "whole",
            Self::DecodeInto => "decode into",
            Self::Blocks => "blocks",
            Self::Scatter => "scatter",
            Self::Keep => "keep",
        }
    }

    /// Returns the route of a filtered chunk that is not in memory. `is_touched` returns whether small parts
    /// of the chunk were read recently; it is called only if the answer matters.
    pub(in crate::engine) fn filtered(
        wanted: &Wanted,
        chunk: Filtered,
        is_touched: impl FnOnce() -> bool,
    ) -> Self {
        match wanted {
            Wanted::Dense { .. } => Self::DecodeInto,
            &Wanted::Box { elements, is_all, .. } if chunk.is_blosc => {
                let bytes = elements * chunk.element_size;
                let is_small = bytes.saturating_mul(SMALL_PARTS) <= chunk.decoded;
                if is_small && chunk.may_keep && !is_all && is_touched() { Self::Keep } else { Self::Blocks }
            }
            // The whole chunk is selected, or several selections are read at once: no later read is expected.
            Wanted::Box { is_all: true, .. } | Wanted::Several { by_one: false } => Self::Scatter,
            Wanted::Box { .. } | Wanted::Several { by_one: true } if chunk.may_keep => Self::Keep,
            Wanted::Box { .. } | Wanted::Several { .. } => Self::Scatter,
        }
    }

    /// Returns the route of an unfiltered chunk of `len` bytes. `spans` returns the number of selected spans
    /// and their total bytes. A small chunk is read whole unless a single span is selected, and either the
    /// chunk has no neighbours to be read with (`is_alone`) or the span is a small fraction of it.
    pub fn unfiltered(len: u64, is_alone: bool, spans: impl FnOnce() -> (u64, u64)) -> Self {
        if !is_small(len) {
            return Self::Direct;
        }
        if len < THIN_FROM_BYTES && !is_alone {
            return Self::Whole;
        }
        let (count, bytes) = spans();
        let is_thin = count == 1 && (is_alone || bytes.saturating_mul(4) <= len);
        if is_thin { Self::Direct } else { Self::Whole }
    }
}

/// Returns whether a chunk of `stored` bytes is read whole and together with its neighbours.
pub const fn is_small(stored: u64) -> bool {
    stored <= SMALL_BYTES
}

/// Returns how many stored bytes of a Blosc chunk to read first, to learn where its blocks are. All of them
/// if most of the chunk is selected.
pub(in crate::engine) fn blocks_front(stored: usize, wanted: usize, decoded: usize) -> usize {
    if wanted.saturating_mul(4) > decoded { stored } else { stored.min(FRONT_BYTES) }
}

/// A larger chunk is read in a request of its own: the call costs little in comparison, and the buffer stays
/// in the cache.
const SMALL_BYTES: u64 = 32 << 10;
/// The maximum size in bytes of a request that joins small chunks. A worker decodes after each request.
pub const JOINED_BYTES: u64 = 256 << 10;
/// A smaller chunk is read whole, because reading a part of it costs as much.
const THIN_FROM_BYTES: u64 = 4 << 10;
/// A read of less than `1 / SMALL_PARTS` of a chunk is small, and more such reads nearby are likely.
const SMALL_PARTS: usize = 64;
/// Enough for the header of a frame and the offsets of many blocks.
const FRONT_BYTES: usize = 4 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn boxed(elements: usize, is_all: bool) -> Wanted {
        Wanted::Box { axes: smallvec::SmallVec::default(), offset: 0, elements, is_all }
    }

    #[test]
    fn a_filtered_chunk_takes_the_shortest_route_for_its_selected_elements() {
        use Route::{Blocks, DecodeInto, Keep, Scatter};
        let dense = Wanted::Dense { offset: 0 };
        let (one, many) = (Wanted::Several { by_one: true }, Wanted::Several { by_one: false });
        let (part, all, tiny) = (boxed(500, false), boxed(900, true), boxed(2, false));
        // The expected routes: with Blosc, and without.
        for (wanted, routes) in [
            (&dense, [DecodeInto, DecodeInto]),
            (&part, [Blocks, Keep]),
            (&tiny, [Keep, Keep]),
            (&all, [Blocks, Scatter]),
            (&one, [Keep, Keep]),
            (&many, [Scatter, Scatter]),
        ] {
            for (is_blosc, expected) in [true, false].into_iter().zip(routes) {
                let chunk = Filtered { is_blosc, decoded: 1000, element_size: 1, may_keep: true };
                assert_eq!(Route::filtered(wanted, chunk, || true), expected, "{wanted:?} {chunk:?}");
                let never =
                    Route::filtered(wanted, Filtered { may_keep: false, ..chunk }, || panic!("not called"));
                let expected = match expected {
                    Keep if is_blosc && matches!(wanted, Wanted::Box { .. }) => Blocks,
                    Keep => Scatter,
                    other => other,
                };
                assert_eq!(never, expected, "{wanted:?} {chunk:?}");
            }
        }
        let chunk = Filtered { is_blosc: true, decoded: 1000, element_size: 1, may_keep: true };
        assert_eq!(Route::filtered(&tiny, chunk, || false), Blocks, "the first small read");
        assert_eq!(Route::filtered(&part, chunk, || panic!("not called")), Blocks, "not a small read");
    }

    #[test]
    fn an_unfiltered_chunk_is_read_whole_if_that_costs_no_more() {
        let route = |len, count, bytes| Route::unfiltered(len, false, || (count, bytes));
        assert_eq!(route(SMALL_BYTES + 1, 1000, 16_000), Route::Direct, "large");
        assert_eq!(route(SMALL_BYTES, 2, 16), Route::Whole, "several spans");
        assert_eq!(route(SMALL_BYTES, 1, SMALL_BYTES / 4), Route::Direct, "one thin span");
        assert_eq!(route(SMALL_BYTES, 1, SMALL_BYTES / 4 + 1), Route::Whole, "over a quarter");
        assert_eq!(route(THIN_FROM_BYTES - 1, 1, 8), Route::Whole, "tiny");
        assert_eq!(Route::unfiltered(100, true, || (1, 100)), Route::Direct, "alone");
        assert_eq!(Route::unfiltered(100, true, || (2, 100)), Route::Whole, "alone, but twice");
    }

    #[test]
    fn the_front_of_a_blosc_chunk_is_read_first_unless_most_of_it_is_wanted() {
        assert_eq!(blocks_front(100_000, 1, 400_000), FRONT_BYTES);
        assert_eq!(blocks_front(100_000, 100_000, 400_000), FRONT_BYTES);
        assert_eq!(blocks_front(100_000, 100_001, 400_000), 100_000);
        assert_eq!(blocks_front(1000, 1, 400_000), 1000);
    }
}
