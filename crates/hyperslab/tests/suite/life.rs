//! The life of a file: closed once, opened several times by one process, and refreshed after another process
//! has extended it.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Mutex};

use hyperslab::driver::{Driver, Locking, Memory, Operation, Posix, Trace};
use hyperslab::filter::Fletcher32;
use hyperslab::{Dataset, Durability, Error, File, Group, OpenOptions, RequestError, Result};
use hyperslab_testkit::sound::assert_sound;

/// Creates a dataset that can grow, in chunks of 16 elements with a checksum. All stored chunks have the same
/// size.
fn series(group: &Group, name: &str, values: &[i32]) -> Dataset {
    let new = group.new_dataset::<i32>(name).shape([values.len() as u64]).max_shape([None]).chunks([16]);
    new.filter(Fletcher32).create_with(values).unwrap()
}

fn power() -> OpenOptions {
    File::options().durability(Durability::Power)
}

#[track_caller]
fn assert_closed<T: std::fmt::Debug>(result: Result<T>) {
    let error = result.unwrap_err();
    assert!(matches!(error.root(), Error::Request(RequestError::Closed)), "{error}");
}

#[track_caller]
fn assert_refused(result: Result<File>, why: &str) {
    let error = result.unwrap_err();
    assert!(matches!(error.root(), Error::Request(RequestError::AlreadyOpen { .. })), "{error}");
    assert!(error.to_string().contains(why), "{error}");
}

const CLOSING: Operation = Operation::Flush { closing: true };

#[test]
fn closing_a_file_closes_its_driver_once_and_no_driver_call_follows() {
    for is_dropped in [false, true] {
        let driver = Arc::new(Trace::new(Memory::default()));
        let file = power().clone().create(true).truncate(true).open_on(driver.clone()).unwrap();
        let dataset = series(&file.root(), "series", &[1, 2, 3]);
        let handles = (file.root(), dataset.clone());
        let kept = if is_dropped {
            drop((dataset, handles, file));
            None
        } else {
            file.close().unwrap();
            Some(handles)
        };
        let operations = driver.take();
        assert_eq!(operations.iter().filter(|&&operation| operation == CLOSING).count(), 1);
        assert_eq!(operations.last(), Some(&CLOSING));
        if let Some((root, dataset)) = kept {
            assert_closed(dataset.read::<i32>(..));
            assert_closed(dataset.write(.., &[4, 5, 6]));
            assert_closed(root.names());
            assert_closed(root.create_group("more").map(drop));
            assert_closed(root.file().flush());
            assert_closed(root.file().refresh());
            assert_eq!(dataset.shape(), [3], "a handle still returns what it has in memory");
            root.file().clone().close().unwrap();
        }
        assert_eq!(driver.take(), []);
    }
}

#[test]
fn closing_after_a_flush_neither_writes_nor_synchronises_again() {
    for (options, flushes_driver) in [(File::options(), false), (power(), true)] {
        let driver = Arc::new(Trace::new(Memory::default()));
        let file = options.clone().create(true).truncate(true).open_on(driver.clone()).unwrap();
        series(&file.root(), "series", &[1, 2, 3]);
        file.flush().unwrap();
        let flushes = driver.take().into_iter().filter(|done| *done == Operation::Flush { closing: false });
        assert_eq!(flushes.count() > 0, flushes_driver);
        file.close().unwrap();
        let writes = |done: &Operation| !matches!(done, Operation::Read { .. });
        assert_eq!(driver.take().into_iter().filter(writes).collect::<Vec<_>>(), [CLOSING]);
    }
}

#[test]
fn closing_a_file_opened_for_reading_makes_no_driver_call() {
    let image = Arc::new(Memory::default());
    let made = File::options().create(true).truncate(true).open_on(image.clone()).unwrap();
    series(&made.root(), "series", &[1, 2, 3]);
    made.close().unwrap();
    assert_sound(&image.bytes());
    let driver = Arc::new(Trace::new(Memory::new(image.bytes())));
    let file = File::options().open_on(driver.clone()).unwrap();
    let dataset = file.dataset("series").unwrap();
    assert_eq!(dataset.read::<i32>(..).unwrap(), [1, 2, 3]);
    driver.take();
    file.close().unwrap();
    assert_closed(dataset.read::<i32>(..));
    assert_eq!(driver.take(), []);
    assert_eq!(Arc::strong_count(&driver), 1, "the closed file has dropped the driver");
}

