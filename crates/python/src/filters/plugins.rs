//! Compiled filter plug-ins: those of the package hdf5plugin once the program has imported it, and those that
//! the program names.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hyperslab_filters::FilterId;
use hyperslab_filters::added::{self, Added};
use pyo3::exceptions::{PyImportError, PyOSError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Returns the plug-in of this number. If no plug-in has it, and the program has imported hdf5plugin since,
/// that package's plug-ins are searched.
pub(crate) fn find(id: FilterId) -> Option<Arc<dyn Added>> {
    static IS_ADDED: AtomicBool = AtomicBool::new(false);
    // Another thread may add the folder while this one looks for the filter.
    let is_added = IS_ADDED.load(Ordering::Acquire);
    let found = added::find(id);
    if found.is_some() || is_added {
        return found;
    }
    hyperslab_plugins::search(&imported()?);
    IS_ADDED.store(true, Ordering::Release);
    added::find(id)
}

/// Returns the folder of hdf5plugin, if the program has imported the package.
fn imported() -> Option<PathBuf> {
    Python::attach(|py| {
        let modules = py.import("sys").ok()?.getattr("modules").ok()?.cast_into::<PyDict>().ok()?;
        let package = modules.get_item("hdf5plugin").ok()??;
        package.getattr("PLUGIN_PATH").ok()?.extract().ok()
    })
}

/// Loads compiled filter plug-ins of HDF5, so that their filters read and write in all files.
///
/// A plug-in is a shared library that exports `H5PLget_plugin_info`. Its code runs in this process, so load
/// only what you trust. After `import hdf5plugin`, the filters of that package are found without this
/// function. Filters that hyperslab has itself are not replaced. Linux only.
///
/// Args:
///     path: A library, or a folder of libraries. Without it, the plug-ins of the installed package
///         hdf5plugin are loaded, without importing the package.
///
/// Returns:
///     The number and the name of each filter that was loaded.
///
/// Raises:
///     OSError: The file is no plug-in, the folder cannot be read, or plug-ins are switched off.
///     ImportError: `path` is left out, and hdf5plugin is not installed.
///
/// Example:
///     >>> hs.load_plugins()[32017][:13]  # doctest: +SKIP
///     'SZ compressor'
#[pyfunction]
#[pyo3(signature = (path=None))]
pub(crate) fn load_plugins(py: Python<'_>, path: Option<PathBuf>) -> PyResult<Bound<'_, PyDict>> {
    let path = path.map_or_else(|| installed(py), Ok)?;
    let loaded = py.detach(|| hyperslab_plugins::load(&path));
    let filters = PyDict::new(py);
    for filter in loaded.map_err(|error| PyOSError::new_err(error.to_string()))? {
        filters.set_item(filter.id, filter.name)?;
    }
    Ok(filters)
}

/// Adds a folder in which filters are looked for when they are needed, before or after other folders. A
/// folder that does not exist has none.
#[pyfunction]
#[pyo3(name = "_search_plugins")]
#[expect(clippy::needless_pass_by_value, reason = "Python gives a path of its own")]
pub(crate) fn search_plugins(py: Python<'_>, folder: PathBuf, first: bool) {
    let search = if first { hyperslab_plugins::search_first } else { hyperslab_plugins::search };
    py.detach(|| search(&folder));
}

/// Looks for filters in a folder no longer.
#[pyfunction]
#[pyo3(name = "_search_plugins_no_more")]
#[expect(clippy::needless_pass_by_value, reason = "Python gives a path of its own")]
pub(crate) fn search_plugins_no_more(py: Python<'_>, folder: PathBuf) {
    py.detach(|| hyperslab_plugins::search_no_more(&folder));
}

/// Loads no compiled plug-ins from now on. Filters that are loaded stay.
///
/// The environment variable `HDF5_PLUGIN_PRELOAD` with the value `::` does the same for a whole process.
///
/// Example:
///     >>> hs.disable_plugins()  # doctest: +SKIP
#[pyfunction]
pub(crate) fn disable_plugins() {
    hyperslab_plugins::switch_off();
}

/// Returns the folder of plug-ins of the package hdf5plugin.
fn installed(py: Python<'_>) -> PyResult<PathBuf> {
    let found = py.import("importlib.util")?.call_method1("find_spec", ("hdf5plugin",))?;
    if found.is_none() {
        return Err(PyImportError::new_err(
            "load_plugins() without a path needs hdf5plugin, which is not installed: `pip install hdf5plugin`",
        ));
    }
    let file: PathBuf = found.getattr("origin")?.extract()?;
    Ok(file.with_file_name("plugins"))
}
