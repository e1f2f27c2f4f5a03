//! Reads some fields of the headers of all traces.

use std::sync::{Mutex, PoisonError};

use hyperslab::internals::engine::each_number;

use crate::TRACE_HEADER_BYTES;
use crate::error::{AS_TRACES, Error, Result};
use crate::field::{Field, FieldKind};
use crate::file::SegyFile;
use crate::number::{Number, of_key};

/// The traces that one thread reads at a time.
const BATCH: u64 = 4096;
/// The greatest size of traces that are read whole. A disk transfers their samples in the time of another
/// request.
const READ_OVER: u64 = 16 << 10;

/// The numbers of one field in the headers of all traces.
#[derive(Debug)]
pub(super) struct Column {
    /// The field.
    pub(super) field: Field,
    keys: Keys,
}

impl Column {
    /// Returns the [key](Number::key) of the number of a trace.
    pub(super) fn key(&self, trace: usize) -> i64 {
        match &self.keys {
            Keys::Narrow(keys) => keys[trace].into(),
            Keys::Wide(keys) => keys[trace],
        }
    }

    /// Returns the number of a trace.
    pub(super) fn number(&self, trace: usize) -> Number {
        of_key(self.key(trace), self.is_real())
    }

    /// Returns the number of traces.
    pub(super) fn len(&self) -> usize {
        match &self.keys {
            Keys::Narrow(keys) => keys.len(),
            Keys::Wide(keys) => keys.len(),
        }
    }

    /// Returns whether the field holds floats.
    pub(super) fn is_real(&self) -> bool {
        matches!(self.field.kind, FieldKind::F32 | FieldKind::F64)
    }

    /// Returns whether all numbers are equal.
    pub(super) fn is_constant(&self) -> bool {
        (1..self.len()).all(|trace| self.key(trace) == self.key(0))
    }
}

/// The keys of some traces, in 4 bytes each as long as they fit, as those of most surveys do.
#[derive(Debug)]
enum Keys {
    Narrow(Vec<i32>),
    Wide(Vec<i64>),
}

impl Default for Keys {
    fn default() -> Self {
        Self::Narrow(Vec::new())
    }
}

impl Keys {
    #[inline]
    fn push(&mut self, key: i64) {
        match (&mut *self, i32::try_from(key)) {
            (Self::Narrow(keys), Ok(key)) => keys.push(key),
            (Self::Wide(keys), _) => keys.push(key),
            (Self::Narrow(_), Err(_)) => self.append(Self::Wide(vec![key])),
        }
    }

    fn append(&mut self, others: Self) {
        match (&mut *self, others) {
            (Self::Narrow(keys), Self::Narrow(others)) => keys.extend(others),
            (_, others) => {
                let mut keys = std::mem::take(self).into_wide();
                keys.extend(others.into_wide());
                *self = Self::Wide(keys);
            }
        }
    }

    /// Returns the keys in 8 bytes each.
    fn into_wide(self) -> Vec<i64> {
        match self {
            Self::Narrow(keys) => keys.into_iter().map(i64::from).collect(),
            Self::Wide(keys) => keys,
        }
    }
}

/// Returns a column for each field.
pub(super) fn columns(file: &SegyFile, fields: &[Field]) -> Result<Vec<Column>> {
    let count = file.traces.count();
    let parts: Mutex<Vec<(u64, Vec<Keys>)>> = Mutex::default();
    each_number(count.div_ceil(BATCH), &|batch| {
        let traces = batch * BATCH..count.min((batch + 1) * BATCH);
        let part = read(file, fields, traces.clone())?;
        parts.lock().unwrap_or_else(PoisonError::into_inner).push((traces.start, part));
        Ok::<_, Error>(())
    })?;
    let mut parts = parts.into_inner().unwrap_or_else(PoisonError::into_inner);
    parts.sort_by_key(|part| part.0);
    let empty = |&field: &Field| {
        let keys = Keys::Narrow(Vec::with_capacity(usize::try_from(count).unwrap_or(0)));
        Column { field, keys }
    };
    let mut columns: Vec<Column> = fields.iter().map(empty).collect();
    for (_, part) in parts {
        columns.iter_mut().zip(part).for_each(|(column, part)| column.keys.append(part));
    }
    Ok(columns)
}

fn read(file: &SegyFile, fields: &[Field], traces: std::ops::Range<u64>) -> Result<Vec<Keys>> {
    let mut columns: Vec<Keys> = fields.iter().map(|_| Keys::default()).collect();
    let mut take = |trace: u64, header: &[u8]| -> Result<()> {
        for (column, field) in columns.iter_mut().zip(fields) {
            let number = field.number(header, file.layout.order).map_err(|why| {
                let byte = file.traces.offset(trace) + u64::from(field.byte) - 1;
                let name = field.name();
                Error::trace(
                    file.path(),
                    "header",
                    trace,
                    byte,
                    format!("the number in {name} places no trace, {why}: name another field for the axis, or {AS_TRACES}"),
                )
            })?;
            column.push(number.key());
        }
        Ok(())
    };
    let bytes = file.layout.trace_bytes(file.traces.samples());
    if file.traces.vary() || bytes > READ_OVER {
        for trace in traces {
            take(trace, &file.trace_header(trace)?)?;
        }
        return Ok(columns);
    }
    let per_read = ((1 << 20) / bytes).max(1);
    let mut buffer = Vec::new();
    for first in traces.clone().step_by(usize::try_from(per_read).unwrap_or(1)) {
        let last = traces.end.min(first + per_read) - 1;
        // The samples of the last trace are not needed.
        let len = (last - first) * bytes + TRACE_HEADER_BYTES as u64;
        buffer.resize(usize::try_from(len).unwrap_or(0), 0);
        file.read_at(file.traces.offset(first), &mut buffer)?;
        for (trace, header) in (first..).zip(buffer.chunks(usize::try_from(bytes).unwrap_or(1))) {
            take(trace, &header[..TRACE_HEADER_BYTES])?;
        }
    }
    Ok(columns)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn keys_of_any_width_stay_as_they_are(parts in proptest::collection::vec(
            proptest::collection::vec(prop_oneof![any::<i32>().prop_map(i64::from), any::<i64>()], 0..9), 0..5,
        )) {
            let mut all = Keys::default();
            for part in &parts {
                let mut keys = Keys::default();
                for &key in part {
                    keys.push(key);
                }
                all.append(keys);
            }
            let field = Field::new(189, FieldKind::I64);
            let column = Column { field, keys: all };
            let found: Vec<i64> = (0..column.len()).map(|trace| column.key(trace)).collect();
            prop_assert_eq!(found, parts.concat());
        }
    }
}
