//! Datasets: their properties as in h5py, and access to their elements.

mod described;
mod properties;
mod read;
mod rows;
mod view;
mod write;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use hyperslab::{Node, Transfer};
use hyperslab_format::datatype::{Charset, Datatype};
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_tables::{Class, Table};
use numpy::prelude::*;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};

use crate::handles::identifier::ObjectID;
use crate::handles::object::HLObject;
use crate::handles::opened::Opened;
use crate::interpreter::error::OrRaise;
use crate::interpreter::name::{self, base_name};
use crate::interpreter::settings;
use crate::opening::state::FileState;
use crate::values::dtype::{Convention, translated_by};
use crate::values::translation::Translation;

/// A dataset: an array of one dtype and shape in a file.
///
/// `dataset[selection]` reads elements into a new NumPy array, and `dataset[selection] = value` writes
/// elements. Chunks are decoded and encoded by several threads, and the GIL is released meanwhile. Datasets
/// are made by `Group.create_dataset` and opened by `group[name]`.
///
/// A selection is one index for each axis. Missing axes are selected whole. An index is
///
/// - an integer, which counts from the end if it is negative;
/// - a slice with a step of at least 1, or an ellipsis;
/// - a list, a range or a 1-D array of integers in increasing order, or a mask along the axis, for one axis
///   only;
/// - a `MultiBlockSlice`.
///
/// A mask of the shape of the dataset (an array of bool) selects elements into a 1-D array. Names of fields
/// select members of a compound. `dataset[()]` reads all elements.
///
/// Args:
///     bind: The identifier of a dataset, such as `file["x"].id`. Subclasses use this constructor.
///
/// Example:
///     >>> dataset
///     <HDF5 dataset "t2m": shape (4, 2, 3), type "<f4">
///     >>> dataset[1:3, :, 0]
///     array([[ 6.,  9.],
///            [12., 15.]], dtype=float32)
///     >>> dataset[0, 0, 1]
///     np.float32(1.0)
///     >>> dataset[dataset[()] > 20]
///     array([21., 22., 23.], dtype=float32)
///     >>> stations["id", 0]
///     np.int32(1)
///     >>> dataset[0] = [7, 8, 9]
///     >>> dataset[0]
///     array([[7., 8., 9.],
///            [7., 8., 9.]], dtype=float32)
#[pyclass(frozen, subclass, extends = HLObject, module = "hyperslab")]
pub(crate) struct Dataset {
    /// The file.
    pub(crate) state: Opened<Arc<FileState>>,
    /// The dataset.
    pub(crate) core: Opened<hyperslab::Dataset>,
    translation: PyOnceLock<Translation>,
    /// Whether the elements in the file are already in NumPy's form.
    as_stored: PyOnceLock<bool>,
    class: OnceLock<Option<Class>>,
    table: OnceLock<Table>,
    /// Which ranks make the writes.
    transfer: Mutex<Transfer>,
}

impl Dataset {
    /// Returns the Python state of a dataset.
    pub(crate) fn new(state: Arc<FileState>, core: hyperslab::Dataset) -> Self {
        Self::of(state.into(), core.into())
    }

    fn of(state: Opened<Arc<FileState>>, core: Opened<hyperslab::Dataset>) -> Self {
        let (translation, as_stored) = (PyOnceLock::new(), PyOnceLock::new());
        let transfer = Mutex::new(Transfer::Independent);
        Self { state, core, translation, as_stored, class: OnceLock::new(), table: OnceLock::new(), transfer }
    }

