//! A Blosc chunk: its header, its block offsets, and the streams of a block (`README_CHUNK_FORMAT`, Blosc 1
//! and 2).

use crate::error::{FilterError, Result};

/// The length of the header that every chunk has, in bytes.
pub(super) const HEADER: usize = 16;
/// The length of Blosc 2's header, in bytes.
pub(super) const EXTENDED_HEADER: usize = 32;
/// The largest block that the format allows, in bytes.
const MAX_BLOCK: usize = 536_866_816;
/// The most streams of a split block in Blosc 1.
pub(super) const MAX_SPLITS: usize = 16;
/// The fewest elements of a split block in Blosc 1, and the fewest bytes of a buffer that is compressed.
pub(super) const MIN_BUFFER: usize = 128;

/// Bits of `flags`.
pub(super) const SHUFFLED: u8 = 0x01;
pub(super) const MEMCPYED: u8 = 0x02;
pub(super) const BIT_SHUFFLED: u8 = 0x04;
pub(super) const DELTA: u8 = 0x08;
pub(super) const UNSPLIT: u8 = 0x10;

/// The content of a chunk that stores no blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Special {
    /// All bytes are zero. Values that were never written also read as zeros.
    Zero,
    /// All elements are NaN.
    NaN,
    /// All elements are the value after the header.
    Value,
}

impl Special {
    /// Decodes the number in the flags of a chunk or in the offset of a frame. Returns `Ok(None)` for
    /// ordinary data.
    pub(super) fn of(number: u8, filter: &'static str) -> Result<Option<Self>> {
        match number & 7 {
            0 => Ok(None),
            1 | 4 => Ok(Some(Self::Zero)),
            2 => Ok(Some(Self::NaN)),
            3 => Ok(Some(Self::Value)),
            _ => Err(FilterError::damaged(filter, "unknown kind of special value")),
        }
    }

    /// Returns the offset that marks a chunk in a frame as special, so that the chunk is not stored.
    pub(super) fn offset(self) -> i64 {
        let kind = match self {
            Self::Zero => 1,
            Self::NaN => 2,
            Self::Value => 3,
        };
        i64::from_le_bytes([0, 0, 0, 0, 0, 0, 0, 0x80 | kind])
    }
}

/// The content of a chunk whose elements are all equal.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pattern<'a> {
    /// Zero bytes.
    Zero,
    /// These bytes, repeated.
    Bytes(&'a [u8]),
}

impl<'a> Pattern<'a> {
    /// Returns the bytes that are repeated.
    pub(super) fn bytes(&self) -> &'a [u8] {
        match *self {
            Self::Zero => &[0],
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// The quiet NaN of each width, little-endian.
pub(super) const NAN32: [u8; 4] = f32::NAN.to_bits().to_le_bytes();
pub(super) const NAN64: [u8; 8] = f64::NAN.to_bits().to_le_bytes();

/// Returns the pattern of NaN elements.
pub(super) fn nan(type_size: usize, filter: &'static str) -> Result<Pattern<'static>> {
    match type_size {
        4 => Ok(Pattern::Bytes(&NAN32)),
        8 => Ok(Pattern::Bytes(&NAN64)),
        _ => Err(FilterError::damaged(filter, "NaN elements are neither 4 nor 8 bytes long")),
    }
}

/// A chunk whose header has been checked against the chunk's length.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chunk<'a> {
    /// The filter's name, for errors.
    pub(super) filter: &'static str,
    /// The stored chunk, without bytes after its end.
    pub(super) bytes: &'a [u8],
    /// The version of the format.
    pub(super) version: u8,
    pub(super) flags: u8,
    pub(super) type_size: usize,
    /// The decoded length in bytes.
    pub(super) decoded: usize,
    /// The decoded length of every block but the last, in bytes.
    pub(super) block_size: usize,
    /// The filters in the order in which they were applied, each with its parameter.
    pub(super) filters: [(u8, u8); 6],
    /// The number of a codec that is not one of Blosc's own.
    pub(super) other_codec: u8,
    pub(super) special: Option<Special>,
    /// The length of the header in bytes.
    pub(super) header: usize,
}

/// The lengths that the header gives before the rest of the chunk has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    /// The length of the chunk in bytes.
    pub(super) stored: usize,
    /// The bytes before the first stream.
    pub(super) prefix: usize,
}

impl<'a> Chunk<'a> {
    /// Reads the header of the chunk at the front of `stored`, which may be longer than the chunk.
    pub(super) fn parse(stored: &'a [u8], filter: &'static str) -> Result<Self> {
        let mut chunk = Self::header(stored, filter)?;
        let damaged = |what| FilterError::damaged(filter, what);
        let extent = chunk.extent()?;
        chunk.bytes = stored.get(..extent.stored).ok_or(damaged("chunk is cut short"))?;
        Ok(chunk)
    }

