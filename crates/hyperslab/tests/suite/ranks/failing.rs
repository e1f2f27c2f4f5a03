//! Ranks that fail, give up or make other calls: all fail, and the file is as it was committed last.

use std::io;
use std::sync::Arc;

use hyperslab::driver::{Driver, Memory};
use hyperslab::filter::Deflate;
use hyperslab::{Error, File, Result, Transfer};
use hyperslab_testkit::hooked::Hooked;
use hyperslab_testkit::sound::assert_sound;

use super::{changing, creating, run, together, write};

/// Commits a dataset of 4 elements, and has `work` change it. Returns the errors, and the image.
fn failing(work: impl Fn(&File, usize) -> Result<()> + Sync) -> (Vec<String>, Vec<u8>) {
    let memory = Arc::new(Memory::default());
    let errors = run(3, |ranks| {
        let file = creating(&ranks).open_on(memory.clone()).unwrap();
        let new = file.root().new_dataset::<i32>("d").shape([6]).chunks([4]).filter(Deflate::default());
        new.create_with(&[1, 2, 3, 4, 5, 6]).unwrap();
        file.flush().unwrap();
        let error = work(&file, ranks.rank()).unwrap_err();
        // What follows is the same on all ranks.
        drop(file);
        error.to_string()
    });
    (errors, memory.bytes())
}

