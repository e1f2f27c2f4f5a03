//! Groups, as mappings from names to objects.

mod arrays;
mod create;
mod tables;
mod visit;

use std::sync::Arc;

use hyperslab::{LinkAccess, Node};
use hyperslab_format::message::link::Link;
use pyo3::exceptions::{PyKeyError, PyNotImplementedError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyList, PyTuple, PyType};

use crate::handles::dataset::Dataset;
use crate::handles::datatype::Datatype;
use crate::handles::links::link_object;
use crate::handles::object::{HLObject, name_of, name_required, wrap};
use crate::handles::opened::Opened;
use crate::interpreter::calls;
use crate::interpreter::error::{OrRaise, is_missing, missing_object};
use crate::interpreter::name::{self, Name};
use crate::low::ObjectID;
use crate::opening::state::FileState;
use crate::values::reference::Reference;

/// A group: a mutable mapping from names to groups, datasets and committed datatypes.
///
/// Groups are obtained from a file or made by `create_group`. A name is a path: parts are separated by
/// slashes. A path with a slash in front begins at the root group, any other path at this group. Iteration
/// gives the names of the members: in the order of creation if the group tracks it, else sorted by name.
///
/// `group[name]` returns an object. `group[reference]` returns the object of a reference.
/// `group[name] = value` makes a hard link to an object, a soft or external link, a committed datatype from a
/// dtype, or a dataset of any other value. `del group[name]` removes a link. `name in group` is True if there
/// is a link, even if the link leads to nothing. It is False after the file is closed.
///
/// Changes of a file that is open for reading raise ValueError (KeyError for `del`).
///
/// Args:
///     bind: The identifier of a group, such as `file["surface"].id`. Subclasses use this constructor.
///
/// Example:
///     >>> list(file)
///     ['names', 'stations', 'surface']
///     >>> file["surface/t2m"].shape
///     (4, 2, 3)
///     >>> file["surface/levels"] = [1000, 850, 500]
///     >>> "levels" in group
///     True
///     >>> del group["levels"]
///     >>> len(group)
///     1
#[pyclass(frozen, subclass, extends = HLObject, mapping, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct Group {
    /// The group.
    pub(crate) group: Opened<hyperslab::Group>,
}

/// Returns the state of the file of a group, or raises an exception if the file is closed.
fn open_state<'a>(slf: &'a Bound<'_, Group>) -> PyResult<&'a Arc<FileState>> {
    let state = &slf.as_super().get().state;
    state.check()?;
    Ok(state)
}

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
    let locking = locking.map(crate::opening::keywords::locking).transpose()?;
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

    /// Returns the link at the end of `path`, or `None` if the link or a group before it does not exist.
    pub(crate) fn link(&self, py: Python<'_>, path: &str) -> PyResult<Option<Link>> {
        let path = path.trim_end_matches('/');
        let found = py.detach(|| match path.rsplit_once('/') {
            Some(("", name)) => self.group.group("/")?.link(name),
            Some((parent, name)) => self.group.group(parent)?.link(name),
            None => self.group.link(path),
        });
        match found {
            Err(error) if is_missing(&error) => Ok(None),
            found => found.or_raise(),
        }
    }
}

#[pymethods]
impl Group {
    #[new]
    #[pyo3(signature = (*_args, **_kwds), text_signature = "(bind)")]
    fn new(_args: &Bound<'_, PyTuple>, _kwds: Option<&Bound<'_, PyDict>>) -> PyClassInitializer<Self> {
        PyClassInitializer::from(HLObject::unopened()).add_subclass(Self { group: Opened::not_yet() })
    }

    fn __init__(slf: &Bound<'_, Self>, bind: &Bound<'_, PyAny>) -> PyResult<()> {
        let (state, node) = ObjectID::object(bind)?;
        let Node::Group(group) = &node else {
            return Err(PyValueError::new_err(format!("{bind} is not a GroupID")));
        };
        slf.get().group.set(group.clone())?;
        slf.as_super().get().open(state, node, false)
    }

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

    fn __contains__(slf: &Bound<'_, Self>, name: &Bound<'_, PyAny>) -> PyResult<bool> {
        let path = name_required(name)?;
        if !slf.as_super().get().state.is_open() || path.is_empty() {
            return Ok(false);
        }
        let group = &slf.get().group;
        match slf.py().detach(|| group.contains(&path)) {
            Err(error) if is_missing(&error) => Ok(false),
            found => found.or_raise(),
        }
    }

    fn __len__(slf: &Bound<'_, Self>) -> PyResult<usize> {
        open_state(slf)?;
        let group = &slf.get().group;
        let len = slf.py().detach(|| group.len()).or_raise()?;
        Ok(usize::try_from(len)?)
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(slf.py(), Self::names(slf)?)?.try_iter()
    }

