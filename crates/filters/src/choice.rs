//! A filter as whoever creates a dataset chooses it, and the numbers that a file stores for it: those that libhdf5 and the
//! reference plugins write (what their `set_local` makes of the user's parameters).

use crate::error::{FilterError, Result};
use crate::filter::FilterId;

/// A filter and the parameters that a user gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterChoice {
    /// zlib, at a level of 0 to 9.
    Deflate {
        /// 0 (stored) to 9 (slowest, smallest).
        level: u32,
    },
    /// Byte shuffle.
    Shuffle,
    /// A checksum of each chunk. The only filter that is not optional.
    Fletcher32,
    /// h5py's LZF.
    Lzf,
    /// LZ4.
    Lz4 {
        /// Bytes of a block; 0 for one block a chunk.
        block_size: u32,
    },
    /// Zstandard.
    Zstd {
        /// Up to 22; below 1 is faster than 1.
        level: i32,
    },
    /// Bit shuffle, alone or before a codec.
    Bitshuffle {
        /// Elements of a block, a multiple of 8; 0 for 8 KiB.
        block: u32,
        /// What encodes the shuffled block.
        codec: BitshuffleCodec,
    },
    /// Blosc 1.
    Blosc {
        /// What encodes the blocks.
        codec: BloscCodec,
        /// 0 (stored) to 9 (slowest, smallest).
        level: u32,
        /// What is done before; [`BloscFilter::Delta`] and [`BloscFilter::Truncate`] are Blosc 2's.
        filter: BloscFilter,
    },
    /// Blosc 2.
    Blosc2 {
        /// What encodes the blocks.
        codec: BloscCodec,
        /// 0 (stored) to 9 (slowest, smallest).
        level: u32,
        /// What is done before.
        filter: BloscFilter,
    },
}

/// What bitshuffle encodes its blocks with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BitshuffleCodec {
    /// Nothing.
    None,
    /// LZ4.
    Lz4,
    /// Zstandard, at a level.
    Zstd {
        /// As for [`FilterChoice::Zstd`].
        level: i32,
    },
}

/// The codecs inside Blosc.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BloscCodec {
    /// Blosc's own.
    BloscLz = 0,
    /// LZ4.
    Lz4 = 1,
    /// LZ4's slow encoder.
    Lz4Hc = 2,
    /// zlib.
    Zlib = 4,
    /// Zstandard.
    Zstd = 5,
}

/// What Blosc does to elements before the codec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BloscFilter {
    /// Nothing.
    None = 0,
    /// Byte shuffle.
    Shuffle = 1,
    /// Bit shuffle.
    BitShuffle = 2,
    /// Differences (exclusive or) from the element before in the first block, and from the first block in the others.
    Delta = 3,
    /// Loses the mantissa of floating-point numbers of 4 or 8 bytes, all of it: the HDF5 filter has no parameter for how many
    /// bits stay.
    Truncate = 4,
}

impl BloscCodec {
    /// By the number that parameters of filters use.
    pub fn of(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::BloscLz,
            1 => Self::Lz4,
            2 => Self::Lz4Hc,
            4 => Self::Zlib,
            5 => Self::Zstd,
            _ => return None,
        })
    }
}

impl BloscFilter {
    /// By the number that parameters of filters and Blosc 2's headers use.
    pub fn of(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::None,
            1 => Self::Shuffle,
            2 => Self::BitShuffle,
            3 => Self::Delta,
            4 => Self::Truncate,
            _ => return None,
        })
    }
}

/// What the numbers of a filter say of the dataset.
#[derive(Debug, Clone, Copy)]
pub struct ChunkFacts<'a> {
    /// Bytes of an element.
    pub element_size: usize,
    /// Bytes of an item of the element: less than the element's for array types alone.
    pub item_size: usize,
    /// Elements of a chunk along each dimension.
    pub shape: &'a [usize],
}

impl FilterChoice {
    /// The filter's registered number.
    pub fn id(&self) -> FilterId {
        match self {
            Self::Deflate { .. } => FilterId::DEFLATE,
            Self::Shuffle => FilterId::SHUFFLE,
            Self::Fletcher32 => FilterId::FLETCHER32,
            Self::Lzf => FilterId::LZF,
            Self::Lz4 { .. } => FilterId::LZ4,
            Self::Zstd { .. } => FilterId::ZSTD,
            Self::Bitshuffle { .. } => FilterId::BITSHUFFLE,
            Self::Blosc { .. } => FilterId::BLOSC,
            Self::Blosc2 { .. } => FilterId::BLOSC2,
        }
    }

