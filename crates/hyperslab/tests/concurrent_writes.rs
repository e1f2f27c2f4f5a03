//! Threads write, read and resize datasets of one file, and processes open one file at the same time.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers")]

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use hyperslab::Element;
use hyperslab::driver::{Create, Memory, Posix};
use hyperslab::storage::{DatasetOptions, NewStorage};
use hyperslab::{Dataset, Error, File, LibVersion, OpenOptions, RequestError};
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::filters::FilterSpec;
use hyperslab_testkit::fuzz::Random;
use hyperslab_testkit::hooked::{Call, Hooked};
use hyperslab_testkit::late::{Gates, IsLate};
use hyperslab_testkit::sound::{assert_accounted, assert_sound};

const CHUNK: u64 = 32;

fn options(len: u64) -> DatasetOptions {
    let space = Dataspace::Simple { shape: vec![len], max_shape: Some(vec![None]) };
    let mut options = DatasetOptions::new(space, i32::datatype());
    options.storage = NewStorage::Chunked(vec![CHUNK]);
    options.filters = vec![FilterSpec { id: 1, name: None, flags: 0, client_data: vec![1] }];
    options
}

fn create(version: LibVersion) -> (Arc<Memory>, File) {
    let driver = Arc::new(Memory::default());
    let mut options = OpenOptions::new().version(version);
    // The memory limits are so small that chunks and blocks are evicted all the time.
    options = options.dirty_bytes(10_000);
    options = options.chunk_cache_bytes(2000);
    (driver.clone(), options.clone().create(true).truncate(true).open_on(driver).unwrap())
}

/// Writes `value` to every element of a chunk.
fn write_chunk(dataset: &Dataset, chunk: u64, value: i32) {
    let value = vec![value; usize::try_from(CHUNK).unwrap()];
    dataset.write(chunk * CHUNK..(chunk + 1) * CHUNK, &value).unwrap();
}

fn read_chunk(dataset: &Dataset, chunk: u64) -> Vec<i32> {
    dataset.read::<i32>(chunk * CHUNK..(chunk + 1) * CHUNK).unwrap()
}

