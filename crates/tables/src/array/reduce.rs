//! Reductions of the results of a stage. Each thread reduces parts, whose accumulators are merged in the
//! order of the parts, so that a result does not depend on the number of threads.

use std::sync::{Mutex, PoisonError};

use hyperslab_expr::{Accumulator, Reduction, Type, element_type, has_identity, result_type};

use super::operand::Array;
use super::parts::{InOrder, Part, Parts};
use super::shape;
use super::stage::Stage;
use crate::error::{Error, Result};

/// Returns the shape and the type of the results.
///
/// Errors: `Argument` if there is no such axis, or if there are no elements and the reduction needs one.
pub(super) fn outline(stage: &Stage<'_>, reduction: Reduction) -> Result<(Vec<u64>, Type)> {
    let shape = stage.shape()?;
    let axis = axis(reduction, shape.len())?;
    let is_empty = axis.map_or(shape.contains(&0), |axis| shape[axis] == 0);
    if is_empty && !has_identity(reduction.kind) {
        let what = format!("the {}", reduction.kind.name());
        let why = format!("an array of shape {} has no such element", shape::written(&shape));
        return Err(Error::Argument { what, why });
    }
    let reduced = match (axis, reduction.keepdims) {
        (None, false) => Vec::new(),
        (None, true) => vec![1; shape.len()],
        (Some(axis), false) => without(&shape, axis),
        (Some(axis), true) => {
            let mut kept = shape;
            kept[axis] = 1;
            kept
        }
    };
    Ok((reduced, result_type(reduction.kind, stage.kind()?)?))
}

/// Reduces the results of a stage.
pub(super) fn run<'a>(stage: &Stage<'a>, reduction: Reduction) -> Result<Array<'a>> {
    let (reduced, result) = outline(stage, reduction)?;
    let (shape, kind) = (stage.shape()?, stage.kind()?);
    let axis = axis(reduction, shape.len())?;
    let cells = axis.map_or(Vec::new(), |axis| without(&shape, axis));
    let Some(count) = shape::len(&cells, 1) else {
        let what = format!("the {} of an array of shape {}", reduction.kind.name(), shape::written(&shape));
        return Err(Error::Argument { what, why: "the results do not fit into memory".to_owned() });
    };
    let ready = stage.ready(element_type(reduction.kind, kind)?)?;
    let chunk = stage.chunk_shape(&shape);
    let parts = Parts::new(&shape, chunk.as_deref(), None, 0, stage.widest());
    let whole = Accumulator::new(reduction, kind, [count, 1, 1])?;
    let merged = Mutex::new((InOrder::new(), whole));
    parts.each(&|number, part, buffers| {
        let mut seen = Accumulator::new(reduction, kind, sides(part, axis))?;
        ready.each(part, buffers, &mut |elements, at| seen.add(elements, at))?;
        match axis {
            None => seen.relocate(&|at| part.number_in(usize::try_from(at).unwrap_or(0), &shape) as u64),
            Some(axis) => seen.relocate(&|at| at + part.0[axis].start),
        }
        let (order, whole) = &mut *merged.lock().unwrap_or_else(PoisonError::into_inner);
        let own = part.without(axis);
        order.put(number, (own, seen), &mut |(own, seen): (Part, Accumulator)| {
            whole.merge(&seen, &|cell| own.number_in(cell, &cells));
        });
        Ok(())
    })?;
    let (_, whole) = merged.into_inner().unwrap_or_else(PoisonError::into_inner);
    let elements = match axis {
        None => shape.iter().fold(1, |all: u64, len| all.saturating_mul(*len)),
        Some(axis) => shape[axis],
    };
    Ok(Array::results(result, reduced, whole.results(elements)))
}

/// Returns the axis of a reduction, counted from the first one.
fn axis(reduction: Reduction, rank: usize) -> Result<Option<usize>> {
    let Some(given) = reduction.axis else { return Ok(None) };
    let at = usize::try_from(given.unsigned_abs()).ok();
    let axis = if given < 0 { at.and_then(|at| rank.checked_sub(at)) } else { at };
    match axis {
        Some(axis) if axis < rank => Ok(Some(axis)),
        _ => {
            let why = format!("it is out of bounds for an array of dimension {rank}");
            Err(Error::Argument { what: format!("axis {given}"), why })
        }
    }
}

fn without(shape: &[u64], axis: usize) -> Vec<u64> {
    let mut rest = shape.to_vec();
    rest.remove(axis);
    rest
}

/// Returns the lengths before, along and after the axis.
fn sides(part: &Part, axis: Option<usize>) -> [usize; 3] {
    let counts = part.counts();
    match axis {
        None => [1, part.len(), 1],
        Some(axis) => [counts[..axis].iter().product(), counts[axis], counts[axis + 1..].iter().product()],
    }
}
