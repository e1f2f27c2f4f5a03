//! The errors, grouped by their origin: the file, the caller, the medium, or a feature that is not supported
//! yet.

use std::io;
use std::path::{Path, PathBuf};

use hyperslab_filters::FilterError;
use hyperslab_format::{Addr, ErrorKind, FormatError, Structure};

/// The result of every operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why an operation failed.
///
/// The text of an error has its whole cause. [`source`](std::error::Error::source) returns the cause as well, for
/// programs that look at it.
///
/// ```
/// use hyperslab::{Error, File, RequestError};
///
/// let file = File::in_memory()?;
/// let error = file.dataset("missing").unwrap_err();
/// assert!(matches!(error.root(), Error::Request(RequestError::NoSuchObject { .. })));
/// println!("{error}");
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file is damaged or not an HDF5 file.
    #[error(transparent)]
    Format(FormatError),
    /// A chunk cannot be decoded.
    #[error("{cause}, in the chunk at {coord:?} of {len} bytes at {addr:#x}")]
    Chunk {
        /// The error of the filter.
        #[source]
        cause: FilterError,
        /// The index of the chunk's first element.
        coord: Vec<u64>,
        /// The chunk's address in the file.
        addr: u64,
        /// The number of stored bytes.
        len: u64,
    },
    /// A chunk cannot be encoded.
    #[error("{cause}, encoding the chunk at {coord:?}")]
    Encode {
        /// The error of the filter.
        #[source]
        cause: FilterError,
        /// The index of the chunk's first element.
        coord: Vec<u64>,
    },
    /// The filters of a dataset are invalid.
    #[error("{cause}")]
    Filter {
        /// The error of the filter.
        #[source]
        cause: FilterError,
    },
    /// The caller's request cannot be fulfilled.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The medium failed.
    #[error("{op}{} failed: {cause}", span(*.offset, *.len))]
    Io {
        /// The failed operation: "read", "open".
        op: &'static str,
        /// The offset in the file.
        offset: u64,
        /// The number of bytes.
        len: u64,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
    /// Valid HDF5, or a valid request, that hyperslab does not handle yet.
    #[error("{feature} is not supported yet (HDF5 spec {spec})")]
    Unsupported {
        /// The feature.
        feature: String,
        /// The section of the specification.
        spec: &'static str,
    },
    /// A transaction was interrupted, and because of later changes to the file it can be neither completed
    /// nor undone.
    #[error("the file needs recovery: {why}; run `hyperslab recover --dry-run FILE` to see its state")]
    NeedsRecovery {
        /// The obstacle to recovery.
        why: &'static str,
    },
    /// A commit failed half-way. Opening the file again shows whether the old or the new state is in it.
    #[error("an earlier commit failed half-way: close the file and open it again")]
    Poisoned,
    /// Another rank of a file that several processes change together failed, or did something else.
    #[error("rank {rank} failed: {why}")]
    OtherRank {
        /// The number of the rank.
        rank: usize,
        /// Its error.
        why: String,
    },
    /// Any other error, with the object of the file at which it occurred.
    #[error("{cause} ({path})")]
    At {
        /// The path of the object.
        path: String,
        /// The error at that object.
        #[source]
        cause: Box<Error>,
    },
}

impl Error {
    /// Adds the path of the object at which the error occurred. An error that has a path keeps it, so the
    /// innermost path remains.
    #[doc(hidden)]
    #[must_use]
    pub fn at(self, path: &str) -> Self {
        match self {
            named @ Self::At { .. } => named,
            cause => Self::At { path: path.to_owned(), cause: Box::new(cause) },
        }
    }

    /// Returns the error without the object's path.
    pub fn root(&self) -> &Self {
        match self {
            Self::At { cause, .. } => cause.root(),
            error => error,
        }
    }

    /// Returns whether the error says that a dataset's shape is not the one that the caller expected.
    #[doc(hidden)]
    pub fn is_reshaped(&self) -> bool {
        matches!(self.root(), Self::Request(RequestError::Reshaped))
    }

    /// Returns the error for valid HDF5 that is not supported yet.
    #[doc(hidden)]
    pub fn unsupported(feature: impl Into<String>, spec: &'static str) -> Self {
        Self::Unsupported { feature: feature.into(), spec }
    }

    /// Returns a function that makes an error of the medium.
    #[doc(hidden)]
    pub fn io(op: &'static str, offset: u64, len: u64) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Io { op, offset, len, cause }
    }
}

