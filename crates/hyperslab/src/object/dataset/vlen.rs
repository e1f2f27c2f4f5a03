//! Data of variable length: elements of a dataset or an attribute hold ids, and the global heap holds the
//! bytes (spec III.E).

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_format::datatype::Datatype;
use hyperslab_format::heap::global::{GlobalHeapId, VariableElement};
use hyperslab_format::{Addr, Reader, Widths, Writer};
use hyperslab_select::{Coord, Dim, Selection, Slab, first_element, inside};
use hyperslab_store::heap::GlobalHeap;

use super::vlen_write::VlenKind;
use super::write::Given;
use crate::engine::{Fill, Reading, Storage, StoredArray, WriteOptions};
use crate::object::{Dataset, File, copy};

impl File {
    /// Returns a guard under which data are put into the heap and their ids are then stored. A roll-back of a
    /// transaction waits for its end, as it would take the data back, but not ids that are stored later.
    #[doc(hidden)]
    pub fn storing(&self) -> impl Sized + '_ {
        self.store().writing_data()
    }

    /// Returns the ids in `stored`, which are elements of a datatype of variable length.
    #[doc(hidden)]
    pub fn vlen_ids(&self, stored: &[u8]) -> Result<Vec<VariableElement>> {
        let mut r = Reader::new(stored, self.store().widths(), Addr::UNDEFINED);
        let mut ids = Vec::new();
        while !r.is_at_end() {
            ids.push(r.structure(&())?);
        }
        Ok(ids)
    }

    /// Returns the elements of a datatype of variable length with these ids, for [`Dataset::write_with`] and
    /// for attributes.
    #[doc(hidden)]
    pub fn vlen_stored(&self, ids: &[VariableElement]) -> Vec<u8> {
        let mut stored = Vec::new();
        let mut w = Writer::new(&mut stored, self.store().widths());
        for id in ids {
            w.structure(id, &());
        }
        stored
    }

    /// Writes sequences of elements of `element_size` bytes to the file, and returns their ids; see
    /// [`put_elements`](Self::put_elements).
    #[doc(hidden)]
    pub fn put_vlen<T: AsRef<[u8]> + Sync>(
        &self,
        items: &[T],
        element_size: usize,
    ) -> Result<Vec<VariableElement>> {
        self.vlen_ids(&self.put_elements(items, VlenKind::Sequence(element_size))?)
    }

    /// Does the same for strings.
    #[doc(hidden)]
    pub fn put_text<T: AsRef<[u8]> + Sync>(&self, texts: &[T]) -> Result<Vec<VariableElement>> {
        self.vlen_ids(&self.put_elements(texts, VlenKind::Text)?)
    }

    /// Removes sequences from the file. Their ids must not be stored any more.
    #[doc(hidden)]
    pub fn remove_vlen(&self, ids: &[VariableElement]) -> Result<()> {
        self.remove_objects(ids.iter().map(|element| element.id).filter(|id| !id.is_null()).collect())
    }

    fn remove_objects(&self, ids: Vec<GlobalHeapId>) -> Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let _unread = self.shared().heap_objects.write();
        self.change_heap(|heap| heap.remove(ids))
    }

    /// Returns a guard that keeps sequences and strings in the file, for a thread that reads ids and then
    /// their data. The thread must not change the file while it holds the guard.
    #[doc(hidden)]
    pub fn reading_vlen(&self) -> impl Sized + '_ {
        self.shared().heap_objects.read()
    }

    /// Returns the bytes of one string.
    #[doc(hidden)]
    pub fn vlen_bytes(&self, id: VariableElement) -> Result<Vec<u8>> {
        GlobalHeap::new(self.store()).elements(id, 1).map(<[u8]>::to_vec)
    }

    /// Returns the elements of many sequences, each of `element_size` bytes (1 for strings).
    #[doc(hidden)]
    pub fn vlen_many(&self, ids: &[VariableElement], element_size: usize) -> Result<Vec<Vec<u8>>> {
        Ok(self.vlen_items(ids, element_size)?.iter().map(<[u8]>::to_vec).collect())
    }

    /// Calls `f` with the elements of one sequence after another.
    #[doc(hidden)]
    pub fn vlen_each(
        &self,
        ids: &[VariableElement],
        element_size: usize,
        f: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        self.vlen_items(ids, element_size)?.iter().for_each(f);
        Ok(())
    }

    /// Returns the bytes of one object of the global heap.
    #[doc(hidden)]
    pub fn heap_object(&self, id: GlobalHeapId) -> Result<Vec<u8>> {
        GlobalHeap::new(self.store()).object(id).map(<[u8]>::to_vec)
    }

    /// Returns the objects of the heap that elements of `datatype` refer to, directly or through other
    /// objects.
    fn objects_of(&self, datatype: &Datatype, elements: &[u8], found: &mut Vec<GlobalHeapId>) -> Result<()> {
        let widths = self.store().widths();
        let mut places = Vec::new();
        places_of_ids(datatype, 0, widths, &mut places);
        let mut heap = GlobalHeap::new(self.store());
        for element in elements.chunks_exact(bytes_of(datatype, widths).max(1)) {
            for &(at, base) in &places {
                let bytes = element.get(at..).unwrap_or_default();
                let id: VariableElement = Reader::new(bytes, widths, Addr::UNDEFINED).structure(&())?;
                if id.id.is_null() {
                    continue;
                }
                found.push(id.id);
                if let Some(base) = base.filter(|base| base.has_variable_parts()) {
                    let inside = heap.elements(id, bytes_of(base, widths))?.to_vec();
                    self.objects_of(base, &inside, found)?;
                }
            }
        }
        Ok(())
    }
}

