//! Copies the caller's elements from their places in memory to their places in a piece.

use hyperslab_convert::Conversion;
use hyperslab_error::{RequestError, Result};
use hyperslab_format::Widths;
use hyperslab_select::{Coord, Part};
use smallvec::SmallVec;

use super::WriteOptions;
use crate::engine::codec::StoredElements;
use crate::engine::scratch::sized;

/// How the elements of one write get from the caller's memory into a piece.
#[derive(Debug)]
pub(super) struct Input<'a> {
    /// The caller's elements: dense, in the order of the selection.
    pub(super) bytes: &'a [u8],
    /// The conversion from the caller's datatype to the stored one. `None` if they are the same.
    pub(super) conversion: Option<Box<Conversion>>,
    /// The size in bytes of a stored element.
    pub(super) stored_size: usize,
    /// The size in bytes of one of the caller's elements.
    pub(super) memory_size: usize,
    /// The number of elements of a piece along each dimension.
    pub(super) piece: SmallVec<[usize; 4]>,
}

/// A loop over elements that copies each from one memory area to another.
#[derive(Debug)]
pub(super) struct Walk {
    pub(super) counts: SmallVec<[usize; 4]>,
    pub(super) from: SmallVec<[usize; 4]>,
    pub(super) to: SmallVec<[usize; 4]>,
    pub(super) size: usize,
}

impl<'a> Input<'a> {
    /// Returns the input for the elements in `bytes` and pieces of the shape `piece`. `options` give the
    /// caller's datatype.
    pub(super) fn of(
        stored: &StoredElements,
        widths: Widths,
        piece: &[u64],
        bytes: &'a [u8],
        options: &WriteOptions,
    ) -> Result<Self> {
        let needed = |given| Conversion::needed(given, &stored.datatype, widths);
        let conversion = options.datatype.as_ref().map_or(Ok(None), needed)?;
        Ok(Self {
            bytes,
            memory_size: conversion.as_ref().map_or(stored.size, |conversion| conversion.src_size()),
            conversion,
            stored_size: stored.size,
            piece: piece.iter().map(|&len| size(len)).collect(),
        })
    }

    /// Checks that the caller's bytes have the size of `count` elements.
    pub(super) fn check_count(&self, count: u64) -> Result<()> {
        let (expected, found) = (count.saturating_mul(self.memory_size as u64), self.bytes.len() as u64);
        if expected == found { Ok(()) } else { Err(RequestError::SourceSize { expected, found }.into()) }
    }

    /// Returns the distance in bytes from one element to the next along each dimension of a selection of this
    /// shape.
    pub(super) fn strides(&self, shape: &[u64]) -> Coord {
        strides(shape, self.memory_size)
    }

    /// Returns the offset in bytes of the first element of a part in the piece, and the distance from one of
    /// its elements to the next along each dimension.
    pub(super) fn places(&self, part: &Part) -> (usize, SmallVec<[usize; 4]>) {
        let along = pitches(&self.piece, self.stored_size);
        let dims = || part.within.iter().zip(&along);
        (
            dims().map(|(dim, pitch)| size(dim.start) * pitch).sum(),
            dims().map(|(dim, pitch)| size(dim.step) * pitch).collect(),
        )
    }

