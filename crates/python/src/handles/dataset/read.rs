//! Reading the elements of a dataset.

use std::num::NonZeroUsize;

use hyperslab::Destination;
use numpy::PyUntypedArray;
use numpy::prelude::*;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use super::Dataset;
use crate::interpreter::error::{OrRaise, in_one_shape};
use crate::interpreter::signals;
use crate::interpreter::threads::Threads;
use crate::selection::chunks::ChunkIterator;
use crate::selection::index::Request;
use crate::transfer::plan::ReadPlan;
use crate::transfer::read::{self, FieldTranslation};
use crate::transfer::views::{AsStrView, AsTypeView, FieldsView};
use crate::values::buffer;
use crate::values::dtype::descr_of;
use crate::values::reference::RegionReference;

/// Returns an argument that must be an array.
fn array<'a, 'py>(name: &str, given: &'a Bound<'py, PyAny>) -> PyResult<&'a Bound<'py, PyUntypedArray>> {
    if let Ok(array) = given.cast() {
        return Ok(array);
    }
    Err(PyTypeError::new_err(format!("{name} must be a NumPy array, not {}", given.get_type().name()?)))
}

#[pymethods]
impl Dataset {
    fn __getitem__<'py>(slf: &Bound<'py, Self>, args: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        read::item(slf.py(), slf.get(), args, None)
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyUntypedArray>> {
        if copy == Some(false) {
            return Err(PyValueError::new_err(
                "Dataset.__array__ received copy=False but memory allocation cannot be avoided on read",
            ));
        }
        let dtype = dtype.map(descr_of).transpose()?;
        in_one_shape(py, || {
            let request = read::request_of(self, None)?;
            match &dtype {
                None => read::array(py, self, self.translation(py)?, &request, None),
                Some(dtype) => read::cast(py, self, &request, dtype),
            }
        })
    }

