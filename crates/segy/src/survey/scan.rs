//! Reads some fields of the headers of all traces.

use std::sync::{Mutex, PoisonError};

use hyperslab::internals::engine::each_number;

use crate::TRACE_HEADER_BYTES;
use crate::error::{Error, Result};
use crate::field::Field;
use crate::file::SegyFile;

/// The traces that one thread reads at a time.
const BATCH: u64 = 4096;
/// The greatest size of traces that are read whole. A disk transfers their samples in the time of another
/// request.
const READ_OVER: u64 = 16 << 10;

/// Returns a column for each field, with the values of all traces.
pub(super) fn columns(file: &SegyFile, fields: &[Field]) -> Result<Vec<Vec<i32>>> {
    let count = file.traces.count();
    let parts: Mutex<Vec<(u64, Vec<Vec<i32>>)>> = Mutex::default();
    each_number(count.div_ceil(BATCH), &|batch| {
        let traces = batch * BATCH..count.min((batch + 1) * BATCH);
        let part = read(file, fields, traces.clone())?;
        parts.lock().unwrap_or_else(PoisonError::into_inner).push((traces.start, part));
        Ok::<_, Error>(())
    })?;
    let mut parts = parts.into_inner().unwrap_or_else(PoisonError::into_inner);
    parts.sort_by_key(|part| part.0);
    let mut columns = vec![Vec::with_capacity(usize::try_from(count).unwrap_or(0)); fields.len()];
    for (_, part) in parts {
        columns.iter_mut().zip(part).for_each(|(column, part)| column.extend(part));
    }
    Ok(columns)
}

fn read(file: &SegyFile, fields: &[Field], traces: std::ops::Range<u64>) -> Result<Vec<Vec<i32>>> {
    let mut columns = vec![Vec::new(); fields.len()];
    let mut take = |trace: u64, header: &[u8]| -> Result<()> {
        for (column, field) in columns.iter_mut().zip(fields) {
            let value = field.integer(header, file.layout.order);
            column.push(i32::try_from(value).map_err(|_| {
                let byte = file.traces.offset(trace) + u64::from(field.byte) - 1;
                Error::trace(
                    "header",
                    trace,
                    byte,
                    format!("{value} in {field} is out of range for a line or an offset"),
                )
            })?);
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
