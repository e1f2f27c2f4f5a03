//! The route of the elements of one piece to the destination. It is selected here, before a byte is read.

use super::place::Wanted;

/// The route of elements from the file to the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Route {
    /// The chunk was never written: the fill value goes to the destination.
    Fill,
    /// The elements are in memory (changed, kept from an earlier read, or in the object header) and are
    /// copied.
    Copy,
    /// Without filters: the selected spans are read, straight into the destination if they are contiguous
    /// there.
    Direct,
    /// A small chunk without filters: it is read whole, together with its neighbours, then copied.
    Whole,
    /// The chunk is decoded straight into the destination.
    DecodeInto,
    /// The blocks of a Blosc chunk that the selection touches are decoded straight into the destination.
    Blocks,
    /// The chunk is decoded into a worker's buffer, then copied; the last filter may unshuffle into the
    /// destination.
    Scatter,
    /// The chunk is decoded into new memory, copied, and kept for the next read.
    Keep,
}

/// The properties of a filtered chunk that decide its route.
#[derive(Debug, Clone, Copy)]
pub(in crate::engine) struct Filtered {
    /// Whether Blosc is the only filter; Blosc can decode a part of a chunk.
    pub(in crate::engine) is_blosc: bool,
    /// The size in bytes of the decoded chunk, and of an element.
    pub(in crate::engine) decoded: usize,
    pub(in crate::engine) element_size: usize,
    /// Whether the cache takes a chunk of this size.
    pub(in crate::engine) may_keep: bool,
}

impl Filtered {
    /// Returns whether so few elements are read that a read of other elements of the chunk may follow.
    fn is_small_part(&self, elements: usize) -> bool {
        elements.saturating_mul(self.element_size).saturating_mul(SMALL_PARTS) <= self.decoded
    }
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

    /// Returns the name of the route, as `explain` prints it.
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
    /// of the chunk were read recently; it is called only if the route depends on that.
    pub(in crate::engine) fn filtered(
        wanted: &Wanted,
        chunk: Filtered,
        is_touched: impl FnOnce() -> bool,
    ) -> Self {
        match wanted {
            Wanted::Dense { .. } => Self::DecodeInto,
            &Wanted::Box { elements, is_all, .. } if chunk.is_blosc => {
                let is_small = !is_all && chunk.is_small_part(elements);
                if is_small && chunk.may_keep && is_touched() { Self::Keep } else { Self::Blocks }
            }
            &Wanted::Listed { elements } if chunk.is_blosc => {
                let is_small = chunk.is_small_part(elements);
                if is_small && chunk.may_keep && is_touched() { Self::Keep } else { Self::Blocks }
            }
            // Caching the chunk would gain nothing: the selection takes all of it, or the cache does not take
            // it.
            Wanted::Box { is_all: true, .. } | Wanted::Several { by_one: false } => Self::Scatter,
            Wanted::Box { .. } | Wanted::Listed { .. } | Wanted::Several { by_one: true }
                if chunk.may_keep =>
            {
                Self::Keep
            }
            Wanted::Box { .. } | Wanted::Listed { .. } | Wanted::Several { .. } => Self::Scatter,
        }
    }

    /// Returns the route of an unfiltered chunk of `len` bytes; `spans` returns the number and the bytes of
    /// its selected spans. A small chunk is read whole. The exception is a single span of a chunk that has no
    /// neighbours in the read, or a span that is a small part of the chunk.
    #[doc(hidden)]
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

/// Returns whether a chunk of `len` stored bytes is read whole, together with its neighbours.
pub const fn is_small(stored: u64) -> bool {
    stored <= SMALL_BYTES
}

/// Returns the number of stored bytes of a Blosc chunk that are read to find its blocks: all bytes if most of
/// the chunk is selected.
pub(in crate::engine) fn blocks_front(stored: usize, wanted: usize, decoded: usize) -> usize {
    if wanted.saturating_mul(4) > decoded { stored } else { stored.min(FRONT_BYTES) }
}

/// A chunk of more bytes is read by itself: the call costs little in comparison, and the buffer stays in the
/// cache.
const SMALL_BYTES: u64 = 32 << 10;
/// The most bytes of small chunks that are read together: a worker reads as many before it decodes.
pub const JOINED_BYTES: u64 = 256 << 10;
/// A smaller chunk is read whole, as reading one run of it costs as much.
const THIN_FROM_BYTES: u64 = 4 << 10;
/// A read of less than this part of a chunk is small: a read of a neighbouring part may follow.
const SMALL_PARTS: usize = 64;
/// The bytes for the header of a frame and the offsets of many blocks.
const FRONT_BYTES: usize = 4 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn boxed(elements: usize, is_all: bool) -> Wanted {
        Wanted::Box { axes: smallvec::SmallVec::default(), offset: 0, elements, is_all }
    }

    #[test]
    fn the_selection_decides_the_route_of_a_filtered_chunk() {
        use Route::{Blocks, DecodeInto, Keep, Scatter};
        let dense = Wanted::Dense { offset: 0 };
        let (one, many) = (Wanted::Several { by_one: true }, Wanted::Several { by_one: false });
        let (part, all, tiny) = (boxed(500, false), boxed(900, true), boxed(2, false));
        // The routes with Blosc and without.
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
        assert_eq!(Route::filtered(&tiny, chunk, || false), Blocks, "the first read");
        assert_eq!(Route::filtered(&part, chunk, || panic!("not asked")), Blocks, "not small");
    }

    #[test]
    fn a_small_unfiltered_chunk_is_read_whole_unless_one_span_suffices() {
        let route = |len, count, bytes| Route::unfiltered(len, false, || (count, bytes));
        assert_eq!(route(SMALL_BYTES + 1, 1000, 16_000), Route::Direct, "large");
        assert_eq!(route(SMALL_BYTES, 2, 16), Route::Whole, "several spans");
        assert_eq!(route(SMALL_BYTES, 1, SMALL_BYTES / 4), Route::Direct, "one thin span");
        assert_eq!(route(SMALL_BYTES, 1, SMALL_BYTES / 4 + 1), Route::Whole, "one span of a large part");
        assert_eq!(route(THIN_FROM_BYTES - 1, 1, 8), Route::Whole, "tiny");
        assert_eq!(Route::unfiltered(100, true, || (1, 100)), Route::Direct, "no neighbours");
        assert_eq!(Route::unfiltered(100, true, || (2, 100)), Route::Whole, "no neighbours, but two spans");
    }

    #[test]
    fn the_front_of_a_blosc_chunk_is_read_first_unless_most_of_it_is_selected() {
        assert_eq!(blocks_front(100_000, 1, 400_000), FRONT_BYTES);
        assert_eq!(blocks_front(100_000, 100_000, 400_000), FRONT_BYTES);
        assert_eq!(blocks_front(100_000, 100_001, 400_000), 100_000);
        assert_eq!(blocks_front(1000, 1, 400_000), 1000);
    }
}
