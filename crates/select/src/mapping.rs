//! Mappings of virtual datasets: which elements of a source a selection of the virtual dataset reads, and
//! their places in the result.

use hyperslab_error::RequestError;
use hyperslab_format::selection::{Form, RegularAxis, RegularHyperslab, StoredSelection};
use smallvec::SmallVec;

use super::mapping_side::{Side, Strip, Track};
use super::{Axis, Coord, Dim, Selection, Slab};

/// The elements of a virtual dataset that one mapping gives, in order.
#[derive(Debug, Clone)]
pub struct Target {
    side: Side,
    /// The first index and the last along each axis.
    bounds: SmallVec<[(u64, u64); 4]>,
}

/// The elements of a virtual dataset, and the elements of a source that they are.
#[derive(Debug)]
pub struct Mapping<'t> {
    target: &'t Side,
    source: Side,
    /// The axes of both products along which the same number of indices correspond. `None` if the shapes
    /// differ, and only the order of elements makes them correspond.
    pairs: Option<SmallVec<[Option<u8>; 4]>>,
}

/// A box of elements of a source, and its place in the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The elements of the source.
    pub source: Slab,
    /// The place.
    pub place: Place,
}

/// A box of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The positions along each axis of the result.
    pub result: SmallVec<[Dim; 4]>,
    /// For each axis of the box's own shape, the axis of the result along which it runs. `None` for an axis
    /// of length 1.
    pub axes: SmallVec<[Option<u8>; 4]>,
}

impl Target {
    /// Returns the elements of a stored selection in a virtual dataset of the shape `extent`. A selection
    /// without end has `slices` indices along the axis where it has none.
    pub fn new(stored: &StoredSelection, extent: &[u64], slices: u64) -> Result<Option<Self>, RequestError> {
        let side = checked(stored, extent, slices)?;
        let bounds = side.bounds();
        Ok(bounds.map(|bounds| Self { side, bounds }))
    }

    /// Returns the first index and the last along each axis.
    pub fn bounds(&self) -> &[(u64, u64)] {
        &self.bounds
    }

    /// Returns the number of elements.
    pub fn count(&self) -> u64 {
        self.side.count().unwrap_or(u64::MAX)
    }

    /// Returns whether the product of `wanted` may contain an element.
    pub fn touches(&self, wanted: &[Axis]) -> bool {
        match self.side.tracks() {
            Some(tracks) => tracks.iter().zip(wanted).all(|(track, wanted)| track.touches(wanted)),
            None => self.bounds.iter().zip(wanted).all(|(&(first, last), wanted)| {
                Track::range(first, (last - first).saturating_add(1)).touches(wanted)
            }),
        }
    }

    /// Returns the position of the element at `coord`.
    pub fn find(&self, coord: &[u64]) -> Option<u64> {
        let is_near = self.bounds.iter().zip(coord).all(|(&(first, last), &at)| (first..=last).contains(&at));
        is_near.then(|| self.side.find(coord)).flatten()
    }
}

/// Returns one side of a mapping whose indices all fit a `u64`.
fn checked(stored: &StoredSelection, extent: &[u64], slices: u64) -> Result<Side, RequestError> {
    let side = Side::new(stored, extent, slices)?;
    let fits = side.tracks().unwrap_or_default().iter().all(Track::fits);
    if side.count().is_none() || !fits {
        return Err(RequestError::TooMany { what: "selection of a mapping", limit: u64::MAX });
    }
    Ok(side)
}

/// Returns the first `count` elements of a source that is mapped whole and has grown since, as libhdf5 takes
/// them. `None` if the source has as many elements, or if they are not whole rows.
fn first_rows(stored: &StoredSelection, extent: &[u64], count: u64) -> Option<StoredSelection> {
    let (&len, rest) = extent.split_first().filter(|_| matches!(stored, StoredSelection::All))?;
    let row = rest.iter().try_fold(1_u64, |row, &len| row.checked_mul(len)).filter(|&row| row > 0)?;
    let rows = (count / row).min(len);
    if rows == len || !count.is_multiple_of(row) {
        return None;
    }
    let axis = |&len: &u64| RegularAxis { start: 0, stride: len.max(1), count: Some(1), block: Some(len) };
    let axes = [rows].iter().chain(rest).map(axis).collect();
    Some(StoredSelection::Regular(RegularHyperslab { form: Form { version: 2, width: 8 }, axes }))
}

