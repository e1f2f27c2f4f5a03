//! Runs every operation that changes a file, and lets it be killed, lose power or lose the medium at every
//! point. The file is then in the old state or in the new state.
//!
//! `HYPERSLAB_SOAK=1` tries more cases and takes minutes.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]

mod base;
mod create;
mod family;
mod faults;
mod members;
mod operations;
mod split;
mod state;

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use hyperslab::Durability;
use hyperslab::driver::{Driver, Memory};
use hyperslab::{FileSpace, LibVersion, OpenOptions, SpaceStrategy};
use hyperslab_check as check;
use hyperslab_format::superblock::driver_information::MultiInformation;
use hyperslab_store::Searches;
use hyperslab_store::commit::recovery::inspect;
use hyperslab_testkit::counts::say_counts;
use hyperslab_testkit::crash::{Counts, CrashDriver, Effort, Recording};
use hyperslab_testkit::crash_members::{RecordedMembers, driver_of, joined, parts};
use hyperslab_testkit::sound::{assert_accounted_within, assert_sound};

use base::VERSIONS;
use operations::Operation;
use state::{Change, State};

/// Returns whether to run the long version of the tests.
pub(crate) fn is_soak() -> bool {
    std::env::var_os("HYPERSLAB_SOAK").is_some()
}

/// Returns the options for opening a file that is to be changed.
pub(crate) fn options(durability: Durability, dirty_bytes: u64) -> OpenOptions {
    let options = OpenOptions::new().durability(durability).dirty_bytes(dirty_bytes);
    match SEARCHES.get() {
        Some(when) => options.find_free_space(Some(check::holes)).searches(when),
        None => options,
    }
}

thread_local! {
    /// Whether, and when, the files of this test look for space that was free when they were opened.
    static SEARCHES: Cell<Option<Searches>> = const { Cell::new(None) };
}

/// A memory limit so large that no new block is written before a commit.
pub(crate) const PLENTY: u64 = 1 << 20;

/// Runs and commits an operation. Returns the recorded writes, and the states before and after.
fn record(
    image: &[u8],
    operation: &Operation,
    durability: Durability,
    dirty_bytes: u64,
) -> (Recording, Change) {
    let driver = Arc::new(CrashDriver::new(image.to_vec()));
    let file = options(durability, dirty_bytes).clone().write(true).open_on(driver.clone()).unwrap();
    let run = || {
        if dirty_bytes == PLENTY || operation.is_transaction {
            return operation.run(&file);
        }
        // In a transaction only new blocks are written early. Without one, all changes would be committed
        // early.
        file.begin_transaction()?;
        operation.run(&file)?;
        file.end_transaction(true)
    };
    run().and_then(|()| file.flush()).unwrap_or_else(|error| panic!("{}: {error}", operation.name));
    let seen = State::of(&file).unwrap();
    let lost = assert_sound(image).totals.lost_bytes;
    let fewest = if SEARCHES.get().is_some() { 0 } else { lost };
    assert_accounted_within(&file, fewest..=lost);
    drop(file);
    let recording = Arc::into_inner(driver).unwrap().into_recording();
    let old = State::of_image(image).unwrap();
    let new = State::of_image(&recording.last_image()).unwrap();
    let name = &operation.name;
    assert!(
        seen == new,
        "{name}: the file differs from the state before it was closed, at {}",
        seen.difference(&new)
    );
    assert!(old != new, "{name} changes nothing");
    (recording, Change { old, new, in_place: operation.in_place })
}

/// Finds the states of images, and caches them so that each image is read once.
struct Judge<'c> {
    change: &'c Change,
    known: HashMap<Vec<u8>, usize>,
    looked_at: usize,
}

impl<'c> Judge<'c> {
    fn new(change: &'c Change) -> Self {
        Self { change, known: HashMap::new(), looked_at: 0 }
    }

    /// Returns 0 if the image shows the old state and 1 if it shows the new one.
    fn state(&mut self, image: &[u8]) -> Result<usize, String> {
        if let Some(&state) = self.known.get(image) {
            return Ok(state);
        }
        let seen = State::of_image(image).map_err(|error| error.to_string())?;
        let state = self.change.which(&seen)?;
        self.foreign(image)?;
        assert_sound(image);
        self.looked_at += 1;
        if self.looked_at % 13 == 1 {
            continued(image, &seen)?;
        }
        self.known.insert(image.to_vec(), state);
        Ok(state)
    }

