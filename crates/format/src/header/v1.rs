//! Object headers of version 1 (spec IV.A.1.a): no signature, no checksum, messages in multiples of eight bytes.

use super::{Chunk, ChunkContext, Framing, MAX_LEN, RawMessage};
use crate::addr::Extent;
use crate::bytes::{Reader, Writer};
use crate::error::{ErrorKind, Result};

/// Bytes of the prefix, with the padding after it.
pub(super) const PREFIX_LEN: usize = 16;

/// Decodes the prefix and the first chunk; returns the reference count and the chunk.
pub(super) fn decode_first_chunk(r: &mut Reader<'_>) -> Result<(u32, Chunk)> {
    let addr = r.address();
    r.version(1)?;
    r.skip(1)?;
    // The number of messages counts those of all chunks; the chunks' lengths say the same.
    r.skip(2)?;
    let reference_count = r.u32()?;
    let len = u64::from(r.u32()?);
    if len > MAX_LEN {
        let kind = ErrorKind::TooLarge { field: "Object Header Size", value: len, limit: MAX_LEN };
        return Err(r.error_back(4, kind));
    }
    r.skip(4)?;
    let messages = decode_messages(r, len)?;
    let extent = Extent::new(addr, PREFIX_LEN as u64 + len);
    Ok((reference_count, Chunk { extent, messages, gap: 0 }))
}

/// Encodes what [`decode_first_chunk`] reads, of a header with `count` messages in all its chunks.
pub(super) fn encode_first_chunk(reference_count: u32, count: usize, chunk: &Chunk, w: &mut Writer<'_>) {
    w.u8(1); // version
    w.zeros(1);
    w.uint(count as u64, 2);
    w.u32(reference_count);
    w.uint(chunk.messages_len(Framing::V1) as u64, 4);
    w.zeros(4);
    encode_messages(&chunk.messages, w);
}

/// Decodes a chunk after the first: messages alone.
pub(super) fn decode_continuation(r: &mut Reader<'_>, context: &ChunkContext) -> Result<Chunk> {
    let addr = r.address();
    let messages = decode_messages(r, context.len)?;
    Ok(Chunk { extent: Extent::new(addr, context.len), messages, gap: 0 })
}

fn decode_messages(r: &mut Reader<'_>, len: u64) -> Result<Vec<RawMessage>> {
    let mut body = r.sub(usize::try_from(len).unwrap_or(usize::MAX))?;
    match Chunk::decode_messages(&mut body, Framing::V1)? {
        (messages, 0) => Ok(messages),
        (_, gap) => Err(r.bad_value("bytes after the last message", gap.into(), "none in version 1")),
    }
}

pub(super) fn encode_messages(messages: &[RawMessage], w: &mut Writer<'_>) {
    for message in messages {
        w.u16(message.kind);
        w.uint(message.data.len() as u64, 2);
        w.u8(message.flags);
        w.zeros(3);
        w.bytes(&message.data);
    }
}

/// Decodes one message.
pub(super) fn decode_message(r: &mut Reader<'_>) -> Result<RawMessage> {
    let kind = r.u16()?;
    let len = r.u16()?;
    let flags = r.u8()?;
    r.skip(3)?;
    let at = r.address();
    Ok(RawMessage { kind, flags, creation_order: None, data: r.bytes(len.into())?.to_vec(), at })
}
