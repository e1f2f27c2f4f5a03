//! From decoded elements to the caller's memory, converting on the way where the datatypes differ.

use hyperslab_filters::Convert;
use hyperslab_filters::gather::{Axis, Gather, Target};
use smallvec::SmallVec;

use super::blocks::Sink;
use crate::engine::dst::Region;
use crate::engine::fill::{Fill, repeat};
use crate::select::Part;

/// How elements of one read get from a piece to a destination.
pub(in crate::engine) struct Emit<'a> {
    /// From the stored elements to those that are wanted, if they differ.
    pub(in crate::engine) convert: Option<&'a dyn Convert>,
    /// Who takes the elements, if they do not go to memory.
    pub(in crate::engine) sink: Option<&'a Sink<'a>>,
    /// Bytes of an element as stored.
    pub(in crate::engine) stored_size: usize,
    /// Bytes of an element as wanted.
    pub(in crate::engine) memory_size: usize,
    /// Elements of a piece along each dimension.
    pub(in crate::engine) piece: SmallVec<[usize; 4]>,
}

/// The axes of a part, as the filters want them.
pub(in crate::engine) type Axes = SmallVec<[Axis; 4]>;

impl Emit<'_> {
    /// Whether elements go to memory as they are stored.
    pub(in crate::engine) fn is_identity(&self) -> bool {
        self.convert.is_none() && self.sink.is_none()
    }

    /// Where the elements of `part` of a piece go; its strides are bytes of the destination.
    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]
    // A part lies inside a piece, and its strides inside a destination: both are in memory, so all of this fits.
    pub(in crate::engine) fn axes(part: &Part) -> Axes {
        part.within
            .iter()
            .zip(&part.dst_strides)
            .map(|(dim, &stride)| Axis {
                start: dim.start as usize,
                step: dim.step as usize,
                count: dim.count as usize,
                stride: stride as isize,
            })
            .collect()
    }

    /// The way of the elements at `axes` of a decoded piece to their places from `offset` on.
    pub(in crate::engine) fn gather<'g>(&'g self, axes: &'g [Axis], offset: usize) -> Gather<'g> {
        self.gather_of(&self.piece, axes, offset)
    }

    /// The same for elements of a box of the shape `shape`.
    pub(in crate::engine) fn gather_of<'g>(
        &'g self,
        shape: &'g [usize],
        axes: &'g [Axis],
        offset: usize,
    ) -> Gather<'g> {
        Gather { convert: self.convert, ..Gather::new(self.stored_size, shape, axes, offset) }
    }

    /// The dataset's fill value, converted: one element.
    pub(in crate::engine) fn fill_element(&self, fill: &Fill) -> Vec<u8> {
        let stored = match fill {
            Fill::Zeros => vec![0; self.stored_size],
            Fill::Value(value) => value.clone(),
        };
        let Some(convert) = self.convert else { return stored };
        let mut converted = vec![0; self.memory_size];
        convert.run(&stored, &mut converted);
        converted
    }

    /// Writes the fill value to the places of `axes`.
    pub(in crate::engine) fn fill(
        &self,
        element: &[u8],
        axes: &[Axis],
        offset: usize,
        region: &mut Region<'_>,
    ) {
        let mut outer = axes;
        let mut run = self.memory_size;
        while let Some((axis, rest)) = outer.split_last() {
            if axis.count != 1 && axis.stride.unsigned_abs() != run {
                break;
            }
            run *= axis.count;
            outer = rest;
        }
        for_each_offset(outer, offset, &mut |at| repeat(region.run(at, run), element));
    }
}

/// Calls `f` with the destination offset of every combination of indices of `axes`.
fn for_each_offset(axes: &[Axis], offset: usize, f: &mut dyn FnMut(usize)) {
    let Some((axis, inner)) = axes.split_first() else {
        return f(offset);
    };
    for i in 0..axis.count {
        for_each_offset(inner, offset + i * axis.stride.unsigned_abs(), f);
    }
}