    fn __reversed__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(slf.py(), Self::names(slf)?.into_iter().rev())?.try_iter()
    }

    #[pyo3(name = "_names")]
    fn names(slf: &Bound<'_, Self>) -> PyResult<Vec<Name<String>>> {
        open_state(slf)?;
        let group = &slf.get().group;
        slf.py().detach(|| group.names()).or_raise().map(name::names)
    }

    /// Returns the names of at most `most` members, and the number of all members if the file states it.
    #[pyo3(name = "_some_names")]
    fn some_names(slf: &Bound<'_, Self>, most: usize) -> PyResult<(Vec<Name<String>>, Option<u64>)> {
        open_state(slf)?;
        let group = &slf.get().group;
        let (some, count) = slf.py().detach(|| group.some_names(most)).or_raise()?;
        Ok((name::names(some), count))
    }

    /// Returns a view of the names of the members, like `dict.keys`.
    ///
    /// Example:
    ///     >>> file.keys()
    ///     <KeysViewHDF5 ['names', 'stations', 'surface']>
    fn keys<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        calls::view(slf.as_any(), "KeysViewHDF5")
    }

    /// Returns a view of the members, like `dict.values`.
    ///
    /// A link that leads to nothing gives None.
    ///
    /// Example:
    ///     >>> list(group.values())
    ///     [<HDF5 dataset "t2m": shape (4, 2, 3), type "<f4">]
    fn values<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        calls::view(slf.as_any(), "ValuesViewHDF5")
    }

    /// Returns a view of pairs of name and member, like `dict.items`.
    ///
    /// A link that leads to nothing gives None as its member.
    ///
    /// Example:
    ///     >>> for name, member in file.items():
    ///     ...     print(name, type(member).__name__)
    ///     names Dataset
    ///     stations Dataset
    ///     surface Group
    fn items<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        calls::view(slf.as_any(), "ItemsViewHDF5")
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

    /// Removes a member and returns it.
    ///
    /// An object that no other link leads to is deleted: any use of the returned object then raises KeyError.
    ///
    /// Args:
    ///     key: The path of the member.
    ///     default: The result if there is no such member.
    ///
    /// Returns:
    ///     The member, or `default`.
    ///
    /// Raises:
    ///     KeyError: There is no such member and no `default`, or the file is open for reading.
    ///
    /// Example:
    ///     >>> file["alias"] = dataset
    ///     >>> file.pop("alias")
    ///     <HDF5 dataset "alias": shape (4, 2, 3), type "<f4">
    ///     >>> file.pop("humidity", None) is None
    ///     True
    #[pyo3(signature = (*args, **kwds), text_signature = "($self, key, default=...)")]
    fn pop<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwds: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        calls::method(slf.as_any(), "_mapping", "pop", args, kwds)
    }

    /// Removes the first member and returns its name and the member.
    ///
    /// An object that no other link leads to is deleted: any use of the returned object then raises KeyError.
    ///
    /// Returns:
    ///     A pair of name and member.
    ///
    /// Raises:
    ///     KeyError: There is no member, or the file is open for reading.
    ///
    /// Example:
    ///     >>> name, member = group.popitem()
    ///     >>> name
    ///     't2m'
    ///     >>> len(group)
    ///     0
    fn popitem<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        calls::method(slf.as_any(), "_mapping", "popitem", &PyTuple::empty(slf.py()), None)
    }

    /// Removes all members. Objects that no other link leads to are deleted.
    ///
    /// Raises:
    ///     KeyError: The file is open for reading.
    ///
    /// Example:
    ///     >>> group.clear()
    ///     >>> list(group)
    ///     []
    fn clear(slf: &Bound<'_, Self>) -> PyResult<()> {
        calls::method(slf.as_any(), "_mapping", "clear", &PyTuple::empty(slf.py()), None).map(drop)
    }

    /// Returns the member at a path, and creates it from a default if it does not exist.
    ///
    /// Args:
    ///     key: The path of the member.
    ///     default: The value of a new member, as in `group[key] = default`.
    ///
    /// Returns:
    ///     The member. If the member is new, `default` itself and not the new dataset.
    ///
    /// Raises:
    ///     ValueError: There is no such member, and the file is open for reading.
    ///     TypeError: There is no such member, and `default` is None or cannot be stored.
    ///
    /// Example:
    ///     >>> group.setdefault("t2m") == dataset
    ///     True
    ///     >>> group.setdefault("level", 850)
    ///     850
    ///     >>> group["level"].shape
    ///     ()
    #[pyo3(signature = (*args, **kwds), text_signature = "($self, key, default=None)")]
    fn setdefault<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwds: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        calls::method(slf.as_any(), "_mapping", "setdefault", args, kwds)
    }

    /// Assigns members: `group[name] = value` for each pair.
    ///
    /// Args:
    ///     other: A mapping from names to values, or an iterable of pairs.
    ///     kwds: More names with values.
    ///
    /// Raises:
    ///     ValueError: A name exists, or the file is open for reading. Pairs before the failed one remain.
    ///
    /// Example:
    ///     >>> group.update({"levels": [1000, 850]}, version=2)
    ///     >>> list(group)
    ///     ['levels', 't2m', 'version']
    #[pyo3(signature = (*args, **kwds), text_signature = "($self, other=(), /, **kwds)")]
    fn update(
        slf: &Bound<'_, Self>,
        args: &Bound<'_, PyTuple>,
        kwds: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        calls::method(slf.as_any(), "_mapping", "update", args, kwds).map(drop)
    }

    fn _ipython_key_completions_(slf: &Bound<'_, Self>) -> PyResult<Vec<Name<String>>> {
        let mut names = Self::names(slf)?;
        names.sort_by(|Name(a), Name(b)| a.cmp(b));
        Ok(names)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let object = slf.as_super().get();
        if !object.is_open() {
            return Ok("<Closed HDF5 group>".to_owned());
        }
        let members = Self::__len__(slf)?;
        Ok(match object.path(slf.py())? {
            Some(path) => {
                let path = name::shown(slf.py(), path)?;
                format!("<HDF5 group \"{path}\" ({members} members)>")
            }
            None => format!("<HDF5 group (anonymous) ({members} members)>"),
        })
    }
}

/// Returns the Python class for a node.
fn class_of<'py>(py: Python<'py>, node: &Node) -> Bound<'py, PyType> {
    match node {
        Node::Group(_) => py.get_type::<Group>(),
        Node::Dataset(_) => py.get_type::<Dataset>(),
        Node::Datatype(_) => py.get_type::<Datatype>(),
    }
}
