//! One thread commits, and other threads allocate space for new data and write there at every step of the
//! commit.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]

use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use hyperslab::driver::{Driver, Memory};
use hyperslab::internals::engine::WriteOptions;
use hyperslab::{Durability, File, LibVersion, OpenOptions};
use hyperslab_convert::Scalar;
use hyperslab_format::Extent;
use hyperslab_format::superblock::Superblock;
use hyperslab_testkit::crash::CrashDriver;
use hyperslab_testkit::hooked::{Call, Hooked};
use hyperslab_testkit::sound::assert_accounted;

/// Turns a thread that waits for ever into a failure.
const FOR_EVER: Duration = Duration::from_secs(30);

mod crash;
mod failures;
mod ids;
mod rooms;

/// What the driver does before a write (of these bytes) or a flush (of none).
type Hook = Box<dyn Fn(Option<&[u8]>) -> io::Result<()> + Send + Sync>;

/// Returns a driver that commits may leave room on.
fn hooked<D: Driver>(inner: D) -> Arc<Hooked<D>> {
    let mut driver = Hooked::new(inner);
    (driver.is_sparse, driver.one_by_one) = (true, true);
    Arc::new(driver)
}

/// Sets what a driver does before a write or a flush.
fn set<D: Driver>(driver: &Hooked<D>, hook: Hook) {
    driver.set(move |call| match call {
        Call::Write([request]) => hook(Some(request.src)),
        Call::Flush => hook(None),
        _ => Ok(()),
    });
}

/// Sets a hook that only this thread meets.
fn set_for_this_thread<D: Driver>(driver: &Hooked<D>, hook: Hook) {
    let own: ThreadId = thread::current().id();
    set(driver, Box::new(move |bytes| if thread::current().id() == own { hook(bytes) } else { Ok(()) }));
}

/// The room before the journal of a commit in a small file.
const LEAST_ROOM: u64 = 4 << 20;

/// Returns whether these bytes are a journal.
fn is_journal(bytes: &[u8]) -> bool {
    bytes.starts_with(b"hslabjnl")
}

/// A thread that writes new data whenever it is asked to.
struct Writer {
    ask: Sender<()>,
    thread: thread::JoinHandle<Vec<(Extent, Vec<u8>)>>,
}

impl Writer {
    /// Starts the thread. Returns it with what it answers after each of its writes, which have `len` bytes.
    fn start(file: &File, len: usize) -> (Self, Receiver<()>) {
        let (ask, asked) = channel();
        let (done, is_done) = channel();
        let file = file.clone();
        let write = move || {
            let store = file.store();
            let _data = store.writing_data();
            done.send(()).unwrap();
            let mut written = Vec::new();
            for (turn, ()) in asked.iter().enumerate() {
                let extent = store.allocate(len as u64).unwrap();
                let is_zero = turn % 3 == 2;
                let bytes = vec![if is_zero { 0 } else { 0x80 | u8::try_from(turn).unwrap() }; len];
                if is_zero { store.zero(extent) } else { store.write_data(extent.addr, &bytes) }.unwrap();
                written.push((extent, bytes));
                _ = done.send(());
            }
            written
        };
        let writer = Self { ask, thread: thread::spawn(write) };
        is_done.recv_timeout(FOR_EVER).unwrap();
        (writer, is_done)
    }

    /// Ends the thread. What it wrote must still be there.
    fn end(self, file: &File) -> Vec<Extent> {
        drop(self.ask);
        let store = file.store();
        let check = |(extent, bytes): (Extent, Vec<u8>)| {
            let mut found = vec![0; bytes.len()];
            store.read_raw(extent.addr, &mut found).unwrap();
            assert!(found == bytes, "{extent:?} was overwritten");
            extent
        };
        self.thread.join().unwrap().into_iter().map(check).collect()
    }
}

/// Returns a hook that has a writer write once, and waits for it.
fn wait_for(writer: &Writer, is_done: Receiver<()>, turns: &Arc<AtomicUsize>) -> Hook {
    let (ask, is_done, turns) = (writer.ask.clone(), Mutex::new(is_done), Arc::clone(turns));
    Box::new(move |_| {
        ask.send(()).unwrap();
        turns.fetch_add(1, Ordering::SeqCst);
        let late = |_| io::Error::new(io::ErrorKind::TimedOut, "the commit keeps other threads waiting");
        is_done.lock().unwrap().recv_timeout(FOR_EVER).map_err(late)
    })
}

