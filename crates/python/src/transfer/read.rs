//! Reading a selection of a dataset as a NumPy array, or one element as a scalar.

use std::num::NonZeroUsize;

use hyperslab::internals::StoredIds;
use hyperslab::{Destination, File, ReadOptions, Selection};
use hyperslab_convert::Conversion;
use hyperslab_format::datatype::Datatype;
use hyperslab_format::message::dataspace::Dataspace;
use numpy::prelude::*;
use numpy::{PyArrayDescr, PyUntypedArray};
use pyo3::exceptions::{PyMemoryError, PyOSError, PyTypeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use smallvec::SmallVec;

use crate::handles::dataset::Dataset;
use crate::interpreter::error::{OrRaise, in_one_shape};
use crate::interpreter::signals;
use crate::selection::index::{Index, Request, ResultShape};
use crate::selection::region;
use crate::values::buffer;
use crate::values::dtype::translated_fields;
use crate::values::empty::Empty;
use crate::values::memory::datatype_of;
use crate::values::objects::{self, Fetched};
use crate::values::string_dtype::Filler;
use crate::values::translation::{Recipe, Translation};

/// The largest size in bytes of an element that is read as a scalar without a temporary array.
const SMALL_ELEMENT: usize = 64;

/// Returns `dataset[key]`. The elements have the dtype `wanted` if given, else the dataset's own. NumPy
/// converts the elements if the engine cannot.
pub(crate) fn item<'py>(
    py: Python<'py>,
    dataset: &Dataset,
    key: &Bound<'py, PyAny>,
    wanted: Option<&Bound<'py, PyArrayDescr>>,
) -> PyResult<Bound<'py, PyAny>> {
    dataset.state.check()?;
    in_one_shape(py, || {
        if let Some(request) = dataset.core.with_shape(|extent| Request::plain(key, extent))? {
            return wanted_item(py, dataset, &request, wanted, false);
        }
        let index = Index::split(key)?;
        if dataset.core.dataspace() == Dataspace::Null {
            return if index.fields.is_empty() && (index.is_empty() || index.is_ellipsis()) {
                Ok(Bound::new(py, Empty::new(dataset.translation(py)?.descr.clone_ref(py)))?.into_any())
            } else {
                Err(PyValueError::new_err("Empty datasets cannot be sliced"))
            };
        }
        if index.region().is_some() && request_in(py, dataset, &index)?.is_none() {
            // No element of a scalar: h5py's value of an empty dataset.
            let descr = wanted.map_or_else(
                || dataset.translation(py).map(|own| own.descr.clone_ref(py)),
                |descr| Ok(descr.clone().unbind()),
            )?;
            return Ok(Bound::new(py, Empty::new(descr))?.into_any());
        }
        if let Some(descr) = wanted.filter(|_| !index.fields.is_empty()) {
            return cast_fields(py, dataset, &index, descr);
        }
        if !index.fields.is_empty() {
            let translation = FieldTranslation::new(py, dataset, &index.fields, index.single)?;
            return translation.read(py, dataset, &index);
        }
        let request = elements(py, dataset, &index)?;
        // `[...]` of a scalar dataset returns an array, and so does a region. An element selected by integers
        // is a NumPy scalar.
        let array_wanted = request.extent.is_empty() && (index.is_ellipsis() || index.region().is_some());
        wanted_item(py, dataset, &request, wanted, array_wanted)
    })
}

/// Returns the elements of a request as an array. A single element is a scalar, unless `array_wanted`.
fn wanted_item<'py>(
    py: Python<'py>,
    dataset: &Dataset,
    request: &Request,
    wanted: Option<&Bound<'py, PyArrayDescr>>,
    array_wanted: bool,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some(descr) = wanted {
        return unwrap(cast(py, dataset, request, descr)?, array_wanted);
    }
    let translation = dataset.translation(py)?;
    if request.shape.is_empty()
        && !array_wanted
        && let Some(scalar) = element(py, dataset, translation, request)?
    {
        return Ok(scalar);
    }
    unwrap(array(py, dataset, translation, request, None)?, array_wanted)
}

