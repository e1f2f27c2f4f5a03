//! The file that `-o` names.

#[cfg(unix)]
use std::fs;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use hyperslab::driver::{Aside, Driver as _};
use hyperslab::internals::os::identity_at;

use crate::error::Usage;

/// A file that rows are written to, from its first byte to its last.
#[derive(Debug)]
pub(in crate::cmd) enum Target {
    /// A regular file. It gets its name when it is complete.
    Regular { aside: Aside, len: u64 },
    /// A device or a pipe, which keeps its name, or an output of this process.
    Other(File),
}

impl Target {
    pub(in crate::cmd) fn new(path: &Path) -> io::Result<Self> {
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
    pub(in crate::cmd) fn finish(self) -> io::Result<()> {
        match self {
            Self::Regular { aside, .. } => aside.finish(),
            Self::Other(_) => Ok(()),
        }
    }
}

impl Write for Target {
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

/// Refuses a target that is the file to read.
pub(in crate::cmd) fn check(target: &Path, input: &Path) -> anyhow::Result<()> {
    if matches!((identity_at(target), identity_at(input)), (Ok(target), Ok(input)) if target == input) {
        let why = format!("-o {}: this is the file to read, so name another one", target.display());
        return Err(Usage(why).into());
    }
    Ok(())
}
