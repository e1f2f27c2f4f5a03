//! Runs real commits on real files and crashes them at every point. Recovery then gives the old file or the
//! new file.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]

mod case;
mod damage;

use hyperslab::driver::{Driver, Memory};
use hyperslab_store::commit::recovery::{Action, act, inspect};
use hyperslab_store::commit::{Durability, Outcome, commit};
use hyperslab_testkit::counts::say_counts;
use hyperslab_testkit::crash::{Counts, CrashDriver, Failure, Recording, Written};
use hyperslab_testkit::fuzz::Random;

use case::{Case, EVERY_SIZE, FILES, Size, image_of, recovered};

/// Makes one random commit of each size in `sizes`. Returns the recorded writes, and the file before, between
/// and after the commits.
fn record(
    first: &[u8],
    durability: Durability,
    random: &mut Random,
    sizes: &[Size],
) -> (Recording, Vec<Vec<u8>>) {
    let driver = CrashDriver::new(first.to_vec());
    let mut states = vec![first.to_vec()];
    for (number, size) in sizes.iter().enumerate() {
        let case = Case::random(states.last().unwrap(), number as u64 + 1, durability, random, *size);
        case.write_new_blocks(&driver);
        assert!(matches!(commit(&driver, case.commit.clone()), Outcome::Committed));
        states.push(case.after);
    }
    let recording = driver.into_recording();
    assert_eq!(recording.last_image(), *states.last().unwrap());
    (recording, states)
}

fn total(counts: &mut Counts, more: Counts) {
    counts.epochs += more.epochs;
    counts.exhaustive += more.exhaustive;
    counts.images += more.images;
}

#[test]
fn killing_a_commit_at_any_write_leaves_the_old_or_the_new_file() {
    let mut counts = Counts::default();
    for (number, name) in FILES.iter().enumerate() {
        for size in EVERY_SIZE {
            let random = &mut Random::new(number as u64);
            let (recording, states) =
                record(&case::file(name), Durability::Kill, random, &[size, Size::Small]);
            let mut last = 0;
            total(
                &mut counts,
                recording.after_kill(|image| {
                    let state =
                        recovered(image, &states).unwrap_or_else(|wrong| panic!("{name} {size:?}: {wrong}"));
                    assert!(state >= last, "{name} {size:?}: state {last} was seen before {state}");
                    last = state;
                }),
            );
            assert_eq!((last, recording.flushes()), (states.len() - 1, 0), "{name}");
        }
    }
    say_counts(format_args!("crash_commit: killed: {counts}"));
}

#[test]
fn losing_power_during_a_commit_leaves_the_old_or_the_new_file() {
    let mut counts = Counts::default();
    for (number, name) in FILES.iter().enumerate() {
        for size in EVERY_SIZE {
            let random = &mut Random::new(100 + number as u64);
            let (recording, states) = record(&case::file(name), Durability::Power, random, &[size]);
            // The commit is durable after two flushes: that of the new blocks, and that of the journal and
            // the guard.
            let commit_point = 2;
            // Superblock versions 0 and 1 have no checksum that would reveal a torn superblock.
            let is_direct =
                matches!(size, Size::BlocksOnly | Size::SuperblockOnly) && image_of(&states[0])[8] >= 2;
            assert_eq!(recording.flushes(), if is_direct { 3 } else { 4 }, "{name} {size:?}");
            total(
                &mut counts,
                recording.after_power_loss(7, |epoch, image| {
                    let state = recovered(image, &states)
                        .unwrap_or_else(|wrong| panic!("{name} {size:?}, epoch {epoch}: {wrong}"));
                    // A commit without a journal is durable one flush later.
                    if epoch >= commit_point + usize::from(is_direct) {
                        assert_eq!(state, 1, "{name} {size:?}, epoch {epoch}: a durable commit was lost");
                    }
                }),
            );
        }
    }
    say_counts(format_args!("crash_commit: power lost: {counts}"));
}

