//! The base class of h5py's low-level identifiers, and the object to which an identifier leads.

use std::sync::Arc;

use hyperslab::Node;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::handles::object::HLObject;
use crate::interpreter::hash::hash_of;
use crate::opening::state::FileState;

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
    /// The file of the object.
    pub(crate) state: Arc<FileState>,
    identity: ((u64, u64), u64),
    node: Node,
}

impl ObjectID {
    /// Returns the base of the identifier of an object.
    pub(crate) fn base(object: &Bound<'_, HLObject>) -> PyClassInitializer<Self> {
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
