//! Datatypes. libhdf5 checks every identifier that it is given.

use hyperslab_format::Widths;

use super::library::Library;
use super::types::Hid;

/// The widths of numbers in datatypes that libhdf5 encodes for a program.
pub(crate) const WIDTHS: Widths = Widths::EIGHT;

/// A datatype that libhdf5 has made for the plug-in, which closes it.
#[derive(Debug)]
pub(crate) struct OwnedDatatype {
    library: &'static Library,
    id: Hid,
}

impl OwnedDatatype {
    /// Returns the datatype of an identifier, or `None` if that stands for an error.
    pub(crate) fn new(library: &'static Library, id: Hid) -> Option<Self> {
        (id >= 0).then_some(Self { library, id })
    }

    pub(crate) fn id(&self) -> Hid {
        self.id
    }
}

impl Drop for OwnedDatatype {
    fn drop(&mut self) {
        // SAFETY: the datatype was made for the plug-in.
        unsafe { (self.library.functions.type_close)(self.id) };
    }
}

/// Returns the message of a datatype, as an object header has it.
pub(crate) fn message(library: &Library, datatype: Hid) -> Option<Vec<u8>> {
    /// What comes before the message: its kind, and the version of this form.
    const BEFORE: usize = 2;
    let encode = |bytes: &mut Vec<u8>| {
        let mut len = bytes.len();
        // SAFETY: the function writes at most `len` bytes, and stores how many it needs.
        let done =
            unsafe { (library.functions.type_encode)(datatype, bytes.as_mut_ptr().cast(), &raw mut len) };
        (done >= 0).then_some(len)
    };
    let mut bytes = vec![0; 256];
    let len = encode(&mut bytes)?;
    if len > bytes.len() {
        bytes.resize(len, 0);
        encode(&mut bytes)?;
    }
    (bytes.len() >= BEFORE).then(|| bytes.split_off(BEFORE))
}

/// Returns whether the library itself has the conversion of one datatype to another, which a program may
/// replace.
pub(crate) fn is_conversion_built_in(library: &Library, from: Hid, to: Hid) -> bool {
    let mut data = std::ptr::null_mut();
    // SAFETY: the place is valid.
    let function = unsafe { (library.functions.type_find)(from, to, &raw mut data) };
    library.image.contains(function)
}
