//! Copies of the selected elements of a decoded chunk to their destinations.

use crate::convert::{Room, hand};
use crate::filter::Scratch;
use crate::gather::{Gather, Target};
use crate::repeated::hand_repeated;
use crate::sink::{All, Feed, Handed};
use crate::source::Rows;
use crate::walk::Walk;

/// Copies the selected elements of `src`, a whole chunk in row-major order, to their destinations.
#[inline]
pub fn scatter<T: Target + ?Sized>(gather: &Gather<'_>, src: &[u8], target: &mut T) {
    if let Some(mut places) = Places::of(gather) {
        places.scatter(gather, src, target);
    }
}

/// The destinations of the elements that a gather selects, computed once for many sources.
#[derive(Debug)]
pub struct Places(Walk);

impl Places {
    /// Computes the destinations of a gather; `None` if it selects nothing.
    #[inline]
    pub fn of(gather: &Gather<'_>) -> Option<Self> {
        Walk::of(gather).map(Self)
    }

    /// Copies as [`scatter`] does, for a gather that differs from the original only in its offset.
    #[inline]
    pub fn scatter<T: Target + ?Sized>(&mut self, gather: &Gather<'_>, src: &[u8], target: &mut T) {
        self.0.target = gather.offset;
        hand(&Rows(src), gather.converting(), &mut Room::default(), &mut All { walk: &self.0, sink: target });
    }
}

/// Passes the selected elements of `src`, a whole chunk in row-major order, to `f`, as
/// [`Pipeline::blocks`](crate::Pipeline::blocks) does.
pub fn blocks(gather: &Gather<'_>, src: &[u8], scratch: &mut Scratch, f: &mut dyn FnMut(Handed<'_>)) {
    Feed::with(gather, scratch, f, |gather, converting, feed, scratch| {
        if let Some(walk) = Walk::of(gather) {
            hand(&Rows(src), converting, &mut scratch.room, &mut All { walk: &walk, sink: feed });
        }
    });
}

/// Passes the selected elements of a chunk to `f`, as [`blocks`] does, if the chunk consists of `bytes`,
/// again and again.
pub fn repeated_blocks(
    gather: &Gather<'_>,
    bytes: &[u8],
    scratch: &mut Scratch,
    f: &mut dyn FnMut(Handed<'_>),
) {
    Feed::with(gather, scratch, f, |gather, converting, feed, scratch| {
        if let Some(walk) = Walk::of(gather) {
            hand_repeated(bytes, converting, &mut scratch.room, &mut All { walk: &walk, sink: feed });
        }
    });
}
