//! Views of a dataset that convert the elements they read: to another dtype, to strings, or to some fields.

use std::ffi::{CStr, CString};

use numpy::prelude::*;
use numpy::{PyArrayDescr, PyUntypedArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::handles::dataset::Dataset;
use crate::selection::index::Index;
use crate::transfer::read::{self, FieldTranslation, Texts};
use crate::values::buffer::{self, Places};
use crate::values::dtype::descr_of;

/// A view that reads a dataset as another dtype: the result of `Dataset.astype`.
///
/// `view[selection]` converts elements as HDF5 converts them. A number beyond the range of an integer dtype
/// becomes the nearest limit. Reading raises TypeError or OSError if there is no conversion.
///
/// Example:
///     >>> view = dataset.astype("i2")
///     >>> view[0, 0]
///     array([0, 1, 2], dtype=int16)
///     >>> np.asarray(view).sum()
///     np.int64(276)
#[pyclass(frozen, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct AsTypeView {
    /// The dataset.
    pub(crate) dataset: Py<Dataset>,
    /// The dtype.
    pub(crate) dtype: Py<PyArrayDescr>,
}

/// A view that reads a dataset of strings as `str`: the result of `Dataset.asstr`.
///
/// `view[selection]` gives one `str`, or an array of `str` with the dtype of Python objects. Reading raises
/// UnicodeDecodeError if bytes cannot be decoded and `errors` is "strict", and LookupError if there is no
/// such encoding.
///
/// Example:
///     >>> view = names.asstr()
///     >>> view[1]
///     'Zürich'
///     >>> view[:]
///     array(['Geneva', 'Zürich'], dtype=object)
#[pyclass(frozen, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct AsStrView {
    /// The dataset.
    pub(crate) dataset: Py<Dataset>,
    /// The encoding with which strings are decoded.
    ///
    /// Example:
    ///     >>> names.asstr().encoding
    ///     'utf-8'
    #[pyo3(get)]
    pub(crate) encoding: String,
    /// The treatment of bytes that cannot be decoded, as for `bytes.decode`.
    ///
    /// Example:
    ///     >>> names.asstr(errors="replace").errors
    ///     'replace'
    #[pyo3(get)]
    pub(crate) errors: String,
}

/// A view that reads some members of a compound dataset: the result of `Dataset.fields`.
///
/// `view[selection]` gives the elements of one member, or records of several members.
///
/// Example:
///     >>> stations.fields("lat")[:]
///     array([46.2, 47.4])
///     >>> stations.fields(["id", "lat"])[:]
///     array([(1, 46.2), (2, 47.4)], dtype=[('id', '<i4'), ('lat', '<f8')])
#[pyclass(frozen, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct FieldsView {
    /// The dataset.
    pub(crate) dataset: Py<Dataset>,
    /// How to read the fields.
    pub(crate) translation: FieldTranslation,
}

/// The methods that all views share.
macro_rules! view_methods {
    ($view:ident, $name:literal) => {
        #[pymethods]
        impl $view {
            /// The shape of the dataset in elements.
            ///
            /// Example:
            ///     >>> dataset.astype("f8").shape
            ///     (4, 2, 3)
            #[getter]
            fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                self.dataset.bind(py).getattr("shape")
            }

            /// The number of axes.
            ///
            /// Example:
            ///     >>> dataset.astype("f8").ndim
            ///     3
            #[getter]
            fn ndim<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                self.dataset.bind(py).getattr("ndim")
            }

            /// The number of elements.
            ///
            /// Example:
            ///     >>> dataset.astype("f8").size
            ///     24
            #[getter]
            fn size<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                self.dataset.bind(py).getattr("size")
            }

            fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
                self.dataset.bind(py).len()
            }

            #[pyo3(signature = (dtype=None, copy=None))]
            fn __array__<'py>(
                &self,
                py: Python<'py>,
                dtype: Option<&Bound<'py, PyAny>>,
                copy: Option<bool>,
            ) -> PyResult<Bound<'py, PyAny>> {
                if copy == Some(false) {
                    return Err(PyValueError::new_err(concat!(
                        $name,
                        ".__array__ received copy=False but memory allocation cannot be avoided on read"
                    )));
                }
                let whole = self.item(py, PyTuple::empty(py).as_any())?;
                let dtype = match dtype {
                    Some(dtype) => descr_of(dtype)?,
                    None => self.result_dtype(py),
                };
                py.import("numpy")?.call_method1("asarray", (whole, dtype))
            }

            fn __getitem__<'py>(
                &self,
                py: Python<'py>,
                args: &Bound<'py, PyAny>,
            ) -> PyResult<Bound<'py, PyAny>> {
                self.item(py, args)
            }

            /// The dtype of the elements that a read returns.
            ///
            /// Example:
            ///     >>> dataset.astype("f8").dtype
            ///     dtype('float64')
            #[getter]
            fn dtype<'py>(&self, py: Python<'py>) -> Bound<'py, PyArrayDescr> {
                self.result_dtype(py)
            }
        }
    };
}

