//! Files that several ranks change together. The ranks are threads with a handle each; the medium is shared.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use hyperslab::driver::{Create, Driver, Hints, Memory, Operation, Posix, Trace};
use hyperslab::filter::{Deflate, Shuffle};
use hyperslab::{
    Dataset, DatasetBuilder, Durability, Element, Error, File, OpenOptions, Ranks, Result, Selection,
    Transfer, WriteOptions,
};
use hyperslab_testkit::crash::{CrashDriver, Failure, Written};
use hyperslab_testkit::fuzz::Random;
use hyperslab_testkit::sound::assert_sound;

/// The place where threads meet.
#[derive(Debug)]
struct Room {
    barrier: Barrier,
    messages: Mutex<Vec<Vec<Vec<u8>>>>,
}

/// One thread in the role of a rank.
#[derive(Debug)]
struct Thread {
    rank: usize,
    size: usize,
    room: Arc<Room>,
}

impl Ranks for Thread {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn all_gather(&self, mine: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        self.exchange(&vec![mine.to_vec(); self.size])
    }

    fn exchange(&self, to: &[Vec<u8>]) -> io::Result<Vec<Vec<u8>>> {
        self.room.messages.lock().unwrap()[self.rank] = to.to_vec();
        self.room.barrier.wait();
        let messages = self.room.messages.lock().unwrap();
        let mine = messages.iter().map(|to| to[self.rank].clone()).collect();
        drop(messages);
        self.room.barrier.wait();
        Ok(mine)
    }
}

