//! A build without MPI.

use hyperslab::internals::absent_in_wheels;

use crate::error::WrongArgument;
use crate::run::{OnResults, Run};

/// How to get the APIs of MPI.
pub(crate) fn how() -> String {
    let absent = absent_in_wheels("does not have MPI", "mpi");
    format!("{absent}, which needs an MPI and libclang, and start it with mpirun")
}

/// Says that mpirun starts the command as often as there are ranks, and each would measure alone.
pub(crate) fn run(_run: &Run<'_>, _report: OnResults<'_>) -> anyhow::Result<()> {
    let how = how();
    Err(WrongArgument(format!(
        "started by mpirun, but {how}. Without mpirun the command starts processes itself"
    ))
    .into())
}
