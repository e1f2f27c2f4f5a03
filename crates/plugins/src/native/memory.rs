//! The memory that a plug-in allocates, each piece with a guard behind it. Plug-ins and their callers share
//! the allocator of the C library: a filter frees the memory that it is given, and returns memory of its
//! own. Our pieces are those of the C library, only longer, so that anyone may free them.
//!
//! A piece says itself how long it is, in its last bytes. A list of the pieces of a call would not do: a
//! plug-in's own threads free pieces, and get their addresses again.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

/// The bytes behind each piece, and their value.
const GUARD: usize = 64;
const MARK: u8 = 0xa5;

/// The last bytes of a piece as the C library allocates it: the requested length, and a number that tells the
/// piece from those of others.
const TAG: usize = 16;
const SECRET: u64 = 0x9e37_79b9_7f4a_7c15;

thread_local! {
    /// Whether the call that runs on this thread has written behind a piece that it has freed.
    static IS_OVERRUN: Cell<bool> = const { Cell::new(false) };
}

/// Begins a call.
pub(super) fn begin() {
    IS_OVERRUN.set(false);
}

/// Ends a call. Returns whether the plug-in has written behind a piece that it has freed, or behind this one,
/// and the length of this one.
pub(super) fn end(piece: *const c_void) -> (bool, usize) {
    let is_overrun = IS_OVERRUN.take();
    match size_of_piece(piece) {
        Some(size) => (is_overrun || !is_whole(piece, size), size),
        // Memory that was not allocated here has the length that the C library says.
        None => (is_overrun, usable(piece)),
    }
}

/// Returns the bytes of a piece, its guard and tag included.
fn usable(piece: *const c_void) -> usize {
    // SAFETY: `piece` is null or memory of the C library's allocator, by the rules of plug-ins.
    unsafe { libc::malloc_usable_size(piece.cast_mut()) }
}

/// Returns the tag of a piece of `size` bytes.
fn tag(piece: *const c_void, size: usize) -> [u64; 2] {
    let size = size as u64;
    [size, (size ^ SECRET).wrapping_mul(SECRET) ^ piece.addr() as u64]
}

/// Returns the place of the tag of a piece, or `None` if the piece is too short for one.
fn tag_of(piece: *const c_void) -> Option<*mut [u64; 2]> {
    let at = usable(piece).checked_sub(TAG).filter(|&at| at >= GUARD)?;
    // SAFETY: the place is in the memory of the piece.
    Some(unsafe { piece.byte_add(at) }.cast_mut().cast())
}

/// Returns the requested length of a piece that was allocated here.
fn size_of_piece(piece: *const c_void) -> Option<usize> {
    // SAFETY: the place is in the memory of the piece. Any bytes are a tag, which is then compared.
    let found = unsafe { tag_of(piece)?.read_unaligned() };
    let size = usize::try_from(found[0]).ok()?;
    let is_ours = found == tag(piece, size) && size.checked_add(GUARD + TAG)? <= usable(piece);
    is_ours.then_some(size)
}

/// Returns whether the guard behind a piece of `size` bytes is as it was.
fn is_whole(piece: *const c_void, size: usize) -> bool {
    // SAFETY: the piece has `size + GUARD + TAG` bytes at least, and the guard was written when it was
    // allocated.
    let guard = unsafe { std::slice::from_raw_parts(piece.cast::<u8>().add(size), GUARD) };
    guard.iter().all(|&byte| byte == MARK)
}

/// Writes the guard and the tag behind a new piece of `size + GUARD + TAG` bytes or more.
fn mark(piece: *mut c_void, size: usize) {
    let Some(place) = tag_of(piece) else { return };
    // SAFETY: the callers have allocated `size + GUARD + TAG` bytes, and the tag is in the last ones.
    unsafe {
        ptr::write_bytes(piece.cast::<u8>().add(size), MARK, GUARD);
        place.write_unaligned(tag(piece, size));
    }
}

/// Checks a piece that is about to be freed, and removes its tag.
fn unmark(piece: *const c_void) {
    let Some(size) = size_of_piece(piece) else { return };
    if !is_whole(piece, size) {
        IS_OVERRUN.set(true);
    }
    if let Some(place) = tag_of(piece) {
        // Another owner of this memory might leave the tag as it is. Compilers drop plain writes to memory
        // that is freed next.
        for at in 0..TAG {
            // SAFETY: the place is in the memory of the piece, behind what was asked for.
            unsafe { place.cast::<u8>().add(at).write_volatile(0) }
        }
    }
}

/// `malloc`.
pub(super) extern "C" fn allocate(size: usize) -> *mut c_void {
    let Some(len) = size.checked_add(GUARD + TAG) else { return ptr::null_mut() };
    // SAFETY: any size may be asked for.
    let piece = unsafe { libc::malloc(len) };
    mark(piece, size);
    piece
}

/// `calloc`.
pub(super) extern "C" fn allocate_zeros(count: usize, size: usize) -> *mut c_void {
    let Some(len) = count.checked_mul(size) else { return ptr::null_mut() };
    let Some(padded) = len.checked_add(GUARD + TAG) else { return ptr::null_mut() };
    // SAFETY: any size may be asked for.
    let piece = unsafe { libc::calloc(1, padded) };
    mark(piece, len);
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
    let Some(len) = size.checked_add(GUARD + TAG) else { return ptr::null_mut() };
    unmark(piece);
    // SAFETY: `piece` is memory of the C library's allocator, by the rules of `realloc`.
    let moved = unsafe { libc::realloc(piece, len) };
    mark(moved, size);
    moved
}

/// `free`.
pub(super) extern "C" fn free(piece: *mut c_void) {
    unmark(piece);
    // SAFETY: `piece` is null or memory of the C library's allocator, by the rules of `free`.
    unsafe { libc::free(piece) };
}
