//! A file whose ranges are read through rings of the kernel (`io_uring`): many reads are in progress at a
//! time, and one call begins and ends several of them.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use rustix::io::Errno;

use super::ahead::{Medium, TRIED_EVERY};
use super::{Capabilities, Driver, DriverInfo, HasInfo, Hints, Posix, ReadQueue, Request, WriteRequest};
use crate::process::PerProcess;

mod ring;

use ring::{BLOCK, Ring, SLOT};

/// An open file that is read through rings, and written as [`Posix`] writes it.
///
/// A read of many ranges probes whether they are in the page cache, and reads those as `Posix` does. A direct
/// file bypasses the cache. If the kernel refuses rings, everything is read as `Posix` reads it, and
/// [`info`](super::HasInfo::info) says why.
///
/// ```
/// use std::sync::Arc;
/// use hyperslab::driver::{Driver, Posix, Uring};
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("climate.h5");
/// hyperslab::File::create(&path)?.close()?;
/// let driver = Uring::new(Arc::new(Posix::open(&path)?), 32, false);
/// assert_eq!(driver.capabilities().hints.queue_depth, 32);
/// let file = hyperslab::File::options().open_on(Arc::new(driver))?;
/// assert!(file.root().is_empty()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Uring {
    file: Arc<Posix>,
    depth: u16,
    direct: Option<Direct>,
    /// Rings that no thread uses. A forked child has none: the kernel reads into the memory of the parent.
    rings: PerProcess<Mutex<Vec<Ring>>>,
    is_registered: bool,
    /// Why there are no rings.
    refused: Option<String>,
}

/// The file, opened to bypass the page cache.
struct Direct {
    file: Result<File, String>,
    /// Whether the medium refused a read at multiples of [`BLOCK`].
    is_refused: AtomicBool,
}

impl fmt::Debug for Uring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Uring").field("file", &self.file).field("depth", &self.depth).finish_non_exhaustive()
    }
}

impl Uring {
    /// The number of reads in progress by default: what a disk serves at its full rate.
    pub const DEPTH: usize = 64;

    /// Reads `file` with `depth` reads of each thread in progress at a time, from 1 to 1,024; other numbers
    /// are taken as the nearest of these. With `direct`, the page cache is bypassed if the file system allows
    /// it.
    pub fn new(file: Arc<Posix>, depth: usize, direct: bool) -> Self {
        let depth = u16::try_from(depth.clamp(1, 1024)).unwrap_or(1024);
        let first = Ring::new(depth);
        let refused = first.as_ref().err().map(|error| format!("the kernel refuses rings: {error}"));
        let direct = direct.then(|| Direct::open(file.as_file())).filter(|_| refused.is_none());
        let is_registered = first.as_ref().is_ok_and(Ring::is_registered);
        let rings = PerProcess::new(Mutex::new(first.into_iter().collect()));
        Self { file, depth, direct, rings, is_registered, refused }
    }

    fn rings(&self) -> &Mutex<Vec<Ring>> {
        self.rings.get(|_| Mutex::default())
    }

    /// Returns the file to read with a direct read, unless the file is read through the page cache.
    fn direct(&self) -> Option<&File> {
        let direct = self.direct.as_ref().filter(|direct| !direct.is_refused.load(Ordering::Relaxed))?;
        direct.file.as_ref().ok()
    }

    /// Reads the ranges of `queue` after `first` through a ring.
    fn read_through_ring(&self, first: Option<Request>, queue: &mut dyn ReadQueue) -> io::Result<()> {
        let kept = self.rings().lock().pop();
        let ring = kept.map_or_else(|| Ring::new(self.depth), Ok)?;
        let mut flight = Flight::new(self, ring);
        let read = flight.run(first, queue);
        let mut ring = flight.ring;
        if ring.drain() {
            self.rings().lock().push(ring);
        }
        read
    }

    /// Gives up direct reads if a read failed because it was direct.
    fn refuse(&self, error: &io::Error) {
        if let Some(direct) = &self.direct
            && Errno::from_io_error(error) == Some(Errno::INVAL)
        {
            direct.is_refused.store(true, Ordering::Relaxed);
        }
    }
}

impl Direct {
    fn open(file: &File) -> Self {
        // The path may name another file by now.
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let opened = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(path);
        let file = opened.map_err(|error| format!("the file system has no direct reads: {error}"));
        Self { file, is_refused: AtomicBool::new(false) }
    }

