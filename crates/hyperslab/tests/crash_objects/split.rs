//! The same operations on a split file: the file is killed, loses power or its medium between any two changes
//! of either member, and is then in the old state or in the new state.

use hyperslab::Durability;
use hyperslab::{FileSpace, LibVersion};
use hyperslab_testkit::counts::say_counts;
use hyperslab_testkit::crash_members::{MemberStep, RecordedMembers, parts};
use hyperslab_testkit::sound::{assert_accounted, assert_sound};

use super::base;
use super::members::{fail_everywhere, run};
use super::operations::{self, Operation};
use super::state::{Change, State};
use super::{Judge, PLENTY, is_soak, options, record};

fn base(version: LibVersion) -> Vec<u8> {
    let split = RecordedMembers::split(&[]);
    base::make(split.open(), version, FileSpace::default());
    split.image()
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

fn is_of_elements(step: &MemberStep) -> bool {
    matches!(step, MemberStep::Write { file: 1, .. } | MemberStep::SetLen(1, _))
}

#[test]
fn operations_on_a_split_file_lose_no_byte() {
    for version in base::VERSIONS {
        each(version, 2, |_, image, operation, change| {
            let unknown = assert_sound(image).totals.lost_bytes;
            let split = RecordedMembers::split(image);
            let file = options(Durability::Kill, PLENTY).clone().write(true);
            let file = file.open_on(split.open()).unwrap();
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
            let split = RecordedMembers::split(image);
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
            assert!(!split.steps().iter().any(|step| matches!(step, MemberStep::Flush(_))));
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
            let split = RecordedMembers::split(image);
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
        let (metadata, elements) = parts(image).unwrap();
        let rooms = (0..6).map(|step| metadata.len() + elements.len() + step * 500);
        let more = fail_everywhere(&|| RecordedMembers::split(image), operation, change, rooms);
        (failed, full) = (failed + more.0, full + more.1);
    });
    say_counts(format_args!("crash_objects: split files: {failed} failures, {full} times full"));
    assert!(failed > 50 && full > 10, "{failed} {full}");
}