/// Reads records as the dtype `descr`, and returns the fields that `index` names.
fn cast_fields<'py>(
    py: Python<'py>,
    dataset: &Dataset,
    index: &Index<'py>,
    descr: &Bound<'py, PyArrayDescr>,
) -> PyResult<Bound<'py, PyAny>> {
    let known = descr.names();
    if let Some(name) = index.fields.iter().find(|name| !known.iter().flatten().any(|known| known == *name)) {
        return Err(PyValueError::new_err(format!("Field {name} does not appear in this type.")));
    }
    let request = elements(py, dataset, index)?;
    let array_wanted = request.extent.is_empty() && index.is_ellipsis();
    let records = cast(py, dataset, &request, descr)?;
    let fields =
        if index.single { records.get_item(&index.fields[0]) } else { records.get_item(&index.fields) };
    // A view would keep the other fields in memory.
    let packed = py.import("numpy.lib.recfunctions")?.getattr("repack_fields")?.call1((fields?,))?;
    unwrap(packed.call_method0("copy")?.cast_into()?, array_wanted)
}

/// Returns the elements of a request as an array of the dtype `descr`.
pub(crate) fn cast<'py>(
    py: Python<'py>,
    dataset: &Dataset,
    request: &Request,
    descr: &Bound<'py, PyArrayDescr>,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    if let Some(translation) = converted(dataset, descr)? {
        return array(py, dataset, &translation, request, None);
    }
    if descr.kind() == b'T'
        && let Some(strings) = strings(py, dataset, request, descr)?
    {
        return Ok(strings);
    }
    let own = array(py, dataset, dataset.translation(py)?, request, None)?;
    convert_in_numpy(&own, descr)
}

/// Converts an array in NumPy, or raises an exception if libhdf5 would not convert it.
pub(crate) fn convert_in_numpy<'py>(
    own: &Bound<'py, PyUntypedArray>,
    descr: &Bound<'py, PyArrayDescr>,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let source = own.dtype();
    let texts = own.py().import("hyperslab._views")?;
    match descr.kind() {
        b'U' => {
            return Err(PyTypeError::new_err(format!("No conversion path for dtype: {}", descr.repr()?)));
        }
        b'T' => return Ok(texts.call_method1("to_string_dtype", (own, descr))?.cast_into()?),
        b'V' if !source.has_object() && descr.names().is_some() && descr.names() == source.names() => {}
        b'V' if !source.has_object() && descr.has_subarray() && descr.base().kind() == b'b' => {
            return Ok(own.call_method1("astype", (descr.base(),))?.cast_into()?);
        }
        // Both are Python objects, and the metadata say of which kind.
        b'O' if source.has_object() && !descr.getattr("metadata")?.is_none() => return Ok(own.clone()),
        b'S' if source.has_object() || source.kind() == b'S' => {}
        b'b' if matches!(source.kind(), b'i' | b'u' | b'f') => {}
        _ => {
            let (from, to) = (source.repr()?, descr.repr()?);
            let message = format!("Can't read data (no conversion from {from} to {to})");
            let objects = source.has_object();
            return Err(if objects { PyTypeError::new_err(message) } else { PyOSError::new_err(message) });
        }
    }
    Ok(own.call_method1("astype", (descr,))?.cast_into()?)
}

/// Returns how to read a dataset as `descr`, or `None` if the engine cannot convert to it.
pub(crate) fn converted(dataset: &Dataset, descr: &Bound<'_, PyArrayDescr>) -> PyResult<Option<Translation>> {
    let py = descr.py();
    let widths = dataset.core.file().store().widths();
    let own = dataset.translation(py)?;
    if own.recipe.is_some() {
        return Ok(None);
    }
    let memory = if own.descr.bind(py).is_equiv_to(descr) {
        Some(own.memory.clone())
    } else {
        memory_for(dataset, descr)
    };
    let Some(memory) = memory else { return Ok(None) };
    if Conversion::with_widths(&dataset.core.datatype(), &memory, widths).is_err() {
        return Ok(None);
    }
    Ok(Some(Translation {
        descr: descr.clone().unbind(),
        memory,
        memory_size: descr.itemsize(),
        recipe: None,
    }))
}

