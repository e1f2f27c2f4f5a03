//! The elements that a region reference selects, as JSON.

use hyperslab_format::selection::{RegularAxis, StoredSelection};

/// The most elements that are listed. Of more, the number and the corners of their box are shown.
const LISTED: u64 = 256;

/// Returns a list of the coordinates of each element: points in their order, other elements in row-major
/// order. All elements of a dataset are `"all"`.
pub(super) fn json(selection: &StoredSelection) -> String {
    let grids: Vec<Vec<RegularAxis>> = match selection {
        StoredSelection::All => return r#""all""#.to_owned(),
        StoredSelection::None => Vec::new(),
        StoredSelection::Points(points) => points.points().map(|point| grid(point, point)).collect(),
        StoredSelection::Regular(slab) => vec![slab.axes.clone()],
        StoredSelection::Blocks(blocks) => blocks.blocks().map(|(first, last)| grid(first, last)).collect(),
    };
    let count = grids.iter().map(|grid| grid.iter().map(len).fold(1, u64::saturating_mul));
    let count = count.fold(0, u64::saturating_add);
    if count > LISTED {
        let first = grids.iter().map(|grid| grid.iter().map(|axis| axis.start).collect());
        let last = grids.iter().map(|grid| grid.iter().map(|axis| axis.last().unwrap_or(u64::MAX)).collect());
        let [first, last] = [corner(first, u64::min), corner(last, u64::max)].map(|corner| list(&corner));
        return format!(r#"{{"count":{count},"first":{first},"last":{last}}}"#);
    }
    let mut elements: Vec<Vec<u64>> = grids.iter().flat_map(|grid| elements(grid)).collect();
    if !matches!(selection, StoredSelection::Points(_)) {
        elements.sort_unstable();
    }
    format!("[{}]", elements.iter().map(|at| list(at)).collect::<Vec<_>>().join(","))
}

/// Returns the indices of a block with these corners.
fn grid(first: &[u64], last: &[u64]) -> Vec<RegularAxis> {
    let axis = |(&start, &last): (&u64, &u64)| {
        let block = Some(last.saturating_sub(start).saturating_add(1));
        RegularAxis { start, stride: 1, count: Some(1), block }
    };
    first.iter().zip(last).map(axis).collect()
}

/// Returns the number of indices along an axis. An axis without end has too many to list.
fn len(axis: &RegularAxis) -> u64 {
    axis.count.zip(axis.block).map_or(u64::MAX, |(count, block)| count.saturating_mul(block))
}

/// Returns the coordinates of all elements of a short grid.
fn elements(grid: &[RegularAxis]) -> Vec<Vec<u64>> {
    grid.iter().fold(vec![Vec::new()], |outer, axis| {
        let blocks = (0..axis.count.unwrap_or(0)).map(|block| axis.start + block * axis.stride);
        let indices: Vec<u64> =
            blocks.flat_map(|first| (0..axis.block.unwrap_or(0)).map(move |at| first + at)).collect();
        let one =
            |at: &Vec<u64>| indices.iter().map(|&index| [&at[..], &[index]].concat()).collect::<Vec<_>>();
        outer.iter().flat_map(one).collect()
    })
}

fn corner(corners: impl Iterator<Item = Vec<u64>>, of: fn(u64, u64) -> u64) -> Vec<u64> {
    corners.reduce(|a, b| a.into_iter().zip(b).map(|(a, b)| of(a, b)).collect()).unwrap_or_default()
}

fn list(numbers: &[u64]) -> String {
    format!("[{}]", numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_listed_in_their_order_or_counted() {
        let slab = |count| {
            let rows = RegularAxis { start: 1, stride: 3, count: Some(2), block: Some(1) };
            StoredSelection::regular(
                vec![rows, RegularAxis { start: 0, stride: 1, count, block: Some(1) }],
                false,
            )
        };
        assert_eq!(json(&slab(Some(2))), "[[1,0],[1,1],[4,0],[4,1]]");
        assert_eq!(json(&slab(Some(200))), r#"{"count":400,"first":[1,0],"last":[4,199]}"#);
        assert!(json(&slab(None)).contains("18446744073709551615"));
        let blocks = StoredSelection::blocks(1, vec![7, 8, 2, 2], false);
        assert_eq!((json(&blocks), json(&StoredSelection::None)), ("[[2],[7],[8]]".into(), "[]".into()));
    }
}
