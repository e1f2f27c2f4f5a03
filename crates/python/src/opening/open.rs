//! Opening files: by path, in memory, on a server, or through a Python object.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::sync::Arc;

use hyperslab::driver::Memory;
use hyperslab::{Error, File as CoreFile};
use hyperslab_remote::Location;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyMemoryView};

use super::keywords::{Keywords, Medium, Mode};
use super::ros3;
use crate::interpreter::error::open_exception;
use crate::interpreter::gil;
use crate::interpreter::name::path_of;
use crate::opening::fileobj::FileObject;
use crate::opening::state::FileState;

/// The name shown for a file that has no path.
const IN_MEMORY: &str = "in memory";

/// Copies the bytes of an object that supports the buffer protocol.
fn bytes_of(buffer: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let py = buffer.py();
    let view = py.get_type::<PyMemoryView>().call1((buffer,))?;
    Ok(view.call_method0("tobytes")?.cast::<PyBytes>()?.as_bytes().to_vec())
}

/// Opens or creates the file at `location`.
fn open_at(location: &Location, mode: Mode, keywords: &Keywords) -> hyperslab::Result<CoreFile> {
    let opened = location.open(&mode.applied_to(keywords.options.clone()), &keywords.remote)?;
    let is_path = matches!(location, Location::Path(_));
    if is_path && mode == Mode::Append && ![0, opened.store().base()].contains(&keywords.user_block) {
        let what = format!("user block of {} bytes", keywords.user_block);
        let why = "the existing file has a user block of another size";
        return Err(hyperslab::RequestError::Argument { what, why }.into());
    }
    Ok(opened)
}

/// Opens or creates a file entirely in memory. With a backing store, changes are written to `path`.
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
    let options = access.applied_to(keywords.options.clone()).location(path);
    Location::Medium(Arc::new(medium)).open(&options, &keywords.remote)
}

/// Opens a file with `open`, then applies the keywords that change settings of an open file.
fn opened(
    name: OsString,
    driver: &'static str,
    keywords: Keywords,
    kwds: &Bound<'_, PyDict>,
    open: impl Send + FnOnce(&Keywords) -> hyperslab::Result<CoreFile>,
) -> PyResult<Arc<FileState>> {
    let core = kwds.py().detach(|| open(&keywords)).map_err(|error| open_exception(&error, &shown(&name)))?;
    // Without the keyword, a file that is already open keeps the setting of its first opening.
    if let Some(skips) = keywords.skip_fill_chunks {
        core.set_skip_fill_chunks(skips);
    }
    Ok(FileState::new(
        core,
        name,
        driver,
        keywords.libver,
        keywords.meta_block,
        Some(Arc::new(kwds.clone().unbind())),
    ))
}

/// Returns the name of a file for messages: a URL without secrets.
pub(crate) fn shown(name: &OsStr) -> String {
    Location::named(name).shown()
}

/// Opens a copy of `bytes` as a file, for reading.
pub(crate) fn image(bytes: &Bound<'_, PyAny>, kwds: &Bound<'_, PyDict>) -> PyResult<Arc<FileState>> {
    let keywords = Keywords::parse(kwds, Medium::Memory, Mode::Read)?;
    let image = bytes_of(bytes)?;
    opened(IN_MEMORY.into(), "core", keywords, kwds, |keywords| {
        open_at(&Location::of_bytes(image), Mode::Read, keywords)
    })
}

/// Opens a copy of `bytes` as a file for changing, or creates an empty file in memory.
pub(crate) fn in_memory(
    bytes: Option<&Bound<'_, PyAny>>,
    kwds: &Bound<'_, PyDict>,
) -> PyResult<Arc<FileState>> {
    let mode = if bytes.is_some() { Mode::Change } else { Mode::Replace };
    let keywords = Keywords::parse(kwds, Medium::Memory, mode)?;
    let image = bytes.map(bytes_of).transpose()?.unwrap_or_default();
    opened(IN_MEMORY.into(), "core", keywords, kwds, |keywords| {
        open_at(&Location::of_bytes(image), mode, keywords)
    })
}

