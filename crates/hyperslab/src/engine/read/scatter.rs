//! Where the elements of a piece go, and the fill value of those that were never written.

use hyperslab_filters::gather::{Axis, Gather, Target};

use super::decode::ReadRun;
use crate::engine::destination::Region;
use crate::engine::fill::{Fill, repeat};

impl ReadRun<'_> {
    /// Returns the gather that moves the elements at `axes` of a decoded piece to their places, starting at
    /// `offset`.
    pub(super) fn gather<'g>(&'g self, axes: &'g [Axis], offset: usize) -> Gather<'g> {
        let elements = &self.context.elements;
        let gather = Gather::new(elements.stored_size, &elements.shape, axes, offset);
        Gather { convert: self.convert, ..gather }
    }

    /// Returns one element: the dataset's fill value, converted.
    pub(super) fn fill_element(&self, fill: &Fill) -> Vec<u8> {
        let stored = match fill {
            Fill::Zeros => vec![0; self.context.elements.stored_size],
            Fill::Value(value) => value.clone(),
        };
        let Some(convert) = self.convert else { return stored };
        let mut converted = vec![0; self.context.elements.memory_size];
        convert.run(&stored, &mut converted);
        converted
    }

    /// Writes `element` to all places of `axes`.
    pub(super) fn repeat(&self, element: &[u8], axes: &[Axis], offset: usize, region: &mut Region<'_>) {
        let mut outer = axes;
        let mut run = self.context.elements.memory_size;
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
