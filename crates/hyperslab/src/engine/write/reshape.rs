//! What happens to the chunks of a dataset that grows or shrinks.
//!
//! Elements that were never written hold the fill value. The same is true for elements that reappear when a
//! dataset grows after it shrank. So a chunk that the new edge cuts loses its elements outside the new shape.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_error::Result;
use hyperslab_select::{Coord, inside};
use hyperslab_store::index::ChunkIndex;

use super::Write;
use crate::engine::array::{ChunkedStorage, Storage, StoredArray};
use crate::engine::fill::fill_outside;
use crate::engine::plan::pieces::{Pieces, ReadTask, Source};
use crate::engine::task_queue;
use crate::engine::task_queue::workers_on;

impl Write<'_> {
    /// Returns the stored and held chunks whose stored bytes must change if the array takes this shape:
    /// chunks that lose elements, and chunks that are filtered in the interior and not at the edge if an edge
    /// arrives or leaves.
    pub fn changed_by(&self, shape: &[u64]) -> Result<Vec<Coord>> {
        let Storage::Chunked(chunked) = &self.array.storage else { return Ok(Vec::new()) };
        let chunk = chunked.codec.shape();
        let axes = self.array.shape.iter().zip(shape).zip(chunk);
        // Along each axis, the first chunk touched by an edge that moves in. If edge chunks are unfiltered,
        // by any edge that moves.
        let from: Coord = axes
            .map(|((&old, &new), len)| {
                let matters = new < old || (new > old && chunked.unfiltered_edges);
                if matters { old.min(new) / len } else { u64::MAX }
            })
            .collect();
        if from.iter().all(|&from| from == u64::MAX) {
            return Ok(Vec::new());
        }
        let changes = |coord: &[u64]| {
            let (before, after) = (inside(coord, chunk, &self.array.shape), inside(coord, chunk, shape));
            let loses = after.iter().zip(&before).any(|(after, before)| after < before);
            let was_edge = before.as_slice() != chunk;
            let is_edge = after.as_slice() != chunk;
            !after.contains(&0) && (loses || (chunked.unfiltered_edges && was_edge != is_edge))
        };
        let mut found: Vec<Coord> = self.held();
        found.retain(|coord| changes(coord));
        let held = found.len();
        let _reading = self.store.reading();
        chunked.index.visit_beyond(self.store, &from, &mut |coord, _| {
            if changes(coord) {
                found.push(Coord::from_slice(coord));
            }
            ControlFlow::Continue(())
        })?;
        if held > 0 {
            found.sort_unstable();
            found.dedup();
        }
        Ok(found)
    }

    /// Loads these chunks into memory as held chunks, and sets everything outside `shape` to the fill value.
    pub fn cut(&self, coords: &[Coord], shape: &[u64], threads: Option<NonZeroUsize>) -> Result<()> {
        let pieces = Pieces::of(self.array);
        let piece_bytes = self.piece_bytes(&pieces)?;
        let tasks: Vec<ReadTask> = {
            let _reading = self.store.reading();
            let task = |coord: &Coord| pieces.task(self.store, self.cache, coord.clone());
            coords.iter().map(task).collect::<Result<_>>()?
        };
        let workers = workers_on(self.store, tasks.len(), piece_bytes as u64, threads);
        task_queue::run(&tasks, workers, 1, &|tasks, scratch| {
            tasks.iter().filter(|task| task.source != Source::Fill || task.held.is_some()).try_for_each(
                |task| {
                    let held = self.hold(task, piece_bytes, scratch)?;
                    let kept = inside(&task.coord, &pieces.shape, shape);
                    fill_outside(&mut held.write(), &pieces.shape, &kept, &self.array.elements.fill);
                    Ok(())
                },
            )
        })
    }

    /// Drops held chunks that are entirely outside `shape`.
    pub fn forget_outside(&self, shape: &[u64]) {
        let Storage::Chunked(chunked) = &self.array.storage else { return };
        let is_outside = |coord: &Coord| inside(coord, chunked.codec.shape(), shape).contains(&0);
        self.forget(self.held().into_iter().filter(is_outside));
    }
}

impl StoredArray {
    /// Returns the same array with another shape, and with the index for that shape.
    #[must_use]
    pub fn reshaped(&self, chunked: &ChunkedStorage, shape: &[u64], index: ChunkIndex) -> Self {
        let storage = Storage::Chunked(Box::new(ChunkedStorage {
            codec: chunked.codec.clone(),
            unfiltered_edges: chunked.unfiltered_edges,
            index,
        }));
        Self {
            header: self.header,
            shape: shape.to_vec(),
            elements: Arc::clone(&self.elements),
            may_skip_fill: self.may_skip_fill,
            storage,
        }
    }
}
