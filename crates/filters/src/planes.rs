//! Shuffled elements as a source of copies: they are put together where they go.

use crate::gather::{Comb, Source};
use crate::simd::{self, Plane, Stores};

/// Elements of more bytes are put together in a buffer first.
pub(crate) const MAX_PLANES: usize = 16;

/// The byte planes of shuffled elements.
#[derive(Clone, Copy)]
pub(crate) struct Planes<'a> {
    all: [Plane<'a>; MAX_PLANES],
    width: usize,
    stores: Stores,
}

impl<'a> Planes<'a> {
    /// One plane for each byte of an element, up to [`MAX_PLANES`] of them.
    pub(crate) fn new(planes: &[Plane<'a>], stores: Stores) -> Self {
        let mut all = [Plane::of(&[]); MAX_PLANES];
        all[..planes.len()].copy_from_slice(planes);
        Self { all, width: planes.len(), stores }
    }

    /// The planes of shuffled elements of `width` bytes, 2 or more, that lie one after the other in `bytes`; what is after
    /// the last whole element belongs to none.
    pub(crate) fn of(bytes: &'a [u8], width: usize, stores: Stores) -> Self {
        let mut all = [Plane::of(&[]); MAX_PLANES];
        for (plane, bytes) in all[..width].iter_mut().zip(bytes.chunks_exact((bytes.len() / width).max(1))) {
            *plane = Plane::of(bytes);
        }
        Self { all, width, stores }
    }

    /// The element at byte `at`.
    #[inline]
    fn element(&self, at: usize) -> usize {
        // The usual sizes are spelled out, because a division costs as much as the transpose of a short run.
        match self.width {
            2 => at / 2,
            4 => at / 4,
            8 => at / 8,
            width => at / width,
        }
    }
}

impl Source for Planes<'_> {
    #[inline]
    fn copy(&self, at: usize, into: &mut [u8]) {
        let planes = &self.all[..self.width];
        if into.len() == self.width {
            let at = self.element(at);
            for (byte, plane) in into.iter_mut().zip(planes) {
                *byte = plane.byte(at);
            }
            return;
        }
        let len = into.len();
        self.copy_comb(at, 0, &mut Comb::of(into, 0, 0, 1, len));
    }

    #[inline]
    fn copy_comb(&self, at: usize, step: usize, into: &mut Comb<'_>) {
        let planes = &self.all[..self.width];
        simd::unshuffle_runs(planes, self.element(at), self.element(step), into, self.stores);
    }
}
