//! Files: opening them by path, from memory or through a Python object, and the properties of an open file.

mod making;

use std::ffi::OsStr;
use std::sync::Arc;

use hyperslab::Node;
use hyperslab::driver::Traffic;
use pyo3::Borrowed;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::handles::group::Group;
use crate::handles::identifier::ObjectID;
use crate::handles::object::HLObject;
use crate::handles::opened::Opened;
use crate::interpreter::error::OrRaise;
use crate::interpreter::name::base_name;
use crate::opening::open;
use crate::opening::state::FileState;

/// An open file, which is also its root group.
///
/// `with hs.File("climate.h5") as file:` opens a file for reading, and `with hs.File("new.h5", "w") as file:`
/// makes a new one. `file["surface/t2m"]` is the dataset or the group at a path. `create_dataset` and
/// `create_group` make new ones, and `file.attrs` has the attributes.
///
/// Leaving a `with` block closes the file. A file without a `with` block is closed by `close`, or when no
/// object of the file is left. After that, `name in file` is False, a second `close` does nothing, and
/// objects of the file behave as `HLObject` says.
///
/// Changes are in the file after `flush`, `close` or the end of a `with` block: all of them, or none.
/// Elements of datasets without filters are an exception. They are written in place, and after a crash each
/// element may be old or new. `transaction` rolls changes back if an exception leaves its block.
///
/// A file that this process has open is opened once more, by whatever path. Both handles belong to the same
/// file, which is closed with the last of them. The mode "r" then gives "r+" if the file is open for writing.
/// Another `locking` and a stronger `durability` are refused. So are the modes "w" and "x" of any open file,
/// and "r+" and "a" of a file that is open for reading (OSError).
///
/// A process that is forked from this one can read the file as it was at the fork, as long as this process
/// does not change the file. The forked process cannot change the file (RuntimeError).
///
/// Handles of a file that was opened for reading by path can be pickled; see `HLObject`. A subclass of File
/// can have an `__init__` with other arguments, which calls `super().__init__`.
///
/// The keywords `rdcc_nslots`, `rdcc_w0`, `page_buf_size`, `min_meta_keep`, `min_raw_keep` and `block_size`
/// of h5py set caches and buffers of libhdf5. They have no effect: a UserWarning names the keyword, once for
/// each keyword. For a URL, `page_buf_size` is the size of the cache in bytes.
///
/// Args:
///     name: A path (str, bytes or PathLike), the URL of a file on a server ("https://", "http://", "s3://",
///         "gs://", "az://"), which can only be read, or an object with `read` and `seek`. Writing needs
///         `write` and `truncate` too. For the bytes of a file, use `File.from_bytes(data)`: `name` is never
///         taken for bytes of a file.
///     mode: "r" to read; "r+" to change an existing file; "w" to create a file, in place of an existing one;
///         "x" or "w-" to create a file that does not exist; "a" for "r+" if the file exists, else "x".
///     driver: None, "sec2" and "stdio" work on the file. "core" works on a copy in memory, which is written
///         to the file by `flush` and `close`, unless `backing_store` is False. "fileobj" works on an object,
///         and is the default for one; if the object is a file of fsspec that is only read, many ranges are
///         read by one call (`cat_ranges`). "family" works on a file whose bytes are in several files, one
///         after another, with a place for their number in `name` ("run-%05d.h5"). "split" works on two
///         files, of metadata and of elements. "multi" reads one file for each kind of data. "io_uring"
///         reads the file with many requests in progress at a time. "mmap" maps it into memory, for reading:
///         by asking for it you promise that no program changes or cuts the file, or files that it names in
///         links and virtual datasets, until it is closed and no view of a dataset is left. If one does,
///         anything may happen, such as wrong elements or the end of this program. With "mpio", several
///         processes change the file together (docs/drivers.md). "object_store" reads a URL, and is the
///         default for one.
///     libver: The oldest HDF5 version that new objects are made for: "earliest", "v108", "v110" (the default
///         of new files), "v112", "v114", "v200" or "latest". Of a pair, the first version counts.
///     durability: What a flushed change survives. "kill" (the default): the death of the program at any
///         instruction. "power": also the death of the machine (loss of power). Each flush then waits for the
///         disk.
///     locking: True, False, or "best-effort" (the default: lock where the file system has locks). The
///         environment variable HDF5_USE_FILE_LOCKING overrides the argument.
///     skip_fill_chunks: The value of `Dataset.skip_fill_chunks` for all datasets that do not set it.
///     backing_store: With the driver "core", False keeps the file in memory only.
///     comm: With the driver "mpio", the communicator of mpi4py whose ranks open the file.
///     direct: With the driver "io_uring", True bypasses the page cache, if the file system allows it.
///     queue_depth: The number of requests of one reader that are in progress at a time, from 1 to 1024. By
///         default, the number that suits a disk. With a URL, the number for the file, 64 by default.
///     storage_options: With a URL, a dict of settings of the server: credentials, "aws_region", "endpoint",
///         "skip_signature" and others (docs/drivers.md). Settings that are not given are taken from the
///         environment.
///     memb_size: With the driver "family", the size in bytes of the members. By default, it is the size that
///         the file states, and 2147483647 in a new file.
///     meta_ext: With the driver "split", the ending of the name of the file with the metadata, b"-m.h5" by
///         default. A `%s` in it stands for `name`.
///     raw_ext: The ending of the name of the file with the elements, b"-r.h5" by default.
///     userblock_size: The size in bytes of the user block of a new file: 0 or a power of two from 512.
///     track_order: True lists the members and attributes of the root group of a new file in the order of
///         creation.
///     rdcc_nbytes: The size in bytes of the cache of decoded chunks, for the whole file.
///     in_flight_bytes: The most stored bytes that reads in progress hold before they are decoded, over all
///         threads: 64 MiB by default. A larger chunk is read alone.
///     swmr: With the mode "r", True reads a file that another program writes meanwhile; see `swmr_mode`.
///     fs_strategy: How a new file manages its space: "fsm", "page", "aggregate" or "none". "page" allocates
///         space in pages, which hold metadata or data, for readers with a page buffer.
///     fs_persist: With "fsm" and "page", True keeps the free space in the file when it is closed, so that it
///         is used after the file is opened again.
///     fs_threshold: The length in bytes of the shortest free extent that is kept.
///     fs_page_size: The size in bytes of a page, with "page": 4096, or another from 512 to 1 GiB.
///     alignment_threshold: The length in bytes of the shortest extents that are aligned.
///     alignment_interval: Such extents begin at multiples of this number.
///     meta_block_size: The size in bytes of the blocks from which metadata are allocated.
///     kwds: Other keywords of h5py.
///
/// Raises:
///     FileNotFoundError: The file does not exist.
///     FileExistsError: The file exists, and the mode is "x".
///     PermissionError: The system refuses the access.
///     BlockingIOError: Another process has the file locked. The message names the process.
///     OSError: The file cannot be opened: the system says why, or this process has it open in another mode.
///     FormatError: The file is not HDF5, or is damaged.
///     ValueError: A mode, driver, version or value of a keyword is unknown, or does not fit the mode.
///     TypeError: The keyword is unknown, or `name` has another type.
///     NotImplementedError: `track_times` is True, or a multi file is opened for writing.
///
/// Example:
///     >>> with hs.File("climate.h5") as file:
///     ...     file["surface/t2m"][0, 0]
///     array([0., 1., 2.], dtype=float32)
///     >>> with hs.File("out.h5", "w", libver="v108") as file:
///     ...     file["levels"] = [1000, 850]
///     >>> with hs.File("out.h5", "r+") as file:
///     ...     file["levels"].attrs["units"] = "hPa"
#[pyclass(frozen, subclass, extends = Group, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct File;

