//! One read, with everything that decides what its pieces need. Nothing of it changes while the read runs.

use hyperslab_error::{Error, Result};
use hyperslab_io::driver::Hints;
use hyperslab_store::index::ChunkRecord;

use super::chunk_filter::ChunkFilter;
use super::elements::PieceElements;
use super::pieces::{ReadTask, Source};
use super::place::{User, Users};
use super::reading::Reading;
use crate::engine::array::{ChunkedStorage, Storage};
use crate::engine::chunks::cache::ChunkKey;
use crate::engine::chunks::stored::StoredChunk;
use crate::engine::scratch;

/// One read.
pub(in crate::engine) struct ReadContext<'a> {
    pub(in crate::engine) reading: Reading<'a>,
    pub(in crate::engine) elements: PieceElements,
    /// The bytes of a decoded piece.
    pub(in crate::engine) piece_bytes: usize,
    pub(in crate::engine) chunked: Option<&'a ChunkedStorage>,
    /// The selections and their destinations.
    users: &'a [User<'a>],
    /// The users of all tasks, task by task.
    touches: &'a [usize],
    /// Leaves out chunks of which all stored bytes are read.
    pub(in crate::engine) filter: Option<ChunkFilter<'a>>,
    pub(in crate::engine) hints: Hints,
    /// Whether the read has only one piece.
    pub(in crate::engine) is_alone: bool,
    /// Whether the read was begun in the middle of another one, by the thread that does that.
    pub(in crate::engine) is_nested: bool,
}

impl<'a> ReadContext<'a> {
    /// Creates the context of a read of `pieces` pieces by `users`. `touches` lists the users of each task.
    pub(in crate::engine) fn new(
        reading: Reading<'a>,
        elements: PieceElements,
        users: &'a [User<'a>],
        touches: &'a [usize],
        pieces: u64,
    ) -> Result<Self> {
        let piece_bytes = elements.shape.iter().try_fold(elements.stored_size, |n, &len| n.checked_mul(len));
        let Some(piece_bytes) = piece_bytes else {
            return Err(Error::unsupported("a chunk larger than the address space", "IV.A.2.i"));
        };
        let chunked = match &reading.array.storage {
            Storage::Chunked(chunked) => Some(&**chunked),
            _ => None,
        };
        Ok(Self {
            reading,
            elements,
            piece_bytes,
            chunked,
            users,
            touches,
            filter: None,
            hints: reading.raw().hints(),
            is_alone: pieces == 1,
            is_nested: scratch::is_in_use(),
        })
    }

    /// Returns the users of the piece of a task.
    pub(in crate::engine) fn users(&self, task: &ReadTask) -> Users<'_> {
        Users::of(task, self.touches, self.users)
    }

    /// Returns the key of a decoded chunk in the cache.
    pub(in crate::engine) fn key(&self, record: ChunkRecord) -> ChunkKey {
        ChunkKey::new(self.reading.store, self.reading.array.header, record)
    }

    /// Returns the chunk of a task if it has filters.
    pub(in crate::engine) fn chunk<'t>(&'t self, task: &'t ReadTask) -> Option<StoredChunk<'t>> {
        match (task.source, self.chunked) {
            (Source::Chunk(record), Some(chunked)) => {
                Some(StoredChunk { coord: &task.coord, record, chunked })
            }
            _ => None,
        }
    }
}
