//! One side of a mapping of a virtual dataset: elements in an order, found by their index and by their
//! position.

use std::sync::Arc;

use hyperslab_error::RequestError;
use hyperslab_format::selection::{BlockList, RegularAxis, StoredSelection};
use smallvec::SmallVec;

use super::stored_selection::factors;
use super::{Axis, Coord, Dim, Shape, row_strides};

/// The elements of one side of a mapping, in order.
#[derive(Debug, Clone)]
pub(super) enum Side {
    /// The product of indices along every axis, in row-major order.
    Product(Vec<Track>),
    /// Rows, in any order.
    Rows(Rows),
}

/// The indices of a product along one axis, in ascending order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Track {
    /// Blocks of `block` indices, `stride` apart, `len` indices in total.
    Even { start: u64, stride: u64, block: u64, len: u64 },
    /// Runs of neighbours. For each, the first index, the number of indices and the position of the first.
    Runs(Arc<[(u64, u64, u64)]>),
}

/// Runs of neighbours along the last axis.
#[derive(Debug, Clone)]
pub(super) struct Rows {
    /// In the order of positions.
    rows: Vec<Row>,
    len: u64,
}

/// Neighbouring elements of one row.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row {
    /// The coordinate of the first element.
    pub(super) at: Coord,
    /// The number of elements.
    pub(super) len: u64,
    /// The position of the first element.
    pub(super) position: u64,
}

/// Indices that are in two sequences: `count` of them, evenly spaced in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Strip {
    /// The positions in the result.
    pub(super) result: Dim,
    /// The positions in the track.
    pub(super) track: Dim,
}

/// The most rows of irregular blocks and the most single points of a mapping.
const ROW_LIMIT: u64 = 1 << 20;

impl Side {
    /// Returns the elements of a stored selection in an array of the shape `extent`. A selection without end
    /// has `slices` indices along the axis where it has none.
    pub(super) fn new(stored: &StoredSelection, extent: &[u64], slices: u64) -> Result<Self, RequestError> {
        if let Some(given) = stored.rank().filter(|&given| given != extent.len()) {
            return Err(RequestError::Rank { given, rank: extent.len() });
        }
        Ok(match stored {
            StoredSelection::All => Self::Product(extent.iter().map(|&len| Track::range(0, len)).collect()),
            StoredSelection::None => Self::Rows(Rows { rows: Vec::new(), len: 0 }),
            StoredSelection::Regular(slab) => {
                Self::Product(slab.axes.iter().map(|axis| Track::regular(axis, slices)).collect())
            }
            StoredSelection::Blocks(blocks) => match factors(blocks) {
                Some(axes) => Self::Product(axes.iter().map(|axis| Track::runs(axis)).collect()),
                None => Self::Rows(Rows::of_blocks(blocks, extent)?),
            },
            StoredSelection::Points(points) => {
                if points.points().len() as u64 > ROW_LIMIT {
                    return Err(too_many());
                }
                let row = |(at, position): (&[u64], u64)| Row { at: at.into(), len: 1, position };
                let rows = points.points().zip(0..).map(row).collect();
                Self::Rows(Rows { rows, len: points.points().len() as u64 })
            }
        })
    }

    /// Returns the number of elements, or `None` on overflow.
    pub(super) fn count(&self) -> Option<u64> {
        match self {
            Self::Product(tracks) if tracks.iter().any(|track| track.len() == 0) => Some(0),
            Self::Product(tracks) => {
                tracks.iter().try_fold(1_u64, |count, track| count.checked_mul(track.len()))
            }
            Self::Rows(rows) => Some(rows.len),
        }
    }