    /// The flags to store: whether a chunk may be stored without the filter.
    pub fn flags(&self) -> u16 {
        u16::from(*self != Self::Fletcher32)
    }

    /// The client data to store for chunks of a dataset. An error if a parameter is out of range, or the chunk too long for
    /// the filter.
    pub fn client_data(&self, chunk: &ChunkFacts<'_>) -> Result<Vec<u32>> {
        self.check()?;
        Ok(match *self {
            Self::Deflate { level } => vec![level],
            Self::Shuffle => vec![self.number("element size", chunk.element_size)?],
            Self::Fletcher32 => vec![],
            // The versions of the filter and of the library.
            Self::Lzf => vec![4, 0x0105, self.chunk_bytes(chunk)?],
            Self::Lz4 { block_size } => vec![block_size],
            Self::Zstd { level } => vec![level.cast_unsigned()],
            Self::Bitshuffle { block, codec } => {
                // The version of the library.
                let mut data = vec![0, 4, self.number("element size", chunk.element_size)?, block];
                match codec {
                    BitshuffleCodec::None => data.push(0),
                    BitshuffleCodec::Lz4 => data.push(2),
                    BitshuffleCodec::Zstd { level } => data.extend([3, level.cast_unsigned()]),
                }
                data
            }
            Self::Blosc { codec, level, filter } => {
                // The versions of the filter and of the chunk format. Larger elements are bytes to Blosc.
                let item = if chunk.item_size > 255 { 1 } else { chunk.item_size };
                let item = self.number("element size", item)?;
                vec![2, 2, item, self.chunk_bytes(chunk)?, level, filter as u32, codec as u32]
            }
            Self::Blosc2 { codec, level, filter } => {
                let item = self.number("element size", chunk.item_size)?;
                // The version of the filter, and a block size that the encoder chooses.
                let mut data = vec![1, 0, item, self.chunk_bytes(chunk)?, level, filter as u32, codec as u32];
                if chunk.shape.len() > 1 {
                    data.push(self.number("chunk rank", chunk.shape.len())?);
                    for &extent in chunk.shape {
                        data.push(self.number("chunk shape", extent)?);
                    }
                }
                data
            }
        })
    }

    /// Whether the parameters are in range.
    fn check(&self) -> Result<()> {
        match *self {
            Self::Deflate { level } | Self::Blosc { level, .. } | Self::Blosc2 { level, .. } if level > 9 => {
                Err(self.wrong("level", u64::from(level), "0 to 9"))
            }
            Self::Zstd { level } | Self::Bitshuffle { codec: BitshuffleCodec::Zstd { level }, .. }
                if level > 22 =>
            {
                Err(self.wrong("level", u64::from(level.unsigned_abs()), "at most 22"))
            }
            Self::Lz4 { block_size } if block_size > 0x7e00_0000 => {
                Err(self.wrong("block size", u64::from(block_size), "at most 2,113,929,216"))
            }
            Self::Bitshuffle { block, .. } if !block.is_multiple_of(8) => {
                Err(self.wrong("block size", u64::from(block), "a multiple of 8"))
            }
            Self::Blosc { filter: filter @ (BloscFilter::Delta | BloscFilter::Truncate), .. } => {
                Err(self.wrong("shuffle", filter as u64, "0, 1 or 2"))
            }
            _ => Ok(()),
        }
    }

    /// Bytes of a chunk.
    fn chunk_bytes(&self, chunk: &ChunkFacts<'_>) -> Result<u32> {
        let bytes = chunk.shape.iter().try_fold(chunk.element_size, |n, &extent| n.checked_mul(extent));
        self.number("chunk size", bytes.unwrap_or(usize::MAX))
    }

    fn number(&self, parameter: &'static str, value: usize) -> Result<u32> {
        u32::try_from(value).map_err(|_| self.wrong(parameter, value as u64, "less than 4 GiB"))
    }

    fn wrong(&self, parameter: &'static str, value: u64, expected: &'static str) -> FilterError {
        let filter = crate::registry::registered_name(self.id()).unwrap_or("filter");
        FilterError::Parameter { filter, parameter, value, expected }
    }
}
