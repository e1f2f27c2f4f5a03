//! How the elements of one piece get to the destination: decided here, before a byte is read, from what is known then.

use super::place::Wanted;

/// How elements get from the file to the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// Never written: the fill value goes to the destination.
    Fill,
    /// In memory, changed or kept from a read before, or in the object header: copied.
    Copy,
    /// Without filters: the spans that are wanted are read, straight into the destination where they are contiguous.
    Direct,
    /// Without filters, and small: read whole, with its neighbours, then copied.
    Whole,
    /// Decoded straight into the destination.
    DecodeInto,
    /// Of a Blosc chunk, the blocks that are touched are decoded straight into the destination.
    Blocks,
    /// Decoded into a worker's buffer, then copied; the last filter may put elements together in the destination.
    Scatter,
    /// Decoded into memory of its own, copied, and kept for the next read.
    Keep,
}

/// What the route of a filtered chunk depends on beside what is wanted of it.
#[derive(Debug, Clone, Copy)]
pub(in crate::engine) struct Filtered {
    /// Whether Blosc is its only filter, which can decode a part of it.
    pub(in crate::engine) is_blosc: bool,
    /// Bytes that it decodes to, and of an element.
    pub(in crate::engine) decoded: usize,
    pub(in crate::engine) element_size: usize,
    /// Whether the cache takes a chunk of this size.
    pub(in crate::engine) may_keep: bool,
}

impl Route {
    /// All there are.
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

    /// Its name, as `explain` prints it.
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

    /// The route of a filtered chunk that is not in memory. `is_touched` says whether small parts of it were read a short
    /// while ago; it is asked only if that matters.
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
            // All there is, or more than is ever kept: nobody comes back for the rest.
            Wanted::Box { is_all: true, .. } | Wanted::Several { by_one: false } => Self::Scatter,
            Wanted::Box { .. } | Wanted::Several { by_one: true } if chunk.may_keep => Self::Keep,
            Wanted::Box { .. } | Wanted::Several { .. } => Self::Scatter,
        }
    }

    /// The route of an unfiltered chunk of so many bytes; `spans` says how many spans of it are wanted, and how many bytes
    /// these have. A small chunk is read whole, unless that is one span, of a chunk that has no neighbours to be read with
    /// or of which it is little.
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

/// Whether a chunk of so many stored bytes is read whole, and with its neighbours.
pub const fn is_small(stored: u64) -> bool {
    stored <= SMALL_BYTES
}

/// How many of the stored bytes of a Blosc chunk are read before it is known where its blocks are: all, if most of it is wanted.
pub(in crate::engine) fn blocks_front(stored: usize, wanted: usize, decoded: usize) -> usize {
    if wanted.saturating_mul(4) > decoded { stored } else { stored.min(FRONT_BYTES) }
}

/// A chunk of more bytes is read alone: the call costs little beside it, and its buffer stays in the cache.
const SMALL_BYTES: u64 = 32 << 10;
/// Small chunks are read together until they have so many bytes: as many as a worker reads before it decodes.
pub const JOINED_BYTES: u64 = 256 << 10;
/// A smaller chunk is read whole: a run of it costs as much.
const THIN_FROM_BYTES: u64 = 4 << 10;
/// A read of less than one part in so many of a chunk is small: one that may come again next door.
const SMALL_PARTS: usize = 64;
/// The header of a frame and the offsets of many blocks.
const FRONT_BYTES: usize = 4 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn boxed(elements: usize, is_all: bool) -> Wanted {
        Wanted::Box { axes: smallvec::SmallVec::default(), offset: 0, elements, is_all }
    }

    #[test]
    fn a_filtered_chunk_takes_the_shortest_way_that_what_is_wanted_of_it_allows() {
        use Route::{Blocks, DecodeInto, Keep, Scatter};
        let dense = Wanted::Dense { offset: 0 };
        let (one, many) = (Wanted::Several { by_one: true }, Wanted::Several { by_one: false });
        let (part, all, tiny) = (boxed(500, false), boxed(900, true), boxed(2, false));
        // With Blosc and without.
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
                    Route::filtered(wanted, Filtered { may_keep: false, ..chunk }, || panic!("not asked"));
                let expected = match expected {
                    Keep if is_blosc && matches!(wanted, Wanted::Box { .. }) => Blocks,
                    Keep => Scatter,
                    other => other,
                };
                assert_eq!(never, expected, "{wanted:?} {chunk:?}");
            }
        }
        let chunk = Filtered { is_blosc: true, decoded: 1000, element_size: 1, may_keep: true };
        assert_eq!(Route::filtered(&tiny, chunk, || false), Blocks, "the first time");
        assert_eq!(Route::filtered(&part, chunk, || panic!("not asked")), Blocks, "not small");
    }

    #[test]
    fn an_unfiltered_chunk_is_read_whole_where_that_costs_no_more() {
        let route = |len, count, bytes| Route::unfiltered(len, false, || (count, bytes));
        assert_eq!(route(SMALL_BYTES + 1, 1000, 16_000), Route::Direct, "large");
        assert_eq!(route(SMALL_BYTES, 2, 16), Route::Whole, "several spans");
        assert_eq!(route(SMALL_BYTES, 1, SMALL_BYTES / 4), Route::Direct, "one thin span");
        assert_eq!(route(SMALL_BYTES, 1, SMALL_BYTES / 4 + 1), Route::Whole, "one span of a good part");
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