    /// Returns the shape of a selection, and the shape of the dataset.
    #[pyo3(name = "_shape_of", signature = (sel=None))]
    fn shape_of<'py>(
        &self,
        py: Python<'py>,
        sel: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyTuple>)> {
        let request = read::request_of(self, sel)?;
        Ok((PyTuple::new(py, &request.shape)?, PyTuple::new(py, &request.extent)?))
    }

    /// Reads a selection into an array, or into a part of an array.
    ///
    /// Elements are converted as HDF5 converts them, and the shape is broadcast if necessary.
    ///
    /// Args:
    ///     dest: The array that receives the elements, of any dtype and strides.
    ///     source_sel: The selection of the dataset, as between brackets, without names of fields. None
    ///         selects all elements.
    ///     dest_sel: The part of `dest`, an index of NumPy. None takes the whole array.
    ///
    /// Raises:
    ///     TypeError: The shape of the selection cannot be broadcast to the shape of the destination, or the
    ///         dataset is empty.
    ///
    /// Example:
    ///     >>> table = np.zeros((6, 3))
    ///     >>> dataset.read_direct(table, np.s_[:2, 0], np.s_[4:])
    ///     >>> table[4:]
    ///     array([[0., 1., 2.],
    ///            [6., 7., 8.]])
    #[pyo3(signature = (dest, source_sel=None, dest_sel=None))]
    fn read_direct<'py>(
        &self,
        py: Python<'py>,
        dest: &Bound<'py, PyAny>,
        source_sel: Option<&Bound<'py, PyAny>>,
        dest_sel: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        let dest = array("dest", dest)?;
        in_one_shape(py, || {
            let request = read::request_of(self, source_sel)?;
            let is_region = source_sel.is_some_and(PyAnyMethods::is_instance_of::<RegionReference>);
            let Some(dest_sel) = dest_sel else {
                return self.read_or_broadcast(py, &request, dest, is_region);
            };
            let place = dest.get_item(dest_sel)?;
            match place.cast::<PyUntypedArray>() {
                // Slices give a view of the destination, lists and masks a copy, integers only one element.
                Ok(view) if !view.getattr("base")?.is_none() => {
                    self.read_or_broadcast(py, &request, view, is_region)
                }
                _ => {
                    let whole = read::array(py, self, self.translation(py)?, &request, None)?;
                    dest.set_item(dest_sel, whole)
                }
            }
        })
    }

    /// Reads a selection into a new array, or into an array of the caller.
    ///
    /// Chunks are decoded by several threads, straight into the array. The GIL is released.
    ///
    /// Args:
    ///     sel: The selection, as between brackets, without names of fields. None selects all elements.
    ///     out: The array that receives the elements. The array has the shape of the selection, any dtype and
    ///         any strides. No other thread may use the array during the read.
    ///     threads: The number of threads, including the caller. The default is `get_threads()`.
    ///
    /// Returns:
    ///     The array. If every index is an integer, the array has shape ().
    ///
    /// Raises:
    ///     TypeError: `out` has another shape, `sel` contains a name of a field, or the dataset is empty.
    ///     ValueError: `threads` is 0, or `sel` has too many indices.
    ///     IndexError: An index is out of range.
    ///
    /// Example:
    ///     >>> dataset.read((slice(0, 2), 0))
    ///     array([[0., 1., 2.],
    ///            [6., 7., 8.]], dtype=float32)
    ///     >>> block = np.empty((4, 2, 3))
    ///     >>> dataset.read(out=block) is block
    ///     True
    #[pyo3(signature = (sel=None, out=None, threads=None))]
    fn read<'py>(
        &self,
        py: Python<'py>,
        sel: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
        threads: Option<Threads>,
    ) -> PyResult<Bound<'py, PyUntypedArray>> {
        let threads = threads.map(|threads| threads.0);
        let out = out.map(|out| array("out", out)).transpose()?;
        in_one_shape(py, || {
            let request = read::request_of(self, sel)?;
            match out {
                None => read::array(py, self, self.translation(py)?, &request, threads),
                Some(out) => read::into(py, self, &request, out, threads).map(|()| out.clone()),
            }
        })
    }

    /// Reads several selections in one call. A chunk that several selections touch is decoded once.
    ///
    /// Strings of variable length and other Python objects, and arrays in `out` that are not C-contiguous or
    /// have another dtype, are read one selection after another.
    ///
    /// Single rows in any order are read faster by a sorted list if several of them are in the same
    /// compressed chunk: the list keeps the decoded chunk for the next read, and `read_many` does not. With
    /// `order = np.argsort(rows)`, assign `dataset[rows[order]]` to `found[order]`.
    ///
    /// Args:
    ///     selections: The selections, each as between brackets, without names of fields.
    ///     out: One array for each selection, as for `read`. None makes new arrays.
    ///     threads: The number of threads, including the caller. The default is `get_threads()`.
    ///
    /// Returns:
    ///     One array for each selection, in the order of the selections.
    ///
    /// Raises:
    ///     TypeError: An array in `out` has another shape than the selection.
    ///     ValueError: The numbers of arrays and selections differ, or arrays in `out` overlap.
    ///     IndexError: An index is out of range.
    ///
    /// Example:
    ///     >>> first, row = dataset.read_many([(0, 0, 0), (slice(None), 1, 2)])
    ///     >>> row
    ///     array([ 5., 11., 17., 23.], dtype=float32)
    #[pyo3(signature = (selections, out=None, threads=None))]
    fn read_many<'py>(
        &self,
        py: Python<'py>,
        selections: &Bound<'py, PyAny>,
        out: Option<Vec<Bound<'py, PyAny>>>,
        threads: Option<Threads>,
    ) -> PyResult<Vec<Bound<'py, PyUntypedArray>>> {
        let selections = selections.try_iter()?.collect::<PyResult<Vec<_>>>()?;
        let arrays = |out: Vec<_>| {
            out.iter().map(|one| array("each of out", one).cloned()).collect::<PyResult<Vec<_>>>()
        };
        let out = out.map(arrays).transpose()?;
        in_one_shape(py, move || {
            self.read_all(py, &selections, out.as_deref(), threads.map(|threads| threads.0))
        })
    }

    /// Returns the plan of a read: chunks, bytes and threads. No data are read.
    ///
    /// Args:
    ///     sel: The selection, as between brackets, without names of fields. None selects all elements.
    ///
    /// Returns:
    ///     The plan. `print(plan)` lists the chunks.
    ///
    /// Raises:
    ///     TypeError: `sel` contains a name of a field, or the dataset is empty.
    ///
    /// Example:
    ///     >>> plan = dataset.plan(slice(0, 2))
    ///     >>> plan.chunks, plan.result_bytes
    ///     (2, 48)
    #[pyo3(signature = (sel=None))]
    fn plan(&self, py: Python<'_>, sel: Option<&Bound<'_, PyAny>>) -> PyResult<ReadPlan> {
        let request = read::request_of(self, sel)?;
        let plan = py.detach(|| self.core.plan(&request.selection)).or_raise()?;
        Ok(ReadPlan { plan })
    }

    /// Returns a view that reads the dataset as another dtype.
    ///
    /// Elements are converted as HDF5 converts them. A number beyond the range of an integer dtype becomes
    /// the nearest limit.
    ///
    /// Args:
    ///     dtype: The dtype. `"T"` reads strings as NumPy's `StringDType`.
    ///
    /// Returns:
    ///     An `AsTypeView`, or the dataset if the dataset has this dtype.
    ///
    /// Raises:
    ///     TypeError: There is no such dtype, or `dtype` is `StringDType` and the elements are not strings. A
    ///         read of the view raises TypeError or OSError if there is no conversion.
    ///
    /// Example:
    ///     >>> dataset.astype("f8")[0, 0]
    ///     array([0., 1., 2.])
    fn astype<'py>(slf: &Bound<'py, Self>, dtype: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let dtype = descr_of(dtype)?;
        let this = slf.get();
        if dtype.is_equiv_to(this.translation(py)?.descr.bind(py)) {
            return Ok(slf.clone().into_any());
        }
        if dtype.kind() == b'T' && this.string_encoding().is_none() {
            return Err(PyTypeError::new_err(format!(
                "dset.astype({dtype}) can only be used on datasets with an HDF5 string datatype"
            )));
        }
        Ok(Bound::new(py, AsTypeView { dataset: slf.clone().unbind(), dtype: dtype.unbind() })?.into_any())
    }

    /// Returns a view that reads strings as `str`.
    ///
    /// Args:
    ///     encoding: The encoding of the strings. The default is that of the datatype, "ascii" or "utf-8".
    ///     errors: The treatment of bytes that cannot be decoded, as for `bytes.decode`.
    ///
    /// Returns:
    ///     The view.
    ///
    /// Raises:
    ///     TypeError: The elements are not strings.
    ///
    /// Example:
    ///     >>> names.asstr()[:]
    ///     array(['Geneva', 'Zürich'], dtype=object)
    ///     >>> names.asstr("ascii", errors="ignore")[1]
    ///     'Zrich'
    #[pyo3(signature = (encoding=None, errors="strict"))]
    fn asstr(slf: &Bound<'_, Self>, encoding: Option<String>, errors: &str) -> PyResult<AsStrView> {
        let own = slf.get().string_encoding().ok_or_else(|| {
            PyTypeError::new_err("dset.asstr() can only be used on datasets with an HDF5 string datatype")
        })?;
        let encoding = encoding.unwrap_or_else(|| own.to_owned());
        Ok(AsStrView { dataset: slf.clone().unbind(), encoding, errors: errors.to_owned() })
    }

    /// Returns a view that reads some members of a compound.
    ///
    /// Args:
    ///     names: The name of one member, or several names.
    ///
    /// Returns:
    ///     The view. One name as a string reads the member. Several names read records.
    ///
    /// Raises:
    ///     ValueError: There is no such member, or the dataset is not a compound.
    ///
    /// Example:
    ///     >>> stations.fields("lat")[:]
    ///     array([46.2, 47.4])
    ///     >>> stations.fields(["id", "code"])[0].item()
    ///     (1, b'GVA')
    fn fields(slf: &Bound<'_, Self>, names: &Bound<'_, PyAny>) -> PyResult<FieldsView> {
        let single = names.cast::<PyString>().is_ok();
        let names = if single {
            vec![names.extract()?]
        } else {
            names.try_iter()?.map(|name| name?.extract()).collect::<PyResult<_>>()?
        };
        let translation = FieldTranslation::new(slf.py(), slf.get(), &names, single)?;
        Ok(FieldsView { dataset: slf.clone().unbind(), translation })
    }

    /// Returns an iterator over the chunks that a region touches.
    ///
    /// Args:
    ///     sel: The region: a slice or an integer for each axis. Steps are ignored. As in h5py, a stop of 0
    ///         means the end of the axis. None takes the whole dataset.
    ///
    /// Returns:
    ///     An iterator. For each chunk, the iterator yields the part of the region in the chunk as a tuple of
    ///     slices.
    ///
    /// Raises:
    ///     TypeError: The dataset is not stored in chunks, or an index is neither a slice nor an integer.
    ///     ValueError: The region exceeds the dataset or is empty, or the number of indices differs from
    ///         `ndim`.
    ///
    /// Example:
    ///     >>> sum(dataset[part].sum() for part in dataset.iter_chunks())
    ///     np.float32(276.0)
    ///     >>> next(dataset.iter_chunks(np.s_[1:3, :, 2:]))
    ///     (slice(1, 2, 1), slice(0, 2, 1), slice(2, 3, 1))
    #[pyo3(signature = (sel=None))]
    fn iter_chunks(&self, sel: Option<&Bound<'_, PyAny>>) -> PyResult<ChunkIterator> {
        let chunk =
            self.core.chunk_shape().ok_or_else(|| PyTypeError::new_err("Chunked dataset required"))?;
        ChunkIterator::new(&self.core.shape(), &chunk, sel)
    }
}

