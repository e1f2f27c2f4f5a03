//! The columns that a condition names, as the expression takes them: native numbers, one array for each.

use std::ops::Range;

use hyperslab_convert::Conversion;
use hyperslab_expr::{Type, Value};
use hyperslab_format::datatype::{
    Bits, ByteOrder, Complex, Compound, Datatype, Float, Integer, Padding, Text, Time,
};

use super::bounds::Key;
use crate::error::{Error, Result};
use crate::table::{Column, is_bool, is_complex};

/// A column of a condition.
#[derive(Debug)]
pub(super) struct Operand {
    pub(super) path: String,
    /// The bytes of the column in a row.
    pub(super) bytes: Range<usize>,
    /// The type that the expression gets.
    pub(super) kind: Type,
    /// Whether an index has the values of the column as the expression gets them.
    pub(super) is_plain: bool,
    /// The conversion from the stored values, if their bytes differ.
    conversion: Option<Conversion>,
}

impl Operand {
    /// Returns how to read a column.
    ///
    /// Errors: `Argument` if values of its datatype cannot be compared.
    pub(super) fn of(column: &Column) -> Result<Self> {
        let unusable = |why: String| Error::Argument { what: format!("column {:?}", column.path), why };
        let Some((kind, native)) = native(&column.datatype) else {
            let why = match &column.datatype {
                Datatype::Array(_) => "its values are arrays, which a condition cannot compare",
                _ => "a condition cannot compare values of its datatype",
            };
            return Err(unusable(why.to_owned()));
        };
        let conversion =
            Conversion::between(&column.datatype, &native).map_err(|error| unusable(error.to_string()))?;
        let conversion = (!conversion.is_identity()).then_some(conversion);
        let is_plain = match &column.datatype {
            Datatype::Integer(number) => number.is_whole(),
            Datatype::Float(number) => number.is_ieee(),
            _ => false,
        };
        Ok(Self { path: column.path.clone(), bytes: column.bytes.clone(), kind, is_plain, conversion })
    }

    /// Returns a stored value as the bound of an interval.
    pub(super) fn key(&self, stored: &[u8]) -> Option<Key> {
        let mut native = vec![0; self.kind.size()];
        match &self.conversion {
            Some(conversion) => conversion.apply(stored, &mut native, 1).ok()?,
            None => native = stored.to_vec(),
        }
        match value_of(self.kind, &native)? {
            // Any other byte is true, too, but has another place in the order.
            Value::Bool(value) if native[0] <= 1 => Some(Key::Int(value.into())),
            Value::Int(value) => Some(Key::Int(value)),
            Value::Float(value) => Some(Key::Float(value)),
            _ => None,
        }
    }

    /// Writes the values of `count` rows to `values`. A row has `width` bytes, and the column starts at `at`.
    pub(super) fn take(
        &self,
        rows: &[u8],
        (at, width): (usize, usize),
        count: usize,
        values: &mut Vec<u8>,
        stored: &mut Vec<u8>,
    ) -> Result<()> {
        values.clear();
        values.resize(count * self.kind.size(), 0);
        let gathered = if self.conversion.is_some() { &mut *stored } else { &mut *values };
        gathered.resize(count * self.bytes.len(), 0);
        gather(rows, (at, width), self.bytes.len(), gathered);
        if let Some(conversion) = &self.conversion {
            conversion.apply(stored, values, count).map_err(hyperslab::Error::from)?;
        }
        if self.kind == Type::Bool {
            // Any value but 0 is true, as for PyTables and libhdf5.
            for value in values {
                *value = (*value != 0).into();
            }
        }
        Ok(())
    }
}

/// Returns a scalar of NumPy as a value that a column is compared with.
pub(super) fn value_of(kind: Type, bytes: &[u8]) -> Option<Value> {
    fn array<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
        bytes.try_into().ok()
    }
    Some(match kind {
        Type::Bool => Value::Bool(bytes != [0]),
        Type::I8 => Value::Int(i8::from_ne_bytes(array(bytes)?).into()),
        Type::I16 => Value::Int(i16::from_ne_bytes(array(bytes)?).into()),
        Type::I32 => Value::Int(i32::from_ne_bytes(array(bytes)?).into()),
        Type::I64 => Value::Int(i64::from_ne_bytes(array(bytes)?).into()),
        Type::U8 => Value::Int(u8::from_ne_bytes(array(bytes)?).into()),
        Type::U16 => Value::Int(u16::from_ne_bytes(array(bytes)?).into()),
        Type::U32 => Value::Int(u32::from_ne_bytes(array(bytes)?).into()),
        Type::U64 => Value::Int(u64::from_ne_bytes(array(bytes)?).into()),
        Type::F32 => Value::Float(f32::from_ne_bytes(array(bytes)?).into()),
        Type::F64 => Value::Float(f64::from_ne_bytes(array(bytes)?)),
        Type::Bytes(_) => Value::Bytes(bytes.to_vec()),
        _ => return None,
    })
}

