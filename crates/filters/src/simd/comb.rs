//! Runs of memory of equal length at equal distances, for writing only.

use std::marker::PhantomData;

/// `count` runs of `len` bytes. Each run starts `stride` bytes after the start of the run before.
///
/// No two slices of runs exist at the same time, so runs may be in any order, and a kernel writes all of them
/// in one call.
#[derive(Debug)]
pub struct Comb<'a> {
    first: *mut u8,
    stride: isize,
    count: usize,
    len: usize,
    memory: PhantomData<&'a mut [u8]>,
}

impl<'a> Comb<'a> {
    /// Creates the comb over `bytes` whose first run starts at `offset`. Panics if a run is out of bounds.
    #[inline]
    pub fn of(bytes: &'a mut [u8], offset: usize, stride: isize, count: usize, len: usize) -> Self {
        // SAFETY: the memory is borrowed exclusively as long as the comb exists.
        unsafe { Self::within(bytes.as_mut_ptr(), bytes.len(), offset, stride, count, len) }
    }

    /// Creates the comb over the `size` bytes at `base` whose first run starts at `offset`. Panics if a run
    /// is out of bounds.
    ///
    /// # Safety
    /// The `size` bytes are in one allocation, and those of the runs are initialised. As long as the comb
    /// exists, no other code accesses the bytes of its runs. The bytes between the runs may belong to others.
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
        assert!(fits(offset) && last.is_some_and(fits), "the runs of a comb are out of bounds");
        // SAFETY: `offset <= size`.
        Self { first: unsafe { base.add(offset) }, stride, count, len, memory: PhantomData }
    }

    /// Returns the start of the first run. The memory of all `count` runs may be written while the comb is
    /// borrowed.
    #[inline]
    pub(super) fn first(&mut self) -> *mut u8 {
        self.first
    }

    /// Returns the bytes from the start of one run to the start of the next.
    #[inline]
    pub(super) fn stride(&self) -> isize {
        self.stride
    }

    /// Returns the number of runs.
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the bytes of every run.
    #[inline]
    pub fn run_len(&self) -> usize {
        self.len
    }

    /// Calls `f` with every run.
    #[inline]
    pub fn each(&mut self, mut f: impl FnMut(&mut [u8])) {
        let mut start = self.first;
        for _ in 0..self.count {
            // SAFETY: the first and the last run are in bounds, so all runs between them are. Only one slice
            // exists at a time.
            f(unsafe { std::slice::from_raw_parts_mut(start, self.len) });
            start = start.wrapping_offset(self.stride);
        }
    }

    /// Fills the runs, each of `N` bytes: the first with the first bytes of `from`, and each next run with
    /// those `step` bytes further. Panics if the runs have another length, or `from` is too short.
    #[inline]
    pub fn fill<const N: usize>(&mut self, from: &[u8], step: usize) {
        assert!(self.len == N, "the runs of a comb have another length");
        let Some(steps) = self.count.checked_sub(1) else { return };
        let end = steps.checked_mul(step).and_then(|last| last.checked_add(N));
        assert!(end.is_some_and(|end| end <= from.len()), "the source of a comb is too short");
        let (mut source, mut start) = (from.as_ptr(), self.first);
        for _ in 0..self.count {
            // SAFETY: the first and the last run are in bounds on both sides, so all runs between them are.
            // The comb has its memory exclusively, so `from` is other memory.
            unsafe { std::ptr::copy_nonoverlapping(source, start, N) };
            source = source.wrapping_add(step);
            start = start.wrapping_offset(self.stride);
        }
    }

    /// Returns run `index`.
    #[inline]
    pub fn run(&mut self, index: usize) -> &mut [u8] {
        assert!(index < self.count, "the index of a run is out of bounds");
        // SAFETY: the first and the last run are in bounds, so all runs between them are, and `index *
        // stride` cannot overflow. The borrow of `self` makes this the only slice.
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
    fn runs_are_filled_from_equal_distances_and_nothing_else_is() {
        let from: Vec<u8> = (1..=20).collect();
        let mut bytes = [0; 12];
        Comb::of(&mut bytes, 9, -4, 3, 2).fill::<2>(&from, 9);
        assert_eq!(bytes, [0, 19, 20, 0, 0, 10, 11, 0, 0, 1, 2, 0]);
        Comb::of(&mut bytes, 0, 1, 0, 2).fill::<2>(&[], 9);
        for (len, step) in [(3, 9), (2, 10), (2, usize::MAX)] {
            let filled = std::panic::catch_unwind(|| {
                let mut bytes = [0; 12];
                Comb::of(&mut bytes, 0, 4, 3, len).fill::<2>(&(1..=20).collect::<Vec<u8>>(), step);
            });
            assert!(filled.is_err(), "{len} bytes, {step} apart");
        }
    }

    #[test]
    fn runs_may_have_a_negative_stride_but_must_be_in_bounds() {
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
