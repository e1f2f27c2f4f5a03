//! Times of Arrow as times of a column.

use arrow_array::{Array, ArrayRef, Int64Array};
use arrow_schema::{DataType, TimeUnit};
use hyperslab_expr::Type;

use super::{Converted, number, unfit};
use crate::error::BadValue;

/// Returns the number of a unit in a second.
fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// Returns the unit and the counts of times or durations.
fn counts(array: &ArrayRef) -> Option<(TimeUnit, Int64Array)> {
    let (DataType::Timestamp(unit, _) | DataType::Duration(unit)) = array.data_type() else { return None };
    let data = array.to_data().into_builder().data_type(DataType::Int64).build().ok()?;
    Some((*unit, Int64Array::from(data)))
}

/// Returns times or durations as integers of 64 bits in `unit`. A null becomes NumPy's "not a time".
pub(super) fn clock(array: &ArrayRef, unit: TimeUnit, is_duration: bool) -> Converted {
    let given = matches!(array.data_type(), DataType::Duration(_));
    let found = counts(array).filter(|_| given == is_duration);
    let (from, values) =
        found.ok_or_else(|| unfit(array.data_type(), if is_duration { "durations" } else { "times" }))?;
    let (have, want) = (i128::from(per_second(from)), i128::from(per_second(unit)));
    let mut bytes = Vec::with_capacity(values.len() * 8);
    for (index, value) in values.iter().enumerate() {
        let count = match value {
            None => i64::MIN,
            Some(value) => {
                let scaled = i128::from(value) * want;
                let exact = (scaled % have == 0).then_some(scaled / have);
                let exact = exact.and_then(|count| i64::try_from(count).ok());
                exact.filter(|&count| count != i64::MIN).ok_or_else(|| {
                    BadValue::new(
                        index,
                        format!("the value must be a whole number of {unit:?}s that fits 8 bytes, not {value} of unit {from:?}"),
                    )
                })?
            }
        };
        bytes.extend(count.to_ne_bytes());
    }
    Ok(bytes)
}

/// Returns times as seconds since 1970 in the native type `kind`.
#[expect(clippy::cast_precision_loss, reason = "seconds are rounded to the nearest float")]
pub(super) fn seconds(array: &ArrayRef, kind: Type) -> Converted {
    let (unit, values) = counts(array).ok_or_else(|| unfit(array.data_type(), "times"))?;
    let per = per_second(unit);
    let values = values.values();
    if kind == Type::F64 {
        let seconds: Vec<f64> = values.iter().map(|&count| count as f64 / per as f64).collect();
        return number::floats(kind, &seconds);
    }
    if let Some(index) = values.iter().position(|count| count % per != 0) {
        return Err(BadValue::new(
            index,
            "the time must be a whole number of seconds, which the column holds; round it",
        ));
    }
    let seconds: Vec<i128> = values.iter().map(|count| i128::from(count / per)).collect();
    number::integers(kind, &seconds)
}
