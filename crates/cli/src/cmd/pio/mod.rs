//! `hyperslab pio`: how fast several processes write and read files together, raw and as HDF5.

#[path = "../../../../pio/src/access.rs"]
mod access;
#[path = "../../../../pio/src/folder.rs"]
mod folder;
#[path = "../../../../pio/src/measure.rs"]
mod measure;
#[path = "../../../../pio/src/message.rs"]
mod message;
#[cfg(feature = "mpi")]
#[path = "../../../../pio/src/mpi/mod.rs"]
mod mpi;
#[cfg(not(feature = "mpi"))]
#[path = "../../../../pio/src/no_mpi.rs"]
mod mpi;
#[path = "../../../../pio/src/pattern.rs"]
mod pattern;
mod picture;
#[path = "../../../../pio/src/plan.rs"]
mod plan;
#[path = "../../../../pio/src/processes.rs"]
mod processes;
mod report;
mod sizes;
#[path = "../../../../pio/src/sockets.rs"]
mod sockets;
#[path = "../../../../pio/src/worker.rs"]
mod worker;

use std::ffi::OsString;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::bail;
use hyperslab_plot::{Picture, Size};
use indicatif::ProgressBar;

use self::access::Api;
use self::folder::ScratchFolder;
use self::measure::Timed;
use self::plan::Plan;
use self::processes::Program;
use self::report::RunReport;
use self::sizes::Doublings;
use self::worker::Seat;
use crate::error::Usage;
use crate::{OK, filters, progress, units};

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
    #[arg(long, value_name = "API,...", value_delimiter = ',', default_values = ["posix", "hyperslab"], value_enum)]
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
    #[arg(long, value_name = "WxH", default_value = "1200x600", value_parser = crate::plot::size, requires = "plot")]
    plot_size: Size,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The place of a process that this command has started
    #[arg(long, hide = true, num_args = 3)]
    worker: Vec<OsString>,
}

fn examples() -> String {
    EXAMPLES.replace(" --plot rates.png", crate::plot::example(" --plot rates.png"))
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

pub(super) fn run(
    args: &Args,
    given: &[OsString],
    program: Option<&[OsString]>,
    out: &mut dyn Write,
) -> anyhow::Result<u8> {
    hyperslab::set_threads(args.threads);
    if !args.worker.is_empty() {
        return worker::run(&args.plan(&[1])?, &Seat::of(&args.worker)?);
    }
    if let Some(plot) = &args.plot {
        crate::plot::check(plot, args.plot_size).map_err(|error| Usage(format!("--plot {error}")))?;
    }
    if is_launched() {
        return mpi::run(args, out);
    }
    if let Some(api) = args.api.iter().find(|api| api.needs_mpi()) {
        return Err(Usage(format!("--api {}: {}", api.name(), mpi::how())).into());
    }
    let Some(start) = program else { bail!("this program does not say how it is started again") };
    let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get) as u64;
    let plan = args.plan(&Doublings::between(1, processors).0)?;
    plan.check()?;
    let folder = ScratchFolder::create(&args.folder, args.keep)?;
    plan.check_space(&folder.path)?;
    let bar = bar(&plan)?;
    let mut timed = Vec::new();
    for &processes in &plan.processes {
        let size = usize::try_from(processes)?;
        processes::measure(Program { start, args: given }, &folder.path, size, |one| {
            advance(&bar, &one);
            timed.push(one);
        })?;
    }
    bar.finish_and_clear();
    args.report(&plan, &folder, "processes of this machine, connected by sockets", timed, out)?;
    Ok(OK)
}

/// Returns whether a launcher of MPI has started this process as a rank.
fn is_launched() -> bool {
    LAUNCHERS.iter().any(|name| std::env::var_os(name).is_some())
}

/// Variables that launchers of MPI set for each rank: Open MPI, MPICH, and those with `PMIx`.
const LAUNCHERS: [&str; 3] = ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"];

impl Args {
    /// Returns whether this process makes the files of a run, and removes them at its end.
    pub(super) fn has_own_files(&self) -> bool {
        self.worker.is_empty() && !is_launched()
    }

    /// Returns the plan, with these numbers of processes if none are given.
    fn plan(&self, processes: &[u64]) -> Result<Plan, Usage> {
        let chosen = self.filter.iter().map(|filter| filter.choice.clone()).collect::<Vec<_>>();
        let mut apis: Vec<Api> = Vec::new();
        for &api in &self.api {
            if !apis.contains(&api) {
                apis.push(api);
            }
        }
        Ok(Plan {
            processes: self.processes.as_ref().map_or(processes, |given| &given.0).to_vec(),
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
    fn report(
        &self,
        plan: &Plan,
        folder: &ScratchFolder,
        ranks: &'static str,
        timed: Vec<Timed>,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let filters = self.filter.iter().filter(|filter| filter.choice.is_some());
        let shown = if self.keep { &folder.path } else { &self.folder };
        let report = RunReport {
            plan,
            filters: filters.map(|filter| filter.name.clone()).collect(),
            folder: shown.display().to_string(),
            ranks,
            threads: self.threads.get(),
            timed,
        };
        if self.json {
            report.as_json(out)?;
        } else {
            report.as_text(out)?;
        }
        match &self.plot {
            Some(plot) => {
                hyperslab_plot::save(plot, self.plot_size, Picture::Lines(&picture::rates(&report)))
            }
            None => Ok(()),
        }
    }
}

fn bar(plan: &Plan) -> anyhow::Result<ProgressBar> {
    progress::bar("{bar:40} {pos} of {len}, {msg}, {eta} left", Some(plan.steps()))
}

/// Shows that an iteration is done.
fn advance(bar: &ProgressBar, done: &Timed) {
    let transfer = crate::show::bytes(done.case.transfer);
    bar.set_message(format!("{} with {} x {transfer}", done.api.name(), done.case.processes));
    bar.inc(1);
}
