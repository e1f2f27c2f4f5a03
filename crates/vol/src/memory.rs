//! The caller's memory: where in it the elements of a selection are.

use crate::rules::{Reason, Ruled};
use crate::space::Space;

/// Elements in memory at even distances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Strided {
    /// The offset of the first element in bytes.
    pub(crate) offset: usize,
    /// The bytes from the first element to the end of the last one.
    pub(crate) span: usize,
    /// The bytes from one element to the next along each dimension of the selection in the file. `None` for memory
    /// without gaps.
    pub(crate) strides: Option<Vec<usize>>,
}

impl Strided {
    /// Returns where the elements of a selection in the file of this shape are, given the selection in memory.
    /// Both have their elements in row-major order.
    ///
    /// Errors: the selection in memory has blocks with gaps between them, or another number of elements, or is not
    /// a box of the same shape.
    pub(crate) fn of(memory: &Space, shape: &[u64], element_size: usize) -> Ruled<Self> {
        let size = element_size as u64;
        let mut axes = Vec::with_capacity(memory.extent.len());
        let (mut offset, mut step) = (0_u64, size);
        for (axis, &len) in memory.extent.iter().enumerate().rev() {
            let (start, stride, count) = match &memory.axes {
                None => (0, 1, len),
                Some(chosen) => {
                    let chosen = chosen[axis];
                    match (chosen.block, chosen.count) {
                        (1, count) => (chosen.start, chosen.stride, count),
                        (block, 1) => (chosen.start, 1, block),
                        (block, count) if chosen.stride == block => (chosen.start, 1, product(count, block)?),
                        _ => return Err(Reason::Memory),
                    }
                }
            };
            offset = start.checked_mul(step).and_then(|more| offset.checked_add(more)).ok_or(Reason::Memory)?;
            if count != 1 {
                axes.push((count, product(step, stride)?));
            }
            step = product(step, len)?;
        }
        axes.reverse();
        let span = axes.iter().try_fold(size, |span, &(count, stride)| {
            span.checked_add(product(count.checked_sub(1)?, stride).ok()?)
        });
        let elements = |mut lens: Box<dyn Iterator<Item = u64> + '_>| lens.try_fold(1, product_of);
        let count = elements(Box::new(shape.iter().copied()));
        if count != elements(Box::new(axes.iter().map(|axis| axis.0))) {
            return Err(Reason::Memory);
        }
        let found = Self {
            offset: usize::try_from(offset).map_err(|_| Reason::Memory)?,
            span: span.and_then(|span| usize::try_from(span).ok()).ok_or(Reason::Memory)?,
            strides: None,
        };
        let is_dense = count.and_then(|count| count.checked_mul(size)) == Some(found.span as u64);
        if is_dense { Ok(found) } else { Ok(Self { strides: Some(along(shape, &axes)?), ..found }) }
    }
}

/// Returns the strides along the dimensions of `shape`, given the lengths and strides of the dimensions in memory that
/// have more than one element.
fn along(shape: &[u64], axes: &[(u64, u64)]) -> Ruled<Vec<usize>> {
    let mut left = axes.iter();
    let strides = shape.iter().map(|&len| match len {
        1 => Ok(0),
        _ => match left.next() {
            Some(&(count, stride)) if count == len => usize::try_from(stride).map_err(|_| Reason::Memory),
            _ => Err(Reason::Memory),
        },
    });
    let strides = strides.collect::<Ruled<Vec<usize>>>()?;
    if left.next().is_some() { Err(Reason::Memory) } else { Ok(strides) }
}

fn product(one: u64, other: u64) -> Ruled<u64> {
    product_of(one, other).ok_or(Reason::Memory)
}

fn product_of(one: u64, other: u64) -> Option<u64> {
    one.checked_mul(other)
}

#[cfg(test)]
mod tests {
    use hyperslab::HyperslabAxis;

    use super::*;

    fn chosen(extent: &[u64], axes: &[[u64; 4]]) -> Space {
        let axes = axes.iter().map(|&[start, stride, count, block]| HyperslabAxis { start, stride, count, block });
        Space { extent: extent.to_vec(), axes: Some(axes.collect()) }
    }

    #[test]
    fn memory_without_gaps_has_no_strides() {
        let dense = |offset, span| Ok(Strided { offset, span, strides: None });
        assert_eq!(Strided::of(&Space::whole(&[6]), &[2, 3], 4), dense(0, 24));
        let rows = chosen(&[5, 3], &[[2, 1, 2, 1], [0, 1, 1, 3]]);
        assert_eq!(Strided::of(&rows, &[6], 4), dense(24, 24));
    }

    #[test]
    fn a_box_in_memory_has_the_strides_of_its_extent() {
        let corner = chosen(&[4, 5], &[[1, 2, 2, 1], [2, 1, 1, 3]]);
        let expected = Strided { offset: 28, span: 52, strides: Some(vec![40, 4]) };
        assert_eq!(Strided::of(&corner, &[2, 3], 4), Ok(expected));
        let column = chosen(&[4, 5], &[[0, 1, 4, 1], [2, 1, 1, 1]]);
        assert_eq!(Strided::of(&column, &[1, 4, 1], 4).unwrap().strides, Some(vec![0, 20, 0]));
    }

    #[test]
    fn blocks_with_gaps_and_boxes_of_another_shape_are_refused() {
        let blocks = chosen(&[20], &[[0, 5, 3, 2]]);
        assert_eq!(Strided::of(&blocks, &[6], 1), Err(Reason::Memory));
        let columns = chosen(&[4, 5], &[[0, 1, 4, 1], [0, 1, 3, 1]]);
        assert_eq!(Strided::of(&columns, &[12], 1), Err(Reason::Memory));
        assert_eq!(Strided::of(&Space::whole(&[5]), &[6], 1), Err(Reason::Memory));
    }
}
