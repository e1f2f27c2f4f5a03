//! The same operations on a split file: the file is killed, loses power or its medium between any two changes
//! of either member, and is then in the old state or in the new state.

use std::sync::Arc;

use hyperslab::Durability;
use hyperslab::{FileSpace, LibVersion};
use hyperslab_testkit::counts::say_counts;
use hyperslab_testkit::crash::{Failure, Written};
use hyperslab_testkit::crash_split::{RecordedSplit, SplitStep, parts};
use hyperslab_testkit::sound::{assert_accounted, assert_sound};

use super::base;
use super::operations::{self, Operation};
use super::state::{Change, State};
use super::{Judge, PLENTY, is_soak, options, record};

fn base(version: LibVersion) -> Vec<u8> {
    let split = RecordedSplit::new(&[]);
    base::make(Arc::new(split.open()), version, FileSpace::default());
    split.image()
}

/// Runs and commits an operation.
fn run(
    split: &RecordedSplit,
    operation: &Operation,
    durability: Durability,
    dirty_bytes: u64,
) -> hyperslab::Result<()> {
    let file = options(durability, dirty_bytes).clone().write(true).open_on(Arc::new(split.open()))?;
    if dirty_bytes == PLENTY || operation.is_transaction {
        operation.run(&file)?;
    } else {
        // In a transaction only new blocks are written early.
        file.begin_transaction()?;
        operation.run(&file)?;
        file.end_transaction(true)?;
    }
    file.flush()
}

/// Calls `f` with some or all of the operations, the base, and the change of the operation.
fn each(version: LibVersion, step: usize, mut f: impl FnMut(usize, &[u8], &Operation, &Change)) {
    let image = base(version);
    let whole = base::image(version, FileSpace::default());
    let step = if is_soak() { 1 } else { step };
    for (number, operation) in operations::all(version).iter().enumerate().step_by(step) {
        // The states of a file do not tell where its bytes are.
        let (_, change) = record(&whole, operation, Durability::Kill, PLENTY);
        f(number, &image, operation, &change);
    }
}

fn is_of_elements(step: &SplitStep) -> bool {
    matches!(step, SplitStep::Write { member: 1, .. } | SplitStep::SetLen(1, _))
}

#[test]
fn operations_on_a_split_file_lose_no_byte() {
    for version in base::VERSIONS {
        each(version, 2, |_, image, operation, change| {
            let unknown = assert_sound(image).totals.lost_bytes;
            let split = RecordedSplit::new(image);
            let file = options(Durability::Kill, PLENTY).clone().write(true);
            let file = file.open_on(Arc::new(split.open())).unwrap();
            operation.run(&file).unwrap();
            assert_accounted(&file, unknown);
            assert!(State::of(&file).unwrap() == change.new, "{}", operation.name);
        });
    }
}

#[test]
fn a_kill_leaves_the_old_or_the_new_state_of_a_split_file() {
    let (mut images, mut of_elements) = (0, 0);
    for (version, dirty_bytes) in [
        (LibVersion::Earliest, PLENTY),
        (LibVersion::V18, PLENTY),
        (LibVersion::V110, PLENTY),
        (LibVersion::V110, 0),
    ] {
        each(version, 3, |_, image, operation, change| {
            let split = RecordedSplit::new(image);
            run(&split, operation, Durability::Kill, dirty_bytes).unwrap();
            let (mut judge, mut last) = (Judge::new(change), 0);
            images += split.after_kill(|image| {
                let state = judge.state(image);
                let state = state.unwrap_or_else(|why| panic!("{version:?}, {}: {why}", operation.name));
                assert!(state >= last, "{}: the new state was lost again", operation.name);
                last = state;
            });
            assert_eq!(last, 1, "{}", operation.name);
            of_elements += split.steps().iter().filter(|step| is_of_elements(step)).count();
            assert!(!split.steps().iter().any(|step| matches!(step, SplitStep::Flush(_))));
        });
    }
    say_counts(format_args!("crash_objects: split files, killed: {images} images"));
    assert!(images > 800 && of_elements > 100, "{images} {of_elements}");
}

#[test]
fn a_loss_of_power_leaves_the_old_or_the_new_state_of_a_split_file() {
    let mut images = 0;
    for version in [LibVersion::Earliest, LibVersion::V110] {
        each(version, 8, |number, image, operation, change| {
            let split = RecordedSplit::new(image);
            run(&split, operation, Durability::Power, PLENTY).unwrap();
            let (mut judge, samples) = (Judge::new(change), if is_soak() { 100 } else { 7 });
            images += split.after_power_loss(number as u64, samples, |image| {
                let state = judge.state(image);
                state.unwrap_or_else(|why| panic!("{}: {why}", operation.name));
            });
            let mut durable = Vec::new();
            split.after_power_loss(number as u64, 1, |image| durable = image.to_vec());
            assert_eq!(judge.state(&durable), Ok(1), "{}: a durable change was lost", operation.name);
        });
    }
    say_counts(format_args!("crash_objects: split files, power lost: {images} images"));
    assert!(images > 400, "{images}");
}

#[test]
fn a_medium_that_fails_at_any_change_of_a_split_file_leaves_it_old_or_new() {
    let (mut failed, mut full) = (0, 0);
    each(LibVersion::V110, 9, |_, image, operation, change| {
        let change = &Change { in_place: true, ..change.clone() };
        let judged = |split: &RecordedSplit, is_done: bool| {
            let image = split.image();
            assert_sound(&image);
            let found = State::of_image(&image).unwrap_or_else(|error| panic!("{}: {error}", operation.name));
            let state = change.which(&found).unwrap_or_else(|why| panic!("{}: {why}", operation.name));
            assert!(!is_done || state == 1, "{}: a flushed change was lost", operation.name);
        };
        for at in 0.. {
            let (stays, written) =
                (at % 2 == 0, [Written::Nothing, Written::HalfOfItsSectors, Written::All][at % 3]);
            let split = RecordedSplit::new(image).failing(Failure { at, stays, written });
            let done = run(&split, operation, [Durability::Kill, Durability::Power][at / 2 % 2], PLENTY);
            judged(&split, done.is_ok());
            failed += usize::from(done.is_err());
            if !split.has_failed() {
                break;
            }
        }
        let (metadata, elements) = parts(image).unwrap();
        for room in (0..6).map(|step| metadata.len() + elements.len() + step * 500) {
            let split = RecordedSplit::new(image);
            split.set_room(room);
            let file = options(Durability::Kill, PLENTY).clone().write(true).open_on(Arc::new(split.open()));
            let file = file.unwrap();
            let mut done = operation.run(&file).and_then(|()| file.flush());
            full += usize::from(done.is_err());
            // When the disk has space again, nothing is lost.
            split.set_room(usize::MAX);
            if done.is_err() {
                let again = State::of(&file).unwrap();
                done = if again == change.new { Ok(()) } else { operation.run(&file) };
                done = done.and_then(|()| file.flush());
                done.as_ref().unwrap_or_else(|error| panic!("{}, again: {error}", operation.name));
            }
            drop(file);
            judged(&split, done.is_ok());
        }
    });
    say_counts(format_args!("crash_objects: split files: {failed} failures, {full} times full"));
    assert!(failed > 50 && full > 10, "{failed} {full}");
}
