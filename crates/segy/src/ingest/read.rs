//! Reads the traces of a piece into memory, in the layout of the piece.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hyperslab::internals::engine::each_number;

use super::Stop;
use crate::error::{Error, Result};
use crate::field::FieldKind;
use crate::file::{SegyFile, Traces};
use crate::pieces::{self, Piece, Slot};
use crate::survey::Survey;

/// The bytes of the file that one thread reads at a time. They stay in its cache until they are converted.
const RUN_BYTES: u64 = 512 << 10;

/// A piece with its samples.
pub(super) struct Filled {
    pub(super) piece: Piece,
    /// The samples, chunk after chunk, as HDF5 stores them.
    pub(super) samples: Vec<u8>,
    /// The traces, in the order of the file.
    pub(super) slots: Vec<Slot>,
    /// All headers of each trace; empty if they belong to an earlier piece with other samples of the same
    /// traces.
    pub(super) headers: Vec<u8>,
    /// The IBM floats that IEEE floats do not represent bit for bit.
    pub(super) words: Vec<IbmWord>,
}

/// An IBM float that an IEEE float does not represent bit for bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct IbmWord {
    pub(super) trace: u64,
    pub(super) sample: u32,
    pub(super) word: u32,
}

/// A reader of pieces.
pub(super) struct Reader<'a> {
    segy: &'a SegyFile,
    survey: &'a Survey,
    shape: Vec<u64>,
    chunk: &'a [u64],
    /// The buffers of the threads, which are reused.
    buffers: Mutex<Vec<Vec<u8>>>,
    /// Whether the lengths of traces in the file header are certain; `None` until this has been determined.
    is_certain: Mutex<Option<bool>>,
}

