//! SEG-Y into HDF5, in one pass over the file. Each piece is transposed into chunks, and the file is
//! committed at intervals.

mod read;
mod write;

use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use hyperslab::driver::Aside;
use hyperslab::{Attribute, File, Progress};
use hyperslab_filters::FilterChoice;

use crate::cube::{self, attribute};
use crate::error::{Error, OVERWRITE, Result};
use crate::file::{SegyFile, SegyOptions};
use crate::io;
use crate::pieces::{self, Piece};
use crate::survey::{Survey, SurveyOptions};
use read::Filled;

/// The time between commits, which bounds the work that is repeated after a crash.
const COMMIT_EVERY: Duration = Duration::from_secs(2);

/// Options for converting a SEG-Y file to HDF5.
#[derive(Debug, Clone)]
pub struct IngestOptions {
    /// The options for opening the SEG-Y file.
    pub segy: SegyOptions,
    /// The known facts of the survey.
    pub survey: SurveyOptions,
    /// The filters of the chunks of samples.
    pub filters: Vec<FilterChoice>,
    /// The shape of chunks, samples last. `None` chooses one.
    pub chunks: Option<Vec<u64>>,
    /// Whether the axis of samples is time or depth.
    pub domain: Domain,
    /// The most bytes of samples in memory.
    pub memory: u64,
    /// Replaces an existing file. Without this, a file that an interrupted ingest left is completed, and any
    /// other existing file is an error.
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

/// The meaning of the axis of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// Two-way travel time, in milliseconds.
    Time,
    /// Depth, in metres or feet.
    Depth,
}

/// The result of an ingest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ingested {
    /// The lengths of the axes, samples last.
    pub shape: Vec<u64>,
    /// The number of traces that were read.
    pub traces: u64,
    /// The number of IBM floats whose words are kept in addition to the nearest IEEE floats.
    pub ibm_words: u64,
    /// Whether the ingest completed an interrupted one.
    pub resumed: bool,
    /// A note for the user about the geometry.
    pub note: Option<String>,
}

/// Reports progress in bytes of the SEG-Y file, and returns an error if the progress function asks to stop.
pub(crate) fn tell(progress: Progress<'_>, done: u64, total: u64) -> Result<()> {
    if progress(done, total).is_break() { Err(Error::Stopped) } else { Ok(()) }
}

/// Converts the SEG-Y file at `from` to a new HDF5 file at `to`.
///
/// The file is committed every two seconds, and when `progress` stops the ingest, which then returns
/// [`Error::Stopped`]. If the program ends early,
/// the same call continues from the last commit. Until the ingest is complete,
/// [`Cube::open`](crate::Cube::open) refuses the file.
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
        // The sampled traces agreed with a prediction that other traces contradict. The file made so far has
        // the wrong shape.
        Err(Stop::Mispredicted) => {
            let anew = IngestOptions { overwrite: true, ..options.clone() };
            all(&Survey::scan(&segy, &options.survey)?, &anew)
        }
        // An interrupted ingest had already found that the prediction was wrong.
        Err(Stop::OtherSurvey) if survey.is_predicted => all(&Survey::scan(&segy, &options.survey)?, options),
        done => done,
    }
    .map_err(|stop| stop.into_error(&segy, to))
}

/// Converts a SEG-Y file to a new HDF5 file on any medium. Committing the file is left to the caller, except
/// for intermediate commits.
pub fn ingest_into(
    segy: &SegyFile,
    file: &File,
    options: &IngestOptions,
    progress: Progress<'_>,
) -> Result<Ingested> {
    let survey = Survey::scan(segy, &options.survey)?;
    cube::create(file, segy, &survey, options)?;
    let done = run(segy, file, &survey, 0, options, progress);
    done.map_err(|stop| stop.into_error(segy, file.path().unwrap_or(Path::new("the new file"))))
}

/// The reason why an ingest stopped.
enum Stop {
    /// A trace does not have its predicted position.
    Mispredicted,
    /// The file of an interrupted ingest has another layout.
    OtherSurvey,
    /// Any other error.
    Failed(Error),
}

impl Stop {
    fn into_error(self, segy: &SegyFile, to: &Path) -> Error {
        match self {
            Self::Failed(error) => error,
            Self::OtherSurvey => Error::argument(
                to.display().to_string(),
                format!(
                    "an interrupted ingest created it with another geometry: name the same bytes and kind, or {OVERWRITE}"
                ),
            ),
            Self::Mispredicted => Error::geometry(
                segy.path(),
                "a trace header disagrees with the earlier scan of all headers: the file changed while it was read",
            ),
        }
    }
}

