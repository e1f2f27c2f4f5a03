//! Changes to the chunks of an Extensible Array (spec VII.D).

use hyperslab_error::Result;
use hyperslab_format::array::extensible::header::Statistics;
use hyperslab_format::array::extensible::{
    DataBlock, DataBlockContext, ExtensibleArrayHeader, Geometry, IndexBlock, SecondaryBlock, Slot,
};
use hyperslab_format::array::{ChunkElement, ElementFormat, Elements, Page, PageContext};
use hyperslab_format::layout::ChunkIndexInfo;
use hyperslab_format::{Addr, Structure};

use super::super::extensible_array::{ExtensibleBlocks, missing};
use super::super::{ChunkIndex, Grid};
use super::{ArrayEdit, Freed, check_count, element_format, too_many_chunks};
use crate::Txn;

/// Changes an array.
#[derive(Debug)]
pub(super) struct ExtensibleArrayEdit {
    at: Addr,
    header: ExtensibleArrayHeader,
    geometry: Geometry,
    last: Option<Last>,
}

/// The block or page that was changed last.
#[derive(Debug, Clone, Copy)]
struct Last {
    /// The number of its first element.
    first: u64,
    /// The number of elements.
    count: u64,
    at: Addr,
    kind: LastKind,
}

#[derive(Debug, Clone, Copy)]
enum LastKind {
    Block(DataBlockContext),
    Page(PageContext),
}

/// The position of a data block in a secondary block.
#[derive(Clone, Copy)]
struct DataBlockPlace {
    super_block: u32,
    data_block: usize,
    elements: u64,
    /// The number of its first element, counted from the end of the elements in the index block.
    offset: u64,
}

impl ExtensibleArrayEdit {
    /// Opens the array of the index, or creates one.
    pub(super) fn open(index: &ChunkIndex, txn: &mut Txn<'_>) -> Result<Self> {
        let ChunkIndexInfo::ExtensibleArray { addr, parameters } = index.info else {
            return Err(missing::<ExtensibleArrayHeader>(Addr::UNDEFINED));
        };
        let (at, header) = if let Some(at) = addr.defined() {
            (at, *ExtensibleBlocks::open(index, txn.store(), at)?.header)
        } else {
            let header = ExtensibleArrayHeader {
                format: element_format(index, txn.store().widths()),
                parameters,
                statistics: Statistics::default(),
                index_block: Addr::UNDEFINED,
            };
            (txn.put_new(header, ())?, header)
        };
        Ok(Self { at, header, geometry: Geometry::new(header.parameters), last: None })
    }
}

impl ArrayEdit for ExtensibleArrayEdit {
    fn addr(&self) -> Addr {
        self.at
    }

    fn format(&self) -> ElementFormat {
        self.header.format
    }

    fn number(&self, grid: &Grid, coord: &[u64]) -> Option<u64> {
        grid.number_unlimited_first(coord)
    }

    fn set(&mut self, txn: &mut Txn<'_>, number: u64, element: ChunkElement) -> Result<ChunkElement> {
        let before = self.header;
        let old = match self.last.filter(|last| number.wrapping_sub(last.first) < last.count) {
            Some(last) => last.set(txn, number, element)?,
            None => self.find_and_set(txn, number, element)?,
        };
        let statistics = &mut self.header.statistics;
        statistics.elements_set = statistics.elements_set.max(number.saturating_add(1));
        if self.header != before {
            txn.edit::<ExtensibleArrayHeader, _>(self.at, &(), |header| *header = self.header)?;
        }
        Ok(old)
    }
}

impl ExtensibleArrayEdit {
    /// Changes an element. Creates the missing blocks on the way to it.
    fn find_and_set(
        &mut self,
        txn: &mut Txn<'_>,
        number: u64,
        element: ChunkElement,
    ) -> Result<ChunkElement> {
        let slot = self.geometry.slot(number).filter(|_| self.geometry.can_store(number));
        let slot = slot.ok_or_else(too_many_chunks)?;
        if self.header.index_block.is_undefined() {
            self.make_index_block(txn)?;
        }
        let index_elements = u64::from(self.header.parameters.index_elements);
        let last = match slot {
            Slot::Index { position } => {
                let set = |block: &mut IndexBlock| block.elements.set(position, element);
                let old = txn.edit(self.header.index_block, &self.header, set)?;
                return old.ok_or_else(|| missing::<IndexBlock>(self.header.index_block));
            }
            Slot::Direct { data_block, elements, position } => {
                let offset = number - index_elements - position;
                let at = self.direct_block(txn, data_block, elements, offset)?;
                self.whole_block(at, number - position, elements)?
            }
            Slot::Secondary { secondary, super_block, data_block, elements, position } => {
                let offset = number - index_elements - position;
                let place = DataBlockPlace { super_block, data_block, elements, offset };
                let secondary = self.secondary_block(txn, secondary, &place)?;
                let at = self.data_block(txn, secondary, &place)?;
                if self.geometry.pages(elements) == 0 {
                    self.whole_block(at, number - position, elements)?
                } else {
                    self.page(txn, secondary, at, &place, number)?
                }
            }
        };
        self.last = Some(last);
        last.set(txn, number, element)
    }