/// Runs `work` as each of `size` ranks. Returns their results.
fn run<R: Send>(size: usize, work: impl Fn(Arc<dyn Ranks>) -> R + Sync) -> Vec<R> {
    let messages = Mutex::new(vec![Vec::new(); size]);
    let room = Arc::new(Room { barrier: Barrier::new(size), messages });
    thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..size)
            .map(|rank| {
                let thread = Thread { rank, size, room: Arc::clone(&room) };
                scope.spawn(move || work(Arc::new(thread)))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn creating(ranks: &Arc<dyn Ranks>) -> OpenOptions {
    File::options().create(true).truncate(true).ranks(Arc::clone(ranks))
}

fn changing(ranks: &Arc<dyn Ranks>) -> OpenOptions {
    File::options().write(true).ranks(Arc::clone(ranks))
}

fn bytes(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

fn write(dataset: &Dataset, what: impl Into<Selection>, values: &[i32], transfer: Transfer) -> Result<()> {
    let options = WriteOptions::default().datatype(i32::datatype()).transfer(transfer);
    dataset.write_with(what, &bytes(values), &options)
}

fn together(dataset: &Dataset, what: impl Into<Selection>, values: &[i32]) -> Result<()> {
    write(dataset, what, values, Transfer::Collective)
}

/// The rows of a rank, of `rows`.
fn share(ranks: &Arc<dyn Ranks>, rows: usize) -> Range<usize> {
    let (rank, size) = (ranks.rank(), ranks.size());
    rows * rank / size..rows * (rank + 1) / size
}

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

/// Commits a dataset of 4 elements, and has `work` change it. Returns the errors, and the image.
fn failing(work: impl Fn(&File, usize) -> Result<()> + Sync) -> (Vec<String>, Vec<u8>) {
    let memory = Arc::new(Memory::default());
    let errors = run(3, |ranks| {
        let file = creating(&ranks).open_on(memory.clone()).unwrap();
        let new = file.root().new_dataset::<i32>("d").shape([6]).chunks([4]).filter(Deflate::default());
        new.create_with(&[1, 2, 3, 4, 5, 6]).unwrap();
        file.flush().unwrap();
        let error = work(&file, ranks.rank()).unwrap_err();
        // What follows is the same on all ranks.
        drop(file);
        error.to_string()
    });
    (errors, memory.bytes())
}

#[track_caller]
fn assert_as_committed(image: Vec<u8>) {
    assert_sound(&image);
    let file = File::from_bytes(image).unwrap();
    assert_eq!(file.root().names().unwrap(), ["d"]);
    assert_eq!(file.dataset("d").unwrap().read::<i32>(..).unwrap(), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_write_that_one_rank_cannot_make_fails_on_all_and_the_next_succeeds() {
    let (errors, image) = failing(|file, rank| {
        let dataset = file.dataset("d").unwrap();
        let what = if rank == 1 { 5..9 } else { 0..4 };
        let failed = together(&dataset, what, &[0; 4]).unwrap_err();
        // The ranks are at the same step still.
        together(&dataset, 2 * rank as u64..2 * rank as u64 + 2, &[7; 2]).unwrap();
        assert_eq!(dataset.read::<i32>(..).unwrap(), [7; 6]);
        Err(failed)
    });
    assert!(errors[1].contains("out of bounds"), "{errors:?}");
    assert!(errors[0].starts_with("rank 1 failed") && errors[2].starts_with("rank 1 failed"), "{errors:?}");
    assert_as_committed(image);
}

#[test]
fn ranks_that_change_the_file_differently_commit_nothing() {
    let (errors, image) = failing(|file, rank| {
        file.root().create_group(if rank == 2 { "two" } else { "one" })?;
        let failed = file.flush().unwrap_err();
        assert!(matches!(file.root().create_group("more").unwrap_err().root(), Error::Poisoned));
        Err(failed)
    });
    assert!(
        errors.iter().all(|error| error.contains("rank 2") && error.contains("same calls")),
        "{errors:?}"
    );
    assert_as_committed(image);
}

#[test]
fn ranks_that_make_other_calls_are_told_so() {
    let (errors, image) =
        failing(
            |file, rank| {
                if rank == 2 { file.flush() } else { together(&file.dataset("d")?, 0..4, &[0; 4]) }
            },
        );
    assert!(errors[0].contains("rank 2") && errors[2].contains("rank 0"), "{errors:?}");
    assert!(errors.iter().all(|error| error.contains("another call")), "{errors:?}");
    assert_as_committed(image);
}

/// A file that one rank cannot read.
#[derive(Debug)]
struct Unreadable(Arc<Memory>);

impl Driver for Unreadable {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read_at(&self, _: u64, _: &mut [u8]) -> io::Result<()> {
        Err(io::Error::other("no connection"))
    }

    fn write_at(&self, offset: u64, src: &[u8]) -> io::Result<()> {
        self.0.write_at(offset, src)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn flush(&self, closing: bool) -> io::Result<()> {
        self.0.flush(closing)
    }

    fn hints(&self) -> Hints {
        self.0.hints()
    }
}

#[test]
fn a_rank_that_cannot_open_an_existing_file_makes_all_fail() {
    let memory = Arc::new(Memory::default());
    let file = File::options().create(true).open_on(memory.clone()).unwrap();
    file.root().create_group("g").unwrap();
    file.close().unwrap();
    let errors = run(3, |ranks| {
        let driver: Arc<dyn Driver> =
            if ranks.rank() == 1 { Arc::new(Unreadable(Arc::clone(&memory))) } else { memory.clone() };
        changing(&ranks).open_on(driver).unwrap_err().to_string()
    });
    assert!(errors[1].contains("no connection"), "{errors:?}");
    assert!(errors[0].contains("rank 1") && errors[2].contains("rank 1"), "{errors:?}");
}

#[test]
fn a_rank_that_gives_up_makes_all_fail_with_its_reason() {
    let (errors, image) = failing(|file, rank| {
        if rank == 0 {
            file.clone().give_up("the input ended").unwrap();
            return file.flush();
        }
        file.root().create_group("new")?;
        together(&file.dataset("d")?, 0..4, &[0; 4])
    });
    assert!(errors[1..].iter().all(|error| error.contains("rank 0 failed: the input ended")), "{errors:?}");
    assert!(errors[0].contains("closed"), "{errors:?}");
    assert_as_committed(image);
}

#[test]
fn a_file_that_one_rank_drops_is_not_committed() {
    let (errors, image) = failing(|file, rank| {
        file.root().create_group("new")?;
        if rank == 1 { Err(Error::Poisoned) } else { file.flush() }
    });
    assert!(errors[0].contains("rank 1 failed: it dropped the file"), "{errors:?}");
    assert_as_committed(image);
}

#[test]
fn no_rank_waits_for_one_that_gave_up_while_another_failed() {
    let (errors, image) = failing(|file, rank| {
        let dataset = file.dataset("d").unwrap();
        let failed = match rank {
            0 => together(&dataset, 0..4, &[0; 4]),
            1 => together(&dataset, 5..9, &[0; 4]),
            _ => {
                file.clone().give_up("the input ended").unwrap();
                return file.flush();
            }
        };
        // Rank 0 hears of rank 1 first.
        assert!(matches!(together(&dataset, 0..4, &[0; 4]).unwrap_err().root(), Error::Poisoned));
        failed
    });
    assert!(errors[0].contains("rank 1 failed") && errors[1].contains("out of bounds"), "{errors:?}");
    assert_as_committed(image);
}

#[test]
fn ranks_that_open_a_file_with_other_options_are_told_so() {
    let memory = Arc::new(Memory::default());
    let errors = run(3, |ranks| {
        let bytes = if ranks.rank() == 2 { 1 << 20 } else { 2 << 20 };
        creating(&ranks).chunk_cache_bytes(bytes).open_on(memory.clone()).unwrap_err().to_string()
    });
    assert!(
        errors.iter().all(|error| error.contains("rank 2") && error.contains("same arguments")),
        "{errors:?}"
    );
}

#[test]
fn other_files_are_only_read_by_ranks() {
    let directory = tempfile::tempdir().unwrap();
    let other = File::create(directory.path().join("other.h5")).unwrap();
    other.root().new_dataset::<i32>("d").shape([2]).create_with(&[1, 2]).unwrap();
    other.close().unwrap();
    let path = directory.path().join("linked.h5");
    run(2, |ranks| {
        let file = creating(&ranks).open(&path).unwrap();
        file.root().link_external("link", "other.h5", "/d").unwrap();
        let linked = file.dataset("link").unwrap();
        assert_eq!(linked.read::<i32>(..).unwrap(), [1, 2]);
        assert!(write(&linked, 0..2, &[3, 4], Transfer::Alike).is_err());
        file.close().unwrap();
    });
    let other = File::open(directory.path().join("other.h5")).unwrap();
    assert_eq!(other.dataset("d").unwrap().read::<i32>(..).unwrap(), [1, 2]);
}

#[test]
fn what_all_write_alike_is_compared() {
    let (errors, image) = failing(|file, rank| {
        let alike = file.root().new_dataset::<i32>("alike").shape([2]).create()?;
        write(&alike, 0..2, &[i32::from(rank == 2); 2], Transfer::Alike)
    });
    assert!(
        errors.iter().all(|error| error.contains("rank 2") && error.contains("same arguments")),
        "{errors:?}"
    );
    assert_as_committed(image);
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

/// Has three ranks commit, write and commit again. Every change of the medium may fail.
fn two_commits(driver: &Arc<dyn Driver>, durability: Durability) -> Vec<Result<()>> {
    run(3, |ranks| {
        let file = creating(&ranks).durability(durability).open_on(Arc::clone(driver))?;
        let new = file.root().new_dataset::<i32>("d").shape([9]).chunks([2]).filter(Deflate::default());
        let dataset = new.create()?;
        let first = 3 * ranks.rank() as u64;
        together(&dataset, first..first + 3, &[1; 3])?;
        file.flush()?;
        file.root().new_dataset::<i32>("e").shape([9]).fill_value(3).create()?;
        together(&dataset, first..first + 3, &[2; 3])?;
        file.close()
    })
}

fn assert_one_of_two_commits(image: &[u8]) {
    let Ok(file) = File::from_bytes(image.to_vec()) else { return };
    let found: Vec<i32> = file.dataset("d").unwrap().read(..).unwrap();
    if file.dataset("e").is_ok() {
        assert_eq!(file.dataset("e").unwrap().read::<i32>(..).unwrap(), [3; 9]);
        assert_eq!(found, [2; 9]);
    } else {
        assert_eq!(found, [1; 9]);
    }
}

#[test]
fn ranks_that_are_killed_leave_a_commit() {
    let driver = Arc::new(CrashDriver::new(Vec::new()));
    for result in two_commits(&(driver.clone() as Arc<dyn Driver>), Durability::Kill) {
        result.unwrap();
    }
    let recording = Arc::into_inner(driver).unwrap().into_recording();
    let mut whole = 0;
    let counts = recording.after_kill(|image| {
        assert_one_of_two_commits(image);
        whole += usize::from(File::from_bytes(image.to_vec()).is_ok());
    });
    assert!(whole > 3 && counts.images > whole, "{counts}");
    assert_sound(&recording.last_image());
}

#[test]
fn a_failing_medium_fails_on_all_ranks_and_leaves_a_commit() {
    let mut failed = 0;
    for at in 0.. {
        let failure = Failure { at, stays: true, written: Written::HalfOfItsSectors };
        let driver = Arc::new(CrashDriver::failing(Vec::new(), failure));
        let results = two_commits(&(driver.clone() as Arc<dyn Driver>), Durability::Power);
        if !driver.has_failed() {
            break;
        }
        failed += 1;
        let oks = results.iter().filter(|result| result.is_ok()).count();
        // The last changes, after the commit, may fail on one rank.
        assert!(oks == 0 || oks == 3 || at > 10, "failure {at}: {results:?}");
        assert_one_of_two_commits(&driver.image());
    }
    assert!(failed > 10, "{failed} changes");
}
