//! The identifier of a file.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::handles::file::File;
use crate::handles::identifier::ObjectID;
use crate::interpreter::error::OrRaise;

/// The low-level identifier of a file.
///
/// Example:
///     >>> file.id.get_file_image()[1:4]
///     b'HDF'
#[pyclass(frozen, subclass, extends = ObjectID, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct FileID;

#[pymethods]
impl FileID {
    #[new]
    fn new(object: &Bound<'_, File>) -> PyClassInitializer<Self> {
        ObjectID::base(object.as_super().as_super()).add_subclass(Self)
    }

    /// The strategy by which the file manages its space, as libhdf5 numbers it; whether the file keeps its
    /// free space; the shortest free extent that it keeps; and the size of a page.
    #[getter]
    fn _space(slf: &Bound<'_, Self>) -> PyResult<(u8, bool, u64, u64)> {
        let state = &slf.as_super().get().state;
        state.check()?;
        let space = slf.py().detach(|| state.core.space()).or_raise()?;
        Ok((space.strategy as u8, space.persist, space.threshold, space.page_size))
    }

    /// Returns the size of the file in bytes, without the user block.
    ///
    /// The size counts changes that are not in the file yet. It may change with the next `File.flush`.
    ///
    /// Returns:
    ///     The number of bytes.
    ///
    /// Example:
    ///     >>> with hs.File("climate.h5") as saved:
    ///     ...     saved.id.get_filesize() == len(saved.id.get_file_image())
    ///     True
    fn get_filesize(slf: &Bound<'_, Self>) -> PyResult<u64> {
        let state = &slf.as_super().get().state;
        state.check()?;
        Ok(state.core.store().len_bytes())
    }

    /// Returns the bytes of the file, including the user block and all changes so far.
    ///
    /// The changes are written first, as by `File.flush`.
    ///
    /// Returns:
    ///     A copy of the bytes.
    ///
    /// Example:
    ///     >>> image = file.id.get_file_image()
    ///     >>> hs.File.in_memory(image)["stations"].shape
    ///     (2,)
    fn get_file_image<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBytes>> {
        slf.as_super().get().state.image(slf.py())
    }

    /// Returns the keywords with which the file was opened.
    fn _keywords<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.as_super().get().state.given(slf.py())
    }
}
