//! Decodes lists of elements of a chunk along its only dimension. Elements that lie near each other are
//! decoded together, once, and only their requested bytes.

use std::ops::Range;

use hyperslab_error::Result;
use hyperslab_filters::blosc::Blosc;
use hyperslab_filters::gather::{Axis, Gather, Target};
use hyperslab_filters::scatter::scatter;
use hyperslab_filters::{Handed, Scratch};

use super::decode::ReadRun;
use crate::engine::chunks::stored::StoredChunk;
use crate::engine::plan::elements::axes;
use crate::engine::plan::place::{User, destination_offset};
use crate::engine::scratch::{WorkerScratch, sized};
use crate::engine::task_queue::worked;

/// The elements between two listed ones that are decoded with them: about as many as a block has.
const NEAR: usize = 1 << 14;

/// Evenly spaced elements of a chunk, and the byte of the destination where the first one goes.
struct Listed {
    axis: Axis,
    offset: usize,
}

impl Listed {
    /// Returns the elements from the first to the last one.
    fn range(&self) -> Range<usize> {
        self.axis.start..self.axis.start + self.axis.step * (self.axis.count.max(1) - 1) + 1
    }

    /// Returns the range that also includes these elements, if they are near.
    fn joined(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let own = self.range();
        let is_near = self.axis.step <= NEAR
            && own.start <= range.end.saturating_add(NEAR)
            && range.start <= own.end.saturating_add(NEAR);
        is_near.then(|| own.start.min(range.start)..own.end.max(range.end))
    }
}

impl ReadRun<'_> {
    /// Copies the listed elements of a Blosc chunk to the user's destination, or passes them to the sink.
    pub(super) fn decode_listed(
        &self,
        chunk: &StoredChunk<'_>,
        blosc: &Blosc,
        user: User<'_>,
        stored: &[u8],
        scratch: &mut WorkerScratch,
    ) -> Result<()> {
        let mut listed = Vec::new();
        user.parts(chunk.coord, |part| {
            listed.extend(axes(part).first().map(|&axis| Listed { axis, offset: destination_offset(part) }));
        });
        let mut rest = &listed[..];
        while let Some(first) = rest.first() {
            let (mut range, mut count) = (first.range(), 1);
            // Elements that are far from each other are decoded block by block.
            while first.axis.step <= NEAR
                && let Some(joined) = rest.get(count).and_then(|next| next.joined(&range))
            {
                (range, count) = (joined, count + 1);
            }
            let (group, others) = rest.split_at(count);
            match group {
                [only] => self.decode_one(chunk, blosc, user, only, stored, &mut scratch.filters)?,
                group => {
                    let size = self.context.elements.memory_size;
                    let elements = sized(&mut scratch.chunk, range.len() * size)?;
                    let (start, stride) = (range.start, size.cast_signed());
                    let axes = [Axis { start, step: 1, count: range.len(), stride }];
                    let gather = self.gather(&axes, 0);
                    let decoded = blosc.scatter_into(stored, &gather, elements, &mut scratch.filters);
                    decoded.map_err(|source| chunk.error(source))?;
                    group.iter().try_for_each(|one| self.pass_on(chunk, user, one, range.start, elements))?;
                }
            }
            rest = others;
            worked("read", range.len() * self.context.elements.memory_size)?;
        }
        Ok(())
    }

    fn decode_one(
        &self,
        chunk: &StoredChunk<'_>,
        blosc: &Blosc,
        user: User<'_>,
        one: &Listed,
        stored: &[u8],
        filters: &mut Scratch,
    ) -> Result<()> {
        let axes = [one.axis];
        let gather = Gather { stores: user.dst.stores(), ..self.gather(&axes, one.offset) };
        let mut decoded = Ok(());
        if let Some(sink) = self.sink {
            self.hand_on(sink, chunk.coord, |f| decoded = blosc.blocks(stored, &gather, filters, f))?;
        } else {
            decoded = blosc.scatter_into(stored, &gather, &mut user.dst.region(), filters);
        }
        decoded.map_err(|source| chunk.error(source))
    }

    /// Passes listed elements on. `elements` are those of the chunk from number `first` on, as they are in
    /// the destination.
    fn pass_on(
        &self,
        chunk: &StoredChunk<'_>,
        user: User<'_>,
        one: &Listed,
        first: usize,
        elements: &[u8],
    ) -> Result<()> {
        let (size, Axis { start, step, count, stride }) = (self.context.elements.memory_size, one.axis);
        let place = (start - first) * size;
        if let Some(sink) = self.sink {
            return self.hand_on(sink, chunk.coord, |f| {
                let count_in_run = if step == 1 { count } else { 1 };
                for number in (0..count).step_by(count_in_run.max(1)) {
                    let from = place + number * step * size;
                    f(Handed {
                        at: (start + number * step) * self.context.elements.stored_size,
                        count: count_in_run,
                        elements: &elements[from..from + count_in_run * size],
                    });
                }
            });
        }
        let mut region = user.dst.region();
        if step == 1 && stride == size.cast_signed() {
            let len = count * size;
            region.run(one.offset, len).copy_from_slice(&elements[place..place + len]);
        } else {
            let shape = [elements.len() / size.max(1)];
            let axes = [Axis { start: start - first, ..one.axis }];
            scatter(&Gather::new(size, &shape, &axes, one.offset), elements, &mut region);
        }
        Ok(())
    }
}
