//! Ends reads and writes from a function that the program sets, as the Python package does on Ctrl-C, and
//! counts the calls of the driver.

#![allow(clippy::unwrap_used)] // helpers of tests may panic, as tests do

use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use hyperslab::driver::Memory;
use hyperslab::filter::{Blosc2, Deflate};
use hyperslab::{Destination, Dim, Error, File, Points, ReadOptions, Selection, Slab, WriteOptions};
use hyperslab_io::interrupt::{Doing, heed, set_poll};
use hyperslab_testkit::hooked::{Call, Hooked};
use hyperslab_testkit::sound::assert_sound;
use parking_lot::{Mutex, MutexGuard};

/// Whether the program wants to end what it does.
static IS_PRESSED: AtomicBool = AtomicBool::new(false);
/// There is one program, so one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    let alone = ALONE.lock();
    set_poll(|doing| {
        assert_eq!(doing, Doing::Working);
        let is_pressed = IS_PRESSED.load(Ordering::SeqCst);
        if is_pressed { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    });
    IS_PRESSED.store(false, Ordering::SeqCst);
    alone
}

/// A slow medium. The program wants to end at its third call.
struct Slow {
    driver: Arc<Hooked>,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    delays: AtomicBool,
    calls: AtomicUsize,
}

impl Slow {
    fn new() -> Self {
        let counts = Arc::new(Counts::default());
        let met = Arc::clone(&counts);
        let mut driver = Hooked::with(Memory::default(), move |call| {
            if matches!(call, Call::Read(..) | Call::Write(_)) && met.delays.load(Ordering::SeqCst) {
                if met.calls.fetch_add(1, Ordering::SeqCst) == 2 {
                    IS_PRESSED.store(true, Ordering::SeqCst);
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            Ok(())
        });
        driver.hints.max_span = 4 << 20;
        Self { driver: Arc::new(driver), counts }
    }

    fn bytes(&self) -> Vec<u8> {
        self.driver.inner.bytes()
    }

    /// Returns the number of calls that work on this medium needs, and its result.
    fn count<T>(&self, work: impl FnOnce() -> T) -> (usize, T) {
        self.counts.calls.store(0, Ordering::SeqCst);
        self.counts.delays.store(true, Ordering::SeqCst);
        let done = work();
        self.counts.delays.store(false, Ordering::SeqCst);
        (self.counts.calls.load(Ordering::SeqCst), done)
    }

    /// Does work on this medium that heeds the program. Returns the number of calls and the result.
    fn pressed<T>(&self, work: impl FnOnce() -> T) -> (usize, T) {
        let done = self.count(|| heed(work));
        IS_PRESSED.store(false, Ordering::SeqCst);
        done
    }
}

/// The calls of the driver that a whole read or write needs at least, and those after which it has ended.
const ALL: usize = 250;
const ENOUGH: usize = 120;

const SHAPE: [u64; 2] = [256, 1 << 15];
const CHUNK: [u64; 2] = [1, 1 << 15];
const DATASETS: [&str; 4] = ["gzip", "blosc", "chunked", "contiguous"];

fn values(seed: i32) -> Vec<i32> {
    // Nothing that a filter makes much smaller: small chunks are read together.
    let mut state = seed.cast_unsigned() | 1;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8).cast_signed()
    };
    (0..SHAPE[0] * SHAPE[1]).map(next).collect()
}

fn made(name: &str, values: &[i32]) -> Slow {
    let slow = Slow::new();
    let file = File::options().create(true).open_on(slow.driver.clone()).unwrap();
    let new = file.root().new_dataset::<i32>(name).shape(SHAPE);
    let dataset = match name {
        "gzip" => new.chunks(CHUNK).filter(Deflate::default().level(1)).create(),
        "blosc" => new.chunks(CHUNK).filter(Blosc2::default()).create(),
        "chunked" => new.chunks(CHUNK).create(),
        _ => new.create(),
    };
    dataset.unwrap().write(.., values).unwrap();
    file.close().unwrap();
    slow
}

