//! The URLs of files.

use std::path::{Path, absolute};

use hyperslab::File;

use super::Refused;

/// Names the files that references lead to.
#[derive(Debug)]
pub(super) struct Urls {
    file: File,
    /// The URL of that file, if the caller gave one.
    url: Option<String>,
}

impl Urls {
    /// Returns the names of `file`, which others know as `url`, and of the files beside it.
    pub(super) fn new(file: &File, url: Option<&str>) -> Self {
        Self { file: file.clone(), url: url.map(str::to_owned) }
    }

    /// Returns the URL of this file or of another HDF5 file.
    pub(super) fn of(&self, file: &File) -> Result<String, Refused> {
        if let (true, Some(url)) = (file.is_same(&self.file), &self.url) {
            return Ok(url.clone());
        }
        let path = file.path().ok_or_else(|| "the file has no path: give its URL".to_owned())?;
        if !path.is_file() {
            return Err("the file consists of several members".to_owned());
        }
        self.beside(path)
    }

    /// Returns the URL of another file.
    pub(super) fn beside(&self, path: &Path) -> Result<String, Refused> {
        let path = absolute(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let text = |path: &Path| {
            path.to_str().map(str::to_owned).ok_or_else(|| "the name of a file is not UTF-8".to_owned())
        };
        let Some(url) = &self.url else { return text(&path) };
        // Where others find a file of another folder is not known.
        let folder = self.file.path().and_then(Path::parent);
        match (path.parent() == folder, path.file_name(), url.rsplit_once('/')) {
            (true, Some(name), Some((folder, _))) => Ok(format!("{folder}/{}", text(Path::new(name))?)),
            _ => Err(format!("the URL of {} is not known: it is not beside the file", path.display())),
        }
    }
}