    fn fallback(&self) -> Option<String> {
        match &self.file {
            Err(why) => Some(why.clone()),
            Ok(_) => {
                self.is_refused.load(Ordering::Relaxed).then(|| "the medium refuses direct reads".to_owned())
            }
        }
    }
}

impl Driver for Uring {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    /// A long direct read goes through a ring, in parts.
    fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()> {
        if dst.len() < SLOT || self.direct().is_none() {
            return self.file.read_at(offset, dst);
        }
        let first = Request { id: 0, offset, len: dst.len() };
        self.read_through_ring(Some(first), &mut Single(dst))
    }

    fn write_at(&self, offset: u64, src: &[u8]) -> io::Result<()> {
        self.file.write_at(offset, src)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn flush(&self, closing: bool) -> io::Result<()> {
        self.file.flush(closing)
    }

    fn read_many(&self, queue: &mut dyn ReadQueue) -> io::Result<()> {
        if self.refused.is_some() {
            return self.file.read_many(queue);
        }
        if self.direct().is_some() {
            return self.read_through_ring(None, queue);
        }
        let mut cache = Cache::default();
        while let Some(request) = queue.next() {
            if !cache.reads(&self.file, request, queue)? {
                return self.read_through_ring(Some(request), queue);
            }
        }
        Ok(())
    }

    fn write_batch(&self, requests: &[WriteRequest<'_>]) -> io::Result<()> {
        self.file.write_batch(requests)
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            name: "io_uring",
            hints: Hints { queue_depth: self.depth.into(), ..Posix::HINTS },
            description: Some(self),
            ..self.file.capabilities()
        }
    }
}

impl HasInfo for Uring {
    fn info(&self) -> DriverInfo {
        let fallback = self.refused.clone().or_else(|| self.direct.as_ref().and_then(Direct::fallback));
        DriverInfo {
            is_direct: self.direct().is_some(),
            has_registered_buffers: self.is_registered,
            fallback,
            ..DriverInfo::new("io_uring")
        }
    }
}

/// Reads ranges that are in the page cache without a ring.
#[derive(Default)]
struct Cache {
    /// The bytes read since the last probe that found its range in the cache.
    untried: Option<u64>,
}

impl Cache {
    /// Reads a range if it seems to be in the page cache. Returns whether it was read.
    fn reads(&mut self, file: &Posix, request: Request, queue: &mut dyn ReadQueue) -> io::Result<bool> {
        let untried = self.untried.map_or(TRIED_EVERY, |bytes| bytes.saturating_add(request.len as u64));
        self.untried = Some(untried);
        if untried >= TRIED_EVERY {
            if request.len > 0 && file.read_now(request.offset, &mut [0]) == Some(0) {
                self.untried = None;
                // A range that begins at the end of the file has no byte in the cache either.
                return Ok(false);
            }
            self.untried = Some(0);
        }
        file.read_at(request.offset, queue.place(request.id)?)?;
        queue.arrived(request.id);
        Ok(true)
    }
}

/// The reads of one call that are in progress.
struct Flight<'u> {
    driver: &'u Uring,
    ring: Ring,
    /// The part that each slot is read for.
    parts: Vec<RangePart>,
    /// The ranges that have not arrived, and free places among them.
    ranges: Vec<OpenRange>,
    unused: Vec<usize>,
    /// The range of which not all parts are being read.
    asking: Option<usize>,
    cache: Cache,
}

/// A range that has not arrived.
#[derive(Clone, Copy)]
struct OpenRange {
    request: Request,
    end: u64,
    /// The offset of the next part to read.
    next: u64,
    /// The number of parts in progress.
    parts: usize,
}

/// A part of a range: what one read brings. A direct read begins and ends between blocks, outside the range
/// perhaps.
#[derive(Clone, Copy, Default)]
struct RangePart {
    range: usize,
    offset: u64,
    end: u64,
}

impl<'u> Flight<'u> {
    fn new(driver: &'u Uring, ring: Ring) -> Self {
        Self {
            driver,
            ring,
            parts: vec![RangePart::default(); driver.depth.into()],
            ranges: Vec::new(),
            unused: Vec::new(),
            asking: None,
            cache: Cache::default(),
        }
    }

