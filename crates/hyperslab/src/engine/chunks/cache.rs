//! Decoded chunks of one file, for repeated small reads. Reads of whole chunks pass by.

use std::sync::Arc;

use hyperslab_format::Addr;
use parking_lot::Mutex;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::dirty::DirtyChunks;
use crate::index::ChunkRecord;
use crate::store::Store;

/// The cache, and which chunks were touched lately.
#[derive(Debug)]
pub struct ChunkCache {
    chunks: Cache<ChunkKey, Arc<Vec<u8>>, ByBytes>,
    budget_bytes: u64,
    /// Chunks of which a small part was read, most recent first. Several touches within a short while are what makes
    /// decoding a whole chunk worth while where a part would do.
    touched: Mutex<[Option<ChunkKey>; TOUCHED]>,
    /// Chunks that were changed and are not in the file yet.
    pub dirty: DirtyChunks,
}

/// All that decides what a chunk decodes to. A damaged file may say that a chunk is where that of another dataset is, which
/// has other filters or another size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::engine) struct ChunkKey {
    /// The object header of its dataset.
    dataset: Addr,
    record: ChunkRecord,
    /// That of the store before it was read.
    epoch: u64,
}

impl ChunkKey {
    /// The key of a chunk that has not been read yet.
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
    /// A cache of at most `budget_bytes`.
    pub fn new(budget_bytes: u64) -> Self {
        let expected = usize::try_from(budget_bytes / (1 << 20)).unwrap_or(usize::MAX).max(16);
        Self {
            chunks: Cache::with_weighter(expected, budget_bytes, ByBytes),
            budget_bytes,
            touched: Mutex::new([None; TOUCHED]),
            dirty: DirtyChunks::default(),
        }
    }

    /// What a forked child has of it: the changed chunks. `None` if another thread was changing one at the fork.
    pub fn in_child(&self) -> Option<Self> {
        Some(Self { dirty: self.dirty.in_child()?, ..Self::new(self.budget_bytes) })
    }

    /// Forgets all chunks that are in the file.
    pub fn clear(&self) {
        self.chunks.clear();
    }

    /// The decoded chunk.
    pub(in crate::engine) fn get(&self, key: &ChunkKey) -> Option<Arc<Vec<u8>>> {
        self.chunks.get(key)
    }

    /// Whether the decoded chunk is there. To ask changes nothing.
    pub(in crate::engine) fn has(&self, key: &ChunkKey) -> bool {
        self.chunks.peek(key).is_some()
    }

    /// Keeps a decoded chunk, if it is small enough to leave room for others.
    pub(in crate::engine) fn insert(&self, key: ChunkKey, chunk: Arc<Vec<u8>>) {
        if self.admits(chunk.len()) {
            self.chunks.insert(key, chunk);
        }
    }

    /// Forgets a chunk: other bytes are where it was.
    pub(in crate::engine) fn forget(&self, key: &ChunkKey) {
        self.chunks.remove(key);
    }

    /// Bytes of changed chunks that may be held.
    pub fn dirty_budget(&self) -> u64 {
        self.budget_bytes
    }

    /// Whether a chunk of so many decoded bytes would be kept.
    pub(in crate::engine) fn admits(&self, len: usize) -> bool {
        len as u64 <= self.budget_bytes / 4
    }

    /// Notes that a small part of the chunk is read; true if that happened several times a short while ago.
    pub(in crate::engine) fn touch(&self, key: ChunkKey) -> bool {
        let mut touched = self.touched.lock();
        let is_touched = is_among(&touched, key);
        touched.rotate_right(1);
        touched[0] = Some(key);
        is_touched
    }

    /// Whether small parts of the chunk were read several times a short while ago.
    pub(in crate::engine) fn is_touched(&self, key: ChunkKey) -> bool {
        is_among(&self.touched.lock(), key)
    }

    /// Bytes held now.
    pub fn weight_bytes(&self) -> u64 {
        self.chunks.weight()
    }
}

/// Whether a chunk is among the touched often enough.
fn is_among(touched: &[Option<ChunkKey>; TOUCHED], key: ChunkKey) -> bool {
    touched.iter().filter(|&&other| other == Some(key)).count() >= TOUCHES
}

/// What an entry costs beyond its bytes.
const OVERHEAD: u64 = 96;
/// How many touches are remembered.
const TOUCHED: usize = 16;
/// How many of them must have been of a chunk before the next one makes it worth keeping.
const TOUCHES: usize = 2;

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
    fn the_third_touch_counts_unless_too_many_others_came_between() {
        let cache = ChunkCache::new(1 << 20);
        assert!(!cache.touch(key(1)));
        assert!(!cache.touch(key(1)));
        assert!(cache.touch(key(1)));
        for other in 100..100 + TOUCHED as u64 {
            assert!(!cache.touch(key(other)));
        }
        assert!(!cache.touch(key(1)), "sixteen others came between");
    }

    #[test]
    fn the_budget_holds_and_huge_chunks_are_not_kept() {
        let cache = ChunkCache::new(1 << 20);
        for at in 0..100 {
            cache.insert(key(at), Arc::new(vec![0; 100_000]));
        }
        assert!((100_000..=1 << 20).contains(&cache.weight_bytes()));
        cache.insert(key(1000), Arc::new(vec![0; 1 << 19]));
        assert!(cache.get(&key(1000)).is_none());
    }
}
