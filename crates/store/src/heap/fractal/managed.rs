//! The direct and indirect blocks of a fractal heap, as the heap grows and is deleted (spec III.G).

use hyperslab_error::{RequestError, Result};
use hyperslab_format::heap::fractal::block::{
    BlockEntry, DirectBlock, DirectBlockContext, IndirectBlock, IndirectBlockContext,
};
use hyperslab_format::heap::fractal::geometry::HeapChild;
use hyperslab_format::{Addr, ErrorKind, Extent};

use super::edit::FractalHeapEdit;
use crate::tree::free_blocks;

/// A new direct block.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewBlock {
    /// The offset in the heap at which its data begin.
    pub(super) offset: u64,
    /// The length of its data in bytes.
    pub(super) len: u64,
}

impl FractalHeapEdit<'_, '_> {
    /// Creates the next direct block that has room for an object of `len` bytes.
    pub(super) fn new_block(&mut self, len: u64) -> Result<NewBlock> {
        let overhead = self.overhead();
        let starting = self.header().starting_size;
        let wanted = len.saturating_add(overhead).next_power_of_two().max(starting);
        if self.header().root.is_undefined() && wanted == starting {
            let root = self.put_direct(0, starting)?;
            self.set_root_block(root);
            let header = self.header_mut();
            header.statistics.managed_space = starting;
            header.free_space = starting.saturating_sub(overhead);
            return Ok(NewBlock { offset: overhead, len: starting.saturating_sub(overhead) });
        }
        if self.header().root_rows == 0 {
            self.put_first_root()?;
        }
        let (offset, size) = self.next_block(wanted)?;
        Ok(NewBlock { offset: offset.saturating_add(overhead), len: size.saturating_sub(overhead) })
    }

    /// Makes the root an indirect block. A root direct block becomes its first entry.
    fn put_first_root(&mut self) -> Result<()> {
        let first = self.root_block();
        let used = if first.addr.is_defined() { self.header().starting_size } else { 0 };
        // 0 rows means as many as fit (spec); heaps that libhdf5 makes never have that.
        let rows = match self.header().starting_rows {
            0 => self.geometry().max_root_rows(),
            rows => rows.min(self.geometry().max_root_rows()),
        };
        self.put_root(Vec::new(), rows)?;
        if used == 0 {
            let capacity = self.capacity(rows);
            self.header_mut().free_space = capacity;
        } else {
            let root = self.header().root;
            self.set_entry(root, rows, 0, first)?;
            let grown = self.capacity(rows).saturating_sub(used.saturating_sub(self.overhead()));
            let header = self.header_mut();
            header.free_space = header.free_space.saturating_add(grown);
        }
        let header = self.header_mut();
        header.statistics.iterator_offset = used;
        header.filtering.iter_mut().for_each(|filtering| (filtering.root_size, filtering.root_mask) = (0, 0));
        Ok(())
    }

    /// Puts a root indirect block of `rows` rows that begins with `entries`.
    fn put_root(&mut self, entries: Vec<BlockEntry>, rows: u16) -> Result<()> {
        let at = self.put_indirect(0, entries, rows)?;
        let space = self.geometry().row_offset(rows);
        let header = self.header_mut();
        (header.root, header.root_rows) = (at, rows);
        header.statistics.managed_space = space;
        Ok(())
    }

    /// Doubles the number of rows of the root.
    fn grow_root(&mut self) -> Result<()> {
        let (root, rows) = (self.header().root, self.header().root_rows);
        let grown = rows.saturating_mul(2).min(self.geometry().max_root_rows());
        if grown <= rows {
            let limit = self.geometry().row_offset(rows);
            return Err(RequestError::TooMany { what: "bytes of a fractal heap", limit }.into());
        }
        let context = IndirectBlockContext { geometry: *self.geometry(), rows };
        let entries = self.txn().store().get::<IndirectBlock>(root, &context)?.entries.clone();
        let len = self.geometry().indirect_len(rows, self.widths()) as u64;
        self.txn().free(Extent::new(root, len));
        self.put_root(entries, grown)?;
        let more = self.capacity(grown).saturating_sub(self.capacity(rows));
        let header = self.header_mut();
        header.free_space = header.free_space.saturating_add(more);
        Ok(())
    }

