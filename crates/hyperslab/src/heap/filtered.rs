//! Reading what a fractal heap stores through filters (spec III.G): direct blocks and huge objects.

use hyperslab_format::Extent;
use hyperslab_format::message::filters::FilterPipeline;

use crate::error::{Error, Result};
use crate::store::Store;

/// The `size` bytes that were filtered and stored at `extent`, without the filters of `mask`.
pub(super) fn read(
    store: &Store,
    extent: Extent,
    name: (&'static str, &'static str),
    pipeline: &FilterPipeline,
    mask: u32,
    size: u64,
) -> Result<Vec<u8>> {
    let _ = (mask, size, pipeline, store.check(extent, name)?);
    Err(Error::unsupported("a fractal heap with filters", "III.G"))
}
