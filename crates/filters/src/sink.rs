//! Destinations of decoded elements: memory, or a function that gets the elements while they are cached.

use crate::convert::{Converting, User};
use crate::filter::Scratch;
use crate::gather::{Axis, Gather, MAX_RANK, Stores, Target};
use crate::source::DecodedSource;
use crate::walk::{Run, Walk};

/// A destination of decoded elements.
pub(crate) trait Sink {
    /// Whether [`Sink::place`] returns memory.
    const IS_MEMORY: bool;

    /// Takes all elements of a walk over `source`.
    fn all<S: DecodedSource>(&mut self, walk: &Walk, source: &S);

    /// Takes the elements of one run, which start at byte `from` of `source`.
    fn piece<S: DecodedSource>(&mut self, run: Run, from: usize, source: &S);

    /// Returns the memory to which the elements of a run go, if the sink has memory.
    fn place(&mut self, run: Run) -> Option<&mut [u8]>;
}

impl<T: Target + ?Sized> Sink for T {
    const IS_MEMORY: bool = true;

    #[inline]
    fn all<S: DecodedSource>(&mut self, walk: &Walk, source: &S) {
        walk.copy(source, self);
    }

    #[inline]
    fn piece<S: DecodedSource>(&mut self, run: Run, from: usize, source: &S) {
        source.copy(from, self.run(run.target, run.size));
    }

    #[inline]
    fn place(&mut self, run: Run) -> Option<&mut [u8]> {
        Some(self.run(run.target, run.size))
    }
}

/// The most bytes that are passed to the function at a time, so that they stay in the second-level cache
/// while the function uses them.
const PIECE: usize = 64 << 10;

/// A run of selected elements that is passed to a function.
#[derive(Debug, Clone, Copy)]
pub struct Handed<'a> {
    /// The byte offset in the chunk of the first element.
    pub at: usize,
    /// The number of elements.
    pub count: usize,
    /// The elements; a single one if all are equal.
    pub elements: &'a [u8],
}

/// A function that gets elements while they are cached.
pub(crate) struct Feed<'a> {
    f: &'a mut dyn FnMut(Handed<'_>),
    /// The bytes of an element as it is stored, and as it is passed to the function.
    element_size: usize,
    size: usize,
    room: &'a mut Vec<u8>,
}

impl Sink for Feed<'_> {
    const IS_MEMORY: bool = false;

    fn all<S: DecodedSource>(&mut self, walk: &Walk, source: &S) {
        let mut runs = walk.runs();
        while let Some(run) = runs.before(usize::MAX) {
            self.piece(run, run.source, source);
        }
    }

    fn piece<S: DecodedSource>(&mut self, run: Run, from: usize, source: &S) {
        let most = (PIECE / self.element_size.max(self.size)).max(1);
        let elements = run.len / self.element_size;
        if elements > 1 && source.repeats(self.element_size) {
            let room = crate::filter::buffer(self.room, self.size);
            source.copy(from, room);
            return (self.f)(Handed { at: run.target, count: elements, elements: room });
        }
        for first in (0..elements).step_by(most) {
            let (at, count) = (first * self.element_size, most.min(elements - first));
            if let Some(rows) = source.rows(from + at, count * self.element_size) {
                (self.f)(Handed { at: run.target + at, count, elements: rows });
            } else {
                let room = crate::filter::buffer(self.room, count * self.size);
                source.copy(from + at, room);
                (self.f)(Handed { at: run.target + at, count, elements: room });
            }
        }
    }

    fn place(&mut self, _: Run) -> Option<&mut [u8]> {
        None
    }
}

impl Feed<'_> {
    /// Calls `hand_on` with the selection (as if the destination were the chunk itself), the conversion of
    /// its elements, and the feed that they go to.
    pub(crate) fn with<R>(
        gather: &Gather<'_>,
        scratch: &mut Scratch,
        f: &mut dyn FnMut(Handed<'_>),
        hand_on: impl FnOnce(&Gather<'_>, Option<Converting<'_>>, &mut Feed<'_>, &mut Scratch) -> R,
    ) -> R {
        let mut axes = [Axis { start: 0, step: 1, count: 0, stride: 0 }; MAX_RANK];
        let axes = &mut axes[..gather.axes.len()];
        let (mut pitch, mut offset) = (gather.element_size, 0);
        for ((axis, selected), &extent) in axes.iter_mut().zip(gather.axes).zip(gather.chunk_shape).rev() {
            *axis = Axis { stride: (selected.step * pitch).cast_signed(), ..*selected };
            offset += selected.start * pitch;
            pitch *= extent;
        }
        let mut room = std::mem::take(&mut scratch.handed);
        let mut feed = Feed { f, element_size: gather.element_size, size: gather.size(), room: &mut room };
        let in_chunk = Gather { axes, offset, convert: None, stores: Stores::Cached, ..*gather };
        let result = hand_on(&in_chunk, gather.converting(), &mut feed, scratch);
        scratch.handed = room;
        result
    }
}

/// Passes all elements of a walk to a sink.
pub(crate) struct All<'a, K: ?Sized> {
    pub(crate) walk: &'a Walk,
    pub(crate) sink: &'a mut K,
}

impl<K: Sink + ?Sized> User for All<'_, K> {
    #[inline]
    fn take<S: DecodedSource>(&mut self, source: &S) {
        self.sink.all(self.walk, source);
    }
}
