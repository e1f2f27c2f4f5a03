//! NumPy dtypes as datatypes to store: the datatypes of `memory`, and those that h5py marks with metadata.

use hyperslab_format::datatype::{
    Array, ByteOrder, Charset, Compound, Datatype, Enumeration, Integer, Member, Opaque, Padding, Reference,
    ReferenceKind, VariableText,
};
use numpy::PyArrayDescr;
use numpy::prelude::*;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyString, PyType};

use crate::values::memory::datatype_of;
use crate::values::reference::{Reference as ObjectReference, RegionReference};

/// Returns the datatype in which elements of `descr` are stored. `width` is the size of an address, in bytes.
pub(crate) fn stored_datatype(descr: &Bound<'_, PyArrayDescr>, width: usize) -> PyResult<Datatype> {
    Ok(level(descr, width)?.0)
}

/// Returns the stored datatype, and the size of an element in libhdf5's memory, in bytes. The sizes in NumPy,
/// in libhdf5's memory and in the file differ for strings, sequences and references.
fn level(descr: &Bound<'_, PyArrayDescr>, width: usize) -> PyResult<(Datatype, usize)> {
    if descr.has_subarray() {
        let (base, size) = level(&descr.base(), width)?;
        let count = descr.shape().into_iter().product::<usize>();
        let shape = descr.shape().into_iter().map(u32::try_from).collect::<Result<_, _>>()?;
        return Ok((Datatype::Array(Array { base: Box::new(base), shape }), size * count));
    }
    if let Some(names) = descr.names() {
        return record(descr, names, width);
    }
    let datatype = single(descr, width)?;
    let in_memory = match &datatype {
        Datatype::Sequence(_) => 16,
        Datatype::Reference(Reference { kind: ReferenceKind::Region1, .. }) => 12,
        _ => descr.itemsize(),
    };
    Ok((datatype, in_memory))
}

/// Returns the datatype for a dtype that is neither a record nor a subarray.
fn single(descr: &Bound<'_, PyArrayDescr>, width: usize) -> PyResult<Datatype> {
    if let Some(values) = mark(descr, "enum")? {
        return enumeration(descr, &values);
    }
    if let Some(opaque) = mark(descr, "h5py_opaque")?
        && opaque.is_truthy()?
    {
        let name: String = descr.getattr("str")?.extract()?;
        return Ok(Datatype::Opaque(Opaque {
            size: u32::try_from(descr.itemsize())?,
            tag: format!("NUMPY:{name}"),
        }));
    }
    match descr.kind() {
        b'b' => Ok(boolean()),
        b'c' => complex(descr),
        b'O' => object(descr, width),
        b'T' => Ok(variable_text(Charset::Utf8)),
        b'S' if descr.itemsize() == 0 => Err(no_equivalent(descr)),
        _ => datatype_of(descr).ok_or_else(|| no_equivalent(descr)),
    }
}

fn no_equivalent(descr: &Bound<'_, PyArrayDescr>) -> PyErr {
    PyTypeError::new_err(format!(
        "No conversion path for dtype: {}",
        descr.repr().map_or_else(|_| String::new(), |text| text.to_string())
    ))
}

/// Returns the value of `key` in h5py's metadata of a dtype.
fn mark<'py>(descr: &Bound<'py, PyArrayDescr>, key: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let metadata = descr.getattr("metadata")?;
    if metadata.is_none() {
        return Ok(None);
    }
    let found = metadata.call_method1("get", (key,))?;
    Ok(Some(found).filter(|found| !found.is_none()))
}

/// Returns the compound for a record, and its size in libhdf5's memory. As in h5py, a member keeps its offset
/// unless the members before it need the space.
fn record(descr: &Bound<'_, PyArrayDescr>, names: Vec<String>, width: usize) -> PyResult<(Datatype, usize)> {
    let mut members = Vec::with_capacity(names.len());
    for name in names {
        let (field, offset) = descr.get_field(&name)?;
        let (datatype, in_memory) = level(&field, width)?;
        members.push((offset..offset + field.itemsize(), in_memory, Member { name, offset: 0, datatype }));
    }
    let mut by_offset: Vec<usize> = (0..members.len()).collect();
    by_offset.sort_by_key(|&index| members[index].0.start);
    // The end of the last member in NumPy and in libhdf5's memory, and the distance that members have moved
    // from there to the file.
    let (mut in_numpy, mut end, mut moved) = (0, 0, 0_i64);
    for index in by_offset {
        let (place, in_memory, member) = &mut members[index];
        // Members that overlap in NumPy do so in the datatype, which is then refused.
        let start = if place.start < in_numpy { place.start } else { end.max(place.start) };
        in_numpy = place.end;
        member.offset = u32::try_from(i64::try_from(start)? + moved)?;
        end = start + *in_memory;
        moved += i64::try_from(member.datatype.size(widths(width)))? - i64::try_from(*in_memory)?;
    }
    let in_memory = end.max(descr.itemsize());
    let size = u32::try_from(i64::try_from(in_memory)? + moved)?;
    let members = members.into_iter().map(|(_, _, member)| member).collect();
    Ok((Datatype::Compound(Compound { size, members }), in_memory))
}

