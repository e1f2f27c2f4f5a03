//! The order in which the selected elements of a chunk are copied: loops over runs of bytes.

use smallvec::SmallVec;

use crate::gather::{Axis, Gather, Target};
use crate::source::DecodedSource;

/// One level of a nest of loops over runs of bytes.
#[derive(Debug, Clone, Copy, Default)]
struct Loop {
    count: usize,
    source: usize,
    target: isize,
}

/// A position in a nest of loops.
type Index = SmallVec<[usize; 3]>;

/// A copy between two strided arrays as a nest of loops. Neighbouring dimensions are merged if both sides are
/// contiguous across them. Source offsets ascend along the walk.
#[derive(Debug, Clone)]
pub(crate) struct Walk {
    /// The source byte of the first run.
    source: usize,
    /// The destination byte of the first run.
    pub(crate) target: usize,
    /// The source bytes of every run, a multiple of the element size.
    run: usize,
    /// The destination bytes of every run.
    run_size: usize,
    /// The bytes of an element in the source, and in the destination.
    element_size: usize,
    size: usize,
    /// The loops, outermost first.
    loops: SmallVec<[Loop; 3]>,
}

impl Walk {
    /// Returns the walk over the selection of a whole chunk, or `None` if nothing is selected.
    #[inline]
    pub(crate) fn of(gather: &Gather<'_>) -> Option<Self> {
        let sizes = (gather.element_size, gather.size());
        Self::new(sizes, gather.chunk_shape, gather.axes.iter().copied(), gather.offset)
    }

    /// Returns the walk over `len` contiguous bytes.
    pub(crate) fn bytes(len: usize) -> Self {
        Self {
            source: 0,
            target: 0,
            run: len,
            run_size: len,
            element_size: len,
            size: len,
            loops: SmallVec::new(),
        }
    }

    /// Returns the walk over the `axes` of a row-major array of `shape`, or `None` if nothing is selected.
    /// Elements have `element_size` bytes in the array and `size` bytes in the destination.
    #[inline]
    pub(crate) fn new(
        (element_size, size): (usize, usize),
        shape: &[usize],
        axes: impl DoubleEndedIterator<Item = Axis> + ExactSizeIterator,
        target: usize,
    ) -> Option<Self> {
        debug_assert_eq!(shape.len(), axes.len());
        let mut walk = Self {
            source: 0,
            target,
            run: element_size,
            run_size: size,
            element_size,
            size,
            loops: SmallVec::new(),
        };
        let mut pitch = element_size;
        // The loops are added innermost first, and reversed at the end.
        for (axis, &extent) in axes.rev().zip(shape.iter().rev()) {
            if axis.count == 0 {
                return None;
            }
            debug_assert!(axis.start + (axis.count - 1) * axis.step < extent);
            walk.source += axis.start * pitch;
            if axis.count > 1 {
                walk.nest(Loop { count: axis.count, source: axis.step * pitch, target: axis.stride });
            }
            pitch *= extent;
        }
        walk.loops.reverse();
        Some(walk)
    }

    /// Adds an outer loop, or merges it into the current outermost loop if both sides are contiguous.
    #[inline]
    fn nest(&mut self, outer: Loop) {
        if let Some(inner) = self.loops.last_mut() {
            let across = inner.target.wrapping_mul(inner.count.cast_signed());
            if outer.source == inner.source * inner.count && outer.target == across {
                inner.count *= outer.count;
                return;
            }
        } else if outer.source == self.run && outer.target == self.run_size.cast_signed() {
            self.run *= outer.count;
            self.run_size *= outer.count;
            return;
        }
        self.loops.push(outer);
    }

    /// Returns one past the last source byte.
    #[inline]
    pub(crate) fn source_end(&self) -> usize {
        let last: usize = self.loops.iter().map(|l| (l.count - 1) * l.source).sum();
        self.source + last + self.run
    }

    /// Returns the first source byte.
    #[inline]
    pub(crate) fn source_start(&self) -> usize {
        self.source
    }

    /// Returns the bytes of all runs in the source.
    pub(crate) fn len(&self) -> usize {
        self.loops.iter().fold(self.run, |len, l| len * l.count)
    }

    /// Returns the first run.
    #[inline]
    fn first(&self) -> Run {
        Run { source: self.source, target: self.target, len: self.run, size: self.run_size }
    }

    /// Returns a number of source bytes of which the start and the length of every run are multiples.
    #[inline]
    pub(crate) fn element_size(&self) -> usize {
        self.element_size
    }

    /// Returns the run, if the whole walk is one run.
    #[inline]
    pub(crate) fn single(&self) -> Option<Run> {
        self.loops.is_empty().then_some(self.first())
    }

