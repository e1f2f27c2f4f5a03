//! Writes to contiguous data in place: in one call if a whole piece is written, otherwise run by run.

use hyperslab_error::Result;
use hyperslab_format::{Addr, Extent};
use hyperslab_select::{Dim, Part};
use smallvec::SmallVec;

use super::WriteRun;
use super::input::pitches;
use super::plan::Cut;
use crate::engine::plan::pieces::ReadTask;
use crate::engine::raw_data::{RawData, address_in};
use crate::engine::scratch::{WorkerScratch, sized};
use crate::engine::task_queue::worked;

impl WriteRun<'_> {
    /// Writes to a piece of contiguous data.
    pub(super) fn in_place(
        &self,
        task: &ReadTask,
        cut: &Cut<'_>,
        extent: Extent,
        scratch: &mut WorkerScratch,
    ) -> Result<()> {
        let raw = RawData::of(self.write.store, self.write.array);
        let input = &self.plan.input;
        if let Some(bytes) = cut.part.as_ref().and_then(|part| input.whole(part)) {
            return raw.write_batch([(extent.addr, bytes)]);
        }
        let piece = sized(&mut scratch.chunk, self.piece_bytes)?;
        self.plan.place(&task.coord, piece, &mut scratch.convert)?;
        if cut.is_whole {
            let len = usize::try_from(extent.len).unwrap_or(usize::MAX).min(piece.len());
            return raw.write_batch([(extent.addr, &piece[..len])]);
        }
        let (size, pitches) = (input.stored_size, pitches(&input.piece, input.stored_size));
        let mut waiting: SmallVec<[(Addr, &[u8]); 1]> = SmallVec::new();
        let mut result = Ok(());
        self.plan.each(&task.coord, |part| {
            let mut write = |at: usize, len| {
                waiting.push((address_in(extent, at as u64)?, &piece[at..at + len]));
                if waiting.len() < BATCH_RUNS {
                    return Ok(());
                }
                raw.write_batch(waiting.drain(..))?;
                worked("write", usize::MAX)
            };
            if result.is_ok() {
                result = runs(part, &input.piece, &pitches, size, &mut write);
            }
        });
        result.and_then(|()| raw.write_batch(waiting))
    }
}

/// Calls `f` with the offset and length in bytes of every run of a part of a dense piece.
fn runs(
    part: &Part,
    piece: &[usize],
    pitches: &[usize],
    size: usize,
    f: &mut dyn FnMut(usize, usize) -> Result<()>,
) -> Result<()> {
    let (mut run, mut outer) = (size, part.within.len());
    while outer > 0 {
        let dim = part.within[outer - 1];
        let count = usize::try_from(dim.count).unwrap_or(usize::MAX);
        if count != 1 && (dim.step != 1 || run != pitches[outer - 1]) {
            break;
        }
        if count != 1 {
            run *= count;
        } else if piece[outer - 1] != 1 {
            // One of several indices: the run ends here.
            outer -= 1;
            break;
        }
        outer -= 1;
    }
    let start: usize = part
        .within
        .iter()
        .zip(pitches)
        .map(|(dim, pitch)| usize::try_from(dim.start).unwrap_or(usize::MAX) * pitch)
        .sum();
    each_run(&part.within[..outer], pitches, start, &mut |at| f(at, run))
}

fn each_run(
    dims: &[Dim],
    pitches: &[usize],
    at: usize,
    f: &mut dyn FnMut(usize) -> Result<()>,
) -> Result<()> {
    let (Some((dim, inner)), Some((&pitch, pitches))) = (dims.split_first(), pitches.split_first()) else {
        return f(at);
    };
    (0..dim.count).try_for_each(|i| {
        let step = usize::try_from(i * dim.step).unwrap_or(usize::MAX);
        each_run(inner, pitches, at + step * pitch, f)
    })
}

/// The maximum number of runs that are written in one call.
const BATCH_RUNS: usize = 1024;
