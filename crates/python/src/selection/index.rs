//! Converting the arguments of `dataset[...]` to a selection, by h5py's rules. Integers, slices and ellipses
//! are converted without calls of Python code.

use hyperslab::{Axis, Dim, Points, Selection, Slab};
use numpy::prelude::*;
use numpy::{PyArrayDyn, PyUntypedArray};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PyInt, PyList, PySlice, PyString, PyTuple};
use smallvec::SmallVec;

use crate::interpreter::error::OrRaise;
use crate::values::reference::RegionReference;

/// The elements that `dataset[args]` selects.
#[derive(Debug)]
pub(crate) struct Request {
    /// The shape of the dataset when the request was made.
    pub(crate) extent: SmallVec<[u64; 4]>,
    /// The selected elements.
    pub(crate) selection: Selection,
    /// The shape of the result: the shape of the selection without the axes that an integer indexes.
    pub(crate) shape: ResultShape,
}

/// The shape of a NumPy array.
pub(crate) type ResultShape = SmallVec<[usize; 4]>;

/// The parts of an index expression: field names, and all other arguments.
pub(crate) struct Index<'py> {
    /// The names of fields, in the order given.
    pub(crate) fields: Vec<String>,
    /// Whether `fields` is a single name outside a list. The result is then the field itself, not a record.
    pub(crate) single: bool,
    /// All other arguments.
    pub(crate) args: SmallVec<[Bound<'py, PyAny>; 4]>,
}

impl<'py> Index<'py> {
    /// Splits the expression between the brackets.
    pub(crate) fn split(key: &Bound<'py, PyAny>) -> PyResult<Self> {
        let mut index = Self { fields: Vec::new(), single: false, args: SmallVec::new() };
        match key.cast::<PyTuple>() {
            Ok(tuple) => tuple.iter_borrowed().try_for_each(|arg| index.push(&arg))?,
            Err(_) => index.push(key)?,
        }
        Ok(index)
    }

    fn push(&mut self, arg: &Bound<'py, PyAny>) -> PyResult<()> {
        if arg.is_none() {
            return Err(PyTypeError::new_err("Indexing with None (or np.newaxis) is not supported"));
        }
        if arg.is_exact_instance_of::<PyInt>() || arg.is_exact_instance_of::<PySlice>() {
            self.args.push(arg.clone());
        } else if let Ok(name) = arg.cast::<PyString>() {
            self.single = self.fields.is_empty();
            self.fields.push(name.to_cow()?.into_owned());
        } else if let Some(names) = field_list(arg) {
            self.single = false;
            self.fields.extend(names);
        } else {
            self.args.push(arg.clone());
        }
        Ok(())
    }

    /// Whether the expression is `[()]`, apart from field names.
    pub(crate) fn is_empty(&self) -> bool {
        self.args.is_empty()
    }

    /// Whether the expression is `[...]`, apart from field names.
    pub(crate) fn is_ellipsis(&self) -> bool {
        matches!(&self.args[..], [one] if one.cast::<PyEllipsis>().is_ok())
    }

    /// Returns the region reference, if the expression is `[reference]`, apart from field names.
    pub(crate) fn region(&self) -> Option<&Bound<'py, RegionReference>> {
        match &self.args[..] {
            [one] => one.cast().ok(),
            _ => None,
        }
    }

    /// Returns the request for a dataset of the shape `extent`. Region references are resolved elsewhere.
    pub(crate) fn request(&self, extent: &[u64]) -> PyResult<Request> {
        if self.is_empty() || self.is_ellipsis() {
            return Ok(Request::whole(extent));
        }
        if extent.is_empty() {
            return Err(PyValueError::new_err("Illegal slicing argument for scalar dataspace"));
        }
        if let [one] = &self.args[..]
            && let Some(request) = whole_argument(one, extent)?
        {
            return Ok(request);
        }
        self.along_axes(extent)
    }

    fn along_axes(&self, extent: &[u64]) -> PyResult<Request> {
        let rank = extent.len();
        let mut axes = Axes::new(rank);
        let ellipsis = self.args.iter().position(|arg| arg.cast::<PyEllipsis>().is_ok());
        let given = self.args.len() - usize::from(ellipsis.is_some());
        if let Some(first) = ellipsis
            && self.args[first + 1..].iter().any(|arg| arg.cast::<PyEllipsis>().is_ok())
        {
            return Err(PyValueError::new_err("Only one ellipsis may be used."));
        }
        if given > rank {
            return Err(PyValueError::new_err(format!("{given} indexing arguments for {rank} dimensions")));
        }
        for (position, arg) in self.args.iter().enumerate() {
            if Some(position) == ellipsis {
                axes.fill(rank - given, extent);
            } else {
                let len = extent[axes.dims.len()];
                axes.push(arg, len, rank)?;
            }
        }
        axes.fill(rank - axes.dims.len(), extent);
        Ok(axes.finish(extent))
    }
}

