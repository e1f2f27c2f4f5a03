//! SEG-Y into HDF5: one pass over the file, piece by piece, each transposed into chunks, and committed every now and then.

mod read;
mod write;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use hyperslab::driver::Aside;
use hyperslab::{Attribute, File};
use hyperslab_filters::FilterChoice;

use crate::cube::{self, attribute};
use crate::error::{Error, Result};
use crate::file::{SegyFile, SegyOptions};
use crate::io;
use crate::pieces::{self, Piece};
use crate::survey::{Survey, SurveyOptions};
use read::Filled;

/// How often what was written is committed: so much work is done again after a crash.
const COMMIT_EVERY: Duration = Duration::from_secs(2);

/// How a SEG-Y file is brought into HDF5.
#[derive(Debug, Clone)]
pub struct IngestOptions {
    /// How the SEG-Y file is taken.
    pub segy: SegyOptions,
    /// What is known of the survey.
    pub survey: SurveyOptions,
    /// Filters that chunks of samples go through.
    pub filters: Vec<FilterChoice>,
    /// The shape of chunks, samples last; chosen if not said.
    pub chunks: Option<Vec<u64>>,
    /// Whether samples follow each other in time or in depth.
    pub domain: Domain,
    /// Bytes of samples in memory.
    pub memory: u64,
    /// Replaces a file that is there. Else one that an earlier ingest left incomplete is completed, any other an error.
    pub overwrite: bool,
}

impl Default for IngestOptions {
    fn default() -> Self {
        Self {
            segy: SegyOptions::default(),
            survey: SurveyOptions::default(),
            filters: Vec::new(),
            chunks: None,
            domain: Domain::Time,
            memory: 512 << 20,
            overwrite: false,
        }
    }
}

/// What samples follow each other in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// Two-way travel time, in milliseconds.
    Time,
    /// Depth, in metres or feet.
    Depth,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ingested {
    /// The lengths of the axes, samples last.
    pub shape: Vec<u64>,
    /// Traces that were taken.
    pub traces: u64,
    /// IBM floats that are kept as they were, beside the nearest IEEE floats.
    pub ibm_words: u64,
    /// Whether an earlier ingest had begun it.
    pub resumed: bool,
    /// What a person should know of the geometry.
    pub note: Option<String>,
}

/// Is told how many bytes of the SEG-Y file are done, and how many there are; a break ends the work with [`Error::Stopped`].
pub type Progress<'a> = &'a (dyn Fn(u64, u64) -> ControlFlow<()> + Sync);