#[track_caller]
fn assert_ended<T>(what: &str, (calls, done): (usize, Result<T, Error>)) {
    let error = done.err().unwrap_or_else(|| panic!("{what} has not ended before its end"));
    let is_interrupted =
        matches!(error.root(), Error::Io { cause, .. } if cause.kind() == io::ErrorKind::Interrupted);
    assert!(is_interrupted, "{what}: {error}");
    assert!(calls < ENOUGH, "{what}: {calls} calls");
}

fn rows(count: u64, step: u64) -> Selection {
    let dim = |len, step| Dim { start: 0, step, count: u64::div_ceil(len, step) };
    Selection::Slab(Slab([dim(count, 1), dim(SHAPE[1], step)].into_iter().collect()))
}

#[test]
fn every_read_ends_and_the_file_stays_usable() {
    let _alone = alone();
    let all = values(1);
    let points: Vec<u64> = (0..SHAPE[0]).flat_map(|row| [row, 7, row, 30_000]).collect();
    let selections = [
        ("all", Selection::All),
        ("parts of rows", Selection::from([0..SHAPE[0], 0..SHAPE[1] / 2])),
        ("points", Selection::Points(Points::new(2, points).unwrap())),
    ];
    for name in DATASETS {
        let slow = made(name, &all);
        let file = File::options().chunk_cache_bytes(0).open_on(slow.driver.clone()).unwrap();
        let dataset = file.dataset(name).unwrap();
        for (how, what) in &selections {
            if (name, *how) == ("contiguous", "all") {
                // A few large calls.
                continue;
            }
            for threads in [1, 4] {
                let options = ReadOptions::default().threads(NonZeroUsize::new(threads));
                let count = usize::try_from(what.count(&SHAPE).unwrap()).unwrap();
                let mut read = vec![0_i32; count];
                let bytes = bytemuck::cast_slice_mut(&mut read);
                let result = slow.pressed(|| {
                    dataset.read_with(what.clone(), &mut Destination::contiguous(bytes), &options)
                });
                assert_ended(&format!("{name}, {how}, {threads} threads"), result);
            }
        }
        let result = slow.pressed(|| {
            let mut reads: Vec<Vec<u8>> = vec![vec![0; usize::try_from(4 * SHAPE[1]).unwrap()]; 256];
            let whats: Vec<Selection> = (0..256_u64).map(|row| [row..row + 1, 0..SHAPE[1]].into()).collect();
            let mut to: Vec<_> = reads.iter_mut().map(|read| Destination::contiguous(read)).collect();
            dataset.read_many(&mut whats.iter().zip(&mut to).collect::<Vec<_>>(), &ReadOptions::default())
        });
        if name != "contiguous" {
            assert_ended(&format!("{name}, many"), result);
        }
        let seen = AtomicUsize::new(0);
        let (calls, done) = slow.pressed(|| {
            dataset.blocks(.., &[], None, &|block| {
                seen.fetch_add(block.count, Ordering::SeqCst);
                Ok(())
            })
        });
        assert_ended(&format!("{name}, blocks"), (calls, done));
        assert!(seen.into_inner() < all.len() / 2);
        // Nothing of the file is held, and reads that do not heed go on to their end.
        IS_PRESSED.store(true, Ordering::SeqCst);
        assert_eq!(dataset.read::<i32>(..).unwrap(), all, "{name}");
        IS_PRESSED.store(false, Ordering::SeqCst);
    }
}

#[test]
fn a_read_of_strings_ends() {
    let _alone = alone();
    let slow = Slow::new();
    let file = File::options().create(true).open_on(slow.driver.clone()).unwrap();
    // Each in a collection of its own.
    let texts: Vec<String> = (0..300_usize).map(|n| format!("{n:05}").repeat(2000)).collect();
    file.root().new_dataset::<String>("s").shape([300]).create().unwrap().write(.., &texts).unwrap();
    file.close().unwrap();
    let file = File::options().open_on(slow.driver.clone()).unwrap();
    let dataset = file.dataset("s").unwrap();
    assert_ended("strings", slow.pressed(|| dataset.read::<String>(..)));
    assert_eq!(dataset.read::<String>(..).unwrap(), texts);
}

