//! Which libhdf5 loads the plug-in: the image that contains the return address of
//! [`H5PLget_plugin_info`](crate::callbacks::class::H5PLget_plugin_info).

use std::ffi::{CStr, CString, c_void};

/// An image in memory: a shared library, or the program.
#[derive(Debug, Clone)]
pub(crate) struct Image {
    /// The address that it is loaded at.
    pub(crate) base: usize,
    path: CString,
}

impl Image {
    /// Returns the image that contains `address`.
    pub(crate) fn of(address: *const c_void) -> Option<Self> {
        // SAFETY: all fields of `Dl_info` may be zero.
        let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
        // SAFETY: `dladdr` takes any address, and writes to `info` alone.
        let found = unsafe { libc::dladdr(address, &raw mut info) } != 0;
        if !found || info.dli_fname.is_null() {
            return None;
        }
        // SAFETY: the loader's names end in a zero, and stay as long as their image.
        let path = unsafe { CStr::from_ptr(info.dli_fname) }.to_owned();
        Some(Self { base: info.dli_fbase.addr(), path })
    }

    /// Returns the address of a symbol that the image exports, or null.
    pub(crate) fn symbol(&self, name: &CStr) -> *mut c_void {
        // SAFETY: the image is in memory already, and nothing is loaded or unloaded. The program itself
        // has no name that the loader finds, and is asked as the null name.
        unsafe {
            let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
            let mut handle = libc::dlopen(self.path.as_ptr(), flags);
            if handle.is_null() {
                handle = libc::dlopen(std::ptr::null(), libc::RTLD_LAZY);
            }
            let found = libc::dlsym(handle, name.as_ptr());
            // The image has its other users, who loaded it.
            libc::dlclose(handle);
            let is_inside = Self::of(found).is_some_and(|image| image.base == self.base);
            if is_inside { found } else { std::ptr::null_mut() }
        }
    }

    /// Returns whether `address` is inside the image.
    pub(crate) fn contains(&self, address: *const c_void) -> bool {
        Self::of(address).is_some_and(|image| image.base == self.base)
    }
}
