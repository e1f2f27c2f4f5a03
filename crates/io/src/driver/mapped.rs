//! A file whose bytes are in the memory of the process: the kernel fills pages as they are used.
//!
//! # Soundness
//!
//! [`Mapped`] lends the pages of the kernel as `&[u8]`. That is sound if, as long as such a slice lives, its
//! bytes are in memory that the process may read, and do not change.
//!
//! - *The memory is there.* The only mapping is made by [`Mapped::new`] and undone when the `Mapped` is
//!   dropped. Every slice borrows the `Mapped`, and is cut from the length that was mapped.
//! - *This mapping changes nothing.* Its pages are for reading only, and no method writes to the file: the
//!   default of `Driver::write_at` is an error.
//! - *Nothing else changes the bytes.* They change only if a program writes to the file, or makes it shorter.
//!   Code cannot find out whether one will, and locks are only for those that take them. So the caller of
//!   `Mapped::new` has to promise it, with an [`Unchanged`]. Its only constructor is an `unsafe` function,
//!   and the promise is what its section on safety asks for.
//!
//! Some uses of a mapping end the process by a signal (SIGBUS), which is no undefined behaviour: a page is
//! used that the disk cannot read, or that the file lost when it was cut, against the promise. So every read
//! compares the lengths first: one that begins after the file was cut is an error. The proof does not need
//! that.

use std::io;
use std::sync::Arc;

use memmap2::Mmap;

use super::{Capabilities, Driver, Hints, InMemory, Posix, ReadQueue};

/// The promise that no program changes or shortens a file while it is mapped into memory.
///
/// ```
/// use hyperslab::{File, driver::{Unchanged, Via}};
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("climate.h5");
/// File::create(&path)?.close()?;
/// // SAFETY: only this program knows the new folder, and it does not open the file to change it.
/// let unchanged = unsafe { Unchanged::promised() };
/// let file = File::options().via(Via::Map(unchanged)).open(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// No safe code makes it:
///
/// ```compile_fail,E0133
/// # use hyperslab::driver::{Unchanged, Via};
/// let via = Via::Map(Unchanged::promised());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unchanged(());

impl Unchanged {
    /// Makes the promise.
    ///
    /// # Safety
    ///
    /// The promise is about every file that is mapped with the value that is returned, or with a copy of it.
    /// No program, this one included, writes to such a file or shortens it, from the time when it is opened
    /// until nothing uses the mapping any more: the last handle of the file and the last
    /// [`InPlace`](https://docs.rs/hyperslab/latest/hyperslab/struct.InPlace.html) of its datasets are
    /// dropped. What a program appends to the file breaks no promise.
    ///
    /// `OpenOptions::via` also maps the files that such a file names, by external links and in virtual
    /// datasets. The promise is about them, too. `OpenOptions::confined_to` limits them to a folder.
    pub const unsafe fn promised() -> Self {
        Self(())
    }
}

/// A file mapped into memory, for reading.
///
/// ```
/// use std::sync::Arc;
/// use hyperslab::{File, driver::{Mapped, Posix, Unchanged}};
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("climate.h5");
/// File::create(&path)?.close()?;
/// // SAFETY: only this program knows the new folder, and it does not open the file to change it.
/// let unchanged = unsafe { Unchanged::promised() };
/// let file = File::options().open_on(Arc::new(Mapped::new(Arc::new(Posix::open(&path)?), unchanged)?))?;
/// assert!(file.root().is_empty()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Mapped {
    file: Arc<Posix>,
    map: Mmap,
}

impl Mapped {
    /// Maps all bytes that `file` has now. What is appended later is not seen.
    pub fn new(file: Arc<Posix>, _: Unchanged) -> io::Result<Self> {
        // SAFETY: by the promise, no program writes to the file or shortens it while the mapping exists.
        let map = unsafe { Mmap::map(file.as_file()) }?;
        Ok(Self { file, map })
    }

    /// Fails if the file has become shorter than the mapping.
    fn check(&self) -> io::Result<()> {
        if self.file.len()? >= self.map.len() as u64 {
            return Ok(());
        }
        let why = "the file was cut short while it was mapped into memory";
        Err(io::Error::new(io::ErrorKind::UnexpectedEof, why))
    }

    /// Returns the bytes from `offset` on, `len` of them.
    fn slice(&self, offset: u64, len: usize) -> io::Result<&[u8]> {
        let start = usize::try_from(offset).map_err(|_| io::ErrorKind::UnexpectedEof)?;
        let end = start.checked_add(len).ok_or(io::ErrorKind::UnexpectedEof)?;
        self.map.get(start..end).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

impl Driver for Mapped {
    fn len(&self) -> io::Result<u64> {
        Ok(self.map.len() as u64)
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()> {
        self.check()?;
        dst.copy_from_slice(self.slice(offset, dst.len())?);
        Ok(())
    }

    fn flush(&self, _: bool) -> io::Result<()> {
        Ok(())
    }

    fn read_many(&self, queue: &mut dyn ReadQueue) -> io::Result<()> {
        self.check()?;
        while let Some(request) = queue.next() {
            queue.place(request.id)?.copy_from_slice(self.slice(request.offset, request.len)?);
            queue.arrived(request.id);
        }
        Ok(())
    }

    fn capabilities(&self) -> Capabilities<'_> {
        let hints = Hints { coalesce_gap: 0, max_span: u64::MAX, queue_depth: 1, concurrent: true };
        Capabilities { memory: Some(self), lock: Some(&*self.file), ..Capabilities::new("mmap", hints) }
    }
}

impl InMemory for Mapped {
    fn bytes(&self) -> io::Result<Option<&[u8]>> {
        self.check()?;
        Ok(Some(&self.map))
    }
}