#[test]
fn closing_returns_the_error_of_a_failed_commit_and_closes_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f.h5");
    File::create(&path).unwrap().close().unwrap();
    // The operating system has the file open for reading only, so every write fails.
    let file = File::options().write(true).open_on(Arc::new(Posix::open(&path).unwrap()));
    let file = file.unwrap();
    let root = file.root();
    root.create_group("lost").unwrap();
    assert!(matches!(file.close().unwrap_err().root(), Error::Io { op: "write", .. }));
    assert_closed(root.names());
    drop(root);
    assert_eq!(File::open(&path).unwrap().root().names().unwrap(), [] as [&str; 0]);
}

/// A logger that keeps the records of this process.
struct Kept;

static RECORDS: Mutex<Vec<(log::Level, String)>> = Mutex::new(Vec::new());

impl log::Log for Kept {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.target() == "hyperslab"
    }

    fn log(&self, record: &log::Record<'_>) {
        RECORDS.lock().unwrap().push((record.level(), record.args().to_string()));
    }

    fn flush(&self) {}
}

#[test]
fn a_file_whose_last_commit_fails_when_it_is_dropped_leaves_a_record() {
    log::set_logger(&Kept).unwrap();
    log::set_max_level(log::LevelFilter::Warn);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("dropped.h5");
    File::create(&path).unwrap().close().unwrap();
    // The operating system has the file open for reading only, so every write fails.
    let file = File::options().write(true).location(&path).open_on(Arc::new(Posix::open(&path).unwrap()));
    file.unwrap().root().create_group("lost").unwrap();
    let records = RECORDS.lock().unwrap();
    let of_file: Vec<_> = records.iter().filter(|(_, text)| text.contains("dropped.h5")).collect();
    let [(log::Level::Error, text)] = of_file[..] else { panic!("{records:?}") };
    assert!(text.contains("what was changed since the last flush is lost"), "{text}");
}

#[test]
fn reads_during_a_close_return_the_right_values_or_a_closed_error() {
    let image = Arc::new(Memory::default());
    let values: Vec<i32> = (0..5000).collect();
    let made = File::options().create(true).truncate(true).open_on(image.clone()).unwrap();
    series(&made.root(), "series", &values);
    made.close().unwrap();
    for is_writable in [false, true, false, true] {
        let driver = Arc::new(Memory::new(image.bytes()));
        let file = if is_writable {
            File::options().write(true).open_on(driver).unwrap()
        } else {
            File::options().open_on(driver).unwrap()
        };
        let (start, is_read) = (Barrier::new(5), AtomicBool::new(false));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let (dataset, start, is_read, values) =
                    (file.dataset("series").unwrap(), &start, &is_read, &values);
                scope.spawn(move || {
                    start.wait();
                    loop {
                        match dataset.read::<i32>(..) {
                            Ok(found) => assert_eq!(found, *values),
                            error => return assert_closed(error),
                        }
                        is_read.store(true, Ordering::Release);
                    }
                });
            }
            start.wait();
            while !is_read.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            file.clone().close().unwrap();
        });
    }
}

/// Returns the number of file descriptors of this process that are open on `path`.
#[cfg(target_os = "linux")]
fn descriptors(path: &Path) -> usize {
    let open = std::fs::read_dir("/proc/self/fd").unwrap();
    open.filter(|entry| std::fs::read_link(entry.as_ref().unwrap().path()).is_ok_and(|to| to == path)).count()
}

#[cfg(target_os = "linux")]
#[test]
fn closing_the_last_opening_closes_the_file_descriptor() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().canonicalize().unwrap().join("f.h5");
    let file = File::create(&path).unwrap();
    let dataset = series(&file.root(), "series", &[1, 2, 3]);
    assert_eq!(descriptors(&path), 1);
    let second = File::open(&path).unwrap();
    file.close().unwrap();
    assert_eq!(descriptors(&path), 1, "the second opening needs it");
    assert_eq!(second.dataset("series").unwrap().read::<i32>(..).unwrap(), [1, 2, 3]);
    second.close().unwrap();
    assert_eq!(descriptors(&path), 0);
    assert_closed(dataset.read::<i32>(..));
    Posix::open_writable(&path, hyperslab::driver::Create::No).unwrap();
}

