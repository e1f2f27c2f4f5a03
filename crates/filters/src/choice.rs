//! Filters as a user chooses them when creating a dataset, and the client data that a file stores for them.
//! The client data is that of libhdf5 and the reference plugins (the result of their `set_local` for the
//! user's parameters).

use crate::added;
use crate::error::{FilterError, Result};
use crate::facts::ChunkFacts;
use crate::filter::FilterId;
use crate::nbit::NBit;
use crate::scale_offset::ScaleOffset;
use crate::szip::Szip;
use crate::zfp::{Zfp, ZfpMode};

/// A filter and its user-visible parameters.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FilterChoice {
    /// zlib.
    Deflate {
        /// The level, from 0 (stored) to 9 (slowest, smallest).
        level: u32,
    },
    /// Byte shuffle.
    Shuffle,
    /// A checksum of each chunk. This is the only filter that is not optional.
    Fletcher32,
    /// szip, the extended Rice coder of CCSDS 121.0-B, for elements of 1, 2, 4 or 8 bytes.
    Szip {
        /// Whether elements are coded as differences from their neighbours.
        method: SzipMethod,
        /// The elements of a block, an even number up to 32.
        pixels_per_block: u32,
    },
    /// N-bit, which stores the significant bits of numbers.
    NBit,
    /// Scale-offset, which stores differences from the smallest element of a chunk. Floats lose digits.
    ScaleOffset {
        /// For integers, the number of bits of an element, which loses larger differences; 0 for as many as
        /// needed. For floats, the number of digits after the decimal point that are kept.
        factor: i32,
    },
    /// bzip2.
    Bzip2 {
        /// The size of a block in units of 100,000 bytes, from 1 to 9.
        block_size: u32,
    },
    /// h5py's LZF.
    Lzf,
    /// Snappy, in the layout of Snappy-CUDA.
    Snappy,
    /// ZFP, for integers and floats of 4 or 8 bytes.
    Zfp {
        /// What is kept.
        mode: ZfpMode,
    },
    /// LZ4.
    Lz4 {
        /// The bytes of a block, or 0 for one block per chunk.
        block_size: u32,
    },
    /// Zstandard.
    Zstd {
        /// The level, at most 22. Levels below 1 are faster than level 1.
        level: i32,
    },
    /// Bit shuffle, plain or before a codec.
    Bitshuffle {
        /// The elements of a block, a multiple of 8, or 0 for blocks of 8 KiB.
        block: u32,
        /// The codec that encodes the shuffled blocks.
        codec: BitshuffleCodec,
    },
    /// Blosc 1.
    Blosc {
        /// The codec that encodes the blocks.
        codec: BloscCodec,
        /// The level, from 0 (stored) to 9 (slowest, smallest).
        level: u32,
        /// The filter before the codec. Only Blosc 2 has [`BloscFilter::Delta`] and
        /// [`BloscFilter::Truncate`].
        filter: BloscFilter,
    },
    /// Blosc 2.
    Blosc2 {
        /// The codec that encodes the blocks.
        codec: BloscCodec,
        /// The level, from 0 (stored) to 9 (slowest, smallest).
        level: u32,
        /// The filter before the codec.
        filter: BloscFilter,
    },
    /// Any other filter. To encode and decode, a file needs a [`Registry`](crate::Registry) that has it.
    Registered {
        /// The filter's number.
        id: FilterId,
        /// The parameters, as they are stored.
        client_data: Vec<u32>,
    },
}

/// How szip codes elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SzipMethod {
    /// Entropy coding of the elements ("ec").
    Entropy,
    /// Entropy coding of the differences between neighbours ("nn").
    NearestNeighbor,
}

/// The codecs inside bitshuffle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BitshuffleCodec {
    /// No codec.
    None,
    /// LZ4.
    Lz4,
    /// Zstandard.
    Zstd {
        /// The level, as for [`FilterChoice::Zstd`].
        level: i32,
    },
}

/// The codecs inside Blosc.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BloscCodec {
    /// BloscLZ, Blosc's own codec.
    BloscLz = 0,
    /// LZ4.
    Lz4 = 1,
    /// LZ4's slow encoder, with better compression.
    Lz4Hc = 2,
    /// Snappy. Blosc 2 has it for reading only.
    Snappy = 3,
    /// zlib.
    Zlib = 4,
    /// Zstandard.
    Zstd = 5,
}

/// The filters that Blosc applies before the codec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BloscFilter {
    /// No filter.
    None = 0,
    /// Byte shuffle.
    Shuffle = 1,
    /// Bit shuffle.
    BitShuffle = 2,
    /// Differences (exclusive or): in the first block from the element before, in the other blocks from the
    /// first block.
    Delta = 3,
    /// Truncated precision: clears the whole mantissa of floating-point numbers of 4 or 8 bytes. The HDF5
    /// filter has no parameter for the number of bits to keep.
    Truncate = 4,
}

impl BloscCodec {
    /// Returns the codec with this number in the parameters of filters.
    pub fn of(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::BloscLz,
            1 => Self::Lz4,
            2 => Self::Lz4Hc,
            3 => Self::Snappy,
            4 => Self::Zlib,
            5 => Self::Zstd,
            _ => return None,
        })
    }
}

