//! Changes to chunk indexes (spec VII, and III.A.1 for old files).

mod btree1;
mod btree2;
mod extensible_array;
mod fixed_array;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt::Debug;
use std::ops::ControlFlow;

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_format::array::{ChunkElement, Client, ElementFormat};
use hyperslab_format::layout::ChunkIndexInfo;
use hyperslab_format::{Addr, Extent, Structure, Widths};
use hyperslab_select::Coord;
use parking_lot::Mutex;

use super::choose::fixed;
use super::{ChunkIndex, ChunkRecord, CursorState, Grid, misfit};
use crate::{SpaceKind, Txn};

/// Changes one chunk index within a step. It remembers the block that it changed last, so that consecutive
/// chunks are cheap.
///
/// The original index is out of date afterwards; [`into_index`](Self::into_index) returns the new index.
/// After an error the step must be dropped, which undoes it.
#[derive(Debug)]
pub struct IndexEdit<'t, 's> {
    txn: &'t mut Txn<'s>,
    index: ChunkIndex,
    /// `None` until the structure is needed.
    blocks: Option<EditedBlocks>,
}

/// An index that consists of blocks.
#[derive(Debug)]
enum EditedBlocks {
    Array(Box<dyn ArrayEdit>),
    BTree1(btree1::Edit),
    BTree2(btree2::Edit),
}

/// Changes an array. Element `n` belongs to chunk number `n`.
trait ArrayEdit: Debug + Send + Sync {
    /// Returns the address of the header.
    fn addr(&self) -> Addr;

    /// Returns the storage format of the elements.
    fn format(&self) -> ElementFormat;

    /// Returns the number of the chunk at `coord`.
    fn number(&self, grid: &Grid, coord: &[u64]) -> Option<u64>;

    /// Changes element `number` and returns its old value.
    fn set(&mut self, txn: &mut Txn<'_>, number: u64, element: ChunkElement) -> Result<ChunkElement>;
}

impl<'t, 's> IndexEdit<'t, 's> {
    /// Returns an editor of `index`. Reads nothing.
    pub fn new(txn: &'t mut Txn<'s>, index: &ChunkIndex) -> Self {
        let index = ChunkIndex {
            grid: index.grid.clone(),
            chunk_shape: index.chunk_shape.clone(),
            info: index.info.clone(),
            last: Mutex::default(),
            ..*index
        };
        Self { txn, index, blocks: None }
    }

    /// Returns the step.
    pub fn txn(&mut self) -> &mut Txn<'s> {
        self.txn
    }

    /// Returns the index as the layout message must describe it now. The description changes when the first
    /// chunk creates the structure and, in the index of a single chunk, with every change.
    pub fn info(&self) -> &ChunkIndexInfo {
        &self.index.info
    }

    /// Returns the changed index.
    pub fn into_index(self) -> ChunkIndex {
        self.index
    }

    /// Sets the record of the chunk at `coord` (counted in chunks, inside the dataset). Returns the old
    /// record, if the chunk was written before; its space is not freed but left to the caller.
    ///
    /// The chunks of an implicit index cannot move: it accepts only the record that a chunk already has.
    pub fn insert(&mut self, coord: &[u64], record: ChunkRecord) -> Result<Option<ChunkRecord>> {
        self.check(coord)?;
        match &mut self.index.info {
            ChunkIndexInfo::Single { addr, filtered } => {
                let stated = self.index.is_filtered.then_some((record.extent.len, record.mask.0));
                let old = (std::mem::replace(addr, record.extent.addr), std::mem::replace(filtered, stated));
                Ok(self.index.stored(old.0, old.1))
            }
            ChunkIndexInfo::Implicit { .. } => {
                let is_there = self.lookup(coord)? == Some(record);
                let feature = "moving a chunk of an implicit index";
                if is_there { Ok(None) } else { Err(Error::unsupported(feature, "VII.B")) }
            }
            _ => self.with_blocks(|blocks, txn, index| match blocks {
                EditedBlocks::Array(array) => {
                    let element = element(index, record, array.format(), txn)?;
                    let number = array.number(&index.grid, coord).ok_or_else(too_many_chunks)?;
                    Ok(index.record(array.set(txn, number, element)?))
                }
                EditedBlocks::BTree1(tree) => tree.insert(index, txn, coord, record),
                EditedBlocks::BTree2(tree) => tree.insert(index, txn, coord, record),
            }),
        }
    }

