//! Superblock (spec II.A): the signature of a file, the widths of its addresses and lengths, and the place of
//! its root group.
//!
//! Versions 0 and 1 are in [`v0`], versions 2 and 3 in [`v2`]. [`guard`](mod@guard) keeps other programs from
//! opening a file while it is changed. [`driver_information`] describes files in several parts.

pub mod driver_information;
pub mod guard;
pub mod v0;
pub mod v2;

use crate::addr::Addr;
use crate::bytes::{Reader, Width, Widths, Writer};
use crate::error::{ErrorKind, Result};
use crate::message::small::SymbolTable;
use crate::structure::Structure;

use v0::SuperblockV0;
use v2::SuperblockV2;

/// The first eight bytes of every superblock.
pub const SIGNATURE: [u8; 8] = *b"\x89HDF\r\n\x1a\n";

/// Half the capacity of a symbol table node, if the file does not store it.
pub const DEFAULT_GROUP_LEAF_K: u16 = 4;
/// Half the capacity of a node of a group's B-tree, if the file does not store it.
pub const DEFAULT_GROUP_INTERNAL_K: u16 = 16;
/// Half the capacity of a node of a chunk B-tree, if the file does not store it.
pub const DEFAULT_INDEXED_STORAGE_K: u16 = 32;

/// File Consistency Flags, bit 0: a program has the file open for writing.
pub const OPEN_FOR_WRITING: u8 = 1;
/// File Consistency Flags, bit 2: the writing program allows concurrent readers (SWMR).
pub const OPEN_FOR_SWMR: u8 = 4;

/// The superblock of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Superblock {
    /// Versions 0 and 1.
    V0(SuperblockV0),
    /// Versions 2 and 3.
    V2(SuperblockV2),
}

