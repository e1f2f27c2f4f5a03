//! `hyperslab tune`: finds the chunk shape that suits the reads of a dataset, by prediction and then by
//! measurement.

#[path = "../../../../tune/src/access.rs"]
mod access;
#[path = "../../../../tune/src/codec.rs"]
mod codec;
#[path = "../../../../tune/src/measure.rs"]
mod measure;
#[path = "../../../../tune/src/medium.rs"]
mod medium;
#[path = "../../../../tune/src/model.rs"]
mod model;
mod report;
#[path = "../../../../tune/src/sample.rs"]
mod sample;
#[path = "../../../../tune/src/search.rs"]
mod search;
#[path = "../../../../tune/src/specimen.rs"]
mod specimen;
mod sweep;
mod target;

use std::fs;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hyperslab::Dataset;
use hyperslab::{set_threads, threads};
use hyperslab_plot::{Picture, Size};

use self::codec::Codec;
use self::model::{ArrayFacts, Engine, Machine, Ratio, real};
use self::report::{Report, Row};
use self::sample::Sample;
use self::search::{Candidate, Judge, Origin};
use self::specimen::Recipe;
use crate::error::Usage;
use crate::progress::Steps;
use crate::{filters, place, units};

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
    #[arg(long, value_name = "WxH", default_value = "1200x600", value_parser = crate::plot::size, requires = "plot")]
    plot_size: Size,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn examples() -> String {
    EXAMPLES.replace(" --plot sweep.png", crate::plot::example(" --plot sweep.png"))
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
/// The bytes that are written in memory to measure the cost of filters.
const CODEC_BYTES: u64 = 8 << 20;
/// The chunks that a sample should have along each axis.
const CHUNKS_ALONG: u64 = 2;

pub(super) fn run(args: &Args, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<()> {
    let filters =
        filters::chosen(&args.filter.iter().map(|filter| filter.choice.clone()).collect::<Vec<_>>())?;
    if let Some(plot) = &args.plot {
        crate::plot::check(plot, args.plot_size).map_err(|error| Usage(format!("--plot {error}")))?;
    }
    if let Some(threads) = args.threads {
        set_threads(threads);
    }
    let file = place::open(&args.file)?;
    let dataset =
        target::dataset(&file, args.dataset.as_deref()).with_context(|| place::shown(&args.file))?;
    let shape = dataset.shape();
    check(&dataset, &shape)?;
    let names = target::axis_names(&dataset);
    let accesses = access::parse(&args.access, &shape, &names)?;
    let array = ArrayFacts { shape: shape.clone(), element_size: dataset.element_size() as u64 };
    let recipe = Recipe { dataset: &dataset, filters };
    // A prediction takes no longer than its steps take to read.
    let mut steps = Steps::new((!args.predict).then_some(err))?;
    let (machine, ratio, is_dropped) = args.machine(&recipe, &array, &mut steps)?;
    let engine = Engine { hints: file.store().hints(), threads: threads() };
    let judge = Judge { array: &array, accesses: &accesses, machine: &machine, engine, ratio };
    let present = present(&dataset);
    let candidates = search::candidates(&judge, present.as_ref(), &args.edges);
    let mut report = Report {
        file: args.file.display().to_string(),
        path: dataset.path().to_owned(),
        array: array.clone(),
        machine,
        ratio,
        is_dropped,
        is_given: args.latency.is_some() || args.bandwidth.is_some(),
        filters: args.filter.iter().map(|filter| filter.name.clone()).collect(),
        sample: None,
        rows: candidates.iter().map(|candidate| Row::predicted(candidate.clone(), &judge)).collect(),
        accesses: accesses.clone(),
    };
    if !args.predict {
        let least: Vec<u64> =
            shape.iter().map(|_| CHUNKS_ALONG * args.edges.iter().max().unwrap_or(&1)).collect();
        let part = sample::proportional(&shape, &least, args.sample / array.element_size.max(1));
        steps.say("reading a sample".to_owned());
        let sample = Sample::read(&dataset, part)?;
        let accesses: Vec<_> = accesses.iter().map(|access| access.within(&shape, &sample.shape)).collect();
        let scratch = args.scratch();
        let measured = measure::measure(
            &recipe,
            &sample,
            &candidates,
            &accesses,
            &scratch,
            usize::from(args.rounds),
            &mut steps,
        )
        .with_context(|| format!("samples of {}", dataset.path()))?;
        let part = ArrayFacts { shape: sample.shape.clone(), ..array.clone() };
        report.add_measured(measured, &judge, &Judge { array: &part, accesses: &accesses, ..judge });
        report.sample = Some(report::SampleFacts {
            is_all: sample.is_all(&shape),
            shape: sample.shape,
            rounds: args.rounds,
        });
    }
    drop(steps);
    if let Some(plot) = &args.plot {
        let lines = sweep::sweep(&report);
        hyperslab_plot::save(plot, args.plot_size, Picture::Lines(&lines))?;
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

    /// Measures the machine. Returns its speeds, how small filters make the elements, and whether pages could
    /// be dropped.
    fn machine(
        &self,
        recipe: &Recipe<'_>,
        array: &ArrayFacts,
        steps: &mut Steps<'_>,
    ) -> anyhow::Result<(Machine, Option<Ratio>, bool)> {
        steps.say("measuring the medium".to_owned());
        let opened = fs::File::open(&self.file).with_context(|| self.file.display().to_string())?;
        let found = medium::measure(&opened, threads()).with_context(|| self.file.display().to_string())?;
        let mut cold = found.cold;
        if let Some(latency) = self.latency {
            (cold.latency, cold.parallelism) = (latency, real(threads() as u64));
        }
        if let Some(bandwidth) = self.bandwidth {
            cold.bandwidth = real(bandwidth);
        }
        steps.say("measuring filters".to_owned());
        let ones = vec![1; array.shape.len()];
        let small =
            sample::proportional(&array.shape, &ones, (CODEC_BYTES / array.element_size.max(1)).max(1));
        let Codec { ratio, decode, chunk } = codec::measure(recipe, &Sample::read(recipe.dataset, small)?)?;
        Ok((Machine { cold, warm: found.warm, chunk, decode }, ratio, found.is_dropped))
    }
}

/// Checks that the chunk shape makes a difference to this dataset.
fn check(dataset: &Dataset, shape: &[u64]) -> Result<(), Usage> {
    let path = dataset.path();
    let why = match shape {
        [] => "it is a scalar, which has no chunks",
        _ if shape.contains(&0) => "it is empty: write to it first, or use repack --chunks auto",
        _ if dataset.datatype().has_variable_parts() => {
            "its elements have variable lengths and are stored outside the chunks"
        }
        _ => return Ok(()),
    };
    Err(Usage(format!("{path}: {why}")))
}

/// Returns the present storage of the dataset, if it is in this file.
fn present(dataset: &Dataset) -> Option<Candidate> {
    if let Some(chunk) = dataset.chunk_shape() {
        return Some(Candidate { chunk, origin: Origin::Present });
    }
    let is_elsewhere = dataset.is_virtual() || dataset.has_external_files();
    (!is_elsewhere).then(|| Candidate { chunk: dataset.shape(), origin: Origin::Contiguous })
}
