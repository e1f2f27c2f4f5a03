//! Cuts a selection into parts that follow each other in row-major order, so that memory stays bounded.

use hyperslab::Selection;
use hyperslab::select::{Axis, Dim};

/// The parts of a selection.
#[derive(Debug)]
pub(crate) struct Batches {
    axes: Vec<Axis>,
    /// The axis that is cut; those before it are taken one index at a time, those after it whole.
    cut: usize,
    /// Indices of that axis in a part.
    step: u64,
    /// The first indices of the next part, one for each axis up to the one that is cut; none after the last.
    next: Option<Vec<u64>>,
}

impl Batches {
    /// Parts of at most `most` elements (at least one) of the product of `axes`.
    pub(crate) fn new(axes: Vec<Axis>, most: u64) -> Self {
        let is_empty = axes.iter().any(Axis::is_empty);
        let mut inner = 1_u64;
        let mut cut = axes.len();
        while let Some(len) = cut.checked_sub(1).map(|axis| axes[axis].len()) {
            match inner.checked_mul(len) {
                Some(product) if product <= most => (inner, cut) = (product, cut - 1),
                _ => break,
            }
        }
        // All axes fit: one part.
        let (cut, step) = match cut.checked_sub(1) {
            Some(axis) => (axis, (most / inner.max(1)).max(1)),
            None => (0, axes.first().map_or(1, Axis::len)),
        };
        let next = (!is_empty).then(|| vec![0; axes.len().min(cut + 1)]);
        Self { axes, cut, step, next }
    }

    /// The axes of a selection of an array of the shape `extent`; none for a list of points.
    pub(crate) fn axes(selection: &Selection, extent: &[u64]) -> Option<Vec<Axis>> {
        Some(match selection {
            Selection::All => extent.iter().map(|&len| Axis::Range(Dim::range(0, len))).collect(),
            Selection::Slab(slab) => slab.0.iter().map(|&dim| Axis::Range(dim)).collect(),
            Selection::Grid(axes) => axes.clone(),
            Selection::None | Selection::Points(_) => return None,
        })
    }
}

impl Iterator for Batches {
    type Item = Selection;

    fn next(&mut self) -> Option<Selection> {
        let first = self.next.take()?;
        let mut axes = self.axes.clone();
        for (axis, &at) in first.iter().enumerate() {
            let count = if axis == self.cut { self.step } else { 1 };
            axes[axis] = some_of(&self.axes[axis], at, count);
        }
        let mut following = first;
        for axis in (0..following.len()).rev() {
            following[axis] += if axis == self.cut { self.step } else { 1 };
            if following[axis] < self.axes[axis].len() {
                self.next = Some(following);
                break;
            }
            following[axis] = 0;
        }
        Some(Selection::from_axes(axes))
    }
}

/// Indices number `at` to `at + count` of an axis, as far as it has them.
fn some_of(axis: &Axis, at: u64, count: u64) -> Axis {
    let count = count.min(axis.len() - at);
    match axis {
        Axis::Range(dim) => Axis::Range(Dim { start: dim.start + at * dim.step, step: dim.step, count }),
        Axis::List(list) => Axis::from_indices(
            list.iter().skip(in_memory(at)).take(in_memory(count)).copied().collect::<Vec<_>>(),
        ),
    }
}

/// A position in a list, which is in memory, so that it fits.
fn in_memory(position: u64) -> usize {
    usize::try_from(position).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indices(axis: &Axis) -> Vec<u64> {
        match axis {
            Axis::Range(dim) => dim.iter().collect(),
            Axis::List(list) => list.to_vec(),
        }
    }

    /// The elements of a selection in row-major order.
    fn elements(selection: &Selection) -> Vec<Vec<u64>> {
        let axes = Batches::axes(selection, &[]).unwrap();
        let start = vec![Vec::new()];
        axes.iter().fold(start, |rows, axis| {
            rows.iter()
                .flat_map(|row| indices(axis).into_iter().map(|index| [&row[..], &[index]].concat()))
                .collect()
        })
    }

    #[test]
    fn parts_in_order_are_the_whole_and_none_is_too_large() {
        let range = |start, step, count| Axis::Range(Dim { start, step, count });
        let cases = [
            vec![],
            vec![range(2, 3, 7)],
            vec![range(0, 1, 3), range(5, 2, 4)],
            vec![range(0, 1, 3), Axis::List([4, 1, 1, 0].into()), range(1, 1, 5)],
            vec![range(0, 1, 2), range(0, 1, 0)],
        ];
        for axes in cases {
            let whole = elements(&Selection::from_axes(axes.clone()));
            for most in 1..70 {
                let parts: Vec<_> = Batches::new(axes.clone(), most).map(|part| elements(&part)).collect();
                assert!(
                    parts.iter().all(|part| part.len() as u64 <= most && !part.is_empty()),
                    "{axes:?} {most}"
                );
                assert_eq!(parts.concat(), whole, "{axes:?} {most}");
            }
        }
    }
}
