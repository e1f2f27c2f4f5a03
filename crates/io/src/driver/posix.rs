//! A file of the system, with positioned reads and writes (no seek pointer) and the lock that libhdf5 takes.

use std::env;
use std::fs::{self, OpenOptions, TryLockError};
use std::io;
#[cfg(target_os = "linux")]
use std::io::{IoSlice, IoSliceMut};
#[cfg(target_os = "linux")]
use std::num::NonZeroU64;
use std::path::Path;

#[cfg(target_os = "linux")]
use rustix::fs::{Advice, FallocateFlags};
#[cfg(target_os = "linux")]
use rustix::io::{Errno, ReadWriteFlags};

use super::ahead::{Medium, QUEUE_DEPTH, read_ahead};
use super::{Capabilities, Driver, Hints, HoldsLock, ReadQueue, holders};
#[cfg(target_os = "linux")]
use super::{ReservesSpace, WriteRequest};
use crate::{os, process};

/// An open file.
///
/// ```
/// use std::sync::Arc;
/// use hyperslab::{File, driver::Posix};
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("climate.h5");
/// File::create(&path)?.close()?;
/// let file = File::options().open_on(Arc::new(Posix::open(&path)?))?;
/// assert!(file.root().is_empty()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Posix {
    file: fs::File,
    is_writable: bool,
    /// The most fetches of one call in progress at a time.
    queue_depth: usize,
    /// The number of [forks](crate::process::forks) in the process when it took the lock.
    locked_by: Option<u32>,
}

/// How to open a file for writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Create {
    /// The file must exist.
    No,
    /// The file is created if it does not exist.
    IfMissing,
    /// The file must not exist and is created.
    New,
}

/// Whether a file is locked while it is open. The environment variable `HDF5_USE_FILE_LOCKING` overrides
/// this, as in libhdf5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Locking {
    /// Locked if its file system supports locks.
    #[default]
    BestEffort,
    /// Always locked. A file system without locks is an error.
    Required,
    /// Never locked.
    No,
}

impl Posix {
    /// A system call costs about as much as copying 8 KiB from the page cache; see docs/io-hints.md.
    pub(super) const HINTS: Hints =
        Hints { coalesce_gap: 8 << 10, max_span: 4 << 20, queue_depth: QUEUE_DEPTH, concurrent: true };

