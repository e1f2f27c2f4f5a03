//! Reads the traces of a piece into memory, as the piece has them.

use std::sync::{Mutex, PoisonError};

use super::Stop;
use crate::TRACE_HEADER_BYTES;
use crate::error::{Error, Result};
use crate::field::{Field, FieldKind};
use crate::file::{SegyFile, Traces};
use crate::pieces::{self, Piece, Slot};
use crate::sample::Stored;
use crate::survey::{self, Survey};

/// Bytes of the file that one thread reads at once.
const RUN_BYTES: u64 = 2 << 20;

/// A piece with its samples.
pub(super) struct Filled {
    pub(super) piece: Piece,
    /// Its samples, row by row, as they are stored in HDF5.
    pub(super) samples: Vec<u8>,
    /// Its traces, in the order of the file.
    pub(super) slots: Vec<Slot>,
    /// All headers of each of them; empty if an earlier piece had them, with other samples.
    pub(super) headers: Vec<u8>,
    /// IBM floats that IEEE floats are not.
    pub(super) words: Vec<IbmWord>,
}

/// An IBM float that its IEEE float is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct IbmWord {
    pub(super) trace: u64,
    pub(super) sample: u32,
    pub(super) word: u32,
}

/// Reads pieces.
pub(super) struct Reader<'a> {
    segy: &'a SegyFile,
    survey: &'a Survey,
    shape: Vec<u64>,
    /// Whether traces are as long as the file header says, as soon as that was looked at.
    is_certain: Mutex<Option<bool>>,
}

