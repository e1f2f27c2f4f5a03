//! Where each chunk of a dataset is (spec VII, and III.A.1 for old files): looked up, never loaded as a whole.

mod beyond;
mod btree1;
mod btree2;
mod choose;
mod edit;
mod extensible_array;
mod fixed_array;
mod grid;

use std::ops::ControlFlow;

use hyperslab_filters::FilterMask;
use hyperslab_format::array::{ChunkElement, Client};
use hyperslab_format::layout::{ChunkIndexInfo, ChunkedLayout};
use hyperslab_format::{Addr, ErrorKind, Extent, FormatError, Structure};
use parking_lot::Mutex;

use crate::error::{Error, Result};
use crate::select::Coord;
use crate::store::Store;
pub use choose::{ChunkingPlan, choose};
pub use edit::IndexEdit;
pub use grid::Grid;

/// Where a chunk is, how many bytes it has there, and which filters it was stored without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChunkRecord {
    /// Its stored bytes.
    pub extent: Extent,
    /// The filters it was stored without.
    pub mask: FilterMask,
}

/// The chunk index of one dataset.
#[derive(Debug)]
pub struct ChunkIndex {
    grid: Grid,
    chunk_shape: Vec<u64>,
    /// Decoded bytes of a chunk: those stored, too, where there are no filters.
    chunk_bytes: u64,
    info: ChunkIndexInfo,
    /// The version of the layout message, which says how wide stored sizes are.
    layout_version: u8,
    /// Whether records carry sizes and masks.
    is_filtered: bool,
    /// Indexed Storage Internal Node K, the capacity of version 1 B-tree nodes.
    btree_k: u16,
    /// What the last cursor had read, and the generation of the file's metadata then. The next takes it if that is still the
    /// generation: small reads of one dataset, one after another, begin where the last one ended.
    last: Mutex<(u64, State)>,
}

/// What a visitor of chunks is told of each: its coordinate, counted in chunks, and where it is.
pub type Visitor<'f> = dyn FnMut(&[u64], ChunkRecord) -> ControlFlow<()> + 'f;

impl ChunkIndex {
    /// The index that a layout message describes. Reads nothing.
    ///
    /// `grid` is that of the dataset's chunks, which are `chunk_bytes` long when decoded.
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

    /// Which structure it is.
    pub fn info(&self) -> &ChunkIndexInfo {
        &self.info
    }

    /// The grid of chunks.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The address that the layout message has of the index.
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

    /// The same index over another grid, with none of its chunks outside. What the last cursor had read is taken over where
    /// the index was not changed on the way: of the generation `before`, and as good in the generation `after`.
    #[must_use]
    pub fn reshaped(&self, grid: Grid, before: u64, after: u64) -> Self {
        let has_same_chunks = self.grid.current.iter().zip(&grid.current).all(|(old, new)| old <= new);
        let last = std::mem::take(&mut *self.last.lock());
        let last = if has_same_chunks && last.0 == before { (after, last.1) } else { (0, State::New) };
        Self {
            grid,
            chunk_shape: self.chunk_shape.clone(),
            info: self.info.clone(),
            last: Mutex::new(last),
            ..*self
        }
    }

    /// Decoded bytes of a chunk.
    pub fn chunk_bytes(&self) -> u64 {
        self.chunk_bytes
    }

    /// Looks chunks up one after another, remembering where the last was.
    pub fn cursor<'s>(&'s self, store: &'s Store) -> Cursor<'s> {
        let generation = store.generation();
        let last = self.last.try_lock().map(|mut last| std::mem::take(&mut *last));
        let state = last.filter(|(known, _)| *known == generation).map_or(State::New, |(_, state)| state);
        Cursor { index: self, store, generation, state }
    }

    /// Calls `f` with every stored chunk in the order of the index, until it breaks. O(stored chunks).
    pub fn visit(&self, store: &Store, f: &mut Visitor<'_>) -> Result<()> {
        let mut within = |coord: &[u64], record: ChunkRecord| {
            // A dataset that was made smaller may keep records of what it had before.
            let is_inside = coord.iter().zip(&self.grid.current).all(|(at, count)| at < count);
            if is_inside { f(coord, record) } else { ControlFlow::Continue(()) }
        };
        match &self.info {
            ChunkIndexInfo::BTree1 { addr } => match addr.defined() {
                Some(root) => btree1::visit(self, store, root, &mut within),
                None => Ok(()),
            },
            ChunkIndexInfo::BTree2 { addr, .. } => match addr.defined() {
                Some(header) => btree2::visit(self, store, header, &mut within),
                None => Ok(()),
            },
            ChunkIndexInfo::FixedArray { addr, .. } => match addr.defined() {
                Some(header) => fixed_array::visit(self, store, header, &mut within),
                None => Ok(()),
            },
            ChunkIndexInfo::ExtensibleArray { addr, .. } => match addr.defined() {
                Some(header) => extensible_array::visit(self, store, header, &mut within),
                None => Ok(()),
            },
            ChunkIndexInfo::Single { .. } | ChunkIndexInfo::Implicit { .. } => {
                let mut cursor = self.cursor(store);
                // Neither can be sparse: both were allocated whole.
                for coord in (0..self.grid.len()).map_while(|place| self.grid.nth(place)) {
                    let Some(record) = cursor.lookup(&coord)? else { break };
                    if within(&coord, record).is_break() {
                        break;
                    }
                }
                Ok(())
            }
        }
    }

