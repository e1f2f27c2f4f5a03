//! Resizes datasets and compares their elements with a map in memory.

#![allow(clippy::unwrap_used)] // helpers of tests may panic, as tests do

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use hyperslab::driver::Memory;
use hyperslab::storage::{DatasetOptions, NewStorage};
use hyperslab::{Dataset, Error, File, LibVersion, OpenOptions, RequestError, Selection};
use hyperslab::{Destination, ReadOptions, WriteOptions};
use hyperslab::{Dim, Slab};
use hyperslab_convert::Scalar;
use hyperslab_format::layout::{ChunkIndexInfo, Layout};
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::fill::{AllocationTime, FillBytes};
use hyperslab_format::message::filters::FilterSpec;
use hyperslab_testkit::sound::{assert_accounted, assert_sound};
use proptest::prelude::*;

const FILL: i32 = -7;

/// One kind of dataset: its maximum shape and the storage of its chunks.
#[derive(Debug, Clone)]
struct Kind {
    shape: Vec<u64>,
    max_shape: Vec<Option<u64>>,
    chunk: Vec<u64>,
    is_filtered: bool,
    is_early: bool,
    /// Whether the chunk index is a version 1 B-tree.
    is_old: bool,
}

fn kinds() -> impl Strategy<Value = Kind> {
    let kind = |shape: &[u64], max_shape: &[Option<u64>], chunk: &[u64], is_early| {
        let (shape, max_shape, chunk) = (shape.to_vec(), max_shape.to_vec(), chunk.to_vec());
        Kind { shape, max_shape, chunk, is_filtered: false, is_early, is_old: false }
    };
    let fixed = kind(&[5, 6], &[Some(12), Some(20)], &[4, 3], false);
    let single = kind(&[6, 7], &[Some(6), Some(7)], &[6, 7], false);
    let implicit = kind(&[5, 6], &[Some(12), Some(20)], &[4, 3], true);
    let extensible = kind(&[5, 6], &[Some(12), None], &[4, 3], false);
    let one_axis = kind(&[3], &[None], &[4], false);
    let tree = kind(&[5, 6], &[None, None], &[4, 3], false);
    prop_oneof![
        (prop::sample::select(vec![fixed, single, extensible, one_axis, tree]), any::<[bool; 2]>())
            .prop_map(|(kind, [is_filtered, is_old])| Kind { is_filtered, is_old, ..kind }),
        Just(implicit),
    ]
}

#[derive(Debug, Clone)]
enum Action {
    /// The new length of each axis, in percent of its maximum.
    Resize([u64; 2]),
    /// The first element and the number of elements along each axis, in percent of the axis.
    Write([u64; 2], [u64; 2]),
    Flush,
    Reopen,
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let percent = || prop::array::uniform2(0..=100_u64);
    let action = prop_oneof![
        4 => percent().prop_map(Action::Resize),
        4 => (percent(), percent()).prop_map(|(from, count)| Action::Write(from, count)),
        1 => Just(Action::Flush),
        1 => Just(Action::Reopen),
    ];
    prop::collection::vec(action, 1..16)
}

fn make(kind: &Kind) -> (Arc<Memory>, File) {
    let mut create = OpenOptions::default();
    if kind.is_old {
        create = create.version(LibVersion::V18);
    }
    let driver = Arc::new(Memory::new(Vec::new()));
    let file = create.clone().create(true).truncate(true).open_on(driver.clone()).unwrap();
    let (shape, max_shape) = (kind.shape.clone(), Some(kind.max_shape.clone()));
    let mut options = DatasetOptions::new(Dataspace::Simple { shape, max_shape }, i32::datatype());
    options.storage = NewStorage::Chunked(kind.chunk.clone());
    options.fill = FillBytes::Defined(FILL.to_le_bytes().to_vec());
    if kind.is_filtered {
        options.filters = vec![FilterSpec { id: 1, name: None, flags: 0, client_data: vec![4] }];
    }
    options.allocation = kind.is_early.then_some(AllocationTime::Early);
    file.root().create_dataset("values", &options).unwrap();
    (driver, file)
}

/// The model: the elements that were written and not cut off since.
type Written = BTreeMap<Vec<u64>, i32>;

