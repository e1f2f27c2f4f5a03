//! Positioned input and output on one file: the trait, and what a medium says of itself.

use std::fmt::Debug;
use std::io;

mod aside;
mod memory;
mod overlay;
mod posix;
mod trace;

pub use aside::Aside;
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

    /// Writes `src` at `offset`; past the end the file grows, with zeros between.
    fn write_at(&self, offset: u64, src: &[u8]) -> io::Result<()>;

    /// So many bytes from `offset` on will be written next: a medium that can makes room for all of them at once. The length of
    /// the file stays.
    ///
    /// Errors: there is no room for them. A medium that cannot tell says nothing.
    fn reserve(&self, _offset: u64, _len: u64) -> io::Result<()> {
        Ok(())
    }

    /// Cuts the file, or extends it with zeros.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Makes every completed write durable. `closing` says that no call follows.
    fn flush(&self, closing: bool) -> io::Result<()>;

    /// Several reads at once; a driver that can submit them together does.
    fn read_batch(&self, requests: &mut [ReadRequest<'_>]) -> io::Result<()> {
        requests.iter_mut().try_for_each(|request| self.read_at(request.offset, request.dst))
    }

    /// Whether the byte at `offset` can be read without waiting for a slow medium, as far as the driver knows.
    fn is_at_hand(&self, _offset: u64) -> bool {
        true
    }

    /// So many bytes from `offset` on will be read soon: a medium that takes long begins to fetch them, and this returns before it
    /// has. Nobody is told of errors; the read will meet them.
    fn prefetch(&self, _offset: u64, _len: u64) {}

    /// How this medium likes to be used.
    fn hints(&self) -> Hints;
}

/// One read of a batch.
#[derive(Debug)]
pub struct ReadRequest<'a> {
    /// Where.
    pub offset: u64,
    /// Into what; its length is how much.
    pub dst: &'a mut [u8],
}

/// How a medium likes to be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    /// Reading over a gap of so many bytes costs no more than a second request.
    pub coalesce_gap: u64,
    /// The longest span worth one request.
    pub max_span: u64,
    /// As `coalesce_gap`, where the bytes are not at hand.
    pub prefetch_gap: u64,
    /// Whether calls may come from many threads at once; if not, the engine reads on one.
    pub concurrent: bool,
}