    /// The record of an array element, if its chunk was written.
    fn record(&self, element: ChunkElement) -> Option<ChunkRecord> {
        let addr = element.addr.defined()?;
        let len = if self.is_filtered { element.len } else { self.chunk_bytes };
        Some(ChunkRecord { extent: Extent::new(addr, len), mask: FilterMask(element.mask) })
    }

    /// Checks that an array describes chunks as the dataset has them.
    fn check_client<S: Structure>(&self, client: Client, at: Addr) -> Result<()> {
        if (client == Client::FilteredChunks) == self.is_filtered {
            return Ok(());
        }
        let expected = "1 where the dataset has filters, else 0";
        Err(broken::<S>(at, ErrorKind::Value { field: "Client ID", value: client as u64, expected }))
    }
}

/// Looks chunks up in one index.
#[derive(Debug)]
pub struct Cursor<'s> {
    index: &'s ChunkIndex,
    store: &'s Store,
    generation: u64,
    state: State,
}

/// What a cursor has read so far.
#[derive(Debug, Default)]
enum State {
    #[default]
    New,
    BTree1(btree1::Leaf),
    BTree2(btree2::Tree),
    FixedArray(fixed_array::Array),
    ExtensibleArray(extensible_array::Array),
}

impl Cursor<'_> {
    /// Where the chunk at `coord` (counted in chunks) is; `None` if it was never written.
    pub fn lookup(&mut self, coord: &Coord) -> Result<Option<ChunkRecord>> {
        let Self { index, store, state, .. } = self;
        match &index.info {
            ChunkIndexInfo::Single { addr, filtered } => {
                let (len, mask) = filtered.unwrap_or((index.chunk_bytes, 0));
                Ok(addr
                    .defined()
                    .map(|addr| ChunkRecord { extent: Extent::new(addr, len), mask: FilterMask(mask) }))
            }
            ChunkIndexInfo::Implicit { addr } => {
                let number = index.grid.number(coord);
                let offset = number.and_then(|number| number.checked_mul(index.chunk_bytes));
                let at = offset.and_then(|offset| addr.checked_add(offset));
                Ok(at.map(|at| ChunkRecord {
                    extent: Extent::new(at, index.chunk_bytes),
                    mask: FilterMask::NONE_SKIPPED,
                }))
            }
            ChunkIndexInfo::BTree1 { addr } => {
                let Some(root) = addr.defined() else { return Ok(None) };
                btree1::lookup(index, store, root, coord, state)
            }
            ChunkIndexInfo::BTree2 { addr, .. } => {
                let Some(header) = addr.defined() else { return Ok(None) };
                if !matches!(state, State::BTree2(_)) {
                    *state = State::BTree2(btree2::Tree::open(index, store, header)?);
                }
                let State::BTree2(tree) = state else { return Ok(None) };
                tree.lookup(index, store, coord)
            }
            ChunkIndexInfo::FixedArray { addr, .. } => {
                let Some(header) = addr.defined() else { return Ok(None) };
                if !matches!(state, State::FixedArray(_)) {
                    *state = State::FixedArray(fixed_array::Array::open(index, store, header)?);
                }
                let (State::FixedArray(array), Some(number)) = (state, index.grid.number(coord)) else {
                    return Ok(None);
                };
                Ok(array.element(store, number)?.and_then(|element| index.record(element)))
            }
            ChunkIndexInfo::ExtensibleArray { addr, .. } => {
                let Some(header) = addr.defined() else { return Ok(None) };
                if !matches!(state, State::ExtensibleArray(_)) {
                    *state = State::ExtensibleArray(extensible_array::Array::open(index, store, header)?);
                }
                let number = index.grid.number_unlimited_first(coord);
                let (State::ExtensibleArray(array), Some(number)) = (state, number) else { return Ok(None) };
                match array.find(store, number)? {
                    extensible_array::Found::Element(element) => Ok(index.record(element)),
                    extensible_array::Found::Hole { .. } => Ok(None),
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

/// An error in a structure that decodes, but does not fit the rest of the file.
fn broken<S: Structure>(at: Addr, kind: ErrorKind) -> Error {
    Error::Format(FormatError { kind, structure: S::NAME, spec: S::SPEC, at, offset: 0 })
}
