//! Checks elements: every chunk must decode to exactly its size, and the targets of elements must exist.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use hyperslab_error::{Error, Result};
use hyperslab_filters::{FilterError, FilterMask};
use hyperslab_format::Extent;
use hyperslab_format::message::filters::FilterPipeline;
use hyperslab_select::{inside, is_cut};
use hyperslab_store::Store;

use super::chunks::{Chunked, RAW_CHUNK};
use super::dataset::Described;
use super::values::leads_elsewhere;
use super::{Check, RAW_DATA, Severity, name_of};
use hyperslab::ChunkCodec;
use hyperslab::internals::engine::{Fill, StoredElements, run_on_threads, threads};

impl Check<'_> {
    /// Checks the elements in one extent.
    pub(super) fn contiguous_values(&mut self, extent: Extent, described: &Described) {
        if !leads_elsewhere(&described.datatype) {
            return;
        }
        let size = described.element_bytes.max(1);
        let part = (PART / size).max(1) * size;
        let mut done = 0;
        while done < extent.len {
            let len = part.min(extent.len - done);
            let Some(addr) = extent.addr.checked_add(done) else { return };
            let bytes = self.store.bytes(Extent::new(addr, len), RAW_DATA);
            let Some(bytes) = self.noted(bytes, addr) else { return };
            self.values(&described.datatype, &bytes);
            done += len;
        }
        self.report.totals.decoded += 1;
    }

    /// Decodes a chunk, whose extent must be inside the file, now or with others that wait.
    pub(super) fn chunk_values(
        &mut self,
        chunked: &mut Chunked,
        scaled: &[u64],
        extent: Extent,
        mask: FilterMask,
    ) {
        let Some(len) = self.prepare(chunked) else { return };
        let is_edge = is_cut(scaled, &chunked.chunk_shape, &chunked.dataset.shape);
        let mask = if chunked.unfiltered_edges && is_edge { FilterMask::ALL_SKIPPED } else { mask };
        chunked.waiting.push(Waiting { scaled: scaled.into(), extent, mask });
        if chunked.waiting.len() >= BATCH_CHUNKS || chunked.waiting.len().saturating_mul(len) >= BATCH_BYTES {
            self.decode_waiting(chunked);
        }
    }

    /// Decodes the chunks that wait, on all threads, and checks their elements in the order of the index.
    pub(super) fn decode_waiting(&mut self, chunked: &mut Chunked) {
        let waiting = std::mem::take(&mut chunked.waiting);
        let decoded = match &chunked.codec {
            Some(codec) if !waiting.is_empty() && !self.is_stopped.get() => {
                let keeps = leads_elsewhere(&chunked.dataset.datatype);
                decode_all(self.store, codec, &waiting, keeps)
            }
            _ => return,
        };
        for (chunk, decoded) in waiting.iter().zip(decoded) {
            if chunked.decodes {
                self.chunk_decoded(chunked, chunk, decoded);
            }
        }
        self.tick();
    }

    /// Checks the elements of a decoded chunk, or adds the error as a finding.
    fn chunk_decoded(&mut self, chunked: &mut Chunked, chunk: &Waiting, decoded: Decoded) {
        let (extent, scaled) = (chunk.extent, &chunk.scaled);
        let Some(decoded) = self.noted(decoded, extent.addr) else { return };
        match decoded {
            Ok(elements) => {
                self.report.totals.decoded += 1;
                if leads_elsewhere(&chunked.dataset.datatype) {
                    self.chunk_elements(chunked, scaled, &elements);
                }
            }
            Err(
                error @ (FilterError::Unknown { .. }
                | FilterError::NotBuilt { .. }
                | FilterError::Unsupported { .. }),
            ) => {
                let text = format!("chunks are not decoded: {error}");
                self.find(Severity::Note, RAW_CHUNK, extent.addr, text);
                chunked.decodes = false;
                self.not_followed(&chunked.dataset.datatype);
            }
            Err(error) => {
                let message =
                    format!("{error}, in the chunk at {scaled:?} (in chunks) of {} bytes", extent.len);
                self.wrong(RAW_CHUNK, extent.addr, message);
            }
        }
    }

    /// Prepares the filters and returns the size of a decoded chunk, or `None` if chunks are not decoded.
    fn prepare(&mut self, chunked: &mut Chunked) -> Option<usize> {
        let at = chunked.dataset.at;
        let len = usize::try_from(chunked.chunk_bytes).ok();
        let len = len.filter(|_| chunked.decodes && chunked.chunk_bytes <= self.options.max_chunk_bytes);
        if len.is_none() && chunked.decodes {
            let message = format!("chunks of {} bytes are too large to decode", chunked.chunk_bytes);
            self.find(Severity::Note, RAW_CHUNK, at, message);
            chunked.decodes = false;
            self.not_followed(&chunked.dataset.datatype);
        }
        let len = len?;
        if chunked.codec.is_none() {
            let Described { datatype, element_bytes, filters, .. } = &chunked.dataset;
            let size = usize::try_from(*element_bytes).unwrap_or(usize::MAX);
            let elements = StoredElements { datatype: Arc::new(datatype.clone()), size, fill: Fill::Zeros };
            let (shape, registry) = (chunked.chunk_shape.clone(), &self.options.registry);
            match ChunkCodec::of(Arc::new(elements), shape, &filters.filters, registry) {
                Ok(codec) => chunked.codec = Some(codec),
                Err(error) => {
                    self.wrong(name_of::<FilterPipeline>(), at, error);
                    chunked.decodes = false;
                    return None;
                }
            }
        }
        Some(len)
    }

    /// Checks the elements of a chunk that are inside the dataset. Elements beyond its edge may hold
    /// anything.
    fn chunk_elements(&mut self, chunked: &Chunked, scaled: &[u64], decoded: &[u8]) {
        let size = usize::try_from(chunked.dataset.element_bytes).unwrap_or(usize::MAX).max(1);
        let mut within = vec![0_u64; scaled.len()];
        let inside = inside(scaled, &chunked.chunk_shape, &chunked.dataset.shape);
        for element in decoded.chunks_exact(size) {
            if within.iter().zip(&inside).all(|(at, end)| at < end) {
                self.values(&chunked.dataset.datatype, element);
            }
            for (at, &len) in within.iter_mut().zip(&chunked.chunk_shape).rev() {
                *at += 1;
                if *at < len {
                    break;
                }
                *at = 0;
            }
        }
    }
}

