//! The command `hyperslab`, as installed by the wheel.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

#[cfg(feature = "arrow")]
use arrow_array::RecordBatchReader;
#[cfg(feature = "arrow")]
use hyperslab_cli::Sql;
use hyperslab_cli::refs::Options;
use hyperslab_cli::{Icechunk, Libraries};
use pyo3::prelude::*;
use pyo3::types::PyDict;

#[cfg(feature = "arrow")]
use crate::tables::arrow::Incoming;

/// Runs the command `hyperslab` in this process and returns its exit code.
///
/// The command writes to the standard output and the standard error of the process, not to `sys.stdout` and
/// `sys.stderr`. The GIL is released. An interrupt (Ctrl-C) does not stop the command, unless its signal has
/// the default action of the system, `signal.SIG_DFL`: then it ends the process, and incomplete files are
/// removed.
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
    let program = start_again(py);
    let plugin = plugin_folder(py);
    let is_program = interrupts_end_the_process(py).unwrap_or(false);
    py.detach(|| {
        let program = program.as_deref();
        let plugin = plugin.as_deref();
        let libraries = Libraries {
            #[cfg(feature = "arrow")]
            sql: Some(&DuckDb),
            icechunk: Some(&IcechunkPackage),
            program,
            plugin,
            is_program,
        };
        hyperslab_cli::run_with(args, &mut io::stdout().lock(), &mut io::stderr(), &libraries)
    })
}

/// Returns whether an interrupt ends this process, as in the script `hyperslab`.
fn interrupts_end_the_process(py: Python<'_>) -> PyResult<bool> {
    let signal = py.import("signal")?;
    signal.call_method1("getsignal", (signal.getattr("SIGINT")?,))?.eq(signal.getattr("SIG_DFL")?)
}

/// Returns what starts the command in another process: this interpreter, if it has a name.
fn start_again(py: Python<'_>) -> Option<Vec<OsString>> {
    let interpreter: OsString = py.import("sys").ok()?.getattr("executable").ok()?.extract().ok()?;
    (!interpreter.is_empty()).then(|| vec![interpreter, "-m".into(), "hyperslab".into()])
}

/// Returns the folder of the package in which wheels have the plug-in for libhdf5.
fn plugin_folder(py: Python<'_>) -> Option<PathBuf> {
    let package: PathBuf = py.import("hyperslab").ok()?.getattr("__file__").ok()?.extract().ok()?;
    Some(package.parent()?.join("vol"))
}

/// Runs statements of SQL with the Python package of DuckDB.
#[cfg(feature = "arrow")]
struct DuckDb;

#[cfg(feature = "arrow")]
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

/// Writes Icechunk repositories with their Python package.
struct IcechunkPackage;

impl Icechunk for IcechunkPackage {
    fn write(&self, source: &Path, target: &Path, options: &Options, skip: bool) -> anyhow::Result<()> {
        let Options { url, embed, split, imagecodecs, .. } = options;
        let written = Python::attach(|py| {
            let names = PyDict::new(py);
            names.set_item("url", url)?;
            names.set_item("embed", embed)?;
            names.set_item("split", split)?;
            names.set_item("imagecodecs", imagecodecs)?;
            names.set_item("skip_unsupported", skip)?;
            py.import("hyperslab.icechunk")?.call_method("write", (source, target), Some(&names))?;
            PyResult::Ok(())
        });
        // The class of an exception says nothing to the user of the command.
        written.map_err(|error| Python::attach(|py| anyhow::anyhow!("{}", error.value(py))))
    }
}
