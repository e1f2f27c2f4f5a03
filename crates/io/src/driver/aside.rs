//! A file that is written under another name in the same directory and renamed when it is complete.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Create, Driver as _, Posix};
use crate::os::sync_folder;

/// A file that gets its name, replacing any existing file, only when it is [finished](Self::finish). If
/// dropped before, it is removed.
///
/// Until then its name is `NAME.part`. A `NAME.part` left over from a killed program is overwritten. One that
/// another program is writing is an error.
#[derive(Debug)]
pub struct Aside {
    medium: Arc<Posix>,
    part: PathBuf,
    to: PathBuf,
    /// The permissions of the replaced file. `lock` keeps others from opening that file until it is
    /// replaced.
    before: Option<fs::Permissions>,
    lock: Option<Posix>,
    is_named: bool,
}

impl Aside {
    /// Starts an empty file that will be at `to`. If `to` is a symbolic link, the file will be at the link's
    /// target.
    ///
    /// Errors: an error from the system; another program has the existing file open; the existing file is not
    /// a regular file.
    pub fn new(to: &Path) -> io::Result<Self> {
        let (to, before) = target(to)?;
        let lock = before.is_some().then(|| Posix::open_writable(&to, Create::No)).transpose()?;
        Self::begin(to, before, lock)
    }

    /// Does the same for a caller that has the existing file open.
    pub fn replacing(to: &Path) -> io::Result<Self> {
        let (to, before) = target(to)?;
        Self::begin(to, before, None)
    }

    fn begin(to: PathBuf, before: Option<fs::Permissions>, lock: Option<Posix>) -> io::Result<Self> {
        let mut part = to.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let medium = Arc::new(claimed(&part)?);
        incomplete().push((std::process::id(), part.clone()));
        let aside = Self { medium, part, to, before, lock, is_named: false };
        aside.medium.set_len(0)?;
        Ok(aside)
    }

    /// Removes the incomplete files of this process, for a program that ends without dropping them, as at an
    /// interrupt. Returns their names. Afterwards none of them can be finished.
    pub fn abandon_all() -> Vec<PathBuf> {
        let mut incomplete = incomplete();
        let process = std::process::id();
        let own: Vec<PathBuf> =
            incomplete.extract_if(.., |(owner, _)| *owner == process).map(|(_, part)| part).collect();
        own.into_iter().filter(|part| fs::remove_file(part).is_ok()).collect()
    }

    /// Returns the file to write to.
    pub fn medium(&self) -> &Arc<Posix> {
        &self.medium
    }

    /// Makes the file durable and gives it its name, with the permissions of the file that it replaces.
    /// Writing to it may continue.
    pub fn finish(mut self) -> io::Result<()> {
        if let Some(before) = self.before.take() {
            // If the file system has no permissions or we may not set them, the file keeps those of a new
            // file.
            let _ = self.medium.set_permissions(before);
        }
        // Without this, a loss of power could leave the name with an empty file.
        self.medium.flush(false)?;
        {
            // An interrupt between the two would remove the file of the next program that uses this name.
            let mut incomplete = incomplete();
            if !forget(&mut incomplete, &self.part) {
                let why = "the program is ending, and has removed the incomplete file";
                return Err(io::Error::new(io::ErrorKind::Interrupted, why));
            }
            let renamed = fs::rename(&self.part, &self.to).or_else(|error| match self.lock.take() {
                // Some file systems of Windows do not replace a file that is open.
                Some(lock) if cfg!(windows) => {
                    drop(lock);
                    fs::rename(&self.part, &self.to)
                }
                _ => Err(error),
            });
            if let Err(error) = renamed {
                incomplete.push((std::process::id(), self.part.clone()));
                return Err(error);
            }
        }
        self.is_named = true;
        let folder = self.to.parent().filter(|folder| !folder.as_os_str().is_empty());
        sync_folder(folder.unwrap_or(Path::new(".")))
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if !self.is_named {
            let mut incomplete = incomplete();
            // A file that was abandoned is gone, and its name may be another program's.
            if forget(&mut incomplete, &self.part) {
                // The original failure matters to the caller, and a failed removal does not.
                let _ = fs::remove_file(&self.part);
            }
        }
    }
}

