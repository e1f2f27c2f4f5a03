//! Converting the engine's errors to Python exceptions, of the classes that h5py raises.

use std::io;

use hyperslab::{Error, RequestError};
use hyperslab_filters::FilterError;
use hyperslab_plugins::PluginError;
use pyo3::PyTypeInfo;
use pyo3::exceptions::{
    PyIndexError, PyKeyError, PyMemoryError, PyNotImplementedError, PyOSError, PyRuntimeError, PyTypeError,
    PyValueError,
};
use pyo3::prelude::*;

use crate::interpreter::signals;

/// Exceptions of this package, defined in Python: pyo3 cannot create a class with several built-in bases.
mod defined {
    pyo3::import_exception!(hyperslab._errors, FormatError);
    pyo3::import_exception!(hyperslab._errors, ClosedError);
    pyo3::import_exception!(hyperslab._errors, NameExistsError);
    pyo3::import_exception!(hyperslab._errors, UnsupportedDtypeError);
}

pub(crate) use defined::{ClosedError, UnsupportedDtypeError};

// Raised if a dataset was resized after its shape was read, and before the read or write of its elements.
// Never leaves the package.
pyo3::create_exception!(hyperslab, Reshaped, PyRuntimeError);

/// Calls `f`, which gets the shape of a dataset and then reads or writes its elements. Repeats the call if
/// another thread has resized the dataset in between.
pub(crate) fn in_one_shape<T>(py: Python<'_>, mut f: impl FnMut() -> PyResult<T>) -> PyResult<T> {
    loop {
        match f() {
            Err(error) if error.is_instance_of::<Reshaped>(py) => py.check_signals()?,
            done => return done,
        }
    }
}

/// Converts a result of the engine to a `PyResult`, so that `?` raises the error.
pub(crate) trait OrRaise<T> {
    /// Returns the value, or the exception for the error.
    fn or_raise(self) -> PyResult<T>;
}

impl<T> OrRaise<T> for Result<T, Error> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| exception(&error))
    }
}

impl<T> OrRaise<T> for Result<T, RequestError> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| request(&error, error.to_string()))
    }
}

impl<T> OrRaise<T> for hyperslab_segy::Result<T> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(survey)
    }
}

impl<T> OrRaise<T> for hyperslab_tables::Result<T> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(table)
    }
}

#[cfg(feature = "arrow")]
impl<T> OrRaise<T> for hyperslab_arrow::Result<T> {
    fn or_raise(self) -> PyResult<T> {
        use hyperslab_arrow::Error;
        self.map_err(|error| match error {
            Error::Table(error) => table(error),
            Error::Removed { .. } => PyRuntimeError::new_err(error.to_string()),
            error => PyValueError::new_err(error.to_string()),
        })
    }
}

/// Returns the exception for an error of a table or of a computation.
fn table(error: hyperslab_tables::Error) -> PyErr {
    use hyperslab_tables::Error;
    let message = error.to_string();
    match error {
        Error::Hdf5(error) => exception(&error),
        Error::Object { .. } => PyTypeError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}

/// Returns the exception for an error of a SEG-Y survey.
fn survey(error: hyperslab_segy::Error) -> PyErr {
    use hyperslab_segy::Error;
    let message = error.to_string();
    match error {
        Error::Argument { .. } | Error::Geometry { .. } => PyValueError::new_err(message),
        Error::Unsupported { .. } => PyNotImplementedError::new_err(message),
        Error::Io { cause, .. } => system(&cause, message),
        Error::Open { path, cause } => open_exception(&cause, &path),
        Error::Hdf5(source) => exception(&source),
        _ => defined::FormatError::new_err(message),
    }
}

/// Returns the exception for `error`.
pub(crate) fn exception(error: &Error) -> PyErr {
    let message = error.to_string();
    match error.root() {
        Error::Request(cause) => request(cause, message),
        Error::Io { cause, .. } => system(cause, message),
        Error::Unsupported { .. } => PyNotImplementedError::new_err(message),
        Error::Chunk { cause, .. } | Error::Encode { cause, .. } | Error::Filter { cause } => match cause {
            FilterError::Unknown { .. } | FilterError::NotBuilt { .. } | FilterError::Unsupported { .. } => {
                PyNotImplementedError::new_err(message)
            }
            FilterError::Failed { cause, .. } => match cause.downcast_ref::<PyErr>() {
                Some(raised) => Python::attach(|py| raised.clone_ref(py)),
                None if cause.downcast_ref::<PluginError>().is_some() => {
                    defined::FormatError::new_err(message)
                }
                None => PyRuntimeError::new_err(message),
            },
            _ => defined::FormatError::new_err(message),
        },
        _ => defined::FormatError::new_err(message),
    }
}

/// Returns the exception for an `error` that occurred while opening the file `name`.
pub(crate) fn open_exception(error: &Error, name: &str) -> PyErr {
    if let Error::Io { op: "open" | "create", cause, .. } = error.root()
        && cause.kind() == io::ErrorKind::NotFound
        && let Some(scheme) = hyperslab_remote::unknown_scheme(name)
    {
        let why = format!("a URL must begin with http://, https://, s3://, gs:// or az://, not {scheme}://");
        return system(cause, format!("Unable to open file '{name}': {why}"));
    }
    match error.root() {
        Error::Io { op: "open", cause, .. } => {
            system(cause, format!("Unable to open file '{name}': {}", plain(cause)))
        }
        Error::Io { cause, .. } => system(cause, format!("Unable to open file '{name}': {error}")),
        Error::Request(RequestError::AlreadyOpen { why }) => {
            PyOSError::new_err(format!("Unable to open file '{name}': {why}"))
        }
        Error::Request(RequestError::Members { why }) => {
            PyOSError::new_err(format!("Unable to open file '{name}': {why}"))
        }
        Error::Format(_) => defined::FormatError::new_err(format!("Unable to open file '{name}': {error}")),
        _ => exception(error),
    }
}

/// Returns the system's message without the error number, with a lowercase first letter.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect()
}

