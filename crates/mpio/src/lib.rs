//! HDF5 files that the ranks of a program of MPI write and read together: [hyperslab] over the MPI of the
//! machine, which the crate [mpi] finds and links.
//!
//! [`Communicator`] gives a file the messages of a communicator, and is all that most programs need: elements
//! are then written and read by the system's own calls. [`MpiFile`] reads and writes by MPI-IO instead, for
//! file systems that are fast or coherent only through the MPI library.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use hyperslab::filter::{Shuffle, Zstd};
//! use hyperslab::{File, Transfer, WriteOptions};
//! use hyperslab_mpio::Communicator;
//! use hyperslab_mpio::mpi::traits::Communicator as _;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let universe = mpi::initialize().ok_or("MPI is initialized already")?;
//! let world = universe.world();
//! let ranks = Arc::new(Communicator::new(&world)?);
//!
//! let file = File::options().create(true).truncate(true).ranks(ranks).open("climate.h5")?;
//! let rows = 365 * u64::try_from(world.size())?;
//! let new = file.root().new_dataset::<f32>("t2m").shape([rows, 720]).chunks([73, 720]);
//! let dataset = new.filter(Shuffle).filter(Zstd::default()).create()?;
//! let first = 365 * u64::try_from(world.rank())?;
//! let elements = vec![0; 365 * 720 * 4];
//! let together = WriteOptions::default().transfer(Transfer::Collective);
//! dataset.write_with([first..first + 365, 0..720], &elements, &together)?;
//! file.close()?;
//! # Ok(()) }
//! ```
//!
//! # Threads
//!
//! MPI says at its initialization which threads may call it. With `mpi::initialize` only the main thread may:
//! calls of other threads are errors here, and a file reads and writes on the thread that calls it. With
//! [`Threading::Serialized`](mpi::Threading::Serialized) the calls of this crate wait for each other, and the
//! program must not call MPI at the same time. With [`Threading::Multiple`](mpi::Threading::Multiple) nothing
//! waits.
//!
//! # Before MPI ends
//!
//! Close files and drop communicators before the `Universe` is dropped. Those that remain are not freed.

#![deny(unsafe_code)]

mod communicator;
mod file;
#[doc(hidden)]
pub mod raw;
mod sys;

pub use mpi;

pub use communicator::Communicator;
pub use file::MpiFile;