impl<E: Into<Error>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// Converts all pieces that are not done yet.
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
                // The receiver is closed if a write failed.
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
            // The send fails after the last piece, because the reader has ended.
            let _ = give_back.send(filled.samples);
        }
        Ok(())
    })?;
    let ibm_words = writer.ibm_words()?;
    let group = file.group(cube::SEGY)?;
    for name in [attribute::PIECE_SHAPE, attribute::PREDICTED, attribute::PIECES] {
        group.remove_attribute(name)?;
    }
    // The work is complete, so a request to stop has no effect.
    let _ = progress(total, total);
    Ok(Ingested {
        shape: survey.data_shape(samples),
        traces: segy.traces.count(),
        ibm_words,
        resumed: done > 0,
        note: survey.note.clone(),
    })
}

/// Returns the shape of pieces. An interrupted ingest keeps the shape with which it began, because its
/// finished pieces are counted.
fn piece_shape(file: &File, chunk: &[u64], wanted: Vec<u64>) -> Result<Vec<u64>> {
    let group = file.group(cube::SEGY)?;
    let known = cube::numbers(&group, attribute::PIECE_SHAPE)?;
    if let Some(known) = known {
        // Pieces are whole chunks or end with the survey, like the pieces that `wanted` describes.
        let shape = file.dataset(cube::DATA)?.shape();
        let is_whole =
            |(&side, (&chunk, &len)): (&u64, (&u64, &u64))| side > 0 && (side % chunk == 0 || side == len);
        let is_right = known.len() == shape.len() && known.iter().zip(chunk.iter().zip(&shape)).all(is_whole);
        return if is_right {
            Ok(known)
        } else {
            Err(Error::argument(
                format!("pieces of shape {known:?}"),
                format!("they are not whole chunks: ingest into another file, or {OVERWRITE}"),
            ))
        };
    }
    group.put_attribute(&Attribute::numbers(attribute::PIECE_SHAPE, &wanted))?;
    Ok(wanted)
}

/// Opens the file, new or as an interrupted ingest left it, and returns it with the number of finished
/// pieces.
fn open(segy: &SegyFile, to: &Path, survey: &Survey, options: &IngestOptions) -> Result<(File, u64), Stop> {
    // An empty file only reserves the name, as temporary files do.
    let is_there = to.metadata().is_ok_and(|found| found.len() > 0);
    if is_there && !options.overwrite {
        return interrupted(segy, to, survey, options).map_err(|stop| match stop {
            Stop::Failed(error) => Stop::Failed(error.opening(to)),
            stop => stop,
        });
    }
    // A wrong argument must not destroy an existing file.
    cube::data_options(segy, survey, options)?;
    // If the program is killed, the name refers to the previous file or to a new file that can be continued.
    let name = to.display().to_string();
    let aside = Aside::new(to).map_err(io(&name))?;
    let file =
        File::options().create(true).truncate(true).location(to).open_on(Arc::clone(aside.medium()) as _)?;
    cube::create(&file, segy, survey, options)?;
    file.flush()?;
    aside.finish().map_err(io(&name))?;
    Ok((file, 0))
}

/// Opens the file that an interrupted ingest left, and returns it with the number of finished pieces.
fn interrupted(
    segy: &SegyFile,
    to: &Path,
    survey: &Survey,
    options: &IngestOptions,
) -> Result<(File, u64), Stop> {
    let file = File::options().write(true).open(to)?;
    let Some(done) = cube::Cube::pieces_done(&file, segy)? else {
        return Err(Stop::Failed(Error::argument(
            to.display().to_string(),
            format!(
                "it exists, and is not an interrupted ingest of this SEG-Y file: choose another name, or {OVERWRITE}"
            ),
        )));
    };
    if !cube::Cube::is_laid_out_as(&file, segy, survey)? {
        return Err(Stop::OtherSurvey);
    }
    if !cube::Cube::is_stored_as(&file, segy, survey, options)? {
        return Err(Stop::Failed(Error::argument(
            to.display().to_string(),
            format!(
                "an interrupted ingest created it with other chunks or filters, or in time instead of depth: omit these \
                 options to continue it, or {OVERWRITE}"
            ),
        )));
    }
    Ok((file, done))
}
