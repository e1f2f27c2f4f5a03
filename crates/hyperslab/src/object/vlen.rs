//! Data of variable length: elements of a dataset or attribute hold ids, the bytes are in the global heap (spec III.E).

use hyperslab_format::heap::global::{GlobalHeapId, VariableElement};
use hyperslab_format::{Addr, Reader};

use super::File;
use crate::error::{Error, Result};
use crate::heap::GlobalHeap;

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
