//! Decoded chunks of one file, for repeated small reads. Reads of whole chunks pass by.

use std::sync::Arc;

use hyperslab_format::Addr;
use parking_lot::Mutex;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// The cache, and which chunks were touched lately.
#[derive(Debug)]
pub struct ChunkCache {
    chunks: Cache<Addr, Arc<Vec<u8>>, ByBytes>,
    budget_bytes: u64,
    /// Chunks of which a small part was read, most recent first. Several touches within a short while are what makes
    /// decoding a whole chunk worth while where a part would do.
    touched: Mutex<[Addr; TOUCHED]>,
}

#[derive(Debug, Clone)]
struct ByBytes;

impl Weighter<Addr, Arc<Vec<u8>>> for ByBytes {
    fn weight(&self, _: &Addr, chunk: &Arc<Vec<u8>>) -> u64 {
        chunk.len() as u64 + 64
    }
}

impl ChunkCache {
    /// A cache of at most `budget_bytes`.
    pub fn new(budget_bytes: u64) -> Self {
        let expected = usize::try_from(budget_bytes / (1 << 20)).unwrap_or(usize::MAX).max(16);
        Self {
            chunks: Cache::with_weighter(expected, budget_bytes, ByBytes),
            budget_bytes,
            touched: Mutex::new([Addr::UNDEFINED; TOUCHED]),
        }
    }

    /// The decoded chunk stored at `at`.
    pub(super) fn get(&self, at: Addr) -> Option<Arc<Vec<u8>>> {
        self.chunks.get(&at)
    }

    /// Keeps a decoded chunk, if it is small enough to leave room for others.
    pub(super) fn insert(&self, at: Addr, chunk: Arc<Vec<u8>>) {
        if self.admits(chunk.len()) {
            self.chunks.insert(at, chunk);
        }
    }

    /// Whether a chunk of so many decoded bytes would be kept.
    pub(super) fn admits(&self, len: usize) -> bool {
        len as u64 <= self.budget_bytes / 4
    }

    /// Notes that a small part of the chunk at `at` is read; true if that happened several times a short while ago.
    pub(super) fn touch(&self, at: Addr) -> bool {
        let mut touched = self.touched.lock();
        let before = touched.iter().filter(|&&other| other == at).count();
        touched.rotate_right(1);
        touched[0] = at;
        before >= TOUCHES
    }

    /// Bytes held now.
    pub fn weight_bytes(&self) -> u64 {
        self.chunks.weight()
    }
}

/// How many touches are remembered.
const TOUCHED: usize = 16;
/// How many of them must have been of a chunk before the next one makes it worth keeping.
const TOUCHES: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_touch_counts_unless_too_many_others_came_between() {
        let cache = ChunkCache::new(1 << 20);
        assert!(!cache.touch(Addr::new(1)));
        assert!(!cache.touch(Addr::new(1)));
        assert!(cache.touch(Addr::new(1)));
        for other in 100..100 + TOUCHED as u64 {
            assert!(!cache.touch(Addr::new(other)));
        }
        assert!(!cache.touch(Addr::new(1)), "sixteen others came between");
    }

    #[test]
    fn the_budget_holds_and_huge_chunks_are_not_kept() {
        let cache = ChunkCache::new(1 << 20);
        for at in 0..100 {
            cache.insert(Addr::new(at), Arc::new(vec![0; 100_000]));
        }
        assert!((100_000..=1 << 20).contains(&cache.weight_bytes()));
        cache.insert(Addr::new(1000), Arc::new(vec![0; 1 << 19]));
        assert!(cache.get(Addr::new(1000)).is_none());
    }
}