/// Returns the driver that a program registered under this name, after the keywords of the program's driver
/// were replaced by those of the driver that it is. `None` if no program did.
fn registered_driver(name: &str, kwds: &Bound<'_, PyDict>) -> PyResult<Option<String>> {
    let Some(drivers) = kwds.py().import("sys")?.getattr("modules")?.get_item("hyperslab.low._drivers").ok()
    else {
        return Ok(None);
    };
    drivers.getattr("resolve")?.call1((name, kwds))?.extract()
}

fn state<'a>(slf: &'a Bound<'_, File>) -> &'a Arc<FileState> {
    &slf.as_super().as_super().get().state
}

impl File {
    /// Attaches the open file `state` to the Python object.
    fn open(slf: &Bound<'_, Self>, state: Arc<FileState>) -> PyResult<()> {
        let root = state.core.root();
        slf.as_super().get().group.set(root.clone())?;
        slf.as_super().as_super().get().open(state, Node::Group(root), true)
    }
}

/// Returns the state of a file, or an error if the file is closed.
pub(crate) fn open_state<'a>(slf: &'a Bound<'_, File>) -> PyResult<&'a Arc<FileState>> {
    let state = state(slf);
    state.check()?;
    Ok(state)
}

/// The argument for a mode or a driver: a `str`, or the text of another object for the error that names it.
struct Choice(String);