    /// Creates the next direct block of at least `wanted` bytes, under a root that is an indirect block;
    /// returns its offset in the heap and its size. Smaller blocks before it are skipped and never created.
    fn next_block(&mut self, wanted: u64) -> Result<(u64, u64)> {
        let geometry = *self.geometry();
        if wanted > geometry.max_direct_size {
            let limit = geometry.max_direct_size;
            return Err(RequestError::TooMany { what: "bytes of one object of a fractal heap", limit }.into());
        }
        loop {
            let offset = self.header().statistics.iterator_offset;
            if offset >= geometry.row_offset(self.header().root_rows) {
                self.grow_root()?;
                continue;
            }
            let (mut at, mut rows, mut start) = (self.header().root, self.header().root_rows, 0);
            let skipped = loop {
                let context = IndirectBlockContext { geometry, rows };
                let block = self.txn().store().get::<IndirectBlock>(at, &context)?;
                self.check_offset(&block, start)?;
                let step = geometry.step(offset - start);
                start = offset.saturating_sub(step.within);
                let Some(entry) = block.entries.get(step.entry).copied() else {
                    return Err(self.broken(ErrorKind::Missing { what: "the entry of the next block" }));
                };
                match step.child {
                    HeapChild::Direct { size } if size < wanted || entry.addr.is_defined() => break size,
                    HeapChild::Direct { size } => {
                        let made = self.put_direct(offset, size)?;
                        self.set_entry(at, rows, step.entry, made)?;
                        self.header_mut().statistics.iterator_offset = offset.saturating_add(size);
                        return Ok((offset, size));
                    }
                    HeapChild::Indirect { rows: below } => {
                        self.check_rows(below, rows)?;
                        if step.within == 0 && self.largest(below) < wanted {
                            break geometry.row_offset(below);
                        }
                        let child = if let Some(child) = entry.addr.defined() {
                            child
                        } else {
                            let made = self.put_indirect(start, Vec::new(), below)?;
                            self.set_entry(at, rows, step.entry, BlockEntry { addr: made, ..NO_BLOCK })?;
                            made
                        };
                        (at, rows) = (child, below);
                    }
                }
            };
            self.header_mut().statistics.iterator_offset = offset.saturating_add(skipped.max(1));
        }
    }

    /// Returns the size of the largest direct block that is a child of an indirect block of `rows` rows.
    fn largest(&self, rows: u16) -> u64 {
        self.geometry().row_block_size(rows.min(self.geometry().direct_rows()).saturating_sub(1))
    }

    /// Puts an empty direct block.
    fn put_direct(&mut self, offset: u64, size: u64) -> Result<BlockEntry> {
        let context = DirectBlockContext { geometry: *self.geometry(), size };
        let block = DirectBlock::new(offset, Vec::new(), &context, self.widths());
        let made = if self.header().filtering.is_some() {
            self.put_filtered(block, &context)?
        } else {
            let addr = self.txn().allocate_metadata(size)?;
            self.txn().put(addr, block, context);
            BlockEntry { addr, filtered: None }
        };
        let statistics = &mut self.header_mut().statistics;
        statistics.allocated_space = statistics.allocated_space.saturating_add(size);
        Ok(made)
    }

    /// Puts an indirect block of `rows` rows that begins with `entries`, for the heap from `offset` on.
    fn put_indirect(&mut self, offset: u64, mut entries: Vec<BlockEntry>, rows: u16) -> Result<Addr> {
        let geometry = *self.geometry();
        entries.resize(usize::from(rows) * usize::from(geometry.width), NO_BLOCK);
        let len = geometry.indirect_len(rows, self.widths()) as u64;
        let at = self.txn().allocate_metadata(len)?;
        self.txn().put(at, IndirectBlock { offset, entries }, IndirectBlockContext { geometry, rows });
        Ok(at)
    }

