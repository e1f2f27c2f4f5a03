//! Export of a survey in HDF5 to the SEG-Y file from which it was made, byte for byte.

use std::path::Path;
use std::sync::Mutex;

use hyperslab::driver::{Aside, Driver};
use hyperslab::internals::engine::each_number;
use hyperslab::{Dataset, Progress, Selection};

use crate::cube::{self, Cube};
use crate::encode::Encoder;
use crate::error::{Error, Result};
use crate::ingest::tell;
use crate::pieces::{self, Piece, Slot};
use crate::survey::{Keys, Survey, TraceMap};
use crate::{io, ranges};

/// The most bytes of samples in memory.
const MEMORY: u64 = 256 << 20;
/// The bytes that one thread encodes and writes at a time.
const RUN_BYTES: u64 = 2 << 20;
/// The bytes that are copied at a time, of the parts before and after the traces.
const COPY_BYTES: u64 = 1 << 20;

/// An export in progress.
struct Export<'a> {
    cube: &'a Cube,
    out: &'a dyn Driver,
    name: &'a str,
    encoder: Encoder<'a>,
    first_trace: u64,
    survey: Survey,
    /// For traces of several lengths, the offset of each trace.
    offsets: Option<Vec<u64>>,
}

/// Creates the file `to`, which must not exist, with the contents that `write` writes. `write` also gets the
/// name of the file for errors.
pub(crate) fn new_file(to: &Path, write: impl FnOnce(&dyn Driver, &str) -> Result<()>) -> Result<()> {
    let name = to.display().to_string();
    if to.exists() {
        return Err(Error::argument(name, "it exists: choose another name, or remove it"));
    }
    let aside = Aside::new(to).map_err(io(&name))?;
    write(&**aside.medium(), &name)?;
    aside.finish().map_err(io(&name))
}

/// Writes the SEG-Y file from which a survey was made to `to`, which must not exist, with the samples that
/// the survey has now.
///
/// The file gets its name only when it is complete.
pub fn export(cube: &Cube, to: impl AsRef<Path>, progress: Progress<'_>) -> Result<()> {
    new_file(to.as_ref(), |out, name| export_to(cube, out, name, progress))
}

/// Exports as [`export`] does, into an empty file on any medium. Errors call the file `name`.
pub fn export_to(cube: &Cube, out: &dyn Driver, name: &str, progress: Progress<'_>) -> Result<()> {
    let file = &cube.file;
    let header = file.dataset(cube::FILE_HEADER)?;
    let shape: Vec<u64> = cube.axes.iter().map(|axis| axis.values.len() as u64).collect();
    let map: Vec<i64> = file.dataset(cube::TRACE)?.read(Selection::All)?;
    let map = TraceMap::Table(
        map.into_iter().map(|trace| u64::try_from(trace).unwrap_or(TraceMap::NONE)).collect(),
    );
    let survey = Survey::new(cube.kind, Keys::default(), cube.axes.clone(), map);
    let mut export = Export {
        cube,
        out,
        name,
        encoder: Encoder::new(cube)?,
        first_trace: header.shape().iter().product(),
        survey,
        offsets: None,
    };
    let traces = export.encoder.traces();
    let mut end = export.first_trace + traces * export.encoder.trace_bytes(export.encoder.samples());
    if cube.source.padded {
        (export.offsets, end) = export.offsets(traces)?;
    }
    export.copy(&header, 0)?;
    let root = file.root();
    if root.contains(cube::TRAILER)? {
        export.copy(&root.dataset(cube::TRAILER)?, end)?;
    }
    let chunk = cube.data.chunk_shape().unwrap_or_else(|| cube.data.shape());
    let element = cube.source.format.stored().size() as u64;
    let samples = export.encoder.samples();
    let side = pieces::side(&export.survey, samples, &chunk, element, MEMORY);
    let pieces = pieces::pieces(&export.survey, samples, &side);
    for (number, piece) in pieces.iter().enumerate() {
        export.piece(piece, &shape)?;
        let total = cube.source.bytes;
        tell(progress, total / pieces.len() as u64 * (number as u64 + 1), total)?;
    }
    out.flush(true).map_err(io(name))
}

