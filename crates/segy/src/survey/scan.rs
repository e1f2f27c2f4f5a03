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
    /// The [key](Number::key) of the number of each trace.
    pub(super) keys: Vec<i64>,
}

impl Column {
    /// Returns the number of a trace.
    pub(super) fn number(&self, trace: usize) -> Number {
        of_key(self.keys[trace], self.is_real())
    }

    /// Returns whether the field holds floats.
    pub(super) fn is_real(&self) -> bool {
        matches!(self.field.kind, FieldKind::F32 | FieldKind::F64)
    }

    /// Returns whether all numbers are equal.
    pub(super) fn is_constant(&self) -> bool {
        self.keys.windows(2).all(|pair| pair[0] == pair[1])
    }
}

/// Returns a column for each field.
pub(super) fn columns(file: &SegyFile, fields: &[Field]) -> Result<Vec<Column>> {
    let count = file.traces.count();
    let parts: Mutex<Vec<(u64, Vec<Vec<i64>>)>> = Mutex::default();
    each_number(count.div_ceil(BATCH), &|batch| {
        let traces = batch * BATCH..count.min((batch + 1) * BATCH);
        let part = read(file, fields, traces.clone())?;
        parts.lock().unwrap_or_else(PoisonError::into_inner).push((traces.start, part));
        Ok::<_, Error>(())
    })?;
    let mut parts = parts.into_inner().unwrap_or_else(PoisonError::into_inner);
    parts.sort_by_key(|part| part.0);
    let empty = |&field: &Field| {
        let keys = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
        Column { field, keys }
    };
    let mut columns: Vec<Column> = fields.iter().map(empty).collect();
    for (_, part) in parts {
        columns.iter_mut().zip(part).for_each(|(column, part)| column.keys.extend(part));
    }
    Ok(columns)
}

fn read(file: &SegyFile, fields: &[Field], traces: std::ops::Range<u64>) -> Result<Vec<Vec<i64>>> {
    let mut columns = vec![Vec::new(); fields.len()];
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
