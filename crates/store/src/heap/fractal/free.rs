//! The free space in the direct blocks of a fractal heap: its free-space manager (spec III.H).
//!
//! This module stores header and list in one extent, with room for the list to grow. To libhdf5 they are two
//! structures, and the room is space allocated for the second. libhdf5 fails ("size of entry changed") if the
//! first change of a list fills its room exactly, so there is no room, or more than one change fills.
//!
//! Only sections of direct blocks are kept. libhdf5 also lists blocks that it skipped or freed, which take no
//! bytes of the file. Dropping those costs offsets in the heap, of which there are more than enough.

use hyperslab_error::Result;
use hyperslab_format::free_space::header::{FreeSpaceClient, FreeSpaceHeader};
use hyperslab_format::free_space::sections::{FreeSection, FreeSectionKind, FreeSpaceSections};
use hyperslab_format::heap::fractal::geometry::HeapGeometry;
use hyperslab_format::{Addr, ErrorKind, Extent, FormatError, Reader, Structure, Widths, Writer};

use crate::{SpaceKind, Store, Txn};

/// The free bytes of the direct blocks of one heap.
#[derive(Debug, Clone, Default)]
pub(super) struct FreeSpace {
    /// The size and heap offset of each section, ascending by both; only the largest sections are kept.
    sections: Vec<(u64, u64)>,
    /// The number of different sizes.
    sizes: usize,
    /// The extents of the file in which the manager is stored.
    stored: Vec<Extent>,
}

/// The parameters of a heap's free space, from the heap's header.
#[derive(Debug, Clone, Copy)]
pub(super) struct FreeSpaceShape {
    /// The address of the manager.
    pub(super) at: Addr,
    /// The shape of the heap's blocks.
    pub(super) geometry: HeapGeometry,
}

impl FreeSpaceShape {
    fn header(&self, free: &FreeSpace, widths: Widths) -> FreeSpaceHeader {
        let count = free.sections.len() as u64;
        let header_len = FreeSpaceHeader::read_len(widths, &()) as u64;
        let list = self.at.checked_add(header_len);
        let mut header = FreeSpaceHeader {
            client: FreeSpaceClient::FractalHeap,
            total_space: free.sections.iter().fold(0, |total: u64, (size, _)| total.saturating_add(*size)),
            total_sections: count,
            serialized_sections: count,
            ghost_sections: 0,
            section_classes: 4,
            shrink_percent: 80,
            expand_percent: 120,
            address_bits: self.geometry.max_heap_bits,
            max_section_size: self.geometry.max_direct_size,
            list: list.unwrap_or(Addr::UNDEFINED),
            list_size: 0,
            list_allocated: 0,
        };
        let len = header.form(self.at).singles_len(free.sections.len(), free.sizes, widths);
        let room = free.stored.first().map_or(0, |extent| extent.len.saturating_sub(header_len));
        (header.list_size, header.list_allocated) = (len as u64, room.max(len as u64));
        header
    }
}

impl FreeSpace {
    /// Takes `size` bytes from the smallest section that has enough; returns their offset in the heap.
    pub(super) fn take(&mut self, size: u64) -> Option<u64> {
        let place = self.sections.partition_point(|section| section.0 < size);
        let &(available, offset) = self.sections.get(place)?;
        self.remove(place);
        if available > size {
            self.insert(available - size, offset.saturating_add(size));
        }
        Some(offset)
    }

    /// Adds bytes of one direct block, and merges them with adjacent sections. `None` if some of the bytes
    /// are free already.
    pub(super) fn give(&mut self, mut size: u64, mut offset: u64) -> Option<()> {
        let end = offset.checked_add(size)?;
        let (mut before, mut after) = (None, None);
        for (place, &(other_size, other)) in self.sections.iter().enumerate() {
            let other_end = other.saturating_add(other_size);
            if other < end && offset < other_end {
                return None;
            } else if other_end == offset {
                before = Some(place);
            } else if other == end {
                after = Some(place);
            }
        }
        let mut places = [before, after];
        // The later one first, so that the index of the other stays valid.
        places.sort_unstable_by(|a, b| b.cmp(a));
        for place in places.into_iter().flatten() {
            let other = self.remove(place);
            (size, offset) = (size.saturating_add(other.0), offset.min(other.1));
        }
        self.insert(size, offset);
        while self.sections.len() > MAX_SECTIONS {
            self.remove(0);
        }
        Some(())
    }

    fn insert(&mut self, size: u64, offset: u64) {
        let place = self.sections.partition_point(|&section| section < (size, offset));
        self.sizes += usize::from(!self.has_size_at(place, size));
        self.sections.insert(place, (size, offset));
    }

