//! A contiguous frame: msgpack header, metalayers, one chunk, chunk offsets (`README_CFRAME_FORMAT`).

use std::ops::Range;

use super::chunk::Special;
use super::encode::Encoder;
use super::msgpack::Msgpack;
use super::nd::Grid;
use super::note::{self, MAX_NOTE};
use crate::error::{FilterError, Result};

/// The length of the header before the metalayers, in bytes.
pub(super) const FIXED_HEADER: usize = 87;
/// The longest header that is accepted, in bytes. Headers with sixteen metalayers of usual sizes are far
/// shorter.
const MAX_HEADER: usize = 1 << 24;

/// The positions of fields in the fixed header. A byte with the field's msgpack type precedes each number.
const MAGIC: Range<usize> = 2..10;
const HEADER_LEN: usize = 11;
const FRAME_LEN: usize = 16;
const FLAGS: usize = 25;
const FRAME_TYPE: usize = 26;
const DECODED: usize = 30;
const STORED: usize = 39;
const TYPE_SIZE: usize = 48;
const BLOCK_SIZE: usize = 53;
const CHUNK_SIZE: usize = 58;

/// The header of a frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    /// The length of the header with its metalayers, in bytes.
    pub(super) header: usize,
    /// The length of the frame in bytes.
    pub(super) len: usize,
    /// The decoded length of all chunks, in bytes.
    pub(super) decoded: usize,
    /// The stored length of all chunks, in bytes.
    pub(super) stored: usize,
    /// The bytes of an element.
    pub(super) type_size: usize,
    /// The bytes of a block.
    pub(super) block_size: usize,
    /// The decoded length of a chunk, in bytes.
    pub(super) chunk_size: usize,
    /// The shape and blocks of an n-dimensional array.
    pub(super) grid: Option<Grid>,
}

/// The first chunk of a frame.
pub(super) enum First {
    /// A stored chunk, at this offset in the frame.
    At(usize),
    /// A chunk that is not stored because its elements are all equal.
    Special(Special),
}

impl Frame {
    /// Returns the length of the whole header, from its first `FIXED_HEADER` bytes.
    pub(super) fn header_len(bytes: &[u8], filter: &'static str) -> Result<usize> {
        let damaged = |what| FilterError::damaged(filter, what);
        if bytes.get(MAGIC) != Some(b"b2frame\0") {
            return Err(damaged("no frame signature"));
        }
        let len = size(bytes, HEADER_LEN, 4, filter)?;
        if !(FIXED_HEADER..MAX_HEADER).contains(&len) {
            return Err(damaged("invalid length of the frame's header"));
        }
        Ok(len)
    }

    /// Reads the header at the front of a frame stored in `stored_len` bytes.
    pub(super) fn parse(bytes: &[u8], stored_len: usize, filter: &'static str) -> Result<Self> {
        let damaged = |what| FilterError::damaged(filter, what);
        let header = Self::header_len(bytes, filter)?;
        let bytes = bytes.get(..header).ok_or(damaged("the frame's header is cut short"))?;
        if bytes[FRAME_TYPE] & 0x0f != 0 {
            return Err(FilterError::Unsupported { filter, feature: "a frame in several files".into() });
        }
        if bytes[FLAGS] & 0x80 != 0 {
            return Err(FilterError::Unsupported {
                filter,
                feature: "a chunk of blocks of different lengths".into(),
            });
        }
        let mut frame = Self {
            header,
            len: size(bytes, FRAME_LEN, 8, filter)?,
            decoded: size(bytes, DECODED, 8, filter)?,
            stored: size(bytes, STORED, 8, filter)?,
            type_size: size(bytes, TYPE_SIZE, 4, filter)?,
            block_size: size(bytes, BLOCK_SIZE, 4, filter)?,
            chunk_size: size(bytes, CHUNK_SIZE, 4, filter)?,
            grid: None,
        };
        if frame.len > stored_len || frame.header > frame.len || frame.stored > frame.len - frame.header {
            return Err(damaged("the frame is cut short"));
        }
        if let Some(content) = metalayer(bytes, &[b"b2nd", b"caterva"], filter)? {
            frame.grid = Some(Grid::parse(&bytes[content], filter)?);
        }
        Ok(frame)
    }

    /// Returns whether a chunk of `stored` bytes is the only one in the frame, so that its offset is known.
    pub(super) fn is_only(&self, stored: usize) -> bool {
        stored == self.stored && stored > 0
    }