/// The incomplete files, each with the process that writes it: a forked child inherits the list.
static INCOMPLETE: Mutex<Vec<(u32, PathBuf)>> = Mutex::new(Vec::new());

fn incomplete() -> MutexGuard<'static, Vec<(u32, PathBuf)>> {
    // The list is whole after every statement that changes it.
    INCOMPLETE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes a file of this process off the list, and returns whether it was there.
fn forget(incomplete: &mut Vec<(u32, PathBuf)>, part: &Path) -> bool {
    let process = std::process::id();
    let found = incomplete.iter().position(|(owner, listed)| *owner == process && listed == part);
    found.map(|at| incomplete.swap_remove(at)).is_some()
}

/// Follows symbolic links from `to`. Returns the final path, and the permissions of the file there if it
/// exists.
fn target(to: &Path) -> io::Result<(PathBuf, Option<fs::Permissions>)> {
    let mut at = to.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(next) = fs::read_link(&at) else {
            return match fs::metadata(&at) {
                Ok(found) if found.is_file() => Ok((at, Some(found.permissions()))),
                Ok(_) => {
                    let why = format!("{} is not a regular file and cannot be replaced", at.display());
                    Err(io::Error::new(io::ErrorKind::InvalidInput, why))
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((at, None)),
                Err(error) => Err(error),
            };
        };
        at = at.parent().unwrap_or(Path::new("")).join(next);
    }
    Err(io::Error::other(format!("{}: too many symbolic links", to.display())))
}

/// Opens and locks the file at `part`.
fn claimed(part: &Path) -> io::Result<Posix> {
    loop {
        if part.is_symlink() {
            // This program never creates such a link, and opening it would empty its target.
            fs::remove_file(part)?;
        }
        let medium = Posix::open_writable(part, Create::IfMissing)?;
        // The previous holder of the lock may have renamed the file since it was opened. Then it must not be
        // emptied.
        if medium.is_at(part) {
            return Ok(medium);
        }
    }
}