#[test]
fn the_journal_tail_of_an_earlier_commit_is_not_taken_for_a_later_journal() {
    let mut counts = Counts::default();
    for (number, name) in FILES.iter().enumerate() {
        for sizes in [
            [Size::Large, Size::Small, Size::Small],
            [Size::OverwritesOnly, Size::OverwritesOnly, Size::BlocksOnly],
        ] {
            let random = &mut Random::new(200 + number as u64);
            let (recording, states) = record(&case::file(name), Durability::Power, random, &sizes);
            let mut least = [usize::MAX; 16];
            total(
                &mut counts,
                recording.after_power_loss(8, |epoch, image| {
                    let state = recovered(image, &states)
                        .unwrap_or_else(|wrong| panic!("{name} {sizes:?}, epoch {epoch}: {wrong}"));
                    least[epoch] = least[epoch].min(state);
                }),
            );
            // A durable state is never lost again.
            assert!(least.is_sorted() && least[4] >= 1 && least[8] >= 2, "{name} {least:?}");
        }
    }
    say_counts(format_args!("crash_commit: three commits: {counts}"));
}

#[test]
fn leaving_out_any_flush_of_a_commit_mixes_old_and_new() {
    for name in FILES {
        let (recording, states) =
            record(&case::file(name), Durability::Power, &mut Random::new(3), &[Size::Small]);
        assert_eq!(recording.flushes(), 4);
        for flush in 0..4 {
            let mut mixed = 0;
            let counts = recording.without_flush(flush).after_power_loss(9, |_, image| {
                mixed += usize::from(recovered(image, &states).is_err());
            });
            assert!(mixed > 0, "{name}: without flush {flush}, no image mixes old and new: {counts}");
        }
    }
}

#[test]
fn an_interrupted_recovery_can_be_recovered() {
    let mut counts = Counts::default();
    for name in FILES {
        let (recording, states) =
            record(&case::file(name), Durability::Power, &mut Random::new(4), &[Size::Small]);
        recording.after_power_loss(10, |_, image| {
            let state = recovered(image, &states).unwrap();
            let driver = CrashDriver::new(image.to_vec());
            act(&driver, &inspect(&driver).unwrap()).unwrap();
            let recovery = driver.into_recording();
            recovery.after_kill(|image| assert_eq!(recovered(image, &states), Ok(state), "{name}"));
            total(
                &mut counts,
                recovery.after_power_loss(11, |_, image| {
                    assert_eq!(recovered(image, &states), Ok(state), "{name}");
                }),
            );
        });
    }
    say_counts(format_args!("crash_commit: interrupted recoveries: {counts}"));
    assert!(counts.images > 500);
}

/// A kill loses no write, but no write need be durable yet. Recovery flushes before it continues.
#[test]
fn recovery_after_a_kill_flushes_the_written_data() {
    let mut recoveries = 0;
    for name in FILES {
        let (recording, states) =
            record(&case::file(name), Durability::Kill, &mut Random::new(15), &[Size::Small]);
        for count in 0..recording.len() {
            let driver = recording.replayed(count);
            let report = inspect(&driver).unwrap();
            if report.action == Action::Nothing {
                continue;
            }
            act(&driver, &report).unwrap();
            let recovery = driver.into_recording();
            let state = recovered(&recovery.last_image(), &states).unwrap();
            assert!(recovery.flushes() > 0, "{name}: {:?} without a flush", report.action);
            recovery.after_power_loss(16, |epoch, image| {
                if epoch > 0 {
                    assert_eq!(recovered(image, &states), Ok(state), "{name}: {:?}", report.action);
                }
            });
            recoveries += 1;
        }
    }
    assert!(recoveries > 20, "{recoveries}");
}

#[test]
fn a_journal_tail_that_was_never_cut_does_not_harm_the_next_commit() {
    for name in FILES {
        for size in EVERY_SIZE {
            let random = &mut Random::new(17);
            let (recording, states) = record(&case::file(name), Durability::Power, random, &[Size::Large]);
            let image = recording.replayed(recording.len() - 1).into_recording().last_image();
            assert!(image.len() > states[1].len());
            let case = Case::random(&states[1], 2, Durability::Power, random, size);
            let driver = CrashDriver::new(image);
            case.write_new_blocks(&driver);
            assert!(matches!(commit(&driver, case.commit.clone()), Outcome::Committed));
            let states = [&states[..], &[case.after]].concat();
            driver.into_recording().after_power_loss(18, |_, image| {
                let state =
                    recovered(image, &states).unwrap_or_else(|wrong| panic!("{name} {size:?}: {wrong}"));
                assert!(state > 0, "{name} {size:?}");
            });
        }
    }
}

