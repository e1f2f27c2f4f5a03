//! Writes the data of many elements of variable length: whole collections of the global heap are encoded and
//! written by several threads, as chunks are (spec III.E).

use std::ops::Range;

use hyperslab_format::heap::global::{GlobalHeapCollection, GlobalHeapId, VariableElement};
use hyperslab_format::{Extent, Structure, Writer};
use parking_lot::Mutex;
use smallvec::SmallVec;

use crate::engine::each_number;
use crate::error::{Error, RequestError, Result};
use crate::heap::{Filling, GlobalHeapEdit, fillings};
use crate::object::File;
use crate::object::element::zeroed;
use crate::store::SpaceKind;

/// The data of elements of variable length.
pub trait VlenData: Sync {
    /// Returns the number of elements.
    fn count(&self) -> usize;

    /// Returns the data of element `index`, which is below the number of elements.
    fn data(&self, index: usize) -> &[u8];

    /// Returns the length of the data of each element in bytes.
    fn lens(&self) -> impl Iterator<Item = usize> {
        (0..self.count()).map(|index| self.data(index).len())
    }
}

impl<T: AsRef<[u8]> + Sync> VlenData for [T] {
    fn count(&self) -> usize {
        self.len()
    }

    fn data(&self, index: usize) -> &[u8] {
        self[index].as_ref()
    }
}

/// A kind of elements of variable length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VlenKind {
    /// Strings. An empty string is an object of the heap, too, as in libhdf5: without an object, readers in C
    /// find a null pointer in place of a string.
    Text,
    /// Sequences of elements of this size in bytes. An empty sequence needs no storage.
    Sequence(usize),
}

impl VlenKind {
    /// Returns the number of elements in `len` bytes.
    fn elements(self, len: usize) -> Option<u32> {
        let size = if let Self::Sequence(size) = self { size } else { 1 };
        let is_whole = size > 0 && len.is_multiple_of(size);
        is_whole.then(|| u32::try_from(len / size).ok()).flatten()
    }

    fn needs_storage(self, len: usize) -> bool {
        self == Self::Text || len > 0
    }
}

impl File {
    /// Writes data of elements to the file, and returns the elements as a dataset stores them. If the caller
    /// then fails to store them, the data stay in the file without an owner.
    #[doc(hidden)]
    pub fn put_elements(&self, data: &(impl VlenData + ?Sized), kind: VlenKind) -> Result<Vec<u8>> {
        let (widths, count) = (self.store().widths(), data.count());
        if let Some(len) = data.lens().find(|&len| kind.elements(len).is_none()) {
            let why = "it is no whole number of elements, or more than 2^32 of them";
            return Err(RequestError::Argument { what: format!("sequence of {len} bytes"), why }.into());
        }
        let element_len = VariableElement::read_len(widths, &());
        let mut stored = zeroed::<u8>((count as u64).saturating_mul(element_len as u64))?;
        let stored_len = |len| Some(len).filter(|&len| kind.needs_storage(len));
        let fillings = fillings(data.lens().map(stored_len), widths);
        let whole = fillings.last().map_or(0, |last| last.objects.end);
        let extents =
            self.store().allocate_all(SpaceKind::GlobalHeap, fillings.iter().map(|new| new.size))?;
        let written = self
            .write_collections(data, kind, &fillings, &extents, &mut stored)
            .and_then(|()| self.put_rest(data, kind, whole..count, &extents, &mut stored));
        if let Err(error) = written {
            extents.iter().for_each(|extent| self.store().release(*extent));
            return Err(error);
        }
        Ok(stored)
    }

    /// Encodes collections and writes them to `extents`, which nothing in the file refers to yet. Puts the
    /// ids into `stored`.
    fn write_collections(
        &self,
        data: &(impl VlenData + ?Sized),
        kind: VlenKind,
        fillings: &[Filling],
        extents: &[Extent],
        stored: &mut [u8],
    ) -> Result<()> {
        let (store, widths) = (self.store(), self.store().widths());
        let element_len = VariableElement::read_len(widths, &());
        let mut rest = stored;
        let mut tasks = Vec::with_capacity(fillings.len());
        for (filling, extent) in fillings.iter().zip(extents) {
            let (mine, after) = std::mem::take(&mut rest).split_at_mut(filling.objects.len() * element_len);
            tasks.push((filling, extent, Mutex::new(mine)));
            rest = after;
        }
        let idle: Mutex<Vec<Vec<u8>>> = Mutex::default();
        each_number(tasks.len() as u64, &|number| {
            let (filling, extent, mine) = &tasks[usize::try_from(number).unwrap_or(usize::MAX)];
            let mut bytes = idle.lock().pop().unwrap_or_default();
            bytes.clear();
            let (mut mine, mut index) = (mine.lock(), 0);
            let outs = mine.chunks_exact_mut(element_len);
            let objects = filling.objects.clone().zip(outs).filter_map(|(element, out)| {
                let object = data.data(element);
                if !kind.needs_storage(object.len()) {
                    return None;
                }
                index += 1;
                let count = kind.elements(object.len()).unwrap_or(0);
                let id = GlobalHeapId { collection: extent.addr, index };
                VariableElement { count, id }.put(out, widths);
                Some(object)
            });
            GlobalHeapCollection::encode_new(&mut Writer::new(&mut bytes, widths), filling.size, objects);
            store.forget_structure::<GlobalHeapCollection>(extent.addr);
            store.write_data(extent.addr, &bytes)?;
            idle.lock().push(bytes);
            Ok::<_, Error>(())
        })
    }

    /// Writes the data of the elements in `range` to collections that have room. The same step names the
    /// collections at `extents`.
    fn put_rest(
        &self,
        data: &(impl VlenData + ?Sized),
        kind: VlenKind,
        range: Range<usize>,
        extents: &[Extent],
        stored: &mut [u8],
    ) -> Result<()> {
        if range.is_empty() && extents.is_empty() {
            return Ok(());
        }
        let widths = self.store().widths();
        let element_len = VariableElement::read_len(widths, &());
        let is_stored = |index: &usize| kind.needs_storage(data.data(*index).len());
        let objects: SmallVec<[&[u8]; 1]> =
            range.clone().filter(is_stored).map(|index| data.data(index)).collect();
        let mut ids = Vec::new();
        self.change_heap(|heap| {
            extents.iter().for_each(|extent| heap.name(*extent));
            ids = heap.put(&objects)?;
            Ok(())
        })?;
        let mut ids = ids.into_iter();
        for index in range.filter(is_stored) {
            let count = kind.elements(data.data(index).len()).unwrap_or(0);
            let id = ids.next().unwrap_or(GlobalHeapId::NULL);
            let at = index * element_len;
            VariableElement { count, id }.put(&mut stored[at..at + element_len], widths);
        }
        Ok(())
    }

    pub(super) fn change_heap(
        &self,
        f: impl FnOnce(&mut GlobalHeapEdit<'_, '_>) -> Result<()>,
    ) -> Result<()> {
        let mut room = self.shared().heap_room.lock();
        let mut changed = room.clone();
        self.store().step(|txn| f(&mut GlobalHeapEdit::new(txn, &mut changed)))?;
        *room = changed;
        Ok(())
    }
}
