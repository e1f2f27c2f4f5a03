//! Data of variable length in virtual datasets: elements are ids, which mean nothing outside their files. So
//! a read copies the data of all sources to a file in memory.

use hyperslab_error::Result;
use hyperslab_format::Widths;
use hyperslab_select::Selection;

use super::read::Start;
use crate::engine::{Destination, ReadOptions};
use crate::object::element::zeroed;
use crate::object::{Dataset, File, copy};

impl Dataset {
    /// Does the same as [`read_shaped`](Self::read_shaped), also for data of variable length of other files.
    /// Returns the file whose ids `dst` holds: that of the dataset, or one in memory for virtual datasets.
    ///
    /// The caller holds the guard of [`File::reading_vlen`].
    #[doc(hidden)]
    pub fn read_with_heap(
        &self,
        shape: Option<&[u64]>,
        what: &Selection,
        dst: &mut Destination<'_>,
        options: &ReadOptions,
    ) -> Result<File> {
        let datatype = self.datatype();
        // References lead to objects of this file, and not of one in memory.
        let is_copied = datatype.has_variable_parts()
            && !datatype.has_references()
            && self.store().widths() == Widths::EIGHT
            && self.has_sources()?;
        if !is_copied {
            self.read_shaped(shape, what, dst, options)?;
            return Ok(self.file().clone());
        }
        let heap = File::in_memory()?;
        let read = self.read_sources(shape, &mut [(what, dst)], options, Start::First(Some(&heap)));
        read.map_err(|error| error.at(self.path()))?;
        Ok(heap)
    }

    /// Reads elements, and copies their data of variable length to the file `heap`.
    pub(super) fn read_copies(
        &self,
        what: &Selection,
        dst: &mut Destination<'_>,
        options: &ReadOptions,
        heap: &File,
    ) -> Result<()> {
        let stored = self.datatype();
        let datatype = options.datatype.as_ref().unwrap_or(&stored);
        let size = datatype.size(self.store().widths());
        let shape = what.shape(&self.shape());
        let len = shape.iter().try_fold(size, |bytes, &len| bytes.checked_mul(len));
        let mut elements: Vec<u8> = zeroed(len.unwrap_or(u64::MAX))?;
        // The guard keeps the data until they are copied.
        let _kept = self.file().reading_vlen();
        self.read_with(what, &mut Destination::contiguous(&mut elements), options)?;
        copy::of_variable_parts(heap, self.file(), datatype, &mut elements)?;
        dst.put(&shape, usize::try_from(size).unwrap_or(usize::MAX), &elements)
    }
}