#[test]
fn chunks_written_by_many_threads_are_complete_and_never_read_half_written() {
    for version in [LibVersion::Earliest, LibVersion::V110] {
        let (driver, file) = create(version);
        let (threads, turns, chunks) = (4_u64, 40, 16_u64);
        file.root().create_dataset("shared", &options(threads * chunks * CHUNK)).unwrap();
        for thread in 0..threads {
            file.root().create_dataset(&format!("own/{thread}"), &options(chunks * CHUNK)).unwrap();
        }
        let (is_done, seen) = (AtomicBool::new(false), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..threads)
                .map(|thread| {
                    let file = &file;
                    scope.spawn(move || {
                        let shared = file.dataset("shared").unwrap();
                        let own = file.dataset(&format!("own/{thread}")).unwrap();
                        let mut random = Random::new(thread + 1);
                        for turn in 0..turns {
                            // The last 16 turns write each chunk once.
                            let chunk =
                                if turn + 16 < turns { random.u64() % chunks } else { turn + 16 - turns };
                            let value = i32::try_from(turn * 10 + thread).unwrap();
                            write_chunk(&shared, chunk * threads + thread, value);
                            write_chunk(&own, chunk, value);
                            if turn % 8 == thread {
                                file.flush().unwrap();
                            }
                        }
                    })
                })
                .collect();
            for reader in 0..2 {
                let (file, is_done, seen) = (&file, &is_done, &seen);
                scope.spawn(move || {
                    let mut random = Random::new(100 + reader);
                    let mut turn = 0;
                    while turn < 50 || !is_done.load(Ordering::Relaxed) {
                        turn += 1;
                        let chunk = random.u64() % (threads * chunks);
                        let found = read_chunk(&file.dataset("shared").unwrap(), chunk);
                        let thread = i32::try_from(chunk % threads).unwrap();
                        let is_whole = found.iter().all(|value| *value == found[0]);
                        assert!(is_whole && (found[0] == 0 || found[0] % 10 == thread), "{found:?}");
                        seen.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            // The readers stop even if a writer has panicked.
            let ended: Vec<_> = writers.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
            is_done.store(true, Ordering::Relaxed);
            for thread in ended {
                thread.unwrap();
            }
        });
        assert!(seen.into_inner() >= 100);
        assert_accounted(&file, 0);
        file.close().unwrap();
        let file = File::from_bytes(driver.bytes()).unwrap();
        for (thread, chunk) in (0..threads).flat_map(|thread| (0..chunks).map(move |chunk| (thread, chunk))) {
            let expected = vec![i32::try_from((turns - 16 + chunk) * 10 + thread).unwrap(); CHUNK as usize];
            assert_eq!(
                read_chunk(&file.dataset("shared").unwrap(), chunk * threads + thread),
                expected,
                "chunk {chunk} of {thread}"
            );
            assert_eq!(read_chunk(&file.dataset(&format!("own/{thread}")).unwrap(), chunk), expected);
        }
    }
}

#[test]
fn resizing_a_dataset_keeps_what_other_threads_write_to_the_part_that_stays() {
    let (driver, file) = create(LibVersion::V110);
    let stays = 8;
    let dataset = file.root().create_dataset("data", &options(stays * CHUNK)).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let dataset = file.dataset("data").unwrap();
            scope.spawn(move || {
                let mut random = Random::new(thread + 1);
                for turn in 0..200 {
                    let chunk = random.u64() % stays;
                    if turn % 3 == 0 {
                        // Writes a part of the chunk.
                        dataset.write(chunk * CHUNK + 3..chunk * CHUNK + 9, &[7; 6]).unwrap();
                    } else {
                        write_chunk(&dataset, chunk, 7);
                    }
                    let found = read_chunk(&dataset, chunk);
                    assert!(found.iter().all(|value| [0, 7].contains(value)), "{found:?}");
                }
            });
        }
        let mut random = Random::new(9);
        for turn in 0..200 {
            dataset.resize([stays * CHUNK + random.u64() % 300]).unwrap();
            let len = dataset.shape()[0];
            if len > stays * CHUNK {
                dataset
                    .write(stays * CHUNK..len, &vec![9; usize::try_from(len - stays * CHUNK).unwrap()])
                    .unwrap();
            }
            if turn % 20 == 0 {
                file.flush().unwrap();
            }
        }
    });
    for chunk in 0..stays {
        write_chunk(&dataset, chunk, 7);
    }
    dataset.resize([stays * CHUNK]).unwrap();
    assert_accounted(&file, 0);
    file.close().unwrap();
    let file = File::from_bytes(driver.bytes()).unwrap();
    assert_eq!(file.dataset("data").unwrap().read::<i32>(..).unwrap(), vec![7; (stays * CHUNK) as usize]);
}

/// Data that other threads write during the transaction may be kept or rolled back with it, but each dataset
/// only ever holds its own data.
#[test]
fn rolling_back_a_transaction_does_not_corrupt_data_of_other_writing_threads() {
    let (driver, file) = create(LibVersion::V110);
    for thread in 0..3 {
        let dataset = file.root().create_dataset(&format!("data {thread}"), &options(8 * CHUNK)).unwrap();
        dataset.write(.., &vec![thread; (8 * CHUNK) as usize]).unwrap();
    }
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let dataset = file.dataset(&format!("data {thread}")).unwrap();
            scope.spawn(move || {
                for turn in 0..300 {
                    write_chunk(&dataset, turn % 8, thread);
                }
            });
        }
        for turn in 0..60 {
            file.begin_transaction().unwrap();
            file.root().create_dataset("new", &options(64)).unwrap().write(.., &[9; 64]).unwrap();
            file.end_transaction(false).unwrap();
            assert!(!file.root().contains("new").unwrap(), "turn {turn}");
        }
    });
    assert_accounted(&file, 0);
    file.close().unwrap();
    let file = File::from_bytes(driver.bytes()).unwrap();
    for thread in 0..3 {
        let dataset = file.dataset(&format!("data {thread}")).unwrap();
        assert_eq!(dataset.read::<i32>(..).unwrap(), vec![thread; (8 * CHUNK) as usize]);
    }
}

