//! Datasets with elements in external files without any structure (spec IV.A.2.h): the description of the
//! files, and the medium that they make together.

use std::env;
use std::path::{Path, PathBuf};

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_format::datatype::Datatype;
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::external_files::{ExternalFiles, ExternalPart};
use hyperslab_io::driver::{FilePart, Joined};
use hyperslab_store::heap::local::{self, LocalHeap};
use hyperslab_store::{Store, Txn};

use super::{Dataset, Properties, max_shape};
use crate::object::File;
use crate::object::file::external::{allowed, from_origin};

/// A part of an external file that holds elements.
///
/// ```
/// use hyperslab::ExternalFile;
///
/// let directory = tempfile::tempdir()?;
/// let raw = directory.path().join("t2m.raw");
/// let file = hyperslab::File::create(directory.path().join("climate.h5"))?;
/// let part = ExternalFile::new(raw.to_str().unwrap(), 0, None);
/// file.root().new_dataset::<u8>("t2m").shape([3]).external([part]).create_with(&[1, 2, 3])?;
/// assert_eq!(std::fs::read(raw)?, [1, 2, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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

impl ExternalFile {
    /// Returns the part of `len` bytes at `offset` of the file `name`. Without `len`, the part holds all
    /// further elements.
    pub fn new(name: impl Into<String>, offset: u64, len: impl Into<Option<u64>>) -> Self {
        Self { name: name.into(), offset, len: len.into() }
    }
}

impl Dataset {
    /// Returns a handle that looks for its external files under `prefix`, in which `${ORIGIN}` stands for the
    /// folder of the HDF5 file. Absolute names, and the environment variable `HDF5_EXTFILE_PREFIX`, take
    /// precedence over the prefix, as in libhdf5.
    #[must_use]
    pub fn with_external_prefix(mut self, prefix: &str) -> Self {
        let prefix = from_origin(prefix.to_owned(), self.file().path());
        self.external_prefix = Some(prefix.into());
        self
    }

    /// Returns the folder of [`with_external_prefix`](Self::with_external_prefix).
    pub fn external_prefix(&self) -> Option<&str> {
        self.external_prefix.as_deref()
    }

    /// Returns the parts of external files that hold the elements, in order. The result is empty if the
    /// elements are in this file.
    pub fn external_files(&self) -> Result<Vec<ExternalFile>> {
        let properties = self.properties()?;
        let files =
            properties.external.as_ref().map_or_else(|| Ok(Vec::new()), |files| named(files, self.store()));
        files.map_err(|error| error.at(self.path()))
    }

