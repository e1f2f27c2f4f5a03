//! Compares the elements that `Dataset::blocks` passes to its sink with the elements that a read returns.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Mutex;

use hyperslab::Block;
use hyperslab::{Dataset, File, Selection};
use hyperslab_testkit::golden::Manifest;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Returns the elements of a selection by coordinate, as `Dataset::blocks` passes them. Panics if an element
/// comes twice.
fn by_blocks(dataset: &Dataset, what: &Selection, columns: &[Range<usize>]) -> HashMap<Vec<u64>, Vec<u8>> {
    let size = if columns.is_empty() { dataset.element_size() } else { columns.iter().map(Range::len).sum() };
    let found: Mutex<HashMap<Vec<u64>, Vec<u8>>> = Mutex::default();
    let sink = |block: Block<'_>| {
        let mut found = found.lock().unwrap();
        assert_eq!(block.iter().len(), block.count);
        assert_eq!(block.elements.len(), if block.is_repeated() { size } else { block.count * size });
        for (number, element) in block.iter().enumerate() {
            let mut rest = block.first + number;
            let mut coord = block.piece.to_vec();
            for (at, len) in coord.iter_mut().zip(block.piece_shape).rev() {
                *at += (rest % len) as u64;
                rest /= len;
            }
            assert!(found.insert(coord, element.to_vec()).is_none(), "an element came twice");
        }
        Ok(())
    };
    dataset.blocks(what, columns, NonZeroUsize::new(2), &sink).unwrap();
    found.into_inner().unwrap()
}

/// Returns the elements of a selection by coordinate, taken from a read of the whole dataset.
fn by_read(dataset: &Dataset, starts: &[u64], steps: &[u64], counts: &[u64]) -> HashMap<Vec<u64>, Vec<u8>> {
    let (shape, size) = (dataset.shape(), dataset.element_size());
    let mut all = vec![0; usize::try_from(dataset.size()).unwrap() * size];
    dataset.read_into(.., &mut all).unwrap();
    let total: u64 = counts.iter().product();
    let coord = |mut number: u64| {
        let mut coord = vec![0; shape.len()];
        for axis in (0..shape.len()).rev() {
            coord[axis] = starts[axis] + number % counts[axis] * steps[axis];
            number /= counts[axis];
        }
        coord
    };
    (0..total)
        .map(coord)
        .map(|coord| {
            let at = coord.iter().zip(&shape).fold(0, |at, (index, len)| at * len + index);
            let at = usize::try_from(at).unwrap() * size;
            (coord, all[at..at + size].to_vec())
        })
        .collect()
}

#[test]
fn blocks_pass_each_selected_element_once_with_the_requested_columns() {
    let mut compared = 0;
    let mut runner = TestRunner::new(Config { cases: 3, failure_persistence: None, ..Config::default() });
    for (entry, path) in Manifest::load().present().filter(|(entry, _)| !entry.damaged) {
        let file = File::open(&path).unwrap();
        for dataset in entry.datasets.iter().filter(|dataset| !dataset.refused) {
            let Ok(dataset) = file.dataset(&dataset.path) else { continue };
            if dataset.is_virtual() {
                continue; // its sources have blocks
            }
            let readable =
                dataset.read_into(.., &mut vec![0; usize::try_from(dataset.len_bytes()).unwrap()]).is_ok();
            if !readable || dataset.size() == 0 || dataset.size() > 5000 || dataset.shape().is_empty() {
                continue;
            }
            let size = dataset.element_size();
            let axis = |len: u64| {
                (0..len, 1..4_u64).prop_flat_map(move |(start, step)| {
                    (Just(start), Just(step), 1..=(len - start).div_ceil(step))
                })
            };
            let axes: Vec<_> = dataset.shape().into_iter().map(axis).collect();
            let columns = prop::collection::vec((0..size, 1..=size), 0..3);
            runner
                .run(&(axes, columns), |(axes, columns)| {
                    let columns: Vec<Range<usize>> =
                        columns.into_iter().map(|(at, len)| at..(at + len).min(size)).collect();
                    let part = |number: usize| -> Vec<u64> {
                        axes.iter().map(|&(start, step, count)| [start, step, count][number]).collect()
                    };
                    let (starts, steps, counts) = (part(0), part(1), part(2));
                    let dims = axes.iter().map(|&(start, step, count)| hyperslab::Dim { start, step, count });
                    let what = Selection::Slab(hyperslab::Slab(dims.collect()));
                    let mut expected = by_read(&dataset, &starts, &steps, &counts);
                    if !columns.is_empty() {
                        for element in expected.values_mut() {
                            *element =
                                columns.iter().flat_map(|range| element[range.clone()].to_vec()).collect();
                        }
                    }
                    prop_assert_eq!(by_blocks(&dataset, &what, &columns), expected);
                    Ok(())
                })
                .unwrap_or_else(|error| panic!("{}: {error}", dataset.path()));
            compared += 1;
        }
    }
    assert!(compared > 150, "only {compared} datasets compared");
}

#[test]
fn an_error_from_the_sink_ends_the_read_and_columns_out_of_bounds_are_refused() {
    let (_, path) =
        Manifest::load().present().find(|(entry, _)| entry.name == "extensible_array_v110.h5").unwrap();
    let file = File::open(&path).unwrap();
    let names = file.root().names().unwrap();
    let dataset = names.iter().find_map(|name| file.dataset(name).ok()).unwrap();
    let refusal = || hyperslab::RequestError::Argument { what: "this".into(), why: "enough" };
    let failed = dataset.blocks(.., &[], None, &|_| Err(refusal().into()));
    assert!(failed.unwrap_err().to_string().contains("enough"));
    let size = dataset.element_size();
    for column in [0..size + 1, 1..1] {
        let columns = std::slice::from_ref(&column);
        assert!(dataset.blocks(.., columns, None, &|_| Ok(())).is_err());
    }
}
