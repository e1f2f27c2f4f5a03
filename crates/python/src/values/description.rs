//! Datatypes as tuples of Python: what `hyperslab.low.h5t` builds its identifiers on.
//!
//! A description is a tuple. Its first item names the class; the others are the properties of the class in
//! the order of the structures of `hyperslab_format::datatype`. Base types and members are descriptions.

use hyperslab_format::datatype::{
    Array, BitRange, Bits, ByteOrder, Charset, Complex, Compound, Datatype, Enumeration, Float, Integer,
    Member, Normalization, Opaque, Padding, Reference, ReferenceKind, Text, Time, VariableText,
};
use hyperslab_format::{Addr, Reader, Structure, Widths, Writer};
use numpy::PyArrayDescr;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::interpreter::error::OrRaise;
use crate::values::dtype::{descr_of, translated};
use crate::values::stored::stored_datatype;

/// The deepest nesting of a description, which is more than any file may have.
const DEEPEST: usize = 64;

/// Byte orders by libhdf5's numbers.
const ORDERS: [ByteOrder; 3] = [ByteOrder::Little, ByteOrder::Big, ByteOrder::Vax];
/// Paddings by their numbers.
const PADDINGS: [Padding; 3] = [Padding::NullTerminated, Padding::NullPadded, Padding::SpacePadded];
/// Normalizations by libhdf5's numbers, which are not those of the file format.
const NORMALIZATIONS: [Normalization; 3] =
    [Normalization::Implied, Normalization::MsbSet, Normalization::None];
/// Kinds of references by their numbers.
const REFERENCES: [ReferenceKind; 5] = [
    ReferenceKind::Object1,
    ReferenceKind::Region1,
    ReferenceKind::Object2,
    ReferenceKind::Region2,
    ReferenceKind::Attribute,
];

/// Returns the one of `all` that has a number.
fn numbered<T: Copy>(what: &str, number: u8, all: &[T]) -> PyResult<T> {
    all.get(usize::from(number))
        .copied()
        .ok_or_else(|| PyValueError::new_err(format!("{what} must be 0 to {}, not {number}", all.len() - 1)))
}

/// Returns the description of a datatype.
pub(crate) fn describe<'py>(py: Python<'py>, datatype: &Datatype) -> PyResult<Bound<'py, PyTuple>> {
    match datatype {
        Datatype::Integer(t) => {
            let bits = (t.bits.offset, t.bits.precision);
            ("integer", t.size, t.order as u8, t.signed, t.low_pad, t.high_pad, bits).into_pyobject(py)
        }
        Datatype::Float(t) => {
            let fields =
                (t.sign_location, t.exponent_location, t.exponent_size, t.mantissa_location, t.mantissa_size);
            let pads = (t.low_pad, t.high_pad, t.internal_pad);
            let bits = (t.bits.offset, t.bits.precision);
            let norm = NORMALIZATIONS.iter().position(|known| *known == t.normalization);
            ("float", t.size, t.order as u8, pads, norm, bits, fields, t.exponent_bias).into_pyobject(py)
        }
        Datatype::Time(t) => ("time", t.size, t.order as u8, t.precision).into_pyobject(py),
        Datatype::Text(t) => {
            ("string", t.size, t.padding as u8, t.charset == Charset::Utf8).into_pyobject(py)
        }
        Datatype::VariableText(t) => {
            ("vlen string", t.padding as u8, t.charset == Charset::Utf8).into_pyobject(py)
        }
        Datatype::Bits(t) => {
            let bits = (t.bits.offset, t.bits.precision);
            ("bitfield", t.size, t.order as u8, t.low_pad, t.high_pad, bits).into_pyobject(py)
        }
        Datatype::Opaque(t) => ("opaque", t.size, &*t.tag).into_pyobject(py),
        Datatype::Compound(t) => {
            let member = |member: &Member| {
                (&*member.name, member.offset, describe(py, &member.datatype)?).into_pyobject(py)
            };
            let members = t.members.iter().map(member).collect::<PyResult<Vec<_>>>()?;
            ("compound", t.size, PyTuple::new(py, members)?).into_pyobject(py)
        }
        Datatype::Reference(t) => ("reference", t.size, t.kind as u8).into_pyobject(py),
        Datatype::Enumeration(t) => {
            let member =
                |(name, value): &(String, Vec<u8>)| (&**name, PyBytes::new(py, value)).into_pyobject(py);
            let members = t.members.iter().map(member).collect::<PyResult<Vec<_>>>()?;
            ("enum", describe(py, &t.base)?, PyTuple::new(py, members)?).into_pyobject(py)
        }
        Datatype::Sequence(base) => ("vlen", describe(py, base)?).into_pyobject(py),
        Datatype::Array(t) => {
            ("array", describe(py, &t.base)?, PyTuple::new(py, &t.shape)?).into_pyobject(py)
        }
        Datatype::Complex(t) => ("complex", describe(py, &t.base)?).into_pyobject(py),
    }
}

/// Returns the datatype of a description.
pub(crate) fn described(description: &Bound<'_, PyAny>) -> PyResult<Datatype> {
    nested(description, 0)
}

