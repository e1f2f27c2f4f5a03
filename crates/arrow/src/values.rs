//! What the values of a datatype are in Arrow.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, TimeUnit};
use hyperslab_convert::Conversion;
use hyperslab_expr::Type;
use hyperslab_format::Widths;
use hyperslab_format::datatype::{Compound, Datatype, Enumeration, Padding};
use hyperslab_present::TimeTag;

use crate::columns::Forms;
use crate::error::{Error, Result};

/// The values of a column, or of a part of it.
#[derive(Debug)]
pub(crate) struct Values {
    /// The bytes of a stored value.
    pub(crate) size: usize,
    pub(crate) kind: ValueKind,
}

/// The kinds of values.
#[derive(Debug)]
pub(crate) enum ValueKind {
    /// Numbers, truth values and texts.
    Native(Native),
    /// Integers with names.
    Enumerated(Native, Names),
    /// Times or durations of NumPy: integers of 64 bits in a unit, and the smallest integer for "not a time".
    Clock { unit: TimeUnit, is_duration: bool },
    /// Bytes without a meaning.
    Opaque,
    /// Arrays of `len` values.
    List { inner: Box<Values>, len: usize },
    /// Nested columns.
    Record(Vec<Member>),
}

/// Values that a native type of the machine holds.
#[derive(Debug)]
pub(crate) struct Native {
    pub(crate) kind: Type,
    /// Whether the values are seconds since 1970.
    pub(crate) is_time: bool,
    /// The conversion from the stored values, if their bytes differ.
    pub(crate) read: Option<Conversion>,
    /// The conversion to the stored values, if their bytes differ.
    pub(crate) write: Option<Conversion>,
    /// The byte that fills the space after a text.
    pub(crate) padding: u8,
}

/// The names of an enumeration.
#[derive(Debug)]
pub(crate) struct Names {
    pub(crate) texts: Vec<String>,
    /// The number in `texts` of the name of each value.
    pub(crate) by_value: HashMap<i128, i32>,
    /// The value of each name.
    pub(crate) by_name: HashMap<String, i128>,
}

/// A column of a nested column.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) offset: usize,
    pub(crate) values: Values,
}

/// Deeper nesting is refused, as in tables.
const DEPTH: usize = 32;

impl Values {
    /// Returns what the values of a datatype are.
    ///
    /// Errors: `Column` if they have no counterpart in Arrow.
    pub(crate) fn of(path: &str, datatype: &Datatype, widths: Widths) -> Result<Self> {
        Self::nested(path, datatype, widths, 0)
    }

    fn nested(path: &str, datatype: &Datatype, widths: Widths, depth: usize) -> Result<Self> {
        let unknown = |what: &str| Error::Column {
            path: path.to_owned(),
            why: format!("{what} cannot be converted to Arrow: name the other columns in columns="),
        };
        if depth > DEPTH {
            return Err(unknown("values that are nested this deeply"));
        }
        let size = usize::try_from(datatype.size(widths)).map_err(|_| unknown("values of this size"))?;
        let kind = match datatype {
            Datatype::Sequence(_) | Datatype::VariableText(_) => {
                return Err(unknown("values of variable length"));
            }
            Datatype::Reference(_) => return Err(unknown("references")),
            Datatype::Opaque(opaque) => clock(&opaque.tag).filter(|_| size == 8).unwrap_or(ValueKind::Opaque),
            Datatype::Array(array) => {
                let mut inner = Self::nested(path, &array.base, widths, depth + 1)?;
                for &len in array.shape.iter().rev() {
                    let len = usize::try_from(len).unwrap_or(usize::MAX);
                    let size = inner.size.checked_mul(len).filter(|_| i32::try_from(len).is_ok());
                    let size = size.ok_or_else(|| unknown("arrays of this size"))?;
                    inner = Self { size, kind: ValueKind::List { inner: Box::new(inner), len } };
                }
                return Ok(inner);
            }
            Datatype::Compound(compound) if Native::of(datatype).is_none() => {
                ValueKind::Record(members(path, compound, widths, depth)?)
            }
            Datatype::Enumeration(enumeration) => {
                let native = Native::of(datatype).ok_or_else(|| unknown("values of this datatype"))?;
                if native.kind == Type::Bool {
                    ValueKind::Native(native)
                } else {
                    let names = Names::of(enumeration, &native);
                    ValueKind::Enumerated(
                        native,
                        names.ok_or_else(|| unknown("an enumeration of this form"))?,
                    )
                }
            }
            _ => ValueKind::Native(Native::of(datatype).ok_or_else(|| unknown("values of this datatype"))?),
        };
        Ok(Self { size, kind })
    }

    /// Returns the type in Arrow.
    pub(crate) fn data_type(&self, forms: Forms) -> DataType {
        match &self.kind {
            ValueKind::Native(native) => native.data_type(forms),
            ValueKind::Enumerated(..) => {
                DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
            }
            ValueKind::Clock { unit, is_duration: true } => DataType::Duration(*unit),
            ValueKind::Clock { unit, is_duration: false } => DataType::Timestamp(*unit, None),
            ValueKind::Opaque => DataType::FixedSizeBinary(i32::try_from(self.size).unwrap_or(i32::MAX)),
            ValueKind::List { inner, len } => {
                let len = i32::try_from(*len).unwrap_or(i32::MAX);
                DataType::FixedSizeList(Arc::new(inner.field("item", forms)), len)
            }
            ValueKind::Record(members) => DataType::Struct(fields(members, forms)),
        }
    }

