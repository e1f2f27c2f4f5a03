//! The caller's memory, which several workers fill at once, at positions that do not overlap.
//!
//! This is sound for the following reasons. A [`Destination`] owns the bytes of its elements, as a `&mut
//! [u8]` or by the contract of [`Destination::from_raw`]. A read borrows it mutably until it ends, so no
//! other code reads or writes these bytes meanwhile: neither another read, nor the same read for another of
//! its selections. [`Destination::strided`] checks that two positions of a result of its shape never share a
//! byte, and [`Destination::share`] refuses a result of any other shape. A plan gives every position of the
//! result to exactly one task (the law of `Selection::parts`: over all chunks the parts partition the
//! selection), and the executor gives every task to exactly one worker. So two [`Region`]s of one destination
//! are never used for the same byte. [`Destination::split`] divides a destination into destinations of boxes,
//! which borrow it together, only if no two boxes have a position in common.
//!
//! The bytes between the elements may belong to others, for example to a thread that fills the other columns
//! of an array. A `&mut [u8]` over them would be undefined behaviour even if nothing was written to them. So
//! a destination is a pointer, and slices are made of runs of elements without gaps only.

use std::marker::PhantomData;

use hyperslab_filters::gather::{Comb, Stores, Target};
use smallvec::SmallVec;

use hyperslab_error::{RequestError, Result};
use hyperslab_select::{Coord, Dim, Place, are_disjoint};

/// The caller's memory for the elements of a selection, contiguous or with a stride for each dimension.
///
/// Only one read at a time can use a destination. Two reads into one, on two threads or in one call, do not
/// compile:
///
/// ```compile_fail,E0499
/// # use hyperslab::{Dataset, Destination, ReadOptions, Selection};
/// fn twice(dataset: &Dataset, what: &Selection, dst: &mut Destination<'_>) -> hyperslab::Result<()> {
///     dataset.read_many(&mut [(what, dst), (what, dst)], &ReadOptions::default())
/// }
/// ```
///
/// ```compile_fail,E0308
/// # use hyperslab::{Dataset, Destination, ReadOptions, Selection};
/// fn shared(dataset: &Dataset, what: &Selection, dst: &Destination<'_>) -> hyperslab::Result<()> {
///     dataset.read_with(what, dst, &ReadOptions::default())
/// }
/// ```
///
/// ```
/// # use hyperslab::{Dataset, Destination, ReadOptions, Selection};
/// fn once<'d>(
///     dataset: &Dataset,
///     what: &Selection,
///     [a, b]: [&mut Destination<'d>; 2],
/// ) -> hyperslab::Result<()> {
///     dataset.read_with(what, a, &ReadOptions::default())?;
///     dataset.read_many(&mut [(what, a), (what, b)], &ReadOptions::default())
/// }
/// ```
#[derive(Debug)]
pub struct Destination<'a> {
    memory: Shared<'a>,
    /// `None` for a row-major destination without gaps.
    strided: Option<Strided>,
}

/// Strides under which no two elements of a result of this shape share a byte.
#[derive(Debug)]
struct Strided {
    shape: Coord,
    element_size: usize,
    /// The bytes from one position to the next along each dimension.
    strides: SmallVec<[u64; 4]>,
}

impl<'a> Destination<'a> {
    /// Creates a row-major destination without gaps.
    pub fn contiguous(bytes: &'a mut [u8]) -> Self {
        Self { memory: Shared::new(bytes.as_mut_ptr(), bytes.len()), strided: None }
    }

    /// Creates a destination of this shape, whose first element begins at the first of `bytes`, with
    /// `strides` in bytes.
    ///
    /// Errors: `Request` if elements would overlap, or leave `bytes`.
    pub fn strided(
        bytes: &'a mut [u8],
        shape: &[u64],
        strides: &[usize],
        element_size: usize,
    ) -> Result<Self> {
        // SAFETY: the bytes are borrowed mutably for as long as the destination exists.
        unsafe { Self::from_raw(bytes.as_mut_ptr(), bytes.len(), shape, strides, element_size) }
    }