impl Request {
    /// Returns the request for all elements.
    pub(crate) fn whole(extent: &[u64]) -> Self {
        let shape = extent.iter().map(|&len| host(len)).collect();
        Self { extent: extent.into(), selection: Selection::All, shape }
    }

    /// Returns the request for a key of only integers and slices, or `None` for any other key, which may
    /// still be valid.
    ///
    /// Most keys are of this kind, and their reads are short enough that each step of the conversion counts.
    pub(crate) fn plain(key: &Bound<'_, PyAny>, extent: &[u64]) -> PyResult<Option<Self>> {
        let rank = extent.len();
        let mut axes = Axes::new(rank);
        match key.cast_exact::<PyTuple>() {
            Ok(tuple) if (1..=rank).contains(&tuple.len()) => {
                for (arg, &len) in tuple.iter_borrowed().zip(extent) {
                    if !axes.push_plain(&arg, len)? {
                        return Ok(None);
                    }
                }
            }
            Err(_) if rank > 0 => {
                if !axes.push_plain(key, extent[0])? {
                    return Ok(None);
                }
            }
            _ => return Ok(None),
        }
        axes.fill(rank - axes.dims.len(), extent);
        Ok(Some(axes.finish(extent)))
    }
}

/// The axes of a selection, added one by one.
struct Axes {
    dims: SmallVec<[Dim; 4]>,
    /// The one axis that a list indexes, with its indices. Its entry in `dims` is a placeholder.
    list: Option<(usize, Vec<u64>)>,
    /// The axes that blocks index, with their indices. Their entries in `dims` are placeholders too.
    blocks: SmallVec<[(usize, Vec<u64>); 1]>,
    shape: ResultShape,
}

impl Axes {
    fn new(rank: usize) -> Self {
        Self {
            dims: SmallVec::with_capacity(rank),
            list: None,
            blocks: SmallVec::new(),
            shape: ResultShape::new(),
        }
    }

    /// Adds `count` whole axes.
    fn fill(&mut self, count: usize, extent: &[u64]) {
        for _ in 0..count {
            let len = extent[self.dims.len()];
            self.dims.push(Dim::range(0, len));
            self.shape.push(host(len));
        }
    }

