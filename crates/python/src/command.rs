//! The command `hyperslab`, as installed by the wheel.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use arrow_array::RecordBatchReader;
use hyperslab_cli::Sql;
use pyo3::prelude::*;

use crate::arrow::Incoming;

/// Runs the command `hyperslab` in this process and returns its exit code.
///
/// The command writes to the standard output and the standard error of the process, not to `sys.stdout` and
/// `sys.stderr`. The GIL is released. An interrupt of Python (Ctrl-C) does not stop the command.
///
/// Args:
///     args: The arguments of the command. The first is the name of the program.
///
/// Returns:
///     The exit code: 0 for success, 1 for a failure on the file, 2 for wrong usage.
///
/// Example:
///     >>> from hyperslab._native import run_cli
///     >>> run_cli(["hyperslab", "diff", "climate.h5", "climate.h5"])
///     0
#[pyfunction]
pub(crate) fn run_cli(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| hyperslab_cli::run_with(args, &mut io::stdout().lock(), &mut io::stderr(), Some(&DuckDb)))
}

/// Runs statements of SQL with the Python package of DuckDB.
struct DuckDb;

impl Sql for DuckDb {
    fn run(&self, file: &Path, statement: &str) -> anyhow::Result<Box<dyn RecordBatchReader + Send>> {
        let rows = Python::attach(|py| {
            let result = py.import("hyperslab._sql")?.call_method1("run", (file, statement))?;
            Incoming::of(&result)
        });
        // The class of an exception says nothing to the user of the command.
        let rows = rows.map_err(|error| Python::attach(|py| anyhow::anyhow!("{}", error.value(py))))?;
        Ok(Box::new(rows))
    }
}