impl Dataset {
    /// Reads several selections, each into an array of `out` or into a new array.
    fn read_all<'py>(
        &self,
        py: Python<'py>,
        selections: &[Bound<'py, PyAny>],
        out: Option<&[Bound<'py, PyUntypedArray>]>,
        threads: Option<NonZeroUsize>,
    ) -> PyResult<Vec<Bound<'py, PyUntypedArray>>> {
        let requests =
            selections.iter().map(|sel| read::request_of(self, Some(sel))).collect::<PyResult<Vec<_>>>()?;
        if out.is_some_and(|out| out.len() != requests.len()) {
            return Err(PyValueError::new_err("read_many needs as many arrays in `out` as selections"));
        }
        let translation = self.translation(py)?;
        let Some(extent) = requests.first().map(|first| &first.extent) else { return Ok(Vec::new()) };
        let direct = translation.recipe.is_none()
            && requests.iter().all(|request| request.extent == *extent)
            && out.into_iter().flatten().zip(&requests).all(|(array, request)| {
                array.shape() == &request.shape[..]
                    && array.is_c_contiguous()
                    && array.dtype().is_equiv_to(translation.descr.bind(py))
            });
        if !direct {
            let mut arrays = out.into_iter().flatten();
            return requests
                .iter()
                .map(|request| match arrays.next() {
                    None => read::array(py, self, translation, request, threads),
                    Some(array) => read::into(py, self, request, array, threads).map(|()| array.clone()),
                })
                .collect();
        }
        let make = |request: &Request| buffer::empty(py, &request.shape, translation.descr.bind(py));
        let mut arrays = match out {
            Some(arrays) => arrays.to_vec(),
            None => requests.iter().map(make).collect::<PyResult<_>>()?,
        };
        if buffer::overlap(&arrays) {
            return Err(PyValueError::new_err("the arrays in `out` overlap"));
        }
        let options = read::options(py, self, translation, threads);
        let mut destinations = arrays
            .iter_mut()
            .map(|array| Ok(Destination::contiguous(buffer::bytes_mut(array)?)))
            .collect::<PyResult<Vec<_>>>()?;
        let mut reads: Vec<_> =
            requests.iter().map(|request| &request.selection).zip(&mut destinations).collect();
        signals::detach(py, || self.core.read_many_shaped(Some(extent), &mut reads, &options)).or_raise()?;
        read::warn_of_missing(py, self)?;
        drop(destinations);
        Ok(arrays)
    }