    /// Creates a destination of this shape, whose first element begins at `base`, with `strides` in bytes, in
    /// memory that has other data between the elements. `len` is the number of bytes from the start of the
    /// first element to the end of the last one, or more.
    ///
    /// Errors: `Request` if elements would overlap, or leave the `len` bytes.
    ///
    /// ```
    /// # use std::ptr;
    /// # use hyperslab::{Destination, File, ReadOptions};
    /// # let file = File::in_memory()?;
    /// # let dataset = file.root().new_dataset::<u8>("x").shape([3]).create_with(&[1, 2, 3])?;
    /// let mut columns = [0_u8; 6];
    /// let base = ptr::from_mut(&mut columns).cast::<u8>();
    /// // SAFETY: `columns` has all 5 bytes, and nothing else uses it until the read has ended.
    /// let mut even = unsafe { Destination::from_raw(base, 5, &[3], &[2], 1) }?;
    /// dataset.read_with(.., &mut even, &ReadOptions::default())?;
    /// assert_eq!(columns, [1, 0, 2, 0, 3, 0]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Safety
    ///
    /// The `len` bytes at `base` are part of one allocation, which exists as long as the destination does.
    /// During this time, no other code reads or writes the bytes of the elements, and no reference to them is
    /// used. Other code may use the bytes between the elements, on other threads too.
    pub unsafe fn from_raw(
        base: *mut u8,
        len: usize,
        shape: &[u64],
        strides: &[usize],
        element_size: usize,
    ) -> Result<Self> {
        let is_empty = shape.contains(&0);
        let axes = strides.iter().copied().zip(shape.iter().copied());
        let mut axes: SmallVec<[(usize, u64); 4]> =
            axes.filter(|&(_, count)| count > 1 && !is_empty).collect();
        axes.sort_unstable();
        // Sorted by size, each stride must step over everything that the smaller strides span.
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
        let expected = if is_empty { 0 } else { span };
        if shape.len() != strides.len() || expected > len as u64 {
            return Err(RequestError::DestinationSize { expected, found: len as u64 }.into());
        }
        let strides = strides.iter().map(|&stride| stride as u64).collect();
        let strided = Some(Strided { shape: shape.into(), element_size, strides });
        Ok(Self { memory: Shared::new(base, len), strided })
    }

