//! Changes to the chunks of a Fixed Array (spec VII.C).

use hyperslab_error::Result;
use hyperslab_format::array::fixed::{FixedArrayBlock, FixedArrayContent, FixedArrayHeader, FixedArraySlot};
use hyperslab_format::array::{ChunkElement, ElementFormat, Elements, Page};
use hyperslab_format::layout::ChunkIndexInfo;
use hyperslab_format::{Addr, Structure};

use super::super::extensible_array::missing;
use super::super::fixed_array::FixedBlocks;
use super::super::{ChunkIndex, Grid};
use super::{ArrayEdit, Freed, check_count, element_format, too_many_chunks};
use crate::Txn;

/// Changes an array.
#[derive(Debug)]
pub(super) struct FixedArrayEdit {
    at: Addr,
    header: FixedArrayHeader,
    /// The page that was changed last.
    page: Option<u64>,
}

impl FixedArrayEdit {
    /// Opens the array of the index, or creates one.
    pub(super) fn open(index: &ChunkIndex, txn: &mut Txn<'_>) -> Result<Self> {
        let ChunkIndexInfo::FixedArray { addr, page_bits } = index.info else {
            return Err(missing::<FixedArrayHeader>(Addr::UNDEFINED));
        };
        let (at, header) = if let Some(at) = addr.defined() {
            (at, *FixedBlocks::open(index, txn.store(), at)?.header)
        } else {
            let header = FixedArrayHeader {
                format: element_format(index, txn.store().widths()),
                page_bits,
                elements: index.grid.most_chunks().ok_or_else(too_many_chunks)?,
                data_block: Addr::UNDEFINED,
            };
            (txn.put_new(header, ())?, header)
        };
        Ok(Self { at, header, page: None })
    }
}

impl ArrayEdit for FixedArrayEdit {
    fn addr(&self) -> Addr {
        self.at
    }

    fn format(&self) -> ElementFormat {
        self.header.format
    }

    fn number(&self, grid: &Grid, coord: &[u64]) -> Option<u64> {
        grid.number(coord)
    }

    fn set(&mut self, txn: &mut Txn<'_>, number: u64, element: ChunkElement) -> Result<ChunkElement> {
        if self.header.data_block.is_undefined() {
            self.make_data_block(txn)?;
        }
        let block = self.header.data_block;
        let slot = self.header.slot(number, txn.store().widths()).ok_or_else(too_many_chunks)?;
        let old = match slot {
            FixedArraySlot::Block(position) => {
                txn.edit::<FixedArrayBlock, _>(block, &self.header, |block| match &mut block.content {
                    FixedArrayContent::Elements(elements) => elements.set(position, element),
                    FixedArrayContent::Pages(_) => None,
                })?
            }
            FixedArraySlot::Page { number, extent, elements, position } => {
                let context = (elements, self.header.format);
                if self.page != Some(number) {
                    self.make_page(txn, number, extent.addr, elements)?;
                    self.page = Some(number);
                }
                txn.edit::<Page, _>(extent.addr, &context, |page| page.elements.set(position, element))?
            }
        };
        old.ok_or_else(|| missing::<FixedArrayBlock>(block))
    }
}

impl FixedArrayEdit {
    /// Creates the data block. It is allocated with the space of all its pages, but no page is written yet.
    fn make_data_block(&mut self, txn: &mut Txn<'_>) -> Result<()> {
        check_count(if self.header.pages() == 0 { self.header.elements } else { self.header.pages() })?;
        let len = self.header.data_block_len(txn.store().widths()).ok_or_else(too_many_chunks)?;
        self.header.data_block = txn.allocate_metadata(len)?;
        txn.put(self.header.data_block, FixedArrayBlock::new(self.at, &self.header), self.header);
        txn.edit::<FixedArrayHeader, _>(self.at, &(), |header| *header = self.header)
    }

    /// Creates page `number`, if it was never written.
    fn make_page(&self, txn: &mut Txn<'_>, number: u64, at: Addr, elements: usize) -> Result<()> {
        let block = self.header.data_block;
        if txn.store().get::<FixedArrayBlock>(block, &self.header)?.has_page(number) {
            return Ok(());
        }
        check_count(elements as u64)?;
        let elements = Elements::unwritten(self.header.format.client, elements);
        let context = (elements.len(), self.header.format);
        txn.put(at, Page { elements }, context);
        txn.edit::<FixedArrayBlock, _>(block, &self.header, |block| block.set_page(number))
    }
}

/// Frees the array at `at`.
pub(super) fn delete(index: &ChunkIndex, txn: &mut Txn<'_>, at: Addr) -> Result<()> {
    let header = *FixedBlocks::open(index, txn.store(), at)?.header;
    let widths = txn.store().widths();
    let mut freed = Freed::default();
    if let Some(block) = header.data_block.defined() {
        freed.free::<FixedArrayBlock>(txn, block, header.data_block_len(widths))?;
    }
    freed.free::<FixedArrayHeader>(txn, at, Some(header.encoded_len(widths, &()) as u64))
}