#[test]
fn after_a_write_that_ended_elements_are_old_or_new_and_the_file_is_sound() {
    let _alone = alone();
    let (old, new) = (values(1), values(2));
    for name in DATASETS {
        for threads in [1, 4] {
            let slow = made(name, &old);
            let file = File::options().write(true).open_on(slow.driver.clone()).unwrap();
            let dataset = file.dataset(name).unwrap();
            let options = WriteOptions::default().threads(NonZeroUsize::new(threads));
            // Several calls for contiguous data, too.
            let step = if name == "contiguous" { 3 } else { 1 };
            let what = rows(SHAPE[0], step);
            let count = usize::try_from(what.count(&SHAPE).unwrap()).unwrap();
            let given = &bytemuck::cast_slice(&new)[..4 * count];
            let (calls, done) = slow.pressed(|| dataset.write_with(what, given, &options));
            assert_ended(&format!("{name}, {threads} threads"), (calls, done));
            // Later writes are kept.
            let other = file.root().new_dataset::<i32>("after").shape([3]).create().unwrap();
            other.write(.., &[1, 2, 3]).unwrap();
            file.close().unwrap();
            assert_sound(&slow.bytes());
            let file = File::options().open_on(slow.driver.clone()).unwrap();
            let end = file.store().superblock().end_of_file();
            assert_eq!(slow.bytes().len() as u64, end, "nothing is left of what was written");
            assert_eq!(file.dataset("after").unwrap().read::<i32>(..).unwrap(), [1, 2, 3]);
            let found: Vec<i32> = file.dataset(name).unwrap().read(..).unwrap();
            let width = usize::try_from(SHAPE[1]).unwrap();
            let per_row = width.div_ceil(usize::try_from(step).unwrap());
            for (row, (found, old)) in found.chunks(width).zip(old.chunks(width)).enumerate() {
                for (at, (found, old)) in found.iter().zip(old).enumerate() {
                    let place = at / usize::try_from(step).unwrap();
                    let is_given = at.is_multiple_of(usize::try_from(step).unwrap());
                    let is_new = is_given && *found == new[row * per_row + place];
                    assert!(found == old || is_new, "{name}: element {at} of row {row}");
                }
            }
            let kept = found.iter().zip(&old).filter(|(found, old)| found == old).count();
            assert!(kept > old.len() / 4, "{name}: some elements are old");
        }
    }
}

#[test]
fn a_first_write_and_an_overwrite_of_strings_do_not_end_halfway() {
    let _alone = alone();
    let slow = Slow::new();
    let file = File::options().create(true).open_on(slow.driver.clone()).unwrap();
    let dataset = file.root().new_dataset::<String>("s").shape([2000]).chunks([1]).create().unwrap();
    let texts: Vec<String> = (0..2000).map(|n| format!("text {n}")).collect();
    dataset.write(.., &texts).unwrap();
    // The old strings are removed after the ids of the new ones are stored: both or nothing.
    let (_, done) = slow.pressed(|| dataset.write(.., &vec!["new".to_owned(); 2000]));
    let is_new = done.is_ok();
    let found: Vec<String> = dataset.read(..).unwrap();
    assert!(if is_new { found.iter().all(|text| text == "new") } else { found == texts });
    file.close().unwrap();
    assert_sound(&slow.bytes());
}

#[test]
fn a_read_of_everything_calls_the_driver_often() {
    let _alone = alone();
    for name in ["gzip", "blosc", "chunked"] {
        let slow = made(name, &values(1));
        let file = File::options().open_on(slow.driver.clone()).unwrap();
        let (calls, _) = slow.count(|| file.dataset(name).unwrap().read::<i32>(..).unwrap());
        assert!(calls >= ALL, "{name}: {calls} calls");
    }
}
