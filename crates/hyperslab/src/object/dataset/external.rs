//! Datasets with elements in external files without any structure (spec IV.A.2.h).

use std::env;
use std::path::{Path, PathBuf};

use hyperslab_format::message::external_files::ExternalFiles;

use super::{Dataset, State};
use crate::driver::{Joined, Part};
use crate::error::{Error, Result};
use crate::heap::local::LocalHeap;
use crate::object::File;
use crate::store::Store;

/// A part of an external file that holds elements.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExternalFile {
    /// The name of the file, as the dataset stores it.
    pub name: String,
    /// The offset of the part in the file, in bytes.
    pub offset: u64,
    /// The size of the part in bytes. `None` if the part holds all further elements.
    pub len: Option<u64>,
}

impl Dataset {
    /// Returns the parts of external files that hold the elements, in order. The result is empty if the
    /// elements are in this file.
    pub fn external_files(&self) -> Result<Vec<ExternalFile>> {
        let state = self.state()?;
        let files =
            state.external.as_ref().map_or_else(|| Ok(Vec::new()), |files| named(files, self.store()));
        files.map_err(|error| error.at(self.path()))
    }

    /// Returns whether the elements are in external files.
    pub fn has_external_files(&self) -> bool {
        self.latest().external.is_some()
    }
}

fn named(files: &ExternalFiles, store: &Store) -> Result<Vec<ExternalFile>> {
    let names = LocalHeap::open(store, files.heap)?;
    let parts = files.parts.iter();
    parts
        .map(|part| {
            let name = names.text_at(part.name_offset)?;
            Ok(ExternalFile { name, offset: part.offset, len: part.len })
        })
        .collect()
}

impl State {
    /// Returns the elements of all parts as one medium.
    pub(super) fn elsewhere(&self, files: &ExternalFiles, file: &File) -> Result<Joined> {
        let prefix = env::var("HDF5_EXTFILE_PREFIX").unwrap_or_default();
        let mut rest = self.len_bytes();
        let mut parts = Vec::with_capacity(files.parts.len());
        for named in named(files, file.store())? {
            let len = named.len.unwrap_or(rest).min(rest);
            rest -= len;
            parts.push(Part {
                candidates: candidates(&named.name, file.path(), &prefix),
                offset: named.offset,
                len,
            });
        }
        if rest > 0 {
            let have = self.len_bytes() - rest;
            return Err(self.misfit("Size of external data", have, "the size of all elements"));
        }
        Joined::new(parts).map_err(Error::io("open", 0, self.len_bytes()))
    }
}

/// Returns the paths to try for the file `name`. With a prefix, the path is below the prefix, in which
/// `${ORIGIN}` stands for the folder of the HDF5 file. Without a prefix, the paths are in the current folder,
/// as for libhdf5, and beside the HDF5 file, which is the most frequent place.
fn candidates(name: &str, from: Option<&Path>, prefix: &str) -> Vec<PathBuf> {
    let beside = from.and_then(Path::parent);
    if Path::new(name).is_absolute() {
        return vec![name.into()];
    }
    if !prefix.is_empty() {
        let origin = beside.map_or_else(|| ".".into(), Path::to_string_lossy);
        return vec![Path::new(&prefix.replacen("${ORIGIN}", &origin, 1)).join(name)];
    }
    [Some(name.into()), beside.map(|folder| folder.join(name))].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_sought_under_the_prefix_or_here_and_beside_the_file() {
        let from = Some(Path::new("/data/x.h5"));
        let found = |name, prefix| candidates(name, from, prefix);
        assert_eq!(found("/a/raw", "/p"), [Path::new("/a/raw")]);
        assert_eq!(found("raw", "/p"), [Path::new("/p/raw")]);
        assert_eq!(found("raw", "${ORIGIN}/sub"), [Path::new("/data/sub/raw")]);
        assert_eq!(found("raw", ""), [Path::new("raw"), Path::new("/data/raw")]);
        assert_eq!(candidates("raw", None, ""), [Path::new("raw")]);
    }
}
