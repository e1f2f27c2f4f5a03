//! The Python classes of links.

use hyperslab_format::message::link::LinkTarget;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// A link to an object of the same file.
///
/// Example:
///     >>> isinstance(file.get("names", getlink=True), hs.HardLink)
///     True
#[pyclass(frozen, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct HardLink;

/// A link to a path of the same file. The path need not lead to an object.
///
/// Args:
///     path: The path.
///
/// Example:
///     >>> file["alias"] = hs.SoftLink("/surface/t2m")
///     >>> file["alias"] == dataset
///     True
#[pyclass(frozen, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct SoftLink {
    /// The path.
    ///
    /// Example:
    ///     >>> hs.SoftLink("/surface/t2m").path
    ///     '/surface/t2m'
    #[pyo3(get)]
    pub(crate) path: String,
}

/// A link to a path of another file. Files behind external links are opened for reading.
///
/// Args:
///     filename: The name of the other file, relative to the file with the link.
///     path: The path in the other file.
///
/// Example:
///     >>> with hs.File("linking.h5", "w") as linking:
///     ...     linking["t2m"] = hs.ExternalLink("climate.h5", "/surface/t2m")
///     ...     linking["t2m"].shape
///     (4, 2, 3)
#[pyclass(frozen, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct ExternalLink {
    /// The name of the other file.
    ///
    /// Example:
    ///     >>> hs.ExternalLink("climate.h5", "/names").filename
    ///     'climate.h5'
    #[pyo3(get)]
    pub(crate) filename: String,
    /// The path in the other file.
    ///
    /// Example:
    ///     >>> hs.ExternalLink("climate.h5", "/names").path
    ///     '/names'
    #[pyo3(get)]
    pub(crate) path: String,
}

#[pymethods]
impl HardLink {
    #[new]
    fn new() -> Self {
        Self
    }
}

#[pymethods]
impl SoftLink {
    #[new]
    fn new(path: String) -> Self {
        Self { path }
    }

    fn __repr__(&self) -> String {
        format!("<SoftLink to \"{}\">", self.path)
    }
}

#[pymethods]
impl ExternalLink {
    #[new]
    fn new(filename: std::path::PathBuf, path: String) -> Self {
        let filename = filename.into_os_string().into_string();
        Self { filename: filename.unwrap_or_else(|name| name.to_string_lossy().into_owned()), path }
    }

    fn __repr__(&self) -> String {
        // The closing bracket is missing, as in h5py.
        format!("<ExternalLink to \"{}\" in file \"{}\"", self.path, self.filename)
    }
}

/// Returns the Python object for a link.
pub(crate) fn link_object<'py>(py: Python<'py>, target: &LinkTarget) -> PyResult<Bound<'py, PyAny>> {
    Ok(match target {
        LinkTarget::Hard(_) => Bound::new(py, HardLink)?.into_any(),
        LinkTarget::Soft(path) => Bound::new(py, SoftLink { path: path.clone() })?.into_any(),
        LinkTarget::External { file, path } => {
            Bound::new(py, ExternalLink { filename: file.clone(), path: path.clone() })?.into_any()
        }
        LinkTarget::User { .. } => return Err(PyTypeError::new_err("Unknown link type")),
    })
}