    fn remove(&mut self, place: usize) -> (u64, u64) {
        let (size, offset) = self.sections.remove(place);
        self.sizes -= usize::from(!self.has_size_at(place, size));
        (size, offset)
    }

    /// Returns whether a section next to index `place` has this size.
    fn has_size_at(&self, place: usize, size: u64) -> bool {
        let is = |place: usize| self.sections.get(place).is_some_and(|section| section.0 == size);
        is(place) || place.checked_sub(1).is_some_and(is)
    }

    /// Returns whether header and list are in one extent.
    fn is_whole(&self, widths: Widths) -> bool {
        let header_len = FreeSpaceHeader::read_len(widths, &()) as u64;
        matches!(self.stored[..], [extent] if extent.len > header_len)
    }

    /// Returns the least room that no single change of a list fills: more than the bytes of a new section of
    /// any kind, and of its size.
    fn least_room(&self, shape: &FreeSpaceShape, widths: Widths) -> u64 {
        let form = shape.header(self, widths).form(shape.at);
        let len = |more: usize| form.singles_len(self.sections.len() + more, self.sizes + more, widths);
        OTHER_SECTION + (len(1) - len(0)) as u64
    }

    fn stored_len(&self, shape: &FreeSpaceShape, widths: Widths) -> u64 {
        FreeSpaceHeader::read_len(widths, &()) as u64 + shape.header(self, widths).list_size
    }

    /// Cuts the extent to the list if there is little room after it, and returns what was cut off. `None` if
    /// the list does not fit.
    fn leave_room(&mut self, shape: &FreeSpaceShape, widths: Widths) -> Option<Extent> {
        let (needed, least) = (self.stored_len(shape, widths), self.least_room(shape, widths));
        let is_some = !self.sections.is_empty();
        let stored = self.stored.first_mut().filter(|stored| is_some && needed <= stored.len)?;
        let len = if stored.len - needed < least { needed } else { stored.len };
        let unused = Extent::new(stored.addr.checked_add(len)?, stored.len - len);
        stored.len = len;
        Some(unused)
    }

    /// Reads the manager at `shape.at`, whichever library wrote it.
    fn read(store: &Store, shape: &FreeSpaceShape) -> Result<(Self, u64)> {
        let widths = store.widths();
        let header: FreeSpaceHeader = store.read(shape.at, &())?;
        let header_len = FreeSpaceHeader::read_len(widths, &()) as u64;
        let mut free = Self { stored: vec![Extent::new(shape.at, header_len)], ..Self::default() };
        let mut bytes = header_len;
        if let Some(at) = header.list.defined() {
            let list: FreeSpaceSections = store.read(at, &header.form(shape.at))?;
            let stored = Extent::new(at, header.list_allocated);
            store.check(stored, (FreeSpaceSections::NAME, FreeSpaceSections::SPEC))?;
            free.keep(&list, shape, widths).map_err(|kind| {
                let (structure, spec) = (FreeSpaceSections::NAME, FreeSpaceSections::SPEC);
                FormatError { kind, structure, spec, at, offset: 0 }
            })?;
            bytes += header.list_size;
            match free.stored.first_mut() {
                Some(first) if first.end() == Some(at) => first.len = first.len.saturating_add(stored.len),
                _ => free.stored.push(stored),
            }
        }
        Ok((free, bytes))
    }

    /// Takes over the sections of direct blocks from a list. Each of them is inside one block.
    fn keep(
        &mut self,
        list: &FreeSpaceSections,
        shape: &FreeSpaceShape,
        widths: Widths,
    ) -> std::result::Result<(), ErrorKind> {
        let singles = list.sections.iter().filter(|section| section.kind == FreeSectionKind::Single);
        let is_outside =
            |section: &&FreeSection| !shape.geometry.is_in_one_block(section.offset, section.size, widths);
        if let Some(FreeSection { offset, .. }) = singles.clone().find(is_outside) {
            let (field, expected) = ("section offset", "an offset of free bytes inside one direct block");
            return Err(ErrorKind::Value { field, value: *offset, expected });
        }
        self.sections = singles.map(|section| (section.size, section.offset)).collect();
        self.sections.sort_unstable();
        self.sizes = self.sections.chunk_by(|a, b| a.0 == b.0).count();
        Ok(())
    }
}

