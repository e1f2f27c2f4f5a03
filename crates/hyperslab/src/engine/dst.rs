//! The caller's memory, filled by several workers at once at places that never meet.
//!
//! Why that is sound. A [`Destination`] is made of a `&mut [u8]`, so nobody else reads or writes its bytes while it
//! lives. Its strides are checked so that two different positions of the result never share a byte
//! ([`Destination::strided`]). A plan gives every position of the result to exactly one task (the law of
//! `Selection::parts`: over all chunks the parts partition the selection), and the executor gives every task to
//! exactly one worker. So two [`Region`]s of one destination are never used for the same byte.

use std::marker::PhantomData;

use hyperslab_filters::gather::{Comb, Target};
use smallvec::SmallVec;

use crate::error::{RequestError, Result};

/// Where the elements of a selection go: memory of the caller, contiguous or with a stride for each dimension.
#[derive(Debug)]
pub struct Destination<'a> {
    base: *mut u8,
    len: usize,
    /// Bytes from one position to the next along each dimension of the result; `None` if it is row-major and dense.
    strides: Option<SmallVec<[usize; 4]>>,
    /// Whether the system has yet to give pages for the memory.
    is_untouched: bool,
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: a destination is a `&mut [u8]` with strides, and that may be sent to and shared with other threads.
unsafe impl Send for Destination<'_> {}
// SAFETY: as above; a shared destination only hands out regions, whose contract is in the module's head.
unsafe impl Sync for Destination<'_> {}

impl<'a> Destination<'a> {
    /// A dense, row-major destination.
    pub fn contiguous(bytes: &'a mut [u8]) -> Self {
        Self {
            base: bytes.as_mut_ptr(),
            len: bytes.len(),
            strides: None,
            is_untouched: false,
            memory: PhantomData,
        }
    }

    /// A destination of the given shape whose first element is the first of `bytes`, with `strides` in bytes.
    ///
    /// Refuses strides under which elements would overlap or leave `bytes`.
    pub fn strided(
        bytes: &'a mut [u8],
        shape: &[u64],
        strides: &[usize],
        element_size: usize,
    ) -> Result<Self> {
        let mut axes: SmallVec<[(usize, u64); 4]> =
            strides.iter().copied().zip(shape.iter().copied()).filter(|&(_, count)| count > 1).collect();
        axes.sort_unstable();
        // Sorted by stride, each must step over all that the smaller ones span.
        let mut span = element_size as u64;
        for &(stride, count) in &axes {
            let steps = (stride as u64).checked_mul(count - 1);
            let (true, Some(wider)) =
                (stride as u64 >= span, steps.and_then(|steps| steps.checked_add(span)))
            else {
                return Err(RequestError::OverlappingDestination.into());
            };
            span = wider;
        }
        let is_empty = shape.contains(&0);
        if shape.len() != strides.len() || (!is_empty && span > bytes.len() as u64) {
            return Err(RequestError::DestinationSize { expected: span, found: bytes.len() as u64 }.into());
        }
        Ok(Self {
            base: bytes.as_mut_ptr(),
            len: bytes.len(),
            strides: Some(SmallVec::from_slice(strides)),
            is_untouched: false,
            memory: PhantomData,
        })
    }

    /// Checks the destination against a result of `shape` with elements of `element_size` bytes, and returns the
    /// strides to use, in bytes.
    pub(super) fn strides_for(&self, shape: &[u64], element_size: usize) -> Result<SmallVec<[u64; 4]>> {
        if let Some(strides) = &self.strides
            && strides.len() == shape.len()
        {
            return Ok(strides.iter().map(|&stride| stride as u64).collect());
        }
        let mut strides: SmallVec<[u64; 4]> = SmallVec::from_elem(0, shape.len());
        let mut pitch = Some(element_size as u64);
        for (stride, &count) in strides.iter_mut().zip(shape).rev() {
            *stride = pitch.unwrap_or(u64::MAX);
            pitch = pitch.and_then(|bytes| bytes.checked_mul(count));
        }
        let expected = pitch.unwrap_or(u64::MAX);
        if self.strides.is_some() || expected != self.len as u64 {
            return Err(RequestError::DestinationSize { expected, found: self.len as u64 }.into());
        }
        Ok(strides)
    }