/// Returns all coordinates of a box, row by row.
fn coords(from: &[u64], count: &[u64]) -> Vec<Vec<u64>> {
    from.iter().zip(count).fold(vec![Vec::new()], |rows, (&from, &count)| {
        let with = |row: &Vec<u64>| {
            (from..from + count).map(|at| [row.as_slice(), &[at]].concat()).collect::<Vec<_>>()
        };
        rows.iter().flat_map(with).collect()
    })
}

fn check(dataset: &Dataset, shape: &[u64], written: &Written) {
    assert_eq!(dataset.shape(), shape);
    let expected: Vec<i32> = coords(&vec![0; shape.len()], shape)
        .iter()
        .map(|coord| written.get(coord).copied().unwrap_or(FILL))
        .collect();
    assert_eq!(dataset.read::<i32>(..).unwrap(), expected);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_resized_dataset_holds_the_elements_that_were_not_cut_off(kind in kinds(), actions in actions()) {
        let (driver, mut file) = make(&kind);
        let mut dataset = file.dataset("values").unwrap();
        let other = file.dataset("values").unwrap();
        let (mut shape, mut written, mut next) = (kind.shape.clone(), Written::new(), 0);
        let mut unknown = 0;
        for action in actions {
            match action {
                Action::Resize(percent) => {
                    let most = kind.max_shape.iter().map(|max| max.unwrap_or(20));
                    shape = most.zip(percent).map(|(most, percent)| most * percent / 100).collect();
                    dataset.resize(&shape).unwrap();
                    written.retain(|coord, _| coord.iter().zip(&shape).all(|(at, len)| at < len));
                }
                Action::Write(from, count) => {
                    let from: Vec<u64> = shape.iter().zip(from).map(|(len, at)| len * at / 101).collect();
                    let count: Vec<u64> = shape.iter().zip(&from).zip(count)
                        .map(|((len, from), percent)| (len - from) * percent / 100).collect();
                    let cells = coords(&from, &count);
                    let values: Vec<i32> = (next..).take(cells.len()).collect();
                    next += 1000;
                    let dims = from.iter().zip(&count).map(|(&start, &count)| Dim { start, step: 1, count });
                    dataset.write(Slab(dims.collect()), &values).unwrap();
                    written.extend(cells.into_iter().zip(values));
                }
                Action::Flush => {
                    assert_accounted(&file, unknown);
                }
                Action::Reopen => {
                    unknown = assert_accounted(&file, unknown).totals.lost_bytes;
                    file = File::options().write(true).open_on(driver.clone()).unwrap();
                    dataset = file.dataset("values").unwrap();
                }
            }
            check(&dataset, &shape, &written);
        }
        if other.file().is_same(&file) {
            check(&other, &shape, &written);
        }
        file.close().unwrap();
        assert_sound(&driver.bytes());
        let file = File::options().open_on(driver).unwrap();
        check(&file.dataset("values").unwrap(), &shape, &written);
    }
}

#[test]
fn resizing_to_an_invalid_shape_is_refused_and_changes_nothing() {
    let kind = Kind {
        shape: vec![5, 6],
        max_shape: vec![Some(12), None],
        chunk: vec![4, 3],
        is_filtered: false,
        is_early: false,
        is_old: false,
    };
    let (_, file) = make(&kind);
    let dataset = file.dataset("values").unwrap();
    let refused = |shape: &[u64]| match dataset.resize(shape).unwrap_err().root() {
        Error::Request(error) => error.clone(),
        other => panic!("{other}"),
    };
    assert_eq!(refused(&[13, 6]), RequestError::MaxShape { axis: 0, len: 13, max: 12 });
    assert_eq!(refused(&[5]), RequestError::Length { what: "shape", given: 1, expected: 2 });
    assert!(matches!(refused(&[12, u64::MAX / 4]), RequestError::Argument { .. }));
    assert_eq!(dataset.shape(), [5, 6]);
    let plain = file.root().new_dataset::<i32>("plain").shape([3]).create().unwrap();
    assert!(plain.resize([2]).unwrap_err().to_string().contains("not stored in chunks"));
    assert!(plain.resize([4]).unwrap_err().to_string().contains("maximum is 3"));
    assert_accounted(&file, 0);
}