    /// Reads only the header. `bytes` is set to all of `stored` and is not checked against the chunk's
    /// length.
    pub(super) fn header(stored: &'a [u8], filter: &'static str) -> Result<Self> {
        let damaged = |what| FilterError::damaged(filter, what);
        let unsupported = |feature: String| FilterError::Unsupported { filter, feature };
        let Some(&[version, _, flags, type_size, ..]) = stored.first_chunk::<HEADER>() else {
            return Err(damaged("chunk is shorter than its header"));
        };
        if version == 0 || version > 6 {
            return Err(unsupported(format!("version {version} of the chunk format")));
        }
        let mut chunk = Self {
            filter,
            bytes: stored,
            version,
            flags,
            type_size: usize::from(type_size),
            decoded: read_size(stored, 4, filter)?,
            block_size: read_size(stored, 8, filter)?,
            filters: [(0, 0); 6],
            other_codec: 0,
            special: None,
            header: HEADER,
        };
        if chunk.type_size == 0 {
            return Err(damaged("the element size is 0"));
        }
        if chunk.block_size == 0 || chunk.block_size > MAX_BLOCK {
            return Err(damaged("impossible block size"));
        }
        chunk.block_size = chunk.block_size.min(chunk.decoded.max(1));
        if flags & (SHUFFLED | BIT_SHUFFLED) == SHUFFLED | BIT_SHUFFLED {
            chunk.extended(stored)?;
        } else {
            let shuffle = if flags & SHUFFLED != 0 { 1 } else { (flags & BIT_SHUFFLED) >> 1 };
            chunk.filters[4].0 = if flags & DELTA != 0 { 3 } else { 0 };
            chunk.filters[5].0 = shuffle;
        }
        Ok(chunk)
    }

    /// Reads the second half of Blosc 2's header.
    fn extended(&mut self, stored: &[u8]) -> Result<()> {
        let filter = self.filter;
        let unsupported = |feature: &str| FilterError::Unsupported { filter, feature: feature.into() };
        let Some(header) = stored.first_chunk::<EXTENDED_HEADER>() else {
            return Err(FilterError::damaged(filter, "chunk is shorter than its header"));
        };
        for (slot, (&id, &meta)) in self.filters.iter_mut().zip(header[16..22].iter().zip(&header[24..30])) {
            *slot = (id, meta);
        }
        if self.version == 3 {
            // The alpha versions did not initialise the last slot.
            self.filters[5] = (0, 0);
        }
        self.other_codec = header[22];
        self.header = EXTENDED_HEADER;
        let (flags2, flags) = (header[30], header[31]);
        if flags2 & 1 != 0 {
            return Err(unsupported("a chunk of blocks of different lengths"));
        }
        if flags & 0x01 != 0 {
            return Err(unsupported("a compression dictionary"));
        }
        if flags & 0x08 != 0 {
            return Err(unsupported("a chunk whose blocks are elsewhere"));
        }
        if flags & 0x80 != 0 {
            return Err(unsupported("a chunk of measurements"));
        }
        self.special = Special::of(flags >> 4, filter)?;
        Ok(())
    }

    /// Returns the length of the chunk, and the length of the part before its streams.
    pub(super) fn extent(&self) -> Result<Extent> {
        let damaged = |what| FilterError::damaged(self.filter, what);
        let stored = read_size(self.bytes, 12, self.filter)?;
        let table = if self.special.is_some() || self.is_memcpyed() { 0 } else { self.blocks() };
        let prefix = table.checked_mul(4).and_then(|n| n.checked_add(self.header));
        let prefix =
            prefix.filter(|&n| n <= stored).ok_or(damaged("block offsets do not fit into the chunk"))?;
        if self.is_memcpyed() && self.special.is_none() && stored != self.header + self.decoded {
            return Err(damaged("uncompressed chunk has another length than its header says"));
        }
        Ok(Extent { stored, prefix })
    }