/// The space of a chunk is allocated before a transaction begins, and the chunk enters the index within the
/// transaction. Rolling back the transaction frees that space.
#[test]
fn rolling_back_a_transaction_frees_the_space_of_chunks_still_being_written() {
    let is_armed = Arc::new(AtomicBool::new(false));
    let armed = Arc::clone(&is_armed);
    let (gates, driver) = Gates::new(vec![Box::new(move |_, _: &[u8]| armed.load(Ordering::SeqCst))]);
    let file = File::options().create(true).truncate(true).open_on(driver.clone()).unwrap();
    let dataset = file.root().create_dataset("data", &options(2 * CHUNK)).unwrap();
    write_chunk(&dataset, 0, 1);
    file.flush().unwrap();
    is_armed.store(true, Ordering::SeqCst);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| write_chunk(&dataset, 1, 2));
        gates.wait(0);
        file.root().create_group("something to commit").unwrap();
        file.begin_transaction().unwrap();
        gates.go_on(0);
        writer.join().unwrap();
        file.end_transaction(false).unwrap();
    });
    assert_eq!((read_chunk(&dataset, 0)[0], read_chunk(&dataset, 1)[0]), (1, 0));
    assert_accounted(&file, 0);
}

/// No space is allocated while a commit shortens the file, so the commit does not cut off data that a thread
/// is writing.
#[test]
fn a_commit_that_shortens_the_file_keeps_chunks_written_meanwhile() {
    let is_armed = Arc::new(AtomicBool::new(false));
    let armed = |test: fn(u64) -> bool| {
        let is_armed = Arc::clone(&is_armed);
        Box::new(move |at, _: &[u8]| is_armed.load(Ordering::SeqCst) && test(at)) as IsLate
    };
    let (first_chunk, superblock) = (0, 1);
    let (gates, driver) = Gates::new(vec![armed(|at| at >= 48), armed(|at| at < 48)]);
    let file = File::options().create(true).truncate(true).open_on(driver.clone()).unwrap();
    let dataset = file.root().create_dataset("data", &options(2 * CHUNK)).unwrap();
    write_chunk(&dataset, 0, 1);
    let large = file.root().create_dataset("large", &options(100 * CHUNK)).unwrap();
    large.write(.., &(0..100 * CHUNK as i32).collect::<Vec<_>>()).unwrap();
    file.flush().unwrap();
    file.root().remove("large").unwrap();
    is_armed.store(true, Ordering::SeqCst);
    std::thread::scope(|scope| {
        // When the commit begins, this thread has planned both chunks and allocated space for the first.
        scope.spawn(|| dataset.write(.., &[2; 2 * CHUNK as usize]).unwrap());
        gates.wait(first_chunk);
        scope.spawn(|| file.flush().unwrap());
        gates.wait(superblock);
        gates.go_on(first_chunk);
        std::thread::sleep(Duration::from_millis(20));
        gates.go_on(superblock);
    });
    assert_eq!(dataset.read::<i32>(..).unwrap(), [2; 2 * CHUNK as usize]);
    assert_accounted(&file, 0);
}

