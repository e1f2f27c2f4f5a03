//! Many threads read one file, and reads of the disk fail: each read returns the right values or an error,
//! and none hangs.

#![allow(clippy::unwrap_used)] // helpers of tests may panic, as tests do

use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyperslab::driver::{Driver, Memory};
use hyperslab::{Dataset, File, Result, Selection};
use hyperslab::{Destination, ReadOptions, set_threads};
use hyperslab::{Dim, Slab};
use hyperslab_testkit::build;
use hyperslab_testkit::fuzz::Random;
use hyperslab_testkit::hooked::{Call, Hooked};

/// Files and datasets with several kinds of index, filtered and unfiltered. Without names, the datasets of
/// the root group.
const DATASETS: [(&str, &[&str]); 4] = [
    ("btree1.h5", &["/level1", "/level0_gzip", "/grid", "/sparse", "/one_chunk"]),
    ("fill_latest.h5", &[]),
    ("btree2_latest.h5", &[]),
    ("resized_latest.h5", &[]),
];

fn golden(name: &str) -> Vec<u8> {
    std::fs::read(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden/files").join(name)).unwrap()
}

/// Returns the paths of the datasets to read: `named`, or else up to six readable datasets of the root group.
fn paths(file: &File, named: &[&str]) -> Vec<String> {
    if !named.is_empty() {
        return named.iter().map(|&path| path.to_owned()).collect();
    }
    let names = file.root().names().unwrap();
    let readable = |name: &String| {
        file.dataset(name)
            .is_ok_and(|dataset| read(&dataset, &Selection::All, 1).is_ok() && dataset.size() > 0)
    };
    names.into_iter().filter(readable).take(6).collect()
}

fn read(dataset: &Dataset, what: &Selection, threads: usize) -> Result<Vec<u8>> {
    let len = usize::try_from(what.count(&dataset.shape())?).unwrap() * dataset.element_size();
    let mut dst = vec![0xEE; len];
    let options = ReadOptions::default().threads(NonZeroUsize::new(threads));
    dataset.read_with(what, &mut Destination::contiguous(&mut dst), &options)?;
    Ok(dst)
}

/// Returns a random slab within `shape`.
fn slab(shape: &[u64], random: &mut Random) -> Selection {
    let mut below = |limit: u64| random.u64() % limit.max(1);
    let dim = |&len: &u64| {
        let (start, step) = (below(len), 1 + below(4));
        Dim { start, step, count: 1 + below((len - start).div_ceil(step)) }
    };
    Selection::Slab(Slab(shape.iter().map(dim).collect()))
}

/// Returns the elements of `what` out of `whole`, which has all elements.
fn pick(whole: &[u8], dataset: &Dataset, what: &Selection) -> Vec<u8> {
    let size = dataset.element_size();
    let runs = what.runs(&dataset.shape()).unwrap();
    let at = |element: u64| usize::try_from(element).unwrap() * size;
    runs.flat_map(|run| whole[at(run.offset)..at(run.offset + run.len)].to_vec()).collect()
}

#[test]
fn many_threads_read_one_file_and_each_gets_the_elements_it_selected() {
    let mut compared = 0;
    for (name, named) in DATASETS {
        // The caches are so small that threads evict blocks that other threads need.
        let options = File::options().chunk_cache_bytes(4 << 10).metadata_cache_bytes(8 << 10);
        let file = options.clone().open_on(Arc::new(Memory::new(golden(name)))).unwrap();
        let datasets: Vec<Dataset> =
            paths(&file, named).iter().map(|path| file.dataset(path).unwrap()).collect();
        let whole: Vec<Vec<u8>> =
            datasets.iter().map(|dataset| read(dataset, &Selection::All, 1).unwrap()).collect();
        let count = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (file, datasets, whole, count) = (&file, &datasets, &whole, &count);
                scope.spawn(move || {
                    let mut random = Random::new(thread + 1);
                    for turn in 0..40 {
                        let chosen = random.below(datasets.len());
                        // Every other turn uses a new handle.
                        let again = file.dataset(datasets[chosen].path()).unwrap();
                        let dataset = if turn % 2 == 0 { &datasets[chosen] } else { &again };
                        let what = slab(&dataset.shape(), &mut random);
                        let found = read(dataset, &what, 1 + random.below(6)).unwrap();
                        assert_eq!(
                            found,
                            pick(&whole[chosen], dataset, &what),
                            "{} {what:?}",
                            dataset.path()
                        );
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        compared += count.into_inner();
    }
    assert_eq!(compared, 4 * 8 * 40);
}

#[test]
fn a_read_with_more_threads_than_processors_or_chunks_gives_the_same_values() {
    let values: Vec<u8> = (0..2_u32 << 20).map(|n| (n ^ n >> 7 ^ n >> 13).to_le_bytes()[0]).collect();
    let file = File::from_bytes(build::chunked(&values, 5000)).unwrap();
    let dataset = file.dataset("values").unwrap();
    std::thread::scope(|scope| {
        for threads in [1, 2, 3, 16, 100, 10_000] {
            let (dataset, values) = (&dataset, &values);
            scope.spawn(move || {
                for _ in 0..3 {
                    assert!(read(dataset, &Selection::All, threads).unwrap() == *values, "{threads} threads");
                }
            });
        }
        // Meanwhile the size of the process-wide thread pool changes.
        for threads in [3, 1, 64, 2] {
            set_threads(NonZeroUsize::new(threads).unwrap());
        }
    });
}

/// Returns a driver that fails at read number `fails_at`, and at every later read if `for_good` is set.
fn failing(bytes: &[u8], fails_at: usize, for_good: bool) -> Arc<dyn Driver> {
    let (reads, all) = (AtomicUsize::new(0), Memory::new(bytes.to_vec()));
    Arc::new(Hooked::with(Memory::new(bytes.to_vec()), move |call| {
        let Call::Read(offset, dst) = call else { return Ok(()) };
        let number = reads.fetch_add(1, Ordering::Relaxed);
        if number == fails_at || (for_good && number > fails_at) {
            // Half of the destination is filled, as after a short read.
            let half = dst.len() / 2;
            let _ = all.read_at(offset, &mut dst[..half]);
            return Err(io::Error::other("the disk is gone"));
        }
        Ok(())
    }))
}

#[test]
fn a_disk_error_in_one_of_many_threads_is_returned_by_the_read() {
    let values: Vec<u8> = (0..1_u32 << 20).map(|n| (n >> 3).to_le_bytes()[0]).collect();
    let bytes = build::chunked(&values, 50_000);
    let (mut right, mut errors) = (0, 0);
    for fails_at in 0..40 {
        let result = File::options()
            .open_on(failing(&bytes, fails_at, false))
            .and_then(|file| file.dataset("values"))
            .and_then(|dataset| read(&dataset, &Selection::All, 4));
        match result {
            Ok(found) => {
                assert!(found == values, "read {fails_at}");
                right += 1;
            }
            Err(_) => errors += 1,
        }
    }
    assert!(right > 5 && errors > 15, "{right} right, {errors} errors");
}

#[test]
fn a_read_from_a_failing_disk_returns_the_right_values_or_an_error() {
    let (mut right, mut errors) = (0, 0);
    for (name, named) in DATASETS {
        let bytes = golden(name);
        let sound = File::from_bytes(bytes.clone()).unwrap();
        for path in paths(&sound, named).iter().take(3) {
            let whole = read(&sound.dataset(path).unwrap(), &Selection::All, 1).unwrap();
            for (fails_at, for_good) in (0..60).flat_map(|number| [(number, false), (number, true)]) {
                let Ok(file) = File::options().open_on(failing(&bytes, fails_at, for_good)) else {
                    errors += 1;
                    continue;
                };
                // Reads again after a failure: nothing of the failed read may stay in the caches.
                for threads in [1, 3, 1] {
                    match file.dataset(path).and_then(|dataset| read(&dataset, &Selection::All, threads)) {
                        Ok(found) => {
                            assert_eq!(found, whole, "{name} {path}, read {fails_at}");
                            right += 1;
                        }
                        Err(_) => errors += 1,
                    }
                }
            }
        }
    }
    assert!(right > 500 && errors > 300, "{right} right, {errors} errors");
}
