//! Writes a piece into the HDF5 file.

use hyperslab::WriteOptions;
use hyperslab::storage::DatasetOptions;
use hyperslab::{Dataset, File};
use hyperslab_filters::FilterChoice;
use hyperslab_format::message::dataspace::Dataspace;

use super::read::{Filled, IbmWord};
use crate::cube::{self, Coordinates};
use crate::error::Result;
use crate::file::SegyFile;
use crate::survey::Survey;
use crate::{TRACE_HEADER_BYTES, ranges};

/// The words that make up one chunk.
const WORDS_PER_CHUNK: u64 = 4096;

/// A writer of pieces.
pub(super) struct Writer<'a> {
    file: &'a File,
    survey: &'a Survey,
    coordinates: Coordinates,
    header_bytes: usize,
    data: Dataset,
    trace: Dataset,
    live: Dataset,
    ground: [Dataset; 2],
    headers: Dataset,
    further: Option<Dataset>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(file: &'a File, segy: &SegyFile, survey: &'a Survey) -> Result<Self> {
        let header_bytes = segy.layout.header_bytes();
        Ok(Self {
            file,
            survey,
            coordinates: Coordinates::of(segy, survey),
            header_bytes,
            data: file.dataset(cube::DATA)?,
            trace: file.dataset(cube::TRACE)?,
            live: file.dataset(cube::LIVE)?,
            ground: [file.dataset(cube::X)?, file.dataset(cube::Y)?],
            headers: file.dataset(cube::TRACE_HEADER)?,
            further: (header_bytes > TRACE_HEADER_BYTES)
                .then(|| file.dataset(cube::FURTHER_HEADERS))
                .transpose()?,
        })
    }

    /// Writes a piece with everything that belongs to it.
    pub(super) fn write(&self, filled: &Filled) -> Result<()> {
        let by_chunks = WriteOptions::default().by_chunks(true);
        self.data.write_with(ranges(&filled.piece.ranges), &filled.samples, &by_chunks)?;
        self.keep_words(&filled.words)?;
        if filled.piece.samples().start == 0 {
            self.write_positions(filled)?;
            self.write_headers(filled)?;
        }
        Ok(())
    }

    /// Writes the traces at each position, and their coordinates.
    fn write_positions(&self, filled: &Filled) -> Result<()> {
        let positions = filled.piece.positions();
        let (mut traces, mut live) = (vec![-1; filled.piece.places()], vec![0_u8; filled.piece.places()]);
        for slot in &filled.slots {
            traces[slot.place] = slot.trace.cast_signed();
            live[slot.place] = 1;
        }
        self.trace.write(ranges(positions), &traces)?;
        self.live.write(ranges(positions), &live)?;
        let (ground, others) = positions.split_at(self.survey.kind.ground_axes());
        // The coordinates of a gather are those of its first offset.
        if others.iter().any(|range| range.start > 0) {
            return Ok(());
        }
        let per_place: u64 = others.iter().map(|range| range.end - range.start).product();
        let per_place = usize::try_from(per_place).unwrap_or(1);
        let mut numbers = [(); 2].map(|()| vec![f64::NAN; filled.piece.places() / per_place]);
        let headers = filled.headers.chunks(self.header_bytes);
        for (slot, header) in filled.slots.iter().zip(headers) {
            let place = slot.place / per_place;
            if numbers[0][place].is_nan() {
                let found = self.coordinates.at(header);
                (numbers[0][place], numbers[1][place]) = (found[0], found[1]);
            }
        }
        for (dataset, numbers) in self.ground.iter().zip(&numbers) {
            dataset.write(ranges(ground), numbers)?;
        }
        Ok(())
    }

    /// Writes the headers, as they are in the SEG-Y file.
    fn write_headers(&self, filled: &Filled) -> Result<()> {
        let mut rest = &filled.headers[..];
        for run in filled.slots.chunk_by(|a, b| a.trace + 1 == b.trace) {
            let (headers, others) = rest.split_at(run.len() * self.header_bytes);
            rest = others;
            let traces = run[0].trace..run[0].trace + run.len() as u64;
            let Some(further) = &self.further else {
                self.headers.write_with(traces, headers, &WriteOptions::default())?;
                continue;
            };
            let (first, others): (Vec<&[u8]>, Vec<&[u8]>) =
                headers.chunks(self.header_bytes).map(|all| all.split_at(TRACE_HEADER_BYTES)).unzip();
            self.headers.write_with(traces.clone(), &first.concat(), &WriteOptions::default())?;
            let width = (self.header_bytes - TRACE_HEADER_BYTES) as u64;
            further.write(ranges(&[traces, 0..width]), &others.concat())?;
        }
        Ok(())
    }

    /// Keeps the words of IBM floats that IEEE floats do not represent bit for bit.
    fn keep_words(&self, words: &[IbmWord]) -> Result<()> {
        if words.is_empty() {
            return Ok(());
        }
        let root = self.file.root();
        let dataset = if root.contains(cube::IBM_WORDS)? {
            root.dataset(cube::IBM_WORDS)?
        } else {
            let dataspace = Dataspace::Simple { shape: vec![0], max_shape: Some(vec![None]) };
            let filters = [FilterChoice::Shuffle, cube::DEFLATE];
            let options =
                DatasetOptions::new(dataspace, cube::ibm_word()).chunked(&[WORDS_PER_CHUNK], &filters)?;
            root.create_dataset(cube::IBM_WORDS, &options)?
        };
        let start = dataset.shape()[0];
        let end = start + words.len() as u64;
        dataset.resize([end])?;
        let bytes: Vec<u8> = words
            .iter()
            .flat_map(|found| {
                let mut bytes = [0; 16];
                bytes[..8].copy_from_slice(&found.trace.to_ne_bytes());
                bytes[8..12].copy_from_slice(&found.sample.to_ne_bytes());
                bytes[12..].copy_from_slice(&found.word.to_ne_bytes());
                bytes
            })
            .collect();
        dataset.write_with(start..end, &bytes, &WriteOptions::default())?;
        Ok(())
    }

    /// Returns the number of kept IBM floats.
    pub(super) fn ibm_words(&self) -> Result<u64> {
        let root = self.file.root();
        Ok(if root.contains(cube::IBM_WORDS)? { root.dataset(cube::IBM_WORDS)?.shape()[0] } else { 0 })
    }
}
