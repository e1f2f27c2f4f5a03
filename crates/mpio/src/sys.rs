//! The calls of MPI, as safe functions. All unsafe code of the crate is here.
//!
//! 1. Every call that needs a running MPI is made by a thread that has a [`Turn`].
//! 2. A communicator or file is freed once, by the value that owns it.
//! 3. Memory that MPI reads or writes is a slice that is borrowed during the call, and the counts that MPI
//!    gets are no larger than the slice. The address of an empty slice is 1 in Rust, which is `MPI_IN_PLACE`
//!    for some libraries: [`from`] and [`to`] give another one.

#![allow(unsafe_code, reason = "the functions of MPI are those of C")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hyperslab::driver::Create;
use mpi::environment::{is_finalized, is_initialized, threading_support};
use mpi::traits::Communicator;
use mpi::{Count, Threading, ffi};

/// The right of this thread to call MPI.
struct Turn {
    /// Held where calls must not be made at the same time.
    _alone: Option<MutexGuard<'static, ()>>,
}

impl Turn {
    /// Errors: MPI is not running, or its level of threads does not let this thread call it.
    fn take() -> io::Result<Self> {
        static ALONE: Mutex<()> = Mutex::new(());
        if !is_initialized() || is_finalized() {
            let why = "MPI is not running: initialize it before, and close files before it ends";
            return Err(io::Error::new(io::ErrorKind::NotConnected, why));
        }
        let alone = match threading_support() {
            Threading::Multiple => None,
            Threading::Serialized => Some(ALONE.lock().unwrap_or_else(PoisonError::into_inner)),
            Threading::Single | Threading::Funneled if is_main()? => None,
            Threading::Single | Threading::Funneled => {
                let why = "MPI was initialized for its main thread, and this is another: initialize it with \
                           `initialize_with_threading(Threading::Multiple)` or `Threading::Serialized`";
                return Err(io::Error::other(why));
            }
        };
        Ok(Self { _alone: alone })
    }
}

/// Returns whether threads may call MPI at the same time.
pub(crate) fn is_for_threads() -> bool {
    is_initialized() && !is_finalized() && threading_support() == Threading::Multiple
}

/// Returns whether this thread initialized MPI.
fn is_main() -> io::Result<bool> {
    let mut is_main = 0;
    // SAFETY: MPI is initialized; any thread may ask this. The address is that of a local variable.
    check(unsafe { ffi::MPI_Is_thread_main(&raw mut is_main) })?;
    Ok(is_main != 0)
}

/// A communicator of this crate.
#[derive(Debug)]
pub(crate) struct Comm(ffi::MPI_Comm);

// SAFETY: a handle is a value that any thread may pass to MPI, if it has a `Turn`, as every function has.
unsafe impl Send for Comm {}
// SAFETY: the same; MPI's own state of a communicator is safe to use from threads at the level that `Turn`
// looks at.
unsafe impl Sync for Comm {}

