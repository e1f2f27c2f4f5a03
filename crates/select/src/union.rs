//! The union of boxes, as HDF5 reads it: every element once, in row-major order.

use std::ops::Range;

use hyperslab_error::RequestError;
use hyperslab_format::selection::BlockList;

use super::{Axis, Dim, Points, Selection, Shape};

/// A box: the indices along each axis.
pub type Block = Vec<Range<u64>>;

/// The union of several boxes of the same rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Union {
    rank: usize,
    spans: Vec<Span>,
}

/// Indices along one axis, and what is selected along the next axes at each of them. The spans of a list
/// ascend and do not overlap.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Span {
    indices: Range<u64>,
    inner: Vec<Span>,
}

impl Union {
    /// Returns the union of boxes of `rank` axes. Fails if the boxes overlap so often that the union
    /// takes more than `MAX_STEPS` steps.
    pub fn new(rank: usize, blocks: &[Block]) -> Result<Self, RequestError> {
        let blocks: Vec<&[Range<u64>]> = blocks
            .iter()
            .map(Vec::as_slice)
            .filter(|block| block.len() == rank && block.iter().all(|indices| !indices.is_empty()))
            .collect();
        let mut budget = MAX_STEPS;
        let spans = if rank == 0 { Vec::new() } else { spans(&blocks, &mut budget)? };
        Ok(Self { rank, spans })
    }

    /// Returns the union of stored blocks of an array of the shape `extent`. Fails if a block leaves the
    /// array: a damaged file may name very many elements.
    pub fn of(stored: &BlockList, extent: &[u64]) -> Result<Self, RequestError> {
        if stored.rank != extent.len() {
            return Err(RequestError::Rank { given: stored.rank, rank: extent.len() });
        }
        for (_, last) in stored.blocks() {
            let mut axes = last.iter().zip(extent).enumerate();
            if let Some((axis, (&index, &len))) = axes.find(|(_, (index, len))| index >= len) {
                return Err(RequestError::OutOfBounds { axis, index: index.into(), len });
            }
        }
        // The last index is below the length of the axis.
        let range = |(&first, &last): (&u64, &u64)| first..last + 1;
        let block = |(first, last): (&[u64], &[u64])| first.iter().zip(last).map(range).collect();
        Self::new(stored.rank, &stored.blocks().map(block).collect::<Vec<Block>>())
    }

    /// Returns the number of elements. `u64::MAX` also stands for more.
    pub fn count(&self) -> u64 {
        count(&self.spans)
    }

    /// Returns the shape that h5py gives to the elements. It is the shape of the boxes if they make up a
    /// product of indices along each axis; else the elements are a list. As in h5py, an axis has as many
    /// indices as the number of elements says, if its first index is typical of all.
    pub fn shape(&self) -> Shape {
        let count = self.count();
        if count == 0 {
            return Shape::from_elem(0, self.rank);
        }
        let len = |axis| count / count_at(&self.spans, axis, least(&self.spans, axis)).max(1);
        let shape: Shape = (0..self.rank).map(len).collect();
        let product = shape.iter().try_fold(1_u64, |product, &len| product.checked_mul(len));
        if product == Some(count) { shape } else { Shape::from_slice(&[count]) }
    }

    /// Returns the selection of the elements.
    pub fn selection(&self) -> Result<Selection, RequestError> {
        let count = self.count();
        if count == 0 {
            return Ok(Selection::None);
        }
        let axes: Vec<Vec<Range<u64>>> = (0..self.rank).map(|axis| joined(&self.spans, axis)).collect();
        let len = |ranges: &Vec<Range<u64>>| ranges.iter().map(|range| range.end - range.start).sum::<u64>();
        let product = axes.iter().try_fold(1_u64, |product, ranges| product.checked_mul(len(ranges)));
        if product == Some(count) {
            // The union is a part of the product of its indices, and as large.
            let axes = axes.into_iter().map(axis).collect::<Result<Vec<_>, _>>()?;
            return Ok(Selection::from_axes(axes));
        }
        if count > MAX_POINTS {
            return Err(RequestError::TooMany {
                what: "elements of an irregular selection",
                limit: MAX_POINTS,
            });
        }
        let mut coords = Vec::new();
        points(&self.spans, &mut vec![0; self.rank], 0, &mut coords);
        Ok(Selection::Points(Points::new(self.rank, coords)?))
    }
}

