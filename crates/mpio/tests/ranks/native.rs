//! Functions of MPI in C, for tests: a communicator of two groups, and counted calls. A program may define a
//! function of MPI, and call the library's own by its name with a P.

#![allow(unsafe_code, reason = "functions of C")]

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

use hyperslab_mpio::mpi::ffi;
use hyperslab_mpio::mpi::topology::{Color, InterCommunicator};
use hyperslab_mpio::mpi::traits::{AsRaw as _, Communicator, FromRaw as _};

static SYNCS: AtomicUsize = AtomicUsize::new(0);
static CLOSES: AtomicUsize = AtomicUsize::new(0);
static FREES: AtomicUsize = AtomicUsize::new(0);
static MOVES: AtomicUsize = AtomicUsize::new(0);

/// The calls of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Calls {
    pub(crate) syncs: usize,
    pub(crate) closes: usize,
    pub(crate) frees: usize,
    /// Independent reads and writes.
    pub(crate) moves: usize,
}

/// Returns the calls that `work` makes.
pub(crate) fn calls(work: impl FnOnce()) -> Calls {
    let now = || [&SYNCS, &CLOSES, &FREES, &MOVES].map(|count| count.load(Ordering::SeqCst));
    let before = now();
    work();
    let after = now();
    let [syncs, closes, frees, moves] = std::array::from_fn(|which| after[which] - before[which]);
    Calls { syncs, closes, frees, moves }
}

/// Returns a communicator between the even and the odd ranks of another.
pub(crate) fn two_groups(of: &impl Communicator) -> InterCommunicator {
    let side = of.rank() % 2;
    let group = of.split_by_color(Color::with_value(side)).unwrap();
    // SAFETY: both communicators are live, and all ranks make the call. The new one belongs to the value.
    unsafe {
        let mut made = ffi::RSMPI_COMM_NULL;
        ffi::MPI_Intercomm_create(group.as_raw(), 0, of.as_raw(), 1 - side, 7, &raw mut made);
        InterCommunicator::from_raw(made)
    }
}

// SAFETY: the name is that of MPI's function, which this one replaces in this program.
#[unsafe(no_mangle)]
extern "C" fn MPI_File_sync(file: ffi::MPI_File) -> c_int {
    SYNCS.fetch_add(1, Ordering::SeqCst);
    // SAFETY: the caller has the duties of the function that it called.
    unsafe { ffi::PMPI_File_sync(file) }
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn MPI_File_close(file: *mut ffi::MPI_File) -> c_int {
    CLOSES.fetch_add(1, Ordering::SeqCst);
    // SAFETY: as above.
    unsafe { ffi::PMPI_File_close(file) }
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn MPI_Comm_free(comm: *mut ffi::MPI_Comm) -> c_int {
    FREES.fetch_add(1, Ordering::SeqCst);
    // SAFETY: as above.
    unsafe { ffi::PMPI_Comm_free(comm) }
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn MPI_File_read_at(
    file: ffi::MPI_File,
    offset: ffi::MPI_Offset,
    dst: *mut c_void,
    count: c_int,
    kind: ffi::MPI_Datatype,
    status: *mut ffi::MPI_Status,
) -> c_int {
    MOVES.fetch_add(1, Ordering::SeqCst);
    // SAFETY: as above.
    unsafe { ffi::PMPI_File_read_at(file, offset, dst, count, kind, status) }
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn MPI_File_write_at(
    file: ffi::MPI_File,
    offset: ffi::MPI_Offset,
    src: *const c_void,
    count: c_int,
    kind: ffi::MPI_Datatype,
    status: *mut ffi::MPI_Status,
) -> c_int {
    MOVES.fetch_add(1, Ordering::SeqCst);
    // SAFETY: as above.
    unsafe { ffi::PMPI_File_write_at(file, offset, src, count, kind, status) }
}
