//! Object headers of version 1 (spec IV.A.1.a): no signature, no checksum, messages in multiples of 8 bytes.

use super::{Chunk, ChunkContext, Framing, MAX_LEN, RawMessage};
use crate::addr::Extent;
use crate::bytes::{Reader, Writer};
use crate::error::Result;

/// The size of the prefix in bytes, with the padding after it.
pub(super) const PREFIX_LEN: usize = 16;

/// Decodes the prefix and the first chunk. Returns the reference count and the chunk.
pub(super) fn decode_first_chunk(r: &mut Reader<'_>) -> Result<(u32, Chunk)> {
    let addr = r.address();
    r.version(1)?;
    r.skip(1)?;
    // Skips the number of messages in all chunks, which also follows from the lengths of the chunks.
    r.skip(2)?;
    let reference_count = r.u32()?;
    let len = u64::from(r.u32()?);
    r.at_most(4, "Object Header Size", len, MAX_LEN)?;
    r.skip(4)?;
    let messages = decode_messages(r, len)?;
    let extent = Extent::new(addr, PREFIX_LEN as u64 + len);
    Ok((reference_count, Chunk { extent, messages, gap: 0 }))
}

/// Encodes the bytes that [`decode_first_chunk`] reads, for a header with `count` messages in all its chunks.
pub(super) fn encode_first_chunk(reference_count: u32, count: usize, chunk: &Chunk, w: &mut Writer<'_>) {
    w.u8(1); // version
    w.zeros(1);
    w.uint(count as u64, 2);
    w.u32(reference_count);
    w.uint(chunk.messages_len(Framing::V1) as u64, 4);
    w.zeros(4);
    encode_messages(&chunk.messages, w);
}

/// Decodes a chunk after the first, which has only messages.
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
    Ok(RawMessage { kind, flags, creation_order: None, data: r.bytes(len.into())?.into(), at })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addr::Addr;
    use crate::bytes::Widths;
    use crate::error::ErrorKind;
    use crate::golden;
    use crate::header::ObjectHeader;
    use crate::message::attribute::Attribute;
    use crate::message::kind;
    use crate::message::small::SymbolTable;

    /// A group at 0x320 with two attributes, written by h5py 3.16 with `libver=("earliest", "v108")`.
    const FIRST: &str =
        "01 00 0400 01000000 18000000 00*4 1000 1000 00 00*3 2807000000000000 8800000000000000";
    const SECOND: &str = "1100 1000 00 00*3 4803000000000000 6805000000000000
        0c00 3000 00 00*3 010003000c000800 6130 00*6 10080000 01000000 0000 0800 00*4 01 00*15
        0c00 3000 00 00*3 010003000c000800 6131 00*6 10080000 01000000 0000 0800 00*4 01 00*7 01 00*7";

    fn reader(bytes: &[u8], at: u64) -> Reader<'_> {
        Reader::new(bytes, Widths::EIGHT, Addr::new(at))
    }

    fn header(first: &str, at: u64) -> ObjectHeader {
        reader(&golden::unhex(first), at).structure(&()).unwrap()
    }

    #[test]
    fn a_header_of_two_chunks_is_read_chunk_by_chunk() {
        let (first, second) = (golden::unhex(FIRST), golden::unhex(SECOND));
        let mut header = header(FIRST, 0x320);
        assert_eq!(header.pending(), [Extent::new(Addr::new(0x728), 136)]);
        header.decode_continuation(&mut reader(&second, 0x728)).unwrap();
        assert_eq!(header.next_pending(), None);

        let kinds: Vec<u16> = header.messages().map(|message| message.kind).collect();
        assert_eq!(kinds, [kind::CONTINUATION, kind::SYMBOL_TABLE, kind::ATTRIBUTE, kind::ATTRIBUTE]);
        let table = header.own_message::<SymbolTable>(Widths::EIGHT).unwrap().unwrap();
        assert_eq!(table, SymbolTable { btree: Addr::new(0x348), heap: Addr::new(0x568) });
        let second_attribute = header.messages().last().unwrap();
        assert_eq!(second_attribute.at, Addr::new(0x728 + 24 + 56 + 8));
        assert_eq!(second_attribute.decode_here::<Attribute>(Widths::EIGHT).unwrap().name, "a1");

        let mut again = Vec::new();
        let mut w = Writer::new(&mut again, Widths::EIGHT);
        w.structure(&header, &());
        assert_eq!(again, first);
        again.clear();
        let context = ChunkContext { framing: Framing::V1, len: 136 };
        Writer::new(&mut again, Widths::EIGHT).structure(&header.chunks[1], &context);
        assert_eq!(again, second);
    }

    #[test]
    fn a_header_whose_continuation_is_its_first_chunk_is_refused() {
        let bytes = golden::unhex(FIRST);
        let error = reader(&bytes, 0x728).structure::<ObjectHeader>(&()).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Value { field: "Offset", value: 0x728, .. }), "{error}");
        assert_eq!(error.at, Addr::new(0x728 + 24));
    }

    #[test]
    fn two_chunks_that_continue_in_each_other_are_refused() {
        let mut header = header(FIRST, 0x320);
        let back = golden::unhex("1000 1000 00 00*3 2003000000000000 2800000000000000 0000 6800 00*108");
        let error = header.decode_continuation(&mut reader(&back, 0x728)).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Value { field: "Offset", value: 0x320, .. }), "{error}");
    }

    #[test]
    fn a_header_above_the_length_limit_is_refused_before_it_is_read() {
        let error = golden::error::<ObjectHeader>("01 00 0400 01000000 ffffffff 00*4", &());
        assert!(matches!(error, ErrorKind::TooLarge { field: "Object Header Size", .. }), "{error}");
    }

    #[test]
    fn continuations_above_the_length_limit_are_refused_before_they_are_read() {
        let longer = FIRST.replace("8800000000000000", "0100001000000000");
        let error = reader(&golden::unhex(&longer), 0x320).structure::<ObjectHeader>(&()).unwrap_err();
        let limit = MAX_LEN;
        assert!(matches!(error.kind, ErrorKind::TooLarge { limit: found, .. } if found == limit), "{error}");
    }

    #[test]
    fn the_error_of_a_short_first_read_gives_the_bytes_needed() {
        let bytes = golden::unhex(FIRST);
        let error = reader(&bytes[..16], 0x320).structure::<ObjectHeader>(&()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Truncated { needed: 40, have: 16 });
    }

    #[test]
    fn a_message_beyond_the_end_of_its_chunk_is_refused() {
        let error =
            golden::error::<ObjectHeader>("01 00 0100 01000000 10000000 00*4 0000 1000 00*4 00*64", &());
        assert_eq!(error, ErrorKind::Truncated { needed: 40, have: 32 });
    }
}