/// Whether `error` means that a member of a group does not exist.
pub(crate) fn is_missing(error: &Error) -> bool {
    matches!(
        error.root(),
        Error::Request(
            RequestError::NoSuchObject { .. }
                | RequestError::Deleted { .. }
                | RequestError::WrongKind { .. }
                | RequestError::NoSuchFile { .. }
                | RequestError::UnopenedFile { .. }
                | RequestError::UserLink { .. }
                | RequestError::TooManyLinks { is_external: true, .. }
        )
    )
}

/// Returns the exception for a failed lookup: `KeyError` if the path does not lead to an object.
pub(crate) fn missing_object(error: &Error) -> PyErr {
    if is_missing(error) {
        PyKeyError::new_err(format!("Unable to open object ({})", error.root()))
    } else {
        exception(error)
    }
}

/// Returns the exception for an error of which h5py reports invalid arguments as `E`.
pub(crate) fn argument<E: PyTypeInfo>(error: &Error) -> PyErr {
    match error.root() {
        Error::Request(RequestError::Argument { .. }) => PyErr::new::<E, _>(error.to_string()),
        _ => exception(error),
    }
}

fn request(error: &RequestError, message: String) -> PyErr {
    match error {
        RequestError::NoSuchObject { .. }
        | RequestError::Deleted { .. }
        | RequestError::NoSuchFile { .. }
        | RequestError::UnopenedFile { .. }
        | RequestError::NoSuchAttribute { .. }
        | RequestError::UserLink { .. }
        | RequestError::TooManyLinks { is_external: true, .. } => PyKeyError::new_err(message),
        RequestError::TooManyLinks { is_external: false, .. }
        | RequestError::Forked
        | RequestError::ForkedInChange
        | RequestError::MaxShape { .. } => PyRuntimeError::new_err(message),
        RequestError::Exists { .. } => defined::NameExistsError::new_err(message),
        RequestError::Closed => ClosedError::new_err(message),
        RequestError::AlreadyOpen { .. }
        | RequestError::OtherFile
        | RequestError::NoConversion { .. }
        | RequestError::LongAttribute { .. }
        | RequestError::Members { .. } => PyOSError::new_err(message),
        RequestError::Reshaped => Reshaped::new_err(message),
        RequestError::OutOfBounds { .. } => PyIndexError::new_err(message),
        RequestError::TooMany { .. } => PyMemoryError::new_err(message),
        RequestError::WrongKind { .. } | RequestError::DestinationSize { .. } | RequestError::Rank { .. } => {
            PyTypeError::new_err(message)
        }
        _ => PyValueError::new_err(message),
    }
}

/// Returns the `OSError` for an error of the system. Python selects the subclass, such as
/// `FileNotFoundError`, by the error number.
fn system(error: &io::Error, message: String) -> PyErr {
    if let Some(inner) = error.get_ref().and_then(|inner| inner.downcast_ref::<PyErr>()) {
        return Python::attach(|py| inner.clone_ref(py));
    }
    if error.kind() == io::ErrorKind::Interrupted
        && let Some(raised) = signals::take()
    {
        return raised;
    }
    // Errors that the driver itself creates have a kind but no number.
    let number = error.raw_os_error().or(match error.kind() {
        io::ErrorKind::NotFound => Some(2),
        io::ErrorKind::PermissionDenied => Some(13),
        io::ErrorKind::IsADirectory => Some(21),
        // Python raises BlockingIOError for this number.
        io::ErrorKind::WouldBlock => Some(if cfg!(target_os = "linux") { 11 } else { 35 }),
        _ => None,
    });
    match number {
        // Python shows the number itself.
        Some(number) => PyOSError::new_err((number, message.replace(&format!(" (os error {number})"), ""))),
        None => PyOSError::new_err(message),
    }
}
