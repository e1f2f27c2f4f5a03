//! Lists a selection as runs of neighbouring elements.

use std::sync::Arc;

use hyperslab_error::RequestError;
use smallvec::SmallVec;

use super::{Axis, Dim, Points, Selection, Slab, row_strides};

/// Neighbouring elements of a row-major array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The position of the first element.
    pub offset: u64,
    /// The number of elements.
    pub len: u64,
}

/// The selected elements in the order of the result, as maximal runs.
#[derive(Debug, Clone)]
pub struct Runs {
    source: RunSource,
    /// The last run, which the next one may lengthen.
    pending: Option<Run>,
}

#[derive(Debug, Clone)]
enum RunSource {
    Nothing,
    Axes(Odometer),
    Points { points: Points, strides: SmallVec<[u64; 4]>, next: usize },
}

/// Walks the product of axes, the last one fastest. Each step is a run of `len` elements.
#[derive(Debug, Clone)]
struct Odometer {
    wheels: SmallVec<[Wheel; 4]>,
    len: u64,
    done: bool,
}

#[derive(Debug, Clone)]
struct Wheel {
    indices: Indices,
    count: u64,
    stride: u64,
    turn: u64,
}

#[derive(Debug, Clone)]
enum Indices {
    Even(Dim),
    List(Arc<[u64]>),
}

impl Runs {
    pub(super) fn new(selection: &Selection, extent: &[u64]) -> Result<Self, RequestError> {
        selection.check(extent)?;
        if selection.count(extent)? > 0
            && extent.iter().try_fold(1u64, |n, &len| n.checked_mul(len)).is_none()
        {
            return Err(RequestError::TooMany { what: "array", limit: u64::MAX });
        }
        let source = match selection {
            Selection::None => RunSource::Nothing,
            _ if selection.count(extent)? == 0 => RunSource::Nothing,
            Selection::All => RunSource::Axes(Odometer::new(
                Slab::whole(extent).0.iter().map(|dim| Indices::Even(*dim)).collect(),
                extent,
            )),
            Selection::Slab(slab) => {
                RunSource::Axes(Odometer::new(slab.0.iter().map(|dim| Indices::Even(*dim)).collect(), extent))
            }
            Selection::Grid(axes) => {
                let indices = axes.iter().map(|axis| match axis {
                    Axis::Range(dim) => Indices::Even(*dim),
                    Axis::List(list) => Indices::List(list.clone()),
                });
                RunSource::Axes(Odometer::new(indices.collect(), extent))
            }
            Selection::Points(points) => {
                RunSource::Points { points: points.clone(), strides: row_strides(extent), next: 0 }
            }
        };
        Ok(Self { source, pending: None })
    }
}

impl Iterator for Runs {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        loop {
            let Some(run) = self.source.next() else { return self.pending.take() };
            match &mut self.pending {
                Some(pending) if pending.offset + pending.len == run.offset => pending.len += run.len,
                pending => {
                    if let Some(done) = pending.replace(run) {
                        return Some(done);
                    }
                }
            }
        }
    }
}

impl RunSource {
    fn next(&mut self) -> Option<Run> {
        match self {
            Self::Nothing => None,
            Self::Axes(odometer) => odometer.next(),
            Self::Points { points, strides, next } => {
                let point = points.iter().nth(*next)?;
                *next += 1;
                Some(Run {
                    offset: point.iter().zip(&*strides).map(|(at, stride)| at * stride).sum(),
                    len: 1,
                })
            }
        }
    }
}

impl Odometer {
    /// `indices` has at least one index for every axis.
    fn new(indices: SmallVec<[Indices; 4]>, extent: &[u64]) -> Self {
        let mut wheels: SmallVec<[Wheel; 4]> = indices
            .into_iter()
            .zip(row_strides(extent))
            .map(|(indices, stride)| Wheel { count: indices.len(), indices, stride, turn: 0 })
            .collect();
        // Trailing axes that are selected whole are part of every run. So is one range before them.
        let mut len = 1;
        let mut base = None;
        while let Some(wheel) = wheels.last() {
            let Indices::Even(dim) = wheel.indices else { break };
            if dim.step > 1 && dim.count > 1 {
                break;
            }
            let whole = dim.count == extent[wheels.len() - 1];
            len *= dim.count;
            if !whole {
                base = Some(Wheel { indices: Indices::Even(Dim::one(dim.start)), count: 1, ..wheel.clone() });
            }
            wheels.pop();
            if base.is_some() {
                break;
            }
        }
        wheels.extend(base);
        Self { wheels, len, done: false }
    }

    fn next(&mut self) -> Option<Run> {
        if self.done {
            return None;
        }
        let offset = self.wheels.iter().map(|wheel| wheel.indices.at(wheel.turn) * wheel.stride).sum();
        self.done = true;
        for wheel in self.wheels.iter_mut().rev() {
            wheel.turn += 1;
            if wheel.turn < wheel.count {
                self.done = false;
                break;
            }
            wheel.turn = 0;
        }
        Some(Run { offset, len: self.len })
    }
}

impl Indices {
    fn len(&self) -> u64 {
        match self {
            Self::Even(dim) => dim.count,
            Self::List(list) => list.len() as u64,
        }
    }

    /// Returns the index at position `turn`, which is less than `len`.
    fn at(&self, turn: u64) -> u64 {
        match self {
            Self::Even(dim) => dim.start + turn * dim.step,
            Self::List(list) => usize::try_from(turn).map_or(0, |turn| list[turn]),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::cases;
    use super::*;

    proptest! {
        #[test]
        fn runs_are_maximal_and_list_the_elements_in_order(case in cases()) {
            let strides = row_strides(&case.extent);
            let expected: Vec<u64> = case
                .elements()
                .iter()
                .map(|element| element.iter().zip(&strides).map(|(at, stride)| at * stride).sum())
                .collect();
            let runs: Vec<Run> = case.selection.runs(&case.extent).unwrap().collect();
            let found: Vec<u64> = runs.iter().flat_map(|run| run.offset..run.offset + run.len).collect();
            prop_assert_eq!(found, expected);
            for pair in runs.windows(2) {
                prop_assert_ne!(pair[0].offset + pair[0].len, pair[1].offset);
            }
        }
    }

    #[test]
    fn whole_rows_are_one_run_and_are_not_enumerated() {
        let slab: Selection = [1 << 20..1 << 40, 0..1 << 20].into();
        let runs: Vec<Run> = slab.runs(&[1 << 41, 1 << 20]).unwrap().collect();
        assert_eq!(runs, [Run { offset: 1 << 40, len: (1 << 60) - (1 << 40) }]);
    }

    #[test]
    fn an_array_too_large_for_offsets_is_refused() {
        let slab: Selection = [0..1, 0..1].into();
        assert!(slab.runs(&[1 << 40, 1 << 40]).is_err());
    }
}
