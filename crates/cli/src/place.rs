//! The file and the object that an argument names.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use hyperslab::driver::{Driver, Members};
use hyperslab::{File, Node};
use hyperslab_remote::{Remote, RemoteOptions, is_url};

use crate::error;

/// A file and an object in it.
#[derive(Debug, clap::Args)]
pub(crate) struct Place {
    /// The HDF5 file or its URL, or `FILE:/PATH` for an object in it
    #[arg(value_name = "FILE[:/PATH]")]
    file: OsString,
    /// The object in the file [default: the root group]
    #[arg(value_name = "PATH")]
    path: Option<String>,
}

impl Place {
    /// Opens the file and the object.
    pub(crate) fn open(&self) -> anyhow::Result<Node> {
        let (file, path) = match &self.path {
            Some(path) => (self.file.as_os_str(), path.as_str()),
            None => split(&self.file),
        };
        object(Path::new(file), path)
    }
}

/// Opens the file and the object of `FILE[:/PATH]`.
pub(crate) fn open_object(argument: &OsStr) -> anyhow::Result<Node> {
    let (file, path) = split(argument);
    object(Path::new(file), path)
}

fn object(file: &Path, path: &str) -> anyhow::Result<Node> {
    open(file)?.get(path).with_context(|| file.display().to_string())
}

/// Opens a file for reading. If there is no such file, but there are members of one, opens that file.
pub(crate) fn open(path: &Path) -> anyhow::Result<File> {
    if let Some(medium) = on_server(path) {
        return File::options().open_on(medium?).map_err(|error| error::opening(path, error));
    }
    File::options().members(Members::found(path)).open(path).map_err(|error| error::opening(path, error))
}

/// Returns the medium of a file on a server. `None` if the path is not a URL.
pub(crate) fn on_server(path: &Path) -> Option<anyhow::Result<Arc<dyn Driver>>> {
    let url = path.to_str().filter(|text| is_url(text))?;
    let opened = Remote::open(url, &RemoteOptions::default());
    Some(match opened {
        Ok(remote) => Ok(Arc::new(remote)),
        Err(cause) => Err(error::opening(path, hyperslab::Error::io("open", 0, 0)(cause))),
    })
}

/// Returns whether there is a file of this name, or members of one.
fn exists(path: &Path) -> bool {
    path.exists() || Members::found(path).is_some()
}

/// Splits `FILE:/path` for a file that exists. The path is `/` if the argument has none.
pub(crate) fn split(argument: &OsStr) -> (&OsStr, &str) {
    split_where(argument, |file| exists(Path::new(file)))
}

/// Splits `FILE:/path` for a file that may not exist yet. Its name then ends at the last `:/`.
pub(crate) fn split_new(argument: &OsStr) -> (&OsStr, &str) {
    let found = split(argument);
    let last = argument.to_str().and_then(|text| Some((text, cuts(text).last()?)));
    match last {
        Some((text, at)) if found.0 == argument && !Path::new(argument).exists() => {
            (OsStr::new(&text[..at]), &text[at + 1..])
        }
        _ => found,
    }
}

/// Splits `FILE:/path` at the first `:/` after the name of an existing file. A file with the whole name takes
/// precedence.
fn split_where(argument: &OsStr, exists: impl Fn(&OsStr) -> bool) -> (&OsStr, &str) {
    let Some(text) = argument.to_str().filter(|_| !exists(argument)) else { return (argument, "/") };
    if is_url(text) {
        // The first `:/` is that of the scheme.
        let cut = text.match_indices(":/").nth(1);
        return cut.map_or((argument, "/"), |(at, _)| (OsStr::new(&text[..at]), &text[at + 1..]));
    }
    let cut = cuts(text).find(|at| exists(OsStr::new(&text[..*at])));
    cut.map_or((argument, "/"), |at| (OsStr::new(&text[..at]), &text[at + 1..]))
}

/// Returns the places of `:/` that may end the name of a file. On Windows, one letter before it is a drive.
fn cuts(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices(":/").map(|(at, _)| at).filter(|at| !cfg!(windows) || *at != 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_follows_the_name_of_an_existing_file() {
        let files = ["a.h5", "C:/x.h5", "odd:/name"];
        let exists = |name: &OsStr| files.iter().any(|file| *file == name);
        let cases = [
            ("a.h5", ("a.h5", "/")),
            ("a.h5:/g/d", ("a.h5", "/g/d")),
            ("a.h5:/g:/d", ("a.h5", "/g:/d")),
            ("C:/x.h5:/d", ("C:/x.h5", "/d")),
            ("odd:/name", ("odd:/name", "/")),
            ("none.h5:/d", ("none.h5:/d", "/")),
            ("https://host:80/a.h5", ("https://host:80/a.h5", "/")),
            ("s3://bucket/a.h5:/g:/d", ("s3://bucket/a.h5", "/g:/d")),
        ];
        for (argument, expected) in cases {
            let (file, path) = split_where(OsStr::new(argument), exists);
            assert_eq!((file.to_str().unwrap(), path), expected, "{argument}");
        }
    }
}
