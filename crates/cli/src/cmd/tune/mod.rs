//! `hyperslab tune`: finds the chunk shape that suits the reads of a dataset, by prediction and then by
//! measurement.

mod report;
mod sweep;
mod target;

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hyperslab::set_threads;
use hyperslab_plot::{Picture, Size};
use hyperslab_tune::{Sampling, Tuning, WrongArgument};

use self::report::TuneReport;
use crate::error::Usage;
use crate::progress::Steps;
use crate::{filters, place, plot, units};

/// Find the chunk shape that suits how a dataset is read
#[derive(Debug, clap::Args)]
#[command(after_help = format!("{}\n\n{}", examples(), filters::help()))]
pub(crate) struct Args {
    /// The HDF5 file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The dataset; may be omitted if only one dataset has two or more dimensions, or if only one of these is
    /// named `data` or `amplitude`. The arrays of table indexes are never chosen, but may be named
    #[arg(value_name = "DATASET")]
    dataset: Option<String>,
    /// The reads and their weights: `NAME:WEIGHT` is a plane across that axis, `[SELECTION]:WEIGHT` a read of
    /// that shape at any position. Separate several reads by commas, or repeat the option [default: one plane
    /// across every axis]
    #[arg(long, value_name = "ACCESS:WEIGHT,...", allow_hyphen_values = true)]
    access: Vec<String>,
    /// A filter for the chunks; repeat the option for several filters, which apply in this order [default:
    /// those of the dataset]
    #[arg(long, value_name = "FILTER", value_parser = filters::named)]
    filter: Vec<filters::Named>,
    /// The edges of the cubic chunks to try
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_values_t = EDGES, value_parser = clap::value_parser!(u64).range(1..))]
    edges: Vec<u64>,
    /// The latency of the medium, as in `100us` [default: measured on FILE]
    #[arg(long, value_name = "TIME", value_parser = units::seconds)]
    latency: Option<f64>,
    /// The bandwidth of the medium, as in `500MB/s` [default: measured on FILE]
    #[arg(long, value_name = "BYTES/s", value_parser = units::bandwidth)]
    bandwidth: Option<u64>,
    /// Only predict; write and read no samples
    #[arg(long, conflicts_with_all = ["scratch", "rounds"])]
    predict: bool,
    /// The size of the sample that is written in each shape and read
    #[arg(long, value_name = "BYTES", default_value = "64MiB", value_parser = units::bytes)]
    sample: u64,
    /// The folder for the samples [default: the folder of FILE]
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// How often to time each read
    #[arg(long, value_name = "N", default_value_t = ROUNDS, value_parser = clap::value_parser!(u16).range(1..=1000))]
    rounds: u16,
    /// The number of threads that read
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    #[cfg_attr(
        feature = "plot",
        doc = "Draw the time per element against the chunk edge to this file, PNG or SVG; the Python \
               package's command draws none"
    )]
    #[cfg_attr(
        not(feature = "plot"),
        doc = "Draw the time per element against the chunk edge (not in this build)"
    )]
    #[arg(long, value_name = "FILE.png|.svg")]
    plot: Option<PathBuf>,
    /// The size of the figure in pixels
    #[arg(long, value_name = "WxH", default_value = "1200x600", value_parser = plot::size, requires = "plot")]
    plot_size: Size,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn examples() -> String {
    EXAMPLES.replace(" --plot sweep.png", plot::example(" --plot sweep.png"))
}

const EXAMPLES: &str = "\
Examples:
  hyperslab tune cube.h5 --access inline:1,crossline:1,slice:1
  hyperslab tune climate.h5 /t2m --access '[:, 10, 20]:5' --access '[0]:1' --filter zstd:3 --plot sweep.png
  hyperslab tune climate.h5 /t2m --predict --latency 5ms --bandwidth 200MB/s

Axes have the names of their dimension scales; `axis0`, `axis1`, ... and `slice` for the last axis
always work. The command writes a part of the dataset in every shape that it tries, to files in the
folder of FILE. These files have no names and vanish when the program ends. For `cold` times, the pages
of the file are dropped from memory; for `warm` times, they are in memory. In both cases the chunk index
has already been read.

Measuring takes a minute or more: twice the shapes (--edges), the --rounds or the --sample take twice as
long, and so does a slower disk. --predict takes seconds.";

/// The default edges of cubes.
const EDGES: [u64; 7] = [16, 24, 32, 48, 64, 96, 128];
/// The default number of times that a read is timed.
const ROUNDS: u16 = 5;

pub(super) fn run(args: &Args, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<()> {
    let filters =
        filters::chosen(&args.filter.iter().map(|filter| filter.choice.clone()).collect::<Vec<_>>())?;
    if let Some(path) = &args.plot {
        plot::check(path, args.plot_size).map_err(|error| Usage(format!("--plot {error}")))?;
    }
    if let Some(threads) = args.threads {
        set_threads(threads);
    }
    let file = place::open(&args.file)?;
    let dataset =
        target::dataset(&file, args.dataset.as_deref()).with_context(|| place::shown(&args.file))?;
    hyperslab_tune::check(&dataset).map_err(Usage::from)?;
    let accesses = hyperslab_tune::accesses(&args.access, &dataset.shape(), &target::axis_names(&dataset))
        .map_err(Usage::from)?;
    // A prediction takes no longer than its steps take to read.
    let mut steps = Steps::new((!args.predict).then_some(err))?;
    let folder = args.scratch();
    let sampling = Sampling { bytes: args.sample, folder: &folder, rounds: args.rounds };
    let tuning = Tuning {
        file: &args.file,
        dataset: &dataset,
        accesses,
        filters,
        edges: &args.edges,
        latency: args.latency,
        bandwidth: args.bandwidth,
        sampling: (!args.predict).then_some(sampling),
    };
    let report = TuneReport {
        file: args.file.display().to_string(),
        path: dataset.path().to_owned(),
        filters: args.filter.iter().map(|filter| filter.name.clone()).collect(),
        found: hyperslab_tune::tune(tuning, &mut steps)?,
    };
    drop(steps);
    if let Some(path) = &args.plot {
        let lines = sweep::sweep(&report);
        hyperslab_plot::save(path, args.plot_size, Picture::Lines(&lines))?;
    }
    if args.json { report.as_json(out) } else { report.as_text(out) }
}

impl Args {
    /// Returns the folder for samples. The default is that of the file, so that samples are on the same
    /// medium.
    fn scratch(&self) -> PathBuf {
        let beside =
            || self.file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        self.scratch.clone().unwrap_or_else(|| beside().to_owned())
    }
}

impl From<WrongArgument> for Usage {
    fn from(WrongArgument(text): WrongArgument) -> Self {
        Self(text)
    }
}
