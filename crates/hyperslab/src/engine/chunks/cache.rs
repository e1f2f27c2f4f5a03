//! A cache of one file's decoded chunks, for repeated small reads, and of notes that belong to their chunks.
//! Reads of whole chunks bypass it.

use std::sync::Arc;

use hyperslab_format::Addr;
use hyperslab_store::Store;
use hyperslab_store::index::ChunkRecord;
use parking_lot::Mutex;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::dirty::DirtyChunks;
use crate::engine::in_flight::Budget;

/// The cache, and the chunks that were touched recently.
#[derive(Debug)]
pub struct ChunkCache {
    chunks: Cache<ChunkKey, Arc<Vec<u8>>, ByBytes>,
    /// Notes of minima and maxima that were compared with all stored bytes of their chunks.
    notes: Cache<ChunkKey, Arc<Vec<u8>>, ByBytes>,
    budget_bytes: u64,
    /// The memory of reads in progress.
    pub(in crate::engine) in_flight: Budget,
    /// Chunks of which a small part was read, most recent first. Only several touches within a short time
    /// make it worthwhile to decode a whole chunk instead of a part.
    touched: Mutex<[Option<ChunkKey>; TOUCHED]>,
    /// Chunks with changes that are not in the file yet.
    pub dirty: DirtyChunks,
}

/// Everything that decides what a chunk decodes to. It includes the dataset, because a damaged file may give
/// chunks of two datasets the same address, with different filters or sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::engine) struct ChunkKey {
    /// The address of the dataset's object header.
    dataset: Addr,
    record: ChunkRecord,
    /// The store's epoch before the chunk was read.
    epoch: u64,
}

impl ChunkKey {
    /// Returns the key of a chunk. Call it before the chunk is read.
    pub(in crate::engine) fn new(store: &Store, dataset: Addr, record: ChunkRecord) -> Self {
        Self { dataset, record, epoch: store.epoch() }
    }
}

#[derive(Debug, Clone)]
struct ByBytes;

impl Weighter<ChunkKey, Arc<Vec<u8>>> for ByBytes {
    fn weight(&self, _: &ChunkKey, chunk: &Arc<Vec<u8>>) -> u64 {
        chunk.len() as u64 + OVERHEAD
    }
}

impl ChunkCache {
    /// Returns a cache of at most `budget_bytes`.
    pub fn new(budget_bytes: u64) -> Self {
        let expected = usize::try_from(budget_bytes / (1 << 20)).unwrap_or(usize::MAX).max(16);
        Self {
            chunks: Cache::with_weighter(expected, budget_bytes, ByBytes),
            notes: Cache::with_weighter(expected, budget_bytes / NOTES, ByBytes),
            budget_bytes,
            in_flight: Budget::new(IN_FLIGHT_BYTES),
            touched: Mutex::new([None; TOUCHED]),
            dirty: DirtyChunks::default(),
        }
    }

    /// Sets how many bytes the reads in progress may hold.
    #[must_use]
    pub fn in_flight(mut self, bytes: u64) -> Self {
        self.in_flight = Budget::new(bytes);
        self
    }

    /// Returns the cache for a forked child, with the changed chunks only. `None` if another thread was
    /// changing a chunk at the time of the fork.
    pub fn in_child(&self) -> Option<Self> {
        let new = Self::new(self.budget_bytes).in_flight(self.in_flight.limit());
        Some(Self { dirty: self.dirty.in_child()?, ..new })
    }

    /// Drops all cached chunks. Changed chunks stay.
    pub fn clear(&self) {
        self.chunks.clear();
        self.notes.clear();
    }

    /// Returns the decoded chunk, if cached.
    pub(in crate::engine) fn get(&self, key: &ChunkKey) -> Option<Arc<Vec<u8>>> {
        self.chunks.get(key)
    }

    /// Returns the decoded chunk, if it is cached. Does not count as a use.
    pub(in crate::engine) fn peek(&self, key: &ChunkKey) -> Option<Arc<Vec<u8>>> {
        self.chunks.peek(key)
    }

