//! The guard: one bit of the End of File Address (spec II.A) that keeps every program from opening a file
//! while it is changed.
//!
//! A file whose End of File Address is past its end counts as truncated, and libhdf5 refuses it in every
//! version of the superblock. The bit is so high that no file is that long, and clearing it restores the
//! address. In versions 0 and 1, setting the bit changes one byte, so the write cannot tear. In versions 2
//! and 3, the checksum detects a torn write.
//!
//! These functions work on the bytes of a superblock, not on its fields, so reserved bytes are preserved.

use super::Superblock;
use crate::bytes::Width;
use crate::bytes::lookup3::lookup3;

/// Returns the guard bit for addresses of width `offsets`. `None` for two bytes, which have no bit to spare,
/// and for sixteen bytes, of which files are only read.
pub const fn bit(offsets: Width) -> Option<u64> {
    match offsets {
        Width::Two | Width::Sixteen => None,
        Width::Four => Some(1 << 30),
        Width::Eight => Some(1 << 62),
    }
}

impl Superblock {
    /// Returns whether this superblock of a file of `file_len` bytes is guarded. If it is, its End of File
    /// Address is valid only after the guard is cleared.
    pub fn is_guarded(&self, file_len: u64) -> bool {
        let end = self.end_of_file();
        // With addresses of four bytes, the bit may belong to the address of a large file. Such a file is
        // long enough.
        bit(self.widths().offset).is_some_and(|bit| end & bit != 0) && end > file_len
    }
}

/// Returns the superblock `image` with the guard set. `None` if addresses have no bit to spare, the bit is
/// already set, or `image` is not a superblock.
pub fn set(image: &[u8]) -> Option<Vec<u8>> {
    change(image, |end, bit| (end & bit == 0).then_some(end | bit))
}

/// Returns the superblock `image` with the guard cleared. `None` if the guard is not set.
pub fn clear(image: &[u8]) -> Option<Vec<u8>> {
    change(image, |end, bit| (end & bit != 0).then_some(end & !bit))
}

/// Changes the End of File Address of a superblock, and updates its checksum if it has one.
fn change(image: &[u8], f: impl FnOnce(u64, u64) -> Option<u64>) -> Option<Vec<u8>> {
    let version = *image.get(VERSION_AT)?;
    let (size_at, fields_at) = match version {
        0 => (13, 24),
        1 => (13, 28),
        2 | 3 => (9, 12),
        _ => return None,
    };
    let offsets = Width::from_bytes(*image.get(size_at)?)?;
    let bit = bit(offsets)?;
    // Two addresses precede it: base and free space, or base and extension.
    let at = fields_at + 2 * offsets.bytes();
    let mut changed = image.to_vec();
    let field = changed.get_mut(at..at + offsets.bytes())?;
    let mut wide = [0; 8];
    wide.get_mut(..field.len())?.copy_from_slice(field);
    let end = f(u64::from_le_bytes(wide), bit)?.to_le_bytes();
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
        for (width, end) in [(Width::Eight, 5000 + (1 << 62)), (Width::Four, 5000 + (1 << 30))] {
            let (plain, bytes) = image(3, width, 5000);
            let guarded = set(&bytes).unwrap();
            assert_eq!(decode(&guarded).end_of_file(), end);
            assert!(decode(&guarded).is_guarded(6000) && !plain.is_guarded(6000) && !plain.is_guarded(4000));
            assert_eq!(clear(&guarded).unwrap(), bytes);
            assert!(set(&guarded).is_none() && clear(&bytes).is_none());
        }
        assert!(set(&image(2, Width::Two, 5000).1).is_none());
    }

    #[test]
    fn a_large_file_with_short_addresses_is_not_guarded() {
        let (large, _) = image(2, Width::Four, (1 << 30) + 5000);
        assert!(!large.is_guarded((1 << 30) + 5000));
    }

    #[test]
    fn in_version_0_the_guard_changes_one_byte() {
        let bytes = crate::golden::unhex(
            "89484446 0d0a1a0a 00 00 00 00 00 08 08 00 0400 1000 00000000 0004000000000000 ff*8 337b000000000000 ff*8
             00*8 6000000000000000 01000000 00000000 8800000000000000 a802000000000000",
        );
        let guarded = set(&bytes).unwrap();
        let differ: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at] != guarded[at]).collect();
        assert_eq!((differ, bytes[47], guarded[47]), (vec![47], 0, 0x40));
        assert_eq!(clear(&guarded).unwrap(), bytes);
    }

    #[test]
    fn bytes_that_are_not_a_superblock_cannot_be_guarded() {
        for bytes in [&b""[..], b"\x89HDF\r\n\x1a\n", b"\x89HDF\r\n\x1a\n\x02\x08\x08\0\0\0", &[7; 100]] {
            assert!(set(bytes).is_none() && clear(bytes).is_none());
        }
    }
}