/// Returns the spans of the union of `blocks` along the first of their axes.
fn spans(blocks: &[&[Range<u64>]], budget: &mut u64) -> Result<Vec<Span>, RequestError> {
    let mut bounds: Vec<u64> = blocks.iter().flat_map(|block| [block[0].start, block[0].end]).collect();
    bounds.sort_unstable();
    bounds.dedup();
    let mut ordered: Vec<&[Range<u64>]> = blocks.to_vec();
    ordered.sort_unstable_by_key(|block| block[0].start);
    let (mut found, mut next): (Vec<Span>, usize) = (Vec::new(), 0);
    // The blocks that have indices between the current bounds.
    let mut current: Vec<&[Range<u64>]> = Vec::new();
    for pair in bounds.windows(2) {
        let &[start, end] = pair else { continue };
        current.retain(|block| block[0].end > start);
        while let Some(block) = ordered.get(next).filter(|block| block[0].start <= start) {
            current.push(block);
            next += 1;
        }
        if current.is_empty() {
            continue;
        }
        let spent = budget.checked_sub(current.len() as u64 + SPAN_STEPS);
        *budget = spent.ok_or(RequestError::TooMany { what: "overlaps of boxes", limit: MAX_STEPS })?;
        let is_last = current.iter().all(|block| block.len() == 1);
        let inner = if is_last {
            Vec::new()
        } else {
            let rest: Vec<&[Range<u64>]> = current.iter().map(|block| &block[1..]).collect();
            spans(&rest, budget)?
        };
        match found.last_mut() {
            Some(last) if last.indices.end == start && last.inner == inner => last.indices.end = end,
            _ => found.push(Span { indices: start..end, inner }),
        }
    }
    Ok(found)
}

fn count(spans: &[Span]) -> u64 {
    spans.iter().fold(0, |sum: u64, span| {
        let len = span.indices.end - span.indices.start;
        let inner = if span.inner.is_empty() { 1 } else { count(&span.inner) };
        sum.saturating_add(len.saturating_mul(inner))
    })
}

/// Returns the first index along `axis`.
fn least(spans: &[Span], axis: usize) -> u64 {
    let index = |span: &Span| if axis == 0 { span.indices.start } else { least(&span.inner, axis - 1) };
    spans.iter().map(index).min().unwrap_or(0)
}

/// Returns the number of elements with the index `index` along `axis`.
fn count_at(spans: &[Span], axis: usize, index: u64) -> u64 {
    spans.iter().fold(0, |sum: u64, span| {
        let len = span.indices.end - span.indices.start;
        sum.saturating_add(match axis {
            0 if !span.indices.contains(&index) => 0,
            0 if span.inner.is_empty() => 1,
            0 => count(&span.inner),
            _ => len.saturating_mul(count_at(&span.inner, axis - 1, index)),
        })
    })
}

/// Returns all indices along `axis`, as ranges that ascend and do not touch.
fn joined(spans: &[Span], axis: usize) -> Vec<Range<u64>> {
    let mut ranges: Vec<Range<u64>> = if axis == 0 {
        spans.iter().map(|span| span.indices.clone()).collect()
    } else {
        spans.iter().flat_map(|span| joined(&span.inner, axis - 1)).collect()
    };
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.dedup_by(|next, before| {
        let touches = next.start <= before.end;
        if touches {
            before.end = before.end.max(next.end);
        }
        touches
    });
    ranges
}

/// Returns the indices in `ranges` as an axis of a selection.
fn axis(ranges: Vec<Range<u64>>) -> Result<Axis, RequestError> {
    if let [range] = &ranges[..] {
        return Ok(Axis::Range(Dim::range(range.start, range.end)));
    }
    let count: u64 = ranges.iter().map(|range| range.end - range.start).sum();
    if count > MAX_POINTS {
        return Err(RequestError::TooMany { what: "indices of a selection", limit: MAX_POINTS });
    }
    Ok(Axis::from_indices(ranges.into_iter().flatten().collect::<Vec<u64>>()))
}

