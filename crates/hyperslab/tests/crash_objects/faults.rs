//! A medium that fails or is full: the call returns an error, the open file stays usable, and the file on the
//! medium is in the old state or in the new state.

use std::sync::Arc;

use hyperslab::Durability;
use hyperslab::{Error, File, FileSpace, LibVersion};
use hyperslab_testkit::counts::say_counts;
use hyperslab_testkit::crash::{CrashDriver, Failure, Written};
use hyperslab_testkit::sound::assert_sound;

use super::base::{self, VERSIONS};
use super::operations::{self, Operation};
use super::state::{Change, State};
use super::{PLENTY, is_soak, options, record};

/// Counts of the outcomes of calls.
#[derive(Debug, Default)]
struct Seen {
    runs: usize,
    operations_failed: usize,
    flushes_undone: usize,
    poisoned: usize,
}

/// One operation on a medium that fails and may recover.
struct Trial<'t> {
    operation: &'t Operation,
    change: &'t Change,
    durability: Durability,
    dirty_bytes: u64,
}

impl Trial<'_> {
    /// Runs the operation, and after an error does what a program would try next. `heal` makes the medium
    /// work again.
    fn run(&self, driver: CrashDriver, heal: Option<&dyn Fn(&CrashDriver)>, seen: &mut Seen) -> CrashDriver {
        seen.runs += 1;
        let driver = Arc::new(driver);
        let options = options(self.durability, self.dirty_bytes);
        let file = options.clone().write(true).open_on(driver.clone()).unwrap();
        let dataset = file.dataset("data/contiguous").unwrap();
        let mut done = self.operation.run(&file);
        seen.operations_failed += usize::from(done.is_err());
        self.check_memory(&file, done.is_ok());
        let mut flushed = file.flush();
        if flushed.is_err() && !is_poisoned(&file) {
            seen.flushes_undone += 1;
            // The change in memory is neither lost nor half done.
            self.check_memory(&file, done.is_ok());
        }
        if let Some(heal) = heal {
            heal(&driver);
            if done.is_err() && !is_poisoned(&file) {
                done = self.operation.run(&file);
                done.as_ref().unwrap_or_else(|error| panic!("{}, again: {error}", self.operation.name));
            }
            if !is_poisoned(&file) {
                flushed = file.flush();
                flushed.as_ref().unwrap_or_else(|error| panic!("{}, flush: {error}", self.operation.name));
                self.check_memory(&file, true);
            }
        }
        if is_poisoned(&file) {
            seen.poisoned += 1;
            let written = dataset.write(1..2, &[0]);
            for refused in [file.flush(), file.root().create_group("later").map(drop), written] {
                let refused = refused.unwrap_err();
                assert!(matches!(refused.root(), Error::Poisoned), "{}: {refused}", self.operation.name);
            }
            self.check_memory(&file, done.is_ok());
        }
        drop((file, dataset));
        let driver = Arc::into_inner(driver).unwrap();
        let image = driver.image();
        assert_sound(&image);
        let found =
            State::of_image(&image).unwrap_or_else(|error| panic!("{}: {error}", self.operation.name));
        let state = self.relaxed(done.is_err()).which(&found);
        let state = state.unwrap_or_else(|why| panic!("{}, opened again: {why}", self.operation.name));
        if done.is_ok() && flushed.is_ok() {
            assert_eq!(state, 1, "{}: a flushed change was lost", self.operation.name);
        }
        driver
    }

    /// Returns the change, with elements that may be old or new if writing them may have failed.
    fn relaxed(&self, is_relaxed: bool) -> Change {
        Change { in_place: self.change.in_place || is_relaxed, ..self.change.clone() }
    }

    /// Asserts that the open file shows all of the operation or nothing of it.
    fn check_memory(&self, file: &File, is_done: bool) {
        let found = match State::of(file) {
            Ok(found) => found,
            Err(error) => {
                let is_closed = matches!(error.root(), Error::Poisoned);
                assert!(is_closed && is_poisoned(file), "{}: {error}", self.operation.name);
                return;
            }
        };
        let state = self.relaxed(!is_done).which(&found);
        let state = state.unwrap_or_else(|why| panic!("{}, in memory: {why}", self.operation.name));
        if is_done && !is_poisoned(file) {
            assert_eq!(state, 1, "{}: a completed change was lost", self.operation.name);
        }
    }
}

