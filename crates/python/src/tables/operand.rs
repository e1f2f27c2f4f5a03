//! Scalars of Python and NumPy as operands of expressions, and NumPy's dtypes as their types.

use hyperslab_expr::{Operand, Type, Unit, Value};
use numpy::PyArrayDescr;
use numpy::prelude::*;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyComplex, PyFloat, PyInt, PyString};

/// Returns the operand that a scalar is: a number, text or bytes of Python, or a scalar of NumPy.
pub(crate) fn scalar(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Operand> {
    // NumPy's scalars first: some of their classes are subclasses of Python's.
    if let Ok(dtype) = value.getattr("dtype") {
        let kind = type_of(&dtype.cast_into()?)?;
        let bytes = value.call_method1("astype", (name_of(kind),))?.call_method0("tobytes")?;
        return Ok(Operand::Typed(kind, bytes.extract()?));
    }
    let value = if value.is_instance_of::<PyBool>() {
        Value::Bool(value.extract()?)
    } else if value.is_instance_of::<PyInt>() {
        Value::Int(value.extract()?)
    } else if value.is_instance_of::<PyFloat>() {
        Value::Float(value.extract()?)
    } else if let Ok(number) = value.cast::<PyComplex>() {
        Value::Complex(number.real(), number.imag())
    } else if let Ok(bytes) = value.cast::<PyBytes>() {
        Value::Bytes(bytes.as_bytes().to_vec())
    } else if value.is_instance_of::<PyString>() {
        Value::Text(value.extract()?)
    } else {
        let class = value.get_type().name()?;
        let message = format!("{name} is no number, text or column, but a {class}");
        return Err(PyTypeError::new_err(message));
    };
    Ok(Operand::Scalar(value))
}

/// Returns the type of the elements of a dtype.
pub(crate) fn type_of(descr: &Bound<'_, PyArrayDescr>) -> PyResult<Type> {
    let size = descr.itemsize();
    let kind = match (descr.kind(), size) {
        (b'b', 1) => Type::Bool,
        (b'i', 1) => Type::I8,
        (b'i', 2) => Type::I16,
        (b'i', 4) => Type::I32,
        (b'i', 8) => Type::I64,
        (b'u', 1) => Type::U8,
        (b'u', 2) => Type::U16,
        (b'u', 4) => Type::U32,
        (b'u', 8) => Type::U64,
        (b'f', 2) => Type::F16,
        (b'f', 4) => Type::F32,
        (b'f', 8) => Type::F64,
        (b'c', 8) => Type::C64,
        (b'c', 16) => Type::C128,
        (b'S', size) => Type::Bytes(size),
        (b'U', size) => Type::Text(size / 4),
        (b'M', _) => Type::Datetime(unit(descr)?),
        (b'm', _) => Type::Timedelta(unit(descr)?),
        _ => {
            let message = format!("an expression cannot compute with {}", descr.repr()?);
            return Err(PyTypeError::new_err(message));
        }
    };
    Ok(kind)
}

/// NumPy's names of units.
const UNITS: [(&str, Unit); 14] = [
    ("generic", Unit::Generic),
    ("Y", Unit::Years),
    ("M", Unit::Months),
    ("W", Unit::Weeks),
    ("D", Unit::Days),
    ("h", Unit::Hours),
    ("m", Unit::Minutes),
    ("s", Unit::Seconds),
    ("ms", Unit::Milliseconds),
    ("us", Unit::Microseconds),
    ("ns", Unit::Nanoseconds),
    ("ps", Unit::Picoseconds),
    ("fs", Unit::Femtoseconds),
    ("as", Unit::Attoseconds),
];

fn unit(descr: &Bound<'_, PyArrayDescr>) -> PyResult<Unit> {
    let data: (String, i64) =
        descr.py().import("numpy")?.call_method1("datetime_data", (descr,))?.extract()?;
    let known = UNITS.iter().find(|(name, _)| *name == data.0).filter(|_| data.1 == 1);
    known.map(|(_, unit)| *unit).ok_or_else(|| {
        PyTypeError::new_err(format!(
            "an expression cannot compute with times in units of {} {}",
            data.1, data.0
        ))
    })
}

/// Returns NumPy's name of a type, in native byte order.
pub(crate) fn name_of(kind: Type) -> String {
    let timed = |letter: char, unit: Unit| {
        let name = UNITS.iter().find(|(_, known)| *known == unit).map_or("generic", |(name, _)| name);
        if unit == Unit::Generic { format!("{letter}8") } else { format!("{letter}8[{name}]") }
    };
    match kind {
        Type::Bool => "?".to_owned(),
        Type::I8 => "i1".to_owned(),
        Type::I16 => "i2".to_owned(),
        Type::I32 => "i4".to_owned(),
        Type::I64 => "i8".to_owned(),
        Type::U8 => "u1".to_owned(),
        Type::U16 => "u2".to_owned(),
        Type::U32 => "u4".to_owned(),
        Type::U64 => "u8".to_owned(),
        Type::F16 => "f2".to_owned(),
        Type::F32 => "f4".to_owned(),
        Type::F64 => "f8".to_owned(),
        Type::C64 => "c8".to_owned(),
        Type::C128 => "c16".to_owned(),
        Type::Bytes(size) => format!("S{size}"),
        Type::Text(len) => format!("U{len}"),
        Type::Datetime(unit) => timed('M', unit),
        Type::Timedelta(unit) => timed('m', unit),
    }
}
