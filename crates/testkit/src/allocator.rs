//! The system's allocator, which tells a test of every allocation. The one place of the tests with unsafe code.

use std::alloc::{GlobalAlloc, Layout, System};

/// An allocator for `#[global_allocator]` that reports to functions, which may allocate if they mind that they are then
/// called again.
#[derive(Debug)]
pub struct Watched {
    /// Called with the bytes of every allocation, before it is made.
    pub allocates: fn(usize),
    /// Called with the bytes of every allocation that is given back.
    pub frees: fn(usize),
}

// SAFETY: every call goes to the system's allocator as it is; the functions called beside it change nothing about it.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        (self.allocates)(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        (self.allocates)(layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        (self.frees)(layout.size());
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        (self.allocates)(size);
        (self.frees)(layout.size());
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(at, layout, size) }
    }
}
