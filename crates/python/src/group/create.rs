//! Creating, linking, copying and deleting the members of a group.

use std::sync::Arc;

use hyperslab::internals::DatasetOptions;
use hyperslab::{CopyOptions, Group as CoreGroup, Node, Selection, WriteOptions};
use numpy::prelude::*;
use pyo3::PyTypeInfo;
use pyo3::exceptions::{PyKeyError, PyNotImplementedError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::Group;
use crate::buffer;
use crate::calls;
use crate::create::{Request, dataspace, datatype, writable};
use crate::error::{OrRaise, missing_object};
use crate::links::{ExternalLink, SoftLink};
use crate::object::{HLObject, name_required, wrap};
use crate::plain;
use crate::state::FileState;

/// Returns the file and the group, or raises `E` if the file is open only for reading; `what` names the
/// change.
fn changed<'a, E: PyTypeInfo>(
    slf: &'a Bound<'_, Group>,
    what: &str,
) -> PyResult<(&'a Arc<FileState>, &'a CoreGroup)> {
    let state = &slf.as_super().get().state;
    writable::<E>(state, what)?;
    Ok((state, &slf.get().group))
}

impl Group {
    /// Performs a call `create_dataset(name, data=numbers)`. Returns `None` if the call has other arguments.
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
                // Without its elements, the dataset would read as valid zeros. The error of the write is
                // reported, not that of the removal.
                let _ = group.remove(path);
                return Err(error);
            }
            Ok(made)
        });
        wrap(py, state, Node::Dataset(made.or_raise()?)).map(Some)
    }

    fn by_python<'py>(
        slf: &Bound<'py, Self>,
        function: &str,
        args: &Bound<'py, PyTuple>,
        kwds: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.as_super().get().state.check()?;
        calls::method(slf.as_any(), "_create", function, args, kwds)
    }
}

#[pymethods]
impl Group {
    fn __setitem__(
        slf: &Bound<'_, Self>,
        name: &Bound<'_, PyAny>,
        object: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        writable::<PyValueError>(&slf.as_super().get().state, "create an object or a link")?;
        let args = PyTuple::new(slf.py(), [name, object])?;
        Self::by_python(slf, "set_item", &args, None).map(drop)
    }

    fn __delitem__(slf: &Bound<'_, Self>, name: &Bound<'_, PyAny>) -> PyResult<()> {
        let (_, group) = changed::<PyKeyError>(slf, "delete a link")?;
        let path = name_required(name)?;
        slf.py().detach(|| group.remove(&path)).map_err(|error| missing_object(&error))
    }

    /// Creates a group, and missing groups on the way to it.
    ///
    /// Args:
    ///     name: The path. None creates a group that disappears when the file is closed, unless a link leads
    ///         to the group.
    ///     track_order: Whether members and attributes are listed in the order of creation.
    ///     track_times: Must be False.
    ///
    /// Raises:
    ///     ValueError: The name exists, or the file is open for reading.
    ///     NotImplementedError: `track_times` is True.
    ///
    /// Example:
    ///     >>> file.create_group("model/run1")
    ///     <HDF5 group "/model/run1" (0 members)>
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

