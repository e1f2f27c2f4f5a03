//! Where threads write during a commit, and what they do not do meanwhile.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use hyperslab::driver::{Driver, Memory, Names, Split};
use hyperslab::{Durability, File, Found, LibVersion};
use hyperslab_format::Extent;
use hyperslab_store::Searches;
use hyperslab_testkit::crash::CrashDriver;
use hyperslab_testkit::crash_members::joined;
use hyperslab_testkit::hooked::{Call, Hooked};
use hyperslab_testkit::sound::{assert_accounted, assert_sound};

use super::crash::state;
use super::{FOR_EVER, Writer, hooked, image, is_journal, options, set, set_for_this_thread, wait_for};

/// More data than there is room before the journal.
#[test]
fn space_behind_the_journal_is_written_after_the_commit() {
    for durability in [Durability::Kill, Durability::Power] {
        let driver = hooked(CrashDriver::new(image(LibVersion::V110)));
        let file = options(durability).open_on(driver.clone()).unwrap();
        file.root().set_attribute("n", 1).unwrap();
        let (writer, is_done) = Writer::start(&file, 5 << 20);
        let (ask, has_asked) = (writer.ask.clone(), AtomicBool::new(false));
        let is_done = Mutex::new(is_done);
        set_for_this_thread(
            &driver,
            Box::new(move |bytes| {
                if bytes.is_some_and(is_journal) {
                    ask.send(()).unwrap();
                    has_asked.store(true, Ordering::SeqCst);
                }
                let moment = Duration::from_millis(20);
                let is_early =
                    has_asked.load(Ordering::SeqCst) && is_done.lock().unwrap().recv_timeout(moment).is_ok();
                if is_early { Err(io::Error::other("the journal is overwritten")) } else { Ok(()) }
            }),
        );
        file.flush().unwrap();
        driver.clear();
        assert!(file.root().attribute_value::<i32>("n").unwrap() == 1);
        let extents = writer.end(&file);
        assert_eq!(extents.len(), 1);
        file.store().release(extents[0]);
        assert_accounted(&file, 0);
        drop(file);
        let recording = Arc::into_inner(driver).unwrap().inner.into_recording();
        let mut number = 0;
        recording.after_kill(|image| {
            // First those of the commit, and then those of a long write.
            if number < 100 || number % 500 == 0 {
                assert_eq!(state(image).len(), 3);
            }
            number += 1;
        });
    }
}

/// Returns the number of flushes of a commit, and the lengths that it gives the file.
fn commit_of(file: &File, driver: &Hooked<CrashDriver>) -> (usize, Vec<u64>) {
    file.root().new_dataset::<i32>("new").shape([3000]).chunks([1000]).create_with(&[1; 3000]).unwrap();
    let counts = Arc::new((AtomicUsize::new(0), Mutex::new(Vec::new())));
    let counted = Arc::clone(&counts);
    driver.set(move |call| {
        match call {
            Call::Flush => _ = counted.0.fetch_add(1, Ordering::SeqCst),
            Call::SetLen(len) => counted.1.lock().unwrap().push(len),
            _ => {}
        }
        Ok(())
    });
    file.flush().unwrap();
    driver.clear();
    let (flushes, lens) = Arc::into_inner(counts).unwrap();
    (flushes.into_inner(), lens.into_inner().unwrap())
}

#[test]
fn a_commit_leaves_no_room_if_no_other_thread_writes_or_it_does_not_flush() {
    for (durability, has_writer) in [(Durability::Power, false), (Durability::Kill, true)] {
        let driver = hooked(CrashDriver::new(image(LibVersion::V110)));
        let file = options(durability).open_on(driver.clone()).unwrap();
        let writer = has_writer.then(|| Writer::start(&file, 1).0);
        let (flushes, lens) = commit_of(&file, &driver);
        assert_eq!(flushes, if durability == Durability::Power { 4 } else { 0 });
        let end = driver.inner.image().len() as u64;
        assert_eq!(lens, [end], "the file is cut off behind the journal");
        writer.map(|writer| writer.end(&file));
        assert_accounted(&file, 0);
    }
}

