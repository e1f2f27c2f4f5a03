//! What an object of a file leads to: its file, its parent and its identifier.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::handles::classes::{file_object, identifier, wrap};
use crate::handles::datatype::Datatype;
use crate::handles::file::File;
use crate::handles::object::HLObject;
use crate::interpreter::error::OrRaise;
use crate::interpreter::name::parent_of;

#[pymethods]
impl HLObject {
    /// The file that holds the object. For an object behind an external link, it is the other file.
    ///
    /// Every access gives a new `File` for the same opening of the file. `close` of one closes all.
    ///
    /// Example:
    ///     >>> dataset.file == file
    ///     True
    ///     >>> dataset.file.mode
    ///     'r+'
    #[getter]
    fn file<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, File>> {
        self.state.check()?;
        Bound::new(py, file_object(Arc::clone(&self.state)))
    }

    /// The group that holds the object: the group at `name` without its last part.
    ///
    /// The parent of the root group is the root group.
    ///
    /// Raises:
    ///     ValueError: No path leads to the object.
    ///     KeyError: The group no longer exists.
    ///
    /// Example:
    ///     >>> dataset.parent
    ///     <HDF5 group "/surface" (1 members)>
    #[getter]
    fn parent<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.state.check()?;
        let path = self.path(py)?;
        let path = path.ok_or_else(|| PyValueError::new_err("Parent of an anonymous object is undefined"))?;
        let node = py.detach(|| self.state.core.get(parent_of(path))).or_raise()?;
        wrap(py, &self.state, node)
    }

    /// The low-level identifier of the object, as h5py calls it.
    ///
    /// It can be obtained after the file is closed. It is a `FileID`, `GroupID`, `DatasetID` or `TypeID`.
    ///
    /// Example:
    ///     >>> dataset.id.get_num_chunks()
    ///     4
    ///     >>> group.id.name
    ///     b'/surface'
    #[getter]
    fn id<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        identifier(slf)
    }

    /// The low-level identifier, as `id` gives it.
    #[getter]
    fn _id<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        identifier(slf)
    }
}

#[pymethods]
impl Datatype {
    /// The low-level identifier of the datatype.
    ///
    /// Example:
    ///     >>> file["count"] = np.dtype("i4")
    ///     >>> file["count"].id.get_size()
    ///     4
    #[getter]
    fn id<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        match slf.get().transient.get(slf.py()) {
            Some(id) => Ok(id.bind(slf.py()).clone()),
            None => identifier(slf.as_super()),
        }
    }
}
