//! The file and the object that an argument names.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;
use hyperslab::driver::{Driver, Members};
use hyperslab::{Error, File, Node, OpenOptions, RequestError};
use hyperslab_remote::{Location, RemoteOptions, is_url};

use crate::error;

/// A file and an object in it.
#[derive(Debug, clap::Args)]
pub(crate) struct ObjectPath {
    /// The HDF5 file or its URL, or `FILE:/PATH` for an object in it
    #[arg(value_name = "FILE[:/PATH]", value_hint = clap::ValueHint::FilePath)]
    file: OsString,
    /// The object in the file [default: the root group]
    #[arg(value_name = "PATH")]
    path: Option<String>,
}

impl ObjectPath {
    /// Opens the file and the object.
    pub(crate) fn open(&self) -> anyhow::Result<Node> {
        let (file, path) = match &self.path {
            Some(path) => (self.file.as_os_str(), path.as_str()),
            None => split_new(&self.file),
        };
        object(Path::new(file), path)
    }
}

/// Files and objects in them.
#[derive(Debug, clap::Args)]
pub(crate) struct ObjectPaths {
    /// HDF5 files or their URLs, and `FILE:/PATH` for an object of a file. An argument that is not a file is
    /// the path of an object in the file before it [default: the root group of each file]
    #[arg(required = true, value_name = "FILE[:/PATH]", value_hint = clap::ValueHint::FilePath)]
    places: Vec<OsString>,
}

/// One of several objects to show.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NamedObject {
    pub(crate) file: PathBuf,
    pub(crate) path: String,
    /// Whether the path is an argument of its own.
    is_own: bool,
}

impl ObjectPaths {
    /// Returns the objects, in the order in which they are named.
    pub(crate) fn named(&self) -> anyhow::Result<Vec<NamedObject>> {
        named(&self.places, |file| Path::new(file).is_file() || Members::found(Path::new(file)).is_some())
    }
}

fn named(arguments: &[OsString], exists: impl Fn(&OsStr) -> bool) -> anyhow::Result<Vec<NamedObject>> {
    let mut found: Vec<NamedObject> = Vec::new();
    // The file before, if no path in it has been named yet.
    let mut has_path = true;
    for argument in arguments {
        let (file, path) = split_where(argument, &exists);
        let is_url = file.to_str().is_some_and(is_url);
        let last = found.last().filter(|_| !is_url && !exists(file)).map(|last| last.file.clone());
        let Some(before) = last else {
            // The error for a file that does not exist is about its name alone.
            let (file, path) = if exists(file) || is_url { (file, path) } else { split_new(argument) };
            has_path = path != "/";
            found.push(NamedObject { file: file.into(), path: path.to_owned(), is_own: false });
            continue;
        };
        let Some(path) = argument.to_str() else {
            bail!("{}: there is no file of this name, and paths of objects are UTF-8", argument.display());
        };
        if !std::mem::replace(&mut has_path, true) {
            found.pop();
        }
        found.push(NamedObject { file: before, path: path.to_owned(), is_own: true });
    }
    Ok(found)
}

impl NamedObject {
    /// Returns the root group of a file.
    pub(crate) fn file(file: &Path) -> Self {
        Self { file: file.to_owned(), path: "/".to_owned(), is_own: false }
    }

    /// Opens the file and the object.
    pub(crate) fn open(&self) -> anyhow::Result<Node> {
        let opened = object(&self.file, &self.path);
        opened.map_err(|error| match missing(&error) {
            Some(Missing::Path) if self.is_own => error.context(format!("there is no file {:?}", self.path)),
            _ => error,
        })
    }

    /// Returns the name of the object for a person.
    pub(crate) fn shown(&self) -> String {
        let file = shown(&self.file);
        match &*self.path {
            "/" => file,
            path => format!("{file}:{}{path}", if path.starts_with('/') { "" } else { "/" }),
        }
    }
}