fn widths(width: usize) -> hyperslab_format::Widths {
    let offset = u8::try_from(width).ok().and_then(hyperslab_format::Width::from_bytes);
    let widths = hyperslab_format::Widths::EIGHT;
    hyperslab_format::Widths { offset: offset.unwrap_or(widths.offset), ..widths }
}

fn enumeration(descr: &Bound<'_, PyArrayDescr>, values: &Bound<'_, PyAny>) -> PyResult<Datatype> {
    let py = descr.py();
    let plain = PyArrayDescr::new(py, descr.getattr("str")?)?;
    let Some(Datatype::Integer(base)) = datatype_of(&plain) else { return Err(no_equivalent(descr)) };
    let mut members = Vec::new();
    for (name, value) in values.cast::<PyDict>()? {
        members.push((name.cast::<PyString>()?.to_cow()?.into_owned(), member_bytes(&value, &base)?));
    }
    Ok(Datatype::Enumeration(Enumeration { base: Box::new(Datatype::Integer(base)), members }))
}

/// Returns the stored bytes of a value of an enumeration. Raises `OverflowError` if it does not fit.
fn member_bytes(value: &Bound<'_, PyAny>, base: &Integer) -> PyResult<Vec<u8>> {
    let py = value.py();
    let order = if base.order == ByteOrder::Big { "big" } else { "little" };
    let keywords = PyDict::new(py);
    keywords.set_item("signed", base.signed)?;
    let value = py.get_type::<PyInt>().call1((value,))?;
    value.call_method("to_bytes", (base.size, order), Some(&keywords))?.extract()
}

/// Returns the datatype in which h5py stores `numpy.bool`.
fn boolean() -> Datatype {
    let base = Integer::little(1, true);
    Datatype::Enumeration(Enumeration {
        base: Box::new(Datatype::Integer(base)),
        members: vec![("FALSE".into(), vec![0]), ("TRUE".into(), vec![1])],
    })
}

/// Returns the datatype of complex numbers: a compound of two floats, which every HDF5 program can read.
fn complex(descr: &Bound<'_, PyArrayDescr>) -> PyResult<Datatype> {
    let Some(Datatype::Complex(complex)) = datatype_of(descr) else { return Err(no_equivalent(descr)) };
    let half = u32::try_from(descr.itemsize() / 2)?;
    let member = |name: &str, offset| Member { name: name.into(), offset, datatype: (*complex.base).clone() };
    Ok(Datatype::Compound(Compound { size: half * 2, members: vec![member("r", 0), member("i", half)] }))
}

fn object(descr: &Bound<'_, PyArrayDescr>, width: usize) -> PyResult<Datatype> {
    let py = descr.py();
    if let Some(base) = mark(descr, "vlen")? {
        let builtins = py.import("builtins")?;
        if base.is(&builtins.getattr("str")?) {
            return Ok(variable_text(Charset::Utf8));
        }
        if base.is(&builtins.getattr("bytes")?) {
            return Ok(variable_text(Charset::Ascii));
        }
        let base = stored_datatype(&PyArrayDescr::new(py, base)?, width)?;
        return Ok(Datatype::Sequence(Box::new(base)));
    }
    let Some(class) = mark(descr, "ref")? else {
        return Err(PyTypeError::new_err("Object dtype dtype('O') has no native HDF5 equivalent"));
    };
    let class = class.cast::<PyType>()?;
    let (kind, size) = match () {
        () if class.is(py.get_type::<RegionReference>()) => (ReferenceKind::Region1, width + 4),
        () if class.is(py.get_type::<ObjectReference>()) => (ReferenceKind::Object1, width),
        () => return Err(no_equivalent(descr)),
    };
    Ok(Datatype::Reference(Reference { size: u32::try_from(size)?, kind }))
}

fn variable_text(charset: Charset) -> Datatype {
    Datatype::VariableText(VariableText { padding: Padding::NullTerminated, charset })
}
