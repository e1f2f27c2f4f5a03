//! Reads and encodes the parts of a fractal heap that are stored through filters (spec III.G): direct blocks
//! and huge objects.

use hyperslab_error::{Error, Result};
use hyperslab_filters::pipeline::{FilterMask, Pipeline, StageSpec};
use hyperslab_filters::{FilterId, Registry, Scratch};
use hyperslab_format::message::filters::{FilterPipeline, FilterSpec};
use hyperslab_format::{ErrorKind, Extent, FormatError};

use crate::Store;

/// The largest decoded size, in bytes, that a heap may claim before memory is allocated for it. Heaps with
/// filters hold the links of groups, which are short.
const MAX_SIZE: u64 = 64 << 20;

/// Reads and decodes `size` bytes that are stored at `extent` through the filters, except the filters of
/// `mask`.
pub fn read(
    store: &Store,
    extent: Extent,
    (structure, spec): (&'static str, &'static str),
    pipeline: &FilterPipeline,
    mask: u32,
    size: u64,
) -> Result<Vec<u8>> {
    let stored = store.bytes(extent, (structure, spec))?;
    let Some(len) = usize::try_from(size).ok().filter(|_| size <= MAX_SIZE) else {
        let kind = ErrorKind::TooLarge { field: "size without filters", value: size, limit: MAX_SIZE };
        return Err(Error::from(FormatError { kind, structure, spec, at: extent.addr, offset: 0 }));
    };
    let pipeline = of_bytes(pipeline, len)?;
    let mut bytes = vec![0; len];
    pipeline
        .decode_into(FilterMask(mask), &stored, &mut bytes, &mut Scratch::default())
        .map_err(|cause| Error::Filter { cause })?;
    Ok(bytes)
}

/// Encodes `bytes` with the filters. Returns the stored bytes, and the mask of the filters that were skipped.
pub(super) fn encode(pipeline: &FilterPipeline, bytes: &[u8]) -> Result<(Vec<u8>, u32)> {
    let pipeline = of_bytes(pipeline, bytes.len())?;
    let mut scratch = Scratch::default();
    let (stored, FilterMask(mask)) =
        pipeline.encode(bytes, &mut scratch).map_err(|cause| Error::Filter { cause })?;
    Ok((stored.to_vec(), mask))
}

/// Returns the pipeline for `len` bytes of a heap. Heaps are filtered as bytes, by the filters that come with
/// the library.
fn of_bytes(pipeline: &FilterPipeline, len: usize) -> Result<Pipeline> {
    Pipeline::new(&stages(&pipeline.filters), 1, len, &Registry::default())
        .map_err(|cause| Error::Filter { cause })
}

/// Converts the filters of a pipeline message to the stages of a pipeline.
pub fn stages(filters: &[FilterSpec]) -> Vec<StageSpec<'_>> {
    let stages = filters.iter().map(|filter| StageSpec {
        id: FilterId(filter.id),
        name: filter.name.as_deref(),
        flags: filter.flags,
        client_data: &filter.client_data,
    });
    stages.collect()
}
