//! Files: opening them by name, from memory or through a Python object, and what h5py says of an open one.

use std::ffi::CString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyperslab::driver::{Driver, Locking, Memory};
use hyperslab::{Durability, Error, File as CoreFile, LibVersion, OpenOptions};
use pyo3::exceptions::{PyNotImplementedError, PyOSError, PyTypeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyMemoryView, PyString, PyTuple, PyType};

use crate::error::{OrRaise, open_exception};
use crate::fileobj::FileObject;
use crate::group::Group;
use crate::object::{base_name, file_object};
use crate::state::FileState;

/// An open file, which is also its root group. Documented in `_native.pyi`.
#[pyclass(frozen, extends = Group, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct File;

fn state<'a>(slf: &'a Bound<'_, File>) -> &'a Arc<FileState> {
    &slf.as_super().as_super().get().state
}

/// The state of a file, which must be open.
pub(crate) fn open_state<'a>(slf: &'a Bound<'_, File>) -> PyResult<&'a Arc<FileState>> {
    let state = state(slf);
    state.check()?;
    Ok(state)
}

/// Keyword arguments of h5py's `File` about libhdf5's own caches and buffers, and about where it places things.
const WITHOUT_EFFECT: [&str; 9] = [
    "rdcc_nslots",
    "rdcc_w0",
    "page_buf_size",
    "min_meta_keep",
    "min_raw_keep",
    "alignment_threshold",
    "alignment_interval",
    "meta_block_size",
    "block_size",
];

/// Says that a keyword changes nothing, unless it says what holds anyway.
fn warn_without_effect(key: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let is_default = !value.is_truthy()? || (key.starts_with("alignment") && value.eq(1)?);
    if is_default {
        return Ok(());
    }
    let message = CString::new(format!("File: {key}= is libhdf5's own and has no effect here"))?;
    let py = value.py();
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &message, 1)
}

/// What the keyword arguments say.
struct Keywords {
    libver: (String, String),
    options: OpenOptions,
    user_block: u64,
    backing_store: bool,
    skip_fill_chunks: Option<bool>,
}

impl Keywords {
    fn parse(given: Option<&Bound<'_, PyDict>>, driver: Option<&str>, mode: Mode) -> PyResult<Self> {
        let mut options = CoreFile::options();
        let mut user_block = 0;
        let mut libver = if mode == Mode::Read { bounds("earliest") } else { bounds("v110") };
        let mut backing_store = true;
        let mut skip_fill_chunks = None;
        for (key, value) in given.into_iter().flatten() {
            let key: String = key.extract()?;
            if value.is_none() {
                continue;
            }
            match key.as_str() {
                "libver" => {
                    libver = match value.cast::<PyTuple>() {
                        Ok(pair) => pair.extract()?,
                        Err(_) => bounds(value.cast::<PyString>()?.to_str()?),
                    };
                    version(&libver.1)?;
                    options = options.version(version(&libver.0)?);
                }
                "rdcc_nbytes" => options = options.chunk_cache_bytes(value.extract()?),
                "track_order" => options = options.track_order(value.extract()?),
                "durability" => {
                    options = options.durability(match value.extract::<String>()?.as_str() {
                        "kill" => Durability::Kill,
                        "power" => Durability::Power,
                        _ => return Err(PyValueError::new_err("durability must be 'kill' or 'power'")),
                    });
                }
                "userblock_size" if mode.creates() => {
                    let integer = |_| PyValueError::new_err("User block size must be an integer");
                    user_block = value.extract().map_err(integer)?;
                    options = options.user_block(user_block);
                }
                "userblock_size" => {
                    return Err(PyValueError::new_err(
                        "User block may only be specified when creating a file",
                    ));
                }
                "swmr" if value.is_truthy()? => return Err(no_swmr()),
                "fs_threshold" if value.eq(1)? => {}
                "fs_strategy" | "fs_persist" | "fs_threshold" | "fs_page_size" if value.is_truthy()? => {
                    return Err(if mode.creates() {
                        PyNotImplementedError::new_err("a file that manages its free space")
                    } else {
                        PyValueError::new_err("Unable to set file space strategy of an existing file")
                    });
                }
                "track_times" if value.is_truthy()? => {
                    return Err(PyNotImplementedError::new_err("a root group that tracks times"));
                }
                "swmr" | "fs_strategy" | "fs_persist" | "fs_threshold" | "fs_page_size" | "track_times" => {}
                "backing_store" | "block_size" if driver.is_none() => return Err(unknown(&key)),
                "locking" => {
                    options = options.locking(match value.extract::<bool>() {
                        Ok(true) => Locking::Required,
                        Ok(false) => Locking::No,
                        Err(_) if value.eq("best-effort")? => Locking::BestEffort,
                        Err(_) => {
                            return Err(PyValueError::new_err(
                                "locking must be True, False or 'best-effort'",
                            ));
                        }
                    });
                }
                "backing_store" => backing_store = value.is_truthy()?,
                "skip_fill_chunks" => skip_fill_chunks = Some(value.extract()?),
                other if WITHOUT_EFFECT.contains(&other) => warn_without_effect(other, &value)?,
                _ => return Err(unknown(&key)),
            }
        }
        Ok(Self { libver, options, user_block, backing_store, skip_fill_chunks })
    }
}

