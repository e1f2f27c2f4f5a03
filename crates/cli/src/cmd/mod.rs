//! The commands.

#[cfg(not(all(feature = "pio", feature = "rows", feature = "segy", feature = "tune", feature = "view")))]
mod absent;
mod check;
mod completions;
mod copy;
mod diff;
mod dump;
mod explain;
mod ls;
mod man;
#[cfg(all(feature = "pio", unix))]
mod pio;
#[cfg(all(feature = "pio", not(unix)))]
#[path = "no_pio.rs"]
mod pio;
#[cfg(feature = "rows")]
mod query;
mod recover;
mod refs;
mod repack;
#[cfg(feature = "segy")]
mod segy;
mod stat;
#[cfg(feature = "tune")]
mod tune;
#[cfg(feature = "view")]
mod view;
mod vol;

use std::ffi::OsString;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::Path;

#[cfg(feature = "rows")]
pub use self::query::sql::Sql;
pub use self::refs::Icechunk;
use crate::error::{self, Reading, Usage};
use crate::interrupt::{Left, Watch};
use crate::place::NamedObject;
use crate::show::paint::Paint;
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
    #[cfg(feature = "rows")]
    Query(query::Args),
    /// Print the rows of a table that match a condition (not in this build)
    #[cfg(not(feature = "rows"))]
    Query(absent::Args),
    #[cfg(feature = "rows")]
    Sql(query::sql::Args),
    /// Run an SQL query on the tables in a file (not in this build)
    #[cfg(not(feature = "rows"))]
    Sql(absent::Args),
    Refs(refs::Args),
    #[cfg(feature = "segy")]
    Segy(segy::Args),
    /// Convert SEG-Y surveys to HDF5, inspect them, cut out slices, and write them back (not in this build)
    #[cfg(not(feature = "segy"))]
    Segy(absent::Args),
    #[cfg(feature = "tune")]
    Tune(tune::Args),
    /// Find the chunk shape that suits how a dataset is read (not in this build)
    #[cfg(not(feature = "tune"))]
    Tune(absent::Args),
    #[cfg(feature = "pio")]
    Pio(Box<pio::Args>),
    /// Measure how fast processes write and read a file together, raw and as HDF5 (not in this build)
    #[cfg(not(feature = "pio"))]
    Pio(absent::Args),
    #[cfg(feature = "view")]
    View(view::Args),
    /// Show files in the browser (not in this build)
    #[cfg(not(feature = "view"))]
    View(absent::Args),
    Vol(vol::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// Where a command writes, and how.
pub(crate) struct Outputs<'o> {
    pub(crate) out: &'o mut dyn Write,
    pub(crate) err: &'o mut dyn Write,
    /// The colours of `out`, and of `err`.
    pub(crate) paint: Paint,
    pub(crate) err_paint: Paint,
    pub(crate) reading: Reading,
}

impl Outputs<'_> {
    /// Calls `f` with each of these objects. If there are several, reports a failure and goes on with the
    /// next object.
    fn each(
        &mut self,
        named: &[NamedObject],
        mut f: impl FnMut(&mut Self, &NamedObject) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut failed = 0;
        for one in named {
            match f(self, one) {
                Ok(()) => {}
                Err(error) if named.len() == 1 || error.is::<Usage>() || error::is_broken_pipe(&error) => {
                    return Err(error);
                }
                Err(error) => {
                    failed += 1;
                    self.out.flush()?;
                    error::report(&error, self.reading, self.err_paint, self.err);
                }
            }
        }
        anyhow::ensure!(failed == 0, "{failed} of {} failed", named.len());
        Ok(())
    }
}

