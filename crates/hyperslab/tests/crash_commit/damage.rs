//! States that no crash leaves: files changed by other programs, damaged journals and contradictory commits.

use std::sync::Arc;

use hyperslab::driver::{Driver, Memory};
use hyperslab_format::superblock::guard::{self, Reach};
use hyperslab_store::Store;
use hyperslab_store::commit::recovery::{Action, Seal, Trailer, act, inspect};
use hyperslab_store::commit::{Commit, Durability, Outcome, Overwrite, commit};
use hyperslab_testkit::crash::CrashDriver;
use hyperslab_testkit::fuzz::Random;

use crate::case::{Case, FILES, Size, file, image_of, recovered};

/// A file with a complete journal, with and without the guard, and the states before and after the commit.
struct Interrupted {
    case: Case,
    guarded: Vec<u8>,
    unguarded: Vec<u8>,
    states: [Vec<u8>; 2],
}

fn interrupted(name: &str) -> Interrupted {
    let first = file(name);
    let case = Case::random(&first, 41, Durability::Power, &mut Random::new(20), Size::Small);
    let driver = CrashDriver::new(first.clone());
    case.write_new_blocks(&driver);
    assert!(matches!(commit(&driver, case.commit.clone()), Outcome::Committed));
    let mut guarded = Vec::new();
    driver.into_recording().after_power_loss(0, |epoch, image| {
        if epoch == 2 && guarded.is_empty() {
            guarded = image.to_vec();
        }
    });
    let mut unguarded = guarded.clone();
    replace(&mut unguarded, &case, case.commit.before.as_deref().unwrap());
    let states = [first, case.after.clone()];
    Interrupted { case, guarded, unguarded, states }
}

fn replace(image: &mut [u8], case: &Case, superblock: &[u8]) {
    let at = usize::try_from(case.commit.superblock_at).unwrap();
    image[at..at + superblock.len()].copy_from_slice(superblock);
}

fn open(image: &[u8]) -> hyperslab::Result<Store> {
    Store::open(Arc::new(Memory::new(image.to_vec())), 1 << 20)
}

#[test]
fn opening_an_interrupted_commit_for_reading_shows_the_recovered_state() {
    for name in FILES {
        let Interrupted { case, guarded, states, .. } = interrupted(name);
        let store = open(&guarded).unwrap();
        assert_eq!(store.superblock().end_of_file(), states[1].len() as u64, "{name}");
        let Overwrite { offset, bytes } = &case.commit.overwrites[0];
        let mut shown = vec![0; bytes.len()];
        store.driver().unwrap().read_at(*offset, &mut shown).unwrap();
        assert_eq!(&shown, bytes, "{name}");
        assert!(store.driver().unwrap().write_at(0, &[0]).is_err());

        let report = inspect(&Memory::new(guarded)).unwrap();
        assert_eq!(
            (report.trailer, report.seal, report.action),
            (Trailer::Whole, Seal::Guarded, Action::Redo)
        );
        assert_eq!((report.transaction(), report.overwrites()), (Some(41), 2));
    }
}

#[test]
fn a_guard_without_a_journal_is_removed() {
    for name in FILES {
        let Interrupted { case, states, .. } = interrupted(name);
        let mut image = states[0].clone();
        replace(&mut image, &case, &guard::set(&image_of(&states[0]), Reach::Whole).unwrap());
        image.extend(b"half a journal");
        assert_eq!(recovered(&image, &states), Ok(0));
        assert_eq!(open(&image).unwrap().superblock().end_of_file(), states[0].len() as u64);
        // The bytes after the End of File Address may belong to the user.
        let driver = Memory::new(image.clone());
        act(&driver, &inspect(&driver).unwrap()).unwrap();
        assert!(driver.into_bytes().ends_with(b"half a journal"));
        // A truncated file has lost data.
        image.truncate(states[0].len() - 1);
        let error = open(&image).unwrap_err().to_string();
        assert!(error.contains("cut short") && error.contains("hyperslab recover"), "{error}");
    }
}

#[test]
fn a_torn_superblock_is_restored_from_a_complete_journal() {
    let mut torn = 0;
    for name in FILES {
        let Interrupted { case, guarded, unguarded, states } = interrupted(name);
        let images = [
            case.commit.before.clone().unwrap(),
            guard::set(&image_of(&states[0]), Reach::Whole).unwrap(),
            case.commit.after.clone(),
        ];
        for cut in 0..images[0].len() {
            for (first, second) in [(0, 1), (1, 0), (1, 2), (2, 1)] {
                let mixture = [&images[first][..cut], &images[second][cut..]].concat();
                // The crash may have been in the step that sets the guard or in the step that writes the
                // final superblock.
                let mut image = if first == 2 || second == 2 { states[1].clone() } else { unguarded.clone() };
                let tail = &guarded[states[1].len()..];
                image.truncate(states[1].len());
                image.extend(tail);
                replace(&mut image, &case, &mixture);
                let report = inspect(&Memory::new(image.clone())).unwrap();
                torn += usize::from(report.seal == Seal::Torn);
                let driver = Memory::new(image);
                act(&driver, &report).unwrap();
                assert_eq!(driver.into_bytes(), states[1], "{name}: {:?} {cut}", report.seal);
            }
        }
    }
    assert!(torn > 20, "{torn}");
}

