//! Groups, as mappings from names to objects.

use std::sync::Arc;

use hyperslab::WriteOptions;
use hyperslab::internals::DatasetOptions;
use hyperslab::{CopyOptions, Group as CoreGroup, Node, Selection, Step, Walk};
use hyperslab_format::message::link::Link;
use numpy::prelude::*;
use pyo3::PyTypeInfo;
use pyo3::exceptions::{PyKeyError, PyNotImplementedError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyList, PyTuple, PyType};

use crate::buffer;
use crate::create::{Request, dataspace, datatype, writable};
use crate::dataset::Dataset;
use crate::datatype::Datatype;
use crate::error::{ClosedError, OrRaise, exception, is_missing, missing_object};
use crate::links::{ExternalLink, SoftLink, link_object};
use crate::object::{HLObject, name_of, name_required, wrap};
use crate::plain;
use crate::reference::Reference;
use crate::state::FileState;

/// A group. Documented in `_native.pyi`; this file only translates.
#[pyclass(frozen, subclass, extends = HLObject, mapping, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct Group {
    /// The group.
    pub(crate) group: hyperslab::Group,
}

/// The file that a group object belongs to, if it is open.
fn open_state<'a>(slf: &'a Bound<'_, Group>) -> PyResult<&'a Arc<FileState>> {
    let state = &slf.as_super().get().state;
    state.check()?;
    Ok(state)
}

/// A view of a group or of attributes, as `dict` has them.
pub(crate) fn view<'py>(mapping: &Bound<'py, PyAny>, class: &str) -> PyResult<Bound<'py, PyAny>> {
    mapping.py().import("hyperslab._mapping")?.getattr(class)?.call1((mapping,))
}

/// A function of `hyperslab._create`.
fn create<'py>(py: Python<'py>, function: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("hyperslab._create")?.getattr(function)
}

/// The file and the group, to be changed.
fn changed<'a, E: PyTypeInfo>(
    slf: &'a Bound<'_, Group>,
    what: &str,
) -> PyResult<(&'a Arc<FileState>, &'a CoreGroup)> {
    let state = &slf.as_super().get().state;
    writable::<E>(state, what)?;
    Ok((state, &slf.get().group))
}