impl<'t> Mapping<'t> {
    /// Returns the mapping of `target` to a stored selection in a source of the shape `extent`.
    ///
    /// Errors: `Request` if the two sides have different numbers of elements.
    pub fn new(
        target: &'t Target,
        stored: &StoredSelection,
        extent: &[u64],
        slices: u64,
    ) -> Result<Self, RequestError> {
        let expected = target.count();
        let rows = first_rows(stored, extent, expected);
        let source = checked(rows.as_ref().unwrap_or(stored), extent, slices)?;
        let given = source.count().unwrap_or(0);
        if given != expected {
            return Err(RequestError::Length { what: "source of a mapping", given, expected });
        }
        let pairs = match (target.side.tracks(), source.tracks()) {
            (Some(target), Some(source)) => pairs(target, source),
            _ => None,
        };
        Ok(Self { target: &target.side, source, pairs })
    }

    /// Calls `f` with the pieces of the product of `wanted`. No two of them have an element in common, unless
    /// a list in `wanted` or the mapping names an element twice.
    pub fn pieces<E>(&self, wanted: &[Axis], f: &mut dyn FnMut(Piece) -> Result<(), E>) -> Result<(), E> {
        match (self.target.tracks(), self.source.tracks(), &self.pairs) {
            (Some(target), Some(source), Some(pairs)) => boxes(target, source, pairs, wanted, f),
            (Some(target), ..) => self.rows_of_product(target, wanted, f),
            (None, ..) => self.rows(wanted, f),
        }
    }

    /// Returns the coordinate of the element of the source at a position of the mapping.
    pub fn source_at(&self, position: u64) -> Coord {
        let mut coord = Coord::new();
        self.source.boxes(Dim::one(position), &mut |dims, _| {
            coord = dims.iter().map(|dim| dim.start).collect();
        });
        coord
    }

    /// Lists the pieces row by row: the elements correspond in order only.
    fn rows_of_product<E>(
        &self,
        target: &[Track],
        wanted: &[Axis],
        f: &mut dyn FnMut(Piece) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(((last, outer), (wanted, wanted_outer))) = target.split_last().zip(wanted.split_last())
        else {
            return self.row(&SmallVec::new(), Dim::one(0), None, f);
        };
        let inner = last.strips(wanted);
        let outer: Vec<Vec<(Dim, (u64, u64))>> = outer
            .iter()
            .zip(wanted_outer)
            .map(|(track, wanted)| {
                let elements = |strip: Strip| strip.result.iter().zip(strip.track.iter()).collect::<Vec<_>>();
                let strips = track.strips(wanted).into_iter().flat_map(elements);
                strips.map(|(result, at)| (Dim::one(result), (at, track.len()))).collect()
            })
            .collect();
        product(&outer, &mut |chosen| {
            let above: SmallVec<[Dim; 4]> = chosen.iter().map(|(result, _)| *result).collect();
            let row = chosen.iter().fold(0, |row, (_, (at, len))| row * len + at);
            inner.iter().try_for_each(|strip| {
                let track = Dim { start: row * last.len() + strip.track.start, ..strip.track };
                self.row(&above, track, Some(strip.result), f)
            })
        })
    }