fn is_poisoned(file: &File) -> bool {
    matches!(file.store().begin(), Err(Error::Poisoned))
}

/// Calls `f` with each operation. Without `HYPERSLAB_SOAK`, older versions get every fourth operation.
fn each(version: LibVersion, mut f: impl FnMut(usize, &[u8], &Operation, &Change)) {
    let image = base::image(version, FileSpace::default());
    for (number, operation) in operations::all(version).iter().enumerate() {
        if is_soak() || version == LibVersion::V110 || number % 4 == 0 {
            let (_, change) = record(&image, operation, Durability::Kill, PLENTY);
            f(number, &image, operation, &change);
        }
    }
}

/// Ways to fail: whether later writes fail as well, and which part of the failing write reaches the medium.
const WAYS: [(bool, Written); 6] = [
    (false, Written::Nothing),
    (false, Written::HalfOfItsSectors),
    (false, Written::All),
    (true, Written::Nothing),
    (true, Written::HalfOfItsSectors),
    (true, Written::All),
];

fn fail_everywhere(version: LibVersion) {
    let mut seen = Seen::default();
    each(version, |number, image, operation, change| {
        for at in 0.. {
            let mut has_failed = false;
            for (way, &(stays, written)) in WAYS.iter().enumerate() {
                let turn = number + at;
                if !is_soak() && turn % WAYS.len() != way {
                    continue;
                }
                let durability = if turn / 2 % 2 == 0 { Durability::Kill } else { Durability::Power };
                let dirty_bytes = if turn % 3 == 0 { 0 } else { PLENTY };
                let trial = Trial { operation, change, durability, dirty_bytes };
                let driver = CrashDriver::failing(image.to_vec(), Failure { at, stays, written });
                let heal: Option<&dyn Fn(&CrashDriver)> = if stays { None } else { Some(&|_| {}) };
                has_failed |= trial.run(driver, heal, &mut seen).has_failed();
            }
            if !has_failed {
                break;
            }
        }
    });
    say_counts(format_args!("crash_objects, failing medium: {version:?}: {seen:?}"));
    assert!(seen.operations_failed > 20 && seen.flushes_undone > 20 && seen.poisoned > 20);
}

#[test]
fn a_medium_that_fails_at_any_write_leaves_a_file_with_superblock_0_old_or_new() {
    fail_everywhere(VERSIONS[0]);
}

#[test]
fn a_medium_that_fails_at_any_write_leaves_a_file_with_superblock_2_old_or_new() {
    fail_everywhere(VERSIONS[1]);
}

#[test]
fn a_medium_that_fails_at_any_write_leaves_a_file_with_superblock_3_old_or_new() {
    fail_everywhere(VERSIONS[2]);
}

/// A full disk fails every write that would extend the file. When the disk has space again, nothing is lost.
#[test]
fn a_full_disk_loses_nothing() {
    for version in VERSIONS {
        let (mut seen, mut full) = (Seen::default(), 0);
        each(version, |number, image, operation, change| {
            let steps = if is_soak() { 40 } else { 4 };
            for step in 0..steps {
                let room = image.len() as u64 + step * (40_000 / steps) / (1 + number as u64 % 3 * 8);
                let dirty_bytes = if number as u64 + step % 2 == 0 { 0 } else { PLENTY };
                let trial = Trial { operation, change, durability: Durability::Kill, dirty_bytes };
                let driver = CrashDriver::with_room(image.to_vec(), room);
                full += usize::from(
                    trial.run(driver, Some(&|driver| driver.make_room()), &mut seen).has_been_full(),
                );
            }
        });
        say_counts(format_args!("crash_objects, failing medium: {version:?}: {full} times full, {seen:?}"));
        assert!(full > 50 && seen.poisoned == 0);
    }
}
