//! Visiting all objects or all links below a group.

use std::sync::Arc;

use hyperslab::{Group as CoreGroup, Step, Walk};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::{Group, open_state};
use crate::handles::classes::wrap;
use crate::handles::links::link_object;
use crate::interpreter::error::{ClosedError, OrRaise, exception};
use crate::interpreter::name::Name;

impl Group {
    /// Calls `func` with `arguments(step)` for each step of the walk. Stops at the first result that is not
    /// None, and returns it. Without `every_link`, visits each object once, under its first path.
    fn walk<'py>(
        slf: &Bound<'py, Self>,
        every_link: bool,
        func: &Bound<'py, PyAny>,
        arguments: impl Fn(&Step) -> PyResult<Bound<'py, PyTuple>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = slf.py();
        open_state(slf)?;
        let group = &slf.get().group;
        let by_name = |group: &CoreGroup| {
            let mut links = group.links()?;
            links.sort_by(|a, b| a.name.cmp(&b.name));
            Ok(links)
        };
        let mut walk = Walk::ordered(group, by_name);
        while let Some(step) = py.detach(|| walk.next()) {
            let step = step.map_err(|(_, error)| error).or_raise()?;
            if !every_link && (step.node.is_none() || step.before.is_some()) {
                continue;
            }
            if let Some(Err(error)) = &step.node {
                return Err(exception(error));
            }
            let result = func.call1(arguments(&step)?)?;
            if !result.is_none() {
                return Ok(Some(result));
            }
        }
        Ok(None)
    }
}

#[pymethods]
impl Group {
    /// Calls a function with the path of every object below this group.
    ///
    /// Each object is visited once, a group before its members, members sorted by name. Soft and external
    /// links are not followed.
    ///
    /// Args:
    ///     func: The function. It receives the path, relative to this group. A result other than None ends
    ///         the visit.
    ///
    /// Returns:
    ///     The result that ended the visit, or None.
    ///
    /// Example:
    ///     >>> file.visit(print)
    ///     names
    ///     stations
    ///     surface
    ///     surface/t2m
    ///     >>> file.visit(lambda path: path if path.endswith("t2m") else None)
    ///     'surface/t2m'
    fn visit<'py>(slf: &Bound<'py, Self>, func: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = slf.py();
        Self::walk(slf, false, func, |step| (Name(&step.path),).into_pyobject(py))
    }

    /// Calls a function with the path and the object of every object below this group.
    ///
    /// The order and the objects are those of `visit`.
    ///
    /// Args:
    ///     func: The function. It receives the path, relative to this group, and the object. A result other
    ///         than None ends the visit.
    ///
    /// Returns:
    ///     The result that ended the visit, or None.
    ///
    /// Example:
    ///     >>> file.visititems(lambda path, object: print(path, type(object).__name__))
    ///     names Dataset
    ///     stations Dataset
    ///     surface Group
    ///     surface/t2m Dataset
    fn visititems<'py>(
        slf: &Bound<'py, Self>,
        func: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = slf.py();
        let state = Arc::clone(open_state(slf)?);
        Self::walk(slf, false, func, |step| {
            let node = step.new_node().ok_or_else(|| ClosedError::new_err("no object behind a hard link"))?;
            (Name(&step.path), wrap(py, &state, node.clone())?).into_pyobject(py)
        })
    }

    /// Calls a function with the path of every link below this group, of any kind.
    ///
    /// Groups are entered through hard links only, each group once. Links are sorted by name within a group.
    ///
    /// Args:
    ///     func: The function. It receives the path, relative to this group. A result other than None ends
    ///         the visit.
    ///
    /// Returns:
    ///     The result that ended the visit, or None.
    ///
    /// Example:
    ///     >>> file["latest"] = hs.SoftLink("/surface/t2m")
    ///     >>> file.visit_links(print)
    ///     latest
    ///     names
    ///     stations
    ///     surface
    ///     surface/t2m
    fn visit_links<'py>(
        slf: &Bound<'py, Self>,
        func: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = slf.py();
        Self::walk(slf, true, func, |step| (Name(&step.path),).into_pyobject(py))
    }

    /// Calls a function with the path and the link of every link below this group.
    ///
    /// The order and the links are those of `visit_links`.
    ///
    /// Args:
    ///     func: The function. It receives the path, relative to this group, and the link: a HardLink,
    ///         SoftLink or ExternalLink. A result other than None ends the visit.
    ///
    /// Returns:
    ///     The result that ended the visit, or None.
    ///
    /// Raises:
    ///     TypeError: A link is user-defined.
    ///
    /// Example:
    ///     >>> file["latest"] = hs.SoftLink("/surface/t2m")
    ///     >>> file.visititems_links(lambda path, link: print(path, type(link).__name__))
    ///     latest SoftLink
    ///     names HardLink
    ///     stations HardLink
    ///     surface HardLink
    ///     surface/t2m HardLink
    fn visititems_links<'py>(
        slf: &Bound<'py, Self>,
        func: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = slf.py();
        Self::walk(slf, true, func, |step| {
            (Name(&step.path), link_object(py, &step.link.target)?).into_pyobject(py)
        })
    }
}