/// A run of traces, and where they go.
struct Run<'r> {
    slots: &'r [Slot],
    rows: Vec<&'r mut [u8]>,
    headers: &'r mut [u8],
    words: Vec<IbmWord>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(segy: &'a SegyFile, survey: &'a Survey) -> Self {
        Self { segy, survey, shape: survey.shape(), is_certain: Mutex::new(None) }
    }

    /// Reads a piece; `buffer` is used again.
    pub(super) fn fill(&self, piece: &Piece, mut buffer: Vec<u8>) -> Result<Filled, Stop> {
        let format = self.segy.layout().format;
        let stored = format.stored();
        let samples = piece.samples();
        let row = usize::try_from(samples.end - samples.start).unwrap_or(0) * stored.size();
        let slots = piece.slots(&self.survey.map, &self.shape);
        buffer.resize(piece.places() * row, 0);
        if slots.len() < piece.places() || self.segy.traces().vary() {
            blank(&mut buffer, stored);
        }
        let header_bytes = if samples.start == 0 { self.segy.layout().header_bytes() } else { 0 };
        let mut headers = vec![0; slots.len() * header_bytes];
        let mut words = Vec::new();
        {
            let mut rows: Vec<Option<&mut [u8]>> = buffer.chunks_mut(row.max(1)).map(Some).collect();
            let mut rest = &mut headers[..];
            let most = RUN_BYTES / self.segy.layout().trace_bytes(self.segy.traces().samples());
            let runs: Vec<Mutex<Run<'_>>> = pieces::runs(&slots, usize::try_from(most).unwrap_or(1))
                .map(|slots| {
                    let (headers, others) =
                        std::mem::take(&mut rest).split_at_mut(slots.len() * header_bytes);
                    rest = others;
                    let rows = slots.iter().filter_map(|slot| rows[slot.place].take()).collect();
                    Mutex::new(Run { slots, rows, headers, words: Vec::new() })
                })
                .collect();
            let mispredicted = std::sync::atomic::AtomicBool::new(false);
            survey::on_threads(runs.len() as u64, &|number| {
                let run = &runs[usize::try_from(number).unwrap_or(0)];
                let mut run = run.lock().unwrap_or_else(PoisonError::into_inner);
                if !self.read(&mut run, &samples)? {
                    mispredicted.store(true, std::sync::atomic::Ordering::Relaxed);
                }
                Ok(())
            })?;
            if mispredicted.into_inner() {
                return Err(Stop::Mispredicted);
            }
            for run in runs {
                words.append(&mut run.into_inner().unwrap_or_else(PoisonError::into_inner).words);
            }
        }
        Ok(Filled { piece: piece.clone(), samples: buffer, slots, headers, words })
    }

    /// Reads a run. Returns whether each trace is where it was predicted.
    fn read(&self, run: &mut Run<'_>, samples: &std::ops::Range<u64>) -> Result<bool> {
        let layout = self.segy.layout();
        let traces = self.segy.traces();
        let is_whole = samples.start == 0 && samples.end >= u64::from(traces.samples());
        if !is_whole || traces.vary() {
            return self.read_parts(run, samples);
        }
        let header_bytes = layout.header_bytes();
        let trace_bytes = usize::try_from(layout.trace_bytes(traces.samples())).unwrap_or(0);
        let first = run.slots[0].trace;
        let mut bytes = vec![0; run.slots.len() * trace_bytes];
        self.segy.read_at(traces.offset(first), &mut bytes)?;
        let headers = run.headers.chunks_mut(header_bytes);
        for (((slot, row), kept), trace) in
            run.slots.iter().zip(&mut run.rows).zip(headers).zip(bytes.chunks(trace_bytes))
        {
            let (header, data) = trace.split_at(header_bytes);
            kept.copy_from_slice(header);
            if !self.check(slot, header)? {
                return Ok(false);
            }
            let words = &mut run.words;
            layout.format.decode(data, layout.order, row, &mut |sample, word| {
                words.push(IbmWord {
                    trace: slot.trace,
                    sample: u32::try_from(sample).unwrap_or(u32::MAX),
                    word,
                });
            });
        }
        Ok(true)
    }

    /// The same where traces are not wanted whole, or are not all alike.
    fn read_parts(&self, run: &mut Run<'_>, samples: &std::ops::Range<u64>) -> Result<bool> {
        let layout = self.segy.layout();
        let size = layout.format.size();
        let mut data = Vec::new();
        for (i, (slot, row)) in run.slots.iter().zip(&mut run.rows).enumerate() {
            let offset = self.segy.traces().offset(slot.trace);
            if samples.start == 0 {
                let kept = &mut run.headers[i * layout.header_bytes()..][..layout.header_bytes()];
                self.segy.read_at(offset, kept)?;
                if !self.check(slot, kept)? {
                    return Ok(false);
                }
            }
            let end = samples.end.min(self.segy.traces().samples_of(slot.trace).into());
            let len = usize::try_from(end.saturating_sub(samples.start)).unwrap_or(0);
            data.resize(len * size, 0);
            let start = offset + layout.header_bytes() as u64 + samples.start * size as u64;
            self.segy.read_at(start, &mut data)?;
            let words = &mut run.words;
            let first = u32::try_from(samples.start).unwrap_or(u32::MAX);
            let row = &mut row[..len * layout.format.stored().size()];
            layout.format.decode(&data, layout.order, row, &mut |sample, word| {
                let sample = first + u32::try_from(sample).unwrap_or(u32::MAX);
                words.push(IbmWord { trace: slot.trace, sample, word });
            });
        }
        Ok(true)
    }

    /// Whether a trace is where it was predicted. An error if it counts its samples otherwise than the file does.
    fn check(&self, slot: &Slot, header: &[u8]) -> Result<bool> {
        let layout = self.segy.layout();
        let own = Field::new(115, FieldKind::U16).integer(&header[..TRACE_HEADER_BYTES], layout.order);
        let is_right = own == 0 || own == i64::from(self.segy.traces().samples_of(slot.trace));
        if !is_right && !self.is_certain()? {
            return Err(Error::trace(
                "header",
                slot.trace,
                self.segy.traces().offset(slot.trace) + 114,
                format!(
                    "it counts {own} samples, and those of the other traces lead to the end of the file, too, which otherwise holds traces of {} \
                     samples: ask to trust the file header if that is right",
                    self.segy.traces().samples_of(slot.trace)
                ),
            ));
        }
        Ok(!self.survey.is_predicted || self.survey.is_at(header, self.segy, slot.position))
    }
}

impl Reader<'_> {
    /// Whether the lengths of traces are beyond doubt, whatever their own headers count: many do not bother.
    fn is_certain(&self) -> Result<bool> {
        if self.segy.layout().is_fixed || self.segy.trusts_lengths() || self.segy.traces().vary() {
            return Ok(true);
        }
        let mut known = self.is_certain.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none() {
            *known = Some(!Traces::may_vary(self.segy)?);
        }
        Ok(*known == Some(true))
    }
}

/// Fills samples with what stands where no trace is: no number, or zero where there is no such thing.
fn blank(samples: &mut [u8], stored: Stored) {
    match stored {
        Stored::F32 => repeat(samples, f32::NAN.to_ne_bytes()),
        Stored::F64 => repeat(samples, f64::NAN.to_ne_bytes()),
        _ => samples.fill(0),
    }
}

fn repeat<const N: usize>(samples: &mut [u8], value: [u8; N]) {
    samples.as_chunks_mut::<N>().0.fill(value);
}
