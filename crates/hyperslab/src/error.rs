//! What can go wrong, by who is to blame: the file, the caller, the medium, or a feature that is not there yet.

use std::io;

use hyperslab_filters::FilterError;
use hyperslab_format::{Addr, ErrorKind, FormatError, Structure};

/// The result of every operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file is wrong: it is damaged, or not HDF5.
    #[error("{0}")]
    Format(#[source] FormatError),
    /// A chunk cannot be decoded.
    #[error("{source}, in the chunk at {coord:?} of {len} bytes at {addr:#x}")]
    Chunk {
        /// What the filter says.
        source: FilterError,
        /// The chunk's first element.
        coord: Vec<u64>,
        /// Its address in the file.
        addr: u64,
        /// Its stored bytes.
        len: u64,
    },
    /// A chunk cannot be encoded.
    #[error("{source}, encoding the chunk at {coord:?}")]
    Encode {
        /// What the filter says.
        source: FilterError,
        /// The chunk's first element.
        coord: Vec<u64>,
    },
    /// The filters of a dataset make no sense.
    #[error("{source}")]
    Filter {
        /// What is wrong with them.
        source: FilterError,
    },
    /// The caller asks for what cannot be.
    #[error("{0}")]
    Request(#[from] RequestError),
    /// The medium failed.
    #[error("{op}{} failed: {source}", span(*.offset, *.len))]
    Io {
        /// What was tried: "read", "open".
        op: &'static str,
        /// Where.
        offset: u64,
        /// How many bytes.
        len: u64,
        /// What the system says.
        source: io::Error,
    },
    /// Valid HDF5, or a valid request, that hyperslab does not handle yet.
    #[error("{feature} is not supported yet (HDF5 spec {spec})")]
    Unsupported {
        /// The feature.
        feature: String,
        /// The section of the specification.
        spec: &'static str,
    },
    /// A transaction was interrupted, and what became of the file since leaves no way to finish or undo it.
    #[error("the file needs recovery: {why}; `hyperslab recover --dry-run FILE` says what is there")]
    NeedsRecovery {
        /// What stands in the way.
        why: &'static str,
    },
    /// A commit failed half-way: which state is in the file will be seen when it is opened next.
    #[error("an earlier commit failed half-way: close the file and open it again")]
    Poisoned,
    /// Any of these, at an object of the file.
    #[error("{source} ({path})")]
    At {
        /// The path of the object.
        path: String,
        /// What went wrong there.
        source: Box<Error>,
    },
}

impl Error {
    /// Names the object at which this went wrong, once: the innermost name stays.
    #[must_use]
    pub fn at(self, path: &str) -> Self {
        match self {
            named @ Self::At { .. } => named,
            source => Self::At { path: path.to_owned(), source: Box::new(source) },
        }
    }

    /// The error itself, without the object's name.
    pub fn root(&self) -> &Self {
        match self {
            Self::At { source, .. } => source.root(),
            error => error,
        }
    }

    /// Whether a dataset has another shape than the caller knew.
    pub fn is_reshaped(&self) -> bool {
        matches!(self.root(), Self::Request(RequestError::Reshaped))
    }

    /// Valid HDF5 that is not handled yet, as an error.
    pub fn unsupported(feature: impl Into<String>, spec: &'static str) -> Self {
        Self::Unsupported { feature: feature.into(), spec }
    }

    /// A failure of the medium.
    pub fn io(op: &'static str, offset: u64, len: u64) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { op, offset, len, source }
    }
}

/// A structure that is valid but not handled is [`Error::Unsupported`]; any other format error stays.
impl From<FormatError> for Error {
    fn from(error: FormatError) -> Self {
        match error.kind {
            ErrorKind::Unsupported { feature } => Self::unsupported(feature, error.spec),
            _ => Self::Format(error),
        }
    }
}

/// The error of an `S` at `at` that decodes, but does not fit the rest of the file.
pub(crate) fn broken<S: Structure>(at: Addr, kind: ErrorKind) -> Error {
    FormatError { kind, structure: S::NAME, spec: S::SPEC, at, offset: 0 }.into()
}

/// The same of a field that has another value than was `expected`.
pub(crate) fn misfit<S: Structure>(
    at: Addr,
    field: &'static str,
    value: impl Into<u64>,
    expected: &'static str,
) -> Error {
    broken::<S>(at, ErrorKind::Value { field, value: value.into(), expected })
}

/// What an operation was about, if it was about some bytes.
fn span(offset: u64, len: u64) -> String {
    if len == 0 { String::new() } else { format!(" of {len} bytes at offset {offset}") }
}

/// The caller is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The selection is for another number of dimensions than the array has.
    #[error("the selection has {given} dimensions, the array has {rank}")]
    Rank {
        /// Dimensions of the selection.
        given: usize,
        /// Dimensions of the array.
        rank: usize,
    },
    /// An index, or the last element of a range, lies outside the array.
    #[error("index {index} is out of bounds for axis {axis} with size {len}")]
    OutOfBounds {
        /// The axis, counted from 0.
        axis: usize,
        /// The offending index.
        index: i128,
        /// The size of that axis.
        len: u64,
    },
    /// A range that steps by zero, or backwards.
    #[error("step {step} on axis {axis}: steps must be 1 or more")]
    Step {
        /// The axis, counted from 0.
        axis: usize,
        /// The step asked for.
        step: i128,
    },
    /// The parts of one description of a selection do not have the length of each other or of the array.
    #[error("{what} has length {given}, expected {expected}")]
    Length {
        /// Which part.
        what: &'static str,
        /// Its length.
        given: u64,
        /// The length it needs.
        expected: u64,
    },
    /// More elements than can be counted, or than a list of them may hold.
    #[error("{what}: more than {limit} elements")]
    TooMany {
        /// Of what there are too many.
        what: &'static str,
        /// The most there can be.
        limit: u64,
    },
    /// No conversion leads from the one datatype to the other.
    #[error("no conversion from {from} to {to}: {why}")]
    NoConversion {
        /// The datatype of the elements there are.
        from: String,
        /// The datatype asked for.
        to: String,
        /// Why not.
        why: &'static str,
    },
    /// The text of a selection cannot be read.
    #[error("column {column}: {what}")]
    Syntax {
        /// Where, counted from 1.
        column: usize,
        /// What is wrong there.
        what: String,
    },
    /// There is no such object.
    #[error("no object named {name:?}")]
    NoSuchObject {
        /// The path, or the part of it that is missing.
        name: String,
    },
    /// The file that an external link names is nowhere to be found.
    #[error("no file {name:?}, to which an external link leads")]
    NoSuchFile {
        /// The name in the link.
        name: String,
    },
    /// There is no such attribute.
    #[error("no attribute named {name:?}")]
    NoSuchAttribute {
        /// Its name.
        name: String,
    },
    /// The object is of another kind.
    #[error("{name:?} is a {found}, not a {expected}")]
    WrongKind {
        /// The object's path.
        name: String,
        /// What it is.
        found: &'static str,
        /// What was asked for.
        expected: &'static str,
    },
    /// Links lead in a circle, or further than any file needs.
    #[error("{name:?} leads through more than {limit} links")]
    TooManyLinks {
        /// The path.
        name: String,
        /// The limit.
        limit: u32,
    },
    /// The destination does not have the size of the selection.
    #[error("the destination has {found} bytes, the selection {expected}")]
    DestinationSize {
        /// Bytes of the selection.
        expected: u64,
        /// Bytes of the destination.
        found: u64,
    },
    /// The file is open for reading alone.
    #[error("the file is open for reading: open it with mode \"r+\" or \"a\" to change it")]
    ReadOnly,
    /// The file was closed.
    #[error("the file is closed")]
    Closed,
    /// The file is that of the parent of this process.
    #[error("the file was opened by the process that this one was forked from: open it here to change it")]
    Forked,
    /// The same, and what the child has of it in memory is of no use.
    #[error("another thread was changing the file when this process was forked: open it here to read it")]
    ForkedInChange,
    /// The process has the file open in a way that stands against another.
    #[error("{why}")]
    AlreadyOpen {
        /// What cannot be.
        why: &'static str,
    },
    /// Another file has been written in the place of the one that is open.
    #[error("the file was written anew since it was opened: open it again")]
    OtherFile,
    /// What is given to be written does not have the size of the selection.
    #[error("the source has {found} bytes, the selection {expected}")]
    SourceSize {
        /// Bytes of the selection.
        expected: u64,
        /// Bytes given.
        found: u64,
    },
    /// There is an object or attribute of this name already.
    #[error("the name {name:?} exists already")]
    Exists {
        /// The name.
        name: String,
    },
    /// A dataset cannot grow so far.
    #[error("axis {axis} cannot have {len} elements: the dataset was made for at most {max}")]
    MaxShape {
        /// The axis, counted from 0.
        axis: usize,
        /// The length asked for.
        len: u64,
        /// The most it can have.
        max: u64,
    },
    /// A dataset has another shape than the one for which a selection or a destination was made.
    #[error("the dataset was given another shape meanwhile: ask for it again")]
    Reshaped,
    /// A value that an option or argument cannot have.
    #[error("{what}: {why}")]
    Argument {
        /// What was given.
        what: String,
        /// Why it cannot be so.
        why: &'static str,
    },
    /// A commit that contradicts itself, or the file.
    #[error("the commit has {what}")]
    Commit {
        /// What is wrong with it.
        what: &'static str,
    },
    /// The destination's strides make elements overlap.
    #[error("elements of the destination overlap: read into a contiguous array and copy")]
    OverlappingDestination,
}
