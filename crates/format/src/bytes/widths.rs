//! The two field widths that the superblock chooses (spec II.A, Size of Offsets and Size of Lengths).

/// A width of 2, 4 or 8 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Width {
    /// Two bytes.
    Two = 2,
    /// Four bytes.
    Four = 4,
    /// Eight bytes, what every library writes unless told otherwise.
    Eight = 8,
}

impl Width {
    /// The width of `bytes` bytes, if it is one that a file may choose.
    pub const fn from_bytes(bytes: u8) -> Option<Self> {
        match bytes {
            2 => Some(Self::Two),
            4 => Some(Self::Four),
            8 => Some(Self::Eight),
            _ => None,
        }
    }

    /// In bytes.
    pub const fn bytes(self) -> usize {
        self as usize
    }

    /// The largest number of this width: as an address, the undefined one.
    pub const fn max(self) -> u64 {
        u64::MAX >> (64 - 8 * self as u32)
    }
}

/// How wide addresses and lengths are in one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Widths {
    /// Of addresses (Size of Offsets).
    pub offset: Width,
    /// Of lengths (Size of Lengths).
    pub length: Width,
}

impl Widths {
    /// Eight bytes each, what every library writes unless told otherwise.
    pub const EIGHT: Self = Self { offset: Width::Eight, length: Width::Eight };
}

/// How many bytes hold every number from 0 to `largest`: at least one. The format stores many fields in as few.
pub const fn bytes_for(largest: u64) -> usize {
    match largest {
        0 => 1,
        _ => (largest.ilog2() / 8) as usize + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_as_wide_as_its_largest_value() {
        let widths: Vec<_> = [0, 1, 255, 256, 0xff_ffff, 1 << 24, u64::MAX].map(bytes_for).into();
        assert_eq!(widths, [1, 1, 1, 2, 3, 4, 8]);
    }
}
