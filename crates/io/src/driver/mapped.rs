//! A file whose bytes are in the memory of the process: the kernel fills pages as they are used.
//!
//! # Soundness
//!
//! A mapping shows what other processes write to the file. hyperslab copies or decodes its bytes and trusts
//! none of them, as with any medium; locks keep well-behaved writers out. A file that becomes shorter takes
//! its pages along: a process that then reads them is killed (SIGBUS). A read that begins after the file was
//! cut is an error instead, because every read compares the lengths first.

use std::io;
use std::sync::Arc;

use memmap2::Mmap;

use super::{Driver, DriverInfo, Hints, Posix, ReadQueue};

/// A file mapped into memory, for reading.
///
/// ```
/// use std::sync::Arc;
/// use hyperslab::{File, driver::{Mapped, Posix}};
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("climate.h5");
/// File::create(&path)?.close()?;
/// let file = File::options().open_on(Arc::new(Mapped::new(Arc::new(Posix::open(&path)?))?))?;
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
    pub fn new(file: Arc<Posix>) -> io::Result<Self> {
        // SAFETY: see the head of this file.
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

    fn bytes(&self) -> io::Result<Option<&[u8]>> {
        self.check()?;
        Ok(Some(&self.map))
    }

    fn unlock(&self) -> io::Result<()> {
        self.file.unlock()
    }

    fn hints(&self) -> Hints {
        Hints { coalesce_gap: 0, max_span: u64::MAX, queue_depth: 1, concurrent: true }
    }

    fn info(&self) -> DriverInfo {
        DriverInfo::new("mmap")
    }
}
