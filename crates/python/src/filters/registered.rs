//! Filters that are Python functions, and filters of compiled plug-ins. They are found by their numbers when
//! a chunk is encoded or decoded, so they can be registered while files are open. All access to functions is
//! under the interpreter's lock.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use hyperslab_filters::error::Result;
use hyperslab_filters::registry::registered_name;
use hyperslab_filters::{Encoded, Failure, Filter, FilterError, FilterId, Parameters, Registry, Scratch};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyMemoryView, PyTuple};

use crate::filters::plugins;

/// The functions of each number: how to decode a chunk, and how to encode one, or `None`.
fn functions(py: Python<'_>) -> &Bound<'_, PyDict> {
    static FUNCTIONS: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    FUNCTIONS.get_or_init(py, || PyDict::new(py).unbind()).bind(py)
}

/// Whether functions were ever registered. Otherwise plug-ins are called without the interpreter's lock.
static ANY: AtomicBool = AtomicBool::new(false);

/// Returns whether Python functions have this number.
fn has_functions(id: FilterId) -> bool {
    ANY.load(Ordering::Acquire) && Python::attach(|py| functions(py).contains(id.0).unwrap_or(false))
}

/// Returns whether Python functions or a plug-in have this number.
pub(crate) fn contains(id: FilterId) -> bool {
    has_functions(id) || plugins::find(id).is_some()
}

/// Returns the filters of the engine, and those that are Python functions.
pub(crate) fn registry() -> Arc<Registry> {
    static REGISTRY: OnceLock<Arc<Registry>> = OnceLock::new();
    let make = || {
        let mut registry = Registry::default();
        registry.register_others(|id, parameters| Arc::new(Functions::new(id, parameters)));
        Arc::new(registry)
    };
    Arc::clone(REGISTRY.get_or_init(make))
}

/// Registers functions that decode and encode the chunks of a filter that the package does not have.
///
/// All files find them from then on. They are called in any thread, with the interpreter's lock, so they run
/// one at a time. An exception that they raise is raised by the read or write.
///
/// Args:
///     id: The registered number of the filter, from 256 to 65535.
///     decode: A function that gets the stored bytes, the client data of the filter as a tuple of
///         integers, and the number of bytes of a chunk. It returns the decoded bytes, as any object with
///         the buffer protocol.
///     encode: A function that gets the bytes of a chunk and the client data. It returns the bytes to
///         store, or None to store the chunk without the filter. Without this function, chunks can only
///         be read.
///
/// Raises:
///     ValueError: The package has a filter of this number, or the number is out of range.
///     TypeError: An argument cannot be called.
///
/// Example:
///     >>> hs.register_filter(400, lambda data, options, size: data[::-1], lambda data, options: data[::-1])
///     >>> file.create_dataset("turned", data=np.arange(9), chunks=(3,), compression=400).filter_ids
///     (400,)
///     >>> hs.unregister_filter(400)
#[pyfunction]
#[pyo3(signature = (id, decode, encode=None))]
pub(crate) fn register_filter(
    py: Python<'_>,
    id: u32,
    decode: Bound<'_, PyAny>,
    encode: Option<Bound<'_, PyAny>>,
) -> PyResult<()> {
    let id = u16::try_from(id).ok().filter(|&id| id >= 256);
    let id = id.ok_or_else(|| PyValueError::new_err("the number of a filter is from 256 to 65535"))?;
    if registry().contains(FilterId(id)) {
        let name = registered_name(FilterId(id)).unwrap_or_default();
        return Err(PyValueError::new_err(format!("the package has filter {id} ({name}) itself")));
    }
    if !decode.is_callable() || encode.as_ref().is_some_and(|encode| !encode.is_callable()) {
        return Err(PyTypeError::new_err("decode and encode are functions"));
    }
    ANY.store(true, Ordering::Release);
    functions(py).set_item(id, (decode, encode))
}

/// Forgets the functions of a filter that `register_filter` has registered.
///
/// Args:
///     id: The number of the filter.
///
/// Raises:
///     KeyError: No functions have this number.
///
/// Example:
///     >>> hs.register_filter(400, lambda data, options, size: data)
///     >>> hs.unregister_filter(400)
#[pyfunction]
pub(crate) fn unregister_filter(py: Python<'_>, id: u32) -> PyResult<()> {
    if functions(py).contains(id)? { functions(py).del_item(id) } else { Err(PyKeyError::new_err(id)) }
}

/// Returns an error if a filter that is Python functions or a plug-in can only decode.
pub(crate) fn check_encodes(id: FilterId) -> PyResult<()> {
    if !has_functions(id) {
        return match plugins::find(id).filter(|plugin| !plugin.encodes()) {
            Some(plugin) => {
                let message = format!("the plug-in of filter {} ({}) does not encode", id.0, plugin.name());
                Err(PyValueError::new_err(message))
            }
            None => Ok(()),
        };
    }
    Python::attach(|py| match functions(py).get_item(id.0)? {
        Some(found) if found.get_item(1)?.is_none() => Err(PyValueError::new_err(format!(
            "filter {} was registered without a function that encodes",
            id.0
        ))),
        _ => Ok(()),
    })
}

/// A filter that is Python functions or a plug-in, or that nothing is known of yet.
#[derive(Debug)]
struct Functions {
    id: FilterId,
    client_data: Vec<u32>,
    element_size: usize,
    chunk_bytes: usize,
    /// The plug-in, once it was found.
    plugin: OnceLock<Arc<dyn Filter>>,
}

impl Functions {
    fn new(id: FilterId, parameters: &Parameters<'_>) -> Self {
        let &Parameters { client_data, element_size, chunk_bytes } = parameters;
        Self { id, client_data: client_data.to_vec(), element_size, chunk_bytes, plugin: OnceLock::new() }
    }

    /// Returns the plug-in of this number, unless functions have the number.
    fn plugin(&self) -> Result<Option<&dyn Filter>> {
        if has_functions(self.id) {
            return Ok(None);
        }
        if let Some(plugin) = self.plugin.get() {
            return Ok(Some(&**plugin));
        }
        let Some(plugin) = plugins::find(self.id) else { return Ok(None) };
        let &Self { element_size, chunk_bytes, .. } = self;
        let plugin =
            plugin.filter(&Parameters { client_data: &self.client_data, element_size, chunk_bytes })?;
        Ok(Some(&**self.plugin.get_or_init(|| plugin)))
    }

    /// Calls `f` with the functions of the filter.
    fn with<T>(&self, f: impl FnOnce(&Bound<'_, PyAny>, &Bound<'_, PyTuple>) -> PyResult<T>) -> Result<T> {
        Python::attach(|py| {
            let failed = |error: PyErr| FilterError::Failed { id: self.id.0, cause: Failure::new(error) };
            let found = functions(py).get_item(self.id.0).map_err(failed)?.ok_or_else(|| {
                let name = registered_name(self.id).unwrap_or("not registered").to_owned();
                FilterError::Unknown { id: self.id.0, name }
            })?;
            PyTuple::new(py, &self.client_data).and_then(|options| f(&found, &options)).map_err(failed)
        })
    }
}

/// Copies an object with the buffer protocol to the front of `dst`. Returns its length, or `None` if it is
/// longer.
fn copy_into(object: &Bound<'_, PyAny>, dst: &mut [u8]) -> PyResult<Option<usize>> {
    let bytes = match object.cast::<PyBytes>() {
        Ok(bytes) => bytes.clone(),
        Err(_) => PyMemoryView::from(object)?.call_method0("tobytes")?.cast_into::<PyBytes>()?,
    };
    let bytes = bytes.as_bytes();
    Ok(dst.get_mut(..bytes.len()).map(|dst| {
        dst.copy_from_slice(bytes);
        bytes.len()
    }))
}

impl Filter for Functions {
    fn id(&self) -> FilterId {
        self.id
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<usize> {
        if let Some(plugin) = self.plugin()? {
            return plugin.decode_into(src, dst, scratch);
        }
        let expected = dst.len() as u64;
        let decoded = self.with(|functions, options| {
            let stored = PyBytes::new(functions.py(), src);
            let decoded = functions.get_item(0)?.call1((stored, options, self.chunk_bytes))?;
            copy_into(&decoded, dst)
        })?;
        decoded.ok_or(FilterError::Length { filter: "registered filter", expected, found: expected + 1 })
    }

    fn encode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<Encoded> {
        if let Some(plugin) = self.plugin()? {
            return plugin.encode_into(src, dst, scratch);
        }
        self.with(|functions, options| {
            let encode = functions.get_item(1)?;
            if encode.is_none() {
                return Ok(Encoded::Skipped);
            }
            let encoded = encode.call1((PyBytes::new(functions.py(), src), options))?;
            let stored = if encoded.is_none() { None } else { copy_into(&encoded, dst)? };
            Ok(stored.into())
        })
    }

    fn decode_bound(&self, decoded: usize) -> usize {
        decoded.saturating_mul(2).saturating_add(64 << 10)
    }
}
