//! The command `hyperslab`, as installed by the wheel.

use std::ffi::OsString;
use std::io;

use pyo3::prelude::*;

/// Runs the command `hyperslab` with these arguments, of which the first is the name of the program.
#[pyfunction]
pub(crate) fn run_cli(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| hyperslab_cli::run(args, &mut io::stdout().lock(), &mut io::stderr()))
}