    /// Lists the pieces of a target that is no product.
    fn rows<E>(&self, wanted: &[Axis], f: &mut dyn FnMut(Piece) -> Result<(), E>) -> Result<(), E> {
        let Some((wanted, wanted_outer)) = wanted.split_last() else { return Ok(()) };
        for row in self.target.rows() {
            let Some((&first, outer)) = row.at.split_last() else { continue };
            let inner = Track::range(first, row.len).strips(wanted);
            if inner.is_empty() {
                continue;
            }
            let results = |(at, wanted): (&u64, &Axis)| {
                let strips = Track::range(*at, 1).strips(wanted);
                strips.into_iter().flat_map(|strip| strip.result.iter()).map(Dim::one).collect::<Vec<_>>()
            };
            let outer: Vec<Vec<Dim>> = outer.iter().zip(wanted_outer).map(results).collect();
            product(&outer, &mut |chosen| {
                let above: SmallVec<[Dim; 4]> = chosen.iter().map(|dim| **dim).collect();
                inner.iter().try_for_each(|strip| {
                    let track = Dim { start: row.position + strip.track.start, ..strip.track };
                    self.row(&above, track, Some(strip.result), f)
                })
            })?;
        }
        Ok(())
    }

    /// Lists the pieces of elements along the last axis of the target: those at `positions` of the mapping.
    fn row<E>(
        &self,
        above: &SmallVec<[Dim; 4]>,
        positions: Dim,
        along: Option<Dim>,
        f: &mut dyn FnMut(Piece) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut outcome = Ok(());
        self.source.boxes(positions, &mut |dims, before| {
            if outcome.is_err() {
                return;
            }
            let count = dims.last().map_or(1, |dim| dim.count);
            let mut result = above.clone();
            let last = u8::try_from(result.len()).ok().filter(|_| along.is_some() && !dims.is_empty());
            result.extend(along.map(|along| Dim {
                start: along.start + before * along.step,
                count,
                ..along
            }));
            let mut axes: SmallVec<[Option<u8>; 4]> = SmallVec::from_elem(None, dims.len());
            axes.last_mut().into_iter().for_each(|axis| *axis = last);
            outcome = f(Piece { source: Slab(dims), place: Place { result, axes } });
        });
        outcome
    }
}

/// Returns, for each axis of the source, the axis of the target with the same number of indices, if the
/// shapes are equal but for axes of length 1.
fn pairs(target: &[Track], source: &[Track]) -> Option<SmallVec<[Option<u8>; 4]>> {
    let mut wide = (0..).zip(target).filter(|(_, track)| track.len() != 1);
    let pairs = source.iter().map(|track| match track.len() {
        1 => Some(None),
        len => wide.next().filter(|(_, target)| target.len() == len).map(|(axis, _)| Some(axis)),
    });
    let pairs = pairs.collect::<Option<_>>()?;
    wide.next().is_none().then_some(pairs)
}

/// Lists the boxes of two products that correspond axis by axis.
fn boxes<E>(
    target: &[Track],
    source: &[Track],
    pairs: &[Option<u8>],
    wanted: &[Axis],
    f: &mut dyn FnMut(Piece) -> Result<(), E>,
) -> Result<(), E> {
    let along = |(axis, (track, wanted)): (u8, (&Track, &Axis))| {
        let partner = pairs.iter().position(|paired| *paired == Some(axis)).map(|number| &source[number]);
        let mut found: Vec<(Dim, Dim)> = Vec::new();
        for Strip { result, track } in track.strips(wanted) {
            let Some(partner) = partner else {
                found.extend(result.iter().map(|result| (Dim::one(result), Dim::one(0))));
                continue;
            };
            let mut done = 0;
            for dim in partner.dims(track) {
                let start = result.start + done * result.step;
                found.push((Dim { start, step: result.step, count: dim.count }, dim));
                done += dim.count;
            }
        }
        found
    };
    let lists: Vec<Vec<(Dim, Dim)>> = (0..).zip(target.iter().zip(wanted)).map(along).collect();
    product(&lists, &mut |chosen| {
        let dims = source.iter().zip(pairs).map(|(track, pair)| {
            pair.and_then(|axis| chosen.get(usize::from(axis))).map_or(Dim::one(track.at(0)), |(_, dim)| *dim)
        });
        let place = Place { result: chosen.iter().map(|(result, _)| *result).collect(), axes: pairs.into() };
        f(Piece { source: Slab(dims.collect()), place })
    })
}

