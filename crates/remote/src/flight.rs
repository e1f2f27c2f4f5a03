//! The requests of one read that are in progress.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};

use bytes::Bytes;
use hyperslab::driver::{Driver as _, ReadQueue, Request};
use hyperslab_io::interrupt;
use tokio::task::JoinSet;

use crate::driver::{Remote, Session};
use crate::fetch;
use crate::ranges::{Get, plan};
use crate::runtime::{self, POLLED_EVERY};

/// What the tasks that talk to the server tell the thread that reads.
enum Event {
    /// Bytes of a range, from this offset of the file on.
    Arrived { get: usize, offset: u64, bytes: Bytes },
    /// All bytes of a range have arrived, or it failed.
    Ended { get: usize, how: io::Result<()> },
}

/// Reads the ranges of one queue. Tasks of the runtime receive bytes; the thread that reads puts them in
/// place.
pub(crate) struct Flight<'r> {
    remote: &'r Remote,
    session: &'r Session,
    /// Ends the requests when it is dropped.
    tasks: JoinSet<()>,
    events: (Sender<Event>, Receiver<Event>),
    /// The ranges to request next.
    planned: VecDeque<Get>,
    /// The ranges being requested, by numbers that rise.
    gets: BTreeMap<usize, Get>,
    next: usize,
    /// The bytes of each request that have not arrived.
    missing: BTreeMap<u64, usize>,
    /// The bytes of the ranges being requested.
    bytes: u64,
    /// The number of interruptions before this read.
    interruptions: u64,
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        self.session.in_progress.fetch_sub(self.gets.len(), Ordering::Relaxed);
        self.session.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl<'r> Flight<'r> {
    pub(crate) fn new(remote: &'r Remote) -> Self {
        Self {
            remote,
            session: remote.session(),
            tasks: JoinSet::new(),
            events: channel(),
            planned: VecDeque::new(),
            gets: BTreeMap::new(),
            next: 0,
            missing: BTreeMap::new(),
            bytes: 0,
            interruptions: remote.interruptions.load(Ordering::Relaxed),
        }
    }

    /// Reads all ranges of the queue.
    pub(crate) fn run(mut self, queue: &mut dyn ReadQueue) -> io::Result<()> {
        loop {
            self.fill(queue)?;
            if self.gets.is_empty() {
                return Ok(());
            }
            match self.wait()? {
                Event::Arrived { get, offset, bytes } => self.place(get, offset, &bytes, queue)?,
                Event::Ended { get, how } => {
                    how?;
                    self.end(get);
                }
            }
        }
    }

    /// Begins requests until there is no room for another, or the queue has no range.
    fn fill(&mut self, queue: &mut dyn ReadQueue) -> io::Result<()> {
        loop {
            if self.planned.is_empty() && self.has_room(0) {
                self.gather(queue)?;
            }
            let Some(get) = self.planned.front() else { return Ok(()) };
            if !self.has_room(get.range.end - get.range.start) {
                return Ok(());
            }
            if let Some(get) = self.planned.pop_front() {
                self.begin(get)?;
            }
        }
    }

    /// Returns whether a range of `len` bytes may be requested beside those of all threads. A thread that
    /// waits for nothing may always request one.
    fn has_room(&self, len: u64) -> bool {
        let (count, bytes) = (&self.session.in_progress, &self.session.bytes);
        self.gets.is_empty()
            || count.load(Ordering::Relaxed) < self.remote.capabilities().hints.queue_depth
                && bytes.load(Ordering::Relaxed).saturating_add(len) <= MOST_BYTES
    }

    /// Takes ranges from the queue and plans how to request them. Ranges that are kept arrive at once.
    fn gather(&mut self, queue: &mut dyn ReadQueue) -> io::Result<()> {
        let mut requests = Vec::new();
        let mut bytes = 0_u64;
        while requests.len() < MOST_GATHERED && bytes < MOST_BYTES {
            let Some(request) = queue.next() else { break };
            let Request { id, offset, len } = request;
            self.remote.check(offset, len)?;
            // Only then: a place takes memory.
            if self.remote.is_kept(offset, len) && self.remote.copy_kept(offset, queue.place(id)?) {
                queue.arrived(id);
                continue;
            }
            bytes = bytes.saturating_add(len as u64);
            self.missing.insert(id, len);
            requests.push(request);
        }
        self.planned.extend(plan(&requests, self.remote.capabilities().hints));
        Ok(())
    }

    fn begin(&mut self, get: Get) -> io::Result<()> {
        let number = self.next;
        self.next += 1;
        let session = self.session;
        session.in_progress.fetch_add(1, Ordering::Relaxed);
        session.bytes.fetch_add(get.range.end - get.range.start, Ordering::Relaxed);
        self.bytes += get.range.end - get.range.start;
        let (range, to) = (get.range.clone(), self.events.0.clone());
        self.gets.insert(number, get);
        let connection = session.connection()?;
        let (version, counts) = (self.remote.version.clone(), self.remote.counts.clone());
        let task = async move {
            // The thread that reads may have given up: then no thread receives the events.
            let mut take = |offset, bytes| drop(to.send(Event::Arrived { get: number, offset, bytes }));
            let how = fetch::get(&connection, &version, range, &counts, &mut take).await;
            drop(to.send(Event::Ended { get: number, how }));
        };
        self.tasks.spawn_on(task, &runtime::handle()?);
        Ok(())
    }

    /// Waits for the next event.
    ///
    /// Errors: this read was interrupted, or another one of the file.
    fn wait(&mut self) -> io::Result<Event> {
        loop {
            match self.events.1.recv_timeout(POLLED_EVERY) {
                Ok(event) => return Ok(event),
                Err(RecvTimeoutError::Disconnected) => return Err(io::ErrorKind::BrokenPipe.into()),
                Err(RecvTimeoutError::Timeout) => self.remote.poll(self.interruptions)?,
            }
        }
    }

    /// Puts bytes that arrived where they belong.
    fn place(&mut self, get: usize, offset: u64, bytes: &[u8], queue: &mut dyn ReadQueue) -> io::Result<()> {
        let Some(get) = self.gets.get(&get) else { return Ok(()) };
        let end = offset + bytes.len() as u64;
        for part in &get.parts {
            if part.offset >= end {
                break;
            }
            let (from, to) = (part.offset.max(offset), (part.offset + part.place.len() as u64).min(end));
            if from >= to {
                continue;
            }
            let start = part.place.start + distance(part.offset, from);
            let len = distance(from, to);
            let place = queue.place(part.id)?;
            place[start..start + len].copy_from_slice(&bytes[distance(offset, from)..][..len]);
            let Some(missing) = self.missing.get_mut(&part.id) else { continue };
            *missing -= len;
            if *missing == 0 {
                self.missing.remove(&part.id);
                queue.arrived(part.id);
            }
        }
        Ok(())
    }

    fn end(&mut self, get: usize) {
        // A task that has ended stays in the set until it is taken out.
        while self.tasks.try_join_next().is_some() {}
        if let Some(get) = self.gets.remove(&get) {
            let len = get.range.end - get.range.start;
            self.bytes -= len;
            self.session.in_progress.fetch_sub(1, Ordering::Relaxed);
            self.session.bytes.fetch_sub(len, Ordering::Relaxed);
        }
    }
}

