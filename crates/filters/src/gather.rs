//! Where the elements of a selection of one chunk go in the destination.

use smallvec::SmallVec;

use crate::convert::{Convert, Converting, Room, hand};
use crate::filter::Scratch;
pub use crate::simd::Stores;
pub use crate::simd::comb::Comb;
use crate::sink::{All, Feed};

/// What is selected along one dimension of a chunk, and how far apart it lies in the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axis {
    /// The first selected index.
    pub start: usize,
    /// From one selected index to the next; at least 1.
    pub step: usize,
    /// How many indices are selected.
    pub count: usize,
    /// Destination bytes from one selected index to the next.
    pub stride: isize,
}

/// A selection of one chunk and its place in a destination.
///
/// Whoever makes one guarantees that every selected index is inside `chunk_shape`, that there are as many axes as
/// dimensions, and that every destination offset is inside the target.
#[derive(Debug, Clone, Copy)]
pub struct Gather<'a> {
    /// Bytes of one element.
    pub element_size: usize,
    /// Elements of the chunk along each dimension.
    pub chunk_shape: &'a [usize],
    /// The selection along each dimension.
    pub axes: &'a [Axis],
    /// Destination byte of the first selected element.
    pub offset: usize,
    /// What becomes of the elements on their way; `None` if they stay as they are.
    pub convert: Option<&'a dyn Convert>,
    /// How shuffled elements are written.
    pub stores: Stores,
}

impl<'a> Gather<'a> {
    /// A copy of the elements at `axes` as they are.
    pub fn new(element_size: usize, chunk_shape: &'a [usize], axes: &'a [Axis], offset: usize) -> Self {
        Self { element_size, chunk_shape, axes, offset, convert: None, stores: Stores::Cached }
    }

    /// Bytes of an element in the destination.
    #[inline]
    pub(crate) fn size(&self) -> usize {
        self.convert.map_or(self.element_size, Convert::size)
    }

    /// How shuffled elements are written: what has to be computed with is wanted in the cache.
    #[inline]
    pub(crate) fn stores(&self) -> Stores {
        let is_moved = self.convert.is_none_or(|convert| convert.bytes().is_some());
        if is_moved { self.stores } else { Stores::Cached }
    }

    #[inline]
    pub(crate) fn converting(&self) -> Option<Converting<'a>> {
        self.convert.map(|convert| Converting { convert, element_size: self.element_size })
    }
}

/// Memory that decoded elements are written to.
pub trait Target {
    /// The `len` bytes at `offset`.
    fn run(&mut self, offset: usize, len: usize) -> &mut [u8];

    /// `count` runs of `len` bytes, the first at `offset` and the others `stride` bytes apart.
    fn comb(&mut self, offset: usize, stride: isize, count: usize, len: usize) -> Comb<'_>;
}

impl Target for [u8] {
    #[inline]
    fn run(&mut self, offset: usize, len: usize) -> &mut [u8] {
        &mut self[offset..offset + len]
    }

    #[inline]
    fn comb(&mut self, offset: usize, stride: isize, count: usize, len: usize) -> Comb<'_> {
        Comb::of(self, offset, stride, count, len)
    }
}

/// Copies the selected elements of `src`, a whole chunk in row-major order, to their places.
#[inline]
pub fn scatter<T: Target + ?Sized>(gather: &Gather<'_>, src: &[u8], target: &mut T) {
    if let Some(mut places) = Places::of(gather) {
        places.scatter(gather, src, target);
    }
}

/// The places of the elements that a gather selects, found once for many sources.
#[derive(Debug)]
pub struct Places(Walk);

impl Places {
    /// Those of a gather; `None` if it selects nothing.
    #[inline]
    pub fn of(gather: &Gather<'_>) -> Option<Self> {
        Walk::of(gather).map(Self)
    }

    /// What [`scatter`] does, for a gather that differs in its offset alone.
    #[inline]
    pub fn scatter<T: Target + ?Sized>(&mut self, gather: &Gather<'_>, src: &[u8], target: &mut T) {
        self.0.target = gather.offset;
        hand(&Rows(src), gather.converting(), &mut Room::default(), &mut All { walk: &self.0, sink: target });
    }
}

/// Hands the selected elements of `src`, a whole chunk in row-major order, to `f`, as [`Pipeline::blocks`](crate::Pipeline::blocks)
/// does.
pub fn blocks(gather: &Gather<'_>, src: &[u8], scratch: &mut Scratch, f: &mut dyn FnMut(usize, &[u8])) {
    Feed::with(gather, scratch, f, |gather, converting, feed, scratch| {
        if let Some(walk) = Walk::of(gather) {
            hand(&Rows(src), converting, &mut scratch.room, &mut All { walk: &walk, sink: feed });
        }
    });
}

/// Decoded elements that can be copied out by their byte offset.
pub(crate) trait Source {
    /// Fills `into` with the elements from byte `at` on.
    fn copy(&self, at: usize, into: &mut [u8]);

    /// Fills each run with the elements from byte `at` on, `step` more for every next one.
    #[inline]
    fn copy_comb(&self, mut at: usize, step: usize, into: &mut Comb<'_>) {
        into.each(|run| {
            self.copy(at, run);
            at += step;
        });
    }

    /// The `len` bytes from `at` on, if they lie together.
    #[inline]
    fn rows(&self, _at: usize, _len: usize) -> Option<&[u8]> {
        None
    }

    /// Whether many runs at once are much cheaper than one by one.
    #[inline]
    fn takes_combs(&self) -> bool {
        false
    }
}