/// A run of traces, and its destination.
struct TraceRun<'r> {
    slots: &'r [Slot],
    /// The destination of the samples: for each trace, its parts in the chunks that hold it, one after
    /// another.
    parts: Vec<&'r mut [u8]>,
    headers: &'r mut [u8],
    words: Vec<IbmWord>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(segy: &'a SegyFile, survey: &'a Survey, chunk: &'a [u64]) -> Self {
        let shape = survey.shape();
        Self { segy, survey, shape, chunk, buffers: Mutex::default(), is_certain: Mutex::new(None) }
    }

    /// Reads a piece. `buffer` is reused for its samples.
    pub(super) fn fill(&self, piece: &Piece, mut buffer: Vec<u8>) -> Result<Filled, Stop> {
        let stored = self.segy.layout.format.stored();
        let samples = piece.samples();
        let slots = piece.slots(&self.survey.map, &self.shape);
        let row = usize::try_from(samples.end - samples.start).unwrap_or(0) * stored.size();
        buffer.resize(piece.places() * row, 0);
        if slots.len() < piece.places() || self.segy.traces.vary() {
            blank(&mut buffer, stored);
        }
        let header_bytes = if samples.start == 0 { self.segy.layout.header_bytes() } else { 0 };
        let mut headers = vec![0; slots.len() * header_bytes];
        let words = self.read_runs(piece, &slots, &mut buffer, &mut headers, header_bytes)?;
        Ok(Filled { piece: piece.clone(), samples: buffer, slots, headers, words })
    }

    /// Reads all runs of a piece, on all threads.
    fn read_runs(
        &self,
        piece: &Piece,
        slots: &[Slot],
        buffer: &mut [u8],
        mut headers: &mut [u8],
        header_bytes: usize,
    ) -> Result<Vec<IbmWord>, Stop> {
        let layout = &self.segy.layout;
        let mut parts = pieces::parts(piece, self.chunk, layout.format.stored().size(), buffer);
        let per_trace = parts.len() / piece.places().max(1);
        let most = RUN_BYTES / layout.trace_bytes(self.segy.traces.samples());
        let runs: Vec<Mutex<TraceRun<'_>>> = pieces::runs(slots, usize::try_from(most).unwrap_or(1))
            .map(|slots| {
                let (own, others) = std::mem::take(&mut headers).split_at_mut(slots.len() * header_bytes);
                headers = others;
                let mut own_parts = Vec::with_capacity(slots.len() * per_trace);
                for slot in slots {
                    let of_slot = &mut parts[slot.place * per_trace..(slot.place + 1) * per_trace];
                    own_parts.extend(of_slot.iter_mut().map(std::mem::take));
                }
                Mutex::new(TraceRun { slots, parts: own_parts, headers: own, words: Vec::new() })
            })
            .collect();
        each_number(runs.len() as u64, &|number| {
            let run = &runs[usize::try_from(number).unwrap_or(0)];
            let mut run = run.lock().unwrap_or_else(PoisonError::into_inner);
            let mut buffer = self.buffers().pop().unwrap_or_default();
            let is_right = self.read(&mut run, per_trace, &piece.samples(), &mut buffer)?;
            self.buffers().push(buffer);
            if is_right { Ok(()) } else { Err(Stop::Mispredicted) }
        })?;
        Ok(runs
            .into_iter()
            .flat_map(|run| run.into_inner().unwrap_or_else(PoisonError::into_inner).words)
            .collect())
    }

    /// Reads a run, in one request if its traces are needed whole, else trace by trace. Returns whether each
    /// trace has its predicted position.
    fn read(
        &self,
        run: &mut TraceRun<'_>,
        per_trace: usize,
        samples: &Range<u64>,
        bytes: &mut Vec<u8>,
    ) -> Result<bool> {
        let (layout, traces) = (&self.segy.layout, &self.segy.traces);
        let header_bytes = layout.header_bytes();
        let has_headers = samples.start == 0;
        let is_whole = has_headers && samples.end == u64::from(traces.samples()) && !traces.vary();
        let trace_bytes = usize::try_from(layout.trace_bytes(traces.samples())).unwrap_or(0);
        if is_whole {
            bytes.resize(run.slots.len() * trace_bytes, 0);
            self.segy.read_at(traces.offset(run.slots[0].trace), bytes)?;
        }
        for (i, slot) in run.slots.iter().enumerate() {
            let trace: &[u8] = if is_whole {
                &bytes[i * trace_bytes..][..trace_bytes]
            } else {
                self.read_part(slot.trace, samples, bytes)?;
                bytes
            };
            let (header, data) = trace.split_at(if has_headers { header_bytes } else { 0 });
            if has_headers {
                if !self.check(slot, header)? {
                    return Ok(false);
                }
                run.headers[i * header_bytes..][..header_bytes].copy_from_slice(header);
            }
            let parts = &mut run.parts[i * per_trace..][..per_trace];
            self.decode(slot.trace, samples.start, data, parts, &mut run.words);
        }
        Ok(true)
    }

    /// Reads some samples of one trace, with its headers if the first sample is among them.
    fn read_part(&self, trace: u64, samples: &Range<u64>, bytes: &mut Vec<u8>) -> Result<()> {
        let (layout, traces) = (&self.segy.layout, &self.segy.traces);
        let size = layout.format.size() as u64;
        let has_headers = samples.start == 0;
        let start = if has_headers { 0 } else { layout.header_bytes() as u64 + samples.start * size };
        let last = samples.end.min(traces.samples_of(trace).into()).max(samples.start);
        let end = layout.header_bytes() as u64 + last * size;
        bytes.resize(usize::try_from(end - start).unwrap_or(0), 0);
        self.segy.read_at(traces.offset(trace) + start, bytes)
    }

    /// Decodes the samples of a trace, starting at sample `first`, to HDF5 elements.
    fn decode(
        &self,
        trace: u64,
        first: u64,
        mut data: &[u8],
        parts: &mut [&mut [u8]],
        words: &mut Vec<IbmWord>,
    ) {
        let (format, order) = (self.segy.layout.format, self.segy.layout.order);
        let mut first = usize::try_from(first).unwrap_or(usize::MAX);
        for part in parts {
            // A trace that is shorter than the others ends before the last part.
            let count = (part.len() / format.stored().size()).min(data.len() / format.size());
            let (now, later) = data.split_at(count * format.size());
            format.decode(now, order, &mut part[..count * format.stored().size()], &mut |i, word| {
                words.push(IbmWord { trace, sample: u32::try_from(first + i).unwrap_or(u32::MAX), word });
            });
            first += count;
            data = later;
        }
    }

    fn buffers(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether a trace has its predicted position, or an error if its number of samples may differ
    /// from the file header.
    fn check(&self, slot: &Slot, header: &[u8]) -> Result<bool> {
        let own: u16 = self.segy.layout.order.read(header, 115);
        let samples = self.segy.traces.samples_of(slot.trace);
        if own != 0 && u32::from(own) != samples && !self.is_certain()? {
            return Err(Error::trace(
                self.segy.path(),
                "header",
                slot.trace,
                self.segy.traces.offset(slot.trace) + 114,
                format!(
                    "it counts {own} samples, the file header counts {samples}, and the length of the file fits both: pass --pad or \
                     --trust-length (in Python, pad=True or trust_length=True)"
                ),
            ));
        }
        Ok(!self.survey.is_predicted || self.survey.is_at(header, self.segy, slot.position))
    }

    /// Returns whether the lengths of traces are certain, whatever their own headers say. Many programs do
    /// not maintain the sample count in trace headers.
    fn is_certain(&self) -> Result<bool> {
        if self.segy.layout.is_fixed || self.segy.trusts_lengths() || self.segy.traces.vary() {
            return Ok(true);
        }
        let mut known = self.is_certain.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none() {
            *known = Some(!Traces::may_vary(self.segy)?);
        }
        Ok(*known == Some(true))
    }
}

/// Fills samples with the value of missing traces: NaN, or zero for integers.
fn blank(samples: &mut [u8], stored: FieldKind) {
    match stored {
        FieldKind::F32 => repeat(samples, f32::NAN.to_ne_bytes()),
        FieldKind::F64 => repeat(samples, f64::NAN.to_ne_bytes()),
        _ => samples.fill(0),
    }
}

fn repeat<const N: usize>(samples: &mut [u8], value: [u8; N]) {
    samples.as_chunks_mut::<N>().0.fill(value);
}