/// Returns the distance of two offsets of a range that is in memory.
fn distance(from: u64, to: u64) -> usize {
    usize::try_from(to - from).unwrap_or(usize::MAX)
}

impl Remote {
    /// Returns an error if a read that began after this number of interruptions should end.
    fn poll(&self, interruptions: u64) -> io::Result<()> {
        if let Err(error) = interrupt::waiting() {
            self.interruptions.fetch_add(1, Ordering::Relaxed);
            return Err(error);
        }
        if self.interruptions.load(Ordering::Relaxed) != interruptions {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "the read was interrupted"));
        }
        Ok(())
    }
}

/// A queue of one range.
pub(crate) struct Single<'d> {
    request: Option<Request>,
    dst: &'d mut [u8],
}

impl<'d> Single<'d> {
    pub(crate) fn new(offset: u64, dst: &'d mut [u8]) -> Self {
        Self { request: Some(Request { id: 0, offset, len: dst.len() }), dst }
    }
}

impl ReadQueue for Single<'_> {
    fn next(&mut self) -> Option<Request> {
        self.request.take()
    }

    fn place(&mut self, _: u64) -> io::Result<&mut [u8]> {
        Ok(self.dst)
    }

    fn arrived(&mut self, _: u64) {}
}

/// The most ranges taken from a queue before they are requested: neighbours among them are requested
/// together.
const MOST_GATHERED: usize = 1024;
/// The most bytes that all threads have requested and not used yet, of one file.
const MOST_BYTES: u64 = 256 << 20;
