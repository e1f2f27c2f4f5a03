//! The commands.

mod check;
mod copy;
mod diff;
mod dump;
mod explain;
mod ls;
#[cfg(unix)]
mod pio;
#[cfg(not(unix))]
#[path = "no_pio.rs"]
mod pio;
mod query;
mod recover;
mod refs;
mod repack;
mod segy;
mod stat;
mod tune;

use std::ffi::OsString;
use std::io::Write;
use std::num::NonZeroUsize;

use hyperslab::internals::select::{self, Parsed};

pub use self::query::sql::Sql;
pub use self::refs::Icechunk;
use crate::error::Usage;
use crate::place::Place;
use crate::{FAILED, OK, USAGE};

/// A command and its arguments.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Ls(ls::Args),
    Dump(dump::Args),
    Stat(stat::Args),
    Explain(explain::Args),
    Check(check::Args),
    Recover(recover::Args),
    Repack(repack::Args),
    Copy(copy::Args),
    Diff(diff::Args),
    Query(query::Args),
    Sql(query::sql::Args),
    Refs(refs::Args),
    Segy(segy::Args),
    Tune(tune::Args),
    Pio(Box<pio::Args>),
}

impl Command {
    /// Runs the command and returns the exit code. `given` are all arguments, from the program's name on.
    pub(crate) fn run(
        &self,
        given: &[OsString],
        out: &mut dyn Write,
        err: &mut dyn Write,
        libraries: &Libraries<'_>,
    ) -> anyhow::Result<u8> {
        let done = match self {
            Self::Ls(args) => ls::run(args, out),
            Self::Dump(args) => dump::run(args, out),
            Self::Stat(args) => stat::run(args, out),
            Self::Explain(args) => explain::run(args, out),
            Self::Check(args) => check::run(args, out),
            Self::Recover(args) => recover::run(args, out),
            Self::Repack(args) => repack::run(args, out, err),
            Self::Copy(args) => copy::run(args, out),
            Self::Query(args) => query::run(args, out),
            Self::Sql(args) => query::sql::run(args, out, libraries.sql),
            Self::Refs(args) => refs::run(args, out, err, libraries.icechunk),
            Self::Segy(args) => segy::run(args, out),
            Self::Tune(args) => tune::run(args, out),
            Self::Pio(args) => return pio::run(args, given, libraries.program, out),
            Self::Diff(args) => return Ok(if diff::run(args, out)? { OK } else { FAILED }),
        };
        done.map(|()| OK)
    }

    /// Returns the exit code of a failure of this command.
    pub(crate) fn failed(&self) -> u8 {
        // The command `diff` uses the other code for files that differ.
        if matches!(self, Self::Diff(_)) { USAGE } else { FAILED }
    }
}

/// What other libraries do, if this program has them.
#[derive(Default, Clone, Copy)]
pub struct Libraries<'l> {
    /// Runs the statements of the command `sql`.
    pub sql: Option<&'l dyn Sql>,
    /// Writes the repositories of the command `refs`.
    pub icechunk: Option<&'l dyn Icechunk>,
    /// The program and the arguments that start this command again, for the processes of the command `pio`.
    pub program: Option<&'l [OsString]>,
}

/// The number of threads.
#[derive(Debug, clap::Args)]
struct Threads {
    /// The number of threads to use
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

impl Threads {
    fn set(&self) {
        if let Some(threads) = self.threads {
            hyperslab::set_threads(threads);
        }
    }
}

/// An object of a file, and a selection of its elements.
#[derive(Debug, clap::Args)]
struct Selected {
    #[command(flatten)]
    place: Place,
    /// The elements to select, in NumPy's syntax
    #[arg(long, value_name = "SELECTION", default_value = "...", allow_hyphen_values = true)]
    select: String,
}

impl Selected {
    /// Returns the selected elements of an array of this shape.
    fn elements(&self, shape: &[u64]) -> anyhow::Result<Parsed> {
        select::parse(&self.select, shape).map_err(|error| {
            let shape = crate::show::shape(shape);
            Usage(format!("--select '{}' of an array of shape {shape}: {error}", self.select)).into()
        })
    }
}
