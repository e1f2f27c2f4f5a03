//! The codecs from other crates. Each has a feature of this crate, so that programs leave out those that they
//! do not need, and build without a C compiler.

use crate::error::{FilterError, Result};
use crate::filter::FilterId;

/// A codec from another crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum External {
    Deflate,
    Zstd,
    Lz4,
    Bzip2,
    Snappy,
    Zfp,
}

impl External {
    /// Returns the codec without which a filter can do nothing.
    pub(crate) fn of(id: FilterId) -> Option<Self> {
        Some(match id {
            FilterId::DEFLATE => Self::Deflate,
            FilterId::ZSTD => Self::Zstd,
            FilterId::LZ4 => Self::Lz4,
            FilterId::BZIP2 => Self::Bzip2,
            FilterId::SNAPPY => Self::Snappy,
            FilterId::ZFP => Self::Zfp,
            _ => return None,
        })
    }

    /// Returns the name of the codec's feature, and whether this build has it.
    const fn feature(self) -> (&'static str, bool) {
        match self {
            Self::Deflate => ("deflate", cfg!(feature = "deflate")),
            Self::Zstd => ("zstd", cfg!(feature = "zstd")),
            Self::Lz4 => ("lz4", cfg!(feature = "lz4")),
            Self::Bzip2 => ("bzip2", cfg!(feature = "bzip2")),
            Self::Snappy => ("snappy", cfg!(feature = "snappy")),
            Self::Zfp => ("zfp", cfg!(feature = "zfp")),
        }
    }

    /// Returns whether this build has the codec.
    pub(crate) const fn is_built(self) -> bool {
        self.feature().1
    }

    /// Returns an error for `filter`, which needs the codec, if this build does not have it.
    #[inline]
    pub(crate) const fn check(self, filter: &'static str) -> Result<()> {
        if self.is_built() { Ok(()) } else { Err(self.absence(filter)) }
    }

    /// Returns the error for `filter` in a build without the codec.
    pub(crate) const fn absence(self, filter: &'static str) -> FilterError {
        FilterError::NotBuilt { filter, feature: self.feature().0 }
    }
}
