//! A commit that fails while other threads use the file.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use hyperslab::driver::Driver as _;
use hyperslab::{Durability, File, LibVersion};
use hyperslab_testkit::crash::CrashDriver;
use hyperslab_testkit::hooked::Call;
use hyperslab_testkit::sound::{assert_accounted, assert_sound};

use super::{FOR_EVER, LEAST_ROOM, Writer, hooked, image, is_journal, options, set, set_for_this_thread};

/// More than the room before a journal.
const LARGE: usize = 5 << 20;

#[test]
fn after_a_commit_that_is_undone_threads_have_all_space() {
    for durability in [Durability::Kill, Durability::Power] {
        let driver = hooked(CrashDriver::new(image(LibVersion::V110)));
        let file = options(durability).open_on(driver.clone()).unwrap();
        file.root().set_attribute("n", 1).unwrap();
        let (writer, is_done) = Writer::start(&file, LARGE);
        set(
            &driver,
            Box::new(|bytes| {
                if bytes.is_some_and(is_journal) { Err(io::Error::other("no journal")) } else { Ok(()) }
            }),
        );
        file.flush().unwrap_err();
        driver.clear();
        // The last one writes zeros, for which the file is extended.
        for _ in 0..3 {
            writer.ask.send(()).unwrap();
            is_done.recv_timeout(FOR_EVER).unwrap();
        }
        for extent in writer.end(&file) {
            file.store().release(extent);
        }
        assert_eq!(file.root().attribute_value::<i32>("n").unwrap(), 1);
        assert_accounted(&file, 0);
    }
}

/// The commit fails between its overwrites, so the file needs the journal, which a thread would move away
/// from the end of the file if it went on.
#[test]
fn a_thread_that_waits_for_a_commit_that_fails_half_way_writes_nothing() {
    for durability in [Durability::Kill, Durability::Power] {
        let driver = hooked(CrashDriver::new(image(LibVersion::V110)));
        let file = options(durability).open_on(driver.clone()).unwrap();
        file.root().set_attribute("n", 1).unwrap();
        let (begin, may_begin) = channel();
        let (began, has_begun) = channel();
        let other = file.clone();
        let waiting = thread::spawn(move || {
            let store = other.store();
            let _data = store.writing_data();
            began.send(()).unwrap();
            may_begin.recv_timeout(FOR_EVER).unwrap();
            let extents = [LARGE as u64, 5000].map(|len| store.allocate(len).unwrap());
            _ = began.send(());
            for extent in extents {
                assert!(store.reserve(extent).is_err() || extent.len < LARGE as u64, "space was reserved");
                assert!(store.zero(extent).is_err(), "zeros were written");
                assert!(store.write_data(extent.addr, &[1; 100]).is_err(), "data were written");
            }
        });
        has_begun.recv_timeout(FOR_EVER).unwrap();
        let (after, has_begun) = (AtomicUsize::new(0), Mutex::new(has_begun));
        set_for_this_thread(
            &driver,
            Box::new(move |bytes| match bytes {
                Some(bytes) if is_journal(bytes) => {
                    begin.send(()).unwrap();
                    let early = has_begun.lock().unwrap().recv_timeout(Duration::from_millis(50));
                    assert!(early.is_err(), "a thread got space behind the journal and did not wait");
                    after.fetch_add(1, Ordering::SeqCst);
                    Ok(())
                }
                // The guard, and then the first overwrite.
                Some(_) if after.load(Ordering::SeqCst) > 0 && after.fetch_add(1, Ordering::SeqCst) == 2 => {
                    Err(io::Error::other("no overwrite"))
                }
                _ => Ok(()),
            }),
        );
        file.flush().unwrap_err();
        driver.clear();
        waiting.join().unwrap();
        let image = driver.inner.image();
        assert_sound(&image);
        let found = File::from_bytes(image).unwrap();
        assert_eq!(found.root().attribute_value::<i32>("n").unwrap(), 1, "the journal was lost");
    }
}

/// The room before a journal makes the file long for a moment, and not every medium can have such a file.
#[test]
fn a_medium_without_room_for_other_threads_takes_commits() {
    let first = image(LibVersion::V110);
    let longest = first.len() as u64 + LEAST_ROOM / 2;
    let driver = hooked(CrashDriver::with_room(first, longest));
    let file = options(Durability::Power).open_on(driver.clone()).unwrap();
    let (writer, _) = Writer::start(&file, 1);
    file.root().set_attribute("n", 1).unwrap();
    file.flush().unwrap();
    assert!(driver.inner.has_been_full());
    assert!(writer.end(&file).is_empty());
    assert_accounted(&file, 0);
}

/// A cut that fails leaves the journal where it is. The next commit, of the superblock alone, gives other
/// threads room that ends exactly there.
#[test]
fn a_journal_that_was_not_cut_off_is_not_the_end_of_the_file_again() {
    let driver = hooked(CrashDriver::new(image(LibVersion::V110)));
    let file = options(Durability::Power).open_on(driver.clone()).unwrap();
    let (writer, _) = Writer::start(&file, 1);
    file.root().set_attribute("n", 1).unwrap();
    let longer = driver.clone();
    driver.set(move |call| match call {
        Call::SetLen(len) if len < longer.inner.len()? => {
            Err(io::Error::other("the file becomes no shorter"))
        }
        _ => Ok(()),
    });
    file.flush().unwrap();
    driver.clear();
    let left = driver.inner.image().len() as u64;
    let extent = file.store().allocate(left - LEAST_ROOM - file.store().len_bytes()).unwrap();
    assert_eq!(file.store().len_bytes() + LEAST_ROOM, left);
    let (seen, is_seen) = channel();
    let inspected = driver.clone();
    let is_first = AtomicBool::new(true);
    set_for_this_thread(
        &driver,
        Box::new(move |bytes| {
            // The flush before the superblock is replaced.
            if bytes.is_none() && is_first.swap(false, Ordering::SeqCst) {
                seen.send(inspected.inner.image()).unwrap();
            }
            Ok(())
        }),
    );
    file.flush().unwrap();
    driver.clear();
    let during = is_seen.recv_timeout(FOR_EVER).unwrap();
    assert!(during.len() as u64 == left && during.ends_with(&[0; 32]), "the journal is still there");
    assert!(writer.end(&file).is_empty());
    file.store().release(extent);
    assert_accounted(&file, 0);
}
