//! Blosc chunk: header, block offsets and the streams of a block (`README_CHUNK_FORMAT`, Blosc 1 and 2).

use crate::error::{FilterError, Result};

/// Bytes of the header that every chunk has.
pub(super) const HEADER: usize = 16;
/// Bytes of Blosc 2's header.
pub(super) const EXTENDED_HEADER: usize = 32;
/// The largest block of the format.
const MAX_BLOCK: usize = 536_866_816;
/// Streams of a split block in Blosc 1.
pub(super) const MAX_SPLITS: usize = 16;
/// Elements that a block of Blosc 1 has at least when it is split, and bytes that a buffer has when it is compressed.
pub(super) const MIN_BUFFER: usize = 128;

/// Bits of `flags`.
pub(super) const SHUFFLED: u8 = 0x01;
pub(super) const MEMCPYED: u8 = 0x02;
pub(super) const BIT_SHUFFLED: u8 = 0x04;
pub(super) const DELTA: u8 = 0x08;
pub(super) const UNSPLIT: u8 = 0x10;

/// What a chunk says instead of storing blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Special {
    /// All bytes are zero. Never-written values read as zeros too.
    Zero,
    /// All elements are NaN.
    NaN,
    /// All elements are the value after the header.
    Value,
}

impl Special {
    /// From the number in the flags of a chunk or in the offset of a frame; `Ok(None)` for ordinary data.
    pub(super) fn of(number: u8, filter: &'static str) -> Result<Option<Self>> {
        match number & 7 {
            0 => Ok(None),
            1 | 4 => Ok(Some(Self::Zero)),
            2 => Ok(Some(Self::NaN)),
            3 => Ok(Some(Self::Value)),
            _ => Err(FilterError::damaged(filter, "unknown kind of special value")),
        }
    }

    /// The offset by which a frame says it of a chunk that is not stored.
    pub(super) fn offset(self) -> i64 {
        let kind = match self {
            Self::Zero => 1,
            Self::NaN => 2,
            Self::Value => 3,
        };
        i64::from_le_bytes([0, 0, 0, 0, 0, 0, 0, 0x80 | kind])
    }
}

/// One element of a chunk that is the same all over.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pattern<'a> {
    /// Zero bytes.
    Zero,
    /// These bytes, again and again.
    Bytes(&'a [u8]),
}

/// The quiet NaN of each width, little-endian.
pub(super) const NAN32: [u8; 4] = f32::NAN.to_bits().to_le_bytes();
pub(super) const NAN64: [u8; 8] = f64::NAN.to_bits().to_le_bytes();

/// The pattern of NaN elements.
pub(super) fn nan(type_size: usize, filter: &'static str) -> Result<Pattern<'static>> {
    match type_size {
        4 => Ok(Pattern::Bytes(&NAN32)),
        8 => Ok(Pattern::Bytes(&NAN64)),
        _ => Err(FilterError::damaged(filter, "NaN elements that are neither 4 nor 8 bytes long")),
    }
}

/// A chunk whose header has been checked against its length.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chunk<'a> {
    /// The filter, for errors.
    pub(super) filter: &'static str,
    /// The stored chunk, exactly.
    pub(super) bytes: &'a [u8],
    /// Format version.
    pub(super) version: u8,
    pub(super) flags: u8,
    pub(super) type_size: usize,
    /// Bytes that it decodes to.
    pub(super) decoded: usize,
    /// Bytes that all blocks but the last decode to.
    pub(super) block_size: usize,
    /// Filters in the order in which they were applied, and a parameter of each.
    pub(super) filters: [(u8, u8); 6],
    /// The number of a codec that is not among Blosc's own.
    pub(super) other_codec: u8,
    pub(super) special: Option<Special>,
    /// Bytes of the header.
    pub(super) header: usize,
}

/// What the header says before the rest of the chunk is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    /// Bytes of the chunk.
    pub(super) stored: usize,
    /// Bytes up to the first stream.
    pub(super) prefix: usize,
}

impl<'a> Chunk<'a> {
    /// Reads the header of the chunk at the front of `stored`, which may be longer.
    pub(super) fn parse(stored: &'a [u8], filter: &'static str) -> Result<Self> {
        let mut chunk = Self::header(stored, filter)?;
        let damaged = |what| FilterError::damaged(filter, what);
        let extent = chunk.extent()?;
        chunk.bytes = stored.get(..extent.stored).ok_or(damaged("chunk is cut short"))?;
        Ok(chunk)
    }

    /// Reads the header only: `bytes` is what there is, and not checked against the chunk's length.
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
            return Err(damaged("elements of no bytes"));
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
            // The alpha versions left the last slot as it was.
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

    /// How long the chunk is, and how much of it comes before its streams.
    pub(super) fn extent(&self) -> Result<Extent> {
        let damaged = |what| FilterError::damaged(self.filter, what);
        let stored = read_size(self.bytes, 12, self.filter)?;
        let table = if self.special.is_some() || self.is_memcpyed() { 0 } else { self.blocks() };
        let prefix = table.checked_mul(4).and_then(|n| n.checked_add(self.header));
        let prefix =
            prefix.filter(|&n| n <= stored).ok_or(damaged("block offsets do not fit into the chunk"))?;
        if self.is_memcpyed() && self.special.is_none() && stored != self.header + self.decoded {
            return Err(damaged("stored bytes are not as many as decoded ones"));
        }
        Ok(Extent { stored, prefix })
    }

    /// Whether the data is stored as it is.
    pub(super) fn is_memcpyed(&self) -> bool {
        self.flags & MEMCPYED != 0
    }

    /// The codec's number in the format.
    pub(super) fn codec(&self) -> u8 {
        self.flags >> 5
    }

    /// The number of blocks.
    pub(super) fn blocks(&self) -> usize {
        self.decoded.div_ceil(self.block_size)
    }

    /// Bytes that block `index` decodes to.
    pub(super) fn block_len(&self, index: usize) -> usize {
        self.block_size.min(self.decoded - index * self.block_size)
    }

    /// How many streams block `index` has.
    pub(super) fn streams(&self, index: usize) -> usize {
        let split = self.flags & UNSPLIT == 0
            && self.block_len(index) == self.block_size
            // Before the flag there was a rule.
            && (self.version > 2
                || (self.type_size <= MAX_SPLITS && self.block_size / self.type_size >= MIN_BUFFER));
        if split { self.type_size } else { 1 }
    }

    /// Where block `index` starts.
    pub(super) fn block_start(&self, index: usize) -> Result<usize> {
        read_size(self.bytes, self.header + 4 * index, self.filter)
    }

    /// The next stream of a block, which decodes to `len` bytes; `at` is moved to its end, at most to `end`.
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

    /// The element that all elements are, if the chunk is special.
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
                        "the chunk is no whole number of its repeated value",
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
    /// One byte, again and again.
    Run(u8),
    /// The bytes themselves.
    Stored(&'a [u8]),
    /// By the codec.
    Coded(&'a [u8]),
}

/// A size that the format stores as a signed 32-bit integer.
fn read_size(bytes: &[u8], at: usize, filter: &'static str) -> Result<usize> {
    let damaged = |what| FilterError::damaged(filter, what);
    let word = bytes.get(at..).and_then(|b| b.first_chunk::<4>()).ok_or(damaged("chunk is cut short"))?;
    usize::try_from(i32::from_le_bytes(*word)).map_err(|_| damaged("negative size"))
}