    /// Checks what a program sees that does not know the journal. Such a program ignores bytes after the End
    /// of File Address, and refuses a file that is shorter.
    fn foreign(&self, image: &[u8]) -> Result<(), String> {
        let report = inspect(&*driver_of(image)).map_err(|error| error.to_string())?;
        let at = usize::try_from(report.superblock_at()).unwrap();
        if let Some((metadata, elements)) = parts(image) {
            let end = end_of_file(&metadata[at..]);
            if end > MultiInformation::SPLIT_AT + elements.len() as u64 {
                return Ok(());
            }
            let seen =
                metadata.get(..usize::try_from(end).unwrap()).map(|metadata| joined(metadata, elements));
            let seen = seen.ok_or("another program opens a file that is cut short")?;
            return self.seen_by_others(&seen);
        }
        let Ok(end) = usize::try_from(end_of_file(&image[at..])) else { return Ok(()) };
        if end > image.len() {
            return Ok(());
        }
        self.seen_by_others(&image[..end])
    }

    fn seen_by_others(&self, image: &[u8]) -> Result<(), String> {
        let seen = State::of_image(image).map_err(|error| format!("another program: {error}"))?;
        self.change.which(&seen).map(drop).map_err(|why| format!("another program sees {why}"))
    }
}

/// Checks that opening the file for writing shows the same state, and that the file can be changed from
/// there.
fn continued(image: &[u8], seen: &State) -> Result<(), String> {
    let memory = Arc::new(Memory::new(image.to_vec()));
    let split = parts(image).map(|_| RecordedMembers::split(image));
    let go_on = || {
        let driver = match &split {
            Some(split) => split.open() as Arc<dyn Driver>,
            None => memory.clone(),
        };
        let file = options(Durability::Kill, PLENTY).clone().write(true).open_on(driver)?;
        let here = State::of(&file)?;
        file.root().create_group("after the crash")?;
        file.root().remove("after the crash")?;
        base::set(&file.root(), "after the crash", 1, 1)?;
        file.root().remove_attribute("after the crash")?;
        file.close()?;
        Ok::<_, hyperslab::Error>((
            here,
            State::of_image(&split.as_ref().map_or_else(|| memory.bytes(), RecordedMembers::image))?,
        ))
    };
    let (here, after) =
        go_on().map_err(|error: hyperslab::Error| format!("changing the file after the crash: {error}"))?;
    for other in [here, after] {
        if *seen != other {
            return Err(format!("opening for writing shows another state at {}", seen.difference(&other)));
        }
    }
    Ok(())
}

/// Returns the End of File Address that is stored in the superblock, which may be the guard.
fn end_of_file(superblock: &[u8]) -> u64 {
    let at = match superblock[8] {
        0 => 40,
        1 => 44,
        _ => 28,
    };
    u64::from_le_bytes(superblock[at..at + 8].try_into().unwrap())
}

fn total(counts: &mut Counts, more: Counts) {
    counts.epochs += more.epochs;
    counts.exhaustive += more.exhaustive;
    counts.images += more.images;
}

/// Returns all versions, or only the last one without `HYPERSLAB_SOAK`.
fn some_versions() -> impl Iterator<Item = LibVersion> {
    VERSIONS.into_iter().filter(|version| is_soak() || *version == LibVersion::V110)
}

/// Kills each operation after every write, in order. Once the new state appears, later images show it as
/// well.
fn after_kills(version: LibVersion, dirty_bytes: u64) {
    after_kills_of(&base::image(version, FileSpace::default()), version, dirty_bytes);
}

fn after_kills_of(image: &[u8], version: LibVersion, dirty_bytes: u64) {
    let mut counts = Counts::default();
    for operation in operations::all(version) {
        let (recording, change) = record(image, &operation, Durability::Kill, dirty_bytes);
        let (mut judge, mut last) = (Judge::new(&change), 0);
        total(
            &mut counts,
            recording.after_kill(|image| {
                let state = judge.state(image);
                let state = state.unwrap_or_else(|why| panic!("{version:?}, {}: {why}", operation.name));
                assert!(state >= last, "{version:?}, {}: the new state was lost again", operation.name);
                last = state;
            }),
        );
        assert_eq!((last, recording.flushes()), (1, 0), "{}", operation.name);
    }
    say_counts(format_args!("crash_objects: {version:?}, killed: {counts}"));
    assert!(counts.images > 1000);
}

fn after_power_losses(version: LibVersion, dirty_bytes: u64) {
    after_power_losses_of(&base::image(version, FileSpace::default()), version, dirty_bytes);
}