/// A thread would otherwise extend the file while the commit writes the journal, and cut the journal off.
#[test]
fn the_file_reaches_to_the_journal_before_that_is_written() {
    let driver = hooked(CrashDriver::new(image(LibVersion::V110)));
    let file = options(Durability::Kill).open_on(driver.clone()).unwrap();
    file.root().set_attribute("n", 1).unwrap();
    let unwritten = file.store().allocate(10_000).unwrap();
    let lens = Arc::new(Mutex::new(Vec::new()));
    let (found, inspected) = (Arc::clone(&lens), driver.clone());
    set(
        &driver,
        Box::new(move |bytes| {
            if bytes.is_some_and(is_journal) {
                found.lock().unwrap().push(inspected.inner.image().len() as u64);
            }
            Ok(())
        }),
    );
    file.flush().unwrap();
    driver.clear();
    assert_eq!(*lens.lock().unwrap(), [unwritten.addr.get() + unwritten.len]);
    file.store().release(unwritten);
    assert_accounted(&file, 0);
}

/// What one thread does during a commit, after another thread has got space behind the journal.
fn beside_a_commit(
    file: &File,
    driver: &Hooked<CrashDriver>,
    f: impl Fn() + Send + Sync + 'static,
) -> Extent {
    let (ask, asked) = channel();
    let other = file.clone();
    let waiting = thread::spawn(move || {
        asked.recv_timeout(FOR_EVER).unwrap();
        other.store().allocate(5 << 20).unwrap()
    });
    let has_journal = AtomicBool::new(false);
    set_for_this_thread(
        driver,
        Box::new(move |bytes| {
            if has_journal.swap(bytes.is_some_and(is_journal), Ordering::SeqCst) {
                ask.send(()).unwrap();
                // The thread has its space, and waits.
                thread::sleep(Duration::from_millis(20));
                f();
            }
            Ok(())
        }),
    );
    file.flush().unwrap();
    driver.clear();
    waiting.join().unwrap()
}

#[test]
fn space_behind_the_journal_that_is_not_written_yet_is_cut_off_with_it() {
    let driver = hooked(CrashDriver::new(image(LibVersion::V110)));
    let file = options(Durability::Kill).open_on(driver.clone()).unwrap();
    file.root().set_attribute("n", 1).unwrap();
    let extent = beside_a_commit(&file, &driver, || ());
    assert_eq!(driver.inner.image().len() as u64, extent.addr.get());
    file.store().release(extent);
    assert_accounted(&file, 0);
}

/// The end of the new state is that of the beginning of the commit.
#[test]
fn a_commit_does_not_cut_off_space_that_is_freed_meanwhile() {
    let driver = hooked(CrashDriver::new(image(LibVersion::V110)));
    let file = options(Durability::Kill).open_on(driver.clone()).unwrap();
    file.root().set_attribute("n", 1).unwrap();
    let unused = file.store().allocate(10_000).unwrap();
    let other = file.clone();
    let has_journal = AtomicBool::new(false);
    set_for_this_thread(
        &driver,
        Box::new(move |bytes| {
            if has_journal.swap(bytes.is_some_and(is_journal), Ordering::SeqCst) {
                let other = other.clone();
                thread::spawn(move || other.store().release(unused)).join().unwrap();
            }
            Ok(())
        }),
    );
    file.flush().unwrap();
    driver.clear();
    assert_eq!(state(&driver.inner.image()).len(), 3);
    assert_accounted(&file, 0);
}

/// The thread has found the file too short before the commit began.
#[test]
fn zeros_that_are_written_during_a_commit_extend_the_file_no_further_than_to_the_journal() {
    let driver = hooked(CrashDriver::new(image(LibVersion::V110)));
    let file = options(Durability::Kill).open_on(driver.clone()).unwrap();
    file.root().set_attribute("n", 1).unwrap();
    let extent = file.store().allocate(10_000).unwrap();
    file.store().write_data(extent.addr, &[1; 100]).unwrap();
    let (began, has_begun) = channel();
    let (go_on, may_go_on) = channel();
    let (ended, has_ended) = channel();
    let may_go_on = Mutex::new(may_go_on);
    set(
        &driver,
        Box::new(move |bytes| {
            // The first bytes of the space are in the file.
            if bytes == Some(&[0; 100]) {
                began.send(()).unwrap();
                may_go_on.lock().unwrap().recv_timeout(FOR_EVER).unwrap();
            }
            Ok(())
        }),
    );
    let other = file.clone();
    let zeroing = thread::spawn(move || {
        other.store().zero(extent).unwrap();
        ended.send(()).unwrap();
    });
    has_begun.recv_timeout(FOR_EVER).unwrap();
    let (inspected, has_ended) = (driver.clone(), Mutex::new(has_ended));
    let behind = beside_a_commit(&file, &driver, move || {
        let len = inspected.inner.image().len();
        go_on.send(()).unwrap();
        has_ended.lock().unwrap().recv_timeout(FOR_EVER).unwrap();
        assert_eq!(inspected.inner.image().len(), len, "the journal is not at the end of the file");
    });
    zeroing.join().unwrap();
    let mut zeros = vec![1; 10_000];
    file.store().read_raw(extent.addr, &mut zeros).unwrap();
    assert!(zeros == [0; 10_000]);
    for extent in [extent, behind] {
        file.store().release(extent);
    }
    assert_accounted(&file, 0);
}

