//! The guard: bits of the End of File Address (spec II.A) that keep every program from opening a file while
//! it is changed.
//!
//! A file whose End of File Address is past its end counts as truncated, and libhdf5 refuses it in every
//! version of the superblock. The bits are so high that no file is that long, and clearing them restores the
//! address. In versions 0 and 1, setting them changes one byte, so the write cannot tear. In versions 2 and
//! 3, the checksum detects a torn write.
//!
//! These functions work on the bytes of a superblock, not on its fields, so reserved bytes are preserved.

use super::Superblock;
use crate::bytes::Width;
use crate::bytes::lookup3::lookup3;

/// How far the addresses of a file reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reach {
    /// One range from 0 on.
    Whole,
    /// Two ranges: that of elements begins at about 2^63 (split files, spec II.B). libhdf5 compares the End
    /// of File Address with the end of the second range.
    Split,
}

/// Returns the guard bits for addresses of width `offsets`. `None` for two bytes, which have no bit to spare,
/// for sixteen bytes, of which files are only read, and for split files with addresses that do not reach the
/// second range.
pub const fn bits(offsets: Width, reach: Reach) -> Option<u64> {
    match (offsets, reach) {
        (Width::Four, Reach::Whole) => Some(1 << 30),
        (Width::Eight, Reach::Whole) => Some(1 << 62),
        (Width::Eight, Reach::Split) => Some(3 << 62),
        _ => None,
    }
}

impl Superblock {
    /// Returns whether this superblock is guarded, in a file whose first range has `file_len` bytes. If it
    /// is, its End of File Address is valid only after the guard is cleared.
    pub fn is_guarded(&self, reach: Reach, file_len: u64) -> bool {
        let end = self.end_of_file();
        // With addresses of four bytes, the bit may belong to the address of a large file. Such a file is
        // long enough.
        bits(self.widths().offset, reach).is_some_and(|bits| end & bits == bits) && end > file_len
    }
}

/// Returns the superblock `image` with the guard set. `None` if addresses have no bits to spare, one of them
/// is already set, or `image` is not a superblock.
pub fn set(image: &[u8], reach: Reach) -> Option<Vec<u8>> {
    change(image, reach, |end, bits| (end & bits == 0).then_some(end | bits))
}

/// Returns the superblock `image` with the guard cleared. `None` if the guard is not set.
pub fn clear(image: &[u8], reach: Reach) -> Option<Vec<u8>> {
    change(image, reach, |end, bits| (end & bits == bits).then_some(end & !bits))
}

/// Changes the End of File Address of a superblock, and updates its checksum if it has one.
fn change(image: &[u8], reach: Reach, f: impl FnOnce(u64, u64) -> Option<u64>) -> Option<Vec<u8>> {
    let version = *image.get(VERSION_AT)?;
    let (size_at, fields_at) = match version {
        0 => (13, 24),
        1 => (13, 28),
        2 | 3 => (9, 12),
        _ => return None,
    };
    let offsets = Width::from_bytes(*image.get(size_at)?)?;
    let bits = bits(offsets, reach)?;
    // Two addresses precede it: base and free space, or base and extension.
    let at = fields_at + 2 * offsets.bytes();
    let mut changed = image.to_vec();
    let field = changed.get_mut(at..at + offsets.bytes())?;
    let mut wide = [0; 8];
    wide.get_mut(..field.len())?.copy_from_slice(field);
    let end = f(u64::from_le_bytes(wide), bits)?.to_le_bytes();
    field.copy_from_slice(end.get(..field.len())?);
    if version >= 2 {
        let sum_at = fields_at + 4 * offsets.bytes();
        let sum = lookup3(changed.get(..sum_at)?);
        changed.get_mut(sum_at..sum_at + 4)?.copy_from_slice(&sum.to_le_bytes());
    }
    Some(changed)
}

