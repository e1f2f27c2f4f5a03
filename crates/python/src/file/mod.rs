//! Files: opening them by path, from memory or through a Python object, and the properties of an open file.

mod keywords;
mod open;

use std::sync::Arc;

use hyperslab::Node;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use crate::error::OrRaise;
use crate::group::Group;
use crate::ids::ObjectID;
use crate::object::{HLObject, base_name};
use crate::opened::Opened;
use crate::state::FileState;

pub(crate) use self::open::path_of;

/// An open file, which is also its root group. The end of a `with` block closes the file.
///
/// Changes are in the file after `flush`, after `close`, or at the end of a `with` block: all of them or
/// none. Elements of datasets without filters are an exception. They are written in place, and after a crash
/// each element may be old or new.
///
/// A file that this process already has open, by any path, is opened once more. Both handles belong to the
/// same file, which is closed when the last handle is closed. Mode "r" then gives "r+" if the other handle
/// can change the file. A process that is forked from this one can read the file in its state at the fork, as
/// long as this process does not change the file. The forked process cannot change the file (`RuntimeError`).
///
/// Subclasses can have an `__init__` with other arguments, which calls `super().__init__`. Handles of files
/// that were opened for reading by path can be pickled; see `HLObject`.
///
/// Args:
///     name: A path (`str`, `bytes` or `os.PathLike`); or an object with the methods `read` and `seek`.
///         `File.from_bytes` opens the bytes of a file.
///     mode: "r" reads an existing file; "r+" changes an existing file; "w" replaces the file; "x" or "w-"
///         creates a file that must not exist; "a" changes the file, or creates it.
///     driver: None, "sec2" or "stdio" work on the file. "core" works on a copy in memory, and writes the
///         copy to the file on a flush, unless `backing_store` is False. "fileobj" is for an object.
///     libver: The oldest version of HDF5 that must read new objects, or a pair that begins with this
///         version: "earliest", "v108", "v110" (the default for new files), "v112", "v114", "v200" or
///         "latest".
///     durability: "kill" (the default): flushed changes survive the death of the program at any instruction.
///         "power": flushed changes survive the death of the machine as well, and each flush waits for the
///         disk.
///     locking: True, False or "best-effort", which is the default and locks the file if the file system has
///         locks. The environment variable `HDF5_USE_FILE_LOCKING` overrides this argument.
///     userblock_size: The size of the user block of a new file, in bytes: 0, or a power of two from 512.
///     track_order: Whether the root group of a new file lists members and attributes in the order of
///         creation.
///     rdcc_nbytes: The budget for decoded chunks of the whole file, in bytes.
///     skip_fill_chunks: The setting `Dataset.skip_fill_chunks` for all datasets without a setting of their
///         own.
///     backing_store: For "core", whether changes are written to the file.
///     kwds: Other keywords of h5py. A keyword about caches and buffers of libhdf5 has no effect, and warns
///         once.
///
/// Raises:
///     FileNotFoundError, PermissionError, OSError: The system refuses to open the file; or the file is open
///         in this process in a way that excludes the mode ("r+" of a file that is open for reading, "w" of
///         any open file).
///     BlockingIOError: Another process has locked the file. The message names the process.
///     FormatError: The file is not HDF5, or is damaged.
///     ValueError: The mode or the driver is not known.
///     TypeError: A keyword is not known.
///     NotImplementedError: `swmr` is True.
///
/// Example:
///     >>> with hs.File("new.h5", "w") as new:
///     ...     new["x"] = [1, 2, 3]
///     >>> with hs.File("new.h5") as new:
///     ...     new["x"][1:]
///     array([2, 3])
#[pyclass(frozen, subclass, extends = Group, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct File;

fn state<'a>(slf: &'a Bound<'_, File>) -> &'a Arc<FileState> {
    &slf.as_super().as_super().get().state
}

impl File {
    /// Attaches the open file `state` to the Python object.
    fn open(slf: &Bound<'_, Self>, state: Arc<FileState>) -> PyResult<()> {
        let root = state.core.root();
        slf.as_super().get().group.set(root.clone())?;
        slf.as_super().as_super().get().open(state, Node::Group(root))
    }

    /// Returns an open file of the class `cls`. Does not call its `__init__`.
    fn made<'py>(cls: &Bound<'py, PyType>, state: Arc<FileState>) -> PyResult<Bound<'py, Self>> {
        let made = cls.call_method1("__new__", (cls,))?.cast_into::<Self>()?;
        Self::open(&made, state)?;
        Ok(made)
    }
}