    /// A worker's view of all the bytes. The worker writes only where its tasks say (module head).
    pub(super) fn region(&self) -> Region<'_> {
        Region { base: self.base, len: self.len, memory: PhantomData }
    }

    /// The same for memory that was just allocated: workers fault it in as they write, and where it is large the system is
    /// asked for huge pages, which makes a fault per 2 MiB and not per 4 KiB.
    #[must_use]
    pub fn untouched(mut self) -> Self {
        self.is_untouched = true;
        self.advise_huge_pages();
        self
    }

    /// Whether results are better written past the caches: so much is read that nobody will find the beginning in a cache
    /// when the end is there. Not into untouched memory, whose pages the system puts into the cache when it clears them.
    pub(super) fn is_beyond_caches(&self) -> bool {
        self.len >= BEYOND_CACHES && !self.is_untouched
    }

    fn advise_huge_pages(&self) {
        const PAGE: usize = 4096;
        if self.len < HUGE_PAGES_FROM {
            return;
        }
        let start = (self.base as usize).next_multiple_of(PAGE);
        let end = (self.base as usize + self.len) / PAGE * PAGE;
        // SAFETY: the whole pages from `start` to `end` lie inside memory that this destination borrows; the advice
        // changes how they are backed and not what they hold. A refusal is of no consequence.
        #[cfg(target_os = "linux")]
        unsafe {
            libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE);
        }
    }
}

/// One worker's view of a destination.
#[derive(Debug)]
pub(super) struct Region<'a> {
    base: *mut u8,
    len: usize,
    memory: PhantomData<&'a mut [u8]>,
}

impl Target for Region<'_> {
    #[inline]
    fn run(&mut self, offset: usize, len: usize) -> &mut [u8] {
        assert!(offset <= self.len && len <= self.len - offset, "a plan leaves its destination");
        // SAFETY: the bytes lie inside the destination (just asserted), which outlives `self`; nobody else uses them
        // while the slice lives, because this task alone was given these positions (module head).
        unsafe { std::slice::from_raw_parts_mut(self.base.add(offset), len) }
    }

    #[inline]
    fn comb(&mut self, offset: usize, stride: isize, count: usize, len: usize) -> Comb<'_> {
        // SAFETY: the destination outlives `self` and the comb checks that its runs lie inside; nobody else uses them
        // while it lives, because this task alone was given these positions (module head).
        unsafe { Comb::within(self.base, self.len, offset, stride, count, len) }
    }
}

/// More than the share of a cache that a program can count on, on all but the largest machines.
const BEYOND_CACHES: usize = 64 << 20;
/// Below this, faults cost less than the call.
const HUGE_PAGES_FROM: usize = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_that_overlap_or_leave_the_memory_are_refused() {
        let mut bytes = [0; 24];
        assert!(Destination::strided(&mut bytes, &[2, 3], &[12, 4], 4).is_ok());
        assert!(Destination::strided(&mut bytes, &[3, 2], &[4, 12], 4).is_ok());
        assert!(Destination::strided(&mut bytes, &[2, 3], &[8, 4], 4).is_err());
        assert!(Destination::strided(&mut bytes, &[2, 3], &[16, 4], 4).is_err());
        assert!(Destination::strided(&mut bytes, &[2, 3], &[12, 0], 4).is_err());
        assert!(Destination::strided(&mut bytes, &[2, 3], &[usize::MAX / 2, 4], 4).is_err());
        assert!(Destination::strided(&mut bytes, &[0, 3], &[100, 4], 4).is_ok());
    }

    #[test]
    fn a_dense_destination_must_have_the_size_of_the_result() {
        let mut bytes = [0; 24];
        let destination = Destination::contiguous(&mut bytes);
        assert_eq!(destination.strides_for(&[2, 3], 4).unwrap().as_slice(), [12, 4]);
        assert!(destination.strides_for(&[2, 2], 4).is_err());
        assert!(destination.strides_for(&[u64::MAX, 3], 4).is_err());
    }
}