impl Comm {
    pub(crate) fn duplicate(of: &impl Communicator) -> io::Result<Self> {
        let _turn = Turn::take()?;
        let of = of.as_raw();
        let mut is_inter = 0;
        // SAFETY: `of` is a live communicator, since its owner is borrowed.
        check(unsafe { ffi::MPI_Comm_test_inter(of, &raw mut is_inter) })?;
        if is_inter != 0 {
            let why = "a communicator of two groups has no common ranks: merge it first";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        // SAFETY: constants of the library, which never change.
        let (null, returning) = unsafe { (ffi::RSMPI_COMM_NULL, ffi::RSMPI_ERRORS_RETURN) };
        let mut own = null;
        // SAFETY: as above; `own` is written if the call succeeds.
        check(unsafe { ffi::MPI_Comm_dup(of, &raw mut own) })?;
        let own = Self(own);
        // SAFETY: the communicator was just made.
        check(unsafe { ffi::MPI_Comm_set_errhandler(own.0, returning) })?;
        Ok(own)
    }

    pub(crate) fn rank(&self) -> io::Result<usize> {
        let (_turn, mut rank) = (Turn::take()?, 0);
        // SAFETY: the communicator is live (2).
        check(unsafe { ffi::MPI_Comm_rank(self.0, &raw mut rank) })?;
        usize::try_from(rank).map_err(|_| io::ErrorKind::InvalidData.into())
    }

    pub(crate) fn size(&self) -> io::Result<usize> {
        let (_turn, mut size) = (Turn::take()?, 0);
        // SAFETY: the communicator is live (2).
        check(unsafe { ffi::MPI_Comm_size(self.0, &raw mut size) })?;
        usize::try_from(size).map_err(|_| io::ErrorKind::InvalidData.into())
    }

    /// Returns the numbers of all ranks.
    pub(crate) fn all_gather_numbers(&self, mine: u64) -> io::Result<Vec<u64>> {
        let mut all = vec![0_u64; self.size()?];
        let _turn = Turn::take()?;
        // SAFETY: one number is sent, and one of each rank arrives in an array of as many (3).
        check(unsafe {
            let kind = ffi::RSMPI_UINT64_T;
            ffi::MPI_Allgather((&raw const mine).cast(), 1, kind, all.as_mut_ptr().cast(), 1, kind, self.0)
        })?;
        Ok(all)
    }

    /// Returns the bytes of all ranks, one after another. `counts` are their numbers on each rank.
    pub(crate) fn all_gather(&self, mine: &[u8], counts: &[Count]) -> io::Result<Vec<u8>> {
        let (starts, len) = starts(counts)?;
        let (mut all, own) = (vec![0_u8; len], count(mine.len())?);
        self.check_ranks(counts.len())?;
        let _turn = Turn::take()?;
        // SAFETY: `counts` and `starts` have a number for each rank, and their ranges are inside `all` (3).
        check(unsafe {
            let (kind, all) = (ffi::RSMPI_UINT8_T, to(&mut all));
            let (counts, starts) = (counts.as_ptr(), starts.as_ptr());
            ffi::MPI_Allgatherv(from(mine), own, kind, all, counts, starts, kind, self.0)
        })?;
        Ok(all)
    }

    /// Sends a number to each rank. Returns those that came.
    pub(crate) fn exchange_numbers(&self, to: &[u64]) -> io::Result<Vec<u64>> {
        self.check_ranks(to.len())?;
        let mut all = vec![0_u64; to.len()];
        let _turn = Turn::take()?;
        // SAFETY: both arrays have a number for each rank (3).
        check(unsafe {
            let (kind, all) = (ffi::RSMPI_UINT64_T, all.as_mut_ptr().cast());
            ffi::MPI_Alltoall(to.as_ptr().cast(), 1, kind, all, 1, kind, self.0)
        })?;
        Ok(all)
    }

    /// Sends bytes to each rank, which are one after another. Returns those that came, one after another.
    pub(crate) fn exchange(
        &self,
        sent: &[u8],
        to_counts: &[Count],
        from_counts: &[Count],
    ) -> io::Result<Vec<u8>> {
        let ((to_starts, to_len), (from_starts, from_len)) = (starts(to_counts)?, starts(from_counts)?);
        if to_len != sent.len() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.check_ranks(to_counts.len())?;
        self.check_ranks(from_counts.len())?;
        let mut came = vec![0_u8; from_len];
        let _turn = Turn::take()?;
        // SAFETY: there is a count and a start for each rank; their ranges are inside `sent` and `came` (3).
        check(unsafe {
            ffi::MPI_Alltoallv(
                from(sent),
                to_counts.as_ptr(),
                to_starts.as_ptr(),
                ffi::RSMPI_UINT8_T,
                to(&mut came),
                from_counts.as_ptr(),
                from_starts.as_ptr(),
                ffi::RSMPI_UINT8_T,
                self.0,
            )
        })?;
        Ok(came)
    }

    /// Returns the greatest number of all ranks.
    pub(crate) fn greatest(&self, mine: u64) -> io::Result<u64> {
        let (_turn, mut greatest) = (Turn::take()?, 0_u64);
        // SAFETY: one number is sent, and one arrives (3).
        check(unsafe {
            let (mine, greatest) = ((&raw const mine).cast(), (&raw mut greatest).cast());
            ffi::MPI_Allreduce(mine, greatest, 1, ffi::RSMPI_UINT64_T, ffi::RSMPI_MAX, self.0)
        })?;
        Ok(greatest)
    }

    /// Errors unless there is one item for each rank, as MPI takes for granted.
    fn check_ranks(&self, items: usize) -> io::Result<()> {
        if items == self.size()? { Ok(()) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }
}

impl Drop for Comm {
    fn drop(&mut self) {
        // After MPI has ended there is nothing to free.
        if let Ok(_turn) = Turn::take() {
            // SAFETY: the communicator is live, and not used again (2).
            unsafe { ffi::MPI_Comm_free(&raw mut self.0) };
        }
    }
}

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write(Create),
}

/// An open file of MPI. Its view is that of bytes, from the first one on.
#[derive(Debug)]
pub(crate) struct FileHandle(ffi::MPI_File);

// SAFETY: as for `Comm`.
unsafe impl Send for FileHandle {}
// SAFETY: as for `Comm`.
unsafe impl Sync for FileHandle {}

impl FileHandle {
    /// Opens a file on all ranks of a communicator, or on this one only.
    pub(crate) fn open(on: Option<&Comm>, path: &Path, access: Access) -> io::Result<Self> {
        let name = CString::new(path.as_os_str().as_bytes())?;
        let mode = match access {
            Access::Read => ffi::MPI_MODE_RDONLY,
            Access::Write(Create::No) => ffi::MPI_MODE_RDWR,
            Access::Write(Create::IfMissing) => ffi::MPI_MODE_RDWR | ffi::MPI_MODE_CREATE,
            Access::Write(Create::New) => ffi::MPI_MODE_RDWR | ffi::MPI_MODE_CREATE | ffi::MPI_MODE_EXCL,
        };
        let _turn = Turn::take()?;
        // SAFETY: constants of the library, which never change.
        let (own, info, null, returning) = unsafe {
            (ffi::RSMPI_COMM_SELF, ffi::RSMPI_INFO_NULL, ffi::RSMPI_FILE_NULL, ffi::RSMPI_ERRORS_RETURN)
        };
        let mut handle = null;
        let comm = on.map_or(own, |comm| comm.0);
        // SAFETY: the communicator is live, and the name ends in a zero. `handle` is written if the call
        // succeeds. Errors of opening are returned, which is MPI's default.
        check(unsafe { ffi::MPI_File_open(comm, name.as_ptr(), mode.cast_signed(), info, &raw mut handle) })?;
        let handle = Self(handle);
        // SAFETY: the file was just opened.
        check(unsafe { ffi::MPI_File_set_errhandler(handle.0, returning) })?;
        Ok(handle)
    }

