//! The command `hyperslab`, which inspects, checks, recovers and rewrites HDF5 files. `main` and the Python
//! package both call [`run`].

#![forbid(unsafe_code)]

mod canon;
mod cmd;
mod color;
mod error;
mod filters;
mod indexes;
mod place;
#[cfg(any(feature = "pio", feature = "segy", feature = "tune"))]
mod plot;
pub mod reference;
pub mod refs;
mod show;
mod target;
mod words;

use std::ffi::OsString;
use std::io::{self, BufWriter, Write};

use clap::{CommandFactory as _, Parser};
#[cfg(any(feature = "pio", feature = "segy", feature = "tune"))]
use hyperslab_terminal::units;
use hyperslab_terminal::{interrupt, progress};

use cmd::{Command, Outputs};
use color::When;

#[cfg(feature = "rows")]
pub use cmd::Sql;
pub use cmd::{Icechunk, Libraries};

/// The exit code of a successful command.
const OK: u8 = 0;
/// The exit code of a command that failed on the file.
const FAILED: u8 = 1;
/// The exit code of a wrong command line.
const USAGE: u8 = 2;

/// Inspects, checks, recovers and rewrites HDF5 files.
#[derive(Debug, Parser)]
#[command(name = "hyperslab", version, about = "Inspect, check, recover, rewrite and tune HDF5 files, without libhdf5", after_help = EXAMPLES)]
#[command(disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// When to colour text; `auto` colours it on a terminal, and obeys `NO_COLOR` and `CLICOLOR_FORCE`
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value = "auto")]
    color: When,
}

const EXAMPLES: &str = "\
Examples:
  hyperslab ls -r climate.h5
  hyperslab dump climate.h5 /surface/t2m --select '[0, 100:110, :]'
  hyperslab stat climate.h5
  hyperslab explain climate.h5 /surface/t2m --select '[0, ::8, ::8]'
  hyperslab check climate.h5 --data
  hyperslab recover climate.h5
  hyperslab repack climate.h5 small.h5 --filter zstd:5 --shuffle
  hyperslab copy climate.h5:/surface archive.h5:/2024/surface --parents
  hyperslab diff climate.h5 small.h5 --rtol 1e-6
  hyperslab query climate.h5 /readings 'temp > 310' --columns time,temp
  hyperslab sql climate.h5 'select id, avg(temp) from readings group by id'
  hyperslab refs climate.h5 -o climate.json --url s3://archive/climate.h5
  hyperslab segy ingest volume.sgy cube.h5 --filter blosc2:zstd:5
  hyperslab tune cube.h5 --access inline:1,crossline:1,slice:1
  hyperslab view climate.h5
  hyperslab vol -- h5repack -f GZIP=1 in.h5 out.h5
  hyperslab pio --processes 1..4 --transfer 256K..4M

`hyperslab COMMAND --help` explains a command, `hyperslab completions SHELL` makes the shell complete
commands and options, and `hyperslab man` writes man pages. Files may be URLs (https, s3, gs, az) where a
command only reads them. Exit codes: 0 success, 1 failure on the file, 2 wrong usage, 130 Ctrl-C.";

/// Returns the arguments of the command, for what is made from them: completions, man pages, the reference.
pub(crate) fn command() -> clap::Command {
    Cli::command()
}

/// Runs the command line `args`, which starts with the program's name, and returns the exit code.
///
/// Writes results to `out` and errors to `err`. If the reader of `out` closes it, the command ends silently.
pub fn run(args: impl IntoIterator<Item = OsString>, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    run_with(args, out, err, &Libraries::default())
}

/// Does the same as [`run`] where other libraries do a part of the work.
pub fn run_with(
    args: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
    err: &mut dyn Write,
    libraries: &Libraries<'_>,
) -> u8 {
    let mut out = BufWriter::new(out);
    let (mut failed, mut reading) = (FAILED, error::Reading::Other);
    let mut color = When::Auto;
    if let Some(warning) = hyperslab::internals::engine::threads_warning() {
        let _ = writeln!(err, "hyperslab: {warning}");
    }
    // Before any file is opened: who sets the variable asks for the plug-ins.
    hyperslab_plugins::search_environment();
    let args = words::with_help_last(args.into_iter().collect());
    let done = match Cli::try_parse_from(&args).map_err(|error| words::suggesting(error, &args)) {
        Ok(cli) => {
            (failed, reading, color) = (cli.command.failed(), cli.command.reading(), cli.color);
            let paint = color.paint(&io::stdout(), libraries.is_program);
            let err_paint = color.paint(&io::stderr(), libraries.is_program);
            let outputs = Outputs { out: &mut out, err: &mut *err, paint, err_paint, reading };
            cli.command.run(&args, outputs, libraries).and_then(|code| Ok(out.flush().map(|()| code)?))
        }
        Err(error) if error.use_stderr() => {
            let text = error.render();
            // If standard error is closed, the error cannot be reported.
            let _ = if color.paint(&io::stderr(), libraries.is_program).0 {
                write!(err, "{}", text.ansi())
            } else {
                write!(err, "{text}")
            };
            return USAGE;
        }
        // The text of `--help` or `--version`.
        Err(help) => {
            let text = help.render();
            let written = if color.paint(&io::stdout(), libraries.is_program).0 {
                write!(out, "{}", text.ansi())
            } else {
                write!(out, "{text}")
            };
            written.and_then(|()| out.flush()).map(|()| OK).map_err(Into::into)
        }
    };
    let error = match done {
        Ok(code) => return code,
        Err(error) => error,
    };
    if error::is_broken_pipe(&error) {
        return OK;
    }
    // Results from before the failure are still useful.
    let _ = out.flush();
    error::report(&error, reading, color.paint(&io::stderr(), libraries.is_program), err);
    if error.is::<error::Usage>() { USAGE } else { failed }
}
