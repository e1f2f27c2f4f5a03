//! The filters of a dataset in h5py's words.

use hyperslab_filters::FilterId;
use hyperslab_format::message::filters::{FilterPipeline, FilterSpec};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

const SZIP: FilterId = FilterId(4);
const SCALE_OFFSET: FilterId = FilterId(6);
/// The filters that h5py has a name for.
const NAMED: [FilterId; 6] =
    [FilterId::DEFLATE, SZIP, FilterId::LZF, FilterId::SHUFFLE, FilterId::FLETCHER32, SCALE_OFFSET];

/// The filter `id`, if the pipeline has it.
pub(crate) fn find(pipeline: &FilterPipeline, id: FilterId) -> Option<&FilterSpec> {
    pipeline.filters.iter().find(|filter| filter.id == id.0)
}

/// `Dataset.compression`: a name that h5py knows, "unknown" for any other filter, None without.
pub(crate) fn compression(pipeline: &FilterPipeline) -> Option<&'static str> {
    let known = [(FilterId::DEFLATE, "gzip"), (FilterId::LZF, "lzf"), (SZIP, "szip")];
    let known = known.into_iter().find(|(id, _)| find(pipeline, *id).is_some());
    let other = || pipeline.filters.iter().any(|filter| !NAMED.iter().any(|id| id.0 == filter.id));
    known.map(|(_, name)| name).or_else(|| other().then_some("unknown"))
}

/// `Dataset.compression_opts`: the level of gzip, the method and block size of szip.
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

/// `Dataset.scaleoffset`: the bits or decimal places kept.
pub(crate) fn scale_offset(pipeline: &FilterPipeline) -> Option<u32> {
    find(pipeline, SCALE_OFFSET)?.client_data.get(1).copied()
}

/// The name of a filter as libhdf5 reports it: the one stored, or that of a filter of its own.
pub(crate) fn name(filter: &FilterSpec) -> String {
    let own = match filter.id {
        1 => "deflate",
        2 => "shuffle",
        3 => "fletcher32",
        4 => "szip",
        5 => "nbit",
        6 => "scaleoffset",
        32000 => "lzf",
        _ => "",
    };
    filter.name.clone().unwrap_or_else(|| own.to_owned())
}