    /// Returns the position of the chunk offsets, which are stored as a chunk.
    pub(super) fn offsets(&self) -> usize {
        self.header + self.stored
    }

    /// Interprets the first chunk offset.
    pub(super) fn first(&self, offset: i64, filter: &'static str) -> Result<First> {
        let damaged = |what| FilterError::damaged(filter, what);
        if offset < 0 {
            let special = Special::of(offset.to_le_bytes()[7], filter)?;
            return match special {
                Some(special @ (Special::Zero | Special::NaN)) => Ok(First::Special(special)),
                _ => Err(damaged("unknown kind of special chunk")),
            };
        }
        let offset = usize::try_from(offset).ok().filter(|&offset| offset < self.stored);
        Ok(First::At(self.header + offset.ok_or(damaged("the chunk is outside the frame"))?))
    }
}

/// The values of a new frame's header.
pub(super) struct Summary<'a> {
    pub(super) encoder: &'a Encoder,
    /// The decoded length of the chunk, in bytes.
    pub(super) decoded: usize,
    pub(super) block_size: usize,
    /// The grid of an n-dimensional array, and the bytes of its elements.
    pub(super) array: Option<(&'a Grid, usize)>,
    /// The note of the chunk, at most [`MAX_NOTE`] bytes. A frame of an n-dimensional array has none.
    pub(super) note: Option<&'a [u8]>,
}

/// How the chunk of a new frame is stored.
pub(super) enum FrameStorage {
    /// In this many bytes.
    Chunk(usize),
    /// Not at all. The offsets mark the chunk as special.
    Special(Special),
}

/// The most bytes that a frame has in addition to its chunk.
pub(super) const FRAME_EXTRA: usize = 512 + MAX_NOTE;

impl Summary<'_> {
    /// Writes a frame into the front of `out`, around the chunk that `chunk` writes. Returns the length of
    /// the frame, or `None` if `out` is too small.
    pub(super) fn write(
        &self,
        out: &mut [u8],
        chunk: impl FnOnce(&mut [u8]) -> Option<FrameStorage>,
    ) -> Option<usize> {
        let mut head = Vec::with_capacity(512);
        let checksum = self.header(&mut head);
        let header = head.len();
        let (stored, first) = match chunk(out.get_mut(header..)?)? {
            FrameStorage::Chunk(stored) => (stored, 0),
            FrameStorage::Special(special) => (0, special.offset()),
        };
        let len = header + stored + OFFSETS.len() + 8 + TRAILER.len() + 16;
        put(&mut head, HEADER_LEN, 4, header);
        put(&mut head, FRAME_LEN, 8, len);
        put(&mut head, STORED, 8, stored);
        let (before, after) = out.get_mut(..len)?.split_at_mut(header + stored);
        before[..header].copy_from_slice(&head);
        let (offsets, after) = after.split_at_mut(OFFSETS.len());
        offsets.copy_from_slice(&OFFSETS);
        let (offset, after) = after.split_at_mut(8);
        offset.copy_from_slice(&first.to_le_bytes());
        let (trailer, fingerprint) = after.split_at_mut(TRAILER.len());
        trailer.copy_from_slice(&TRAILER);
        fingerprint.fill(0);
        if let Some(at) = checksum {
            let sum = note::checksum(&out[..len], at);
            out[at..at + sum.len()].copy_from_slice(&sum);
        }
        Some(len)
    }

    /// Appends the header. Its lengths are filled in later, and so is the checksum of a note, whose position
    /// is returned.
    fn header(&self, out: &mut Vec<u8>) -> Option<usize> {
        let start = out.len();
        let encoder = self.encoder;
        out.extend_from_slice(b"\x9e\xa8b2frame\0\xd2\0\0\0\0\xcf\0\0\0\0\0\0\0\0\xa4");
        // Version 2 with 64-bit offsets; contiguous; level and codec; blocks split as older readers expect.
        out.extend_from_slice(&[0x12, 0, encoder.level << 4 | encoder.compressor as u8, 3]);
        out.resize(start + FIXED_HEADER, 0);
        let frame = &mut out[start..];
        for (at, tag) in
            [(DECODED, 0xd3), (STORED, 0xd3), (TYPE_SIZE, 0xd2), (BLOCK_SIZE, 0xd2), (CHUNK_SIZE, 0xd2)]
        {
            frame[at - 1] = tag;
        }
        put(frame, DECODED, 8, self.decoded);
        put(frame, TYPE_SIZE, 4, encoder.type_size);
        put(frame, BLOCK_SIZE, 4, self.block_size);
        put(frame, CHUNK_SIZE, 4, self.decoded);
        // One thread each way, no metalayers in the trailer, and six filters, of which the last is the
        // shuffle.
        frame[62..71].copy_from_slice(&[0xd1, 0, 1, 0xd1, 0, 1, 0xc2, 0xd8, 6]);
        frame[76] = encoder.forward as u8;
        frame[77] = encoder.compressor as u8;
        match (self.array, self.note) {
            (None, None) => {
                out.extend_from_slice(&[0x93, 0xcd, 0, 7, 0xde, 0, 0, 0xdc, 0, 0]);
                None
            }
            (Some((grid, item_size)), _) => {
                only_metalayer(b"b2nd", out, |out| grid.write(item_size, out));
                None
            }
            (None, Some(bytes)) => Some(only_metalayer(note::NAME, out, |out| {
                out.extend_from_slice(&[0; note::CHECKSUM]);
                out.extend_from_slice(bytes);
            })),
        }
    }
}