#[test]
fn opening_an_open_file_again_follows_the_rules_of_libhdf5() {
    let directory = tempfile::tempdir().unwrap();
    let [path, link, hard] = ["f.h5", "link.h5", "hard.h5"].map(|name| directory.path().join(name));
    File::create(&path).unwrap().close().unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&path, &link).unwrap();
    // Windows lets only some users make symbolic links.
    #[cfg(windows)]
    std::fs::hard_link(&path, &link).unwrap();
    std::fs::hard_link(&path, &hard).unwrap();

    let reader = File::open(&path).unwrap();
    assert!(reader.is_same(&File::open(&link).unwrap()) && reader.is_same(&File::open(&hard).unwrap()));
    assert_refused(File::options().write(true).open(&path), "already open read-only");
    assert_refused(File::options().create(true).open(&link), "already open read-only");
    assert_refused(File::create(&hard), "unable to truncate");
    assert!(File::options().create_new(true).open(&path).is_err());
    reader.close().unwrap();

    let first = File::options().write(true).open(&path).unwrap();
    let second = File::open(&link).unwrap();
    assert!(second.is_same(&first) && second.is_writable());
    assert!(File::options().create(true).open(&hard).unwrap().is_same(&first));
    assert_refused(File::create(&path), "unable to truncate");
    assert_refused(power().clone().write(true).open(&path), "durability");
    let mut unlocked = OpenOptions::default();
    unlocked = unlocked.locking(Locking::No);
    assert_refused(unlocked.clone().open(&path), "locking");
    first.root().create_group("made").unwrap();
    first.close().unwrap();
    assert_eq!(second.root().names().unwrap(), ["made"]);
    second.root().create_group("more").unwrap();
    drop(second);
    assert_eq!(File::open(&hard).unwrap().root().names().unwrap(), ["made", "more"]);
}

// Not all file systems of Windows replace a file that is open.
#[cfg(unix)]
#[test]
fn opening_a_path_whose_file_was_replaced_opens_the_new_file() {
    let directory = tempfile::tempdir().unwrap();
    let [path, other] = ["f.h5", "other.h5"].map(|name| directory.path().join(name));
    let first = File::create(&path).unwrap();
    first.root().create_group("first").unwrap();
    let made = File::create(&other).unwrap();
    made.root().create_group("other").unwrap();
    std::fs::rename(&other, &path).unwrap();
    let found = File::open(&path).unwrap();
    assert!(found.is_same(&made) && !found.is_same(&first));
    std::fs::remove_file(&path).unwrap();
    let anew = File::create(&path).unwrap();
    assert_eq!(anew.root().names().unwrap(), [] as [&str; 0]);
    assert_eq!(first.root().names().unwrap(), ["first"]);
    assert_eq!(found.root().names().unwrap(), ["other"]);
}

#[test]
fn threads_that_open_and_close_the_same_file_lose_no_changes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f.h5");
    let start = Barrier::new(4);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (path, start) = (&path, &start);
            scope.spawn(move || {
                start.wait();
                for turn in 0..30 {
                    let file = File::options().create(true).open(path).unwrap();
                    file.root().create_group(&format!("{thread} {turn}")).unwrap();
                    // Every other turn drops the file instead of closing it.
                    if turn % 2 == 0 {
                        file.close().unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(File::open(&path).unwrap().root().len().unwrap(), 4 * 30);
    assert_sound(&std::fs::read(&path).unwrap());
}

#[test]
fn an_external_link_to_an_open_file_uses_that_open_file() {
    let directory = tempfile::tempdir().unwrap();
    let [path, other] = ["f.h5", "other.h5"].map(|name| directory.path().join(name));
    let (file, target) = (File::create(&path).unwrap(), File::create(&other).unwrap());
    target.root().create_group("group").unwrap();
    file.root().link_external("there", "other.h5", "/group").unwrap();
    file.root().link_external("here", "f.h5", "/").unwrap();
    assert!(file.get("there").unwrap().file().is_same(&target));
    assert!(file.get("here").unwrap().file().is_same(&file));
}

/// Returns a file open for writing, and the same file opened for reading with its own driver, as another
/// process would open it.
fn writer_and_reader(path: &Path) -> (File, File) {
    let writer = File::create(path).unwrap();
    series(&writer.root(), "series", &[1; 20]);
    writer.flush().unwrap();
    let driver = Arc::new(Posix::open_unlocked(path).unwrap()) as Arc<dyn Driver>;
    (writer, File::options().open_on(driver).unwrap())
}

#[test]
fn a_refresh_shows_what_another_process_has_written() {
    let directory = tempfile::tempdir().unwrap();
    let (writer, reader) = writer_and_reader(&directory.path().join("f.h5"));
    let (written, read) = (writer.dataset("series").unwrap(), reader.dataset("series").unwrap());
    // Read often enough that the decoded chunk is cached.
    (0..8).for_each(|_| assert_eq!(read.read::<i32>(3..4).unwrap(), [1]));
    // The chunk is replaced until it is back at its first address.
    for value in 2..6 {
        written.write(.., &[value; 20]).unwrap();
        writer.flush().unwrap();
        read.refresh().unwrap();
        (0..8).for_each(|_| assert_eq!(read.read::<i32>(3..4).unwrap(), [value]));
    }
    written.resize([50_000]).unwrap();
    written.write(20..50_000, &(20..50_000).collect::<Vec<_>>()).unwrap();
    writer.root().create_group("new").unwrap();
    writer.flush().unwrap();
    assert_eq!(read.shape(), [20], "a handle has its old shape until a refresh");
    reader.refresh().unwrap();
    assert_eq!((read.shape(), reader.root().len().unwrap()), (vec![50_000], 2));
    let expected: Vec<i32> = [5; 20].into_iter().chain(20..50_000).collect();
    assert_eq!(read.read::<i32>(..).unwrap(), expected);
    writer.refresh().unwrap();
}

#[test]
fn reads_during_a_refresh_see_either_the_old_or_the_new_state() {
    let directory = tempfile::tempdir().unwrap();
    let (writer, reader) = writer_and_reader(&directory.path().join("f.h5"));
    let written = writer.dataset("series").unwrap();
    for len in 21..80 {
        written.resize([len]).unwrap();
        written.write(len - 1..len, &[1]).unwrap();
        writer.flush().unwrap();
        let start = Barrier::new(4);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                let (dataset, start) = (reader.dataset("series").unwrap(), &start);
                scope.spawn(move || {
                    start.wait();
                    // A read that combined the new shape with an old chunk would return elements that were
                    // never written. The space of the old chunk may hold other data by now.
                    for found in (0..4).filter_map(|_| dataset.read::<i32>(..).ok()) {
                        assert!(
                            found == vec![1; found.len()] && (len - 1..=len).contains(&(found.len() as u64))
                        );
                    }
                });
            }
            start.wait();
            reader.refresh().unwrap();
        });
    }
    assert_eq!(reader.dataset("series").unwrap().read::<i32>(..).unwrap(), [1; 79]);
}