#[test]
fn a_commit_on_a_failing_medium_leaves_the_state_that_its_outcome_states() {
    let mut seen = [0; 3];
    for name in FILES {
        for (durability, size) in [Durability::Kill, Durability::Power]
            .into_iter()
            .flat_map(|durability| [Size::Small, Size::BlocksOnly].map(|size| (durability, size)))
        {
            let arrives = [Written::Nothing, Written::HalfOfItsSectors, Written::All];
            for (stays, written) in [false, true].into_iter().flat_map(|stays| arrives.map(|w| (stays, w))) {
                for at in 0.. {
                    let mut random = Random::new(5);
                    let first = case::file(name);
                    let case = Case::random(&first, 1, durability, &mut random, size);
                    let ready = Memory::new(first.clone());
                    case.write_new_blocks(&ready);
                    let driver = CrashDriver::failing(ready.into_bytes(), Failure { at, stays, written });
                    let outcome = commit(&driver, case.commit.clone());
                    let failed = driver.has_failed();
                    let recording = driver.into_recording();
                    let states = [first, case.after];
                    let state = recovered(&recording.last_image(), &states).unwrap();
                    match outcome {
                        Outcome::Committed => assert_eq!(state, 1, "{name}, change {at}"),
                        Outcome::Undone(_) => {
                            assert_eq!(state, 0, "{name}, change {at}");
                            // An undone commit never comes back, even after a loss of power.
                            if durability == Durability::Power {
                                let last = recording.flushes();
                                recording.after_power_loss(12, |epoch, image| {
                                    if epoch == last {
                                        assert_eq!(recovered(image, &states), Ok(0), "{name}, change {at}");
                                    }
                                });
                            }
                        }
                        Outcome::Poisoned(_) => {}
                    }
                    seen[match outcome {
                        Outcome::Committed => 0,
                        Outcome::Undone(_) => 1,
                        Outcome::Poisoned(_) => 2,
                    }] += 1;
                    if !failed {
                        break;
                    }
                }
            }
        }
    }
    say_counts(format_args!("crash_commit: committed, undone, poisoned: {seen:?}"));
    assert!(seen.iter().all(|&times| times > 20), "{seen:?}");
}

#[test]
fn a_new_file_is_valid_as_soon_as_its_superblock_is_written() {
    let whole = case::file("libver_latest.h5");
    let len = image_of(&whole).len();
    let driver = CrashDriver::new(Vec::new());
    driver.write_at(len as u64, &whole[len..]).unwrap();
    let mut new = Case::random(&whole, 1, Durability::Power, &mut Random::new(6), Size::BlocksOnly).commit;
    (new.before, new.after) = (None, image_of(&whole));
    assert!(matches!(commit(&driver, new.clone()), Outcome::Committed));
    let mut seen = [0; 2];
    driver.into_recording().after_power_loss(13, |_, image| {
        let is_there = inspect(&Memory::new(image.to_vec())).is_ok();
        assert!(!is_there || image == whole);
        seen[usize::from(is_there)] += 1;
    });
    assert!(seen[0] > 1 && seen[1] > 1, "{seen:?}");
}

#[test]
fn bytes_of_the_user_after_the_end_of_file_stay_until_the_first_commit() {
    for name in FILES {
        let first = case::file(name);
        let mut with_notes = first.clone();
        with_notes.extend(b"notes of the user, after the end of the file ".repeat(100));
        let driver = Memory::new(with_notes.clone());
        let report = inspect(&driver).unwrap();
        assert_eq!(report.action, Action::Nothing);
        act(&driver, &report).unwrap();
        assert_eq!(driver.into_bytes(), with_notes);

        let case = Case::random(&first, 1, Durability::Power, &mut Random::new(7), Size::OverwritesOnly);
        let driver = CrashDriver::new(with_notes);
        assert!(matches!(commit(&driver, case.commit.clone()), Outcome::Committed));
        driver.into_recording().after_power_loss(14, |_, image| {
            recovered(image, &[first.clone(), case.after.clone()]).unwrap();
        });
    }
}
