//! The Python classes of links.

use hyperslab_format::message::link::LinkTarget;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::interpreter::name::{Name, name_required, path_of};

/// A link to an object of the same file, as returned by `Group.get` with `getlink=True`.
///
/// A `HardLink` says only the kind of a link. To make a hard link, assign the object: `group[name] = object`.
///
/// Example:
///     >>> link = group.get("t2m", getlink=True)
///     >>> isinstance(link, hs.HardLink)
///     True
#[pyclass(frozen, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct HardLink;

/// A link to a path of the same file.
///
/// `group[name] = SoftLink(path)` makes the link. The path may lead to nothing; following the link is then a
/// KeyError.
///
/// Args:
///     path: The path, from the root group (with a slash in front) or from the group that holds the link.
///
/// Raises:
///     TypeError: `path` is not a str or bytes.
///
/// Example:
///     >>> file["temperature"] = hs.SoftLink("/surface/t2m")
///     >>> file["temperature"].shape
///     (4, 2, 3)
///     >>> file.get("temperature", getlink=True)
///     <SoftLink to "/surface/t2m">
#[pyclass(frozen, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct SoftLink {
    /// The path that the link leads to.
    pub(crate) path: String,
}

/// A link to a path of another file.
///
/// `group[name] = ExternalLink(filename, path)` makes the link. When the link is followed, the other file is
/// opened like the file that holds the link; if it cannot be opened for writing, for reading. Following a
/// link that leads to nothing is a KeyError.
///
/// Args:
///     filename: The path of the other file, relative to the directory of the file that holds the link.
///     path: The path of the object in the other file.
///
/// Raises:
///     TypeError: `filename` is not a str, bytes or PathLike, or `path` is not a str or bytes.
///
/// Example:
///     >>> file["far"] = hs.ExternalLink("climate.h5", "/surface")
///     >>> file["far/t2m"].shape
///     (4, 2, 3)
///     >>> file["far"].file.mode
///     'r+'
#[pyclass(frozen, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct ExternalLink {
    /// The path of the other file.
    pub(crate) filename: String,
    /// The path of the object in the other file.
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
    fn new(path: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { path: name_required(path)? })
    }

    /// The path that the link leads to. It may lead to nothing. It is `bytes` if it is not UTF-8.
    ///
    /// Example:
    ///     >>> hs.SoftLink("/surface/t2m").path
    ///     '/surface/t2m'
    #[getter]
    fn path(&self) -> Name<&str> {
        Name(&self.path)
    }

    /// Returns the arguments that pickling passes to the constructor.
    fn __getnewargs__(&self) -> (&str,) {
        (&self.path,)
    }

    fn __repr__(&self) -> String {
        format!("<SoftLink to \"{}\">", self.path)
    }
}

#[pymethods]
impl ExternalLink {
    #[new]
    fn new(filename: &Bound<'_, PyAny>, path: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (filename, path) = (path_of(filename)?.into_os_string().into_string(), name_required(path)?);
        let not_utf8 = |name: std::ffi::OsString| {
            PyValueError::new_err(format!("the file name {} is not UTF-8", name.display()))
        };
        Ok(Self { filename: filename.map_err(not_utf8)?, path })
    }

    /// The path of the other file, as the link stores it.
    ///
    /// Example:
    ///     >>> hs.ExternalLink("climate.h5", "/surface").filename
    ///     'climate.h5'
    #[getter]
    fn filename(&self) -> Name<&str> {
        Name(&self.filename)
    }

    /// The path of the object in the other file. It may lead to nothing. It is `bytes` if it is not UTF-8.
    ///
    /// Example:
    ///     >>> hs.ExternalLink("climate.h5", "/surface").path
    ///     '/surface'
    #[getter]
    fn path(&self) -> Name<&str> {
        Name(&self.path)
    }

    /// Returns the arguments that pickling passes to the constructor.
    fn __getnewargs__(&self) -> (&str, &str) {
        (&self.filename, &self.path)
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