/// Implements getters for the fields that all versions have.
macro_rules! common {
    ($($(#[$doc:meta])* $field:ident: $type:ty,)*) => {
        impl Superblock {
            $($(#[$doc])*
            pub fn $field(&self) -> $type {
                match self {
                    Self::V0(s) => s.$field,
                    Self::V2(s) => s.$field,
                }
            })*
        }
    };
}

common! {
    /// Returns the version: 0 to 3.
    version: u8,
    /// Returns the widths of addresses and lengths in this file.
    widths: Widths,
    /// Returns the file offset to which every address is relative.
    base_address: u64,
    /// Returns the file offset after the last byte that the file uses.
    end_of_file: u64,
    /// Returns the File Consistency Flags. Readers must heed them only in version 3.
    consistency_flags: u8,
}

impl Superblock {
    /// Returns the offsets where the superblock of a file of `file_len` bytes may begin: 0, 512, 1024, ...
    pub fn candidate_offsets(file_len: u64) -> impl Iterator<Item = u64> {
        let doubled = std::iter::successors(Some(512_u64), |offset| offset.checked_mul(2));
        std::iter::once(0).chain(doubled).take_while(move |&offset| offset < file_len)
    }

    /// Returns whether `bytes`, read at one of the candidate offsets, begin with the format signature.
    pub fn is_signature(bytes: &[u8]) -> bool {
        bytes.starts_with(&SIGNATURE)
    }

    /// Returns the address of the root group's object header.
    pub fn root(&self) -> Addr {
        match self {
            Self::V0(s) => s.root.header,
            Self::V2(s) => s.root,
        }
    }

    /// Returns the root group's B-tree and local heap, if the superblock repeats them (versions 0 and 1).
    pub fn root_symbol_table(&self) -> Option<SymbolTable> {
        match self {
            Self::V0(s) => s.root_symbol_table(),
            Self::V2(_) => None,
        }
    }

    /// Returns the address of the superblock extension's object header, if the file has an extension.
    pub fn extension(&self) -> Option<Addr> {
        match self {
            Self::V0(_) => None,
            Self::V2(s) => s.extension.defined(),
        }
    }

    /// Returns the address of the driver information block, if there is one (versions 0 and 1).
    pub fn driver_information(&self) -> Option<Addr> {
        match self {
            Self::V0(s) => s.driver_information.defined(),
            Self::V2(_) => None,
        }
    }

    /// Returns half the capacity of a symbol table node. In versions 2 and 3, the extension may override it.
    pub fn group_leaf_k(&self) -> u16 {
        match self {
            Self::V0(s) => s.group_leaf_k,
            Self::V2(_) => DEFAULT_GROUP_LEAF_K,
        }
    }

    /// Returns half the capacity of a group B-tree's node. The extension of versions 2 and 3 may override it.
    pub fn group_internal_k(&self) -> u16 {
        match self {
            Self::V0(s) => s.group_internal_k,
            Self::V2(_) => DEFAULT_GROUP_INTERNAL_K,
        }
    }

    /// Returns half the capacity of a chunk B-tree's node. The extension of versions 2 and 3 may override it.
    pub fn indexed_storage_k(&self) -> u16 {
        match self {
            Self::V0(s) => s.indexed_storage_k.unwrap_or(DEFAULT_INDEXED_STORAGE_K),
            Self::V2(_) => DEFAULT_INDEXED_STORAGE_K,
        }
    }

    /// Returns whether a writer has marked the file as open, or left the mark when it died (only version 3).
    pub fn is_marked_open(&self) -> bool {
        self.version() >= 3 && self.consistency_flags() & (OPEN_FOR_WRITING | OPEN_FOR_SWMR) != 0
    }

    /// Sets the file offset after the last byte that the file uses.
    pub fn set_end_of_file(&mut self, end: u64) {
        match self {
            Self::V0(s) => s.end_of_file = end,
            Self::V2(s) => s.end_of_file = end,
        }
    }

    /// Sets the File Consistency Flags.
    pub fn set_consistency_flags(&mut self, flags: u8) {
        match self {
            Self::V0(s) => s.consistency_flags = flags,
            Self::V2(s) => s.consistency_flags = flags,
        }
    }

    /// Returns whether a writer has marked the file as one that others may read meanwhile (SWMR; only version
    /// 3).
    pub fn is_marked_swmr(&self) -> bool {
        let both = OPEN_FOR_WRITING | OPEN_FOR_SWMR;
        self.version() >= 3 && self.consistency_flags() & both == both
    }

    /// Corrects the addresses for a superblock found at file offset `found`.
    ///
    /// A user block may have been added or removed since the file was written. Then `found` becomes the base
    /// address, and the end of the file moves by the same distance.
    #[must_use]
    pub fn relocated(mut self, found: u64) -> Self {
        let (base, end) = match &mut self {
            Self::V0(s) => (&mut s.base_address, &mut s.end_of_file),
            Self::V2(s) => (&mut s.base_address, &mut s.end_of_file),
        };
        // The stored end is after the stored base: `decode` checked that.
        *end = end.saturating_sub(*base).saturating_add(found);
        *base = found;
        self
    }
}

impl Structure for Superblock {
    const NAME: &'static str = "superblock";
    const SPEC: &'static str = "II.A";
    type Context = ();

    /// Returns the size of the longest superblock: version 1 with addresses of sixteen bytes.
    fn read_len(_: Widths, (): &()) -> usize {
        140
    }

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        let mut ahead = r.clone();
        signature(&mut ahead)?;
        match ahead.version_in(0..=3, "0 to 3")? {
            0 | 1 => SuperblockV0::decode(r, &()).map(Self::V0),
            _ => SuperblockV2::decode(r, &()).map(Self::V2),
        }
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        match self {
            Self::V0(s) => s.encode(w, &()),
            Self::V2(s) => s.encode(w, &()),
        }
    }
}

/// Reads the format signature.
fn signature(r: &mut Reader<'_>) -> Result<()> {
    let found: [u8; 8] = r.array()?;
    if found == SIGNATURE {
        return Ok(());
    }
    let ([a, b, c, d, ..], [e, f, g, h, ..]) = (found, SIGNATURE);
    if [a, b, c, d] == [e, f, g, h] {
        // The last four bytes serve to detect a transfer in text mode, which changes line ends.
        return Err(r.error_back(
            4,
            ErrorKind::Value {
                field: "format signature",
                value: u64::from_be_bytes(found),
                expected: "89 48 44 46 0d 0a 1a 0a: a transfer in text mode changed the file",
            },
        ));
    }
    Err(r.error_back(8, ErrorKind::Signature { found: [a, b, c, d], expected: [e, f, g, h] }))
}

/// Reads "Size of Offsets" and "Size of Lengths".
fn widths(r: &mut Reader<'_>) -> Result<Widths> {
    let offset = width(r, "Size of Offsets", "2, 4, 8 or 16")?;
    let length = width(r, "Size of Lengths", "2, 4 or 8")?;
    if length == Width::Sixteen {
        return Err(r.error_back(1, ErrorKind::Unsupported { feature: "lengths of 16 bytes" }));
    }
    Ok(Widths { offset, length })
}

fn width(r: &mut Reader<'_>, field: &'static str, expected: &'static str) -> Result<Width> {
    let bytes = r.u8()?;
    Width::from_bytes(bytes)
        .ok_or_else(|| r.error_back(1, ErrorKind::Value { field, value: bytes.into(), expected }))
}

/// Checks that the end of the file is after the base address, and returns both.
fn check_ends(r: &Reader<'_>, base_address: Addr, end_of_file: Addr) -> Result<(u64, u64)> {
    if end_of_file.is_undefined() || base_address >= end_of_file {
        return Err(r.bad_value(
            "End of File Address",
            end_of_file.get(),
            "an offset after the base address",
        ));
    }
    Ok((base_address.get(), end_of_file.get()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidate_offsets_are_zero_and_the_doublings_of_512() {
        let offsets: Vec<u64> = Superblock::candidate_offsets(2049).collect();
        assert_eq!(offsets, [0, 512, 1024, 2048]);
        assert_eq!(Superblock::candidate_offsets(0).count(), 0);
        assert_eq!(Superblock::candidate_offsets(u64::MAX).last(), Some(1 << 63));
    }

    #[test]
    fn a_file_transferred_in_text_mode_is_recognised() {
        let mut r = Reader::new(b"\x89HDF\n\x1a\n\0\0\0", Widths::EIGHT, Addr::new(0));
        let error = r.structure::<Superblock>(&()).unwrap_err();
        assert!(error.to_string().contains("transfer in text mode"), "{error}");
    }

    #[test]
    fn relocated_moves_the_base_address_and_the_end_of_the_file() {
        let superblock = Superblock::V2(v2::SuperblockV2 {
            version: 3,
            widths: Widths::EIGHT,
            consistency_flags: 0,
            base_address: 512,
            extension: Addr::UNDEFINED,
            end_of_file: 2512,
            root: Addr::new(48),
        });
        let moved = superblock.relocated(0);
        assert_eq!((moved.base_address(), moved.end_of_file()), (0, 2000));
    }
}
