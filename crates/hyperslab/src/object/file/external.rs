//! Finding and opening the file of an external link (spec IV.A.2.g; the search order is libhdf5's).

use std::env;
use std::path::{Path, PathBuf};
use std::{io, iter};

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_format::name::to_bytes;
use hyperslab_io::driver::{Locking, Members};
use hyperslab_io::os::{LIST_SEPARATOR, path_from};

use crate::object::{File, OpenOptions};

/// How the files behind external links are opened. By default, they are opened like the file that has the
/// link; and if such a file cannot be opened for writing, for reading.
///
/// ```
/// use hyperslab::{File, LinkAccess};
///
/// let directory = tempfile::tempdir()?;
/// File::create(directory.path().join("1999.h5"))?.root().create_group("surface")?;
/// let file = File::create(directory.path().join("all.h5"))?;
/// file.root().link_external("1999", "1999.h5", "/surface")?;
/// assert!(file.get("1999")?.file().is_writable());
/// let group = file.root().get_with("1999", LinkAccess::default().write(false))?;
/// # drop(group);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkAccess {
    /// Whether the files are opened for writing. `None` stands for the access to the file that has the link.
    pub write: Option<bool>,
    /// Whether the files are locked. `None` stands for the locking of the file that has the link.
    pub locking: Option<Locking>,
    /// Whether files that are opened for reading may be written meanwhile (SWMR). `None` stands for the
    /// setting of the file that has the link.
    pub swmr: Option<bool>,
}

impl LinkAccess {
    /// Sets whether the files are opened for writing.
    #[must_use]
    pub fn write(mut self, write: impl Into<Option<bool>>) -> Self {
        self.write = write.into();
        self
    }

    /// Sets whether the files are locked.
    #[must_use]
    pub fn locking(mut self, locking: impl Into<Option<Locking>>) -> Self {
        self.locking = locking.into();
        self
    }

    /// Sets whether files that are opened for reading may be written meanwhile (SWMR).
    #[must_use]
    pub fn swmr(mut self, swmr: impl Into<Option<bool>>) -> Self {
        self.swmr = swmr.into();
        self
    }
}

/// Opens the file `name` that a link in `from` names.
pub(in crate::object) fn open(from: &File, name: &str, access: LinkAccess) -> Result<File> {
    let prefixes = env::var("HDF5_EXT_PREFIX").unwrap_or_default();
    let write = access.write.unwrap_or(from.is_writable());
    let mut options = from.opened_with().for_existing(write);
    if let Some(locking) = access.locking {
        options = options.locking(locking);
    }
    if let Some(swmr) = access.swmr {
        options = options.swmr(swmr);
    }
    let open = |path: &Path| match open_linked(from, path, &options) {
        Err(error) if write && access.write.is_none() && !is_absent(&error) => {
            options.for_existing(false).open(path)
        }
        opened => opened,
    };
    // Any bytes, where the system knows files by bytes.
    let on_disk = path_from(to_bytes(name).into_owned());
    first(name, allowed(from, name, candidates(&on_disk, from.path(), &prefixes))?, open)
}

/// Opens the file `name` that a virtual dataset in `from` names (spec III.F). `prefix` is a folder to search,
/// in which `${ORIGIN}` stands for the folder of `from`. As in libhdf5, the environment counts more.
pub(in crate::object) fn open_source(
    from: &File,
    name: &str,
    prefix: &str,
    options: &OpenOptions,
) -> Result<File> {
    let mut prefixes = env::var("HDF5_VDS_PREFIX").unwrap_or_default();
    if prefixes.is_empty() {
        prefix.clone_into(&mut prefixes);
    }
    let prefixes = from_origin(prefixes, from.path());
    let on_disk = path_from(to_bytes(name).into_owned());
    let candidates = allowed(from, name, candidates(&on_disk, from.path(), &prefixes))?;
    first(name, candidates, |path| open_linked(from, path, options))
}

