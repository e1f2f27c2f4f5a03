//! Format errors: the fault, and its place: structure, address, offset and specification section.

use std::fmt;

use crate::addr::Addr;

/// The result of decoding.
pub type Result<T, E = FormatError> = std::result::Result<T, E>;

/// The error for a structure in the file that violates the specification, or uses an unsupported part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatError {
    /// The fault.
    pub kind: ErrorKind,
    /// The structure's name in the specification, such as "Fixed Array header".
    pub structure: &'static str,
    /// The section of the HDF5 File Format Specification 4.0 that defines the structure.
    pub spec: &'static str,
    /// The address of the first byte given to the decoder, relative to the base address.
    pub at: Addr,
    /// The offset of the faulty field from `at`, in bytes.
    pub offset: u64,
}

/// The fault in a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes end too early.
    #[error("{needed} bytes needed, only {have} available")]
    Truncated {
        /// Bytes needed, counted from the start of the structure.
        needed: u64,
        /// Bytes available.
        have: u64,
    },
    /// The signature is not the structure's.
    #[error("signature {found:02x?}, expected {expected:02x?}")]
    Signature {
        /// The four bytes found.
        found: [u8; 4],
        /// The structure's signature.
        expected: [u8; 4],
    },
    /// A version that the specification does not define.
    #[error("version {found}, expected {known}")]
    Version {
        /// The version found.
        found: u8,
        /// The known versions, as text.
        known: &'static str,
    },
    /// The stored checksum differs from the checksum of the bytes.
    #[error("checksum {stored:#010x}, computed {computed:#010x}")]
    Checksum {
        /// The checksum in the file.
        stored: u32,
        /// The checksum of the bytes.
        computed: u32,
    },
    /// The value of a field is not allowed.
    #[error("{field} is {value}, expected {expected}")]
    Value {
        /// The field's name in the specification.
        field: &'static str,
        /// The field's value.
        value: u64,
        /// The allowed values, as text.
        expected: &'static str,
    },
    /// The size in a field exceeds what the file or hyperslab allows.
    #[error("{field} is {value}, more than the limit of {limit}")]
    TooLarge {
        /// The field's name in the specification.
        field: &'static str,
        /// The field's value.
        value: u64,
        /// The largest value allowed.
        limit: u64,
    },
    /// Structures are nested or chained more deeply than any file needs: a loop, or an attack.
    #[error("nested more than {limit} deep")]
    Depth {
        /// The limit.
        limit: u32,
    },
    /// A string is not valid in its character set.
    #[error("{field} is not valid text")]
    Text {
        /// The field's name.
        field: &'static str,
    },
    /// A required part is missing.
    #[error("{what} is missing")]
    Missing {
        /// The missing part.
        what: &'static str,
    },
    /// The format signature is at none of the offsets that the specification allows.
    #[error("not an HDF5 file: {}", unsigned(*.file_len))]
    NotHdf5 {
        /// The length of the file in bytes.
        file_len: u64,
    },
    /// The file is valid, but this version of hyperslab does not support the feature.
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

// Without a source: the text has the kind.
impl std::error::Error for FormatError {}

/// Returns a text that lists the offsets searched for the format signature in a file of `file_len` bytes.
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
    fn an_error_prints_the_fault_its_place_and_the_spec_section() {
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
    fn a_missing_signature_error_lists_the_searched_offsets() {
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
