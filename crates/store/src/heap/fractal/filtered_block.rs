//! Changes to direct blocks that are stored through filters (spec III.G). A changed block is encoded anew and
//! stored elsewhere, as its stored size may differ.

use std::any::Any;
use std::sync::Arc;

use hyperslab_error::Result;
use hyperslab_format::heap::fractal::block::{BlockEntry, DirectBlock, DirectBlockContext};
use hyperslab_format::{Addr, Extent, Structure, Widths, Writer};

use super::edit::FractalHeapEdit;
use super::{HeapPlace, Parent};
use crate::heap::filtered;
use crate::{Block, BlockCache, SpaceKind};

/// A changed block, decoded and as it is stored.
#[derive(Debug)]
struct FilteredBlock {
    block: Arc<DirectBlock>,
    stored: Vec<u8>,
}

impl FractalHeapEdit<'_, '_> {
    /// Changes the direct block at `place`.
    pub(super) fn edit_block<R>(
        &mut self,
        place: &HeapPlace,
        f: impl FnOnce(&mut DirectBlock) -> R,
    ) -> Result<R> {
        let context = DirectBlockContext { geometry: *self.geometry(), size: place.size };
        let Some((old_len, _)) = place.filtered.filter(|_| self.header().filtering.is_some()) else {
            return self.txn().edit::<DirectBlock, _>(place.at, &context, f);
        };
        let mut block = DirectBlock::clone(&*self.heap.direct(place)?);
        let result = f(&mut block);
        self.txn().free(Extent::new(place.at, old_len));
        let moved = self.put_filtered(block, &context)?;
        match place.parent {
            None => self.set_root_block(moved),
            Some(Parent { at, rows, entry }) => self.set_entry(at, rows, entry, moved)?,
        }
        Ok(result)
    }

    /// Stores a block through the filters. Returns the entry that leads to it.
    pub(super) fn put_filtered(
        &mut self,
        block: DirectBlock,
        context: &DirectBlockContext,
    ) -> Result<BlockEntry> {
        let mut bytes = Vec::new();
        Writer::new(&mut bytes, self.widths()).structure(&block, context);
        let (stored, mask) = self.encoded(&bytes)?.unwrap_or((bytes, 0));
        let len = stored.len() as u64;
        let addr = self.txn().allocate(SpaceKind::Metadata, len)?.addr;
        self.txn().put_block(addr, Arc::new(FilteredBlock { block: Arc::new(block), stored }));
        Ok(BlockEntry { addr, filtered: Some((len, mask)) })
    }

    /// Encodes bytes with the filters of the heap, if it has filters.
    pub(super) fn encoded(&self, bytes: &[u8]) -> Result<Option<(Vec<u8>, u32)>> {
        let filtering = self.header().filtering.as_ref();
        filtering.map(|filtering| filtered::encode(&filtering.pipeline, bytes)).transpose()
    }

    /// Returns the root as the entry of a block above it would have it.
    pub(super) fn root_block(&self) -> BlockEntry {
        let header = self.header();
        let filtered = header.filtering.as_ref().map(|filtering| (filtering.root_size, filtering.root_mask));
        BlockEntry { addr: header.root, filtered }
    }

    /// Makes a direct block the root.
    pub(super) fn set_root_block(&mut self, block: BlockEntry) {
        let header = self.header_mut();
        header.root = block.addr;
        let (size, mask) = block.filtered.unwrap_or_default();
        header.filtering.iter_mut().for_each(|filtering| {
            (filtering.root_size, filtering.root_mask) = (size, mask);
        });
    }
}

impl Block for FilteredBlock {
    fn name(&self) -> &'static str {
        DirectBlock::NAME
    }

    fn encode(&self, w: &mut Writer<'_>) {
        w.bytes(&self.stored);
    }

    fn encoded_len(&self, _: Widths) -> usize {
        self.stored.len()
    }

    fn memory_bytes(&self, _: Widths) -> usize {
        self.stored.len() + self.block.data.len()
    }

    fn value(&self) -> &dyn Any {
        &self.block
    }

    fn remember(&self, cache: &BlockCache, at: Addr, len: u64) {
        cache.insert(at, Arc::clone(&self.block), len);
    }

    fn forget(&self, cache: &BlockCache, at: Addr) {
        cache.remove::<DirectBlock>(at);
    }
}
