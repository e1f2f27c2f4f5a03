//! A file that all ranks of a communicator open together, by MPI's calls alone: the measure of
//! `hyperslab pio`.

use std::io;
use std::path::Path;

use hyperslab::driver::Create;

use crate::Communicator;
use crate::sys::{Access, FileHandle};

/// An open file of all ranks.
#[derive(Debug)]
pub struct CommonFile {
    handle: FileHandle,
    is_collective: bool,
}

impl CommonFile {
    /// Opens a file on all ranks, and creates it to write. With `is_collective`, all ranks read and write at
    /// the same time, and the library may join what they do.
    pub fn open(on: &Communicator, path: &Path, write: bool, is_collective: bool) -> io::Result<Self> {
        let access = if write { Access::Write(Create::IfMissing) } else { Access::Read };
        Ok(Self { handle: FileHandle::open(Some(on.comm()), path, access)?, is_collective })
    }

    /// Fills `dst` from the file. `dst` has less than 2^31 bytes.
    ///
    /// Errors: those of MPI; `UnexpectedEof` at the end of the file, which some libraries do not tell in
    /// collective reads.
    pub fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()> {
        let whole = dst.len();
        let read = if self.is_collective {
            self.handle.read_at_all(offset, dst)?
        } else {
            self.handle.read_at(offset, dst)?
        };
        if read == whole { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Writes `src`, which has less than 2^31 bytes.
    pub fn write_at(&self, offset: u64, src: &[u8]) -> io::Result<()> {
        let written = if self.is_collective {
            self.handle.write_at_all(offset, src)?
        } else {
            self.handle.write_at(offset, src)?
        };
        if written == src.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
    }

    /// Closes the file, on all ranks.
    pub fn close(self) -> io::Result<()> {
        self.handle.close()
    }
}
