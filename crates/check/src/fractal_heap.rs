//! Checks fractal heaps (spec III.G): every block, huge objects, overlaps of objects, and the statistics in
//! the header.

use hyperslab_error::{Error, Result};
use hyperslab_format::btree2::record::Record;
use hyperslab_format::free_space::header::FreeSpaceClient;
use hyperslab_format::heap::fractal::block::{
    DirectBlock, DirectBlockContext, IndirectBlock, IndirectBlockContext,
};
use hyperslab_format::heap::fractal::geometry::HeapChild;
use hyperslab_format::heap::fractal::header::FractalHeapHeader;
use hyperslab_format::heap::fractal::id::{HeapId, HeapIdForm};
use hyperslab_format::message::filters::FilterPipeline;
use hyperslab_format::{Addr, Extent, FormatError, Reader, Structure, Widths};
use hyperslab_store::heap::{self, FractalHeap};

use super::{Check, Name, Severity, name_of};

/// The types of the trees of huge objects, by number and by address, each without and with filters.
const HUGE: [u8; 4] = [1, 2, 3, 4];
/// The name and the spec section of a huge object in findings.
const HUGE_OBJECT: Name = ("fractal heap huge object", "III.G");

/// A heap whose blocks were checked, and the totals of its objects.
pub(super) struct Heap {
    at: Addr,
    header: FractalHeapHeader,
    form: HeapIdForm,
    /// Whether all blocks could be read.
    is_whole: bool,
    /// The total size of the existing direct blocks, in bytes.
    allocated: u64,
    huge_objects: u64,
    /// The offset and the length of each managed object that was met.
    managed: Vec<(u64, u64)>,
    /// The offset and the length of each free section of a direct block.
    free: Vec<(u64, u64)>,
    tiny: (u64, u64),
    huge: u64,
}

impl Heap {
    /// Returns the bytes available to objects in the direct blocks under the root, including blocks that do
    /// not exist yet.
    fn room(&self, widths: Widths) -> u64 {
        let geometry = self.header.geometry(self.at);
        let overhead = geometry.direct_overhead(widths) as u64;
        let rows = match (self.header.root.is_defined(), self.header.root_rows) {
            (false, _) => return 0,
            (true, 0) => return self.header.starting_size.saturating_sub(overhead),
            (true, rows) => rows,
        };
        // The room in an indirect block with 0, 1, 2, ... rows.
        let mut rooms = vec![0_u64];
        for row in 0..usize::from(rows) {
            let block = match geometry.entry(row * usize::from(geometry.width)).0 {
                HeapChild::Direct { size } => size.saturating_sub(overhead),
                HeapChild::Indirect { rows } => rooms.get(usize::from(rows)).copied().unwrap_or(0),
            };
            let before = rooms.last().copied().unwrap_or(0);
            rooms.push(before.saturating_add(block.saturating_mul(geometry.width.into())));
        }
        rooms.last().copied().unwrap_or(0)
    }
}

