//! Positioned input and output on one file: the trait, and what a medium says of itself.

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

/// One file. All methods take `&self`; offsets are absolute. Reads are exact: past the end is `UnexpectedEof`.
///
/// Every driver passes the one suite in `tests/contracts.rs`.
pub trait Driver: Debug + Send + Sync {
    /// The length of the file in bytes.
    fn len(&self) -> io::Result<u64>;

    /// Whether there is nothing in it.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Fills `dst` with the bytes from `offset` on.
    fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()>;

    /// Writes `src` at `offset`; past the end the file grows, with zeros between. A medium that is only read refuses.
    fn write_at(&self, _offset: u64, _src: &[u8]) -> io::Result<()> {
        Err(read_only())
    }

    /// So many bytes from `offset` on will be written next: a medium that can makes room for all of them at once. The length of
    /// the file stays.
    ///
    /// Errors: there is no room for them. A medium that cannot tell says nothing.
    fn reserve(&self, _offset: u64, _len: u64) -> io::Result<()> {
        Ok(())
    }

    /// Cuts the file, or extends it with zeros. A medium that is only read refuses.
    fn set_len(&self, _len: u64) -> io::Result<()> {
        Err(read_only())
    }

    /// Makes every completed write durable.
    ///
    /// A file that was open for writing is `closing` once: no call follows. Commits have made durable by then what had to
    /// be, and a medium has only to hand over what it holds back itself.
    fn flush(&self, closing: bool) -> io::Result<()>;

    /// Reads every range that `queue` asks for, in any order, each exactly once: [`next`](ReadQueue::next) says which,
    /// [`place`](ReadQueue::place) where its bytes go, and [`arrived`](ReadQueue::arrived) follows when they are there.
    ///
    /// A driver that serves several requests at a time asks for as many before the first has arrived. It returns when
    /// nothing is under way and `next` has nothing more, or with the first error; the others are given up then.
    fn read_many(&self, queue: &mut dyn ReadQueue) -> io::Result<()> {
        while let Some(request) = queue.next() {
            self.read_at(request.offset, queue.place(request.id)?)?;
            queue.arrived(request.id);
        }
        Ok(())
    }

    /// Several writes at once, of which none meets another; a driver that can submit them together does. If it fails, any of
    /// them may have been done, whole or in part.
    fn write_batch(&self, requests: &[WriteRequest<'_>]) -> io::Result<()> {
        requests.iter().try_for_each(|request| self.write_at(request.offset, request.src))
    }

    /// How this medium likes to be used.
    fn hints(&self) -> Hints;
}

fn read_only() -> io::Error {
    io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "the medium is for reading alone")
}

/// What one call reads: many ranges, each asked for when the driver has room for it.
///
/// The queue does no I/O, so that a driver may hold on to what it likes while it calls it.
pub trait ReadQueue {
    /// The next range to read. `None` says that there is none until one of those under way has arrived, and none at all
    /// if none is.
    fn next(&mut self) -> Option<Request>;

    /// The memory that the bytes of a request go to, as many as it asked for. What is written there stays until the
    /// request has arrived, whatever else is asked for and arrives meanwhile.
    ///
    /// Errors: there is no memory for them; the driver returns the error.
    fn place(&mut self, id: u64) -> io::Result<&mut [u8]>;

    /// The bytes of a request are in its place. The queue uses them at once, on this thread.
    fn arrived(&mut self, id: u64);

    /// Calls `f` with the offset and length of ranges that this queue or another one will ask for, of at most `most` tasks: for a
    /// medium that fetches while threads wait. Each range is named once. A queue that shares its work with others leaves some
    /// for them, and [`next`](Self::next) is `None` though there is more to come.
    fn upcoming(&mut self, _most: usize, _f: &mut dyn FnMut(u64, u64)) {}
}

/// One range of a file to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Which of those under way this is: given back to the queue as it was.
    pub id: u64,
    /// Where.
    pub offset: u64,
    /// How many bytes.
    pub len: usize,
}

/// One write of a batch.
#[derive(Debug, Clone, Copy)]
pub struct WriteRequest<'a> {
    /// Where.
    pub offset: u64,
    /// What.
    pub src: &'a [u8],
}

/// How a medium likes to be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    /// Reading over a gap of so many bytes costs no more than a second request.
    pub coalesce_gap: u64,
    /// The longest span worth one request.
    pub max_span: u64,
    /// How many requests of one [`read_many`](Driver::read_many) it has under way at most. Where it is 1, asking for what
    /// may be needed later gains nothing.
    pub queue_depth: usize,
    /// Whether calls may come from many threads at once; if not, the engine reads on one.
    pub concurrent: bool,
}
