//! Reads many ranges from a medium that can fetch ranges in advance. A disk serves many requests at once,
//! more than there are threads that could each wait for one.

use std::collections::VecDeque;
use std::io;

use super::{Driver, ReadQueue, Request};

/// A medium whose bytes may be in memory (in the page cache, for example) or may need to be fetched.
pub trait Medium: Driver {
    /// Fills the beginning of `dst` with the bytes at `offset` that are in memory, and returns how many were
    /// filled. `None` if the medium cannot tell.
    fn read_now(&self, _offset: u64, _dst: &mut [u8]) -> Option<usize> {
        None
    }

    /// Starts to fetch `len` bytes, and returns before they have arrived. Errors appear in the read.
    fn fetch(&self, _offset: u64, _len: u64) {}
}

/// Implements [`Driver::read_many`] for a [`Medium`]. Ranges in memory are read one after another, so that
/// each is processed while it is in the processor's caches. At the first range that is not in memory, the
/// ranges that follow are fetched in advance, as many as the medium fetches at a time, and read in order.
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
    /// The bytes that the fetches cover, including the gaps within a fetch.
    bytes: u64,
    /// The number of fetches that the requests need.
    fetches: usize,
    /// The number of requests that the medium was told of.
    told: usize,
}

/// A request in the window.
#[derive(Clone, Copy)]
struct Ahead {
    request: Request,
    /// Whether the request begins a fetch, because it is not near the previous request.
    begins: bool,
    /// The number of bytes that the request adds to its fetch.
    bytes: u64,
}

impl Window {
    /// Reads the first request, of which `filled` bytes have been read, and all that follow.
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

    /// Returns whether the window holds at least `1 / parts` of its capacity.
    fn is_full(&self, parts: usize) -> bool {
        let fetches = self.fetches * parts;
        fetches >= QUEUE_DEPTH
            || self.requests.len() * parts >= MOST_REQUESTS
            || (fetches.max(self.requests.len()) >= LEAST && self.bytes * parts as u64 >= WINDOW_BYTES)
    }

    /// Takes requests until the window is full. Tells the medium of them if their bytes are not in memory.
    /// Checks a few requests for that, unless `is_missing` says so.
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

/// Ranges at most this far apart are fetched as one, because a disk transfers as many bytes in the time of a
/// second request (docs/io-hints.md).
const GAP: u64 = 16 << 10;
/// The maximum length of one fetch. Some media do not accept longer requests.
const SPAN: u64 = 4 << 20;
/// The number of bytes in flight that keep a disk busy.
const WINDOW_BYTES: u64 = 32 << 20;
/// The number of requests in flight below which the window accepts more than [`WINDOW_BYTES`].
const LEAST: usize = 4;
/// The maximum number of fetches in flight.
pub(super) const QUEUE_DEPTH: usize = 256;
/// The maximum number of requests in the window. Many small ranges may share few fetches: rows of unfiltered
/// chunks.
const MOST_REQUESTS: usize = 16 << 10;
/// While data are in memory, the check is repeated after this many bytes. Each request adds [`GAP`] to the
/// count.
const TRIED_EVERY: u64 = 512 << 10;
/// The number of requests to check before the medium is told of a group of them.
const PROBES: usize = 2;
