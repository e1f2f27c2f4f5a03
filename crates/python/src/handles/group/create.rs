//! Creating, linking, copying and deleting the members of a group.

use std::sync::Arc;

use hyperslab::storage::DatasetOptions;
use hyperslab::{CopyOptions, Group as CoreGroup, Node, RequestError, WriteOptions};
use hyperslab_io::interrupt;
use hyperslab_tables::index;
use numpy::prelude::*;
use pyo3::PyTypeInfo;
use pyo3::exceptions::{PyKeyError, PyNotImplementedError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::Group;
use crate::handles::classes::wrap;
use crate::handles::create::{CreateRequest, dataspace, datatype};
use crate::handles::links::{ExternalLink, SoftLink};
use crate::handles::object::HLObject;
use crate::interpreter::calls;
use crate::interpreter::error::{OrRaise, argument, exception, missing_object};
use crate::interpreter::name::name_required;
use crate::interpreter::settings;
use crate::opening::state::{FileState, writable};
use crate::values::buffer;
use crate::values::plain;

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
            let written = interrupt::heed(|| made.write_with(.., bytes, &WriteOptions::default()));
            if let Err(error) = written {
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
        let (py, (state, group)) = (slf.py(), changed::<PyKeyError>(slf, "delete a link")?);
        let path = name_required(name)?;
        let missing = |error| match missing_object(&error) {
            // The root group has no link.
            raised if raised.is_instance_of::<PyValueError>(py) && !path.is_empty() => {
                argument::<PyKeyError>(&error)
            }
            raised => raised,
        };
        py.detach(|| index::remove(group, &path)).map_err(missing)?;
        state.waiting.forget_deleted(py);
        Ok(())
    }

    /// Creates a group, and the missing groups on the way.
    ///
    /// Args:
    ///     name: The path of the group. Without a name (None), the group is deleted when the file is closed,
    ///         unless a link to it is made.
    ///     track_order: True stores the order of creation of members and attributes, and lists both in this
    ///         order.
    ///     track_times: Only False is supported.
    ///
    /// Returns:
    ///     The group.
    ///
    /// Raises:
    ///     ValueError: The name exists, or the file is open for reading.
    ///     TypeError: `name` is not a name, or a part of the path is not a group.
    ///     NotImplementedError: `track_times` is True.
    ///
    /// Example:
    ///     >>> runs = file.create_group("model/runs", track_order=True)
    ///     >>> runs["second"], runs["first"] = 2, 1
    ///     >>> list(runs)
    ///     ['second', 'first']
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
        let track_order = track_order.unwrap_or_else(|| settings::track_order(None));
        let made = py.detach(|| match &path {
            Some(path) => group.create_group_with(path, track_order),
            None => group.file().create_unlinked_group(track_order),
        });
        wrap(py, state, Node::Group(made.or_raise()?))
    }

    /// Creates a dataset, and the missing groups on the way.
    ///
    /// Arguments mean what they mean in h5py. If the data cannot be written, the dataset is removed again.
    ///
    /// Args:
    ///     name: The path of the dataset. Without a name (None), the dataset is deleted when the file is
    ///         closed, unless a link to it is made.
    ///     shape: The length of each axis, in elements. The default is the shape of `data`. Without `shape`
    ///         and `data`, the dataset has no elements and its value is `Empty`.
    ///     dtype: The dtype of the elements, or a committed datatype. The default is the dtype of `data`.
    ///         Without `data` the dtype is "f4" (DeprecationWarning).
    ///     data: The elements to write. The number of elements must match `shape`.
    ///     chunks: The shape of a chunk in elements, or True for a shape of about 1 MiB with similar sides,
    ///         or False for no chunks. With None, filters and `maxshape` choose as True does.
    ///     compression: "gzip", "lzf", "szip", a level of gzip (0 to 9), True for gzip, a filter (`Blosc2`,
    ///         `Blosc`, `Zstd`, `LZ4`, `Bitshuffle`, `Zfp`, `SZip`, `NBit`, `BZip2`, `Snappy`, or one of
    ///         hdf5plugin) or its name, such as "zstd", or a registered number of a filter. A list or
    ///         tuple of filters, such as `Dataset.filters` of another dataset, names all filters in order.
    ///         False and None: no filter.
    ///     compression_opts: The level of gzip (0 to 9, the default is 4), the method and the elements of a
    ///         block of szip (by default `("nn", 8)`), the arguments of a filter given by its name, or the
    ///         parameters of a filter given by its number.
    ///     shuffle: True adds the shuffle filter.
    ///     fletcher32: True adds a checksum to each chunk.
    ///     scaleoffset: Stores differences from the smallest element of a chunk in few bits. For integers,
    ///         the number of bits (0 and True: as many as needed; fewer lose values). For floats, the number
    ///         of digits after the decimal point that are kept.
    ///     maxshape: The largest length of each axis, None for no limit. `Dataset.resize` grows the dataset
    ///         up to it.
    ///     fillvalue: The value of elements that were never written, one element of the dtype. The default is
    ///         0.
    ///     fill_time: The stored rule for writing the fill value to new space: "ifset" (if a fill value is
    ///         set; the default), "alloc" (always) or "never".
    ///     track_times: True stores the current time as the time of the last modification.
    ///     track_order: True lists the attributes in the order of creation.
    ///     external: The external files that hold the elements: one name, or tuples of a name, the offset of
    ///         the first byte and the size in bytes (2**64-1 for no limit). Such a dataset is contiguous, and
    ///         can grow along its first axis. Files that do not exist are created.
    ///     efile_prefix: The folder of external files with relative names. `${ORIGIN}` in it is the folder of
    ///         this file. The environment variable HDF5_EXTFILE_PREFIX takes precedence. Without a folder,
    ///         names are relative to the current folder; for reading also to the folder of this file.
    ///     allow_unknown_filter: True accepts the number of a filter that the package does not have. Chunks
    ///         are then stored without the filter.
    ///     compact: True stores the elements in the header of the object: less than 64 KiB, no chunks.
    ///     skip_fill_chunks: The initial `Dataset.skip_fill_chunks`. The default is the value given to
    ///         `File`.
    ///     others: The keywords `rdcc_nbytes`, `rdcc_nslots` and `rdcc_w0` of h5py have no effect
    ///         (UserWarning).
    ///
    /// Returns:
    ///     The dataset.
    ///
    /// Raises:
    ///     ValueError: The name exists, the file is open for reading, or shape, chunks or filters do not fit.
    ///     TypeError: The dtype or the option is unknown, or a scalar or empty dataset has chunks or filters.
    ///     NotImplementedError: Property lists (`dcpl`, `dapl`).
    ///
    /// Example:
    ///     >>> file.create_dataset("wind", (100, 50), "f4", chunks=(10, 50), compression="gzip")
    ///     <HDF5 dataset "wind": shape (100, 50), type "<f4">
    ///     >>> file.create_dataset("surface/levels", data=np.array([1000, 850, 500], "i4"))[:]
    ///     array([1000,  850,  500], dtype=int32)
    ///     >>> file.create_dataset("log", (0,), "f8", maxshape=(None,)).maxshape
    ///     (None,)
    #[pyo3(
        signature = (*args, **kwds),
        text_signature = "($self, name, shape=None, dtype=None, data=None, *, chunks=None, \
                          compression=None, compression_opts=None, shuffle=None, \
                          fletcher32=None, scaleoffset=None, maxshape=None, fillvalue=None, \
                          fill_time=None, track_times=None, track_order=None, external=None, \
                          efile_prefix=None, allow_unknown_filter=False, compact=False, skip_fill_chunks=None, \
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

    /// Creates a dataset with the properties of another, without its data and attributes.
    ///
    /// Shape, maxshape, dtype, chunks, filters, fill value and the order of attributes are those of the other
    /// dataset. `skip_fill_chunks` is not taken over.
    ///
    /// Args:
    ///     name: The path of the new dataset.
    ///     other: The other dataset. It may be in another file.
    ///     kwds: Keywords of `create_dataset` that replace the properties of `other`.
    ///
    /// Returns:
    ///     The dataset.
    ///
    /// Raises:
    ///     ValueError: As for `create_dataset`.
    ///     TypeError: As for `create_dataset`.
    ///
    /// Example:
    ///     >>> file.create_dataset_like("surface/d2m", dataset, dtype="f8")
    ///     <HDF5 dataset "d2m": shape (4, 2, 3), type "<f8">
    ///     >>> file["surface/d2m"].compression
    ///     'gzip'
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

    /// Returns the dataset at a path, and creates it if it does not exist.
    ///
    /// Args:
    ///     name: The path of the dataset.
    ///     shape: The shape. An existing dataset has this shape, or `maxshape` is given and equal to its own.
    ///     dtype: The dtype. An existing dataset has this dtype, or one that the dtype can be cast to safely.
    ///     exact: True requires the same dtype.
    ///     kwds: Keywords of `create_dataset`. For an existing dataset only `maxshape` is compared, and
    ///         `efile_prefix` is used.
    ///
    /// Returns:
    ///     The dataset.
    ///
    /// Raises:
    ///     TypeError: The object at the path is not a dataset, or has another shape or dtype.
    ///     ValueError: The dataset does not exist, and the file is open for reading.
    ///
    /// Example:
    ///     >>> file.require_dataset("surface/t2m", (4, 2, 3), "f4") == dataset
    ///     True
    ///     >>> file.require_dataset("surface/d2m", (4, 2, 3), "f4", compression="gzip")
    ///     <HDF5 dataset "d2m": shape (4, 2, 3), type "<f4">
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

    /// Returns the group at a path, and creates it if it does not exist.
    ///
    /// Args:
    ///     name: The path of the group.
    ///
    /// Returns:
    ///     The group.
    ///
    /// Raises:
    ///     TypeError: The object at the path is not a group.
    ///     ValueError: The group does not exist, and the file is open for reading.
    ///
    /// Example:
    ///     >>> file.require_group("surface") == group
    ///     True
    ///     >>> file.require_group("upper")
    ///     <HDF5 group "/upper" (0 members)>
    fn require_group<'py>(slf: &Bound<'py, Self>, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Self::by_python(slf, "require_group", &PyTuple::new(slf.py(), [name])?, None)
    }

    /// Copies an object within the file or into another file.
    ///
    /// A group is copied with all its members, and a table with its indexes.
    ///
    /// The source may be in a file that is open for reading.
    ///
    /// Args:
    ///     source: The object, or its path in this group.
    ///     dest: The path of the copy in this group, or a group of any file that is open for writing. In a
    ///         group, the copy gets the name `name`, or else its own name.
    ///     name: The name of the copy in `dest`, if `dest` is a group.
    ///     shallow: True copies the members of a group, but not the members of those.
    ///     expand_soft: True copies the objects that soft links lead to, in place of the links.
    ///     expand_external: True copies the objects that external links lead to, in place of the links.
    ///     expand_refs: True copies the objects that references lead to, too. Without it, references are null
    ///         in a copy in another file.
    ///     without_attrs: True copies no attributes.
    ///
    /// Raises:
    ///     ValueError: The name of the copy exists, or the file of the copy is open for reading.
    ///     KeyError: The source does not exist, and `dest` is a group without `name`.
    ///     RuntimeError: The source does not exist, in any other case; or it is the root group or has no
    ///         path, and `name` is not given.
    ///     TypeError: `dest` is neither a path nor a group, or `name` is given with a path.
    ///
    /// Example:
    ///     >>> file.copy("surface/t2m", "backup")
    ///     >>> file["backup"].attrs["units"]
    ///     'K'
    ///     >>> archive = hs.File.in_memory()
    ///     >>> file.copy(group, archive, name="2024")
    ///     >>> archive["2024/t2m"].shape
    ///     (4, 2, 3)
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

    /// Creates a virtual dataset, whose elements are those of other datasets.
    ///
    /// Args:
    ///     name: The path of the dataset.
    ///     layout: The `VirtualLayout`.
    ///     fillvalue: The value of elements without a source, or with a source that does not exist.
    ///
    /// Returns:
    ///     The dataset.
    ///
    /// Raises:
    ///     ValueError: The name exists, or the file is open for reading.
    ///
    /// Example:
    ///     >>> layout = hs.VirtualLayout((2, 3), "f4", filename=file.filename)
    ///     >>> layout[1] = hs.VirtualSource(file["surface/t2m"])[0, 0]
    ///     >>> file.create_virtual_dataset("some", layout, fillvalue=-1)[:]
    ///     array([[-1., -1., -1.],
    ///            [ 0.,  1.,  2.]], dtype=float32)
    #[pyo3(signature = (name, layout, fillvalue=None))]
    fn create_virtual_dataset<'py>(
        slf: &Bound<'py, Self>,
        name: &Bound<'py, PyAny>,
        layout: &Bound<'py, PyAny>,
        fillvalue: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.as_super().get().state.check()?;
        let args = (name, layout, fillvalue).into_pyobject(slf.py())?;
        calls::method(slf.as_any(), "_virtual", "create_virtual_dataset", &args, None)
    }

    /// Returns a context manager that yields a `VirtualLayout` and then creates the virtual dataset.
    ///
    /// Args:
    ///     name: The path of the dataset.
    ///     shape: The shape.
    ///     dtype: The dtype.
    ///     maxshape: The largest shape, with None for no limit.
    ///     fillvalue: The value of elements without a source.
    ///
    /// Returns:
    ///     The context manager.
    ///
    /// Example:
    ///     >>> with file.build_virtual_dataset("rows", (2, 3), "f4") as layout:
    ///     ...     layout[0] = hs.VirtualSource(file["surface/t2m"])[0, 0]
    ///     >>> file["rows"].is_virtual
    ///     True
    #[pyo3(signature = (name, shape, dtype, maxshape=None, fillvalue=None))]
    fn build_virtual_dataset<'py>(
        slf: &Bound<'py, Self>,
        name: &Bound<'py, PyAny>,
        shape: &Bound<'py, PyAny>,
        dtype: &Bound<'py, PyAny>,
        maxshape: Option<&Bound<'py, PyAny>>,
        fillvalue: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.as_super().get().state.check()?;
        let args = (name, shape, dtype, maxshape, fillvalue).into_pyobject(slf.py())?;
        calls::method(slf.as_any(), "_virtual", "build_virtual_dataset", &args, None)
    }

    /// Creates a dataset from the arguments that `hyperslab._create` has parsed.
    fn _create_dataset<'py>(
        slf: &Bound<'py, Self>,
        name: &Bound<'py, PyAny>,
        request: CreateRequest<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, (state, group)) = (slf.py(), changed::<PyValueError>(slf, "create a dataset")?);
        let options = request.options(state)?;
        let path = if name.is_none() { None } else { Some(name_required(name)?) };
        let made = py.detach(|| match &path {
            Some(path) => group.create_dataset(path, &options),
            None => group.file().create_unlinked_dataset(&options),
        });
        wrap(py, state, Node::Dataset(made.or_raise()?))
    }

    /// Creates a link at `path`: a hard link to an object, or a soft or external link.
    fn _link(slf: &Bound<'_, Self>, name: &Bound<'_, PyAny>, object: &Bound<'_, PyAny>) -> PyResult<()> {
        let (py, path) = (slf.py(), name_required(name)?);
        let group = &slf.get().group;
        if let Ok(target) = object.cast::<HLObject>() {
            let node = &target.get().node;
            return py.detach(|| group.link_to(&path, node)).map_err(|error| {
                // As in h5py, a link to an object of another file is an OSError.
                if node.file().is_same(group.file()) {
                    exception(&error)
                } else {
                    argument::<PyOSError>(&error)
                }
            });
        }
        if let Ok(link) = object.cast::<SoftLink>() {
            let target = &link.get().path;
            return py.detach(|| group.link_soft(&path, target)).or_raise();
        }
        let link = object.cast::<ExternalLink>()?.get();
        py.detach(|| group.link_external(&path, &link.filename, &link.path)).or_raise()
    }

    /// Commits the datatype of `dtype` at `path`.
    fn _commit(slf: &Bound<'_, Self>, name: &Bound<'_, PyAny>, dtype: &Bound<'_, PyAny>) -> PyResult<()> {
        let (py, state) = (slf.py(), &slf.as_super().get().state);
        let ((datatype, _), path) = (datatype(dtype, state)?, name_required(name)?);
        let group = &slf.get().group;
        py.detach(|| group.commit_datatype(&path, &datatype)).or_raise().map(drop)
    }

    /// Copies an object to `path` in this group.
    fn _copy(
        slf: &Bound<'_, Self>,
        source: &Bound<'_, HLObject>,
        dest: &Bound<'_, PyAny>,
        flags: &Bound<'_, PyDict>,
    ) -> PyResult<()> {
        let py = slf.py();
        source.get().state.check()?;
        let (_, group) = changed::<PyValueError>(slf, "copy an object into the file")?;
        source.get().state.write_waiting(py)?;
        let (options, node, path) = (copy_options(flags)?, &source.get().node, name_required(dest)?);
        py.detach(|| index::copy(group, node, &path, &options)).or_raise().map(drop)
    }

    /// Gives a link another path. The object that the link leads to does not move.
    ///
    /// The indexes of a table get the name that belongs to its new path.
    ///
    /// Missing groups on the way of `dest` are created. The same path twice changes nothing.
    ///
    /// Args:
    ///     source: The path of the link.
    ///     dest: The new path.
    ///
    /// Raises:
    ///     ValueError: `source` does not exist, `dest` exists or is below the group `source`, or the file is
    ///         open for reading.
    ///     TypeError: A part of `dest` is not a group, or an argument is not a name.
    ///
    /// Example:
    ///     >>> file.move("surface/t2m", "archive/t2m")
    ///     >>> list(file["archive"])
    ///     ['t2m']
    #[pyo3(name = "move")]
    fn rename(slf: &Bound<'_, Self>, source: &Bound<'_, PyAny>, dest: &Bound<'_, PyAny>) -> PyResult<()> {
        let (py, (state, group)) = (slf.py(), changed::<PyValueError>(slf, "move a link")?);
        let (source, dest) = (name_required(source)?, name_required(dest)?);
        if source == dest {
            return Ok(());
        }
        // The tables that wait know their old paths.
        state.write_waiting(py)?;
        // As in h5py, a missing `source` is a ValueError here.
        py.detach(|| index::rename(group, &source, &dest)).map_err(|error| match error.root() {
            hyperslab::Error::Request(RequestError::NoSuchObject { .. }) => {
                PyValueError::new_err(format!("Unable to move link ({})", error.root()))
            }
            _ => exception(&error),
        })
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