/// The number of searches for free space.
static SEARCHES: AtomicUsize = AtomicUsize::new(0);

fn search(_: Arc<dyn Driver>, _: u64) -> Found {
    SEARCHES.fetch_add(1, Ordering::SeqCst);
    Found::Unknown
}

#[test]
fn free_space_is_not_searched_for_while_a_commit_changes_the_file() {
    let driver = hooked(CrashDriver::new(image(LibVersion::V110)));
    let file = options(Durability::Power).open_on(driver.clone()).unwrap();
    file.root().set_attribute("n", 1).unwrap();
    file.store().set_finder(Some(search), Searches::AtOnce);
    let (writer, is_done) = Writer::start(&file, 700);
    let turns = Arc::new(AtomicUsize::new(0));
    let hook = wait_for(&writer, is_done, &turns);
    set_for_this_thread(&driver, Box::new(move |bytes| if bytes.is_none() { hook(bytes) } else { Ok(()) }));
    file.flush().unwrap();
    driver.clear();
    assert!(turns.load(Ordering::SeqCst) > 0);
    assert_eq!(SEARCHES.load(Ordering::SeqCst), 0);
    let mut extents = writer.end(&file);
    extents.push(file.store().allocate(700).unwrap());
    assert_eq!(SEARCHES.load(Ordering::SeqCst), 1);
    for extent in extents {
        file.store().release(extent);
    }
    assert_accounted(&file, 0);
}

#[derive(Debug)]
struct NoNames;

impl Names for NoNames {
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// The member with the elements has no journal, so no thread waits for space there.
#[test]
fn elements_of_a_split_file_are_written_during_a_commit() {
    for durability in [Durability::Kill, Durability::Power] {
        for has_hole in [false, true] {
            let metadata = hooked(Memory::default());
            let elements = Arc::new(Memory::default());
            let split = Split::new(metadata.clone(), elements.clone(), Box::new(NoNames));
            let new = File::options().durability(durability).create(true);
            let file = new.open_on(Arc::new(split)).unwrap();
            for name in ["first", "last"] {
                file.root().new_dataset::<i32>(name).shape([5000]).create_with(&vec![7; 5000]).unwrap();
            }
            file.flush().unwrap();
            if has_hole {
                file.root().remove("last").unwrap();
            } else {
                file.root().set_attribute("n", 1).unwrap();
            }
            let (writer, is_done) = Writer::start(&file, 7000);
            let turns = Arc::new(AtomicUsize::new(0));
            set_for_this_thread(&metadata, wait_for(&writer, is_done, &turns));
            file.flush().unwrap();
            metadata.clear();
            assert!(turns.load(Ordering::SeqCst) >= 3, "{turns:?} writes");
            assert_eq!(file.dataset("first").unwrap().read::<i32>(..).unwrap(), vec![7; 5000]);
            assert_sound(&joined(&metadata.inner.bytes(), &elements.bytes()));
            for extent in writer.end(&file) {
                file.store().release(extent);
            }
            file.close().unwrap();
            let report = assert_sound(&joined(&metadata.inner.bytes(), &elements.bytes()));
            assert_eq!(report.totals.lost_bytes, 0);
            // A commit cuts off elements, too.
            let split = Split::new(metadata, elements.clone(), Box::new(NoNames));
            let file = File::options().write(true).open_on(Arc::new(split)).unwrap();
            file.root().remove(if has_hole { "first" } else { "last" }).unwrap();
            file.flush().unwrap();
            assert_eq!(elements.bytes().len(), if has_hole { 0 } else { 20_000 });
            assert_accounted(&file, 0);
        }
    }
}
