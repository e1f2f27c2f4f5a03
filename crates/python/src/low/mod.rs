//! The low-level identifiers of h5py: views of an object. `hyperslab.low` extends each class in Python.

mod attribute;
mod dataset;
mod facts;
mod store_info;

use std::sync::Arc;

use hyperslab::Node;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyTuple};

use crate::handles::dataset::Dataset;
use crate::handles::datatype::Datatype;
use crate::handles::file::File;
use crate::handles::group::Group;
use crate::handles::object::{HLObject, hash_of};
use crate::interpreter::error::OrRaise;
use crate::opening::state::FileState;
use crate::values::description::describe;

pub(crate) use self::attribute::AttrID;
pub(crate) use self::dataset::DatasetID;
pub(crate) use self::facts::{attribute_facts, link_facts, object_facts};

/// The low-level identifier of an object, as h5py calls it.
///
/// Identifiers are obtained from the property `id` of an object. Two identifiers are equal if they belong to
/// the same object of the same file. The truth value is True while the object is open. The properties
/// `valid`, `id` and `name` can be used after the file is closed.
///
/// Example:
///     >>> file["stations"].id == stations.id
///     True
///     >>> bool(dataset.id)
///     True
#[pyclass(frozen, subclass, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct ObjectID {
    object: Py<HLObject>,
    state: Arc<FileState>,
    identity: ((u64, u64), u64),
    node: Node,
}

/// The low-level identifier of a file.
///
/// Example:
///     >>> file.id.get_file_image()[1:4]
///     b'HDF'
#[pyclass(frozen, subclass, extends = ObjectID, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct FileID;

/// The low-level identifier of a group.
///
/// Example:
///     >>> group.id.name
///     b'/surface'
///     >>> group.id == file["surface"].id
///     True
#[pyclass(frozen, subclass, extends = ObjectID, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct GroupID;

/// The low-level identifier of a committed datatype.
///
/// Example:
///     >>> file["count"] = np.dtype("i4")
///     >>> file["count"].id.name
///     b'/count'
#[pyclass(frozen, subclass, extends = ObjectID, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct TypeID {
    datatype: Py<Datatype>,
}

/// The classes and functions of `hyperslab.low` that make identifiers.
static DATASET_ID: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static FILE_ID: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static GROUP_ID: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static TYPE_ID: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

impl ObjectID {
    /// Returns the identifier of an object.
    pub(crate) fn of<'py>(object: &Bound<'py, HLObject>) -> PyResult<Bound<'py, PyAny>> {
        let (maker, module, name) = if object.cast::<Dataset>().is_ok() {
            (&DATASET_ID, "h5d", "DatasetID")
        } else if object.cast::<File>().is_ok() {
            (&FILE_ID, "h5f", "FileID")
        } else if object.cast::<Group>().is_ok() {
            (&GROUP_ID, "h5g", "GroupID")
        } else {
            (&TYPE_ID, "h5t", "type_of")
        };
        let import =
            || Ok::<_, PyErr>(object.py().import(format!("hyperslab.low.{module}"))?.getattr(name)?.unbind());
        maker.get_or_try_init(object.py(), import)?.bind(object.py()).call1((object,))
    }

    fn base(object: &Bound<'_, HLObject>) -> PyClassInitializer<Self> {
        let this = object.get();
        PyClassInitializer::from(Self {
            object: object.clone().unbind(),
            state: Arc::clone(&this.state),
            identity: this.identity(),
            node: this.node.clone(),
        })
    }

    /// Whether `bind` is the identifier of a datatype that is in no file.
    pub(crate) fn is_transient_type(bind: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(bind.getattr_opt("_committed")?.is_some_and(|committed| committed.is_none()))
    }

    /// Returns the object of an identifier, for a constructor. `ValueError`: `bind` is not an identifier.
    pub(crate) fn object(bind: &Bound<'_, PyAny>) -> PyResult<(Arc<FileState>, Node)> {
        // The identifier of a committed datatype is part of an identifier of a datatype.
        let inner = if bind.is_instance_of::<Self>() { bind.clone() } else { committed(bind)? };
        let not_id =
            |_| PyValueError::new_err(format!("{bind} is not an identifier: give the `id` of an object"));
        let id = inner.cast::<Self>().map_err(not_id)?.get();
        id.state.check()?;
        Ok((Arc::clone(&id.state), id.node.clone()))
    }
}

/// Returns the native identifier that an identifier of a committed datatype has, or `bind` itself.
fn committed<'py>(bind: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match bind.getattr_opt("_committed")? {
        Some(inner) if !inner.is_none() => inner,
        _ => bind.clone(),
    })
}

#[pymethods]
impl ObjectID {
    #[new]
    fn new(object: &Bound<'_, HLObject>) -> PyClassInitializer<Self> {
        Self::base(object)
    }

    /// True while the object is open.
    ///
    /// Example:
    ///     >>> dataset.id.valid
    ///     True
    #[getter]
    fn valid(&self) -> bool {
        self.object.get().is_open()
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

    /// Closes the object of the identifier: the truth value of both is False from now on. Other handles of
    /// the same object stay open.
    ///
    /// Example:
    ///     >>> other = file["surface"]
    ///     >>> other.id.close()
    ///     >>> bool(other), bool(group)
    ///     (False, True)
    fn close(&self) {
        self.object.get().close();
    }

    /// Closes the object of the identifier, as `close` does.
    fn _close(&self) {
        self.object.get().close();
    }

    /// The object.
    #[getter]
    fn _object<'py>(&self, py: Python<'py>) -> Bound<'py, HLObject> {
        self.object.bind(py).clone()
    }

    fn __bool__(&self) -> bool {
        self.object.get().is_open()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| {
            let other = other.get();
            other.identity == self.identity && other.node.is_deleted() == self.node.is_deleted()
        })
    }

    fn __hash__(&self) -> u64 {
        hash_of(self.identity)
    }

    /// Pickles the identifier of an object. Unpickling opens the file again.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("hyperslab._pickle")?.getattr("reduce_id")?.call1((&slf.get().object,))
    }
}

#[pymethods]
impl GroupID {
    #[new]
    fn new(object: &Bound<'_, Group>) -> PyClassInitializer<Self> {
        ObjectID::base(object.as_super()).add_subclass(Self)
    }
}

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

#[pymethods]
impl TypeID {
    #[new]
    fn new(object: &Bound<'_, Datatype>) -> PyClassInitializer<Self> {
        ObjectID::base(object.as_super()).add_subclass(Self { datatype: object.clone().unbind() })
    }

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

    /// The datatype as `hyperslab.low.h5t` describes it.
    #[getter]
    fn _description<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        describe(py, self.datatype.get().datatype.datatype())
    }
}
