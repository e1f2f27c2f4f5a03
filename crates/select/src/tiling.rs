//! A selection divided by chunks: the chunks that it touches, and its parts inside each.

use std::ops::{ControlFlow, Range};

use hyperslab_error::RequestError;
use smallvec::SmallVec;

use super::axis_cuts::{AxisCut, AxisCuts, Cut, ListCuts};
use super::points::PointsByChunk;
use super::steps::Worked;
use super::{Axis, Coord, Dim, Part, PointAt, Selection, Slab, row_strides};

/// A selection prepared for one shape of an array and one chunk shape.
///
/// Chunks that are not touched cost nothing. For a slab of up to four dimensions, neither creating a tiling
/// nor asking for a part allocates.
#[derive(Debug, Clone)]
pub struct Tiling {
    pub(super) cuts: Cuts,
    pub(super) chunk: Coord,
    /// The strides of the result: in elements, or in the unit given to [`with_strides`](Self::with_strides).
    strides: Coord,
    /// The size of an element if the result holds the elements chunk by chunk instead of row by row.
    by_chunks: Option<u64>,
    len: u64,
}

#[derive(Debug, Clone)]
pub(super) enum Cuts {
    Axes(SmallVec<[AxisCuts; 4]>),
    Points(PointsByChunk),
}

impl Tiling {
    /// Divides `selection` of an array of the shape `extent` by chunks of the shape `chunk`. Tells `worked`
    /// of the work on long lists.
    pub(super) fn new<E: From<RequestError>>(
        selection: &Selection,
        extent: &[u64],
        chunk: &[u64],
        worked: &mut Worked<'_, E>,
    ) -> Result<Self, E> {
        selection.check(extent)?;
        if chunk.len() != extent.len() {
            return Err(RequestError::Rank { given: chunk.len(), rank: extent.len() }.into());
        }
        if chunk.contains(&0) {
            return Err(RequestError::Length { what: "a side of the chunks", given: 0, expected: 1 }.into());
        }
        let range = |(&dim, &chunk): (&Dim, &u64)| AxisCuts::Range { dim, chunk };
        let cuts = match selection {
            Selection::All => Cuts::Axes(Slab::whole(extent).0.iter().zip(chunk).map(range).collect()),
            Selection::None => Cuts::Points(PointsByChunk::none()),
            Selection::Slab(slab) => Cuts::Axes(slab.0.iter().zip(chunk).map(range).collect()),
            Selection::Grid(axes) => Cuts::Axes(
                axes.iter()
                    .zip(chunk)
                    .map(|(axis, &chunk)| {
                        Ok(match axis {
                            Axis::Range(dim) => AxisCuts::Range { dim: *dim, chunk },
                            Axis::List(list) => AxisCuts::List(ListCuts::new(list, chunk, worked)?),
                        })
                    })
                    .collect::<Result<_, E>>()?,
            ),
            Selection::Points(points) => Cuts::Points(PointsByChunk::new(points, extent, chunk, worked)?),
        };
        let len = match &cuts {
            // Every touched chunk contains a selected element, so the product is at most the count that
            // `check` computed.
            Cuts::Axes(axes) if axes.iter().any(|axis| axis.len() == 0) => 0,
            Cuts::Axes(axes) => axes.iter().map(AxisCuts::len).product(),
            Cuts::Points(points) => points.len() as u64,
        };
        Ok(Self {
            cuts,
            chunk: chunk.into(),
            strides: row_strides(&selection.shape(extent)),
            by_chunks: None,
            len,
        })
    }

    /// Returns the tiling with other strides of the result, one for each of its axes. The caller chooses the
    /// unit.
    #[must_use]
    pub fn with_strides(mut self, strides: Coord) -> Self {
        self.strides = strides;
        self
    }

    /// Returns the tiling for a result that holds the elements chunk by chunk: the chunks in row-major order
    /// of the grid, and the elements of each chunk in row-major order. An element of the result has the size
    /// `unit`. `None` unless the selection is a box of neighbouring elements.
    pub fn by_chunks(mut self, unit: u64) -> Option<Self> {
        let is_box = match &self.cuts {
            Cuts::Axes(axes) => axes.iter().all(|axis| match axis {
                AxisCuts::Range { dim, .. } => dim.step == 1 || dim.count <= 1,
                AxisCuts::List(_) => false,
            }),
            Cuts::Points(_) => false,
        };
        self.by_chunks = Some(unit);
        is_box.then_some(self)
    }

