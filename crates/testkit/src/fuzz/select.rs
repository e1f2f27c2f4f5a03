//! Fuzz target `select`: compares selections of small arrays with lists of their elements, and checks that
//! selections of huge arrays do not panic.

use hyperslab::Selection;
use hyperslab_select::{Axis, Dim, Points, Slab, parse};

use super::input::Input;

/// Runs the target on an input.
pub fn select(input: &[u8]) {
    let mut input = Input(input);
    match input.below(4) {
        0 => text(input),
        1 => huge(input),
        _ => small(input),
    }
}

/// Compares a selection of a chunked array with the list of its elements.
fn small(mut input: Input<'_>) {
    let rank = usize::try_from(input.below(5)).unwrap_or(0);
    let extent: Vec<u64> = (0..rank).map(|_| input.below(10)).collect();
    let chunk: Vec<u64> = (0..rank).map(|_| 1 + input.below(6)).collect();
    let selection = match input.below(8) {
        0 => Selection::All,
        1 => Selection::None,
        2 | 3 if !extent.contains(&0) => points(&mut input, &extent),
        4 | 5 => Selection::Slab(Slab(extent.iter().map(|&len| dim(&mut input, len)).collect())),
        _ => Selection::Grid(extent.iter().map(|&len| axis(&mut input, len)).collect()),
    };
    let elements = elements(&selection, &extent);
    if elements.len() > MAX_ELEMENTS {
        return;
    }
    let what = || format!("{selection:?} of {extent:?} in {chunk:?}");
    assert_eq!(selection.check(&extent), Ok(()), "{}", what());
    assert_eq!(selection.count(&extent), Ok(elements.len() as u64), "{}", what());
    partition(&selection, &extent, &chunk, &elements, &what);

    let offsets: Vec<u64> = elements.iter().map(|at| offset(at, &extent)).collect();
    if let Ok(runs) = selection.runs(&extent) {
        let walked: Vec<u64> = runs.flat_map(|run| run.offset..run.offset + run.len).collect();
        assert_eq!(walked, offsets, "{}", what());
    } else {
        panic!("no runs: {}", what());
    }
    if let Selection::Slab(slab) = &selection {
        spelled(slab, &extent, &elements);
    }
}

/// Checks that the parts in all touched chunks cover every element of the result once, from its position.
fn partition(
    selection: &Selection,
    extent: &[u64],
    chunk: &[u64],
    elements: &[Vec<u64>],
    what: &dyn Fn() -> String,
) {
    let Ok(tiling) = selection.tiling(extent, chunk) else { panic!("no tiling: {}", what()) };
    let mut filled = vec![false; elements.len()];
    let bounds = tiling.chunk_box();
    let mut count = 0;
    for coord in tiling.touched() {
        assert_eq!(tiling.touched_in(count..count + 1).next().as_ref(), Some(&coord), "{}", what());
        count += 1;
        assert!(coord.iter().zip(&bounds).all(|(at, bound)| bound.contains(at)), "{}", what());
        let mut in_chunk = 0;
        tiling.parts(&coord, |part| {
            in_chunk += part.count();
            let counts: Vec<u64> = part.within.iter().map(|dim| dim.count).collect();
            for turn in row_by_row(&counts) {
                let within: Vec<u64> =
                    part.within.iter().zip(&turn).map(|(dim, i)| dim.start + i * dim.step).collect();
                let dst =
                    turn.iter().zip(&part.dst_strides).fold(part.dst, |dst, (i, stride)| dst + i * stride);
                let at: Vec<u64> =
                    within.iter().zip(&coord).zip(chunk).map(|((x, at), len)| at * len + x).collect();
                let place = usize::try_from(dst).unwrap_or(usize::MAX);
                assert!(within.iter().zip(chunk).all(|(x, len)| x < len), "{}", what());
                assert_eq!(elements.get(place), Some(&at), "{}", what());
                assert!(!std::mem::replace(&mut filled[place], true), "{place} twice: {}", what());
            }
        });
        assert!(in_chunk > 0, "chunk {coord:?} is not touched: {}", what());
    }
    assert_eq!(count, tiling.len(), "{}", what());
    assert!(filled.iter().all(|&filled| filled), "elements are missing: {}", what());
}

/// Checks that the text of a slab selects the same elements as the slab.
fn spelled(slab: &Slab, extent: &[u64], elements: &[Vec<u64>]) {
    let items: Vec<String> = slab
        .0
        .iter()
        .map(|dim| match dim.last() {
            Some(last) => format!("{}:{}:{}", dim.start, last + 1, dim.step),
            None => "0:0".to_owned(),
        })
        .collect();
    let text = items.join(", ");
    match parse(&text, extent) {
        Ok(parsed) => assert_eq!(self::elements(&parsed.selection, extent), elements, "{text}"),
        Err(error) => panic!("{text}: {error}"),
    }
}

