//! Runs the command `hyperslab`: one file for each command or kind of task.

mod check;
mod cli;
mod common;
mod copy;
mod diff;
mod failures;
#[cfg(unix)]
mod interrupts;
mod ls;
#[cfg(all(feature = "pio", unix))]
mod pio;
#[cfg(feature = "rows")]
mod query;
mod recover;
mod refs;
mod repack;
#[cfg(feature = "segy")]
mod segy;
mod shells;
#[cfg(feature = "tune")]
mod tune;
