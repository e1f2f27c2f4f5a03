//! File addresses and extents, with checked arithmetic.

use std::fmt;

/// A file address, relative to the superblock's base address; or undefined.
///
/// Never a `usize`, never an offset in a buffer. On disk the undefined address has all bits set, whatever the
/// width of addresses; in memory it is all bits of a `u64`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Addr(u64);

impl Addr {
    /// "Nothing here": not allocated, not present.
    pub const UNDEFINED: Self = Self(u64::MAX);

    /// The address `value` bytes after the base address.
    pub const fn new(value: u64) -> Self {
        Self(value)
    }

    /// Bytes after the base address. Meaningless if undefined.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Whether this is [`Addr::UNDEFINED`].
    pub const fn is_undefined(self) -> bool {
        self.0 == u64::MAX
    }

    /// Whether this is an address.
    pub const fn is_defined(self) -> bool {
        !self.is_undefined()
    }

    /// The address, or `None` if undefined.
    pub fn defined(self) -> Option<Self> {
        self.is_defined().then_some(self)
    }

    /// The address `bytes` further on, or `None` if that overflows or `self` is undefined.
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
    /// Where they begin.
    pub addr: Addr,
    /// How many they are.
    pub len: u64,
}

impl Extent {
    /// `len` bytes from `addr` on.
    pub const fn new(addr: Addr, len: u64) -> Self {
        Self { addr, len }
    }

    /// The address after the last byte, or `None` if there is no such address.
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