/// Returns the datatype of `descr` in the form that the dataset uses: complex numbers may be compounds.
pub(crate) fn memory_for(dataset: &Dataset, descr: &Bound<'_, PyArrayDescr>) -> Option<Datatype> {
    datatype_of(descr).map(|memory| match (&*dataset.core.datatype(), memory) {
        (Datatype::Compound(stored), Datatype::Complex(complex)) if stored.members.len() == 2 => {
            let mut as_stored = stored.clone();
            let half = u32::try_from(descr.itemsize() / 2).unwrap_or(u32::MAX);
            as_stored.size = half.saturating_mul(2);
            for (member, offset) in as_stored.members.iter_mut().zip([0, half]) {
                member.offset = offset;
                member.datatype = (*complex.base).clone();
            }
            Datatype::Compound(as_stored)
        }
        (_, memory) => memory,
    })
}

/// The translation of some members of a compound.
#[derive(Debug)]
pub(crate) struct FieldTranslation {
    translation: Translation,
    /// The dtype of the result.
    pub(crate) descr: Py<PyArrayDescr>,
    /// The member whose values are the result. `None` if the result has records.
    single: Option<String>,
}

impl FieldTranslation {
    /// Returns how to read the members `names`: as records, or with `single`, as the first member itself.
    pub(crate) fn new(py: Python<'_>, dataset: &Dataset, names: &[String], single: bool) -> PyResult<Self> {
        let widths = dataset.core.file().store().widths();
        let (datatype, convention) = (dataset.core.datatype(), dataset.convention());
        let (translation, descr) = translated_fields(py, &datatype, names, single, widths, convention)?;
        let single = if single { names.first().cloned() } else { None };
        Ok(Self { translation, descr, single })
    }

    /// Reads the selection of `index`, and ignores its field names.
    pub(crate) fn read<'py>(
        &self,
        py: Python<'py>,
        dataset: &Dataset,
        index: &Index<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        dataset.state.check()?;
        let (request, array) = in_one_shape(py, || {
            let request = elements(py, dataset, index)?;
            let array = array(py, dataset, &self.translation, &request, None)?;
            Ok((request, array))
        })?;
        let array_wanted = request.extent.is_empty() && index.is_ellipsis();
        match &self.single {
            None => unwrap(array, array_wanted),
            Some(name) => {
                let field = array.get_item(name)?;
                if array.ndim() > 0 {
                    // A view would have gaps between elements, and keep the other members in memory.
                    return field.py().import("numpy")?.call_method1("ascontiguousarray", (field,));
                }
                if array_wanted { Ok(field) } else { field.get_item(PyTuple::empty(py)) }
            }
        }
    }
}

/// Reads the elements of a request into a new array.
pub(crate) fn array<'py>(
    py: Python<'py>,
    dataset: &Dataset,
    translation: &Translation,
    request: &Request,
    threads: Option<NonZeroUsize>,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let count: Option<usize> = request.shape.iter().try_fold(1usize, |count, &len| count.checked_mul(len));
    if translation.recipe.is_some() {
        let (file, raw, fetched) = fetched(py, dataset, translation, request, threads)?;
        return objects::array_of(py, &file, translation, &raw, &fetched, &request.shape);
    }
    let mut array = buffer::empty(py, &request.shape, translation.descr.bind(py))?;
    if count != Some(0) {
        let options = options(py, dataset, translation, threads);
        let bytes = buffer::bytes_mut(&mut array)?;
        if options.datatype.is_some() && translation.descr.bind(py).has_fields() {
            // A conversion does not write the gaps between members.
            bytes.fill(0);
        }
        read(py, dataset, request, Destination::contiguous(bytes).untouched(), &options)?;
    }
    Ok(array)
}

/// Reads the stored elements of a request, and the heap objects to which they refer.
fn fetched(
    py: Python<'_>,
    dataset: &Dataset,
    translation: &Translation,
    request: &Request,
    threads: Option<NonZeroUsize>,
) -> PyResult<(File, Vec<u8>, Fetched)> {
    read_stored(py, dataset, translation, request, threads, |file, raw| {
        objects::fetch(file, translation, raw)
    })
}

