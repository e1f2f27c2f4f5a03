//! A box of elements of a chunk with its place in the result.

use smallvec::SmallVec;

use super::Dim;

/// The part of a selection that lies in one chunk, or one of several.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part {
    /// The box, relative to the chunk.
    pub within: SmallVec<[Dim; 4]>,
    /// The element of the result at which its first element goes, counted row by row.
    pub dst: u64,
    /// How many elements of the result lie between neighbours along each axis.
    pub dst_strides: SmallVec<[u64; 4]>,
}

impl Part {
    /// How many elements there are.
    pub fn count(&self) -> u64 {
        self.within.iter().map(|dim| dim.count).product()
    }

    /// Whether this is every element of the box `0..used`: of a whole chunk, or of what an array has of a chunk at
    /// its edge.
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
