//! Files of Unix.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// The bytes in a path that separate a name from its folder.
pub const SEPARATORS: &[u8] = b"/";
/// The character between the paths of a list.
pub const LIST_SEPARATOR: char = ':';
/// Whether a lock keeps out programs that take none.
pub const LOCKS_ARE_MANDATORY: bool = false;

/// Fills `dst` with the bytes at `offset`.
///
/// Errors: `UnexpectedEof` if the range extends past the end of the file.
pub fn read_exact_at(file: &File, offset: u64, dst: &mut [u8]) -> io::Result<()> {
    file.read_exact_at(dst, offset)
}

/// Writes all of `src` at `offset`.
pub fn write_all_at(file: &File, offset: u64, src: &[u8]) -> io::Result<()> {
    file.write_all_at(src, offset)
}

/// Returns the device and inode numbers. Two paths with equal numbers name the same file.
pub fn identity(file: &File) -> io::Result<(u64, u64)> {
    file.metadata().map(|found| numbers(&found))
}

/// Returns the identity of the file that a path leads to.
pub fn identity_at(path: &Path) -> io::Result<(u64, u64)> {
    fs::metadata(path).map(|found| numbers(&found))
}

/// Returns the identity of what has this path: of the link itself, if it is one.
pub fn identity_of_link(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|found| numbers(&found))
}

fn numbers(found: &Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}

/// Makes the names in a folder durable, if its file system can.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            Ok(())
        }
        synced => synced,
    }
}

/// Returns the bytes of a path or name, in which ASCII characters are bytes. `None` if the system cannot give
/// them, which never happens here.
pub fn bytes_of(name: &OsStr) -> Option<&[u8]> {
    Some(name.as_bytes())
}

/// Returns the path with these bytes.
pub fn path_from(bytes: Vec<u8>) -> PathBuf {
    OsString::from_vec(bytes).into()
}
