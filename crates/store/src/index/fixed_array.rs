//! Chunks in a Fixed Array (spec VII.C). The number of a chunk determines the position of its element.

use std::sync::Arc;

use hyperslab_error::Result;
use hyperslab_format::array::fixed::{FixedArrayBlock, FixedArrayContent, FixedArrayHeader, FixedArraySlot};
use hyperslab_format::array::{ChunkElement, Page};
use hyperslab_format::{Addr, Extent, Structure};

use super::{ChunkIndex, Visitor, misfit};
use crate::Store;

/// The blocks of an array that were read so far.
#[derive(Debug)]
pub(super) struct FixedBlocks {
    pub(super) header: Arc<FixedArrayHeader>,
    /// Absent until the first chunk is written.
    block: Option<Arc<FixedArrayBlock>>,
    page: Option<(u64, Arc<Page>)>,
}

impl FixedBlocks {
    pub(super) fn open(index: &ChunkIndex, store: &Store, at: Addr) -> Result<Self> {
        let header = store.get::<FixedArrayHeader>(at, &())?;
        index.check_client::<FixedArrayHeader>(header.format.client, at)?;
        if index.grid.most_chunks() != Some(header.elements) {
            let expected = "the number of chunks in the maximum extent";
            return Err(misfit::<FixedArrayHeader>(at, "Max Num Entries", header.elements, expected));
        }
        let block = match header.data_block.defined() {
            // The page bitmap is read whole, so first check that the file is long enough to have the pages.
            Some(block) => {
                let len = header.data_block_len(store.widths()).unwrap_or(u64::MAX);
                store.check(Extent::new(block, len), (FixedArrayBlock::NAME, FixedArrayBlock::SPEC))?;
                Some(store.get::<FixedArrayBlock>(block, &header)?)
            }
            None => None,
        };
        Ok(Self { header, block, page: None })
    }

    /// Returns element `number`, if its page was written.
    pub(super) fn element(&mut self, store: &Store, number: u64) -> Result<Option<ChunkElement>> {
        let (Some(block), Some(slot)) = (&self.block, self.header.slot(number, store.widths())) else {
            return Ok(None);
        };
        match slot {
            FixedArraySlot::Block(position) => match &block.content {
                FixedArrayContent::Elements(elements) => Ok(elements.get(position)),
                FixedArrayContent::Pages(_) => Ok(None),
            },
            FixedArraySlot::Page { number, extent, elements, position } => {
                if let Some((last, page)) = &self.page
                    && *last == number
                {
                    return Ok(page.elements.get(position));
                }
                if !block.has_page(number) {
                    return Ok(None);
                }
                let page = store.get::<Page>(extent.addr, &(elements, self.header.format))?;
                let element = page.elements.get(position);
                self.page = Some((number, page));
                Ok(element)
            }
        }
    }
}

pub(super) fn visit(index: &ChunkIndex, store: &Store, at: Addr, f: &mut Visitor<'_>) -> Result<()> {
    let mut array = FixedBlocks::open(index, store, at)?;
    let mut coord: Vec<u64> = vec![0; index.grid.largest.len()];
    let page_elements = array.header.page_elements();
    let mut number = 0;
    while number < array.header.elements {
        match array.element(store, number)? {
            // The bitmap shows which pages were never written; they are skipped.
            None => {
                match array.block.as_ref().and_then(|block| block.next_page(number / page_elements + 1)) {
                    Some(page) => number = page.saturating_mul(page_elements),
                    None => return Ok(()),
                }
            }
            Some(element) => {
                if let Some(record) = index.record(element) {
                    index.grid.coord(number, &mut coord);
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
