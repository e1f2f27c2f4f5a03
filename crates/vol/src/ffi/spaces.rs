//! Dataspaces and their selections. libhdf5 checks every identifier that it is given.

use std::ffi::c_int;

use super::library::Library;
use super::types::{Hid, MAX_RANK};

/// A dataspace that libhdf5 has made for the plug-in, which closes it.
#[derive(Debug)]
pub(crate) struct OwnedSpace {
    library: &'static Library,
    id: Hid,
}

impl OwnedSpace {
    /// Returns the dataspace of an identifier, or `None` if that stands for an error.
    pub(crate) fn new(library: &'static Library, id: Hid) -> Option<Self> {
        (id >= 0).then_some(Self { library, id })
    }

    /// Returns a new dataspace.
    pub(crate) fn with_extent(library: &'static Library, extent: &[u64]) -> Option<Self> {
        let rank = c_int::try_from(extent.len()).ok()?;
        // SAFETY: the extent has `rank` numbers.
        let id = unsafe { (library.functions.space_create)(rank, extent.as_ptr(), std::ptr::null()) };
        Self::new(library, id)
    }

    pub(crate) fn id(&self) -> Hid {
        self.id
    }

    /// Selects a box. Returns whether that succeeded.
    ///
    /// # Panics
    ///
    /// If the box has another number of dimensions than the dataspace.
    pub(crate) fn select(&self, start: &[u64], count: &[u64]) -> bool {
        /// `H5S_SELECT_SET`
        const SET: c_int = 0;
        let rank = extent(self.library, self.id).map(|extent| extent.len());
        assert!(rank == Some(start.len()) && rank == Some(count.len()), "a box of the dataspace's rank");
        let none = std::ptr::null();
        // SAFETY: the lists have a number for each dimension.
        unsafe {
            let select = self.library.functions.space_select;
            select(self.id, SET, start.as_ptr(), none, count.as_ptr(), none) >= 0
        }
    }
}

impl Drop for OwnedSpace {
    fn drop(&mut self) {
        // SAFETY: the dataspace was made for the plug-in.
        unsafe { (self.library.functions.space_close)(self.id) };
    }
}

/// Returns the number of elements along each dimension.
pub(crate) fn extent(library: &Library, space: Hid) -> Option<Vec<u64>> {
    let mut extent = vec![0; MAX_RANK];
    // SAFETY: the place has room for all dimensions.
    let rank = unsafe { (library.functions.space_extent)(space, extent.as_mut_ptr(), std::ptr::null_mut()) };
    extent.truncate(usize::try_from(rank).ok()?);
    Some(extent)
}

/// Returns the kind of a dataspace: `H5S_class_t`.
pub(crate) fn kind(library: &Library, space: Hid) -> c_int {
    // SAFETY: the function takes any identifier.
    unsafe { (library.functions.space_kind)(space) }
}

/// Returns the kind of the selection: `H5S_sel_type`.
pub(crate) fn selection(library: &Library, space: Hid) -> c_int {
    // SAFETY: the function takes any identifier.
    unsafe { (library.functions.space_selection)(space) }
}

/// Returns the number of selected elements.
pub(crate) fn count(library: &Library, space: Hid) -> Option<u64> {
    // SAFETY: the function takes any identifier.
    u64::try_from(unsafe { (library.functions.space_count)(space) }).ok()
}

/// A regular hyperslab, and the bounds of the selection, which an offset moves, and the hyperslab does not
/// have. Each has a number for each dimension.
#[derive(Debug)]
pub(crate) struct Regular {
    pub(crate) start: Vec<u64>,
    pub(crate) stride: Vec<u64>,
    pub(crate) count: Vec<u64>,
    pub(crate) block: Vec<u64>,
    pub(crate) first: Vec<u64>,
    pub(crate) last: Vec<u64>,
}

/// Returns the hyperslab that is selected, if it is a regular one.
pub(crate) fn regular(library: &Library, space: Hid) -> Option<Regular> {
    let calls = &library.functions;
    let numbers = || vec![0; MAX_RANK];
    let mut found = Regular {
        start: numbers(),
        stride: numbers(),
        count: numbers(),
        block: numbers(),
        first: numbers(),
        last: numbers(),
    };
    // An offset may move the selection out of its extent, which has no bounds then.
    // SAFETY: the places have room for all dimensions.
    let is_regular = library.quietly(|| unsafe {
        (calls.space_is_regular)(space) > 0
            && (calls.space_hyperslab)(
                space,
                found.start.as_mut_ptr(),
                found.stride.as_mut_ptr(),
                found.count.as_mut_ptr(),
                found.block.as_mut_ptr(),
            ) >= 0
            && (calls.space_bounds)(space, found.first.as_mut_ptr(), found.last.as_mut_ptr()) >= 0
    })?;
    is_regular.then_some(found)
}
