//! The memory that a plug-in allocates while it is called, each piece with a guard behind it. Plug-ins and
//! their callers share the allocator of the C library: a filter frees the memory that it is given, and
//! returns memory of its own. Our pieces are those of the C library, only longer, so that anyone may free
//! them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr;

/// The bytes behind each piece, and their value.
const GUARD: usize = 64;
const MARK: u8 = 0xa5;

/// What a call has allocated.
#[derive(Debug, Default)]
struct Pieces {
    /// The requested length of each piece, by its address.
    sizes: HashMap<usize, usize>,
    is_overrun: bool,
}

thread_local! {
    /// The pieces of the call that runs on this thread.
    static PIECES: RefCell<Option<Pieces>> = const { RefCell::new(None) };
}

/// Runs `f` with the pieces of the current call, if there is one.
fn with<T>(f: impl FnOnce(&mut Pieces) -> T) -> Option<T> {
    PIECES.try_with(|pieces| pieces.try_borrow_mut().ok()?.as_mut().map(f)).ok().flatten()
}

/// Begins a call.
pub(super) fn begin() {
    PIECES.with_borrow_mut(|pieces| *pieces = Some(Pieces::default()));
}

/// Ends a call. Returns whether the plug-in has written behind a piece that it has freed, or behind this one,
/// and the length of this one.
pub(super) fn end(piece: *const c_void) -> (bool, usize) {
    let pieces = PIECES.with_borrow_mut(Option::take).unwrap_or_default();
    match pieces.sizes.get(&piece.addr()) {
        Some(&size) => (pieces.is_overrun || !is_whole(piece, size), size),
        // Memory that was not allocated here has the length that the C library says.
        // SAFETY: `piece` is null or memory of the C library's allocator, by the rules of plug-ins.
        None => (pieces.is_overrun, unsafe { libc::malloc_usable_size(piece.cast_mut()) }),
    }
}

/// Returns whether the guard behind a piece is as it was.
fn is_whole(piece: *const c_void, size: usize) -> bool {
    // SAFETY: the C library says how long the piece is.
    let usable = unsafe { libc::malloc_usable_size(piece.cast_mut()) };
    if usable < size + GUARD {
        // It was freed and allocated again without our knowledge.
        return true;
    }
    // SAFETY: the piece has `size + GUARD` bytes at least, and the guard was written when it was allocated.
    let guard = unsafe { std::slice::from_raw_parts(piece.cast::<u8>().add(size), GUARD) };
    guard.iter().all(|&byte| byte == MARK)
}

/// Writes the guard behind a new piece and remembers the piece.
fn remember(piece: *mut c_void, size: usize) {
    if piece.is_null() {
        return;
    }
    // SAFETY: the callers have allocated `size + GUARD` bytes.
    unsafe { ptr::write_bytes(piece.cast::<u8>().add(size), MARK, GUARD) };
    with(|pieces| pieces.sizes.insert(piece.addr(), size));
}

/// Checks a piece that is about to be freed, and forgets it.
fn forget(piece: *const c_void) {
    with(|pieces| {
        if let Some(size) = pieces.sizes.remove(&piece.addr()) {
            pieces.is_overrun |= !is_whole(piece, size);
        }
    });
}

/// `malloc`.
pub(super) extern "C" fn allocate(size: usize) -> *mut c_void {
    let Some(len) = size.checked_add(GUARD) else { return ptr::null_mut() };
    // SAFETY: any size may be asked for.
    let piece = unsafe { libc::malloc(len) };
    remember(piece, size);
    piece
}

/// `calloc`.
pub(super) extern "C" fn allocate_zeros(count: usize, size: usize) -> *mut c_void {
    let Some(len) = count.checked_mul(size) else { return ptr::null_mut() };
    let Some(padded) = len.checked_add(GUARD) else { return ptr::null_mut() };
    // SAFETY: any size may be asked for.
    let piece = unsafe { libc::calloc(1, padded) };
    remember(piece, len);
    piece
}

/// `realloc`.
pub(super) extern "C" fn resize(piece: *mut c_void, size: usize) -> *mut c_void {
    if piece.is_null() {
        return allocate(size);
    }
    if size == 0 {
        free(piece);
        return ptr::null_mut();
    }
    let Some(len) = size.checked_add(GUARD) else { return ptr::null_mut() };
    forget(piece);
    // SAFETY: `piece` is memory of the C library's allocator, by the rules of `realloc`.
    let moved = unsafe { libc::realloc(piece, len) };
    remember(moved, size);
    moved
}

/// `free`.
pub(super) extern "C" fn free(piece: *mut c_void) {
    forget(piece);
    // SAFETY: `piece` is null or memory of the C library's allocator, by the rules of `free`.
    unsafe { libc::free(piece) };
}
