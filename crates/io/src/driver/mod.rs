//! Positioned input and output on one file: the trait, and the properties of a medium.

use std::fmt::Debug;
use std::io;

mod ahead;
mod aside;
mod capabilities;
mod holders;
mod joined;
mod mapped;
mod members;
mod memory;
mod overlay;
mod posix;
mod trace;
#[cfg(target_os = "linux")]
mod uring;
mod via;

pub use ahead::{Medium, read_ahead};
#[doc(hidden)]
pub use aside::Aside;
pub use capabilities::{Capabilities, Elements, HasInfo, HoldsLock, InMemory, InParts, ReservesSpace};
#[doc(hidden)]
pub use joined::{FilePart, Joined};
pub use mapped::{Mapped, Unchanged};
pub use members::Members;
#[doc(hidden)]
pub use members::{Arranged, Family, Folder, MemberFiles, Names, Split, advice};
pub use memory::Memory;
#[doc(hidden)]
pub use overlay::Overlay;
pub use posix::{Create, Locking, Posix};
pub use trace::{Operation, Trace};
#[cfg(target_os = "linux")]
pub use uring::Uring;
pub use via::Via;

/// Positioned reads and writes on one file. Offsets are absolute.
///
/// Every driver passes the test suite in `tests/suite/contracts.rs`.
///
/// ```
/// use std::sync::Arc;
///
/// use hyperslab::File;
/// use hyperslab::driver::{Driver, Memory};
///
/// # fn main() -> hyperslab::Result<()> {
/// let memory = Arc::new(Memory::default());
/// File::options().create(true).open_on(memory.clone())?.close()?;
/// let mut signature = [0; 8];
/// memory.read_at(0, &mut signature).expect("a file of at least 8 bytes");
/// assert_eq!(&signature, b"\x89HDF\r\n\x1a\n");
/// # Ok(()) }
/// ```
#[expect(clippy::len_without_is_empty, reason = "`dyn Driver` has it, so that drivers need not")]
pub trait Driver: Debug + Send + Sync {
    /// Returns the length of the file in bytes: of its first range, if it has a
    /// [second](Capabilities::elements).
    fn len(&self) -> io::Result<u64>;

    /// Reads exactly `dst.len()` bytes at `offset`.
    ///
    /// Errors: `UnexpectedEof` if the range extends past the end of the file.
    fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()>;

    /// Writes `src` at `offset`. A write past the end extends the file, with zeros in the gap.
    ///
    /// Errors: `ReadOnlyFilesystem` if the medium cannot be written.
    fn write_at(&self, _offset: u64, _src: &[u8]) -> io::Result<()> {
        Err(read_only())
    }

    /// Truncates the file to `len` bytes, or extends it with zeros.
    ///
    /// Errors: `ReadOnlyFilesystem` if the medium cannot be written.
    fn set_len(&self, _len: u64) -> io::Result<()> {
        Err(read_only())
    }

    /// Makes every completed write durable.
    ///
    /// The last call to the driver of a file open for writing has `closing` set. Earlier calls have made all
    /// commits durable by then, so the driver only needs to pass on data that it buffers itself.
    fn flush(&self, closing: bool) -> io::Result<()>;

    /// Reads the ranges of `queue`, each once, in any order: [`next`](ReadQueue::next) returns a range,
    /// [`place`](ReadQueue::place) the memory for its bytes, and the driver calls
    /// [`arrived`](ReadQueue::arrived) when the bytes are there.
    ///
    /// A driver that serves several requests at a time takes as many from the queue before the first arrives.
    /// It returns when no request is in progress and `next` returns `None`, or at the first error; other
    /// requests are then abandoned.
    fn read_many(&self, queue: &mut dyn ReadQueue) -> io::Result<()> {
        while let Some(request) = queue.next() {
            self.read_at(request.offset, queue.place(request.id)?)?;
            queue.arrived(request.id);
        }
        Ok(())
    }

    /// Does several writes that do not overlap, together if the driver can. After an error, each write may be
    /// complete, partial or missing.
    fn write_batch(&self, requests: &[WriteRequest<'_>]) -> io::Result<()> {
        requests.iter().try_for_each(|request| self.write_at(request.offset, request.src))
    }

    /// Returns how the medium performs best, and what it can do beside these methods.
    fn capabilities(&self) -> Capabilities<'_>;
}

fn read_only() -> io::Error {
    io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "the medium cannot be written")
}

/// The ranges of one [`read_many`](Driver::read_many), which the driver takes one by one when it can serve
/// another request.
///
/// The queue does no I/O, so a driver may hold its own locks while it calls the queue.
pub trait ReadQueue {
    /// Returns the next range to read. `None` means that there is no range until one that is in progress
    /// arrives; if none is in progress, the queue is finished.
    fn next(&mut self) -> Option<Request>;

    /// Returns the memory for the bytes of a request. Bytes written there stay until the request has arrived,
    /// even if other requests are taken or arrive meanwhile.
    ///
    /// Errors: the memory cannot be allocated. The driver returns this error.
    fn place(&mut self, id: u64) -> io::Result<&mut [u8]>;

    /// Tells the queue that the bytes of a request are in place. The queue uses them at once, on this thread.
    fn arrived(&mut self, id: u64);

    /// Calls `f` with the offset and length of ranges of up to `most` tasks that this queue or another queue
    /// will ask for. A medium can fetch them in advance. Each range is passed once. A queue that shares its
    /// work with others leaves some tasks to them: then [`next`](Self::next) returns `None` although tasks
    /// remain.
    fn upcoming(&mut self, _most: usize, _f: &mut dyn FnMut(u64, u64)) {}
}

/// One range of a file to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Identifies the request; the driver passes it back to the queue.
    pub id: u64,
    /// The offset of the first byte.
    pub offset: u64,
    /// The number of bytes.
    pub len: usize,
}

/// One write of a batch.
#[derive(Debug, Clone, Copy)]
pub struct WriteRequest<'a> {
    /// The offset of the first byte.
    pub offset: u64,
    /// The bytes to write.
    pub src: &'a [u8],
}

/// What a driver is and does, for its user.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DriverInfo {
    /// The name of the driver.
    pub name: &'static str,
    /// Whether reads bypass the page cache.
    pub is_direct: bool,
    /// Whether the kernel has pinned the memory for reads.
    pub has_registered_buffers: bool,
    /// Why the driver does less than it was asked for, if it does.
    pub fallback: Option<String>,
    /// What the driver has requested so far, if it counts.
    pub traffic: Option<Traffic>,
}

/// What a driver has requested from its medium since the file was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// The number of requests.
    pub requests: u64,
    /// The number of bytes that have arrived.
    pub bytes: u64,
}

impl DriverInfo {
    /// Returns what an ordinary driver of this name is.
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        Self { name, is_direct: false, has_registered_buffers: false, fallback: None, traffic: None }
    }
}

/// How a medium performs best.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    /// The longest gap, in bytes, that costs no more to read than a second request.
    pub coalesce_gap: u64,
    /// The most bytes that one request should read.
    pub max_span: u64,
    /// The most requests of one [`read_many`](Driver::read_many) that are in progress at a time. If it is 1,
    /// requesting data in advance gains nothing.
    pub queue_depth: usize,
    /// Whether many threads may call the driver at once; if not, the engine reads on one thread.
    pub concurrent: bool,
}