#[track_caller]
fn assert_as_committed(image: Vec<u8>) {
    assert_sound(&image);
    let file = File::from_bytes(image).unwrap();
    assert_eq!(file.root().names().unwrap(), ["d"]);
    assert_eq!(file.dataset("d").unwrap().read::<i32>(..).unwrap(), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_write_that_one_rank_cannot_make_fails_on_all_and_the_next_succeeds() {
    let (errors, image) = failing(|file, rank| {
        let dataset = file.dataset("d").unwrap();
        let what = if rank == 1 { 5..9 } else { 0..4 };
        let failed = together(&dataset, what, &[0; 4]).unwrap_err();
        // The ranks are at the same step still.
        together(&dataset, 2 * rank as u64..2 * rank as u64 + 2, &[7; 2]).unwrap();
        assert_eq!(dataset.read::<i32>(..).unwrap(), [7; 6]);
        Err(failed)
    });
    assert!(errors[1].contains("out of bounds"), "{errors:?}");
    assert!(errors[0].starts_with("rank 1 failed") && errors[2].starts_with("rank 1 failed"), "{errors:?}");
    assert_as_committed(image);
}

#[test]
fn ranks_that_change_the_file_differently_commit_nothing() {
    let (errors, image) = failing(|file, rank| {
        file.root().create_group(if rank == 2 { "two" } else { "one" })?;
        let failed = file.flush().unwrap_err();
        assert!(matches!(file.root().create_group("more").unwrap_err().root(), Error::Poisoned));
        Err(failed)
    });
    assert!(
        errors.iter().all(|error| error.contains("rank 2") && error.contains("same calls")),
        "{errors:?}"
    );
    assert_as_committed(image);
}

#[test]
fn ranks_that_make_other_calls_are_told_so() {
    let (errors, image) =
        failing(
            |file, rank| {
                if rank == 2 { file.flush() } else { together(&file.dataset("d")?, 0..4, &[0; 4]) }
            },
        );
    assert!(errors[0].contains("rank 2") && errors[2].contains("rank 0"), "{errors:?}");
    assert!(errors.iter().all(|error| error.contains("another call")), "{errors:?}");
    assert_as_committed(image);
}

#[test]
fn a_rank_that_cannot_open_an_existing_file_makes_all_fail() {
    let memory = Arc::new(Memory::default());
    let file = File::options().create(true).open_on(memory.clone()).unwrap();
    file.root().create_group("g").unwrap();
    file.close().unwrap();
    let errors = run(3, |ranks| {
        let driver: Arc<dyn Driver> = match ranks.rank() {
            1 => Arc::new(Hooked::with(Memory::new(memory.bytes()), |_| {
                Err(io::Error::other("no connection"))
            })),
            _ => memory.clone(),
        };
        changing(&ranks).open_on(driver).unwrap_err().to_string()
    });
    assert!(errors[1].contains("no connection"), "{errors:?}");
    assert!(errors[0].contains("rank 1") && errors[2].contains("rank 1"), "{errors:?}");
}

#[test]
fn a_rank_that_gives_up_makes_all_fail_with_its_reason() {
    let (errors, image) = failing(|file, rank| {
        if rank == 0 {
            file.clone().give_up("the input ended").unwrap();
            return file.flush();
        }
        file.root().create_group("new")?;
        together(&file.dataset("d")?, 0..4, &[0; 4])
    });
    assert!(errors[1..].iter().all(|error| error.contains("rank 0 failed: the input ended")), "{errors:?}");
    assert!(errors[0].contains("closed"), "{errors:?}");
    assert_as_committed(image);
}

#[test]
fn a_file_that_one_rank_drops_is_not_committed() {
    let (errors, image) = failing(|file, rank| {
        file.root().create_group("new")?;
        if rank == 1 { Err(Error::Poisoned) } else { file.flush() }
    });
    assert!(errors[0].contains("rank 1 failed: it dropped the file"), "{errors:?}");
    assert_as_committed(image);
}

#[test]
fn no_rank_waits_for_one_that_gave_up_while_another_failed() {
    let (errors, image) = failing(|file, rank| {
        let dataset = file.dataset("d").unwrap();
        let failed = match rank {
            0 => together(&dataset, 0..4, &[0; 4]),
            1 => together(&dataset, 5..9, &[0; 4]),
            _ => {
                file.clone().give_up("the input ended").unwrap();
                return file.flush();
            }
        };
        // Rank 0 hears of rank 1 first.
        assert!(matches!(together(&dataset, 0..4, &[0; 4]).unwrap_err().root(), Error::Poisoned));
        failed
    });
    assert!(errors[0].contains("rank 1 failed") && errors[1].contains("out of bounds"), "{errors:?}");
    assert_as_committed(image);
}

#[test]
fn ranks_that_open_a_file_with_other_options_are_told_so() {
    let memory = Arc::new(Memory::default());
    let errors = run(3, |ranks| {
        let bytes = if ranks.rank() == 2 { 1 << 20 } else { 2 << 20 };
        creating(&ranks).chunk_cache_bytes(bytes).open_on(memory.clone()).unwrap_err().to_string()
    });
    assert!(
        errors.iter().all(|error| error.contains("rank 2") && error.contains("same arguments")),
        "{errors:?}"
    );
}

#[test]
fn other_files_are_only_read_by_ranks() {
    let directory = tempfile::tempdir().unwrap();
    let other = File::create(directory.path().join("other.h5")).unwrap();
    other.root().new_dataset::<i32>("d").shape([2]).create_with(&[1, 2]).unwrap();
    other.close().unwrap();
    let path = directory.path().join("linked.h5");
    run(2, |ranks| {
        let file = creating(&ranks).open(&path).unwrap();
        file.root().link_external("link", "other.h5", "/d").unwrap();
        let linked = file.dataset("link").unwrap();
        assert_eq!(linked.read::<i32>(..).unwrap(), [1, 2]);
        assert!(write(&linked, 0..2, &[3, 4], Transfer::Alike).is_err());
        file.close().unwrap();
    });
    let other = File::open(directory.path().join("other.h5")).unwrap();
    assert_eq!(other.dataset("d").unwrap().read::<i32>(..).unwrap(), [1, 2]);
}

#[test]
fn what_all_write_alike_is_compared() {
    let (errors, image) = failing(|file, rank| {
        let alike = file.root().new_dataset::<i32>("alike").shape([2]).create()?;
        write(&alike, 0..2, &[i32::from(rank == 2); 2], Transfer::Alike)
    });
    assert!(
        errors.iter().all(|error| error.contains("rank 2") && error.contains("same arguments")),
        "{errors:?}"
    );
    assert_as_committed(image);
}
