//! The whole of it: from the measurement of the machine to the report.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use hyperslab::{Dataset, threads};
use hyperslab_filters::FilterChoice;
use hyperslab_terminal::progress::Steps;

use crate::access::Access;
use crate::codec::{self, Codec};
use crate::error::WrongArgument;
use crate::measure;
use crate::medium;
use crate::model::{ArrayFacts, Engine, Machine, Ratio, real};
use crate::report::{Report, Row, SampleFacts};
use crate::sample::{self, Sample};
use crate::search::{self, Candidate, Judge, Origin};
use crate::specimen::Recipe;

/// The bytes that are written in memory to measure the cost of filters.
const CODEC_BYTES: u64 = 8 << 20;
/// The chunks that a sample should have along each axis.
const CHUNKS_ALONG: u64 = 2;

/// What is tuned, and for which reads.
#[derive(Debug)]
pub struct Tuning<'a> {
    /// The file of the dataset, which is read to measure the medium.
    pub file: &'a Path,
    /// A dataset that [`check`] accepts.
    pub dataset: &'a Dataset,
    /// The reads.
    pub accesses: Vec<Access>,
    /// The filters of chunks; `None` for those of the dataset.
    pub filters: Option<Vec<FilterChoice>>,
    /// The edges of the cubic chunks to try.
    pub edges: &'a [u64],
    /// The seconds of a small request; `None` to measure them.
    pub latency: Option<f64>,
    /// The bytes per second of the medium; `None` to measure them.
    pub bandwidth: Option<u64>,
    /// How samples are measured; `None` to only predict.
    pub sampling: Option<Sampling<'a>>,
}

/// How samples are measured.
#[derive(Debug, Clone, Copy)]
pub struct Sampling<'a> {
    /// The most bytes of the sample that is written in each shape.
    pub bytes: u64,
    /// The folder for the samples.
    pub folder: &'a Path,
    /// How often each read is timed.
    pub rounds: u16,
}

/// Checks that the chunk shape makes a difference to this dataset.
pub fn check(dataset: &Dataset) -> Result<(), WrongArgument> {
    let (path, shape) = (dataset.path(), dataset.shape());
    let why = match &shape[..] {
        [] => "it is a scalar, which has no chunks",
        _ if shape.contains(&0) => "it is empty: write to it first, or use repack --chunks auto",
        _ if dataset.datatype().has_variable_parts() => {
            "its elements have variable lengths and are stored outside the chunks"
        }
        _ => return Ok(()),
    };
    Err(WrongArgument(format!("{path}: {why}")))
}

/// Finds the chunk shape, and says on `steps` what it does. A prediction takes seconds, and measurements take
/// minutes.
pub fn tune(tuning: Tuning<'_>, steps: &mut Steps<'_>) -> anyhow::Result<Report> {
    let dataset = tuning.dataset;
    let shape = dataset.shape();
    let array = ArrayFacts { shape: shape.clone(), element_size: dataset.element_size() as u64 };
    let is_given = tuning.latency.is_some() || tuning.bandwidth.is_some();
    let recipe = Recipe { dataset, filters: tuning.filters };
    let given = GivenMedium { latency: tuning.latency, bandwidth: tuning.bandwidth };
    let (machine, ratio, is_dropped) = given.machine(tuning.file, &recipe, &array, steps)?;
    let accesses = tuning.accesses;
    let engine = Engine { hints: dataset.file().store().hints(), threads: threads() };
    let judge = Judge { array: &array, accesses: &accesses, machine: &machine, engine, ratio };
    let candidates = search::candidates(&judge, present(dataset).as_ref(), tuning.edges);
    let mut report = Report {
        array: array.clone(),
        machine,
        ratio,
        is_dropped,
        is_given,
        sample: None,
        rows: candidates.iter().map(|candidate| Row::predicted(candidate.clone(), &judge)).collect(),
        accesses: accesses.clone(),
    };
    let Some(Sampling { bytes, folder, rounds }) = tuning.sampling else { return Ok(report) };
    let least: Vec<u64> =
        shape.iter().map(|_| CHUNKS_ALONG * tuning.edges.iter().max().unwrap_or(&1)).collect();
    let part = sample::proportional(&shape, &least, bytes / array.element_size.max(1));
    steps.say("reading a sample".to_owned());
    let sample = Sample::read(dataset, part)?;
    let within: Vec<_> = accesses.iter().map(|access| access.within(&shape, &sample.shape)).collect();
    let measured =
        measure::measure(&recipe, &sample, &candidates, &within, folder, usize::from(rounds), steps)
            .with_context(|| format!("samples of {}", dataset.path()))?;
    let part = ArrayFacts { shape: sample.shape.clone(), ..array.clone() };
    report.add_measured(measured, &judge, &Judge { array: &part, accesses: &within, ..judge });
    report.sample = Some(SampleFacts { is_all: sample.is_all(&shape), shape: sample.shape, rounds });
    Ok(report)
}

/// What the user says of the medium.
struct GivenMedium {
    latency: Option<f64>,
    bandwidth: Option<u64>,
}

impl GivenMedium {
    /// Measures the machine. Returns its speeds, how small filters make the elements, and whether pages could
    /// be dropped.
    fn machine(
        &self,
        file: &Path,
        recipe: &Recipe<'_>,
        array: &ArrayFacts,
        steps: &mut Steps<'_>,
    ) -> anyhow::Result<(Machine, Option<Ratio>, bool)> {
        steps.say("measuring the medium".to_owned());
        let opened = fs::File::open(file).with_context(|| file.display().to_string())?;
        let found = medium::measure(&opened, threads()).with_context(|| file.display().to_string())?;
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

/// Returns the present storage of the dataset, if it is in this file.
fn present(dataset: &Dataset) -> Option<Candidate> {
    if let Some(chunk) = dataset.chunk_shape() {
        return Some(Candidate { chunk, origin: Origin::Present });
    }
    let is_elsewhere = dataset.is_virtual() || dataset.has_external_files();
    (!is_elsewhere).then(|| Candidate { chunk: dataset.shape(), origin: Origin::Contiguous })
}
