//! Files of Windows.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use winapi_util::file::information;

/// The bytes in a path that separate a name from its folder, its drive, or the file whose stream it is.
pub const SEPARATORS: &[u8] = br"/\:";
/// The character between the paths of a list, since a colon follows the letter of a drive.
pub const LIST_SEPARATOR: char = ';';
/// Whether a lock keeps out programs that take none.
pub const LOCKS_ARE_MANDATORY: bool = true;

/// Opens the link instead of what it leads to (`FILE_FLAG_OPEN_REPARSE_POINT`).
const LINK_ITSELF: u32 = 0x0020_0000;
/// Opens folders as well (`FILE_FLAG_BACKUP_SEMANTICS`).
const FOLDERS_TOO: u32 = 0x0200_0000;

/// Fills `dst` with the bytes at `offset`.
///
/// Errors: `UnexpectedEof` if the range extends past the end of the file.
pub fn read_exact_at(file: &File, mut offset: u64, mut dst: &mut [u8]) -> io::Result<()> {
    while !dst.is_empty() {
        match file.seek_read(dst, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                dst = &mut dst[read..];
                offset += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes all of `src` at `offset`.
pub fn write_all_at(file: &File, mut offset: u64, mut src: &[u8]) -> io::Result<()> {
    while !src.is_empty() {
        match file.seek_write(src, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                src = &src[written..];
                offset += written as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Returns the serial number of the volume and the index of the file there. Two paths with equal numbers name
/// the same file, as long as it is open.
pub fn identity(file: &File) -> io::Result<(u64, u64)> {
    let found = information(file)?;
    Ok((found.volume_serial_number(), found.file_index()))
}

/// Returns the identity of the file that a path leads to.
pub fn identity_at(path: &Path) -> io::Result<(u64, u64)> {
    identity(&opened(path, FOLDERS_TOO)?)
}

/// Returns the identity of what has this path: of the link itself, if it is one.
pub fn identity_of_link(path: &Path) -> io::Result<(u64, u64)> {
    identity(&opened(path, FOLDERS_TOO | LINK_ITSELF)?)
}

/// Opens what has this path for no access to its bytes, so that no program that has it open is in the way.
fn opened(path: &Path, flags: u32) -> io::Result<File> {
    OpenOptions::new().access_mode(0).custom_flags(flags).open(path)
}

/// Names are durable when the file system has written its own log: there is no call that waits for a folder.
pub fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Returns the bytes of a path or name in UTF-8. `None` if it is no Unicode.
pub fn bytes_of(name: &OsStr) -> Option<&[u8]> {
    name.to_str().map(str::as_bytes)
}

/// Returns the path with these bytes in UTF-8. Others stand for no character of a name, and become U+FFFD.
pub fn path_from(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
        .into()
}
