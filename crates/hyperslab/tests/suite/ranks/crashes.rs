//! Ranks that are killed, and media that fail: the file is one of its commits.

use std::sync::Arc;

use hyperslab::driver::Driver;
use hyperslab::filter::Deflate;
use hyperslab::{Durability, File, Result};
use hyperslab_testkit::crash::{CrashDriver, Failure, Written};
use hyperslab_testkit::sound::assert_sound;

use super::{creating, run, together};

/// Has three ranks commit, write and commit again. Every change of the medium may fail.
fn two_commits(driver: &Arc<dyn Driver>, durability: Durability) -> Vec<Result<()>> {
    run(3, |ranks| {
        let file = creating(&ranks).durability(durability).open_on(Arc::clone(driver))?;
        let new = file.root().new_dataset::<i32>("d").shape([9]).chunks([2]).filter(Deflate::default());
        let dataset = new.create()?;
        let first = 3 * ranks.rank() as u64;
        together(&dataset, first..first + 3, &[1; 3])?;
        file.flush()?;
        file.root().new_dataset::<i32>("e").shape([9]).fill_value(3).create()?;
        together(&dataset, first..first + 3, &[2; 3])?;
        file.close()
    })
}

fn assert_one_of_two_commits(image: &[u8]) {
    let Ok(file) = File::from_bytes(image.to_vec()) else { return };
    let found: Vec<i32> = file.dataset("d").unwrap().read(..).unwrap();
    if file.dataset("e").is_ok() {
        assert_eq!(file.dataset("e").unwrap().read::<i32>(..).unwrap(), [3; 9]);
        assert_eq!(found, [2; 9]);
    } else {
        assert_eq!(found, [1; 9]);
    }
}

#[test]
fn ranks_that_are_killed_leave_a_commit() {
    let driver = Arc::new(CrashDriver::new(Vec::new()));
    for result in two_commits(&(driver.clone() as Arc<dyn Driver>), Durability::Kill) {
        result.unwrap();
    }
    let recording = Arc::into_inner(driver).unwrap().into_recording();
    let mut whole = 0;
    let counts = recording.after_kill(|image| {
        assert_one_of_two_commits(image);
        whole += usize::from(File::from_bytes(image.to_vec()).is_ok());
    });
    assert!(whole > 3 && counts.images > whole, "{counts}");
    assert_sound(&recording.last_image());
}

#[test]
fn a_failing_medium_fails_on_all_ranks_and_leaves_a_commit() {
    let mut failed = 0;
    for at in 0.. {
        let failure = Failure { at, stays: true, written: Written::HalfOfItsSectors };
        let driver = Arc::new(CrashDriver::failing(Vec::new(), failure));
        let results = two_commits(&(driver.clone() as Arc<dyn Driver>), Durability::Power);
        if !driver.has_failed() {
            break;
        }
        failed += 1;
        let oks = results.iter().filter(|result| result.is_ok()).count();
        // The last changes, after the commit, may fail on one rank.
        assert!(oks == 0 || oks == 3 || at > 10, "failure {at}: {results:?}");
        assert_one_of_two_commits(&driver.image());
    }
    assert!(failed > 10, "{failed} changes");
}
