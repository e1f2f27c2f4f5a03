//! The head with which each class of datatype begins: class and version, class bits, and size (spec
//! IV.A.2.d).

use crate::bytes::{Reader, Writer};
use crate::error::Result;

/// The size of the head in bytes.
pub(super) const HEAD_LEN: usize = 8;

/// The head of a datatype, the same for every class.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head {
    /// 1 to 5.
    pub(super) version: u8,
    /// The 24 class bits, whose meaning depends on the class.
    pub(super) flags: u32,
    /// The size of an element in bytes.
    pub(super) size: u32,
}

impl Head {
    /// Returns whether bit `bit` of the class bits is set.
    pub(super) fn bit(self, bit: u32) -> bool {
        self.flags >> bit & 1 != 0
    }

    /// Returns `count` of the class bits, from bit `low` on.
    pub(super) fn field(self, low: u32, count: u32) -> u32 {
        self.flags >> low & ((1 << count) - 1)
    }

    /// Checks that the stored size is `expected`, the size that follows from the datatype's parts.
    pub(super) fn expect_size(self, r: &Reader<'_>, expected: u64, rule: &'static str) -> Result<()> {
        if u64::from(self.size) == expected {
            return Ok(());
        }
        Err(r.bad_value("datatype size", self.size.into(), rule))
    }
}

/// Writes the head of a datatype.
pub(super) fn head(w: &mut Writer<'_>, class: u8, version: u8, flags: u32, size: u32) {
    w.u8(version << 4 | class);
    w.uint(flags.into(), 3);
    w.u32(size);
}
