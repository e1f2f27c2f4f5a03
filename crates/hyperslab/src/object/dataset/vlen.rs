//! Data of variable length: elements of a dataset or attribute hold ids, the bytes are in the global heap (spec III.E).

use hyperslab_format::datatype::Datatype;
use hyperslab_format::heap::global::{GlobalHeapId, VariableElement};
use hyperslab_format::{Addr, Reader, Writer};

use crate::engine::WriteOptions;
use crate::error::{Error, RequestError, Result};
use crate::heap::{GlobalHeap, GlobalHeapEdit};
use crate::object::{Dataset, File};
use crate::select::Selection;
use crate::store::Txn;

impl File {
    /// The ids in `stored`, elements of a datatype of variable length.
    pub fn vlen_ids(&self, stored: &[u8]) -> Result<Vec<VariableElement>> {
        let mut r = Reader::new(stored, self.store().widths(), Addr::UNDEFINED);
        let mut ids = Vec::new();
        while !r.is_at_end() {
            ids.push(r.structure(&()).map_err(Error::from_format)?);
        }
        Ok(ids)
    }

    /// The elements of a datatype of variable length that hold these ids: what [`Dataset::write_with`] writes, and what
    /// attributes hold.
    pub fn vlen_stored(&self, ids: &[VariableElement]) -> Vec<u8> {
        let mut stored = Vec::new();
        let mut w = Writer::new(&mut stored, self.store().widths());
        for id in ids {
            w.structure(id, &());
        }
        stored
    }

    /// Puts sequences of elements of `element_size` bytes each into the file, and returns their ids. They belong to whoever
    /// stores them: to nobody, where the write of the ids fails.
    pub fn put_vlen<T: AsRef<[u8]>>(&self, items: &[T], element_size: usize) -> Result<Vec<VariableElement>> {
        let counts: Vec<u32> =
            items.iter().map(|item| count(item.as_ref(), element_size)).collect::<Result<_>>()?;
        // Nothing is stored of what is empty.
        let full: Vec<&[u8]> = items.iter().map(AsRef::as_ref).filter(|item| !item.is_empty()).collect();
        let mut ids = self.put_objects(&full)?.into_iter();
        let element = |count| match count {
            0 => VariableElement::EMPTY,
            count => VariableElement { count, id: ids.next().unwrap_or(GlobalHeapId::NULL) },
        };
        Ok(counts.into_iter().map(element).collect())
    }

    /// The same for strings. One without bytes is an object of the heap, too, as libhdf5 has it: where there is none, readers
    /// in C find no string but a null pointer.
    pub fn put_text<T: AsRef<[u8]>>(&self, texts: &[T]) -> Result<Vec<VariableElement>> {
        let counts: Vec<u32> = texts.iter().map(|text| count(text.as_ref(), 1)).collect::<Result<_>>()?;
        let ids = self.put_objects(texts)?;
        Ok(counts.into_iter().zip(ids).map(|(count, id)| VariableElement { count, id }).collect())
    }

    fn put_objects<T: AsRef<[u8]>>(&self, objects: &[T]) -> Result<Vec<GlobalHeapId>> {
        let mut ids = Vec::new();
        if !objects.is_empty() {
            self.change_heap(|heap| {
                ids = heap.put(objects)?;
                Ok(())
            })?;
        }
        Ok(ids)
    }

    /// Takes sequences out of the file, whose ids nothing stores any more.
    pub fn remove_vlen(&self, ids: &[VariableElement]) -> Result<()> {
        let ids: Vec<GlobalHeapId> =
            ids.iter().map(|element| element.id).filter(|id| !id.is_null()).collect();
        if ids.is_empty() { Ok(()) } else { self.change_heap(|heap| heap.remove(ids)) }
    }

    fn change_heap(&self, f: impl FnOnce(&mut GlobalHeapEdit<'_, '_>) -> Result<()>) -> Result<()> {
        let mut room = self.shared().heap_room.lock();
        let mut changed = room.clone();
        let mut txn: Txn<'_> = self.store().begin()?;
        f(&mut GlobalHeapEdit::new(&mut txn, &mut changed))?;
        txn.finish()?;
        *room = changed;
        Ok(())
    }

    /// The bytes of one string.
    pub fn vlen_bytes(&self, id: VariableElement) -> Result<Vec<u8>> {
        GlobalHeap::new(self.store()).elements(id, 1).map(<[u8]>::to_vec)
    }

    /// The elements of many sequences, of `element_size` bytes each (1 for strings).
    pub fn vlen_many(&self, ids: &[VariableElement], element_size: usize) -> Result<Vec<Vec<u8>>> {
        let mut found = Vec::with_capacity(ids.len());
        self.vlen_each(ids, element_size, &mut |bytes| found.push(bytes.to_vec()))?;
        Ok(found)
    }

    /// Calls `f` with the elements of one sequence after another, without copying them.
    pub fn vlen_each(
        &self,
        ids: &[VariableElement],
        element_size: usize,
        f: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        let mut heap = GlobalHeap::new(self.store());
        ids.iter().try_for_each(|&id| heap.elements(id, element_size).map(&mut *f))
    }

    /// The bytes of one object of the global heap.
    pub fn heap_object(&self, id: GlobalHeapId) -> Result<Vec<u8>> {
        GlobalHeap::new(self.store()).object(id).map(<[u8]>::to_vec)
    }
}

impl Dataset {
    /// Writes sequences or strings to the elements of `what`, row by row, and takes those out of the file that were there, as
    /// libhdf5 does. The datatype of the dataset is one of variable length itself.
    pub fn replace_vlen<T: AsRef<[u8]>>(&self, what: &Selection, items: &[T]) -> Result<()> {
        let replace = || {
            let element_size = match &*self.datatype() {
                Datatype::VariableText(_) => None,
                Datatype::Sequence(base) => Some(base.size(self.store().widths())),
                _ => {
                    let why = "its elements are not of variable length";
                    return Err(RequestError::Argument { what: "dataset".to_owned(), why }.into());
                }
            };
            let expected = what.count(&self.shape())?;
            if expected != items.len() as u64 {
                return Err(RequestError::SourceSize { expected, found: items.len() as u64 }.into());
            }
            let mut old = vec![0; items.len() * self.element_size()];
            self.read_into(what, &mut old)?;
            let old = self.file().vlen_ids(&old)?;
            let new = match element_size {
                None => self.file().put_text(items)?,
                Some(size) => self.file().put_vlen(items, usize::try_from(size).unwrap_or(usize::MAX))?,
            };
            let stored = self.file().vlen_stored(&new);
            if let Err(error) = self.write_with(what, &stored, &WriteOptions::default()) {
                self.file().remove_vlen(&new)?;
                return Err(error);
            }
            self.file().remove_vlen(&old)
        };
        replace().map_err(|error: Error| error.at(self.path()))
    }
}

/// How many elements a sequence has.
fn count(item: &[u8], element_size: usize) -> Result<u32> {
    let len = item.len();
    let whole = element_size > 0 && len.is_multiple_of(element_size);
    let why = "it is no whole number of elements, or more than 2^32 of them";
    let count = whole.then(|| u32::try_from(len / element_size).ok()).flatten();
    count.ok_or_else(|| RequestError::Argument { what: format!("sequence of {len} bytes"), why }.into())
}