    /// Copies all runs.
    #[inline]
    pub(crate) fn copy<S: DecodedSource, T: Target + ?Sized>(&self, source: &S, target: &mut T) {
        match self.run_size {
            _ if source.takes_combs() => self.copy_runs::<0, S, T>(source, target),
            1 => self.copy_runs::<1, S, T>(source, target),
            2 => self.copy_runs::<2, S, T>(source, target),
            4 => self.copy_runs::<4, S, T>(source, target),
            8 => self.copy_runs::<8, S, T>(source, target),
            16 => self.copy_runs::<16, S, T>(source, target),
            _ => self.copy_runs::<0, S, T>(source, target),
        }
    }

    /// Copies all runs. `N` is the length of the runs in the destination, or 0 if it is not a compile-time
    /// constant.
    #[inline]
    fn copy_runs<const N: usize, S: DecodedSource, T: Target + ?Sized>(&self, source: &S, target: &mut T) {
        let run = if N == 0 { self.run_size } else { N };
        let (outer, inner) = match self.loops.split_last() {
            Some((inner, outer)) => (outer, *inner),
            None => (&[][..], Loop { count: 1, source: 0, target: 0 }),
        };
        let mut index = Index::from_elem(0, outer.len());
        let (mut from, mut to) = (self.source, self.target);
        loop {
            if N == 0 {
                source.copy_comb(from, inner.source, &mut target.comb(to, inner.target, inner.count, run));
            } else if let Some(rows) = source.rows(from, inner.source * (inner.count - 1) + run) {
                target.comb(to, inner.target, inner.count, run).fill::<N>(rows, inner.source);
            } else {
                let (mut inner_from, mut inner_to) = (from, to);
                for _ in 0..inner.count {
                    source.copy(inner_from, target.run(inner_to, run));
                    inner_from += inner.source;
                    inner_to = inner_to.wrapping_add_signed(inner.target);
                }
            }
            if !advance(outer, &mut index, &mut from, &mut to) {
                return;
            }
        }
    }

    /// Returns the runs one at a time, in ascending order of the source.
    #[inline]
    pub(crate) fn runs(&self) -> Runs<'_> {
        Runs {
            walk: self,
            index: Index::from_elem(0, self.loops.len()),
            next: Some(self.first()),
            from: self.source,
            to: self.target,
        }
    }
}

/// Moves a nest of loops to its next position, like an odometer. Returns `false` at the end.
#[inline]
fn advance(loops: &[Loop], index: &mut Index, from: &mut usize, to: &mut usize) -> bool {
    for (level, at) in loops.iter().zip(index.iter_mut()).rev() {
        *at += 1;
        if *at < level.count {
            *from += level.source;
            *to = to.wrapping_add_signed(level.target);
            return true;
        }
        *at = 0;
        *from -= level.source * (level.count - 1);
        *to = to.wrapping_add_signed(level.target.wrapping_mul(1 - level.count.cast_signed()));
    }
    false
}

/// Bytes that are contiguous on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) source: usize,
    pub(crate) target: usize,
    /// The length in the source, in bytes.
    pub(crate) len: usize,
    /// The length in the destination, in bytes.
    pub(crate) size: usize,
}

/// The runs of a walk, which the caller can cut at any source byte.
pub(crate) struct Runs<'a> {
    walk: &'a Walk,
    index: Index,
    next: Option<Run>,
    from: usize,
    to: usize,
}