impl Export<'_> {
    /// Returns the offset of a trace.
    fn offset(&self, trace: u64) -> u64 {
        match &self.offsets {
            None => self.first_trace + trace * self.encoder.trace_bytes(self.encoder.samples()),
            Some(offsets) => offsets[usize::try_from(trace).unwrap_or(usize::MAX)],
        }
    }

    /// Returns the offset of each trace, and of the end, from the number of samples in the trace headers.
    fn offsets(&self, traces: u64) -> Result<(Option<Vec<u64>>, u64)> {
        let mut offset = self.first_trace;
        let mut offsets = Vec::new();
        let headers = self.encoder.headers(0..traces)?;
        for (trace, headers) in (0..).zip(headers.chunks(self.encoder.header_bytes())) {
            offsets.push(offset);
            offset += self.encoder.trace_bytes(self.encoder.own_samples(trace, headers)?);
        }
        Ok((Some(offsets), offset))
    }

    fn copy(&self, dataset: &Dataset, at: u64) -> Result<()> {
        let len = dataset.shape().iter().product::<u64>();
        for start in (0..len).step_by(usize::try_from(COPY_BYTES).unwrap_or(1)) {
            let bytes: Vec<u8> = dataset.read(start..len.min(start + COPY_BYTES))?;
            self.out.write_at(at + start, &bytes).map_err(io(self.name))?;
        }
        Ok(())
    }

    /// Writes the traces of a piece, or the part of their samples that the piece has.
    fn piece(&self, piece: &Piece, shape: &[u64]) -> Result<()> {
        let format = self.cube.source.format;
        let samples = piece.samples();
        let len = usize::try_from(samples.end - samples.start).unwrap_or(0);
        let row = len * format.stored().size();
        let mut values = vec![0; piece.places() * row];
        self.cube.data.read_into(ranges(&piece.ranges), &mut values)?;
        let slots = piece.slots(&self.survey.map, shape);
        let most =
            usize::try_from(RUN_BYTES / self.encoder.trace_bytes(self.encoder.samples()).max(1)).unwrap_or(1);
        let runs: Vec<&[Slot]> = pieces::runs(&slots, most).collect();
        let is_whole = samples.start == 0 && samples.end == self.encoder.samples() && self.offsets.is_none();
        // The buffers of the threads, which are reused.
        let buffers: Mutex<Vec<Vec<u8>>> = Mutex::default();
        each_number(runs.len() as u64, &|number| {
            let run = runs[usize::try_from(number).unwrap_or(0)];
            let value = |slot: &Slot| &values[slot.place * row..][..row];
            if is_whole {
                let take = || buffers.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                let mut buffer = take().pop().unwrap_or_default();
                self.run(run, &value, &mut buffer)?;
                take().push(buffer);
                return Ok(());
            }
            run.iter().try_for_each(|slot| self.part(slot, value(slot), &samples))
        })
    }

    /// Writes traces that are neighbours in the file in one call.
    fn run<'v>(&self, run: &[Slot], value: &dyn Fn(&Slot) -> &'v [u8], buffer: &mut Vec<u8>) -> Result<()> {
        let first = run[0].trace;
        let headers = self.encoder.headers(first..first + run.len() as u64)?;
        let trace_bytes = usize::try_from(self.encoder.trace_bytes(self.encoder.samples())).unwrap_or(0);
        buffer.resize(run.len() * trace_bytes, 0);
        let traces = buffer.chunks_mut(trace_bytes).zip(headers.chunks(self.encoder.header_bytes()));
        for (slot, (trace, header)) in run.iter().zip(traces) {
            let (head, data) = trace.split_at_mut(self.encoder.header_bytes());
            head.copy_from_slice(header);
            self.encoder.encode(slot.trace, value(slot), 0, data)?;
        }
        self.out.write_at(self.offset(first), buffer).map_err(io(self.name))
    }

    /// Writes some samples of a trace, and its headers if the first sample is among them.
    fn part(&self, slot: &Slot, values: &[u8], samples: &std::ops::Range<u64>) -> Result<()> {
        let format = self.cube.source.format;
        let headers = self.encoder.headers(slot.trace..slot.trace + 1)?;
        let offset = self.offset(slot.trace);
        if samples.start == 0 {
            self.out.write_at(offset, &headers).map_err(io(self.name))?;
        }
        let own = match self.offsets {
            Some(_) => self.encoder.own_samples(slot.trace, &headers)?,
            None => self.encoder.samples(),
        };
        let len = usize::try_from(samples.end.min(own).saturating_sub(samples.start)).unwrap_or(0);
        let mut data = vec![0; len * format.size()];
        self.encoder.encode(slot.trace, &values[..len * format.stored().size()], samples.start, &mut data)?;
        let start = offset + headers.len() as u64 + samples.start * format.size() as u64;
        self.out.write_at(start, &data).map_err(io(self.name))
    }
}
