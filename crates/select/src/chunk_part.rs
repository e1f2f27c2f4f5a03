//! A box of a chunk's elements with its place in the result.

use smallvec::SmallVec;

use super::Dim;

/// The part of a selection inside one chunk, or one of several such parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part {
    /// The box, relative to the chunk.
    pub within: SmallVec<[Dim; 4]>,
    /// The row-major position in the result of the box's first element.
    pub dst: u64,
    /// The distance in the result, in elements, between neighbours along each axis.
    pub dst_strides: SmallVec<[u64; 4]>,
}

impl Part {
    /// Returns the number of elements.
    pub fn count(&self) -> u64 {
        self.within.iter().map(|dim| dim.count).product()
    }

    /// Returns whether this is every element of the box `0..used`. The box is a whole chunk, or the part of a
    /// chunk at the edge that is inside the array.
    pub fn covers(&self, used: &[u64]) -> bool {
        self.within.len() == used.len() && self.within.iter().zip(used).all(|(dim, &len)| dim.covers(len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_every_element_covers_its_chunk() {
        let part = Part {
            within: [Dim::range(0, 4), Dim::range(0, 5)].into_iter().collect(),
            dst: 20,
            dst_strides: [5, 1].into_iter().collect(),
        };
        assert!(part.covers(&[4, 5]));
        assert!(!part.covers(&[4, 6]));
    }
}
