//! A file that appears under its name when it is whole.

use std::fs;
use std::path::Path;

use hyperslab::driver::{Create, Driver, Posix};

use crate::error::{Error, Result};
use crate::io;

/// Makes the file `to`, which must not be there, of what `write` puts into it; `write` is also told how errors name it.
pub(crate) fn new_file(to: &Path, write: impl FnOnce(&dyn Driver, &str) -> Result<()>) -> Result<()> {
    let name = to.display().to_string();
    if to.exists() {
        return Err(Error::argument(name, "it exists: choose another name, or remove it"));
    }
    appearing(to, |part| {
        let out = Posix::open_writable(part, Create::IfMissing).map_err(io(&name))?;
        out.set_len(0).map_err(io(&name))?;
        write(&out, &name)
    })
}

/// Gives the name `to` to the file that `make` makes under another, instead of the one that has it, which nobody may have open.
pub(crate) fn appearing(to: &Path, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    if to.exists() {
        Posix::open_writable(to, Create::No).map_err(io(&to.display().to_string()))?;
    }
    // What a link names is replaced, not the link.
    let to = &fs::canonicalize(to).unwrap_or_else(|_| to.to_owned());
    let mut part = to.as_os_str().to_owned();
    part.push(".part");
    let part = Path::new(&part);
    let named = |()| fs::rename(part, to).map_err(io(&to.display().to_string()));
    let done = make(part).and_then(named);
    if done.is_err() {
        // What failed is the news, not that nothing of it could be removed.
        let _ = fs::remove_file(part);
    }
    done
}
