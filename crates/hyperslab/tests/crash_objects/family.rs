//! The same operations on a family: the file is killed, loses power or its medium between any two changes of
//! any of its members, and is then in the old state or in the new state.

use hyperslab::Durability;
use hyperslab::{FileSpace, LibVersion};
use hyperslab_testkit::counts::say_counts;
use hyperslab_testkit::crash_members::{MemberStep, RecordedMembers};

use super::base;
use super::members::{fail_everywhere, run};
use super::operations::{self, Operation};
use super::state::Change;
use super::{Judge, PLENTY, is_soak, record};

/// The sizes of members in bytes: the file has many of them, or a commit adds the second one.
const SIZES: [usize; 2] = [1500, 40_000];

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
            let folder = RecordedMembers::family(image, size);
            // Left over from an older, longer family: a full member.
            folder.leave(image.len() / size + 1, &vec![b'x'; size]);
            run(&folder, operation, Durability::Kill, PLENTY).unwrap();
            let (mut judge, mut last) = (Judge::new(change), 0);
            images += folder.after_kill(|image| {
                let state = judge.state(image);
                let state = state.unwrap_or_else(|why| panic!("{version:?}, {}: {why}", operation.name));
                assert!(state >= last, "{}: the new state was lost again", operation.name);
                last = state;
            });
            assert_eq!(last, 1, "{}", operation.name);
            let steps = folder.steps();
            added += steps.iter().filter(|step| matches!(step, MemberStep::Create { .. })).count();
            removed += steps.iter().filter(|step| matches!(step, MemberStep::Remove(_))).count();
            assert!(!steps.contains(&MemberStep::Sync));
        });
    }
    say_counts(format_args!("crash_objects: a family, killed: {images} images, {added} members added"));
    assert!(images > 500 && added > 20 && removed > 20);
}

#[test]
fn a_loss_of_power_leaves_the_old_or_the_new_state_of_a_family() {
    let mut images = 0;
    each(LibVersion::V110, 12, |number, image, operation, change| {
        let folder = RecordedMembers::family(image, SIZES[number / 12 % 2]);
        run(&folder, operation, Durability::Power, PLENTY).unwrap();
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
        let new = || RecordedMembers::family(image, SIZES[number / 9 % 2]);
        let rooms = (0..6).map(|step| image.len() + step * 700);
        let more = fail_everywhere(&new, operation, change, rooms);
        (failed, full) = (failed + more.0, full + more.1);
    });
    say_counts(format_args!("crash_objects: a family: {failed} failures, {full} times full"));
    assert!(failed > 50 && full > 10);
}