    pub(super) fn set_entry(&mut self, at: Addr, rows: u16, entry: usize, child: BlockEntry) -> Result<()> {
        let context = IndirectBlockContext { geometry: *self.geometry(), rows };
        self.txn().edit::<IndirectBlock, _>(at, &context, |block| {
            if let Some(entry) = block.entries.get_mut(entry) {
                *entry = child;
            }
        })
    }

    /// Frees all blocks.
    pub(super) fn clear(&mut self) -> Result<()> {
        let mut blocks = Vec::new();
        if let Some(root) = self.header().root.defined() {
            let child = match self.header().root_rows {
                0 => HeapChild::Direct { size: self.header().starting_size },
                rows => HeapChild::Indirect { rows },
            };
            let root = BlockEntry { addr: root, filtered: self.root_block().filtered };
            self.collect(root, child, 0, &mut blocks)?;
        }
        let at = self.header().root;
        free_blocks::<IndirectBlock>(self.txn(), at, blocks)?;
        let header = self.header_mut();
        (header.root, header.root_rows, header.free_space) = (Addr::UNDEFINED, 0, 0);
        header.filtering.iter_mut().for_each(|filtering| (filtering.root_size, filtering.root_mask) = (0, 0));
        let statistics = &mut header.statistics;
        (statistics.managed_space, statistics.allocated_space, statistics.iterator_offset) = (0, 0, 0);
        self.delete_free_space()
    }

    /// Collects the extents of the block that an entry leads to and of all blocks below it. Recursion ends,
    /// because rows fall on the way down.
    fn collect(
        &mut self,
        BlockEntry { addr: at, filtered }: BlockEntry,
        child: HeapChild,
        offset: u64,
        blocks: &mut Vec<Extent>,
    ) -> Result<()> {
        let geometry = *self.geometry();
        let store = self.txn().store();
        let rows = match child {
            HeapChild::Indirect { rows } => rows,
            HeapChild::Direct { size } => {
                let stored = filtered.map_or(size, |(stored, _)| stored);
                blocks.push(Extent::new(at, stored));
                return Ok(());
            }
        };
        let context = IndirectBlockContext { geometry, rows };
        let block = store.get::<IndirectBlock>(at, &context)?;
        self.check_offset(&block, offset)?;
        blocks.push(Extent::new(at, geometry.indirect_len(rows, store.widths()) as u64));
        for (index, entry) in block.entries.iter().enumerate().filter(|(_, entry)| entry.addr.is_defined()) {
            let (child, within) = geometry.entry(index);
            if let HeapChild::Indirect { rows: below } = child {
                self.check_rows(below, rows)?;
            }
            self.collect(*entry, child, offset.saturating_add(within), blocks)?;
        }
        Ok(())
    }

    /// Checks the block's offset in the heap. A block with another offset was reached by a second way, or by
    /// a circle.
    fn check_offset(&self, block: &IndirectBlock, found_at: u64) -> Result<()> {
        if block.offset == found_at {
            return Ok(());
        }
        let (field, expected) = ("block offset", "the offset of the entry that points to the block");
        Err(self.broken(ErrorKind::Value { field, value: block.offset, expected }))
    }

    fn capacity(&self, rows: u16) -> u64 {
        self.geometry().capacity(rows, self.widths())
    }

    /// Returns the number of bytes before the data of each direct block.
    pub(super) fn overhead(&self) -> u64 {
        self.geometry().direct_overhead(self.widths()) as u64
    }
}

const NO_BLOCK: BlockEntry = BlockEntry { addr: Addr::UNDEFINED, filtered: None };