    /// Reads to an array of the shape of the request, or of a shape that it is broadcast to. For a region
    /// reference, as in h5py, only the number of elements counts.
    fn read_or_broadcast<'py>(
        &self,
        py: Python<'py>,
        request: &Request,
        dest: &Bound<'py, PyUntypedArray>,
        is_region: bool,
    ) -> PyResult<()> {
        if dest.shape() == &request.shape[..] || self.translation(py)?.descr.bind(py).has_subarray() {
            return read::into(py, self, request, dest, None);
        }
        let mut whole = read::array(py, self, self.translation(py)?, request, None)?;
        if is_region && whole.len() == dest.len() {
            whole = whole.call_method1("reshape", (PyTuple::new(py, dest.shape())?,))?.cast_into()?;
        }
        let place = dest.get_item(py.Ellipsis())?;
        place.set_item(py.Ellipsis(), &whole).map_err(|error| {
            if !error.is_instance_of::<PyValueError>(py) {
                return error;
            }
            let shapes = PyTuple::new(py, &request.shape)
                .and_then(|from| Ok((from.repr()?, PyTuple::new(py, dest.shape())?.repr()?)));
            shapes.map_or_else(
                |other| other,
                |(from, to)| PyTypeError::new_err(format!("Can't broadcast {from} -> {to}")),
            )
        })
    }
}
