//! The errors of this crate.

use std::io;
use std::path::Path;

/// An error in a conversion between SEG-Y and HDF5.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The SEG-Y file is damaged or cut short, or it is not a SEG-Y file.
    #[error("{path}: {what}{}: {why}", place(*.trace, *.byte))]
    Format {
        /// The SEG-Y file.
        path: String,
        /// The part of the file.
        what: &'static str,
        /// The trace, counted from 0, if the error is in one.
        trace: Option<u64>,
        /// The byte of the file, counted from 0.
        byte: u64,
        /// What is wrong, and what to do.
        why: String,
    },
    /// The file is valid SEG-Y, but not supported.
    #[error("{path}: {why}")]
    Unsupported {
        /// The SEG-Y file.
        path: String,
        /// What is not supported, and what to do.
        why: String,
    },
    /// The traces do not form a survey of the requested kind.
    #[error("{path}: {why}")]
    Geometry {
        /// The SEG-Y file.
        path: String,
        /// Why they do not, and what to do.
        why: String,
    },
    /// An argument is wrong.
    #[error("{what}: {why}")]
    Argument {
        /// The argument.
        what: String,
        /// Why the argument is wrong, and what would be right.
        why: String,
    },
    /// The HDF5 file holds no survey made by this crate, or an incomplete one.
    #[error("{path}: {why}")]
    Cube {
        /// The file.
        path: String,
        /// The missing or wrong part.
        why: String,
    },
    /// The SEG-Y file cannot be read or written.
    #[error("{path}: {cause}")]
    Io {
        /// The file.
        path: String,
        /// The cause.
        cause: io::Error,
    },
    /// The progress function asked to stop.
    #[error("stopped before the end")]
    Stopped,
    /// The HDF5 file cannot be opened.
    #[error("{path}: {cause}")]
    Open {
        /// The file.
        path: String,
        /// The cause.
        cause: Box<hyperslab::Error>,
    },
    /// The HDF5 file cannot be read or written.
    #[error(transparent)]
    Hdf5(#[from] hyperslab::Error),
}

/// What to do about a file without the geometry that was looked for.
pub(crate) const AS_TRACES: &str =
    "take plain traces without geometry (--as traces; in Python, kind=\"traces\")";
/// What to do about a file that exists.
pub(crate) const OVERWRITE: &str = "replace it (--overwrite; in Python, overwrite=True)";

/// A result with the [`Error`] of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn argument(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Argument { what: what.into(), why: why.into() }
    }

    /// Returns the error of opening the HDF5 file at `path`, which names the file.
    pub(crate) fn opening(self, path: &Path) -> Self {
        match self {
            Self::Hdf5(cause) => Self::Open { path: path.display().to_string(), cause: Box::new(cause) },
            error => error,
        }
    }

    pub(crate) fn unsupported(path: &str, why: impl Into<String>) -> Self {
        Self::Unsupported { path: path.to_owned(), why: why.into() }
    }

    pub(crate) fn geometry(path: &str, why: impl Into<String>) -> Self {
        Self::Geometry { path: path.to_owned(), why: why.into() }
    }

    pub(crate) fn format(path: &str, what: &'static str, byte: u64, why: impl Into<String>) -> Self {
        Self::Format { path: path.to_owned(), what, trace: None, byte, why: why.into() }
    }

    pub(crate) fn trace(
        path: &str,
        what: &'static str,
        trace: u64,
        byte: u64,
        why: impl Into<String>,
    ) -> Self {
        Self::Format { path: path.to_owned(), what, trace: Some(trace), byte, why: why.into() }
    }
}

fn place(trace: Option<u64>, byte: u64) -> String {
    match trace {
        Some(trace) => format!(" of trace {trace}, at byte {byte} of the file"),
        None => format!(", at byte {byte} of the file"),
    }
}