impl Dataset {
    /// Writes sequences or strings to the elements of `what` in row-major order, and removes the old ones
    /// from the file, as libhdf5 does. The datatype of the dataset itself has variable length.
    #[doc(hidden)]
    pub fn replace_vlen<T: AsRef<[u8]> + Sync>(&self, what: &Selection, items: &[T]) -> Result<()> {
        let _storing = self.file().storing();
        let put = || {
            let shape = self.shape();
            what.check(&shape)?;
            let expected = what.count(&shape)?;
            if expected != items.len() as u64 {
                let what = format!("{} values for {expected} elements", items.len());
                return Err(RequestError::Argument { what, why: "the numbers differ" }.into());
            }
            let kind = match &*self.datatype() {
                Datatype::VariableText(_) => VlenKind::Text,
                Datatype::Sequence(base) => VlenKind::Sequence(bytes_of(base, self.store().widths())),
                _ => {
                    let why = "its elements are not of variable length";
                    return Err(RequestError::Argument { what: "dataset".to_owned(), why }.into());
                }
            };
            self.file().put_elements(items, kind)
        };
        let stored = put().map_err(|error: Error| error.at(self.path()))?;
        self.write_with(what, &stored, &WriteOptions::default())
    }

    /// Writes elements with ids, and removes data from the file that no element refers to any more. The
    /// caller holds the lock of the data exclusively, so that data replaced by two threads are removed once.
    pub(super) fn replace_locked(&self, given: Given<'_>) -> Result<()> {
        let Given { shape, what, bytes, options } = given;
        let (file, array) = (self.file(), self.array_of(shape)?);
        what.check(&array.shape)?;
        let reading = Reading { store: self.store(), cache: file.chunk_cache(), array: &array };
        // Elements that were never written have the data of the fill value, which stay.
        let old = if reading.finds_elements(what)? { self.read_bytes(what)? } else { Vec::new() };
        let (mut gone, mut kept) = (Vec::new(), Vec::new());
        file.objects_of(&array.elements.datatype, &old, &mut gone)?;
        self.write_alone(given)?;
        if let Fill::Value(value) = &array.elements.fill {
            // Elements that were never written hold it.
            file.objects_of(&array.elements.datatype, value, &mut kept)?;
            if !kept.is_empty() {
                self.part_from_fill(&array, what, value)?;
            }
        }
        if gone.is_empty() {
            return Ok(());
        }
        file.objects_of(options.datatype.as_ref().unwrap_or(&array.elements.datatype), bytes, &mut kept)?;
        let order = |id: &GlobalHeapId| (id.collection, id.index);
        kept.sort_unstable_by_key(order);
        gone.sort_unstable_by_key(order);
        let mut kept = kept.iter().map(order).peekable();
        gone.retain(|id| {
            while kept.next_if(|kept| *kept < order(id)).is_some() {}
            kept.peek() != Some(&order(id))
        });
        file.remove_objects(gone)
    }

    /// Gives stored elements that hold the ids of the fill value their own objects of the heap. libhdf5
    /// removes the data that it replaces, and would otherwise remove the data of the fill value and of all
    /// elements that share it.
    fn part_from_fill(&self, array: &StoredArray, what: &Selection, fill: &[u8]) -> Result<()> {
        let mut parts = vec![Selection::All];
        if let Storage::Chunked(chunked) = &array.storage {
            let in_shape = |coord: Coord| {
                let lens = inside(&coord, chunked.codec.shape(), &array.shape);
                let firsts = first_element(&coord, chunked.codec.shape());
                let dims = firsts.into_iter().zip(lens).map(|(first, len)| Dim::range(first, first + len));
                Selection::Slab(Slab(dims.collect()))
            };
            parts = what.tiling(&array.shape, chunked.codec.shape())?.touched().map(in_shape).collect();
        }
        for part in parts {
            let mut elements = self.read_bytes(&part)?;
            let mut shared: Vec<&mut [u8]> =
                elements.chunks_exact_mut(fill.len()).filter(|element| **element == *fill).collect();
            if shared.is_empty() {
                continue;
            }
            let mut own = fill.repeat(shared.len());
            copy::of_variable_parts(self.file(), self.file(), &array.elements.datatype, &mut own)?;
            shared
                .iter_mut()
                .zip(own.chunks_exact(fill.len()))
                .for_each(|(to, from)| to.copy_from_slice(from));
            let options = &WriteOptions::default();
            self.write_alone(Given { shape: None, what: &part, bytes: &elements, options })?;
        }
        Ok(())
    }
}

/// Returns the offsets of ids in an element, each with the datatype of its elements if it is a sequence.
fn places_of_ids<'d>(
    datatype: &'d Datatype,
    at: usize,
    widths: Widths,
    found: &mut Vec<(usize, Option<&'d Datatype>)>,
) {
    match datatype {
        Datatype::VariableText(_) => found.push((at, None)),
        Datatype::Sequence(base) => found.push((at, Some(base))),
        Datatype::Compound(compound) => compound.members.iter().for_each(|member| {
            let offset = usize::try_from(member.offset).unwrap_or(usize::MAX);
            places_of_ids(&member.datatype, at.saturating_add(offset), widths, found);
        }),
        Datatype::Array(array) if array.base.has_variable_parts() => {
            let (pitch, len) = (bytes_of(&array.base, widths), bytes_of(datatype, widths));
            (0..len)
                .step_by(pitch.max(1))
                .for_each(|first| places_of_ids(&array.base, at + first, widths, found));
        }
        _ => {}
    }
}

/// Returns the size of an element in bytes.
fn bytes_of(datatype: &Datatype, widths: Widths) -> usize {
    usize::try_from(datatype.size(widths)).unwrap_or(usize::MAX)
}
