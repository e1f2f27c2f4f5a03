//! `hyperslab pio`: how fast several processes write and read files together, raw and as HDF5.

mod picture;
mod report;
mod sizes;

use std::ffi::OsString;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use hyperslab_pio::{Api, Plan, Program, Results, Run, WrongArgument};
use hyperslab_plot::{Picture, Size};

use self::report::RunReport;
use self::sizes::Doublings;
use crate::error::Usage;
use crate::{FAILED, OK, filters, plot, units};

/// Measure how fast processes write and read a file together, raw and as HDF5
#[derive(Debug, clap::Args)]
#[command(after_help = format!("{}\n\n{}", examples(), filters::help()))]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(crate) struct Args {
    /// The numbers of processes: `N`, or `A..B` for A, twice A and so on up to B [default: from 1 to the
    /// number of processors, or of MPI ranks]
    #[arg(long, value_name = "A..B", value_parser = sizes::processes)]
    processes: Option<Doublings>,
    /// The bytes of one call, a size or a range of sizes
    #[arg(long, value_name = "A..B", default_value = "256K..4M", value_parser = sizes::bytes)]
    transfer: Doublings,
    /// The bytes of each process in each dataset
    #[arg(long, value_name = "BYTES", default_value = "16M", value_parser = units::binary)]
    bytes: u64,
    /// The number of files
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    files: u64,
    /// The number of datasets in each file
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    datasets: u64,
    /// How often to measure each case
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    iterations: u64,
    /// How to write and read: repeat the option, or separate names by commas
    #[arg(long, value_name = "API,...", value_delimiter = ',', default_values = ["posix", "hyperslab"], value_parser = api())]
    api: Vec<Api>,
    /// Write datasets in chunks of this size [default: contiguous datasets]
    #[arg(long, value_name = "BYTES", value_parser = units::binary)]
    chunk: Option<u64>,
    /// A filter for the chunks; repeat the option for several filters, which apply in this order
    #[arg(long, value_name = "FILTER", value_parser = filters::named, requires = "chunk")]
    filter: Vec<filters::Named>,
    /// All processes make each call together, which lets a library join their bytes
    #[arg(long)]
    collective: bool,
    /// Interleave the processes' transfers instead of giving each one a contiguous part
    #[arg(long)]
    interleaved: bool,
    /// Only write
    #[arg(long, conflicts_with = "verify")]
    no_read: bool,
    /// Read again after the clock has stopped, and compare every byte
    #[arg(long)]
    verify: bool,
    /// The number of threads of each process
    #[arg(long, value_name = "N", default_value = "1")]
    threads: NonZeroUsize,
    /// The folder in which a folder for the files is created
    #[arg(long, value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// Leave the files of the last iterations in the folder
    #[arg(long)]
    keep: bool,
    #[cfg_attr(
        feature = "plot",
        doc = "Draw the rates against the size of transfers to this file, PNG or SVG; the Python \
               package's command draws none"
    )]
    #[cfg_attr(
        not(feature = "plot"),
        doc = "Draw the rates against the size of transfers (not in this build)"
    )]
    #[arg(long, value_name = "FILE.png|.svg")]
    plot: Option<PathBuf>,
    /// The size of the figure in pixels
    #[arg(long, value_name = "WxH", default_value = "1200x600", value_parser = plot::size, requires = "plot")]
    plot_size: Size,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The place of a process that this command has started
    #[arg(long, hide = true, num_args = 3)]
    worker: Vec<OsString>,
}

fn examples() -> String {
    EXAMPLES.replace(" --plot rates.png", plot::example(" --plot rates.png"))
}

const EXAMPLES: &str = "\
Examples:
  hyperslab pio --folder /tmp
  hyperslab pio --processes 1..8 --transfer 256K..4M --bytes 64M --plot rates.png
  hyperslab pio --chunk 1M --filter zstd:1 --verify
  mpirun -n 4 hyperslab pio --api posix,mpiio,hyperslab --collective

Sizes have the units K, M, G (powers of 1024), kB, MB, GB (powers of 1000) or KiB, MiB, GiB. The command
starts the processes itself, on this machine. A command built with the feature `mpi` and started by mpirun
uses the MPI ranks instead. Rates are of the transfers alone, and from opening to closing the file. Files are
removed after each measurement, also when it fails.";

/// Returns what parses the name of an API.
fn api() -> impl TypedValueParser<Value = Api> {
    let named = |api: Api| PossibleValue::new(api.name()).help(api.about());
    PossibleValuesParser::new(Api::ALL.map(named)).try_map(|name| Api::of(&name).ok_or("no such API"))
}

pub(super) fn run(
    args: &Args,
    given: &[OsString],
    program: Option<&[OsString]>,
    out: &mut dyn Write,
) -> anyhow::Result<u8> {
    hyperslab::set_threads(args.threads);
    let plan = args.plan()?;
    if !args.worker.is_empty() {
        let is_done = hyperslab_pio::work(&plan, &args.worker).map_err(usage)?;
        return Ok(if is_done { OK } else { FAILED });
    }
    if let Some(path) = &args.plot {
        plot::check(path, args.plot_size).map_err(|error| Usage(format!("--plot {error}")))?;
    }
    let run = Run {
        plan,
        folder: &args.folder,
        threads: args.threads.get(),
        program: program.map(|start| Program { start, args: given }),
    };
    hyperslab_pio::run(&run, &mut |results| args.report(results, out)).map_err(usage)?;
    Ok(OK)
}

/// Returns the error of wrong arguments as that of the command.
fn usage(error: anyhow::Error) -> anyhow::Error {
    error.downcast().map_or_else(|other| other, |WrongArgument(text)| Usage(text).into())
}

impl Args {
    /// Returns whether this process makes the files of a run, and removes them at its end.
    pub(super) fn has_own_files(&self) -> bool {
        self.worker.is_empty() && !hyperslab_pio::is_launched()
    }

    /// Returns the plan, without numbers of processes if none are given.
    fn plan(&self) -> Result<Plan, Usage> {
        let chosen = self.filter.iter().map(|filter| filter.choice.clone()).collect::<Vec<_>>();
        let mut apis: Vec<Api> = Vec::new();
        for &api in &self.api {
            if !apis.contains(&api) {
                apis.push(api);
            }
        }
        Ok(Plan {
            processes: self.processes.clone().map_or_else(Vec::new, |Doublings(numbers)| numbers),
            transfers: self.transfer.0.clone(),
            bytes: self.bytes,
            files: self.files,
            datasets: self.datasets,
            iterations: self.iterations,
            apis,
            chunk: self.chunk,
            filters: filters::chosen(&chosen)?.unwrap_or_default(),
            is_collective: self.collective,
            is_interleaved: self.interleaved,
            reads: !self.no_read,
            verifies: self.verify,
            keeps: self.keep,
        })
    }

    /// Writes the results, and draws them.
    fn report(&self, results: &Results, out: &mut dyn Write) -> anyhow::Result<()> {
        let filters = self.filter.iter().filter(|filter| filter.choice.is_some());
        let folder = if self.keep { &results.folder } else { &self.folder };
        let report = RunReport {
            plan: &results.plan,
            filters: filters.map(|filter| filter.name.clone()).collect(),
            folder: folder.display().to_string(),
            ranks: results.ranks,
            threads: self.threads.get(),
            timed: &results.timed,
        };
        if self.json {
            report.as_json(out)?;
        } else {
            report.as_text(out)?;
        }
        match &self.plot {
            Some(path) => {
                hyperslab_plot::save(path, self.plot_size, Picture::Lines(&picture::rates(&report)))
            }
            None => Ok(()),
        }
    }
}
