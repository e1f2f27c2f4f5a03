//! Object headers of version 2 (spec IV.A.1.b): signatures `OHDR` and `OCHK`; every chunk has a checksum.

use super::{Chunk, ChunkContext, Framing, MAX_LEN, RawMessage};
use crate::addr::Extent;
use crate::bytes::{Reader, Writer};
use crate::error::Result;
use crate::message::group_info::PhaseChange;
use crate::structure::fields;

/// The prefix of a version 2 header, which precedes the messages. Fields in disk order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefix {
    /// log2 of the number of bytes that store the length of the first chunk, 0 to 3 (flags, bits 0 and 1).
    pub len_width: u8,
    /// Whether every message stores its creation order, to track that of attributes (flags, bit 2).
    pub tracks_creation_order: bool,
    /// Whether the attributes' creation order is indexed (flags, bit 3).
    pub indexes_creation_order: bool,
    /// The times of the object's last uses, if stored (flags, bit 5).
    pub times: Option<Times>,
    /// When attributes move between messages and the fractal heap, if not as by default (flags, bit 4).
    pub phase_change: Option<PhaseChange>,
}

/// The times of an object's last uses, in seconds since 1970 in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// The last access.
    pub access: u32,
    /// The last change of the data.
    pub modification: u32,
    /// The last change of the header.
    pub change: u32,
    /// The creation.
    pub birth: u32,
}

fields!(Times { access: u32, modification: u32, change: u32, birth: u32 });

const LEN_WIDTH: u8 = 3;
const TRACKS_CREATION_ORDER: u8 = 4;
const INDEXES_CREATION_ORDER: u8 = 8;
const HAS_PHASE_CHANGE: u8 = 16;
const HAS_TIMES: u8 = 32;

/// The size in bytes of the checksum at the end of a chunk.
const CHECKSUM_LEN: u64 = 4;

impl Prefix {
    /// Returns the number of bytes before the first message.
    pub(super) fn len(&self) -> usize {
        let times = self.times.map_or(0, |_| 16);
        let phase_change = self.phase_change.map_or(0, |_| 4);
        6 + times + phase_change + (1 << self.len_width)
    }

    /// Returns the bytes available for messages in a first chunk of `chunk_len` bytes.
    pub(super) fn room(&self, chunk_len: usize) -> usize {
        chunk_len.saturating_sub(self.len() + self.framing().checksum_len())
    }

    /// Returns the largest size of the messages that the length field can store, in bytes.
    pub(super) fn longest_first_chunk(&self) -> usize {
        let bits = 8_u32 << self.len_width;
        usize::try_from(u64::MAX >> (64 - bits)).unwrap_or(usize::MAX)
    }

    fn framing(&self) -> Framing {
        Framing::V2 { creation_order: self.tracks_creation_order }
    }

    /// Decodes the prefix. Returns the prefix and the size of the first chunk's messages.
    fn decode(r: &mut Reader<'_>) -> Result<(Self, u64)> {
        r.signature(b"OHDR")?;
        r.version(2)?;
        let flags = r.flags(0x3f, "only bits 0 to 5")?;
        let times = r.when(flags & HAS_TIMES != 0, Times::decode_fields)?;
        let phase_change = r.when(flags & HAS_PHASE_CHANGE != 0, PhaseChange::decode_fields)?;
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
        if let Some(times) = self.times {
            times.encode_fields(w);
        }
        if let Some(phase_change) = self.phase_change {
            phase_change.encode_fields(w);
        }
        w.uint(len as u64, 1 << self.len_width);
    }
}

/// Decodes the prefix and the first chunk.
pub(super) fn decode_first_chunk(r: &mut Reader<'_>) -> Result<(Prefix, Chunk)> {
    let addr = r.address();
    let (prefix, len) = Prefix::decode(r)?;
    r.at_most(1 << prefix.len_width, "Size of Chunk #0", len, MAX_LEN)?;
    let (messages, gap) = decode_messages(r, len, prefix.framing())?;
    let extent = Extent::new(addr, prefix.len() as u64 + len + CHECKSUM_LEN);
    Ok((prefix, Chunk { extent, messages, gap }))
}

/// Encodes the bytes that [`decode_first_chunk`] reads.
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

/// Encodes the bytes that [`decode_continuation`] reads.
pub(super) fn encode_continuation(chunk: &Chunk, w: &mut Writer<'_>) {
    w.signature(b"OCHK");
    encode_messages(chunk, w);
}