    /// Returns the distance between neighbours along each axis of the result: in elements by default,
    /// otherwise in the caller's unit.
    pub fn strides(&self) -> &[u64] {
        &self.strides
    }

    /// Returns the number of touched chunks.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether no chunk is touched, because nothing is selected.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the coordinates of the touched chunks, in row-major order of the grid of chunks.
    pub fn touched(&self) -> Touched<'_> {
        self.touched_in(0..self.len)
    }

    /// Returns the coordinates of those touched chunks whose number is in `range`.
    pub fn touched_in(&self, range: Range<u64>) -> Touched<'_> {
        let lens: Coord = match &self.cuts {
            Cuts::Axes(axes) => axes.iter().map(AxisCuts::len).collect(),
            Cuts::Points(_) => Coord::new(),
        };
        let mut turn = Coord::from_elem(0, lens.len());
        let mut rest = range.start;
        for (turn, &len) in turn.iter_mut().zip(&lens).rev() {
            *turn = rest % len.max(1);
            rest /= len.max(1);
        }
        Touched { tiling: self, next: range.start..range.end.min(self.len), turn, lens }
    }

    /// Returns the smallest box of chunk coordinates that contains every touched chunk.
    pub fn chunk_box(&self) -> SmallVec<[Range<u64>; 4]> {
        if self.len == 0 {
            return self.chunk.iter().map(|_| 0..0).collect();
        }
        match &self.cuts {
            Cuts::Axes(axes) => {
                axes.iter().map(|axis| axis.chunk(0)..axis.chunk(axis.len() - 1) + 1).collect()
            }
            Cuts::Points(points) => {
                let mut coords = (0..points.len()).filter_map(|index| points.chunk(index));
                let first = coords.next().unwrap_or_default();
                let mut bounds: SmallVec<[Range<u64>; 4]> = first.iter().map(|&at| at..at + 1).collect();
                for coord in coords {
                    for (bound, at) in bounds.iter_mut().zip(coord) {
                        *bound = bound.start.min(at)..bound.end.max(at + 1);
                    }
                }
                bounds
            }
        }
    }

    /// Calls `f` with the parts of the selection inside the chunk at `coord`. Does nothing if the chunk is
    /// not touched.
    pub fn parts(&self, coord: &[u64], mut f: impl FnMut(Part)) {
        self.parts_from(coord, 0, |part| {
            f(part);
            ControlFlow::Continue(())
        });
    }

    /// Calls `f` with the parts inside the chunk at `coord`, starting at part number `first`, until `f`
    /// breaks.
    pub fn parts_from(&self, coord: &[u64], first: usize, mut f: impl FnMut(Part) -> ControlFlow<()>) {
        if coord.len() != self.chunk.len() || self.len == 0 {
            return;
        }
        match &self.cuts {
            Cuts::Axes(axes) => self.boxes(axes, coord, first, f),
            Cuts::Points(points) => {
                let points = points.inside(coord).get(first..).unwrap_or_default();
                _ = points.iter().try_for_each(|point| f(self.point(*point)));
            }
        }
    }

    /// Returns the points inside the chunk at `coord`, if the selection is a list of points.
    pub fn points(&self, coord: &[u64]) -> Option<&[PointAt]> {
        match &self.cuts {
            Cuts::Axes(_) => None,
            Cuts::Points(points) => Some(points.inside(coord)),
        }
    }

    fn boxes(
        &self,
        axes: &[AxisCuts],
        coord: &[u64],
        first: usize,
        mut f: impl FnMut(Part) -> ControlFlow<()>,
    ) {
        let is_slab = axes.iter().all(|axis| matches!(axis, AxisCuts::Range { .. }));
        if is_slab && self.by_chunks.is_none() {
            if first == 0 {
                _ = self.only_box(axes, coord).map(f);
            }
            return;
        }
        let mut ranges: SmallVec<[AxisCut<'_>; 4]> = SmallVec::new();
        for (axis, &at) in axes.iter().zip(coord) {
            match axis.cuts(at) {
                Some(cut) => ranges.push(cut),
                None => return,
            }
        }
        let mut turn: SmallVec<[usize; 4]> = SmallVec::from_elem(0, ranges.len());
        let mut skipped = first;
        for (turn, range) in turn.iter_mut().zip(&ranges).rev() {
            *turn = skipped % range.len();
            skipped /= range.len();
        }
        if skipped > 0 {
            return;
        }
        loop {
            let mut part = Part::default();
            for ((range, &turn), &stride) in ranges.iter().zip(&turn).zip(&self.strides) {
                range.cut(turn).add_to(&mut part, stride);
            }
            if let Some(unit) = self.by_chunks {
                let positions = ranges.iter().zip(&turn).map(|(range, &turn)| range.cut(turn).position);
                Self::place_by_chunks(axes, &positions.collect(), unit, &mut part);
            }
            if f(part).is_break() {
                return;
            }
            let Some(axis) = (0..turn.len()).rev().find(|&axis| turn[axis] + 1 < ranges[axis].len()) else {
                return;
            };
            turn[axis] += 1;
            turn[axis + 1..].fill(0);
        }
    }

    /// Returns the only part, if no axis is a list. This is the fast path.
    fn only_box(&self, axes: &[AxisCuts], coord: &[u64]) -> Option<Part> {
        let mut part = Part::default();
        for ((axis, &at), &stride) in axes.iter().zip(coord).zip(&self.strides) {
            let AxisCuts::Range { dim, chunk } = axis else { return None };
            Cut::of(*dim, *chunk, at)?.add_to(&mut part, stride);
        }
        Some(part)
    }

    /// Sets the place of a part in a result that holds the elements chunk by chunk. `positions` are the
    /// positions of the part's first element along each axis of the selection. For each axis, the elements
    /// before the part are those of the chunks with a lower coordinate on this axis and equal coordinates on
    /// earlier axes.
    fn place_by_chunks(axes: &[AxisCuts], positions: &Coord, unit: u64, part: &mut Part) {
        let (mut dst, mut later, mut stride) = (0, 1_u64, unit);
        let earlier: Coord = part
            .within
            .iter()
            .scan(1_u64, |before, dim| Some(std::mem::replace(before, before.saturating_mul(dim.count))))
            .collect();
        for (axis, (cuts, position)) in axes.iter().zip(positions).enumerate().rev() {
            dst += position * later * earlier[axis];
            later = later.saturating_mul(cuts.count());
            part.dst_strides[axis] = stride;
            stride = stride.saturating_mul(part.within[axis].count);
        }
        part.dst = dst * unit;
    }

    fn point(&self, point: PointAt) -> Part {
        let mut rest = point.offset;
        let mut within: SmallVec<[Dim; 4]> = SmallVec::from_elem(Dim::one(0), self.chunk.len());
        for (dim, len) in within.iter_mut().zip(&self.chunk).rev() {
            dim.start = rest % len;
            rest /= len;
        }
        let step = self.strides.first().copied().unwrap_or(1);
        Part { within, dst: point.position * step, dst_strides: SmallVec::from_elem(1, self.chunk.len()) }
    }
}