    /// Removes the record of the chunk at `coord` and returns it, if the chunk was written; its space is not
    /// freed but left to the caller. An implicit index cannot remove a chunk: nothing changes and the result
    /// is `None`.
    pub fn remove(&mut self, coord: &[u64]) -> Result<Option<ChunkRecord>> {
        self.check(coord)?;
        let Some(old) = self.lookup(coord)? else { return Ok(None) };
        match &mut self.index.info {
            ChunkIndexInfo::Single { addr, filtered } => {
                *addr = Addr::UNDEFINED;
                *filtered = self.index.is_filtered.then_some((0, 0));
            }
            ChunkIndexInfo::Implicit { .. } => return Ok(None),
            _ => self.with_blocks(|blocks, txn, index| match blocks {
                EditedBlocks::Array(array) => {
                    let number = array.number(&index.grid, coord).ok_or_else(too_many_chunks)?;
                    array.set(txn, number, ChunkElement::UNDEFINED).map(drop)
                }
                EditedBlocks::BTree1(tree) => tree.remove(index, txn, coord),
                EditedBlocks::BTree2(tree) => tree.remove(txn, coord),
            })?,
        }
        Ok(Some(old))
    }

    /// Sets the grid of a dataset that is made larger or smaller. Chunks entirely outside the new grid are
    /// removed. `removed` is called with their records; their space is not freed but left to the caller.
    ///
    /// An implicit index keeps these chunks, so a caller that makes the dataset larger again must fill them.
    pub fn resize(&mut self, grid: Grid, removed: &mut dyn FnMut(ChunkRecord)) -> Result<()> {
        if self.index.grid.current.iter().zip(&grid.current).any(|(old, new)| old > new) {
            let mut outside: Vec<Coord> = Vec::new();
            self.index.visit_beyond(self.txn.store(), &grid.current, &mut |coord, _| {
                outside.push(Coord::from_slice(coord));
                ControlFlow::Continue(())
            })?;
            self.forget_cursor();
            for coord in outside {
                self.remove(&coord)?.into_iter().for_each(&mut *removed);
            }
        }
        self.index.grid = grid;
        Ok(())
    }

    /// Allocates and returns the space of all chunks of an implicit index, row by row over the maximum extent
    /// (spec VII.B). Its bytes are unspecified.
    pub fn allocate_implicit(&mut self) -> Result<Extent> {
        let len = self.index.implicit_bytes().ok_or_else(too_many_chunks)?;
        let extent = self.txn.allocate(SpaceKind::Raw, len)?;
        self.index.info = ChunkIndexInfo::Implicit { addr: extent.addr };
        Ok(extent)
    }

    /// Frees the structure. It does not free the chunks: the caller must [visit](ChunkIndex::visit) them
    /// before and free their space.
    pub fn delete(&mut self) -> Result<()> {
        self.blocks = None;
        let Self { txn, index, .. } = self;
        let addr = index.addr_mut();
        if let Some(at) = std::mem::replace(addr, Addr::UNDEFINED).defined() {
            match &index.info {
                ChunkIndexInfo::BTree1 { .. } => btree1::delete(index, txn, at)?,
                ChunkIndexInfo::Single { .. } | ChunkIndexInfo::Implicit { .. } => {}
                ChunkIndexInfo::FixedArray { .. } => fixed_array::delete(index, txn, at)?,
                ChunkIndexInfo::ExtensibleArray { .. } => extensible_array::delete(index, txn, at)?,
                ChunkIndexInfo::BTree2 { .. } => btree2::delete(index, txn, at)?,
            }
        }
        Ok(())
    }

