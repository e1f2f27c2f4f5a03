//! Creating arrays in PyTables' layout.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::Group;
use crate::interpreter::calls;
use crate::opening::state::writable;

impl Group {
    /// Calls a function of `_pytables`, which is written in Python.
    fn in_layout_of_pytables<'py>(
        slf: &Bound<'py, Self>,
        function: &str,
        args: &Bound<'py, PyTuple>,
        kwds: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let state = &slf.as_super().get().state;
        state.check()?;
        writable::<PyValueError>(state, "create an array")?;
        calls::method(slf.as_any(), "_pytables", function, args, kwds)
    }
}

#[pymethods]
impl Group {
    /// Creates a dataset that PyTables opens as its `Array`: contiguous, of a fixed shape.
    ///
    /// Args:
    ///     name: The path of the dataset. Missing groups on the way are created.
    ///     obj: The elements: an array, a scalar, or anything that `numpy.asarray` accepts.
    ///     title: A description, stored in the attribute `TITLE`.
    ///     dtype: The dtype of the elements. The default is the dtype of `obj`. Booleans are stored as
    ///         PyTables stores them, as bitfields.
    ///
    /// Returns:
    ///     The dataset.
    ///
    /// Raises:
    ///     ValueError: The name exists, or the file is open for reading.
    ///     TypeError: PyTables has no equivalent of the dtype, such as Python objects or Unicode strings.
    ///
    /// Example:
    ///     >>> file.create_array("levels", [1000, 850, 500], "pressure levels in hPa")
    ///     <HDF5 dataset "levels": shape (3,), type "<i8">
    ///     >>> file["levels"].attrs["CLASS"]
    ///     np.bytes_(b'ARRAY')
    #[pyo3(signature = (*args, **kwds), text_signature = "($self, name, obj, title='', dtype=None)")]
    fn create_array<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwds: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::in_layout_of_pytables(slf, "create_array", args, kwds)
    }

    /// Creates a dataset that PyTables opens as its `CArray`: in chunks, of a fixed shape.
    ///
    /// Args:
    ///     name: The path of the dataset. Missing groups on the way are created.
    ///     dtype: The dtype of the elements. The default is the dtype of `obj`.
    ///     shape: The length of each axis, in elements. The default is the shape of `obj`.
    ///     title: A description, stored in the attribute `TITLE`.
    ///     obj: The elements to write. Without it, every element is the fill value.
    ///     chunkshape: The shape of a chunk in elements. The default is a shape of about 1 MiB.
    ///     kwds: Filters and the fill value, as in `create_dataset`: `compression`, `compression_opts`,
    ///         `shuffle`, `fletcher32`, `fillvalue`.
    ///
    /// Returns:
    ///     The dataset.
    ///
    /// Raises:
    ///     ValueError: The name exists, the file is open for reading, or `obj` does not have the shape.
    ///     TypeError: Neither a dtype and a shape nor `obj` is given, or PyTables has no equivalent of the
    ///         dtype.
    ///
    /// Example:
    ///     >>> file.create_carray("mask", "f4", (100, 50), chunkshape=(10, 50), compression=hs.Blosc2())
    ///     <HDF5 dataset "mask": shape (100, 50), type "<f4">
    #[pyo3(
        signature = (*args, **kwds),
        text_signature = "($self, name, dtype=None, shape=None, title='', *, obj=None, chunkshape=None, **kwds)"
    )]
    fn create_carray<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwds: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::in_layout_of_pytables(slf, "create_carray", args, kwds)
    }

    /// Creates a dataset that PyTables opens as its `EArray`: one axis can be extended.
    ///
    /// Args:
    ///     name: The path of the dataset. Missing groups on the way are created.
    ///     dtype: The dtype of the elements. The default is the dtype of `obj`.
    ///     shape: The length of each axis, in elements. Exactly one is 0: rows are appended along this axis.
    ///         The default is the shape of `obj` with 0 as the first length.
    ///     title: A description, stored in the attribute `TITLE`.
    ///     obj: The first rows.
    ///     expectedrows: The expected number of rows, which selects the chunk shape.
    ///     chunkshape: The shape of a chunk in elements.
    ///     kwds: Filters and the fill value, as in `create_dataset`: `compression`, `compression_opts`,
    ///         `shuffle`, `fletcher32`, `fillvalue`.
    ///
    /// Returns:
    ///     An `EArray`, which is a `Dataset` with `append`.
    ///
    /// Raises:
    ///     ValueError: The name exists, the file is open for reading, not exactly one length is 0, or `obj`
    ///         does not fit the shape.
    ///     TypeError: Neither a dtype and a shape nor `obj` is given, or PyTables has no equivalent of the
    ///         dtype.
    ///
    /// Example:
    ///     >>> pairs = file.create_earray("pairs", "f8", (0, 2), expectedrows=10**6)
    ///     >>> pairs.append([[1, 2], [3, 4]])
    ///     >>> pairs.shape
    ///     (2, 2)
    #[pyo3(
        signature = (*args, **kwds),
        text_signature = "($self, name, dtype=None, shape=None, title='', *, obj=None, expectedrows=1000, \
                          chunkshape=None, **kwds)"
    )]
    fn create_earray<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwds: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::in_layout_of_pytables(slf, "create_earray", args, kwds)
    }

    /// Creates a dataset that PyTables opens as its `VLArray`: rows of variable length.
    ///
    /// Args:
    ///     name: The path of the dataset. Missing groups on the way are created.
    ///     dtype: The dtype of the elements of a row, which may have a shape, such as `("f4", (3,))`. The
    ///         pseudo atoms of PyTables are "vlstring" (a row is bytes), "vlunicode" (a row is a str) and
    ///         "object" (a row is the bytes of a pickle).
    ///     title: A description, stored in the attribute `TITLE`.
    ///     obj: The first row.
    ///     chunkshape: The number of rows in a chunk.
    ///     kwds: Filters, as in `create_dataset`. They see the places of rows, not the elements.
    ///
    /// Returns:
    ///     A `VLArray`, which is a `Dataset` with `append`.
    ///
    /// Raises:
    ///     ValueError: The name exists, or the file is open for reading.
    ///     TypeError: PyTables has no equivalent of the dtype, or `obj` is not a row of it.
    ///
    /// Example:
    ///     >>> names = file.create_vlarray("towns", "vlunicode")
    ///     >>> names.append("Zürich")
    ///     >>> list(names)
    ///     ['Zürich']
    #[pyo3(
        signature = (*args, **kwds),
        text_signature = "($self, name, dtype, title='', *, obj=None, chunkshape=None, **kwds)"
    )]
    fn create_vlarray<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwds: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::in_layout_of_pytables(slf, "create_vlarray", args, kwds)
    }
}