/// Decodes `len` bytes of messages. The checksum that follows them is checked first.
fn decode_messages(r: &mut Reader<'_>, len: u64, framing: Framing) -> Result<(Vec<RawMessage>, u8)> {
    // Checks for both at once, so that one error gives the bytes needed for messages and checksum.
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
    Ok(RawMessage { kind, flags, creation_order, data: r.bytes(len.into())?.into(), at })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addr::Addr;
    use crate::bytes::Widths;
    use crate::error::ErrorKind;
    use crate::golden;
    use crate::header::ObjectHeader;
    use crate::message::kind;
    use crate::message::link::{Link, LinkTarget};

    /// A dataset with `set_obj_track_times(True)`, `set_attr_phase_change(4, 2)`,
    /// `set_attr_creation_order(3)` and one attribute, written by h5py 3.16 with `libver="latest"`.
    const TIMES: &str = "4f484452 02 3d 9c05026b9c05026b9c05026b9c05026b 0400 0200 0001
        01 1400 00 0000 02010101 03 00*7 03 00*7 03 0c00 01 0000 10080000 04000000 0000 2000
        05 0200 01 0000 030a 08 1200 00 0000 03 01 ff*8 0c 00*7 15 1c00 04 0000 00 03 0100 ff*24
        0c 1f00 00 0000 03 00 0200 0c00 0400 00 6100 10080000 04000000 0000 2000 02000000 01000000
        00 6700 00 0000 00*103 4efcdfba";

    /// A group at 0xb3 with three soft links, by h5py 3.16 with `libver="v110"` and `track_order=True`.
    const GROUP: &str =
        "4f484452 02 0c b4 10 1000 00 0000 f501000000000000 6e00000000000000 00 0c00 00 0000 ff*12
        0a 0200 01 0000 0000 06 3800 00 0000 01 0c 01 00*8 02 6c30 2800 78*40
        06 3800 00 0000 01 0c 01 01 00*7 02 6c31 2800 78*40 00 0200 00 0000 0000 6821cd51";
    const CONTINUATION: &str = "4f43484b 02 2200 00 0000 00 03 03 00*7 ff*24
        06 3800 00 0000 01 0c 01 02 00*7 02 6c32 2800 78*40 0ad360b4";

    fn reader(bytes: &[u8], at: u64) -> Reader<'_> {
        Reader::new(bytes, Widths::EIGHT, Addr::new(at))
    }

    #[test]
    fn times_phase_change_and_creation_order_round_trip_bytes_of_libhdf5() {
        let header: ObjectHeader = golden::golden(TIMES, &());
        let crate::header::Prefix::V2(prefix) = header.prefix else { panic!("{:?}", header.prefix) };
        assert_eq!(prefix.times.unwrap().birth, 0x6b02_059c);
        assert_eq!(prefix.phase_change, Some(PhaseChange { max_compact: 4, min_dense: 2 }));
        assert!(prefix.tracks_creation_order && prefix.indexes_creation_order);
        assert_eq!(header.find(kind::ATTRIBUTE).unwrap().creation_order, Some(0));
        assert_eq!(header.reference_count(Widths::EIGHT), Ok(1));
    }

    #[test]
    fn a_header_of_two_chunks_is_read_chunk_by_chunk() {
        let (first, second) = (golden::unhex(GROUP), golden::unhex(CONTINUATION));
        let mut header: ObjectHeader = reader(&first, 0xb3).structure(&()).unwrap();
        assert_eq!(header.pending(), [Extent::new(Addr::new(0x1f5), 110)]);
        header.decode_continuation(&mut reader(&second, 0x1f5)).unwrap();
        assert_eq!(header.pending(), []);

        let links: Vec<Link> = header
            .messages()
            .filter(|message| message.kind == kind::LINK)
            .map(|message| message.decode_here(Widths::EIGHT).unwrap())
            .collect();
        assert_eq!(links.iter().map(|link| link.name.as_str()).collect::<Vec<_>>(), ["l0", "l1", "l2"]);
        assert!(links.iter().all(|link| link.target == LinkTarget::Soft("x".repeat(40))));

        let mut again = Vec::new();
        let context = ChunkContext { framing: header.prefix.framing(), len: 110 };
        Writer::new(&mut again, Widths::EIGHT).structure(&header.chunks[1], &context);
        assert_eq!(again, second);
    }

    #[test]
    fn a_changed_byte_is_found_by_the_checksum() {
        let changed = GROUP.replace("6c31", "6c33");
        assert!(matches!(golden::error::<ObjectHeader>(&changed, &()), ErrorKind::Checksum { .. }));
    }

    #[test]
    fn the_error_of_a_short_first_read_gives_the_bytes_needed() {
        let bytes = golden::unhex(GROUP);
        let error = reader(&bytes[..32], 0xb3).structure::<ObjectHeader>(&()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Truncated { needed: 191, have: 32 });
    }

    /// Encodes and decodes a header with one message of a type that the specification does not define.
    fn unknown(flags: u8) -> crate::Result<ObjectHeader> {
        let prefix = Prefix {
            len_width: 0,
            tracks_creation_order: false,
            indexes_creation_order: false,
            times: None,
            phase_change: None,
        };
        let message =
            RawMessage { kind: 0x77, flags, creation_order: None, data: [1, 2].into(), at: Addr::new(0) };
        let prefix = crate::header::Prefix::V2(prefix);
        let header = ObjectHeader::new(prefix, vec![message], Addr::new(0), Widths::EIGHT)?;
        let mut bytes = Vec::new();
        Writer::new(&mut bytes, Widths::EIGHT).structure(&header, &());
        let decoded = reader(&bytes, 0).structure(&())?;
        assert_eq!(header, decoded);
        Ok(decoded)
    }

    #[test]
    fn an_unknown_message_is_kept_unless_its_flags_forbid_reading() {
        assert_eq!(unknown(0).unwrap().find(0x77).unwrap().data[..], [1, 2]);
        assert!(unknown(0).unwrap().forbids_writing().is_none());
        let marked = unknown(RawMessage::FAIL_IF_UNKNOWN_AND_WRITING).unwrap();
        assert_eq!(marked.forbids_writing().unwrap().kind, 0x77);
        let error = unknown(RawMessage::FAIL_IF_UNKNOWN).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Unsupported { .. }), "{error}");
    }
}
