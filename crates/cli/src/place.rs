//! Which object of which file an argument means.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use anyhow::Context as _;
use hyperslab::{File, Node};

use crate::error;

/// A file and an object in it.
#[derive(Debug, clap::Args)]
pub(crate) struct Place {
    /// The HDF5 file; with `:/path` after it, an object in it
    #[arg(value_name = "FILE[:/PATH]")]
    file: OsString,
    /// The object in the file, the root group if not said
    #[arg(value_name = "PATH")]
    path: Option<String>,
}

impl Place {
    /// Opens the file and the object.
    pub(crate) fn open(&self) -> anyhow::Result<Node> {
        let (file, path) = match &self.path {
            Some(path) => (self.file.as_os_str(), path.as_str()),
            None => split(&self.file, |file| Path::new(file).exists()),
        };
        let opened = open(Path::new(file))?;
        opened.get(path).with_context(|| Path::new(file).display().to_string())
    }
}

/// Opens a file for reading.
pub(crate) fn open(path: &Path) -> anyhow::Result<File> {
    File::open(path).map_err(|error| error::opening(path, error))
}

/// Splits `FILE:/path` at the first `:/` before which there is a file; a file of the whole name comes first.
fn split(argument: &OsStr, exists: impl Fn(&OsStr) -> bool) -> (&OsStr, &str) {
    let Some(text) = argument.to_str().filter(|_| !exists(argument)) else { return (argument, "/") };
    let cut = text.match_indices(":/").find(|(at, _)| exists(OsStr::new(&text[..*at])));
    cut.map_or((argument, "/"), |(at, _)| (OsStr::new(&text[..at]), &text[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_follows_the_name_of_a_file_that_exists() {
        let files = ["a.h5", "C:/x.h5", "odd:/name"];
        let exists = |name: &OsStr| files.iter().any(|file| *file == name);
        let cases = [
            ("a.h5", ("a.h5", "/")),
            ("a.h5:/g/d", ("a.h5", "/g/d")),
            ("a.h5:/g:/d", ("a.h5", "/g:/d")),
            ("C:/x.h5:/d", ("C:/x.h5", "/d")),
            ("odd:/name", ("odd:/name", "/")),
            ("none.h5:/d", ("none.h5:/d", "/")),
        ];
        for (argument, expected) in cases {
            let (file, path) = split(OsStr::new(argument), exists);
            assert_eq!((file.to_str().unwrap(), path), expected, "{argument}");
        }
    }
}
