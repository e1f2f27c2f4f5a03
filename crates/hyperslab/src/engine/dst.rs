//! The caller's memory, which several workers fill at once without overlap.
//!
//! Why this is sound. A [`Destination`] is a `&mut [u8]` that a read borrows mutably until it returns.
//! Meanwhile no other code reads or writes the bytes: neither another read, nor the same read for another of
//! its selections. [`Destination::strided`] checks the strides, so two different positions of a result of its
//! shape never share a byte. [`Destination::share`] refuses a result of any other shape. A plan gives every
//! position of the result to exactly one task (the law of `Selection::parts`: over all chunks the parts
//! partition the selection), and the executor gives every task to exactly one worker. So no byte is ever used
//! through two [`Region`]s of one destination.

use std::marker::PhantomData;

use hyperslab_filters::gather::{Comb, Stores, Target};
use smallvec::SmallVec;

use crate::error::{RequestError, Result};
use crate::select::Coord;

/// The memory that the elements of a selection are read into, contiguous or with a stride for each dimension.
///
/// A read has exclusive access. Two reads into one destination, on two threads or in one call, do not
/// compile:
///
/// ```compile_fail,E0499
/// # use hyperslab::{Dataset, Selection, engine::{Destination, ReadOptions}};
/// fn twice(dataset: &Dataset, what: &Selection, dst: &mut Destination<'_>) -> hyperslab::Result<()> {
///     dataset.read_many(&mut [(what, dst), (what, dst)], &ReadOptions::default())
/// }
/// ```
///
/// ```compile_fail,E0308
/// # use hyperslab::{Dataset, Selection, engine::{Destination, ReadOptions}};
/// fn shared(dataset: &Dataset, what: &Selection, dst: &Destination<'_>) -> hyperslab::Result<()> {
///     dataset.read_with(what, dst, &ReadOptions::default())
/// }
/// ```
///
/// ```
/// # use hyperslab::{Dataset, Selection, engine::{Destination, ReadOptions}};
/// fn once<'d>(dataset: &Dataset, what: &Selection, [a, b]: [&mut Destination<'d>; 2]) -> hyperslab::Result<()> {
///     dataset.read_with(what, a, &ReadOptions::default())?;
///     dataset.read_many(&mut [(what, a), (what, b)], &ReadOptions::default())
/// }
/// ```
#[derive(Debug)]
pub struct Destination<'a> {
    bytes: &'a mut [u8],
    /// `None` if the destination is row-major and dense.
    strided: Option<Strided>,
    /// Whether the operating system has not mapped pages to the memory yet.
    is_untouched: bool,
}

/// Strides with which no two elements of a result of this shape share a byte.
#[derive(Debug)]
struct Strided {
    shape: Coord,
    element_size: usize,
    /// The distance in bytes from one position to the next along each dimension.
    strides: SmallVec<[u64; 4]>,
}

impl<'a> Destination<'a> {
    /// Returns a dense, row-major destination.
    pub fn contiguous(bytes: &'a mut [u8]) -> Self {
        Self { bytes, strided: None, is_untouched: false }
    }

    /// Returns a destination of the given shape, with `strides` in bytes. Its first element is at the start
    /// of `bytes`.
    ///
    /// Refuses strides with which elements would overlap or leave `bytes`.
    pub fn strided(
        bytes: &'a mut [u8],
        shape: &[u64],
        strides: &[usize],
        element_size: usize,
    ) -> Result<Self> {
        let mut axes: SmallVec<[(usize, u64); 4]> =
            strides.iter().copied().zip(shape.iter().copied()).filter(|&(_, count)| count > 1).collect();
        axes.sort_unstable();
        // In ascending order, each stride must be at least the span of all smaller ones.
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
        let strides = strides.iter().map(|&stride| stride as u64).collect();
        let strided = Some(Strided { shape: shape.into(), element_size, strides });
        Ok(Self { bytes, strided, is_untouched: false })
    }

    /// Returns the destination for the workers of one read, and its strides in bytes. The result has the
    /// shape `shape` and elements of `element_size` bytes. Refuses a result that does not match the
    /// destination.
    pub(super) fn share(
        &mut self,
        shape: &[u64],
        element_size: usize,
    ) -> Result<(Shared<'_>, SmallVec<[u64; 4]>)> {
        let strides = match &self.strided {
            None => self.dense(shape, element_size)?,
            Some(proven) if *proven.shape == *shape && proven.element_size == element_size => {
                proven.strides.clone()
            }
            Some(proven) => {
                let bytes = |shape: &[u64], size: usize| {
                    shape.iter().fold(size as u64, |n, &len| n.saturating_mul(len))
                };
                let expected = bytes(shape, element_size);
                let found = bytes(&proven.shape, proven.element_size);
                return Err(RequestError::DestinationSize { expected, found }.into());
            }
        };
        let (base, len) = (self.bytes.as_mut_ptr(), self.bytes.len());
        Ok((Shared { base, len, is_untouched: self.is_untouched, memory: PhantomData }, strides))
    }

