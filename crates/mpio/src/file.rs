//! A file by MPI-IO.

use std::io;
use std::path::Path;
use std::sync::{PoisonError, RwLock};

use hyperslab::Ranks;
use hyperslab::driver::{Capabilities, Create, Driver, Hints};

use crate::sys::{self, Access, FileHandle};

/// A file that MPI reads and writes, for `OpenOptions::open_on`.
///
/// Each rank opens the file for itself, on `MPI_COMM_SELF`. So a rank reads, writes, changes the length and
/// closes without the others, as a file of hyperslab does.
///
/// **The file system has to be coherent.** MPI promises that a rank reads what another rank wrote through
/// another handle only after both have synchronised, which waits for the disk. hyperslab does not wait: it
/// writes, exchanges a message and reads. That holds where each read and write of MPI is one of the system,
/// and the system shows a write to all as soon as it returns, as POSIX says: local file systems, Lustre and
/// GPFS with their locks on. Bytes that were never written must be zeros. It does not hold on NFS, nor with
/// hints to the library that keep data back (`romio_no_indep_rw`, write-behind).
///
/// The file is not locked against other programs. A name with a colon has a meaning for some libraries
/// (`ufs:name`).
///
/// ```no_run
/// use std::sync::Arc;
///
/// use hyperslab::File;
/// use hyperslab::driver::Create;
/// use hyperslab_mpio::{Communicator, MpiFile};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let universe = mpi::initialize().ok_or("MPI is initialized already")?;
/// let ranks = Arc::new(Communicator::new(&universe.world())?);
/// let medium = MpiFile::open_together("climate.h5", Create::IfMissing, &*ranks)?;
/// let file = File::options().create(true).truncate(true).ranks(ranks).open_on(Arc::new(medium))?;
/// file.root().set_attribute("version", 3)?;
/// file.close()?;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct MpiFile {
    /// `None` after the last flush, which closes the file.
    handle: RwLock<Option<FileHandle>>,
    is_writable: bool,
    /// The most bytes of one call of MPI.
    most_bytes: usize,
}

impl MpiFile {
    /// Opens an existing file for reading, on this rank.
    ///
    /// Errors: those of MPI, with its own words; `NotConnected` if MPI is not running.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::new(path.as_ref(), Access::Read)
    }

    /// Opens a file for reading and writing, on this rank.
    pub fn open_writable(path: impl AsRef<Path>, create: Create) -> io::Result<Self> {
        Self::new(path.as_ref(), Access::Write(create))
    }

    /// Opens a file for reading and writing on all ranks: rank 0 creates it, and then the others open it. If
    /// one of them cannot, all return an error.
    pub fn open_together(path: impl AsRef<Path>, create: Create, ranks: &dyn Ranks) -> io::Result<Self> {
        let opened = match ranks.rank() {
            0 => Self::open_writable(&path, create).map(Some),
            _ => Ok(None),
        };
        let first = agree(opened, ranks)?;
        agree(first.map_or_else(|| Self::open_writable(&path, Create::No), Ok), ranks)
    }

    fn new(path: &Path, access: Access) -> io::Result<Self> {
        let handle = FileHandle::open(None, path, access)?;
        let is_writable = matches!(access, Access::Write(_));
        Ok(Self { handle: RwLock::new(Some(handle)), is_writable, most_bytes: MOST_BYTES })
    }

    /// Sets the most bytes of one call of MPI. For tests of transfers in several calls.
    #[doc(hidden)]
    #[must_use]
    pub fn with_most_bytes(mut self, bytes: usize) -> Self {
        self.most_bytes = bytes;
        self
    }

    fn with<R>(&self, f: impl FnOnce(&FileHandle) -> io::Result<R>) -> io::Result<R> {
        let handle = self.handle.read().unwrap_or_else(PoisonError::into_inner);
        let closed = || io::Error::other("the file was closed by its last flush: open it again");
        handle.as_ref().ok_or_else(closed).and_then(f)
    }

    fn check_writable(&self) -> io::Result<()> {
        let why = "the file was opened for reading";
        self.is_writable.then_some(()).ok_or_else(|| io::Error::new(io::ErrorKind::ReadOnlyFilesystem, why))
    }
}

/// Returns what this rank opened if all ranks have opened it.
fn agree<R>(opened: io::Result<R>, ranks: &dyn Ranks) -> io::Result<R> {
    let mine = opened.as_ref().err().map(ToString::to_string).unwrap_or_default();
    let told = ranks.all_gather(mine.as_bytes())?;
    let opened = opened?;
    match told.iter().position(|why| !why.is_empty()) {
        None => Ok(opened),
        Some(rank) => {
            let why = String::from_utf8_lossy(&told[rank]);
            Err(io::Error::other(format!("rank {rank} failed to open the file: {why}")))
        }
    }
}

impl Driver for MpiFile {
    fn len(&self) -> io::Result<u64> {
        self.with(FileHandle::len)
    }

    fn read_at(&self, mut offset: u64, mut dst: &mut [u8]) -> io::Result<()> {
        self.with(move |handle| {
            while !dst.is_empty() {
                let most = dst.len().min(self.most_bytes);
                let read = handle.read_at(offset, &mut dst[..most])?;
                if read == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                dst = &mut dst[read..];
                offset += read as u64;
            }
            Ok(())
        })
    }

    fn write_at(&self, mut offset: u64, mut src: &[u8]) -> io::Result<()> {
        self.check_writable()?;
        self.with(move |handle| {
            while !src.is_empty() {
                let most = src.len().min(self.most_bytes);
                let written = handle.write_at(offset, &src[..most])?;
                if written == 0 {
                    return Err(io::ErrorKind::WriteZero.into());
                }
                src = &src[written..];
                offset += written as u64;
            }
            Ok(())
        })
    }

    /// Leaves a file with this length unchanged, since some libraries wait for the disk to change it.
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.check_writable()?;
        self.with(|handle| if handle.len()? == len { Ok(()) } else { handle.set_len(len) })
    }

    /// The last flush closes the file, which passes on what the library has kept and reports its failure.
    /// `MPI_File_sync` before that would wait for the disk once more than the durability of the file asks
    /// for.
    fn flush(&self, closing: bool) -> io::Result<()> {
        if closing {
            let handle = self.handle.write().unwrap_or_else(PoisonError::into_inner).take();
            return handle.map_or(Ok(()), FileHandle::close);
        }
        if self.is_writable { self.with(FileHandle::sync) } else { Ok(()) }
    }

    fn capabilities(&self) -> Capabilities<'_> {
        // A call of MPI costs a little more than one of the system.
        let concurrent = sys::is_for_threads();
        let hints = Hints { coalesce_gap: 16 << 10, max_span: 4 << 20, queue_depth: 1, concurrent };
        Capabilities::new("mpiio", hints)
    }
}

/// The most bytes of one call, below the 2^31 that MPI can count.
const MOST_BYTES: usize = 1 << 30;