impl BloscFilter {
    /// Returns the filter with this number in the parameters of filters and in Blosc 2's headers.
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

impl FilterChoice {
    /// Returns the filter's registered number.
    pub fn id(&self) -> FilterId {
        match self {
            Self::Deflate { .. } => FilterId::DEFLATE,
            Self::Shuffle => FilterId::SHUFFLE,
            Self::Fletcher32 => FilterId::FLETCHER32,
            Self::Szip { .. } => FilterId::SZIP,
            Self::NBit => FilterId::NBIT,
            Self::ScaleOffset { .. } => FilterId::SCALE_OFFSET,
            Self::Bzip2 { .. } => FilterId::BZIP2,
            Self::Lzf => FilterId::LZF,
            Self::Snappy => FilterId::SNAPPY,
            Self::Zfp { .. } => FilterId::ZFP,
            Self::Lz4 { .. } => FilterId::LZ4,
            Self::Zstd { .. } => FilterId::ZSTD,
            Self::Bitshuffle { .. } => FilterId::BITSHUFFLE,
            Self::Blosc { .. } => FilterId::BLOSC,
            Self::Blosc2 { .. } => FilterId::BLOSC2,
            Self::Registered { id, .. } => *id,
        }
    }

    /// Returns the flags to store. Bit 0 says that a chunk may be stored without the filter.
    pub fn flags(&self) -> u16 {
        u16::from(*self != Self::Fletcher32)
    }

    /// Returns the client data to store for chunks of a dataset. The result is an error if a parameter is out
    /// of range, the chunk is too long for the filter, or the filter is not for the datatype.
    pub fn client_data(&self, chunk: &ChunkFacts<'_>) -> Result<Vec<u32>> {
        self.check()?;
        Ok(match *self {
            Self::Deflate { level } => vec![level],
            Self::Shuffle => vec![self.number("element size", chunk.element.size())?],
            Self::Fletcher32 | Self::Snappy => vec![],
            Self::Szip { method, pixels_per_block } => Szip::client_data(method, pixels_per_block, chunk)?,
            Self::NBit => NBit::client_data(chunk)?,
            Self::ScaleOffset { factor } => ScaleOffset::client_data(factor, chunk)?,
            Self::Zfp { mode } => Zfp::client_data(mode, chunk)?,
            Self::Registered { id, ref client_data } => match added::find(id) {
                Some(added) => added.client_data(client_data, self.flags() & 1 != 0, chunk)?,
                None => client_data.clone(),
            },
            // The versions of the filter and of the library.
            Self::Lzf => vec![4, 0x0105, self.chunk_bytes(chunk)?],
            Self::Bzip2 { block_size } | Self::Lz4 { block_size } => vec![block_size],
            Self::Zstd { level } => vec![level.cast_unsigned()],
            Self::Bitshuffle { block, codec } => {
                // The version of the library.
                let mut data = vec![0, 4, self.number("element size", chunk.element.size())?, block];
                match codec {
                    BitshuffleCodec::None => data.push(0),
                    BitshuffleCodec::Lz4 => data.push(2),
                    BitshuffleCodec::Zstd { level } => data.extend([3, level.cast_unsigned()]),
                }
                data
            }
            Self::Blosc { codec, level, filter } => {
                // The versions of the filter and of the chunk format. Blosc treats larger elements as bytes.
                let item = chunk.element.item_size();
                let item = if item > 255 { 1 } else { item };
                let item = self.number("element size", item)?;
                vec![2, 2, item, self.chunk_bytes(chunk)?, level, filter as u32, codec as u32]
            }
            Self::Blosc2 { codec, level, filter } => {
                let item = self.number("element size", chunk.element.item_size())?;
                // The version of the filter, and 0 for a block size that the encoder chooses.
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

    /// Checks that the parameters are in range, as far as they do not depend on the chunks.
    pub fn check(&self) -> Result<()> {
        match *self {
            Self::Deflate { level } | Self::Blosc { level, .. } | Self::Blosc2 { level, .. } if level > 9 => {
                Err(self.wrong("level", u64::from(level), "0 to 9"))
            }
            Self::Zstd { level } | Self::Bitshuffle { codec: BitshuffleCodec::Zstd { level }, .. }
                if level > 22 =>
            {
                Err(self.wrong("level", u64::from(level.unsigned_abs()), "at most 22"))
            }
            Self::Bzip2 { block_size } if !(1..=9).contains(&block_size) => {
                Err(self.wrong("block size", u64::from(block_size), "1 to 9"))
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
            // Writers of Blosc 2 lack the codec, and so do most of its readers.
            Self::Blosc2 { codec: codec @ BloscCodec::Snappy, .. } => {
                Err(self.wrong("codec", codec as u64, "0, 1, 2, 4 or 5 (Snappy is for Blosc 1)"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the bytes of a chunk.
    fn chunk_bytes(&self, chunk: &ChunkFacts<'_>) -> Result<u32> {
        let bytes = chunk.shape.iter().try_fold(chunk.element.size(), |n, &extent| n.checked_mul(extent));
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
