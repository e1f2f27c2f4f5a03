//! The bytes that one task of a read needs, and the work when they are there. Nothing is read here.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use hyperslab_error::Result;
use hyperslab_filters::Scratch;
use hyperslab_filters::blosc::Spans as Needed;
use hyperslab_filters::gather::{Gather, Target, blocks, repeated_blocks, scatter};
use hyperslab_format::{Addr, Extent};
use hyperslab_io::driver::Hints;
use hyperslab_store::index::ChunkRecord;

use super::scatter::Emit;
use super::sink::ChunkFilter;
use crate::engine::array::{ChunkedStorage, Storage};
use crate::engine::chunks::cache::ChunkKey;
use crate::engine::chunks::stored::StoredChunk;
use crate::engine::plan::pieces::{ReadTask, Source};
use crate::engine::plan::place::{Users, Wanted, each_place};
use crate::engine::plan::reading::Reading;
use crate::engine::plan::route::{Filtered, JOINED_BYTES, Route, blocks_front, is_small};
use crate::engine::plan::spans::{Spans, moved};
use crate::engine::scratch::{WorkerScratch, sized};

/// One read, prepared.
pub(in crate::engine) struct Run<'a> {
    pub(in crate::engine) reading: Reading<'a>,
    pub(in crate::engine) emit: Emit<'a>,
    /// The converted fill value, computed at the first chunk that was never written.
    pub(in crate::engine) fill: OnceLock<Vec<u8>>,
    /// The bytes of a decoded piece.
    pub(in crate::engine) piece_bytes: usize,
    pub(in crate::engine) chunked: Option<&'a ChunkedStorage>,
    /// Leaves out chunks of which all stored bytes are read.
    pub(in crate::engine) filter: Option<ChunkFilter<'a>>,
    pub(in crate::engine) hints: Hints,
    /// Whether the read has only one piece.
    pub(in crate::engine) is_alone: bool,
    /// Whether the read was begun in the middle of another one, by the thread that does that.
    pub(in crate::engine) is_nested: bool,
}

/// The bytes that must be read before a task can be finished.
pub(in crate::engine) enum Need {
    /// None: the elements are in memory, or in this kept chunk.
    Ready(Option<Arc<Vec<u8>>>),
    /// The selected spans of an unfiltered piece.
    Spans(Extent),
    /// The first bytes of a Blosc chunk, from which the other ranges that the selection needs are computed.
    Front(Extent, usize, Wanted),
    /// All stored bytes; with the way if it is known already.
    Whole(Extent, Option<Way>),
}

/// The route of a filtered chunk, and the selection of it.
pub(in crate::engine) type Way = (Route, Wanted);

