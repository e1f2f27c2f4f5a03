//! Random selections for tests, and their elements computed by brute force.

use proptest::collection::vec;
use proptest::prelude::*;

use super::{Axis, Dim, Points, Selection, Slab};

/// A selection of a chunked array.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) selection: Selection,
    pub(super) extent: Vec<u64>,
    pub(super) chunk: Vec<u64>,
}

impl Case {
    /// Returns the coordinates of the selected elements, in the order of the result.
    pub(super) fn elements(&self) -> Vec<Vec<u64>> {
        let lists: Vec<Vec<u64>> = match &self.selection {
            Selection::None => return Vec::new(),
            Selection::Points(points) => return points.iter().map(<[u64]>::to_vec).collect(),
            Selection::All => self.extent.iter().map(|&len| (0..len).collect()).collect(),
            Selection::Slab(slab) => slab.0.iter().map(|dim| dim.iter().collect()).collect(),
            Selection::Grid(axes) => axes
                .iter()
                .map(|axis| match axis {
                    Axis::Range(dim) => dim.iter().collect(),
                    Axis::List(list) => list.to_vec(),
                })
                .collect(),
        };
        let shape: Vec<u64> = lists.iter().map(|list| list.len() as u64).collect();
        row_by_row(&shape)
            .into_iter()
            .map(|turn| lists.iter().zip(turn).map(|(list, i)| list[usize::try_from(i).unwrap()]).collect())
            .collect()
    }
}

/// Returns every coordinate of an array of the shape `shape`, in row-major order.
pub(super) fn row_by_row(shape: &[u64]) -> Vec<Vec<u64>> {
    shape.iter().fold(vec![Vec::new()], |outer, &len| {
        outer.iter().flat_map(|at| (0..len).map(|i| [&at[..], &[i]].concat())).collect()
    })
}

pub(super) fn cases() -> impl Strategy<Value = Case> {
    vec((1u64..13, 1u64..6), 0..4).prop_flat_map(|axes| {
        let (extent, chunk): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
        selections(&extent).prop_map(move |selection| Case {
            selection,
            extent: extent.clone(),
            chunk: chunk.clone(),
        })
    })
}

fn dim(len: u64) -> impl Strategy<Value = Dim> {
    (0..len, 1..=len, 0..=len).prop_map(move |(start, step, count)| Dim {
        start,
        step,
        count: count.min((len - start).div_ceil(step)),
    })
}

fn axis(len: u64) -> impl Strategy<Value = Axis> {
    prop_oneof![
        dim(len).prop_map(Axis::Range),
        vec(0..len, 0..9).prop_map(|list| Axis::List(list.into())),
        proptest::sample::subsequence((0..len).collect::<Vec<_>>(), 0..=usize::try_from(len).unwrap())
            .prop_map(|list| Axis::List(list.into())),
    ]
}

fn selections(extent: &[u64]) -> BoxedStrategy<Selection> {
    let slab = extent.iter().map(|&len| dim(len)).collect::<Vec<_>>();
    let grid = extent.iter().map(|&len| axis(len)).collect::<Vec<_>>();
    let rank = extent.len();
    let points = vec(extent.iter().map(|&len| 0..len).collect::<Vec<_>>(), 0..if rank == 0 { 1 } else { 20 });
    prop_oneof![
        1 => Just(Selection::All),
        1 => Just(Selection::None),
        6 => slab.prop_map(|dims| Selection::Slab(Slab(dims.into_iter().collect()))),
        6 => grid.prop_map(Selection::Grid),
        3 => points.prop_map(move |points| Selection::Points(Points::new(rank, points.concat()).unwrap())),
    ]
    .boxed()
}
