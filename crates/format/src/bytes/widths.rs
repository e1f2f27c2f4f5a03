//! The two field widths that the superblock states (spec II.A, Size of Offsets and Size of Lengths).

/// A width of 2, 4, 8 or 16 bytes. Only addresses have 16 bytes: libhdf5 makes no readable files with such
/// lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Width {
    /// Two bytes.
    Two = 2,
    /// Four bytes.
    Four = 4,
    /// Eight bytes, the default of every library.
    Eight = 8,
    /// Sixteen bytes.
    Sixteen = 16,
}

impl Width {
    /// Returns the width of `bytes` bytes, or `None` if there is no such width.
    pub const fn from_bytes(bytes: u8) -> Option<Self> {
        match bytes {
            2 => Some(Self::Two),
            4 => Some(Self::Four),
            8 => Some(Self::Eight),
            16 => Some(Self::Sixteen),
            _ => None,
        }
    }

    /// Returns the width in bytes.
    pub const fn bytes(self) -> usize {
        self as usize
    }

    /// Returns the largest number of this width, which as an address is the undefined address. Of sixteen
    /// bytes, the low eight.
    pub const fn max(self) -> u64 {
        match self {
            Self::Two => 0xffff,
            Self::Four => 0xffff_ffff,
            Self::Eight | Self::Sixteen => u64::MAX,
        }
    }
}

/// The widths of addresses and lengths in one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Widths {
    /// The width of addresses (Size of Offsets).
    pub offset: Width,
    /// The width of lengths (Size of Lengths).
    pub length: Width,
}

impl Widths {
    /// Eight bytes each, the default of every library.
    pub const EIGHT: Self = Self { offset: Width::Eight, length: Width::Eight };
}

/// Returns the smallest number of bytes, at least 1, that can hold every number from 0 to `largest`. The
/// format stores many fields in that number of bytes.
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
    fn a_width_has_its_bytes_and_their_largest_number() {
        for (bytes, max) in [(2, 0xffff), (4, 0xffff_ffff), (8, u64::MAX), (16, u64::MAX)] {
            let width = Width::from_bytes(bytes).unwrap();
            assert_eq!((width.bytes(), width.max()), (bytes.into(), max));
        }
        assert!([0, 1, 3, 6, 12, 32].map(Width::from_bytes).iter().all(Option::is_none));
    }

    #[test]
    fn a_field_is_as_wide_as_its_largest_value() {
        let widths: Vec<_> = [0, 1, 255, 256, 0xff_ffff, 1 << 24, u64::MAX].map(bytes_for).into();
        assert_eq!(widths, [1, 1, 1, 2, 3, 4, 8]);
    }
}
