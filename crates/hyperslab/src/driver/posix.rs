//! A file on a POSIX file system, through positioned reads and writes: no seek pointer, and the advisory lock that libhdf5
//! takes.

use std::env;
use std::fs::{self, OpenOptions, TryLockError};
use std::io;
#[cfg(target_os = "linux")]
use std::io::IoSliceMut;
#[cfg(target_os = "linux")]
use std::num::NonZeroU64;
use std::os::unix::fs::{FileExt, MetadataExt as _};
use std::path::Path;

#[cfg(target_os = "linux")]
use rustix::fs::{Advice, FallocateFlags};
#[cfg(target_os = "linux")]
use rustix::io::{Errno, ReadWriteFlags};

use super::{Driver, Hints};

/// An open file.
#[derive(Debug)]
pub struct Posix {
    file: fs::File,
}

/// What to do about a file that is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Create {
    /// It must be there.
    No,
    /// It is made if it is not there.
    IfMissing,
    /// It must not be there.
    New,
}

/// Whether a file is locked while it is open. The environment variable `HDF5_USE_FILE_LOCKING` has the last word, as in
/// libhdf5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Locking {
    /// Where its file system has locks.
    #[default]
    BestEffort,
    /// Always: a file system without locks is an error.
    Required,
    /// Never.
    No,
}

impl Posix {
    /// Opens an existing file for reading, which others may do at the same time.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::open_locking(path, Locking::default())
    }

    /// As [`open`](Self::open), with or without a lock.
    pub fn open_locking(path: &Path, locking: Locking) -> io::Result<Self> {
        let file = fs::File::open(path)?;
        // A directory opens, and fails only at the first read, with a message that names no cause.
        if file.metadata()?.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
        }
        lock(&file, locking, fs::File::try_lock_shared, "another program has it open for writing")?;
        Ok(Self { file })
    }

    /// Opens a file for reading and writing, which nobody else may do at the same time. Its contents stay.
    pub fn open_writable(path: &Path, create: Create) -> io::Result<Self> {
        Self::open_writable_locking(path, create, Locking::default())
    }

    /// As [`open_writable`](Self::open_writable), with or without a lock.
    pub fn open_writable_locking(path: &Path, create: Create, locking: Locking) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        match create {
            Create::No => {}
            Create::IfMissing => _ = options.create(true),
            Create::New => _ = options.create_new(true),
        }
        let file = options.open(path)?;
        lock(&file, locking, fs::File::try_lock, "another program has it open")?;
        Ok(Self { file })
    }

    /// Whether the file has this path.
    pub(super) fn is_at(&self, path: &Path) -> bool {
        let known = |found: &fs::Metadata| (found.dev(), found.ino());
        matches!((fs::symlink_metadata(path), self.file.metadata()), (Ok(there), Ok(here)) if known(&there) == known(&here))
    }

    /// Says who may read and write the file.
    pub(super) fn set_permissions(&self, permissions: fs::Permissions) -> io::Result<()> {
        self.file.set_permissions(permissions)
    }

    /// The driver of a file opened by the caller, with what access and lock it has.
    pub fn new(file: fs::File) -> Self {
        Self { file }
    }
}

/// Takes the lock that libhdf5 would take, unless the user's environment says not to, or the file system has none.
fn lock(
    file: &fs::File,
    locking: Locking,
    take: impl FnOnce(&fs::File) -> Result<(), TryLockError>,
    held: &'static str,
) -> io::Result<()> {
    let locking = match env::var("HDF5_USE_FILE_LOCKING").map(|value| value.to_uppercase()).as_deref() {
        Ok("FALSE" | "0") => Locking::No,
        Ok("TRUE" | "1") => Locking::Required,
        Ok("BEST_EFFORT") => Locking::BestEffort,
        _ => locking,
    };
    if locking == Locking::No {
        return Ok(());
    }
    match take(file) {
        Err(TryLockError::WouldBlock) => {
            let why =
                format!("unable to lock the file: {held} (HDF5_USE_FILE_LOCKING=FALSE does without locks)");
            Err(io::Error::new(io::ErrorKind::WouldBlock, why))
        }
        Err(TryLockError::Error(error)) if locking == Locking::Required => Err(error),
        // File systems without locks.
        Err(TryLockError::Error(_)) | Ok(()) => Ok(()),
    }
}

impl Driver for Posix {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    #[cfg(not(target_os = "linux"))]
    fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(dst, offset)
    }

    /// Without the C library, whose `pread` is a cancellation point: that costs a tenth of a read of a few hundred bytes.
    #[cfg(target_os = "linux")]
    fn read_at(&self, mut offset: u64, mut dst: &mut [u8]) -> io::Result<()> {
        while !dst.is_empty() {
            match rustix::io::pread(&self.file, &mut *dst, offset) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => {
                    dst = &mut dst[read..];
                    offset += read as u64;
                }
                Err(Errno::INTR) => {}
                // A file that only a library put before the C library knows: a file system outside the kernel.
                Err(Errno::BADF) => return self.file.read_exact_at(dst, offset),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn write_at(&self, offset: u64, src: &[u8]) -> io::Result<()> {
        self.file.write_all_at(src, offset)
    }

    fn reserve(&self, offset: u64, len: u64) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        if let Err(error) = rustix::fs::fallocate(&self.file, FallocateFlags::KEEP_SIZE, offset, len)
            && matches!(error, Errno::NOSPC | Errno::DQUOT | Errno::FBIG)
        {
            return Err(error.into());
        }
        Ok(())
    }

    /// A file of that length is left alone: ext4 sends a file that was ever cut to nothing to the disk when it is closed, and
    /// the program waits, even if there was nothing to cut.
    fn set_len(&self, len: u64) -> io::Result<()> {
        if self.len()? == len { Ok(()) } else { self.file.set_len(len) }
    }

    /// `sync_data` also makes a changed length durable; closing adds times and permissions.
    fn flush(&self, closing: bool) -> io::Result<()> {
        if closing { self.file.sync_all() } else { self.file.sync_data() }
    }

    #[cfg(target_os = "linux")]
    fn is_at_hand(&self, offset: u64) -> bool {
        let read =
            rustix::io::preadv2(&self.file, &mut [IoSliceMut::new(&mut [0])], offset, ReadWriteFlags::NOWAIT);
        read != Err(Errno::AGAIN)
    }

    #[cfg(target_os = "linux")]
    fn prefetch(&self, offset: u64, len: u64) {
        let Some(len) = NonZeroU64::new(len) else { return };
        // A file that takes no advice is read without.
        let _ = rustix::fs::fadvise(&self.file, offset, Some(len), Advice::WillNeed);
    }

    fn hints(&self) -> Hints {
        // A system call costs about as much as copying 8 KiB out of the page cache, a request to a disk as much as 16 KiB of
        // its bandwidth: docs/io-hints.md.
        Hints { coalesce_gap: 8 << 10, prefetch_gap: 16 << 10, max_span: 4 << 20, concurrent: true }
    }
}