    /// Returns the row-major strides of a result. Refuses a result whose size is not that of the memory.
    fn dense(&self, shape: &[u64], element_size: usize) -> Result<SmallVec<[u64; 4]>> {
        let mut strides: SmallVec<[u64; 4]> = SmallVec::from_elem(0, shape.len());
        let mut pitch = Some(element_size as u64);
        for (stride, &count) in strides.iter_mut().zip(shape).rev() {
            *stride = pitch.unwrap_or(u64::MAX);
            pitch = pitch.and_then(|bytes| bytes.checked_mul(count));
        }
        let (expected, found) = (pitch.unwrap_or(u64::MAX), self.bytes.len() as u64);
        if expected == found {
            Ok(strides)
        } else {
            Err(RequestError::DestinationSize { expected, found }.into())
        }
    }

    /// Marks the memory as just allocated, so that its pages are mapped when workers first write to them. For
    /// a large destination this asks the system for huge pages: one page fault per 2 MiB instead of one per 4
    /// KiB.
    #[must_use]
    pub fn untouched(mut self) -> Self {
        self.is_untouched = true;
        self.advise_huge_pages();
        self
    }

    fn advise_huge_pages(&self) {
        const PAGE: usize = 4096;
        if self.bytes.len() < HUGE_PAGES_FROM {
            return;
        }
        let start = (self.bytes.as_ptr() as usize).next_multiple_of(PAGE);
        let end = (self.bytes.as_ptr() as usize + self.bytes.len()) / PAGE * PAGE;
        // SAFETY: the whole pages from `start` to `end` are inside memory that this destination borrows. The
        // advice changes how they are backed and not their contents. A refusal has no effect.
        #[cfg(target_os = "linux")]
        unsafe {
            libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE);
        }
    }
}

/// A destination that a read is filling.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shared<'a> {
    base: *mut u8,
    len: usize,
    is_untouched: bool,
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: this type represents a `&mut [u8]`, which may be sent to other threads.
unsafe impl Send for Shared<'_> {}
// SAFETY: as above. A shared reference gives access only to regions; the module docs state their contract.
unsafe impl Sync for Shared<'_> {}

impl<'a> Shared<'a> {
    /// Returns a worker's view of all bytes. The worker writes only the positions of its tasks (see the
    /// module docs).
    pub(super) fn region(self) -> Region<'a> {
        Region { base: self.base, len: self.len, memory: PhantomData }
    }

    /// Returns how to write results. A read larger than the caches bypasses them, because its first bytes
    /// would be evicted before the last are written. Untouched memory is written through the caches: the
    /// system brings its pages into the cache when it clears them.
    pub(super) fn stores(self) -> Stores {
        if self.len >= BEYOND_CACHES && !self.is_untouched { Stores::PastCache } else { Stores::Cached }
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
        assert!(offset <= self.len && len <= self.len - offset, "a plan writes outside its destination");
        // SAFETY: the bytes are inside the destination (just asserted), which outlives `self`. No other code
        // uses them while the slice lives, because only this task has these positions (module docs).
        unsafe { std::slice::from_raw_parts_mut(self.base.add(offset), len) }
    }

    #[inline]
    fn comb(&mut self, offset: usize, stride: isize, count: usize, len: usize) -> Comb<'_> {
        // SAFETY: the destination outlives `self`, and the comb checks that its runs are inside. No other
        // code uses the bytes while the comb lives, because only this task has these positions (module docs).
        unsafe { Comb::within(self.base, self.len, offset, stride, count, len) }
    }
}

/// More than a program's usual share of the cache on all but the largest machines.
const BEYOND_CACHES: usize = 64 << 20;
/// Below this size, page faults cost less than the system call.
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
    fn a_strided_destination_refuses_results_of_other_shapes() {
        let mut bytes = [0; 24];
        let mut destination = Destination::strided(&mut bytes, &[2, 3], &[4, 8], 4).unwrap();
        assert_eq!(destination.share(&[2, 3], 4).unwrap().1.as_slice(), [4, 8]);
        for (shape, size) in
            [(&[2, 100][..], 4), (&[3, 2], 4), (&[2, 2], 4), (&[2, 3], 8), (&[2, 3], 2), (&[6], 4)]
        {
            assert!(destination.share(shape, size).is_err(), "{shape:?} of {size}");
        }
    }

    #[test]
    fn a_dense_destination_must_have_the_size_of_the_result() {
        let mut bytes = [0; 24];
        let mut destination = Destination::contiguous(&mut bytes);
        assert_eq!(destination.share(&[2, 3], 4).unwrap().1.as_slice(), [12, 4]);
        assert!(destination.share(&[2, 2], 4).is_err());
        assert!(destination.share(&[u64::MAX, 3], 4).is_err());
    }
}