/// A chunk that waits to be decoded.
pub(super) struct Waiting {
    scaled: Box<[u64]>,
    extent: Extent,
    mask: FilterMask,
}

/// The elements of a chunk, or the error of its filters, or of reading it.
type Decoded = Result<Result<Vec<u8>, FilterError>>;

/// Decodes chunks on all threads. Elements are dropped unless the caller `keeps` them.
fn decode_all(
    store: &Store,
    codec: &ChunkCodec,
    chunks: &[Waiting],
    keeps: bool,
) -> impl Iterator<Item = Decoded> + use<> {
    let decoded: Vec<OnceLock<Decoded>> = chunks.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    run_on_threads(threads().min(chunks.len()), &|| {
        let mut elements = Vec::new();
        while let Some((chunk, decoded)) = {
            let number = next.fetch_add(1, Relaxed);
            chunks.get(number).zip(decoded.get(number))
        } {
            if elements.len() != codec.chunk_bytes() {
                // Unlike with `resize`, the system zeroes the pages when they are first touched: a damaged
                // file may state any size.
                elements = vec![0; codec.chunk_bytes()];
            }
            let stored = store.bytes(chunk.extent, RAW_CHUNK);
            let result = stored.and_then(|stored| match codec.decode(&stored, chunk.mask, &mut elements) {
                Ok(()) => Ok(Ok(if keeps { std::mem::take(&mut elements) } else { Vec::new() })),
                Err(Error::Filter { cause }) => Ok(Err(cause)),
                Err(error) => Err(error),
            });
            let _first = decoded.set(result);
        }
    });
    decoded.into_iter().filter_map(OnceLock::into_inner)
}

/// The number of bytes of decoded chunks from which on they do not wait for others.
const BATCH_BYTES: usize = 64 << 20;
/// The number of chunks from which on they do not wait for others.
const BATCH_CHUNKS: usize = 4096;
/// The number of bytes of contiguous elements that are read at once.
const PART: u64 = 1 << 20;
