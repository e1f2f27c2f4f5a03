//! Chunk indexes that change (spec VII, and III.A.1 for old files).

mod btree1;
mod btree2;
mod extensible_array;
mod fixed_array;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::ops::ControlFlow;

use hyperslab_filters::FilterMask;
use hyperslab_format::array::{ChunkElement, Client, ElementFormat};
use hyperslab_format::layout::ChunkIndexInfo;
use hyperslab_format::{Addr, ErrorKind, Extent, Structure, Widths};
use parking_lot::Mutex;

use super::choose::fixed;
use super::{ChunkIndex, ChunkRecord, Grid, State, broken};
use crate::error::{Error, RequestError, Result};
use crate::select::Coord;
use crate::store::{SpaceKind, Txn};

/// Changes one chunk index within a step. It keeps at hand what it changed last: many chunks, one after another, cost little
/// each.
///
/// The index that it was made of is of the past afterwards; [`into_index`](Self::into_index) has the new one. After an
/// error the step must be dropped, which undoes it.
#[derive(Debug)]
pub struct IndexEdit<'t, 's> {
    txn: &'t mut Txn<'s>,
    index: ChunkIndex,
    /// Absent until it is needed.
    blocks: Option<Blocks>,
}

/// An index that is a structure of blocks.
#[derive(Debug)]
enum Blocks {
    FixedArray(fixed_array::Edit),
    ExtensibleArray(extensible_array::Edit),
    BTree1(btree1::Edit),
    BTree2(btree2::Edit),
}

impl<'t, 's> IndexEdit<'t, 's> {
    /// Begins to change `index`. Reads nothing.
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

