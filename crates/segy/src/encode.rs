//! Encoding of the traces of a survey as bytes of a SEG-Y file.

use std::ops::Range;

use hyperslab::Dataset;

use crate::cube::{self, Cube};
use crate::error::{Error, Result};
use crate::{TRACE_HEADER_BYTES, ranges, sample};

/// Encodes traces of a survey as they are in a SEG-Y file.
pub(crate) struct Encoder<'a> {
    cube: &'a Cube,
    headers: Dataset,
    further: Option<Dataset>,
    /// The original words of IBM floats that were kept: trace, sample, word.
    words: Vec<(u64, u32, u32)>,
}

impl<'a> Encoder<'a> {
    pub(crate) fn new(cube: &'a Cube) -> Result<Self> {
        let file = &cube.file;
        Ok(Self {
            cube,
            headers: file.dataset(cube::TRACE_HEADER)?,
            further: (cube.source.headers > 1).then(|| file.dataset(cube::FURTHER_HEADERS)).transpose()?,
            words: words(cube)?,
        })
    }

    /// Returns the number of traces.
    pub(crate) fn traces(&self) -> u64 {
        self.headers.shape().iter().product()
    }

    /// Returns the samples of a trace; for traces of several lengths, those of the longest at least.
    pub(crate) fn samples(&self) -> u64 {
        self.cube.samples.values.len() as u64
    }

    /// Returns the bytes of the headers of a trace.
    pub(crate) fn header_bytes(&self) -> usize {
        usize::try_from(self.cube.source.headers).unwrap_or(1) * TRACE_HEADER_BYTES
    }

    /// Returns the bytes of a trace with this number of samples.
    pub(crate) fn trace_bytes(&self, samples: u64) -> u64 {
        self.header_bytes() as u64 + samples * self.cube.source.format.size() as u64
    }

    /// Returns the number of samples that the header of a trace gives, or an error if the survey has fewer.
    pub(crate) fn own_samples(&self, trace: u64, header: &[u8]) -> Result<u64> {
        let own = u64::from(self.cube.source.order.read::<u16>(header, 115));
        if own > self.samples() {
            let why = format!(
                "the header of trace {trace} counts {own} samples, but the survey has {}: correct the number in \
                 /{}",
                self.samples(),
                cube::TRACE_HEADER,
            );
            return Err(self.cube.bad(why));
        }
        Ok(own)
    }

    /// Returns all headers of some traces, one trace after another.
    pub(crate) fn headers(&self, traces: Range<u64>) -> Result<Vec<u8>> {
        let count = usize::try_from(traces.end - traces.start).unwrap_or(0);
        let mut first = vec![0; count * TRACE_HEADER_BYTES];
        self.headers.read_into(traces.clone(), &mut first)?;
        let Some(further) = &self.further else { return Ok(first) };
        let width = self.header_bytes() - TRACE_HEADER_BYTES;
        let others: Vec<u8> = further.read(ranges(&[traces, 0..width as u64]))?;
        let both = first.chunks(TRACE_HEADER_BYTES).zip(others.chunks(width));
        Ok(both.flat_map(|(first, others)| [first, others]).flatten().copied().collect())
    }

    /// Encodes the samples of a trace, starting at sample `first`, as they are in the file.
    pub(crate) fn encode(&self, trace: u64, values: &[u8], first: u64, data: &mut [u8]) -> Result<()> {
        let source = &self.cube.source;
        let size = source.format.size();
        let words = self.words_of(trace, first, data.len() / size);
        let bad = |sample: usize| {
            Error::argument(
                format!("sample {} of trace {trace}", first + sample as u64),
                format!(
                    "the value does not fit the format {}: store a number that the format can hold",
                    source.format.name()
                ),
            )
        };
        let done = source.format.encode(values, source.order, data);
        if words.is_empty() {
            return done.map_err(bad);
        }
        // The IEEE float of a kept IBM float may be infinite, which `encode` refuses.
        for (i, (value, sample)) in values.chunks(4).zip(data.chunks_mut(4)).enumerate() {
            source.format.encode(value, source.order, sample).or_else(|_| {
                let is_kept = words.iter().any(|&(_, at, _)| u64::from(at) == first + i as u64);
                if is_kept { Ok(()) } else { Err(bad(i)) }
            })?;
        }
        for &(_, at, word) in words {
            let i = usize::try_from(u64::from(at) - first).unwrap_or(0);
            let value: [u8; 4] = values[i * 4..][..4].try_into().unwrap_or_default();
            // The kept word applies unless the sample has been changed since.
            if sample::is_near(word, f32::from_ne_bytes(value)) {
                data[i * size..][..size].copy_from_slice(&sample::bytes(word, source.order));
            } else if source.format.encode(&value, source.order, &mut data[i * size..][..size]).is_err() {
                return Err(bad(i));
            }
        }
        Ok(())
    }

    /// Returns the kept words of some samples of a trace.
    fn words_of(&self, trace: u64, first: u64, len: usize) -> &[(u64, u32, u32)] {
        let before =
            |bound: u64| self.words.partition_point(|&(t, at, _)| (t, u64::from(at)) < (trace, bound));
        &self.words[before(first)..before(first + len as u64)]
    }
}

/// Returns the words of kept IBM floats as trace, sample and word, sorted and without duplicates.
fn words(cube: &Cube) -> Result<Vec<(u64, u32, u32)>> {
    let root = cube.file.root();
    if !root.contains(cube::IBM_WORDS)? {
        return Ok(Vec::new());
    }
    let dataset = root.dataset(cube::IBM_WORDS)?;
    let mut bytes = vec![0; usize::try_from(dataset.len_bytes()).unwrap_or(0)];
    dataset.read_into(.., &mut bytes)?;
    let (records, _) = bytes.as_chunks::<16>();
    let mut words: Vec<(u64, u32, u32)> = records
        .iter()
        .map(|&[a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]| {
            let trace = u64::from_ne_bytes([a, b, c, d, e, f, g, h]);
            (trace, u32::from_ne_bytes([i, j, k, l]), u32::from_ne_bytes([m, n, o, p]))
        })
        .collect();
    words.sort_unstable();
    words.dedup();
    Ok(words)
}
