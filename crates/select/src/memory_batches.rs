//! Splits a selection into parts that follow each other in row-major order, so that memory use stays bounded.

use super::{Axis, Boxes, Dim, Selection};

/// Returns the parts, of at most `most` elements (but at least one), of the product of `axes`.
pub fn batches(axes: Vec<Axis>, most: u64) -> impl Iterator<Item = Selection> {
    let lengths: Vec<u64> = axes.iter().map(Axis::len).collect();
    let boxes = Boxes::new(&lengths, &vec![1; lengths.len()], None, most);
    (0..boxes.len()).map(move |number| {
        let places = self::axes(&boxes.nth(number), &lengths).unwrap_or_default();
        let parts = axes.iter().zip(places).map(|(axis, places)| match places {
            Axis::Range(dim) => some_of(axis, dim.start, dim.count),
            Axis::List(_) => axis.clone(),
        });
        Selection::from_axes(parts.collect::<Vec<_>>())
    })
}

/// Returns the axes of a selection in an array of the shape `extent`, or `None` for a list of points.
pub fn axes(selection: &Selection, extent: &[u64]) -> Option<Vec<Axis>> {
    Some(match selection {
        Selection::All => extent.iter().map(|&len| Axis::Range(Dim::range(0, len))).collect(),
        Selection::Slab(slab) => slab.0.iter().map(|&dim| Axis::Range(dim)).collect(),
        Selection::Grid(axes) => axes.clone(),
        Selection::None | Selection::Points(_) => return None,
    })
}

/// Returns the indices with the numbers `at` to `at + count` of an axis.
fn some_of(axis: &Axis, at: u64, count: u64) -> Axis {
    match axis {
        Axis::Range(dim) => Axis::Range(Dim { start: dim.start + at * dim.step, step: dim.step, count }),
        Axis::List(list) => Axis::from_indices(
            list.iter().skip(in_memory(at)).take(in_memory(count)).copied().collect::<Vec<_>>(),
        ),
    }
}

/// Returns a position in a list. The list is in memory, so the position fits.
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

    /// Returns the elements of a selection in row-major order.
    fn elements(selection: &Selection) -> Vec<Vec<u64>> {
        let axes = axes(selection, &[]).unwrap();
        let start = vec![Vec::new()];
        axes.iter().fold(start, |rows, axis| {
            rows.iter()
                .flat_map(|row| indices(axis).into_iter().map(|index| [&row[..], &[index]].concat()))
                .collect()
        })
    }

    #[test]
    fn concatenated_parts_are_the_whole_and_no_part_is_too_large() {
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
                let parts: Vec<_> = batches(axes.clone(), most).map(|part| elements(&part)).collect();
                assert!(
                    parts.iter().all(|part| part.len() as u64 <= most && !part.is_empty()),
                    "{axes:?} {most}"
                );
                assert_eq!(parts.concat(), whole, "{axes:?} {most}");
            }
        }
    }
}