/// Opens the file behind an object with `read` and `seek`.
pub(crate) fn object(
    object: &Bound<'_, PyAny>,
    mode: &str,
    driver: Option<&str>,
    kwds: &Bound<'_, PyDict>,
) -> PyResult<Arc<FileState>> {
    if driver.is_some_and(|driver| driver != "fileobj") {
        return Err(PyValueError::new_err("Driver must be 'fileobj' for file-like object if specified."));
    }
    let mode = Mode::parse(mode)?;
    let keywords = Keywords::parse(kwds, Medium::Object, mode)?;
    let location = Location::Medium(Arc::new(FileObject::new(object, mode == Mode::Read)));
    opened(object.repr()?.to_string().into(), "fileobj", keywords, kwds, |keywords| {
        open_at(&location, mode, keywords)
    })
}

/// Opens the file at a URL.
fn on_server(url: String, mode: Mode, kwds: &Bound<'_, PyDict>) -> PyResult<Arc<FileState>> {
    if mode != Mode::Read {
        return Err(PyValueError::new_err(
            "a file on a server can only be read: open it with the mode 'r', or change a copy of it",
        ));
    }
    let keywords = Keywords::parse(kwds, Medium::Server, mode)?;
    gil::give_up_to_wait(kwds.py());
    let (location, options) = (Location::Url(url.clone()), &keywords.options);
    let medium = kwds.py().detach(|| location.medium(options, &keywords.remote)).map_err(|error| {
        let name = location.shown();
        match error {
            Error::Io { cause, .. } if cause.kind() == io::ErrorKind::InvalidInput => {
                PyValueError::new_err(format!("Unable to open file '{name}': {cause}"))
            }
            error => open_exception(&error, &name),
        }
    })?;
    opened(url.into(), "object_store", keywords, kwds, |keywords| {
        open_at(&Location::Medium(medium), Mode::Read, keywords)
    })
}

/// Opens or creates the file at the path or URL `name`.
pub(crate) fn named(
    name: &Bound<'_, PyAny>,
    mode: &str,
    driver: Option<&str>,
    kwds: &Bound<'_, PyDict>,
) -> PyResult<Arc<FileState>> {
    let mode = Mode::parse(mode)?;
    let path = path_of(name)?;
    let filename = path.as_os_str().to_owned();
    if let (Location::Url(url), None | Some("object_store" | "ros3")) = (Location::named(&path), driver) {
        if driver == Some("ros3") {
            ros3::resolve(&url, kwds)?;
        }
        return on_server(url, mode, kwds);
    }
    let (driver, medium) = match driver {
        None | Some("sec2" | "windows") => ("sec2", Medium::Path),
        Some("stdio") => ("stdio", Medium::Path),
        Some("io_uring") => ("io_uring", Medium::Rings),
        Some("mmap") => ("mmap", Medium::Map),
        Some("core") => ("core", Medium::Core),
        Some("mpio") => ("mpio", Medium::Ranks),
        Some("family") => ("family", Medium::Family),
        Some("split") => ("split", Medium::Split),
        Some("multi") => ("multi", Medium::Multi),
        Some("object_store" | "ros3") => {
            return Err(PyValueError::new_err(
                "the driver reads http://, https://, s3://, gs:// and az:// URLs only",
            ));
        }
        Some(other) => return Err(PyValueError::new_err(format!("Unknown driver type '{other}'"))),
    };
    let keywords = Keywords::parse(kwds, medium, mode)?;
    if filename.is_empty() {
        return Err(PyOSError::new_err("Unable to open file (invalid file name)"));
    }
    opened(filename, driver, keywords, kwds, |keywords| match medium {
        Medium::Core => open_in_memory(&path, mode, keywords),
        _ => open_at(&Location::Path(path), mode, keywords),
    })
}
