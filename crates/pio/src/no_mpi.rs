//! A build without MPI.

use std::io::Write;

use hyperslab::internals::absent_in_wheels;

use super::Args;
use crate::error::Usage;

/// How to get the APIs of MPI.
pub(super) fn how() -> String {
    let absent = absent_in_wheels("does not have MPI", "mpi");
    format!("{absent}, which needs an MPI and libclang, and start it with mpirun")
}

/// Says that mpirun starts the command as often as there are ranks, and each would measure alone.
pub(super) fn run(_args: &Args, _out: &mut dyn Write) -> anyhow::Result<u8> {
    let how = how();
    Err(Usage(format!("started by mpirun, but {how}. Without mpirun the command starts processes itself"))
        .into())
}