/// How a file is opened.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Read,
    /// What is there is changed.
    Change,
    /// What is there is replaced.
    Replace,
    /// There must be nothing.
    New,
    /// What is there is changed, or made.
    Append,
}

impl Mode {
    fn parse(mode: &str) -> PyResult<Self> {
        Ok(match mode {
            "r" => Self::Read,
            "r+" => Self::Change,
            "w" => Self::Replace,
            "w-" | "x" => Self::New,
            "a" => Self::Append,
            _ => return Err(PyValueError::new_err("Invalid mode; must be one of r, r+, w, w-, x, a")),
        })
    }

    fn creates(self) -> bool {
        matches!(self, Self::Replace | Self::New | Self::Append)
    }

    /// The options of a file that is opened so.
    fn applied_to(self, options: OpenOptions) -> OpenOptions {
        match self {
            Self::Read => options,
            Self::Change => options.write(true),
            Self::Replace => options.create(true).truncate(true),
            Self::New => options.create_new(true),
            Self::Append => options.create(true),
        }
    }
}

/// The oldest library that a name of h5py's stands for.
fn version(name: &str) -> PyResult<LibVersion> {
    let unknown = || PyValueError::new_err(format!("Invalid library version bound {name:?}"));
    LibVersion::named(name).ok_or_else(unknown)
}

/// The name of a file without one.
pub(crate) const IN_MEMORY: &str = "in memory";

/// The bytes of a file, if that is what was given in place of its name. A name holds no zero bytes, and a file always does.
pub(crate) fn image(name: &Bound<'_, PyAny>) -> PyResult<Option<Vec<u8>>> {
    if let Ok(bytes) = name.cast::<PyBytes>() {
        let bytes = bytes.as_bytes();
        let is_image = bytes.contains(&0) || bytes.starts_with(b"\x89HDF");
        return Ok(is_image.then(|| bytes.to_vec()));
    }
    let is_buffer = name.is_instance_of::<PyByteArray>() || name.is_instance_of::<PyMemoryView>();
    is_buffer.then(|| bytes_of(name)).transpose()
}

/// The bytes of anything that `bytes` takes.
fn bytes_of(buffer: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let bytes = buffer.py().get_type::<PyBytes>().call1((buffer,))?;
    Ok(bytes.cast::<PyBytes>()?.as_bytes().to_vec())
}

fn no_swmr() -> PyErr {
    PyNotImplementedError::new_err(
        "reading and writing at the same time (SWMR): to follow a file that another program extends, open it with \
         locking=False, and refresh() it or a dataset",
    )
}

fn unknown(key: &str) -> PyErr {
    PyTypeError::new_err(format!("'{key}' is an invalid keyword argument for this function"))
}

fn bounds(low: &str) -> (String, String) {
    (if low == "latest" { "v200" } else { low }.to_owned(), "v200".to_owned())
}