fn after_power_losses_of(image: &[u8], version: LibVersion, dirty_bytes: u64) {
    let effort =
        if is_soak() { Effort { exhaustive: 9, samples: 200 } } else { Effort { exhaustive: 3, samples: 8 } };
    let mut counts = Counts::default();
    for (number, operation) in operations::all(version).into_iter().enumerate() {
        let (recording, change) = record(image, &operation, Durability::Power, dirty_bytes);
        let (mut judge, last) = (Judge::new(&change), recording.flushes());
        total(
            &mut counts,
            recording.after_power_loss_with(number as u64, effort, |epoch, image| {
                let state = judge.state(image);
                let state = state.unwrap_or_else(|why| panic!("{version:?}, {}: {why}", operation.name));
                if epoch == last {
                    assert_eq!(state, 1, "{version:?}, {}: a durable change was lost", operation.name);
                    assert!(
                        change.in_place || State::of_image(image).unwrap() == change.new,
                        "{}",
                        operation.name
                    );
                }
            }),
        );
        assert!(last > 0, "{}: nothing was flushed", operation.name);
    }
    say_counts(format_args!("crash_objects: {version:?}, power lost: {counts}"));
    assert!(counts.images > 5000);
}

#[test]
fn a_kill_leaves_the_old_or_the_new_state_of_a_file_with_superblock_0() {
    after_kills(VERSIONS[0], PLENTY);
}

#[test]
fn a_kill_leaves_the_old_or_the_new_state_of_a_file_with_superblock_2() {
    after_kills(VERSIONS[1], PLENTY);
}

#[test]
fn a_kill_leaves_the_old_or_the_new_state_of_a_file_with_superblock_3() {
    after_kills(VERSIONS[2], PLENTY);
}

#[test]
fn a_kill_leaves_the_old_or_the_new_state_of_a_file_that_keeps_its_free_space() {
    for strategy in [SpaceStrategy::Pages, SpaceStrategy::Managers] {
        let space = FileSpace { strategy, persist: true, page_size: 1024, ..FileSpace::default() };
        let image = base::image(LibVersion::V110, space);
        assert!(assert_sound(&image).totals.free_bytes > 0, "{strategy:?}: no free space is kept");
        after_kills_of(&image, LibVersion::V110, PLENTY);
    }
}

#[test]
fn a_kill_leaves_the_old_or_the_new_state_of_a_file_that_finds_its_free_space() {
    for (when, dirty_bytes) in [(Searches::AtOnce, PLENTY), (Searches::AtOnce, 0), (Searches::AfterCommit, 0)]
    {
        SEARCHES.set(Some(when));
        some_versions().for_each(|version| {
            let image = base::image_with_holes(version);
            assert!(assert_sound(&image).totals.lost_bytes > 5000);
            after_kills_of(&image, version, dirty_bytes);
        });
    }
}

#[test]
fn a_kill_while_new_blocks_are_written_early_leaves_the_old_or_the_new_state() {
    some_versions().for_each(|version| after_kills(version, 0));
}

#[test]
fn a_loss_of_power_leaves_the_old_or_the_new_state_of_a_file_with_superblock_0() {
    after_power_losses(VERSIONS[0], PLENTY);
}

#[test]
fn a_loss_of_power_leaves_the_old_or_the_new_state_of_a_file_with_superblock_2() {
    after_power_losses(VERSIONS[1], PLENTY);
}

#[test]
fn a_loss_of_power_leaves_the_old_or_the_new_state_of_a_file_with_superblock_3() {
    after_power_losses(VERSIONS[2], PLENTY);
}

#[test]
fn a_loss_of_power_leaves_the_old_or_the_new_state_of_a_file_that_finds_its_free_space() {
    SEARCHES.set(Some(Searches::AtOnce));
    some_versions()
        .for_each(|version| after_power_losses_of(&base::image_with_holes(version), version, PLENTY));
}

#[test]
fn a_loss_of_power_while_new_blocks_are_written_early_leaves_the_old_or_the_new_state() {
    some_versions().for_each(|version| after_power_losses(version, 0));
}

/// Elements that are written in place are durable after the next flush, even if no metadata changed.
#[test]
fn elements_written_in_place_and_flushed_survive_a_loss_of_power() {
    for version in VERSIONS {
        let image = base::image(version, FileSpace::default());
        for operation in operations::all(version).into_iter().filter(|operation| operation.in_place) {
            let (recording, change) = record(&image, &operation, Durability::Power, PLENTY);
            let last = recording.flushes();
            recording.after_power_loss(1, |epoch, image| {
                if epoch == last {
                    let seen = State::of_image(image).unwrap();
                    assert!(seen == change.new, "{version:?}, {}", operation.name);
                }
            });
        }
    }
}

#[test]
fn opening_and_closing_a_file_does_not_write_to_it() {
    for version in VERSIONS {
        let driver = Arc::new(CrashDriver::new(base::image(version, FileSpace::default())));
        let file = options(Durability::Power, PLENTY).clone().write(true).open_on(driver.clone()).unwrap();
        State::of(&file).unwrap();
        file.flush().unwrap();
        drop(file);
        assert!(driver.len().unwrap() > 0);
        assert!(Arc::into_inner(driver).unwrap().into_recording().is_empty());
    }
}
