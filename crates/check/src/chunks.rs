//! Checks chunk indexes (spec VII, and III.A.1 for old files) with all their blocks and pages, and the extent
//! of every chunk.

use hyperslab::ChunkCodec;
use hyperslab_filters::FilterMask;
use hyperslab_format::array::extensible::{
    DataBlock, ExtensibleArrayHeader, Geometry, IndexBlock, SecondaryBlock, header::Statistics,
};
use hyperslab_format::array::fixed::{FixedArrayBlock, FixedArrayContent, FixedArrayHeader, FixedArraySlot};
use hyperslab_format::array::{ChunkElement, Client, Elements, Page};
use hyperslab_format::btree1::{BTree1Context, BTree1Kind, BTree1Node};
use hyperslab_format::btree2::header::BTree2Header;
use hyperslab_format::btree2::record::Record;
use hyperslab_format::layout::{ChunkIndexInfo, ChunkedLayout, LayoutMessage};
use hyperslab_format::{Addr, Extent, Structure};
use hyperslab_store::index::Grid;

use super::btree1::{Key, Owner};
use super::data::Waiting;
use super::dataset::Described;
use super::{Check, Name, Severity, name_of};

/// A chunked dataset.
pub(super) struct Chunked {
    pub dataset: Described,
    pub chunk_shape: Vec<u64>,
    /// The number of bytes of a decoded chunk. Without filters, stored chunks have the same size.
    pub chunk_bytes: u64,
    pub unfiltered_edges: bool,
    /// Prepared when the first chunk is decoded.
    pub codec: Option<ChunkCodec>,
    /// Whether to decode chunks. Cleared at the first chunk that needs an unavailable filter.
    pub decodes: bool,
    /// The chunks that wait to be decoded.
    pub waiting: Vec<Waiting>,
    grid: Grid,
    is_filtered: bool,
}

