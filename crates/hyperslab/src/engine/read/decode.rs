//! The second half of a read: bytes of the file, or of a cache, become elements in the caller's memory.

use std::sync::{Arc, OnceLock};

use hyperslab_error::Result;
use hyperslab_filters::gather::{Gather, Target};
use hyperslab_filters::scatter::{blocks, repeated_blocks, scatter};
use hyperslab_filters::{Convert, Scratch};

use super::sink::Sink;
use crate::engine::array::Storage;
use crate::engine::chunks::stored::StoredChunk;
use crate::engine::destination::Region;
use crate::engine::fetch::Finish;
use crate::engine::plan::context::ReadContext;
use crate::engine::plan::pieces::ReadTask;
use crate::engine::plan::place::{Users, Wanted, each_place};
use crate::engine::plan::route::Route;
use crate::engine::plan::spans::Spans;
use crate::engine::plan::step::{ChunkStep, Purpose, Way};
use crate::engine::scratch::{WorkerScratch, sized};

/// One read: its context, and how its elements get from a piece to the destination.
pub(in crate::engine) struct ReadRun<'a> {
    pub(super) context: ReadContext<'a>,
    /// The conversion from the stored to the requested datatype. `None` if they are the same.
    pub(super) convert: Option<&'a dyn Convert>,
    /// The receiver of the elements, if they do not go to memory.
    pub(super) sink: Option<&'a Sink<'a>>,
    /// The converted fill value, computed at the first chunk that was never written.
    fill: OnceLock<Vec<u8>>,
}

impl<'a> ReadRun<'a> {
    pub(super) fn new(
        context: ReadContext<'a>,
        convert: Option<&'a dyn Convert>,
        sink: Option<&'a Sink<'a>>,
    ) -> Self {
        Self { context, convert, sink, fill: OnceLock::new() }
    }
}

impl Finish for ReadRun<'_> {
    fn finish(
        &self,
        task: &ReadTask,
        step: ChunkStep,
        stored: &[u8],
        scratch: &mut WorkerScratch,
    ) -> Result<()> {
        let (context, users, filters) = (&self.context, self.context.users(task), &mut scratch.filters);
        let is_front = matches!(step, ChunkStep::Front { .. });
        let way = match (step, &task.held, &context.reading.array.storage) {
            (ChunkStep::LeftOut, ..) => return Ok(()),
            (ChunkStep::Fill, ..) => return self.write_fill(task, users, filters),
            (ChunkStep::Kept(kept), ..) => return self.scatter(&kept, users, &task.coord, filters),
            (ChunkStep::InMemory, Some(held), _) => {
                return self.scatter(&held.read(), users, &task.coord, filters);
            }
            (ChunkStep::InMemory, None, Storage::Compact(data)) => {
                return self.scatter(data, users, &task.coord, filters);
            }
            (ChunkStep::InMemory | ChunkStep::Spans(_), ..) => None,
            (ChunkStep::Front { wanted, .. }, ..) => Some((Route::Blocks, wanted)),
            (ChunkStep::Whole(_, way), ..) => way,
        };
        let Some(chunk) = context.chunk(task) else {
            return self.scatter(stored, users, &task.coord, filters);
        };
        if !is_front && let Some(filter) = &context.filter {
            let (cache, key) = (context.reading.cache, context.key(chunk.record));
            if filter.leaves_out(cache, key, &chunk, stored) {
                return Ok(());
            }
        }
        let way = way.unwrap_or_else(|| context.way(task, chunk.record, Purpose::Read));
        self.decode(chunk, users, way, stored, scratch)
    }

    fn copy_span(&self, spans: &mut Spans, bytes: &[u8], target: usize, region: &mut Region<'_>) {
        spans.scatter(&self.context.elements, self.convert, bytes, target, region);
    }
}

impl ReadRun<'_> {
    /// Copies the selected elements of a decoded piece to the destination, or passes them to the sink,
    /// converted if required.
    fn scatter(&self, source: &[u8], users: Users<'_>, coord: &[u64], filters: &mut Scratch) -> Result<()> {
        each_place(users, coord, |axes, offset, region| {
            let gather = self.gather(axes, offset);
            if let Some(sink) = self.sink {
                return self.hand_on(sink, coord, |f| blocks(&gather, source, filters, f));
            }
            scatter(&gather, source, region);
            Ok(())
        })
    }

    /// Writes the fill value to the places of a piece that was never written, or passes it to the sink.
    fn write_fill(&self, task: &ReadTask, users: Users<'_>, filters: &mut Scratch) -> Result<()> {
        let fill = &self.context.reading.array.elements.fill;
        if let Some(sink) = self.sink {
            return each_place(users, &task.coord, |axes, offset, _| {
                let gather = self.gather(axes, offset);
                let value = fill.element();
                self.hand_on(sink, &task.coord, |f| repeated_blocks(&gather, value, filters, f))
            });
        }
        let element = self.fill.get_or_init(|| self.fill_element(fill));
        each_place(users, &task.coord, |axes, offset, region| {
            self.repeat(element, axes, offset, region);
            Ok(())
        })
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
        let decoded = match (route, wanted, users.only(), self.sink) {
            (Route::Blocks | Route::Scatter, Wanted::Box { axes, offset, .. }, Some(_), Some(sink)) => {
                let gather = self.gather(&axes, offset);
                let room = sized(&mut scratch.chunk, self.context.piece_bytes)?;
                let mut decoded = Ok(());
                self.hand_on(sink, chunk.coord, |f| {
                    decoded = pipeline.blocks(mask, stored, room, &gather, filters, f);
                })?;
                decoded
            }
            (Route::DecodeInto, Wanted::Dense { offset }, Some(user), _) => {
                let mut region = user.dst.region();
                let dst = region.run(offset, self.context.piece_bytes);
                pipeline.decode(mask, stored, dst, filters, user.dst.stores())
            }
            (Route::Blocks | Route::Scatter, Wanted::Box { axes, offset, .. }, Some(user), None) => {
                let gather = Gather { stores: user.dst.stores(), ..self.gather(&axes, offset) };
                let mut region = user.dst.region();
                if let Some(blosc) = pipeline.as_blosc(mask) {
                    blosc.scatter_into(stored, &gather, &mut region, filters).map(drop)
                } else {
                    let room = sized(&mut scratch.chunk, self.context.piece_bytes)?;
                    pipeline.scatter_into(mask, stored, room, &gather, &mut region, filters)
                }
            }
            _ => {
                // A kept chunk is decoded straight into new memory.
                let keeps = route == Route::Keep;
                let mut buffer = if keeps { Vec::new() } else { std::mem::take(&mut scratch.chunk) };
                let whole = sized(&mut buffer, self.context.piece_bytes)?;
                chunk.decode(stored, whole, filters)?;
                self.scatter(whole, users, chunk.coord, filters)?;
                if keeps {
                    self.context.reading.cache.insert(self.context.key(chunk.record), Arc::new(buffer));
                } else {
                    scratch.chunk = buffer;
                }
                return Ok(());
            }
        };
        decoded.map_err(|source| chunk.error(source))
    }
}