impl Check<'_> {
    /// Checks the heap whose header is at `at`.
    pub(super) fn fractal_heap(&mut self, at: Addr) -> Option<Heap> {
        let header = self.block::<FractalHeapHeader>(at, &())?;
        let mut heap = Heap {
            at,
            form: header.id_form(),
            is_whole: true,
            allocated: 0,
            huge_objects: 0,
            managed: Vec::new(),
            free: Vec::new(),
            tiny: (0, 0),
            huge: 0,
            header,
        };
        if let Some(root) = heap.header.root.defined() {
            let filtered =
                heap.header.filtering.as_ref().map(|filtering| (filtering.root_size, filtering.root_mask));
            match (heap.header.root_rows, heap.header.starting_size) {
                (0, size) => self.direct_block(&mut heap, root, size, filtered, 0),
                (rows, _) => self.indirect_block(&mut heap, root, rows, 0),
            }
        }
        if let Some(manager) = heap.header.free_space_manager.defined() {
            heap.free = self.free_space(manager, FreeSpaceClient::FractalHeap);
        }
        if let Some(tree) = heap.header.huge_btree.defined() {
            self.huge_objects(&mut heap, tree);
        }
        Some(heap)
    }

    /// The recursion is limited, because each level has fewer rows than the level above.
    fn indirect_block(&mut self, heap: &mut Heap, at: Addr, rows: u16, offset: u64) {
        let name = name_of::<IndirectBlock>();
        let geometry = heap.header.geometry(heap.at);
        let Some(block) = self.block::<IndirectBlock>(at, &IndirectBlockContext { geometry, rows }) else {
            heap.is_whole = false;
            return;
        };
        self.expect(name, at, "block offset", block.offset, offset);
        for (index, entry) in block.entries.iter().enumerate() {
            let Some(child) = entry.addr.defined() else { continue };
            let (kind, within) = geometry.entry(index);
            let offset = offset.saturating_add(within);
            match kind {
                HeapChild::Direct { size } => self.direct_block(heap, child, size, entry.filtered, offset),
                HeapChild::Indirect { rows: below } if below < rows => {
                    self.indirect_block(heap, child, below, offset);
                }
                HeapChild::Indirect { .. } => {
                    self.wrong(
                        name,
                        at,
                        format_args!("the block of entry {index} does not have fewer rows than this block"),
                    );
                    heap.is_whole = false;
                }
            }
        }
    }

    fn direct_block(
        &mut self,
        heap: &mut Heap,
        at: Addr,
        size: u64,
        filtered: Option<(u64, u32)>,
        offset: u64,
    ) {
        let name = name_of::<DirectBlock>();
        let geometry = heap.header.geometry(heap.at);
        let context = DirectBlockContext { geometry, size };
        let block = if let (Some(filtering), Some(stored)) = (&heap.header.filtering, filtered) {
            self.filtered_block(&filtering.pipeline, at, stored, &context)
        } else {
            // Checked before the block is read, because a damaged header may claim any size.
            let checked = self.store.check(Extent::new(at, size), name);
            self.noted(checked, at).and_then(|_| self.block::<DirectBlock>(at, &context))
        };
        let Some(block) = block else {
            heap.is_whole = false;
            return;
        };
        self.expect(name, at, "block offset", block.offset, offset);
        heap.allocated = heap.allocated.saturating_add(size);
    }

    /// Reads a direct block that is stored through filters. `stored` is its stored size, `mask` the filters
    /// that were skipped.
    fn filtered_block(
        &mut self,
        pipeline: &FilterPipeline,
        at: Addr,
        (stored, mask): (u64, u32),
        context: &DirectBlockContext,
    ) -> Option<DirectBlock> {
        let (name, extent) = (name_of::<DirectBlock>(), Extent::new(at, stored));
        if !self.claim(name, at) {
            return None;
        }
        self.report.totals.structures += 1;
        let bytes = heap::read_filtered(self.store, extent, name, pipeline, mask, context.size);
        let bytes = self.noted(bytes, at)?;
        self.cover(extent, name);
        let decoded = Reader::new(&bytes, self.store.widths(), at).structure::<DirectBlock>(context);
        self.noted(decoded.map_err(Error::from), at)
    }

    fn huge_objects(&mut self, heap: &mut Heap, tree: Addr) {
        let mut count = 0;
        self.btree2(tree, &HUGE, &mut |check, record| {
            let Record::Huge { addr, length, .. } = record else { return };
            if check.claim(HUGE_OBJECT, *addr) {
                check.cover(Extent::new(*addr, *length), HUGE_OBJECT);
            }
            count += 1;
        });
        heap.huge_objects = count;
    }

    /// Reads the object `id`, and counts it as an object of the heap.
    pub(super) fn heap_object<T: Structure<Context = ()>>(
        &mut self,
        heap: &mut Heap,
        id: &[u8],
    ) -> Option<T> {
        self.heap_read(heap, id, |opened| opened.decode::<T>(id))
    }

    /// Reads the bytes of the object `id`, and counts it as an object of the heap.
    pub(super) fn heap_bytes(&mut self, heap: &mut Heap, id: &[u8]) -> Option<Vec<u8>> {
        self.heap_read(heap, id, |opened| opened.object(id))
    }

    fn heap_read<R>(
        &mut self,
        heap: &mut Heap,
        id: &[u8],
        read: impl FnOnce(&FractalHeap<'_>) -> Result<R>,
    ) -> Option<R> {
        if self.is_over() {
            return None;
        }
        let form = heap.form;
        let decoded = Reader::new(id, self.store.widths(), heap.at).structure::<HeapId>(&form);
        match self.noted(decoded.map_err(Error::from), heap.at)? {
            HeapId::Managed { offset, length } => heap.managed.push((offset, length)),
            HeapId::Tiny { data } => heap.tiny = (heap.tiny.0 + 1, heap.tiny.1 + data.len() as u64),
            HeapId::HugeDirect { .. } | HeapId::HugeIndirect { .. } => heap.huge += 1,
        }
        let object = FractalHeap::open(self.store, heap.at).and_then(|heap| read(&heap));
        // Faults of a block were reported when the blocks were checked. They are not repeated for each of its
        // objects.
        let is_of_block =
            |error: &FormatError| [DirectBlock::NAME, IndirectBlock::NAME].contains(&error.structure);
        match object {
            Err(Error::Format(error)) if !heap.is_whole && is_of_block(&error) => None,
            object => self.noted(object, heap.at),
        }
    }

    /// Compares the statistics in the header with the objects, all of which have been read.
    pub(super) fn heap_statistics(&mut self, heap: &Heap) {
        let name = name_of::<FractalHeapHeader>();
        let (at, stated) = (heap.at, heap.header.statistics);
        let managed = heap.managed.len() as u64;
        for (what, stated, found) in [
            ("number of managed objects in heap", stated.managed_objects, managed),
            ("number of tiny objects in heap", stated.tiny_objects, heap.tiny.0),
            ("size of tiny objects in heap", stated.tiny_size, heap.tiny.1),
            ("number of huge objects in heap", stated.huge_objects, heap.huge),
            ("number of huge objects in their B-tree", stated.huge_objects, heap.huge_objects),
        ] {
            self.expect(name, at, what, stated, found);
        }
        if !heap.is_whole {
            return;
        }
        // libhdf5 2.0 subtracts a block that it removes twice from the one, and adds it to the other.
        let (allocated, found) = (stated.allocated_space, heap.allocated);
        let severity = if allocated < found { Severity::Warning } else { Severity::Error };
        self.compare(severity, name, at, "amount of allocated managed space", allocated, found);
        let geometry = heap.header.geometry(at);
        let is_outside =
            |&&(offset, len): &&(u64, u64)| !geometry.is_in_one_block(offset, len, self.store.widths());
        let outside = heap.free.iter().filter(is_outside).count();
        if outside > 0 {
            self.wrong(name, at, format_args!("{outside} free sections are not inside one direct block"));
        }
        let mut objects = [&heap.managed[..], &heap.free].concat();
        objects.sort_unstable();
        let overlaps =
            objects.windows(2).filter(|pair| pair[0].0.saturating_add(pair[0].1) > pair[1].0).count();
        if overlaps > 0 {
            self.wrong(name, at, format_args!("{overlaps} objects or free sections overlap others"));
        }
        let used = heap.managed.iter().fold(0_u64, |sum, (_, length)| sum.saturating_add(*length));
        let free = heap.room(self.store.widths()).saturating_sub(used);
        let severity = if heap.header.free_space > free { Severity::Warning } else { Severity::Error };
        self.compare(
            severity,
            name,
            at,
            "amount of free space in managed blocks",
            heap.header.free_space,
            free,
        );
    }
}
