//! Links as h5py shows them.

use hyperslab_format::message::link::LinkTarget;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// A link to an object of the same file.
#[pyclass(frozen, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct HardLink;

/// A link to a path of the same file.
#[pyclass(frozen, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct SoftLink {
    /// The path, which need not lead anywhere.
    #[pyo3(get)]
    pub(crate) path: String,
}

/// A link to a path of another file.
#[pyclass(frozen, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct ExternalLink {
    /// The other file, as the link names it.
    #[pyo3(get)]
    pub(crate) filename: String,
    /// The path in it.
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
        // Without the closing bracket, as in h5py.
        format!("<ExternalLink to \"{}\" in file \"{}\"", self.path, self.filename)
    }
}

/// The Python object for a link.
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