/// Elements as they lie in memory, in row-major order.
pub(crate) struct Rows<'a>(pub(crate) &'a [u8]);

impl Source for Rows<'_> {
    #[inline]
    fn copy(&self, at: usize, into: &mut [u8]) {
        into.copy_from_slice(&self.0[at..at + into.len()]);
    }

    #[inline]
    fn rows(&self, at: usize, len: usize) -> Option<&[u8]> {
        Some(&self.0[at..at + len])
    }
}

/// The highest rank of an HDF5 dataspace.
pub(crate) const MAX_RANK: usize = 32;

/// One level of a nest of loops over runs of bytes.
#[derive(Debug, Clone, Copy, Default)]
struct Loop {
    count: usize,
    source: usize,
    target: isize,
}

/// Where in a nest of loops.
type Index = SmallVec<[usize; 3]>;

/// A copy between two strided arrays as a nest of loops, with neighbouring dimensions merged as far as they lie
/// together on both sides. Source offsets ascend along the walk.
#[derive(Debug, Clone)]
pub(crate) struct Walk {
    /// Source byte of the first run.
    source: usize,
    /// Destination byte of the first run.
    target: usize,
    /// Source bytes of every run, a multiple of an element's.
    run: usize,
    /// Destination bytes of every run.
    run_size: usize,
    /// Bytes of an element in the source, and in the destination.
    element_size: usize,
    size: usize,
    /// Outermost first.
    loops: SmallVec<[Loop; 3]>,
}

impl Walk {
    /// The walk over the selection of a whole chunk; `None` if nothing is selected.
    #[inline]
    pub(crate) fn of(gather: &Gather<'_>) -> Option<Self> {
        let sizes = (gather.element_size, gather.size());
        Self::new(sizes, gather.chunk_shape, gather.axes.iter().copied(), gather.offset)
    }

    /// The walk over `len` bytes that stay together.
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

    /// The walk over the `axes` of a row-major array of `shape`, whose elements have a size here and one in the destination;
    /// `None` if nothing is selected.
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
        // Innermost first; turned round at the end.
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

    /// Adds a loop around those there are, merged into the outermost of them where both sides are contiguous.
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

    /// One past the last source byte.
    #[inline]
    pub(crate) fn source_end(&self) -> usize {
        let last: usize = self.loops.iter().map(|l| (l.count - 1) * l.source).sum();
        self.source + last + self.run
    }

    /// The first source byte.
    #[inline]
    pub(crate) fn source_start(&self) -> usize {
        self.source
    }

    /// Bytes of all runs.
    pub(crate) fn len(&self) -> usize {
        self.loops.iter().fold(self.run, |len, l| len * l.count)
    }

    /// The first run.
    #[inline]
    fn first(&self) -> Run {
        Run { source: self.source, target: self.target, len: self.run, size: self.run_size }
    }

    /// Every run starts at a multiple of this many bytes of the source, and is a multiple of it long.
    #[inline]
    pub(crate) fn element_size(&self) -> usize {
        self.element_size
    }

    /// The destination, where the whole walk is one run.
    #[inline]
    pub(crate) fn single(&self) -> Option<Run> {
        self.loops.is_empty().then_some(self.first())
    }

    /// Copies everything.
    #[inline]
    pub(crate) fn copy<S: Source, T: Target + ?Sized>(&self, source: &S, target: &mut T) {
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

    /// Copies everything; `N` is the length of the runs in the destination, or 0 if it is not known to the compiler.
    #[inline]
    fn copy_runs<const N: usize, S: Source, T: Target + ?Sized>(&self, source: &S, target: &mut T) {
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

    /// The runs one by one, in ascending order of the source.
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

/// Steps the odometer of a nest of loops; false at the end.
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

/// Bytes that lie together on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) source: usize,
    pub(crate) target: usize,
    /// Bytes of the source.
    pub(crate) len: usize,
    /// Bytes of the destination.
    pub(crate) size: usize,
}

/// The runs of a walk, cut where the caller wants.
pub(crate) struct Runs<'a> {
    walk: &'a Walk,
    index: Index,
    next: Option<Run>,
    from: usize,
    to: usize,
}

impl Runs<'_> {
    /// The source byte that comes next.
    #[inline]
    pub(crate) fn position(&self) -> Option<usize> {
        self.next.map(|run| run.source)
    }

    /// Takes the next run or part of one if it is exactly the source bytes of `block`.
    #[inline]
    pub(crate) fn whole(&mut self, block: &std::ops::Range<usize>) -> Option<Run> {
        let run = self.next?;
        if run.source != block.start || run.len < block.len() {
            return None;
        }
        self.before(block.end)
    }

    /// The next run, or the part of it, that lies before the source byte `end`.
    #[inline]
    pub(crate) fn before(&mut self, end: usize) -> Option<Run> {
        let run = self.next?;
        if run.source >= end {
            return None;
        }
        let len = run.len.min(end - run.source);
        if len < run.len {
            let Walk { element_size, size: element, .. } = *self.walk;
            // Bytes that stay as they are may be cut anywhere, others between elements.
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
    fn a_whole_chunk_in_a_contiguous_destination_is_one_run() {
        let shape = [3, 4, 5];
        let axes = contiguous(&shape, 8);
        let walk = Walk::of(&Gather::new(8, &shape, &axes, 7)).unwrap();
        assert_eq!(walk.single(), Some(Run { source: 0, target: 7, len: 480, size: 480 }));
    }

    #[test]
    fn a_destination_that_runs_backwards_is_filled() {
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

    /// A selection of a small chunk, and the destination it fills row by row.
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

    /// The destination as an element-by-element loop fills it.
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
