//! A box of elements of a chunk with its place in the result, and how to walk both together.

use smallvec::SmallVec;

use super::{Coord, Dim, row_strides};

/// The part of a selection that lies in one chunk, or one of several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The box, relative to the chunk.
    pub within: SmallVec<[Dim; 4]>,
    /// The element of the result at which its first element goes, counted row by row.
    pub dst: u64,
    /// How many elements of the result lie between neighbours along each axis.
    pub dst_strides: SmallVec<[u64; 4]>,
}

/// Several elements, evenly spaced in the source and in the destination, several times over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strided {
    /// The first element of the source.
    pub src: u64,
    /// The first element of the destination.
    pub dst: u64,
    /// Loops, outermost first. There is always one; the innermost has the smallest steps of the destination.
    pub walks: SmallVec<[Walk; 4]>,
}

/// One loop of a [`Strided`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Walk {
    /// How many times.
    pub count: u64,
    /// How many elements the source moves on.
    pub src_stride: u64,
    /// How many elements the destination moves on.
    pub dst_stride: u64,
}

impl Part {
    /// How many elements there are.
    pub fn count(&self) -> u64 {
        self.within.iter().map(|dim| dim.count).product()
    }

    /// Whether this is every element of the box `0..used`: of a whole chunk, or of what an array has of a chunk at
    /// its edge.
    pub fn covers(&self, used: &[u64]) -> bool {
        self.within.len() == used.len()
            && self
                .within
                .iter()
                .zip(used)
                .all(|(dim, &len)| dim.start == 0 && dim.count == len && (dim.step == 1 || dim.count <= 1))
    }

    /// As the fewest nested loops from a chunk of the shape `chunk`, which lies row by row, to the result.
    pub fn strided(&self, chunk: &[u64]) -> Strided {
        let strides: Coord = row_strides(chunk);
        let mut src = 0;
        let mut walks: SmallVec<[Walk; 4]> = SmallVec::new();
        for ((dim, &stride), &dst_stride) in self.within.iter().zip(&strides).zip(&self.dst_strides) {
            src += dim.start * stride;
            if dim.count == 1 {
                continue;
            }
            let walk = Walk { count: dim.count, src_stride: dim.step * stride, dst_stride };
            match walks.last_mut() {
                Some(outer) if outer.goes_on_as(walk) => {
                    *outer = Walk { count: outer.count * walk.count, ..walk };
                }
                _ => walks.push(walk),
            }
        }
        if walks.is_empty() {
            walks.push(Walk { count: 1, src_stride: 1, dst_stride: 1 });
        }
        Strided { src, dst: self.dst, walks }
    }
}

impl Walk {
    /// Whether each step of `self` begins where `inner` would go on.
    fn goes_on_as(self, inner: Self) -> bool {
        inner.src_stride.checked_mul(inner.count) == Some(self.src_stride)
            && inner.dst_stride.checked_mul(inner.count) == Some(self.dst_stride)
    }
}

impl Strided {
    /// The innermost loop.
    pub fn innermost(&self) -> Walk {
        // `Part::strided` puts at least one loop in.
        self.walks.last().copied().unwrap_or(Walk { count: 0, src_stride: 1, dst_stride: 1 })
    }

    /// Whether it is one run of neighbours in the source and in the destination; then how many.
    pub fn contiguous(&self) -> Option<u64> {
        match self.walks[..] {
            [Walk { count, src_stride: 1, dst_stride: 1 }] => Some(count),
            _ => None,
        }
    }

    /// Calls `f` with the first source and destination element of every innermost loop.
    pub fn for_each_row(&self, mut f: impl FnMut(u64, u64)) {
        if self.walks.iter().any(|walk| walk.count == 0) {
            return;
        }
        let outer = &self.walks[..self.walks.len().saturating_sub(1)];
        let mut turn: SmallVec<[u64; 4]> = SmallVec::from_elem(0, outer.len());
        let (mut src, mut dst) = (self.src, self.dst);
        loop {
            f(src, dst);
            let mut axis = outer.len();
            loop {
                let Some(next) = axis.checked_sub(1) else { return };
                axis = next;
                let walk = outer[axis];
                turn[axis] += 1;
                if turn[axis] < walk.count {
                    src += walk.src_stride;
                    dst += walk.dst_stride;
                    break;
                }
                turn[axis] = 0;
                src -= (walk.count - 1) * walk.src_stride;
                dst -= (walk.count - 1) * walk.dst_stride;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{cases, row_by_row};
    use super::*;

    proptest! {
        #[test]
        fn the_loops_move_the_elements_of_the_part(case in cases()) {
            let tiling = case.selection.tiling(&case.extent, &case.chunk).unwrap();
            let strides = row_strides(&case.chunk);
            for coord in tiling.touched() {
                tiling.parts(&coord, |part| {
                    let expected: Vec<(u64, u64)> =
                        row_by_row(&part.within.iter().map(|dim| dim.count).collect::<Vec<_>>())
                            .into_iter()
                            .map(|turn| {
                                (0..turn.len()).fold((0, part.dst), |(src, dst), axis| {
                                    let at = part.within[axis].start + turn[axis] * part.within[axis].step;
                                    (src + at * strides[axis], dst + turn[axis] * part.dst_strides[axis])
                                })
                            })
                            .collect();
                    let loops = part.strided(&case.chunk);
                    let row = loops.innermost();
                    let mut found = Vec::new();
                    loops.for_each_row(|src, dst| {
                        found.extend((0..row.count).map(|i| (src + i * row.src_stride, dst + i * row.dst_stride)));
                    });
                    assert_eq!(found, expected);
                    assert_eq!(part.count(), expected.len() as u64);
                });
            }
        }
    }

    #[test]
    fn a_whole_chunk_in_a_whole_result_is_one_run() {
        let part = Part {
            within: [Dim::range(0, 4), Dim::range(0, 5)].into_iter().collect(),
            dst: 20,
            dst_strides: [5, 1].into_iter().collect(),
        };
        assert_eq!(part.strided(&[4, 5]).contiguous(), Some(20));
        assert!(part.covers(&[4, 5]));
        assert!(!part.covers(&[4, 6]));
        assert_eq!(part.strided(&[4, 6]).contiguous(), None);
    }
}
