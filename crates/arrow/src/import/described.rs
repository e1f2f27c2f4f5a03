//! The columns that a table needs for record batches.

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema, TimeUnit};

use super::{items, plain, text};
use crate::error::{Error, Result};

/// The values of a column, as NumPy describes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Described {
    /// Numbers or truth values, by the code of their type: `f4`.
    Number(&'static str),
    /// Texts of at most this many bytes.
    Text(usize),
    /// Times or durations, by the code of their type: `M8[us]`.
    Time(String),
    /// Bytes of this length.
    Opaque(usize),
    /// This many values.
    List(Box<Self>, usize),
    /// Nested columns.
    Record(Vec<(String, Self)>),
}

/// Returns columns that hold the values of all batches. Texts are as long as the longest one.
///
/// Errors: `Column` if values have no counterpart in a table.
pub fn described(schema: &Schema, batches: &[RecordBatch]) -> Result<Vec<(String, Described)>> {
    let column = |(number, field): (usize, &arrow_schema::FieldRef)| {
        let arrays: Vec<ArrayRef> = batches.iter().map(|batch| batch.column(number).clone()).collect();
        let found = one(field.name(), field.data_type(), &arrays)?;
        Ok((field.name().clone(), found))
    };
    schema.fields().iter().enumerate().map(column).collect()
}

fn one(path: &str, data_type: &DataType, arrays: &[ArrayRef]) -> Result<Described> {
    let unknown = || Error::Column {
        path: path.to_owned(),
        why: format!("the values must be of a type that tables have, not {data_type}; cast them first"),
    };
    Ok(match data_type {
        DataType::Boolean => Described::Number("?"),
        DataType::Int8 => Described::Number("i1"),
        DataType::Int16 => Described::Number("i2"),
        DataType::Int32 => Described::Number("i4"),
        DataType::Int64 => Described::Number("i8"),
        DataType::UInt8 => Described::Number("u1"),
        DataType::UInt16 => Described::Number("u2"),
        DataType::UInt32 => Described::Number("u4"),
        DataType::UInt64 => Described::Number("u8"),
        DataType::Float16 => Described::Number("f2"),
        DataType::Float32 => Described::Number("f4"),
        DataType::Float64 => Described::Number("f8"),
        DataType::Timestamp(unit, _) => Described::Time(format!("M8[{}]", code(*unit))),
        DataType::Duration(unit) => Described::Time(format!("m8[{}]", code(*unit))),
        DataType::FixedSizeBinary(size) if *size > 0 => {
            Described::Opaque(usize::try_from(*size).map_err(|_| unknown())?)
        }
        DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView => {
            let longest = arrays.iter().filter_map(|array| text::texts(array)?.iter().map(|t| t.len()).max());
            Described::Text(longest.max().unwrap_or(0).max(1))
        }
        DataType::Dictionary(_, values) => {
            let taken = arrays.iter().map(plain).collect::<Result<Vec<_>, _>>();
            one(path, values, &taken.map_err(|bad| bad.at(path, |_| 0))?)?
        }
        DataType::FixedSizeList(field, len) if *len > 0 => {
            let len = usize::try_from(*len).map_err(|_| unknown())?;
            let inner = arrays.iter().map(|array| items(array, len)).collect::<Result<Vec<_>, _>>();
            let inner = inner.map_err(|bad| bad.at(path, |_| 0))?;
            Described::List(Box::new(one(path, field.data_type(), &inner)?), len)
        }
        DataType::Struct(fields) => {
            let member = |(number, field): (usize, &arrow_schema::FieldRef)| {
                let inner: Vec<ArrayRef> =
                    arrays.iter().map(|array| array.as_struct().column(number).clone()).collect();
                let found = one(&format!("{path}/{}", field.name()), field.data_type(), &inner)?;
                Ok((field.name().clone(), found))
            };
            let members: Vec<(String, Described)> =
                fields.iter().enumerate().map(member).collect::<Result<_>>()?;
            match &members[..] {
                [] => return Err(unknown()),
                [(r, Described::Number(part @ ("f4" | "f8"))), (i, other)]
                    if (&**r, &**i) == ("r", "i") && *other == Described::Number(part) =>
                {
                    Described::Number(if *part == "f4" { "c8" } else { "c16" })
                }
                _ => Described::Record(members),
            }
        }
        _ => return Err(unknown()),
    })
}

fn code(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Second => "s",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Microsecond => "us",
        TimeUnit::Nanosecond => "ns",
    }
}
