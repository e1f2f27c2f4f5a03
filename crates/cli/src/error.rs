//! Error messages, and hints about what to do.

use std::io;
use std::path::Path;

use hyperslab::{Error, RequestError};
use hyperslab_format::ErrorKind;
use hyperslab_remote::{is_url, without_secrets};

use crate::show::plain;

/// An error in the command line.
#[derive(Debug)]
pub(crate) struct Usage(pub String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// An error of another library, whose text has several lines.
#[derive(Debug)]
pub(crate) struct Lines(pub String);

impl std::fmt::Display for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Lines {}

/// Returns whether the reader of the output has closed it.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let kinds = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
    kinds.into_iter().any(|kind| kind == io::ErrorKind::BrokenPipe)
}

/// Returns the error for a failure to open the file at `path`. An error of the operating system keeps its own
/// words.
pub(crate) fn opening(path: &Path, error: Error) -> anyhow::Error {
    let shown = match path.display().to_string() {
        url if is_url(&url) => without_secrets(&url),
        path => path,
    };
    match error {
        Error::Io { op: "open", cause, .. } => anyhow::Error::new(cause).context(shown),
        error => anyhow::Error::new(error).context(shown),
    }
}

/// Returns the causes of an error in one line, from the outermost to the innermost. Omits a cause that an
/// outer cause already quotes. An error that is [`Lines`] keeps its lines.
pub(crate) fn message(error: &anyhow::Error) -> String {
    if let Some(Lines(text)) = error.downcast_ref() {
        return text.lines().map(plain).collect::<Vec<_>>().join("\n");
    }
    let mut message = String::new();
    let mut quoted = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !quoted.contains(&cause) {
            message.push_str(if message.is_empty() { "" } else { ": " });
            message.push_str(&cause);
            quoted = cause;
        }
    }
    plain(&message)
}

/// Returns a hint about what to do.
pub(crate) fn hint(error: &anyhow::Error) -> Option<&'static str> {
    let found = error.chain().find_map(|cause| cause.downcast_ref::<Error>())?;
    match found.root() {
        Error::Request(RequestError::NoSuchObject { .. }) => {
            Some("`hyperslab ls -r FILE` lists the objects in the file")
        }
        Error::Request(RequestError::WrongKind { .. }) => {
            Some("name a dataset; `hyperslab ls -r FILE` lists them")
        }
        Error::Format(format) => match format.kind {
            ErrorKind::NotHdf5 { .. } => {
                Some("check that this is an HDF5 file and that it was copied completely")
            }
            _ => Some("the file is damaged here; other objects may still be readable"),
        },
        Error::Chunk { .. } => Some("a --select without this chunk reads the rest of the dataset"),
        Error::Unsupported { .. } => {
            Some("`hyperslab ls -l` and `hyperslab stat` show the object without reading it")
        }
        _ => None,
    }
}