/// Opens or makes the file at `path`.
fn open_path(path: &Path, mode: Mode, in_memory: bool, keywords: &Keywords) -> hyperslab::Result<CoreFile> {
    let options = &keywords.options;
    if in_memory {
        return open_in_memory(path, mode, keywords);
    }
    let opened = mode.applied_to(options.clone()).open(path)?;
    if mode == Mode::Append && keywords.user_block != 0 && keywords.user_block != opened.store().base() {
        let what = format!("user block of {} bytes", keywords.user_block);
        let why = "the file that is there has one of another size";
        return Err(hyperslab::RequestError::Argument { what, why }.into());
    }
    Ok(opened)
}

/// The same with the whole file in memory; what was changed goes back to `path` if there is a backing store.
fn open_in_memory(path: &Path, mode: Mode, keywords: &Keywords) -> hyperslab::Result<CoreFile> {
    let found = match mode {
        Mode::Replace => None,
        Mode::New | Mode::Append => match std::fs::read(path) {
            Ok(_) if mode == Mode::New && keywords.backing_store => {
                return Err(Error::io("open", 0, 0)(io::ErrorKind::AlreadyExists.into()));
            }
            Ok(bytes) if mode == Mode::Append => Some(bytes),
            _ => None,
        },
        Mode::Read | Mode::Change => Some(std::fs::read(path).map_err(Error::io("open", 0, 0))?),
    };
    let access = match (mode, &found) {
        (Mode::Append, None) => Mode::New,
        (Mode::Append, Some(_)) => Mode::Change,
        _ => mode,
    };
    let image = found.unwrap_or_default();
    let is_backed = keywords.backing_store && mode != Mode::Read;
    let medium = if is_backed { Memory::backed(image, path.to_owned()) } else { Memory::new(image) };
    open_on(Arc::new(medium), Some(path), access, &keywords.options)
}

/// Opens or makes the file that `medium` has. External links are relative to `path`, if it has one.
fn open_on(
    medium: Arc<dyn Driver>,
    path: Option<&Path>,
    mode: Mode,
    options: &OpenOptions,
) -> hyperslab::Result<CoreFile> {
    let options = mode.applied_to(options.clone());
    let options = if let Some(path) = path { options.location(path) } else { options };
    options.open_on(medium)
}

/// The file that `open` makes or opens, with what the keywords say.
fn opened(
    py: Python<'_>,
    name: String,
    driver: &'static str,
    keywords: Keywords,
    open: impl Send + FnOnce(&Keywords) -> hyperslab::Result<CoreFile>,
) -> PyResult<PyClassInitializer<File>> {
    let core = py.detach(|| open(&keywords)).map_err(|error| open_exception(&error, &name))?;
    // A file that is open already keeps what was said of it first.
    if let Some(skips) = keywords.skip_fill_chunks {
        core.set_skip_fill_chunks(skips);
    }
    Ok(file_object(FileState::new(core, name, driver, keywords.libver)))
}

/// The file in these bytes.
fn opened_image(py: Python<'_>, image: Vec<u8>, keywords: Keywords) -> PyResult<PyClassInitializer<File>> {
    opened(py, IN_MEMORY.to_owned(), "core", keywords, |keywords| {
        keywords.options.open_on(Arc::new(Memory::new(image)))
    })
}

