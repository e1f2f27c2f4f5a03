//! What is wrong with a file, and where: structure, address, offset, specification section.

use std::fmt;

use crate::addr::Addr;

/// The result of decoding.
pub type Result<T, E = FormatError> = std::result::Result<T, E>;

/// A structure in the file does not obey the specification, or obeys a part of it that is not supported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatError {
    /// What is wrong.
    pub kind: ErrorKind,
    /// The structure's name in the specification, as in "Fixed Array header".
    pub structure: &'static str,
    /// The section of the HDF5 File Format Specification 4.0 that defines it.
    pub spec: &'static str,
    /// The address at which the bytes being decoded begin (relative to the base address).
    pub at: Addr,
    /// How many bytes after `at` the offending field begins.
    pub offset: u64,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes end too early.
    #[error("{have} bytes where {needed} are needed")]
    Truncated {
        /// Bytes needed, counted from the start of the structure.
        needed: u64,
        /// Bytes there are.
        have: u64,
    },
    /// Another signature than the structure's.
    #[error("signature {found:02x?}, expected {expected:02x?}")]
    Signature {
        /// The four bytes found.
        found: [u8; 4],
        /// The structure's signature.
        expected: [u8; 4],
    },
    /// A version that the specification does not define.
    #[error("version {found}, known are {known}")]
    Version {
        /// The version found.
        found: u8,
        /// The versions known, as text.
        known: &'static str,
    },
    /// The stored checksum is not that of the bytes.
    #[error("checksum {stored:#010x}, computed {computed:#010x}")]
    Checksum {
        /// As the file says.
        stored: u32,
        /// As computed over the bytes.
        computed: u32,
    },
    /// A field holds a value that is not allowed.
    #[error("{field} is {value}, expected {expected}")]
    Value {
        /// The field's name in the specification.
        field: &'static str,
        /// What it holds.
        value: u64,
        /// What it may hold.
        expected: &'static str,
    },
    /// A field holds a size that the file, or a limit of ours, cannot satisfy.
    #[error("{field} is {value}, more than the limit of {limit}")]
    TooLarge {
        /// The field's name in the specification.
        field: &'static str,
        /// What it holds.
        value: u64,
        /// The most it may hold.
        limit: u64,
    },
    /// Structures nested or chained more deeply than any file needs: a loop, or an attack.
    #[error("nested more than {limit} deep")]
    Depth {
        /// The limit.
        limit: u32,
    },
    /// A name that is not text in its character set.
    #[error("{field} is not valid text")]
    Text {
        /// The field's name.
        field: &'static str,
    },
    /// A required part is not there.
    #[error("{what} is missing")]
    Missing {
        /// The part.
        what: &'static str,
    },
    /// The format signature is at none of the offsets where it may be.
    #[error("not an HDF5 file: {}", unsigned(*.file_len))]
    NotHdf5 {
        /// Bytes of the file.
        file_len: u64,
    },
    /// Valid HDF5 that this version of hyperslab does not handle.
    #[error("{feature} is not supported yet")]
    Unsupported {
        /// The feature, as the specification names it.
        feature: &'static str,
    },
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, structure, spec, at, offset } = self;
        if let ErrorKind::NotHdf5 { .. } = kind {
            return write!(f, "{kind} (HDF5 spec {spec})");
        }
        write!(f, "{kind} in {structure} at {at} (+{offset}), HDF5 spec {spec}")
    }
}

impl std::error::Error for FormatError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.kind)
    }
}

/// Where a file of `file_len` bytes lacks the format signature.
fn unsigned(file_len: u64) -> &'static str {
    match file_len {
        0 => "it is empty",
        1..=512 => "no signature at 0",
        513..=1024 => "no signature at 0, 512",
        1025..=2048 => "no signature at 0, 512, 1024",
        _ => "no signature at 0, 512, 1024, 2048, ...",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_prints_what_where_and_by_what_authority() {
        let error = FormatError {
            kind: ErrorKind::Checksum { stored: 0x51a3_0000, computed: 0x09f0_0000 },
            structure: "Fixed Array header",
            spec: "VII.C",
            at: Addr::new(0x60),
            offset: 24,
        };
        assert_eq!(
            error.to_string(),
            "checksum 0x51a30000, computed 0x09f00000 in Fixed Array header at 0x60 (+24), HDF5 spec VII.C"
        );
    }

    #[test]
    fn a_file_without_a_signature_is_told_where_it_was_sought() {
        let error = |file_len| FormatError {
            kind: ErrorKind::NotHdf5 { file_len },
            structure: "Superblock",
            spec: "II.A",
            at: Addr::new(0),
            offset: 0,
        };
        assert_eq!(error(0).to_string(), "not an HDF5 file: it is empty (HDF5 spec II.A)");
        assert_eq!(error(600).to_string(), "not an HDF5 file: no signature at 0, 512 (HDF5 spec II.A)");
    }
}