/// Returns the candidates for the file `name` that `from` may read, which its options can limit to a folder.
///
/// Of a confined file, a path that does not resolve is never opened: the system may know more about it than
/// its resolution says, as of the paths under `/proc`. Nor is what is no regular file, such as a pipe.
pub(in crate::object) fn allowed<'c>(
    from: &File,
    name: &str,
    candidates: impl Iterator<Item = PathBuf> + 'c,
) -> Result<Box<dyn Iterator<Item = PathBuf> + 'c>> {
    let Some(folder) = &from.opened_with().confined_to else { return Ok(Box::new(candidates)) };
    let inside = folder.canonicalize().ok();
    let is_inside = |path: &PathBuf| inside.as_ref().is_some_and(|folder| path.starts_with(folder));
    let resolved = candidates.filter_map(|candidate| candidate.canonicalize().ok());
    let (found, outside): (Vec<_>, Vec<_>) = resolved.partition(is_inside);
    if found.is_empty() && !outside.is_empty() {
        let folder = folder.to_path_buf();
        return Err(RequestError::OutsideFolder { name: name.to_owned(), folder }.into());
    }
    Ok(Box::new(found.into_iter().filter(|path| path.is_file())))
}

/// Returns a prefix with the folder of the file at `path` in place of `${ORIGIN}` at its beginning.
pub(in crate::object) fn from_origin(prefix: String, path: Option<&Path>) -> String {
    match prefix.strip_prefix("${ORIGIN}") {
        Some(rest) => {
            let origin = path.and_then(Path::parent).unwrap_or(Path::new("."));
            format!("{}{rest}", origin.display())
        }
        None => prefix,
    }
}

/// Opens the file at `path`. A file in several parts may name another one, as in libhdf5.
fn open_linked(from: &File, path: &Path, options: &OpenOptions) -> Result<File> {
    match from.opened_with().members {
        None => options.open(path),
        Some(_) => options.clone().members(Members::found(path)).open(path),
    }
}

/// Opens the first of the files that exists.
fn first(
    name: &str,
    candidates: impl Iterator<Item = PathBuf>,
    open: impl Fn(&Path) -> Result<File>,
) -> Result<File> {
    for candidate in candidates {
        match open(&candidate) {
            Err(error) if is_absent(&error) => {}
            opened => return opened,
        }
    }
    Err(RequestError::NoSuchFile { name: name.to_owned() }.into())
}

/// Returns the paths to try, in order: the absolute name, which lacks a drive if Unix has written it; then
/// the name (for an absolute name, only its last component) under each prefix, beside the linking file, in
/// the current directory, and beside the target of the linking file if that file was opened through a
/// symbolic link.
///
/// Only the last of them needs the system, so a name that is found before costs no call.
fn candidates<'a>(
    name: &'a Path,
    from: Option<&'a Path>,
    prefixes: &'a str,
) -> impl Iterator<Item = PathBuf> + use<'a> {
    let is_absolute = name.has_root();
    let relative = if is_absolute { name.file_name().map_or(name, Path::new) } else { name };
    let beside = move |file: &Path| file.parent().map(|directory| directory.join(relative));
    let prefixes = prefixes.split(LIST_SEPARATOR).filter(|prefix| !prefix.is_empty());
    let absolute = is_absolute.then(|| name.to_owned()).into_iter();
    absolute
        .chain(prefixes.map(move |prefix| Path::new(prefix).join(relative)))
        .chain(from.and_then(beside))
        .chain(iter::once(relative.to_owned()))
        .chain(iter::once_with(move || beside(&from?.canonicalize().ok()?)).flatten())
}

/// Whether a file does not exist.
fn is_absent(error: &Error) -> bool {
    matches!(error, Error::Io { op: "open", cause, .. }
        if matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(name: &str, from: Option<&str>, prefixes: &str) -> Vec<String> {
        let prefixes = prefixes.replace(':', &LIST_SEPARATOR.to_string());
        let found = candidates(Path::new(name), from.map(Path::new), &prefixes);
        found.map(|path| path.to_string_lossy().replace('\\', "/")).collect()
    }

    #[test]
    fn a_relative_name_is_sought_by_prefix_then_beside_the_file_then_here() {
        let found = paths("x.h5", Some("/no/such/dir/from.h5"), "/p::rel");
        assert_eq!(found, ["/p/x.h5", "rel/x.h5", "/no/such/dir/x.h5", "x.h5"]);
    }

    #[test]
    fn an_absolute_name_is_tried_as_it_is_and_then_by_its_last_component() {
        assert_eq!(
            paths("/gone/x.h5", Some("/no/such/dir/f"), ""),
            ["/gone/x.h5", "/no/such/dir/x.h5", "x.h5"]
        );
    }

    #[test]
    fn a_file_in_memory_links_from_the_current_directory() {
        assert_eq!(paths("x.h5", None, ""), ["x.h5"]);
    }
}