/// Returns the name of a file for a person, without the secrets of a URL.
pub(crate) fn shown(file: &Path) -> String {
    Location::named(file).shown()
}

/// Opens the file and the object of `FILE[:/PATH]`.
pub(crate) fn open_object(argument: &OsStr) -> anyhow::Result<Node> {
    let (file, path) = split_new(argument);
    object(Path::new(file), path)
}

fn object(file: &Path, path: &str) -> anyhow::Result<Node> {
    let found = open(file)?.get(path).map_err(anyhow::Error::from);
    found.map_err(|error| match missing(&error) {
        Some(Missing::Target) => {
            error.context(format!("{}: {path} is a link that leads nowhere", shown(file)))
        }
        _ => error.context(shown(file)),
    })
}

/// Why an object was not found.
enum Missing {
    /// Nothing has the path.
    Path,
    /// A soft link on the path leads to nothing.
    Target,
}

/// Returns why an object was not found, or `None` for another error.
fn missing(error: &anyhow::Error) -> Option<Missing> {
    let error = error.chain().find_map(|cause| cause.downcast_ref::<Error>())?;
    let Error::Request(RequestError::NoSuchObject { .. }) = error.root() else { return None };
    Some(if matches!(error, Error::At { .. }) { Missing::Target } else { Missing::Path })
}

/// Opens a file for reading. If there is no such file, but there are members of one, opens that file.
pub(crate) fn open(path: &Path) -> anyhow::Result<File> {
    let opened = Location::named(path).open(&options(path), &RemoteOptions::default());
    opened.map_err(|error| error::opening(path, error))
}

/// Returns the medium of a file, or of a file that has members of this name, for reading.
pub(crate) fn medium(path: &Path) -> hyperslab::Result<Arc<dyn Driver>> {
    Location::named(path).medium(&options(path), &RemoteOptions::default())
}

fn options(path: &Path) -> OpenOptions {
    File::options().members(Members::found(path))
}

/// Returns whether there is a file of this name, or members of one.
fn exists(path: &Path) -> bool {
    path.exists() || Members::found(path).is_some()
}

/// Splits `FILE:/path` for a file that exists. The path is `/` if the argument has none.
pub(crate) fn split(argument: &OsStr) -> (&OsStr, &str) {
    split_where(argument, |file| exists(Path::new(file)))
}

/// Splits `FILE:/path` for a file that may not exist. Its name then ends at the last `:/`.
pub(crate) fn split_new(argument: &OsStr) -> (&OsStr, &str) {
    let found = split(argument);
    let last = argument.to_str().and_then(|text| Some((text, cuts(text).last()?)));
    match last {
        Some((text, at)) if found.0 == argument && !exists(Path::new(argument)) && !is_url(text) => {
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

    #[test]
    fn an_argument_that_is_not_a_file_is_a_path_in_the_file_before_it() {
        let exists = |name: &OsStr| ["a.h5", "b.h5"].iter().any(|file| *file == name);
        let cases: [(&[&str], &str); 6] = [
            (&["a.h5"], "a.h5 /"),
            (&["a.h5", "g"], "a.h5 g"),
            (&["a.h5", "b.h5:/x", "a.h5"], "a.h5 /, b.h5 /x, a.h5 /"),
            (&["a.h5", "/g", "/d", "b.h5"], "a.h5 /g, a.h5 /d, b.h5 /"),
            (&["a.h5:/g", "d"], "a.h5 /g, a.h5 d"),
            (&["none.h5", "s3://x/a.h5", "/d"], "none.h5 /, s3://x/a.h5 /d"),
        ];
        for (arguments, expected) in cases {
            let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
            let found = named(&arguments, exists).unwrap();
            let found: Vec<String> =
                found.iter().map(|one| format!("{} {}", one.file.display(), one.path)).collect();
            let found = found.join(", ");
            assert_eq!(found, expected, "{arguments:?}");
        }
    }
}
