//! The file that a command writes.

#[cfg(unix)]
use std::fs;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use anyhow::bail;
use hyperslab::driver::{Aside, Driver as _};
use hyperslab_io::os::identity_at;
use hyperslab_remote::is_url;

use crate::error::Usage;

/// A file that a command writes from its first byte to its last.
#[derive(Debug)]
pub(crate) enum OutputFile {
    /// A regular file. It gets its name when it is complete.
    Regular { aside: Aside, len: u64 },
    /// A device or a pipe, which keeps its name, or an output of this process.
    Other(File),
}

impl OutputFile {
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        if is_stream(path) {
            return OpenOptions::new().write(true).open(path).map(Self::Other);
        }
        if is_output(path) {
            // The output may be a file to whose end a shell writes.
            return OpenOptions::new().append(true).open(path).map(Self::Other);
        }
        Ok(Self::Regular { aside: Aside::new(path)?, len: 0 })
    }

    /// Gives a complete file its name.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self {
            Self::Regular { aside, .. } => aside.finish(),
            Self::Other(_) => Ok(()),
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Regular { aside, len } => {
                aside.medium().write_at(*len, bytes)?;
                *len += bytes.len() as u64;
                Ok(bytes.len())
            }
            Self::Other(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns whether a path is that of a device or a pipe.
#[cfg(unix)]
fn is_stream(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    let kind = fs::metadata(path).map(|found| found.file_type());
    kind.is_ok_and(|kind| kind.is_char_device() || kind.is_block_device() || kind.is_fifo())
}

/// Returns whether a path is that of a device or a pipe: they have names of their own, in any folder.
#[cfg(windows)]
fn is_stream(path: &Path) -> bool {
    use std::path::{Component, Prefix};
    let has_prefix = matches!(
        path.components().next(),
        Some(Component::Prefix(prefix)) if matches!(prefix.kind(), Prefix::DeviceNS(_))
    );
    let is_named = |name: &&str| path.file_name().is_some_and(|given| given.eq_ignore_ascii_case(name));
    has_prefix || ["NUL", "CON", "CONOUT$"].iter().any(is_named)
}

/// Returns whether a path names an open file of this process, which a new file must not replace.
fn is_output(path: &Path) -> bool {
    let outputs = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc/self/fd"];
    outputs.iter().any(|output| path.starts_with(output))
}

/// Refuses a name that a file to write cannot have, before any work is done. `input` is the file to read.
pub(crate) fn check(target: &Path, input: &Path) -> anyhow::Result<()> {
    if matches!((identity_at(target), identity_at(input)), (Ok(target), Ok(input)) if target == input) {
        let shown = target.display();
        return Err(Usage(format!("{shown}: this is the file to read, so name another one to write")).into());
    }
    check_other(target)
}

/// Does the same where the file may replace the one to read.
pub(crate) fn check_other(target: &Path) -> anyhow::Result<()> {
    let shown = target.display();
    if target.as_os_str().is_empty() {
        return Err(Usage("the name of the file to write is empty: name a file".to_owned()).into());
    }
    if target.to_str().is_some_and(is_url) {
        let why = "files are written to this machine, not to URLs: name a file, and upload it";
        return Err(Usage(format!("{}: {why}", crate::place::shown(target))).into());
    }
    if target.is_dir() {
        bail!("{shown} is a folder: name a file in it");
    }
    match target.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) if !folder.exists() => {
            let folder = folder.display();
            bail!(
                "{shown}: there is no folder {folder}: create it (`mkdir -p {folder}`), or name another one"
            )
        }
        Some(folder) if !folder.is_dir() => {
            bail!("{shown}: {} is no folder: name a file in a folder", folder.display())
        }
        _ => Ok(()),
    }
}

/// Refuses to replace a file without `--overwrite`. The command has this option.
pub(crate) fn check_new(target: &Path, overwrites: bool) -> anyhow::Result<()> {
    if !overwrites && target.symlink_metadata().is_ok() {
        bail!("{} exists already: name another file, or replace it with --overwrite", target.display());
    }
    Ok(())
}