impl Check<'_> {
    /// Checks the chunk index of a dataset, and its chunks.
    pub(super) fn chunked(&mut self, layout: &ChunkedLayout, dataset: Described) {
        let (name, at) = (name_of::<LayoutMessage>(), dataset.at);
        let rank = layout.chunk_shape.len();
        if rank != dataset.shape.len() {
            return self.expect(name, at, "rank of a chunk", rank as u64, dataset.shape.len() as u64);
        }
        if u64::from(layout.element_size) != dataset.element_bytes {
            let stated = layout.element_size.into();
            return self.expect(name, at, "dataset element size", stated, dataset.element_bytes);
        }
        let mut chunked = Chunked {
            chunk_shape: layout.chunk_shape.clone(),
            chunk_bytes: layout.chunk_len(),
            unfiltered_edges: layout.unfiltered_edges,
            codec: None,
            decodes: self.reads_elements(&dataset),
            waiting: Vec::new(),
            grid: Grid::new(&dataset.shape, dataset.max_shape.as_deref(), &layout.chunk_shape),
            is_filtered: !dataset.filters.filters.is_empty(),
            dataset,
        };
        let index = layout.index_addr();
        if index.is_undefined() {
            return;
        }
        if !chunked.decodes {
            self.not_followed(&chunked.dataset.datatype);
        }
        match &layout.index {
            ChunkIndexInfo::BTree1 { .. } => {
                let k = self.store.btree_k().indexed_storage_k;
                self.btree1(index, &BTree1Context { kind: BTree1Kind::Chunks { rank }, k }, &mut chunked);
            }
            ChunkIndexInfo::Single { filtered, .. } => {
                let (len, mask) = filtered.unwrap_or((chunked.chunk_bytes, 0));
                self.chunk(&mut chunked, &vec![0; rank], Extent::new(index, len), mask);
            }
            ChunkIndexInfo::Implicit { .. } => self.implicit(&mut chunked, index),
            ChunkIndexInfo::FixedArray { .. } => self.fixed_array(&mut chunked, index),
            ChunkIndexInfo::ExtensibleArray { .. } => self.extensible_array(&mut chunked, index),
            ChunkIndexInfo::BTree2 { .. } => self.chunk_btree2(&mut chunked, index),
        }
        self.decode_waiting(&mut chunked);
    }

    /// Checks one chunk. `scaled` is its coordinate in units of chunks.
    fn chunk(&mut self, chunked: &mut Chunked, scaled: &[u64], extent: Extent, mask: u32) {
        if self.is_over() {
            return;
        }
        self.report.totals.chunks += 1;
        if self.report.totals.chunks.is_multiple_of(TICK) {
            self.tick();
        }
        if !self.cover(extent, RAW_CHUNK) {
            return;
        }
        if scaled.iter().zip(&chunked.grid.current).any(|(at, count)| at >= count) {
            let message = format!("the chunk at {scaled:?} (in chunks) is outside the dataset");
            return self.find(Severity::Warning, RAW_CHUNK, extent.addr, message);
        }
        if chunked.decodes {
            self.chunk_values(chunked, scaled, extent, FilterMask(mask));
        }
    }

    fn element(&mut self, chunked: &mut Chunked, scaled: &[u64], element: ChunkElement) {
        let Some(addr) = element.addr.defined() else { return };
        let len = if chunked.is_filtered { element.len } else { chunked.chunk_bytes };
        self.chunk(chunked, scaled, Extent::new(addr, len), element.mask);
    }

    /// Checks an implicit index: all chunks are adjacent (spec VII.B).
    fn implicit(&mut self, chunked: &mut Chunked, at: Addr) {
        let chunks = chunked.grid.most_chunks();
        let Some(bytes) = chunks.and_then(|chunks| chunks.checked_mul(chunked.chunk_bytes)) else {
            return self.wrong(RAW_CHUNK, at, "the size of all chunks overflows");
        };
        if !self.cover(Extent::new(at, bytes), RAW_CHUNK) {
            return;
        }
        let chunks = chunks.unwrap_or(0);
        self.report.totals.chunks += chunks;
        let mut scaled = vec![0; chunked.chunk_shape.len()];
        for number in 0..chunks {
            if !chunked.decodes || self.is_over() {
                break;
            }
            chunked.grid.coord(number, &mut scaled);
            let is_inside = scaled.iter().zip(&chunked.grid.current).all(|(at, count)| at < count);
            if let Some(addr) = at.checked_add(number * chunked.chunk_bytes).filter(|_| is_inside) {
                self.chunk_values(chunked, &scaled, Extent::new(addr, chunked.chunk_bytes), FilterMask(0));
            }
        }
    }

    fn check_client<S: Structure>(&mut self, chunked: &Chunked, client: Client, at: Addr) -> bool {
        let is_right = (client == Client::FilteredChunks) == chunked.is_filtered;
        if !is_right {
            self.wrong(
                name_of::<S>(),
                at,
                "client id does not match the filters: it must be 1 if the dataset has filters, else 0",
            );
        }
        is_right
    }

    fn check_owner<S: Structure>(&mut self, owner: Addr, header: Addr, at: Addr) {
        if owner != header {
            let text = format!("header address is {owner}, but the block belongs to the array at {header}");
            self.wrong(name_of::<S>(), at, text);
        }
    }

    /// Checks a Fixed Array (spec VII.C).
    fn fixed_array(&mut self, chunked: &mut Chunked, at: Addr) {
        let widths = self.store.widths();
        let Some(header) = self.block::<FixedArrayHeader>(at, &()) else { return };
        if !self.check_client::<FixedArrayHeader>(chunked, header.format.client, at) {
            return;
        }
        let chunks = chunked.grid.most_chunks();
        if chunks != Some(header.elements) {
            let (stated, found) = (header.elements, chunks.unwrap_or(u64::MAX));
            return self.expect(name_of::<FixedArrayHeader>(), at, "max num entries", stated, found);
        }
        let Some(addr) = header.data_block.defined() else { return };
        let len = header.data_block_len(widths).unwrap_or(u64::MAX);
        if !self.cover(Extent::new(addr, len), name_of::<FixedArrayBlock>()) {
            return;
        }
        let Some(block) = self.read::<FixedArrayBlock>(addr, &header) else { return };
        self.check_owner::<FixedArrayBlock>(block.header, at, addr);
        if let FixedArrayContent::Elements(elements) = &block.content {
            return self.fixed_elements(chunked, 0, elements);
        }
        let pages = std::iter::successors(block.next_page(0), |&page| block.next_page(page + 1));
        for page in pages.take_while(|&page| page < header.pages()) {
            let first = page * header.page_elements();
            let Some(FixedArraySlot::Page { extent, elements, .. }) = header.slot(first, widths) else {
                break;
            };
            if let Some(page) = self.read::<Page>(extent.addr, &(elements, header.format)) {
                self.fixed_elements(chunked, first, &page.elements);
            }
        }
    }

    fn fixed_elements(&mut self, chunked: &mut Chunked, first: u64, elements: &Elements) {
        let mut scaled = vec![0; chunked.chunk_shape.len()];
        for (element, number) in (0..elements.len()).filter_map(|place| elements.get(place)).zip(first..) {
            if self.is_over() {
                break;
            }
            chunked.grid.coord(number, &mut scaled);
            self.element(chunked, &scaled, element);
        }
    }

    /// Checks an Extensible Array (spec VII.D).
    fn extensible_array(&mut self, chunked: &mut Chunked, at: Addr) {
        let name = name_of::<ExtensibleArrayHeader>();
        let Some(header) = self.block::<ExtensibleArrayHeader>(at, &()) else { return };
        if !self.check_client::<ExtensibleArrayHeader>(chunked, header.format.client, at) {
            return;
        }
        let Some(addr) = header.index_block.defined() else { return };
        let Some(block) = self.block::<IndexBlock>(addr, &header) else { return };
        self.check_owner::<IndexBlock>(block.header, at, addr);
        let geometry = Geometry::new(header.parameters);
        let mut array = ReadBlocks { at, header, geometry, met: Statistics::default(), is_whole: true };
        array.met.elements_allocated = header.parameters.index_elements.into();
        self.extensible_elements(chunked, &mut array, 0, &block.elements);
        let mut direct = block.data_blocks.iter();
        for super_block in 0..u32::try_from(geometry.direct_super_blocks()).unwrap_or(0) {
            let blocks = direct.by_ref().take(geometry.data_blocks(super_block));
            for (number, addr) in
                blocks.enumerate().filter_map(|(number, addr)| Some((number, addr.defined()?)))
            {
                self.data_block(chunked, &mut array, addr, (super_block, number), &|_| true);
            }
        }
        for (number, addr) in block.secondary_blocks.iter().enumerate() {
            let super_block = u32::try_from(geometry.direct_super_blocks() + number).unwrap_or(u32::MAX);
            if let Some(addr) = addr.defined() {
                self.secondary_block(chunked, &mut array, addr, super_block);
            }
        }
        let (met, stated) = (array.met, header.statistics);
        if !array.is_whole {
            return;
        }
        for (what, stated, found) in [
            ("number of secondary blocks created", stated.secondary_blocks, met.secondary_blocks),
            ("size of secondary blocks created", stated.secondary_bytes, met.secondary_bytes),
            ("number of data blocks created", stated.data_blocks, met.data_blocks),
            ("size of data blocks created", stated.data_bytes, met.data_bytes),
            ("number of elements realized", stated.elements_allocated, met.elements_allocated),
        ] {
            self.expect(name, at, what, stated, found);
        }
        if met.elements_set > stated.elements_set {
            let (last, limit) = (met.elements_set - 1, stated.elements_set);
            self.wrong(name, at, format_args!("max index set is {limit}, but element {last} is set"));
        }
    }

    fn secondary_block(&mut self, chunked: &mut Chunked, array: &mut ReadBlocks, at: Addr, super_block: u32) {
        let context = (array.header, super_block);
        let Some(block) = self.block::<SecondaryBlock>(at, &context) else {
            array.is_whole = false;
            return;
        };
        let geometry = array.geometry;
        self.check_owner::<SecondaryBlock>(block.header, array.at, at);
        let found = array.offset(super_block, 0);
        self.expect(name_of::<SecondaryBlock>(), at, "block offset", block.offset, found);
        array.met.secondary_blocks += 1;
        array.met.secondary_bytes += block.encoded_len(self.store.widths(), &context) as u64;
        let pages = geometry.pages(geometry.block_elements(super_block));
        for (number, addr) in block.data_blocks.iter().enumerate() {
            if let Some(addr) = addr.defined() {
                let has_page = |page| block.has_page(number, page, pages);
                self.data_block(chunked, array, addr, (super_block, number), &has_page);
            }
        }
    }

    /// Checks data block `number` of a super block.
    fn data_block(
        &mut self,
        chunked: &mut Chunked,
        array: &mut ReadBlocks,
        at: Addr,
        (super_block, number): (u32, usize),
        has_page: &dyn Fn(u64) -> bool,
    ) {
        let (widths, name) = (self.store.widths(), name_of::<DataBlock>());
        let (header, geometry) = (array.header, array.geometry);
        let elements = geometry.block_elements(super_block);
        let Some(block) = self.read::<DataBlock>(at, &(header, elements)) else {
            array.is_whole = false;
            return;
        };
        let len = DataBlock::len_bytes(&header, elements, widths).unwrap_or(u64::MAX);
        self.cover(Extent::new(at, len), name);
        self.check_owner::<DataBlock>(block.header, array.at, at);
        let offset = array.offset(super_block, number as u64);
        // For blocks that the index block names, libhdf5 multiplies the block's number among all of them with
        // the size of this block.
        let counted = array.offset(super_block, array.blocks_before(super_block) + number as u64);
        if block.offset != offset && block.offset != counted {
            self.expect(name, at, "block offset", block.offset, offset);
        }
        array.met.data_blocks += 1;
        array.met.data_bytes = array.met.data_bytes.saturating_add(len);
        array.met.elements_allocated = array.met.elements_allocated.saturating_add(elements);
        let first = offset.saturating_add(header.parameters.index_elements.into());
        let pages = geometry.pages(elements);
        if pages == 0 {
            return self.extensible_elements(chunked, array, first, &block.elements);
        }
        let page_elements = geometry.page_elements();
        let context = (usize::try_from(page_elements).unwrap_or(usize::MAX), header.format);
        for page in (0..pages).filter(|&page| has_page(page)) {
            let Some(extent) = DataBlock::page_extent(at, page, &header, widths) else { break };
            match self.read::<Page>(extent.addr, &context) {
                Some(read) => {
                    self.extensible_elements(chunked, array, first + page * page_elements, &read.elements);
                }
                None => array.is_whole = false,
            }
        }
    }

    fn extensible_elements(
        &mut self,
        chunked: &mut Chunked,
        array: &mut ReadBlocks,
        first: u64,
        elements: &Elements,
    ) {
        let mut scaled = vec![0; chunked.chunk_shape.len()];
        for (element, number) in (0..elements.len()).filter_map(|place| elements.get(place)).zip(first..) {
            if self.is_over() {
                break;
            }
            if element.addr.is_defined() {
                array.met.elements_set = array.met.elements_set.max(number + 1);
                chunked.grid.coord_unlimited_first(number, &mut scaled);
                self.element(chunked, &scaled, element);
            }
        }
    }

    /// Checks a version 2 B-tree of chunks (spec VII.E).
    fn chunk_btree2(&mut self, chunked: &mut Chunked, at: Addr) {
        let kind = if chunked.is_filtered { 11 } else { 10 };
        let rank = chunked.chunk_shape.len();
        self.btree2(at, &[kind], &mut |check, record| {
            let Record::Chunk { chunk, scaled } = record else { return };
            if scaled.len() != rank {
                return check.expect(
                    name_of::<BTree2Header>(),
                    at,
                    "rank of a record",
                    scaled.len() as u64,
                    rank as u64,
                );
            }
            let (len, mask) = chunk.filtered.unwrap_or((chunked.chunk_bytes, 0));
            check.chunk(chunked, scaled, Extent::new(chunk.addr, len), mask);
        });
    }
}