view_methods!(AsTypeView, "AsTypeView");
view_methods!(AsStrView, "AsStrView");
view_methods!(FieldsView, "FieldsView");

impl AsTypeView {
    fn result_dtype<'py>(&self, py: Python<'py>) -> Bound<'py, PyArrayDescr> {
        self.dtype.bind(py).clone()
    }

    fn item<'py>(&self, py: Python<'py>, args: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        read::item(py, self.dataset.get(), args, Some(self.dtype.bind(py)))
    }
}

impl FieldsView {
    fn result_dtype<'py>(&self, py: Python<'py>) -> Bound<'py, PyArrayDescr> {
        self.translation.descr.bind(py).clone()
    }

    fn item<'py>(&self, py: Python<'py>, args: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.translation.read(py, self.dataset.get(), &index_without_fields(args)?)
    }
}

/// Returns the parts of an index expression. Raises `ValueError` if it has field names.
fn index_without_fields<'py>(key: &Bound<'py, PyAny>) -> PyResult<Index<'py>> {
    let index = Index::split(key)?;
    if index.fields.is_empty() {
        Ok(index)
    } else {
        Err(PyValueError::new_err("Field names only allowed for compound types"))
    }
}

impl AsStrView {
    #[allow(clippy::unused_self)] // As in the other views.
    fn result_dtype<'py>(&self, py: Python<'py>) -> Bound<'py, PyArrayDescr> {
        PyArrayDescr::object(py)
    }

    fn item<'py>(&self, py: Python<'py>, args: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(texts) = Texts::read(py, self.dataset.get(), args)? {
            return self.decode_all(py, &texts);
        }
        let data = read::item(py, self.dataset.get(), args, None)?;
        if data.cast::<PyBytes>().is_ok() {
            return self.decode(&data, &self.handler()?);
        }
        let Ok(array) = data.cast::<PyUntypedArray>() else { return Ok(data) };
        let decoded = buffer::empty(py, array.shape(), &PyArrayDescr::object(py))?;
        let mut slots = Places::new(&decoded)?;
        let (itemsize, errors) = (decoded.dtype().itemsize(), self.handler()?);
        for (index, bytes) in array.getattr("flat")?.try_iter()?.enumerate() {
            slots.put(index * itemsize, self.decode(&bytes?, &errors)?);
        }
        Ok(decoded.into_any())
    }

    /// Returns the name of the error handler for C.
    fn handler(&self) -> PyResult<CString> {
        Ok(CString::new(self.errors.as_str())?)
    }

    fn decode_all<'py>(&self, py: Python<'py>, texts: &Texts) -> PyResult<Bound<'py, PyAny>> {
        let errors = self.handler()?;
        if texts.shape.is_empty() && !texts.array_wanted {
            return self.decode_bytes(py, texts.iter().next().unwrap_or_default(), &errors);
        }
        let decoded = buffer::empty(py, &texts.shape, &PyArrayDescr::object(py))?;
        let mut slots = Places::new(&decoded)?;
        for (index, bytes) in texts.iter().enumerate() {
            slots.put(index * size_of::<usize>(), self.decode_bytes(py, bytes, &errors)?);
        }
        Ok(decoded.into_any())
    }

    fn decode<'py>(&self, bytes: &Bound<'py, PyAny>, errors: &CStr) -> PyResult<Bound<'py, PyAny>> {
        match bytes.cast::<PyBytes>() {
            Ok(bytes) => self.decode_bytes(bytes.py(), bytes.as_bytes(), errors),
            Err(_) => bytes.call_method1("decode", (&self.encoding, &self.errors)),
        }
    }

    fn decode_bytes<'py>(&self, py: Python<'py>, bytes: &[u8], errors: &CStr) -> PyResult<Bound<'py, PyAny>> {
        if self.encoding == "utf-8" || (self.encoding == "ascii" && bytes.is_ascii()) {
            return buffer::text(py, bytes, errors);
        }
        PyBytes::new(py, bytes).call_method1("decode", (&self.encoding, &self.errors))
    }
}