    /// Adds an axis that a slice or an integer indexes. Returns `false` if `arg` is neither.
    fn push_plain(&mut self, arg: &Bound<'_, PyAny>, len: u64) -> PyResult<bool> {
        if let Ok(slice) = arg.cast::<PySlice>() {
            let dim = slice_dim(slice, len)?;
            self.dims.push(dim);
            self.shape.push(host(dim.count));
        } else if arg.is_exact_instance_of::<PyInt>()
            && let Some(index) = integer(arg, len)?
        {
            self.dims.push(Dim::one(index));
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn push(&mut self, arg: &Bound<'_, PyAny>, len: u64, rank: usize) -> PyResult<()> {
        if self.push_plain(arg, len)? {
            return Ok(());
        }
        if let Some(index) = integer(arg, len)? {
            self.dims.push(Dim::one(index));
        } else if let Some((start, stride, count, block)) = blocks(arg, len)? {
            let indices: Vec<u64> = (0..count)
                .flat_map(|number| (0..block).map(move |index| start + number * stride + index))
                .collect();
            self.shape.push(indices.len());
            self.blocks.push((self.dims.len(), indices));
            self.dims.push(Dim::range(0, 0));
        } else {
            let indices = index_list(arg, len, rank)?;
            if self.list.is_some() {
                return Err(PyTypeError::new_err(
                    "Only one indexing vector or array is currently allowed for fancy indexing",
                ));
            }
            check_list(&indices, len)?;
            self.shape.push(indices.len());
            self.list =
                Some((self.dims.len(), indices.into_iter().map(|index| counted(index, len)).collect()));
            self.dims.push(Dim::range(0, 0));
        }
        Ok(())
    }

    fn finish(self, extent: &[u64]) -> Request {
        let Self { dims, list, blocks, shape } = self;
        let selection = match list {
            None if blocks.is_empty()
                && dims.iter().zip(extent).all(|(dim, &len)| *dim == Dim::range(0, len)) =>
            {
                Selection::All
            }
            None if blocks.is_empty() => Selection::Slab(Slab(dims)),
            list => {
                let mut axes: Vec<Axis> = dims.into_iter().map(Axis::Range).collect();
                for (axis, indices) in blocks.into_iter().chain(list) {
                    axes[axis] = Axis::from_indices(indices);
                }
                Selection::from_axes(axes)
            }
        };
        Request { extent: extent.into(), selection, shape }
    }
}

/// Single elements, in any order: a selection that `hyperslab.low` makes of dataspaces.
///
/// `dataset[_PointList(coordinates)]` is one-dimensional, in the order of the list.
#[pyclass(frozen, name = "_PointList", module = "hyperslab._native")]
#[derive(Debug)]
pub(crate) struct PointList {
    points: Points,
}

#[pymethods]
impl PointList {
    #[new]
    fn new(coordinates: &Bound<'_, PyArrayDyn<u64>>) -> PyResult<Self> {
        let coordinates = coordinates.try_readonly()?;
        let coordinates = coordinates.as_array();
        let rank = coordinates.shape().last().copied().unwrap_or(0);
        let list: Vec<u64> = coordinates.iter().copied().collect();
        Ok(Self { points: Points::new(rank, list).or_raise()? })
    }
}

/// Returns the request if one argument selects from the whole dataset: a mask of the dataset's shape.
fn whole_argument(arg: &Bound<'_, PyAny>, extent: &[u64]) -> PyResult<Option<Request>> {
    if let Ok(list) = arg.cast::<PointList>() {
        let selection = Selection::Points(list.get().points.clone());
        selection.check(extent).or_raise()?;
        let shape = ResultShape::from_slice(&[list.get().points.len()]);
        return Ok(Some(Request { extent: extent.into(), selection, shape }));
    }
    let Ok(array) = arg.cast::<PyUntypedArray>() else { return selection_object(arg, extent) };
    if array.dtype().kind() != b'b' {
        return Ok(None);
    }
    let shape = array.shape();
    let same = |extent: &[u64]| {
        shape.len() == extent.len() && shape.iter().zip(extent).all(|(&a, &b)| a as u64 == b)
    };
    if same(extent) {
        let mask = array.cast::<PyArrayDyn<bool>>()?.try_readonly()?;
        let mask: Vec<bool> = mask.as_array().iter().copied().collect();
        let chosen = mask.iter().filter(|chosen| **chosen).count();
        let selection = Selection::from_mask(&mask, extent).or_raise()?;
        let shape = ResultShape::from_slice(&[chosen]);
        return Ok(Some(Request { extent: extent.into(), selection, shape }));
    }
    if same(&extent[..1]) {
        return Ok(None);
    }
    Err(PyTypeError::new_err("Boolean indexing array has incompatible shape"))
}

/// Returns the request for a selection object of h5py (`h5py._hl.selections`), or `None` for anything else.
fn selection_object(arg: &Bound<'_, PyAny>, extent: &[u64]) -> PyResult<Option<Request>> {
    let builtin = arg.is_exact_instance_of::<PyInt>()
        || arg.is_exact_instance_of::<PySlice>()
        || arg.is_exact_instance_of::<PyList>();
    if builtin || !arg.hasattr("_key_and_shape")? {
        return Ok(None);
    }
    let given = arg.call_method1("_key_and_shape", (PyTuple::new(arg.py(), extent)?,))?;
    let (key, shape): (Bound<'_, PyAny>, Vec<usize>) = given.extract()?;
    let mut request = Index::split(&key)?.request(extent)?;
    request.shape = shape.into();
    Ok(Some(request))
}

/// Returns the field names in a list, as in `[["x", "y"]]`.
fn field_list(arg: &Bound<'_, PyAny>) -> Option<Vec<String>> {
    let list = arg.cast::<PyList>().ok()?;
    let first = list.get_item(0).ok()?;
    first.cast::<PyString>().ok()?;
    list.extract().ok()
}

fn slice_dim(slice: &Bound<'_, PySlice>, len: u64) -> PyResult<Dim> {
    let length = isize::try_from(len).map_err(|_| PyIndexError::new_err("dimension too long for a slice"))?;
    let indices = slice.indices(length)?;
    if indices.step < 1 {
        return Err(PyValueError::new_err(format!("Step must be >= 1 (got {})", indices.step)));
    }
    if indices.slicelength == 0 {
        return Ok(Dim::range(0, 0));
    }
    Ok(Dim {
        start: indices.start.unsigned_abs() as u64,
        step: indices.step.unsigned_abs() as u64,
        count: indices.slicelength as u64,
    })
}

/// Returns an index as a position along an axis of the length `len`, or `None` if `arg` is not an integer.
fn integer(arg: &Bound<'_, PyAny>, len: u64) -> PyResult<Option<u64>> {
    let out_of_range = |index: &dyn std::fmt::Display| {
        PyIndexError::new_err(match len.checked_sub(1) {
            Some(last) => format!("Index ({index}) out of range for (0-{last})"),
            None => format!("Index ({index}) out of range for empty dimension"),
        })
    };
    match arg.extract::<i64>() {
        Ok(index) => {
            let counted = if index < 0 { i128::from(index) + i128::from(len) } else { index.into() };
            match u64::try_from(counted) {
                Ok(position) if position < len => Ok(Some(position)),
                _ => Err(out_of_range(&counted)),
            }
        }
        Err(_) if arg.is_instance_of::<PyInt>() => Err(out_of_range(arg)),
        Err(_) => Ok(None),
    }
}

/// Returns the start, stride, count and block of a `MultiBlockSlice` along an axis of the length `len`, or
/// `None` if `arg` is not a `MultiBlockSlice`.
fn blocks(arg: &Bound<'_, PyAny>, len: u64) -> PyResult<Option<(u64, u64, u64, u64)>> {
    let class = arg.py().import("hyperslab._selections")?.getattr("MultiBlockSlice")?;
    if !arg.is_instance(&class)? {
        return Ok(None);
    }
    arg.call_method1("indices", (len,))?.extract().map(Some)
}

/// Returns the indices in a list or an array, or the indices of the true elements of a mask.
fn index_list(arg: &Bound<'_, PyAny>, len: u64, rank: usize) -> PyResult<Vec<i64>> {
    let py = arg.py();
    let array = match arg.cast::<PyUntypedArray>() {
        Ok(array) if array.ndim() == 1 => array.clone(),
        Ok(_) => return Err(PyTypeError::new_err("Only 1D arrays allowed for fancy indexing")),
        Err(_) => {
            let array = py.import("numpy")?.call_method1("asarray", (arg,))?.cast_into::<PyUntypedArray>()?;
            if array.ndim() != 1 {
                return Err(PyTypeError::new_err(format!("Selection can't process {}", arg.repr()?)));
            }
            if array.is_empty() {
                return Ok(Vec::new());
            }
            array
        }
    };
    let indices = match array.dtype().kind() {
        b'b' if rank == 1 => {
            return Err(PyTypeError::new_err("Use other code for boolean selection on 1D dataset"));
        }
        b'b' if array.len() as u64 != len => {
            return Err(PyTypeError::new_err("boolean index did not match indexed array"));
        }
        b'b' => array.call_method0("nonzero")?.get_item(0)?,
        b'i' | b'u' => array.into_any(),
        _ => return Err(PyTypeError::new_err("Indexing arrays must have integer dtypes")),
    };
    let indices = indices.call_method1("astype", ("=i8",))?;
    let indices = indices.cast::<PyArrayDyn<i64>>()?.try_readonly()?;
    Ok(indices.as_array().iter().copied().collect())
}

/// Checks h5py's conditions on a list of indices: in range, and increasing.
fn check_list(indices: &[i64], len: u64) -> PyResult<()> {
    let out_of_range = |most: u64| {
        let outside = indices.iter().any(|&index| counted(index, len) > most);
        outside.then(|| {
            PyIndexError::new_err(match len.checked_sub(1) {
                Some(last) => format!("Fancy indexing out of range for (0-{last})"),
                None => "Fancy indexing out of range for empty dimension".to_owned(),
            })
        })
    };
    // h5py accepts an index equal to the length until it has checked the order. So a list with both faults
    // raises the error about the order.
    if let Some(error) = out_of_range(len) {
        return Err(error);
    }
    let rising = indices.iter().zip(indices.get(1..).unwrap_or_default());
    if rising.into_iter().any(|(&a, &b)| counted(a, len) >= counted(b, len)) {
        return Err(PyTypeError::new_err(
            "Indexing elements must be in increasing order: read_many takes indices in any order",
        ));
    }
    match len.checked_sub(1) {
        Some(last) => out_of_range(last).map_or(Ok(()), Err),
        None => Ok(()),
    }
}

/// Returns the position of an index that may count from the end: past the end for an index out of range.
fn counted(index: i64, len: u64) -> u64 {
    if index < 0 { len.checked_sub(index.unsigned_abs()).unwrap_or(u64::MAX) } else { index.unsigned_abs() }
}

/// Returns a length as `usize`, or if it is too large, `usize::MAX`, for which NumPy raises an exception.
fn host(len: u64) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX)
}
