//! The same operations on a family: the file is killed, loses power or its medium between any two changes of
//! any of its members, and is then in the old state or in the new state.

use std::sync::Arc;

use hyperslab::Durability;
use hyperslab::{FileSpace, LibVersion};
use hyperslab_testkit::counts::say_counts;
use hyperslab_testkit::crash::{Failure, Written};
use hyperslab_testkit::crash_family::{FamilyStep, RecordedFolder};
use hyperslab_testkit::sound::assert_sound;

use super::base;
use super::operations::{self, Operation};
use super::state::{Change, State};
use super::{Judge, PLENTY, is_soak, options, record};

/// The sizes of members in bytes: the file has many of them, or a commit adds the second one.
const SIZES: [usize; 2] = [1500, 40_000];

/// Runs and commits an operation on a family with members of `size` bytes.
fn run(folder: &RecordedFolder, operation: &Operation, durability: Durability) -> hyperslab::Result<()> {
    let file = options(durability, PLENTY).clone().write(true).open_on(Arc::new(folder.open()))?;
    operation.run(&file)?;
    file.flush()
}

/// Calls `f` with some or all of the operations, the base, and the change of the operation.
fn each(version: LibVersion, step: usize, mut f: impl FnMut(usize, &[u8], &Operation, &Change)) {
    let image = base::image(version, FileSpace::default());
    let step = if is_soak() { 1 } else { step };
    for (number, operation) in operations::all(version).iter().enumerate().step_by(step) {
        let (_, change) = record(&image, operation, Durability::Kill, PLENTY);
        f(number, &image, operation, &change);
    }
}

#[test]
fn a_kill_leaves_the_old_or_the_new_state_of_a_family() {
    let (mut images, mut added, mut removed) = (0, 0, 0);
    for version in [LibVersion::Earliest, LibVersion::V110] {
        each(version, 3, |number, image, operation, change| {
            let size = SIZES[number / 3 % 2];
            let folder = RecordedFolder::new(image, size);
            // Left over from an older, longer family: a full member.
            folder.leave(image.len() / size + 1, &vec![b'x'; size]);
            run(&folder, operation, Durability::Kill).unwrap();
            let (mut judge, mut last) = (Judge::new(change), 0);
            images += folder.after_kill(|image| {
                let state = judge.state(image);
                let state = state.unwrap_or_else(|why| panic!("{version:?}, {}: {why}", operation.name));
                assert!(state >= last, "{}: the new state was lost again", operation.name);
                last = state;
            });
            assert_eq!(last, 1, "{}", operation.name);
            let steps = folder.steps();
            added += steps.iter().filter(|step| matches!(step, FamilyStep::Create { .. })).count();
            removed += steps.iter().filter(|step| matches!(step, FamilyStep::Remove(_))).count();
            assert!(!steps.contains(&FamilyStep::Sync));
        });
    }
    say_counts(format_args!("crash_objects: a family, killed: {images} images, {added} members added"));
    assert!(images > 500 && added > 20 && removed > 20);
}

#[test]
fn a_loss_of_power_leaves_the_old_or_the_new_state_of_a_family() {
    let mut images = 0;
    each(LibVersion::V110, 12, |number, image, operation, change| {
        let folder = RecordedFolder::new(image, SIZES[number / 12 % 2]);
        run(&folder, operation, Durability::Power).unwrap();
        let (mut judge, samples) = (Judge::new(change), if is_soak() { 100 } else { 4 });
        images += folder.after_power_loss(number as u64, samples, |image| {
            let state = judge.state(image);
            state.unwrap_or_else(|why| panic!("{}: {why}", operation.name));
        });
        let mut durable = Vec::new();
        folder.after_power_loss(number as u64, 1, |image| durable = image.to_vec());
        assert_eq!(judge.state(&durable), Ok(1), "{}: a durable change was lost", operation.name);
    });
    say_counts(format_args!("crash_objects: a family, power lost: {images} images"));
    assert!(images > 200);
}

#[test]
fn a_medium_that_fails_at_any_change_of_a_family_leaves_it_old_or_new() {
    let (mut failed, mut full) = (0, 0);
    each(LibVersion::V110, 9, |number, image, operation, change| {
        let change = &Change { in_place: true, ..change.clone() };
        let size = SIZES[number / 9 % 2];
        let judged = |folder: &RecordedFolder, is_done: bool| {
            let image = folder.image();
            assert_sound(&image);
            let found = State::of_image(&image).unwrap_or_else(|error| panic!("{}: {error}", operation.name));
            let state = change.which(&found).unwrap_or_else(|why| panic!("{}: {why}", operation.name));
            assert!(!is_done || state == 1, "{}: a flushed change was lost", operation.name);
        };
        for at in 0.. {
            let (stays, written) =
                (at % 2 == 0, [Written::Nothing, Written::HalfOfItsSectors, Written::All][at % 3]);
            let folder = RecordedFolder::new(image, size).failing(Failure { at, stays, written });
            let done = run(&folder, operation, [Durability::Kill, Durability::Power][at / 2 % 2]);
            judged(&folder, done.is_ok());
            failed += usize::from(done.is_err());
            if !folder.has_failed() {
                break;
            }
        }
        for room in (0..6).map(|step| image.len() + step * 700) {
            let folder = RecordedFolder::new(image, size);
            folder.set_room(room);
            let file = options(Durability::Kill, PLENTY).clone().write(true).open_on(Arc::new(folder.open()));
            let file = file.unwrap();
            let mut done = operation.run(&file).and_then(|()| file.flush());
            full += usize::from(done.is_err());
            // When the disk has space again, nothing is lost.
            folder.set_room(usize::MAX);
            if done.is_err() {
                let again = State::of(&file).unwrap();
                done = if again == change.new { Ok(()) } else { operation.run(&file) };
                done = done.and_then(|()| file.flush());
                done.as_ref().unwrap_or_else(|error| panic!("{}, again: {error}", operation.name));
            }
            drop(file);
            judged(&folder, done.is_ok());
        }
    });
    say_counts(format_args!("crash_objects: a family: {failed} failures, {full} times full"));
    assert!(failed > 50 && full > 10);
}
