//! Datasets that do not store chunks in which every element is the fill value, compared with a map in memory.

#![allow(clippy::unwrap_used)] // helpers of tests may panic, as tests do

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab::Element;
use hyperslab::driver::Memory;
use hyperslab::storage::{DatasetOptions, NewStorage};
use hyperslab::{Dataset, File, LibVersion, OpenOptions, Selection};
use hyperslab::{Dim, Slab};
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::fill::{AllocationTime, FillBytes, FillTime};
use hyperslab_format::message::filters::FilterSpec;
use hyperslab_testkit::fuzz::Random;
use hyperslab_testkit::late::Gates;
use hyperslab_testkit::sound::assert_accounted;
use proptest::prelude::*;

const FILL: i32 = -7;
const CHUNK: [u64; 2] = [4, 3];

/// One kind of dataset.
#[derive(Debug, Clone)]
struct Kind {
    max_shape: [Option<u64>; 2],
    chunk: [u64; 2],
    is_filtered: bool,
    /// Whether the chunk index is a version 1 B-tree.
    is_old: bool,
    /// Whether the fill value is the default of the datatype, zero.
    has_zeros: bool,
}

impl Kind {
    fn fill(&self) -> i32 {
        if self.has_zeros { 0 } else { FILL }
    }

    fn options(&self) -> DatasetOptions {
        let max_shape = Some(self.max_shape.to_vec());
        let mut options =
            DatasetOptions::new(Dataspace::Simple { shape: vec![5, 6], max_shape }, i32::datatype());
        options.storage = NewStorage::Chunked(self.chunk.to_vec());
        if !self.has_zeros {
            options.fill = FillBytes::Defined(FILL.to_le_bytes().to_vec());
        }
        if self.is_filtered {
            options.filters = vec![FilterSpec { id: 1, name: None, flags: 0, client_data: vec![4] }];
        }
        options.skip_fill_chunks = Some(true);
        options
    }
}

fn kinds() -> impl Strategy<Value = Kind> {
    let single = ([Some(5), Some(6)], [5, 6]);
    let others = [[Some(12), Some(20)], [Some(12), None], [None, None]].map(|max_shape| (max_shape, CHUNK));
    let shapes = [single].into_iter().chain(others).collect::<Vec<_>>();
    (prop::sample::select(shapes), any::<[bool; 3]>()).prop_map(
        |((max_shape, chunk), [is_filtered, is_old, has_zeros])| Kind {
            max_shape,
            chunk,
            is_filtered,
            is_old,
            has_zeros,
        },
    )
}

#[derive(Debug, Clone)]
enum Action {
    /// The new length of each axis, in percent of its maximum.
    Resize([u64; 2]),
    /// The first element and the number of elements along each axis, in percent of the axis. Every `n`-th
    /// element, with `n` the third number, is not the fill value.
    Write([u64; 2], [u64; 2], usize),
    /// Writes the whole dataset; every `n`-th element is not the fill value.
    WriteAll(usize),
    Flush,
    Reopen,
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let percent = || prop::array::uniform2(0..=100_u64);
    let every = || prop::sample::select(vec![1_usize, 13, 1000, 1000]);
    let action = prop_oneof![
        2 => percent().prop_map(Action::Resize),
        4 => (percent(), percent(), every()).prop_map(|(from, count, every)| Action::Write(from, count, every)),
        2 => every().prop_map(Action::WriteAll),
        2 => Just(Action::Flush),
        1 => Just(Action::Reopen),
    ];
    prop::collection::vec(action, 1..16)
}

/// The elements that are not the fill value.
type Model = BTreeMap<[u64; 2], i32>;

fn coords(from: [u64; 2], count: [u64; 2]) -> impl Iterator<Item = [u64; 2]> {
    (from[0]..from[0] + count[0])
        .flat_map(move |row| (from[1]..from[1] + count[1]).map(move |column| [row, column]))
}

fn stored(dataset: &Dataset) -> BTreeSet<Vec<u64>> {
    let mut found = BTreeSet::new();
    let mut note = |coord: &[u64], _| {
        found.insert(coord.to_vec());
        ControlFlow::Continue(())
    };
    dataset.visit_chunks(&mut note).unwrap();
    found
}