#[pymethods]
impl File {
    #[new]
    #[pyo3(signature = (name, mode="r", driver=None, libver=None, **kwds))]
    fn new(
        py: Python<'_>,
        name: &Bound<'_, PyAny>,
        mode: &str,
        driver: Option<&str>,
        libver: Option<&Bound<'_, PyAny>>,
        kwds: Option<Bound<'_, PyDict>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let kwds = kwds.unwrap_or_else(|| PyDict::new(py));
        if let Some(libver) = libver {
            kwds.set_item("libver", libver)?;
        }
        if name.hasattr("read")? && name.hasattr("seek")? {
            if driver.is_some_and(|driver| driver != "fileobj") {
                return Err(PyValueError::new_err(
                    "Driver must be 'fileobj' for file-like object if specified.",
                ));
            }
            let mode = Mode::parse(mode)?;
            let keywords = Keywords::parse(Some(&kwds), Some("fileobj"), mode)?;
            let object = Arc::new(FileObject::new(name));
            return opened(py, name.repr()?.to_string(), "fileobj", keywords, |keywords| {
                open_on(object, None, mode, &keywords.options)
            });
        }
        let mode = Mode::parse(mode)?;
        if let Some(image) = image(name)? {
            let keywords = Keywords::parse(Some(&kwds), Some("core"), mode)?;
            if mode != Mode::Read {
                return Err(PyValueError::new_err("a file in memory is opened for writing by driver='core'"));
            }
            return opened_image(py, image, keywords);
        }
        let path = py.import("os")?.call_method1("fsdecode", (name,))?;
        let path: PathBuf = path.extract()?;
        let filename = path.to_string_lossy().into_owned();
        let driver = match driver {
            None | Some("sec2" | "windows") => "sec2",
            Some("stdio") => "stdio",
            Some("core") => "core",
            Some(other) => return Err(PyValueError::new_err(format!("Unknown driver type '{other}'"))),
        };
        let keywords = Keywords::parse(Some(&kwds), Some(driver).filter(|driver| *driver == "core"), mode)?;
        if filename.is_empty() {
            return Err(PyOSError::new_err("Unable to open file (invalid file name)"));
        }
        opened(py, filename, driver, keywords, |keywords| open_path(&path, mode, driver == "core", keywords))
    }

    #[classmethod]
    #[pyo3(signature = (file_image=None, **kwds))]
    fn in_memory<'py>(
        cls: &Bound<'py, PyType>,
        file_image: Option<&Bound<'py, PyAny>>,
        kwds: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, Self>> {
        let py = cls.py();
        let made = if let Some(image) = file_image {
            opened_image(py, bytes_of(image)?, Keywords::parse(kwds, None, Mode::Read)?)
        } else {
            let keywords = Keywords::parse(kwds, Some("core"), Mode::Replace)?;
            opened(py, IN_MEMORY.to_owned(), "core", keywords, |keywords| {
                keywords.options.clone().create(true).open_on(Arc::new(Memory::default()))
            })
        };
        Bound::new(py, made?)
    }

    fn close(slf: &Bound<'_, Self>) -> PyResult<()> {
        state(slf).close(slf.py())
    }

    fn flush(slf: &Bound<'_, Self>) -> PyResult<()> {
        open_state(slf)?.flush(slf.py())
    }

    fn refresh(slf: &Bound<'_, Self>) -> PyResult<()> {
        let state = open_state(slf)?;
        slf.py().detach(|| state.core.refresh()).or_raise()
    }

    /// All that is done inside a `with` of this, or nothing of it.
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

    #[getter]
    fn filename<'a>(slf: &'a Bound<'_, Self>) -> PyResult<&'a str> {
        Ok(&open_state(slf)?.name)
    }

    #[getter]
    fn mode(slf: &Bound<'_, Self>) -> PyResult<&'static str> {
        open_state(slf).map(|state| state.mode)
    }

    #[getter]
    fn driver(slf: &Bound<'_, Self>) -> PyResult<&'static str> {
        Ok(open_state(slf)?.driver)
    }

    #[getter]
    fn libver<'a>(slf: &'a Bound<'_, Self>) -> PyResult<(&'a str, &'a str)> {
        let (low, high) = &open_state(slf)?.libver;
        Ok((low, high))
    }

    #[getter]
    fn userblock_size(slf: &Bound<'_, Self>) -> PyResult<u64> {
        Ok(open_state(slf)?.core.store().base())
    }

    #[getter]
    fn swmr_mode(slf: &Bound<'_, Self>) -> PyResult<bool> {
        open_state(slf).map(|_| false)
    }

    #[setter]
    fn set_swmr_mode(slf: &Bound<'_, Self>, is_on: &Bound<'_, PyAny>) -> PyResult<()> {
        open_state(slf)?;
        if is_on.is_truthy()? {
            return Err(no_swmr());
        }
        Err(PyValueError::new_err("It is not possible to forcibly switch SWMR mode off."))
    }

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
