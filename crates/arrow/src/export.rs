//! Stored values as arrays of Arrow.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, DictionaryArray, FixedSizeBinaryArray, FixedSizeListArray,
    PrimitiveArray, StringArray, StructArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, MutableBuffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::TimeUnit;
use hyperslab_expr::Type;
use hyperslab_tables::gather;

use crate::columns::Forms;
use crate::error::BadValue;
use crate::values::{Names, Native, ValueKind, Values, complex, fields};

type Result<T> = std::result::Result<T, BadValue>;

/// Stored rows: the values of a column are `width` bytes apart, from byte `at` on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stored<'a> {
    pub(crate) rows: &'a [u8],
    pub(crate) at: usize,
    pub(crate) width: usize,
    pub(crate) count: usize,
}

impl Stored<'_> {
    /// Returns `size` bytes of every row, one after another.
    fn gathered(&self, size: usize) -> MutableBuffer {
        let mut values = MutableBuffer::from_len_zeroed(self.count * size);
        gather(self.rows, (self.at, self.width), size, &mut values);
        values
    }
}

impl Values {
    /// Returns the values as an array.
    pub(crate) fn array(&self, stored: Stored<'_>, forms: Forms) -> Result<ArrayRef> {
        match &self.kind {
            ValueKind::Native(native) => native.array(native.read(stored, self.size)?, stored.count, forms),
            ValueKind::Enumerated(native, names) => {
                named(native.kind, &native.read(stored, self.size)?, names)
            }
            ValueKind::Clock { unit, is_duration } => {
                Ok(times(stored.gathered(self.size), stored.count, *unit, *is_duration))
            }
            ValueKind::Opaque => {
                let size = i32::try_from(self.size).map_err(|_| too_large())?;
                let bytes = stored.gathered(self.size).into();
                Ok(Arc::new(FixedSizeBinaryArray::try_new(size, bytes, None).map_err(unexpected)?))
            }
            ValueKind::List { inner, len } => {
                let bytes = stored.gathered(self.size);
                let (width, count) = (inner.size, stored.count * len);
                let items = inner.array(Stored { rows: &bytes, at: 0, width, count }, forms);
                let items = items.map_err(|bad| bad.in_list(*len))?;
                let (field, len) = (inner.field("item", forms), i32::try_from(*len).unwrap_or(i32::MAX));
                let made =
                    FixedSizeListArray::try_new_with_length(Arc::new(field), len, items, None, stored.count);
                Ok(Arc::new(made.map_err(unexpected)?))
            }
            ValueKind::Record(members) => {
                let member = |member: &crate::values::Member| {
                    let stored = Stored { at: stored.at + member.offset, ..stored };
                    member.values.array(stored, forms).map_err(|bad| bad.in_member(&member.name))
                };
                let arrays = members.iter().map(member).collect::<Result<Vec<_>>>()?;
                let made =
                    StructArray::try_new_with_length(fields(members, forms), arrays, None, stored.count);
                Ok(Arc::new(made.map_err(unexpected)?))
            }
        }
    }
}

impl Native {
    /// Returns the values in the native type.
    fn read(&self, stored: Stored<'_>, size: usize) -> Result<MutableBuffer> {
        let gathered = stored.gathered(size);
        let Some(conversion) = &self.read else { return Ok(gathered) };
        let mut values = MutableBuffer::from_len_zeroed(stored.count * self.kind.size());
        conversion.apply(&gathered, &mut values, stored.count).map_err(unexpected)?;
        Ok(values)
    }

    fn array(&self, values: MutableBuffer, count: usize, forms: Forms) -> Result<ArrayRef> {
        Ok(match self.kind {
            // Any value but 0 is true, as for PyTables and libhdf5.
            Type::Bool => {
                let bits = BooleanBuffer::collect_bool(count, |index| values[index] != 0);
                Arc::new(BooleanArray::new(bits, None))
            }
            Type::I8 => primitive::<Int8Type>(values.into(), count),
            Type::I16 => primitive::<Int16Type>(values.into(), count),
            Type::I32 => primitive::<Int32Type>(values.into(), count),
            Type::I64 | Type::Datetime(_) | Type::Timedelta(_) => {
                primitive::<Int64Type>(values.into(), count)
            }
            Type::U8 => primitive::<UInt8Type>(values.into(), count),
            Type::U16 => primitive::<UInt16Type>(values.into(), count),
            Type::U32 => primitive::<UInt32Type>(values.into(), count),
            Type::U64 => primitive::<UInt64Type>(values.into(), count),
            Type::F16 if forms.wide_halves => {
                let halves = primitive::<Float16Type>(values.into(), count);
                let wide = halves.as_primitive::<Float16Type>().unary::<_, Float32Type>(half::f16::to_f32);
                Arc::new(wide)
            }
            Type::F16 => primitive::<Float16Type>(values.into(), count),
            Type::F32 => primitive::<Float32Type>(values.into(), count),
            Type::F64 => primitive::<Float64Type>(values.into(), count),
            Type::C64 => parts::<Float32Type>(&values, count)?,
            Type::C128 => parts::<Float64Type>(&values, count)?,
            Type::Bytes(size) | Type::Text(size) => text(&values, size, count, forms)?,
        })
    }
}

fn primitive<T: ArrowPrimitiveType>(values: Buffer, count: usize) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::new(values, 0, count), None))
}