    /// Returns the destination for results that also have axes of length 1 at the positions `axes`.
    pub(crate) fn with_axes(&mut self, axes: &[usize]) -> Destination<'_> {
        let strided = self.strided.as_ref().map(|proven| {
            let (mut shape, mut strides) = (proven.shape.clone(), proven.strides.clone());
            for &axis in axes {
                // A shape with too few axes remains one that `share` refuses.
                let axis = axis.min(shape.len());
                shape.insert(axis, 1);
                strides.insert(axis, 0);
            }
            Strided { shape, strides, ..*proven }
        });
        Destination { memory: self.memory, strided }
    }

    /// Returns the destination for a result of `shape`, with elements of `element_size` bytes, to be shared
    /// by the workers of one read, and its strides in bytes.
    ///
    /// Errors: `Request` if the destination was created for another shape or size.
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
        Ok((self.memory, strides))
    }

    /// Returns destinations for boxes of a result of `shape`, with elements of `element_size` bytes, that can
    /// be filled at the same time. Returns `None` if boxes may have a position in common.
    ///
    /// Errors: `Request` if the destination was created for another shape or size, or if a box leaves it.
    pub fn split(
        &mut self,
        shape: &[u64],
        element_size: usize,
        places: &[&Place],
    ) -> Result<Option<Vec<Destination<'_>>>> {
        let (memory, strides) = self.share(shape, element_size)?;
        let boxes: Vec<&[Dim]> = places.iter().map(|place| &place.result[..]).collect();
        if !are_disjoint(&boxes) {
            return Ok(None);
        }
        places
            .iter()
            .map(|place| memory.part(shape, &strides, element_size, place))
            .collect::<Result<_>>()
            .map(Some)
    }

    /// Stores elements at single positions of a result of `len` elements in one dimension.
    ///
    /// Errors: `Request` if the destination was created for another shape or size, or a position leaves it.
    pub fn scatter(
        &mut self,
        len: u64,
        element_size: usize,
        positions: impl Iterator<Item = u64>,
        elements: &[u8],
    ) -> Result<()> {
        let (memory, strides) = self.share(&[len], element_size)?;
        let stride = strides.first().copied().unwrap_or(0);
        let mut region = memory.region();
        for (position, element) in positions.zip(elements.chunks_exact(element_size.max(1))) {
            // A position in the result is in the memory, so only such a one can be multiplied.
            let within = (position < len).then(|| position.checked_mul(stride)).flatten();
            let Some(offset) = within.and_then(|offset| usize::try_from(offset).ok()) else {
                return Err(RequestError::DestinationSize { expected: position, found: len }.into());
            };
            region.run(offset, element_size).copy_from_slice(element);
        }
        Ok(())
    }

    /// Stores the elements of a result of `shape`, which are given in row-major order.
    ///
    /// Errors: `Request` if the destination was created for another shape or size.
    pub fn put(&mut self, shape: &[u64], element_size: usize, elements: &[u8]) -> Result<()> {
        let (memory, strides) = self.share(shape, element_size)?;
        let mut region = memory.region();
        let mut coord: Coord = SmallVec::from_elem(0, shape.len());
        // The lengths of an empty result may have any product of the others.
        let count = if shape.contains(&0) { 0 } else { shape.iter().product() };
        for (element, _) in elements.chunks_exact(element_size.max(1)).zip(0_u64..count) {
            let offset: u64 = coord.iter().zip(&strides).map(|(at, stride)| at * stride).sum();
            let offset = usize::try_from(offset).unwrap_or(usize::MAX);
            region.run(offset, element_size).copy_from_slice(element);
            for (at, &len) in coord.iter_mut().zip(shape).rev() {
                *at += 1;
                if *at < len {
                    break;
                }
                *at = 0;
            }
        }
        Ok(())
    }

    /// Returns the row-major strides of a result that has exactly the size of the memory.
    fn dense(&self, shape: &[u64], element_size: usize) -> Result<SmallVec<[u64; 4]>> {
        let mut strides: SmallVec<[u64; 4]> = SmallVec::from_elem(0, shape.len());
        let mut pitch = Some(element_size as u64);
        for (stride, &count) in strides.iter_mut().zip(shape).rev() {
            *stride = pitch.unwrap_or(u64::MAX);
            pitch = pitch.and_then(|bytes| bytes.checked_mul(count));
        }
        let (expected, found) = (pitch.unwrap_or(u64::MAX), self.memory.len as u64);
        if expected == found {
            Ok(strides)
        } else {
            Err(RequestError::DestinationSize { expected, found }.into())
        }
    }

    /// Marks memory that was just allocated. Its pages are allocated when workers write them. For a large
    /// destination this asks the system for huge pages, which reduces the faults to one per 2 MiB.
    #[must_use]
    pub fn untouched(mut self) -> Self {
        self.memory.is_untouched = true;
        #[cfg(target_os = "linux")]
        self.advise_huge_pages();
        self
    }

    #[cfg(target_os = "linux")]
    fn advise_huge_pages(&self) {
        const PAGE: usize = 4096;
        let Shared { base, len, .. } = self.memory;
        if len < HUGE_PAGES_FROM {
            return;
        }
        let start = (base as usize).next_multiple_of(PAGE);
        let end = (base as usize + len) / PAGE * PAGE;
        // SAFETY: the whole pages from `start` to `end` are inside the allocation of this destination. The
        // advice changes how the pages are backed and not their contents. A refusal has no effect.
        unsafe {
            libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE);
        }
    }
}

/// A destination while a read fills it. Only the bytes of its elements are its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shared<'a> {
    base: *mut u8,
    len: usize,
    /// Whether the system has not allocated the pages of the memory yet.
    is_untouched: bool,
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: `Shared` has its elements exclusively, as a `&mut [u8]` has, which may be sent to other threads.
unsafe impl Send for Shared<'_> {}
// SAFETY: as above; a `Shared` used by several threads only returns regions, whose contract is in the module
// doc.
unsafe impl Sync for Shared<'_> {}