    /// Opens an existing file for reading. Other programs may read it at the same time.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        Self::open_unlocked(path)?.locked(Locking::default())
    }

    /// Opens a file for reading and writing, with its contents unchanged. No other program may open it at the
    /// same time.
    pub fn open_writable(path: impl AsRef<Path>, create: Create) -> io::Result<Self> {
        let path = path.as_ref();
        Self::open_writable_unlocked(path, create)?.locked(Locking::default())
    }

    /// Does the same as [`open`](Self::open) without a lock.
    #[doc(hidden)]
    pub fn open_unlocked(path: &Path) -> io::Result<Self> {
        let file = fs::File::open(path).map_err(|error| unless_folder(path, error))?;
        // On Unix, opening a directory succeeds, and the first read fails with a message that does not name
        // the cause.
        if file.metadata()?.is_dir() {
            return Err(is_folder());
        }
        Ok(Self::new(file))
    }

    /// Opens a file that another file names, for reading, without a lock. The file must be a regular one.
    pub(super) fn open_regular(path: &Path) -> io::Result<Self> {
        check_regular(path)?;
        Self::open_unlocked(path)
    }

    /// Does the same as [`open_writable`](Self::open_writable) without a lock.
    #[doc(hidden)]
    pub fn open_writable_unlocked(path: &Path, create: Create) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        match create {
            Create::No => {}
            Create::IfMissing => _ = options.create(true),
            Create::New => _ = options.create_new(true),
        }
        let mut opened = Self::new(options.open(path).map_err(|error| unless_folder(path, error))?);
        opened.is_writable = true;
        Ok(opened)
    }

    /// Returns whether `path` names this file without a symbolic link.
    pub(super) fn is_at(&self, path: &Path) -> bool {
        matches!((os::identity_of_link(path), self.identity()), (Ok(there), Ok(here)) if there == here)
    }

    /// Sets the permissions of the file.
    pub(super) fn set_permissions(&self, permissions: fs::Permissions) -> io::Result<()> {
        self.file.set_permissions(permissions)
    }

    /// Returns the driver for a file that the caller opened, with the access and lock that it has.
    pub fn new(file: fs::File) -> Self {
        Self { file, is_writable: false, queue_depth: QUEUE_DEPTH, locked_by: None }
    }

    /// Takes the lock that libhdf5 would take: shared for reading, exclusive for writing. If the file system
    /// has no locks, continues without one, unless a lock is required.
    ///
    /// Errors: `WouldBlock`, with the name of the process that holds the lock if the system provides it.
    #[doc(hidden)]
    pub fn locked(mut self, locking: Locking) -> io::Result<Self> {
        let locking = locking.effective();
        if locking == Locking::No {
            return Ok(self);
        }
        let taken = if self.is_writable { self.file.try_lock() } else { self.file.try_lock_shared() };
        match taken {
            Ok(()) => self.locked_by = Some(process::forks()),
            Err(TryLockError::WouldBlock) => return Err(self.is_locked_by_others()),
            Err(TryLockError::Error(error)) if locking == Locking::Required => return Err(error),
            // The file system has no locks.
            Err(TryLockError::Error(_)) => {}
        }
        Ok(self)
    }

    /// Returns the open file.
    pub(super) fn as_file(&self) -> &fs::File {
        &self.file
    }

    /// Sets the most fetches of one call that are in progress at a time.
    #[doc(hidden)]
    #[must_use]
    pub fn with_queue_depth(mut self, queue_depth: usize) -> Self {
        self.queue_depth = queue_depth.max(1);
        self
    }

    /// Returns the numbers by which the system knows the file. Two paths with equal numbers name the same
    /// file.
    #[doc(hidden)]
    pub fn identity(&self) -> io::Result<(u64, u64)> {
        os::identity(&self.file)
    }

    /// Returns the names of other processes that have the file open for writing, with a lock or without. Sees
    /// only what the system shows: nothing outside Linux, and no processes of other users.
    #[doc(hidden)]
    pub fn writers(&self) -> Option<String> {
        self.identity().ok().and_then(holders::writers)
    }

    fn is_locked_by_others(&self) -> io::Error {
        let who = holders::names(self.identity().unwrap_or_default());
        let has = if self.is_writable { "has it open" } else { "has it open for writing" };
        let why = format!(
            "unable to lock the file: {who} {has}; wait until it closes the file (locking=False or \
             HDF5_USE_FILE_LOCKING=FALSE opens it without a lock, but a reader may see half-made changes and two \
             writers destroy it)"
        );
        io::Error::new(io::ErrorKind::WouldBlock, why)
    }

    /// Writes requests that are contiguous in the file.
    #[cfg(target_os = "linux")]
    fn write_joined(&self, run: &[WriteRequest<'_>]) -> io::Result<()> {
        let mut slices: Vec<IoSlice<'_>> = run.iter().map(|request| IoSlice::new(request.src)).collect();
        let (mut slices, mut offset) = (&mut slices[..], run.first().map_or(0, |request| request.offset));
        // Drop empty slices at the front: a write of zero bytes would look like a full disk.
        IoSlice::advance_slices(&mut slices, 0);
        while !slices.is_empty() {
            match rustix::io::pwritev(&self.file, slices, offset) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    IoSlice::advance_slices(&mut slices, written);
                    offset += written as u64;
                }
                Err(Errno::INTR) => {}
                // See `read_at`.
                Err(Errno::BADF) => {
                    return run.iter().try_for_each(|request| self.write_at(request.offset, request.src));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// Refuses a path of something else than a regular file. This is done before opening: opening a pipe would
/// wait for its other end.
pub(super) fn check_regular(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
        }
        _ => Ok(()),
    }
}

/// Returns the error of opening a path, which some systems do not say to be that of a folder.
fn unless_folder(path: &Path, error: io::Error) -> io::Error {
    if path.is_dir() { is_folder() } else { error }
}

fn is_folder() -> io::Error {
    io::Error::new(io::ErrorKind::IsADirectory, "it is a directory")
}

/// The number of slices that Linux accepts in one call (`IOV_MAX`).
#[cfg(target_os = "linux")]
const MAX_SLICES: usize = 1024;

impl Locking {
    /// Returns the setting after applying the environment variable.
    #[must_use]
    pub fn effective(self) -> Self {
        match env::var("HDF5_USE_FILE_LOCKING").map(|value| value.to_uppercase()).as_deref() {
            Ok("FALSE" | "0") => Self::No,
            Ok("TRUE" | "1") => Self::Required,
            Ok("BEST_EFFORT") => Self::BestEffort,
            _ => self,
        }
    }
}

/// A forked child shares the open file and its lock. Unlocking here keeps the lock from lasting until the
/// child ends. The child itself does not release the parent's lock.
impl Drop for Posix {
    fn drop(&mut self) {
        if self.locked_by == Some(process::forks()) {
            // If this fails, closing the file unlocks it.
            let _ = self.file.unlock();
        }
    }
}

impl Driver for Posix {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    #[cfg(not(target_os = "linux"))]
    fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()> {
        os::read_exact_at(&self.file, offset, dst)
    }

    /// Bypasses the C library, whose `pread` is a cancellation point. That would cost a tenth of a read of a
    /// few hundred bytes.
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
                // Only a library that intercepts the C library knows this descriptor, for example a file
                // system in user space.
                Err(Errno::BADF) => return os::read_exact_at(&self.file, offset, dst),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn write_at(&self, offset: u64, src: &[u8]) -> io::Result<()> {
        os::write_all_at(&self.file, offset, src)
    }

    /// Writes that are contiguous in the file take one call.
    #[cfg(target_os = "linux")]
    fn write_batch(&self, requests: &[WriteRequest<'_>]) -> io::Result<()> {
        let follows = |a: &WriteRequest<'_>, b: &WriteRequest<'_>| {
            a.offset.checked_add(a.src.len() as u64) == Some(b.offset)
        };
        let runs = requests.chunk_by(follows).flat_map(|run| run.chunks(MAX_SLICES));
        runs.into_iter().try_for_each(|run| match run {
            [one] => self.write_at(one.offset, one.src),
            run => self.write_joined(run),
        })
    }

    /// Leaves a file with this length unchanged. ext4 writes a file that was ever truncated to zero to the
    /// disk when it is closed, and the program waits for that, even if the file was empty before.
    fn set_len(&self, len: u64) -> io::Result<()> {
        if self.len()? == len { Ok(()) } else { self.file.set_len(len) }
    }

    /// `sync_data` also makes a changed length durable. Closing needs no flush, because the system loses
    /// nothing when a file is closed.
    fn flush(&self, closing: bool) -> io::Result<()> {
        if closing { Ok(()) } else { self.file.sync_data() }
    }

    fn read_many(&self, queue: &mut dyn ReadQueue) -> io::Result<()> {
        read_ahead(self, queue)
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            // Windows fills gaps with zeros.
            is_sparse: cfg!(unix),
            #[cfg(target_os = "linux")]
            space: Some(self),
            lock: Some(self),
            ..Capabilities::new("posix", Hints { queue_depth: self.queue_depth, ..Self::HINTS })
        }
    }
}

#[cfg(target_os = "linux")]
impl ReservesSpace for Posix {
    fn reserve(&self, offset: u64, len: u64) -> io::Result<()> {
        if let Err(error) = rustix::fs::fallocate(&self.file, FallocateFlags::KEEP_SIZE, offset, len)
            && matches!(error, Errno::NOSPC | Errno::DQUOT | Errno::FBIG)
        {
            return Err(error.into());
        }
        Ok(())
    }
}

impl HoldsLock for Posix {
    fn unlock(&self) -> io::Result<()> {
        if self.locked_by == Some(process::forks()) { self.file.unlock() } else { Ok(()) }
    }
}

impl Medium for Posix {
    #[cfg(target_os = "linux")]
    fn read_now(&self, offset: u64, dst: &mut [u8]) -> Option<usize> {
        match rustix::io::preadv2(&self.file, &mut [IoSliceMut::new(dst)], offset, ReadWriteFlags::NOWAIT) {
            Ok(read) => Some(read),
            Err(Errno::AGAIN) => Some(0),
            // The file system does not support the request.
            Err(_) => None,
        }
    }

    #[cfg(target_os = "linux")]
    fn fetch(&self, offset: u64, len: u64) {
        let Some(len) = NonZeroU64::new(len) else { return };
        // A file that does not accept the advice is read without it.
        let _ = rustix::fs::fadvise(&self.file, offset, Some(len), Advice::WillNeed);
    }
}