/// Reads the stored elements of a request, and calls `use_them` with them while the heap objects to which
/// they refer stay in their file, which is the first of the results. The GIL is released meanwhile.
fn read_stored<T: Send>(
    py: Python<'_>,
    dataset: &Dataset,
    translation: &Translation,
    request: &Request,
    threads: Option<NonZeroUsize>,
    use_them: impl Send + FnOnce(&File, &[u8]) -> hyperslab::Result<T>,
) -> PyResult<(File, Vec<u8>, T)> {
    let too_large = || PyMemoryError::new_err("the result is too large");
    let bytes = request.shape.iter().try_fold(translation.memory_size, |bytes, &len| bytes.checked_mul(len));
    let bytes = bytes.ok_or_else(too_large)?;
    Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| too_large())?;
    let mut raw = vec![0; bytes];
    let (options, core) = (options(py, dataset, translation, threads), &dataset.core);
    let used = signals::detach(py, || -> hyperslab::Result<(File, T)> {
        // The guard keeps the objects until they are read.
        let _reading = core.file().reading_vlen();
        let file = if bytes > 0 {
            let mut destination = Destination::contiguous(&mut raw).untouched();
            let Request { extent, selection, .. } = request;
            core.read_with_heap(Some(extent), selection, &mut destination, &options)?
        } else {
            core.file().clone()
        };
        let used = use_them(&file, &raw)?;
        Ok((file, used))
    });
    let (file, used) = used.or_raise()?;
    warn_of_missing(py, dataset)?;
    Ok((file, raw, used))
}

/// The strings of variable length of `dataset[key]`.
pub(crate) struct Texts {
    fetched: Fetched,
    /// The shape of the result.
    pub(crate) shape: ResultShape,
    /// Whether a single string is an array, too.
    pub(crate) array_wanted: bool,
}

impl Texts {
    /// Reads the strings. Returns `None` if the elements are something else, or if `key` names fields.
    pub(crate) fn read(py: Python<'_>, dataset: &Dataset, key: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        dataset.state.check()?;
        let translation = dataset.translation(py)?;
        let index = Index::split(key)?;
        let is_text = matches!(translation.recipe, Some(Recipe::Text(_)));
        if !is_text || !index.fields.is_empty() || dataset.core.dataspace() == Dataspace::Null {
            return Ok(None);
        }
        in_one_shape(py, || {
            let request = elements(py, dataset, &index)?;
            let (_, _, fetched) = fetched(py, dataset, translation, &request, None)?;
            let array_wanted = request.extent.is_empty() && index.is_ellipsis();
            Ok(Some(Self { fetched, shape: request.shape, array_wanted }))
        })
    }

    /// Returns the bytes of each string.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.fetched.texts()
    }
}

/// Returns the strings of a request as an array of NumPy's `StringDType`, or `None` if the elements are no
/// strings of variable length.
fn strings<'py>(
    py: Python<'py>,
    dataset: &Dataset,
    request: &Request,
    descr: &Bound<'py, PyArrayDescr>,
) -> PyResult<Option<Bound<'py, PyUntypedArray>>> {
    let translation = dataset.translation(py)?;
    let Some(Recipe::Text(_)) = translation.recipe else { return Ok(None) };
    let array = buffer::empty(py, &request.shape, descr)?;
    let filler = Filler::new(&array)?;
    let (sink, size) = (filler.sink(), translation.memory_size);
    read_stored(py, dataset, translation, request, None, |file, raw| {
        file.vlen_gather(&StoredIds::new(raw, 0, size, file.store().widths()), 1, sink)
    })?;
    filler.finish()?;
    Ok(Some(array))
}

fn read(
    py: Python<'_>,
    dataset: &Dataset,
    request: &Request,
    mut destination: Destination<'_>,
    options: &ReadOptions,
) -> PyResult<()> {
    let Request { extent, selection, .. } = request;
    signals::detach(py, || dataset.core.read_shaped(Some(extent), selection, &mut destination, options))
        .or_raise()?;
    warn_of_missing(py, dataset)
}

/// Warns of sources of a virtual dataset that do not exist. Their elements read as the fill value.
pub(crate) fn warn_of_missing(py: Python<'_>, dataset: &Dataset) -> PyResult<()> {
    for (file, name) in dataset.core.take_missing_sources() {
        let path = dataset.core.path();
        let message = format!(
            "virtual dataset {path:?}: its source {name:?} in the file {file:?} does not exist: the elements read as \
             the fill value"
        );
        let message = std::ffi::CString::new(message.replace('\0', ""))?;
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &message, 1)?;
    }
    Ok(())
}