/// The offset of the version, after the signature, in every superblock.
const VERSION_AT: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addr::Addr;
    use crate::bytes::{Reader, Widths, Writer};
    use crate::superblock::v2::SuperblockV2;

    fn image(version: u8, offset: Width, end_of_file: u64) -> (Superblock, Vec<u8>) {
        let widths = Widths { offset, length: Width::Eight };
        let superblock = Superblock::V2(SuperblockV2 {
            version,
            widths,
            consistency_flags: 0,
            base_address: 0,
            extension: Addr::UNDEFINED,
            end_of_file,
            root: Addr::new(48),
        });
        let mut bytes = Vec::new();
        Writer::new(&mut bytes, widths).structure(&superblock, &());
        (superblock, bytes)
    }

    fn decode(bytes: &[u8]) -> Superblock {
        Reader::new(bytes, Widths::EIGHT, Addr::new(0)).structure::<Superblock>(&()).unwrap()
    }

    #[test]
    fn set_and_clear_move_the_end_of_the_file_and_restore_it() {
        for (width, reach, end) in [
            (Width::Eight, Reach::Whole, 5000 + (1 << 62)),
            (Width::Four, Reach::Whole, 5000 + (1 << 30)),
            (Width::Eight, Reach::Split, 5000 + (3 << 62)),
        ] {
            let (plain, bytes) = image(3, width, 5000);
            let guarded = set(&bytes, reach).unwrap();
            assert_eq!(decode(&guarded).end_of_file(), end);
            assert!(decode(&guarded).is_guarded(reach, 6000));
            assert!(!plain.is_guarded(reach, 6000) && !plain.is_guarded(reach, 4000));
            assert_eq!(clear(&guarded, reach).unwrap(), bytes);
            assert!(set(&guarded, reach).is_none() && clear(&bytes, reach).is_none());
        }
        for (width, reach) in [(Width::Two, Reach::Whole), (Width::Four, Reach::Split)] {
            assert!(set(&image(2, width, 5000).1, reach).is_none());
        }
    }

    #[test]
    fn one_of_the_bits_is_not_the_guard_of_a_split_file() {
        // libhdf5 1.6 states the end of the second range.
        for end in [(1 << 63) - 1, 1 << 63, 1 << 62] {
            let (superblock, bytes) = image(2, Width::Eight, end);
            assert!(!superblock.is_guarded(Reach::Split, 5000));
            assert!(set(&bytes, Reach::Split).is_none() && clear(&bytes, Reach::Split).is_none());
        }
    }

    #[test]
    fn a_large_file_with_short_addresses_is_not_guarded() {
        let (large, _) = image(2, Width::Four, (1 << 30) + 5000);
        assert!(!large.is_guarded(Reach::Whole, (1 << 30) + 5000));
    }

    #[test]
    fn in_version_0_the_guard_changes_one_byte() {
        let bytes = crate::golden::unhex(
            "89484446 0d0a1a0a 00 00 00 00 00 08 08 00 0400 1000 00000000 0004000000000000 ff*8 337b000000000000 ff*8
             00*8 6000000000000000 01000000 00000000 8800000000000000 a802000000000000",
        );
        for (reach, byte) in [(Reach::Whole, 0x40), (Reach::Split, 0xc0)] {
            let guarded = set(&bytes, reach).unwrap();
            let differ: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at] != guarded[at]).collect();
            assert_eq!((differ, bytes[47], guarded[47]), (vec![47], 0, byte));
            assert_eq!(clear(&guarded, reach).unwrap(), bytes);
        }
    }

    #[test]
    fn bytes_that_are_not_a_superblock_cannot_be_guarded() {
        for bytes in [&b""[..], b"\x89HDF\r\n\x1a\n", b"\x89HDF\r\n\x1a\n\x02\x08\x08\0\0\0", &[7; 100]] {
            assert!(set(bytes, Reach::Whole).is_none() && clear(bytes, Reach::Whole).is_none());
        }
    }
}
