//! Changes to fractal heaps: creates heaps, inserts and removes objects (spec III.G).

use std::sync::Arc;

use hyperslab_error::{Error, Result};
use hyperslab_format::heap::fractal::geometry::HeapGeometry;
use hyperslab_format::heap::fractal::header::{FractalHeapHeader, HeapStatistics};
use hyperslab_format::heap::fractal::id::{HeapId, HeapIdForm};
use hyperslab_format::{Addr, ErrorKind, Extent, Reader, Structure, Width, Widths, Writer};

use super::free::{self, FreeSpace, FreeSpaceShape};
use super::{FractalHeap, HeapPlace};
use crate::Txn;

/// The parameters of heaps for one use. These are libhdf5's choices, and readers rely on the length of ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeapParameters {
    /// The length of an id in bytes.
    pub id_len: u16,
    /// The size of the first direct block in bytes; a power of two.
    pub starting_size: u64,
    /// The number of bits in the largest offset in the heap.
    pub max_heap_bits: u16,
}

impl HeapParameters {
    /// For the links of a group.
    pub const LINKS: Self = Self { id_len: 7, starting_size: 512, max_heap_bits: 32 };
    /// For the attributes of an object.
    pub const ATTRIBUTES: Self = Self { id_len: 8, starting_size: 1024, max_heap_bits: 40 };
}

/// Creates an empty heap; returns the address of its header.
pub fn create(txn: &mut Txn<'_>, parameters: &HeapParameters) -> Result<Addr> {
    // A length of two bytes cannot express the size that libhdf5 uses.
    let max_direct_size = match txn.store().widths().length {
        Width::Two => 32 << 10,
        Width::Four | Width::Eight | Width::Sixteen => 64 << 10,
    };
    let header = FractalHeapHeader {
        id_len: parameters.id_len,
        huge_ids_wrapped: false,
        checksummed: true,
        max_managed_size: 4096,
        next_huge_id: 0,
        huge_btree: Addr::UNDEFINED,
        free_space: 0,
        free_space_manager: Addr::UNDEFINED,
        statistics: HeapStatistics::default(),
        table_width: 4,
        starting_size: parameters.starting_size,
        max_direct_size,
        max_heap_bits: parameters.max_heap_bits,
        starting_rows: 1,
        root: Addr::UNDEFINED,
        root_rows: 0,
        filtering: None,
    };
    txn.put_new(header, ())
}

/// Inserts an object into the heap at `at`; returns its id. After an error, the step must be dropped.
///
/// Free space in the heap's blocks is used first. The heap's list of free space is kept up to date, so that
/// every library finds that space.
pub fn insert(txn: &mut Txn<'_>, at: Addr, object: &[u8]) -> Result<Vec<u8>> {
    let mut edit = FractalHeapEdit::open(txn, at)?;
    let len = object.len() as u64;
    let id = if object.is_empty() {
        return Err(edit.broken(ErrorKind::Missing { what: "the bytes of an object" }));
    } else if object.len() <= edit.heap.id_form.max_tiny() {
        let statistics = &mut edit.header_mut().statistics;
        statistics.tiny_size = statistics.tiny_size.saturating_add(len);
        statistics.tiny_objects = statistics.tiny_objects.saturating_add(1);
        HeapId::Tiny { data: object.to_vec() }
    } else if len <= edit.header().max_managed_size.into() {
        HeapId::Managed { offset: edit.insert_managed(object)?, length: len }
    } else {
        edit.insert_huge(object)?
    };
    let mut bytes = Vec::new();
    Writer::new(&mut bytes, edit.txn.store().widths()).structure(&id, &edit.heap.id_form);
    edit.finish();
    Ok(bytes)
}

/// Removes the object called `id` from the heap at `at`. After an error, the step must be dropped.
pub fn remove(txn: &mut Txn<'_>, at: Addr, id: &[u8]) -> Result<()> {
    let mut edit = FractalHeapEdit::open(txn, at)?;
    let mut id = Reader::new(id, edit.txn.store().widths(), at);
    match id.structure::<HeapId>(edit.id_form())? {
        HeapId::Managed { offset, length } => edit.remove_managed(offset, length)?,
        HeapId::Tiny { data } => {
            let statistics = &mut edit.header_mut().statistics;
            statistics.tiny_size = statistics.tiny_size.saturating_sub(data.len() as u64);
            statistics.tiny_objects = statistics.tiny_objects.saturating_sub(1);
        }
        huge => edit.remove_huge(&huge)?,
    }
    edit.finish();
    Ok(())
}