    /// Returns, for each axis, the first index and the last. `None` if there are no elements.
    pub(super) fn bounds(&self) -> Option<SmallVec<[(u64, u64); 4]>> {
        match self {
            Self::Product(tracks) => tracks.iter().map(Track::bounds).collect(),
            Self::Rows(rows) => {
                let (first, others) = rows.rows.split_first()?;
                let span = |row: &Row| {
                    let mut spans: SmallVec<[(u64, u64); 4]> = row.at.iter().map(|&at| (at, at)).collect();
                    spans.last_mut().into_iter().for_each(|(_, last)| *last += row.len - 1);
                    spans
                };
                Some(others.iter().map(span).fold(span(first), |mut all, next| {
                    for (all, next) in all.iter_mut().zip(next) {
                        *all = (all.0.min(next.0), all.1.max(next.1));
                    }
                    all
                }))
            }
        }
    }

    /// Returns the position of the element at `coord`.
    pub(super) fn find(&self, coord: &[u64]) -> Option<u64> {
        match self {
            Self::Product(tracks) => tracks
                .iter()
                .zip(coord)
                .try_fold(0, |position, (track, &at)| Some(position * track.len() + track.find(at)?)),
            Self::Rows(rows) => rows.rows.iter().find_map(|row| {
                let (last, outer) = coord.split_last()?;
                let (first, above) = row.at.split_last()?;
                let within = last.checked_sub(*first).filter(|&within| within < row.len)?;
                (outer == above).then_some(row.position + within)
            }),
        }
    }

    /// Calls `f` with boxes of the elements at the evenly spaced `positions`, each with the number of
    /// elements before it. A box has several elements along its last axis at most.
    pub(super) fn boxes(&self, positions: Dim, f: &mut dyn FnMut(SmallVec<[Dim; 4]>, u64)) {
        let mut done = 0;
        while done < positions.count {
            let position = positions.start + done * positions.step;
            let (outer, track, at) = match self {
                Self::Product(tracks) => {
                    let Some((last, outer)) = tracks.split_last() else {
                        return f(SmallVec::new(), done);
                    };
                    let lens: Shape = outer.iter().map(Track::len).chain([last.len()]).collect();
                    let mut rest = position / last.len().max(1);
                    let mut coord: SmallVec<[Dim; 4]> = SmallVec::from_elem(Dim::one(0), outer.len());
                    for axis in (0..outer.len()).rev() {
                        coord[axis] = Dim::one(outer[axis].at(rest % lens[axis].max(1)));
                        rest /= lens[axis].max(1);
                    }
                    (coord, last.clone(), position % last.len().max(1))
                }
                Self::Rows(rows) => {
                    let number = rows.rows.partition_point(|row| row.position <= position);
                    let Some(row) = number.checked_sub(1).map(|number| &rows.rows[number]) else { return };
                    let Some((&first, outer)) = row.at.split_last() else { return };
                    let coord = outer.iter().map(|&at| Dim::one(at)).collect();
                    (coord, Track::range(first, row.len), position - row.position)
                }
            };
            // The positions that are in this row.
            let left = track.len().saturating_sub(at + 1) / positions.step + 1;
            let count = left.min(positions.count - done);
            let mut within = done;
            for dim in track.dims(Dim { start: at, step: positions.step, count }) {
                let mut whole = outer.clone();
                whole.push(dim);
                f(whole, within);
                within += dim.count;
            }
            done += count;
        }
    }

    /// Returns the tracks of a product.
    pub(super) fn tracks(&self) -> Option<&[Track]> {
        match self {
            Self::Product(tracks) => Some(tracks),
            Self::Rows(_) => None,
        }
    }

    /// Returns the rows of elements that are no product.
    pub(super) fn rows(&self) -> &[Row] {
        match self {
            Self::Product(_) => &[],
            Self::Rows(rows) => &rows.rows,
        }
    }
}

fn too_many() -> RequestError {
    RequestError::TooMany { what: "rows of a mapping", limit: ROW_LIMIT }
}

