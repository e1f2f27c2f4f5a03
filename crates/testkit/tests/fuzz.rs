//! The fuzz targets on damaged golden files, without libFuzzer: the same damage in every run.
//!
//! `HYPERSLAB_FUZZ_SECONDS` runs each target for so long, `HYPERSLAB_FUZZ_SEED` chooses other damage, and
//! `HYPERSLAB_FUZZ_INPUT` runs one file that an earlier run left in `target/fuzz`.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hyperslab_testkit::allocator::Watched;
use hyperslab_testkit::fuzz::mutate::{Seal, mutate, seals};
use hyperslab_testkit::fuzz::{self, Random, Target};

#[test]
fn structures_that_decode_encode_to_the_same() {
    fuzz(fuzz::DECODE, 30_000);
}

#[test]
fn damaged_files_answer_or_fail() {
    fuzz(fuzz::OPEN, 1_500);
}

#[test]
fn damaged_chunks_answer_or_fail_and_parts_are_those_of_the_whole() {
    fuzz(fuzz::FILTERS, 4_000);
}

#[test]
fn selections_have_the_elements_that_they_name() {
    fuzz(fuzz::SELECT, 10_000);
}

#[test]
fn damaged_surveys_are_refused_or_come_back_byte_for_byte() {
    fuzz(fuzz::SEGY, 1_500);
}

/// Memory is counted for the whole process, so one target runs at a time.
static ALONE: Mutex<()> = Mutex::new(());
/// Started once.
static WATCHDOG: OnceLock<()> = OnceLock::new();

/// Runs a target on its seeds, and then on damaged ones: `iterations` of them, or for as long as the environment says.
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
    println!("{name}: {} seeds and {done} damaged ones in {:.1?}", seeds.len(), started.elapsed());
}

/// Runs a target on one input, within bounds of memory and time.
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

/// What is being run.
static CURRENT: Mutex<(&str, Vec<u8>)> = Mutex::new(("", Vec::new()));
/// When it began, in milliseconds.
static STARTED: AtomicU64 = AtomicU64::new(u64::MAX);
/// The most bytes that it may allocate at once.
static LARGEST: AtomicUsize = AtomicUsize::new(usize::MAX);
/// Bytes allocated now, and before it began.
static LIVE: AtomicUsize = AtomicUsize::new(0);
static BASE: AtomicUsize = AtomicUsize::new(0);

/// The bounds: one allocation (and four times the input), all allocations, and milliseconds.
const LARGEST_BYTES: usize = 64 << 20;
const LIVE_BYTES: usize = 512 << 20;
const MILLISECONDS: u64 = 10_000;

/// Writes the current input to `target/fuzz` and says how to run it again.
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

/// Ends the process where nothing can be unwound.
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