/// Asserts that the dataset has the shape and the elements of the model.
fn check(dataset: &Dataset, kind: &Kind, shape: [u64; 2], model: &Model) {
    let expected: Vec<i32> =
        coords([0, 0], shape).map(|at| model.get(&at).copied().unwrap_or(kind.fill())).collect();
    assert_eq!(dataset.read::<i32>(..).unwrap(), expected);
}

fn check_chunks(dataset: &Dataset, kind: &Kind, model: &Model) {
    let expected: BTreeSet<Vec<u64>> =
        model.keys().map(|at| vec![at[0] / kind.chunk[0], at[1] / kind.chunk[1]]).collect();
    assert_eq!(stored(dataset), expected);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn only_chunks_with_an_element_other_than_the_fill_value_are_stored(kind in kinds(), actions in actions()) {
        let mut create = OpenOptions::default();
        if kind.is_old {
            create = create.version(LibVersion::V18);
        }
        let driver = Arc::new(Memory::new(Vec::new()));
        let mut file = create.clone().create(true).truncate(true).open_on(driver.clone()).unwrap();
        let mut dataset = file.root().create_dataset("values", &kind.options()).unwrap();
        let (mut shape, mut model, mut next, mut unknown) = ([5, 6], Model::new(), 0, 0);
        for action in actions.into_iter().chain([Action::Flush]) {
            let write = |from: [u64; 2], count: [u64; 2], every: usize, model: &mut Model, next: &mut usize| {
                let values: Vec<i32> = coords(from, count).map(|at| {
                    *next += 1;
                    if next.is_multiple_of(every) {
                        let value = i32::try_from(*next).unwrap();
                        model.insert(at, value);
                        value
                    } else {
                        model.remove(&at);
                        kind.fill()
                    }
                }).collect();
                let dims = from.iter().zip(count).map(|(&start, count)| Dim { start, step: 1, count });
                dataset.write(Slab(dims.collect()), &values).unwrap();
            };
            match action {
                Action::Resize(percent) => {
                    let most = kind.max_shape.map(|max| max.unwrap_or(20));
                    shape = [most[0] * percent[0] / 100, most[1] * percent[1] / 100];
                    dataset.resize(shape).unwrap();
                    model.retain(|at, _| at[0] < shape[0] && at[1] < shape[1]);
                }
                Action::Write(from, count, every) => {
                    let from = [shape[0] * from[0] / 101, shape[1] * from[1] / 101];
                    let count = [(shape[0] - from[0]) * count[0] / 100, (shape[1] - from[1]) * count[1] / 100];
                    write(from, count, every, &mut model, &mut next);
                }
                Action::WriteAll(every) => write([0, 0], shape, every, &mut model, &mut next),
                Action::Flush => {
                    assert_accounted(&file, unknown);
                    check_chunks(&dataset, &kind, &model);
                }
                Action::Reopen => {
                    unknown = assert_accounted(&file, unknown).totals.lost_bytes;
                    drop((dataset, file));
                    file = create.clone().write(true).open_on(driver.clone()).unwrap();
                    file.set_skip_fill_chunks(true);
                    dataset = file.dataset("values").unwrap();
                    assert!(dataset.skips_fill_chunks());
                }
            }
            check(&dataset, &kind, shape, &model);
        }
    }
}

fn kind(is_filtered: bool) -> Kind {
    Kind { max_shape: [Some(12), None], chunk: CHUNK, is_filtered, is_old: false, has_zeros: false }
}

fn write_all(dataset: &Dataset, value: i32) {
    dataset.write(Selection::All, &[value; 30]).unwrap();
}