    /// Calls `f` with the structure, which is first read or created if necessary.
    fn with_blocks<R>(
        &mut self,
        f: impl FnOnce(&mut EditedBlocks, &mut Txn<'s>, &ChunkIndex) -> Result<R>,
    ) -> Result<R> {
        let mut blocks = match self.blocks.take() {
            Some(blocks) => blocks,
            None => EditedBlocks::open(&mut self.index, self.txn)?,
        };
        let result = f(&mut blocks, self.txn, &self.index);
        self.blocks = Some(blocks);
        result
    }

    /// Returns the current record of a chunk.
    fn lookup(&mut self, coord: &[u64]) -> Result<Option<ChunkRecord>> {
        let found = self.index.cursor(self.txn.store()).lookup(&Coord::from_slice(coord));
        self.forget_cursor();
        found
    }

    /// Drops the blocks that a look-up has kept, because they are about to change.
    fn forget_cursor(&mut self) {
        *self.index.last.get_mut() = (0, CursorState::New);
    }

    /// Checks that `coord` is inside the grid.
    fn check(&self, coord: &[u64]) -> Result<()> {
        let counts = &self.index.grid.current;
        if coord.len() != counts.len() {
            return Err(RequestError::Rank { given: coord.len(), rank: counts.len() }.into());
        }
        let outside = coord.iter().zip(counts).enumerate().find(|(_, (at, count))| at >= count);
        outside.map_or(Ok(()), |(axis, (&at, &len))| {
            Err(RequestError::OutOfBounds { axis, index: at.into(), len }.into())
        })
    }
}

impl EditedBlocks {
    /// Reads the structure, or creates it for the first chunk. If the layout message of another library
    /// announces a large Fixed Array that does not exist yet, a B-tree is created instead.
    fn open(index: &mut ChunkIndex, txn: &mut Txn<'_>) -> Result<Self> {
        if let ChunkIndexInfo::FixedArray { addr: Addr::UNDEFINED, .. } = index.info
            && let tree @ ChunkIndexInfo::BTree2 { .. } = fixed(&index.grid)
        {
            index.info = tree;
        }
        let blocks = match &index.info {
            ChunkIndexInfo::FixedArray { .. } => {
                Self::Array(Box::new(fixed_array::FixedArrayEdit::open(index, txn)?))
            }
            ChunkIndexInfo::ExtensibleArray { .. } => {
                Self::Array(Box::new(extensible_array::ExtensibleArrayEdit::open(index, txn)?))
            }
            ChunkIndexInfo::BTree2 { .. } => Self::BTree2(btree2::Edit::open(index, txn)?),
            _ => Self::BTree1(btree1::Edit::open(index, txn)?),
        };
        *index.addr_mut() = match &blocks {
            Self::Array(array) => array.addr(),
            Self::BTree1(tree) => tree.addr(),
            Self::BTree2(tree) => tree.addr(),
        };
        Ok(blocks)
    }
}

/// Frees blocks and refuses to free one twice. In a damaged file two blocks may have the same address.
#[derive(Debug, Default)]
struct Freed(HashSet<Addr>);

impl Freed {
    /// Frees the `S` of `len` bytes at `at`.
    fn free<S: Structure>(&mut self, txn: &mut Txn<'_>, at: Addr, len: Option<u64>) -> Result<()> {
        let extent = Extent::new(at, len.unwrap_or(u64::MAX));
        txn.store().check(extent, (S::NAME, S::SPEC))?;
        if !self.0.insert(at) {
            return Err(misfit::<S>(at, "address of a block", at.get(), "an address of no other block"));
        }
        txn.free(extent);
        Ok(())
    }
}

/// Returns the element for a chunk's record in an array of this format.
fn element(
    index: &ChunkIndex,
    record: ChunkRecord,
    format: ElementFormat,
    txn: &Txn<'_>,
) -> Result<ChunkElement> {
    debug_assert!(index.is_filtered || record.extent.len == index.chunk_bytes);
    match format.max_chunk_len(txn.store().widths()) {
        None => Ok(ChunkElement { addr: record.extent.addr, len: 0, mask: 0 }),
        Some(limit) if record.extent.len > limit => Err(too_long(limit)),
        Some(_) => Ok(ChunkElement { addr: record.extent.addr, len: record.extent.len, mask: record.mask.0 }),
    }
}

/// Returns the storage format of the elements in an array of the dataset's chunks.
fn element_format(index: &ChunkIndex, widths: Widths) -> ElementFormat {
    let client = if index.is_filtered { Client::FilteredChunks } else { Client::Chunks };
    ElementFormat::new(client, widths, index.chunk_bytes, index.layout_version)
}

impl ChunkIndex {
    /// Returns the extent of all chunks of an implicit index, including chunks beyond the current extent of
    /// the dataset; `None` for other indexes and before the chunks are allocated.
    pub fn implicit_extent(&self) -> Option<Extent> {
        let ChunkIndexInfo::Implicit { addr } = self.info else { return None };
        Some(Extent::new(addr.defined()?, self.implicit_bytes()?))
    }

    fn implicit_bytes(&self) -> Option<u64> {
        self.grid.most_chunks()?.checked_mul(self.chunk_bytes)
    }
}

/// Refuses a block with more elements, pages or pointers than any writer creates, because the block is first
/// created in memory.
fn check_count(count: u64) -> Result<()> {
    if count <= MAX_COUNT { Ok(()) } else { Err(too_many_chunks()) }
}

fn too_many_chunks() -> Error {
    RequestError::TooMany { what: "chunks in an index", limit: MAX_COUNT }.into()
}

fn too_long(limit: u64) -> Error {
    RequestError::TooMany { what: "stored bytes of a chunk", limit }.into()
}

/// The most elements, pages or pointers of one block.
const MAX_COUNT: u64 = 1 << 24;