/// Frees all space of the heap at `at`.
pub fn delete(txn: &mut Txn<'_>, at: Addr) -> Result<()> {
    let mut edit = FractalHeapEdit::open(txn, at)?;
    edit.clear_huge()?;
    edit.clear()?;
    let len = edit.header().encoded_len(edit.txn.store().widths(), &()) as u64;
    txn.free(Extent::new(at, len));
    Ok(())
}

/// A heap within a step that changes it. [`finish`](Self::finish) writes the header.
pub(super) struct FractalHeapEdit<'t, 's> {
    txn: &'t mut Txn<'s>,
    pub(super) heap: FractalHeap<'s>,
}

impl<'t, 's> FractalHeapEdit<'t, 's> {
    fn open(txn: &'t mut Txn<'s>, at: Addr) -> Result<Self> {
        let heap = FractalHeap::open(txn.store(), at)?;
        Ok(Self { txn, heap })
    }

    fn finish(self) {
        self.txn.put(self.heap.at, Arc::unwrap_or_clone(self.heap.header), ());
    }

    fn insert_managed(&mut self, object: &[u8]) -> Result<u64> {
        let len = object.len() as u64;
        // If nothing is free, nothing is taken and nothing need be written.
        let found = if self.header().free_space_manager.is_defined() {
            self.edit_free_space(|free| free.take(len))?
        } else {
            None
        };
        let offset = if let Some(offset) = found {
            offset
        } else {
            let block = self.new_block(len)?;
            if block.len > len {
                self.give(block.len - len, block.offset.saturating_add(len))?;
            }
            block.offset
        };
        let place = self.heap.place(offset)?;
        let is_done = self.edit_block(&place, |block| {
            block.object_mut(place.within, len).map(|place| place.copy_from_slice(object)).is_some()
        })?;
        if !is_done {
            return Err(self.misplaced(offset));
        }
        let header = self.header_mut();
        header.statistics.managed_objects = header.statistics.managed_objects.saturating_add(1);
        header.free_space = header.free_space.saturating_sub(len);
        Ok(offset)
    }

    fn remove_managed(&mut self, offset: u64, len: u64) -> Result<()> {
        let HeapPlace { size, within, .. } = self.heap.place(offset)?;
        let is_in_data = within >= self.overhead() && within.checked_add(len).is_some_and(|end| end <= size);
        if !is_in_data || len == 0 {
            return Err(self.misplaced(offset));
        }
        // First, because it fails for an object that does not exist.
        self.give(len, offset)?;
        let header = self.header_mut();
        header.statistics.managed_objects = header.statistics.managed_objects.saturating_sub(1);
        header.free_space = header.free_space.saturating_add(len);
        if header.statistics.managed_objects == 0 { self.clear() } else { Ok(()) }
    }

    /// Marks `len` bytes at `offset` as free.
    fn give(&mut self, len: u64, offset: u64) -> Result<()> {
        match self.edit_free_space(|free| free.give(len, offset))? {
            Some(()) => Ok(()),
            None => Err(self.misplaced(offset)),
        }
    }

    fn edit_free_space<R>(&mut self, f: impl FnOnce(&mut FreeSpace) -> R) -> Result<R> {
        let (result, at) = free::edit(self.txn, &self.free_space(), f)?;
        self.header_mut().free_space_manager = at;
        Ok(result)
    }

    pub(super) fn delete_free_space(&mut self) -> Result<()> {
        free::delete(self.txn, &self.free_space())?;
        self.header_mut().free_space_manager = Addr::UNDEFINED;
        Ok(())
    }

    fn free_space(&self) -> FreeSpaceShape {
        FreeSpaceShape { at: self.header().free_space_manager, geometry: *self.geometry() }
    }

    pub(super) fn txn(&mut self) -> &mut Txn<'s> {
        self.txn
    }

    pub(super) fn header(&self) -> &FractalHeapHeader {
        &self.heap.header
    }

    pub(super) fn header_mut(&mut self) -> &mut FractalHeapHeader {
        Arc::make_mut(&mut self.heap.header)
    }

    pub(super) fn id_form(&self) -> &HeapIdForm {
        &self.heap.id_form
    }

    pub(super) fn geometry(&self) -> &HeapGeometry {
        &self.heap.geometry
    }

    pub(super) fn broken(&self, kind: ErrorKind) -> Error {
        self.heap.broken(kind)
    }

    pub(super) fn check_rows(&self, rows: u16, above: u16) -> Result<()> {
        self.heap.check_rows(rows, above)
    }

    pub(super) fn widths(&self) -> Widths {
        self.txn.store().widths()
    }

    fn misplaced(&self, offset: u64) -> Error {
        self.heap.misplaced(offset)
    }
}