/// Changes the free space of a heap by `f`; returns the new address of its manager, undefined if nothing is
/// free.
pub(super) fn edit<R>(
    txn: &mut Txn<'_>,
    shape: &FreeSpaceShape,
    f: impl FnOnce(&mut FreeSpace) -> R,
) -> Result<(R, Addr)> {
    let store = txn.store();
    let widths = store.widths();
    if shape.at.is_undefined() {
        let mut free = FreeSpace::default();
        let result = f(&mut free);
        return Ok((result, put(txn, shape, free)?));
    }
    let known = store.get_or_make::<FreeSpace>(shape.at, || FreeSpace::read(store, shape))?;
    if !known.is_whole(widths) {
        // As libhdf5 left it.
        let mut free = FreeSpace::clone(&known);
        let result = f(&mut free);
        return Ok((result, put(txn, shape, free)?));
    }
    drop(known);
    let (result, left) = txn.edit::<FreeSpace, _>(shape.at, shape, |free| {
        let result = f(free);
        (result, free.leave_room(shape, widths))
    })?;
    if let Some(unused) = left {
        if unused.len > 0 {
            txn.free(unused);
        }
        return Ok((result, shape.at));
    }
    let mut free = FreeSpace::clone(&*store.get::<FreeSpace>(shape.at, shape)?);
    let missing = |extent: &Extent| free.stored_len(shape, widths).checked_sub(extent.len);
    if let [extent] = free.stored[..]
        && let Some(longer) = missing(&extent).and_then(|missing| txn.extend(extent, missing))
    {
        free.stored = vec![longer];
        txn.put(shape.at, free, *shape);
        return Ok((result, shape.at));
    }
    Ok((result, put(txn, shape, free)?))
}

/// Frees the manager's own space.
pub(super) fn delete(txn: &mut Txn<'_>, shape: &FreeSpaceShape) -> Result<()> {
    let store = txn.store();
    if shape.at.is_defined() {
        let known = store.get_or_make::<FreeSpace>(shape.at, || FreeSpace::read(store, shape))?;
        for &extent in &known.stored {
            txn.free(extent);
        }
    }
    Ok(())
}

/// Stores `free` in an extent that has room for it, and frees the previous extents.
fn put(txn: &mut Txn<'_>, shape: &FreeSpaceShape, mut free: FreeSpace) -> Result<Addr> {
    for extent in std::mem::take(&mut free.stored) {
        txn.free(extent);
    }
    if free.sections.is_empty() {
        return Ok(Addr::UNDEFINED);
    }
    let needed = free.stored_len(shape, txn.store().widths());
    // A heap of one block mostly has one section. A list that grows does so often, and each move would leave
    // a hole.
    let room = (needed / 8).max(free.least_room(shape, txn.store().widths()));
    let len = if free.sections.len() > 1 { (needed + room).max(ROOM) } else { needed };
    let extent = txn.allocate(SpaceKind::Metadata, len)?;
    free.stored = vec![extent];
    txn.put(extent.addr, free, FreeSpaceShape { at: extent.addr, ..*shape });
    Ok(extent.addr)
}

impl Structure for FreeSpace {
    const NAME: &'static str = FreeSpaceHeader::NAME;
    const SPEC: &'static str = FreeSpaceHeader::SPEC;
    type Context = FreeSpaceShape;

    fn read_len(widths: Widths, _: &FreeSpaceShape) -> usize {
        FreeSpaceHeader::read_len(widths, &())
    }

    /// Decodes a manager whose list follows its header, as [`encode`](Self::encode) writes it.
    fn decode(r: &mut Reader<'_>, shape: &FreeSpaceShape) -> hyperslab_format::Result<Self> {
        let header: FreeSpaceHeader = r.structure(&())?;
        let list = r.structure::<FreeSpaceSections>(&header.form(shape.at))?;
        let len = (FreeSpaceHeader::read_len(r.widths(), &()) as u64).saturating_add(header.list_allocated);
        let mut free = Self { stored: vec![Extent::new(shape.at, len)], ..Self::default() };
        free.keep(&list, shape, r.widths()).map_err(|kind| r.error(kind))?;
        Ok(free)
    }

    fn encode(&self, w: &mut Writer<'_>, shape: &FreeSpaceShape) {
        let header = shape.header(self, w.widths());
        w.structure(&header, &());
        let single =
            |&(size, offset): &(u64, u64)| FreeSection { size, offset, kind: FreeSectionKind::Single };
        let list = FreeSpaceSections { sections: self.sections.iter().map(single).collect() };
        w.structure(&list, &header.form(shape.at));
    }

    fn encoded_len(&self, widths: Widths, shape: &FreeSpaceShape) -> usize {
        usize::try_from(self.stored_len(shape, widths)).unwrap_or(usize::MAX)
    }
}

/// The largest number of sections. Beyond it the smallest are dropped, so that a change costs the same in
/// every heap.
const MAX_SECTIONS: usize = 4096;

/// The smallest allocation, in bytes, for a manager of more than one section.
const ROOM: u64 = 256;

/// The bytes by which sections of other kinds, which libhdf5 adds, are longer than those of direct blocks:
/// at most an offset in the heap and three numbers of 2 bytes (spec III.H), and some to spare.
const OTHER_SECTION: u64 = 32;
