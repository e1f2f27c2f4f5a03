//! A dataset that the engine writes: how its chunks are stored.

use std::ffi::c_int;

use hyperslab::datatype::Datatype;
use hyperslab::storage::{FillBytes, FilterMask, FilterSpec};
use hyperslab::{ChunkCodec, EncodedChunk, Error};
use hyperslab_filters::{FilterId, Registry};

use crate::ffi::datatypes::{OwnedDatatype, WIDTHS};
use crate::ffi::library::Library;
use crate::ffi::lists::{self, Fill, Filter, List};
use crate::ffi::native::NativeDataset;
use crate::rules::{Reason, Ruled};
use crate::transfer;

/// `H5D_CHUNKED`
const CHUNKED: c_int = 2;
/// The filters that do not compress: shuffle and Fletcher-32.
const KEEP_THE_SIZE: [u16; 2] = [2, 3];
/// The filters that may change values, or bits beside them: N-bit, scale-offset and ZFP.
const LOSSY: [u16; 3] = [5, 6, 32_013];

/// Returns how a dataset stores its chunks, if the engine stores the same elements.
pub(crate) fn of(library: &Library, native: NativeDataset) -> Ruled<ChunkCodec> {
    let file_type = native.datatype().ok_or(Reason::Conversion)?;
    let datatype = transfer::datatype(library, file_type.id())?;
    let creation = native.creation().ok_or(Reason::Layout)?;
    created_with(library, &creation, &file_type, datatype)
}

/// Returns whether the elements of a dataset are those of other datasets.
pub(crate) fn is_virtual(native: NativeDataset) -> bool {
    /// `H5D_VIRTUAL`
    const VIRTUAL: c_int = 3;
    native.creation().is_some_and(|creation| creation.layout() == VIRTUAL)
}

/// Returns what a property list for the creation of a dataset says of its chunks.
fn created_with(
    library: &Library,
    creation: &List,
    file_type: &OwnedDatatype,
    datatype: Datatype,
) -> Ruled<ChunkCodec> {
    if datatype.has_variable_parts() || datatype.has_references() {
        return Err(Reason::Datatype);
    }
    if creation.layout() != CHUNKED || creation.chunk_options() != Some(0) {
        return Err(Reason::Layout);
    }
    let chunk = creation.chunk().ok_or(Reason::Layout)?;
    let filters = creation.filters().ok_or(Reason::Filter)?;
    let filters = filters.into_iter().map(filter).collect::<Ruled<Vec<_>>>()?;
    if filters.iter().any(|filter| LOSSY.contains(&filter.id)) {
        return Err(Reason::Lossy);
    }
    match filters.iter().filter(|filter| !KEEP_THE_SIZE.contains(&filter.id)).count() {
        0 => return Err(Reason::Uncompressed),
        1 => {}
        // One of them may be skipped in a chunk that is smaller than its elements.
        _ => return Err(Reason::Filter),
    }
    // The native connector leaves out an optional filter that the library does not have, and refuses to write
    // without one that is needed.
    let has = |filter: &FilterSpec| {
        Registry::shared().contains(FilterId(filter.id)) && lists::has_filter(library, filter.id.into())
    };
    if !filters.iter().all(has) {
        return Err(Reason::Filter);
    }
    let size = usize::try_from(datatype.size(WIDTHS)).map_err(|_| Reason::Datatype)?;
    let fill = match creation.fill(file_type.id(), size).ok_or(Reason::Layout)? {
        Fill::NotGiven => FillBytes::Default,
        Fill::Given(value) => FillBytes::Defined(value),
    };
    ChunkCodec::stored(datatype, &fill, &chunk, &filters).map_err(|_| Reason::Layout)
}

fn filter(filter: Filter) -> Ruled<FilterSpec> {
    let id = u16::try_from(filter.id).map_err(|_| Reason::Filter)?;
    let flags = u16::try_from(filter.flags & 0xffff).map_err(|_| Reason::Filter)?;
    Ok(FilterSpec { id, name: None, flags, client_data: filter.parameters })
}

/// Stores a chunk.
///
/// A chunk that is stored without compression, or whose filters were skipped, is left as it is: libhdf5 does
/// not note skipped filters of a chunk that replaces one of the same size, and would go on to use the filters
/// that were skipped for that one (its `H5D__chunk_direct_write` does not update what it remembers of the
/// last chunk).
pub(crate) fn write_chunk(
    native: NativeDataset,
    codec: &ChunkCodec,
    first: &[u64],
    chunk: &EncodedChunk,
) -> Result<(), Error> {
    if chunk.mask != FilterMask::NONE_SKIPPED {
        return Err(Error::unsupported("a chunk that a filter did not make smaller", "IV.A.2.i"));
    }
    let is_compressed = native.stored_size(first).is_some_and(|stored| stored < codec.chunk_bytes() as u64);
    if is_compressed && native.write_chunk(first, &chunk.bytes) {
        return Ok(());
    }
    Err(Error::unsupported("a chunk that the native connector does not store", "IV.A.2.i"))
}