    /// Returns the field of a column. Only times may be null.
    pub(crate) fn field(&self, name: &str, forms: Forms) -> Field {
        let field = Field::new(name, self.data_type(forms), matches!(self.kind, ValueKind::Clock { .. }));
        match &self.kind {
            ValueKind::Native(Native { is_time: true, .. }) => {
                let unit = ("hyperslab.unit".to_owned(), "seconds since 1970-01-01".to_owned());
                field.with_metadata(HashMap::from([unit]))
            }
            _ => field,
        }
    }
}

/// Returns the fields of nested columns.
pub(crate) fn fields(members: &[Member], forms: Forms) -> Fields {
    members.iter().map(|member| member.values.field(&member.name, forms)).collect()
}

fn members(path: &str, compound: &Compound, widths: Widths, depth: usize) -> Result<Vec<Member>> {
    let member = |member: &hyperslab_format::datatype::Member| {
        let path = if path.is_empty() { member.name.clone() } else { format!("{path}/{}", member.name) };
        let values = Values::nested(&path, &member.datatype, widths, depth + 1)?;
        let offset = usize::try_from(member.offset).unwrap_or(usize::MAX);
        if offset.saturating_add(values.size) as u64 > u64::from(compound.size) {
            return Err(Error::Column { path, why: "its bytes are outside the row".to_owned() });
        }
        Ok(Member { name: member.name.clone(), offset, values })
    };
    compound.members.iter().map(member).collect()
}

/// Returns the kind of NumPy's times, by the tag that h5py gives them.
fn clock(tag: &str) -> Option<ValueKind> {
    let tag = TimeTag::of(tag).filter(|tag| tag.is_big == cfg!(target_endian = "big"))?;
    let unit = match (tag.step, tag.unit) {
        (1, "s") => TimeUnit::Second,
        (1, "ms") => TimeUnit::Millisecond,
        (1, "us") => TimeUnit::Microsecond,
        (1, "ns") => TimeUnit::Nanosecond,
        _ => return None,
    };
    Some(ValueKind::Clock { unit, is_duration: tag.is_duration })
}

impl Native {
    fn of(datatype: &Datatype) -> Option<Self> {
        let (kind, native) = hyperslab_tables::native(datatype)?;
        let stored = match datatype {
            Datatype::Enumeration(enumeration) => &*enumeration.base,
            datatype => datatype,
        };
        let between = |from, to| {
            let conversion = Conversion::between(from, to).ok()?;
            Some((!conversion.is_identity()).then_some(conversion))
        };
        let read = between(stored, &native)?;
        let (padding, write) = match datatype {
            Datatype::Text(text) if text.padding == Padding::SpacePadded => (b' ', between(&native, stored)?),
            // PyTables stores texts that fill their space, and calls them terminated.
            Datatype::Text(_) => (0, None),
            _ => (0, between(&native, stored)?),
        };
        Some(Self { kind, is_time: matches!(datatype, Datatype::Time(_)), read, write, padding })
    }

    fn data_type(&self, forms: Forms) -> DataType {
        match self.kind {
            Type::Bool => DataType::Boolean,
            Type::I8 => DataType::Int8,
            Type::I16 => DataType::Int16,
            Type::I32 => DataType::Int32,
            Type::I64 | Type::Datetime(_) | Type::Timedelta(_) => DataType::Int64,
            Type::U8 => DataType::UInt8,
            Type::U16 => DataType::UInt16,
            Type::U32 => DataType::UInt32,
            Type::U64 => DataType::UInt64,
            Type::F16 if forms.wide_halves => DataType::Float32,
            Type::F16 => DataType::Float16,
            Type::F32 => DataType::Float32,
            Type::F64 => DataType::Float64,
            Type::C64 => DataType::Struct(complex(&DataType::Float32)),
            Type::C128 => DataType::Struct(complex(&DataType::Float64)),
            Type::Bytes(_) | Type::Text(_) if forms.binary => DataType::Binary,
            Type::Bytes(_) | Type::Text(_) => DataType::Utf8,
        }
    }
}

/// Returns the fields of a complex number.
pub(crate) fn complex(part: &DataType) -> Fields {
    ["r", "i"].into_iter().map(|name| Field::new(name, part.clone(), false)).collect()
}

impl Names {
    fn of(enumeration: &Enumeration, native: &Native) -> Option<Self> {
        let mut found = Self { texts: Vec::new(), by_value: HashMap::new(), by_name: HashMap::new() };
        for (number, (name, value)) in enumeration.members.iter().enumerate() {
            let mut bytes = vec![0; native.kind.size()];
            match &native.read {
                Some(conversion) => conversion.apply(value, &mut bytes, 1).ok()?,
                None => bytes = value.get(..bytes.len())?.to_vec(),
            }
            let value = *crate::export::integers(native.kind, &bytes)?.first()?;
            // Of two names for a value, the first is shown.
            found.by_value.entry(value).or_insert(i32::try_from(number).ok()?);
            found.by_name.insert(name.clone(), value);
            found.texts.push(name.clone());
        }
        Some(found)
    }
}
