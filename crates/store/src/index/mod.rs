//! The chunk index of a dataset (spec VII, and III.A.1 for old files). Chunks are looked up one by one; the
//! index is never loaded as a whole.

mod beyond;
mod btree1;
mod btree2;
mod choose;
mod edit;
mod extensible_array;
mod fixed_array;
mod grid;

use std::ops::ControlFlow;

use hyperslab_error::{Result, broken, misfit};
use hyperslab_filters::FilterMask;
use hyperslab_format::array::{ChunkElement, Client};
use hyperslab_format::layout::{ChunkIndexInfo, ChunkedLayout};
use hyperslab_format::{Addr, Extent, Structure};
use hyperslab_select::Coord;
use parking_lot::Mutex;

use crate::Store;
pub use choose::{ChunkingPlan, choose};
pub use edit::IndexEdit;
pub use grid::Grid;

/// The location of a stored chunk, its stored size, and the filters that were skipped when it was stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChunkRecord {
    /// The extent of the stored bytes.
    pub extent: Extent,
    /// The filters that were skipped.
    pub mask: FilterMask,
}

/// The chunk index of one dataset.
#[derive(Debug)]
pub struct ChunkIndex {
    grid: Grid,
    chunk_shape: Vec<u64>,
    /// The size of a decoded chunk in bytes. Without filters it is also the stored size.
    chunk_bytes: u64,
    info: ChunkIndexInfo,
    /// The version of the layout message, which determines the width of stored sizes.
    layout_version: u8,
    /// Whether records contain sizes and filter masks.
    is_filtered: bool,
    /// Indexed Storage Internal Node K, the capacity of version 1 B-tree nodes.
    btree_k: u16,
    /// The state of the last cursor and the generation of the file's metadata at that time. The next cursor
    /// takes the state if the generation is unchanged, so a small read starts where the previous small read
    /// of the dataset ended.
    last: Mutex<(u64, CursorState)>,
}

/// A callback for each chunk: its coordinate, counted in chunks, and its record. It may stop the visit.
pub type Visitor<'f> = dyn FnMut(&[u64], ChunkRecord) -> ControlFlow<()> + 'f;

impl ChunkIndex {
    /// Returns the index that a layout message describes. Reads nothing.
    ///
    /// `grid` is the grid of the dataset's chunks; a decoded chunk has `chunk_bytes` bytes.
    pub fn new(
        layout: &ChunkedLayout,
        grid: Grid,
        chunk_bytes: u64,
        is_filtered: bool,
        btree_k: u16,
    ) -> Self {
        Self {
            grid,
            chunk_shape: layout.chunk_shape.clone(),
            chunk_bytes,
            info: layout.index.clone(),
            layout_version: layout.version,
            is_filtered,
            btree_k,
            last: Mutex::default(),
        }
    }

    /// Returns the type of the index, with its address and parameters.
    pub fn info(&self) -> &ChunkIndexInfo {
        &self.info
    }

    /// Returns the grid of chunks.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Returns the address of the index in the layout message.
    fn addr_mut(&mut self) -> &mut Addr {
        match &mut self.info {
            ChunkIndexInfo::BTree1 { addr }
            | ChunkIndexInfo::Single { addr, .. }
            | ChunkIndexInfo::Implicit { addr }
            | ChunkIndexInfo::FixedArray { addr, .. }
            | ChunkIndexInfo::ExtensibleArray { addr, .. }
            | ChunkIndexInfo::BTree2 { addr, .. } => addr,
        }
    }

    /// Returns this index over another grid, which must contain all chunks of the index. If the grid did not
    /// shrink, the cursor state of generation `before` is kept for generation `after`: the index itself did
    /// not change.
    #[must_use]
    pub fn reshaped(&self, grid: Grid, before: u64, after: u64) -> Self {
        let has_same_chunks = self.grid.current.iter().zip(&grid.current).all(|(old, new)| old <= new);
        let last = std::mem::take(&mut *self.last.lock());
        let last = if has_same_chunks && last.0 == before { (after, last.1) } else { (0, CursorState::New) };
        Self {
            grid,
            chunk_shape: self.chunk_shape.clone(),
            info: self.info.clone(),
            last: Mutex::new(last),
            ..*self
        }
    }

    /// Returns the size of a decoded chunk in bytes.
    pub fn chunk_bytes(&self) -> u64 {
        self.chunk_bytes
    }

    /// Returns a cursor, which looks up chunks and starts from the blocks that it read last.
    pub fn cursor<'s>(&'s self, store: &'s Store) -> Cursor<'s> {
        let generation = store.generation();
        let last = self.last.try_lock().map(|mut last| std::mem::take(&mut *last));
        let state =
            last.filter(|(known, _)| *known == generation).map_or(CursorState::New, |(_, state)| state);
        Cursor { index: self, store, generation, state }
    }