/// The touched chunks of a [`Tiling`], in order.
#[derive(Debug, Clone)]
pub struct Touched<'t> {
    tiling: &'t Tiling,
    next: Range<u64>,
    /// The number along each axis of the next touched chunk.
    turn: Coord,
    /// The number of touched chunks along each axis.
    lens: Coord,
}

impl Iterator for Touched<'_> {
    type Item = Coord;

    fn next(&mut self) -> Option<Coord> {
        let index = self.next.next()?;
        let axes = match &self.tiling.cuts {
            Cuts::Points(points) => return points.chunk(usize::try_from(index).ok()?),
            Cuts::Axes(axes) => axes,
        };
        let coord = axes.iter().zip(&self.turn).map(|(axis, &turn)| axis.chunk(turn)).collect();
        for (turn, &len) in self.turn.iter_mut().zip(&self.lens).rev() {
            *turn += 1;
            if *turn < len {
                break;
            }
            *turn = 0;
        }
        Some(coord)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.next.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::testing::{Case, cases, row_by_row};
    use super::*;

    proptest! {
        #[test]
        fn touched_chunks_are_the_same_from_any_start(case in cases(), share in 0u64..=8) {
            let Case { selection, extent, chunk } = &case;
            let tiling = selection.tiling(extent, chunk).unwrap();
            let middle = tiling.len() * share / 8;
            let halves: Vec<Coord> = tiling.touched_in(0..middle).chain(tiling.touched_in(middle..u64::MAX)).collect();
            prop_assert_eq!(halves.len() as u64, tiling.len());
            prop_assert_eq!(halves, tiling.touched().collect::<Vec<_>>());
        }

        #[test]
        fn the_parts_of_all_chunks_put_every_element_in_its_place(case in cases()) {
            let Case { selection, extent, chunk } = &case;
            let tiling = selection.tiling(extent, chunk).unwrap();
            let expected = case.elements();
            let mut found: Vec<Option<Vec<u64>>> = vec![None; expected.len()];
            for coord in tiling.touched() {
                let mut parts = Vec::new();
                tiling.parts(&coord, |part| parts.push(part));
                prop_assert!(!parts.is_empty(), "chunk {:?} is not touched", coord);
                for part in parts {
                    for turn in row_by_row(&part.within.iter().map(|dim| dim.count).collect::<Vec<_>>()) {
                        let place = part.dst + turn.iter().zip(&part.dst_strides).map(|(i, s)| i * s).sum::<u64>();
                        let element: Vec<u64> = (0..turn.len())
                            .map(|axis| {
                                let dim = part.within[axis];
                                let inside = dim.start + turn[axis] * dim.step;
                                assert!(inside < chunk[axis]);
                                coord[axis] * chunk[axis] + inside
                            })
                            .collect();
                        let place = &mut found[usize::try_from(place).unwrap()];
                        prop_assert!(place.is_none(), "written twice");
                        *place = Some(element);
                    }
                }
            }
            prop_assert_eq!(found.into_iter().map(Option::unwrap).collect::<Vec<_>>(), expected);
        }

        #[test]
        fn the_parts_of_a_chunk_are_the_same_from_any_first_part(case in cases()) {
            let tiling = case.selection.tiling(&case.extent, &case.chunk).unwrap();
            for coord in tiling.touched() {
                let mut all = Vec::new();
                tiling.parts(&coord, |part| all.push(part));
                for first in 0..=all.len() {
                    let mut rest = Vec::new();
                    tiling.parts_from(&coord, first, |part| {
                        rest.push(part);
                        ControlFlow::Continue(())
                    });
                    prop_assert_eq!(&rest[..], &all[first..]);
                }
            }
        }

        #[test]
        fn a_tiling_by_chunks_places_the_elements_one_after_another(case in cases()) {
            let Case { selection, extent, chunk } = &case;
            let Some(tiling) = selection.tiling(extent, chunk).unwrap().by_chunks(3) else {
                let is_dense = |slab: &Slab| slab.0.iter().all(|dim| dim.step == 1 || dim.count <= 1);
                prop_assert!(!matches!(selection, Selection::Slab(slab) if is_dense(slab)) && *selection != Selection::All);
                return Ok(());
            };
            let mut next = 0;
            for coord in tiling.touched() {
                tiling.parts(&coord, |part| {
                    for turn in row_by_row(&part.within.iter().map(|dim| dim.count).collect::<Vec<_>>()) {
                        let place = part.dst + turn.iter().zip(&part.dst_strides).map(|(i, s)| i * s).sum::<u64>();
                        assert_eq!(place, next);
                        next += 3;
                    }
                });
            }
            prop_assert_eq!(next, 3 * selection.count(extent).unwrap());
        }

        #[test]
        fn a_box_in_one_chunk_is_found_and_nothing_else(case in cases()) {
            let Case { selection, extent, chunk } = &case;
            let tiling = selection.tiling(extent, chunk).unwrap();
            let is_box = matches!(selection, Selection::Slab(_) | Selection::All);
            let found = selection.in_one_chunk(extent, chunk).unwrap();
            prop_assert_eq!(found.is_some(), is_box && tiling.len() == 1);
            if let Some((coord, within)) = found {
                let mut parts = Vec::new();
                tiling.parts(&coord, |part| parts.push(part));
                let dst_strides = tiling.strides().into();
                prop_assert_eq!(parts, [Part { within: within.0, dst: 0, dst_strides }]);
            }
        }

        #[test]
        fn exactly_the_chunks_that_hold_elements_are_touched(case in cases()) {
            let Case { selection, extent, chunk } = &case;
            let tiling = selection.tiling(extent, chunk).unwrap();
            let expected: BTreeSet<Vec<u64>> = case
                .elements()
                .iter()
                .map(|element| element.iter().zip(chunk).map(|(at, chunk)| at / chunk).collect())
                .collect();
            let found: Vec<Vec<u64>> = tiling.touched().map(|coord| coord.to_vec()).collect();
            prop_assert_eq!(tiling.len(), found.len() as u64);
            for (axis, bound) in tiling.chunk_box().into_iter().enumerate() {
                let low = expected.iter().map(|coord| coord[axis]).min().unwrap_or(0);
                let high = expected.iter().map(|coord| coord[axis] + 1).max().unwrap_or(0);
                prop_assert_eq!(bound, low..high);
            }
            prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
        }

        #[test]
        fn points_of_a_chunk_agree_with_its_parts(case in cases()) {
            let tiling = case.selection.tiling(&case.extent, &case.chunk).unwrap();
            for coord in tiling.touched() {
                if let Some(points) = tiling.points(&coord) {
                    let mut parts = Vec::new();
                    tiling.parts(&coord, |part| parts.push(part));
                    let strides = row_strides(&case.chunk);
                    let offset = |part: &Part| part.within.iter().zip(&strides).map(|(dim, s)| dim.start * s).sum();
                    let expected: Vec<PointAt> =
                        parts.iter().map(|part| PointAt { offset: offset(part), position: part.dst }).collect();
                    prop_assert_eq!(points, expected);
                }
            }
        }
    }

    #[test]
    fn huge_arrays_cost_only_their_touched_chunks() {
        let most = u64::MAX / 2;
        let dim = Dim { start: 3, step: most / 4, count: 4 };
        let slab = Selection::Slab(Slab([dim, Dim::one(most - 1)].into_iter().collect()));
        let tiling = slab.tiling(&[most, most], &[10, 10]).unwrap();
        assert_eq!(tiling.touched().count(), 4);
        let list = Selection::Grid(vec![Axis::List([most - 1, 0, 5].into()), Axis::Range(Dim::one(0))]);
        assert_eq!(list.tiling(&[most, most], &[10, 10]).unwrap().len(), 2);
    }

    #[test]
    fn an_interleaved_list_is_cut_into_few_boxes() {
        let list = Selection::Grid(vec![Axis::List([0, 10, 1, 11, 2, 12].into())]);
        let tiling = list.tiling(&[20], &[10]).unwrap();
        let mut parts = Vec::new();
        tiling.parts(&[1], |part| parts.push(part));
        let within = [Dim::range(0, 3)].into_iter().collect();
        assert_eq!(parts, [Part { within, dst: 1, dst_strides: [2].into_iter().collect() }]);
    }

    #[test]
    fn impossible_chunk_shapes_are_refused_and_chunks_outside_are_empty() {
        assert!(Selection::All.tiling(&[4], &[0]).is_err());
        assert!(Selection::All.tiling(&[4], &[2, 2]).is_err());
        let outside = Selection::Slab(Slab([Dim::one(9)].into_iter().collect()));
        assert!(outside.in_one_chunk(&[4], &[2]).is_err());
        let tiling = Selection::All.tiling(&[4], &[2]).unwrap();
        for coord in [&[2][..], &[u64::MAX], &[0, 0], &[]] {
            tiling.parts(coord, |part| panic!("{part:?} at {coord:?}"));
        }
        assert_eq!(tiling.touched_in(2..3).next(), None);
    }
}