    /// Returns the caller's bytes of a whole piece, if they can be used without a copy.
    pub(super) fn whole(&self, part: &Part) -> Option<&'a [u8]> {
        if self.conversion.is_some() {
            return None;
        }
        let mut run = self.memory_size as u64;
        let is_dense =
            part.within.iter().zip(&part.dst_strides).zip(&self.piece).rev().all(|((dim, &stride), &len)| {
                let is_whole = dim.count == len as u64 && dim.start == 0 && (len == 1 || stride == run);
                run = run.saturating_mul(len as u64);
                is_whole
            });
        let start = size(part.dst);
        if is_dense { self.bytes.get(start..start.checked_add(size(run))?) } else { None }
    }

    /// Copies the elements of `part` to their places in `piece`, converted if necessary.
    pub(super) fn place(&self, part: &Part, piece: &mut [u8], scratch: &mut [Vec<u8>; 2]) -> Result<()> {
        let counts: SmallVec<[usize; 4]> = part.within.iter().map(|dim| size(dim.count)).collect();
        let from: SmallVec<[usize; 4]> = part.dst_strides.iter().map(|&stride| size(stride)).collect();
        let (start, to) = self.places(part);
        let first = size(part.dst);
        let Some(conversion) = &self.conversion else {
            Walk { counts, from, to, size: self.stored_size }.copy(self.bytes, first, piece, start);
            return Ok(());
        };
        let count: usize = counts.iter().product();
        let [given, stored] = scratch;
        let given = sized(given, count * self.memory_size)?;
        let dense = pitches(&counts, self.memory_size);
        Walk { counts: counts.clone(), from, to: dense, size: self.memory_size }
            .copy(self.bytes, first, given, 0);
        let stored = sized(stored, count * self.stored_size)?;
        if conversion.is_partial() {
            stored.fill(0);
        }
        conversion.apply(given, stored, count)?;
        let from = pitches(&counts, self.stored_size);
        Walk { counts, from, to, size: self.stored_size }.copy(stored, 0, piece, start);
        Ok(())
    }
}

impl Walk {
    pub(super) fn copy(mut self, from: &[u8], from_at: usize, to: &mut [u8], to_at: usize) {
        // Axes that are dense on both sides form one run.
        while let (Some(&count), Some(&a), Some(&b)) = (self.counts.last(), self.from.last(), self.to.last())
        {
            if count != 1 && (a != self.size || b != self.size) {
                break;
            }
            self.size *= count;
            self.counts.pop();
            self.from.pop();
            self.to.pop();
        }
        if self.counts.contains(&0) || self.size == 0 {
            return;
        }
        self.nested(0, from, from_at, to, to_at);
    }

    fn nested(&self, axis: usize, from: &[u8], from_at: usize, to: &mut [u8], to_at: usize) {
        let (Some(&count), Some(&a), Some(&b)) =
            (self.counts.get(axis), self.from.get(axis), self.to.get(axis))
        else {
            to[to_at..to_at + self.size].copy_from_slice(&from[from_at..from_at + self.size]);
            return;
        };
        if axis + 1 < self.counts.len() {
            (0..count).for_each(|i| self.nested(axis + 1, from, from_at + i * a, to, to_at + i * b));
            return;
        }
        // With a constant size, the copy of an element is a single move.
        match self.size {
            1 => elements::<1>(count, &from[from_at..], a, &mut to[to_at..], b),
            2 => elements::<2>(count, &from[from_at..], a, &mut to[to_at..], b),
            4 => elements::<4>(count, &from[from_at..], a, &mut to[to_at..], b),
            8 => elements::<8>(count, &from[from_at..], a, &mut to[to_at..], b),
            16 => elements::<16>(count, &from[from_at..], a, &mut to[to_at..], b),
            size => {
                for i in 0..count {
                    let (source, target) = (from_at + i * a, to_at + i * b);
                    to[target..target + size].copy_from_slice(&from[source..source + size]);
                }
            }
        }
    }
}

fn elements<const N: usize>(count: usize, from: &[u8], a: usize, to: &mut [u8], b: usize) {
    for i in 0..count {
        to[i * b..i * b + N].copy_from_slice(&from[i * a..i * a + N]);
    }
}

/// Returns the distance in bytes from one element to the next along each dimension of a dense box.
pub(super) fn pitches(shape: &[usize], element_size: usize) -> SmallVec<[usize; 4]> {
    let mut pitches: SmallVec<[usize; 4]> = SmallVec::from_elem(element_size, shape.len());
    for axis in (1..shape.len()).rev() {
        pitches[axis - 1] = pitches[axis] * shape[axis];
    }
    pitches
}

/// Returns the distance in bytes from one element to the next along each dimension of a selection of this
/// shape.
pub(super) fn strides(shape: &[u64], element_size: usize) -> Coord {
    let mut strides = Coord::from_elem(element_size as u64, shape.len());
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(shape[axis]);
    }
    strides
}

/// Converts a value that is an offset or a size inside the caller's memory, or inside a piece in memory.
pub(super) fn size(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}