#[test]
fn refreshing_a_file_that_was_replaced_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f.h5");
    let (writer, reader) = writer_and_reader(&path);
    writer.close().unwrap();
    File::options().user_block(512).create(true).truncate(true).open(&path).unwrap().close().unwrap();
    let error = reader.refresh().unwrap_err();
    assert!(matches!(error.root(), Error::Request(RequestError::OtherFile)), "{error}");
    std::fs::write(&path, "no HDF5").unwrap();
    assert!(matches!(reader.refresh().unwrap_err().root(), Error::Format(_)));
}

#[test]
fn create_new_counts_more_than_create_as_in_std() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f.h5");
    // A setting that is refused makes no file.
    assert!(File::options().create_new(true).user_block(100).open(&path).is_err() && !path.exists());
    File::options().create_new(true).open(&path).unwrap().close().unwrap();
    let options = File::options();
    for options in
        [options.clone().create_new(true).create(true), options.clone().create(false).create_new(true)]
    {
        assert!(options.open(&path).is_err());
    }
    File::options().truncate(true).write(false).open(&path).unwrap().close().unwrap();
    assert_sound(&std::fs::read(&path).unwrap());
}

#[test]
fn a_panic_in_a_transaction_rolls_it_back() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f.h5");
    let file = File::create(&path).unwrap();
    file.root().create_group("before").unwrap();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        file.transaction(|| -> Result<()> {
            file.root().create_group("half").unwrap();
            panic!("in the middle");
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(file.root().names().unwrap(), ["before"]);
    file.transaction(|| file.root().create_group("after")).unwrap();
    file.close().unwrap();
    assert_eq!(File::open(&path).unwrap().root().names().unwrap(), ["after", "before"]);
    assert_sound(&std::fs::read(&path).unwrap());
}

#[test]
fn a_file_whose_transaction_is_undone_keeps_its_length() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.h5");
    let file = File::create(&path).unwrap();
    series(&file.root(), "series", &[1, 2, 3]);
    file.close().unwrap();
    let len = || std::fs::metadata(&path).unwrap().len();
    let before = len();
    let file = File::options().write(true).open(&path).unwrap();
    let undone = file.transaction(|| {
        file.root().new_dataset::<i64>("large").shape([10_000]).create()?.write(.., &vec![1_i64; 10_000])?;
        file.group("missing").map(drop)
    });
    assert!(undone.is_err() && len() > before + 80_000);
    file.close().unwrap();
    assert_eq!(len(), before);
    assert_sound(&std::fs::read(&path).unwrap());
}
