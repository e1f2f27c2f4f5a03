//! Positioned input and output on one file: the [`Driver`] trait, its implementations, and the hints of a
//! medium.

use std::fmt::Debug;
use std::io;

mod ahead;
mod aside;
mod joined;
mod memory;
mod overlay;
mod posix;
mod trace;

pub use ahead::{Medium, read_ahead};
pub use aside::Aside;
pub use joined::{Joined, Part};
pub use memory::Memory;
pub use overlay::Overlay;
pub use posix::{Create, Locking, Posix};
pub use trace::{Operation, Trace};

/// Access to one file. All methods take `&self`, and offsets are absolute. Reads are exact: a read past the
/// end fails with `UnexpectedEof`.
///
/// Every driver passes the test suite in `tests/contracts.rs`.
pub trait Driver: Debug + Send + Sync {
    /// Returns the length of the file in bytes.
    fn len(&self) -> io::Result<u64>;

    /// Returns whether the file has length 0.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Fills `dst` with the bytes at `offset`.
    fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()>;

    /// Writes `src` at `offset`. A write past the end extends the file, with zeros in the gap. A read-only
    /// medium returns an error.
    fn write_at(&self, _offset: u64, _src: &[u8]) -> io::Result<()> {
        Err(read_only())
    }

    /// Reserves space for `len` bytes at `offset` that will be written next, if the medium can. The length of
    /// the file does not change.
    ///
    /// Errors: there is not enough space. A medium that cannot tell returns `Ok`.
    fn reserve(&self, _offset: u64, _len: u64) -> io::Result<()> {
        Ok(())
    }

    /// Truncates the file or extends it with zeros. A read-only medium returns an error.
    fn set_len(&self, _len: u64) -> io::Result<()> {
        Err(read_only())
    }

    /// Makes every completed write durable.
    ///
    /// The last call on a file that was open for writing has `closing` set. By then, commits have made
    /// durable everything that needs it, so the medium only has to write out what it buffers itself.
    fn flush(&self, closing: bool) -> io::Result<()>;

    /// Reads every range that `queue` requests, each exactly once and in any order. [`next`](ReadQueue::next)
    /// returns a request, [`place`](ReadQueue::place) the memory for its bytes, and the driver calls
    /// [`arrived`](ReadQueue::arrived) once the bytes are there.
    ///
    /// A driver that serves several requests at a time takes that many before the first has arrived. It
    /// returns when no request is in flight and `next` returns `None`, or at the first error. After an error
    /// the other requests are dropped.
    fn read_many(&self, queue: &mut dyn ReadQueue) -> io::Result<()> {
        while let Some(request) = queue.next() {
            self.read_at(request.offset, queue.place(request.id)?)?;
            queue.arrived(request.id);
        }
        Ok(())
    }

    /// Performs several writes that do not overlap. A driver that can submit them together does. After an
    /// error, each of the writes may have been done in full, in part, or not at all.
    fn write_batch(&self, requests: &[WriteRequest<'_>]) -> io::Result<()> {
        requests.iter().try_for_each(|request| self.write_at(request.offset, request.src))
    }

    /// Returns how to use this medium efficiently.
    fn hints(&self) -> Hints;
}

fn read_only() -> io::Error {
    io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "the medium is read-only")
}

/// The ranges that one call reads. The driver takes each range when it has room for it.
///
/// A queue does no I/O, so a driver may hold locks while it calls the queue.
pub trait ReadQueue {
    /// Returns the next range to read. `None` means that there is none until a request in flight has arrived;
    /// if none is in flight, there are no more.
    fn next(&mut self) -> Option<Request>;

    /// Returns the memory for the bytes of a request, with the requested length. Bytes written there stay
    /// until the request has arrived, whatever other requests are made and arrive in the meantime.
    ///
    /// Errors: the memory cannot be allocated. The driver returns the error.
    fn place(&mut self, id: u64) -> io::Result<&mut [u8]>;

    /// Tells the queue that the bytes of a request are in their place. The queue processes them at once, on
    /// this thread.
    fn arrived(&mut self, id: u64);

    /// Calls `f` with the offset and length of ranges that this queue or another one will request, for at
    /// most `most` tasks. A medium can fetch these ranges while threads wait. Each range is passed once. A
    /// queue that shares its work with others leaves tasks for them, so [`next`](Self::next) may return
    /// `None` although ranges remain.
    fn upcoming(&mut self, _most: usize, _f: &mut dyn FnMut(u64, u64)) {}
}

/// One range of a file to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Identifies the request. The driver passes the value back to the queue unchanged.
    pub id: u64,
    /// The offset in the file.
    pub offset: u64,
    /// The number of bytes.
    pub len: usize,
}

/// One write of a batch.
#[derive(Debug, Clone, Copy)]
pub struct WriteRequest<'a> {
    /// The offset in the file.
    pub offset: u64,
    /// The bytes to write.
    pub src: &'a [u8],
}

/// How to use a medium efficiently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    /// The longest gap in bytes that is cheaper to read than a second request.
    pub coalesce_gap: u64,
    /// The longest span in bytes that is worth one request.
    pub max_span: u64,
    /// The maximum number of requests of one [`read_many`](Driver::read_many) in flight. If it is 1, requests
    /// in advance gain nothing.
    pub queue_depth: usize,
    /// Whether several threads may make calls at once. If not, the engine reads on one thread.
    pub concurrent: bool,
}
