//! The guard: one bit of the End of File Address (spec II.A) that closes a file to every program while it is changed.
//!
//! A file whose End of File Address lies past its end counts as truncated, and libhdf5 refuses it in every version of
//! the superblock. The bit is so high that no file is that long, and clearing it gives the address back. In versions
//! 0 and 1 setting it changes one byte, which cannot tear; in versions 2 and 3 the checksum tells.
//!
//! These functions work on the bytes of a superblock, not on its fields: reserved bytes stay as they are.

use super::Superblock;
use crate::bytes::Width;
use crate::bytes::lookup3::lookup3;

/// The bit, in a file whose addresses are this wide; none where addresses of two bytes leave no room for it.
pub const fn bit(offsets: Width) -> Option<u64> {
    match offsets {
        Width::Two => None,
        Width::Four => Some(1 << 30),
        Width::Eight => Some(1 << 62),
    }
}

impl Superblock {
    /// Whether this superblock, as stored in a file of `file_len` bytes, is guarded: its End of File Address is not to
    /// be believed before the guard is cleared.
    pub fn is_guarded(&self, file_len: u64) -> bool {
        let end = self.end_of_file();
        // With addresses of four bytes a large file has the bit for a reason; then it is also as long.
        bit(self.widths().offset).is_some_and(|bit| end & bit != 0) && end > file_len
    }
}

/// The superblock `image` with the guard set; `None` if there is no room for it or the bit is in use.
pub fn set(image: &[u8]) -> Option<Vec<u8>> {
    change(image, |end, bit| (end & bit == 0).then_some(end | bit))
}

/// The superblock `image` with the guard cleared; `None` if it is not set.
pub fn clear(image: &[u8]) -> Option<Vec<u8>> {
    change(image, |end, bit| (end & bit != 0).then_some(end & !bit))
}

/// Changes the End of File Address of a superblock and computes its checksum, if it has one, anew.
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
    // Two addresses stand before it: base and free space, or base and extension.
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

/// The version stands after the signature in every superblock.
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
    fn the_guard_moves_the_end_out_of_reach_and_back() {
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
    fn in_version_0_one_byte_changes() {
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
    fn what_is_no_superblock_has_no_guard() {
        for bytes in [&b""[..], b"\x89HDF\r\n\x1a\n", b"\x89HDF\r\n\x1a\n\x02\x08\x08\0\0\0", &[7; 100]] {
            assert!(set(bytes).is_none() && clear(bytes).is_none());
        }
    }
}