impl<'a> Shared<'a> {
    fn new(base: *mut u8, len: usize) -> Self {
        Self { base, len, is_untouched: false, memory: PhantomData }
    }

    /// Returns the destination of a box of a result with this shape and these strides, whose elements are all
    /// inside the memory.
    fn part(
        self,
        shape: &[u64],
        strides: &[u64],
        element_size: usize,
        place: &Place,
    ) -> Result<Destination<'a>> {
        let (mut offset, mut has_all) = (0_u64, place.result.len() == shape.len());
        let mut lens = Coord::new();
        let mut steps: SmallVec<[u64; 4]> = SmallVec::new();
        for ((dim, &len), &stride) in place.result.iter().zip(shape).zip(strides) {
            has_all &= dim.last().is_some_and(|last| last < len) && (dim.step > 0 || dim.count == 1);
            // Saturates only in an empty result, whose strides nothing bounds, or outside the memory.
            offset = offset.saturating_add(dim.start.min(len).saturating_mul(stride));
        }
        let mut axes: SmallVec<[usize; 4]> = SmallVec::new();
        for axis in &place.axes {
            let along =
                axis.map(usize::from).and_then(|axis| Some((*place.result.get(axis)?, strides.get(axis)?)));
            let (dim, stride) = along.unwrap_or((Dim::one(0), &0));
            has_all &= axis.is_none_or(|axis| !axes.contains(&usize::from(axis)));
            axes.extend(axis.map(usize::from));
            lens.push(dim.count);
            // Only elements inside the memory are located, and an axis of one element is not stepped along.
            steps.push(if dim.count > 1 { dim.step.saturating_mul(*stride) } else { 0 });
        }
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        if !has_all || offset > self.len {
            let (expected, found) = (u64::MAX, self.len as u64);
            return Err(RequestError::DestinationSize { expected, found }.into());
        }
        // SAFETY: the offset is inside the memory (just checked), which outlives the result.
        let base = unsafe { self.base.add(offset) };
        let memory = Shared { base, len: self.len - offset, ..self };
        let strided = Some(Strided { shape: lens, element_size, strides: steps });
        Ok(Destination { memory, strided })
    }

    /// Returns a worker's view of all bytes. The worker writes only at the positions of its tasks (see the
    /// module doc).
    pub(super) fn region(self) -> Region<'a> {
        Region { base: self.base, len: self.len, memory: PhantomData }
    }

    /// Returns how results are written. A result that is larger than the caches bypasses them. Untouched
    /// memory does not, as the system brings its pages into the cache when it clears them.
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
        assert!(offset <= self.len && len <= self.len - offset, "a plan exceeds its destination");
        // SAFETY: the bytes are inside the destination (just asserted), which outlives `self`. They are
        // elements without gaps between them, of positions that only this task was given, so no other code
        // uses them while the slice lives (see the module doc).
        unsafe { std::slice::from_raw_parts_mut(self.base.add(offset), len) }
    }

    #[inline]
    fn comb(&mut self, offset: usize, stride: isize, count: usize, len: usize) -> Comb<'_> {
        // SAFETY: the destination outlives `self`, and the comb checks that its runs are inside. No other
        // code uses them while the comb lives, because only this task was given these positions (see the
        // module doc).
        unsafe { Comb::within(self.base, self.len, offset, stride, count, len) }
    }
}