    /// Returns which ranks make a write.
    pub(crate) fn transfer(&self) -> Transfer {
        *self.transfer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the table that the dataset is. Its columns are found once.
    pub(crate) fn table(&self) -> PyResult<&Table> {
        self.state.check()?;
        if let Some(table) = self.table.get() {
            return Ok(table);
        }
        let table = Table::new(self.core.clone()).or_raise()?;
        Ok(self.table.get_or_init(|| table))
    }

    /// Returns the dtype of the dataset, and how to convert its elements. Computed once.
    pub(crate) fn translation(&self, py: Python<'_>) -> PyResult<&Translation> {
        self.translation.get_or_try_init(py, || {
            let widths = self.core.file().store().widths();
            translated_by(self.convention(), py, &self.core.datatype(), widths)
        })
    }

    /// Returns the class that PyTables gives to the dataset.
    pub(crate) fn class(&self) -> Option<Class> {
        *self.class.get_or_init(|| {
            if settings::stands_in() {
                return None;
            }
            // A damaged attribute is an error where it is read.
            let class = Class::of(&self.core).unwrap_or(None)?;
            let is_record = || Table::is_table(&self.core).unwrap_or(false);
            (class != Class::Table || is_record()).then_some(class)
        })
    }

    /// Returns whose dtypes the dataset has.
    pub(crate) fn convention(&self) -> Convention {
        if self.class().is_some() { Convention::PyTables } else { Convention::H5py }
    }

    /// Whether a translation uses elements as stored, without a conversion by the engine.
    pub(crate) fn is_stored_as(&self, py: Python<'_>, translation: &Translation) -> bool {
        let compare = || translation.memory == *self.core.datatype();
        match self.translation.get(py) {
            Some(own) if std::ptr::eq(own, translation) => *self.as_stored.get_or_init(py, compare),
            _ => compare(),
        }
    }

    fn is_null(&self) -> bool {
        self.core.dataspace() == Dataspace::Null
    }

    /// Returns the encoding of the elements if they are strings.
    fn string_encoding(&self) -> Option<&'static str> {
        let charset = match &*self.core.datatype() {
            Datatype::Text(text) => text.charset,
            Datatype::VariableText(text) => text.charset,
            _ => return None,
        };
        Some(if charset == Charset::Utf8 { "utf-8" } else { "ascii" })
    }

    /// Returns the length of the first axis. For a scalar dataset, raises `TypeError` with the text
    /// `otherwise`.
    pub(crate) fn first_axis(&self, otherwise: &'static str) -> PyResult<u64> {
        if self.is_null() {
            return Err(PyTypeError::new_err("object of type 'NoneType' has no len()"));
        }
        self.core.shape().first().copied().ok_or_else(|| PyTypeError::new_err(otherwise))
    }
}

#[pymethods]
impl Dataset {
    #[new]
    #[pyo3(signature = (*args, **_kwds), text_signature = "(bind, *, readonly=False)")]
    fn make(args: &Bound<'_, PyTuple>, _kwds: Option<&Bound<'_, PyDict>>) -> PyClassInitializer<Self> {
        if let Ok(first) = args.get_borrowed_item(0)
            && let Ok(wrapped) = first.cast::<Self>()
        {
            let (state, core) = (Arc::clone(&wrapped.get().state), wrapped.get().core.clone());
            let own = Self::of(Opened::Lent(state, OnceLock::new()), Opened::Lent(core, OnceLock::new()));
            return PyClassInitializer::from(HLObject::lent(wrapped.as_super().get())).add_subclass(own);
        }
        let own = Self::of(Opened::not_yet(), Opened::not_yet());
        PyClassInitializer::from(HLObject::unopened()).add_subclass(own)
    }

    // `readonly` is a promise to the caches of h5py; a dataset of this package has no cache of its own.
    #[pyo3(signature = (bind, *, readonly=false))]
    fn __init__(slf: &Bound<'_, Self>, bind: &Bound<'_, PyAny>, readonly: bool) -> PyResult<()> {
        let _ = readonly;
        let (state, node) = ObjectID::object(bind)?;
        let Node::Dataset(dataset) = &node else {
            return Err(PyValueError::new_err(format!("{bind} is not a DatasetID")));
        };
        slf.get().core.set(dataset.clone())?;
        slf.get().state.set(Arc::clone(&state))?;
        slf.as_super().get().open(state, node, false)
    }

    /// Returns the names of the fields, which stand between brackets.
    fn _ipython_key_completions_(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.translation(py)?.descr.bind(py).names().unwrap_or_default())
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let py = slf.py();
        let this = slf.get();
        if !slf.as_super().get().is_open() {
            return Ok("<Closed HDF5 dataset>".to_owned());
        }
        let name = match slf.as_super().get().path(py)? {
            Some(path) => format!("\"{}\"", name::shown(py, base_name(path))?),
            None => "(anonymous)".to_owned(),
        };
        let shape = this
            .shape(py)?
            .map_or_else(|| Ok("None".to_owned()), |shape| Ok::<_, PyErr>(shape.repr()?.to_string()))?;
        let dtype = this.translation(py)?.descr.bind(py).getattr("str")?;
        Ok(format!("<HDF5 dataset {name}: shape {shape}, type \"{dtype}\">"))
    }
}
