//! The file that `-o` names.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

use hyperslab::driver::{Aside, Driver as _};

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
        let before = fs::metadata(path).map(|found| found.file_type());
        if before.is_ok_and(|kind| kind.is_char_device() || kind.is_block_device() || kind.is_fifo()) {
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

/// Returns whether a path names an open file of this process, which a new file must not replace.
fn is_output(path: &Path) -> bool {
    let outputs = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc/self/fd"];
    outputs.iter().any(|output| path.starts_with(output))
}

/// Refuses a target that is the file to read.
pub(in crate::cmd) fn check(target: &Path, input: &Path) -> anyhow::Result<()> {
    let is_same = match (fs::metadata(target), fs::metadata(input)) {
        (Ok(target), Ok(input)) => (target.dev(), target.ino()) == (input.dev(), input.ino()),
        _ => false,
    };
    if is_same {
        let why = format!("-o {}: this is the file to read, so name another one", target.display());
        return Err(Usage(why).into());
    }
    Ok(())
}
