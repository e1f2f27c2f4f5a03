//! Many reads from a medium that fetches what it is told of while a thread waits for something else: a disk serves many
//! requests at once, and few threads wait for one each.

use std::collections::VecDeque;
use std::io;

use super::{Driver, ReadQueue, Request};

/// A medium whose bytes are in memory, or have to be fetched.
pub trait Medium: Driver {
    /// Fills `dst` as far as the bytes from `offset` on are in memory; says how far. `None` where the medium cannot tell.
    fn read_now(&self, _offset: u64, _dst: &mut [u8]) -> Option<usize> {
        None
    }

    /// Begins to fetch so many bytes, and returns before they are there. Errors are met by the read.
    fn fetch(&self, _offset: u64, _len: u64) {}
}

/// [`Driver::read_many`] for such a medium. What is in memory is read at once, one range after another, so that each is
/// used while it is in the processor's caches. Where something is not, what follows is asked for in advance, as much of it
/// as the medium fetches at a time, and read in order.
pub fn read_ahead(medium: &impl Medium, queue: &mut dyn ReadQueue) -> io::Result<()> {
    let mut untried = TRIED_EVERY;
    while let Some(request) = queue.next() {
        let place = queue.place(request.id)?;
        untried = untried.saturating_add(request.len as u64 + GAP);
        if untried < TRIED_EVERY {
            medium.read_at(request.offset, place)?;
        } else {
            untried = 0;
            match medium.read_now(request.offset, place) {
                None => medium.read_at(request.offset, place)?,
                Some(filled) if filled == place.len() => {}
                Some(filled) => return Window::default().read(medium, queue, request, filled),
            }
        }
        queue.arrived(request.id);
    }
    Ok(())
}

/// Requests that were taken from the queue and have not been read.
#[derive(Default)]
struct Window {
    requests: VecDeque<Ahead>,
    /// The bytes from the first request of each fetch to the last one.
    bytes: u64,
    /// The number of fetches that the requests need.
    fetches: usize,
    /// How many of the requests the medium knows of.
    told: usize,
}

/// A request in the window.
#[derive(Clone, Copy)]
struct Ahead {
    request: Request,
    /// Whether it begins a fetch: it is not near the one before.
    begins: bool,
    /// The bytes by which it makes the fetch longer.
    bytes: u64,
}

impl Window {
    /// Reads the first request, of which `filled` bytes are there, and all that follow.
    fn read(
        mut self,
        medium: &impl Medium,
        queue: &mut dyn ReadQueue,
        first: Request,
        mut filled: usize,
    ) -> io::Result<()> {
        self.push(first);
        self.fill(medium, queue, true);
        while let Some(Ahead { request, begins, bytes }) = self.requests.pop_front() {
            self.bytes -= bytes;
            self.fetches -= usize::from(begins);
            self.told -= 1;
            let rest = &mut queue.place(request.id)?[filled..];
            medium.read_at(request.offset + filled as u64, rest)?;
            queue.arrived(request.id);
            filled = 0;
            if !self.is_full(2) {
                self.fill(medium, queue, false);
            }
        }
        Ok(())
    }

    fn push(&mut self, request: Request) {
        let end = |Request { offset, len, .. }: Request| offset.saturating_add(len as u64);
        let near = self.requests.back().map(|last| end(last.request));
        let near = near.filter(|&before| before <= request.offset && request.offset - before <= GAP);
        let ahead = match near {
            Some(before) => Ahead { request, begins: false, bytes: end(request) - before },
            None => Ahead { request, begins: true, bytes: request.len as u64 },
        };
        self.bytes += ahead.bytes;
        self.fetches += usize::from(ahead.begins);
        self.requests.push_back(ahead);
    }

    /// Whether it holds one part in `parts` of what it may hold.
    fn is_full(&self, parts: usize) -> bool {
        let fetches = self.fetches * parts;
        fetches >= QUEUE_DEPTH
            || self.requests.len() * parts >= MOST_REQUESTS
            || (fetches.max(self.requests.len()) >= LEAST && self.bytes * parts as u64 >= WINDOW_BYTES)
    }

    /// Asks for more until it is full, and tells the medium of that; if it is not known to be missing, only where it is.
    fn fill(&mut self, medium: &impl Medium, queue: &mut dyn ReadQueue, is_missing: bool) {
        while !self.is_full(1)
            && let Some(request) = queue.next()
        {
            self.push(request);
        }
        let mut joined = 0..0;
        let mut tell = |offset: u64, len: u64| {
            let end = offset.saturating_add(len);
            let is_near = joined.end <= offset && offset - joined.end <= GAP && end - joined.start <= SPAN;
            if !is_near || joined.is_empty() {
                medium.fetch(joined.start, joined.end - joined.start);
                joined.start = offset;
            }
            joined.end = end;
        };
        let new = self.requests.range(self.told..);
        let mut tried = new.clone().step_by(new.len().div_ceil(PROBES).max(1));
        if is_missing || tried.any(|new| medium.read_now(new.request.offset, &mut [0]) == Some(0)) {
            new.for_each(|new| tell(new.request.offset, new.request.len as u64));
        }
        if !self.is_full(1) {
            queue.upcoming(QUEUE_DEPTH - self.fetches, &mut tell);
        }
        medium.fetch(joined.start, joined.end - joined.start);
        self.told = self.requests.len();
    }
}

/// Ranges at most this far apart are fetched as one: a disk moves as many bytes in the time of a second request
/// (docs/io-hints.md).
const GAP: u64 = 16 << 10;
/// But not more than this at a time: some media take no longer requests.
const SPAN: u64 = 4 << 20;
/// How many bytes a disk is kept busy with,
const WINDOW_BYTES: u64 = 32 << 20;
/// however few requests these are,
const LEAST: usize = 4;
/// and how many requests it takes at once.
pub(super) const QUEUE_DEPTH: usize = 256;
/// As many small ranges wait for few fetches: rows of chunks without a filter.
const MOST_REQUESTS: usize = 16 << 10;
/// What was in memory is tried again after so many bytes, a request counted as [`GAP`] of them.
const TRIED_EVERY: u64 = 512 << 10;
/// So many of the requests that the medium would be told of together are tried, whether it needs to be told.
const PROBES: usize = 2;
