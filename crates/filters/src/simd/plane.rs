//! Byte k of many elements, one after the other or all the same.

/// Bytes that a kernel loads at a time at most.
const WIDEST: usize = 32;

/// A register's worth of each byte.
static REPEATED: [[u8; WIDEST]; 256] = {
    let mut repeated = [[0; WIDEST]; 256];
    let mut byte = 0u8;
    loop {
        repeated[byte as usize] = [byte; WIDEST];
        if byte == 255 {
            break repeated;
        }
        byte += 1;
    }
};

/// One byte of every element.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plane<'a> {
    bytes: &'a [u8],
    /// All ones, or zero if every load is from the start of `bytes`, which then has `WIDEST` equal ones.
    mask: usize,
}

impl<'a> Plane<'a> {
    /// Bytes in memory.
    #[inline]
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, mask: usize::MAX }
    }

    /// The same byte for any number of elements.
    #[inline]
    pub(crate) fn repeated(byte: u8) -> Self {
        Self { bytes: &REPEATED[usize::from(byte)], mask: 0 }
    }

    /// The byte of element `index`.
    #[inline]
    pub(crate) fn byte(&self, index: usize) -> u8 {
        self.bytes[index & self.mask]
    }

    /// Whether there are `count` elements.
    #[inline]
    pub(super) fn has(&self, count: usize) -> bool {
        self.mask == 0 || count <= self.bytes.len()
    }

    /// Where a kernel finds the bytes from element `index` on: up to 32 of those that the plane has.
    ///
    /// # Safety
    /// The plane has more than `index` elements.
    #[inline(always)]
    pub(super) unsafe fn from(&self, index: usize) -> *const u8 {
        // SAFETY: the caller's `index` is inside `bytes`, or the mask makes it zero.
        unsafe { self.bytes.as_ptr().add(index & self.mask) }
    }
}