    fn make_index_block(&mut self, txn: &mut Txn<'_>) -> Result<()> {
        let block = IndexBlock::new(self.at, &self.header);
        let len = block.encoded_len(txn.store().widths(), &self.header) as u64;
        self.header.index_block = txn.allocate_metadata(len)?;
        let elements = &mut self.header.statistics.elements_allocated;
        *elements = elements.saturating_add(self.header.parameters.index_elements.into());
        txn.put(self.header.index_block, block, self.header);
        Ok(())
    }

    /// Returns data block number `data_block` of the index block. Creates it if it is missing.
    fn direct_block(
        &mut self,
        txn: &mut Txn<'_>,
        data_block: usize,
        elements: u64,
        offset: u64,
    ) -> Result<Addr> {
        let index_block = self.header.index_block;
        let named = txn.store().get::<IndexBlock>(index_block, &self.header)?;
        let named = *named.data_blocks.get(data_block).ok_or_else(|| missing::<IndexBlock>(index_block))?;
        if named.is_defined() {
            return Ok(named);
        }
        let at = self.make_data_block(txn, elements, offset)?;
        txn.edit(index_block, &self.header, |block: &mut IndexBlock| block.data_blocks[data_block] = at)?;
        Ok(at)
    }

    /// Returns secondary block number `secondary` of the index block. Creates it if it is missing.
    fn secondary_block(
        &mut self,
        txn: &mut Txn<'_>,
        secondary: usize,
        place: &DataBlockPlace,
    ) -> Result<Addr> {
        let index_block = self.header.index_block;
        let named = txn.store().get::<IndexBlock>(index_block, &self.header)?;
        let named =
            *named.secondary_blocks.get(secondary).ok_or_else(|| missing::<IndexBlock>(index_block))?;
        if named.is_defined() {
            return Ok(named);
        }
        let blocks = self.geometry.data_blocks(place.super_block) as u64;
        check_count(blocks.saturating_mul(self.geometry.pages(place.elements).max(1)))?;
        let context = (self.header, place.super_block);
        let offset = place.offset - place.data_block as u64 * place.elements;
        let block = SecondaryBlock::new(self.at, offset, &context);
        let len = block.encoded_len(txn.store().widths(), &context) as u64;
        let at = txn.put_new(block, context)?;
        txn.edit(index_block, &self.header, |block: &mut IndexBlock| {
            block.secondary_blocks[secondary] = at;
        })?;
        let statistics = &mut self.header.statistics;
        statistics.secondary_blocks = statistics.secondary_blocks.saturating_add(1);
        statistics.secondary_bytes = statistics.secondary_bytes.saturating_add(len);
        Ok(at)
    }

    /// Returns the data block at `place` in the secondary block at address `secondary`. Creates it if it is
    /// missing.
    fn data_block(&mut self, txn: &mut Txn<'_>, secondary: Addr, place: &DataBlockPlace) -> Result<Addr> {
        let context = (self.header, place.super_block);
        let named = txn.store().get::<SecondaryBlock>(secondary, &context)?;
        let named = named.data_blocks.get(place.data_block).copied();
        let named = named.ok_or_else(|| missing::<SecondaryBlock>(secondary))?;
        if named.is_defined() {
            return Ok(named);
        }
        let at = self.make_data_block(txn, place.elements, place.offset)?;
        txn.edit(secondary, &context, |block: &mut SecondaryBlock| block.data_blocks[place.data_block] = at)?;
        Ok(at)
    }

    /// Creates a data block. It is allocated with the space of all its pages, but no page is written yet.
    fn make_data_block(&mut self, txn: &mut Txn<'_>, elements: u64, offset: u64) -> Result<Addr> {
        check_count(elements.min(self.geometry.page_elements()))?;
        let len = DataBlock::len_bytes(&self.header, elements, txn.store().widths());
        let len = len.ok_or_else(too_many_chunks)?;
        let at = txn.allocate_metadata(len)?;
        let context = (self.header, elements);
        txn.put(at, DataBlock::new(self.at, offset, &context), context);
        let statistics = &mut self.header.statistics;
        statistics.data_blocks = statistics.data_blocks.saturating_add(1);
        statistics.data_bytes = statistics.data_bytes.saturating_add(len);
        statistics.elements_allocated = statistics.elements_allocated.saturating_add(elements);
        Ok(at)
    }

