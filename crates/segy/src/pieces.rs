//! The boxes in which a volume is moved. A box is as many whole chunks as fit into a budget, and the traces
//! in these chunks.

use std::ops::Range;

use crate::survey::{Survey, TraceMap};

/// A box of a volume: ranges of positions along each axis, and of samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The range along each axis; the axis of samples is the last.
    pub(crate) ranges: Vec<Range<u64>>,
}

/// A trace of a piece, and the place in the piece that it fills, counted row by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slot {
    /// The number of the trace.
    pub(crate) trace: u64,
    /// The place in the piece.
    pub(crate) place: usize,
    /// The position in the survey.
    pub(crate) position: u64,
}

impl Piece {
    /// Returns the ranges along all axes except that of samples.
    pub(crate) fn positions(&self) -> &[Range<u64>] {
        &self.ranges[..self.ranges.len() - 1]
    }

    /// Returns the range of samples.
    pub(crate) fn samples(&self) -> Range<u64> {
        self.ranges.last().cloned().unwrap_or(0..0)
    }

    /// Returns the number of traces for which the piece has room.
    pub(crate) fn places(&self) -> usize {
        let count: u64 = self.positions().iter().map(|range| range.end - range.start).product();
        usize::try_from(count).unwrap_or(usize::MAX)
    }

    /// Returns the traces of the piece, in the order of the file.
    pub(crate) fn slots(&self, map: &TraceMap, shape: &[u64]) -> Vec<Slot> {
        let positions = self.positions();
        let mut at: Vec<u64> = positions.iter().map(|range| range.start).collect();
        let mut slots = Vec::with_capacity(self.places());
        for place in 0..self.places() {
            let position = at.iter().zip(shape).fold(0, |position, (&at, &len)| position * len + at);
            if let Some(trace) = map.at(position) {
                slots.push(Slot { trace, place, position });
            }
            for (at, range) in at.iter_mut().zip(positions).rev() {
                *at += 1;
                if *at < range.end {
                    break;
                }
                *at = range.start;
            }
        }
        if !slots.is_sorted() {
            slots.sort_unstable();
        }
        slots
    }
}

/// The lower and upper bound of the bytes of neighbouring traces in the SEG-Y file that are read at once: 256
/// KiB is enough for a disk. Larger files, of which less is in memory already, get longer runs, whose
/// transfer takes longer than the seek to the next run.
const RUN: (u64, u64) = (256 << 10, 4 << 20);
/// The lower and upper bound of the bytes of a piece whose runs are long enough. A larger piece fits the
/// processor's caches less well, and reading and writing start to overlap later.
const ENOUGH: (u64, u64) = (16 << 20, 128 << 20);

/// Returns the shape of pieces of whole chunks that take at most `budget` bytes, or one chunk if that is
/// larger.
///
/// A piece grows first along the samples, and then along the axes in the order in which traces follow each
/// other in the SEG-Y file. Reads are therefore long consecutive runs of the file.
pub(crate) fn side(survey: &Survey, samples: u64, chunk: &[u64], element: u64, budget: u64) -> Vec<u64> {
    let (shape, order) = shape_and_order(survey, samples);
    let mut side: Vec<u64> = chunk.iter().zip(&shape).map(|(&side, &len)| side.min(len).max(1)).collect();
    let total = shape.iter().fold(element, |all, &len| all.saturating_mul(len));
    let enough = (total / 64).clamp(ENOUGH.0, ENOUGH.1);
    let long_run = (total / 4096).clamp(RUN.0, RUN.1);
    for (i, &axis) in order.iter().enumerate() {
        let others: u64 = (0..side.len()).filter(|&other| other != axis).map(|other| side[other]).product();
        let fits = |bytes: u64| bytes / others.saturating_mul(element).max(1);
        // Whole traces, and neighbours among them, are contiguous in the file. Growth beyond that does not
        // lengthen the runs.
        let run = match i {
            0 => shape[axis],
            1 => long_run.div_ceil(samples.saturating_mul(element).max(1)),
            _ => 0,
        };
        let room = fits(budget).min(fits(enough).max(run));
        side[axis] = (room / side[axis]).max(1).saturating_mul(side[axis]).min(shape[axis]);
    }
    side
}

