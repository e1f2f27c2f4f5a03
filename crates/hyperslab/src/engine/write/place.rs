//! The second and third step of a write of chunks: allocates space for all encoded chunks at once, and writes
//! them there.

use std::borrow::Cow;
use std::io;

use hyperslab_error::{Error, Result};
use hyperslab_filters::FilterMask;
use hyperslab_format::{Addr, Extent};
use hyperslab_select::Coord;
use hyperslab_store::index::ChunkRecord;
use hyperslab_store::{SpaceKind, Store};
use parking_lot::Mutex;
use smallvec::SmallVec;

use super::Write;
use super::encode::{Encoded, Form};
use crate::engine::chunks::cache::ChunkKey;

/// A chunk whose record in the index must change: it was written to a new place or is not stored any more.
#[derive(Debug, Clone)]
pub struct Placed {
    /// The chunk's position in the grid of chunks.
    pub coord: Coord,
    /// The new record. `None` if the chunk holds only the fill value and is not stored.
    pub record: Option<ChunkRecord>,
}

/// The places of encoded chunks, in their order. The extent of a chunk that is not stored is empty.
pub type Places = SmallVec<[Extent; 1]>;

impl Write<'_> {
    /// The second step: allocates space for every chunk that needs it, adjacent if there is room.
    pub fn allocate(&self, encoded: &[Encoded<'_>]) -> Result<Places> {
        let new = encoded.iter().filter(|chunk| matches!(chunk.form, Form::New { .. }));
        let mut new =
            self.store.allocate_all(SpaceKind::Raw, new.map(|chunk| chunk.bytes().len() as u64))?.into_iter();
        let nowhere = Extent::new(Addr::UNDEFINED, 0);
        let place = |chunk: &Encoded<'_>| match &chunk.form {
            // A chunk without a place would count as never written, and its elements would be lost.
            Form::New { .. } => new.next().ok_or_else(unplaced),
            Form::InPlace { extent, .. } => Ok(*extent),
            Form::Absent => Ok(nowhere),
        };
        encoded.iter().map(place).collect()
    }

    /// The third step: writes the chunks to their places. Returns the changes for the index. On failure,
    /// frees the new places.
    pub fn write(&self, encoded: &[Encoded<'_>], places: &[Extent]) -> Result<Vec<Placed>> {
        let mut placed = Vec::with_capacity(encoded.len());
        for (chunk, &extent) in encoded.iter().zip(places) {
            let record = match chunk.form {
                Form::New { mask, .. } => Some(ChunkRecord { extent, mask }),
                Form::Absent => None,
                Form::InPlace { .. } => continue,
            };
            // Drop a cached chunk that had this place before.
            record
                .inspect(|&record| self.cache.forget(&ChunkKey::new(self.store, self.array.header, record)));
            placed.push(Placed { coord: chunk.coord.clone(), record });
        }
        let reserved = placed
            .iter()
            .filter_map(|placed| placed.record)
            .try_for_each(|record| self.store.reserve(record.extent));
        let stored = encoded.iter().zip(places).filter(|(_, extent)| extent.len > 0);
        let written = reserved.and_then(|()| {
            self.store.write_batch(stored.map(|(chunk, extent)| (extent.addr, chunk.bytes())))
        });
        match written {
            Ok(()) => Ok(placed),
            Err(error) => {
                abandon(self.store, &placed);
                Err(error)
            }
        }
    }

    /// Stores a chunk whose bytes are already filtered.
    pub fn place_stored(&self, coord: &Coord, mask: FilterMask, bytes: &[u8]) -> Result<Vec<Placed>> {
        let form = Form::New { bytes: Cow::Borrowed(bytes), mask };
        let encoded = [Encoded { coord: coord.clone(), form }];
        self.write(&encoded, &self.allocate(&encoded)?)
    }
}

/// Frees the space of chunks that will not be recorded in an index.
pub fn abandon(store: &Store, placed: &[Placed]) {
    placed.iter().filter_map(|placed| placed.record).for_each(|record| store.release(record.extent));
}

/// The encoded chunks of one worker. Small chunks wait until there are enough of them for one call.
#[derive(Debug)]
pub(super) struct Batch<'w> {
    write: Write<'w>,
    placed: &'w Mutex<Vec<Placed>>,
    waiting: Vec<Encoded<'static>>,
    waiting_bytes: usize,
}

impl<'w> Batch<'w> {
    /// Returns an empty batch. `placed` collects the changes for the index.
    pub(super) fn new(write: Write<'w>, placed: &'w Mutex<Vec<Placed>>) -> Self {
        Self { write, placed, waiting: Vec::new(), waiting_bytes: 0 }
    }

    /// Adds a chunk. Writes it now unless it is small and others follow.
    pub(super) fn push(&mut self, encoded: Encoded<'_>, is_last: bool) -> Result<()> {
        let len = encoded.bytes().len();
        if len > SMALL_BYTES || (is_last && self.waiting.is_empty()) {
            return self.store(std::slice::from_ref(&encoded));
        }
        self.waiting.push(encoded.into_owned());
        self.waiting_bytes += len;
        if self.waiting_bytes >= BATCH_BYTES || self.waiting.len() >= BATCH_CHUNKS {
            self.finish()
        } else {
            Ok(())
        }
    }

    /// Writes the waiting chunks.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.waiting_bytes = 0;
        let waiting = std::mem::take(&mut self.waiting);
        if waiting.is_empty() { Ok(()) } else { self.store(&waiting) }
    }

    fn store(&self, encoded: &[Encoded<'_>]) -> Result<()> {
        let places = self.write.allocate(encoded)?;
        let placed = self.write.write(encoded, &places)?;
        self.placed.lock().extend(placed);
        Ok(())
    }
}

/// Returns the error for data that got no place, although an allocation gives one to all data or fails.
#[cold]
pub(crate) fn unplaced() -> Error {
    Error::io("allocate", 0, 0)(io::ErrorKind::InvalidData.into())
}

/// A larger chunk is written in a call of its own, because the call costs little in comparison.
const SMALL_BYTES: usize = 32 << 10;
/// The number of waiting bytes at which a worker writes.
const BATCH_BYTES: usize = 256 << 10;
/// The number of waiting chunks at which a worker writes.
const BATCH_CHUNKS: usize = 1024;
