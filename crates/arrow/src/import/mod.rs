//! Record batches as rows of a table.

mod described;
mod number;
mod text;
mod time;

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use hyperslab_expr::Type;
use hyperslab_tables::Table;

pub use self::described::{Described, described};
use crate::error::{BadValue, Error, Result};
use crate::values::{Member, Native, ValueKind, Values};

type Converted = Result<Vec<u8>, BadValue>;

/// The rows that a table takes.
#[derive(Debug)]
pub struct Rows {
    members: Vec<Member>,
    size: usize,
    defaults: Option<Vec<u8>>,
}

impl Rows {
    /// Returns the rows of a table. Columns that a batch lacks get their values from `defaults`, which is one
    /// row in the stored datatype.
    ///
    /// Errors: `Column` if the table has values without a counterpart in Arrow.
    pub fn new(table: &Table, defaults: Option<Vec<u8>>) -> Result<Self> {
        let dataset = table.dataset();
        let row = Values::of("", &dataset.datatype(), dataset.file().store().widths())?;
        let ValueKind::Record(members) = row.kind else {
            return Ok(Self { members: Vec::new(), size: 0, defaults });
        };
        Ok(Self { members, size: row.size, defaults })
    }

    /// Returns the rows of a batch in the stored datatype. `first` is the number of its first row in the
    /// stream, for errors. Columns are matched by their names.
    ///
    /// Integers and floats become other integers and floats if the column can hold them. A float becomes the
    /// nearest float of the column.
    ///
    /// Errors: `Column` if the table has no such column, the batch lacks one and there are no defaults, or
    /// the column cannot hold values of this type; `Value` if it cannot hold a value: null, a number that is
    /// too large or has a fraction, a text that is too long.
    pub fn of(&self, batch: &RecordBatch, first: u64) -> Result<Vec<u8>> {
        let count = batch.num_rows();
        let mut rows = match &self.defaults {
            Some(defaults) if defaults.len() == self.size => defaults.repeat(count),
            _ => vec![0; count * self.size],
        };
        let schema = batch.schema();
        let names: Vec<&str> = self.members.iter().map(|member| &*member.name).collect();
        for (number, field) in schema.fields().iter().enumerate() {
            let column = |why: String| Error::Column { path: field.name().clone(), why };
            let Some(member) = self.members.iter().find(|member| member.name == *field.name()) else {
                return Err(column(format!(
                    "the rows must have only columns of the table, which are {}",
                    names.join(", ")
                )));
            };
            if schema.fields().iter().take(number).any(|other| other.name() == field.name()) {
                return Err(column(
                    "the columns of the rows must have different names; rename one".to_owned(),
                ));
            }
            let values = member.values.stored(batch.column(number));
            let values = values.map_err(|bad| bad.at(&member.name, |index| first + index as u64))?;
            scatter(&values, member.values.size, &mut rows, member.offset, self.size);
        }
        if self.defaults.is_none()
            && let Some(missing) = names.iter().find(|name| schema.field_with_name(name).is_err())
        {
            let why = "the rows must have this column, or the table defaults".to_owned();
            return Err(Error::Column { path: (*missing).to_owned(), why });
        }
        Ok(rows)
    }
}

/// Writes values of `size` bytes to byte `at` of rows of `width` bytes.
fn scatter(values: &[u8], size: usize, rows: &mut [u8], at: usize, width: usize) {
    for (row, value) in rows.chunks_exact_mut(width.max(1)).zip(values.chunks_exact(size.max(1))) {
        row[at..at + size].copy_from_slice(value);
    }
}

impl Values {
    /// Returns the values of an array in the stored datatype.
    fn stored(&self, array: &ArrayRef) -> Converted {
        if matches!(array.data_type(), DataType::Dictionary(..)) {
            return self.stored(&plain(array)?);
        }
        if let ValueKind::Clock { unit, is_duration } = self.kind {
            return time::clock(array, unit, is_duration);
        }
        if let Some(nulls) = array.logical_nulls()
            && let Some(index) = (0..nulls.len()).find(|&index| nulls.is_null(index))
        {
            return Err(BadValue::new(index, "the value must not be null; fill nulls first"));
        }
        match &self.kind {
            ValueKind::Native(native) => native.stored(array),
            ValueKind::Enumerated(native, names) => {
                if let Some(texts) = text::texts(array) {
                    let value = |(index, text): (usize, &[u8])| {
                        let name = std::str::from_utf8(text).ok();
                        name.and_then(|name| names.by_name.get(name)).copied().ok_or_else(|| {
                            let known = names.texts.join(", ");
                            let text = String::from_utf8_lossy(text);
                            BadValue::new(index, format!("the value must be one of {known}, not {text:?}"))
                        })
                    };
                    let values: Result<Vec<i128>, _> = texts.into_iter().enumerate().map(value).collect();
                    return native.written(number::integers(native.kind, &values?)?);
                }
                let values = number::values(array, native.kind)?;
                let known = crate::export::integers(native.kind, &values).unwrap_or_default();
                match known.iter().position(|value| !names.by_value.contains_key(value)) {
                    Some(index) => {
                        let why =
                            format!("the value must be a member of the enumeration, not {}", known[index]);
                        Err(BadValue::new(index, why))
                    }
                    None => native.written(values),
                }
            }
            // Times are taken above.
            ValueKind::Opaque | ValueKind::Clock { .. } => text::opaque(array, self.size),
            ValueKind::List { inner, len } => {
                let items = inner.stored(&items(array, *len)?);
                items.map_err(|bad| bad.in_list(*len))
            }
            ValueKind::Record(members) => record(array, members, self.size),
        }
    }
}