impl Rows {
    /// Returns the elements of all blocks, each once, in row-major order of the array.
    fn of_blocks(blocks: &BlockList, extent: &[u64]) -> Result<Self, RequestError> {
        let strides = row_strides(extent);
        let mut found: Vec<(u64, Row)> = Vec::new();
        for (first, last) in blocks.blocks() {
            let (outer, len) = match (first.split_last(), last.split_last()) {
                (Some((first, outer)), Some((last, _))) => (outer, (last - first).saturating_add(1)),
                _ => continue,
            };
            let sides = outer.iter().zip(last).map(|(first, last)| (last - first).saturating_add(1));
            let count = sides.fold(1_u64, u64::saturating_mul);
            if (found.len() as u64).saturating_add(count) > ROW_LIMIT {
                return Err(too_many());
            }
            for (axis, (&last, &len)) in last.iter().zip(extent).enumerate() {
                if last >= len {
                    return Err(RequestError::OutOfBounds { axis, index: last.into(), len });
                }
            }
            let mut at = Coord::from_slice(first);
            'rows: loop {
                let offset = at.iter().zip(&strides).map(|(at, stride)| at * stride).sum();
                found.push((offset, Row { at: at.clone(), len, position: 0 }));
                for axis in (0..outer.len()).rev() {
                    if at[axis] < last[axis] {
                        at[axis] += 1;
                        continue 'rows;
                    }
                    at[axis] = first[axis];
                }
                break;
            }
        }
        found.sort_unstable();
        let (mut rows, mut end, mut len) = (Vec::with_capacity(found.len()), 0_u64, 0_u64);
        for (offset, mut row) in found {
            // Blocks may overlap.
            let twice = row.len.min(end.saturating_sub(offset));
            row.len -= twice;
            row.at.last_mut().into_iter().for_each(|at| *at += twice);
            row.position = len;
            len += row.len;
            end = end.max(offset + twice + row.len);
            if row.len > 0 {
                rows.push(row);
            }
        }
        Ok(Self { rows, len })
    }
}

impl Track {
    pub(super) fn range(start: u64, len: u64) -> Self {
        Self::Even { start, stride: 1, block: 1, len }
    }

    fn regular(axis: &RegularAxis, slices: u64) -> Self {
        let RegularAxis { start, stride, .. } = *axis;
        match (axis.count, axis.block) {
            (Some(count), Some(block)) if count <= 1 || stride == block => {
                Self::range(start, count.saturating_mul(block))
            }
            (Some(count), Some(block)) => {
                Self::Even { start, stride, block, len: count.saturating_mul(block) }
            }
            (None, Some(block)) if stride == block => Self::range(start, slices),
            (None, Some(block)) => Self::Even { start, stride: stride.max(1), block, len: slices },
            (_, None) => Self::range(start, slices),
        }
    }

