//! Passes elements to a callback while they are in the cache, for computations that need no array of them.

use std::num::NonZeroUsize;
use std::ops::Range;

use hyperslab_error::{RequestError, Result};
use hyperslab_filters::{ByteMap, Convert, Handed};
use hyperslab_select::{Coord, Selection, first_element};
use hyperslab_store::index::ChunkRecord;

use super::decode::Run;
use super::sink::{Block, ChunkFilter, Keep, Sink};
use crate::engine::bounds::{Bounds, Columns, NotedBounds};
use crate::engine::chunks::stored::StoredChunk;
use crate::engine::destination::Destination;
use crate::engine::plan::pieces::Pieces;
use crate::engine::plan::place::{Cut, User};
use crate::engine::plan::reading::Reading;
use crate::engine::task_queue::worked;

impl Run<'_> {
    /// Returns whether a chunk is known not to be wanted, without any of its bytes.
    pub(super) fn is_left_out(&self, record: ChunkRecord) -> bool {
        let Some(ChunkFilter { columns, keep }) = &self.filter else { return false };
        let note = self.reading.cache.note(&self.key(record));
        note.is_some_and(|note| Bounds::decode(&note, columns).is_some_and(|bounds| !keep(&bounds)))
    }

    /// Returns whether a chunk is not wanted, given all its stored bytes. The bytes are compared with the
    /// note only if the note says so.
    pub(super) fn leaves_out(&self, chunk: &StoredChunk<'_>, stored: &[u8]) -> bool {
        let Some(ChunkFilter { columns, keep }) = &self.filter else { return false };
        let noted = NotedBounds::stored(stored, chunk.record.mask, columns, &chunk.chunked.codec);
        let Some(noted) = noted.filter(|noted| !keep(&noted.bounds) && noted.are_of_chunk()) else {
            return false;
        };
        self.reading.cache.insert_note(self.key(chunk.record), noted.bounds.note());
        true
    }
}

impl Reading<'_> {
    /// Calls `sink` with the elements of `what`, block by block while they are in the cache. The blocks of
    /// one chunk come in order; those of different chunks come in any order and concurrently. `columns` are
    /// byte ranges of an element, whose bytes are joined in this order; if empty, the whole element is
    /// passed. Chunks whose bounds `keep` refuses are left out; chunks without bounds are not.
    pub fn blocks(
        &self,
        what: &Selection,
        columns: &[Range<usize>],
        keep: Option<&Keep<'_>>,
        threads: Option<NonZeroUsize>,
        sink: &Sink<'_>,
    ) -> Result<()> {
        let size = self.array.elements.size;
        let map = if columns.is_empty() { None } else { Some(ByteMap::columns(size, columns)) };
        let map = map.map(|map| {
            let why = "each must be a non-empty range of bytes of an element";
            map.ok_or_else(|| RequestError::Argument { what: format!("columns {columns:?}"), why })
        });
        let map = map.transpose()?;
        let convert = map.as_ref().map(|map| map as &dyn Convert);
        let pieces = Pieces::converted(self.array);
        let mut run = self.run(&pieces, convert, map.as_ref().map_or(size, Convert::size))?;
        run.emit.sink = Some(sink);
        run.filter = keep.and_then(|keep| {
            Some(ChunkFilter { columns: Columns::of_array(&self.array.shape, &self.array.elements)?, keep })
        });
        let mut nowhere = Destination::contiguous(&mut []);
        let (dst, _) = nowhere.share(&[0], size)?;
        let worked = &mut |bytes| worked("read", bytes);
        let tiling = what.tiling_in_steps(&self.array.shape, &pieces.shape, worked)?;
        let _data = self.store.reading_data();
        run.all(&pieces, &tiling, User { cut: Cut::Tiling(&tiling), dst }, threads)
    }
}

impl Run<'_> {
    /// Calls `decode` with a function that passes elements of the piece at `coord` on to `sink`.
    pub(super) fn hand_on(
        &self,
        sink: &Sink<'_>,
        coord: &[u64],
        decode: impl FnOnce(&mut dyn FnMut(Handed<'_>)),
    ) -> Result<()> {
        let shape: Coord = self.emit.piece.iter().map(|&len| len as u64).collect();
        let piece = first_element(coord, &shape);
        let mut taken = Ok(());
        decode(&mut |Handed { at, count, elements }| {
            if taken.is_ok() {
                let (first, size) = (at / self.emit.stored_size.max(1), self.emit.memory_size);
                let piece_shape = &self.emit.piece;
                taken = sink(Block { piece: &piece, piece_shape, first, count, elements, size });
            }
        });
        taken
    }
}