/// The number of symbolic links that Linux follows.
const MAX_LINKS: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(unix)]
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn written(to: &Path, bytes: &[u8]) -> io::Result<()> {
        let aside = Aside::new(to)?;
        aside.medium().write_at(0, bytes)?;
        aside.finish()
    }

    /// Asserts that the directory contains only a file `a` with these bytes.
    fn assert_only(directory: &Path, bytes: &[u8]) {
        let names: Vec<_> =
            fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["a"]);
        assert_eq!(fs::read(directory.join("a")).unwrap(), bytes);
    }

    #[test]
    fn a_file_that_is_not_finished_leaves_the_old_file() {
        let directory = tempfile::tempdir().unwrap();
        let to = directory.path().join("a");
        fs::write(&to, b"before").unwrap();
        let aside = Aside::new(&to).unwrap();
        aside.medium().write_at(0, b"half").unwrap();
        drop(aside);
        assert_only(directory.path(), b"before");
    }

    #[test]
    fn a_leftover_part_file_is_overwritten_unless_another_program_is_writing_it() {
        let directory = tempfile::tempdir().unwrap();
        let to = directory.path().join("a");
        fs::write(directory.path().join("a.part"), b"what a killed program has left").unwrap();
        let first = Aside::new(&to).unwrap();
        first.medium().write_at(0, b"first").unwrap();
        assert_eq!(Aside::new(&to).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        let medium = Arc::clone(first.medium());
        first.finish().unwrap();
        // The new file is complete and still locked, so no other writer may empty it under either name.
        assert_eq!(Aside::new(&to).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        assert_only(directory.path(), b"first");
        drop(medium);
        written(&to, b"second").unwrap();
        assert_only(directory.path(), b"second");
    }

    #[test]
    fn a_file_that_was_renamed_while_it_was_claimed_is_not_emptied() {
        let directory = tempfile::tempdir().unwrap();
        let part = directory.path().join("a.part");
        let medium = Posix::open_writable(&part, Create::New).unwrap();
        assert!(medium.is_at(&part));
        fs::rename(&part, directory.path().join("a")).unwrap();
        assert!(!medium.is_at(&part));
        fs::write(&part, b"another").unwrap();
        assert!(!medium.is_at(&part));
    }

    #[cfg(unix)]
    #[test]
    fn the_target_of_links_is_created_or_replaced_and_keeps_its_permissions() {
        let directory = tempfile::tempdir().unwrap();
        let link = directory.path().join("link");
        fs::create_dir(directory.path().join("below")).unwrap();
        symlink("below/next", &link).unwrap();
        symlink("far", directory.path().join("below/next")).unwrap();
        let far = directory.path().join("below/far");
        for (number, bytes) in [b"one", b"two"].into_iter().enumerate() {
            written(&link, bytes).unwrap();
            assert!(link.is_symlink() && directory.path().join("below/next").is_symlink());
            assert_eq!(fs::read(&far).unwrap(), bytes);
            let mode = far.metadata().unwrap().permissions().mode() & 0o777;
            assert!(number == 0 || mode == 0o640, "{mode:o}");
            fs::set_permissions(&far, fs::Permissions::from_mode(0o640)).unwrap();
        }
        symlink("circle", directory.path().join("circle")).unwrap();
        assert!(written(&directory.path().join("circle"), b"three").is_err());
    }

    #[test]
    fn a_file_that_cannot_be_renamed_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let to = directory.path().join("a");
        let aside = Aside::new(&to).unwrap();
        fs::create_dir(&to).unwrap();
        assert!(aside.finish().is_err());
        assert!(to.is_dir() && !directory.path().join("a.part").exists());
    }

    #[test]
    fn a_finished_file_is_not_abandoned() {
        let directory = tempfile::tempdir().unwrap();
        let listed = |name: &str| incomplete().iter().any(|(_, part)| *part == directory.path().join(name));
        let (done, dropped) = (directory.path().join("done"), directory.path().join("dropped"));
        let aside = Aside::new(&done).unwrap();
        assert!(listed("done.part"));
        aside.finish().unwrap();
        drop(Aside::new(&dropped).unwrap());
        assert!(!listed("done.part") && !listed("dropped.part"));
    }

    #[test]
    fn an_abandoned_file_is_not_finished_and_leaves_its_name_to_others() {
        let directory = tempfile::tempdir().unwrap();
        let [to, part] = ["a", "a.part"].map(|name| directory.path().join(name));
        for finishes in [true, false] {
            let aside = Aside::new(&to).unwrap();
            assert!(forget(&mut incomplete(), &part));
            fs::remove_file(&part).unwrap();
            fs::write(&part, b"another program's").unwrap();
            if finishes {
                assert_eq!(aside.finish().unwrap_err().kind(), io::ErrorKind::Interrupted);
            } else {
                drop(aside);
            }
            assert!(!to.exists() && fs::read(&part).unwrap() == b"another program's");
            fs::remove_file(&part).unwrap();
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_the_place_of_the_part_is_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let other = directory.path().join("other");
        fs::write(&other, b"somebody's").unwrap();
        symlink(&other, directory.path().join("a.part")).unwrap();
        written(&directory.path().join("a"), b"ours").unwrap();
        assert_eq!(fs::read(&other).unwrap(), b"somebody's");
    }

    #[test]
    fn a_file_that_is_open_elsewhere_or_not_regular_is_not_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let to = directory.path().join("a");
        fs::write(&to, b"before").unwrap();
        let reader = Posix::open(&to).unwrap();
        assert_eq!(written(&to, b"after").unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(reader);
        assert_only(directory.path(), b"before");
        assert!(written(directory.path(), b"after").is_err());
        if cfg!(unix) {
            let device = written(Path::new("/dev/null"), b"after");
            assert_eq!(device.unwrap_err().kind(), io::ErrorKind::InvalidInput);
        }
    }
}
