//! Property lists. libhdf5 checks every identifier that it is given, so a wrong one is an error, and not
//! unsound.

use std::ffi::{c_int, c_uint, c_void};

use super::library::Library;
use super::types::{Hid, MAX_RANK};

/// The most parameters of a filter that are asked for.
const MOST_PARAMETERS: usize = 256;

/// A property list that libhdf5 has made for the plug-in, which closes it.
#[derive(Debug)]
pub(crate) struct List {
    library: &'static Library,
    id: Hid,
}

/// A filter, as a property list has it.
#[derive(Debug)]
pub(crate) struct Filter {
    pub(crate) id: c_int,
    pub(crate) flags: c_uint,
    pub(crate) parameters: Vec<c_uint>,
}

/// A fill value, as a property list has it.
#[derive(Debug)]
pub(crate) enum Fill {
    /// None, or the default of libhdf5.
    NotGiven,
    /// The bytes of an element.
    Given(Vec<u8>),
}

/// Returns whether the library has a filter, or finds a plug-in for it.
pub(crate) fn has_filter(library: &Library, id: c_int) -> bool {
    // SAFETY: the function takes any number.
    library.quietly(|| unsafe { (library.functions.filter_available)(id) > 0 }) == Some(true)
}

impl List {
    /// Returns the list of an identifier, or `None` if that stands for an error.
    pub(crate) fn new(library: &'static Library, id: Hid) -> Option<Self> {
        (id >= 0).then_some(Self { library, id })
    }

    pub(crate) fn id(&self) -> Hid {
        self.id
    }

    /// Returns a list for access to files: its driver.
    pub(crate) fn driver(&self) -> Hid {
        // SAFETY: the function takes any identifier.
        unsafe { (self.library.functions.list_driver)(self.id) }
    }

    /// Returns the layout of the dataset that is created with the list: `H5D_layout_t`.
    pub(crate) fn layout(&self) -> c_int {
        // SAFETY: the function takes any identifier.
        unsafe { (self.library.functions.layout)(self.id) }
    }

    /// Returns whether closing a file closes all objects in it (`H5F_CLOSE_STRONG`).
    pub(crate) fn closes_objects(&self) -> bool {
        const STRONG: c_int = 3;
        let mut degree = 0;
        // SAFETY: the place is valid.
        let done = unsafe { (self.library.functions.list_close_degree)(self.id, &raw mut degree) };
        done >= 0 && degree == STRONG
    }

    /// Returns the options of chunks at the edge: `H5D_CHUNK_*`.
    pub(crate) fn chunk_options(&self) -> Option<c_uint> {
        let mut options = 0;
        // SAFETY: the place is valid.
        let done = unsafe { (self.library.functions.chunk_options)(self.id, &raw mut options) };
        (done >= 0).then_some(options)
    }

    /// Returns the number of elements of a chunk along each dimension.
    pub(crate) fn chunk(&self) -> Option<Vec<u64>> {
        let mut chunk = vec![0; MAX_RANK];
        let most = c_int::try_from(MAX_RANK).ok()?;
        // SAFETY: the place has room for `most` numbers.
        let rank = unsafe { (self.library.functions.chunk)(self.id, most, chunk.as_mut_ptr()) };
        chunk.truncate(usize::try_from(rank).ok()?);
        Some(chunk)
    }

    /// Returns the filters in the order of writing. Errors: a filter has more parameters than are asked for.
    pub(crate) fn filters(&self) -> Option<Vec<Filter>> {
        // SAFETY: the function takes any identifier.
        let count = unsafe { (self.library.functions.filter_count)(self.id) };
        (0..c_uint::try_from(count).ok()?).map(|number| self.filter(number)).collect()
    }

    fn filter(&self, number: c_uint) -> Option<Filter> {
        let mut parameters = vec![0; MOST_PARAMETERS];
        let (mut flags, mut count, mut config) = (0, MOST_PARAMETERS, 0);
        // SAFETY: the places have room for the values that are stored there; a name is not asked for.
        let id = unsafe {
            (self.library.functions.filter)(
                self.id,
                number,
                &raw mut flags,
                &raw mut count,
                parameters.as_mut_ptr(),
                0,
                std::ptr::null_mut(),
                &raw mut config,
            )
        };
        let parameters = parameters.get(..count)?.to_vec();
        (id >= 0).then_some(Filter { id, flags, parameters })
    }

    /// Returns the fill value in a datatype, whose elements have `size` bytes.
    pub(crate) fn fill(&self, datatype: Hid, size: usize) -> Option<Fill> {
        /// `H5D_FILL_VALUE_USER_DEFINED`
        const DEFINED: c_int = 2;
        let calls = &self.library.functions;
        let mut status = 0;
        // SAFETY: the place is valid.
        if unsafe { (calls.fill_status)(self.id, &raw mut status) } < 0 {
            return None;
        }
        if status != DEFINED {
            return Some(Fill::NotGiven);
        }
        // SAFETY: the function takes any identifier.
        if unsafe { (calls.type_size)(datatype) } != size {
            return None;
        }
        let mut value = vec![0; size];
        // SAFETY: the value has the size of an element.
        let done = unsafe { (calls.fill_value)(self.id, datatype, value.as_mut_ptr().cast()) };
        (done >= 0).then_some(Fill::Given(value))
    }
}

impl Drop for List {
    fn drop(&mut self) {
        // SAFETY: the list was made for the plug-in.
        unsafe { (self.library.functions.list_close)(self.id) };
    }
}

/// What a property list of transfers asks for, beside the transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TransferWishes {
    /// Elements are computed from those that are stored.
    pub(crate) transform: bool,
    /// The program is asked where a conversion or a filter fails.
    pub(crate) callbacks: bool,
    /// Checksums are checked.
    pub(crate) checksums: bool,
}

impl TransferWishes {
    /// Returns what the program's property list asks for, or `None` if libhdf5 does not say.
    pub(crate) fn of(library: &Library, transfer: Hid) -> Option<Self> {
        /// `H5Z_ENABLE_EDC`
        const CHECKED: c_int = 1;
        let calls = &library.functions;
        let (mut function, mut context) = (std::ptr::null_mut::<c_void>(), std::ptr::null_mut());
        let mut filter = [std::ptr::null_mut::<c_void>(); 2];
        // SAFETY: the places have the sizes of the properties. A list without a transform is an error of the
        // function that asks for it.
        let (transform, conversion, checks, known) = library.quietly(|| unsafe {
            (
                (calls.transform)(transfer, std::ptr::null_mut(), 0),
                (calls.conversion_callback)(transfer, &raw mut function, &raw mut context),
                (calls.checks_errors)(transfer),
                (calls.list_get)(transfer, c"filter_cb".as_ptr(), filter.as_mut_ptr().cast()),
            )
        })?;
        (conversion >= 0 && known >= 0).then_some(Self {
            transform: transform > 0,
            callbacks: !function.is_null() || !filter[0].is_null(),
            checksums: checks == CHECKED,
        })
    }
}