    /// Caches a decoded chunk, if it is small enough to leave room for others.
    pub(in crate::engine) fn insert(&self, key: ChunkKey, chunk: Arc<Vec<u8>>) {
        if self.admits(chunk.len()) {
            self.chunks.insert(key, chunk);
        }
    }

    /// Returns the note of a chunk, if it is known to belong to the chunk.
    pub(in crate::engine) fn note(&self, key: &ChunkKey) -> Option<Arc<Vec<u8>>> {
        self.notes.get(key)
    }

    /// Remembers that a note belongs to a chunk.
    pub(in crate::engine) fn insert_note(&self, key: ChunkKey, note: &[u8]) {
        self.notes.insert(key, Arc::new(note.to_vec()));
    }

    /// Drops a chunk and its note, because its place in the file was given to other bytes.
    pub(in crate::engine) fn forget(&self, key: &ChunkKey) {
        self.chunks.remove(key);
        self.notes.remove(key);
    }

    /// Returns the maximum number of bytes of changed chunks.
    pub fn dirty_budget(&self) -> u64 {
        self.budget_bytes
    }

    /// Returns whether a chunk of `len` decoded bytes would be cached.
    pub(in crate::engine) fn admits(&self, len: usize) -> bool {
        len as u64 <= self.budget_bytes / 4
    }

    /// Records that a small part of the chunk is read. Returns whether several such reads came shortly
    /// before.
    pub(in crate::engine) fn touch(&self, key: ChunkKey) -> bool {
        let mut touched = self.touched.lock();
        let is_touched = is_among(&touched, key);
        touched.rotate_right(1);
        touched[0] = Some(key);
        is_touched
    }

    /// Returns whether small parts of the chunk were read several times recently.
    pub(in crate::engine) fn is_touched(&self, key: ChunkKey) -> bool {
        is_among(&self.touched.lock(), key)
    }

    /// Returns the number of cached bytes.
    pub fn weight_bytes(&self) -> u64 {
        self.chunks.weight()
    }
}

/// Returns whether a chunk occurs often enough among the recent touches.
fn is_among(touched: &[Option<ChunkKey>; TOUCHED], key: ChunkKey) -> bool {
    touched.iter().filter(|&&other| other == Some(key)).count() >= TOUCHES
}

/// The cost of an entry in addition to its bytes.
const OVERHEAD: u64 = 96;
/// Notes have this part of the budget of chunks in addition: 8 MiB are those of 30,000 chunks of 8 columns.
const NOTES: u64 = 8;
/// The number of touches that are remembered.
const TOUCHED: usize = 16;
/// The number of remembered touches of a chunk that make it worth caching at the next touch.
const TOUCHES: usize = 2;

/// The default of [`ChunkCache::in_flight`].
pub const IN_FLIGHT_BYTES: u64 = 64 << 20;

#[cfg(test)]
mod tests {
    use hyperslab_filters::FilterMask;
    use hyperslab_format::Extent;

    use super::*;

    fn key(at: u64) -> ChunkKey {
        let extent = Extent::new(Addr::new(at), 8);
        let record = ChunkRecord { extent, mask: FilterMask::NONE_SKIPPED };
        ChunkKey { dataset: Addr::new(0), record, epoch: 0 }
    }

    #[test]
    fn the_third_touch_counts_unless_too_many_other_touches_come_between() {
        let cache = ChunkCache::new(1 << 20);
        assert!(!cache.touch(key(1)));
        assert!(!cache.touch(key(1)));
        assert!(cache.touch(key(1)));
        for other in 100..100 + TOUCHED as u64 {
            assert!(!cache.touch(key(other)));
        }
        assert!(!cache.touch(key(1)), "too many other touches came between");
    }

    #[test]
    fn the_cache_stays_within_its_budget_and_refuses_large_chunks() {
        let cache = ChunkCache::new(1 << 20);
        for at in 0..100 {
            cache.insert(key(at), Arc::new(vec![0; 100_000]));
        }
        assert!((100_000..=1 << 20).contains(&cache.weight_bytes()));
        cache.insert(key(1000), Arc::new(vec![0; 1 << 19]));
        assert!(cache.get(&key(1000)).is_none());
    }
}