#[test]
fn a_dataset_without_a_maximum_shape_shrinks_and_grows_back_to_its_first_shape() {
    let driver = Arc::new(Memory::new(Vec::new()));
    let file = File::options().create(true).truncate(true).open_on(driver.clone()).unwrap();
    let new = file.root().new_dataset::<i32>("values").shape([10, 10]).chunks([3, 4]);
    let dataset = new.create_with(&(0..100).collect::<Vec<i32>>()).unwrap();
    dataset.resize([7, 5]).unwrap();
    file.close().unwrap();
    let file = File::options().write(true).open_on(driver.clone()).unwrap();
    let dataset = file.dataset("values").unwrap();
    assert!(dataset.resize([11, 10]).is_err());
    dataset.resize([10, 10]).unwrap();
    let expected: Vec<i32> = (0..100).map(|k| if k / 10 < 7 && k % 10 < 5 { k } else { 0 }).collect();
    assert_eq!(dataset.read::<i32>(..).unwrap(), expected);
    file.close().unwrap();
    assert_sound(&driver.bytes());
}

#[test]
fn the_space_of_chunks_cut_off_by_a_resize_is_reused() {
    let kind = Kind {
        shape: vec![0],
        max_shape: vec![None],
        chunk: vec![256],
        is_filtered: false,
        is_early: false,
        is_old: false,
    };
    let (_, file) = make(&kind);
    let dataset = file.dataset("values").unwrap();
    let mut lengths = Vec::new();
    for _ in 0..6 {
        dataset.resize([256 * 100]).unwrap();
        dataset.write(.., &vec![1; 256 * 100]).unwrap();
        file.flush().unwrap();
        assert_eq!(dataset.stored_chunks().unwrap(), 100);
        dataset.resize([10]).unwrap();
        file.flush().unwrap();
        assert_eq!(dataset.stored_chunks().unwrap(), 1);
        lengths.push(file.store().len_bytes());
        assert_accounted(&file, 0);
    }
    assert!(lengths[5] <= lengths[1], "{lengths:?}");
}

#[test]
fn unfiltered_edge_chunks_become_filtered_when_a_resize_makes_them_whole() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden/files/unfiltered_edges.h5");
    let driver = Arc::new(Memory::new(std::fs::read(path).unwrap()));
    let mut file = File::options().write(true).open_on(driver.clone()).unwrap();
    let mut tried = 0;
    for name in file.root().names().unwrap() {
        let mut dataset = file.dataset(&name).unwrap();
        let Layout::Chunked(layout) = dataset.layout() else { continue };
        if !layout.unfiltered_edges || matches!(layout.index, ChunkIndexInfo::BTree1 { .. }) {
            continue;
        }
        let shape = dataset.shape();
        let all = read(&dataset, &Selection::All);
        let smaller: Vec<u64> = shape.iter().map(|len| len.saturating_sub(3).max(1)).collect();
        let max = dataset.max_shape().unwrap_or_else(|| shape.iter().map(|&len| Some(len)).collect());
        let larger: Vec<u64> = shape.iter().zip(&max).map(|(&len, max)| max.unwrap_or(len + 11)).collect();
        let inner = Slab(smaller.iter().map(|&count| Dim { start: 0, step: 1, count }).collect());
        let kept = read(&dataset, &inner.clone().into());
        for (step, to) in [&larger, &shape, &smaller, &larger, &shape].into_iter().enumerate() {
            dataset.resize(to).unwrap();
            file.flush().unwrap();
            assert_sound(&driver.bytes());
            file = File::options().write(true).open_on(driver.clone()).unwrap();
            dataset = file.dataset(&name).unwrap();
            assert_eq!(read(&dataset, &inner.clone().into()), kept, "{name}, step {step}");
            if step == 1 {
                assert_eq!(read(&dataset, &Selection::All), all, "{name}");
            }
        }
        tried += 1;
    }
    assert!(tried >= 3, "{tried} datasets");
}

fn read(dataset: &Dataset, what: &Selection) -> Vec<u8> {
    let count = usize::try_from(what.count(&dataset.shape()).unwrap()).unwrap();
    let mut bytes = vec![0; count * dataset.element_size()];
    dataset.read_into(what, &mut bytes).unwrap();
    bytes
}