#[test]
fn a_torn_journal_with_an_unknown_superblock_is_refused() {
    for name in FILES {
        let Interrupted { case, mut guarded, .. } = interrupted(name);
        let (before, after) = (case.commit.before.as_deref().unwrap(), &case.commit.after);
        let last_of_journal = guarded.len() - 33;
        guarded[last_of_journal] ^= 1;
        // Where the two superblocks differ, takes bytes from each in turn.
        let mut differing = 0;
        let pick = |(old, new): (&u8, &u8)| {
            differing += usize::from(old != new);
            if differing % 2 == 1 { *new } else { *old }
        };
        let mixture: Vec<u8> = before.iter().zip(after).map(pick).collect();
        if mixture != *before && mixture != *after {
            replace(&mut guarded, &case, &mixture);
            refuses(&guarded);
        }
    }
}

#[test]
fn a_file_that_another_program_has_changed_is_refused() {
    for name in FILES {
        let Interrupted { case, guarded, unguarded, .. } = interrupted(name);
        // The journal has no such superblock.
        let mut foreign = case.commit.after.clone();
        let sized = guard::set(&foreign, Reach::Whole).unwrap();
        foreign.copy_from_slice(&sized);
        foreign[20] ^= 0x55;
        let mut image = guarded.clone();
        replace(&mut image, &case, &foreign);
        refuses(&image);
        // The target of an overwrite has neither the old bytes nor the new ones. With the guard this would be
        // a torn write.
        let target = usize::try_from(case.commit.overwrites[1].offset).unwrap();
        let mut image = unguarded.clone();
        image[target] = !image[target] ^ 0x3c ^ case.commit.overwrites[1].bytes[0];
        let is_other =
            image[target] != unguarded[target] && image[target] != case.commit.overwrites[1].bytes[0];
        if is_other {
            refuses(&image);
        }
    }
}

fn refuses(image: &[u8]) {
    let driver = Memory::new(image.to_vec());
    let report = inspect(&driver).unwrap();
    assert_eq!(report.action, Action::Refuse);
    assert!(act(&driver, &report).unwrap_err().to_string().contains("hyperslab recover"));
    assert_eq!(driver.into_bytes(), image);
    let error = open(image).unwrap_err().to_string();
    assert!(error.contains("changed by another program") && error.contains("hyperslab recover"), "{error}");
}

#[test]
fn recovering_a_damaged_file_never_panics() {
    for name in ["libver_earliest.h5", "libver_latest.h5"] {
        let Interrupted { guarded, states, .. } = interrupted(name);
        for at in (0..96).chain(states[1].len()..guarded.len()) {
            for mask in [0xff, 0x01, 0x40] {
                let mut image = guarded.clone();
                image[at] ^= mask;
                if let Ok(report) = inspect(&Memory::new(image.clone())) {
                    let driver = Memory::new(image);
                    let _ = act(&driver, &report);
                    assert!(driver.len().unwrap() <= guarded.len() as u64);
                }
            }
        }
        for len in 0..guarded.len() {
            let _ = open(&guarded[..len]);
        }
    }
}

/// Asserts that a commit is refused and does not change the file, and returns the error.
fn undone(first: &[u8], wrong: &Commit) -> String {
    let driver = CrashDriver::new(first.to_vec());
    let Outcome::Undone(error) = commit(&driver, wrong.clone()) else { panic!("the commit was not undone") };
    assert_eq!(driver.into_recording().last_image(), first);
    error.to_string()
}

#[test]
fn a_contradictory_commit_is_refused_and_changes_nothing() {
    let first = file("libver_latest.h5");
    let good = || Case::random(&first, 1, Durability::Kill, &mut Random::new(21), Size::Small).commit;
    let changed = |f: &dyn Fn(&mut Commit)| {
        let mut commit = good();
        f(&mut commit);
        undone(&first, &commit)
    };
    let overlap = changed(&|commit| commit.overwrites[1].offset = commit.overwrites[0].offset);
    let superblock = changed(&|commit| commit.overwrites[0].offset = commit.superblock_at + 8);
    for message in [overlap, superblock] {
        assert!(message.contains("overlap"), "{message}");
    }
    let outside = changed(&|commit| commit.overwrites[1].offset = 1 << 40);
    assert!(outside.contains("after the end"), "{outside}");
    let foreign = changed(&|commit| commit.before = Some(commit.after.clone()));
    assert!(foreign.contains("another program"), "{foreign}");
    let short = changed(&|commit| commit.after.truncate(40));
    assert!(short.contains("superblock"), "{short}");
    let lengths = changed(&|commit| commit.before.as_mut().unwrap().push(0));
    assert!(lengths.contains("different lengths"), "{lengths}");
    let new = changed(&|commit| commit.before = None);
    assert!(new.contains("without a superblock"), "{new}");
}

#[test]
fn a_commit_to_a_file_with_two_byte_addresses_is_refused() {
    let first = file("sizes_2_2_earliest.h5");
    let image = image_of(&first);
    let commit = Commit {
        transaction: 1,
        superblock_at: 0,
        before: Some(image.clone()),
        after: image,
        overwrites: vec![Overwrite { offset: 200, bytes: vec![1] }],
        durability: Durability::Kill,
    };
    let message = undone(&first, &commit);
    assert!(message.contains("addresses of 2 bytes is not supported"), "{message}");
}
