//! Runs the fuzz targets on damaged golden files, without libFuzzer. The damage is the same in every run.
//!
//! `HYPERSLAB_FUZZ_SECONDS` sets the run time of each target, and `HYPERSLAB_FUZZ_SEED` selects other damage.
//! `HYPERSLAB_FUZZ_INPUT` runs only one file, which an earlier run left in `target/fuzz`.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hyperslab_testkit::allocator::Watched;
use hyperslab_testkit::counts::say_counts;
use hyperslab_testkit::fuzz::mutate::{Seal, mutate, seals};
use hyperslab_testkit::fuzz::{self, Random, Target};

#[test]
fn decoded_structures_encode_and_decode_to_themselves() {
    fuzz(fuzz::DECODE, 30_000);
}

#[test]
fn damaged_files_are_read_or_fail_without_a_panic() {
    fuzz(fuzz::OPEN, 1_500);
}

#[test]
fn damaged_files_are_changed_or_fail_and_sound_files_stay_sound() {
    fuzz(fuzz::CHANGE, 1_500);
}

#[test]
fn damaged_chunks_decode_or_fail_and_parts_equal_the_whole() {
    fuzz(fuzz::FILTERS, 4_000);
}

#[test]
fn selections_contain_the_elements_that_they_name() {
    fuzz(fuzz::SELECT, 10_000);
}

#[test]
fn damaged_surveys_are_refused_or_round_trip() {
    fuzz(fuzz::SEGY, 1_500);
}

#[test]
fn damaged_indexes_never_hide_a_row() {
    fuzz(fuzz::INDEX, 1_500);
}

#[test]
fn damaged_tables_give_the_rows_of_a_scan_or_an_error() {
    fuzz(fuzz::TABLES, 1_500);
}

/// Held while a target runs. Memory is counted for the whole process, so only one target runs at a time.
static ALONE: Mutex<()> = Mutex::new(());
/// Ensures that the watchdog thread is started only once.
static WATCHDOG: OnceLock<()> = OnceLock::new();

/// Runs a target on its seeds, and then on `iterations` damaged seeds or for the time the environment sets.
fn fuzz(target: Target, iterations: u64) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(path) = std::env::var_os("HYPERSLAB_FUZZ_INPUT") {
        let path = Path::new(&path);
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name.starts_with(target.name) {
            (target.run)(&std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())));
        }
        return;
    }
    WATCHDOG.get_or_init(|| drop(std::thread::spawn(watch)));

    let seconds: Option<u64> = variable("HYPERSLAB_FUZZ_SECONDS");
    let seed: u64 = variable("HYPERSLAB_FUZZ_SEED").unwrap_or(1);
    let started = Instant::now();
    let seeds = (target.seeds)();
    let mut found: Vec<Option<Vec<Seal>>> = vec![None; seeds.len()];
    for input in &seeds {
        one(target, input);
    }
    let mut random = Random::new(seed);
    let mut done = 0;
    while seconds.map_or(done < iterations, |seconds| started.elapsed().as_secs() < seconds) {
        let (chosen, other) = (random.below(seeds.len()), random.below(seeds.len()));
        let seals = found[chosen].get_or_insert_with(|| seals(&seeds[chosen]));
        one(target, &mutate(&seeds[chosen], seals, &seeds[other], &mut random));
        done += 1;
    }
    let name = target.name;
    let (count, time) = (seeds.len(), started.elapsed());
    say_counts(format_args!("fuzz target {name}: {count} seeds and {done} damaged ones in {time:.1?}"));
}

/// Runs a target on one input, with limits on memory and time.
fn one(target: Target, input: &[u8]) {
    {
        let mut current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
        current.0 = target.name;
        current.1.clear();
        current.1.extend_from_slice(input);
    }
    BASE.store(LIVE.load(Relaxed), Relaxed);
    STARTED.store(now(), Relaxed);
    LARGEST.store(LARGEST_BYTES + 4 * input.len(), Relaxed);
    let result = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    LARGEST.store(usize::MAX, Relaxed);
    STARTED.store(u64::MAX, Relaxed);
    if let Err(panic) = result {
        save("it panics");
        std::panic::resume_unwind(panic);
    }
}

/// The name of the running target, and its input.
static CURRENT: Mutex<(&str, Vec<u8>)> = Mutex::new(("", Vec::new()));
/// The start time of the run, in milliseconds.
static STARTED: AtomicU64 = AtomicU64::new(u64::MAX);
/// The largest number of bytes that the run may allocate at once.
static LARGEST: AtomicUsize = AtomicUsize::new(usize::MAX);
/// The bytes allocated now, and before the run began.
static LIVE: AtomicUsize = AtomicUsize::new(0);
static BASE: AtomicUsize = AtomicUsize::new(0);

/// The limits: bytes of one allocation (plus four times the input) and of all, and milliseconds.
const LARGEST_BYTES: usize = 64 << 20;
const LIVE_BYTES: usize = 512 << 20;
const MILLISECONDS: u64 = 10_000;

/// Writes the current input to `target/fuzz` and prints how to run it again.
fn save(why: &str) {
    let current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
    let (name, input) = &*current;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/fuzz");
    let path: PathBuf = folder.join(format!("{name}-{:016x}", Random::of(input).u64()));
    let written = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, input));
    let _ = writeln!(
        std::io::stderr(),
        "fuzz target {name}: {why}: {} bytes in {} ({written:?})\n\
         to repeat: HYPERSLAB_FUZZ_INPUT={} cargo test -p hyperslab-testkit --test fuzz",
        input.len(),
        path.display(),
        path.display(),
    );
}

/// Saves the input and ends the process, for failures that cannot unwind.
fn give_up(why: &str) -> ! {
    LARGEST.store(usize::MAX, Relaxed);
    save(why);
    let _ = writeln!(std::io::stderr(), "{}", std::backtrace::Backtrace::force_capture());
    std::process::exit(101);
}

fn watch() {
    loop {
        std::thread::sleep(Duration::from_millis(200));
        if now().saturating_sub(STARTED.load(Relaxed)) > MILLISECONDS {
            give_up("it takes too long");
        }
    }
}

fn now() -> u64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    u64::try_from(FIRST.get_or_init(Instant::now).elapsed().as_millis()).unwrap_or(u64::MAX)
}

fn variable<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.trim().parse().ok()
}

#[global_allocator]
static ALLOCATOR: Watched = Watched {
    allocates: within_bounds,
    frees: |size| {
        LIVE.fetch_sub(size, Relaxed);
    },
};

fn within_bounds(size: usize) {
    static FAILED: AtomicBool = AtomicBool::new(false);
    let live = LIVE.fetch_add(size, Relaxed).wrapping_add(size);
    let limit = LARGEST.load(Relaxed);
    if limit == usize::MAX {
        return;
    }
    let is_too_much = size > limit || live > BASE.load(Relaxed).saturating_add(LIVE_BYTES);
    if is_too_much && !FAILED.swap(true, Relaxed) {
        give_up(&format!("it allocates {size} bytes at once, {live} in all"));
    }
}