impl Group {
    /// `create_dataset(name, data=numbers)` and nothing more; none for every other call.
    fn create_plain<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwds: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(kwds) = kwds.filter(|kwds| kwds.len() == 1 && args.len() == 1) else { return Ok(None) };
        let Ok(path) = args.get_borrowed_item(0)?.extract::<&str>() else { return Ok(None) };
        let Some(data) = kwds.get_item("data")? else { return Ok(None) };
        let Some((array, datatype)) = plain::new_array(&data)? else { return Ok(None) };
        let (py, (state, group)) = (slf.py(), changed::<PyValueError>(slf, "create a dataset")?);
        let shape = array.shape().iter().map(|&len| len as u64).collect();
        let options = DatasetOptions::new(dataspace(Some(shape), None), datatype);
        let bytes = buffer::bytes(array)?;
        let made: hyperslab::Result<_> = py.detach(|| {
            let made = group.create_dataset(path, &options)?;
            if let Err(error) = made.write_with(&Selection::All, bytes, &WriteOptions::default()) {
                // A dataset of zeros would pass for one that was written; what failed is the news.
                let _ = group.remove(path);
                return Err(error);
            }
            Ok(made)
        });
        wrap(py, state, Node::Dataset(made.or_raise()?)).map(Some)
    }

    fn open<'py>(slf: &Bound<'py, Self>, path: &str) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let state = open_state(slf)?;
        if path.is_empty() {
            return Err(PyKeyError::new_err(
                "Unable to open object (name parameter cannot be an empty string)",
            ));
        }
        let group = &slf.get().group;
        let node = py.detach(|| group.get(path)).map_err(|error| missing_object(&error))?;
        wrap(py, state, node)
    }

    fn follow<'py>(slf: &Bound<'py, Self>, reference: &Bound<'py, Reference>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let state = open_state(slf)?;
        let Reference { kind, bytes } = reference.get();
        if bytes.iter().all(|&byte| byte == 0) {
            return Err(PyValueError::new_err("Invalid HDF5 object reference"));
        }
        let node = py.detach(|| state.core.dereference(kind, bytes)).or_raise()?;
        wrap(py, state, node)
    }

    /// The link at the end of `path`, if everything before it exists.
    fn link(&self, py: Python<'_>, path: &str) -> PyResult<Option<Link>> {
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

    fn by_python<'py>(
        slf: &Bound<'py, Self>,
        function: &str,
        args: &Bound<'py, PyTuple>,
        kwds: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.as_super().get().state.check()?;
        let mut all = vec![slf.clone().into_any()];
        all.extend(args.iter());
        create(slf.py(), function)?.call(PyTuple::new(slf.py(), all)?, kwds)
    }

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
        Self::open(slf, &path)
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
    fn names(slf: &Bound<'_, Self>) -> PyResult<Vec<String>> {
        open_state(slf)?;
        let group = &slf.get().group;
        slf.py().detach(|| group.names()).or_raise()
    }

    fn keys<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        view(slf.as_any(), "KeysViewHDF5")
    }

    fn values<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        view(slf.as_any(), "ValuesViewHDF5")
    }

    fn items<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        view(slf.as_any(), "ItemsViewHDF5")
    }

    #[pyo3(signature = (name, default=None, getclass=false, getlink=false, *, elink_mode=None))]
    fn get<'py>(
        slf: &Bound<'py, Self>,
        name: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
        getclass: bool,
        getlink: bool,
        elink_mode: Option<&str>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = slf.py();
        if elink_mode.is_some_and(|mode| mode != "r") {
            return Err(PyValueError::new_err(
                "files behind external links are opened for reading: mode 'r'",
            ));
        }
        if !(getclass || getlink) {
            return match Self::__getitem__(slf, name) {
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
        let found = py.detach(|| group.get(&path));
        let node = match found {
            Err(error) if is_missing(&error) => {
                return Err(PyRuntimeError::new_err(format!("Can't get info for object ({})", error.root())));
            }
            found => found.or_raise()?,
        };
        Ok(Some(class_of(py, &node).into_any()))
    }

    fn visit<'py>(slf: &Bound<'py, Self>, func: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = slf.py();
        Self::walk(slf, false, func, |step| (&*step.path,).into_pyobject(py))
    }

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

    fn visit_links<'py>(
        slf: &Bound<'py, Self>,
        func: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = slf.py();
        Self::walk(slf, true, func, |step| (&*step.path,).into_pyobject(py))
    }

    fn visititems_links<'py>(
        slf: &Bound<'py, Self>,
        func: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = slf.py();
        Self::walk(slf, true, func, |step| {
            (&*step.path, link_object(py, &step.link.target)?).into_pyobject(py)
        })
    }

    fn __setitem__(
        slf: &Bound<'_, Self>,
        name: &Bound<'_, PyAny>,
        object: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        writable::<PyValueError>(&slf.as_super().get().state, "create an object or a link")?;
        create(slf.py(), "set_item")?.call1((slf, name, object)).map(drop)
    }

    fn __delitem__(slf: &Bound<'_, Self>, name: &Bound<'_, PyAny>) -> PyResult<()> {
        let (_, group) = changed::<PyKeyError>(slf, "delete a link")?;
        let path = name_required(name)?;
        slf.py().detach(|| group.remove(&path)).map_err(|error| missing_object(&error))
    }

    #[pyo3(signature = (name, track_order=None, *, track_times=false))]
    fn create_group<'py>(
        slf: &Bound<'py, Self>,
        name: &Bound<'py, PyAny>,
        track_order: Option<bool>,
        track_times: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        if track_times {
            return Err(PyNotImplementedError::new_err("groups that track times are not supported yet"));
        }
        let (py, (state, group)) = (slf.py(), changed::<PyValueError>(slf, "create a group")?);
        let path = if name.is_none() { None } else { Some(name_required(name)?) };
        let track_order = track_order.unwrap_or(false);
        let made = py.detach(|| match &path {
            Some(path) => group.create_group_with(path, track_order),
            None => group.file().create_unlinked_group(track_order),
        });
        wrap(py, state, Node::Group(made.or_raise()?))
    }

    #[pyo3(signature = (*args, **kwds))]
    fn create_dataset<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwds: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some(made) = Self::create_plain(slf, args, kwds)? {
            return Ok(made);
        }
        writable::<PyValueError>(&slf.as_super().get().state, "create a dataset")?;
        Self::by_python(slf, "create_dataset", args, kwds)
    }

    #[pyo3(signature = (*args, **kwds))]
    fn create_dataset_like<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwds: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        writable::<PyValueError>(&slf.as_super().get().state, "create a dataset")?;
        Self::by_python(slf, "create_dataset_like", args, kwds)
    }

    #[pyo3(signature = (*args, **kwds))]
    fn require_dataset<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwds: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::by_python(slf, "require_dataset", args, kwds)
    }

    fn require_group<'py>(slf: &Bound<'py, Self>, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        create(slf.py(), "require_group")?.call1((slf, name))
    }

    #[pyo3(signature = (*args, **kwds))]
    fn copy<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwds: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<()> {
        Self::by_python(slf, "copy", args, kwds).map(drop)
    }

    /// Makes a dataset as `hyperslab._create` has worked it out.
    fn _create_dataset<'py>(
        slf: &Bound<'py, Self>,
        path: Option<&str>,
        request: Request<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, (state, group)) = (slf.py(), changed::<PyValueError>(slf, "create a dataset")?);
        let options = request.options(state)?;
        let made = py.detach(|| match path {
            Some(path) => group.create_dataset(path, &options),
            None => group.file().create_unlinked_dataset(&options),
        });
        wrap(py, state, Node::Dataset(made.or_raise()?))
    }

    /// Makes a link: to an object, or what a soft or external link says.
    fn _link(slf: &Bound<'_, Self>, path: &str, object: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = slf.py();
        let group = &slf.get().group;
        if let Ok(target) = object.cast::<HLObject>() {
            let node = &target.get().node;
            return py.detach(|| group.link_to(path, node)).or_raise();
        }
        if let Ok(link) = object.cast::<SoftLink>() {
            let target = &link.get().path;
            return py.detach(|| group.link_soft(path, target)).or_raise();
        }
        let link = object.cast::<ExternalLink>()?.get();
        py.detach(|| group.link_external(path, &link.filename, &link.path)).or_raise()
    }

    /// Commits a datatype.
    fn _commit(slf: &Bound<'_, Self>, path: &str, dtype: &Bound<'_, PyAny>) -> PyResult<()> {
        let (py, state) = (slf.py(), &slf.as_super().get().state);
        let (datatype, _) = datatype(dtype, state)?;
        let group = &slf.get().group;
        py.detach(|| group.commit_datatype(path, &datatype)).or_raise().map(drop)
    }

    /// Copies an object to a path of this group.
    fn _copy(
        slf: &Bound<'_, Self>,
        source: &Bound<'_, HLObject>,
        path: &str,
        flags: &Bound<'_, PyDict>,
    ) -> PyResult<()> {
        source.get().state.check()?;
        let (_, group) = changed::<PyValueError>(slf, "copy an object into the file")?;
        let (options, node) = (copy_options(flags)?, &source.get().node);
        slf.py().detach(|| group.copy(node, path, &options)).or_raise().map(drop)
    }

    #[pyo3(name = "move")]
    fn rename(slf: &Bound<'_, Self>, source: &Bound<'_, PyAny>, dest: &Bound<'_, PyAny>) -> PyResult<()> {
        let (_, group) = changed::<PyValueError>(slf, "move a link")?;
        let (source, dest) = (name_required(source)?, name_required(dest)?);
        if source == dest {
            return Ok(());
        }
        slf.py().detach(|| group.rename(&source, &dest)).or_raise()
    }

    fn _ipython_key_completions_(slf: &Bound<'_, Self>) -> PyResult<Vec<String>> {
        let mut names = Self::names(slf)?;
        names.sort();
        Ok(names)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let object = slf.as_super().get();
        if !object.state.is_open() {
            return Ok("<Closed HDF5 group>".to_owned());
        }
        let members = Self::__len__(slf)?;
        Ok(match object.path(slf.py())? {
            Some(path) => format!("<HDF5 group \"{path}\" ({members} members)>"),
            None => format!("<HDF5 group (anonymous) ({members} members)>"),
        })
    }
}

/// h5py's flags of a copy, by their names.
fn copy_options(flags: &Bound<'_, PyDict>) -> PyResult<CopyOptions> {
    let mut options = CopyOptions::default();
    for (name, flag) in [
        ("shallow", &mut options.shallow),
        ("expand_soft", &mut options.expand_soft),
        ("expand_external", &mut options.expand_external),
        ("expand_refs", &mut options.expand_refs),
        ("without_attrs", &mut options.without_attributes),
    ] {
        *flag = flags.as_any().get_item(name)?.is_truthy()?;
    }
    Ok(options)
}

/// The Python class of a node.
fn class_of<'py>(py: Python<'py>, node: &Node) -> Bound<'py, PyType> {
    match node {
        Node::Group(_) => py.get_type::<Group>(),
        Node::Dataset(_) => py.get_type::<Dataset>(),
        Node::Datatype(_) => py.get_type::<Datatype>(),
    }
}