    /// The step.
    pub fn txn(&mut self) -> &mut Txn<'s> {
        self.txn
    }

    /// What the layout message has to say of the index now. It changes when the first chunk makes the structure, and with
    /// each change of a single chunk.
    pub fn info(&self) -> &ChunkIndexInfo {
        &self.index.info
    }

    /// The index as it is now.
    pub fn into_index(self) -> ChunkIndex {
        self.index
    }

    /// Says where the chunk at `coord` (counted in chunks, inside the dataset) is from now on. Returns where it was, if it
    /// was written before: that space is the caller's.
    ///
    /// The chunks of an implicit index are where they are: it takes no others.
    pub fn insert(&mut self, coord: &[u64], record: ChunkRecord) -> Result<Option<ChunkRecord>> {
        self.check(coord)?;
        match &mut self.index.info {
            ChunkIndexInfo::Single { addr, filtered } => {
                let is_filtered = self.index.is_filtered;
                let old = std::mem::replace(addr, record.extent.addr);
                let stated = is_filtered.then_some((record.extent.len, record.mask.0));
                let (len, mask) = std::mem::replace(filtered, stated).unwrap_or((self.index.chunk_bytes, 0));
                let at = |addr| ChunkRecord { extent: Extent::new(addr, len), mask: FilterMask(mask) };
                Ok(old.defined().map(at))
            }
            ChunkIndexInfo::Implicit { .. } => {
                let is_there = self.lookup(coord)? == Some(record);
                let feature = "a chunk outside the row that an implicit index is";
                if is_there { Ok(None) } else { Err(Error::unsupported(feature, "VII.B")) }
            }
            _ => self.with_blocks(|blocks, txn, index| match blocks {
                Blocks::FixedArray(array) => {
                    let element = element(index, record, array.format(), txn)?;
                    let number = index.grid.number(coord).ok_or_else(too_many_chunks)?;
                    Ok(index.record(array.set(txn, number, element)?))
                }
                Blocks::ExtensibleArray(array) => {
                    let element = element(index, record, array.format(), txn)?;
                    let number = index.grid.number_unlimited_first(coord).ok_or_else(too_many_chunks)?;
                    Ok(index.record(array.set(txn, number, element)?))
                }
                Blocks::BTree1(tree) => tree.insert(index, txn, coord, record),
                Blocks::BTree2(tree) => tree.insert(index, txn, coord, record),
            }),
        }
    }

    /// Forgets the chunk at `coord`, and returns where it was, if it was written: that space is the caller's. An implicit
    /// index cannot forget, and returns none.
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
                Blocks::FixedArray(array) => {
                    let number = index.grid.number(coord).ok_or_else(too_many_chunks)?;
                    array.set(txn, number, ChunkElement::UNDEFINED).map(drop)
                }
                Blocks::ExtensibleArray(array) => {
                    let number = index.grid.number_unlimited_first(coord).ok_or_else(too_many_chunks)?;
                    array.set(txn, number, ChunkElement::UNDEFINED).map(drop)
                }
                Blocks::BTree1(tree) => tree.remove(index, txn, coord),
                Blocks::BTree2(tree) => tree.remove(txn, coord),
            })?,
        }
        Ok(Some(old))
    }

    /// Takes over the grid of a dataset that is made larger or smaller. Chunks that lie outside it as a whole are forgotten;
    /// `removed` is told where they were, and their space is the caller's.
    ///
    /// An implicit index keeps them: who makes the dataset larger again has to fill them.
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

    /// Gives all chunks of an implicit index their space, which is returned: row by row over the largest extent
    /// (spec VII.B). Its bytes are unspecified.
    pub fn allocate_implicit(&mut self) -> Result<Extent> {
        let len = self.index.implicit_bytes().ok_or_else(too_many_chunks)?;
        let extent = self.txn.allocate(SpaceKind::Raw, len)?;
        self.index.info = ChunkIndexInfo::Implicit { addr: extent.addr };
        Ok(extent)
    }

    /// Frees the structure. The space of the chunks is the caller's, who has [visited](ChunkIndex::visit) them before.
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

    /// Does something with the structure, which is read or made before.
    fn with_blocks<R>(
        &mut self,
        f: impl FnOnce(&mut Blocks, &mut Txn<'s>, &ChunkIndex) -> Result<R>,
    ) -> Result<R> {
        let mut blocks = match self.blocks.take() {
            Some(blocks) => blocks,
            None => Blocks::open(&mut self.index, self.txn)?,
        };
        let result = f(&mut blocks, self.txn, &self.index);
        self.blocks = Some(blocks);
        result
    }

    /// Where a chunk is now.
    fn lookup(&mut self, coord: &[u64]) -> Result<Option<ChunkRecord>> {
        let found = self.index.cursor(self.txn.store()).lookup(&Coord::from_slice(coord));
        self.forget_cursor();
        found
    }

    /// Forgets the blocks that a look-up remembers: they are about to change.
    fn forget_cursor(&mut self) {
        *self.index.last.get_mut() = (0, State::New);
    }

    /// Checks that there can be a chunk at `coord`.
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

impl Blocks {
    /// Reads the structure, or makes it before the first chunk. A Fixed Array that others meant to make is a B-tree if we
    /// make it, where it would be large.
    fn open(index: &mut ChunkIndex, txn: &mut Txn<'_>) -> Result<Self> {
        if let ChunkIndexInfo::FixedArray { addr: Addr::UNDEFINED, .. } = index.info
            && let tree @ ChunkIndexInfo::BTree2 { .. } = fixed(&index.grid)
        {
            index.info = tree;
        }
        let (blocks, at) = match &index.info {
            ChunkIndexInfo::FixedArray { .. } => {
                let array = fixed_array::Edit::open(index, txn)?;
                let at = array.addr();
                (Self::FixedArray(array), at)
            }
            ChunkIndexInfo::ExtensibleArray { .. } => {
                let array = extensible_array::Edit::open(index, txn)?;
                let at = array.addr();
                (Self::ExtensibleArray(array), at)
            }
            ChunkIndexInfo::BTree2 { .. } => {
                let tree = btree2::Edit::open(index, txn)?;
                let at = tree.addr();
                (Self::BTree2(tree), at)
            }
            _ => {
                let tree = btree1::Edit::open(index, txn)?;
                let at = tree.addr();
                (Self::BTree1(tree), at)
            }
        };
        *index.addr_mut() = at;
        Ok(blocks)
    }
}

/// Frees blocks, each once: of a damaged file, two may be at one address.
#[derive(Debug, Default)]
struct Freed(HashSet<Addr>);

impl Freed {
    /// Frees the `S` of `len` bytes at `at`.
    fn free<S: Structure>(&mut self, txn: &mut Txn<'_>, at: Addr, len: Option<u64>) -> Result<()> {
        let extent = Extent::new(at, len.unwrap_or(u64::MAX));
        txn.store().check(extent, (S::NAME, S::SPEC))?;
        if !self.0.insert(at) {
            let (field, expected) = ("address of a block", "one that is not that of another");
            return Err(broken::<S>(at, ErrorKind::Value { field, value: at.get(), expected }));
        }
        txn.free(extent);
        Ok(())
    }
}

/// A chunk's record as an array of this format has it.
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

/// How the elements of an array of the dataset's chunks are stored.
fn element_format(index: &ChunkIndex, widths: Widths) -> ElementFormat {
    let client = if index.is_filtered { Client::FilteredChunks } else { Client::Chunks };
    ElementFormat::new(client, widths, index.chunk_bytes, index.layout_version)
}

impl ChunkIndex {
    /// The extent of all chunks of an implicit index, those beyond the current extent included; `None` of another index.
    pub fn implicit_extent(&self) -> Option<Extent> {
        let ChunkIndexInfo::Implicit { addr } = self.info else { return None };
        Some(Extent::new(addr.defined()?, self.implicit_bytes()?))
    }

    fn implicit_bytes(&self) -> Option<u64> {
        self.grid.most_chunks()?.checked_mul(self.chunk_bytes)
    }
}

/// Refuses a block of more elements, pages or pointers than any writer makes: it would be made in memory first.
fn check_count(count: u64) -> Result<()> {
    if count <= MAX_COUNT { Ok(()) } else { Err(too_many_chunks()) }
}

fn too_many_chunks() -> Error {
    RequestError::TooMany { what: "chunks in an index", limit: MAX_COUNT }.into()
}

fn too_long(limit: u64) -> Error {
    RequestError::TooMany { what: "stored bytes of a chunk", limit }.into()
}

/// Elements, pages or pointers of one block.
const MAX_COUNT: u64 = 1 << 24;