impl Native {
    fn stored(&self, array: &ArrayRef) -> Converted {
        self.written(match self.kind {
            Type::Bytes(size) | Type::Text(size) => text::fixed(array, size, self.padding)?,
            Type::C64 => number::complex(array, Type::F32)?,
            Type::C128 => number::complex(array, Type::F64)?,
            kind if self.is_time && matches!(array.data_type(), DataType::Timestamp(..)) => {
                time::seconds(array, kind)?
            }
            kind => number::values(array, kind)?,
        })
    }

    /// Returns native values in the stored datatype.
    fn written(&self, values: Vec<u8>) -> Converted {
        let Some(conversion) = &self.write else { return Ok(values) };
        let count = values.len() / self.kind.size().max(1);
        let mut stored = vec![0; count * conversion.dst_size()];
        let done = conversion.apply(&values, &mut stored, count);
        done.map_err(|error| BadValue::new(0, error.to_string()))?;
        Ok(stored)
    }
}

/// Returns the values that a dictionary has for its keys.
fn plain(array: &ArrayRef) -> Result<ArrayRef, BadValue> {
    let dictionary = array.as_any_dictionary();
    let values = arrow_select::take::take(dictionary.values(), dictionary.keys(), None);
    values.map_err(|error| BadValue::new(0, error.to_string()))
}

/// Returns the elements of lists that all have `len` elements.
fn items(array: &ArrayRef, len: usize) -> Result<ArrayRef, BadValue> {
    fn equal<T: Copy + TryInto<usize>>(offsets: &[T], len: usize) -> Result<Range<usize>, BadValue> {
        let at = |offset: T| offset.try_into().unwrap_or(usize::MAX);
        let other = offsets.windows(2).position(|ends| at(ends[0]).checked_add(len) != Some(at(ends[1])));
        if let Some(index) = other {
            let found = at(offsets[index + 1]).saturating_sub(at(offsets[index]));
            return Err(BadValue::new(index, format!("the list must have {len} values, not {found}")));
        }
        let first = offsets.first().map_or(0, |&first| at(first));
        Ok(first..first + len * offsets.len().saturating_sub(1))
    }
    let (items, range) = match array.data_type() {
        DataType::FixedSizeList(_, given) if usize::try_from(*given) == Ok(len) => {
            let list = array.as_fixed_size_list();
            let first = list.value_offset_at(0);
            (list.values(), first..first + len * list.len())
        }
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            (list.values(), equal(list.value_offsets(), len)?)
        }
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            (list.values(), equal(list.value_offsets(), len)?)
        }
        other => return Err(unfit(other, &format!("lists of {len} values"))),
    };
    Ok(items.slice(range.start, range.len()))
}

/// Returns records of nested columns.
fn record(array: &ArrayRef, members: &[Member], size: usize) -> Converted {
    let Some(given) = array.as_struct_opt() else { return Err(unfit(array.data_type(), "nested columns")) };
    let mut rows = vec![0; given.len() * size];
    if let Some(name) = given.column_names().iter().find(|name| members.iter().all(|m| m.name != **name)) {
        return Err(
            BadValue::new(0, "the rows must have only nested columns of the table; drop it").in_member(name)
        );
    }
    for member in members {
        let column = given.column_by_name(&member.name);
        let column = column.ok_or_else(|| BadValue::new(0, "the rows must have this nested column"));
        let values = column.and_then(|column| member.values.stored(column));
        let values = values.map_err(|bad| bad.in_member(&member.name))?;
        scatter(&values, member.values.size, &mut rows, member.offset, size);
    }
    Ok(rows)
}

/// Returns the error for an array whose values a column cannot hold.
fn unfit(given: &DataType, wanted: &str) -> BadValue {
    BadValue::new(0, format!("the values must be {wanted}, not {given}; cast them first"))
}
