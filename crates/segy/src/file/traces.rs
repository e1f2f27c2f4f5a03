//! The position and length of each trace.

use super::{Layout, SegyFile, SegyOptions, other_length};
use crate::error::{Error, Result};

/// The position and length of each trace.
#[derive(Debug, Clone)]
pub struct Traces {
    /// The number of traces.
    count: u64,
    /// The offset of the first trace.
    first: u64,
    /// The samples of the longest trace.
    samples: u32,
    /// The bytes of each trace, if all have the same length.
    bytes: u64,
    /// The offset of the end of the last trace.
    end: u64,
    /// For traces of several lengths, the offset and the samples of each trace.
    each: Option<Vec<(u64, u32)>>,
}

impl Traces {
    pub(super) fn none() -> Self {
        Self { count: 0, first: 0, samples: 0, bytes: 0, end: 0, each: None }
    }

    /// Returns the number of traces.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the samples of the longest trace.
    pub fn samples(&self) -> u32 {
        self.samples
    }

    /// Returns whether traces have several lengths.
    pub fn vary(&self) -> bool {
        self.each.is_some()
    }

    /// Returns the offset of the headers of a trace.
    pub fn offset(&self, trace: u64) -> u64 {
        match &self.each {
            None => self.first + trace * self.bytes,
            Some(each) => each[index(trace)].0,
        }
    }

    /// Returns the samples of a trace.
    pub fn samples_of(&self, trace: u64) -> u32 {
        self.each.as_ref().map_or(self.samples, |each| each[index(trace)].1)
    }

    /// Returns the offset of the end of the last trace.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Finds the traces of a file.
    ///
    /// The binary header and the first trace's own header both give a number of samples. The right number is
    /// the one with which the file holds a whole number of traces. If neither fits, traces may have several
    /// lengths, according to their own headers.
    pub(super) fn find(file: &SegyFile, options: &SegyOptions) -> Result<Self> {
        let layout = &file.layout;
        let first = layout.first_trace;
        let room = file.len_bytes() - first;
        if room == 0 {
            return Err(Error::format(
                file.path(),
                "traces",
                first,
                "none found; the file ends after its headers",
            ));
        }
        if room < layout.header_bytes() as u64 {
            return Err(cut_short(file.path(), 0, first, file.len_bytes()));
        }
        let own = file.samples_of(&file.bytes(first, layout.header_bytes() as u64)?);
        let data = room - trailer(layout, room);
        let fits = |samples: u32| {
            let bytes = layout.trace_bytes(samples);
            let count = layout.declared_traces.unwrap_or(data / bytes);
            let is_whole = match (layout.declared_traces, layout.trailer) {
                // The bytes after the declared traces are a trailer of any length.
                (Some(count), None) => count.checked_mul(bytes).is_some_and(|all| all <= room),
                (Some(count), Some(_)) => count.checked_mul(bytes) == Some(data),
                (None, _) => data.is_multiple_of(bytes),
            };
            (samples > 0 && count > 0 && is_whole).then_some(count)
        };
        for samples in [layout.samples, own] {
            if let Some(count) = fits(samples) {
                return Ok(Self::alike(first, count, samples, layout.trace_bytes(samples)));
            }
        }
        if !layout.is_fixed
            && let Some(found) = Self::walk(file)?
        {
            let (longest, trace) = (found.samples, found.first_other());
            return match trace {
                Some((trace, samples)) if !options.pad => {
                    Err(other_length(file.path(), trace, found.offset(trace), samples, found.samples_of(0)))
                }
                Some(_) => Ok(found),
                None => Ok(Self::alike(first, found.count, longest, layout.trace_bytes(longest))),
            };
        }
        let samples = if layout.samples > 0 { layout.samples } else { own };
        if samples == 0 {
            return Err(Error::format(
                file.path(),
                "file header",
                layout.label + 3220,
                "neither the file header nor the first trace gives the number of samples of a trace: the file is \
                 damaged, or it is not a SEG-Y file",
            ));
        }
        let bytes = layout.trace_bytes(samples);
        let whole = (data / bytes).min(layout.declared_traces.unwrap_or(u64::MAX));
        if options.ignore_rest && whole > 0 {
            return Ok(Self::alike(first, whole, samples, bytes));
        }
        Err(cut_short(file.path(), whole, first + whole * bytes, file.len_bytes()))
    }

    fn alike(first: u64, count: u64, samples: u32, bytes: u64) -> Self {
        Self { count, first, samples, bytes, end: first + count * bytes, each: None }
    }

    /// Returns whether the file can also be read as traces of several lengths, according to their own
    /// headers.
    pub(crate) fn may_vary(file: &SegyFile) -> Result<bool> {
        Ok(Self::walk(file)?.is_some_and(|found| found.first_other().is_some()))
    }

    /// Walks from trace to trace by the length in each header. Returns `None` if the walk does not end at the
    /// end of the traces.
    fn walk(file: &SegyFile) -> Result<Option<Self>> {
        let layout = &file.layout;
        let room = file.len_bytes() - layout.first_trace;
        let end = layout.first_trace + room - trailer(layout, room);
        let mut offset = layout.first_trace;
        let mut each = Vec::new();
        let mut header = [0; crate::TRACE_HEADER_BYTES];
        while offset < end {
            if end - offset < layout.header_bytes() as u64 {
                return Ok(None);
            }
            file.read_at(offset, &mut header)?;
            let samples = file.samples_of(&header);
            each.push((offset, samples));
            offset += layout.trace_bytes(samples);
        }
        let samples = each.iter().map(|&(_, samples)| samples).max().unwrap_or(0);
        let found = Self {
            count: each.len() as u64,
            first: layout.first_trace,
            samples,
            bytes: 0,
            end,
            each: Some(each),
        };
        Ok((offset == end && samples > 0).then_some(found))
    }

    /// Returns the first trace whose length differs from that of trace 0, and its samples.
    fn first_other(&self) -> Option<(u64, u32)> {
        let each = self.each.as_ref()?;
        let first = each.first()?.1;
        let found = each.iter().position(|&(_, samples)| samples != first)?;
        Some((found as u64, each[found].1))
    }
}

/// Returns the bytes after the traces, as far as they are known and possible.
fn trailer(layout: &Layout, room: u64) -> u64 {
    layout.trailer.filter(|&trailer| trailer < room).unwrap_or(0)
}

fn index(trace: u64) -> usize {
    usize::try_from(trace).unwrap_or(usize::MAX)
}

fn cut_short(path: &str, trace: u64, offset: u64, len: u64) -> Error {
    let left = len - offset;
    let mut why = format!(
        "the file has {left} bytes left here, which is not a whole trace: it is cut short, or its header gives a wrong \
         number of samples"
    );
    if trace > 0 {
        let advice =
            format!("; --ignore-rest (in Python, ignore_rest=True) takes the {trace} traces before it");
        why.push_str(&advice);
    }
    Error::trace(path, "bytes", trace, offset, why)
}
