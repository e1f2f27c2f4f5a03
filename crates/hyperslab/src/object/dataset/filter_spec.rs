//! The stored description of a filter for chunks of a certain shape.

use hyperslab_filters::{ChunkFacts, FilterChoice, FilterId};
use hyperslab_format::Widths;
use hyperslab_format::datatype::Datatype;
use hyperslab_format::message::filters::FilterSpec;

use crate::error::{Error, RequestError, Result};

/// Returns the stored description of a filter for chunks of this shape, with elements of `datatype`.
///
/// Errors: `Filter` if a parameter of the filter is out of range, or if a chunk is too long for the filter.
pub fn filter_spec(
    choice: &FilterChoice,
    datatype: &Datatype,
    chunk_shape: &[u64],
    widths: Widths,
) -> Result<FilterSpec> {
    let bytes = |datatype: &Datatype| usize::try_from(datatype.size(widths)).unwrap_or(usize::MAX);
    let item = if let Datatype::Array(array) = datatype { &*array.base } else { datatype };
    let shape: Vec<usize> =
        chunk_shape.iter().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect();
    let facts = ChunkFacts { element_size: bytes(datatype), item_size: bytes(item), shape: &shape };
    let id = choice.id();
    Ok(FilterSpec {
        id: id.0,
        // The filters of libhdf5 need no name.
        name: (id.0 >= 256)
            .then(|| hyperslab_filters::registry::registered_name(id).map(str::to_owned))
            .flatten(),
        flags: choice.flags(),
        client_data: choice.client_data(&facts).map_err(|cause| Error::Filter { cause })?,
    })
}

/// Returns a filter for chunks of another shape, with elements of `element_size` bytes. The client data of
/// some filters hold the size of a chunk.
///
/// Errors: `Request` if a chunk has 4 GiB or more; `Unsupported` if the meaning of the client data is not
/// known.
pub fn refitted_filter(filter: &FilterSpec, element_size: usize, chunk_shape: &[u64]) -> Result<FilterSpec> {
    let bytes = chunk_shape.iter().try_fold(element_size as u64, |all, &len| all.checked_mul(len));
    let bytes = bytes.and_then(|bytes| u32::try_from(bytes).ok());
    let bytes = bytes.ok_or_else(|| too_large(chunk_shape))?;
    let mut fitted = filter.clone();
    let data = &mut fitted.client_data;
    let mut set = |place: usize| data.get_mut(place).map(|slot| *slot = bytes);
    match FilterId(filter.id) {
        FilterId::DEFLATE
        | FilterId::SHUFFLE
        | FilterId::FLETCHER32
        | FilterId::LZ4
        | FilterId::ZSTD
        | FilterId::BITSHUFFLE => {}
        FilterId::LZF => _ = set(2),
        FilterId::BLOSC => _ = set(3),
        FilterId::BLOSC2 => {
            set(3);
            // With more than one dimension, the rank and the shape follow.
            data.truncate(7);
            if chunk_shape.len() > 1 {
                let sides = chunk_shape.iter().map(|&len| u32::try_from(len).unwrap_or(u32::MAX));
                data.push(u32::try_from(chunk_shape.len()).unwrap_or(u32::MAX));
                data.extend(sides);
            }
        }
        FilterId(id) => {
            let feature = format!("chunks of another shape with filter {id} (choose other filters)");
            return Err(Error::unsupported(feature, "IV.A.2.l"));
        }
    }
    Ok(fitted)
}

fn too_large(chunk_shape: &[u64]) -> Error {
    let why = "a chunk has less than 4 GiB";
    RequestError::Argument { what: format!("chunks {chunk_shape:?}"), why }.into()
}