/// The bytes of a result that no cache holds, on all but the largest machines.
const BEYOND_CACHES: usize = 64 << 20;
/// The smallest memory for which faults cost more than the call.
#[cfg(target_os = "linux")]
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
    fn a_strided_destination_refuses_a_result_of_another_shape() {
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
    fn threads_fill_the_columns_of_one_array() {
        #[derive(Clone, Copy)]
        struct Base(*mut u8);
        // SAFETY: the threads below write to different bytes.
        unsafe impl Send for Base {}

        const ROWS: u64 = if cfg!(miri) { 16 } else { 4096 };
        let mut array = vec![0_u16; 2 * usize::try_from(ROWS).unwrap()];
        let base = Base(array.as_mut_ptr().cast());
        std::thread::scope(|scope| {
            for column in 0..2 {
                scope.spawn(move || {
                    let len = 4 * usize::try_from(ROWS).unwrap() - 2;
                    let Base(base) = { base };
                    // SAFETY: each thread has one column, and the array outlives the threads.
                    let mut half =
                        unsafe { Destination::from_raw(base.add(2 * column), len, &[ROWS, 1], &[4, 2], 2) }
                            .unwrap();
                    let value = u16::try_from(column).unwrap() + 1;
                    half.put(&[ROWS, 1], 2, &value.to_ne_bytes().repeat(len)).unwrap();
                    let (memory, _) = half.share(&[ROWS, 1], 2).unwrap();
                    let count = usize::try_from(ROWS).unwrap();
                    memory.region().comb(0, 4, count, 2).each(<[u8]>::reverse);
                });
            }
        });
        assert!(array.chunks(2).all(|row| row == [0x0100, 0x0200]), "{array:?}");
    }

    #[test]
    fn a_split_destination_is_filled_box_by_box() {
        let place = |row, columns| Place::of(&[Dim::one(row), columns]);
        let even = Dim { start: 0, step: 2, count: 2 };
        let odd = Dim { start: 1, ..even };
        let mut bytes = [0; 8];
        let mut destination = Destination::contiguous(&mut bytes);
        let places = [place(0, even), place(0, odd), place(1, Dim::range(0, 4))];
        let mut parts = destination.split(&[2, 4], 1, &places.each_ref()).unwrap().unwrap();
        for (part, value) in parts.iter_mut().zip(1..) {
            let (memory, strides) = part.share(&[1, if value == 3 { 4 } else { 2 }], 1).unwrap();
            for number in 0..2 {
                memory.region().run(usize::try_from(strides[1] * number).unwrap(), 1)[0] = value;
            }
        }
        drop(parts);
        assert_eq!(bytes, [1, 2, 1, 2, 3, 3, 0, 0]);
    }

    #[test]
    fn boxes_that_overlap_or_leave_the_result_are_not_split() {
        let mut bytes = [0; 8];
        let mut destination = Destination::contiguous(&mut bytes);
        let place = |start, end| Place::of(&[Dim::one(0), Dim::range(start, end)]);
        assert!(destination.split(&[2, 4], 1, &[&place(0, 2), &place(1, 3)]).unwrap().is_none());
        assert!(destination.split(&[2, 4], 1, &[&place(0, 2), &place(2, 5)]).is_err());
        assert!(destination.split(&[2, 3], 1, &[&place(0, 2)]).is_err());
        let twice = Place { axes: [Some(1), Some(1)].into_iter().collect(), ..place(0, 2) };
        assert!(destination.split(&[2, 4], 1, &[&twice]).is_err());
    }

    #[test]
    fn positions_and_shapes_of_any_size_are_checked_before_they_are_multiplied() {
        let mut bytes = [0; 8];
        let mut one = Destination::contiguous(&mut bytes);
        assert!(one.scatter(1, 8, [u64::MAX].into_iter(), &[0; 8]).is_err());
        assert!(one.scatter(1, 8, [1].into_iter(), &[0; 8]).is_err());
        one.scatter(1, 8, [0].into_iter(), &[7; 8]).unwrap();
        let (far, empty) = ([usize::MAX; 3], [u64::MAX, u64::MAX, 0]);
        let mut none = Destination::strided(&mut bytes, &empty, &far, 8).unwrap();
        none.put(&empty, 8, &[]).unwrap();
        let place = Place::of(&[Dim::one(u64::MAX), Dim::one(u64::MAX), Dim::one(0)]);
        assert!(none.split(&empty, 8, &[&place]).is_err());
        assert_eq!(bytes, [7; 8]);
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
