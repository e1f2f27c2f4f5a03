//! Divides the indices of a selection along one axis by the chunks along it.

use std::sync::Arc;

use super::steps::{Worked, each, sort};
use super::{Dim, Part};

/// The indices along one axis, divided by chunks.
#[derive(Debug, Clone)]
pub(super) enum AxisCuts {
    Range { dim: Dim, chunk: u64 },
    List(ListCuts),
}

#[derive(Debug, Clone)]
pub(super) struct ListCuts {
    cuts: Vec<Cut>,
    /// The coordinate of each touched chunk, ascending, and the index of its first cut.
    groups: Vec<(u64, usize)>,
}

/// Indices inside one chunk that are evenly spaced both in the chunk and in the result.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    /// The indices relative to the chunk.
    within: Dim,
    /// The position in the result of the first index.
    pub(super) position: u64,
    /// The distance between neighbours in the result.
    position_step: u64,
}

/// The cuts of one axis inside one chunk.
pub(super) enum AxisCut<'t> {
    One(Cut),
    Several(&'t [Cut]),
}

impl AxisCut<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Several(cuts) => cuts.len(),
        }
    }

    pub(super) fn cut(&self, index: usize) -> Cut {
        match self {
            Self::One(cut) => *cut,
            Self::Several(cuts) => cuts[index],
        }
    }
}

impl AxisCuts {
    /// Returns the number of selected indices.
    pub(super) fn count(&self) -> u64 {
        match self {
            Self::Range { dim, .. } => dim.count,
            Self::List(list) => list.cuts.iter().map(|cut| cut.within.count).sum(),
        }
    }

    /// Returns the number of touched chunks along this axis.
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Range { dim, chunk } => match dim.last() {
                None => 0,
                // Every step is at most a chunk long, so every chunk between the first and the last is
                // touched.
                Some(last) if dim.step <= *chunk => last / chunk - dim.start / chunk + 1,
                // Every index is in a chunk of its own.
                Some(_) => dim.count,
            },
            Self::List(list) => list.groups.len() as u64,
        }
    }

    /// Returns the coordinate of the touched chunk number `index`, which is less than `len`.
    pub(super) fn chunk(&self, index: u64) -> u64 {
        match self {
            Self::Range { dim, chunk } if dim.step <= *chunk => dim.start / chunk + index,
            Self::Range { dim, chunk } => (dim.start + index * dim.step) / chunk,
            Self::List(list) => usize::try_from(index).map_or(0, |index| list.groups[index].0),
        }
    }

    pub(super) fn cuts(&self, at: u64) -> Option<AxisCut<'_>> {
        match self {
            Self::Range { dim, chunk } => Cut::of(*dim, *chunk, at).map(AxisCut::One),
            Self::List(list) => {
                let index = list.groups.binary_search_by_key(&at, |(chunk, _)| *chunk).ok()?;
                let end = list.groups.get(index + 1).map_or(list.cuts.len(), |(_, begin)| *begin);
                Some(AxisCut::Several(&list.cuts[list.groups[index].1..end]))
            }
        }
    }
}

impl ListCuts {
    pub(super) fn new<E>(list: &Arc<[u64]>, chunk: u64, worked: &mut Worked<'_, E>) -> Result<Self, E> {
        // Sort by chunk, and within a chunk by the position in the result.
        let mut sorted: Vec<(u64, u64, u64)> = Vec::with_capacity(list.len());
        each(list.iter().zip(0..), worked, |(&index, position)| {
            sorted.push((index / chunk, position, index % chunk));
        })?;
        sort(&mut sorted, |indices| *indices, worked)?;
        let mut cuts: Vec<Cut> = Vec::new();
        let mut groups: Vec<(u64, usize)> = Vec::new();
        each(sorted, worked, |(at, position, index)| {
            if groups.last().is_none_or(|(last, _)| *last != at) {
                groups.push((at, cuts.len()));
            } else if cuts.last_mut().is_some_and(|cut| cut.extend(index, position)) {
                return;
            }
            cuts.push(Cut { within: Dim::one(index), position, position_step: 1 });
        })?;
        Ok(Self { cuts, groups })
    }
}

impl Cut {
    /// Returns the indices of `dim` inside chunk number `at`; chunks have `chunk` elements. `None` if there
    /// are none.
    pub(super) fn of(dim: Dim, chunk: u64, at: u64) -> Option<Self> {
        let lo = at.checked_mul(chunk)?;
        let (position, end) = dim.positions(lo, lo.saturating_add(chunk));
        (position < end).then(|| {
            let start = dim.start + position * dim.step - lo;
            let within = Dim { start, step: dim.step, count: end - position };
            Self { within, position, position_step: 1 }
        })
    }

    /// Appends the cut as the next axis of a part.
    pub(super) fn add_to(self, part: &mut Part, stride: u64) {
        part.within.push(self.within);
        part.dst += self.position * stride;
        part.dst_strides.push(self.position_step * stride);
    }

    /// Adds one more index if it continues the even spacing. `position` is after the positions of the cut.
    fn extend(&mut self, index: u64, position: u64) -> bool {
        let Dim { start, step, count } = self.within;
        let last = start + (count - 1) * step;
        let rise = index.saturating_sub(last);
        let leap = position - (self.position + (count - 1) * self.position_step);
        let even = rise > 0 && (count == 1 || (rise == step && leap == self.position_step));
        if even {
            self.within = Dim { start, step: rise, count: count + 1 };
            self.position_step = leap;
        }
        even
    }
}
