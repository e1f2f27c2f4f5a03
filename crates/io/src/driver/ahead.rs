//! Many reads from a medium that can fetch in the background. A disk serves many requests at once, but a
//! process has only a few threads that wait for one request each.

use std::collections::VecDeque;
use std::io;

use super::{Driver, ReadQueue, Request};

/// A medium that holds some bytes in memory and fetches the others.
pub trait Medium: Driver {
    /// Reads the bytes at `offset` into `dst` up to the first one that is not in memory. Returns their
    /// number, or `None` if the medium cannot tell.
    fn read_now(&self, _offset: u64, _dst: &mut [u8]) -> Option<usize> {
        None
    }

    /// Begins to fetch `len` bytes at `offset` and returns at once. The read that follows reports errors.
    fn fetch(&self, _offset: u64, _len: u64) {}
}

/// Implements [`Driver::read_many`] for such a medium. Ranges in memory are read one after another, so that
/// each range is used while it is in the processor's caches. From the first range that is not in memory on,
/// the medium fetches as many ranges in advance as it can fetch at a time, and they are read in order.
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
                Some(filled) => {
                    return Window::new(medium.capabilities().hints.queue_depth)
                        .read(medium, queue, request, filled);
                }
            }
        }
        queue.arrived(request.id);
    }
    Ok(())
}

/// Requests that were taken from the queue and are not read yet.
#[derive(Default)]
struct Window {
    requests: VecDeque<Ahead>,
    /// The bytes that the fetches span, gaps included.
    bytes: u64,
    /// The number of fetches that the requests need.
    fetches: usize,
    /// The number of requests that the medium was told to fetch.
    told: usize,
    /// The most fetches at a time.
    depth: usize,
}

/// A request in the window.
#[derive(Clone, Copy)]
struct Ahead {
    request: Request,
    /// Whether the request begins a fetch, because it is not near the request before it.
    begins: bool,
    /// The bytes by which the request extends its fetch.
    bytes: u64,
}

impl Window {
    fn new(depth: usize) -> Self {
        Self { depth: depth.max(1), ..Self::default() }
    }

    /// Reads the first request, of which `filled` bytes are already read, and all requests after it.
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

    /// Returns whether the window is filled to one `parts`-th of its capacity.
    fn is_full(&self, parts: usize) -> bool {
        let fetches = self.fetches * parts;
        fetches >= self.depth
            || self.requests.len() * parts >= MOST_REQUESTS
            || (fetches.max(self.requests.len()) >= LEAST && self.bytes * parts as u64 >= WINDOW_BYTES)
    }

    /// Takes requests from the queue until the window is full, and has the medium fetch them. Unless
    /// `is_missing`, some of them are probed first, and nothing is fetched if all of those are in memory.
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
            queue.upcoming(self.depth - self.fetches, &mut tell);
        }
        medium.fetch(joined.start, joined.end - joined.start);
        self.told = self.requests.len();
    }
}

/// Ranges at most this far apart are one fetch: a disk transfers as many bytes in the time of a second
/// request (docs/io-hints.md).
const GAP: u64 = 16 << 10;
/// The longest fetch; some media refuse longer requests.
const SPAN: u64 = 4 << 20;
/// The bytes that keep a disk busy,
const WINDOW_BYTES: u64 = 32 << 20;
/// in at least this many requests.
const LEAST: usize = 4;
/// The requests that a disk serves at once: the depth by default.
pub(super) const QUEUE_DEPTH: usize = 256;
/// The most requests in a window, if one fetch brings many of them: rows of unfiltered chunks.
const MOST_REQUESTS: usize = 16 << 10;
/// The bytes after which a range is probed again while all ranges are in memory; each request counts [`GAP`]
/// more.
pub(super) const TRIED_EVERY: u64 = 512 << 10;
/// The number of requests of a batch that are probed before the medium fetches the batch.
const PROBES: usize = 2;
