//! Where decoded elements go: to memory, or to a function while they are in the cache.

use crate::convert::{Converting, User};
use crate::filter::Scratch;
use crate::gather::{Axis, Gather, MAX_RANK, Run, Source, Stores, Target, Walk};

/// Where elements go once they are decoded.
pub(crate) trait Sink {
    /// Whether [`Sink::place`] gives a place.
    const IS_MEMORY: bool;

    /// Takes all elements of a walk over `source`.
    fn all<S: Source>(&mut self, walk: &Walk, source: &S);

    /// Takes the elements of one run, which are at byte `from` of `source`.
    fn piece<S: Source>(&mut self, run: Run, from: usize, source: &S);

    /// The memory that the elements of a run go to, if it is known.
    fn place(&mut self, run: Run) -> Option<&mut [u8]>;
}

impl<T: Target + ?Sized> Sink for T {
    const IS_MEMORY: bool = true;

    #[inline]
    fn all<S: Source>(&mut self, walk: &Walk, source: &S) {
        walk.copy(source, self);
    }

    #[inline]
    fn piece<S: Source>(&mut self, run: Run, from: usize, source: &S) {
        source.copy(from, self.run(run.target, run.size));
    }

    #[inline]
    fn place(&mut self, run: Run) -> Option<&mut [u8]> {
        Some(self.run(run.target, run.size))
    }
}

/// Bytes handed on at a time: they stay in the second-level cache while they are used.
const PIECE: usize = 64 << 10;

/// A function that gets elements while they are in the cache: where they are in the chunk, in bytes, and the elements.
pub(crate) struct Feed<'a> {
    f: &'a mut dyn FnMut(usize, &[u8]),
    /// Bytes of an element as stored, and as it is handed on.
    element_size: usize,
    size: usize,
    room: &'a mut Vec<u8>,
}

impl Sink for Feed<'_> {
    const IS_MEMORY: bool = false;

    fn all<S: Source>(&mut self, walk: &Walk, source: &S) {
        let mut runs = walk.runs();
        while let Some(run) = runs.before(usize::MAX) {
            self.piece(run, run.source, source);
        }
    }

    fn piece<S: Source>(&mut self, run: Run, from: usize, source: &S) {
        let most = (PIECE / self.element_size.max(self.size)).max(1);
        let elements = run.len / self.element_size;
        for first in (0..elements).step_by(most) {
            let (at, count) = (first * self.element_size, most.min(elements - first));
            if let Some(rows) = source.rows(from + at, count * self.element_size) {
                (self.f)(run.target + at, rows);
            } else {
                let room = crate::filter::buffer(self.room, count * self.size);
                source.copy(from + at, room);
                (self.f)(run.target + at, room);
            }
        }
    }

    fn place(&mut self, _: Run) -> Option<&mut [u8]> {
        None
    }
}

impl Feed<'_> {
    /// Calls `hand_on` with the selection as if the destination were the chunk, what becomes of its elements, and where they go.
    pub(crate) fn with<R>(
        gather: &Gather<'_>,
        scratch: &mut Scratch,
        f: &mut dyn FnMut(usize, &[u8]),
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

/// All elements of a walk.
pub(crate) struct All<'a, K: ?Sized> {
    pub(crate) walk: &'a Walk,
    pub(crate) sink: &'a mut K,
}

impl<K: Sink + ?Sized> User for All<'_, K> {
    #[inline]
    fn take<S: Source>(&mut self, source: &S) {
        self.sink.all(self.walk, source);
    }
}
