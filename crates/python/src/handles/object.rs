//! The base class of files, groups, datasets and committed datatypes, and how to create their objects.

use std::ffi::OsStr;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher, Hash};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use hyperslab::Node;
use hyperslab_format::name;
use hyperslab_tables::Class;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyString, PyType};

use crate::handles::attrs::AttributeManager;
use crate::handles::counts::Handle;
use crate::handles::dataset::Dataset;
use crate::handles::datatype::Datatype;
use crate::handles::file::File;
use crate::handles::group::Group;
use crate::handles::opened::Opened;
use crate::interpreter::error::OrRaise;
use crate::interpreter::name::Name;
use crate::low::ObjectID;
use crate::opening::state::FileState;
use crate::selection::region::RegionProxy;
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
    /// The file.
    pub(crate) state: Opened<Arc<FileState>>,
    /// The object.
    pub(crate) node: Opened<Node>,
    /// The path that a search of the file found for an object reached by a reference.
    found: PyOnceLock<String>,
    /// Whether the identifier of the object was closed.
    closed: AtomicBool,
    /// Counts this object among the handles of the file.
    handle: OnceLock<Handle>,
}

impl HLObject {
    fn new(state: Arc<FileState>, node: Node, is_file: bool) -> Self {
        let handle = OnceLock::from(Handle::new(&state, &node, is_file));
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
        let _ = self.handle.set(Handle::new(&state, &node, is_file));
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

/// Returns the Python object for a node that was reached from the file of `state`.
pub(crate) fn wrap<'py>(py: Python<'py>, state: &Arc<FileState>, node: Node) -> PyResult<Bound<'py, PyAny>> {
    let state =
        if node.file().is_same(&state.core) { Arc::clone(state) } else { state.external(node.file()) };
    let base = PyClassInitializer::from(HLObject::new(Arc::clone(&state), node.clone(), false));
    Ok(match node {
        Node::Group(group) => Bound::new(py, base.add_subclass(Group { group: group.into() }))?.into_any(),
        Node::Dataset(dataset) => {
            let dataset = Bound::new(py, base.add_subclass(Dataset::new(state, dataset)))?;
            match dataset.get().class() {
                Some(Class::Table) => written_in_python(&dataset, &TABLE, "_table", "Table")?,
                Some(Class::EArray) => written_in_python(&dataset, &EARRAY, "_pytables", "EArray")?,
                Some(Class::VLArray) => written_in_python(&dataset, &VLARRAY, "_pytables", "VLArray")?,
                Some(Class::Array | Class::CArray) | None => dataset.into_any(),
            }
        }
        Node::Datatype(datatype) => {
            Bound::new(py, base.add_subclass(Datatype::of(datatype.into())))?.into_any()
        }
    })
}

/// The classes of datasets that are written in Python.
static TABLE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static EARRAY: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static VLARRAY: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Returns a dataset as an instance of a class that is written in Python.
fn written_in_python<'py>(
    dataset: &Bound<'py, Dataset>,
    class: &PyOnceLock<Py<PyType>>,
    module: &str,
    name: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let class = class.import(dataset.py(), &format!("hyperslab.{module}"), name)?;
    class.call1((dataset.getattr("id")?,))
}

/// Returns the initializer of the Python object for an open file.
pub(crate) fn file_object(state: Arc<FileState>) -> PyClassInitializer<File> {
    let group = state.core.root();
    let base = HLObject::new(state, Node::Group(group.clone()), true);
    PyClassInitializer::from(base).add_subclass(Group { group: group.into() }).add_subclass(File)
}

/// Returns a name given as `str` or `bytes`, or `None` for an object of another type.
pub(crate) fn name_of(name: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    if let Ok(text) = name.cast::<PyString>() {
        return Ok(Some(name::from_bytes(text.to_cow()?.as_bytes())));
    }
    if let Ok(bytes) = name.cast::<PyBytes>() {
        return Ok(Some(name::from_bytes(bytes.as_bytes())));
    }
    Ok(None)
}

/// Returns a name given as `str` or `bytes`. Raises h5py's `TypeError` for an object of another type.
pub(crate) fn name_required(name: &Bound<'_, PyAny>) -> PyResult<String> {
    name_of(name)?.ok_or_else(|| {
        PyTypeError::new_err(format!("A name should be string or bytes, not {}", name.get_type()))
    })
}

/// Returns the last component of a path.
pub(crate) fn base_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or("")
}

/// Returns the path without its last component.
pub(crate) fn parent_of(path: &str) -> &str {
    match path.trim_end_matches('/').rfind('/') {
        None | Some(0) => "/",
        Some(end) => &path[..end],
    }
}

/// Returns the hash of `value`, for `__hash__` in Python.
pub(crate) fn hash_of(value: impl Hash) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(value)
}

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

    /// The attributes of the object, a mapping from names to values.
    ///
    /// Example:
    ///     >>> dataset.attrs["units"]
    ///     'K'
    ///     >>> file.attrs["title"] = "Stations"
    ///     >>> list(file.attrs)
    ///     ['title']
    #[getter]
    pub(crate) fn attrs(slf: &Bound<'_, Self>) -> PyResult<AttributeManager> {
        let this = slf.get();
        if slf.is_instance_of::<File>() {
            this.state.check()?;
        }
        let object = slf.clone().unbind();
        Ok(AttributeManager { state: Arc::clone(&this.state), node: this.node.clone(), object })
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

    /// References to parts of datasets: `dataset.regionref[selection]` makes one.
    ///
    /// The methods `regionref.shape(ref)` and `regionref.selection(ref)` return the shape of the dataset of a
    /// reference, and the shape of the part.
    ///
    /// Example:
    ///     >>> part = dataset.regionref[0]
    ///     >>> dataset[part].shape, dataset.regionref.selection(part)
    ///     ((1, 2, 3), (1, 2, 3))
    #[getter]
    fn regionref(slf: &Bound<'_, Self>) -> RegionProxy {
        RegionProxy { object: slf.clone().unbind() }
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
        ObjectID::of(slf)
    }

    /// The low-level identifier, as `id` gives it.
    #[getter]
    fn _id<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        ObjectID::of(slf)
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
