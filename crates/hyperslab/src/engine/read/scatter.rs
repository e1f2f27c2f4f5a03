//! Moves decoded elements to the caller's memory, and converts them if the datatypes differ.

use hyperslab_filters::Convert;
use hyperslab_filters::gather::{Axis, Gather, Target};
use hyperslab_select::Part;
use smallvec::SmallVec;

use super::sink::Sink;
use crate::engine::destination::Region;
use crate::engine::fill::{Fill, repeat};

/// How the elements of one read get from a piece to the destination.
pub(in crate::engine) struct Emit<'a> {
    /// The conversion from the stored to the requested datatype. `None` if they are the same.
    pub(in crate::engine) convert: Option<&'a dyn Convert>,
    /// The receiver of the elements, if they do not go to memory.
    pub(in crate::engine) sink: Option<&'a Sink<'a>>,
    /// The size in bytes of a stored element.
    pub(in crate::engine) stored_size: usize,
    /// The size in bytes of a requested element.
    pub(in crate::engine) memory_size: usize,
    /// The number of elements of a piece along each dimension.
    pub(in crate::engine) piece: SmallVec<[usize; 4]>,
}

/// The axes of a part, in the form that the filters use.
pub(in crate::engine) type Axes = SmallVec<[Axis; 4]>;

impl Emit<'_> {
    /// Returns whether elements go to memory unchanged.
    pub(in crate::engine) fn is_identity(&self) -> bool {
        self.convert.is_none() && self.sink.is_none()
    }

    /// Returns the axes of `part` of a piece. Their strides are bytes of the destination.
    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]
    // A part is inside a piece, and its strides are inside a destination. Both are in memory, so all values
    // fit.
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

    /// Returns the gather that moves the elements at `axes` of a decoded piece to their places, starting at
    /// `offset`.
    pub(in crate::engine) fn gather<'g>(&'g self, axes: &'g [Axis], offset: usize) -> Gather<'g> {
        self.gather_of(&self.piece, axes, offset)
    }

    /// Returns the same for the elements of a box of the shape `shape`.
    pub(in crate::engine) fn gather_of<'g>(
        &'g self,
        shape: &'g [usize],
        axes: &'g [Axis],
        offset: usize,
    ) -> Gather<'g> {
        Gather { convert: self.convert, ..Gather::new(self.stored_size, shape, axes, offset) }
    }

    /// Returns one element: the dataset's fill value, converted.
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
