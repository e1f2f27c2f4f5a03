//! The requests for unfiltered data: only the spans that the selection touches, directly into the destination
//! if possible.

use hyperslab_filters::Convert;
use hyperslab_filters::gather::{Axis, Gather};
use hyperslab_filters::scatter::Places;
use hyperslab_format::Addr;
use hyperslab_io::driver::Hints;
use smallvec::SmallVec;

use super::elements::{Axes, Goal, PieceElements};
use crate::engine::destination::Region;

/// A box of an unfiltered piece as a loop over spans of the file. One request reads a span: the inner axes,
/// gaps included. The loop runs over the outer axes.
#[derive(Debug)]
pub(in crate::engine) struct Spans {
    /// The number of spans.
    pub(in crate::engine) count: u64,
    /// The length of each span in bytes.
    pub(in crate::engine) len: usize,
    /// The offset of the first span in the piece, and the offset in the destination of its first element.
    first: (usize, usize),
    /// The innermost of the outer axes with more than one index. `around` holds the axes around it, from the
    /// inside out.
    inmost: Loop,
    around: SmallVec<[Loop; 3]>,
    /// The number of outer axes.
    split: usize,
    /// The selected elements of a span, relative to its first element.
    inner: Axes,
    /// Their places in the destination, once computed.
    places: Option<Places>,
    /// Whether spans are read into the destination without a copy.
    pub(in crate::engine) is_direct: bool,
}

/// One axis: the distances in bytes from one index to the next, in the piece and in the destination.
#[derive(Debug)]
struct Loop {
    count: u64,
    source: usize,
    target: usize,
}

/// The bytes from the first selected element of some axes to the last.
struct OneSpan {
    len: usize,
    /// Whether all elements between them are selected.
    is_dense: bool,
}

impl OneSpan {
    /// Returns the span over one more axis, if it is better read as one than by several requests. The model
    /// of `tune` has the same rule, for lengths that it does not know exactly.
    fn repeated(&self, selected: &Axis, pitch: usize, hints: Hints) -> Option<Self> {
        let Self { len, is_dense } = *self;
        if selected.count <= 1 {
            return Some(Self { len, is_dense });
        }
        let step = selected.step * pitch;
        let gap = step - len;
        let longer = (selected.count - 1) * step + len;
        let is_short = longer as u64 <= hints.max_span;
        if gap as u64 > hints.coalesce_gap || !is_short && (gap > 0 || !is_dense) {
            return None;
        }
        Some(Self { len: longer, is_dense: is_dense && gap == 0 })
    }
}

impl Loop {
    fn moved(&self, at: (usize, usize), turn: usize) -> (usize, usize) {
        (at.0 + turn * self.source, at.1 + turn * self.target)
    }
}

impl Spans {
    /// Returns the spans for the elements of `axes`, whose places in the destination start at `offset`.
    pub(in crate::engine) fn new(
        elements: &PieceElements,
        axes: &[Axis],
        offset: usize,
        hints: Hints,
    ) -> Self {
        let mut span = OneSpan { len: elements.stored_size, is_dense: true };
        let mut inmost = Loop { count: 1, source: 0, target: 0 };
        let mut around: SmallVec<[Loop; 3]> = SmallVec::new();
        // The bytes of the piece from one index of an axis to the next.
        let mut pitch = elements.stored_size;
        let (mut start, mut split) = (0, axes.len());
        for (axis, (selected, len)) in axes.iter().zip(&elements.shape).enumerate().rev() {
            start += selected.start * pitch;
            let longer = if split == axis + 1 { span.repeated(selected, pitch, hints) } else { None };
            if let Some(longer) = longer {
                (span, split) = (longer, axis);
            } else if selected.count > 1 {
                let each = Loop {
                    count: selected.count as u64,
                    source: selected.step * pitch,
                    target: selected.stride.unsigned_abs(),
                };
                if inmost.count == 1 { inmost = each } else { around.push(each) }
            }
            // No overflow: `ReadContext::new` has checked the bytes of a piece.
            pitch *= len;
        }
        let mut inner = Axes::from_slice(&axes[split..]);
        inner.iter_mut().for_each(|axis| axis.start = 0);
        Self {
            count: around.iter().fold(inmost.count, |count, each| count * each.count),
            len: span.len,
            first: (start, offset),
            inmost,
            around,
            split,
            is_direct: span.is_dense
                && elements.goal == Goal::Copy
                && is_dense_in_memory(&inner, elements.memory_size),
            inner,
            places: None,
        }
    }

