//! Where the results of a calculation go: to memory, or to a dataset.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use hyperslab::{Dataset, Dim, Selection, Slab, WriteOptions};
use hyperslab_expr::Type;

use super::Calculation;
use super::parts::{Part, Parts};
use super::shape;
use super::stage::{Ready, Stage};
use crate::error::{Error, Result};
use crate::query::native;

impl Calculation<'_> {
    /// Computes the results into `out`, row-major, as elements of type `to`.
    ///
    /// Errors: those of [`outline`](Self::outline) and of reading the operands; `Argument` if `out` has another
    /// size, or `to` is of another kind.
    pub fn run_into(&self, out: &mut [u8], to: Type) -> Result<()> {
        let stage = self.reduced()?;
        let shape = stage.shape()?;
        check_kind(stage.kind()?, to)?;
        if shape::len(&shape, to.size()) != Some(out.len()) {
            let why = format!("the result has shape {} and type {to}", shape::written(&shape));
            return Err(Error::Argument { what: format!("an array of {} bytes", out.len()), why });
        }
        let ready = stage.ready(to)?;
        let chunk = stage.chunk_shape(&shape);
        let parts = Parts::new(&shape, chunk.as_deref(), None, 0, stage.widest().max(to.size()));
        if (0..parts.len()).all(|number| parts.nth(number).run_in(&shape).is_some()) {
            run_side_by_side(&ready, &parts, out, to)
        } else {
            run_scattered(&ready, &parts, out, to, &shape)
        }
    }

    /// Computes the results into a dataset, or into these rows of it. Elements are cast to those of the
    /// dataset.
    ///
    /// Errors: those of [`outline`](Self::outline), of reading the operands and of writing the dataset;
    /// `Argument` if the dataset has another shape, if its elements are of another kind, or if the
    /// calculation reads other elements of the dataset than it writes.
    pub fn run_to(&self, out: &Dataset, rows: Option<Dim>) -> Result<()> {
        let stage = self.reduced()?;
        let shape = stage.shape()?;
        let to = ResultDataset::new(&stage, &shape, out, rows)?;
        let ready = stage.ready(to.kind)?;
        let other = stage.chunk_shape(&shape);
        let is_dense = rows.is_none_or(|rows| rows.step == 1);
        let chunk = out.chunk_shape().filter(|_| is_dense);
        let before = match (&chunk, rows) {
            (Some(chunk), Some(rows)) => chunk.first().map_or(0, |len| rows.start % len.max(&1)),
            _ => 0,
        };
        let (chunk, other) = if chunk.is_some() { (chunk, other) } else { (other, None) };
        let size = stage.widest().max(to.kind.size());
        let parts = Parts::new(&shape, chunk.as_deref(), other.as_deref(), before, size);
        parts.each(&|_, part, buffers| {
            ready.compute(part, buffers)?;
            to.write(part, &buffers.results)
        })
    }
}

/// Computes parts that lie side by side in the result.
fn run_side_by_side(ready: &Ready<'_, '_>, parts: &Parts, mut out: &mut [u8], to: Type) -> Result<()> {
    let mut places = Vec::new();
    for number in 0..parts.len() {
        let (place, rest) = out.split_at_mut(parts.nth(number).len() * to.size());
        places.push(Mutex::new(place));
        out = rest;
    }
    parts.each(&|number, part, buffers| {
        let Some(place) = usize::try_from(number).ok().and_then(|number| places.get(number)) else {
            return Ok(());
        };
        let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
        ready.compute_into(part, &mut place, buffers)
    })
}

/// Computes parts, and copies each to its rows of the result.
fn run_scattered(
    ready: &Ready<'_, '_>,
    parts: &Parts,
    out: &mut [u8],
    to: Type,
    shape: &[u64],
) -> Result<()> {
    let out = Mutex::new(out);
    parts.each(&|_, part, buffers| {
        ready.compute(part, buffers)?;
        let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
        shape::scatter(&buffers.results, part, shape, to.size(), &mut out);
        Ok(())
    })
}

/// A dataset that takes results.
struct ResultDataset<'d> {
    dataset: &'d Dataset,
    rows: Option<Dim>,
    kind: Type,
    options: WriteOptions,
}

impl<'d> ResultDataset<'d> {
    fn new(stage: &Stage<'_>, shape: &[u64], dataset: &'d Dataset, rows: Option<Dim>) -> Result<Self> {
        let refused = |why: String| Err(Error::Argument { what: format!("out {:?}", dataset.path()), why });
        let mut place = dataset.shape();
        if let (Some(rows), Some(len)) = (rows, place.first_mut()) {
            if rows.end() > *len {
                return refused(format!(
                    "it has {len} rows, and the results go to rows up to {}",
                    rows.end()
                ));
            }
            *len = rows.count;
        }
        if place != shape {
            let (place, shape) = (shape::written(&place), shape::written(shape));
            return refused(format!("it has shape {place}, and the result {shape}"));
        }
        let stored = dataset.datatype();
        let Some((kind, memory)) = native(&stored) else {
            return refused("an expression has no results of its datatype".to_owned());
        };
        check_kind(stage.kind()?, kind)?;
        for (name, array) in stage.arrays() {
            if array.is_of(dataset) && !array.has_rows(shape, rows) {
                return refused(format!("{name} is the same dataset, and other rows are read than written"));
            }
        }
        // Truth values of one byte are stored as they are.
        let is_stored = memory == *stored || kind == Type::Bool;
        let options =
            WriteOptions::default().threads(NonZeroUsize::MIN).datatype((!is_stored).then_some(memory));
        Ok(Self { dataset, rows, kind, options })
    }

    fn write(&self, part: &Part, results: &[u8]) -> Result<()> {
        let what = match part.rank() {
            0 => Selection::All,
            _ => Selection::Slab(Slab(part.with_rows(self.rows).0.into_iter().collect())),
        };
        Ok(self.dataset.write_with(what, results, &self.options)?)
    }
}

/// Checks that a cast is one that NumPy calls `same_kind`.
fn check_kind(from: Type, to: Type) -> Result<()> {
    if from.is_same_kind(to) {
        return Ok(());
    }
    let why = format!("results of {from} are not cast to {to}: use an output of their kind");
    Err(Error::Argument { what: "out".to_owned(), why })
}