    pub(crate) fn len(&self) -> io::Result<u64> {
        let (_turn, mut len) = (Turn::take()?, 0);
        // SAFETY: the file is open (2).
        check(unsafe { ffi::MPI_File_get_size(self.0, &raw mut len) })?;
        u64::try_from(len).map_err(|_| io::ErrorKind::InvalidData.into())
    }

    pub(crate) fn set_len(&self, len: u64) -> io::Result<()> {
        let _turn = Turn::take()?;
        // SAFETY: the file is open (2).
        check(unsafe { ffi::MPI_File_set_size(self.0, position(len)?) })
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        let _turn = Turn::take()?;
        // SAFETY: the file is open (2).
        check(unsafe { ffi::MPI_File_sync(self.0) })
    }

    /// Reads up to `dst.len()` bytes, and returns their number.
    pub(crate) fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<usize> {
        self.move_at(offset, dst.len(), |handle, at, count, status| {
            let dst = to(dst);
            // SAFETY: `move_at` passes its open file, the length of `dst` as the count, and a status (3).
            unsafe { ffi::MPI_File_read_at(handle, at, dst, count, ffi::RSMPI_UINT8_T, status) }
        })
    }

    /// Writes up to `src.len()` bytes, and returns their number.
    pub(crate) fn write_at(&self, offset: u64, src: &[u8]) -> io::Result<usize> {
        self.move_at(offset, src.len(), |handle, at, count, status| {
            let src = from(src);
            // SAFETY: as in `read_at`.
            unsafe { ffi::MPI_File_write_at(handle, at, src, count, ffi::RSMPI_UINT8_T, status) }
        })
    }

    /// Does the same as [`read_at`](Self::read_at), as one of the ranks that opened the file.
    pub(crate) fn read_at_all(&self, offset: u64, dst: &mut [u8]) -> io::Result<usize> {
        self.move_at(offset, dst.len(), |handle, at, count, status| {
            let dst = to(dst);
            // SAFETY: as in `read_at`.
            unsafe { ffi::MPI_File_read_at_all(handle, at, dst, count, ffi::RSMPI_UINT8_T, status) }
        })
    }

    /// Does the same as [`write_at`](Self::write_at), as one of the ranks that opened the file.
    pub(crate) fn write_at_all(&self, offset: u64, src: &[u8]) -> io::Result<usize> {
        self.move_at(offset, src.len(), |handle, at, count, status| {
            let src = from(src);
            // SAFETY: as in `read_at`.
            unsafe { ffi::MPI_File_write_at_all(handle, at, src, count, ffi::RSMPI_UINT8_T, status) }
        })
    }

