//! Error messages, and hints about what to do.

use std::io;
use std::path::Path;

use hyperslab::{Error, RequestError};
use hyperslab_format::ErrorKind;
pub(crate) use hyperslab_terminal::message::{Lines, message};

use crate::place::shown;
use crate::show::bytes;
use crate::show::paint::{BROKEN, Paint};

/// An error in the command line.
#[derive(Debug)]
pub(crate) struct Usage(pub String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// What a command did with a chunk that cannot be decoded, for advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// It read the elements of `--select`.
    Elements,
    /// It took over the objects of `--select`.
    Objects,
    /// It copied one object.
    Object,
    /// It read what it needed.
    Other,
}

/// Writes an error, and a hint about what to do.
pub(crate) fn report(error: &anyhow::Error, reading: Reading, paint: Paint, err: &mut dyn io::Write) {
    // If standard error is closed, the error cannot be reported.
    let _ = writeln!(err, "{} {}", paint.styled(BROKEN, "hyperslab:"), message(error));
    if let Some(hint) = hint(error, reading) {
        let _ = writeln!(err, "  hint: {hint}");
    }
}

/// Returns whether the reader of the output has closed it.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    // An error of a medium is none of the output.
    let mut causes = error.chain().take_while(|cause| !cause.is::<Error>());
    causes.any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

/// Returns the error for a failure to open the file at `path`. An error of the operating system keeps its own
/// words.
pub(crate) fn opening(path: &Path, error: Error) -> anyhow::Error {
    if path.as_os_str().is_empty() {
        return Usage("the name of the file is empty: name a file".to_owned()).into();
    }
    if path.is_dir() {
        return anyhow::anyhow!("{} is a folder: name a file in it", path.display());
    }
    match error {
        Error::Io { op: "open", cause, .. } => anyhow::Error::new(cause).context(shown(path)),
        error => {
            let cut = cut_short(&error).map(|(needed, found)| CutShort { needed, found });
            cut.map_or_else(|| anyhow::Error::new(error), anyhow::Error::new).context(shown(path))
        }
    }
}

/// A file that is shorter than its superblock states.
#[derive(Debug)]
pub(crate) struct CutShort {
    pub(crate) needed: u64,
    pub(crate) found: u64,
}

impl std::fmt::Display for CutShort {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { needed, found } = *self;
        let missing = needed - found;
        #[expect(clippy::cast_precision_loss, reason = "shown with one digit after the point")]
        let share = 100.0 * missing as f64 / needed as f64;
        write!(
            f,
            "the file is cut short: its superblock states {needed} bytes, and it has {found}; {} ({share:.1} %) \
             are missing at its end",
            bytes(missing)
        )
    }
}

impl std::error::Error for CutShort {}

/// Returns the stated and the real size of a file that is shorter than its superblock states.
fn cut_short(error: &Error) -> Option<(u64, u64)> {
    match error.root() {
        Error::Format(format) if format.structure.contains("End of File Address") => match format.kind {
            ErrorKind::Truncated { needed, have } if needed > have => Some((needed, have)),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the error of a command that reads one file and writes another, with the name of the file that
/// failed.
pub(crate) fn between(from: &Path, to: &Path, error: Error) -> anyhow::Error {
    let file = match error.root() {
        Error::Io { op: "open" | "read" | "map", .. } => from,
        Error::Io { .. } => to,
        _ => from,
    };
    anyhow::Error::new(error).context(shown(file))
}

/// Returns a hint about what to do.
fn hint(error: &anyhow::Error, reading: Reading) -> Option<&'static str> {
    if error.chain().any(<dyn std::error::Error>::is::<CutShort>) {
        return Some(CUT_SHORT);
    }
    let kind = error.chain().find_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
    let found = error.chain().find_map(|cause| cause.downcast_ref::<Error>()).map(Error::root);
    if let Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) = kind {
        return Some("the disk is full: make room, or name a file on another disk");
    }
    match found? {
        Error::Request(RequestError::NoSuchObject { .. }) => {
            Some("`hyperslab ls -r FILE` lists the objects in the file")
        }
        Error::Request(RequestError::WrongKind { .. }) => {
            Some("name a dataset; `hyperslab ls -r FILE` lists them")
        }
        Error::Request(RequestError::Exists { .. }) => {
            Some("objects are not replaced: name a path that does not exist yet")
        }
        Error::Format(format) => match format.kind {
            ErrorKind::NotHdf5 { .. } => {
                Some("check that this is an HDF5 file and that it was copied completely")
            }
            _ => Some("the file is damaged here; other objects may still be readable"),
        },
        Error::Chunk { .. } => Some(match reading {
            Reading::Elements => "a --select without this chunk reads the rest of the dataset",
            Reading::Objects => {
                "`hyperslab check --data` lists all damaged chunks; --select takes over other objects only"
            }
            Reading::Object => {
                "`hyperslab check --data` lists all damaged chunks; copy other objects one by one"
            }
            Reading::Other => "`hyperslab check --data` lists all damaged chunks of a file",
        }),
        Error::Unsupported { .. } => {
            Some("`hyperslab ls -l` and `hyperslab stat` show the object without reading it")
        }
        _ => None,
    }
}

/// What to do about a file that is shorter than its superblock states.
pub(crate) const CUT_SHORT: &str = "copy the file again from where it is complete; `hyperslab recover` says how to \
                                    read the part that is here";
