//! Decoded metadata blocks by address, within a budget of bytes.

mod bulk_read;
mod image;
pub(crate) mod prefetch;

use std::any::{Any, TypeId};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hyperslab_format::Addr;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};

/// The unchanged blocks of one file, as they are in the file. The cache is sharded, so that threads rarely
/// contend, and evicts the least useful blocks first.
#[derive(Debug)]
pub struct BlockCache {
    blocks: Cache<(Addr, TypeId), CachedBlock, ByBytes>,
    budget_bytes: u64,
    /// The number of times that the cache was cleared.
    epoch: AtomicU64,
}

#[derive(Debug, Clone)]
struct CachedBlock {
    value: Arc<dyn Any + Send + Sync>,
    /// The length on disk, which the budget counts: decoded blocks have about the same size.
    len: u64,
    /// The epoch of the cache before the block was read.
    epoch: u64,
}

#[derive(Debug, Clone)]
struct ByBytes;

impl Weighter<(Addr, TypeId), CachedBlock> for ByBytes {
    fn weight(&self, _: &(Addr, TypeId), block: &CachedBlock) -> u64 {
        block.len + OVERHEAD
    }
}

impl BlockCache {
    pub(crate) fn new(budget_bytes: u64) -> Self {
        let expected_blocks = usize::try_from(budget_bytes / 1024).unwrap_or(usize::MAX);
        let options = OptionsBuilder::new()
            .estimated_items_capacity(expected_blocks)
            .weight_capacity(budget_bytes)
            // A block larger than a shard is not cached. With more shards, as on a machine of many
            // processors, the name heap of a large old-style group would not fit, and every look-up in the
            // group needs it.
            .shards(SHARDS)
            .build()
            .expect("both capacities are given");
        let lifecycle = DefaultLifecycle::default();
        let blocks = Cache::with_options(options, ByBytes, DefaultHashBuilder::default(), lifecycle);
        Self { blocks, budget_bytes, epoch: AtomicU64::new(0) }
    }

    /// Returns an empty cache of the same capacity.
    pub(crate) fn emptied(&self) -> Self {
        // Not the capacity that the cache states: another thread may have held its locks at a fork.
        Self::new(self.budget_bytes)
    }

    /// Returns a number that rises when the cache is cleared.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    pub(crate) fn get<S: Send + Sync + 'static>(&self, at: Addr) -> Option<Arc<S>> {
        let block = self.blocks.get(&(at, TypeId::of::<S>()))?;
        if block.epoch == self.epoch() { block.value.downcast().ok() } else { None }
    }

    /// Caches a value, which counts as `len` bytes.
    pub fn insert<S: Send + Sync + 'static>(&self, at: Addr, value: Arc<S>, len: u64) {
        self.insert_of(self.epoch(), at, value, len);
    }

    /// Caches a value that was read since `epoch`. The value is never found if the cache was cleared
    /// meanwhile.
    pub(crate) fn insert_of<S: Send + Sync + 'static>(&self, epoch: u64, at: Addr, value: Arc<S>, len: u64) {
        self.blocks.insert((at, TypeId::of::<S>()), CachedBlock { value, len, epoch });
    }

    /// Removes a value.
    pub fn remove<S: Send + Sync + 'static>(&self, at: Addr) {
        self.blocks.remove(&(at, TypeId::of::<S>()));
    }

    /// Removes all values.
    pub(crate) fn clear(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
        self.blocks.clear();
    }

    /// Returns the cached bytes, as the budget counts them.
    pub(crate) fn weight_bytes(&self) -> u64 {
        self.blocks.weight()
    }
}

/// The number of parts of the cache; each has its own lock.
const SHARDS: usize = 8;

/// The cost of an entry beyond its bytes.
const OVERHEAD: u64 = 96;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_two_types_at_one_address_are_cached_separately() {
        let cache = BlockCache::new(1 << 20);
        cache.insert(Addr::new(8), Arc::new(5_u32), 4);
        assert_eq!(cache.get::<u32>(Addr::new(8)).as_deref(), Some(&5));
        assert!(cache.get::<u64>(Addr::new(8)).is_none());
    }

    #[test]
    fn a_value_read_before_the_cache_was_cleared_is_not_found() {
        let (cache, at) = (BlockCache::new(1 << 20), Addr::new(8));
        let before = cache.epoch();
        cache.insert(at, Arc::new(5_u32), 4);
        cache.clear();
        cache.insert_of(before, at, Arc::new(5_u32), 4);
        assert!(cache.get::<u32>(at).is_none());
        cache.insert(at, Arc::new(6_u32), 4);
        assert_eq!(cache.get::<u32>(at).as_deref(), Some(&6));
    }

    #[test]
    fn cached_bytes_stay_within_the_budget() {
        let cache = BlockCache::new(64 << 10);
        for i in 0..10_000_u64 {
            cache.insert(Addr::new(i), Arc::new(i), 1000);
        }
        assert!(cache.weight_bytes() <= 64 << 10);
    }
}
