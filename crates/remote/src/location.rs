//! Where a file is: what everything that opens files makes of a name.

use std::path::PathBuf;
use std::sync::Arc;

use hyperslab::driver::{Driver, Memory};
use hyperslab::{Error, File, OpenOptions, RequestError, Result};

use crate::{Remote, RemoteOptions, is_url, without_secrets};

/// Where a file is.
///
/// ```
/// use hyperslab::File;
/// use hyperslab_remote::{Location, RemoteOptions};
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("climate.h5");
/// File::create(&path)?.close()?;
/// let bytes = std::fs::read(&path)?;
/// for location in [Location::named(path), Location::of_bytes(bytes)] {
///     let file = location.open(&File::options(), &RemoteOptions::default())?;
///     assert!(file.root().is_empty()?);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub enum Location {
    /// In the file system, as one file or several.
    Path(PathBuf),
    /// On a server.
    Url(String),
    /// On any medium.
    Medium(Arc<dyn Driver>),
}

impl Location {
    /// Returns the location that a path or a URL names.
    pub fn named(name: impl Into<PathBuf>) -> Self {
        let path = name.into();
        match path.to_str().filter(|text| is_url(text)) {
            Some(url) => Self::Url(url.to_owned()),
            None => Self::Path(path),
        }
    }

    /// Returns the location of a file that is given by its bytes.
    #[must_use]
    pub fn of_bytes(bytes: Vec<u8>) -> Self {
        Self::Medium(Arc::new(Memory::new(bytes)))
    }

    /// Returns the path or the URL, without secrets. A medium has none.
    pub fn shown(&self) -> String {
        match self {
            Self::Path(path) => match path.display().to_string() {
                // A URL that is not UTF-8 names no file on a server, but has its secrets.
                url if is_url(&url) => without_secrets(&url),
                path => path,
            },
            Self::Url(url) => without_secrets(url),
            Self::Medium(_) => String::new(),
        }
    }

    /// Opens the file, or creates it, as `options` say; `remote` counts only for a URL.
    ///
    /// Errors: those of [`OpenOptions::open`]; for a URL, `Io` if the file cannot be reached (`NotFound`,
    /// `PermissionDenied`), or if the URL or an option is unknown (`InvalidInput`); `Request` if a file on a
    /// server would be changed.
    pub fn open(&self, options: &OpenOptions, remote: &RemoteOptions) -> Result<File> {
        match self {
            Self::Path(path) => options.open(path),
            _ => options.open_on(self.medium(options, remote)?),
        }
    }

    /// Returns the medium of the file, which must exist. A file of a path that has no members is opened for
    /// reading.
    ///
    /// Errors: those of [`open`](Self::open).
    pub fn medium(&self, options: &OpenOptions, remote: &RemoteOptions) -> Result<Arc<dyn Driver>> {
        match self {
            Self::Path(path) => options.medium(path),
            Self::Url(_) if options.writes() => {
                let why = "a file on a server can only be read: open it for reading, or change a copy of it";
                Err(RequestError::Argument { what: self.shown(), why }.into())
            }
            Self::Url(url) => Ok(Arc::new(Remote::open(url, remote).map_err(Error::io("open", 0, 0))?)),
            Self::Medium(medium) => Ok(Arc::clone(medium)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_url_or_a_path_and_shows_no_secret() {
        let shown = |name: &str| match Location::named(name) {
            found @ Location::Url(_) => format!("url {}", found.shown()),
            found => format!("path {}", found.shown()),
        };
        assert_eq!(shown("climate.h5"), "path climate.h5");
        assert_eq!(shown("C:/climate.h5"), "path C:/climate.h5");
        assert!(shown("s3://bucket/climate.h5").starts_with("url s3://bucket"));
        assert!(!shown("https://me:secret@example.org/a.h5").contains("secret"));
    }

    #[test]
    fn a_file_on_a_server_is_not_changed() {
        let options = File::options().create(true);
        let opened = Location::named("https://example.org/a.h5").open(&options, &RemoteOptions::default());
        assert!(opened.unwrap_err().to_string().contains("can only be read"));
    }
}
