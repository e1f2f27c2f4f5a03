//! A file on a POSIX file system, through positioned reads and writes: no seek pointer, no lock.

use std::fs;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::{Driver, Hints};

/// An open file.
#[derive(Debug)]
pub struct Posix {
    file: fs::File,
}

impl Posix {
    /// Opens an existing file for reading.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = fs::File::open(path)?;
        // A directory opens, and fails only at the first read, with a message that names no cause.
        if file.metadata()?.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
        }
        Ok(Self { file })
    }

    /// The driver of a file opened by the caller, with what access it has.
    pub fn new(file: fs::File) -> Self {
        Self { file }
    }
}

impl Driver for Posix {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(dst, offset)
    }

    fn write_at(&self, offset: u64, src: &[u8]) -> io::Result<()> {
        self.file.write_all_at(src, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    /// `sync_data` also makes a changed length durable; closing adds times and permissions.
    fn flush(&self, closing: bool) -> io::Result<()> {
        if closing { self.file.sync_all() } else { self.file.sync_data() }
    }

    fn hints(&self) -> Hints {
        // A system call costs about as much as copying 8 KiB out of the page cache: docs/io-hints.md.
        Hints { coalesce_gap: 8 << 10, max_span: 4 << 20, concurrent: true }
    }
}