/// Parses arbitrary text. A selection that parses must be within the array.
fn text(mut input: Input<'_>) {
    let rank = input.below(5);
    let extent: Vec<u64> =
        (0..rank).map(|_| if input.below(8) == 0 { input.u64() } else { input.below(40) }).collect();
    let text = String::from_utf8_lossy(input.rest());
    let Ok(parsed) = parse(&text, &extent) else { return };
    // The array itself may have more elements than 64 bits can count.
    if extent.iter().try_fold(1_u64, |count, &len| count.checked_mul(len.max(1))).is_some() {
        assert_eq!(parsed.selection.check(&extent), Ok(()), "{text} of {extent:?}");
    }
    assert!(parsed.dropped.iter().all(|&axis| axis < extent.len()), "{text} of {extent:?}");
}

/// Evaluates selections with numbers of any size.
fn huge(mut input: Input<'_>) {
    let rank = usize::try_from(1 + input.below(4)).unwrap_or(1);
    let mut number = || match input.below(4) {
        0 => u64::MAX - input.below(3),
        1 => input.below(9),
        2 => 1 << input.below(64),
        _ => input.u64(),
    };
    let extent: Vec<u64> = (0..rank).map(|_| number()).collect();
    let chunk: Vec<u64> = (0..rank).map(|_| number()).collect();
    let dims: Vec<Dim> =
        (0..rank).map(|_| Dim { start: number(), step: number(), count: number() }).collect();
    let list: Vec<u64> = (0..rank * 3).map(|_| number()).collect();
    let lists = list.chunks_exact(3).map(|list| Axis::List(list.into()));
    let points = Points::new(rank, list.clone()).map(Selection::Points);
    let mut selections = vec![
        Selection::All,
        Selection::Slab(Slab(dims.iter().copied().collect())),
        Selection::Grid(lists.collect()),
    ];
    selections.extend(points);
    for selection in selections {
        let _ = (selection.check(&extent), selection.count(&extent));
        if let Ok(mut runs) = selection.runs(&extent) {
            let _ = (runs.next(), runs.next());
        }
        let Ok(tiling) = selection.tiling(&extent, &chunk) else { continue };
        let _ = tiling.chunk_box();
        for number in [0, tiling.len() / 2, tiling.len().saturating_sub(1), tiling.len(), u64::MAX] {
            if let Some(coord) = tiling.touched_in(number..number.saturating_add(1)).next() {
                tiling.parts(&coord, |part| {
                    assert!(part.count() > 0, "{selection:?} of {extent:?} in {chunk:?}");
                });
            }
        }
    }
}

fn dim(input: &mut Input<'_>, len: u64) -> Dim {
    if len == 0 {
        return Dim { start: 0, step: 1, count: 0 };
    }
    let (start, step) = (input.below(len), 1 + input.below(len));
    Dim { start, step, count: input.below(len + 1).min((len - start).div_ceil(step)) }
}

fn axis(input: &mut Input<'_>, len: u64) -> Axis {
    if len == 0 || input.below(2) == 0 {
        return Axis::Range(dim(input, len));
    }
    let count = input.below(9);
    Axis::List((0..count).map(|_| input.below(len)).collect())
}

fn points(input: &mut Input<'_>, extent: &[u64]) -> Selection {
    let count = if extent.is_empty() { 0 } else { input.below(20) };
    let coords: Vec<u64> = (0..count).flat_map(|_| extent.to_vec()).map(|len| input.below(len)).collect();
    Points::new(extent.len(), coords).map_or(Selection::None, Selection::Points)
}

/// Returns the coordinates of the selected elements, in the order of the result.
fn elements(selection: &Selection, extent: &[u64]) -> Vec<Vec<u64>> {
    let lists: Vec<Vec<u64>> = match selection {
        Selection::None => return Vec::new(),
        Selection::Points(points) => return points.iter().map(<[u64]>::to_vec).collect(),
        Selection::All => extent.iter().map(|&len| (0..len).collect()).collect(),
        Selection::Slab(slab) => slab.0.iter().map(|dim| dim.iter().collect()).collect(),
        Selection::Grid(axes) => axes
            .iter()
            .map(|axis| match axis {
                Axis::Range(dim) => dim.iter().collect(),
                Axis::List(list) => list.to_vec(),
            })
            .collect(),
    };
    lists.iter().fold(vec![Vec::new()], |outer, list| {
        outer.iter().flat_map(|at| list.iter().map(|&index| [&at[..], &[index]].concat())).collect()
    })
}

/// Returns every coordinate of an array with the shape `shape`, in row-major order.
fn row_by_row(shape: &[u64]) -> Vec<Vec<u64>> {
    elements(&Selection::All, shape)
}

fn offset(at: &[u64], shape: &[u64]) -> u64 {
    at.iter().zip(shape).fold(0, |offset, (index, len)| offset * len + index)
}

const MAX_ELEMENTS: usize = 2_000;
