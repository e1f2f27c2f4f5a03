//! The byte codecs that several filters share: one call decodes one stream into a given destination.

pub(crate) use crate::ffi::lz4;
pub(crate) mod lz;
pub(crate) mod zlib;
pub(crate) mod zstd;

use crate::error::FilterError;

/// Why a stream does not decode. The filter that holds the stream adds its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodecError {
    /// The bytes are no stream of this codec.
    Damaged,
    /// The stream decodes to more bytes than the destination has.
    TooLong,
}

impl CodecError {
    /// The error of `filter`, whose destination had `room` bytes.
    pub(crate) fn of(self, filter: &'static str, room: usize) -> FilterError {
        match self {
            Self::Damaged => FilterError::damaged(filter, "the compressed bytes do not decode"),
            Self::TooLong => FilterError::Length { filter, expected: room as u64, found: room as u64 + 1 },
        }
    }
}

/// The codecs' working memory, made at the first use and kept.
#[derive(Debug, Default)]
pub(crate) struct Contexts {
    pub(crate) zlib: zlib::Context,
    pub(crate) zstd: zstd::Context,
}

/// The most bytes that `len` bytes can take as an LZ4 block.
pub(crate) const fn lz4_bound(len: usize) -> usize {
    len + len / 255 + 16
}
