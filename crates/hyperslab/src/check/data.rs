//! Checks elements: every chunk must decode to exactly its size, and the targets of elements must exist.

use hyperslab_filters::{FilterError, FilterMask, Pipeline};
use hyperslab_format::Extent;
use hyperslab_format::message::filters::FilterPipeline;

use super::chunks::{Chunked, RAW_CHUNK};
use super::dataset::Described;
use super::values::leads_elsewhere;
use super::{Check, RAW_DATA, Severity, name_of};
use crate::heap::stages;
use crate::select::{inside, is_cut};

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

    /// Decodes a chunk, whose extent must be inside the file.
    pub(super) fn chunk_values(
        &mut self,
        chunked: &mut Chunked,
        scaled: &[u64],
        extent: Extent,
        mask: FilterMask,
    ) {
        let Some(len) = self.prepare(chunked) else { return };
        let stored = self.store.bytes(extent, RAW_CHUNK);
        let Some(stored) = self.noted(stored, extent.addr) else { return };
        let is_edge = is_cut(scaled, &chunked.chunk_shape, &chunked.dataset.shape);
        let mask = if chunked.unfiltered_edges && is_edge { FilterMask::ALL_SKIPPED } else { mask };
        let Some(pipeline) = &chunked.pipeline else { return };
        let mut decoded = vec![0; len];
        match pipeline.decode_into(mask, &stored, &mut decoded, &mut self.scratch) {
            Ok(()) => {}
            Err(error @ (FilterError::Unknown { .. } | FilterError::Unsupported { .. })) => {
                let text = format!("chunks are not decoded: {error}");
                self.find(Severity::Note, RAW_CHUNK, extent.addr, text);
                chunked.decodes = false;
                self.not_followed(&chunked.dataset.datatype);
                return;
            }
            Err(error) => {
                let message =
                    format!("{error}, in the chunk at {scaled:?} (in chunks) of {} bytes", extent.len);
                return self.wrong(RAW_CHUNK, extent.addr, message);
            }
        }
        self.report.totals.decoded += 1;
        if leads_elsewhere(&chunked.dataset.datatype) {
            self.chunk_elements(chunked, scaled, &decoded);
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
        if chunked.pipeline.is_none() {
            let size = usize::try_from(chunked.dataset.element_bytes).unwrap_or(usize::MAX);
            match Pipeline::new(&stages(&chunked.dataset.filters), size, len, &self.options.registry) {
                Ok(pipeline) => chunked.pipeline = Some(pipeline),
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

/// The number of bytes of contiguous elements that are read at once.
const PART: u64 = 1 << 20;
