//! Boxes of elements that the native connector reads and writes, in the datatype of the file.

use std::ffi::c_void;

use crate::boxes::Box;
use crate::ffi::library::Library;
use crate::ffi::types::{Handle, Herr, Hid, Operation};
use crate::file::no_request;
use crate::rules::{Reason, Ruled};

/// `H5VL_dataset_get_t`
#[derive(Debug, Clone, Copy)]
#[repr(i32)]
pub(crate) enum Get {
    Creation = 1,
    Space = 2,
    Type = 5,
}

/// Returns an identifier of what belongs to a native dataset. The caller closes it.
pub(crate) fn get(library: &Library, native: Handle, what: Get) -> Option<Hid> {
    let mut operation = Operation::new(what as i32);
    // SAFETY: the dataset is open, and the operation stores an identifier.
    let done = unsafe {
        (library.functions.dataset_get)(
            native,
            library.native(),
            operation.as_arguments(),
            library.default_transfer(),
            no_request(),
        )
    };
    (done >= 0).then(|| operation.id())
}

/// A box of a dataset, whose elements are in memory at the beginning of an array of the shape `within`.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    pub(crate) within: &'a [u64],
    pub(crate) at: &'a Box,
}

/// The identifiers that a read or write of a box needs.
struct Ids<'a> {
    library: &'a Library,
    datatype: Hid,
    file: Hid,
    memory: Hid,
}

impl<'a> Ids<'a> {
    fn of(library: &'a Library, native: Handle, place: &Place<'_>) -> Option<Self> {
        let calls = &library.functions;
        let rank = i32::try_from(place.within.len()).ok()?;
        let datatype = get(library, native, Get::Type)?;
        let file = get(library, native, Get::Space).unwrap_or(-1);
        // SAFETY: the lists have a number for each dimension.
        unsafe {
            let memory = (calls.space_create)(rank, place.within.as_ptr(), std::ptr::null());
            let ids = Self { library, datatype, file, memory };
            let select = |space, start: &[u64]| {
                let (count, none) = (place.at.count.as_ptr(), std::ptr::null());
                (calls.space_select)(space, SET, start.as_ptr(), none, count, none) >= 0
            };
            let origin = vec![0; place.within.len()];
            (select(file, &place.at.start) && select(memory, &origin)).then_some(ids)
        }
    }
}

impl Drop for Ids<'_> {
    fn drop(&mut self) {
        let calls = &self.library.functions;
        // SAFETY: the identifiers were made for us.
        unsafe {
            (calls.type_close)(self.datatype);
            (calls.space_close)(self.file);
            (calls.space_close)(self.memory);
        }
    }
}

/// `H5S_SELECT_SET`
const SET: i32 = 0;

/// Reads a box into the beginning of an array.
pub(crate) fn read_box(library: &Library, native: Handle, place: &Place<'_>, into: &mut [u8]) -> Ruled<()> {
    let ids = Ids::of(library, native, place).ok_or(Reason::PartOfChunk)?;
    let memory: *mut c_void = into.as_mut_ptr().cast();
    // SAFETY: the array has as many elements of the file's datatype as `place` says.
    done(unsafe {
        (library.functions.dataset_read)(
            1,
            &raw const native,
            library.native(),
            &raw const ids.datatype,
            &raw const ids.memory,
            &raw const ids.file,
            library.default_transfer(),
            &raw const memory,
            no_request(),
        )
    })
}

/// Writes a box from the beginning of an array.
pub(crate) fn write_box(library: &Library, native: Handle, place: &Place<'_>, from: &[u8]) -> Ruled<()> {
    let ids = Ids::of(library, native, place).ok_or(Reason::PartOfChunk)?;
    let memory: *mut c_void = from.as_ptr().cast_mut().cast();
    // SAFETY: as in `read_box`. The native connector does not change what it writes.
    done(unsafe {
        (library.functions.dataset_write)(
            1,
            &raw const native,
            library.native(),
            &raw const ids.datatype,
            &raw const ids.memory,
            &raw const ids.file,
            library.default_transfer(),
            &raw const memory,
            no_request(),
        )
    })
}

fn done(status: Herr) -> Ruled<()> {
    if status < 0 { Err(Reason::PartOfChunk) } else { Ok(()) }
}