/// Calls `f` with every choice of one item of each list, the last list fastest.
fn product<T, E>(lists: &[Vec<T>], f: &mut dyn FnMut(&[&T]) -> Result<(), E>) -> Result<(), E> {
    let Some(mut chosen) = lists.iter().map(|list| list.first()).collect::<Option<Vec<&T>>>() else {
        return Ok(());
    };
    let mut at = vec![0; lists.len()];
    loop {
        f(&chosen)?;
        let Some(axis) = (0..at.len()).rev().find(|&axis| at[axis] + 1 < lists[axis].len()) else {
            return Ok(());
        };
        at[axis] += 1;
        at[axis + 1..].fill(0);
        for axis in axis..at.len() {
            chosen[axis] = &lists[axis][at[axis]];
        }
    }
}

impl Selection {
    /// Returns the indices along each axis, or `None` for a list of points.
    #[doc(hidden)]
    pub fn axes(&self, extent: &[u64]) -> Option<Vec<Axis>> {
        let range = |len| Axis::Range(Dim::range(0, len));
        match self {
            Self::All => Some(extent.iter().copied().map(range).collect()),
            Self::None => Some(extent.iter().map(|_| range(0)).collect()),
            Self::Slab(slab) => Some(slab.0.iter().copied().map(Axis::Range).collect()),
            Self::Grid(axes) => Some(axes.clone()),
            Self::Points(_) => None,
        }
    }
}

impl Place {
    /// Returns the place of a box of the same rank as the result.
    pub fn of(result: &[Dim]) -> Self {
        Self { axes: (0..).take(result.len()).map(Some).collect(), result: result.into() }
    }
}

/// Returns the number of indices below `len` of blocks without end.
pub fn slices(axis: &RegularAxis, len: u64) -> u64 {
    let RegularAxis { start, stride, .. } = *axis;
    let left = len.saturating_sub(start);
    let Some(block) = axis.block.filter(|&block| block < stride) else { return left };
    let whole = (left / stride).saturating_mul(block);
    whole.saturating_add((left % stride).min(block))
}

/// Returns the length of an axis that has room for `slices` indices of blocks without end.
pub fn end_of(axis: &RegularAxis, slices: u64) -> u64 {
    let Some(last) = slices.checked_sub(1) else { return 0 };
    let RegularAxis { start, stride, .. } = *axis;
    let block = axis.block.filter(|&block| block < stride).map_or(u64::MAX, |block| block.max(1));
    start.saturating_add((last / block).saturating_mul(stride)).saturating_add(last % block).saturating_add(1)
}

/// Returns whether it is certain that no two of the boxes have a position in common. The time is limited: of
/// many boxes whose bounds overlap, it is not certain.
pub fn are_disjoint(places: &[&[Dim]]) -> bool {
    let Some(rank) = places.first().map(|place| place.len()) else { return true };
    if places.len() == 1 {
        return true;
    }
    // Along this axis, the boxes have the most different places.
    let starts = |axis: usize| {
        let mut starts: Vec<u64> =
            places.iter().filter_map(|place| place.get(axis)).map(|dim| dim.start).collect();
        starts.sort_unstable();
        starts.dedup();
        starts.len()
    };
    let Some(axis) = (0..rank).max_by_key(|&axis| starts(axis)) else { return false };
    let mut order: Vec<&[Dim]> = places.to_vec();
    if order.iter().any(|place| place.len() != rank) {
        return false;
    }
    order.sort_unstable_by_key(|place| place[axis].start);
    let mut open: Vec<&[Dim]> = Vec::new();
    let mut left = 64 * places.len() + (1 << 20);
    for place in order {
        open.retain(|other| other[axis].end() > place[axis].start);
        if open.len() > left {
            return false;
        }
        left -= open.len();
        if !open.iter().all(|other| other.iter().zip(place).any(|(one, other)| are_apart(*one, *other))) {
            return false;
        }
        open.push(place);
    }
    true
}

