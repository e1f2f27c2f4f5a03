//! A build without MPI.

use std::io::Write;

use super::Args;
use crate::error::Usage;

/// How to get the APIs of MPI.
pub(super) const HOW: &str = "this program is built without MPI; `cargo install hyperslab-cli --features mpi` \
                              builds one with it, which needs an MPI and libclang, and is started by mpirun";

/// Says that mpirun starts the command as often as there are ranks, and each would measure alone.
pub(super) fn run(_args: &Args, _out: &mut dyn Write) -> anyhow::Result<u8> {
    Err(Usage(format!("started by mpirun, but {HOW}. Without mpirun the command starts processes itself"))
        .into())
}
