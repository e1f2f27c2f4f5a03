//! Elements that change on their way from a chunk to where they go.

use std::cell::RefCell;
use std::fmt;
use std::ops::Range;

use crate::gather::{Comb, Source};
use crate::planes::MAX_FEW;
use crate::simd::{Kernels, Picks};

/// What becomes of elements on their way from a chunk.
pub trait Convert: fmt::Debug + Sync {
    /// Bytes of an element afterwards.
    fn size(&self) -> usize;

    /// If every byte of an element afterwards is a byte of the element before: which ones, in order. Bytes of shuffled elements
    /// then cost nothing to move, and those that are not named are not even decoded where they are stored apart.
    fn bytes(&self) -> Option<&[u16]>;

    /// Converts whole elements; `src` and `dst` hold the same number of them.
    fn run(&self, src: &[u8], dst: &mut [u8]);
}

/// Elements made of bytes of the stored ones: in another byte order, of some columns, with their members in another order.
#[derive(Debug, Clone)]
pub struct ByteMap {
    bytes: Box<[u16]>,
    picks: Picks,
}

impl ByteMap {
    /// Byte k becomes byte `bytes[k]` of an element of `size` bytes. `None` if there is no byte, or one that no element has.
    pub fn new(size: usize, bytes: &[u16]) -> Option<Self> {
        let is_inside = !bytes.is_empty() && bytes.iter().all(|&byte| usize::from(byte) < size);
        is_inside.then(|| Self { bytes: bytes.into(), picks: Picks::new(size, bytes) })
    }

    /// The bytes of some ranges of an element of `size` bytes, one after the other. `None` if there is no byte, or one that no
    /// element has.
    pub fn columns(size: usize, columns: &[Range<usize>]) -> Option<Self> {
        let inside = columns.iter().all(|range| range.end <= size);
        let bytes = columns.iter().filter(|_| inside).cloned().flatten().map(u16::try_from);
        Self::new(size, &bytes.collect::<Result<Vec<_>, _>>().ok()?)
    }
}

impl Convert for ByteMap {
    fn size(&self) -> usize {
        self.bytes.len()
    }

    fn bytes(&self) -> Option<&[u16]> {
        Some(&self.bytes)
    }

    fn run(&self, src: &[u8], dst: &mut [u8]) {
        self.picks.run(Kernels::fastest(), src, dst);
    }
}

/// A conversion of elements of a known size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Converting<'a> {
    pub(crate) convert: &'a dyn Convert,
    pub(crate) element_size: usize,
}

impl<'a> Converting<'a> {
    /// The planes of shuffled elements of `width` bytes that make converted elements, if nothing more has to be done.
    pub(crate) fn planes(&self, width: usize) -> Option<&'a [u16]> {
        let bytes = self.convert.bytes().filter(|_| self.element_size == width)?;
        (bytes.len() <= MAX_FEW || width > MAX_FEW).then_some(bytes)
    }
}

/// Buffers for elements before and after a conversion.
#[derive(Debug, Default)]
pub(crate) struct Room {
    before: Vec<u8>,
    after: Vec<u8>,
}

/// Who takes decoded elements.
pub(crate) trait User {
    /// Gets the elements.
    fn take<S: Source>(&mut self, source: &S);
}

/// Gives `user` the elements of `source`, converted if they are to be.
#[inline]
pub(crate) fn hand<S: Source, U: User>(
    source: &S,
    converting: Option<Converting<'_>>,
    room: &mut Room,
    user: &mut U,
) {
    match converting {
        None => user.take(source),
        Some(how) => user.take(&Converted { source, how, room: RefCell::new(room) }),
    }
}

/// Bytes of elements that are converted at a time where they do not lie together already: with the result they stay in the
/// first-level cache.
const PIECE: usize = 8 << 10;
/// Bytes of a run below which several are converted together.
const SHORT: usize = 512;

/// Elements that are converted as they are copied.
struct Converted<'a> {
    source: &'a dyn Source,
    how: Converting<'a>,
    room: RefCell<&'a mut Room>,
}

impl Source for Converted<'_> {
    fn copy(&self, at: usize, into: &mut [u8]) {
        let Converting { convert, element_size } = self.how;
        let size = convert.size();
        if let Some(rows) = self.source.rows(at, into.len() / size * element_size) {
            return convert.run(rows, into);
        }
        let Room { before, .. } = &mut **self.room.borrow_mut();
        let piece = (PIECE / element_size).max(1);
        for (number, into) in into.chunks_mut(piece * size).enumerate() {
            let before = crate::filter::buffer(before, into.len() / size * element_size);
            self.source.copy(at + number * piece * element_size, before);
            convert.run(before, into);
        }
    }

    fn copy_comb(&self, at: usize, step: usize, into: &mut Comb<'_>) {
        let Converting { convert, element_size } = self.how;
        let (count, after_len) = (into.count(), into.run_len());
        let before_len = after_len / convert.size() * element_size;
        if before_len >= SHORT || count == 1 {
            return (0..count).for_each(|run| self.copy(at + run * step, into.run(run)));
        }
        let Room { before, after } = &mut **self.room.borrow_mut();
        let piece = (PIECE / before_len).max(1);
        for first in (0..count).step_by(piece) {
            let runs = piece.min(count - first);
            let before = crate::filter::buffer(before, runs * before_len);
            let after = crate::filter::buffer(after, runs * after_len);
            let stride = before_len.cast_signed();
            self.source.copy_comb(
                at + first * step,
                step,
                &mut Comb::of(before, 0, stride, runs, before_len),
            );
            convert.run(before, after);
            for (run, after) in after.chunks_exact(after_len).enumerate() {
                into.run(first + run).copy_from_slice(after);
            }
        }
    }

    fn takes_combs(&self) -> bool {
        true
    }
}