#[test]
fn an_in_place_write_to_a_deleted_dataset_does_not_overwrite_a_new_one() {
    let is_armed = Arc::new(AtomicBool::new(false));
    let armed = Arc::clone(&is_armed);
    let elements = move |_, bytes: &[u8]| bytes.len() == 4000 && armed.load(Ordering::SeqCst);
    let (gates, driver) = Gates::new(vec![Box::new(elements)]);
    let file = File::options().create(true).truncate(true).open_on(driver.clone()).unwrap();
    let contiguous = |name: &str| file.root().new_dataset::<i32>(name).shape([1000]);
    let old = contiguous("old").create_with(&[1; 1000]).unwrap();
    file.flush().unwrap();
    is_armed.store(true, Ordering::SeqCst);
    std::thread::scope(|scope| {
        // May succeed, or fail because the dataset is deleted.
        scope.spawn(|| _ = old.write(.., &[2; 1000]));
        gates.wait(0);
        file.root().remove("old").unwrap();
        file.flush().unwrap();
        file.root().create_group("something to commit").unwrap();
        file.flush().unwrap();
        contiguous("new").create_with(&[3; 1000]).unwrap();
        gates.go_on(0);
    });
    assert!(file.dataset("new").unwrap().read::<i32>(..).unwrap() == [3; 1000]);
    file.flush().unwrap();
    assert_accounted(&file, 0);
}

#[test]
fn threads_write_rows_of_contiguous_data_at_the_same_time() {
    let (began, has_begun) = std::sync::mpsc::channel();
    let (go_on, may_end) = std::sync::mpsc::channel();
    let channels = std::sync::Mutex::new((began, may_end));
    // The write of the first rows takes until another writer has finished, or very long.
    let slow = move |call: Call<'_>| {
        if let Call::Write([request]) = call
            && request.src.len() == 2400
            && request.src[0] == 1
        {
            let (began, may_end) = &*channels.lock().unwrap();
            began.send(()).unwrap();
            _ = may_end.recv_timeout(Duration::from_secs(30));
        }
        Ok(())
    };
    let driver = Arc::new(Hooked::with(Memory::default(), slow));
    let file = File::options().create(true).truncate(true).open_on(driver).unwrap();
    let dataset = file.root().new_dataset::<i32>("d").shape([100, 20]).create_with(&[0; 2000]).unwrap();
    file.flush().unwrap();
    let is_first_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            dataset.write([0..30, 0..20], &[1; 600]).unwrap();
            is_first_done.store(true, Ordering::SeqCst);
        });
        has_begun.recv().unwrap();
        dataset.write([30..60, 0..20], &[2; 600]).unwrap();
        dataset.write([60..100, 3..5], &[3; 80]).unwrap();
        assert!(!is_first_done.load(Ordering::SeqCst), "the second writer waited for the first");
        go_on.send(()).unwrap();
    });
    let found = dataset.read::<i32>(..).unwrap();
    for (row, values) in found.chunks(20).enumerate() {
        let expected = |column: usize| match row {
            0..30 => 1,
            30..60 => 2,
            _ if (3..5).contains(&column) => 3,
            _ => 0,
        };
        assert!(values.iter().enumerate().all(|(column, value)| *value == expected(column)), "row {row}");
    }
    // Many writers and many rows, converted and not.
    std::thread::scope(|scope| {
        for thread in 0..4_u64 {
            let dataset = &dataset;
            scope.spawn(move || {
                for row in (thread..100).step_by(4) {
                    let value = i32::try_from(row).unwrap();
                    dataset.write([row..row + 1, 0..10], &[value; 10]).unwrap();
                    dataset.write([row..row + 1, 10..20], &[f64::from(value); 10]).unwrap();
                }
            });
        }
    });
    let found = dataset.read::<i32>(..).unwrap();
    assert!(found.chunks(20).zip(0..).all(|(values, row)| *values == [row; 20]));
    file.flush().unwrap();
    assert_accounted(&file, 0);
}

