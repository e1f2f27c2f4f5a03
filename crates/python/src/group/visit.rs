//! Visiting all objects or all links below a group.

use std::sync::Arc;

use hyperslab::{Group as CoreGroup, Step, Walk};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::{Group, open_state};
use crate::error::{ClosedError, OrRaise, exception};
use crate::links::link_object;
use crate::object::wrap;

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
    /// Calls a function with the path of every object below the group, in the order of names.
    ///
    /// The function is called once for each object. Soft and external links are not followed.
    ///
    /// Args:
    ///     func: A function of one path, relative to the group. A result other than None ends the visit.
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
    fn visit<'py>(slf: &Bound<'py, Self>, func: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = slf.py();
        Self::walk(slf, false, func, |step| (&*step.path,).into_pyobject(py))
    }

    /// Calls a function with the path and the object for every object below the group, ordered by name.
    ///
    /// Args:
    ///     func: A function of a path and an object. A result other than None ends the visit.
    ///
    /// Returns:
    ///     The result that ended the visit, or None.
    ///
    /// Example:
    ///     >>> file.visititems(lambda name, item: name if getattr(item, "ndim", 0) == 3 else None)
    ///     'surface/t2m'
    fn visititems<'py>(
        slf: &Bound<'py, Self>,
        func: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = slf.py();
        let state = Arc::clone(open_state(slf)?);
        Self::walk(slf, false, func, |step| {
            let node = step.new_node().ok_or_else(|| ClosedError::new_err("no object behind a hard link"))?;
            (&*step.path, wrap(py, &state, node.clone())?).into_pyobject(py)
        })
    }

    /// Calls a function with the path of every link below the group, of any kind.
    ///
    /// Args:
    ///     func: A function of one path. A result other than None ends the visit.
    ///
    /// Returns:
    ///     The result that ended the visit, or None.
    ///
    /// Example:
    ///     >>> group["link"] = hs.SoftLink("/names")
    ///     >>> group.visit_links(print)
    ///     link
    ///     t2m
    fn visit_links<'py>(
        slf: &Bound<'py, Self>,
        func: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = slf.py();
        Self::walk(slf, true, func, |step| (&*step.path,).into_pyobject(py))
    }

    /// Calls a function with the path and the link for every link below the group, of any kind.
    ///
    /// Args:
    ///     func: A function of a path and a `HardLink`, `SoftLink` or `ExternalLink`. A result other than
    ///         None ends the visit.
    ///
    /// Returns:
    ///     The result that ended the visit, or None.
    ///
    /// Example:
    ///     >>> group["link"] = hs.SoftLink("/names")
    ///     >>> group.visititems_links(lambda name, link: link if isinstance(link, hs.SoftLink) else None)
    ///     <SoftLink to "/names">
    fn visititems_links<'py>(
        slf: &Bound<'py, Self>,
        func: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = slf.py();
        Self::walk(slf, true, func, |step| {
            (&*step.path, link_object(py, &step.link.target)?).into_pyobject(py)
        })
    }
}