    fn runs(intervals: &[(u64, u64)]) -> Self {
        if let [(first, last)] = *intervals {
            return Self::range(first, (last - first).saturating_add(1));
        }
        let run = |position: &mut u64, &(first, last): &(u64, u64)| {
            let run = (first, (last - first).saturating_add(1), *position);
            *position = position.saturating_add(run.1);
            Some(run)
        };
        Self::Runs(intervals.iter().scan(0, run).collect())
    }

    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Even { block: 0, .. } => 0,
            Self::Even { len, .. } => *len,
            Self::Runs(runs) => runs.last().map_or(0, |(_, len, position)| position + len),
        }
    }

    /// Returns the index at a position.
    pub(super) fn at(&self, position: u64) -> u64 {
        match self {
            Self::Even { start, stride, block, .. } => {
                let block = (*block).max(1);
                start
                    .saturating_add((position / block).saturating_mul(*stride))
                    .saturating_add(position % block)
            }
            Self::Runs(runs) => {
                let number = runs.partition_point(|run| run.2 <= position).saturating_sub(1);
                runs.get(number).map_or(0, |(first, _, before)| first + (position - before))
            }
        }
    }

    /// Returns the position of an index.
    pub(super) fn find(&self, index: u64) -> Option<u64> {
        match self {
            Self::Even { start, stride, block, len } => {
                let distance = index.checked_sub(*start)?;
                let (number, within) = (distance / (*stride).max(1), distance % (*stride).max(1));
                let position = number.checked_mul(*block)?.checked_add(within)?;
                (within < *block && position < *len).then_some(position)
            }
            Self::Runs(runs) => {
                let number = runs.partition_point(|run| run.0 <= index).checked_sub(1)?;
                let (first, len, position) = runs[number];
                (index - first < len).then(|| position + index - first)
            }
        }
    }

    fn bounds(&self) -> Option<(u64, u64)> {
        let last = self.len().checked_sub(1)?;
        Some((self.at(0), self.at(last)))
    }

    /// Returns whether all indices fit a `u64`.
    pub(super) fn fits(&self) -> bool {
        match self {
            Self::Even { start, stride, block, len } => {
                let last = len.saturating_sub(1);
                let block = (*block).max(1);
                let before =
                    (last / block).checked_mul(*stride).and_then(|before| before.checked_add(last % block));
                let is_exact = *len < u64::MAX;
                is_exact
                    && before.and_then(|before| before.checked_add(*start)).is_some_and(|end| end < u64::MAX)
            }
            Self::Runs(runs) => {
                let count = runs.iter().try_fold(0_u64, |count, run| count.checked_add(run.1));
                count.is_some() && runs.last().is_none_or(|run| run.0.checked_add(run.1).is_some())
            }
        }
    }

    /// Returns the indices at evenly spaced positions.
    pub(super) fn dims(&self, positions: Dim) -> SmallVec<[Dim; 1]> {
        if let Self::Even { stride, block: 1, .. } = self {
            let (first, step) = (self.at(positions.start), positions.step.saturating_mul(*stride));
            return SmallVec::from_elem(Dim { start: first, step: step.max(1), count: positions.count }, 1);
        }
        let mut dims: SmallVec<[Dim; 1]> = SmallVec::new();
        let mut done = 0;
        while done < positions.count {
            let position = positions.start + done * positions.step;
            // The number of positions up to the end of the run of neighbours.
            let left = match self {
                Self::Even { block, .. } => block - position % (*block).max(1),
                Self::Runs(runs) => {
                    let number = runs.partition_point(|run| run.2 <= position).saturating_sub(1);
                    runs.get(number).map_or(1, |(_, len, before)| before + len - position)
                }
            };
            let count = (left.saturating_sub(1) / positions.step + 1).min(positions.count - done);
            dims.push(Dim { start: self.at(position), step: positions.step, count });
            done += count;
        }
        dims
    }

    /// Returns whether any index is also in `wanted`.
    pub(super) fn touches(&self, wanted: &Axis) -> bool {
        match (self, wanted) {
            (Self::Even { block: 1, .. }, Axis::Range(_)) => !self.strips(wanted).is_empty(),
            (_, Axis::Range(dim)) => self.strips_in(*dim).next().is_some(),
            (_, Axis::List(list)) => list.iter().any(|&index| self.find(index).is_some()),
        }
    }

    /// Returns the indices that are also in `dim`, block by block.
    fn strips_in(&self, dim: Dim) -> impl Iterator<Item = Strip> {
        let len = self.len();
        let mut position = if dim.count == 0 { None } else { self.next(dim.start) };
        std::iter::from_fn(move || {
            while let Some((index, at)) = position.filter(|(_, at)| *at < len) {
                let left = match self {
                    Self::Even { block, .. } => (block - at % block).min(len - at),
                    Self::Runs(runs) => {
                        let number = runs.partition_point(|run| run.2 <= at).saturating_sub(1);
                        runs[number].1 - (at - runs[number].2)
                    }
                };
                let (low, high) = dim.positions(index, index.saturating_add(left));
                let beyond = || self.next((dim.start + high * dim.step).max(index.saturating_add(left)));
                position = if high < dim.count { beyond() } else { None };
                if low < high {
                    let first = dim.start + low * dim.step;
                    let track = Dim { start: at + (first - index), step: dim.step, count: high - low };
                    return Some(Strip { result: Dim { start: low, step: 1, count: high - low }, track });
                }
            }
            None
        })
    }

    /// Returns the indices that are also in `wanted`.
    pub(super) fn strips(&self, wanted: &Axis) -> SmallVec<[Strip; 1]> {
        let mut strips = SmallVec::new();
        let len = self.len();
        match (self, wanted) {
            (_, Axis::Range(dim)) if dim.count == 0 || len == 0 => {}
            (Self::Even { start, stride, block: 1, .. }, Axis::Range(dim)) => {
                strips.extend(common(Dim { start: *start, step: (*stride).max(1), count: len }, *dim));
            }
            (_, Axis::Range(dim)) => strips.extend(self.strips_in(*dim)),
            (_, Axis::List(list)) => {
                for (&index, result) in list.iter().zip(0..) {
                    let Some(at) = self.find(index) else { continue };
                    match strips.last_mut() {
                        Some(Strip { result: results, track })
                            if results.end() == result && at > track.start =>
                        {
                            if track.count == 1 {
                                track.step = at - track.start;
                            }
                            if track.last().and_then(|last| last.checked_add(track.step)) == Some(at) {
                                results.count += 1;
                                track.count += 1;
                                continue;
                            }
                            if track.count == 1 {
                                track.step = 1;
                            }
                            strips.push(Strip { result: Dim::one(result), track: Dim::one(at) });
                        }
                        _ => strips.push(Strip { result: Dim::one(result), track: Dim::one(at) }),
                    }
                }
            }
        }
        strips
    }

    /// Returns the smallest index from `from` on, and its position.
    fn next(&self, from: u64) -> Option<(u64, u64)> {
        match self {
            Self::Even { start, stride, block, .. } => {
                let Some(distance) = from.checked_sub(*start) else { return Some((*start, 0)) };
                let (number, within) = (distance / (*stride).max(1), distance % (*stride).max(1));
                if within < *block {
                    return Some((from, number.checked_mul(*block)?.checked_add(within)?));
                }
                let number = number + 1;
                Some((start.checked_add(number.checked_mul(*stride)?)?, number.checked_mul(*block)?))
            }
            Self::Runs(runs) => {
                let number = runs.partition_point(|run| run.0.saturating_add(run.1) <= from);
                let &(first, _, position) = runs.get(number)?;
                let index = first.max(from);
                Some((index, position + index - first))
            }
        }
    }
}

