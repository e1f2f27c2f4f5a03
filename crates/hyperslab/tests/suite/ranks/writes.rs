//! What the ranks write, and what is then in the file.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyperslab::driver::{Create, Memory, Operation, Posix, Trace};
use hyperslab::filter::{Deflate, Shuffle};
use hyperslab::{DatasetBuilder, Durability, File, Ranks, Transfer, WriteOptions};
use hyperslab_testkit::fuzz::Random;
use hyperslab_testkit::sound::assert_sound;

use super::{changing, creating, run, share, together, write};

type Storage = fn(DatasetBuilder) -> DatasetBuilder;

/// The storages of a dataset of 30 rows of 7 elements.
const STORAGES: [(&str, Storage); 5] = [
    ("contiguous", |new| new),
    ("chunks", |new| new.chunks([4, 3])),
    ("filtered", |new| new.chunks([4, 3]).filter(Shuffle).filter(Deflate::default())),
    ("one_chunk", |new| new.chunks([30, 7]).filter(Deflate::default())),
    ("growing", |new| new.chunks([4, 7]).max_shape([None, Some(7)]).filter(Deflate::default())),
];

#[test]
fn every_rank_writes_its_rows_of_every_storage_and_all_read_them() {
    let expected: Vec<i32> = (0..210).collect();
    for size in 1..=4 {
        let memory = Arc::new(Memory::default());
        run(size, |ranks| {
            let file = creating(&ranks).open_on(memory.clone()).unwrap();
            let rows = share(&ranks, 30);
            for (name, storage) in STORAGES {
                let dataset = storage(file.root().new_dataset::<i32>(name).shape([30, 7])).create().unwrap();
                let mine = &expected[rows.start * 7..rows.end * 7];
                together(&dataset, [rows.start as u64..rows.end as u64, 0..7], mine).unwrap();
                dataset.set_attribute("units", "K").unwrap();
                assert_eq!(dataset.read::<i32>(..).unwrap(), expected, "{name}, before the commit");
            }
            file.close().unwrap();
        });
        let image = memory.bytes();
        assert_sound(&image);
        let file = File::from_bytes(image).unwrap();
        for (name, _) in STORAGES {
            assert_eq!(
                file.dataset(name).unwrap().read::<i32>(..).unwrap(),
                expected,
                "{name}, {size} ranks"
            );
        }
    }
}

#[test]
fn a_file_at_a_path_is_created_and_changed_by_all_ranks() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("shared.h5");
    for turn in 0..2 {
        run(3, |ranks| {
            let options = if turn == 0 { creating(&ranks) } else { changing(&ranks) };
            let file = options.open(&path).unwrap();
            let new = file.root().new_dataset::<i32>(&format!("d{turn}")).shape([9]).chunks([2]);
            let dataset = new.filter(Deflate::default()).create().unwrap();
            let first = 3 * ranks.rank() as u64;
            let value = 10 * turn + i32::try_from(ranks.rank()).unwrap();
            together(&dataset, first..first + 3, &[value; 3]).unwrap();
            file.close().unwrap();
        });
    }
    assert_sound(&std::fs::read(&path).unwrap());
    let file = File::open(&path).unwrap();
    let read = |name: &str| file.dataset(name).unwrap().read::<i32>(..).unwrap();
    assert_eq!(read("d0"), [0, 0, 0, 1, 1, 1, 2, 2, 2]);
    assert_eq!(read("d1"), [10, 10, 10, 11, 11, 11, 12, 12, 12]);
}

