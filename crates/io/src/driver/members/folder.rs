//! Members on a file system. Those of a family are created when the file grows, and removed when it shrinks.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use super::family::Folder;
use super::name::Numbered;
use super::split::Names;
use crate::driver::ahead::Medium;
use crate::driver::posix::check_regular;
use crate::driver::{Create, Driver as _, Locking, Posix};
use crate::os::sync_folder;

/// The folders in which files were created or removed since the last sync.
#[derive(Debug, Default)]
pub(super) struct Folders(Mutex<BTreeSet<PathBuf>>);

impl Folders {
    /// Notes that the file at `path` was created or removed.
    pub(super) fn note(&self, path: &Path) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        self.0.lock().insert(folder.unwrap_or(Path::new(".")).to_owned());
    }
}

impl Names for Folders {
    fn sync(&self) -> io::Result<()> {
        let changed = std::mem::take(&mut *self.0.lock());
        changed.iter().try_for_each(|folder| sync_folder(folder)).inspect_err(|_| {
            self.0.lock().extend(changed.iter().cloned());
        })
    }
}

/// The files whose paths differ only in a number.
#[derive(Debug)]
pub(super) struct NumberedFiles {
    name: Numbered,
    locking: Locking,
    changed: Folders,
}

impl NumberedFiles {
    /// Returns the files with names of this form. The path is absolute: the process may change its folder.
    pub(super) fn new(name: Numbered, locking: Locking) -> Self {
        Self { name, locking, changed: Folders::default() }
    }

    /// Opens the files from number 1 on, up to the first one that does not exist, and empties all of them.
    /// They are left over from the file that a new one replaces.
    pub(super) fn clear_all(&self) -> io::Result<()> {
        let mut found = Vec::new();
        for number in 1.. {
            let path = self.name.of(number);
            match open_writable(&path, Create::No, self.locking) {
                Ok(file) => found.push((number, file)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                Err(error) => return Err(of_member(&path, &error)),
            }
        }
        // From the last one on: a program that dies meanwhile leaves no gap, and the next one finds all.
        for (number, file) in found.into_iter().rev() {
            self.empty(number, &file)?;
        }
        Ok(())
    }

    fn empty(&self, number: usize, file: &Posix) -> io::Result<()> {
        file.set_len(0).map_err(|error| of_member(&self.name.of(number), &error))?;
        self.remove(number);
        Ok(())
    }
}

impl Folder for NumberedFiles {
    fn create(&self, number: usize) -> io::Result<Arc<dyn Medium>> {
        let path = self.name.of(number);
        let file = open_writable(&path, Create::IfMissing, self.locking)
            .and_then(|file| file.set_len(0).map(|()| file))
            .map_err(|error| of_member(&path, &error))?;
        self.changed.note(&path);
        Ok(Arc::new(file))
    }

    /// A symbolic link stays: it is how a user puts a member on another disk.
    fn remove(&self, number: usize) {
        let path = self.name.of(number);
        if fs::symlink_metadata(&path).is_ok_and(|found| found.is_file() && found.len() == 0)
            && fs::remove_file(&path).is_ok()
        {
            self.changed.note(&path);
        }
    }

    fn clear(&self, number: usize) -> io::Result<()> {
        let path = self.name.of(number);
        match open_writable(&path, Create::No, self.locking) {
            Ok(file) => self.empty(number, &file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(of_member(&path, &error)),
        }
    }

    fn sync(&self) -> io::Result<()> {
        self.changed.sync()
    }
}

/// Opens a member that is a regular file, for reading and writing.
pub(super) fn open_writable(path: &Path, create: Create, locking: Locking) -> io::Result<Posix> {
    check_regular(path)?;
    Posix::open_writable_unlocked(path, create)?.locked(locking)
}

/// Returns an error that names the member.
pub(super) fn of_member(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("the member {}: {error}", path.display()))
}
