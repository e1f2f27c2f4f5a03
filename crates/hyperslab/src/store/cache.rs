//! Decoded metadata blocks by address, within a budget of bytes.

use std::any::{Any, TypeId};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hyperslab_format::Addr;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};

/// Blocks of one file as the file has them: sharded, so that threads rarely meet; the least useful blocks leave first.
#[derive(Debug)]
pub struct BlockCache {
    blocks: Cache<(Addr, TypeId), Block, ByBytes>,
    /// How often everything was forgotten.
    epoch: AtomicU64,
}

#[derive(Debug, Clone)]
struct Block {
    value: Arc<dyn Any + Send + Sync>,
    /// Bytes on disk, the measure of the budget: decoded blocks are of about the same size.
    len: u64,
    /// Of the cache, before the block was read.
    epoch: u64,
}

#[derive(Debug, Clone)]
struct ByBytes;

impl Weighter<(Addr, TypeId), Block> for ByBytes {
    fn weight(&self, _: &(Addr, TypeId), block: &Block) -> u64 {
        block.len + OVERHEAD
    }
}

impl BlockCache {
    pub(super) fn new(budget_bytes: u64) -> Self {
        let expected_blocks = usize::try_from(budget_bytes / 1024).unwrap_or(usize::MAX);
        let options = OptionsBuilder::new()
            .estimated_items_capacity(expected_blocks)
            .weight_capacity(budget_bytes)
            // A block larger than a shard is not kept. More shards, on a machine of many processors, would leave out
            // the heap of names of a large old group, which every look-up in it needs.
            .shards(SHARDS)
            .build()
            .expect("both capacities are given");
        let lifecycle = DefaultLifecycle::default();
        let blocks = Cache::with_options(options, ByBytes, DefaultHashBuilder::default(), lifecycle);
        Self { blocks, epoch: AtomicU64::new(0) }
    }

    /// The same without its blocks.
    pub(super) fn emptied(&self) -> Self {
        Self::new(self.blocks.capacity())
    }

    /// A number that rises when everything is forgotten.
    pub(super) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    pub(super) fn get<S: Send + Sync + 'static>(&self, at: Addr) -> Option<Arc<S>> {
        let block = self.blocks.get(&(at, TypeId::of::<S>()))?;
        if block.epoch == self.epoch() { block.value.downcast().ok() } else { None }
    }

    /// Keeps a value, which counts for `len` bytes.
    pub fn insert<S: Send + Sync + 'static>(&self, at: Addr, value: Arc<S>, len: u64) {
        self.insert_of(self.epoch(), at, value, len);
    }

    /// Keeps a value that was read since `epoch`; of no use to anybody if everything was forgotten meanwhile.
    pub(super) fn insert_of<S: Send + Sync + 'static>(&self, epoch: u64, at: Addr, value: Arc<S>, len: u64) {
        self.blocks.insert((at, TypeId::of::<S>()), Block { value, len, epoch });
    }

    /// Forgets a value.
    pub fn remove<S: Send + Sync + 'static>(&self, at: Addr) {
        self.blocks.remove(&(at, TypeId::of::<S>()));
    }

    /// Forgets everything.
    pub(super) fn clear(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
        self.blocks.clear();
    }

    /// Bytes held now, by the cache's own measure.
    pub(super) fn weight_bytes(&self) -> u64 {
        self.blocks.weight()
    }
}

/// Parts of the cache, each with a lock of its own.
const SHARDS: usize = 8;

/// What an entry costs beyond its bytes.
const OVERHEAD: u64 = 96;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_one_address_are_kept_apart_by_type() {
        let cache = BlockCache::new(1 << 20);
        cache.insert(Addr::new(8), Arc::new(5_u32), 4);
        assert_eq!(cache.get::<u32>(Addr::new(8)).as_deref(), Some(&5));
        assert!(cache.get::<u64>(Addr::new(8)).is_none());
    }

    #[test]
    fn what_was_read_before_everything_was_forgotten_is_not_found() {
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
    fn the_budget_holds() {
        let cache = BlockCache::new(64 << 10);
        for i in 0..10_000_u64 {
            cache.insert(Addr::new(i), Arc::new(i), 1000);
        }
        assert!(cache.weight_bytes() <= 64 << 10);
    }
}
