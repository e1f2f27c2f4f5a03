//! The base class of files, groups, datasets and committed datatypes.

use std::ffi::OsStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use hyperslab::Node;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

use crate::handles::opened::Opened;
use crate::interpreter::error::OrRaise;
use crate::interpreter::hash::hash_of;
use crate::interpreter::name::Name;
use crate::opening::counts::Handle;
use crate::opening::state::FileState;
use crate::values::reference::Reference;

/// An object of a file: a group, a dataset, a committed datatype or the file itself.
///
/// Objects are obtained from a file. Two objects are equal if they are the same object of
/// the same file, whatever path led to them, and equal objects have equal hashes. The truth value of an
/// object is True while the file is open.
///
/// After the file is closed, `name` is None. Facts that the object has in memory remain: its hash, `id`, and
/// the `shape`, `dtype` and storage of a dataset. Every other use of the object raises `ClosedError`. That is
/// also a KeyError, so `get` and `pop` of a mapping return a default that is given. The use of an object that
/// was deleted raises KeyError.
///
/// Programs may set attributes of their own on an object.
///
/// A handle of a file that was opened for reading by path can be pickled: the process that unpickles the
/// handle opens the file again. Any other handle raises TypeError.
///
/// Example:
///     >>> file["stations"] == stations
///     True
///     >>> dataset.parent == group
///     True
///     >>> bool(dataset)
///     True
#[pyclass(frozen, subclass, weakref, dict, module = "hyperslab")]
pub(crate) struct HLObject {
    /// The object.
    pub(crate) node: Opened<Node>,
    /// The path that a search of the file found for an object reached by a reference.
    found: PyOnceLock<String>,
    /// Whether the identifier of the object was closed.
    closed: AtomicBool,
    /// Counts this object among the handles of the file.
    handle: OnceLock<Handle>,
    /// The file. It is dropped last: that may write what waits.
    pub(crate) state: Opened<Arc<FileState>>,
}

impl HLObject {
    /// Returns the base of an object that was reached, or of the file itself.
    pub(crate) fn new(state: Arc<FileState>, node: Node, is_file: bool) -> Self {
        let handle = OnceLock::from(Handle::new(&state.handles, &node, is_file));
        let (found, closed) = (PyOnceLock::new(), AtomicBool::new(false));
        Self { state: state.into(), node: node.into(), found, closed, handle }
    }

    /// Returns the base of an object that `__init__` will open.
    pub(crate) fn unopened() -> Self {
        Self {
            state: Opened::not_yet(),
            node: Opened::not_yet(),
            found: PyOnceLock::new(),
            closed: AtomicBool::new(false),
            handle: OnceLock::new(),
        }
    }

    /// Returns the base of an object that wraps another one, until `__init__` opens it.
    pub(crate) fn lent(other: &Self) -> Self {
        Self {
            state: Opened::Lent(Arc::clone(&other.state), OnceLock::new()),
            node: Opened::Lent(other.node.clone(), OnceLock::new()),
            ..Self::unopened()
        }
    }

    /// Sets the file and the object. Raises `RuntimeError` if they are already set.
    pub(crate) fn open(&self, state: Arc<FileState>, node: Node, is_file: bool) -> PyResult<()> {
        let _ = self.handle.set(Handle::new(&state.handles, &node, is_file));
        self.state.set(state)?;
        self.node.set(node)
    }

    /// Whether the file is open, and the identifier of the object was not closed.
    pub(crate) fn is_open(&self) -> bool {
        self.state.is_open() && !self.closed.load(Ordering::Acquire)
    }

    /// Closes this handle of the object.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    /// Returns the path of the object, or `None` if it was deleted. For an object reached by a reference,
    /// searches the file and returns the first path that leads to the object.
    pub(crate) fn path(&self, py: Python<'_>) -> PyResult<Option<&str>> {
        if self.node.is_deleted() {
            return Ok(None);
        }
        if !self.node.path().is_empty() {
            return Ok(Some(self.node.path()));
        }
        if let Some(found) = self.found.get(py) {
            return Ok(Some(found));
        }
        // An object without a path may be linked later, so only a path that was found is kept.
        let path = py.detach(|| self.node.file().path_of(self.node.address())).or_raise()?;
        Ok(path.map(|path| self.found.get_or_init(py, || path).as_str()))
    }

    /// Returns the identity of the file and the address of the object in the file. An object that is not open
    /// is equal only to itself.
    pub(crate) fn identity(&self) -> ((u64, u64), u64) {
        let object = || std::ptr::from_ref(self).addr() as u64;
        let address = if self.node.is_set() { self.node.address().get() } else { object() };
        (self.state.identity(), address)
    }
}

/// Whether two handles are of the same object. Another object may be at the address of a deleted one.
pub(crate) fn is_same(one: &HLObject, other: &HLObject) -> bool {
    let is_deleted = |handle: &HLObject| handle.node.is_set() && handle.node.is_deleted();
    one.identity() == other.identity() && is_deleted(one) == is_deleted(other)
}

#[pymethods]
impl HLObject {
    /// The path by which the object was reached.
    ///
    /// For an object reached by a reference, it is the first path that leads to the object. It is None if no
    /// path leads to the object, and after the object was deleted or the file is closed.
    ///
    /// Example:
    ///     >>> dataset.name
    ///     '/surface/t2m'
    ///     >>> file.create_group(None).name is None
    ///     True
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<Option<Name<&str>>> {
        if self.is_open() { Ok(self.path(py)?.map(Name)) } else { Ok(None) }
    }

    /// A reference to the object. `file[reference]` gives the object again.
    ///
    /// References can be stored in datasets and attributes, with the dtype `ref_dtype`.
    ///
    /// Example:
    ///     >>> reference = dataset.ref
    ///     >>> file[reference].name
    ///     '/surface/t2m'
    #[getter(r#ref)]
    fn reference(&self) -> PyResult<Reference> {
        self.state.check()?;
        Ok(Reference::to(self.node.address()))
    }

    fn __bool__(&self) -> bool {
        self.is_open()
    }

    // Takes only objects of a file. For any other operand, pyo3 returns `NotImplemented`, so the other
    // operand compares itself: an array compares its elements.
    fn __eq__(&self, other: &Bound<'_, Self>) -> bool {
        is_same(other.get(), self)
    }

    fn __ne__(&self, other: &Bound<'_, Self>) -> bool {
        !is_same(other.get(), self)
    }

    fn __hash__(&self) -> u64 {
        hash_of(self.identity())
    }

    /// What Dask takes for the identity of the object: equal tokens mean equal contents.
    fn __dask_tokenize__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("hyperslab._pickle")?.getattr("token")?.call1((slf,))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("hyperslab._html")?.getattr("of_object")?.call1((slf,))
    }

    /// Pickles the handle of an object. Unpickling opens the file again.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.get().state.check()?;
        slf.py().import("hyperslab._pickle")?.getattr("reduce")?.call1((slf,))
    }

    /// Returns the absolute path and the keywords to open the file again with, or None if the file cannot be
    /// opened again by path.
    fn _reopening<'py>(&self, py: Python<'py>) -> PyResult<Option<(&OsStr, Bound<'py, PyDict>)>> {
        self.state.reopening(py)
    }
}
