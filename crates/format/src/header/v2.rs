//! Object headers of version 2 (spec IV.A.1.b): `OHDR`, continued in `OCHK`; a checksum to every chunk.

use super::{Chunk, ChunkContext, Framing, MAX_LEN, RawMessage};
use crate::addr::Extent;
use crate::bytes::{Reader, Writer};
use crate::error::{ErrorKind, Result};
use crate::message::group_info::PhaseChange;

/// What stands before the messages of a header of version 2. Fields in disk order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefix {
    /// log2 of the bytes in which the length of the first chunk is stored, 0 to 3 (flags, bits 0 and 1).
    pub len_width: u8,
    /// Whether every message has its creation order, for the attributes' sake (flags, bit 2).
    pub tracks_creation_order: bool,
    /// Whether the attributes' creation order is indexed (flags, bit 3).
    pub indexes_creation_order: bool,
    /// When the object was used, if stored (flags, bit 5).
    pub times: Option<Times>,
    /// When attributes move between messages and the fractal heap, if not as by default (flags, bit 4).
    pub phase_change: Option<PhaseChange>,
}

/// When an object was used, in seconds since 1970 in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// Last read.
    pub access: u32,
    /// Data last written.
    pub modification: u32,
    /// Header last written.
    pub change: u32,
    /// Created.
    pub birth: u32,
}

const LEN_WIDTH: u8 = 3;
const TRACKS_CREATION_ORDER: u8 = 4;
const INDEXES_CREATION_ORDER: u8 = 8;
const HAS_PHASE_CHANGE: u8 = 16;
const HAS_TIMES: u8 = 32;

/// Bytes of the checksum that ends a chunk.
const CHECKSUM_LEN: u64 = 4;

impl Prefix {
    /// Bytes before the first message.
    pub(super) fn len(&self) -> usize {
        let times = self.times.map_or(0, |_| 16);
        let phase_change = self.phase_change.map_or(0, |_| 4);
        6 + times + phase_change + (1 << self.len_width)
    }

    fn framing(&self) -> Framing {
        Framing::V2 { creation_order: self.tracks_creation_order }
    }

    /// Decodes the prefix; returns it and the length of the first chunk's messages.
    fn decode(r: &mut Reader<'_>) -> Result<(Self, u64)> {
        r.signature(b"OHDR")?;
        r.version(2)?;
        let flags = r.u8()?;
        if flags & !0x3f != 0 {
            return Err(r.bad_value("Flags", flags.into(), "bits 0 to 5 alone"));
        }
        let times = if flags & HAS_TIMES != 0 {
            Some(Times { access: r.u32()?, modification: r.u32()?, change: r.u32()?, birth: r.u32()? })
        } else {
            None
        };
        let phase_change = if flags & HAS_PHASE_CHANGE != 0 {
            Some(PhaseChange { max_compact: r.u16()?, min_dense: r.u16()? })
        } else {
            None
        };
        let prefix = Self {
            len_width: flags & LEN_WIDTH,
            tracks_creation_order: flags & TRACKS_CREATION_ORDER != 0,
            indexes_creation_order: flags & INDEXES_CREATION_ORDER != 0,
            times,
            phase_change,
        };
        Ok((prefix, r.uint(1 << prefix.len_width)?))
    }

    fn encode(&self, len: usize, w: &mut Writer<'_>) {
        let flag = |condition, flag| if condition { flag } else { 0 };
        w.signature(b"OHDR");
        w.u8(2); // version
        w.u8(self.len_width
            | flag(self.tracks_creation_order, TRACKS_CREATION_ORDER)
            | flag(self.indexes_creation_order, INDEXES_CREATION_ORDER)
            | flag(self.phase_change.is_some(), HAS_PHASE_CHANGE)
            | flag(self.times.is_some(), HAS_TIMES));
        if let Some(Times { access, modification, change, birth }) = self.times {
            for time in [access, modification, change, birth] {
                w.u32(time);
            }
        }
        if let Some(PhaseChange { max_compact, min_dense }) = self.phase_change {
            w.u16(max_compact);
            w.u16(min_dense);
        }
        w.uint(len as u64, 1 << self.len_width);
    }
}

/// Decodes the prefix and the first chunk.
pub(super) fn decode_first_chunk(r: &mut Reader<'_>) -> Result<(Prefix, Chunk)> {
    let addr = r.address();
    let (prefix, len) = Prefix::decode(r)?;
    if len > MAX_LEN {
        let kind = ErrorKind::TooLarge { field: "Size of Chunk #0", value: len, limit: MAX_LEN };
        return Err(r.error_back(1 << prefix.len_width, kind));
    }
    let (messages, gap) = decode_messages(r, len, prefix.framing())?;
    let extent = Extent::new(addr, prefix.len() as u64 + len + CHECKSUM_LEN);
    Ok((prefix, Chunk { extent, messages, gap }))
}

/// Encodes what [`decode_first_chunk`] reads.
pub(super) fn encode_first_chunk(prefix: &Prefix, chunk: &Chunk, w: &mut Writer<'_>) {
    prefix.encode(chunk.messages_len(prefix.framing()), w);
    encode_messages(chunk, w);
}

/// Decodes a chunk after the first.
pub(super) fn decode_continuation(r: &mut Reader<'_>, context: &ChunkContext) -> Result<Chunk> {
    let addr = r.address();
    r.signature(b"OCHK")?;
    let Some(len) = context.len.checked_sub(4 + CHECKSUM_LEN) else {
        return Err(r.bad_value("Length", context.len, "at least 8: a signature and a checksum"));
    };
    let (messages, gap) = decode_messages(r, len, context.framing)?;
    Ok(Chunk { extent: Extent::new(addr, context.len), messages, gap })
}

/// Encodes what [`decode_continuation`] reads.
pub(super) fn encode_continuation(chunk: &Chunk, w: &mut Writer<'_>) {
    w.signature(b"OCHK");
    encode_messages(chunk, w);
}

/// Decodes `len` bytes of messages and the checksum after them, which is looked at first.
fn decode_messages(r: &mut Reader<'_>, len: u64, framing: Framing) -> Result<(Vec<RawMessage>, u8)> {
    // One error says how many bytes are needed for both.
    r.clone().skip(usize::try_from(len + CHECKSUM_LEN).unwrap_or(usize::MAX))?;
    let mut body = r.sub(usize::try_from(len).unwrap_or(usize::MAX))?;
    r.checksum()?;
    Chunk::decode_messages(&mut body, framing)
}

fn encode_messages(chunk: &Chunk, w: &mut Writer<'_>) {
    for message in &chunk.messages {
        w.uint(message.kind.into(), 1);
        w.uint(message.data.len() as u64, 2);
        w.u8(message.flags);
        if let Some(order) = message.creation_order {
            w.u16(order);
        }
        w.bytes(&message.data);
    }
    w.zeros(chunk.gap.into());
    w.checksum();
}

/// Decodes one message.
pub(super) fn decode_message(r: &mut Reader<'_>, creation_order: bool) -> Result<RawMessage> {
    let kind = r.u8()?.into();
    let len = r.u16()?;
    let flags = r.u8()?;
    let creation_order = if creation_order { Some(r.u16()?) } else { None };
    let at = r.address();
    Ok(RawMessage { kind, flags, creation_order, data: r.bytes(len.into())?.to_vec(), at })
}
