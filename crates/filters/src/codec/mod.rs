//! The byte codecs that several filters share. One call decodes one stream into a given destination.

mod external;
pub(crate) mod lz;

#[cfg(not(feature = "codecs"))]
mod absent;

#[cfg(feature = "bzip2")]
pub(crate) mod bzip2;
#[cfg(feature = "snappy")]
pub(crate) mod snappy;
#[cfg(feature = "deflate")]
pub(crate) mod zlib;
#[cfg(feature = "zstd")]
pub(crate) mod zstd;

#[cfg(not(feature = "bzip2"))]
pub(crate) use self::absent::bzip2;
#[cfg(not(feature = "deflate"))]
pub(crate) use self::absent::leveled as zlib;
#[cfg(not(feature = "zstd"))]
pub(crate) use self::absent::leveled as zstd;
#[cfg(not(feature = "lz4"))]
pub(crate) use self::absent::lz4;
#[cfg(not(feature = "snappy"))]
pub(crate) use self::absent::snappy;
pub(crate) use self::external::External;
#[cfg(feature = "lz4")]
pub(crate) use crate::ffi::lz4;

use crate::error::FilterError;

/// The reason why a stream does not decode. The filter that holds the stream adds its own name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodecError {
    /// The bytes are not a valid stream of this codec.
    Damaged,
    /// The stream decodes to more bytes than the destination has.
    TooLong,
}

impl CodecError {
    /// Returns the error for `filter`, whose destination had `room` bytes.
    pub(crate) fn of(self, filter: &'static str, room: usize) -> FilterError {
        match self {
            Self::Damaged => FilterError::damaged(filter, "the compressed bytes do not decode"),
            Self::TooLong => FilterError::Length { filter, expected: room as u64, found: room as u64 + 1 },
        }
    }
}

/// The working memory of the codecs, allocated at the first use and then kept.
#[derive(Debug, Default)]
pub(crate) struct Contexts {
    pub(crate) zlib: zlib::Context,
    pub(crate) zstd: zstd::Context,
    pub(crate) snappy: snappy::Context,
}

/// Returns the most bytes that an LZ4 block of `len` decoded bytes can have.
pub(crate) const fn lz4_bound(len: usize) -> usize {
    len + len / 255 + 16
}
