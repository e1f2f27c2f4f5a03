//! The low-level identifiers of h5py. Here, they are views of an object, with the methods that programs use.

mod dataset;

use std::sync::Arc;

use hyperslab::Node;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::dataset::Dataset;
use crate::datatype::Datatype;
use crate::error::OrRaise;
use crate::file::File;
use crate::group::Group;
use crate::object::{HLObject, hash_of};
use crate::state::FileState;

pub(crate) use self::dataset::DatasetID;

/// The low-level identifier of an object, as h5py calls it.
///
/// Identifiers are obtained from the property `id` of an object, not constructed. Two identifiers are equal
/// if they belong to the same object of the same file. The truth value is True while the file is open. The
/// properties `valid`, `id` and `name` can be used after the file is closed.
///
/// Example:
///     >>> file["stations"].id == stations.id
///     True
///     >>> bool(dataset.id)
///     True
#[pyclass(frozen, subclass, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct ObjectID {
    state: Arc<FileState>,
    identity: ((u64, u64), u64),
    node: Node,
}

/// The low-level identifier of a file.
///
/// Example:
///     >>> file.id.name
///     b'/'
///     >>> file.id.get_file_image()[1:4]
///     b'HDF'
#[pyclass(frozen, extends = ObjectID, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct FileID;

/// The low-level identifier of a group.
///
/// Example:
///     >>> group.id.name
///     b'/surface'
///     >>> group.id == file["surface"].id
///     True
#[pyclass(frozen, extends = ObjectID, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct GroupID;

/// The low-level identifier of a committed datatype.
///
/// Example:
///     >>> file["count"] = np.dtype("i4")
///     >>> file["count"].id.name
///     b'/count'
#[pyclass(frozen, extends = ObjectID, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct TypeID {
    datatype: Py<Datatype>,
}

impl ObjectID {
    /// Returns the identifier of an object.
    pub(crate) fn of<'py>(object: &Bound<'py, HLObject>) -> PyResult<Bound<'py, PyAny>> {
        let py = object.py();
        let this = object.get();
        let base = PyClassInitializer::from(Self {
            state: Arc::clone(&this.state),
            identity: this.identity(),
            node: this.node.clone(),
        });
        Ok(if let Ok(dataset) = object.cast::<Dataset>() {
            Bound::new(py, base.add_subclass(DatasetID { dataset: dataset.clone().unbind() }))?.into_any()
        } else if object.cast::<File>().is_ok() {
            Bound::new(py, base.add_subclass(FileID))?.into_any()
        } else if object.cast::<Group>().is_ok() {
            Bound::new(py, base.add_subclass(GroupID))?.into_any()
        } else {
            let datatype = object.cast::<Datatype>()?.clone().unbind();
            Bound::new(py, base.add_subclass(TypeID { datatype }))?.into_any()
        })
    }
}

impl ObjectID {
    /// Returns the object of an identifier, for a constructor. `ValueError`: `bind` is not an identifier.
    pub(crate) fn object(bind: &Bound<'_, PyAny>) -> PyResult<(Arc<FileState>, Node)> {
        let not_id =
            |_| PyValueError::new_err(format!("{bind} is not an identifier: give the `id` of an object"));
        let id = bind.cast::<Self>().map_err(not_id)?.get();
        id.state.check()?;
        Ok((Arc::clone(&id.state), id.node.clone()))
    }
}

#[pymethods]
impl ObjectID {
    /// True while the file is open.
    ///
    /// Example:
    ///     >>> dataset.id.valid
    ///     True
    #[getter]
    fn valid(&self) -> bool {
        self.state.is_open()
    }

    /// The address of the header of the object, in bytes from the end of the user block of the file.
    ///
    /// Example:
    ///     >>> file.id.id
    ///     48
    #[getter]
    fn id(&self) -> u64 {
        self.identity.1
    }

    /// The path by which the object was reached, or None.
    ///
    /// It is None for an object without a path and for an object reached by a reference.
    ///
    /// Example:
    ///     >>> dataset.id.name
    ///     b'/surface/t2m'
    #[getter]
    fn name<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let path = self.node.path();
        (!path.is_empty()).then(|| PyBytes::new(py, path.as_bytes()))
    }

    fn __bool__(&self) -> bool {
        self.state.is_open()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().identity == self.identity)
    }

    fn __hash__(&self) -> u64 {
        hash_of(self.identity)
    }
}

#[pymethods]
impl FileID {
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
        let (py, state) = (slf.py(), &slf.as_super().get().state);
        state.flush(py)?;
        let image = py.detach(|| {
            let driver = state.core.store().driver()?;
            let failed = |error| hyperslab::Error::io("read", 0, 0)(error);
            let len = driver.len().map_err(failed)?;
            let mut image = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
            driver.read_at(0, &mut image).map_err(failed)?;
            Ok::<_, hyperslab::Error>(image)
        });
        let image: Vec<u8> = image.or_raise()?;
        Ok(PyBytes::new(py, &image))
    }
}

#[pymethods]
impl TypeID {
    /// The NumPy dtype of the datatype.
    ///
    /// Raises:
    ///     TypeError: NumPy has no dtype for the datatype.
    ///
    /// Example:
    ///     >>> file["count"] = np.dtype("i4")
    ///     >>> file["count"].id.dtype
    ///     dtype('int32')
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.datatype.bind(py).getattr("dtype")
    }
}
