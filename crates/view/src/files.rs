//! The files that are served: by names, and never by paths that a request gives.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, UNIX_EPOCH};
use std::{fs, io};

use axum::http::StatusCode;
use hyperslab::{Error, File};
use hyperslab_remote::{Location, RemoteOptions, without_secrets};
use parking_lot::Mutex;

use crate::answer::{Answered, Refusal};

/// A viewer that does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// A file cannot be opened.
    #[error("{}: {cause}", without_secrets(&file.to_string_lossy()))]
    File {
        /// The path or the URL.
        file: OsString,
        /// The reason.
        cause: Box<Error>,
    },
    /// The server cannot be started.
    #[error("unable to start a server on 127.0.0.1, port {port}: {cause}")]
    Server {
        /// The port, or 0 for any.
        port: u16,
        /// The reason.
        cause: io::Error,
    },
}

/// A file that is served.
#[derive(Debug)]
pub(crate) struct Served {
    name: String,
    location: Location,
    /// The folder in which files may be that the file names.
    links: PathBuf,
    open: Mutex<Option<Open>>,
}

/// A file as a request sees it, from its first read to its last.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) file: File,
    version: String,
}

#[derive(Debug)]
struct Open {
    file: File,
    version: String,
    used: Instant,
}

/// The version of a file on a server, which is not watched.
const UNWATCHED: &str = "remote";
/// How long a file stays open after a request. Until then it is locked, so that no other program that
/// respects locks changes it.
const IDLE: Duration = Duration::from_secs(2);
/// The memory for decoded chunks of one file while it is open: neighbouring planes of a cube are in the same
/// chunks.
const CHUNK_CACHE: u64 = 128 << 20;

impl Served {
    /// Opens the given files once. Files with the same last name get a number.
    pub(crate) fn all(given: &[OsString], links: Option<&Path>) -> Result<Vec<Self>, ViewError> {
        let mut names = HashSet::new();
        let mut served = Vec::with_capacity(given.len());
        for file in given {
            let failed = |cause| ViewError::File { file: file.clone(), cause: Box::new(cause) };
            let found = located(file, links).map_err(|cause| failed(Error::io("open", 0, 0)(cause)))?;
            let (location, links) = found;
            let base = last_name(&location);
            let mut name = base.clone();
            for number in 2.. {
                if names.insert(name.clone()) {
                    break;
                }
                name = format!("{base} ({number})");
            }
            let one = Self { name, location, links, open: Mutex::default() };
            let version = one.version().map_err(|cause| failed(Error::io("open", 0, 0)(cause)))?;
            one.open_as(version).map_err(failed)?;
            served.push(one);
        }
        Ok(served)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns a text that changes when the file does.
    pub(crate) fn version(&self) -> io::Result<String> {
        let Location::Path(path) = &self.location else { return Ok(UNWATCHED.to_owned()) };
        let found = fs::metadata(path)?;
        if !found.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file"));
        }
        let changed = found.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(format!("{:x}-{:x}-{:x}", changed.as_nanos(), found.len(), number(&found)))
    }

    /// Returns the file as it is now.
    pub(crate) fn file(&self) -> Answered<Seen> {
        let version = self.version().map_err(|cause| self.unopened(&Error::io("open", 0, 0)(cause)))?;
        let file = self.open_as(version.clone()).map_err(|error| self.unopened(&error))?;
        Ok(Seen { file, version })
    }

    /// Returns an error if the file has changed since it was seen.
    pub(crate) fn check(&self, seen: &Seen) -> Answered<()> {
        match self.version() {
            Ok(now) if now == seen.version => Ok(()),
            _ => Err(Refusal::new(
                StatusCode::CONFLICT,
                format!("{} was changed while it was read: reload it", self.name),
            )),
        }
    }

    /// Closes the file if no request has used it for a while.
    pub(crate) fn close_idle(&self, now: Instant) {
        // While the file is opened, it is in use.
        let Some(mut open) = self.open.try_lock() else { return };
        if open.as_ref().is_some_and(|open| now.duration_since(open.used) >= IDLE) {
            *open = None;
        }
    }

    fn open_as(&self, version: String) -> hyperslab::Result<File> {
        let used = Instant::now();
        let mut open = self.open.lock();
        if let Some(open) = open.as_mut().filter(|open| open.version == version) {
            open.used = used;
            return Ok(open.file.clone());
        }
        *open = None;
        let file = self.open()?;
        *open = Some(Open { file: file.clone(), version, used });
        Ok(file)
    }

    /// Opens the file for this server only, so that a changed file is a new one.
    fn open(&self) -> hyperslab::Result<File> {
        let options = File::options().confined_to(&self.links).chunk_cache_bytes(CHUNK_CACHE);
        let medium = self.location.medium(&options, &RemoteOptions::default())?;
        match &self.location {
            Location::Path(path) => options.location(path).open_on(medium),
            _ => options.open_on(medium),
        }
    }

    /// Returns the refusal, in the words that H5Web knows.
    fn unopened(&self, error: &Error) -> Refusal {
        let kind = match error {
            Error::Io { op: "open", cause, .. } => Some(cause.kind()),
            _ => None,
        };
        let name = &self.name;
        match kind {
            Some(io::ErrorKind::NotFound) => Refusal::new(StatusCode::NOT_FOUND, "File not found!"),
            Some(io::ErrorKind::PermissionDenied) => {
                Refusal::new(StatusCode::FORBIDDEN, "Cannot read file: Permission denied!")
            }
            Some(io::ErrorKind::WouldBlock) => Refusal::new(
                StatusCode::CONFLICT,
                format!("another program is writing {name}: reload it when that program has closed it"),
            ),
            _ => Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, format!("{name}: {error}")),
        }
    }
}

/// Returns where a file is, and the folder in which files may be that it names. Without `links`, a file on a
/// server may name no file of this machine.
fn located(given: &OsStr, links: Option<&Path>) -> io::Result<(Location, PathBuf)> {
    let location = Location::named(given);
    let links = links.map(Path::canonicalize).transpose()?;
    let Location::Path(path) = &location else { return Ok((location, links.unwrap_or_default())) };
    let links = match links {
        Some(links) => links,
        None => path.canonicalize()?.parent().map(Path::to_owned).unwrap_or_default(),
    };
    Ok((Location::Path(std::path::absolute(path)?), links))
}

/// Returns the last part of the path or of the URL.
fn last_name(location: &Location) -> String {
    if let Location::Path(path) = location {
        return path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    }
    let shown = location.shown();
    let path = shown.split(['?', '#']).next().unwrap_or_default();
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path).to_owned()
}

/// Returns the number of the file in its file system, which another file of the same name does not have.
#[cfg(unix)]
fn number(found: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(found)
}

#[cfg(not(unix))]
fn number(_: &fs::Metadata) -> u64 {
    0
}
