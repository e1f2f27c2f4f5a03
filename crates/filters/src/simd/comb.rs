//! Equal runs of memory at equal distances, to be written only.

use std::marker::PhantomData;

/// `count` runs of `len` bytes, `stride` bytes from the start of one to the start of the next.
///
/// No slices of all runs exist at a time, so runs may lie in any order, and a kernel writes them in one call.
#[derive(Debug)]
pub struct Comb<'a> {
    first: *mut u8,
    stride: isize,
    count: usize,
    len: usize,
    memory: PhantomData<&'a mut [u8]>,
}

impl<'a> Comb<'a> {
    /// The runs of `bytes` of which the first starts at `offset`. Panics if they leave `bytes`.
    #[inline]
    pub fn of(bytes: &'a mut [u8], offset: usize, stride: isize, count: usize, len: usize) -> Self {
        // SAFETY: the memory is borrowed exclusively as long as the comb lives.
        unsafe { Self::within(bytes.as_mut_ptr(), bytes.len(), offset, stride, count, len) }
    }

    /// The runs in the `size` bytes from `base` on, of which the first starts at `offset`. Panics if they leave them.
    ///
    /// # Safety
    /// The `size` bytes are one initialised object, and while the comb lives, nobody else uses those that are in its runs.
    #[inline]
    pub unsafe fn within(
        base: *mut u8,
        size: usize,
        offset: usize,
        stride: isize,
        count: usize,
        len: usize,
    ) -> Self {
        let fits = |start: usize| start <= size && len <= size - start;
        let last = isize::try_from(count.saturating_sub(1))
            .ok()
            .and_then(|steps| steps.checked_mul(stride))
            .and_then(|distance| offset.checked_add_signed(distance));
        assert!(fits(offset) && last.is_some_and(fits), "a plan leaves its destination");
        // SAFETY: `offset <= size`.
        Self { first: unsafe { base.add(offset) }, stride, count, len, memory: PhantomData }
    }

    /// The start of the first run. All `count` runs are memory that may be written while the comb is borrowed.
    #[inline]
    pub(super) fn first(&mut self) -> *mut u8 {
        self.first
    }

    /// Bytes from the start of one run to the start of the next.
    #[inline]
    pub(super) fn stride(&self) -> isize {
        self.stride
    }

    /// The number of runs.
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Bytes of every run.
    #[inline]
    pub fn run_len(&self) -> usize {
        self.len
    }

    /// Calls `f` with every run.
    #[inline]
    pub fn each(&mut self, mut f: impl FnMut(&mut [u8])) {
        let mut start = self.first;
        for _ in 0..self.count {
            // SAFETY: the first and the last run are inside the memory, so those between them are; one slice lives at a time.
            f(unsafe { std::slice::from_raw_parts_mut(start, self.len) });
            start = start.wrapping_offset(self.stride);
        }
    }

    /// Run `index`.
    #[inline]
    pub fn run(&mut self, index: usize) -> &mut [u8] {
        assert!(index < self.count, "the run is one of the comb");
        // SAFETY: the first and the last run are inside the memory, so those between them are, and `index * stride`
        // cannot overflow; the borrow of `self` makes this the only slice.
        unsafe {
            let start = self.first.wrapping_offset(index.cast_signed().wrapping_mul(self.stride));
            std::slice::from_raw_parts_mut(start, self.len)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_may_go_backwards_but_not_leave_the_memory() {
        let mut bytes = [0, 1, 2, 3, 4, 5, 6, 7];
        let mut comb = Comb::of(&mut bytes, 6, -3, 3, 2);
        assert_eq!([comb.run(0)[0], comb.run(1)[0], comb.run(2)[1]], [6, 3, 1]);
        for (offset, stride, count, len) in [(6, -3, 4, 2), (0, 3, 3, 3), (9, 0, 0, 0), (0, isize::MAX, 3, 1)]
        {
            let made = std::panic::catch_unwind(|| {
                let mut bytes = [0; 8];
                Comb::of(&mut bytes, offset, stride, count, len).count()
            });
            assert!(made.is_err());
        }
    }
}
