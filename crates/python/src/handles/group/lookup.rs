//! Looking up the members of a group: objects, links and classes, by name or reference.

use hyperslab::LinkAccess;
use pyo3::exceptions::{PyKeyError, PyNotImplementedError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::{Group, open_state};
use crate::handles::classes::{class_of, wrap};
use crate::handles::links::link_object;
use crate::interpreter::error::{OrRaise, is_missing, missing_object};
use crate::interpreter::name::{name_of, name_required};
use crate::opening::keywords;
use crate::values::reference::Reference;

/// Returns how to open files behind external links, by the arguments of `get`.
fn link_access(
    slf: &Bound<'_, Group>,
    mode: Option<&str>,
    locking: Option<&Bound<'_, PyAny>>,
    swmr: Option<bool>,
) -> PyResult<LinkAccess> {
    let state = &slf.as_super().get().state;
    let is_asked = mode.is_some() || swmr.is_some();
    if is_asked
        && state.core.store().is_swmr_writer()
        && (mode.unwrap_or("r+") != "r+" || swmr == Some(false))
    {
        return Err(PyValueError::new_err(
            "Changing external links access mode from a file opened in SWMR write mode is not supported",
        ));
    }
    if swmr == Some(true) && mode.unwrap_or(state.mode) == "r+" {
        return Err(PyNotImplementedError::new_err(
            "elink_swmr=True with elink_mode=\"r+\" is not supported: open the file behind the link by its name, \
             and set swmr_mode",
        ));
    }
    let write = match mode {
        None => None,
        Some("r") => Some(false),
        Some("r+") if state.mode == "r" => {
            return Err(PyValueError::new_err(
                "elink_mode=\"r+\": files behind external links are not opened for writing from a file that is \
                 open for reading",
            ));
        }
        Some("r+") => Some(true),
        Some(other) => {
            return Err(PyRuntimeError::new_err(format!("Unsupported link access mode: {other}")));
        }
    };
    let locking = locking.map(keywords::locking).transpose()?;
    Ok(LinkAccess::default().write(write).locking(locking).swmr(swmr))
}

impl Group {
    fn open<'py>(slf: &Bound<'py, Self>, path: &str, access: LinkAccess) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let state = open_state(slf)?;
        if path.is_empty() {
            return Err(PyKeyError::new_err(
                "Unable to open object (name parameter cannot be an empty string)",
            ));
        }
        let group = &slf.get().group;
        let node = py.detach(|| group.get_with(path, access)).map_err(|error| missing_object(&error))?;
        wrap(py, state, node)
    }

    fn follow<'py>(slf: &Bound<'py, Self>, reference: &Bound<'py, Reference>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let state = open_state(slf)?;
        wrap(py, state, reference.get().node(py, &state.core)?)
    }
}

#[pymethods]
impl Group {
    fn __getitem__<'py>(slf: &Bound<'py, Self>, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(reference) = name.cast::<Reference>() {
            return Self::follow(slf, reference);
        }
        let path = name_of(name)?.ok_or_else(|| {
            PyTypeError::new_err(format!(
                "Accessing a group is done with bytes or str, not {}",
                name.get_type()
            ))
        })?;
        Self::open(slf, &path, LinkAccess::default())
    }

    /// Returns the member at a path, its class or its link, or a default.
    ///
    /// Files behind external links are opened like this file.
    ///
    /// Args:
    ///     name: A path, or a reference if both `getclass` and `getlink` are False.
    ///     default: The result if there is no such member.
    ///     getclass: True returns the class of the member. With `getlink`, the class of the link.
    ///     getlink: True returns the link at the path: a HardLink, SoftLink or ExternalLink.
    ///     elink_mode: The mode in which files behind external links are opened: "r", "r+", or None for the
    ///         mode of this file. With None, a file that cannot be opened for writing is opened for reading.
    ///     elink_locking: The locking of these files: True, False, "best-effort", or None for that of this
    ///         file.
    ///     elink_swmr: Whether these files, opened for reading, may be written by other programs meanwhile.
    ///         None stands for the setting of this file.
    ///
    /// Returns:
    ///     The member, its class, the link, or `default`.
    ///
    /// Raises:
    ///     ValueError: The reference is null; `elink_mode` is "r+" and this file is open for reading; or the
    ///         mode is another than that of this file, which others may read while it is written.
    ///     RuntimeError: With `getclass`, the link at the path leads to nothing; or `elink_mode` is no mode.
    ///     TypeError: `name` is neither a name nor a reference, or a reference with `getclass` or `getlink`.
    ///
    /// Example:
    ///     >>> file.get("surface", getclass=True)
    ///     <class 'hyperslab.Group'>
    ///     >>> file["latest"] = hs.SoftLink("/surface/t2m")
    ///     >>> file.get("latest", getlink=True)
    ///     <SoftLink to "/surface/t2m">
    ///     >>> file.get("humidity", "missing")
    ///     'missing'
    #[pyo3(signature = (
        name, default=None, getclass=false, getlink=false, elink_mode=None, elink_locking=None, elink_swmr=None
    ))]
    fn get<'py>(
        slf: &Bound<'py, Self>,
        name: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
        getclass: bool,
        getlink: bool,
        elink_mode: Option<&str>,
        elink_locking: Option<&Bound<'py, PyAny>>,
        elink_swmr: Option<bool>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = slf.py();
        let access = link_access(slf, elink_mode, elink_locking, elink_swmr)?;
        let has_access = access != LinkAccess::default();
        if !(getclass || getlink) {
            let found = match name_of(name)? {
                Some(path) if has_access => Self::open(slf, &path, access),
                _ => Self::__getitem__(slf, name),
            };
            return match found {
                Err(error) if error.is_instance_of::<PyKeyError>(py) => Ok(default),
                found => found.map(Some),
            };
        }
        let path = name_required(name)?;
        if !Self::__contains__(slf, name)? {
            return Ok(default);
        }
        if getlink {
            let Some(link) = slf.get().link(py, &path)? else { return Ok(default) };
            let object = link_object(py, &link.target)?;
            return Ok(Some(if getclass { object.get_type().into_any() } else { object }));
        }
        let group = &slf.get().group;
        let found = py.detach(|| group.get_with(&path, access));
        let node = match found {
            Err(error) if is_missing(&error) => {
                return Err(PyRuntimeError::new_err(format!("Can't get info for object ({})", error.root())));
            }
            found => found.or_raise()?,
        };
        Ok(Some(class_of(py, &node).into_any()))
    }
}