impl Command {
    /// Runs the command and returns the exit code. `given` are all arguments, from the program's name on.
    #[cfg_attr(
        not(feature = "pio"),
        expect(unused_variables, reason = "only `pio` starts this program again")
    )]
    pub(crate) fn run(
        &self,
        given: &[OsString],
        mut to: Outputs<'_>,
        libraries: &Libraries<'_>,
    ) -> anyhow::Result<u8> {
        let left = self.left_by_interrupts().filter(|_| libraries.is_program);
        let _watch = left.map(Watch::new).transpose()?;
        let done = match self {
            Self::Ls(args) => ls::run(args, &mut to),
            Self::Dump(args) => dump::run(args, &mut to),
            Self::Stat(args) => stat::run(args, &mut to),
            Self::Explain(args) => explain::run(args, to.out),
            Self::Check(args) => check::run(args, &mut to),
            Self::Recover(args) => recover::run(args, to.out),
            Self::Repack(args) => repack::run(args, to.out, to.err),
            Self::Copy(args) => copy::run(args, to.out),
            #[cfg(feature = "rows")]
            Self::Query(args) => query::run(args, to.out),
            #[cfg(feature = "rows")]
            Self::Sql(args) => query::sql::run(args, to.out, libraries.sql),
            #[cfg(not(feature = "rows"))]
            Self::Query(_) | Self::Sql(_) => absent::run("the commands `query` and `sql`", "rows"),
            Self::Refs(args) => refs::run(args, to.out, to.err, libraries.icechunk),
            #[cfg(feature = "segy")]
            Self::Segy(args) => segy::run(args, to.out),
            #[cfg(not(feature = "segy"))]
            Self::Segy(_) => absent::run("the command `segy`", "segy"),
            #[cfg(feature = "tune")]
            Self::Tune(args) => tune::run(args, to.out, to.err),
            #[cfg(not(feature = "tune"))]
            Self::Tune(_) => absent::run("the command `tune`", "tune"),
            #[cfg(feature = "view")]
            Self::View(args) => view::run(args, to.out, to.err),
            #[cfg(not(feature = "view"))]
            Self::View(_) => absent::run("the viewer", "view"),
            Self::Vol(args) => return vol::run(args, libraries.plugin, to.out),
            #[cfg(feature = "pio")]
            Self::Pio(args) => return pio::run(args, given, libraries.program, to.out),
            #[cfg(not(feature = "pio"))]
            Self::Pio(_) => absent::run("the command `pio`", "pio"),
            Self::Diff(args) => return Ok(if diff::run(args, to.out)? { OK } else { FAILED }),
            Self::Completions(args) => completions::run(args, to.out),
            Self::Man(args) => man::run(args, to.out),
        };
        done.map(|()| OK)
    }

    /// Returns what to say about the files that an interrupt leaves; `None` for a command that only reads.
    fn left_by_interrupts(&self) -> Option<Left> {
        match self {
            Self::Repack(_) | Self::Query(_) | Self::Sql(_) => Some(Box::new(|| None)),
            Self::Copy(args) => Some(args.left_by_interrupts()),
            Self::Refs(args) => Some(args.left_by_interrupts()),
            #[cfg(feature = "segy")]
            Self::Segy(args) => Some(args.left_by_interrupts()),
            #[cfg(feature = "pio")]
            Self::Pio(args) if args.has_own_files() => Some(Box::new(|| None)),
            _ => None,
        }
    }

    /// Returns how the command reads chunks.
    pub(crate) fn reading(&self) -> Reading {
        match self {
            Self::Dump(_) | Self::Explain(_) => Reading::Elements,
            Self::Repack(_) => Reading::Objects,
            Self::Copy(_) => Reading::Object,
            _ => Reading::Other,
        }
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
    #[cfg(feature = "rows")]
    pub sql: Option<&'l dyn Sql>,
    /// Writes the repositories of the command `refs`.
    pub icechunk: Option<&'l dyn Icechunk>,
    /// The program and the arguments that start this command again, for the processes of the command `pio`.
    pub program: Option<&'l [OsString]>,
    /// The folder of the plug-in for libhdf5, for the command `vol`.
    pub plugin: Option<&'l Path>,
    /// Whether this process only runs the command. Ctrl-C then ends the process, after it has removed
    /// incomplete files, and text for a terminal is coloured.
    pub is_program: bool,
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

/// A selection of elements.
#[derive(Debug, clap::Args)]
struct Selected {
    /// The elements to select, in NumPy's syntax [default: all]
    #[arg(long, value_name = "SELECTION", allow_hyphen_values = true)]
    select: Option<String>,
}

impl Selected {
    /// Returns the selected elements of an array of this shape.
    fn elements(&self, shape: &[u64]) -> anyhow::Result<hyperslab_select::Selected> {
        let text = self.select.as_deref().unwrap_or("...");
        hyperslab_select::parse(text, shape).map_err(|error| {
            let shape = crate::show::shape(shape);
            Usage(format!("--select '{text}' of an array of shape {shape}: {error}")).into()
        })
    }
}
