//! Writes the data of many elements of variable length: whole collections of the global heap are encoded and
//! written by several threads, as chunks are (spec III.E).

use std::ops::Range;

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_format::heap::global::{GlobalHeapCollection, GlobalHeapId, VariableElement};
use hyperslab_format::{Addr, Extent, Structure, Widths, Writer};
use hyperslab_store::SpaceKind;
use hyperslab_store::heap::{Filling, Fillings, GlobalHeapEdit, fillings};
use parking_lot::Mutex;
use smallvec::SmallVec;

use crate::engine::{each_number, worked};
use crate::object::File;
use crate::object::element::zeroed;

/// The data of elements of variable length.
pub trait VlenData: Sync {
    /// Returns the number of elements.
    fn count(&self) -> usize;

    /// Returns the data of element `index`, which is below the number of elements.
    fn data(&self, index: usize) -> &[u8];

    /// Returns the data of the elements in `range`.
    fn iter(&self, range: Range<usize>) -> impl Iterator<Item = &[u8]> {
        range.map(|index| self.data(index))
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
        let element_len = VariableElement::read_len(widths, &());
        let mut stored = zeroed::<u8>((count as u64).saturating_mul(element_len as u64))?;
        let plans: Vec<Mutex<Fillings>> =
            (0..count.div_ceil(PLANNED_TOGETHER)).map(|_| Mutex::default()).collect();
        let plan = |number: u64| {
            let number = usize::try_from(number).unwrap_or(usize::MAX);
            let first = number * PLANNED_TOGETHER;
            *plans[number].lock() = plan(data, kind, first..count.min(first + PLANNED_TOGETHER), widths)?;
            Ok::<_, Error>(())
        };
        if plans.len() < PLANNED_ALONE {
            (0..plans.len() as u64).try_for_each(plan)?;
        } else {
            each_number(plans.len() as u64, &plan)?;
        }
        let (mut fillings, mut rest) = (Vec::new(), Vec::new());
        for plan in plans.into_iter().map(Mutex::into_inner) {
            fillings.extend(plan.whole);
            rest.push(plan.rest);
        }
        let extents =
            self.store().allocate_all(SpaceKind::GlobalHeap, fillings.iter().map(|new| new.size))?;
        let written = self
            .write_collections(data, kind, &fillings, &extents, &mut stored)
            .and_then(|()| self.put_rest(data, kind, &rest, &extents, &mut stored));
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
        let (mut left, mut first) = (stored, 0);
        let mut tasks = Vec::with_capacity(fillings.len());
        for (filling, extent) in fillings.iter().zip(extents) {
            let (skipped, len) = (filling.objects.start - first, filling.objects.len());
            let (_, after) = std::mem::take(&mut left).split_at_mut(skipped * element_len);
            let (mine, after) = after.split_at_mut(len * element_len);
            tasks.push((filling, extent, Mutex::new(mine)));
            (left, first) = (after, filling.objects.end);
        }
        // The extents are adjacent unless holes of the file fit better.
        for run in extents.chunk_by(|a, b| a.end() == Some(b.addr)) {
            let len = run.iter().map(|extent| extent.len).sum();
            store.reserve(Extent::new(run.first().map_or(Addr::UNDEFINED, |first| first.addr), len))?;
        }
        let idle: Mutex<Vec<Vec<u8>>> = Mutex::default();
        let encode = |number: u64| {
            let (filling, extent, mine) = &tasks[usize::try_from(number).unwrap_or(usize::MAX)];
            let mut bytes = idle.lock().pop().unwrap_or_default();
            bytes.clear();
            let (mut mine, mut index) = (mine.lock(), 0);
            let outs = mine.chunks_exact_mut(element_len);
            let objects = data.iter(filling.objects.clone()).zip(outs).filter_map(|(object, out)| {
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
        };
        // Ranks write in the same order.
        if store.collective().is_some() {
            return (0..tasks.len() as u64).try_for_each(encode);
        }
        each_number(tasks.len() as u64, &|number| {
            encode(number)?;
            // A collection has 4 KiB or more.
            worked("write", 0)
        })
    }

    /// Writes the data of the elements in `rest` to collections that have room. The same step names the
    /// collections at `extents`.
    fn put_rest(
        &self,
        data: &(impl VlenData + ?Sized),
        kind: VlenKind,
        rest: &[Range<usize>],
        extents: &[Extent],
        stored: &mut [u8],
    ) -> Result<()> {
        let widths = self.store().widths();
        let element_len = VariableElement::read_len(widths, &());
        let elements = rest.iter().cloned().flatten();
        let objects: SmallVec<[(usize, &[u8]); 1]> = elements
            .map(|element| (element, data.data(element)))
            .filter(|(_, object)| kind.needs_storage(object.len()))
            .collect();
        if objects.is_empty() && extents.is_empty() {
            return Ok(());
        }
        let bytes: SmallVec<[&[u8]; 1]> = objects.iter().map(|(_, object)| *object).collect();
        let mut ids = Vec::new();
        self.change_heap(|heap| {
            for extent in extents {
                heap.name(*extent);
            }
            ids = heap.put(&bytes)?;
            Ok(())
        })?;
        for ((element, object), id) in objects.into_iter().zip(ids) {
            let count = kind.elements(object.len()).unwrap_or(0);
            let at = element * element_len;
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

/// Divides the data of the elements in `range` into collections.
fn plan(
    data: &(impl VlenData + ?Sized),
    kind: VlenKind,
    range: Range<usize>,
    widths: Widths,
) -> Result<Fillings> {
    let mut wrong = None;
    let lens = data.iter(range.clone()).map(|object| {
        let len = object.len();
        if kind.elements(len).is_none() {
            wrong = Some(len);
        }
        Some(len).filter(|&len| kind.needs_storage(len))
    });
    let fillings = fillings(range.start, lens, widths);
    let Some(len) = wrong else { return Ok(fillings) };
    let why = "it is no whole number of elements, or more than 2^32 of them";
    Err(RequestError::Argument { what: format!("sequence of {len} bytes"), why }.into())
}

/// The number of elements whose data one thread divides into collections. Short strings fill several.
const PLANNED_TOGETHER: usize = 1 << 13;
/// Fewer plans than this take less time than other threads take to start.
const PLANNED_ALONE: usize = 16;