/// Appends the index of metalayers and the only metalayer, whose content `write` appends. Returns the
/// position of the content.
fn only_metalayer(name: &[u8], out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) -> usize {
    // The index has its own length, and for each metalayer its name and position.
    let index = 13 + name.len();
    let position = out.len() + index + 3;
    out.extend_from_slice(&[0x93, 0xcd, 0, index.to_le_bytes()[0], 0xde, 0, 1]);
    out.push(0xa0 | name.len().to_le_bytes()[0]);
    out.extend_from_slice(name);
    out.extend_from_slice(&[0xd2, 0, 0, 0, position.to_le_bytes()[0], 0xdc, 0, 1, 0xc6, 0, 0, 0, 0]);
    let content = out.len();
    write(out);
    let len = out.len() - content;
    put(&mut out[content - 4..], 0, 4, len);
    content
}

/// Stores a big-endian number in `width` bytes at `at`.
fn put(bytes: &mut [u8], at: usize, width: usize, value: usize) {
    bytes[at..at + width].copy_from_slice(&(value as u64).to_be_bytes()[8 - width..]);
}

/// The header of the chunk of offsets, which holds one uncompressed offset.
const OFFSETS: [u8; 32] =
    [5, 1, 7, 8, 8, 0, 0, 0, 8, 0, 0, 0, 40, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
/// No variable-length metalayers, the trailer's length, and an empty fingerprint.
const TRAILER: [u8; 19] = [0x94, 1, 0x93, 0xcd, 0, 6, 0xde, 0, 0, 0xdc, 0, 0, 0xce, 0, 0, 0, 35, 0xd8, 0];

/// Returns the position in the header of the content of the first metalayer with one of these names.
pub(super) fn metalayer(
    header: &[u8],
    names: &[&[u8]],
    filter: &'static str,
) -> Result<Option<Range<usize>>> {
    let damaged = FilterError::damaged(filter, "the frame's metalayers are cut short");
    let mut reader = Msgpack::new(header.get(FIXED_HEADER..).unwrap_or(&[]), filter);
    if reader.remaining() == 0 {
        return Ok(None);
    }
    reader.array()?;
    reader.integer()?;
    for _ in 0..reader.map()? {
        let name = reader.string()?;
        let offset = reader.integer()?;
        if names.contains(&name) {
            let content =
                usize::try_from(offset).ok().and_then(|offset| header.get(offset..)).ok_or(damaged)?;
            let mut reader = Msgpack::new(content, filter);
            let len = reader.binary()?.len();
            let end = header.len() - reader.remaining();
            return Ok(Some(end - len..end));
        }
    }
    Ok(None)
}

/// Reads a big-endian number of the header that must not be negative.
fn size(bytes: &[u8], at: usize, width: usize, filter: &'static str) -> Result<usize> {
    let damaged = |what| FilterError::damaged(filter, what);
    let bytes = bytes.get(at..at + width).ok_or(damaged("the frame's header is cut short"))?;
    let value = bytes.iter().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
    let value = if width == 4 && value >> 31 == 1 { u64::MAX } else { value };
    let value = i64::try_from(value).ok().and_then(|value| usize::try_from(value).ok());
    value.ok_or(damaged("negative size in the frame's header"))
}
