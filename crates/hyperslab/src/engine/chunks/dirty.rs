//! Decoded chunks that were changed in part. They are encoded once they are whole, or when they use too much
//! memory.

use std::collections::BTreeMap;

use hyperslab_error::Result;
use hyperslab_format::Addr;
use hyperslab_select::Coord;

use crate::engine::sync::{Arc, AtomicU64, Mutex, Ordering, RwLock};

/// One chunk, decoded.
pub(in crate::engine) type HeldChunk = Arc<RwLock<Vec<u8>>>;

/// The changed chunks of one file.
#[derive(Debug, Default)]
pub struct DirtyChunks {
    /// By dataset (the address of its object header) and by position in the grid of chunks.
    chunks: Mutex<BTreeMap<Addr, BTreeMap<Coord, HeldChunk>>>,
    bytes: AtomicU64,
}

impl DirtyChunks {
    /// Returns the same chunks for a forked child that only reads them. `None` if a chunk or the list was
    /// locked at the time of the fork.
    pub(super) fn in_child(&self) -> Option<Self> {
        let chunks = self.chunks.try_lock()?.clone();
        let mut bytes = 0;
        for held in chunks.values().flat_map(BTreeMap::values) {
            bytes += held.try_read()?.len() as u64;
        }
        Some(Self { chunks: Mutex::new(chunks), bytes: AtomicU64::new(bytes) })
    }

    /// Returns the number of bytes of changed chunks.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Acquire)
    }

    /// Returns the chunk, if it was changed.
    pub(in crate::engine) fn get(&self, dataset: Addr, coord: &Coord) -> Option<HeldChunk> {
        if self.bytes() == 0 {
            return None;
        }
        self.chunks.lock().get(&dataset)?.get(coord).cloned()
    }

    /// Returns the chunk to be changed, and holds it from now on. `load` returns its contents so far.
    pub(in crate::engine) fn get_or_load(
        &self,
        dataset: Addr,
        coord: &Coord,
        load: impl FnOnce() -> Result<Vec<u8>>,
    ) -> Result<HeldChunk> {
        if let Some(held) = self.get(dataset, coord) {
            return Ok(held);
        }
        let chunk = load()?;
        self.bytes.fetch_add(chunk.len() as u64, Ordering::AcqRel);
        let held = Arc::new(RwLock::new(chunk));
        self.chunks.lock().entry(dataset).or_default().insert(coord.clone(), Arc::clone(&held));
        Ok(held)
    }

    /// Returns the datasets that have changed chunks.
    pub fn datasets(&self) -> Vec<Addr> {
        self.chunks.lock().keys().copied().collect()
    }

    /// Returns a dataset's changed chunks with their positions.
    pub(in crate::engine) fn of(&self, dataset: Addr) -> Vec<(Coord, HeldChunk)> {
        let chunks = self.chunks.lock();
        let found = chunks.get(&dataset).into_iter().flatten();
        found.map(|(coord, held)| (coord.clone(), Arc::clone(held))).collect()
    }

    /// Drops a chunk that was written, replaced, or removed from the dataset.
    pub(in crate::engine) fn forget(&self, dataset: Addr, coord: &[u64]) {
        if self.bytes() == 0 {
            return;
        }
        let mut chunks = self.chunks.lock();
        let Some(of_dataset) = chunks.get_mut(&dataset) else { return };
        if let Some(held) = of_dataset.remove(coord) {
            self.bytes.fetch_sub(held.read().len() as u64, Ordering::AcqRel);
        }
        if of_dataset.is_empty() {
            chunks.remove(&dataset);
        }
    }

    /// Drops all chunks.
    pub fn clear(&self) {
        self.datasets().into_iter().for_each(|dataset| self.forget_dataset(dataset));
    }

    /// Drops all chunks of a dataset.
    pub fn forget_dataset(&self, dataset: Addr) {
        let of_dataset = self.chunks.lock().remove(&dataset);
        for held in of_dataset.into_iter().flat_map(BTreeMap::into_values) {
            self.bytes.fetch_sub(held.read().len() as u64, Ordering::AcqRel);
        }
    }
}