    /// Returns whether the data is stored uncompressed.
    pub(super) fn is_memcpyed(&self) -> bool {
        self.flags & MEMCPYED != 0
    }

    /// Returns the codec's number in the format.
    pub(super) fn codec(&self) -> u8 {
        self.flags >> 5
    }

    /// Returns the number of blocks.
    pub(super) fn blocks(&self) -> usize {
        self.decoded.div_ceil(self.block_size)
    }

    /// Returns the decoded length of block `index` in bytes.
    pub(super) fn block_len(&self, index: usize) -> usize {
        self.block_size.min(self.decoded - index * self.block_size)
    }

    /// Returns the number of streams of block `index`.
    pub(super) fn streams(&self, index: usize) -> usize {
        let split = self.flags & UNSPLIT == 0
            && self.block_len(index) == self.block_size
            // Older versions have no flag and split by this rule.
            && (self.version > 2
                || (self.type_size <= MAX_SPLITS && self.block_size / self.type_size >= MIN_BUFFER));
        if split { self.type_size } else { 1 }
    }

    /// Returns the offset of block `index`.
    pub(super) fn block_start(&self, index: usize) -> Result<usize> {
        read_size(self.bytes, self.header + 4 * index, self.filter)
    }

    /// Returns the next stream of a block. The stream decodes to `len` bytes. Moves `at` to the end of the
    /// stream, which is at most `end`.
    #[inline]
    pub(super) fn stream(&self, at: &mut usize, end: usize, len: usize) -> Result<Stream<'a>> {
        let damaged = |what| FilterError::damaged(self.filter, what);
        let short = damaged("a block is cut short");
        let bytes = self.bytes.get(..end).ok_or(damaged("a block is outside the chunk"))?;
        let Some(size) = bytes.get(*at..).and_then(|b| b.first_chunk::<4>()) else { return Err(short) };
        let size = i32::from_le_bytes(*size);
        *at += 4;
        let Ok(size) = usize::try_from(size) else {
            let Some(&token) = bytes.get(*at) else { return Err(short) };
            *at += 1;
            return match (token & 1, u8::try_from(size.unsigned_abs())) {
                (1, Ok(byte)) => Ok(Stream::Run(byte)),
                _ => Err(damaged("unknown kind of stream")),
            };
        };
        if size == 0 {
            return Ok(Stream::Run(0));
        }
        let stream = bytes.get(*at..).and_then(|b| b.get(..size)).ok_or(short)?;
        *at += size;
        Ok(if size == len { Stream::Stored(stream) } else { Stream::Coded(stream) })
    }

    /// Returns the repeated element, if the chunk is special.
    pub(super) fn pattern(&self) -> Result<Option<Pattern<'a>>> {
        let Some(special) = self.special else { return Ok(None) };
        Ok(Some(match special {
            Special::Zero => Pattern::Zero,
            Special::NaN => nan(self.type_size, self.filter)?,
            Special::Value => {
                let value = self.bytes.get(self.header..).unwrap_or(&[]);
                if value.is_empty() || !self.decoded.is_multiple_of(value.len()) {
                    return Err(FilterError::damaged(
                        self.filter,
                        "the decoded length is not a multiple of the repeated value's length",
                    ));
                }
                Pattern::Bytes(value)
            }
        }))
    }
}

/// How a stream of a block is stored.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stream<'a> {
    /// As one byte, which is repeated.
    Run(u8),
    /// Uncompressed.
    Stored(&'a [u8]),
    /// Compressed by the codec.
    Coded(&'a [u8]),
}

/// Reads a size, which the format stores as a signed 32-bit integer.
fn read_size(bytes: &[u8], at: usize, filter: &'static str) -> Result<usize> {
    let damaged = |what| FilterError::damaged(filter, what);
    let word = bytes.get(at..).and_then(|b| b.first_chunk::<4>()).ok_or(damaged("chunk is cut short"))?;
    usize::try_from(i32::from_le_bytes(*word)).map_err(|_| damaged("negative size"))
}
