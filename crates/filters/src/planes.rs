//! Shuffled elements as a source of copies. The elements are assembled in their destination.

use crate::simd::comb::Comb;
use crate::simd::{Kernels, Plane, Rack, Stores};
use crate::source::DecodedSource;

/// The most planes that may be at arbitrary addresses. More planes must be at equal distances.
pub(crate) const MAX_FEW: usize = 16;

/// The byte planes of shuffled elements, or some of them in another order.
#[derive(Clone, Copy)]
pub(crate) struct Planes<'a> {
    few: [Plane<'a>; MAX_FEW],
    /// The number of planes in `few`; 0 if `many` is set.
    count: usize,
    many: Option<Rack<'a>>,
    /// The bytes of an element before it was shuffled.
    width: usize,
    stores: Stores,
}

impl<'a> Planes<'a> {
    /// Takes the first `count` planes, which may be at any addresses, of elements that were shuffled as
    /// `width` bytes.
    #[inline]
    pub(crate) fn few(few: &[Plane<'a>; MAX_FEW], count: usize, width: usize, stores: Stores) -> Self {
        Self { few: *few, count, many: None, width, stores }
    }

    /// Selects the planes that `order` names, or all planes, of `elements` shuffled elements of `width`
    /// bytes. Consecutive planes are `pitch` bytes apart.
    #[inline]
    pub(crate) fn of(
        bytes: &'a [u8],
        pitch: usize,
        (elements, width): (usize, usize),
        order: Option<&'a [u16]>,
        stores: Stores,
    ) -> Self {
        let mut few = [Plane::of(&[]); MAX_FEW];
        let count = order.map_or(width, <[u16]>::len);
        if count > MAX_FEW {
            let many = Some(Rack::new(bytes, pitch, elements, width, order));
            return Self { few, count: 0, many, width, stores };
        }
        for (k, plane) in few[..count].iter_mut().enumerate() {
            let k = order.map_or(k, |order| order[k].into());
            *plane = Plane::of(&bytes[k * pitch..k * pitch + elements]);
        }
        Self { few, count, many: None, width, stores }
    }

    /// Returns the number of the element at byte `at`.
    #[inline]
    fn element(&self, at: usize) -> usize {
        // The usual sizes have their own arms, because a division costs as much as the transpose of a short
        // run.
        match self.width {
            2 => at / 2,
            4 => at / 4,
            8 => at / 8,
            width => at / width,
        }
    }
}

impl DecodedSource for Planes<'_> {
    #[inline]
    fn copy(&self, at: usize, into: &mut [u8]) {
        if into.len() == self.count {
            let at = self.element(at);
            for (byte, plane) in into.iter_mut().zip(&self.few) {
                *byte = plane.byte(at);
            }
            return;
        }
        let len = into.len();
        self.copy_comb(at, 0, &mut Comb::of(into, 0, 0, 1, len));
    }

    #[inline]
    fn copy_comb(&self, at: usize, step: usize, into: &mut Comb<'_>) {
        let (first, step, kernels) = (self.element(at), self.element(step), Kernels::fastest());
        match &self.many {
            None => kernels.unshuffle_runs(&self.few[..self.count], first, step, into, self.stores),
            Some(rack) => kernels.unshuffle_rack(rack, first, step, into, self.stores),
        }
    }

    #[inline]
    fn repeats(&self, size: usize) -> bool {
        let is_element = size == self.width && self.many.is_none();
        is_element && self.few[..self.count].iter().all(Plane::is_repeated)
    }

    #[inline]
    fn takes_combs(&self) -> bool {
        true
    }
}