/// Readers run while a dataset loses one row after another. Each read returns the elements of a single shape.
#[test]
fn a_read_during_a_resize_sees_a_single_shape() {
    for (is_filtered, max) in [(false, None), (true, None), (true, Some(60)), (false, Some(60))] {
        let driver = Arc::new(Memory::new(Vec::new()));
        let mut create = OpenOptions::default();
        // The cache is so small that some chunks are evicted and others stay.
        create = create.chunk_cache_bytes(500);
        let file = create.clone().create(true).truncate(true).open_on(driver.clone()).unwrap();
        let space = Dataspace::Simple { shape: vec![60, 5], max_shape: Some(vec![max, Some(5)]) };
        let mut options = DatasetOptions::new(space, i32::datatype());
        options.storage = NewStorage::Chunked(vec![7, 3]);
        let deflate = FilterSpec { id: 1, name: None, flags: 0, client_data: vec![1] };
        options.filters = if is_filtered { vec![deflate] } else { Vec::new() };
        let values: Vec<i32> = (1..=300).collect();
        for round in 0..12 {
            let path = round.to_string();
            let dataset = file.root().create_dataset(&path, &options).unwrap();
            dataset.write(Selection::All, &values).unwrap();
            file.flush().unwrap();
            std::thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        // Each reader has its own handle, which has to notice the new shape by itself.
                        let dataset = file.dataset(&path).unwrap();
                        let mut reads = 0;
                        loop {
                            let found = dataset.read::<i32>(Selection::All).unwrap();
                            assert_eq!(found, values[..found.len()], "after {reads} reads");
                            reads += 1;
                            if found.len() <= 5 {
                                break;
                            }
                        }
                    });
                }
                (1..60).rev().for_each(|rows| dataset.resize([rows, 5]).unwrap());
            });
            // A read or write for an outdated shape is refused.
            let mut place = vec![0_u8; 20];
            let read = dataset.read_shaped(
                Some(&[60, 5]),
                &Selection::All,
                &mut Destination::contiguous(&mut place),
                &ReadOptions::default(),
            );
            assert!(read.unwrap_err().is_reshaped());
            let bytes = &i32::bytes(&values)[..20];
            let written = dataset.write_shaped(&[5, 1], &Selection::All, bytes, &WriteOptions::default());
            assert!(written.unwrap_err().is_reshaped());
            dataset.write_shaped(&[1, 5], &Selection::All, bytes, &WriteOptions::default()).unwrap();
            assert_eq!(dataset.read::<i32>(Selection::All).unwrap(), values[..5]);
        }
        file.close().unwrap();
        assert_sound(&driver.bytes());
    }
}

#[test]
fn readers_that_overlap_without_a_gap_do_not_keep_a_resize_waiting() {
    let file = File::in_memory().unwrap();
    let dataset = file.root().new_dataset::<i32>("d").shape([8]).chunks([4]).create_with(&[1; 8]).unwrap();
    let (is_shrunk, blocks) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for reader in 0..2 {
            let (file, is_shrunk, blocks) = (&file, &is_shrunk, &blocks);
            scope.spawn(move || {
                let dataset = file.dataset("d").unwrap();
                // A read of one thread ends while a read of the other thread is half done.
                std::thread::sleep(Duration::from_millis(80 * reader));
                let slow = |_: hyperslab::Block<'_>| {
                    blocks.fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(80));
                    Ok(())
                };
                let one = Some(std::num::NonZeroUsize::MIN);
                let reads = (0..30).take_while(|_| !is_shrunk.load(Ordering::Acquire));
                let reads = reads.map(|_| dataset.blocks(.., &[], one, &slow).unwrap()).count();
                assert!(reads < 30, "the resize waited for the last of {reads} reads");
            });
        }
        // Both threads are reading after a few blocks.
        while blocks.load(Ordering::Relaxed) < 4 {
            std::thread::yield_now();
        }
        dataset.resize([4]).unwrap();
        is_shrunk.store(true, Ordering::Release);
    });
    assert_accounted(&file, 0);
}
