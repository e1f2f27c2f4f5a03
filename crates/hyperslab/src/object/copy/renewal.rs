//! The new storage of a dataset in a repacked file: filters, chunks, versions of messages.

use std::collections::HashSet;

use hyperslab_error::Result;
use hyperslab_format::datatype::Datatype;
use hyperslab_format::layout::{ChunkedLayout, Layout, LayoutMessage};
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::filters::FilterSpec;
use hyperslab_format::{Addr, Widths};
use hyperslab_store::index::{ChunkingPlan, choose};

use super::repack::{RepackChunks, RepackOptions};
use super::widths::resized_filter;
use crate::engine::filter_spec;
use crate::object::dataset::Properties;
use crate::object::dataset::chunking::auto_chunks;
use crate::object::header::versions::LibVersion;

/// The differences between a repacked file and its source.
pub(in super::super) struct Renewal<'a> {
    pub(in super::super) options: &'a RepackOptions,
    /// The paths of the objects to copy with everything below them. Empty for the whole file.
    pub(in super::super) selected: Vec<String>,
    /// The objects that references may lead to, or `None` for all.
    pub(in super::super) members: Option<HashSet<Addr>>,
    /// Called with the number of bytes of elements copied since the last call.
    pub(in super::super) done: &'a (dyn Fn(u64) + Sync),
}

/// The new storage of a dataset.
#[derive(Debug, Clone)]
pub(super) struct NewChunks {
    pub(super) shape: Vec<u64>,
    pub(super) filters: Vec<FilterSpec>,
    /// Whether stored chunks can be copied unchanged.
    pub(super) keeps_chunks: bool,
    unfiltered_edges: bool,
    version: u8,
}

impl Renewal<'_> {
    /// Whether the link at `path` is copied: it leads to a selected object, is below one, or is on the way to
    /// one.
    pub(super) fn takes(&self, path: &str) -> bool {
        let is_below =
            |path: &str, group: &str| path.strip_prefix(group).is_some_and(|rest| rest.starts_with('/'));
        let is_selected = self.selected.is_empty()
            || self
                .selected
                .iter()
                .any(|selected| selected == path || is_below(path, selected) || is_below(selected, path));
        is_selected && !self.options.leave_out.iter().any(|left| left == path)
    }

    /// Returns the storage of the copy of a dataset, in a file for `file_version`, or `None` if it stays the
    /// same. `datatype` is that of the copy.
    pub(super) fn chunks(
        &self,
        properties: &Properties,
        datatype: &Datatype,
        file_version: LibVersion,
        widths: Widths,
    ) -> Result<Option<NewChunks>> {
        let element_size = usize::try_from(datatype.size(widths)).unwrap_or(usize::MAX);
        let (old, shape) = match &properties.layout {
            Layout::Chunked(chunked) => (Some(chunked), Some(self.shape_of_chunked(properties, chunked))),
            Layout::Contiguous(_) if properties.external.is_none() => {
                (None, self.shape_of_contiguous(properties))
            }
            _ => return Ok(None),
        };
        let Some(shape) = shape else { return Ok(None) };
        let same_shape = old.is_some_and(|old| old.chunk_shape == shape);
        let filters = match &self.options.filters {
            Some(chosen) => chosen
                .iter()
                .map(|choice| filter_spec(choice, (datatype, &properties.fill.value), &shape, widths))
                .collect::<Result<Vec<_>>>()?,
            None if same_shape && element_size == properties.element_size => {
                properties.filters.filters.clone()
            }
            None => properties
                .filters
                .filters
                .iter()
                .map(|filter| resized_filter(filter, element_size, &shape))
                .collect::<Result<Vec<_>>>()?,
        };
        let same_filters = filters.len() == properties.filters.filters.len()
            && filters
                .iter()
                .zip(&properties.filters.filters)
                .all(|(new, old)| (new.id, &new.client_data) == (old.id, &old.client_data));
        let encodes = self.options.encode && !filters.is_empty();
        if same_shape && same_filters && self.options.version.is_none() && !encodes {
            return Ok(None);
        }
        let version = match (self.options.version, old) {
            (Some(version), _) => version.layout(),
            (None, Some(old)) => old.version.max(3),
            (None, None) => file_version.layout(),
        };
        let had_unfiltered_edges = old.is_some_and(|old| old.unfiltered_edges);
        let unfiltered_edges = had_unfiltered_edges && same_shape && same_filters && version > 3;
        let is_same = same_shape && same_filters && unfiltered_edges == had_unfiltered_edges;
        let keeps_chunks = is_same && !encodes;
        Ok(Some(NewChunks { shape, filters, keeps_chunks, unfiltered_edges, version }))
    }

    fn shape_of_chunked(&self, properties: &Properties, chunked: &ChunkedLayout) -> Vec<u64> {
        match &self.options.chunks {
            RepackChunks::Auto => automatic(properties),
            RepackChunks::Shape(shape) if shape.len() == chunked.chunk_shape.len() => cut(shape, properties),
            _ => chunked.chunk_shape.clone(),
        }
    }

    fn shape_of_contiguous(&self, properties: &Properties) -> Option<Vec<u64>> {
        let rank = properties.dataspace.shape().len();
        if rank == 0 || properties.len_bytes() < SMALLEST_CHUNKED {
            return None;
        }
        let is_filtered = self.options.filters.as_ref().is_some_and(|filters| !filters.is_empty());
        match &self.options.chunks {
            RepackChunks::Auto => Some(automatic(properties)),
            RepackChunks::AsNeeded if is_filtered => Some(automatic(properties)),
            RepackChunks::Shape(shape) if shape.len() == rank => Some(cut(shape, properties)),
            _ => None,
        }
    }
}

impl NewChunks {
    /// The layout message of the copy, which has no chunks yet.
    pub(super) fn layout(&self, properties: &Properties, element_size: usize) -> LayoutMessage {
        let index = choose(&ChunkingPlan {
            layout_version: self.version,
            shape: properties.dataspace.shape(),
            max_shape: properties.max_shape(),
            chunk_shape: &self.shape,
            is_filtered: !self.filters.is_empty(),
            // The copy allocates chunks as they are written.
            is_allocated_early: false,
        });
        LayoutMessage::from(Layout::Chunked(ChunkedLayout {
            version: self.version,
            chunk_shape: self.shape.clone(),
            // An element is not larger than a chunk, which has less than 4 GiB.
            element_size: u32::try_from(element_size).unwrap_or(u32::MAX),
            unfiltered_edges: self.unfiltered_edges,
            index,
        }))
    }
}

fn automatic(properties: &Properties) -> Vec<u64> {
    auto_chunks(properties.dataspace.shape(), properties.max_shape(), properties.element_size as u64)
}

/// Cuts a chunk shape to the maximum shape of the dataset, as libhdf5 requires.
fn cut(shape: &[u64], properties: &Properties) -> Vec<u64> {
    let limits: Vec<Option<u64>> = match &properties.dataspace {
        Dataspace::Simple { max_shape: Some(max), .. } => max.clone(),
        dataspace => dataspace.shape().iter().copied().map(Some).collect(),
    };
    shape.iter().zip(limits).map(|(&len, limit)| limit.map_or(len, |limit| len.min(limit)).max(1)).collect()
}

/// The least size in bytes of a contiguous dataset that is converted to chunks. For less, an index is not
/// worthwhile.
pub(super) const SMALLEST_CHUNKED: u64 = 4096;
