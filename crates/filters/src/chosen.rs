//! Each filter with its parameters, as a type of its own with defaults: those of the Python package
//! `hdf5plugin`.

use crate::choice::{BitshuffleCodec, BloscCodec, BloscFilter, FilterChoice, SzipMethod};
use crate::zfp::ZfpMode;

/// Declares a filter's parameters with their defaults and setters, and its conversion to a [`FilterChoice`].
macro_rules! filters {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $kind:ty = $default:expr,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $kind,)*
        }

        impl $name {
            $(
                #[doc = concat!("Sets `", stringify!($field), "`.")]
                #[must_use]
                pub fn $field(mut self, $field: $kind) -> Self {
                    self.$field = $field;
                    self
                }
            )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl From<$name> for FilterChoice {
            fn from(filter: $name) -> Self {
                Self::$name { $($field: filter.$field,)* }
            }
        }
    )*};
}

filters! {
    /// Deflate, zlib's codec, which every HDF5 library can read. Encoded and decoded by libdeflate.
    Deflate {
        /// The level, from 0 (stored) to 9 (slowest, smallest).
        level: u32 = 4,
    }

    /// szip, the extended Rice coder of CCSDS 121.0-B, for numbers of 1, 2, 4 or 8 bytes.
    Szip {
        /// Whether elements are coded as differences from their neighbours.
        method: SzipMethod = SzipMethod::NearestNeighbor,
        /// The number of elements of a block, an even number up to 32.
        pixels_per_block: u32 = 8,
    }

    /// Scale-offset: differences from the smallest element of a chunk, in few bits. Floats lose digits.
    ScaleOffset {
        /// For integers, the number of bits of an element, or 0 for as many as needed. For floats, the number
        /// of digits after the decimal point that are kept.
        factor: i32 = 0,
    }

    /// bzip2, in the format of the registered filter 307.
    Bzip2 {
        /// The size of a block in units of 100,000 bytes, from 1 to 9.
        block_size: u32 = 9,
    }

    /// ZFP, for integers and floats of 4 or 8 bytes.
    Zfp {
        /// What is kept.
        mode: ZfpMode = ZfpMode::default(),
    }

    /// LZ4, in the format of the registered filter 32004.
    Lz4 {
        /// The size of a block in bytes; 0 for one block per chunk.
        block_size: u32 = 0,
    }

    /// Zstandard, in the format of the registered filter 32015.
    Zstd {
        /// The level, at most 22. Levels below 1 are faster than level 1.
        level: i32 = 3,
    }

    /// Bitshuffle, with or without a codec after it.
    Bitshuffle {
        /// The number of elements of a block, a multiple of 8; 0 for blocks of 8 KiB.
        block: u32 = 0,
        /// The codec for the shuffled blocks.
        codec: BitshuffleCodec = BitshuffleCodec::Lz4,
    }

    /// Blosc 1.
    Blosc {
        /// The codec for the blocks.
        codec: BloscCodec = BloscCodec::Lz4,
        /// The level, from 0 (stored) to 9 (slowest, smallest).
        level: u32 = 5,
        /// The filter that rearranges the elements of a block before the codec. Only Blosc 2 has
        /// [`BloscFilter::Delta`] and [`BloscFilter::Truncate`].
        filter: BloscFilter = BloscFilter::Shuffle,
    }

    /// Blosc 2. If a chunk has several dimensions, a part of it can be decoded.
    Blosc2 {
        /// The codec for the blocks.
        codec: BloscCodec = BloscCodec::BloscLz,
        /// The level, from 0 (stored) to 9 (slowest, smallest).
        level: u32 = 5,
        /// The filter that rearranges the elements of a block before the codec.
        filter: BloscFilter = BloscFilter::Shuffle,
    }
}

/// Declares a filter without parameters.
macro_rules! plain_filters {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $name;

        impl From<$name> for FilterChoice {
            fn from(_: $name) -> Self {
                Self::$name
            }
        }
    )*};
}

plain_filters! {
    /// Byte shuffle: stores the first bytes of all elements together, then the second bytes, and so on. Used
    /// before a codec.
    Shuffle

    /// A checksum of each chunk, verified when the chunk is read.
    Fletcher32

    /// N-bit, which stores only the significant bits of numbers.
    NBit

    /// LZF, h5py's fast codec.
    Lzf

    /// Snappy, in the layout of the registered filter 32003.
    Snappy
}