    fn run(&mut self, first: Option<Request>, queue: &mut dyn ReadQueue) -> io::Result<()> {
        first.map_or(Ok(()), |request| self.open(request, queue))?;
        let mut ended = Vec::new();
        loop {
            self.fill(queue)?;
            if self.ring.is_idle() {
                return Ok(());
            }
            self.ring.wait(&mut ended)?;
            for (slot, read) in ended.drain(..) {
                self.take(slot, read, queue)?;
            }
        }
    }

    /// Begins reads until all slots are used or the queue has no range.
    fn fill(&mut self, queue: &mut dyn ReadQueue) -> io::Result<()> {
        while self.ring.has_room() {
            if let Some(range) = self.asking {
                self.ask(range)?;
                continue;
            }
            let Some(request) = queue.next() else { return Ok(()) };
            let may_be_cached = self.driver.direct().is_none();
            if !may_be_cached || !self.cache.reads(&self.driver.file, request, queue)? {
                self.open(request, queue)?;
            }
        }
        Ok(())
    }

    fn open(&mut self, request: Request, queue: &mut dyn ReadQueue) -> io::Result<()> {
        let end = request.offset.checked_add(request.len as u64).filter(|&end| i64::try_from(end).is_ok());
        let end = end.ok_or(io::ErrorKind::UnexpectedEof)?;
        if request.len == 0 {
            queue.place(request.id)?;
            queue.arrived(request.id);
            return Ok(());
        }
        let range = OpenRange { request, end, next: request.offset, parts: 0 };
        let index = self.unused.pop().unwrap_or(self.ranges.len());
        match self.ranges.get_mut(index) {
            Some(place) => *place = range,
            None => self.ranges.push(range),
        }
        self.asking = Some(index);
        Ok(())
    }

    /// Begins to read the next part of a range.
    fn ask(&mut self, index: usize) -> io::Result<()> {
        let Some(slot) = self.ring.take() else { return Ok(()) };
        let range = &mut self.ranges[index];
        let (file, start, end) = match self.driver.direct() {
            Some(file) => {
                let block = BLOCK as u64;
                (file.as_fd(), range.next - range.next % block, range.end.next_multiple_of(block))
            }
            None => (self.driver.file.as_file().as_fd(), range.next, range.end),
        };
        let part = RangePart { range: index, offset: start, end: end.min(start + SLOT as u64) };
        range.next = part.end;
        range.parts += 1;
        if range.next >= range.end {
            self.asking = None;
        }
        self.parts[usize::from(slot)] = part;
        self.ring.read(slot, file, part.offset, length(part.offset, part.end))
    }

    /// Uses the bytes of a read that has ended. What the ring could not read is read as [`Posix`] reads it,
    /// which also finds the error.
    fn take(&mut self, slot: u16, read: io::Result<usize>, queue: &mut dyn ReadQueue) -> io::Result<()> {
        let part = self.parts[usize::from(slot)];
        let OpenRange { request, end, .. } = self.ranges[part.range];
        let (from, to) = (part.offset.max(request.offset), part.end.min(end));
        if let Err(error) = &read {
            self.driver.refuse(error);
        }
        let read = read.unwrap_or(0);
        let place = &mut queue.place(request.id)?[length(request.offset, from)..length(request.offset, to)];
        let skipped = length(part.offset, from);
        let bytes = self.ring.bytes(slot, read).get(skipped..).unwrap_or_default();
        let (arrived, rest) = place.split_at_mut(bytes.len().min(place.len()));
        arrived.copy_from_slice(&bytes[..arrived.len()]);
        if !rest.is_empty() {
            self.driver.file.read_at(from + arrived.len() as u64, rest)?;
        }
        self.ring.give_back(slot);
        let range = &mut self.ranges[part.range];
        range.parts -= 1;
        if range.parts == 0 && range.next >= range.end {
            self.unused.push(part.range);
            queue.arrived(request.id);
        }
        Ok(())
    }
}

/// Returns the number of bytes between two offsets of one range or part, which fits in memory.
fn length(from: u64, to: u64) -> usize {
    usize::try_from(to.saturating_sub(from)).unwrap_or(usize::MAX)
}

/// A queue of one range, which the driver has taken already.
struct Single<'d>(&'d mut [u8]);

impl ReadQueue for Single<'_> {
    fn next(&mut self) -> Option<Request> {
        None
    }

    fn place(&mut self, _: u64) -> io::Result<&mut [u8]> {
        Ok(self.0)
    }

    fn arrived(&mut self, _: u64) {}
}

#[cfg(test)]
mod tests;