#[test]
fn any_boxes_of_any_ranks_are_written_in_chunks_that_they_share() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let size = 2 + random.below(3);
        let mut upto = |limit: usize| 1 + random.below(limit) as u64;
        let shape = [upto(12), upto(12)];
        let chunk = shape.map(|len| upto(usize::try_from(len).unwrap()));
        let is_filtered = upto(2) == 1;
        let mut side = |len: u64| {
            let start = random.below(usize::try_from(len).unwrap()) as u64;
            start..start + random.below(usize::try_from(len - start + 1).unwrap()) as u64
        };
        // Three writes of a box by each rank.
        let boxes: Vec<Vec<[Range<u64>; 2]>> =
            (0..3).map(|_| (0..size).map(|_| shape.map(&mut side)).collect()).collect();
        let memory = Arc::new(Memory::default());
        run(size, |ranks| {
            let file = creating(&ranks).open_on(memory.clone()).unwrap();
            let new = file.root().new_dataset::<i32>("d").shape(shape).chunks(chunk).fill_value(-1);
            let new = if is_filtered { new.filter(Deflate::default()) } else { new };
            let dataset = new.create().unwrap();
            for (round, boxes) in boxes.iter().enumerate() {
                let mine = &boxes[ranks.rank()];
                let count = mine.iter().map(|side| side.end - side.start).product::<u64>();
                let value = i32::try_from(round * 10 + ranks.rank()).unwrap();
                together(&dataset, mine.clone(), &vec![value; usize::try_from(count).unwrap()]).unwrap();
                if round == 1 {
                    file.flush().unwrap();
                }
            }
            file.close().unwrap();
        });
        let image = memory.bytes();
        assert_sound(&image);
        let found: Vec<i32> = File::from_bytes(image).unwrap().dataset("d").unwrap().read(..).unwrap();
        for row in 0..shape[0] {
            for column in 0..shape[1] {
                let value = found[usize::try_from(row * shape[1] + column).unwrap()];
                // The values of the last write that has any.
                let possible = boxes.iter().enumerate().rev().find_map(|(round, boxes)| {
                    let writers = boxes.iter().enumerate();
                    let writers = writers
                        .filter(|(_, [rows, columns])| rows.contains(&row) && columns.contains(&column));
                    let values: Vec<i32> =
                        writers.map(|(rank, _)| i32::try_from(round * 10 + rank).unwrap()).collect();
                    (!values.is_empty()).then_some(values)
                });
                let possible = possible.unwrap_or_else(|| vec![-1]);
                assert!(
                    possible.contains(&value),
                    "seed {seed}: {value} at {row}, {column}: not {possible:?}"
                );
            }
        }
    }
}

/// Ranks that note the largest message that one of them receives.
#[derive(Debug)]
struct Measured {
    ranks: Arc<dyn Ranks>,
    largest: Arc<AtomicUsize>,
}

impl Ranks for Measured {
    fn rank(&self) -> usize {
        self.ranks.rank()
    }

    fn size(&self) -> usize {
        self.ranks.size()
    }

    fn all_gather(&self, mine: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        self.ranks.all_gather(mine)
    }

    fn exchange(&self, to: &[Vec<u8>]) -> io::Result<Vec<Vec<u8>>> {
        let came = self.ranks.exchange(to)?;
        self.largest.fetch_max(came.iter().map(Vec::len).sum(), Ordering::Relaxed);
        Ok(came)
    }
}

#[test]
fn large_chunks_that_ranks_share_are_exchanged_one_after_another() {
    const LEN: u64 = 20 << 20;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("large.h5");
    let largest = Arc::new(AtomicUsize::new(0));
    let owned = run(2, |ranks| {
        let half = ranks.rank() as u64 * LEN / 2..(ranks.rank() as u64 + 1) * LEN / 2;
        let measured = Measured { ranks: Arc::clone(&ranks), largest: Arc::clone(&largest) };
        let trace = Arc::new(Trace::new(Posix::open_writable_unlocked(&path, Create::IfMissing).unwrap()));
        let options = File::options().create(true).truncate(true).ranks(Arc::new(measured));
        let file = options.open_on(trace.clone()).unwrap();
        let dataset = file.root().new_dataset::<u8>("d").shape([3, LEN]).chunks([1, LEN]).create().unwrap();
        let mine = vec![u8::try_from(ranks.rank() + 1).unwrap(); 30 << 20];
        let options = WriteOptions::default().transfer(Transfer::Collective);
        dataset.write_with([0..3, half], &mine, &options).unwrap();
        file.close().unwrap();
        let written =
            |operation: &Operation| matches!(operation, Operation::Write { len, .. } if *len >= LEN);
        trace.take().iter().filter(|operation| written(operation)).count()
    });
    // Both encode chunks.
    assert_eq!(owned, [2, 1]);
    let largest = largest.load(Ordering::Relaxed);
    assert!((10 << 20..11 << 20).contains(&largest), "{largest} bytes");
    let file = File::open(&path).unwrap();
    let found: Vec<u8> = file.dataset("d").unwrap().read(..).unwrap();
    for row in found.chunks(usize::try_from(LEN).unwrap()) {
        let (first, second) = row.split_at(row.len() / 2);
        assert!(first.iter().all(|&value| value == 1) && second.iter().all(|&value| value == 2));
    }
}

