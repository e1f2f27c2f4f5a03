//! The second and the third step of writing chunks: encoded chunks get their places, all at once, and are written there.

use std::borrow::Cow;

use hyperslab_filters::FilterMask;
use hyperslab_format::{Addr, Extent};
use parking_lot::Mutex;
use smallvec::SmallVec;

use super::Write;
use super::encode::{Encoded, Form};
use crate::engine::chunks::cache::ChunkKey;
use crate::error::Result;
use crate::index::ChunkRecord;
use crate::select::Coord;
use crate::store::Store;

/// A chunk that was written to a new place, or has none any more, which the index does not know yet.
#[derive(Debug, Clone)]
pub struct Placed {
    /// The chunk, counted in chunks along each dimension.
    pub coord: Coord,
    /// Where it is; `None` if it holds nothing but the fill value and is not stored.
    pub record: Option<ChunkRecord>,
}

/// Where encoded chunks go, in their order: an empty extent for a chunk that is not stored.
pub type Places = SmallVec<[Extent; 1]>;

impl Write<'_> {
    /// The second step: gives every chunk that needs one a place that nothing reaches yet, one beside the other where there is
    /// room.
    pub fn allocate(&self, encoded: &[Encoded<'_>]) -> Result<Places> {
        let new = encoded.iter().filter(|chunk| matches!(chunk.form, Form::New { .. }));
        let mut new = self.store.allocate_all(new.map(|chunk| chunk.bytes().len() as u64))?.into_iter();
        let nowhere = Extent::new(Addr::UNDEFINED, 0);
        let place = |chunk: &Encoded<'_>| match &chunk.form {
            Form::New { .. } => new.next().unwrap_or(nowhere),
            Form::InPlace { extent, .. } => *extent,
            Form::Absent => nowhere,
        };
        Ok(encoded.iter().map(place).collect())
    }

    /// The third step: writes the chunks to their places, and returns what the index must be told. If it fails, it gives back the
    /// new places.
    pub fn write(&self, encoded: &[Encoded<'_>], places: &[Extent]) -> Result<Vec<Placed>> {
        let mut placed = Vec::with_capacity(encoded.len());
        for (chunk, &extent) in encoded.iter().zip(places) {
            let record = match chunk.form {
                Form::New { mask, .. } => Some(ChunkRecord { extent, mask }),
                Form::Absent => None,
                Form::InPlace { .. } => continue,
            };
            // What was known of a chunk that had this place before.
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

    /// Stores a chunk that is filtered already.
    pub fn place_stored(&self, coord: &Coord, mask: FilterMask, bytes: &[u8]) -> Result<Vec<Placed>> {
        let form = Form::New { bytes: Cow::Borrowed(bytes), mask };
        let encoded = [Encoded { coord: coord.clone(), form }];
        self.write(&encoded, &self.allocate(&encoded)?)
    }
}

/// Gives back the space of chunks that no index will know.
pub fn abandon(store: &Store, placed: &[Placed]) {
    placed.iter().filter_map(|placed| placed.record).for_each(|record| store.release(record.extent));
}

/// The encoded chunks of one worker on their way into the file: small ones wait until they are worth one call.
#[derive(Debug)]
pub(super) struct Batch<'w> {
    write: Write<'w>,
    placed: &'w Mutex<Vec<Placed>>,
    waiting: Vec<Encoded<'static>>,
    waiting_bytes: usize,
}

impl<'w> Batch<'w> {
    /// An empty one; `placed` collects what the index must be told.
    pub(super) fn new(write: Write<'w>, placed: &'w Mutex<Vec<Placed>>) -> Self {
        Self { write, placed, waiting: Vec::new(), waiting_bytes: 0 }
    }

    /// Takes a chunk, and writes it now unless it is small and others follow.
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

    /// Writes what waits.
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

/// A chunk of more bytes is written alone: the call costs little beside it.
const SMALL_BYTES: usize = 32 << 10;
/// As much as a worker keeps before it writes.
const BATCH_BYTES: usize = 256 << 10;
/// As many chunks, however small.
const BATCH_CHUNKS: usize = 1024;
