//! Groups, as mappings from names to objects.

mod arrays;
mod create;
mod lookup;
mod tables;
mod visit;

use std::sync::Arc;

use hyperslab::Node;
use hyperslab_format::message::link::Link;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyList, PyTuple};

use crate::handles::identifier::ObjectID;
use crate::handles::object::HLObject;
use crate::handles::opened::Opened;
use crate::interpreter::calls;
use crate::interpreter::error::{OrRaise, is_missing};
use crate::interpreter::name::{self, Name, name_required};
use crate::opening::state::FileState;

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

impl Group {
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
