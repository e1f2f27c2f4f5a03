//! The system's allocator, which reports every allocation to a test. The only unsafe code of the tests.

use std::alloc::{GlobalAlloc, Layout, System};

/// An allocator for `#[global_allocator]` that calls functions. The functions may allocate, but must then
/// handle being called again.
#[derive(Debug)]
pub struct Watched {
    /// Called with the size in bytes of every allocation, before it is made.
    pub allocates: fn(usize),
    /// Called with the size in bytes of every allocation that is freed.
    pub frees: fn(usize),
}

// SAFETY: every call is forwarded unchanged to the system's allocator; reporting does not affect it.
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