/// An Extensible Array and the statistics of the parts that were read.
struct ReadBlocks {
    at: Addr,
    header: ExtensibleArrayHeader,
    geometry: Geometry,
    met: Statistics,
    /// Whether all blocks could be read.
    is_whole: bool,
}

impl ReadBlocks {
    /// Returns the number of data blocks that the index block names for earlier super blocks, or 0 if it
    /// names none for this super block.
    fn blocks_before(&self, super_block: u32) -> u64 {
        let is_direct = (super_block as usize) < self.geometry.direct_super_blocks();
        let before = if is_direct { 0..super_block } else { 0..0 };
        before.map(|super_block| self.geometry.data_blocks(super_block) as u64).sum()
    }

    /// Returns the number of the first element of a data block, not counting the elements in the index block.
    fn offset(&self, super_block: u32, data_block: u64) -> u64 {
        let before = 1_u64.checked_shl(super_block).unwrap_or(u64::MAX) - 1;
        let first = before.saturating_mul(self.header.parameters.min_elements.into());
        first.saturating_add(self.geometry.block_elements(super_block).saturating_mul(data_block))
    }
}

/// Checks the leaves of a version 1 B-tree of chunks.
impl<'c> Owner<'c> for Chunked {
    fn child(&mut self, check: &mut Check<'c>, leaf: &BTree1Node, index: usize, [key, _]: [&Key; 2]) {
        let (Key::Chunk(offset), Some(stored)) = (key, leaf.entries.chunk(index)) else { return };
        let Some(addr) = leaf.entries.child(index) else { return };
        let pairs = || offset.iter().zip(&self.chunk_shape);
        if pairs().any(|(at, len)| at % len != 0) {
            let message = format!("chunk offset {offset:?} is not a multiple of the chunk shape");
            return check.wrong(name_of::<BTree1Node>(), addr, message);
        }
        let scaled: Vec<u64> = pairs().map(|(at, len)| at / len).collect();
        let len = if self.is_filtered { u64::from(stored.size) } else { self.chunk_bytes };
        check.chunk(self, &scaled, Extent::new(addr, len), stored.mask);
    }
}

/// The name and the spec section of a chunk in findings.
pub(super) const RAW_CHUNK: Name = ("raw data chunk", "VII");
/// The number of chunks between two calls of the progress function.
const TICK: u64 = 1 << 16;