/// A valid structure that is not supported becomes [`Error::Unsupported`]; any other format error becomes
/// [`Error::Format`].
impl From<FormatError> for Error {
    fn from(error: FormatError) -> Self {
        match error.kind {
            ErrorKind::Unsupported { feature } => Self::unsupported(feature, error.spec),
            _ => Self::Format(error),
        }
    }
}

/// Returns the error for an `S` at `at` that decodes but contradicts the rest of the file.
pub fn broken<S: Structure>(at: Addr, kind: ErrorKind) -> Error {
    FormatError { kind, structure: S::NAME, spec: S::SPEC, at, offset: 0 }.into()
}

/// Returns the error for a field whose value is not the `expected` one.
pub fn misfit<S: Structure>(
    at: Addr,
    field: &'static str,
    value: impl Into<u64>,
    expected: &'static str,
) -> Error {
    broken::<S>(at, ErrorKind::Value { field, value: value.into(), expected })
}

/// Returns why a file may not be read that another file names.
fn outside(folder: &Path) -> String {
    if folder.as_os_str().is_empty() {
        return "is another file, and reading is confined to the one that names it".to_owned();
    }
    format!("is outside the folder {}, to which reading is confined", folder.display())
}

/// Describes the bytes of an operation. Empty if there are none.
fn span(offset: u64, len: u64) -> String {
    if len == 0 { String::new() } else { format!(" of {len} bytes at offset {offset}") }
}

