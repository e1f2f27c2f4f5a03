//! Plain numbers and arrays of plain numbers. Most written values are of this kind, and they need none of
//! h5py's conversion rules (`hyperslab._arrays`).

use hyperslab_format::datatype::{ByteOrder, Datatype, Float, Integer};
use numpy::PyUntypedArray;
use numpy::prelude::*;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt};

use crate::values::memory::datatype_of;

/// A Python `int` or `float`: no `bool`, no NumPy scalar, no instance of another subclass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum PlainNumber {
    Integer(i64),
    Float(f64),
}

impl PlainNumber {
    /// Returns `value` if it is a plain number that fits in eight bytes.
    pub(crate) fn of(value: &Bound<'_, PyAny>) -> Option<Self> {
        if let Ok(float) = value.cast_exact::<PyFloat>() {
            return Some(Self::Float(float.value()));
        }
        value.cast_exact::<PyInt>().ok()?.extract().ok().map(Self::Integer)
    }

    /// Returns the number as an element of NumPy's default dtype, `int64` or `float64`.
    pub(crate) fn as_new_element(self) -> (Datatype, Vec<u8>) {
        match self {
            Self::Integer(value) => {
                let datatype = Integer::little(8, true);
                (Datatype::Integer(datatype), value.to_le_bytes().to_vec())
            }
            Self::Float(value) => (Datatype::Float(Float::DOUBLE), value.to_le_bytes().to_vec()),
        }
    }

    /// Returns the number in the form that the engine converts to an element of the datatype `stored`.
    ///
    /// Returns a number only for integers of whole bytes that can represent it, and for IEEE floats of four
    /// and eight bytes. Returns `None` for other datatypes, and where NumPy would raise an exception or round
    /// differently.
    pub(crate) fn for_element_of(self, stored: &Datatype) -> Option<Self> {
        match (self, stored) {
            (Self::Integer(value), Datatype::Integer(stored)) => fits_integer(value, stored).then_some(self),
            (Self::Integer(value), Datatype::Float(stored)) => {
                let number = f64::from(i32::try_from(value).ok()?);
                fits_float(number, stored).then_some(Self::Float(number))
            }
            (Self::Float(value), Datatype::Float(stored)) => fits_float(value, stored).then_some(self),
            _ => None,
        }
    }
}

fn fits_integer(value: i64, stored: &Integer) -> bool {
    let size = stored.size;
    if !(1..=8).contains(&size) || *stored != Integer::whole(size, stored.signed, stored.order) {
        return false;
    }
    if stored.signed {
        let spare = 64 - 8 * size;
        value << spare >> spare == value
    } else {
        value >= 0 && (size == 8 || value >> (8 * size) == 0)
    }
}

fn fits_float(value: f64, stored: &Float) -> bool {
    let is_plain = matches!(stored.size, 4 | 8) && stored.order != ByteOrder::Vax;
    let is_in_range = stored.size == 8 || !value.is_finite() || value.abs() <= f64::from(f32::MAX);
    is_plain && is_in_range && Some(*stored) == Float::ieee(stored.size, stored.order)
}

/// Returns `value` if it is a C-contiguous array of plain numbers.
pub(crate) fn array<'a, 'py>(value: &'a Bound<'py, PyAny>) -> Option<&'a Bound<'py, PyUntypedArray>> {
    let array = value.cast::<PyUntypedArray>().ok()?;
    let is_plain = array.is_c_contiguous() && matches!(array.dtype().kind(), b'i' | b'u' | b'f');
    is_plain.then_some(array)
}

/// Returns `value` like [`array()`], with the datatype for a new object. Returns `None` if the dtype has
/// metadata, by which h5py marks other datatypes.
pub(crate) fn new_array<'a, 'py>(
    value: &'a Bound<'py, PyAny>,
) -> PyResult<Option<(&'a Bound<'py, PyUntypedArray>, Datatype)>> {
    let Some(array) = array(value) else { return Ok(None) };
    let dtype = array.dtype();
    if !dtype.getattr("metadata")?.is_none() {
        return Ok(None);
    }
    Ok(datatype_of(&dtype).map(|datatype| (array, datatype)))
}