/// Reads one element as a NumPy scalar. `None` if the element is large, an array or a Python object.
fn element<'py>(
    py: Python<'py>,
    dataset: &Dataset,
    translation: &Translation,
    request: &Request,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let size = translation.memory_size;
    let descr = translation.descr.bind(py);
    if translation.recipe.is_some() || size > SMALL_ELEMENT || descr.has_subarray() {
        return Ok(None);
    }
    let mut bytes = [0; SMALL_ELEMENT];
    let bytes = &mut bytes[..size];
    let options = options(py, dataset, translation, None);
    read(py, dataset, request, Destination::contiguous(bytes), &options)?;
    buffer::scalar(descr, bytes).map(Some)
}

/// Reads a request into the caller's array `out`, which has the shape of the request and any dtype.
pub(crate) fn into<'py>(
    py: Python<'py>,
    dataset: &Dataset,
    request: &Request,
    out: &Bound<'py, PyUntypedArray>,
    threads: Option<NonZeroUsize>,
) -> PyResult<()> {
    let own = dataset.translation(py)?.descr.bind(py);
    let mut shape: SmallVec<[usize; 4]> = request.shape.clone();
    if own.has_subarray() {
        shape.extend(own.shape());
    }
    if shape[..] != *out.shape() {
        return Err(PyTypeError::new_err(format!(
            "Can't broadcast {} -> {}",
            PyTuple::new(py, &shape)?.repr()?,
            PyTuple::new(py, out.shape())?.repr()?
        )));
    }
    let element = if own.has_subarray() {
        let spec = (out.dtype(), PyTuple::new(py, own.shape())?);
        py.get_type::<PyArrayDescr>().call1((spec,))?.cast_into::<PyArrayDescr>()?
    } else {
        out.dtype()
    };
    if let Some(translation) = converted(dataset, &element)? {
        let shape = request.selection.shape(&request.extent);
        let mut place = out.clone();
        if let Some(destination) = buffer::destination(&mut place, &shape, translation.memory_size)? {
            if !out.is_empty() {
                read(py, dataset, request, destination, &options(py, dataset, &translation, threads))?;
            }
            return Ok(());
        }
    }
    let whole = array(py, dataset, dataset.translation(py)?, request, threads)?;
    out.set_item(py.Ellipsis(), whole)
}

/// Returns the engine's options for a read. They name a datatype only if the engine has to convert.
pub(crate) fn options(
    py: Python<'_>,
    dataset: &Dataset,
    translation: &Translation,
    threads: Option<NonZeroUsize>,
) -> ReadOptions {
    let datatype = (!dataset.is_stored_as(py, translation)).then(|| translation.memory.clone());
    ReadOptions::default().threads(threads).datatype(datatype)
}

/// Returns the array, or its one element if it has no dimensions and `array_wanted` is false.
fn unwrap(array: Bound<'_, PyUntypedArray>, array_wanted: bool) -> PyResult<Bound<'_, PyAny>> {
    if array.ndim() == 0 && !array_wanted {
        let py = array.py();
        return array.get_item(PyTuple::empty(py));
    }
    Ok(array.into_any())
}

/// Returns the request for the selection `sel`, or for the whole dataset without `sel`.
pub(crate) fn request_of(dataset: &Dataset, sel: Option<&Bound<'_, PyAny>>) -> PyResult<Request> {
    dataset.state.check()?;
    if dataset.core.dataspace() == Dataspace::Null {
        return Err(PyTypeError::new_err("Empty datasets have no numpy representation"));
    }
    let Some(sel) = sel else { return Ok(Request::whole(&dataset.core.shape())) };
    let index = Index::split(sel)?;
    if !index.fields.is_empty() {
        return Err(PyTypeError::new_err("field names are for dataset[...] and dataset.fields(...)"));
    }
    elements(sel.py(), dataset, &index)
}

/// Returns the request for the elements that an index expression selects, or `None` for no element of a
/// scalar.
fn request_in(py: Python<'_>, dataset: &Dataset, index: &Index<'_>) -> PyResult<Option<Request>> {
    match index.region() {
        Some(reference) => region::request(py, dataset, reference),
        None => index.request(&dataset.core.shape()).map(Some),
    }
}

/// Returns the request for the elements that an index expression selects, which may be none.
fn elements(py: Python<'_>, dataset: &Dataset, index: &Index<'_>) -> PyResult<Request> {
    let none = || Request {
        extent: dataset.core.shape().into(),
        selection: Selection::None,
        shape: ResultShape::from_slice(&[0]),
    };
    Ok(request_in(py, dataset, index)?.unwrap_or_else(none))
}