    /// Calls `f` with every stored chunk in the order of the index, until `f` breaks. O(stored chunks).
    pub fn visit(&self, store: &Store, f: &mut Visitor<'_>) -> Result<()> {
        let within = &mut |coord: &[u64], record: ChunkRecord| {
            // A dataset that was made smaller may still have records of chunks outside its extent.
            let is_inside = coord.iter().zip(&self.grid.current).all(|(at, count)| at < count);
            if is_inside { f(coord, record) } else { ControlFlow::Continue(()) }
        };
        match self.info {
            ChunkIndexInfo::Single { .. } | ChunkIndexInfo::Implicit { .. } => {
                let mut cursor = self.cursor(store);
                // Neither index is sparse: all of its chunks were allocated together.
                for coord in (0..self.grid.len()).map_while(|place| self.grid.nth(place)) {
                    let Some(record) = cursor.lookup(&coord)? else { break };
                    if within(&coord, record).is_break() {
                        break;
                    }
                }
                Ok(())
            }
            ChunkIndexInfo::BTree1 { addr }
            | ChunkIndexInfo::BTree2 { addr, .. }
            | ChunkIndexInfo::FixedArray { addr, .. }
            | ChunkIndexInfo::ExtensibleArray { addr, .. }
                if addr.is_undefined() =>
            {
                Ok(())
            }
            ChunkIndexInfo::BTree1 { addr } => btree1::visit(self, store, addr, within),
            ChunkIndexInfo::BTree2 { addr, .. } => btree2::visit(self, store, addr, within),
            ChunkIndexInfo::FixedArray { addr, .. } => fixed_array::visit(self, store, addr, within),
            ChunkIndexInfo::ExtensibleArray { addr, .. } => {
                extensible_array::visit(self, store, addr, within)
            }
        }
    }

    /// Returns the record of an array element, if its chunk was written.
    fn record(&self, element: ChunkElement) -> Option<ChunkRecord> {
        self.stored(element.addr, Some((element.len, element.mask)))
    }

    /// Returns the record of the chunk at `addr`, if `addr` is defined. `filtered` has the stored size, which
    /// is used only if the dataset has filters, and the filter mask.
    #[inline]
    fn stored(&self, addr: Addr, filtered: Option<(u64, u32)>) -> Option<ChunkRecord> {
        let (len, mask) = filtered.unwrap_or((self.chunk_bytes, 0));
        let len = if self.is_filtered { len } else { self.chunk_bytes };
        Some(ChunkRecord { extent: Extent::new(addr.defined()?, len), mask: FilterMask(mask) })
    }

    /// Checks that the client of an array agrees with whether the dataset has filters.
    fn check_client<S: Structure>(&self, client: Client, at: Addr) -> Result<()> {
        if (client == Client::FilteredChunks) == self.is_filtered {
            return Ok(());
        }
        Err(misfit::<S>(at, "Client ID", client as u64, "1 if the dataset has filters, else 0"))
    }
}

/// Looks up chunks in one index.
#[derive(Debug)]
pub struct Cursor<'s> {
    index: &'s ChunkIndex,
    store: &'s Store,
    generation: u64,
    state: CursorState,
}

/// The blocks that a cursor has read so far.
#[derive(Debug, Default)]
enum CursorState {
    #[default]
    New,
    BTree1(btree1::Leaf),
    BTree2(btree2::Tree),
    FixedArray(fixed_array::FixedBlocks),
    ExtensibleArray(extensible_array::ExtensibleBlocks),
}

impl Cursor<'_> {
    /// Returns the record of the chunk at `coord` (counted in chunks), or `None` if it was never written.
    pub fn lookup(&mut self, coord: &Coord) -> Result<Option<ChunkRecord>> {
        let Self { index, store, state, .. } = self;
        match &index.info {
            ChunkIndexInfo::Single { addr, filtered } => Ok(index.stored(*addr, *filtered)),
            ChunkIndexInfo::Implicit { addr } => {
                let number = index.grid.number(coord);
                let offset = number.and_then(|number| number.checked_mul(index.chunk_bytes));
                let at = offset.and_then(|offset| addr.checked_add(offset));
                Ok(at.and_then(|at| index.stored(at, None)))
            }
            ChunkIndexInfo::BTree1 { addr } => {
                let Some(root) = addr.defined() else { return Ok(None) };
                btree1::lookup(index, store, root, coord, state)
            }
            ChunkIndexInfo::BTree2 { addr, .. } => {
                let Some(header) = addr.defined() else { return Ok(None) };
                if !matches!(state, CursorState::BTree2(_)) {
                    *state = CursorState::BTree2(btree2::Tree::open(index, store, header)?);
                }
                let CursorState::BTree2(tree) = state else { return Ok(None) };
                tree.lookup(index, store, coord)
            }
            ChunkIndexInfo::FixedArray { addr, .. } => {
                let Some(header) = addr.defined() else { return Ok(None) };
                if !matches!(state, CursorState::FixedArray(_)) {
                    *state = CursorState::FixedArray(fixed_array::FixedBlocks::open(index, store, header)?);
                }
                let (CursorState::FixedArray(array), Some(number)) = (state, index.grid.number(coord)) else {
                    return Ok(None);
                };
                Ok(array.element(store, number)?.and_then(|element| index.record(element)))
            }
            ChunkIndexInfo::ExtensibleArray { addr, .. } => {
                let Some(header) = addr.defined() else { return Ok(None) };
                if !matches!(state, CursorState::ExtensibleArray(_)) {
                    *state = CursorState::ExtensibleArray(extensible_array::ExtensibleBlocks::open(
                        index, store, header,
                    )?);
                }
                let number = index.grid.number_unlimited_first(coord);
                let (CursorState::ExtensibleArray(array), Some(number)) = (state, number) else {
                    return Ok(None);
                };
                match array.find(store, number)? {
                    extensible_array::Lookup::Element(element) => Ok(index.record(element)),
                    extensible_array::Lookup::Hole { .. } => Ok(None),
                }
            }
        }
    }
}

impl Drop for Cursor<'_> {
    fn drop(&mut self) {
        if let Some(mut last) = self.index.last.try_lock() {
            *last = (self.generation, std::mem::take(&mut self.state));
        }
    }
}
