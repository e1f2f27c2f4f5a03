//! The property list of a transfer, and the datatype in memory.

use std::ffi::c_void;

use hyperslab::Structure;
use hyperslab::datatype::Datatype;
use hyperslab::internals::format::{Addr, Reader};

use crate::dataset::WIDTHS;
use crate::ffi::library::Library;
use crate::ffi::types::Hid;
use crate::file::default_transfer;
use crate::rules::{Reason, Ruled};

/// `H5Z_ENABLE_EDC`
const CHECKED: i32 = 1;

/// Checks that a property list asks for nothing that the engine does not do: a data transform, callbacks for
/// conversions and filters, and checksums that are not checked.
pub(crate) fn check(library: &Library, transfer: Hid) -> Ruled<()> {
    let default = default_transfer(library);
    if transfer == 0 || transfer == default {
        return Ok(());
    }
    let calls = &library.functions;
    let (mut function, mut context) = (std::ptr::null_mut::<c_void>(), std::ptr::null_mut());
    let mut filter_callback = [std::ptr::null_mut::<c_void>(); 2];
    // SAFETY: libhdf5 passes a property list of this kind, and the places have the sizes of the properties. A list
    // without a transform is an error of the function that asks for it.
    let is_plain = library.quietly(|| unsafe {
        (calls.transform)(transfer, std::ptr::null_mut(), 0) <= 0
            && (calls.conversion_callback)(transfer, &raw mut function, &raw mut context) >= 0
            && (calls.checks_errors)(transfer) == CHECKED
            && (calls.list_get)(transfer, c"filter_cb".as_ptr(), filter_callback.as_mut_ptr().cast()) >= 0
    });
    let is_plain = is_plain && function.is_null() && filter_callback[0].is_null();
    if is_plain { Ok(()) } else { Err(Reason::Transfer) }
}

/// The way that elements go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// From the file to memory.
    Read,
    /// From memory to the file.
    Write,
}

/// Returns the datatype that an identifier stands for.
pub(crate) fn datatype(library: &Library, id: Hid) -> Ruled<Datatype> {
    /// `H5Tencode` begins with the kind of the message, and the version of this form.
    const BEFORE: usize = 2;
    let mut bytes = vec![0_u8; 256];
    let mut len = bytes.len();
    // SAFETY: libhdf5 passes a datatype. The function writes at most `len` bytes, and stores how many it needs.
    unsafe {
        if (library.functions.type_encode)(id, bytes.as_mut_ptr().cast(), &raw mut len) < 0 {
            return Err(Reason::Conversion);
        }
        if len > bytes.len() {
            bytes.resize(len, 0);
            if (library.functions.type_encode)(id, bytes.as_mut_ptr().cast(), &raw mut len) < 0 {
                return Err(Reason::Conversion);
            }
        }
    }
    let message = bytes.get(BEFORE..).ok_or(Reason::Conversion)?;
    Datatype::decode(&mut Reader::new(message, WIDTHS, Addr::new(0)), &()).map_err(|_| Reason::Conversion)
}

/// Returns the datatype that elements of `stored` are converted to in memory, or `None` if they stay as they are.
///
/// `file` identifies the datatype in the file.
///
/// Errors: a conversion that is not one between numbers, or that the program has registered.
pub(crate) fn conversion(
    library: &Library,
    stored: &Datatype,
    memory: Hid,
    file: Hid,
    way: Way,
) -> Ruled<Option<Datatype>> {
    let wanted = datatype(library, memory)?;
    if wanted == *stored {
        return Ok(None);
    }
    let is_number = |datatype: &Datatype| matches!(datatype, Datatype::Integer(_) | Datatype::Float(_));
    if !is_number(stored) || !is_number(&wanted) {
        return Err(Reason::Conversion);
    }
    let (from, to) = match way {
        Way::Read => (file, memory),
        Way::Write => (memory, file),
    };
    let mut data = std::ptr::null_mut();
    // SAFETY: both are datatypes, and the place is valid.
    let function = unsafe { (library.functions.type_find)(from, to, &raw mut data) };
    if library.image.contains(function) { Ok(Some(wanted)) } else { Err(Reason::RegisteredConversion) }
}
