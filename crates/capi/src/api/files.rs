//! Files.

use std::ffi::{c_char, c_void};
use std::ptr;

use hyperslab::driver::{Locking, Unchanged, Via};
use hyperslab::{File, LibVersion, OpenOptions};

use crate::codes::{HS_APPEND, HS_CREATE, HS_CREATE_NEW, HS_READ, HS_WRITE};
use crate::failure::{Failure, guard};
use crate::handle::{self, HandleEntry};
use crate::pointers;
use crate::structs::{hs_file, hs_open_options};

/// Opens or creates the file at `path`. `mode` is `HS_READ`, `HS_WRITE`, `HS_CREATE`, `HS_CREATE_NEW` or
/// `HS_APPEND`. Every opening is closed for itself, by `hs_close`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_open(path: *const c_char, mode: i32, file: *mut *mut hs_file) -> i32 {
    // SAFETY: the pointers are those of the caller, who keeps what the interface says.
    unsafe { hs_open_with(path, mode, ptr::null(), file) }
}

/// Does the same as `hs_open`, with options. NULL: the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_open_with(
    path: *const c_char,
    mode: i32,
    options: *const hs_open_options,
    file: *mut *mut hs_file,
) -> i32 {
    guard(|| {
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let (place, path, given) = unsafe {
            let place = pointers::handle("file", file)?;
            (place, pointers::text("path", path)?, pointers::optional("options", options)?)
        };
        let mut options = File::options();
        if let Some(given) = given {
            // SAFETY: as above.
            options = unsafe { with(options, &given) }?;
        }
        let options = in_mode(options, mode)?;
        let opened = options.open(path).map_err(|error| Failure::from(error).of_file(path))?;
        *place = handle(opened)?;
        Ok(())
    })
}

/// Opens a copy of the bytes of a file, for reading.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_open_bytes(bytes: *const c_void, size: usize, file: *mut *mut hs_file) -> i32 {
    guard(|| {
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let (place, bytes) = unsafe {
            let place = pointers::handle("file", file)?;
            (place, pointers::array("bytes", bytes.cast::<u8>(), size)?)
        };
        let mut copy = Vec::new();
        let no_room = |_| Failure::request(format!("no memory for {size} bytes of a file"));
        copy.try_reserve_exact(size).map_err(no_room)?;
        copy.extend_from_slice(bytes);
        *place = handle(File::from_bytes(copy)?)?;
        Ok(())
    })
}

/// Writes all changes to the file.
#[unsafe(no_mangle)]
pub extern "C" fn hs_flush(file: *mut hs_file) -> i32 {
    guard(|| Ok(handle::file(file.addr())?.flush()?))
}

/// Writes all changes and closes the file. The handle is closed also after an error. Reads and writes of
/// datasets that are open give errors from then on; the datasets have to be closed, too.
#[unsafe(no_mangle)]
pub extern "C" fn hs_close(file: *mut hs_file) -> i32 {
    guard(|| Ok(handle::take_file(file.addr())?.close()?))
}

fn handle(file: File) -> Result<*mut hs_file, Failure> {
    handle::insert(HandleEntry::File(file)).map(ptr::without_provenance_mut)
}

fn in_mode(options: OpenOptions, mode: i32) -> Result<OpenOptions, Failure> {
    Ok(match mode {
        HS_READ => options,
        HS_WRITE => options.write(true),
        HS_CREATE => options.create(true).truncate(true),
        HS_CREATE_NEW => options.create_new(true),
        HS_APPEND => options.create(true),
        _ => return Err(Failure::argument("mode", format!("{mode} is none: HS_READ to HS_APPEND"))),
    })
}

unsafe fn with(mut options: OpenOptions, given: &hs_open_options) -> Result<OpenOptions, Failure> {
    // SAFETY: the pointers are those of the caller, who keeps what the interface says.
    let (folder, version) = unsafe {
        (
            pointers::optional_text("options.confined_to", given.confined_to)?,
            pointers::optional_text("options.version", given.version)?,
        )
    };
    if given.metadata_cache_bytes != 0 {
        options = options.metadata_cache_bytes(given.metadata_cache_bytes);
    }
    if given.chunk_cache_bytes != 0 {
        options = options.chunk_cache_bytes(given.chunk_cache_bytes);
    }
    if let Some(folder) = folder {
        options = options.confined_to(folder);
    }
    if let Some(name) = version {
        let why = format!("{name:?} is none: \"earliest\", \"v108\" to \"v200\", \"latest\"");
        let version = LibVersion::named(name);
        options = options.version(version.ok_or_else(|| Failure::argument("options.version", why))?);
    }
    if flag("options.no_locking", given.no_locking)? {
        options = options.locking(Locking::No);
    }
    if flag("options.mapped", given.mapped)? {
        // SAFETY: the caller promises it by this option, as its documentation says.
        options = options.via(Via::Map(unsafe { Unchanged::promised() }));
    }
    if given.reserved != 0 {
        return Err(Failure::argument(
            "options.reserved",
            "it is not 0: set all of the struct that you do not use to 0",
        ));
    }
    let track_order = flag("options.track_order", given.track_order)?;
    Ok(options.user_block(given.user_block).track_order(track_order))
}

/// Returns whether an option that is 0 or 1 is set.
pub(super) fn flag(what: &str, value: u32) -> Result<bool, Failure> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Failure::argument(what, format!("it is {value}, and is 0 or 1"))),
    }
}
