//! Superblock versions 2 and 3 (spec II.A), with a checksum. Optional values are in a superblock extension.

use super::{SIGNATURE, check_ends, signature, widths};
use crate::addr::Addr;
use crate::bytes::{Reader, Widths, Writer};
use crate::error::{ErrorKind, Result};
use crate::structure::Structure;

/// A superblock of version 2 or 3. Fields in disk order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuperblockV2 {
    /// 2 or 3.
    pub version: u8,
    /// The widths of addresses and lengths.
    pub widths: Widths,
    /// File Consistency Flags: in version 3, whether a writer has the file open, and how.
    pub consistency_flags: u8,
    /// The file offset to which addresses are relative.
    pub base_address: u64,
    /// The object header of the superblock extension; undefined if there is none.
    pub extension: Addr,
    /// The file offset after the last byte used.
    pub end_of_file: u64,
    /// The object header of the root group.
    pub root: Addr,
}

impl Structure for SuperblockV2 {
    const NAME: &'static str = "superblock";
    const SPEC: &'static str = "II.A";
    type Context = ();

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        signature(r)?;
        let version = r.version_in(2..=3, "2 and 3")?;
        let widths = widths(r)?;
        r.adopt_widths(widths);
        let consistency_flags = r.u8()?;
        let base_address = r.addr()?;
        let extension = r.addr()?;
        let end_of_file = r.addr()?;
        let root = r.addr()?;
        // The checksum is checked first, because no field of a torn superblock is valid.
        r.checksum()?;
        let (base_address, end_of_file) = check_ends(r, base_address, end_of_file)?;
        if root.is_undefined() {
            return Err(r.error(ErrorKind::Missing { what: "the root group's object header" }));
        }
        Ok(Self { version, widths, consistency_flags, base_address, extension, end_of_file, root })
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.adopt_widths(self.widths);
        w.bytes(&SIGNATURE);
        w.u8(self.version);
        w.bytes(&[self.widths.offset as u8, self.widths.length as u8]);
        w.u8(self.consistency_flags);
        w.addr(Addr::new(self.base_address));
        w.addr(self.extension);
        w.addr(Addr::new(self.end_of_file));
        w.addr(self.root);
        w.checksum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden;

    /// The first bytes of a file that h5py 3.16 wrote with `libver="latest"` and space allocated in pages.
    const PAGED: &str =
        "89484446 0d0a1a0a 03 08 08 00 00*8 8f3f000000000000 0050000000000000 cc00000000000000 6592c2cf";

    #[test]
    fn version_3_round_trips_bytes_of_libhdf5() {
        let superblock: SuperblockV2 = golden::golden(PAGED, &());
        assert_eq!(superblock.extension, Addr::new(0x3f8f));
        assert_eq!((superblock.end_of_file, superblock.root), (0x5000, Addr::new(0xcc)));
    }

    #[test]
    fn a_torn_superblock_is_found_by_its_checksum() {
        let torn = PAGED.replace("0050000000000000", "0060000000000000");
        assert!(matches!(golden::error::<SuperblockV2>(&torn, &()), ErrorKind::Checksum { .. }));
    }
}
