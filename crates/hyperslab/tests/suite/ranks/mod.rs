//! Files that several ranks change together. The ranks are threads with a handle each; the medium is shared.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]

mod crashes;
mod failing;
mod writes;

use std::io;
use std::ops::Range;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use hyperslab::{Dataset, Element, File, OpenOptions, Ranks, Result, Selection, Transfer, WriteOptions};

/// The place where threads meet.
#[derive(Debug)]
struct Room {
    barrier: Barrier,
    messages: Mutex<Vec<Vec<Vec<u8>>>>,
}

/// One thread in the role of a rank.
#[derive(Debug)]
struct Thread {
    rank: usize,
    size: usize,
    room: Arc<Room>,
}

impl Ranks for Thread {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn all_gather(&self, mine: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        self.exchange(&vec![mine.to_vec(); self.size])
    }

    fn exchange(&self, to: &[Vec<u8>]) -> io::Result<Vec<Vec<u8>>> {
        self.room.messages.lock().unwrap()[self.rank] = to.to_vec();
        self.room.barrier.wait();
        let messages = self.room.messages.lock().unwrap();
        let mine = messages.iter().map(|to| to[self.rank].clone()).collect();
        drop(messages);
        self.room.barrier.wait();
        Ok(mine)
    }
}

/// Runs `work` as each of `size` ranks. Returns their results.
fn run<R: Send>(size: usize, work: impl Fn(Arc<dyn Ranks>) -> R + Sync) -> Vec<R> {
    let messages = Mutex::new(vec![Vec::new(); size]);
    let room = Arc::new(Room { barrier: Barrier::new(size), messages });
    thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..size)
            .map(|rank| {
                let thread = Thread { rank, size, room: Arc::clone(&room) };
                scope.spawn(move || work(Arc::new(thread)))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn creating(ranks: &Arc<dyn Ranks>) -> OpenOptions {
    File::options().create(true).truncate(true).ranks(Arc::clone(ranks))
}

fn changing(ranks: &Arc<dyn Ranks>) -> OpenOptions {
    File::options().write(true).ranks(Arc::clone(ranks))
}

fn bytes(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

fn write(dataset: &Dataset, what: impl Into<Selection>, values: &[i32], transfer: Transfer) -> Result<()> {
    let options = WriteOptions::default().datatype(i32::datatype()).transfer(transfer);
    dataset.write_with(what, &bytes(values), &options)
}

fn together(dataset: &Dataset, what: impl Into<Selection>, values: &[i32]) -> Result<()> {
    write(dataset, what, values, Transfer::Collective)
}

/// The rows of a rank, of `rows`.
fn share(ranks: &Arc<dyn Ranks>, rows: usize) -> Range<usize> {
    let (rank, size) = (ranks.rank(), ranks.size());
    rows * rank / size..rows * (rank + 1) / size
}