#[test]
fn a_chunk_is_stored_if_readers_would_not_take_its_absence_for_the_fill_value() {
    let file = File::in_memory().unwrap();
    let made = |name: &str, change: fn(&mut DatasetOptions)| {
        let mut options = kind(false).options();
        change(&mut options);
        let dataset = file.root().create_dataset(name, &options).unwrap();
        write_all(&dataset, if options.fill == FillBytes::Undefined { 0 } else { FILL });
        file.flush().unwrap();
        dataset.stored_chunks().unwrap()
    };
    assert_eq!(made("sparse", |_| ()), 0);
    assert_eq!(made("late", |options| options.allocation = Some(AllocationTime::Late)), 0);
    assert_eq!(made("always", |options| options.fill_time = FillTime::OnAllocation), 0);
    assert_eq!(made("not asked for", |options| options.skip_fill_chunks = None), 4);
    assert_eq!(made("never", |options| options.fill_time = FillTime::Never), 4);
    assert_eq!(made("early", |options| options.allocation = Some(AllocationTime::Early)), 4);
    assert_eq!(
        made("implicit", |options| {
            options.allocation = Some(AllocationTime::Early);
            options.dataspace = Dataspace::Simple { shape: vec![5, 6], max_shape: None };
        }),
        4
    );
    assert_eq!(made("undefined", |options| options.fill = FillBytes::Undefined), 4);
    assert_accounted(&file, 0);
}

#[test]
fn the_skip_fill_setting_of_a_deleted_dataset_does_not_apply_to_a_new_one_at_its_address() {
    let file = File::in_memory().unwrap();
    let mut options = kind(true).options();
    options.skip_fill_chunks = None;
    // Creates datasets until one gets the address of the deleted dataset.
    let next_at = |gone: &Dataset| {
        let make = |turn| {
            file.flush().unwrap();
            let name = format!("{} {turn}", gone.path());
            file.root().create_dataset(&name, &options).unwrap()
        };
        (0..20).map(make).find(|made| made.address() == gone.address()).unwrap()
    };
    let first = file.root().create_dataset("first", &kind(true).options()).unwrap();
    let again = file.dataset("first").unwrap();
    assert!(
        first.skips_fill_chunks() && again.skips_fill_chunks(),
        "the setting applies to all handles of the dataset"
    );
    file.root().remove("first").unwrap();
    assert!(!next_at(&first).skips_fill_chunks());
    file.begin_transaction().unwrap();
    let third = file.root().create_dataset("third", &kind(true).options()).unwrap();
    file.end_transaction(false).unwrap();
    let fourth = next_at(&third);
    assert!(!fourth.skips_fill_chunks());
    file.set_skip_fill_chunks(true);
    assert!(fourth.skips_fill_chunks());
    fourth.set_skip_fill_chunks(false);
    assert!(!fourth.skips_fill_chunks(), "the setting of a dataset overrides the setting of the file");
    assert_accounted(&file, 0);
}

#[test]
fn a_chunk_with_other_elements_than_the_fill_value_beyond_the_shape_is_stored() {
    let file = File::in_memory().unwrap();
    let dataset = file.root().create_dataset("values", &kind(false).options()).unwrap();
    // A chunk as another program may have left it. It has rows 4 to 7, and only row 4 is part of the dataset.
    let rows = [[FILL; 3], [9; 3], [9; 3], [9; 3]].concat();
    let bytes: Vec<u8> = rows.into_iter().flat_map(i32::to_le_bytes).collect();
    dataset.write_stored_chunk(&[4, 0], 0, &bytes).unwrap();
    dataset.write([4..5, 0..1], &[FILL]).unwrap();
    file.flush().unwrap();
    assert_eq!(dataset.stored_chunks().unwrap(), 1);
    // Writing the whole chunk puts the fill value beyond the shape.
    dataset.write([4..5, 0..3], &[FILL; 3]).unwrap();
    file.flush().unwrap();
    assert_eq!(dataset.stored_chunks().unwrap(), 0);
    assert_accounted(&file, 0);
}

#[test]
fn rolling_back_a_transaction_restores_chunks_that_it_removed() {
    for is_filtered in [false, true] {
        let file = File::in_memory().unwrap();
        let dataset = file.root().create_dataset("values", &kind(is_filtered).options()).unwrap();
        write_all(&dataset, 5);
        file.begin_transaction().unwrap();
        write_all(&dataset, FILL);
        assert_eq!(dataset.stored_chunks().unwrap(), 0);
        file.end_transaction(false).unwrap();
        assert_eq!(dataset.stored_chunks().unwrap(), 4);
        assert_eq!(dataset.read::<i32>(..).unwrap(), [5; 30]);
        assert_accounted(&file, 0);
    }
}

