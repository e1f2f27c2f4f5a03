//! File addresses and extents, with checked arithmetic.

use std::fmt;

/// A file address relative to the superblock's base address, or the undefined address.
///
/// Never a `usize`, never an offset in a buffer. The undefined address has all bits set: on disk as many bits
/// as the file's addresses have, in memory those of a `u64`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Addr(u64);

impl Addr {
    /// The undefined address: not allocated or not present.
    pub const UNDEFINED: Self = Self(u64::MAX);

    /// Creates the address `value` bytes after the base address.
    pub const fn new(value: u64) -> Self {
        Self(value)
    }

    /// Returns the bytes after the base address. Meaningless if undefined.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns whether this is [`Addr::UNDEFINED`].
    pub const fn is_undefined(self) -> bool {
        self.0 == u64::MAX
    }

    /// Returns whether this is not [`Addr::UNDEFINED`].
    pub const fn is_defined(self) -> bool {
        !self.is_undefined()
    }

    /// Returns the address, or `None` if it is undefined.
    pub fn defined(self) -> Option<Self> {
        self.is_defined().then_some(self)
    }

    /// Returns the address `bytes` after this one, or `None` on overflow or if `self` is undefined.
    pub const fn checked_add(self, bytes: u64) -> Option<Self> {
        if self.is_undefined() {
            return None;
        }
        match self.0.checked_add(bytes) {
            Some(u64::MAX) | None => None,
            Some(sum) => Some(Self(sum)),
        }
    }
}

impl fmt::Display for Addr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_undefined() { f.write_str("undefined") } else { write!(f, "{:#x}", self.0) }
    }
}

impl fmt::Debug for Addr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Consecutive bytes of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Extent {
    /// The address of the first byte.
    pub addr: Addr,
    /// The number of bytes.
    pub len: u64,
}

impl Extent {
    /// Creates the extent of `len` bytes that begins at `addr`.
    pub const fn new(addr: Addr, len: u64) -> Self {
        Self { addr, len }
    }

    /// Returns the address after the last byte, or `None` on overflow or if `addr` is undefined.
    pub const fn end(self) -> Option<Addr> {
        self.addr.checked_add(self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_never_reaches_the_undefined_address() {
        assert_eq!(Addr::new(u64::MAX - 2).checked_add(1), Some(Addr::new(u64::MAX - 1)));
        assert_eq!(Addr::new(u64::MAX - 2).checked_add(2), None);
        assert_eq!(Addr::new(5).checked_add(u64::MAX), None);
        assert_eq!(Addr::UNDEFINED.checked_add(0), None);
    }
}