    /// Creates a dataset, and missing groups on the way to it. Arguments mean the same as in h5py.
    ///
    /// Args:
    ///     name: The path. None creates a dataset that disappears when the file is closed, unless a link
    ///         leads to the dataset.
    ///     shape: The length of each axis. The default is the shape of `data`.
    ///     dtype: The dtype, or a committed datatype. The default is the dtype of `data`.
    ///     data: The initial elements.
    ///     chunks: The shape of a chunk, or True for chunks of about 1 MiB with similar sides. Filters and
    ///         `maxshape` require chunks, and select them if `chunks` is None.
    ///     compression: "gzip", "lzf", a level of gzip (0 to 9), or a filter: `Blosc2`, `Blosc`, `Zstd`,
    ///         `LZ4`, `Bitshuffle`, the filters of hdf5plugin, or a registered number together with
    ///         `compression_opts`.
    ///     compression_opts: The level of gzip, or the parameters of a filter that is given by its number.
    ///     shuffle: Whether to store bytes of equal weight next to each other before compression.
    ///     fletcher32: Whether chunks carry a checksum.
    ///     scaleoffset: Must be None: the filter is not supported.
    ///     maxshape: The maximum length of each axis; None for an axis without limit.
    ///     fillvalue: The value of elements that were never written.
    ///     fill_time: "ifset", "alloc" or "never".
    ///     track_times: Whether the dataset stores its time of modification.
    ///     track_order: Whether attributes are listed in the order of creation.
    ///     external: Must be None: creating external files is not supported.
    ///     allow_unknown_filter: Whether to accept a filter that hyperslab does not have.
    ///     compact: Whether to store the elements in the header of the object (less than 64 KiB).
    ///     skip_fill_chunks: See `Dataset.skip_fill_chunks`. None takes the setting of the file.
    ///
    /// Raises:
    ///     ValueError: The name exists, or shape, chunks or filters do not fit together.
    ///     TypeError: A dtype or an option is not known.
    ///     NotImplementedError: External files, szip, scale-offset, or property lists of libhdf5.
    ///
    /// Example:
    ///     >>> made = file.create_dataset("z", (100, 100), "f4", chunks=(10, 100), compression=hs.Zstd(5))
    ///     >>> made[:10] = 1.5
    ///     >>> file.create_dataset("a/b", data=[1, 2, 3])
    ///     <HDF5 dataset "b": shape (3,), type "<i8">
    #[pyo3(
        signature = (*args, **kwds),
        text_signature = "($self, name, shape=None, dtype=None, data=None, *, chunks=None, \
                          compression=None, compression_opts=None, shuffle=None, \
                          fletcher32=None, scaleoffset=None, maxshape=None, fillvalue=None, \
                          fill_time=None, track_times=None, track_order=None, external=None, \
                          allow_unknown_filter=False, compact=False, skip_fill_chunks=None, \
                          **others)"
    )]
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

    /// Creates a dataset with the shape, dtype, chunks, filters and fill value of another dataset.
    ///
    /// Args:
    ///     name: The path.
    ///     other: The other dataset.
    ///     kwds: Arguments of `create_dataset`, which replace the properties of `other`.
    ///
    /// Raises:
    ///     As for `create_dataset`.
    ///
    /// Example:
    ///     >>> copy = file.create_dataset_like("t2m_copy", dataset, dtype="f8")
    ///     >>> copy.chunks, copy.compression, copy.dtype
    ///     ((1, 2, 3), 'gzip', dtype('float64'))
    #[pyo3(
        signature = (*args, **kwds),
        text_signature = "($self, name, other, **kwds)"
    )]
    fn create_dataset_like<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwds: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        writable::<PyValueError>(&slf.as_super().get().state, "create a dataset")?;
        Self::by_python(slf, "create_dataset_like", args, kwds)
    }

    /// Returns the dataset of this name, and creates the dataset if the name does not exist.
    ///
    /// Args:
    ///     name: The path.
    ///     shape: The expected length of each axis.
    ///     dtype: The expected dtype.
    ///     exact: Whether the dtype must be equal. Otherwise `dtype` must be safely castable to the dtype of
    ///         the dataset.
    ///     kwds: Arguments of `create_dataset`. For an existing dataset, only `maxshape` is compared.
    ///
    /// Raises:
    ///     TypeError: The name belongs to another kind of object, or shape or dtype do not match.
    ///
    /// Example:
    ///     >>> file.require_dataset("surface/t2m", shape=(4, 2, 3), dtype="f4") == dataset
    ///     True
    #[pyo3(
        signature = (*args, **kwds),
        text_signature = "($self, name, shape, dtype, exact=False, **kwds)"
    )]
    fn require_dataset<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwds: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::by_python(slf, "require_dataset", args, kwds)
    }

    /// Returns the group of this name, and creates the group if the name does not exist.
    ///
    /// Args:
    ///     name: The path.
    ///
    /// Raises:
    ///     TypeError: The name belongs to an object that is not a group.
    ///
    /// Example:
    ///     >>> file.require_group("surface") == group
    ///     True
    fn require_group<'py>(slf: &Bound<'py, Self>, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Self::by_python(slf, "require_group", &PyTuple::new(slf.py(), [name])?, None)
    }

    /// Copies an object, within the file or into another file. A group is copied with everything below it.
    ///
    /// Args:
    ///     source: The object, or its path in this group.
    ///     dest: A path in this group; or a group, of any file that is open for writing, that receives the
    ///         copy.
    ///     name: The name of the copy in the group `dest`. The default is the name of the source.
    ///     shallow: Whether to copy only the direct members of a group.
    ///     expand_soft: Whether to copy the objects behind soft links in place of the links.
    ///     expand_external: Whether to copy the objects behind external links in place of the links.
    ///     expand_refs: Whether to copy the objects that references point to.
    ///     without_attrs: Whether to leave out attributes.
    ///
    /// Raises:
    ///     ValueError: The name exists, or the file is open for reading.
    ///     TypeError: `dest` is neither a path nor a group.
    ///
    /// Example:
    ///     >>> file.copy("surface", "archive")
    ///     >>> file["archive/t2m"].attrs["units"]
    ///     'K'
    #[pyo3(
        signature = (*args, **kwds),
        text_signature = "($self, source, dest, name=None, shallow=False, expand_soft=False, \
                          expand_external=False, expand_refs=False, without_attrs=False)"
    )]
    fn copy<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwds: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<()> {
        Self::by_python(slf, "copy", args, kwds).map(drop)
    }

    /// Creates a dataset from the arguments that `hyperslab._create` has parsed.
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

    /// Creates a link at `path`: a hard link to an object, or a soft or external link.
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

    /// Commits the datatype of `dtype` at `path`.
    fn _commit(slf: &Bound<'_, Self>, path: &str, dtype: &Bound<'_, PyAny>) -> PyResult<()> {
        let (py, state) = (slf.py(), &slf.as_super().get().state);
        let (datatype, _) = datatype(dtype, state)?;
        let group = &slf.get().group;
        py.detach(|| group.commit_datatype(path, &datatype)).or_raise().map(drop)
    }

    /// Copies an object to `path` in this group.
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

    /// Gives a link another name or another group. The object behind the link does not change.
    ///
    /// Args:
    ///     source: The path of the link.
    ///     dest: The new path.
    ///
    /// Raises:
    ///     KeyError: No link is at `source`.
    ///     ValueError: A link is at `dest`, or the file is open for reading.
    ///
    /// Example:
    ///     >>> file.move("names", "cities")
    ///     >>> list(file)
    ///     ['cities', 'stations', 'surface']
    #[pyo3(name = "move")]
    fn rename(slf: &Bound<'_, Self>, source: &Bound<'_, PyAny>, dest: &Bound<'_, PyAny>) -> PyResult<()> {
        let (_, group) = changed::<PyValueError>(slf, "move a link")?;
        let (source, dest) = (name_required(source)?, name_required(dest)?);
        if source == dest {
            return Ok(());
        }
        slf.py().detach(|| group.rename(&source, &dest)).or_raise()
    }
}

/// Returns the options for a copy from h5py's flags, which have the names of the arguments of `copy`.
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