fn nested(description: &Bound<'_, PyAny>, depth: usize) -> PyResult<Datatype> {
    if depth > DEEPEST {
        return Err(PyValueError::new_err(format!("datatype nested more than {DEEPEST} levels deep")));
    }
    let tuple = description.cast::<PyTuple>()?;
    let class: String = tuple.get_item(0)?.extract()?;
    let base = |index| Ok::<_, PyErr>(Box::new(nested(&tuple.get_item(index)?, depth + 1)?));
    let byte = |index| tuple.get_item(index)?.extract::<u8>();
    let size = || tuple.get_item(1)?.extract::<u32>();
    let flag = |index| tuple.get_item(index)?.is_truthy();
    let charset = |index| Ok::<_, PyErr>(if flag(index)? { Charset::Utf8 } else { Charset::Ascii });
    let bits = |index| {
        let (offset, precision) = tuple.get_item(index)?.extract()?;
        Ok::<_, PyErr>(BitRange { offset, precision })
    };
    Ok(match &*class {
        "integer" => Datatype::Integer(Integer {
            size: size()?,
            order: numbered("byte order", byte(2)?, &ORDERS)?,
            signed: flag(3)?,
            low_pad: flag(4)?,
            high_pad: flag(5)?,
            bits: bits(6)?,
        }),
        "float" => {
            let (low_pad, high_pad, internal_pad) = tuple.get_item(3)?.extract()?;
            let (sign_location, exponent_location, exponent_size, mantissa_location, mantissa_size) =
                tuple.get_item(6)?.extract()?;
            Datatype::Float(Float {
                size: size()?,
                order: numbered("byte order", byte(2)?, &ORDERS)?,
                low_pad,
                high_pad,
                internal_pad,
                normalization: numbered("normalization", byte(4)?, &NORMALIZATIONS)?,
                bits: bits(5)?,
                sign_location,
                exponent_location,
                exponent_size,
                mantissa_location,
                mantissa_size,
                exponent_bias: tuple.get_item(7)?.extract()?,
            })
        }
        "time" => Datatype::Time(Time {
            size: size()?,
            order: numbered("byte order", byte(2)?, &ORDERS)?,
            precision: tuple.get_item(3)?.extract()?,
        }),
        "string" => Datatype::Text(Text {
            size: size()?,
            padding: numbered("padding", byte(2)?, &PADDINGS)?,
            charset: charset(3)?,
        }),
        "vlen string" => Datatype::VariableText(VariableText {
            padding: numbered("padding", byte(1)?, &PADDINGS)?,
            charset: charset(2)?,
        }),
        "bitfield" => Datatype::Bits(Bits {
            size: size()?,
            order: numbered("byte order", byte(2)?, &ORDERS)?,
            low_pad: flag(3)?,
            high_pad: flag(4)?,
            bits: bits(5)?,
        }),
        "opaque" => Datatype::Opaque(Opaque { size: size()?, tag: tuple.get_item(2)?.extract()? }),
        "compound" => {
            let mut members = Vec::new();
            for member in tuple.get_item(2)?.try_iter()? {
                let (name, offset, datatype): (String, u32, Bound<'_, PyAny>) = member?.extract()?;
                members.push(Member { name, offset, datatype: nested(&datatype, depth + 1)? });
            }
            Datatype::Compound(Compound { size: size()?, members })
        }
        "reference" => Datatype::Reference(Reference {
            size: size()?,
            kind: numbered("kind of reference", byte(2)?, &REFERENCES)?,
        }),
        "enum" => {
            let members: Vec<(String, Vec<u8>)> = tuple.get_item(2)?.extract()?;
            Datatype::Enumeration(Enumeration { base: base(1)?, members })
        }
        "vlen" => Datatype::Sequence(base(1)?),
        "array" => Datatype::Array(Array { base: base(1)?, shape: tuple.get_item(2)?.extract()? }),
        "complex" => Datatype::Complex(Complex { base: base(1)? }),
        _ => return Err(PyTypeError::new_err(format!("unknown class of datatypes: {class:?}"))),
    })
}

/// Returns the description of the datatype that a new dataset of this dtype gets.
#[pyfunction]
#[pyo3(name = "_describe_dtype")]
pub(crate) fn describe_dtype<'py>(dtype: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
    describe(dtype.py(), &stored_datatype(&descr_of(dtype)?, Widths::EIGHT.offset.bytes())?)
}

/// Returns the dtype of elements with this datatype, as a dataset has it.
#[pyfunction]
#[pyo3(name = "_described_dtype")]
pub(crate) fn described_dtype(description: &Bound<'_, PyAny>) -> PyResult<Py<PyArrayDescr>> {
    Ok(translated(description.py(), &described(description)?, Widths::EIGHT)?.descr)
}

/// Returns the size of an element of this datatype in a file with 8-byte addresses.
#[pyfunction]
#[pyo3(name = "_described_size")]
pub(crate) fn described_size(description: &Bound<'_, PyAny>) -> PyResult<u64> {
    Ok(described(description)?.size(Widths::EIGHT))
}

/// Returns the bytes of the datatype message (spec IV.A.2.d).
#[pyfunction]
#[pyo3(name = "_encode_datatype")]
pub(crate) fn encode_datatype<'py>(description: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let mut bytes = Vec::new();
    described(description)?.encode(&mut Writer::new(&mut bytes, Widths::EIGHT), &());
    Ok(PyBytes::new(description.py(), &bytes))
}

/// Returns the description of the datatype in the bytes of a message.
#[pyfunction]
#[pyo3(name = "_decode_datatype")]
pub(crate) fn decode_datatype<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyTuple>> {
    let mut reader = Reader::new(bytes, Widths::EIGHT, Addr::new(0));
    let datatype = reader.structure::<Datatype>(&()).map_err(hyperslab::Error::from).or_raise()?;
    describe(py, &datatype)
}
