//! Filters: those of a dataset in the terms of h5py, those that programs register as Python functions, and
//! compiled plug-ins.

pub(crate) mod plugins;
pub(crate) mod registered;

use hyperslab::Error;
use hyperslab::internals::filter_spec;
use hyperslab::storage::{DatasetOptions, NewStorage};
use hyperslab_filters::registry::registered_name;
use hyperslab_filters::{FilterChoice, FilterId, NotationError};
use hyperslab_format::Widths;
use hyperslab_format::message::filters::{FilterPipeline, FilterSpec};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::interpreter::error::exception;

const SZIP: FilterId = FilterId::SZIP;
const SCALE_OFFSET: FilterId = FilterId::SCALE_OFFSET;
/// The options of szip: entropy coding, alone or of differences.
const ENTROPY: u32 = 4;
const NEAREST_NEIGHBOR: u32 = 32;
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
            let method = match (mask & ENTROPY != 0, mask & NEAREST_NEIGHBOR != 0) {
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

/// A filter of a new dataset: its number, its flags if they are not the usual ones, its parameters in the
/// order of its plugin, and whether the number may be one that no filter has.
pub(crate) type Given = (u16, Option<u16>, Vec<i64>, bool);

/// Returns the stored form of the filters of a new dataset. `ValueError`: a number is unknown, or parameters
/// do not fit.
pub(crate) fn stored(
    given: Vec<Given>,
    options: &DatasetOptions,
    widths: Widths,
) -> PyResult<Vec<FilterSpec>> {
    let NewStorage::Chunked(chunk) = &options.storage else { return Ok(Vec::new()) };
    let facts = (&options.datatype, &options.fill);
    let spec = |(id, flags, parameters, may_be_unknown): Given| {
        let choice = choice(FilterId(id), &parameters)?;
        let is_unknown =
            matches!(choice, FilterChoice::Registered { .. }) && !registered::contains(FilterId(id));
        if is_unknown && !may_be_unknown {
            return Err(PyValueError::new_err(format!("Unknown compression filter number: {id}")));
        }
        registered::check_encodes(FilterId(id))?;
        let refused = |error: Error| match error.root() {
            Error::Filter { cause } => PyValueError::new_err(cause.to_string()),
            _ => exception(&error),
        };
        let spec = filter_spec(&choice, facts, chunk, widths).map_err(refused)?;
        Ok(FilterSpec { flags: flags.unwrap_or(spec.flags), ..spec })
    };
    given.into_iter().map(spec).collect()
}

/// Returns a filter with its parameters, which have the order of hdf5plugin. A filter that the engine does
/// not have takes them as they are.
pub(crate) fn choice(id: FilterId, options: &[i64]) -> PyResult<FilterChoice> {
    FilterChoice::from_parameters(id, options).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Returns the registered name of a filter, or an empty text, and whether the package decodes and encodes it.
#[pyfunction]
#[pyo3(name = "_filter_facts")]
pub(crate) fn filter_facts(id: u16) -> (&'static str, bool, bool) {
    let id = FilterId(id);
    let is_ours = registered::registry().contains(id);
    let is_registered = registered::contains(id);
    let encodes = is_ours || is_registered && registered::check_encodes(id).is_ok();
    (registered_name(id).unwrap_or_default(), is_ours || is_registered, encodes)
}

/// Returns the number of a filter in words, such as `zstd:5`, and its parameters.
#[pyfunction]
#[pyo3(name = "_filter_in_words")]
pub(crate) fn filter_in_words(words: &str) -> PyResult<(u16, Vec<i64>)> {
    let filter: FilterChoice =
        words.parse().map_err(|error: NotationError| PyValueError::new_err(error.to_string()))?;
    Ok((filter.id().0, filter.to_parameters()))
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