/// Returns the state of a file, or an error if the file is closed.
pub(crate) fn open_state<'a>(slf: &'a Bound<'_, File>) -> PyResult<&'a Arc<FileState>> {
    let state = state(slf);
    state.check()?;
    Ok(state)
}

#[pymethods]
impl File {
    #[new]
    #[pyo3(
        signature = (*_args, **_kwds),
        text_signature = "(name, mode='r', driver=None, libver=None, *, durability=None, locking=None, \
                          userblock_size=None, track_order=None, rdcc_nbytes=None, skip_fill_chunks=None, \
                          backing_store=None, **kwds)"
    )]
    fn new(_args: &Bound<'_, PyTuple>, _kwds: Option<&Bound<'_, PyDict>>) -> PyClassInitializer<Self> {
        let group = Group { group: Opened::not_yet() };
        PyClassInitializer::from(HLObject::unopened()).add_subclass(group).add_subclass(Self)
    }

    #[pyo3(signature = (name, mode="r", driver=None, libver=None, **kwds))]
    fn __init__(
        slf: &Bound<'_, Self>,
        name: &Bound<'_, PyAny>,
        mode: &str,
        driver: Option<&str>,
        libver: Option<&Bound<'_, PyAny>>,
        kwds: Option<Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let kwds = kwds.unwrap_or_else(|| PyDict::new(slf.py()));
        if let Some(libver) = libver {
            kwds.set_item("libver", libver)?;
        }
        let state = if let Ok(id) = name.cast::<ObjectID>() {
            ObjectID::object(id)?.0
        } else if name.hasattr("read")? && name.hasattr("seek")? {
            open::object(name, mode, driver, &kwds)?
        } else {
            open::named(name, mode, driver, &kwds)?
        };
        Self::open(slf, state)
    }

    /// Opens the bytes of a file, for reading. The bytes are copied.
    ///
    /// Args:
    ///     data: The bytes, as `bytes` or any other buffer.
    ///     kwds: Keywords of `File`.
    ///
    /// Raises:
    ///     FormatError: The bytes are not an HDF5 file.
    ///     TypeError: `data` is not a buffer.
    ///
    /// Example:
    ///     >>> from pathlib import Path
    ///     >>> with hs.File.from_bytes(Path("climate.h5").read_bytes()) as reading:
    ///     ...     reading["surface/t2m"].shape
    ///     (4, 2, 3)
    #[classmethod]
    #[pyo3(signature = (data, **kwds))]
    fn from_bytes<'py>(
        cls: &Bound<'py, PyType>,
        data: &Bound<'py, PyAny>,
        kwds: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, Self>> {
        Self::made(cls, open::image(data, &kwds.unwrap_or_else(|| PyDict::new(cls.py())))?)
    }

    /// Returns a new file in memory, open for writing; or the file in the given bytes, open for reading.
    ///
    /// Args:
    ///     file_image: The bytes of a file, which are copied.
    ///     kwds: Keywords of `File`.
    ///
    /// Raises:
    ///     FormatError: The bytes are not an HDF5 file.
    ///
    /// Example:
    ///     >>> with hs.File.in_memory() as scratch:
    ///     ...     scratch["x"] = 1
    ///     ...     list(scratch)
    ///     ['x']
    #[classmethod]
    #[pyo3(signature = (file_image=None, **kwds))]
    fn in_memory<'py>(
        cls: &Bound<'py, PyType>,
        file_image: Option<&Bound<'py, PyAny>>,
        kwds: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, Self>> {
        let kwds = kwds.unwrap_or_else(|| PyDict::new(cls.py()));
        let state = file_image.map_or_else(|| open::new_in_memory(&kwds), |data| open::image(data, &kwds))?;
        Self::made(cls, state)
    }

    /// Writes all changes to the file and closes the file. Every object of the file becomes unusable.
    ///
    /// Raises:
    ///     OSError: The system refuses to write.
    ///
    /// Example:
    ///     >>> file.close()
    ///     >>> bool(file)
    ///     False
    fn close(slf: &Bound<'_, Self>) -> PyResult<()> {
        state(slf).close(slf.py())
    }

    /// Writes all changes to the file: all of them or none.
    ///
    /// From then on, the changes survive what the argument `durability` of `File` promises.
    ///
    /// Raises:
    ///     OSError: The system refuses to write.
    ///
    /// Example:
    ///     >>> file["x"] = 1
    ///     >>> file.flush()
    fn flush(slf: &Bound<'_, Self>) -> PyResult<()> {
        open_state(slf)?.flush(slf.py())
    }

    /// Updates all objects to the current state of a file that another program extends.
    ///
    /// Open the file with `locking=False`: a lock would keep the other program out. In a file that this
    /// process can change, the method does nothing.
    ///
    /// Raises:
    ///     OSError: Another file has replaced the file.
    ///
    /// Example:
    ///     >>> with hs.File("climate.h5", locking=False) as reading:
    ///     ...     reading.refresh()
    fn refresh(slf: &Bound<'_, Self>) -> PyResult<()> {
        let state = open_state(slf)?;
        slf.py().detach(|| state.core.refresh()).or_raise()
    }

    /// Returns the context of a transaction.
    ///
    /// The end of the `with` block commits all changes of the block. An exception that leaves the block
    /// undoes them. Elements of datasets without filters are written in place, and are not undone.
    ///
    /// Raises:
    ///     OSError: The file is open for reading, or is in a transaction.
    ///
    /// Example:
    ///     >>> with file.transaction():
    ///     ...     file["x"] = 1
    ///     ...     file["y"] = 2
    fn transaction<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        open_state(slf)?;
        slf.py().import("hyperslab._transaction")?.getattr("Transaction")?.call1((slf,))
    }

    fn _begin(slf: &Bound<'_, Self>) -> PyResult<()> {
        let state = open_state(slf)?;
        slf.py().detach(|| state.core.begin_transaction()).or_raise()
    }

    fn _end(slf: &Bound<'_, Self>, is_kept: bool) -> PyResult<()> {
        let state = open_state(slf)?;
        slf.py().detach(|| state.core.end_transaction(is_kept)).or_raise()
    }

    fn __enter__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(slf: &Bound<'_, Self>, _args: &Bound<'_, PyTuple>) -> PyResult<()> {
        state(slf).close(slf.py())
    }

    /// The name under which the file was opened.
    ///
    /// Example:
    ///     >>> hs.File("climate.h5").filename
    ///     'climate.h5'
    #[getter]
    fn filename<'a>(slf: &'a Bound<'_, Self>) -> PyResult<&'a str> {
        Ok(&open_state(slf)?.name)
    }

    /// The mode: "r", or "r+" if the file can be changed.
    ///
    /// Example:
    ///     >>> file.mode
    ///     'r+'
    #[getter]
    fn mode(slf: &Bound<'_, Self>) -> PyResult<&'static str> {
        open_state(slf).map(|state| state.mode)
    }

    /// The driver: "sec2", "stdio", "core" or "fileobj".
    ///
    /// Example:
    ///     >>> file.driver
    ///     'core'
    #[getter]
    fn driver(slf: &Bound<'_, Self>) -> PyResult<&'static str> {
        Ok(open_state(slf)?.driver)
    }

    /// The version bounds: the oldest version of HDF5 that must read new objects, and the newest.
    ///
    /// Example:
    ///     >>> file.libver
    ///     ('v110', 'v200')
    #[getter]
    fn libver<'a>(slf: &'a Bound<'_, Self>) -> PyResult<(&'a str, &'a str)> {
        let (low, high) = &open_state(slf)?.libver;
        Ok((low, high))
    }

    /// The size of the user block before the content of the file, in bytes.
    ///
    /// Example:
    ///     >>> file.userblock_size
    ///     0
    #[getter]
    fn userblock_size(slf: &Bound<'_, Self>) -> PyResult<u64> {
        Ok(open_state(slf)?.core.store().base())
    }

    /// Always False. Setting the property to True raises `NotImplementedError`.
    ///
    /// Example:
    ///     >>> file.swmr_mode
    ///     False
    #[getter]
    fn swmr_mode(slf: &Bound<'_, Self>) -> PyResult<bool> {
        open_state(slf).map(|_| false)
    }

    #[setter]
    fn set_swmr_mode(slf: &Bound<'_, Self>, is_on: &Bound<'_, PyAny>) -> PyResult<()> {
        open_state(slf)?;
        if is_on.is_truthy()? {
            return Err(keywords::no_swmr());
        }
        Err(PyValueError::new_err("It is not possible to forcibly switch SWMR mode off."))
    }

    /// The default of libhdf5 for the size of metadata blocks, in bytes. The value has no meaning here.
    ///
    /// Example:
    ///     >>> file.meta_block_size
    ///     2048
    #[getter]
    fn meta_block_size(slf: &Bound<'_, Self>) -> PyResult<u64> {
        open_state(slf).map(|_| 2048)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> String {
        let state = state(slf);
        if state.is_open() {
            format!("<HDF5 file \"{}\" (mode {})>", base_name(&state.name), state.mode)
        } else {
            "<Closed HDF5 file>".to_owned()
        }
    }
}
