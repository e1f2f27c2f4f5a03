//! Files: opening them by name, from memory or through a Python object, and what h5py says of an open one.

use std::path::PathBuf;
use std::sync::Arc;

use hyperslab::OpenOptions;
use hyperslab::driver::{Driver, Memory, Posix};
use pyo3::exceptions::{PyNotImplementedError, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple, PyType};

use crate::error::open_exception;
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

fn open_state<'a>(slf: &'a Bound<'_, File>) -> PyResult<&'a Arc<FileState>> {
    let state = state(slf);
    state.check()?;
    Ok(state)
}

/// Keyword arguments of h5py's `File` that only matter to a writer, or to libhdf5's own caches.
const IGNORED: [&str; 21] = [
    "swmr",
    "rdcc_nslots",
    "rdcc_w0",
    "track_order",
    "fs_strategy",
    "fs_persist",
    "fs_threshold",
    "fs_page_size",
    "page_buf_size",
    "min_meta_keep",
    "min_raw_keep",
    "locking",
    "alignment_threshold",
    "alignment_interval",
    "meta_block_size",
    "track_times",
    "fileobj",
    "backing_store",
    "block_size",
    "efile_prefix",
    "virtual_prefix",
];

/// What the keyword arguments say.
struct Keywords {
    libver: (String, String),
    options: OpenOptions,
}

impl Keywords {
    fn parse(given: Option<&Bound<'_, PyDict>>, driver: Option<&str>) -> PyResult<Self> {
        let mut options = OpenOptions::default();
        let mut libver = bounds("earliest");
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
                }
                "rdcc_nbytes" => options.chunk_cache_bytes = value.extract()?,
                "userblock_size" => {
                    return Err(PyValueError::new_err(
                        "User block may only be specified when creating a file",
                    ));
                }
                "fileobj" | "backing_store" | "block_size" if driver.is_none() => return Err(unknown(&key)),
                other if IGNORED.contains(&other) => {}
                _ => return Err(unknown(&key)),
            }
        }
        Ok(Self { libver, options })
    }
}

/// The name of a file without one.
const IN_MEMORY: &str = "in memory";

/// The bytes of a file, if that is what was given in place of its name. A name holds no zero bytes, and a file always does.
fn image(name: &Bound<'_, PyAny>) -> PyResult<Option<Vec<u8>>> {
    if let Ok(bytes) = name.cast::<PyBytes>() {
        let bytes = bytes.as_bytes();
        let is_image = bytes.contains(&0) || bytes.starts_with(b"\x89HDF");
        return Ok(is_image.then(|| bytes.to_vec()));
    }
    let builtins = name.py().import("builtins")?;
    let is_buffer = name.is_instance(&builtins.getattr("bytearray")?)?
        || name.is_instance(&builtins.getattr("memoryview")?)?;
    if is_buffer {
        return Ok(Some(
            name.py().get_type::<PyBytes>().call1((name,))?.cast::<PyBytes>()?.as_bytes().to_vec(),
        ));
    }
    Ok(None)
}

fn unknown(key: &str) -> PyErr {
    PyTypeError::new_err(format!("'{key}' is an invalid keyword argument for this function"))
}

fn bounds(low: &str) -> (String, String) {
    (if low == "latest" { "v200" } else { low }.to_owned(), "v200".to_owned())
}

fn check_mode(mode: &str) -> PyResult<()> {
    match mode {
        "r" => Ok(()),
        "r+" | "w" | "w-" | "x" | "a" => Err(PyNotImplementedError::new_err(format!(
            "mode {mode:?} is not supported yet: files are opened for reading"
        ))),
        _ => Err(PyValueError::new_err("Invalid mode; must be one of r, r+, w, w-, x, a")),
    }
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
            let Keywords { libver, options } = Keywords::parse(Some(&kwds), Some("fileobj"))?;
            check_mode(mode)?;
            let filename = name.repr()?.to_string();
            let object = Arc::new(FileObject::new(name));
            let core = py.detach(|| FileState::open(object, None, &options));
            let core = core.map_err(|error| open_exception(&error, &filename))?;
            return Ok(file_object(FileState::new(core, filename, "fileobj", libver)));
        }
        if let Some(image) = image(name)? {
            let Keywords { libver, options } = Keywords::parse(Some(&kwds), Some("core"))?;
            check_mode(mode)?;
            let core = py.detach(|| FileState::open(Arc::new(Memory::new(image)), None, &options));
            let core = core.map_err(|error| open_exception(&error, IN_MEMORY))?;
            return Ok(file_object(FileState::new(core, IN_MEMORY.to_owned(), "core", libver)));
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
        let Keywords { libver, options } =
            Keywords::parse(Some(&kwds), Some(driver).filter(|driver| *driver == "core"))?;
        check_mode(mode)?;
        if filename.is_empty() {
            return Err(PyOSError::new_err("Unable to open file (invalid file name)"));
        }
        let core = py.detach(|| {
            let medium: Arc<dyn Driver> = if driver == "core" {
                let bytes = std::fs::read(&path).map_err(hyperslab::Error::io("open", 0, 0))?;
                Arc::new(Memory::new(bytes))
            } else {
                Arc::new(Posix::open(&path).map_err(hyperslab::Error::io("open", 0, 0))?)
            };
            FileState::open(medium, Some(&path), &options)
        });
        let core = core.map_err(|error| open_exception(&error, &filename))?;
        Ok(file_object(FileState::new(core, filename, driver, libver)))
    }

    #[classmethod]
    #[pyo3(signature = (file_image, **kwds))]
    fn in_memory<'py>(
        cls: &Bound<'py, PyType>,
        file_image: &Bound<'py, PyAny>,
        kwds: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, Self>> {
        let py = cls.py();
        let Keywords { libver, options } = Keywords::parse(kwds, None)?;
        let bytes = py.get_type::<PyBytes>().call1((file_image,))?;
        let bytes = bytes.cast::<PyBytes>()?.as_bytes().to_vec();
        let core = py.detach(|| FileState::open(Arc::new(Memory::new(bytes)), None, &options));
        let core = core.map_err(|error| open_exception(&error, IN_MEMORY))?;
        Bound::new(py, file_object(FileState::new(core, IN_MEMORY.to_owned(), "core", libver)))
    }

    fn close(slf: &Bound<'_, Self>) {
        state(slf).close();
    }

    fn flush(slf: &Bound<'_, Self>) -> PyResult<()> {
        open_state(slf).map(drop)
    }

    fn __enter__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(slf: &Bound<'_, Self>, _args: &Bound<'_, PyTuple>) {
        state(slf).close();
    }

    #[getter]
    fn filename<'a>(slf: &'a Bound<'_, Self>) -> PyResult<&'a str> {
        Ok(&open_state(slf)?.name)
    }

    #[getter]
    fn mode(slf: &Bound<'_, Self>) -> PyResult<&'static str> {
        open_state(slf).map(|_| "r")
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

    #[getter]
    fn meta_block_size(slf: &Bound<'_, Self>) -> PyResult<u64> {
        open_state(slf).map(|_| 2048)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> String {
        let state = state(slf);
        if state.is_open() {
            format!("<HDF5 file \"{}\" (mode r)>", base_name(&state.name))
        } else {
            "<Closed HDF5 file>".to_owned()
        }
    }
}