/// Copies `size` bytes of every row of `width` bytes to `values`, from byte `at` of the row on.
pub fn gather(rows: &[u8], (at, width): (usize, usize), size: usize, values: &mut [u8]) {
    if size == width {
        return values.copy_from_slice(&rows[..values.len()]);
    }
    match size {
        1 => gather_sized::<1>(rows, (at, width), values),
        2 => gather_sized::<2>(rows, (at, width), values),
        4 => gather_sized::<4>(rows, (at, width), values),
        8 => gather_sized::<8>(rows, (at, width), values),
        _ => {
            for (row, value) in rows.chunks_exact(width).zip(values.chunks_exact_mut(size)) {
                value.copy_from_slice(&row[at..at + size]);
            }
        }
    }
}

fn gather_sized<const N: usize>(rows: &[u8], (at, width): (usize, usize), values: &mut [u8]) {
    for (row, value) in rows.chunks_exact(width).zip(values.as_chunks_mut::<N>().0) {
        value.copy_from_slice(&row[at..at + N]);
    }
}

/// The byte order of this machine.
const NATIVE: ByteOrder = if cfg!(target_endian = "big") { ByteOrder::Big } else { ByteOrder::Little };

/// Returns the type of the values of a datatype, and the native datatype with the same values.
pub fn native(datatype: &Datatype) -> Option<(Type, Datatype)> {
    match datatype {
        Datatype::Integer(Integer { size, signed, .. }) => integer(*size, *signed),
        Datatype::Bits(Bits { size: 1, .. }) => Some((Type::Bool, integer(1, false)?.1)),
        Datatype::Bits(Bits { size, .. }) => integer(*size, false),
        Datatype::Enumeration(enumeration) if is_bool(enumeration) => Some((Type::Bool, integer(1, true)?.1)),
        Datatype::Enumeration(enumeration) => native(&enumeration.base),
        Datatype::Float(float) => {
            let known = Float::ieee(float.size, NATIVE).filter(|known| known.has_values_of(float));
            match known {
                Some(known) => Some((real(known.size)?, Datatype::Float(known))),
                // bfloat16 and other small floats.
                None if float.size < 4 => Some((Type::F32, Datatype::Float(Float::ieee(4, NATIVE)?))),
                None => None,
            }
        }
        Datatype::Time(Time { size: 4, .. }) => integer(4, true),
        Datatype::Time(Time { size: 8, .. }) => Some((Type::F64, Datatype::Float(Float::ieee(8, NATIVE)?))),
        Datatype::Text(text) => {
            let size = usize::try_from(text.size).ok()?;
            Some((Type::Bytes(size), Datatype::Text(Text { padding: Padding::NullPadded, ..*text })))
        }
        Datatype::Complex(complex) => {
            let Datatype::Float(float) = &*complex.base else { return None };
            let base = Box::new(Datatype::Float(Float::ieee(float.size, NATIVE)?));
            Some((complex_of(float.size)?, Datatype::Complex(Complex { base })))
        }
        Datatype::Compound(compound) if is_complex(compound) => {
            let Some(Datatype::Float(float)) = compound.members.first().map(|member| &member.datatype) else {
                return None;
            };
            let mut members = compound.members.clone();
            for (member, offset) in members.iter_mut().zip([0, float.size]) {
                member.offset = offset;
                member.datatype = Datatype::Float(Float::ieee(float.size, NATIVE)?);
            }
            let size = float.size.checked_mul(2)?;
            Some((complex_of(float.size)?, Datatype::Compound(Compound { size, members })))
        }
        _ => None,
    }
}

fn integer(size: u32, signed: bool) -> Option<(Type, Datatype)> {
    let kind = match (size, signed) {
        (1, true) => Type::I8,
        (2, true) => Type::I16,
        (4, true) => Type::I32,
        (8, true) => Type::I64,
        (1, false) => Type::U8,
        (2, false) => Type::U16,
        (4, false) => Type::U32,
        (8, false) => Type::U64,
        _ => return None,
    };
    Some((kind, Datatype::Integer(Integer::whole(size, signed, NATIVE))))
}

fn real(size: u32) -> Option<Type> {
    match size {
        2 => Some(Type::F16),
        4 => Some(Type::F32),
        8 => Some(Type::F64),
        _ => None,
    }
}

fn complex_of(size: u32) -> Option<Type> {
    match size {
        4 => Some(Type::C64),
        8 => Some(Type::C128),
        _ => None,
    }
}