    /// Calls `transfer` with the file, the offset and the number of bytes. Returns how many have moved.
    fn move_at(
        &self,
        offset: u64,
        len: usize,
        transfer: impl FnOnce(ffi::MPI_File, ffi::MPI_Offset, Count, *mut ffi::MPI_Status) -> c_int,
    ) -> io::Result<usize> {
        let (at, whole) = (position(offset)?, count(len)?);
        // MPI does not check the sum.
        position(offset.saturating_add(len as u64))?;
        let _turn = Turn::take()?;
        let mut status = MaybeUninit::<ffi::MPI_Status>::zeroed();
        check(transfer(self.0, at, whole, status.as_mut_ptr()))?;
        let mut moved = 0;
        // SAFETY: the call has succeeded, and so written the status.
        check(unsafe { ffi::MPI_Get_count(status.as_ptr(), ffi::RSMPI_UINT8_T, &raw mut moved) })?;
        // An undefined count is negative.
        match usize::try_from(moved) {
            Ok(moved) if moved <= len => Ok(moved),
            _ => Err(io::Error::new(io::ErrorKind::InvalidData, "MPI does not tell how many bytes it moved")),
        }
    }

    /// Closes the file, on all ranks that opened it together.
    pub(crate) fn close(mut self) -> io::Result<()> {
        let _turn = Turn::take()?;
        // SAFETY: the file is open. After the call it is not, and `Drop` finds that.
        let closed = unsafe { ffi::MPI_File_close(&raw mut self.0) };
        // SAFETY: a constant of the library. A handle whose closing failed cannot be closed again.
        self.0 = unsafe { ffi::RSMPI_FILE_NULL };
        check(closed)
    }
}

impl Drop for FileHandle {
    fn drop(&mut self) {
        // SAFETY: a constant of the library.
        if self.0 == unsafe { ffi::RSMPI_FILE_NULL } {
            return;
        }
        // After MPI has ended there is nothing to close.
        if let Ok(_turn) = Turn::take() {
            // SAFETY: the file is open, and not used again (2).
            unsafe { ffi::MPI_File_close(&raw mut self.0) };
        }
    }
}

/// Returns the address of bytes that MPI reads.
fn from(bytes: &[u8]) -> *const c_void {
    if bytes.is_empty() { (&raw const NO_BYTES).cast() } else { bytes.as_ptr().cast() }
}

/// Returns the address of bytes that MPI writes.
fn to(bytes: &mut [u8]) -> *mut c_void {
    // Nothing is written through the address of no bytes.
    if bytes.is_empty() { (&raw const NO_BYTES).cast_mut().cast() } else { bytes.as_mut_ptr().cast() }
}

static NO_BYTES: u8 = 0;

/// Turns what a call returned into a result, with MPI's own words.
fn check(code: c_int) -> io::Result<()> {
    if code == ffi::MPI_SUCCESS.cast_signed() {
        return Ok(());
    }
    let (mut class, mut len) = (0, 0);
    let mut text = [0 as c_char; ffi::MPI_MAX_ERROR_STRING as usize + 1];
    // SAFETY: the text has as many bytes as MPI writes at most, and a zero after them. Both calls may be made
    // by any thread that got an error.
    let text = unsafe {
        ffi::MPI_Error_class(code, &raw mut class);
        ffi::MPI_Error_string(code, text.as_mut_ptr(), &raw mut len);
        CStr::from_ptr(text.as_ptr())
    };
    Err(io::Error::new(kind(class.cast_unsigned()), format!("MPI: {}", text.to_string_lossy())))
}

/// Returns the kind of error that a class of MPI's errors is.
fn kind(class: u32) -> io::ErrorKind {
    match class {
        ffi::MPI_ERR_NO_SUCH_FILE => io::ErrorKind::NotFound,
        ffi::MPI_ERR_FILE_EXISTS => io::ErrorKind::AlreadyExists,
        ffi::MPI_ERR_ACCESS => io::ErrorKind::PermissionDenied,
        ffi::MPI_ERR_READ_ONLY => io::ErrorKind::ReadOnlyFilesystem,
        ffi::MPI_ERR_NO_SPACE => io::ErrorKind::StorageFull,
        ffi::MPI_ERR_QUOTA => io::ErrorKind::QuotaExceeded,
        _ => io::ErrorKind::Other,
    }
}

/// Returns where each of several ranges starts, and their sum.
fn starts(counts: &[Count]) -> io::Result<(Vec<Count>, usize)> {
    let mut next = 0_i64;
    let mut starts = Vec::with_capacity(counts.len());
    for &count in counts {
        starts.push(Count::try_from(next).map_err(|_| too_long())?);
        next += i64::from(count.max(0));
    }
    // MPI must be able to count the whole, too.
    Ok((starts, usize::try_from(Count::try_from(next).map_err(|_| too_long())?).map_err(|_| too_long())?))
}

fn count(len: usize) -> io::Result<Count> {
    Count::try_from(len).map_err(|_| too_long())
}

fn position(offset: u64) -> io::Result<ffi::MPI_Offset> {
    let why = "an offset beyond those of MPI";
    ffi::MPI_Offset::try_from(offset).map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, why))
}

fn too_long() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "more bytes than one call of MPI can count")
}
