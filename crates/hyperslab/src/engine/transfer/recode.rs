//! Copies chunks to a dataset with the same chunk shape and other filters. One worker reads, decodes, encodes
//! and writes each chunk, so no worker waits for another.

use std::num::NonZeroUsize;

use hyperslab_error::{Error, Result};
use hyperslab_select::Coord;
use hyperslab_store::index::ChunkRecord;

use crate::engine::array::Storage;
use crate::engine::chunks::stored::{StoredChunk, load};
use crate::engine::plan::pieces::Pieces;
use crate::engine::plan::reading::Reading;
use crate::engine::scratch::sized;
use crate::engine::task_queue::workers_on;
use crate::engine::write::{Placed, Write};

/// Two datasets that differ in their filters.
#[derive(Debug, Clone, Copy)]
pub struct Recode<'a> {
    /// The dataset to read from.
    pub from: Reading<'a>,
    /// The dataset to write to.
    pub to: Write<'a>,
}

impl Recode<'_> {
    /// Copies `chunks`, and returns the chunks to record in the index of the second dataset. Calls `done`
    /// with the number of decoded bytes of each chunk, on the thread that copied it.
    pub fn run(
        &self,
        chunks: &[(Coord, ChunkRecord)],
        threads: Option<NonZeroUsize>,
        done: &(dyn Fn(u64) + Sync),
    ) -> Result<Vec<Placed>> {
        let (Storage::Chunked(from), Storage::Chunked(to)) =
            (&self.from.array.storage, &self.to.array.storage)
        else {
            return Err(Error::unsupported("filters for data without chunks", "IV.A.2.l"));
        };
        let pieces = Pieces::of(self.from.array);
        let chunk_bytes = self.to.piece_bytes(&Pieces::of(self.to.array))?;
        let workers = |store| workers_on(store, chunks.len(), chunk_bytes as u64, threads);
        let workers = workers(self.from.store).min(workers(self.to.store));
        self.to.store_each(chunks, workers, chunk_bytes, &|(coord, record), scratch, store| {
            let mut buffer = std::mem::take(&mut scratch.chunk);
            let chunk = sized(&mut buffer, chunk_bytes)?;
            let source = pieces.source(StoredChunk { coord, record: *record, chunked: from })?;
            load(self.from.store, self.from.array, coord, source, chunk, scratch)?;
            self.to.encode(to, coord, chunk, None, &mut scratch.filters)?.map_or(Ok(()), store)?;
            scratch.chunk = buffer;
            done(chunk_bytes as u64);
            Ok(())
        })
    }
}
