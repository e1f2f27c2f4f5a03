//! From decoded elements to the caller's memory, converting on the way where the datatypes differ.

use hyperslab_filters::gather::{Axis, Gather, Target, scatter};
use smallvec::SmallVec;

use crate::engine::dst::Region;
use crate::engine::fill::{Fill, repeat};
use crate::engine::scratch::sized;
use crate::error::Result;
use crate::select::Part;
use crate::types::Conversion;

/// How elements of one read get from a piece to a destination.
#[derive(Debug)]
pub(in crate::engine) struct Emit<'a> {
    /// From the stored datatype to the caller's, if they differ.
    pub(in crate::engine) conversion: Option<&'a Conversion>,
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
    /// Whether elements are wanted as they are stored.
    pub(in crate::engine) fn is_identity(&self) -> bool {
        self.conversion.is_none()
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

    /// The copy of the elements at `axes` of a decoded piece, as they are, to their places from `offset` on.
    pub(in crate::engine) fn gather<'g>(&'g self, axes: &'g [Axis], offset: usize) -> Gather<'g> {
        Gather::new(self.stored_size, &self.piece, axes, offset)
    }

    /// Copies the selected elements of `source`, which holds a box of elements of the shape `shape`.
    pub(in crate::engine) fn scatter(
        &self,
        source: &[u8],
        shape: &[usize],
        axes: &[Axis],
        offset: usize,
        region: &mut Region<'_>,
        scratch: &mut [Vec<u8>; 2],
    ) -> Result<()> {
        let Some(conversion) = self.conversion else {
            let gather = Gather::new(self.stored_size, shape, axes, offset);
            scatter(&gather, source, region);
            return Ok(());
        };
        let count: usize = axes.iter().map(|axis| axis.count).product();
        let [before, after] = scratch;
        let before = sized(before, count * self.stored_size)?;
        let dense = dense(axes, self.stored_size);
        let gather = Gather::new(self.stored_size, shape, &dense, 0);
        scatter(&gather, source, before);
        let after = sized(after, count * self.memory_size)?;
        if conversion.is_partial() {
            // Members that the file lacks, and the gaps between members.
            after.fill(0);
        }
        conversion.apply(before, after, count)?;
        let counts: SmallVec<[usize; 4]> = axes.iter().map(|axis| axis.count).collect();
        let whole: Axes = axes.iter().map(|axis| Axis { start: 0, step: 1, ..*axis }).collect();
        let gather = Gather::new(self.memory_size, &counts, &whole, offset);
        scatter(&gather, after, region);
        Ok(())
    }

    /// The dataset's fill value, converted: one element.
    pub(in crate::engine) fn fill_element(&self, fill: &Fill) -> Result<Vec<u8>> {
        let stored = match fill {
            Fill::Zeros => vec![0; self.stored_size],
            Fill::Value(value) => value.clone(),
        };
        let Some(conversion) = self.conversion else { return Ok(stored) };
        let mut converted = vec![0; self.memory_size];
        conversion.apply(&stored, &mut converted, 1)?;
        Ok(converted)
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

/// The axes of a dense, row-major box of the same elements.
fn dense(axes: &[Axis], element_size: usize) -> Axes {
    let mut dense: Axes = axes.iter().copied().collect();
    let mut pitch = element_size;
    for axis in dense.iter_mut().rev() {
        axis.stride = pitch.cast_signed();
        pitch *= axis.count;
    }
    dense
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