#[test]
fn an_existing_file_is_changed_grown_and_shrunk_by_all_ranks() {
    let memory = Arc::new(Memory::default());
    let file = File::options().create(true).open_on(memory.clone()).unwrap();
    let new = file.root().new_dataset::<i32>("d").shape([5]).max_shape([None]).chunks([4]);
    new.filter(Deflate::default()).create_with(&[0, 1, 2, 3, 4]).unwrap();
    file.root().create_group("old").unwrap();
    file.close().unwrap();
    run(3, |ranks| {
        let file = changing(&ranks).open_on(memory.clone()).unwrap();
        let dataset = file.dataset("d").unwrap();
        dataset.resize([23]).unwrap();
        let mine = share(&ranks, 20);
        let values: Vec<i32> = mine.clone().map(|i| 100 + i32::try_from(i).unwrap()).collect();
        together(&dataset, 3 + mine.start as u64..3 + mine.end as u64, &values).unwrap();
        dataset.resize([21]).unwrap();
        file.root().remove("old").unwrap();
        // All have the same elements.
        write(&dataset, 0..2, &[-1, -2], Transfer::Alike).unwrap();
        file.close().unwrap();
    });
    let image = memory.bytes();
    assert_sound(&image);
    let file = File::from_bytes(image).unwrap();
    let expected: Vec<i32> = [-1, -2, 2].into_iter().chain(100..118).collect();
    assert_eq!(file.dataset("d").unwrap().read::<i32>(..).unwrap(), expected);
    assert!(file.group("old").is_err());
}

#[test]
fn one_rank_writes_contiguous_data_alone_and_chunks_not() {
    let memory = Arc::new(Memory::default());
    run(2, |ranks| {
        let file = creating(&ranks).open_on(memory.clone()).unwrap();
        let contiguous = file.root().new_dataset::<i32>("a").shape([4]).fill_value(7).create().unwrap();
        let chunked = file.root().new_dataset::<i32>("b").shape([4]).chunks([2]).create().unwrap();
        if ranks.rank() == 1 {
            write(&contiguous, 1..3, &[1, 2], Transfer::Independent).unwrap();
            let refused = write(&chunked, 0..2, &[1, 2], Transfer::Independent).unwrap_err();
            assert!(refused.to_string().contains("collective write on all ranks"), "{refused}");
        }
        file.close().unwrap();
    });
    let file = File::from_bytes(memory.bytes()).unwrap();
    assert_eq!(file.dataset("a").unwrap().read::<i32>(..).unwrap(), [7, 1, 2, 7]);
    assert_eq!(file.dataset("b").unwrap().read::<i32>(..).unwrap(), [0; 4]);
}

#[test]
fn a_rank_but_the_first_writes_nothing_but_its_elements() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("traced.h5");
    let written = run(2, |ranks| {
        let trace = Arc::new(Trace::new(Posix::open_writable_unlocked(&path, Create::IfMissing).unwrap()));
        let options = creating(&ranks).durability(Durability::Power);
        let file = options.open_on(trace.clone()).unwrap();
        let dataset = file.root().new_dataset::<i32>("d").shape([8]).create().unwrap();
        let mine = share(&ranks, 8);
        together(&dataset, mine.start as u64..mine.end as u64, &[5; 4]).unwrap();
        file.root().create_group("g").unwrap();
        file.flush().unwrap();
        file.close().unwrap();
        let changes = |operation: &Operation| !matches!(operation, Operation::Read { .. });
        trace.take().into_iter().filter(changes).collect::<Vec<_>>()
    });
    let [_, other] = &written[..] else { panic!("two ranks") };
    let [
        Operation::Write { len: 16, .. },
        Operation::Flush { closing: false },
        Operation::Flush { closing: true },
    ] = other[..]
    else {
        panic!("{other:?}")
    };
}

#[test]
fn all_ranks_write_the_same_long_strings() {
    let memory = Arc::new(Memory::default());
    let texts: Vec<String> = (0..3000).map(|i| format!("{i}").repeat(40)).collect();
    run(3, |ranks| {
        let file = creating(&ranks).open_on(memory.clone()).unwrap();
        file.root().new_dataset::<String>("texts").shape([3000]).create_with(&texts).unwrap();
        file.close().unwrap();
    });
    let image = memory.bytes();
    assert_sound(&image);
    assert_eq!(File::from_bytes(image).unwrap().dataset("texts").unwrap().read::<String>(..).unwrap(), texts);
}

#[test]
fn a_dataset_without_a_place_gets_one_by_a_write_of_all_ranks_only() {
    let memory = Arc::new(Memory::default());
    let file = File::options().create(true).open_on(memory.clone()).unwrap();
    file.root().new_dataset::<i32>("late").shape([6]).fill_value(9).create().unwrap();
    file.close().unwrap();
    run(2, |ranks| {
        let file = changing(&ranks).open_on(memory.clone()).unwrap();
        let late = file.dataset("late").unwrap();
        if ranks.rank() == 1 {
            assert!(write(&late, 0..1, &[1], Transfer::Independent).is_err());
        }
        let first = 2 * ranks.rank() as u64;
        together(&late, first..first + 2, &[5; 2]).unwrap();
        file.close().unwrap();
    });
    let image = memory.bytes();
    assert_sound(&image);
    assert_eq!(
        File::from_bytes(image).unwrap().dataset("late").unwrap().read::<i32>(..).unwrap(),
        [5, 5, 5, 5, 9, 9]
    );
}