    /// Returns the data block at `at`, which must not be paged.
    fn whole_block(&self, at: Addr, first: u64, elements: u64) -> Result<Last> {
        if self.geometry.pages(elements) > 0 {
            return Err(missing::<DataBlock>(at));
        }
        Ok(Last { first, count: elements, at, kind: LastKind::Block((self.header, elements)) })
    }

    /// Returns the page of element `number` in the data block at `at`. Creates it if it was never written.
    fn page(
        &self,
        txn: &mut Txn<'_>,
        secondary: Addr,
        at: Addr,
        place: &DataBlockPlace,
        number: u64,
    ) -> Result<Last> {
        let (pages, count) = (self.geometry.pages(place.elements), self.geometry.page_elements());
        let block_first = place.offset + u64::from(self.header.parameters.index_elements);
        let page = (number - block_first) / count;
        let extent = DataBlock::page_extent(at, page, &self.header, txn.store().widths());
        let at = extent.ok_or_else(too_many_chunks)?.addr;
        let elements = usize::try_from(count).map_err(|_| too_many_chunks())?;
        let format = self.header.format;
        let context = (self.header, place.super_block);
        if !txn.store().get::<SecondaryBlock>(secondary, &context)?.has_page(place.data_block, page, pages) {
            check_count(count)?;
            let unwritten = Page { elements: Elements::unwritten(format.client, elements) };
            txn.put(at, unwritten, (elements, format));
            txn.edit(secondary, &context, |block: &mut SecondaryBlock| {
                block.set_page(place.data_block, page, pages);
            })?;
        }
        Ok(Last { first: block_first + page * count, count, at, kind: LastKind::Page((elements, format)) })
    }
}

impl Last {
    fn set(&self, txn: &mut Txn<'_>, number: u64, element: ChunkElement) -> Result<ChunkElement> {
        let position = usize::try_from(number - self.first).map_err(|_| too_many_chunks())?;
        let old = match &self.kind {
            LastKind::Block(context) => {
                txn.edit::<DataBlock, _>(self.at, context, |block| block.elements.set(position, element))?
            }
            LastKind::Page(context) => {
                txn.edit::<Page, _>(self.at, context, |page| page.elements.set(position, element))?
            }
        };
        old.ok_or_else(|| missing::<DataBlock>(self.at))
    }
}

/// Frees the array at `at`.
pub(super) fn delete(index: &ChunkIndex, txn: &mut Txn<'_>, at: Addr) -> Result<()> {
    let header = *ExtensibleBlocks::open(index, txn.store(), at)?.header;
    let geometry = Geometry::new(header.parameters);
    let (store, widths) = (txn.store(), txn.store().widths());
    let data_block_len = |elements| DataBlock::len_bytes(&header, elements, widths);
    let mut freed = Freed::default();
    if let Some(index_block) = header.index_block.defined() {
        let block = store.get::<IndexBlock>(index_block, &header)?;
        let direct = (0..).flat_map(|s| std::iter::repeat_n(s, geometry.data_blocks(s)));
        for (data_block, super_block) in defined(&block.data_blocks, direct) {
            let elements = geometry.block_elements(super_block);
            freed.free::<DataBlock>(txn, data_block, data_block_len(elements))?;
        }
        let first = u32::try_from(geometry.direct_super_blocks()).unwrap_or(u32::MAX);
        for (secondary, super_block) in defined(&block.secondary_blocks, first..) {
            let context = (header, super_block);
            let block = store.get::<SecondaryBlock>(secondary, &context)?;
            let elements = geometry.block_elements(super_block);
            for (data_block, ()) in defined(&block.data_blocks, std::iter::repeat(())) {
                freed.free::<DataBlock>(txn, data_block, data_block_len(elements))?;
            }
            let len = block.encoded_len(widths, &context) as u64;
            freed.free::<SecondaryBlock>(txn, secondary, Some(len))?;
        }
        freed.free::<IndexBlock>(txn, index_block, Some(block.encoded_len(widths, &header) as u64))?;
    }
    freed.free::<ExtensibleArrayHeader>(txn, at, Some(header.encoded_len(widths, &()) as u64))
}

/// Returns the defined addresses, each with its item of `with`.
fn defined<T>(addrs: &[Addr], with: impl Iterator<Item = T>) -> impl Iterator<Item = (Addr, T)> {
    addrs.iter().copied().zip(with).filter(|(at, _)| at.is_defined())
}
