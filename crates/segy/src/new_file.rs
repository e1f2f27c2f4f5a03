//! A file that appears under its name when it is whole.

use std::fs;
use std::io as std_io;
use std::path::{Path, PathBuf};

use hyperslab::driver::{Create, Driver, Posix};

use crate::error::{Error, Result};
use crate::io;

/// Makes the file `to`, which must not be there, of what `write` puts into it; `write` is also told how errors name it.
pub(crate) fn new_file(to: &Path, write: impl FnOnce(&dyn Driver, &str) -> Result<()>) -> Result<()> {
    let name = to.display().to_string();
    if to.exists() {
        return Err(Error::argument(name, "it exists: choose another name, or remove it"));
    }
    appearing(to, |out| write(&out, &name))
}

/// Gives the name `to` to the file that `make` fills under another, instead of the one that has it, which nobody else may have open.
/// What a program that was killed has left under the other name is written over.
pub(crate) fn appearing<T>(to: &Path, make: impl FnOnce(Posix) -> Result<T>) -> Result<T> {
    let name = to.display().to_string();
    let to = &target(to);
    // Locked until it is replaced.
    let _before = to.exists().then(|| Posix::open_writable(to, Create::No)).transpose().map_err(io(&name))?;
    let mut part = to.as_os_str().to_owned();
    part.push(".part");
    let part = Path::new(&part);
    // Whoever else is at it has it locked: then it is not ours to remove.
    let out = Posix::open_writable(part, Create::IfMissing).map_err(io(&name))?;
    let made = out.set_len(0).map_err(io(&name)).and_then(|()| make(out));
    let done = made.and_then(|made| fs::rename(part, to).map_err(io(&name)).map(|()| made));
    if done.is_err() {
        // What failed is the news, not that nothing of it could be removed.
        let _ = fs::remove_file(part);
    }
    done
}

/// What a link names, whether it is there or not: that is replaced, and not the link.
fn target(to: &Path) -> PathBuf {
    let dangling = |_| -> std_io::Result<PathBuf> {
        let named = fs::read_link(to)?;
        Ok(to.parent().unwrap_or(Path::new("")).join(named))
    };
    fs::canonicalize(to).or_else(dangling).unwrap_or_else(|_| to.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a` is the only file of a directory, and has these bytes.
    fn assert_only(directory: &Path, bytes: &[u8]) {
        let names: Vec<_> =
            fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["a"]);
        assert_eq!(fs::read(directory.join("a")).unwrap(), bytes);
    }

    #[test]
    fn what_fails_leaves_what_was_there() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let to = directory.join("a");
        fs::write(&to, b"before").unwrap();
        let failed = appearing(&to, |out| {
            out.write_at(0, b"half").unwrap();
            Err::<(), _>(Error::Stopped)
        });
        assert!(matches!(failed, Err(Error::Stopped)));
        assert_only(directory, b"before");
    }

    #[test]
    fn a_file_that_somebody_else_is_making_is_left_to_him() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let to = directory.join("a");
        fs::write(directory.join("a.part"), b"what a killed program has left").unwrap();
        appearing(&to, |out| {
            let second = appearing(&to, |_| Ok(()));
            assert!(matches!(second, Err(Error::Io { .. })), "{second:?}");
            out.write_at(0, b"first").map_err(io("a"))
        })
        .unwrap();
        assert_only(directory, b"first");
    }

    #[test]
    fn what_a_link_names_is_made_and_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let link = directory.join("link");
        std::os::unix::fs::symlink("far", &link).unwrap();
        for bytes in [b"one", b"two"] {
            appearing(&link, |out| out.write_at(0, bytes).map_err(io("link"))).unwrap();
            assert!(link.is_symlink());
            assert_eq!(fs::read(directory.join("far")).unwrap(), bytes);
        }
    }
}