    /// Returns where the elements are, part after part, if they are in external files.
    #[doc(hidden)]
    pub fn external_parts(&self) -> Result<Vec<FilePart>> {
        let properties = self.properties()?;
        let find = |files| properties.parts(files, self.file(), self.external_prefix());
        properties.external.as_ref().map_or(Ok(Vec::new()), find).map_err(|error| error.at(self.path()))
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

impl Properties {
    /// Returns the elements of all parts as one medium.
    pub(super) fn elsewhere(
        &self,
        files: &ExternalFiles,
        file: &File,
        prefix: Option<&str>,
    ) -> Result<Joined> {
        let parts = self.parts(files, file, prefix)?;
        Joined::new(parts).map_err(Error::io("open", 0, self.len_bytes()))
    }

    fn parts(&self, files: &ExternalFiles, file: &File, prefix: Option<&str>) -> Result<Vec<FilePart>> {
        let prefix = match env::var("HDF5_EXTFILE_PREFIX") {
            Ok(prefix) if !prefix.is_empty() => from_origin(prefix, file.path()),
            _ => prefix.unwrap_or_default().to_owned(),
        };
        let mut rest = self.len_bytes();
        let mut parts = Vec::with_capacity(files.parts.len());
        for named in named(files, file.store())? {
            let len = named.len.unwrap_or(rest).min(rest);
            rest -= len;
            parts.push(FilePart {
                candidates: allowed(
                    file,
                    &named.name,
                    candidates(&named.name, file.path(), &prefix).into_iter(),
                )?
                .collect(),
                offset: named.offset,
                len,
            });
        }
        if rest > 0 {
            let have = self.len_bytes() - rest;
            return Err(self.misfit("Size of external data", have, "the size of all elements"));
        }
        Ok(parts)
    }
}

/// Checks the external files of a new dataset, as libhdf5 does: all elements that the dataset can ever have
/// fit, and only the first dimension can grow.
pub(super) fn check(
    files: &[ExternalFile],
    dataspace: &Dataspace,
    datatype: &Datatype,
    store: &Store,
) -> Result<()> {
    let argument = |why| Err(RequestError::Argument { what: "external files".to_owned(), why }.into());
    if files.iter().any(|file| file.name.is_empty() || file.name.contains('\0')) {
        return argument("a name is not empty, and has no zero byte");
    }
    let is_last = |number: usize| number + 1 == files.len();
    if files.iter().enumerate().any(|(number, file)| file.len.is_none() && !is_last(number)) {
        return argument("only the last part can be without a limit");
    }
    let room = files.iter().try_fold(Some(0_u64), |room, file| match (room, file.len) {
        (Some(room), Some(len)) => room.checked_add(len).map(Some),
        _ => Some(None),
    });
    let Some(room) = room else { return argument("the sum of their sizes exceeds 2^64 bytes") };
    let shape = dataspace.shape();
    let most: Vec<Option<u64>> =
        max_shape(dataspace).map_or_else(|| shape.iter().copied().map(Some).collect(), <[_]>::to_vec);
    let grows = |(len, most): (&u64, &Option<u64>)| most.is_none_or(|most| most > *len);
    if shape.iter().zip(&most).skip(1).any(grows) {
        return argument("only the first dimension can grow");
    }
    let Some(room) = room else { return Ok(()) };
    let elements = most.iter().try_fold(1_u64, |all, len| all.checked_mul((*len)?));
    let needed = match dataspace {
        Dataspace::Null => Some(0),
        _ => elements.and_then(|elements| elements.checked_mul(datatype.size(store.widths()))),
    };
    if needed.is_none_or(|needed| needed > room) {
        return argument("they are smaller than all elements that the dataset can have");
    }
    Ok(())
}

/// Writes the names of external files to a new local heap, and returns the message that describes the files.
pub(in crate::object) fn create(txn: &mut Txn<'_>, files: &[ExternalFile]) -> Result<ExternalFiles> {
    let room: u64 = files.iter().map(|file| (file.name.len() as u64 + 1).next_multiple_of(8)).sum();
    // The heap begins with the empty name.
    let heap = local::create(txn, room + 8)?;
    let mut parts = Vec::with_capacity(files.len());
    for file in files {
        let name_offset = local::insert(txn, heap, file.name.as_bytes())?;
        parts.push(ExternalPart { name_offset, offset: file.offset, len: file.len });
    }
    Ok(ExternalFiles { heap, parts })
}

/// Returns the paths to try for the file `name`: under the prefix, if there is one. Otherwise in the current
/// folder, as for libhdf5, and beside the HDF5 file, which is the most frequent place.
fn candidates(name: &str, from: Option<&Path>, prefix: &str) -> Vec<PathBuf> {
    let beside = from.and_then(Path::parent);
    if Path::new(name).has_root() {
        return vec![name.into()];
    }
    if !matches!(prefix, "" | ".") {
        return vec![Path::new(prefix).join(name)];
    }
    [Some(name.into()), beside.map(|folder| folder.join(name))].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_sought_under_the_prefix_or_here_and_beside_the_file() {
        let from = Some(Path::new("/data/x.h5"));
        let under_origin = from_origin("${ORIGIN}/sub".to_owned(), from);
        let found = |name, prefix| candidates(name, from, prefix);
        assert_eq!(found("/a/raw", "/p"), [Path::new("/a/raw")]);
        assert_eq!(found("raw", "/p"), [Path::new("/p/raw")]);
        assert_eq!(found("raw", &under_origin), [Path::new("/data/sub/raw")]);
        assert_eq!(found("raw", "."), [Path::new("raw"), Path::new("/data/raw")]);
        assert_eq!(found("raw", ""), [Path::new("raw"), Path::new("/data/raw")]);
        assert_eq!(candidates("raw", None, ""), [Path::new("raw")]);
        // Only the beginning stands for the folder, as in libhdf5.
        assert_eq!(from_origin("/x/${ORIGIN}".to_owned(), from), "/x/${ORIGIN}");
    }
}
