//! The filters of a dataset, in the terms of h5py.

use hyperslab_filters::FilterId;
use hyperslab_filters::choice::{BitshuffleCodec, BloscCodec, BloscFilter, ChunkFacts, FilterChoice};
use hyperslab_filters::registry::registered_name;
use hyperslab_format::message::filters::{FilterPipeline, FilterSpec};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;

const SZIP: FilterId = FilterId(4);
const SCALE_OFFSET: FilterId = FilterId(6);
/// The filters that have a name or a property in h5py.
const NAMED: [FilterId; 6] =
    [FilterId::DEFLATE, SZIP, FilterId::LZF, FilterId::SHUFFLE, FilterId::FLETCHER32, SCALE_OFFSET];

/// Returns the filter `id` of the pipeline, or `None`.
pub(crate) fn find(pipeline: &FilterPipeline, id: FilterId) -> Option<&FilterSpec> {
    pipeline.filters.iter().find(|filter| filter.id == id.0)
}

/// Returns `Dataset.compression`: h5py's name of the compression, "unknown" for any other filter, or `None`.
pub(crate) fn compression(pipeline: &FilterPipeline) -> Option<&'static str> {
    let known = [(FilterId::DEFLATE, "gzip"), (FilterId::LZF, "lzf"), (SZIP, "szip")];
    let known = known.into_iter().find(|(id, _)| find(pipeline, *id).is_some());
    let other = || pipeline.filters.iter().any(|filter| !NAMED.iter().any(|id| id.0 == filter.id));
    known.map(|(_, name)| name).or_else(|| other().then_some("unknown"))
}

/// Returns `Dataset.compression_opts`: the level of gzip, or the method and block size of szip.
pub(crate) fn compression_opts<'py>(
    py: Python<'py>,
    pipeline: &FilterPipeline,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let first = |filter: &FilterSpec, place: usize| filter.client_data.get(place).copied();
    match compression(pipeline) {
        Some("gzip") => {
            let level = find(pipeline, FilterId::DEFLATE).and_then(|filter| first(filter, 0));
            level.map(|level| Ok(level.into_pyobject(py)?.into_any())).transpose()
        }
        Some("szip") => {
            let Some(filter) = find(pipeline, SZIP) else { return Ok(None) };
            let mask = first(filter, 0).unwrap_or(0);
            let method = match (mask & 4 != 0, mask & 32 != 0) {
                (true, _) => "ec",
                (false, true) => "nn",
                _ => return Err(PyTypeError::new_err("Unknown SZIP configuration")),
            };
            Ok(Some((method, first(filter, 1)).into_pyobject(py)?.into_any()))
        }
        _ => Ok(None),
    }
}

/// Returns `Dataset.scaleoffset`: the number of bits or of decimal places that the filter keeps.
pub(crate) fn scale_offset(pipeline: &FilterPipeline) -> Option<u32> {
    find(pipeline, SCALE_OFFSET)?.client_data.get(1).copied()
}

/// Returns the name of a filter as in libhdf5: the stored name, or else the name of a built-in filter.
pub(crate) fn name(filter: &FilterSpec) -> String {
    let own =
        || registered_name(FilterId(filter.id)).filter(|_| filter.id < 256 || filter.id == FilterId::LZF.0);
    filter.name.clone().unwrap_or_else(|| own().unwrap_or_default().to_owned())
}

/// The stored form of a filter: its number, its flags, its name and its client data.
type Stored = (u16, u16, Option<String>, Vec<u32>);

/// Returns the stored form of a filter, given the parameters of its plugin. `KeyError`: the filter is
/// unknown.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // Python lists become vectors.
#[pyo3(name = "_filter")]
pub(crate) fn stored_filter(
    id: u16,
    options: Vec<i64>,
    element_size: usize,
    item_size: usize,
    chunk_shape: Vec<usize>,
) -> PyResult<Stored> {
    let choice = choice(FilterId(id), &options)?;
    let facts = ChunkFacts { element_size, item_size, shape: &chunk_shape };
    let data = choice.client_data(&facts).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let name = registered_name(choice.id()).filter(|_| id >= 256).map(str::to_owned);
    Ok((id, choice.flags(), name, data))
}

/// Returns a filter with its parameters, which have the order of hdf5plugin.
pub(crate) fn choice(id: FilterId, options: &[i64]) -> PyResult<FilterChoice> {
    let option = |index: usize, otherwise: i64| options.get(index).copied().unwrap_or(otherwise);
    let number = |index: usize, otherwise: i64| {
        let value = option(index, otherwise);
        u32::try_from(value).map_err(|_| PyValueError::new_err(format!("filter option {index} is {value}")))
    };
    Ok(match id {
        FilterId::DEFLATE => FilterChoice::Deflate { level: number(0, 4)? },
        FilterId::SHUFFLE => FilterChoice::Shuffle,
        FilterId::FLETCHER32 => FilterChoice::Fletcher32,
        FilterId::LZF => FilterChoice::Lzf,
        FilterId::LZ4 => FilterChoice::Lz4 { block_size: number(0, 0)? },
        FilterId::ZSTD => FilterChoice::Zstd { level: level(option(0, 3)) },
        FilterId::BITSHUFFLE => FilterChoice::Bitshuffle {
            block: number(0, 0)?,
            codec: match option(1, 2) {
                0 => BitshuffleCodec::None,
                2 => BitshuffleCodec::Lz4,
                3 => BitshuffleCodec::Zstd { level: level(option(2, 3)) },
                other => return Err(PyValueError::new_err(format!("bitshuffle has no codec {other}"))),
            },
        },
        FilterId::BLOSC | FilterId::BLOSC2 => {
            let (level, filter, codec) = (number(4, 5)?, option(5, 1), option(6, 0));
            let unknown = |what, number| PyValueError::new_err(format!("Blosc has no {what} {number}"));
            let found = u32::try_from(filter).ok().and_then(BloscFilter::of);
            let filter = found.ok_or_else(|| unknown("filter", filter))?;
            let found = u32::try_from(codec).ok().and_then(BloscCodec::of);
            let codec = found.ok_or_else(|| unknown("codec", codec))?;
            if id == FilterId::BLOSC {
                FilterChoice::Blosc { codec, level, filter }
            } else {
                FilterChoice::Blosc2 { codec, level, filter }
            }
        }
        other => return Err(PyKeyError::new_err(other.0)),
    })
}

/// Returns a level that is given as a signed number, or as its two's complement in an unsigned number.
fn level(value: i64) -> i32 {
    i32::try_from(value).or_else(|_| u32::try_from(value).map(u32::cast_signed)).unwrap_or(i32::MAX)
}

/// Returns the default shape of chunks.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // Python lists become vectors.
#[pyo3(name = "_auto_chunks")]
pub(crate) fn auto_chunks(
    shape: Vec<u64>,
    max_shape: Option<Vec<Option<u64>>>,
    element_size: u64,
) -> Vec<u64> {
    hyperslab::internals::auto_chunks(&shape, max_shape.as_deref(), element_size)
}
