//! Conversion of elements on their way from a chunk to their destination.

use std::cell::RefCell;
use std::fmt;
use std::ops::Range;

use crate::planes::MAX_FEW;
use crate::simd::comb::Comb;
use crate::simd::{Kernels, Picks};
use crate::source::DecodedSource;

/// A conversion of elements on their way from a chunk.
pub trait Convert: fmt::Debug + Sync {
    /// Returns the bytes of a converted element.
    fn size(&self) -> usize;

    /// Returns the source byte of each byte of a converted element, if the conversion only moves bytes.
    /// Moving the bytes of shuffled elements costs nothing, and bytes that are not named are not even decoded
    /// if they are stored in separate streams.
    fn bytes(&self) -> Option<&[u16]>;

    /// Converts whole elements. `src` and `dst` hold the same number of elements.
    fn run(&self, src: &[u8], dst: &mut [u8]);
}

/// A conversion that selects bytes of the stored elements: another byte order, some columns, or members in
/// another order.
#[derive(Debug, Clone)]
pub struct ByteMap {
    bytes: Box<[u16]>,
    picks: Picks,
}

impl ByteMap {
    /// Creates a map in which byte k of the result is byte `bytes[k]` of an element of `size` bytes. Returns
    /// `None` if `bytes` is empty or has an index out of bounds.
    pub fn new(size: usize, bytes: &[u16]) -> Option<Self> {
        let is_inside = !bytes.is_empty() && bytes.iter().all(|&byte| usize::from(byte) < size);
        is_inside.then(|| Self { bytes: bytes.into(), picks: Picks::new(size, bytes) })
    }

    /// Creates a map to the concatenation of byte ranges of an element of `size` bytes. Returns `None` if the
    /// ranges are empty or out of bounds.
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
    /// Returns the planes that make up converted elements, for shuffled elements of `width` bytes, if
    /// selecting planes is all that the conversion does.
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

/// A receiver of decoded elements.
pub(crate) trait User {
    /// Receives the elements.
    fn take<S: DecodedSource>(&mut self, source: &S);
}

/// Passes the elements of `source` to `user`, through the conversion if there is one.
#[inline]
pub(crate) fn hand<S: DecodedSource, U: User>(
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

/// The bytes of elements that are converted at a time if they are not contiguous already. Together with the
/// result they fit into the first-level cache.
const PIECE: usize = 8 << 10;
/// Runs shorter than this many bytes are converted several at a time.
const SHORT: usize = 512;

/// A source that converts elements as they are copied.
struct Converted<'a> {
    source: &'a dyn DecodedSource,
    how: Converting<'a>,
    room: RefCell<&'a mut Room>,
}

impl DecodedSource for Converted<'_> {
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

    fn repeats(&self, size: usize) -> bool {
        self.source.repeats(size)
    }

    fn takes_combs(&self) -> bool {
        true
    }
}