#[test]
fn threads_that_create_and_delete_objects_do_not_disturb_each_other() {
    let (driver, file) = create(LibVersion::V110);
    std::thread::scope(|scope| {
        for thread in 0..4_i32 {
            let file = &file;
            scope.spawn(move || {
                for turn in 0..60 {
                    let path = format!("group/{thread} {turn}");
                    let dataset = file.root().create_dataset(&path, &options(2 * CHUNK)).unwrap();
                    dataset.write(.., &[thread; 2 * CHUNK as usize]).unwrap();
                    dataset.write(5..7, &[thread; 2]).unwrap();
                    if turn >= 3 {
                        file.root().remove(&format!("group/{thread} {}", turn - 3)).unwrap();
                        let gone = file.dataset(&format!("group/{thread} {}", turn - 3)).unwrap_err();
                        assert!(matches!(gone.root(), Error::Request(RequestError::NoSuchObject { .. })));
                    }
                    if turn % 10 == 0 {
                        file.flush().unwrap();
                    }
                }
            });
        }
    });
    assert_accounted(&file, 0);
    file.close().unwrap();
    let file = File::from_bytes(driver.bytes()).unwrap();
    assert_eq!(file.group("group").unwrap().len().unwrap(), 12);
    for name in file.group("group").unwrap().names().unwrap() {
        let thread: i32 = name[..1].parse().unwrap();
        let found = file.dataset(&format!("group/{name}")).unwrap().read::<i32>(..).unwrap();
        assert_eq!(found, [thread; 2 * CHUNK as usize], "{name}");
    }
}

/// The environment variable with the path that the test `opener` opens. Without it, `opener` does nothing.
const OPENER: &str = "HYPERSLAB_TEST_OPENER";

#[test]
fn opener() {
    let Some(path) = std::env::var_os(OPENER) else { return };
    let say = |result: hyperslab::Result<File>| match result {
        Ok(_) => "opened".to_owned(),
        Err(error) => error.to_string(),
    };
    println!("\nreading: {}", say(File::open(&path)));
    println!("writing: {}", say(File::options().write(true).open(&path)));
}

/// Opens the file in another process, for reading and then for writing. Returns "opened" or the error for
/// each.
fn others(path: &Path, locking: &str) -> [String; 2] {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "opener", "--nocapture"])
        .env(OPENER, path)
        .env("HDF5_USE_FILE_LOCKING", locking)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let line = |start: &str| said.lines().find_map(|line| line.strip_prefix(start)).unwrap().to_owned();
    [line("reading: "), line("writing: ")]
}

#[test]
fn a_file_open_for_writing_cannot_be_opened_by_another_process() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file.h5");
    let file = File::create(&path).unwrap();
    file.root().create_group("group").unwrap();
    file.flush().unwrap();
    for said in others(&path, "TRUE") {
        let mut words = ["unable to lock the file", "HDF5_USE_FILE_LOCKING"].map(str::to_owned).to_vec();
        if std::fs::metadata("/proc/locks").is_ok_and(|_| cfg!(target_os = "linux")) {
            words.push(format!("process {} (", std::process::id()));
        }
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    }
    assert_eq!(others(&path, "FALSE"), ["opened", "opened"]);
    // All openings within one process share one open file.
    assert!(
        File::options().write(true).open(&path).unwrap().is_same(&file)
            && File::open(&path).unwrap().is_same(&file)
    );
    for refused in [Posix::open(&path), Posix::open_writable(&path, Create::No)] {
        assert!(refused.unwrap_err().to_string().contains("unable to lock the file: "));
    }
    file.close().unwrap();
    let reader = File::open(&path).unwrap();
    let [reading, writing] = others(&path, "TRUE");
    assert!(reading == "opened" && writing.contains("has it open; wait until"), "{reading}; {writing}");
    assert_eq!(others(&path, "FALSE"), ["opened", "opened"]);
    drop(reader);
    assert_eq!(others(&path, "TRUE"), ["opened", "opened"]);
    assert_sound(&std::fs::read(&path).unwrap());
}