/// Returns the indices that two ranges have in common.
fn common(track: Dim, wanted: Dim) -> Option<Strip> {
    if track.step == 1 {
        let (low, high) = wanted.positions(track.start, track.end());
        let count = high.checked_sub(low).filter(|&count| count > 0)?;
        let start = wanted.start + low * wanted.step - track.start;
        let track = Dim { start, step: wanted.step, count };
        return Some(Strip { result: Dim { start: low, step: 1, count }, track });
    }
    let [start, step, other, other_step] =
        [wanted.start, wanted.step, track.start, track.step].map(i128::from);
    // start + r * step = other + k * other_step
    let (divisor, inverse) = euclid(step, other_step);
    if (other - start) % divisor != 0 {
        return None;
    }
    let period = other_step / divisor;
    let mut first = ((other - start) / divisor % period * inverse).rem_euclid(period);
    if start + first * step < other {
        // Rounded up.
        let missing = (other - start - first * step + period * step - 1) / (period * step);
        first += missing * period;
    }
    let (last, end) = (i128::from(wanted.count) - 1, i128::from(track.last()?));
    let last = last.min((end - start).div_euclid(step));
    if first > last {
        return None;
    }
    let number = |value: i128| u64::try_from(value).ok();
    let count = number((last - first) / period + 1)?;
    let result = Dim { start: number(first)?, step: number(period)?, count };
    let at = number((start + first * step - other) / other_step)?;
    Some(Strip { result, track: Dim { start: at, step: number(step / divisor)?, count } })
}

