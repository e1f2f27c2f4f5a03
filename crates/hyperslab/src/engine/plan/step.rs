//! What each piece of a read needs, and how its elements get to their users: one decision for each task.
//! Nothing is read here.

use std::ops::Range;
use std::sync::Arc;

use hyperslab_error::Result;
use hyperslab_filters::blosc::Spans as Needed;
use hyperslab_filters::gather::Gather;
use hyperslab_format::{Addr, Extent};
use hyperslab_store::index::ChunkRecord;

use super::context::ReadContext;
use super::elements::Goal;
use super::pieces::{ReadTask, Source};
use super::place::{Wanted, each_place};
use super::route::{Filtered, JOINED_BYTES, Route, blocks_front, is_small};
use super::spans::{Spans, moved};

/// What a piece needs before its elements can go to their users.
pub(in crate::engine) enum ChunkStep {
    /// Nothing: none of its elements is wanted.
    LeftOut,
    /// Nothing: it was never written, and its elements are the fill value.
    Fill,
    /// Nothing: it has changes that are not in the file yet, or is in the object header.
    InMemory,
    /// Nothing: it was decoded by an earlier read.
    Kept(Arc<Vec<u8>>),
    /// The selected spans of an unfiltered piece.
    Spans(Extent),
    /// The first `front` bytes of a Blosc chunk, which say what other ranges the selection needs.
    Front { extent: Extent, front: usize, wanted: Wanted },
    /// All stored bytes. The way of a small chunk is chosen when they have arrived; an unfiltered piece has
    /// none.
    Whole(Extent, Option<Way>),
}

/// The route of a filtered chunk, and the selection of it.
pub(in crate::engine) type Way = (Route, Wanted);

/// Why a step is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Purpose {
    /// The piece is read now, which the cache of chunks counts as a use.
    Read,
    /// A caller wants to know, and nothing changes.
    Tell,
}

impl ReadContext<'_> {
    /// Returns what a task needs.
    pub(in crate::engine) fn step(&self, task: &ReadTask, purpose: Purpose) -> ChunkStep {
        let record = match task.source {
            _ if task.held.is_some() => return ChunkStep::InMemory,
            Source::Compact => return ChunkStep::InMemory,
            Source::Fill => return ChunkStep::Fill,
            Source::Raw(extent) => {
                return match self.unfiltered(task, extent) {
                    Route::Whole => ChunkStep::Whole(extent, None),
                    _ => ChunkStep::Spans(extent),
                };
            }
            Source::Chunk(record) => record,
        };
        let (cache, key, extent) = (self.reading.cache, self.key(record), record.extent);
        if self.filter.as_ref().is_some_and(|filter| filter.leaves_out_noted(cache, &key)) {
            return ChunkStep::LeftOut;
        }
        if let Some(kept) = if purpose == Purpose::Read { cache.get(&key) } else { cache.peek(&key) } {
            return ChunkStep::Kept(kept);
        }
        if is_small(extent.len) {
            return ChunkStep::Whole(extent, None);
        }
        let (route, wanted) = self.way(task, record, purpose);
        match self.front(extent, &wanted) {
            Some(front) if route == Route::Blocks => ChunkStep::Front { extent, front, wanted },
            _ => ChunkStep::Whole(extent, Some((route, wanted))),
        }
    }

    /// Returns the way of a filtered chunk that is not in memory.
    pub(in crate::engine) fn way(&self, task: &ReadTask, record: ChunkRecord, purpose: Purpose) -> Way {
        let cache = self.reading.cache;
        let wanted = Wanted::of(self.users(task), &task.coord, &self.elements, &self.reading.array.shape);
        let pipeline = self.chunked.map(|chunked| chunked.codec.pipeline());
        let chunk = Filtered {
            is_blosc: pipeline.is_some_and(|pipeline| pipeline.as_blosc(record.mask).is_some()),
            decoded: self.piece_bytes,
            element_size: self.elements.stored_size,
            may_keep: cache.admits(self.piece_bytes),
        };
        let route = Route::filtered(&wanted, chunk, || match purpose {
            Purpose::Read => cache.touch(self.key(record)),
            Purpose::Tell => cache.is_touched(self.key(record)),
        });
        (route, wanted)
    }

    /// Returns the number of stored bytes of a Blosc chunk that are read first to find its blocks; `None` if
    /// all bytes are read.
    fn front(&self, extent: Extent, wanted: &Wanted) -> Option<usize> {
        let Wanted::Box { elements, .. } = wanted else { return None };
        let stored = usize::try_from(extent.len).unwrap_or(usize::MAX);
        let front = blocks_front(stored, elements * self.elements.stored_size, self.piece_bytes);
        (front < stored).then_some(front)
    }

    fn unfiltered(&self, task: &ReadTask, extent: Extent) -> Route {
        match self.chunked {
            _ if self.elements.goal == Goal::PassOn => Route::Whole,
            None => Route::Direct,
            Some(_) => Route::unfiltered(extent.len, self.is_alone, || self.spans(task)),
        }
    }

    /// Returns the number and the bytes of the selected spans of an unfiltered piece.
    fn spans(&self, task: &ReadTask) -> (u64, u64) {
        let (mut count, mut bytes) = (0, 0);
        self.each_spans(task, |spans| {
            count += spans.count;
            bytes += spans.count * spans.len as u64;
        });
        (count, bytes)
    }

    /// Calls `f` with the spans of each selected box of an unfiltered piece.
    fn each_spans(&self, task: &ReadTask, mut f: impl FnMut(&Spans)) {
        // The closure does not fail.
        let _: Result<()> = each_place(self.users(task), &task.coord, |axes, offset, _| {
            f(&Spans::new(&self.elements, axes, offset, self.hints));
            Ok(())
        });
    }

    /// Returns the extent of both if they should be one request.
    pub(in crate::engine) fn join(&self, before: Extent, next: Extent) -> Option<Extent> {
        let gap = next.addr.get().checked_sub(before.end()?.get())?;
        let len = before.len.checked_add(gap)?.checked_add(next.len)?;
        let most = JOINED_BYTES.min(self.hints.max_span);
        let is_worth_it = gap <= self.hints.coalesce_gap && len <= most && is_small(before.len.min(next.len));
        is_worth_it.then_some(Extent::new(before.addr, len))
    }

    /// Returns which bytes of a stored Blosc chunk are needed, given its length and first bytes. If only
    /// parts are needed, they are appended to `ranges`.
    pub(in crate::engine) fn blocks(
        &self,
        task: &ReadTask,
        wanted: &Wanted,
        front: &[u8],
        len: usize,
        ranges: &mut Vec<Range<usize>>,
    ) -> Result<Needed> {
        let Some(chunk) = self.chunk(task) else { return Ok(Needed::Whole) };
        match (wanted, chunk.chunked.codec.pipeline().as_blosc(chunk.record.mask)) {
            (Wanted::Box { axes, offset, .. }, Some(blosc)) => {
                let elements = &self.elements;
                let gather = Gather::new(elements.stored_size, &elements.shape, axes, *offset);
                blosc.spans(front, len, &gather, ranges).map_err(|error| chunk.error(error))
            }
            _ => Ok(Needed::Whole),
        }
    }
}

