//! Predicts the geometry of a whole survey from a few headers, so that one pass over the file suffices.

use super::{Axis, Keys, Survey, SurveyKind, SurveyOptions, TraceMap};
use crate::error::Result;
use crate::file::SegyFile;
use crate::number::{Number, Numbers};

/// The number of traces that are compared with the prediction, besides the last. The other traces are
/// compared when they are read.
const SAMPLES: u64 = 64;

/// Returns the survey, if its first traces are those of a full volume, line after line in even steps, and the
/// sampled traces agree.
pub(super) fn predict(file: &SegyFile, options: &SurveyOptions) -> Result<Option<Survey>> {
    if options.kind.is_some_and(|kind| kind != SurveyKind::Volume) || file.traces.vary() {
        return Ok(None);
    }
    let keys = options.keys();
    let fields = [keys.inline, keys.crossline];
    let order = file.layout.order;
    let count = file.traces.count();
    // Steps of floats are rarely even to the last bit.
    if count < 2 || !fields.iter().all(|field| field.is_integer()) {
        return Ok(None);
    }
    // As 16 bytes, differences of any two numbers fit. A number that places no trace ends the prediction,
    // and the scan of all headers reports it.
    let lines = |trace: u64| -> Result<[Option<i128>; 2]> {
        let header = file.trace_header(trace)?;
        Ok(fields.map(|field| match field.number(&header, order) {
            Ok(Number::Integer(number)) => Some(number.into()),
            _ => None,
        }))
    };
    let (first, second) = (lines(0)?, lines(1)?);
    let Some(slow) = (0..2).find(|&axis| first[axis] == second[axis] && first[1 - axis] != second[1 - axis])
    else {
        return Ok(None);
    };
    let fast = 1 - slow;
    let mut length = 1;
    // Doubles the length, then bisects, assuming that lines follow each other. The comparison below verifies
    // this.
    while length < count && lines(length)?[slow] == first[slow] {
        length *= 2;
    }
    let (mut inside, mut outside) = (length / 2, length.min(count));
    while outside - inside > 1 {
        let middle = inside.midpoint(outside);
        let is_inside = lines(middle)?[slow] == first[slow];
        *(if is_inside { &mut inside } else { &mut outside }) = middle;
    }
    let per_line = outside;
    if !count.is_multiple_of(per_line) {
        return Ok(None);
    }
    let line = if per_line < count { lines(per_line)? } else { first };
    let ([Some(a), Some(b)], Some(next_fast), Some(next_slow)) = (first, second[fast], line[slow]) else {
        return Ok(None);
    };
    let first = [a, b];
    let mut steps = [0; 2];
    steps[fast] = next_fast - first[fast];
    steps[slow] = if per_line < count { next_slow - first[slow] } else { 1 };
    let mut shape = [0; 2];
    (shape[fast], shape[slow]) = (per_line, count / per_line);
    let predicted = |trace: u64| {
        let mut at = [0; 2];
        (at[fast], at[slow]) = (trace % per_line, trace / per_line);
        [0, 1].map(|axis| Some(first[axis] + steps[axis] * i128::from(at[axis])))
    };
    if steps.contains(&0) {
        return Ok(None);
    }
    let some = (1..SAMPLES).map(|i| count / SAMPLES * i + i % per_line).filter(|&trace| trace < count);
    for trace in some.chain([count - 1]) {
        if lines(trace)? != predicted(trace) {
            return Ok(None);
        }
    }
    Ok(Some(regular(keys, first, steps, shape, fast)))
}

/// Returns a full volume whose traces start at `first` and continue in `steps`. The numbers of its last trace
/// are those of a header, so all numbers are in the range of `i64`.
fn regular(keys: Keys, first: [i128; 2], steps: [i128; 2], shape: [u64; 2], fast: usize) -> Survey {
    let mut strides = [1; 2];
    strides[1 - fast] = shape[fast].cast_signed();
    let mut origin = 0;
    let mut values = [Vec::new(), Vec::new()];
    for axis in 0..2 {
        let numbers = (0..shape[axis]).map(|i| first[axis] + steps[axis] * i128::from(i));
        values[axis] = numbers.filter_map(|number| i64::try_from(number).ok()).collect();
        // The values of an axis ascend. If the lines descend, the first line becomes the last.
        if steps[axis] < 0 {
            values[axis].reverse();
            origin += strides[axis] * (shape[axis].cast_signed() - 1);
            strides[axis] = -strides[axis];
        }
    }
    let names = SurveyKind::Volume.axes();
    let axes = names
        .iter()
        .zip(values)
        .map(|(&name, values)| Axis { name, values: Numbers::Integers(values) })
        .collect();
    let map = TraceMap::Regular { origin, strides: strides.to_vec(), shape: shape.to_vec() };
    Survey { is_predicted: true, ..Survey::new(SurveyKind::Volume, keys, axes, map) }
}