/// Returns complex numbers as records of their parts.
fn parts<T: ArrowPrimitiveType>(values: &[u8], count: usize) -> Result<ArrayRef> {
    let size = size_of::<T::Native>();
    let part = |at| {
        let part = Stored { rows: values, at, width: 2 * size, count };
        primitive::<T>(part.gathered(size).into(), count)
    };
    let made = StructArray::try_new(complex(&T::DATA_TYPE), vec![part(0), part(size)], None);
    Ok(Arc::new(made.map_err(unexpected)?))
}

/// Returns texts without the zeros that fill their space.
fn text(values: &[u8], size: usize, count: usize, forms: Forms) -> Result<ArrayRef> {
    let mut bytes = Vec::with_capacity(values.len());
    let mut offsets = Vec::with_capacity(count + 1);
    offsets.push(0);
    for (index, value) in values.chunks_exact(size.max(1)).take(count).enumerate() {
        let len = value.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        bytes.extend_from_slice(&value[..len]);
        offsets.push(i32::try_from(bytes.len()).map_err(|_| BadValue { index, ..too_large() })?);
    }
    let offsets = OffsetBuffer::new(offsets.into());
    if !forms.binary {
        // The whole buffer is checked at once, which is fast. The slow search finds the text to name.
        if let Ok(array) = StringArray::try_new(offsets.clone(), Buffer::from_slice_ref(&bytes), None) {
            return Ok(Arc::new(array));
        }
        let bad = offsets.windows(2).position(|ends| {
            let ends = usize::try_from(ends[0]).unwrap_or(0)..usize::try_from(ends[1]).unwrap_or(0);
            std::str::from_utf8(&bytes[ends]).is_err()
        });
        let why = "the text is not valid UTF-8: read texts as binary";
        return Err(BadValue::new(bad.unwrap_or(0), why));
    }
    let array = BinaryArray::try_new(offsets, bytes.into(), None);
    Ok(Arc::new(array.map_err(unexpected)?))
}

/// Returns the names of integers as a dictionary.
fn named(kind: Type, values: &[u8], names: &Names) -> Result<ArrayRef> {
    let values = integers(kind, values).unwrap_or_default();
    let key = |(index, value): (usize, &i128)| {
        names.by_value.get(value).copied().ok_or_else(|| {
            let why = format!("the enumeration has no name for the value {value}: leave the column out");
            BadValue::new(index, why)
        })
    };
    let keys = values.iter().enumerate().map(key).collect::<Result<Vec<i32>>>()?;
    let names = Arc::new(StringArray::from_iter_values(&names.texts));
    let made = DictionaryArray::<Int32Type>::try_new(keys.into(), names);
    Ok(Arc::new(made.map_err(unexpected)?))
}

/// Returns times. NumPy's "not a time" is null.
fn times(values: MutableBuffer, count: usize, unit: TimeUnit, is_duration: bool) -> ArrayRef {
    fn array<T: ArrowPrimitiveType<Native = i64>>(values: ScalarBuffer<i64>) -> ArrayRef {
        let nulls: NullBuffer = values.iter().map(|&value| value != i64::MIN).collect();
        let nulls = Some(nulls).filter(|nulls| nulls.null_count() > 0);
        Arc::new(PrimitiveArray::<T>::new(values, nulls))
    }
    let values = ScalarBuffer::new(values.into(), 0, count);
    match (unit, is_duration) {
        (TimeUnit::Second, false) => array::<TimestampSecondType>(values),
        (TimeUnit::Millisecond, false) => array::<TimestampMillisecondType>(values),
        (TimeUnit::Microsecond, false) => array::<TimestampMicrosecondType>(values),
        (TimeUnit::Nanosecond, false) => array::<TimestampNanosecondType>(values),
        (TimeUnit::Second, true) => array::<DurationSecondType>(values),
        (TimeUnit::Millisecond, true) => array::<DurationMillisecondType>(values),
        (TimeUnit::Microsecond, true) => array::<DurationMicrosecondType>(values),
        (TimeUnit::Nanosecond, true) => array::<DurationNanosecondType>(values),
    }
}

/// Returns native integers, or `None` if the values are no integers.
pub(crate) fn integers(kind: Type, values: &[u8]) -> Option<Vec<i128>> {
    fn wide<const N: usize, T: Into<i128>>(values: &[u8], from: fn([u8; N]) -> T) -> Vec<i128> {
        values.as_chunks::<N>().0.iter().map(|bytes| from(*bytes).into()).collect()
    }
    Some(match kind {
        Type::I8 => wide(values, i8::from_ne_bytes),
        Type::I16 => wide(values, i16::from_ne_bytes),
        Type::I32 => wide(values, i32::from_ne_bytes),
        Type::I64 => wide(values, i64::from_ne_bytes),
        Type::U8 => wide(values, u8::from_ne_bytes),
        Type::U16 => wide(values, u16::from_ne_bytes),
        Type::U32 => wide(values, u32::from_ne_bytes),
        Type::U64 => wide(values, u64::from_ne_bytes),
        _ => return None,
    })
}

fn too_large() -> BadValue {
    BadValue::new(0, "the values of a batch exceed 2 GiB: read fewer rows at a time")
}

/// Returns the error for a conversion that fails although its arguments fit.
fn unexpected(error: impl std::fmt::Display) -> BadValue {
    BadValue::new(0, error.to_string())
}