impl<'py> FromPyObject<'_, 'py> for Choice {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        given.extract::<String>().or_else(|_| Ok(given.repr()?.to_string())).map(Self)
    }
}

#[pymethods]
impl File {
    #[new]
    #[pyo3(
        signature = (*_args, **_kwds),
        text_signature = "(name, mode='r', driver=None, libver=None, *, durability=None, locking=None, \
                          userblock_size=None, track_order=None, rdcc_nbytes=None, in_flight_bytes=None, \
                          skip_fill_chunks=None, backing_store=None, **kwds)"
    )]
    fn new(_args: &Bound<'_, PyTuple>, _kwds: Option<&Bound<'_, PyDict>>) -> PyClassInitializer<Self> {
        let group = Group { group: Opened::not_yet() };
        PyClassInitializer::from(HLObject::unopened()).add_subclass(group).add_subclass(Self)
    }

    #[expect(clippy::needless_pass_by_value, reason = "arguments of Python are converted to values")]
    #[pyo3(signature = (name, mode=Choice("r".to_owned()), driver=None, libver=None, **kwds))]
    fn __init__(
        slf: &Bound<'_, Self>,
        name: &Bound<'_, PyAny>,
        mode: Choice,
        driver: Option<Choice>,
        libver: Option<&Bound<'_, PyAny>>,
        kwds: Option<Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let (mode, driver) = (&mode.0, driver.as_ref().map(|driver| driver.0.as_str()));
        // Before a mode such as "w" changes another file.
        slf.as_super().get().group.check_not_set()?;
        let kwds = kwds.unwrap_or_else(|| PyDict::new(slf.py()));
        let registered = driver.map(|name| registered_driver(name, &kwds)).transpose()?.flatten();
        let driver = registered.as_deref().or(driver);
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

    /// Writes all changes to the file and closes it. All objects of the file become unusable.
    ///
    /// If the file is open more than once in this process, `close` ends only this opening, with the objects
    /// that were reached through it. The second call of `close` does nothing.
    ///
    /// Raises:
    ///     OSError: The changes cannot be written. The file is closed all the same.
    ///     ValueError: A transaction of the file has not ended. The file stays open.
    ///
    /// Example:
    ///     >>> file = hs.File("climate.h5")
    ///     >>> file.close()
    ///     >>> bool(file)
    ///     False
    fn close(slf: &Bound<'_, Self>) -> PyResult<()> {
        state(slf).close(slf.py())
    }

    /// Writes all changes to the file, or none of them.
    ///
    /// From then on the changes survive what `durability` says. In a file that is open for reading, nothing
    /// happens. In a transaction, nothing happens either: its end writes the changes.
    ///
    /// Raises:
    ///     OSError: The changes cannot be written.
    ///     RuntimeError: The process was forked after the file was opened.
    ///
    /// Example:
    ///     >>> with hs.File("out.h5", "w") as file:
    ///     ...     file["levels"] = [1000, 850]
    ///     ...     file.flush()
    fn flush(slf: &Bound<'_, Self>) -> PyResult<()> {
        open_state(slf)?.flush(slf.py())
    }

    /// Writes all changes and returns the bytes of the file.
    ///
    /// Returns:
    ///     The bytes, which `File.from_bytes` and `File.in_memory` open.
    ///
    /// Raises:
    ///     OSError: The changes cannot be written, or the file cannot be read.
    ///
    /// Example:
    ///     >>> memory = hs.File.in_memory()
    ///     >>> memory["levels"] = [1000, 850]
    ///     >>> hs.File.from_bytes(memory.to_bytes())["levels"].shape
    ///     (2,)
    fn to_bytes<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBytes>> {
        open_state(slf)?.image(slf.py())
    }

    /// Returns what the driver of the file is and does.
    ///
    /// Returns:
    ///     A dict. "driver" is the name of the driver, "queue_depth" the number of requests of one reader in
    ///     progress at a time, "direct" whether reads bypass the page cache, "registered_buffers" whether the
    ///     kernel has pinned the memory for reads, and "fallback" why the driver does less than it was asked
    ///     for, or None. For a file on a server, "requests" and "bytes" are what was requested and received
    ///     so far.
    ///
    /// Example:
    ///     >>> hs.File("climate.h5").driver_info()["driver"]
    ///     'sec2'
    fn driver_info<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let state = open_state(slf)?;
        let info = state.core.driver_info().or_raise()?;
        let found = PyDict::new(slf.py());
        let name = match (info.name, state.driver) {
            // The file was open already, with the driver of its first opening.
            ("posix", "io_uring" | "mmap") => "sec2",
            ("posix" | "memory" | "members", given) => given,
            (name, _) => name,
        };
        found.set_item("driver", name)?;
        found.set_item("queue_depth", state.core.queue_depth().or_raise()?)?;
        found.set_item("direct", info.is_direct)?;
        found.set_item("registered_buffers", info.has_registered_buffers)?;
        found.set_item("fallback", info.fallback)?;
        if let Some(Traffic { requests, bytes }) = info.traffic {
            found.set_item("requests", requests)?;
            found.set_item("bytes", bytes)?;
        }
        Ok(found)
    }

    /// Picks up changes that another program has made to the file.
    ///
    /// All objects then show the current state. Open the file with `locking=False`, because a lock keeps the
    /// other program out. In a file that this process can change, there is nothing to do.
    ///
    /// Raises:
    ///     OSError: Another file was written in place of the file.
    ///
    /// Example:
    ///     >>> reader = hs.File("climate.h5", locking=False)
    ///     >>> reader.refresh()
    ///     >>> reader["stations"].shape
    ///     (2,)
    fn refresh(slf: &Bound<'_, Self>) -> PyResult<()> {
        let state = open_state(slf)?;
        slf.py().detach(|| state.core.refresh()).or_raise()
    }

    /// Returns a context manager for a block of changes: all are kept, or none.
    ///
    /// The changes are committed at the end of the block, or rolled back if an exception leaves the block.
    /// Elements of datasets without filters are written in place and are not rolled back. Transactions cannot
    /// be nested.
    ///
    /// Returns:
    ///     A context manager. It gives the file.
    ///
    /// Raises:
    ///     ValueError: At the start of the block: the file is open for reading, or another transaction has
    ///         not ended.
    ///
    /// Example:
    ///     >>> try:
    ///     ...     with file.transaction():
    ///     ...         del file["stations"]
    ///     ...         raise RuntimeError
    ///     ... except RuntimeError:
    ///     ...     "stations" in file
    ///     True
    fn transaction<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        open_state(slf)?;
        slf.py().import("hyperslab._transaction")?.getattr("Transaction")?.call1((slf,))
    }

    fn _begin(slf: &Bound<'_, Self>) -> PyResult<()> {
        open_state(slf)?.begin(slf.py())
    }

    fn _end(slf: &Bound<'_, Self>, is_kept: bool) -> PyResult<()> {
        open_state(slf)?.end(slf.py(), is_kept)
    }

    fn __enter__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    #[pyo3(signature = (*args))]
    fn __exit__(slf: &Bound<'_, Self>, args: &Bound<'_, PyTuple>) -> PyResult<()> {
        let error = args.get_item(1).ok().filter(|error| !error.is_none());
        match error {
            // The other ranks may not close the file now.
            Some(error) if state(slf).has_ranks() => {
                let why = error.repr().map_or_else(|_| "an exception".to_owned(), |text| text.to_string());
                state(slf).give_up(slf.py(), &why)
            }
            _ => state(slf).close(slf.py()),
        }
    }

    /// The path that was given when the file was opened.
    ///
    /// For a file in memory, it is "in memory". For an object, it is the `repr` of the object.
    ///
    /// Example:
    ///     >>> with hs.File("climate.h5") as file:
    ///     ...     file.filename
    ///     'climate.h5'
    #[getter]
    fn filename<'a>(slf: &'a Bound<'_, Self>) -> PyResult<&'a OsStr> {
        Ok(&open_state(slf)?.name)
    }

    /// What can be done with the file: "r" for reading, "r+" for reading and changing.
    ///
    /// Example:
    ///     >>> file.mode
    ///     'r+'
    ///     >>> hs.File("climate.h5").mode
    ///     'r'
    #[getter]
    fn mode(slf: &Bound<'_, Self>) -> PyResult<&'static str> {
        open_state(slf).map(|state| state.mode)
    }

    /// The driver of the file: "sec2", "stdio", "core", "fileobj", "io_uring", "mmap", "mpio", "family",
    /// "split", "multi" or "object_store".
    ///
    /// Example:
    ///     >>> file.driver
    ///     'core'
    #[getter]
    fn driver(slf: &Bound<'_, Self>) -> PyResult<&'static str> {
        Ok(open_state(slf)?.driver)
    }

    /// The version bounds that were given, or h5py's defaults. They have no meaning for a reader.
    ///
    /// A new file is for HDF5 1.10, which is within the default bounds, unless `libver` says otherwise.
    ///
    /// Example:
    ///     >>> hs.File("out.h5", "w", libver="v112").libver
    ///     ('v112', 'v200')
    #[getter]
    fn libver<'a>(slf: &'a Bound<'_, Self>) -> PyResult<(&'a str, &'a str)> {
        let (low, high) = &open_state(slf)?.libver;
        Ok((low, high))
    }

    /// The size of the user block in bytes: the bytes before the HDF5 part of the file.
    ///
    /// Example:
    ///     >>> hs.File("out.h5", "w", userblock_size=512).userblock_size
    ///     512
    #[getter]
    fn userblock_size(slf: &Bound<'_, Self>) -> PyResult<u64> {
        Ok(open_state(slf)?.core.store().base())
    }

    /// Whether one program writes the file while others read it (SWMR: single writer, multiple readers).
    ///
    /// A reader opens the file with `swmr=True`, and `refresh` shows what the writer has flushed. A writer
    /// sets the property to True, until the file is closed; other programs, h5py's too, may then read the
    /// file, and never see half of a change. The file needs the format of HDF5 1.10 (the default, or a later
    /// `libver`).
    ///
    /// In this mode changes are written in order, not all or nothing: a writer that dies leaves a file that
    /// is marked as open for writing until `hyperslab recover` takes the mark away. Freed space is not used
    /// again. There are no transactions.
    ///
    /// Raises:
    ///     RuntimeError: The property is set to True, and the file is open for reading, is in this mode
    ///         already, or has an older format.
    ///     ValueError: The property is set to False.
    ///
    /// Example:
    ///     >>> with hs.File("series.h5", "w") as writer:
    ///     ...     series = writer.create_dataset("series", (0,), "f4", chunks=(4,), maxshape=(None,))
    ///     ...     writer.swmr_mode = True
    ///     ...     series.resize((2,))
    ///     ...     series[:] = [1, 2]
    ///     ...     writer.flush()
    ///     ...     writer.swmr_mode
    ///     True
    #[getter]
    fn swmr_mode(slf: &Bound<'_, Self>) -> PyResult<bool> {
        open_state(slf).map(|state| state.core.is_swmr())
    }

    #[setter]
    fn set_swmr_mode(slf: &Bound<'_, Self>, is_on: &Bound<'_, PyAny>) -> PyResult<()> {
        let state = open_state(slf)?;
        if is_on.is_truthy()? {
            return state.start_swmr(slf.py());
        }
        Err(PyValueError::new_err("It is not possible to forcibly switch SWMR mode off."))
    }

    /// The size in bytes of the blocks from which metadata are allocated, as given, or the default of
    /// libhdf5.
    ///
    /// Without the keyword, blocks grow with the metadata of the file.
    ///
    /// Example:
    ///     >>> file.meta_block_size
    ///     2048
    #[getter]
    fn meta_block_size(slf: &Bound<'_, Self>) -> PyResult<u64> {
        open_state(slf).map(|state| state.meta_block)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> String {
        let state = state(slf);
        if state.is_open() {
            format!("<HDF5 file \"{}\" (mode {})>", base_name(&open::shown(&state.name)), state.mode)
        } else {
            "<Closed HDF5 file>".to_owned()
        }
    }
}