impl ChunkStep {
    /// Returns the extent of the piece's stored bytes, if any of them are needed.
    pub(in crate::engine) fn extent(&self) -> Option<Extent> {
        match self {
            Self::Spans(extent) | Self::Front { extent, .. } | Self::Whole(extent, _) => Some(*extent),
            Self::LeftOut | Self::Fill | Self::InMemory | Self::Kept(_) => None,
        }
    }

    /// Returns the stored bytes of a small piece that is read whole, so that it can be read with the piece
    /// before it.
    pub(in crate::engine) fn neighbour(&self) -> Option<Extent> {
        match self {
            Self::Whole(extent, None) => Some(*extent).filter(|extent| is_small(extent.len)),
            _ => None,
        }
    }

    /// Returns the route of the elements.
    pub(in crate::engine) fn route(&self, context: &ReadContext<'_>, task: &ReadTask) -> Route {
        match self {
            Self::LeftOut | Self::InMemory | Self::Kept(_) => Route::Copy,
            Self::Fill => Route::Fill,
            Self::Spans(_) => Route::Direct,
            Self::Front { .. } => Route::Blocks,
            Self::Whole(_, Some((route, _))) => *route,
            Self::Whole(_, None) => match task.source {
                Source::Chunk(record) => context.way(task, record, Purpose::Tell).0,
                _ => Route::Whole,
            },
        }
    }

    /// Returns the number of requests and their bytes. A Blosc chunk may need more after its first bytes.
    pub(in crate::engine) fn requests(&self, context: &ReadContext<'_>, task: &ReadTask) -> (u64, u64) {
        match self {
            Self::LeftOut | Self::Fill | Self::InMemory | Self::Kept(_) => (0, 0),
            Self::Spans(_) => context.spans(task),
            Self::Front { front, .. } => (1, *front as u64),
            Self::Whole(extent, _) => (1, extent.len),
        }
    }

    /// Calls `f` with the address and length of each range that is read first.
    pub(in crate::engine) fn each_range(
        &self,
        context: &ReadContext<'_>,
        task: &ReadTask,
        mut f: impl FnMut(Addr, u64),
    ) {
        match self {
            Self::LeftOut | Self::Fill | Self::InMemory | Self::Kept(_) => {}
            Self::Spans(extent) => context.each_spans(task, |spans| {
                let range = |number| f(moved(extent.addr, spans.at(number).0), spans.len as u64);
                (0..spans.count).for_each(range);
            }),
            Self::Front { extent, front, .. } => f(extent.addr, *front as u64),
            Self::Whole(extent, _) => f(extent.addr, extent.len),
        }
    }
}