/// Returns the lengths of all axes, and the axes in the order in which samples and then traces follow each
/// other.
fn shape_and_order(survey: &Survey, samples: u64) -> (Vec<u64>, Vec<usize>) {
    let mut shape = survey.shape();
    let mut order = vec![shape.len()];
    order.extend(survey.map.fastest_first(&shape));
    shape.push(samples);
    (shape, order)
}

/// Returns the pieces of a volume. They have the shape `side`, or less at the ends of the volume.
pub(crate) fn pieces(survey: &Survey, samples: u64, side: &[u64]) -> Vec<Piece> {
    let (shape, order) = shape_and_order(survey, samples);
    let counts: Vec<u64> = side.iter().zip(&shape).map(|(&side, &len)| len.div_ceil(side)).collect();
    let mut pieces = Vec::new();
    // The slowest axis is outermost, so that the pieces follow the file.
    for number in 0..counts.iter().product() {
        let mut rest: u64 = number;
        let mut ranges = vec![0..0; side.len()];
        for &axis in &order {
            let start = rest % counts[axis] * side[axis];
            rest /= counts[axis];
            ranges[axis] = start..shape[axis].min(start + side[axis]);
        }
        pieces.push(Piece { ranges });
    }
    pieces
}

/// Splits the samples of a piece, which are stored chunk after chunk, into the part of each trace in each
/// chunk. The parts of the first place come first, in order of samples, then those of the next place.
pub(crate) fn parts<'b>(
    piece: &Piece,
    chunk: &[u64],
    element: usize,
    mut buffer: &'b mut [u8],
) -> Vec<&'b mut [u8]> {
    // The start of a piece is the start of a chunk.
    let lengths: Vec<u64> = piece.ranges.iter().map(|range| range.end - range.start).collect();
    let grid: Vec<u64> = lengths.iter().zip(chunk).map(|(&len, &side)| len.div_ceil(side.max(1))).collect();
    let rank = lengths.len();
    let per_trace = usize::try_from(grid[rank - 1]).unwrap_or(0);
    let mut parts: Vec<&mut [u8]> = Vec::new();
    parts.resize_with(piece.places() * per_trace, Default::default);
    for number in 0..grid.iter().product::<u64>() {
        let mut rest = number;
        let mut at = vec![0; rank];
        for axis in (0..rank).rev() {
            at[axis] = rest % grid[axis];
            rest /= grid[axis];
        }
        let used: Vec<u64> =
            (0..rank).map(|axis| chunk[axis].min(lengths[axis] - at[axis] * chunk[axis])).collect();
        let bytes = usize::try_from(used[rank - 1]).unwrap_or(0) * element;
        let column = usize::try_from(at[rank - 1]).unwrap_or(0);
        for row in 0..used[..rank - 1].iter().product::<u64>() {
            let (mut rest, mut place, mut pitch) = (row, 0, 1);
            for axis in (0..rank - 1).rev() {
                place += (at[axis] * chunk[axis] + rest % used[axis]) * pitch;
                rest /= used[axis];
                pitch *= lengths[axis];
            }
            let (part, others) = std::mem::take(&mut buffer).split_at_mut(bytes);
            buffer = others;
            parts[usize::try_from(place).unwrap_or(0) * per_trace + column] = part;
        }
    }
    parts
}