fn points(spans: &[Span], at: &mut Vec<u64>, axis: usize, found: &mut Vec<u64>) {
    for span in spans {
        for index in span.indices.clone() {
            at[axis] = index;
            if span.inner.is_empty() {
                found.extend_from_slice(at);
            } else {
                points(&span.inner, at, axis + 1, found);
            }
        }
    }
}

/// The most elements of a union that is no product of indices, and the most indices in the list of an axis.
const MAX_POINTS: u64 = 1 << 27;
/// The most steps to find a union. Boxes that do not overlap take about as many steps as there are boxes.
const MAX_STEPS: u64 = 1 << 26;
/// The steps that a span counts, because it takes memory.
const SPAN_STEPS: u64 = 32;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::iter;

    use proptest::prelude::*;

    use super::*;

    fn blocks(rank: usize) -> impl Strategy<Value = Vec<Block>> {
        let range = (0_u64..7, 1_u64..4).prop_map(|(start, len)| start..start + len);
        prop::collection::vec(prop::collection::vec(range, rank), 0..6)
    }

    /// Returns the coordinates of all elements in row-major order.
    fn elements(blocks: &[Block]) -> BTreeSet<Vec<u64>> {
        let mut all = BTreeSet::new();
        for block in blocks {
            let mut found = vec![Vec::new()];
            for indices in block {
                found = found
                    .into_iter()
                    .flat_map(|at: Vec<u64>| indices.clone().map(move |i| [&at[..], &[i]].concat()))
                    .collect();
            }
            all.extend(found);
        }
        all
    }

    proptest! {
        #[test]
        fn a_union_selects_every_element_of_its_boxes_once_in_row_major_order(
            blocks in (1_usize..4).prop_flat_map(blocks)
        ) {
            let rank = blocks.first().map_or(1, Vec::len);
            let (union, expected) = (Union::new(rank, &blocks).unwrap(), elements(&blocks));
            prop_assert_eq!(union.count(), expected.len() as u64);
            let extent = vec![10; rank];
            let offset = |at: &Vec<u64>| at.iter().fold(0, |offset, index| offset * 10 + index);
            let expected: Vec<u64> = expected.iter().map(offset).collect();
            let runs = union.selection().unwrap().runs(&extent).unwrap();
            let found: Vec<u64> = runs.flat_map(|run| run.offset..run.offset + run.len).collect();
            prop_assert_eq!(found, expected);
            prop_assert_eq!(union.shape().iter().product::<u64>(), union.count());
        }
    }

    #[test]
    fn boxes_that_make_up_a_product_of_indices_have_its_shape() {
        let four = [[0..1, 0..2], [0..1, 5..6], [3..4, 0..2], [3..4, 5..6]].map(Vec::from);
        let union = Union::new(2, &four).unwrap();
        assert_eq!(union.shape()[..], [2, 3]);
        assert!(matches!(union.selection(), Ok(Selection::Grid(_))));
        let union = Union::new(2, &four[..3]).unwrap();
        assert_eq!(union.shape()[..], [5]);
        assert!(matches!(union.selection(), Ok(Selection::Points(_))));
        assert_eq!(Union::new(2, &[]).unwrap().shape()[..], [0, 0]);
    }

    #[test]
    fn an_irregular_union_of_very_many_elements_is_refused() {
        let blocks = [[0..1 << 20, 0..1 << 20], [0..1 << 21, 0..1]].map(Vec::from);
        let union = Union::new(2, &blocks).unwrap();
        assert!(matches!(union.selection(), Err(RequestError::TooMany { .. })));
    }

    #[test]
    fn boxes_that_overlap_too_often_are_refused() {
        let nested: Vec<Block> = (0..20_000).map(|i| iter::once(i..100_000 - i).collect()).collect();
        assert!(matches!(Union::new(1, &nested), Err(RequestError::TooMany { .. })));
    }
}
