//! Unfiltered data: only the spans that the selection touches are read, straight into the destination where it can be.

use hyperslab_filters::gather::{Axis, Target};
use hyperslab_format::{Addr, Extent};
use smallvec::SmallVec;

use crate::driver::Hints;
use crate::engine::dst::Region;
use crate::engine::read::emit::{Axes, Emit};
use crate::engine::scratch::sized;
use crate::error::Result;
use crate::store::Store;

/// A part of an unfiltered piece, as a loop over spans of the file.
///
/// The inner `axes[split..]` of every span are read in one request, gaps included; the outer ones are looped over.
#[derive(Debug)]
struct Spans {
    split: usize,
    /// Bytes of the file from one element to the next along each axis of the piece.
    pitches: SmallVec<[usize; 4]>,
    /// Bytes of one span.
    len: usize,
    /// Whether a span is wanted whole, without gaps.
    is_dense: bool,
}

/// The bytes of the unfiltered piece at `extent` that are read for the elements of `axes`, one extent after another.
pub(in crate::engine) fn extents(
    extent: Extent,
    emit: &Emit<'_>,
    axes: &[Axis],
    hints: Hints,
    mut f: impl FnMut(Extent),
) {
    let spans = Spans::new(&emit.piece, axes, emit.stored_size, hints);
    // The walk fails only where `f` does.
    let _: Result<()> = spans.each(axes, 0, &mut |source, _| {
        f(spans.extent(extent, source));
        Ok(())
    });
}

/// How many runs of an unfiltered piece are read for the elements of `axes`, and how many bytes each has.
pub(in crate::engine) fn runs(emit: &Emit<'_>, axes: &[Axis], hints: Hints) -> (usize, usize) {
    let spans = Spans::new(&emit.piece, axes, emit.stored_size, hints);
    (axes[..spans.split].iter().map(|axis| axis.count).product(), spans.len)
}

impl Spans {
    fn new(piece: &[usize], axes: &[Axis], element_size: usize, hints: Hints) -> Self {
        let mut pitches: SmallVec<[usize; 4]> = SmallVec::from_elem(element_size, piece.len());
        for axis in (1..piece.len()).rev() {
            pitches[axis - 1] = pitches[axis] * piece[axis];
        }
        let mut spans = Self { split: axes.len(), pitches, len: element_size, is_dense: true };
        for (axis, selected) in axes.iter().enumerate().rev() {
            if selected.count > 1 {
                let step = selected.step * spans.pitches[axis];
                let gap = step - spans.len;
                let longer = (selected.count - 1) * step + spans.len;
                let is_worth_it = gap as u64 <= hints.coalesce_gap && longer as u64 <= hints.max_span;
                if gap > 0 && !is_worth_it {
                    break;
                }
                spans.is_dense &= gap == 0;
                if !spans.is_dense && longer as u64 > hints.max_span {
                    break;
                }
                spans.len = longer;
            }
            spans.split = axis;
        }
        spans
    }

    /// Calls `f` with where in the piece each span begins, and where its first element goes.
    fn each(
        &self,
        axes: &[Axis],
        offset: usize,
        f: &mut dyn FnMut(usize, usize) -> Result<()>,
    ) -> Result<()> {
        let (outer, inner) = axes.split_at(self.split);
        let start =
            inner.iter().zip(&self.pitches[self.split..]).map(|(axis, pitch)| axis.start * pitch).sum();
        for_each(outer, &self.pitches, start, offset, f)
    }

    /// Where the span is in the file that begins `source` bytes after the piece.
    fn extent(&self, piece: Extent, source: usize) -> Extent {
        Extent::new(Addr::new(piece.addr.get().saturating_add(source as u64)), self.len as u64)
    }
}