/// Splits sorted traces into runs of neighbours in the file, with at most `most` traces each.
pub(crate) fn runs(slots: &[Slot], most: usize) -> impl Iterator<Item = &[Slot]> {
    slots.chunk_by(|a, b| a.trace + 1 == b.trace).flat_map(move |run| run.chunks(most.max(1)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::number::Numbers;
    use crate::survey::{Axis, Keys, SurveyKind};

    fn survey(inlines: u64, crosslines: u64, strides: [i64; 2]) -> Survey {
        let axis =
            |name, len: u64| Axis { name, values: Numbers::Integers((0..len.cast_signed()).collect()) };
        let axes = vec![axis("inline", inlines), axis("crossline", crosslines)];
        let map =
            TraceMap::Regular { origin: 0, strides: strides.to_vec(), shape: vec![inlines, crosslines] };
        Survey::new(SurveyKind::Volume, Keys::default(), axes, map)
    }

    #[test]
    fn pieces_of_a_volume_sorted_by_crosslines_are_long_along_inlines() {
        let survey = survey(100, 80, [1, 100]);
        let found = pieces(&survey, 50, &side(&survey, 50, &[10, 10, 10], 4, 10 * 100 * 50 * 4));
        assert_eq!(found.len(), 8);
        assert_eq!(found[0].ranges, [0..100, 0..10, 0..50]);
        assert_eq!(found[1].ranges, [0..100, 10..20, 0..50]);
    }

    proptest! {
        #[test]
        fn pieces_cover_every_position_once_and_fit_the_budget(
            inlines in 1_u64..30, crosslines in 1_u64..30, samples in 1_u64..40,
            chunk in proptest::array::uniform3(1_u64..12), budget in 1_u64..20_000, swap: bool,
        ) {
            let strides = if swap { [1, inlines.cast_signed()] } else { [crosslines.cast_signed(), 1] };
            let survey = survey(inlines, crosslines, strides);
            let found = pieces(&survey, samples, &side(&survey, samples, &chunk, 4, budget));
            let shape = survey.shape();
            let mut seen = vec![0_u64; usize::try_from(inlines * crosslines).unwrap()];
            let least = chunk.iter().zip([inlines, crosslines, samples]).map(|(&c, l)| c.min(l)).product::<u64>() * 4;
            for piece in &found {
                let len = piece.samples().end - piece.samples().start;
                prop_assert!(piece.places() as u64 * len * 4 <= budget.max(least));
                for slot in piece.slots(&survey.map, &shape) {
                    seen[usize::try_from(slot.position).unwrap()] += len;
                }
                for (range, (&side, len)) in piece.ranges.iter().zip(chunk.iter().zip([inlines, crosslines, samples])) {
                    prop_assert!(range.start % side.min(len) == 0 && (range.end == len || range.end % side.min(len) == 0));
                }
            }
            prop_assert!(seen.iter().all(|&count| count == samples));
        }

        #[test]
        fn parts_of_traces_are_stored_chunk_after_chunk(
            lengths in proptest::array::uniform3(1_u64..12), chunk in proptest::array::uniform3(1_u64..6),
        ) {
            let piece = Piece { ranges: lengths.iter().map(|&len| 0..len).collect() };
            let count = usize::try_from(lengths.iter().product::<u64>()).unwrap();
            let mut buffer = vec![0_u8; count];
            {
                // Samples are numbered trace by trace.
                let mut number = 0_u64;
                for part in parts(&piece, &chunk, 1, &mut buffer) {
                    for sample in part {
                        *sample = u8::try_from(number % 251).unwrap();
                        number += 1;
                    }
                }
                prop_assert_eq!(number, count as u64);
            }
            let mut found = buffer.iter();
            for a in (0..lengths[0]).step_by(usize::try_from(chunk[0]).unwrap()) {
                for b in (0..lengths[1]).step_by(usize::try_from(chunk[1]).unwrap()) {
                    for c in (0..lengths[2]).step_by(usize::try_from(chunk[2]).unwrap()) {
                        for i in a..lengths[0].min(a + chunk[0]) {
                            for j in b..lengths[1].min(b + chunk[1]) {
                                for k in c..lengths[2].min(c + chunk[2]) {
                                    let number = (i * lengths[1] + j) * lengths[2] + k;
                                    prop_assert_eq!(u64::from(*found.next().unwrap()), number % 251);
                                }
                            }
                        }
                    }
                }
            }
        }

        #[test]
        fn runs_are_neighbours_and_cover_all_traces(mut traces in proptest::collection::btree_set(0_u64..60, 0..40), most in 1_usize..9) {
            let slots: Vec<Slot> = traces.iter().map(|&trace| Slot { trace, place: 0, position: 0 }).collect();
            for run in runs(&slots, most) {
                prop_assert!(run.len() <= most);
                for (slot, trace) in run.iter().zip(run[0].trace..) {
                    prop_assert_eq!(slot.trace, trace);
                    prop_assert!(traces.remove(&trace));
                }
            }
            prop_assert!(traces.is_empty());
        }
    }
}
