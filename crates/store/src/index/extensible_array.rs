//! Chunks in an Extensible Array (spec VII.D). The number of a chunk determines the block that has its
//! element.

use std::sync::Arc;

use hyperslab_error::{Error, Result};
use hyperslab_format::array::extensible::{
    DataBlock, ExtensibleArrayHeader, Geometry, IndexBlock, SecondaryBlock, Slot,
};
use hyperslab_format::array::{ChunkElement, Page};
use hyperslab_format::{Addr, ErrorKind, Structure};

use super::{ChunkIndex, Visitor, broken};
use crate::Store;

/// The blocks of an array that were read so far.
#[derive(Debug)]
pub(super) struct ExtensibleBlocks {
    pub(super) header: Arc<ExtensibleArrayHeader>,
    geometry: Geometry,
    /// Absent until the first chunk is written.
    index_block: Option<Arc<IndexBlock>>,
    last: Option<Last>,
}

/// The block or page that was used last.
#[derive(Debug)]
struct Last {
    first: u64,
    elements: LastElements,
}

#[derive(Debug)]
enum LastElements {
    Block(Arc<DataBlock>),
    Page(Arc<Page>),
}

impl Last {
    fn get(&self, number: u64) -> Option<ChunkElement> {
        let position = usize::try_from(number.checked_sub(self.first)?).ok()?;
        match &self.elements {
            LastElements::Block(block) => block.elements.get(position),
            LastElements::Page(page) => page.elements.get(position),
        }
    }
}

/// The result of a look-up.
pub(super) enum Lookup {
    Element(ChunkElement),
    /// The element and all later elements before `end` were never written.
    Hole {
        end: u64,
    },
}

impl ExtensibleBlocks {
    pub(super) fn open(index: &ChunkIndex, store: &Store, at: Addr) -> Result<Self> {
        let header = store.get::<ExtensibleArrayHeader>(at, &())?;
        index.check_client::<ExtensibleArrayHeader>(header.format.client, at)?;
        let index_block = header.index_block.defined();
        let index_block = index_block.map(|block| store.get::<IndexBlock>(block, &header)).transpose()?;
        Ok(Self { geometry: Geometry::new(header.parameters), header, index_block, last: None })
    }

    pub(super) fn find(&mut self, store: &Store, number: u64) -> Result<Lookup> {
        if let Some(element) = self.last.as_ref().and_then(|last| last.get(number)) {
            return Ok(Lookup::Element(element));
        }
        let (Some(index_block), Some(slot)) = (&self.index_block, self.geometry.slot(number)) else {
            return Ok(Lookup::Hole { end: u64::MAX });
        };
        match slot {
            Slot::Index { position } => {
                let element = index_block.elements.get(position);
                Ok(element.map_or(Lookup::Hole { end: number + 1 }, Lookup::Element))
            }
            Slot::Direct { data_block, elements, position } => {
                let end = number.saturating_add(elements - position);
                let Some(at) = defined(&index_block.data_blocks, data_block) else {
                    return Ok(Lookup::Hole { end });
                };
                let block = store.get::<DataBlock>(at, &(*self.header, elements))?;
                self.found(number, position, LastElements::Block(block), at)
            }
            Slot::Secondary { secondary, super_block, data_block, elements, position } => {
                let Some(at) = defined(&index_block.secondary_blocks, secondary) else {
                    let before = (data_block as u64).saturating_mul(elements).saturating_add(position);
                    let all = (self.geometry.data_blocks(super_block) as u64).saturating_mul(elements);
                    return Ok(Lookup::Hole { end: number.saturating_add(all - before) });
                };
                let block = store.get::<SecondaryBlock>(at, &(*self.header, super_block))?;
                let Some(at) = defined(&block.data_blocks, data_block) else {
                    return Ok(Lookup::Hole { end: number.saturating_add(elements - position) });
                };
                let pages = self.geometry.pages(elements);
                if pages == 0 {
                    let block = store.get::<DataBlock>(at, &(*self.header, elements))?;
                    return self.found(number, position, LastElements::Block(block), at);
                }
                let page_elements = self.geometry.page_elements();
                let (page, position) = (position / page_elements, position % page_elements);
                if !block.has_page(data_block, page, pages) {
                    return Ok(Lookup::Hole { end: number.saturating_add(page_elements - position) });
                }
                let Some(extent) = DataBlock::page_extent(at, page, &self.header, store.widths()) else {
                    return Ok(Lookup::Hole { end: u64::MAX });
                };
                let context = (usize::try_from(page_elements).unwrap_or(usize::MAX), self.header.format);
                let page = store.get::<Page>(extent.addr, &context)?;
                self.found(number, position, LastElements::Page(page), extent.addr)
            }
        }
    }

    fn found(&mut self, number: u64, position: u64, elements: LastElements, at: Addr) -> Result<Lookup> {
        let last = Last { first: number - position, elements };
        let element = last.get(number);
        self.last = Some(last);
        element.map(Lookup::Element).ok_or_else(|| missing::<DataBlock>(at))
    }
}

pub(super) fn visit(index: &ChunkIndex, store: &Store, at: Addr, f: &mut Visitor<'_>) -> Result<()> {
    let mut array = ExtensibleBlocks::open(index, store, at)?;
    let end = array.header.statistics.elements_set;
    let mut coord: Vec<u64> = vec![0; index.grid.largest.len()];
    let mut number = 0;
    while number < end {
        match array.find(store, number)? {
            Lookup::Hole { end } => number = end,
            Lookup::Element(element) => {
                if let Some(record) = index.record(element) {
                    index.grid.coord_unlimited_first(number, &mut coord);
                    if f(&coord, record).is_break() {
                        return Ok(());
                    }
                }
                number += 1;
            }
        }
    }
    Ok(())
}

fn defined(addrs: &[Addr], position: usize) -> Option<Addr> {
    addrs.get(position).copied().and_then(Addr::defined)
}

/// Returns the error for an `S` at `at` that lacks an element.
pub(super) fn missing<S: Structure>(at: Addr) -> Error {
    broken::<S>(at, ErrorKind::Missing { what: "an element" })
}