/// A [`Progress`] that nobody looks at.
pub fn silent(_done: u64, _total: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Tells of the progress.
pub(crate) fn tell(progress: Progress<'_>, done: u64, total: u64) -> Result<()> {
    if progress(done, total).is_break() { Err(Error::Stopped) } else { Ok(()) }
}

/// Brings the SEG-Y file at `from` into a new HDF5 file at `to`.
///
/// The file is committed every other second, and when `progress` breaks off: if the program ends too soon, the same call goes on
/// where it was. Until then [`Cube::open`](crate::Cube::open) refuses the file.
pub fn ingest(
    from: impl AsRef<Path>,
    to: impl AsRef<Path>,
    options: &IngestOptions,
    progress: Progress<'_>,
) -> Result<Ingested> {
    let segy = SegyFile::open(from, &options.segy)?;
    let survey = Survey::find(&segy, &options.survey)?;
    let to = to.as_ref();
    let all = |survey: &Survey, options: &IngestOptions| {
        let (file, done) = open(&segy, to, survey, options)?;
        let ingested = run(&segy, &file, survey, done, options, progress)?;
        file.close()?;
        Ok(ingested)
    };
    match all(&survey, options) {
        // A few traces looked as if all were in order, and they are not: what was made of it has the wrong shape.
        Err(Stop::Mispredicted) => {
            let anew = IngestOptions { overwrite: true, ..options.clone() };
            all(&Survey::scan(&segy, &options.survey)?, &anew)
        }
        // An ingest that has found so and was then broken off.
        Err(Stop::OtherSurvey) if survey.is_predicted => all(&Survey::scan(&segy, &options.survey)?, options),
        done => done,
    }
    .map_err(|stop| stop.into_error(to))
}

/// The same into a new HDF5 file, wherever it is, of which nothing is committed but by who made it.
pub fn ingest_into(
    segy: &SegyFile,
    file: &File,
    options: &IngestOptions,
    progress: Progress<'_>,
) -> Result<Ingested> {
    let survey = Survey::scan(segy, &options.survey)?;
    cube::create(file, segy, &survey, options)?;
    let done = run(segy, file, &survey, 0, options, progress);
    done.map_err(|stop| stop.into_error(file.path().unwrap_or(Path::new("the new file"))))
}

/// Why a piece was not done.
enum Stop {
    /// A trace is not where it was predicted.
    Mispredicted,
    /// What an ingest that was broken off has left is laid out in another way.
    OtherSurvey,
    /// Anything else.
    Failed(Error),
}

impl Stop {
    fn into_error(self, to: &Path) -> Error {
        match self {
            Self::Failed(error) => error,
            Self::OtherSurvey => Error::argument(
                to.display().to_string(),
                "an ingest that was broken off has begun it with another geometry: name the same bytes and kind, or ask to overwrite it",
            ),
            Self::Mispredicted => Error::Geometry(
                "a trace is not where all headers together say: the file changed while it was read"
                    .to_owned(),
            ),
        }
    }
}

impl<E: Into<Error>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// Brings all pieces but those that are done into the file.
fn run(
    segy: &SegyFile,
    file: &File,
    survey: &Survey,
    done: u64,
    options: &IngestOptions,
    progress: Progress<'_>,
) -> Result<Ingested, Stop> {
    let data = file.dataset(cube::DATA)?;
    let format = segy.layout.format;
    let chunk = data.chunk_shape().unwrap_or_default();
    let samples = u64::from(segy.traces.samples());
    // One piece is read while another is written.
    let side = pieces::side(survey, samples, &chunk, format.stored().size() as u64, options.memory / 2);
    let pieces = pieces::pieces(survey, samples, &piece_shape(file, &chunk, side)?);
    let total = segy.len_bytes();
    let share = |number: usize| total / pieces.len().max(1) as u64 * number as u64;
    let writer = write::Writer::new(file, segy, survey)?;
    let skipped = usize::try_from(done).unwrap_or(usize::MAX).min(pieces.len());
    tell(progress, share(skipped), total)?;
    let mut committed = Instant::now();
    std::thread::scope(|scope| -> Result<(), Stop> {
        let (sender, filled) = mpsc::sync_channel::<Result<Filled, Stop>>(0);
        let (give_back, used) = mpsc::channel::<Vec<u8>>();
        let (todo, chunk): (&[Piece], &[u64]) = (&pieces[skipped..], &chunk);
        scope.spawn(move || {
            let reader = read::Reader::new(segy, survey, chunk);
            for piece in todo {
                let filled = reader.fill(piece, used.try_recv().unwrap_or_default());
                let is_last = filled.is_err();
                // Nobody listens any more if a write failed.
                if sender.send(filled).is_err() || is_last {
                    return;
                }
            }
        });
        for (number, filled) in (skipped + 1..).zip(filled) {
            let filled = filled?;
            writer.write(&filled)?;
            let told = tell(progress, share(number), total);
            if told.is_err() || committed.elapsed() > COMMIT_EVERY {
                file.group(cube::SEGY)?
                    .put_attribute(&Attribute::number(attribute::PIECES, number as u64))?;
                file.flush()?;
                committed = Instant::now();
            }
            told?;
            // The reader has ended after the last piece.
            let _ = give_back.send(filled.samples);
        }
        Ok(())
    })?;
    let ibm_words = writer.ibm_words()?;
    let group = file.group(cube::SEGY)?;
    for name in [attribute::PIECE_SHAPE, attribute::PREDICTED, attribute::PIECES] {
        group.remove_attribute(name)?;
    }
    // All is done, whatever is said to it.
    let _ = progress(total, total);
    Ok(Ingested {
        shape: survey.data_shape(samples),
        traces: segy.traces.count(),
        ibm_words,
        resumed: done > 0,
        note: survey.note.clone(),
    })
}

/// The shape of pieces: that with which an ingest began, as those are counted.
fn piece_shape(file: &File, chunk: &[u64], wanted: Vec<u64>) -> Result<Vec<u64>> {
    let group = file.group(cube::SEGY)?;
    let known = cube::numbers(&group, attribute::PIECE_SHAPE)?;
    if let Some(known) = known {
        // Pieces are made of whole chunks, or end with the survey, as do those that are wanted now.
        let shape = file.dataset(cube::DATA)?.shape();
        let is_whole =
            |(&side, (&chunk, &len)): (&u64, (&u64, &u64))| side > 0 && (side % chunk == 0 || side == len);
        let is_right = known.len() == shape.len() && known.iter().zip(chunk.iter().zip(&shape)).all(is_whole);
        return if is_right {
            Ok(known)
        } else {
            Err(Error::argument(
                format!("pieces of shape {known:?}"),
                "they are no whole chunks: ingest the SEG-Y file anew",
            ))
        };
    }
    group.put_attribute(&Attribute::numbers(attribute::PIECE_SHAPE, &wanted))?;
    Ok(wanted)
}

/// The file, new or as an earlier ingest left it, and how many pieces are in it.
fn open(segy: &SegyFile, to: &Path, survey: &Survey, options: &IngestOptions) -> Result<(File, u64), Stop> {
    // One without a byte is a name that somebody keeps for it.
    let is_there = to.metadata().is_ok_and(|found| found.len() > 0);
    if is_there && !options.overwrite {
        let file = File::options().write(true).open(to)?;
        let Some(done) = cube::Cube::pieces_done(&file, segy)? else {
            return Err(Stop::Failed(Error::argument(
                to.display().to_string(),
                "it exists, and is no ingest of this SEG-Y file that was broken off: choose another name, or ask to overwrite it",
            )));
        };
        if !cube::Cube::is_laid_out_as(&file, segy, survey)? {
            return Err(Stop::OtherSurvey);
        }
        if !cube::Cube::is_stored_as(&file, segy, survey, options)? {
            return Err(Stop::Failed(Error::argument(
                to.display().to_string(),
                "an ingest that was broken off has begun it with other chunks or filters, or in time and not in depth: leave them out to go \
                 on as it was begun, or ask to overwrite it",
            )));
        }
        return Ok((file, done));
    }
    // A wrong argument costs no file that is there.
    cube::data_options(segy, survey, options)?;
    // A program that is killed leaves a file to go on with, or the one that was there.
    let name = to.display().to_string();
    let aside = Aside::new(to).map_err(io(&name))?;
    let file =
        File::options().create(true).truncate(true).location(to).open_on(Arc::clone(aside.medium()) as _)?;
    cube::create(&file, segy, survey, options)?;
    file.flush()?;
    aside.finish().map_err(io(&name))?;
    Ok((file, 0))
}
