//! A crash while one thread commits and another one writes leaves the old state or the new one.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyperslab::{Durability, File, LibVersion};
use hyperslab_testkit::counts::say_counts;
use hyperslab_testkit::crash::{CrashDriver, Effort, Recording};
use hyperslab_testkit::sound::{assert_accounted, assert_sound};

use super::{Writer, hooked, image, options, set_for_this_thread, wait_for};

/// A change of a file. Returns the number of bytes that it allocates and that nothing refers to.
type Change = fn(&File) -> u64;

const CHANGES: [Change; 3] = [
    // Blocks are overwritten, and the file grows.
    |file| {
        let new = file.root().new_dataset::<i32>("new").shape([3000]).chunks([1000]);
        new.create_with(&[1; 3000]).unwrap();
        file.root().set_attribute("n", 2).unwrap();
        0
    },
    // The file becomes shorter.
    |file| {
        file.root().remove("last").unwrap();
        0
    },
    // Only the end of the file changes.
    |file| file.store().allocate(3000).unwrap().len,
];

/// What a reader finds in a file.
pub(super) fn state(image: &[u8]) -> Vec<(String, Vec<i32>)> {
    assert_sound(image);
    let file = File::from_bytes(image.to_vec()).unwrap();
    let found = |name: String| {
        let values = file.dataset(&name).unwrap().read::<i32>(..).unwrap();
        (name, values)
    };
    file.root().names().unwrap().into_iter().map(found).collect()
}

pub(super) type State = Vec<(String, Vec<i32>)>;

/// Commits a change while another thread writes at each write and flush of the commit. Returns what was
/// recorded, and the states before and after each commit.
fn recorded(
    version: LibVersion,
    durability: Durability,
    has_hole: bool,
    change: Change,
) -> (Recording, Vec<State>) {
    let first = image(version);
    let mut states = vec![state(&first)];
    let driver = hooked(CrashDriver::new(first));
    let file = options(durability).open_on(driver.clone()).unwrap();
    if has_hole {
        file.root().remove("hole").unwrap();
        file.flush().unwrap();
        states.push(state(&driver.inner.image()));
    }
    let unused = change(&file);
    let (writer, is_done) = Writer::start(&file, 700);
    let turns = Arc::new(AtomicUsize::new(0));
    set_for_this_thread(&driver, wait_for(&writer, is_done, &turns));
    file.flush().unwrap();
    driver.clear();
    assert!(turns.load(Ordering::SeqCst) > 0);
    states.push(state(&driver.inner.image()));
    for extent in writer.end(&file) {
        file.store().release(extent);
    }
    assert_accounted(&file, unused);
    drop(file);
    (Arc::into_inner(driver).unwrap().inner.into_recording(), states)
}

/// The ways in which the other thread gets space: in a hole, or at the end of the file. There it waits for a
/// commit that does not flush.
const WAYS: [(Durability, bool); 3] =
    [(Durability::Kill, true), (Durability::Power, true), (Durability::Power, false)];

#[test]
fn a_commit_beside_a_writing_thread_is_all_or_nothing_after_a_kill() {
    let mut images = 0;
    for version in [LibVersion::Earliest, LibVersion::V110] {
        for ((durability, has_hole), change) in WAYS.into_iter().flat_map(|way| CHANGES.map(|c| (way, c))) {
            let (recording, states) = recorded(version, durability, has_hole, change);
            let mut last = 0;
            images += recording
                .after_kill(|image| {
                    let found = state(image);
                    let place = states.iter().skip(last).position(|state| *state == found);
                    last += place.expect("an old state, or a mixture");
                })
                .images;
            assert!(states[last] == states[states.len() - 1], "{version:?}");
        }
    }
    say_counts(format_args!("concurrent_commits: killed: {images} images"));
}

#[test]
fn a_commit_beside_a_writing_thread_is_all_or_nothing_after_a_loss_of_power() {
    let effort = Effort { exhaustive: 4, samples: 4 };
    let mut images = 0;
    for (has_hole, change) in [true, false].into_iter().flat_map(|has| CHANGES.map(|c| (has, c))) {
        let (recording, states) = recorded(LibVersion::V110, Durability::Power, has_hole, change);
        let last = recording.flushes();
        images += recording
            .after_power_loss_with(1, effort, |epoch, image| {
                let found = state(image);
                assert!(states.contains(&found), "epoch {epoch}: a mixture");
                assert!(epoch < last || found == states[states.len() - 1], "a durable commit was lost");
            })
            .images;
    }
    say_counts(format_args!("concurrent_commits: power lost: {images} images"));
}