/// Whether two ranges have no index in common.
fn are_apart(one: Dim, other: Dim) -> bool {
    if one.count == 0 || other.count == 0 || one.end() <= other.start || other.end() <= one.start {
        return true;
    }
    let track = Track::Even { start: one.start, stride: one.step.max(1), block: 1, len: one.count };
    track.strips(&Axis::Range(other)).is_empty()
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use proptest::prelude::*;

    use super::super::testing::{Case, cases};
    use super::*;

    /// Returns a selection with `count` elements in the rank and order that `seed` chooses.
    fn source_of(count: u64, seed: u64) -> (StoredSelection, Vec<u64>) {
        let limited = |start, stride, count, block| RegularAxis {
            start,
            stride,
            count: Some(count),
            block: Some(block),
        };
        let divisor = (1..=count).rev().find(|by| count.is_multiple_of(*by) && by * by <= count).unwrap_or(1);
        match seed % 4 {
            0 => (StoredSelection::All, vec![count]),
            1 => (StoredSelection::regular(vec![limited(1, 3, count, 1)], true), vec![count * 3 + 1]),
            2 => {
                let axes = vec![limited(2, 5, count / divisor, 1), limited(0, 1, 1, divisor)];
                (StoredSelection::regular(axes, false), vec![2 + 5 * (count / divisor), divisor])
            }
            _ => {
                let runs = (0..count).flat_map(|number| [2 * number, 2 * number]);
                (StoredSelection::blocks(1, runs.collect(), true), vec![2 * count])
            }
        }
    }

    fn flat(coord: &[u64], extent: &[u64]) -> u64 {
        coord.iter().zip(extent).fold(0, |offset, (at, len)| offset * len + at)
    }

    proptest! {
        #[test]
        fn pieces_are_the_elements_in_both(target in cases(), wanted in cases(), seed: u64) {
            let Ok(stored) = target.selection.to_stored((seed % 2 == 0).then_some(3)) else { return Ok(()) };
            let extent = target.extent.clone();
            let Case { selection: wanted, .. } = &wanted;
            let Some(axes) = wanted.axes(&extent).filter(|axes| axes.len() == extent.len()) else { return Ok(()) };
            let Some(side) = Target::new(&stored, &extent, 0).unwrap() else { return Ok(()) };
            let (source, source_extent) = source_of(side.count(), seed / 2);
            let mapping = Mapping::new(&side, &source, &source_extent, 0).unwrap();
            let from = Selection::from_stored(&source, &source_extent).unwrap();
            let from = from.runs(&source_extent).unwrap().flat_map(|run| run.offset..run.offset + run.len);
            let elements = target.elements().into_iter().map(|at| flat(&at, &extent));
            let pairs: HashMap<u64, u64> = elements.zip(from).collect();

            let shape: Vec<u64> = axes.iter().map(Axis::len).collect();
            let (mut expected, mut found) = (HashMap::new(), HashMap::new());
            let lists: Vec<Vec<(u64, u64)>> = axes
                .iter()
                .map(|axis| match axis {
                    Axis::Range(dim) => (0..).zip(dim.iter()).collect(),
                    Axis::List(list) => (0..).zip(list.iter().copied()).collect(),
                })
                .collect();
            product(&lists, &mut |chosen| {
                let at: Vec<u64> = chosen.iter().map(|(_, at)| *at).collect();
                let result: Vec<u64> = chosen.iter().map(|(result, _)| *result).collect();
                let is_inside = at.iter().zip(&extent).all(|(at, len)| at < len);
                if let Some(source) = pairs.get(&flat(&at, &extent)).filter(|_| is_inside) {
                    expected.insert(flat(&result, &shape), *source);
                }
                Ok::<(), ()>(())
            }).unwrap();
            let mut places = Vec::new();
            mapping.pieces(&axes, &mut |piece: Piece| {
                let sources: Vec<Vec<u64>> = piece.source.0.iter().map(|dim| dim.iter().collect()).collect();
                product(&sources, &mut |chosen| {
                    // The position of each axis of the result follows from the axis of the source.
                    let mut result: Vec<u64> = piece.place.result.iter().map(|dim| dim.start).collect();
                    for ((axis, dim), at) in piece.place.axes.iter().zip(&piece.source.0).zip(chosen) {
                        if let Some(axis) = axis.map(usize::from) {
                            let number = (**at - dim.start) / dim.step;
                            result[axis] += number * piece.place.result[axis].step;
                        }
                    }
                    let at: Vec<u64> = chosen.iter().map(|at| **at).collect();
                    found.insert(flat(&result, &shape), flat(&at, &source_extent));
                    Ok::<(), ()>(())
                })?;
                places.push(piece.place.result);
                Ok::<(), ()>(())
            }).unwrap();
            prop_assert_eq!(side.touches(&axes) || found.is_empty(), true);
            prop_assert_eq!(&found, &expected);
            let places: Vec<&[Dim]> = places.iter().map(|place| &place[..]).collect();
            // A list may name an element twice.
            let names_once = |case: &Case| case.elements().iter().collect::<HashSet<_>>().len() == case.elements().len();
            prop_assert!(are_disjoint(&places) || !names_once(&target));
        }

        #[test]
        fn boxes_that_are_called_disjoint_are(boxes in prop::collection::vec(
            prop::collection::vec((0_u64..5, 1_u64..4, 0_u64..4), 2), 1..5
        )) {
            let boxes: Vec<Vec<Dim>> = boxes
                .into_iter()
                .map(|dims| dims.into_iter().map(|(start, step, count)| Dim { start, step, count }).collect())
                .collect();
            let mut seen = HashSet::new();
            let mut cells = boxes.iter().flat_map(|dims| {
                dims[0].iter().flat_map(move |row| dims[1].iter().map(move |column| (row, column)))
            });
            let expected = cells.all(|cell| seen.insert(cell));
            let boxes: Vec<&[Dim]> = boxes.iter().map(Vec::as_slice).collect();
            prop_assert_eq!(are_disjoint(&boxes), expected);
        }
    }

    #[test]
    fn the_length_for_slices_is_the_least_with_so_many() {
        let axis = |start, stride, block| RegularAxis { start, stride, count: None, block };
        for axis in [axis(0, 1, Some(1)), axis(2, 5, Some(3)), axis(3, 4, Some(1)), axis(1, 1, None)] {
            for len in 0..30 {
                let count = slices(&axis, len);
                assert!(end_of(&axis, count) <= len.max(1));
                assert_eq!(slices(&axis, end_of(&axis, count)), count, "{axis:?} {len}");
            }
        }
        assert_eq!(slices(&axis(2, 5, Some(3)), 11), 6 + 1 - 1);
        assert_eq!(end_of(&axis(2, 5, Some(3)), 4), 8);
    }

    #[test]
    fn sides_with_different_numbers_of_elements_are_refused() {
        let target = Target::new(&StoredSelection::All, &[2, 3], 0).unwrap().unwrap();
        let error = Mapping::new(&target, &StoredSelection::All, &[5], 0).unwrap_err();
        assert!(matches!(error, RequestError::Length { given: 5, expected: 6, .. }), "{error}");
    }

    #[test]
    fn sizes_from_a_hostile_file_neither_overflow_nor_allocate() {
        let axis = |start, stride, count, block| RegularAxis {
            start,
            stride,
            count: Some(count),
            block: Some(block),
        };
        for axis in [
            axis(u64::MAX, 1, 1, 5),
            axis(0, u64::MAX, 3, 1),
            axis(0, 9, u64::MAX, 3),
            axis(5, 9, u64::MAX / 4, 3),
        ] {
            let stored = StoredSelection::regular(vec![axis], false);
            let error = Target::new(&stored, &[9], 0).unwrap_err();
            assert!(matches!(error, RequestError::TooMany { .. }), "{error}");
        }
        let blocks = StoredSelection::blocks(2, vec![0, 0, 1 << 30, 2, 1, 4, 1 << 31, 9], false);
        assert!(matches!(Target::new(&blocks, &[1 << 32, 99], 0), Err(RequestError::TooMany { .. })));
    }
}