impl Run<'_> {
    /// Returns the bytes that must be read for a task.
    pub(in crate::engine) fn need(&self, task: &ReadTask, users: Users<'_>) -> Need {
        match task.source {
            _ if task.held.is_some() => Need::Ready(None),
            Source::Fill | Source::Compact => Need::Ready(None),
            Source::Raw(extent) => match self.unfiltered(task, extent, users) {
                Route::Whole => Need::Whole(extent, None),
                _ => Need::Spans(extent),
            },
            Source::Chunk(record) if self.is_left_out(record) => Need::Ready(None),
            Source::Chunk(ChunkRecord { extent, .. }) if is_small(extent.len) => {
                let kept = self.kept(task);
                if kept.is_some() { Need::Ready(kept) } else { Need::Whole(extent, None) }
            }
            Source::Chunk(record) => {
                let kept = self.kept(task);
                if kept.is_some() {
                    return Need::Ready(kept);
                }
                let wanted = self.wanted(task, users);
                let route = self.filtered(record, &wanted, || self.reading.cache.touch(self.key(record)));
                match self.front(record.extent, &wanted) {
                    Some(front) if route == Route::Blocks => Need::Front(record.extent, front, wanted),
                    _ => Need::Whole(record.extent, Some((route, wanted))),
                }
            }
        }
    }

    /// Returns the stored bytes of a small chunk that is read whole, so that its neighbours can be read with
    /// it.
    pub(in crate::engine) fn neighbour(&self, task: &ReadTask, users: Users<'_>) -> Option<Extent> {
        let extent = task.extent().filter(|extent| task.held.is_none() && is_small(extent.len))?;
        let is_whole = match task.source {
            Source::Chunk(record) => !self.is_left_out(record) && !self.reading.cache.has(&self.key(record)),
            _ => self.unfiltered(task, extent, users) == Route::Whole,
        };
        is_whole.then_some(extent)
    }

    /// Returns the extent of both if they should be one request.
    pub(in crate::engine) fn join(&self, before: Extent, next: Extent) -> Option<Extent> {
        let gap = next.addr.get().checked_sub(before.end()?.get())?;
        let len = before.len.checked_add(gap)?.checked_add(next.len)?;
        let most = JOINED_BYTES.min(self.hints.max_span);
        let is_worth_it = gap <= self.hints.coalesce_gap && len <= most && is_small(before.len.min(next.len));
        is_worth_it.then_some(Extent::new(before.addr, len))
    }

    /// Returns the current route of a task, and the number and bytes of its requests. A Blosc chunk may need
    /// more requests after its first bytes.
    pub(in crate::engine) fn forecast(&self, task: &ReadTask, users: Users<'_>) -> (Route, u64, u64) {
        let len = task.extent().map_or(0, |extent| extent.len);
        let route = match task.source {
            _ if task.held.is_some() => Route::Copy,
            Source::Fill => Route::Fill,
            Source::Compact => Route::Copy,
            Source::Raw(extent) => self.unfiltered(task, extent, users),
            Source::Chunk(record)
                if self.is_left_out(record) || self.reading.cache.has(&self.key(record)) =>
            {
                Route::Copy
            }
            Source::Chunk(record) => {
                let wanted = self.wanted(task, users);
                let is_touched = || self.reading.cache.is_touched(self.key(record));
                let route = self.filtered(record, &wanted, is_touched);
                match self.front(record.extent, &wanted) {
                    Some(front) if route == Route::Blocks => return (route, 1, front as u64),
                    _ => route,
                }
            }
        };
        match route {
            Route::Fill | Route::Copy => (route, 0, 0),
            Route::Direct => {
                let (count, bytes) = self.spans(task, users);
                (route, count, bytes)
            }
            _ => (route, 1, len),
        }
    }

    /// Calls `f` with the address and length of each range that a task will read first.
    pub(in crate::engine) fn expect(&self, task: &ReadTask, users: Users<'_>, mut f: impl FnMut(Addr, u64)) {
        let Some(Extent { addr, .. }) = task.extent() else { return };
        match self.forecast(task, users) {
            (_, 0, _) => {}
            (Route::Direct, ..) => self.each_spans(task, users, |spans| {
                (0..spans.count).for_each(|number| f(moved(addr, spans.at(number).0), spans.len as u64));
            }),
            (_, _, bytes) => f(addr, bytes),
        }
    }

    fn unfiltered(&self, task: &ReadTask, extent: Extent, users: Users<'_>) -> Route {
        match self.chunked {
            _ if self.emit.sink.is_some() => Route::Whole,
            None => Route::Direct,
            Some(_) => Route::unfiltered(extent.len, self.is_alone, || self.spans(task, users)),
        }
    }

    fn filtered(&self, record: ChunkRecord, wanted: &Wanted, is_touched: impl FnOnce() -> bool) -> Route {
        let pipeline = self.chunked.map(|chunked| chunked.codec.pipeline());
        let chunk = Filtered {
            is_blosc: pipeline.is_some_and(|pipeline| pipeline.as_blosc(record.mask).is_some()),
            decoded: self.piece_bytes,
            element_size: self.emit.stored_size,
            may_keep: self.reading.cache.admits(self.piece_bytes),
        };
        Route::filtered(wanted, chunk, is_touched)
    }

    /// Returns the number of stored bytes of a Blosc chunk that are read first to find its blocks; `None` if
    /// all bytes are read.
    fn front(&self, extent: Extent, wanted: &Wanted) -> Option<usize> {
        let Wanted::Box { elements, .. } = wanted else { return None };
        let stored = usize::try_from(extent.len).unwrap_or(usize::MAX);
        let front = blocks_front(stored, elements * self.emit.stored_size, self.piece_bytes);
        (front < stored && !is_small(extent.len)).then_some(front)
    }

    /// Returns the number and the bytes of the selected spans of an unfiltered piece.
    fn spans(&self, task: &ReadTask, users: Users<'_>) -> (u64, u64) {
        let (mut count, mut bytes) = (0, 0);
        self.each_spans(task, users, |spans| {
            count += spans.count;
            bytes += spans.count * spans.len as u64;
        });
        (count, bytes)
    }

    /// Calls `f` with the spans of each selected box of an unfiltered piece.
    fn each_spans(&self, task: &ReadTask, users: Users<'_>, mut f: impl FnMut(&Spans)) {
        // The closure does not fail.
        let _: Result<()> = each_place(users, &task.coord, |axes, offset, _| {
            f(&Spans::new(&self.emit, axes, offset, self.hints));
            Ok(())
        });
    }

    fn wanted(&self, task: &ReadTask, users: Users<'_>) -> Wanted {
        Wanted::of(users, &task.coord, &self.emit, &self.reading.array.shape)
    }

    fn kept(&self, task: &ReadTask) -> Option<Arc<Vec<u8>>> {
        let Source::Chunk(record) = task.source else { return None };
        self.reading.cache.get(&self.key(record))
    }

    /// Returns the key of a decoded chunk in the cache.
    pub(super) fn key(&self, record: ChunkRecord) -> ChunkKey {
        ChunkKey::new(self.reading.store, self.reading.array.header, record)
    }

    /// Finishes a task that needs no bytes from the file; `kept` is its decoded chunk, if it was in the
    /// cache.
    pub(in crate::engine) fn copy(
        &self,
        task: &ReadTask,
        users: Users<'_>,
        kept: Option<Arc<Vec<u8>>>,
        scratch: &mut WorkerScratch,
    ) -> Result<()> {
        match (&task.held, kept, &self.reading.array.storage) {
            (Some(held), ..) => self.scatter(&held.read(), users, &task.coord, &mut scratch.filters),
            (None, Some(kept), _) => self.scatter(&kept, users, &task.coord, &mut scratch.filters),
            (None, None, Storage::Compact(data)) => {
                self.scatter(data, users, &task.coord, &mut scratch.filters)
            }
            // A chunk that is neither held nor kept is known not to be wanted.
            (None, None, _) if matches!(task.source, Source::Chunk(_)) => Ok(()),
            (None, None, _) => {
                if let Some(sink) = self.emit.sink {
                    return each_place(users, &task.coord, |axes, offset, _| {
                        let gather = self.emit.gather(axes, offset);
                        let value = self.reading.array.elements.fill.element();
                        self.hand_on(sink, &task.coord, |f| {
                            repeated_blocks(&gather, value, &mut scratch.filters, f);
                        })
                    });
                }
                let fill = self.fill();
                each_place(users, &task.coord, |axes, offset, region| {
                    self.emit.fill(fill, axes, offset, region);
                    Ok(())
                })
            }
        }
    }

    /// Finishes a task. `stored` holds the bytes that the task needs; `way` is its way if it is known
    /// already.
    pub(in crate::engine) fn finish(
        &self,
        task: &ReadTask,
        users: Users<'_>,
        way: Option<Way>,
        stored: &[u8],
        scratch: &mut WorkerScratch,
    ) -> Result<()> {
        let Some(chunk) = self.chunk(task) else {
            return self.scatter(stored, users, &task.coord, &mut scratch.filters);
        };
        let is_part = way.as_ref().is_some_and(|(route, wanted)| {
            *route == Route::Blocks && self.front(chunk.record.extent, wanted).is_some()
        });
        if !is_part && self.leaves_out(&chunk, stored) {
            return Ok(());
        }
        let way = way.unwrap_or_else(|| {
            let wanted = self.wanted(task, users);
            let touch = || self.reading.cache.touch(self.key(chunk.record));
            (self.filtered(chunk.record, &wanted, touch), wanted)
        });
        self.decode(chunk, users, way, stored, scratch)
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
                let spans = blosc.spans(front, len, &self.emit.gather(axes, *offset), ranges);
                spans.map_err(|error| chunk.error(error))
            }
            _ => Ok(Needed::Whole),
        }
    }

    /// Returns the chunk of a task if it has filters.
    fn chunk<'t>(&'t self, task: &'t ReadTask) -> Option<StoredChunk<'t>> {
        match (task.source, self.chunked) {
            (Source::Chunk(record), Some(chunked)) => {
                Some(StoredChunk { coord: &task.coord, record, chunked })
            }
            _ => None,
        }
    }

    /// Copies the selected elements of a decoded piece to the destination, or passes them to the sink,
    /// converted if required.
    fn scatter(&self, source: &[u8], users: Users<'_>, coord: &[u64], filters: &mut Scratch) -> Result<()> {
        each_place(users, coord, |axes, offset, region| {
            let gather = self.emit.gather(axes, offset);
            if let Some(sink) = self.emit.sink {
                return self.hand_on(sink, coord, |f| blocks(&gather, source, filters, f));
            }
            scatter(&gather, source, region);
            Ok(())
        })
    }

    fn fill(&self) -> &[u8] {
        self.fill.get_or_init(|| self.emit.fill_element(&self.reading.array.elements.fill))
    }

    /// Decodes a chunk along its route.
    fn decode(
        &self,
        chunk: StoredChunk<'_>,
        users: Users<'_>,
        (route, wanted): Way,
        stored: &[u8],
        scratch: &mut WorkerScratch,
    ) -> Result<()> {
        let (pipeline, mask) = (chunk.chunked.codec.pipeline(), chunk.record.mask);
        if let (Route::Blocks, Wanted::Listed { .. }, Some(user)) = (route, &wanted, users.only())
            && let Some(blosc) = pipeline.as_blosc(mask)
        {
            return self.decode_listed(&chunk, blosc, user, stored, scratch);
        }
        let filters = &mut scratch.filters;
        let decoded = match (route, wanted, users.only(), self.emit.sink) {
            (Route::Blocks | Route::Scatter, Wanted::Box { axes, offset, .. }, Some(_), Some(sink)) => {
                let gather = self.emit.gather(&axes, offset);
                let room = sized(&mut scratch.chunk, self.piece_bytes)?;
                let mut decoded = Ok(());
                self.hand_on(sink, chunk.coord, |f| {
                    decoded = pipeline.blocks(mask, stored, room, &gather, filters, f);
                })?;
                decoded
            }
            (Route::DecodeInto, Wanted::Dense { offset }, Some(user), _) => {
                let mut region = user.dst.region();
                let dst = region.run(offset, self.piece_bytes);
                pipeline.decode(mask, stored, dst, filters, user.dst.stores())
            }
            (Route::Blocks | Route::Scatter, Wanted::Box { axes, offset, .. }, Some(user), None) => {
                let gather = Gather { stores: user.dst.stores(), ..self.emit.gather(&axes, offset) };
                let mut region = user.dst.region();
                if let Some(blosc) = pipeline.as_blosc(mask) {
                    blosc.scatter_into(stored, &gather, &mut region, filters).map(drop)
                } else {
                    let room = sized(&mut scratch.chunk, self.piece_bytes)?;
                    pipeline.scatter_into(mask, stored, room, &gather, &mut region, filters)
                }
            }
            _ => {
                // A kept chunk is decoded straight into new memory.
                let keeps = route == Route::Keep;
                let mut buffer = if keeps { Vec::new() } else { std::mem::take(&mut scratch.chunk) };
                let whole = sized(&mut buffer, self.piece_bytes)?;
                chunk.decode(stored, whole, filters)?;
                self.scatter(whole, users, chunk.coord, filters)?;
                if keeps {
                    self.reading.cache.insert(self.key(chunk.record), Arc::new(buffer));
                } else {
                    scratch.chunk = buffer;
                }
                return Ok(());
            }
        };
        decoded.map_err(|source| chunk.error(source))
    }
}