fn options(durability: Durability) -> OpenOptions {
    File::options().durability(durability).write(true)
}

/// Returns a file of three datasets. Without the second one it has a hole.
fn image(version: LibVersion) -> Vec<u8> {
    let memory = Arc::new(Memory::default());
    let file = File::options().version(version).create(true).truncate(true).open_on(memory.clone()).unwrap();
    for name in ["first", "hole", "last"] {
        file.root().new_dataset::<i32>(name).shape([5000]).create_with(&vec![7; 5000]).unwrap();
    }
    file.close().unwrap();
    memory.bytes()
}

#[test]
fn threads_write_new_data_before_each_flush_of_a_commit() {
    for version in [LibVersion::Earliest, LibVersion::V110] {
        let driver = hooked(CrashDriver::new(image(version)));
        let file = options(Durability::Power).open_on(driver.clone()).unwrap();
        file.root().set_attribute("n", 1).unwrap();
        let (writer, is_done) = Writer::start(&file, 100_000);
        let turns = Arc::new(AtomicUsize::new(0));
        let hook = wait_for(&writer, is_done, &turns);
        set_for_this_thread(
            &driver,
            Box::new(move |bytes| if bytes.is_none() { hook(bytes) } else { Ok(()) }),
        );
        file.flush().unwrap();
        driver.clear();
        assert!(turns.load(Ordering::SeqCst) >= 3, "{version:?}: {turns:?} flushes");
        let extents = writer.end(&file);
        // The bytes count as written, so a structure in them is looked at.
        let found = file.store().read::<Superblock>(extents[0].addr, &()).unwrap_err();
        assert!(found.to_string().contains("signature"), "{found}");
        for extent in extents {
            file.store().release(extent);
        }
        assert_accounted(&file, 0);
    }
}

/// One thread flushes, and another one writes the chunks of a dataset.
#[test]
fn chunks_are_written_during_the_flushes_of_a_commit() {
    const CHUNKS: usize = 20;
    const CHUNK: usize = 10_000;
    let driver = hooked(CrashDriver::new(image(LibVersion::V110)));
    let file = options(Durability::Power).open_on(driver.clone()).unwrap();
    let data = file.root().new_dataset::<i32>("data").shape([(CHUNKS * CHUNK) as u64]);
    let data = data.chunks([CHUNK as u64]).create().unwrap();
    let (began, has_begun) = channel();
    let (go_on, may_go_on) = channel();
    let (is_first, written) = (AtomicBool::new(true), AtomicUsize::new(0));
    let [has_begun, may_go_on] = [has_begun, may_go_on].map(Mutex::new);
    let (end, has_ended) = channel();
    let has_ended = Mutex::new(has_ended);
    let late = |_| io::Error::new(io::ErrorKind::TimedOut, "a thread waits for another");
    set(
        &driver,
        Box::new(move |bytes| {
            let Some(bytes) = bytes else {
                // The first flush of the commit, before its journal.
                _ = go_on.send(());
                return if is_first.swap(false, Ordering::SeqCst) {
                    has_ended.lock().unwrap().recv_timeout(FOR_EVER).map_err(late)
                } else {
                    Ok(())
                };
            };
            if bytes.len() == CHUNK * 4 {
                match written.fetch_add(1, Ordering::SeqCst) + 1 {
                    1 => {
                        _ = began.send(());
                        may_go_on.lock().unwrap().recv_timeout(FOR_EVER).map_err(late)?;
                    }
                    CHUNKS => _ = end.send(()),
                    _ => {}
                }
            }
            Ok(())
        }),
    );
    let values: Vec<i32> = (0..).take(CHUNKS * CHUNK).collect();
    thread::scope(|scope| {
        scope.spawn(|| {
            let options = WriteOptions::default().threads(NonZeroUsize::new(1));
            data.write_with(.., i32::bytes(&values), &options).unwrap();
        });
        has_begun.lock().unwrap().recv_timeout(FOR_EVER).unwrap();
        file.flush().unwrap();
    });
    driver.clear();
    assert!(data.read::<i32>(..).unwrap() == values);
    assert_accounted(&file, 0);
}
