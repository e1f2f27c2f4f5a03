//! NumPy dtypes as datatypes to store: the datatypes of `memory`, and those that h5py marks with metadata.

use hyperslab_format::datatype::{
    Array, Charset, Compound, Datatype, Enumeration, Member, Opaque, Padding, Reference, ReferenceKind,
    VariableText,
};
use numpy::PyArrayDescr;
use numpy::prelude::*;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyType};

use crate::memory::datatype_of;
use crate::reference::{Reference as ObjectReference, RegionReference};

/// Returns the datatype in which elements of `descr` are stored. `width` is the size of an address, in bytes.
pub(crate) fn stored_datatype(descr: &Bound<'_, PyArrayDescr>, width: usize) -> PyResult<Datatype> {
    if descr.has_subarray() {
        let shape = descr.shape().into_iter().map(u32::try_from).collect::<Result<_, _>>()?;
        let base = Box::new(stored_datatype(&descr.base(), width)?);
        return Ok(Datatype::Array(Array { base, shape }));
    }
    if let Some(names) = descr.names() {
        let size = u32::try_from(descr.itemsize())?;
        return record(descr, names, size, width);
    }
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

/// Returns the compound for a record. Members that are Python objects have their size in the file.
fn record(
    descr: &Bound<'_, PyArrayDescr>,
    names: Vec<String>,
    size: u32,
    width: usize,
) -> PyResult<Datatype> {
    let mut members = Vec::with_capacity(names.len());
    for name in names {
        let (field, offset) = descr.get_field(&name)?;
        members.push((
            offset,
            field.itemsize(),
            Member { name, offset: 0, datatype: stored_datatype(&field, width)? },
        ));
    }
    // An object is a pointer in NumPy, and an id of another size in the file. So the members after it move.
    let mut by_offset: Vec<usize> = (0..members.len()).collect();
    by_offset.sort_by_key(|&index| members[index].0);
    let mut moved = 0_i64;
    for index in by_offset {
        let (offset, in_numpy, member) = &mut members[index];
        member.offset = u32::try_from(i64::try_from(*offset)? + moved)?;
        let widths = widths(width);
        moved += i64::try_from(member.datatype.size(widths))? - i64::try_from(*in_numpy)?;
    }
    let size = u32::try_from(i64::from(size) + moved)?;
    Ok(Datatype::Compound(Compound {
        size,
        members: members.into_iter().map(|(_, _, member)| member).collect(),
    }))
}

fn widths(width: usize) -> hyperslab_format::Widths {
    let offset = u8::try_from(width).ok().and_then(hyperslab_format::Width::from_bytes);
    let widths = hyperslab_format::Widths::EIGHT;
    hyperslab_format::Widths { offset: offset.unwrap_or(widths.offset), ..widths }
}

fn enumeration(descr: &Bound<'_, PyArrayDescr>, values: &Bound<'_, PyAny>) -> PyResult<Datatype> {
    let py = descr.py();
    let plain = PyArrayDescr::new(py, descr.getattr("str")?)?;
    let base = datatype_of(&plain).ok_or_else(|| no_equivalent(descr))?;
    let mut members = Vec::new();
    for (name, value) in values.cast::<PyDict>()? {
        let element = plain.getattr("type")?.call1((value,))?.call_method1("astype", (&plain,))?;
        let bytes = element.call_method0("tobytes")?;
        members.push((
            name.cast::<PyString>()?.to_cow()?.into_owned(),
            bytes.cast::<PyBytes>()?.as_bytes().to_vec(),
        ));
    }
    Ok(Datatype::Enumeration(Enumeration { base: Box::new(base), members }))
}

/// Returns the datatype in which h5py stores `numpy.bool`.
fn boolean() -> Datatype {
    let base = hyperslab_format::datatype::Integer::little(1, true);
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