    /// Returns the offset of span `number` in the piece, and the offset in the destination of its first
    /// element.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "less than the count of an axis, which is a usize")]
    pub(in crate::engine) fn at(&self, number: u64) -> (usize, usize) {
        let (mut rest, mut at, mut inner) = (number, self.first, &self.inmost);
        for each in &self.around {
            at = inner.moved(at, (rest % inner.count) as usize);
            rest /= inner.count;
            inner = each;
        }
        // The remaining quotient is the index of the outermost loop.
        inner.moved(at, rest as usize)
    }

    /// Copies the selected elements of a span to their places. The first element goes to `target`.
    pub(in crate::engine) fn scatter(
        &mut self,
        elements: &PieceElements,
        convert: Option<&dyn Convert>,
        bytes: &[u8],
        target: usize,
        region: &mut Region<'_>,
    ) {
        let shape = &elements.shape[self.split..];
        let gather = Gather { convert, ..Gather::new(elements.stored_size, shape, &self.inner, target) };
        if self.places.is_none() {
            self.places = Places::of(&gather);
        }
        if let Some(places) = &mut self.places {
            places.scatter(&gather, bytes, region);
        }
    }
}

/// Returns whether the selected elements of `axes` are contiguous in the destination.
fn is_dense_in_memory(axes: &[Axis], element_size: usize) -> bool {
    let mut run = element_size;
    axes.iter().rev().all(|axis| {
        let dense = axis.count == 1 || axis.stride.unsigned_abs() == run;
        run *= axis.count;
        dense
    })
}

/// Returns the address `by` bytes after `at`.
pub(in crate::engine) fn moved(at: Addr, by: usize) -> Addr {
    Addr::new(at.get().saturating_add(by as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HINTS: Hints = Hints { coalesce_gap: 100, max_span: 10_000, queue_depth: 1, concurrent: true };

    fn axis(start: usize, step: usize, count: usize) -> Axis {
        Axis { start, step, count, stride: 0 }
    }

    fn elements(shape: &[usize]) -> PieceElements {
        let shape = SmallVec::from_slice(shape);
        PieceElements { shape, stored_size: 4, memory_size: 4, goal: Goal::Copy }
    }

    #[test]
    fn a_plane_across_the_slowest_axis_is_one_span() {
        let axes = [axis(3, 1, 1), axis(0, 1, 64), axis(0, 1, 64)];
        let spans = Spans::new(&elements(&[64, 64, 64]), &axes, 0, HINTS);
        assert_eq!((spans.split, spans.len, spans.count), (0, 64 * 64 * 4, 1));
        assert_eq!(spans.at(0).0, 3 * 64 * 64 * 4);
    }

    #[test]
    fn rows_far_apart_are_read_one_by_one() {
        let axes = [axis(0, 1, 64), axis(3, 1, 1), axis(0, 1, 64)];
        let spans = Spans::new(&elements(&[64, 64, 64]), &axes, 0, HINTS);
        assert_eq!((spans.split, spans.len, spans.count), (1, 64 * 4, 64));
    }

    #[test]
    fn elements_with_small_gaps_are_read_with_the_gaps() {
        let axes = [axis(0, 1, 2), axis(0, 4, 16)];
        let spans = Spans::new(&elements(&[64, 64]), &axes, 0, HINTS);
        assert_eq!((spans.split, spans.len, spans.is_direct), (0, 256 + 244, false));
    }

    #[test]
    fn every_span_begins_at_its_first_element() {
        let piece = [8, 9, 10];
        for steps in [[1, 1, 1], [2, 3, 4], [5, 1, 9]] {
            for counts in [[1, 3, 2], [2, 1, 1], [2, 3, 2], [1, 1, 1]] {
                let strides = [1000, 100, 10];
                let axes: Axes = (0..3)
                    .map(|d| Axis {
                        start: usize::from(d > 0),
                        step: steps[d],
                        count: counts[d].min((piece[d] - 2) / steps[d] + 1),
                        stride: strides[d],
                    })
                    .collect();
                // Gaps are not read, so every span is a run of elements of the last axis.
                let spans = Spans::new(&elements(&piece), &axes, 7, Hints { coalesce_gap: 0, ..HINTS });
                let mut expected = Vec::new();
                for i in 0..axes[0].count {
                    for j in 0..axes[1].count {
                        for k in 0..axes[2].count {
                            let at = [i, j, k];
                            let source =
                                (0..3).fold(0, |n, d| n * piece[d] + axes[d].start + at[d] * axes[d].step);
                            let target = (0..3).fold(7, |n, d| n + at[d] * strides[d].unsigned_abs());
                            expected.push((source * 4, target));
                        }
                    }
                }
                let elements = spans.len / 4;
                let firsts: Vec<_> = expected.iter().copied().step_by(elements).collect();
                let found: Vec<_> = (0..spans.count).map(|number| spans.at(number)).collect();
                assert_eq!(found, firsts, "{steps:?} {counts:?}");
            }
        }
    }
}