#[test]
fn rolling_back_a_transaction_restores_chunks_without_filters() {
    let file = File::in_memory().unwrap();
    let dataset = file.root().create_dataset("values", &kind(false).options()).unwrap();
    write_all(&dataset, 5);
    for is_kept in [false, true] {
        file.begin_transaction().unwrap();
        // Twice: the second write must not reuse the place of the committed chunk.
        write_all(&dataset, 6);
        write_all(&dataset, 7);
        dataset.write([0..1, 0..1], &[8]).unwrap();
        file.end_transaction(is_kept).unwrap();
        let mut expected = [if is_kept { 7 } else { 5 }; 30];
        expected[0] = if is_kept { 8 } else { 5 };
        assert_eq!(dataset.read::<i32>(..).unwrap(), expected);
        assert_accounted(&file, 0);
    }
}

/// A chunk without filters is written in place. Until that write is done, no thread may remove the chunk and
/// reuse its space.
#[test]
fn a_chunk_is_not_removed_while_it_is_written_in_place() {
    let chunk = |value: i32| vec![value; 64];
    let bytes: Vec<u8> = chunk(2).into_iter().flat_map(i32::to_le_bytes).collect();
    let (gates, driver) = Gates::new(vec![Box::new(move |_, src| src == bytes)]);
    let file = File::options().create(true).truncate(true).open_on(driver.clone()).unwrap();
    let mut options = kind(false).options();
    options.dataspace = Dataspace::Simple { shape: vec![192], max_shape: Some(vec![None]) };
    options.storage = NewStorage::Chunked(vec![64]);
    let dataset = file.root().create_dataset("values", &options).unwrap();
    dataset.write(0..64, &chunk(1)).unwrap();
    // This chunk comes after the first, so that the first is not at the end of the file.
    dataset.write(128..192, &chunk(1)).unwrap();
    std::thread::scope(|scope| {
        let other = dataset.clone();
        scope.spawn(move || other.write(0..64, &[2; 64]).unwrap());
        gates.wait(0);
        dataset.write(0..64, &chunk(FILL)).unwrap();
        file.flush().unwrap();
        dataset.write(64..128, &chunk(3)).unwrap();
        gates.go_on(0);
    });
    assert_eq!(dataset.read::<i32>(0..64).unwrap(), chunk(FILL));
    assert_eq!(dataset.read::<i32>(64..128).unwrap(), chunk(3));
    assert_accounted(&file, 0);
}

#[test]
fn threads_that_fill_and_empty_chunks_see_only_whole_writes() {
    const CHUNKS: u64 = 3;
    // Each chunk has its own value, so an element from another chunk would be noticed.
    let own = |at: u64| i32::try_from(at / 64).unwrap() + 1;
    for is_filtered in [false, true] {
        let file = File::in_memory().unwrap();
        let mut options = kind(is_filtered).options();
        options.dataspace = Dataspace::Simple { shape: vec![64 * CHUNKS], max_shape: Some(vec![None]) };
        options.storage = NewStorage::Chunked(vec![64]);
        let dataset = file.root().create_dataset("values", &options).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (file, dataset) = (&file, file.dataset("values").unwrap());
                scope.spawn(move || {
                    let mut random = Random::new(thread + 1);
                    for turn in 0..2000 {
                        let at = random.u64() % CHUNKS * 64;
                        let value = if random.u64().is_multiple_of(2) { FILL } else { own(at) };
                        let len = if turn % 101 == 0 { 32 } else { 64 };
                        dataset.write(at..at + len, &vec![value; usize::try_from(len).unwrap()]).unwrap();
                        let found: Vec<i32> = dataset.read(at..at + 64).unwrap();
                        let is_whole =
                            found.chunks(32).all(|half| half.iter().all(|value| *value == half[0]));
                        assert!(
                            is_whole && found.iter().all(|value| [FILL, own(at)].contains(value)),
                            "{found:?}"
                        );
                        if turn % 500 == 0 {
                            file.flush().unwrap();
                        }
                    }
                });
            }
        });
        assert_accounted(&file, 0);
        let values: Vec<i32> = dataset.read(Selection::All).unwrap();
        let held = values.chunks(64).filter(|chunk| chunk.iter().any(|value| *value != FILL)).count();
        assert_eq!(dataset.stored_chunks().unwrap(), held as u64);
    }
}
