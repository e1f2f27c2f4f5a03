//! Leaves out chunks whose smallest and largest values show that none of their elements is wanted.

use crate::engine::bounds::{Bounds, Columns, NotedBounds};
use crate::engine::chunks::cache::{ChunkCache, ChunkKey};
use crate::engine::chunks::stored::StoredChunk;

/// A callback that returns whether elements with these bounds are wanted.
pub type Keep<'a> = dyn Fn(&Bounds<'_>) -> bool + Sync + 'a;

/// Leaves out chunks whose bounds show that they are not wanted.
pub(in crate::engine) struct ChunkFilter<'a> {
    pub(in crate::engine) columns: Columns,
    pub(in crate::engine) keep: &'a Keep<'a>,
}

impl ChunkFilter<'_> {
    /// Returns whether a chunk is known not to be wanted, without any of its bytes.
    pub(in crate::engine) fn leaves_out_noted(&self, cache: &ChunkCache, key: &ChunkKey) -> bool {
        let Self { columns, keep } = self;
        let note = cache.note(key);
        note.is_some_and(|note| Bounds::decode(&note, columns).is_some_and(|bounds| !keep(&bounds)))
    }

    /// Returns whether a chunk is not wanted, given all its stored bytes. The bytes are compared with the
    /// note only if the note says so.
    pub(in crate::engine) fn leaves_out(
        &self,
        cache: &ChunkCache,
        key: ChunkKey,
        chunk: &StoredChunk<'_>,
        stored: &[u8],
    ) -> bool {
        let Self { columns, keep } = self;
        let noted = NotedBounds::stored(stored, chunk.record.mask, columns, &chunk.chunked.codec);
        let Some(noted) = noted.filter(|noted| !keep(&noted.bounds) && noted.are_of_chunk()) else {
            return false;
        };
        cache.insert_note(key, noted.bounds.note());
        true
    }
}