/// An error in the caller's request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The selection and the array have different numbers of dimensions.
    #[error("the selection has {given} dimensions, the array has {rank}")]
    Rank {
        /// The number of dimensions of the selection.
        given: usize,
        /// The number of dimensions of the array.
        rank: usize,
    },
    /// An index, or the last element of a range, is outside the array.
    #[error("index {index} is out of bounds for axis {axis} with size {len}")]
    OutOfBounds {
        /// The axis, counted from 0.
        axis: usize,
        /// The index.
        index: i128,
        /// The size of that axis.
        len: u64,
    },
    /// The step of a range is zero or negative.
    #[error("step {step} on axis {axis}: steps must be 1 or more")]
    Step {
        /// The axis, counted from 0.
        axis: usize,
        /// The requested step.
        step: i128,
    },
    /// A part of a selection does not have the length that the other parts or the array require.
    #[error("{what} has length {given}, expected {expected}")]
    Length {
        /// The name of the part.
        what: &'static str,
        /// The length of the part.
        given: u64,
        /// The required length.
        expected: u64,
    },
    /// The number of elements is too large to be counted, or to be held in a list.
    #[error("{what}: more than {limit} elements")]
    TooMany {
        /// The name of the item that has too many elements.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// There is no conversion between the two datatypes.
    #[error("no conversion from {from} to {to}: {why}")]
    NoConversion {
        /// The datatype of the existing elements.
        from: String,
        /// The requested datatype.
        to: String,
        /// The reason.
        why: &'static str,
    },
    /// The text of a selection has a syntax error.
    #[error("column {column}: {what}")]
    Syntax {
        /// The position, counted from 1.
        column: usize,
        /// The error at that position.
        what: String,
    },
    /// The object does not exist.
    #[error("no object named {name:?}")]
    NoSuchObject {
        /// The path, or the missing part of it.
        name: String,
    },
    /// The object of this handle was deleted. Another object may have its name since then.
    #[error("the object {name:?} was deleted since it was opened")]
    Deleted {
        /// The path of the object.
        name: String,
    },
    /// The file that an external link names does not exist in any of the searched places.
    #[error("no file {name:?}, the target of an external link")]
    NoSuchFile {
        /// The name in the link.
        name: String,
    },
    /// The file names another file outside the folder to which its opening is confined.
    #[error("the file {name:?} {}", outside(folder))]
    OutsideFolder {
        /// The name in the file.
        name: String,
        /// The folder, or an empty path if no other file may be read.
        folder: PathBuf,
    },
    /// The file that an external link names exists and cannot be opened.
    #[error("unable to open the file {name:?} of the external link {link:?}: {why}")]
    UnopenedFile {
        /// The path of the link.
        link: String,
        /// The name of the file in the link.
        name: String,
        /// The reason.
        why: String,
    },
    /// The link is of a type that a program defined. Only that program can follow it.
    #[error("unable to find link class: {name:?} is a user-defined link of type {kind}")]
    UserLink {
        /// The path of the link.
        name: String,
        /// The type of the link.
        kind: u8,
    },
    /// The attribute does not exist.
    #[error("no attribute named {name:?}")]
    NoSuchAttribute {
        /// The attribute's name.
        name: String,
    },
    /// The object is of another kind than the requested one.
    #[error("{name:?} is a {found}, not a {expected}")]
    WrongKind {
        /// The object's path.
        name: String,
        /// The object's kind.
        found: &'static str,
        /// The requested kind.
        expected: &'static str,
    },
    /// Links form a cycle, or a path passes through too many of them.
    #[error("{name:?} leads through more than {limit} links")]
    TooManyLinks {
        /// The path.
        name: String,
        /// The limit.
        limit: u32,
        /// Whether one of the links is external.
        is_external: bool,
    },
    /// The destination does not have the size of the selection.
    #[error("the destination has {found} bytes, the selection {expected}")]
    DestinationSize {
        /// The size of the selection in bytes.
        expected: u64,
        /// The size of the destination in bytes.
        found: u64,
    },
    /// The file is open for reading only.
    #[error("the file is open for reading: open it for writing (mode \"r+\" in Python) to change it")]
    ReadOnly,
    /// The file was closed.
    #[error("the file is closed")]
    Closed,
    /// The caller's function for progress has stopped the work.
    #[error("the work was stopped before its end, as its caller asked")]
    Stopped,
    /// The file was opened by the parent of this process.
    #[error("the file was opened before this process was forked: open it again here to change it")]
    Forked,
    /// The parent was changing the file at the time of the fork, so the child's copy in memory is unusable.
    #[error("another thread was changing the file when this process was forked: open it again to read it")]
    ForkedInChange,
    /// The process already has the file open in a way that excludes another open.
    #[error("{why}")]
    AlreadyOpen {
        /// The reason.
        why: &'static str,
    },
    /// The members of a file, a family or one file for each kind of data, do not fit the request or each
    /// other.
    #[error("{why}")]
    Members {
        /// The reason.
        why: String,
    },
    /// Another file has replaced the open one.
    #[error("another file has replaced this one since it was opened: open it again")]
    OtherFile,
    /// The data to write do not have the size of the selection.
    #[error("the source has {found} bytes, the selection {expected}")]
    SourceSize {
        /// The size of the selection in bytes.
        expected: u64,
        /// The size of the data in bytes.
        found: u64,
    },
    /// An object or attribute of this name already exists.
    #[error("name already exists: {name:?}")]
    Exists {
        /// The name.
        name: String,
    },
    /// A dataset cannot grow to the requested size.
    #[error("axis {axis} cannot have {len} elements: its maximum is {max}")]
    MaxShape {
        /// The axis, counted from 0.
        axis: usize,
        /// The requested length.
        len: u64,
        /// The maximum length.
        max: u64,
    },
    /// The dataset's shape changed after a selection or a destination was made for it.
    #[error("the shape of the dataset has changed: ask for it again")]
    Reshaped,
    /// An option or argument has an invalid value.
    #[error("{what}: {why}")]
    Argument {
        /// The argument.
        what: String,
        /// The reason why it is invalid.
        why: &'static str,
    },
    /// Bytes are not a value of the Rust type that they are read as.
    #[error("element {element}: {why}")]
    NotAValue {
        /// The number of the element among those that are read.
        element: u64,
        /// What the bytes are, and what the type has.
        why: String,
    },
    /// An attribute, or a part of it, is longer than its message may be.
    #[error("{what} of {len} bytes: {why}")]
    LongAttribute {
        /// The part.
        what: &'static str,
        /// Its length.
        len: usize,
        /// The limit, and what to do.
        why: &'static str,
    },
    /// A commit contradicts itself or the file.
    #[error("the commit has {what}")]
    Commit {
        /// The contradiction.
        what: &'static str,
    },
    /// The destination's strides make elements overlap.
    #[error("elements of the destination overlap: read into a contiguous array and copy")]
    OverlappingDestination,
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn the_source_of_an_error_is_its_cause() {
        let full = Error::io("write", 8, 4)(io::ErrorKind::StorageFull.into()).at("/d");
        let at_object = full.source().and_then(|cause| cause.downcast_ref::<Box<Error>>()).expect("an error");
        let of_system = at_object.source().and_then(|cause| cause.downcast_ref::<io::Error>());
        assert_eq!(of_system.expect("an error of the system").kind(), io::ErrorKind::StorageFull);
        assert!(full.to_string().contains(&of_system.expect("as above").to_string()));
        assert!(Error::Poisoned.source().is_none());
    }
}
