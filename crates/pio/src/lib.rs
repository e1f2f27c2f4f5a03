//! Measures how fast several processes write and read files together, raw and as HDF5.
//!
//! `plan` says which cases there are and which bytes a process has, `access` the ways to move them. `measure`
//! is what every rank does. `processes` starts the program again for each rank, `worker` is such a process,
//! and `sockets` are its messages; `mpi` has the ranks of MPI instead.

#![cfg(unix)]
#![forbid(unsafe_code)]

mod access;
mod error;
mod folder;
mod measure;
mod message;
#[cfg(feature = "mpi")]
mod mpi;
#[cfg(not(feature = "mpi"))]
#[path = "no_mpi.rs"]
mod mpi;
mod pattern;
mod plan;
mod processes;
mod run;
mod sockets;
mod worker;

pub use access::Api;
pub use error::WrongArgument;
pub use measure::{Phases, Timed};
pub use plan::{Plan, TransferCase, doublings};
pub use processes::Program;
pub use run::{Results, Run, is_launched, run};
pub use worker::work;