/// Reads the elements of `axes` of the unfiltered piece at `extent` to their places from `offset` on.
#[allow(clippy::too_many_arguments)] // the coordinates of one task; a struct for them would be used here alone
pub(in crate::engine) fn read(
    store: &Store,
    extent: Extent,
    emit: &Emit<'_>,
    axes: &[Axis],
    offset: usize,
    region: &mut Region<'_>,
    stored: &mut Vec<u8>,
    convert: &mut [Vec<u8>; 2],
) -> Result<()> {
    let spans = Spans::new(&emit.piece, axes, emit.stored_size, store.hints());
    let inner = &axes[spans.split..];
    let direct = spans.is_dense && emit.is_identity() && is_dense_in_memory(inner, emit.memory_size);
    // Relative to the span, the inner selection begins at its first element.
    let shifted: Axes = inner.iter().map(|axis| Axis { start: 0, ..*axis }).collect();
    spans.each(axes, offset, &mut |source, target| {
        let at = spans.extent(extent, source);
        store.check(at, RAW_DATA)?;
        if direct {
            return store.read_raw(at.addr, region.run(target, spans.len));
        }
        let bytes = sized(stored, spans.len)?;
        store.read_raw(at.addr, bytes)?;
        emit.scatter(bytes, &emit.piece[spans.split..], &shifted, target, region, convert)
    })
}

/// Whether the selected elements of `axes` lie one after another in the destination.
fn is_dense_in_memory(axes: &[Axis], element_size: usize) -> bool {
    let mut run = element_size;
    axes.iter().rev().all(|axis| {
        let dense = axis.count == 1 || axis.stride.unsigned_abs() == run;
        run *= axis.count;
        dense
    })
}

fn for_each(
    axes: &[Axis],
    pitches: &[usize],
    source: usize,
    target: usize,
    f: &mut dyn FnMut(usize, usize) -> Result<()>,
) -> Result<()> {
    let (Some((axis, inner)), Some((&pitch, pitches))) = (axes.split_first(), pitches.split_first()) else {
        return f(source, target);
    };
    for i in 0..axis.count {
        let source = source + (axis.start + i * axis.step) * pitch;
        for_each(inner, pitches, source, target + i * axis.stride.unsigned_abs(), f)?;
    }
    Ok(())
}

/// How errors name data that no structure wraps.
pub(in crate::engine) const RAW_DATA: (&str, &str) = ("Raw data", "IV.B");

#[cfg(test)]
mod tests {
    use super::*;

    const HINTS: Hints = Hints { coalesce_gap: 100, prefetch_gap: 0, max_span: 10_000, concurrent: true };

    fn axis(start: usize, step: usize, count: usize) -> Axis {
        Axis { start, step, count, stride: 0 }
    }

    #[test]
    fn a_plane_across_the_slowest_axis_is_one_span() {
        let spans = Spans::new(&[64, 64, 64], &[axis(3, 1, 1), axis(0, 1, 64), axis(0, 1, 64)], 4, HINTS);
        assert_eq!((spans.split, spans.len, spans.is_dense), (0, 64 * 64 * 4, true));
    }

    #[test]
    fn rows_far_apart_are_read_one_by_one() {
        let spans = Spans::new(&[64, 64, 64], &[axis(0, 1, 64), axis(3, 1, 1), axis(0, 1, 64)], 4, HINTS);
        assert_eq!((spans.split, spans.len, spans.is_dense), (1, 64 * 4, true));
    }

    #[test]
    fn elements_a_little_apart_are_read_with_the_gaps_between_them() {
        let spans = Spans::new(&[64, 64], &[axis(0, 1, 2), axis(0, 4, 16)], 4, HINTS);
        assert_eq!((spans.split, spans.len, spans.is_dense), (0, 256 + 244, false));
    }

    #[test]
    fn as_many_runs_are_counted_as_are_read() {
        let emit = Emit {
            conversion: None,
            stored_size: 4,
            memory_size: 4,
            piece: SmallVec::from_slice(&[8, 9, 10]),
        };
        let extent = Extent::new(Addr::new(1000), 8 * 9 * 10 * 4);
        for counts in [[1, 9, 10], [8, 1, 10], [8, 9, 1], [3, 4, 5], [1, 1, 1]] {
            for coalesce_gap in [0, 50, 1000] {
                let axes = counts.map(|count| axis(0, 1, count));
                let hints = Hints { coalesce_gap, ..HINTS };
                let mut read = Vec::new();
                extents(extent, &emit, &axes, hints, |run| read.push(run.len));
                let (count, len) = runs(&emit, &axes, hints);
                assert_eq!(read, vec![len as u64; count], "{counts:?}, {coalesce_gap}");
            }
        }
    }
}