/// Returns the greatest common divisor of `a` and `b`, and the inverse of `a / divisor` modulo `b / divisor`.
fn euclid(a: i128, b: i128) -> (i128, i128) {
    let (mut old, mut new, mut old_factor, mut factor) = (a, b, 1, 0);
    while new != 0 {
        let quotient = old / new;
        (old, new) = (new, old - quotient * new);
        (old_factor, factor) = (factor, old_factor - quotient * factor);
    }
    (old, old_factor.rem_euclid(b / old))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tracks() -> impl Strategy<Value = Track> {
        let even = (0_u64..9, 1_u64..4, 0_u64..5, 0_u64..12)
            .prop_map(|(start, block, gap, len)| Track::Even { start, stride: block + gap, block, len });
        let runs = prop::collection::vec((1_u64..4, 1_u64..4), 1..4).prop_map(|steps| {
            let mut end = 0;
            let intervals: Vec<_> = steps
                .into_iter()
                .map(|(gap, len)| {
                    let first = end + gap;
                    end = first + len;
                    (first, end - 1)
                })
                .collect();
            Track::runs(&intervals)
        });
        prop_oneof![even, runs]
    }

    fn wanted() -> impl Strategy<Value = Axis> {
        let range =
            (0_u64..9, 1_u64..5, 0_u64..12).prop_map(|(start, step, count)| Dim { start, step, count });
        let list = prop::collection::vec(0_u64..20, 0..8).prop_map(|list| Axis::List(list.into()));
        prop_oneof![range.prop_map(Axis::Range), list]
    }

    fn listed(axis: &Axis) -> Vec<u64> {
        match axis {
            Axis::Range(dim) => dim.iter().collect(),
            Axis::List(list) => list.to_vec(),
        }
    }

    proptest! {
        #[test]
        fn strips_are_the_indices_in_both(track in tracks(), wanted in wanted()) {
            let indices: Vec<u64> = (0..track.len()).map(|position| track.at(position)).collect();
            let mut expected = Vec::new();
            for (result, index) in listed(&wanted).into_iter().enumerate() {
                prop_assert_eq!(track.find(index), indices.iter().position(|&at| at == index).map(|at| at as u64));
                expected.extend(track.find(index).map(|at| (result as u64, at)));
            }
            let strips = track.strips(&wanted);
            prop_assert_eq!(track.touches(&wanted), !strips.is_empty());
            let mut found: Vec<(u64, u64)> =
                strips.iter().flat_map(|strip| strip.result.iter().zip(strip.track.iter())).collect();
            found.sort_unstable();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn dims_are_the_indices_at_positions(track in tracks(), start in 0_u64..9, step in 1_u64..4, count in 0_u64..5) {
            let positions = Dim { start, step, count };
            prop_assume!(positions.end() <= track.len());
            let found: Vec<u64> = track.dims(positions).into_iter().flat_map(Dim::iter).collect();
            let expected: Vec<u64> = positions.iter().map(|position| track.at(position)).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn ranges_at_the_ends_of_numbers_have_few_common_indices() {
        let far = Dim { start: 3, step: 1 << 62, count: 3 };
        let wanted = Dim { start: 0, step: 3, count: u64::MAX / 3 };
        let strip = common(far, wanted).unwrap();
        assert_eq!((strip.result.count, strip.result.start, strip.track.start), (1, 1, 0));
        assert_eq!(common(Dim { start: 1, step: 2, count: 9 }, Dim { start: 0, step: 2, count: 9 }), None);
    }
}