impl Runs<'_> {
    /// Returns the next source byte.
    #[inline]
    pub(crate) fn position(&self) -> Option<usize> {
        self.next.map(|run| run.source)
    }

    /// Takes the next run, or a part of it, if it covers exactly the source bytes of `block`.
    #[inline]
    pub(crate) fn whole(&mut self, block: &std::ops::Range<usize>) -> Option<Run> {
        let run = self.next?;
        if run.source != block.start || run.len < block.len() {
            return None;
        }
        self.before(block.end)
    }

    /// Returns the next run, cut at the source byte `end`. Returns `None` if the run starts at `end` or after
    /// it.
    #[inline]
    pub(crate) fn before(&mut self, end: usize) -> Option<Run> {
        let run = self.next?;
        if run.source >= end {
            return None;
        }
        let len = run.len.min(end - run.source);
        if len < run.len {
            let Walk { element_size, size: element, .. } = *self.walk;
            // Unconverted bytes may be cut anywhere, converted ones only between elements.
            let size = if element_size == element { len } else { len / element_size * element };
            self.next = Some(Run {
                source: run.source + len,
                target: run.target + size,
                len: run.len - len,
                size: run.size - size,
            });
            return Some(Run { len, size, ..run });
        }
        let more = advance(&self.walk.loops, &mut self.index, &mut self.from, &mut self.to);
        self.next = more.then_some(Run { source: self.from, target: self.to, ..self.walk.first() });
        Some(run)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scatter::scatter;

    fn contiguous(shape: &[usize], element_size: usize) -> Vec<Axis> {
        let mut stride = element_size;
        let mut axes: Vec<Axis> = shape
            .iter()
            .rev()
            .map(|&count| {
                let axis = Axis { start: 0, step: 1, count, stride: stride.cast_signed() };
                stride *= count;
                axis
            })
            .collect();
        axes.reverse();
        axes
    }

    #[test]
    fn a_whole_chunk_with_a_contiguous_destination_is_one_run() {
        let shape = [3, 4, 5];
        let axes = contiguous(&shape, 8);
        let walk = Walk::of(&Gather::new(8, &shape, &axes, 7)).unwrap();
        assert_eq!(walk.single(), Some(Run { source: 0, target: 7, len: 480, size: 480 }));
    }

    #[test]
    fn a_destination_with_a_negative_stride_is_filled() {
        let axes = [Axis { start: 0, step: 1, count: 4, stride: -2 }];
        let gather = Gather::new(2, &[4], &axes, 6);
        let mut out = [0u8; 8];
        scatter(&gather, &[1, 2, 3, 4, 5, 6, 7, 8], &mut out[..]);
        assert_eq!(out, [7, 8, 5, 6, 3, 4, 1, 2]);
    }

    #[test]
    fn an_empty_axis_copies_nothing() {
        let axes = [
            Axis { start: 0, step: 1, count: 2, stride: 3 },
            Axis { start: 1, step: 1, count: 0, stride: 1 },
        ];
        let mut out = [9u8; 4];
        scatter(&Gather::new(1, &[2, 3], &axes, 0), &[0; 6], &mut out[..]);
        assert_eq!(out, [9; 4]);
    }

    /// A selection of a small chunk, and the length of the destination that it fills row by row.
    fn selections() -> impl Strategy<Value = (usize, Vec<usize>, Vec<Axis>, usize)> {
        let axis = (1usize..7).prop_flat_map(|extent| {
            (0..extent, 1usize..4).prop_flat_map(move |(start, step)| {
                let most = (extent - start).div_ceil(step);
                (Just(extent), Just(start), Just(step), 1..=most)
            })
        });
        (
            prop::sample::select(vec![1usize, 2, 3, 4, 8, 12, 16]),
            prop::collection::vec(axis, 1..5),
            prop::sample::select(vec![0usize, 1, 5]),
        )
            .prop_map(|(element_size, dimensions, gap)| {
                let mut stride = element_size;
                let mut shape = Vec::new();
                let mut axes = Vec::new();
                for &(extent, start, step, count) in dimensions.iter().rev() {
                    shape.insert(0, extent);
                    axes.insert(0, Axis { start, step, count, stride: stride.cast_signed() });
                    stride = stride * count + gap * element_size;
                }
                (element_size, shape, axes, stride)
            })
    }

    /// Fills the destination one element at a time, as a model.
    fn expected(gather: &Gather<'_>, src: &[u8], len: usize) -> Vec<u8> {
        let mut out = vec![0xEE; len];
        let total: usize = gather.axes.iter().map(|a| a.count).product();
        for mut number in 0..total {
            let (mut from, mut to, mut pitch) = (0, gather.offset.cast_signed(), 1);
            for (axis, extent) in gather.axes.iter().zip(gather.chunk_shape).rev() {
                let i = number % axis.count;
                number /= axis.count;
                from += (axis.start + i * axis.step) * pitch;
                to += axis.stride * i.cast_signed();
                pitch *= extent;
            }
            let size = gather.element_size;
            let to = usize::try_from(to).unwrap();
            out[to..to + size].copy_from_slice(&src[from * size..(from + 1) * size]);
        }
        out
    }

    proptest! {
        #[test]
        fn every_selected_element_and_nothing_else_is_copied(
            (element_size, shape, axes, len) in selections(), cut in 1usize..50
        ) {
            let src: Vec<u8> = (0..=250).cycle().take(shape.iter().product::<usize>() * element_size).collect();
            let gather = Gather::new(element_size, &shape, &axes, 3);
            let want = expected(&gather, &src, len + 3);
            let mut got = vec![0xEE; len + 3];
            scatter(&gather, &src, &mut got[..]);
            prop_assert_eq!(&got, &want);

            let walk = Walk::of(&gather).unwrap();
            let mut got = vec![0xEE; len + 3];
            let mut runs = walk.runs();
            let mut last = 0;
            while let Some(at) = runs.position() {
                let end = (at / cut + 1) * cut;
                while let Some(run) = runs.before(end) {
                    prop_assert!(run.source >= last && run.source + run.len <= end);
                    last = run.source + run.len;
                    got[run.target..][..run.len].copy_from_slice(&src[run.source..last]);
                }
            }
            prop_assert_eq!(&got, &want);
            prop_assert_eq!(last, walk.source_end());
        }
    }
}
