//! Object headers (spec IV.A.1). A header describes one object by a list of messages in one or more chunks.
//!
//! The first chunk follows the prefix. A continuation message in any chunk gives the extent of a further
//! chunk. A decoder never reads the file, so the caller fetches chunks until none is
//! [`pending`](ObjectHeader::pending):
//!
//! ```
//! # use hyperslab_format::{Addr, Extent, Reader, Result, Widths, header::ObjectHeader};
//! fn read(at: Addr, widths: Widths, fetch: impl Fn(Extent) -> Vec<u8>) -> Result<ObjectHeader> {
//!     let first = fetch(Extent::new(at, 512)); // the error of a short read gives the bytes needed
//!     let mut header: ObjectHeader = Reader::new(&first, widths, at).structure(&())?;
//!     while let Some(extent) = header.next_pending() {
//!         let chunk = fetch(extent);
//!         header.decode_continuation(&mut Reader::new(&chunk, widths, extent.addr))?;
//!     }
//!     Ok(header)
//! }
//! ```
//!
//! Messages are kept as stored and decoded on request, so unknown messages survive an edit of the header.

pub mod edit;
pub mod v1;
pub mod v2;

use std::collections::BTreeSet;
use std::iter;
use std::sync::Arc;

use crate::addr::{Addr, Extent};
use crate::bytes::{Reader, Widths, Writer};
use crate::error::{ErrorKind, FormatError, Result};
use crate::message::shared::MaybeShared;
use crate::message::small::{Continuation, ReferenceCount};
use crate::message::{MessageBody, kind};
use crate::structure::Structure;

/// The largest number of chunks of a header. More chunks are a loop, or an attack.
pub const MAX_CHUNKS: usize = 1 << 16;

/// The largest total size of a header's chunks, in bytes.
pub const MAX_LEN: u64 = 1 << 28;

/// An object header. It has at least the first chunk, and the others once they are decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectHeader {
    /// The prefix, which precedes the messages.
    pub prefix: Prefix,
    /// The chunks decoded so far, in the order of their continuation messages.
    pub chunks: Vec<Chunk>,
    continuations: Continuations,
}

/// The extents of the chunks after the first, decoded or not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Continuations {
    extents: Vec<Extent>,
    /// The addresses of all chunks, to detect loops.
    seen: BTreeSet<Addr>,
    /// The total size of all chunks, in bytes.
    len: u64,
}

/// The prefix of an object header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prefix {
    /// Version 1.
    V1 {
        /// The number of hard links to the object.
        reference_count: u32,
    },
    /// Version 2.
    V2(v2::Prefix),
}

/// One chunk of an object header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// The extent of the chunk, with the prefix in the first chunk, and signature and checksum in version 2.
    pub extent: Extent,
    /// The messages, in the order of the file.
    pub messages: Vec<RawMessage>,
    /// The unused bytes after the last message, too few for another message (only in version 2).
    pub gap: u8,
}

/// A message as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawMessage {
    /// The number of the message type, one of [`kind`].
    pub kind: u16,
    /// The flags: the associated constants of this type.
    pub flags: u8,
    /// The creation order of the message, if the header tracks the creation order of attributes.
    pub creation_order: Option<u16>,
    /// The body, with the padding of version 1. Shared, because a changed header keeps most messages.
    pub data: Arc<[u8]>,
    /// The address of the body.
    pub at: Addr,
}

/// The values from the header that are needed to decode a chunk after the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkContext {
    /// How the header's messages are framed.
    pub framing: Framing,
    /// The size of the chunk in bytes, from the continuation message.
    pub len: u64,
}

/// How the messages of a header are framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Version 1: the type has two bytes, and three bytes are reserved.
    V1,
    /// Version 2: the type has one byte, and every chunk has a checksum.
    V2 {
        /// Whether every message stores its creation order.
        creation_order: bool,
    },
}

impl ObjectHeader {
    /// Creates a header with these messages in one chunk, to be stored at `at`.
    pub fn new(prefix: Prefix, messages: Vec<RawMessage>, at: Addr, widths: Widths) -> Result<Self> {
        let mut chunk = Chunk { extent: Extent::new(at, 0), messages, gap: 0 };
        chunk.place(prefix.framing(), prefix.len(), at);
        Self::with_first_chunk(prefix, chunk, widths)
    }

    fn with_first_chunk(prefix: Prefix, chunk: Chunk, widths: Widths) -> Result<Self> {
        let mut header = Self { prefix, chunks: Vec::new(), continuations: Continuations::default() };
        header.continuations.note(chunk.extent, chunk.extent.addr, widths)?;
        header.add(chunk, widths)?;
        Ok(header)
    }

    /// Returns the version: 1 or 2.
    pub fn version(&self) -> u8 {
        match self.prefix {
            Prefix::V1 { .. } => 1,
            Prefix::V2(_) => 2,
        }
    }

    /// Returns the known chunks that are not decoded yet, in order. Each may lead to further chunks.
    pub fn pending(&self) -> &[Extent] {
        // The first chunk is always present, and has no continuation message.
        self.continuations.extents.get(self.chunks.len() - 1..).unwrap_or_default()
    }

    /// Returns the next chunk to read, or `None` once the header is complete.
    pub fn next_pending(&self) -> Option<Extent> {
        self.pending().first().copied()
    }

    /// Decodes the chunk [`next_pending`](Self::next_pending) from a reader of its bytes.
    pub fn decode_continuation(&mut self, r: &mut Reader<'_>) -> Result<()> {
        let Some(extent) = self.next_pending() else {
            return Err(r.error(ErrorKind::Missing { what: "a continuation message for this chunk" }));
        };
        let context = ChunkContext { framing: self.prefix.framing(), len: extent.len };
        let chunk = r.structure::<Chunk>(&context)?;
        self.add(chunk, r.widths())
    }

    /// Returns all messages in the order of the chunks, including NIL and continuation messages.
    pub fn messages(&self) -> impl Iterator<Item = &RawMessage> {
        self.chunks.iter().flat_map(|chunk| &chunk.messages)
    }

    /// Returns the first message of a type.
    pub fn find(&self, kind: u16) -> Option<&RawMessage> {
        self.messages().find(|message| message.kind == kind)
    }

    /// Decodes the first message whose body is a `T`, if there is one.
    pub fn message<T: MessageBody>(&self, widths: Widths) -> Result<Option<MaybeShared<T>>> {
        self.find(T::KIND).map(|message| message.decode(widths)).transpose()
    }

    /// Decodes the first message whose body is a `T`, if there is one. Such messages are never shared.
    pub fn own_message<T: MessageBody>(&self, widths: Widths) -> Result<Option<T>> {
        self.find(T::KIND).map(|message| message.decode_here(widths)).transpose()
    }

    /// Returns the number of hard links to the object.
    pub fn reference_count(&self, widths: Widths) -> Result<u32> {
        match self.prefix {
            Prefix::V1 { reference_count } => Ok(reference_count),
            Prefix::V2(_) => Ok(self.own_message::<ReferenceCount>(widths)?.map_or(1, |count| count.count)),
        }
    }

    /// Returns a message of unknown type whose flags forbid this program to change the object.
    pub fn forbids_writing(&self) -> Option<&RawMessage> {
        self.messages()
            .find(|m| !kind::is_known(m.kind) && m.flags & RawMessage::FAIL_IF_UNKNOWN_AND_WRITING != 0)
    }

    /// Returns the header with its continuations collected again, after its chunks changed.
    fn again(&self, widths: Widths) -> Result<Self> {
        let mut chunks = self.chunks.iter().cloned();
        let Some(first) = chunks.next() else { return Ok(self.clone()) };
        let mut header = Self::with_first_chunk(self.prefix, first, widths)?;
        chunks.try_for_each(|chunk| header.add(chunk, widths))?;
        Ok(header)
    }

    /// Adds the next chunk and records the extents in its continuation messages.
    fn add(&mut self, chunk: Chunk, widths: Widths) -> Result<()> {
        for message in chunk.messages.iter().filter(|message| message.kind == kind::CONTINUATION) {
            let Continuation { extent } = message.decode_here(widths)?;
            self.continuations.note(extent, message.at, widths)?;
            self.continuations.extents.push(extent);
        }
        self.chunks.push(chunk);
        Ok(())
    }
}

impl Structure for ObjectHeader {
    const NAME: &'static str = "object header";
    const SPEC: &'static str = "IV.A.1";
    type Context = ();

    fn read_len(_: Widths, (): &()) -> usize {
        512
    }

    /// Decodes the prefix and the first chunk.
    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        let (prefix, chunk) = if r.clone().array()? == *b"OHDR" {
            let (prefix, chunk) = v2::decode_first_chunk(r)?;
            (Prefix::V2(prefix), chunk)
        } else {
            let (reference_count, chunk) = v1::decode_first_chunk(r)?;
            (Prefix::V1 { reference_count }, chunk)
        };
        Self::with_first_chunk(prefix, chunk, r.widths())
    }

    /// Encodes the prefix and the first chunk.
    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        let Some(chunk) = self.chunks.first() else { return };
        match &self.prefix {
            Prefix::V1 { reference_count } => {
                let count = self.messages().count();
                v1::encode_first_chunk(*reference_count, count, chunk, w);
            }
            Prefix::V2(prefix) => v2::encode_first_chunk(prefix, chunk, w),
        }
    }

    /// Correct even if the prefix is too narrow to store the length of the chunk.
    fn encoded_len(&self, _: Widths, (): &()) -> usize {
        let framing = self.prefix.framing();
        let messages = self.chunks.first().map_or(0, |chunk| chunk.messages_len(framing));
        self.prefix.len() + messages + framing.checksum_len()
    }
}

impl Prefix {
    /// Returns how the header's messages are framed.
    pub fn framing(&self) -> Framing {
        match self {
            Self::V1 { .. } => Framing::V1,
            Self::V2(prefix) => Framing::V2 { creation_order: prefix.tracks_creation_order },
        }
    }

    /// Returns the number of bytes before the first message.
    #[allow(clippy::len_without_is_empty)] // a prefix is never empty
    pub fn len(&self) -> usize {
        match self {
            Self::V1 { .. } => v1::PREFIX_LEN,
            Self::V2(prefix) => prefix.len(),
        }
    }

    /// Widens the length field of the first chunk as needed for `chunk_len` bytes, including the prefix.
    fn widen(&mut self, chunk_len: usize) {
        if let Self::V2(prefix) = self {
            while prefix.room(chunk_len) > prefix.longest_first_chunk() {
                prefix.len_width += 1;
            }
        }
    }

    /// Returns by how many bytes the prefix grows if the messages of the first chunk have `messages` bytes.
    fn widening(&self, messages: usize) -> usize {
        let mut wide = *self;
        if let Self::V2(prefix) = &mut wide {
            while messages > prefix.longest_first_chunk() {
                prefix.len_width += 1;
            }
        }
        wide.len() - self.len()
    }
}

impl Continuations {
    /// Records a chunk. Refuses loops, and more chunks or bytes than any header needs.
    fn note(&mut self, extent: Extent, at: Addr, widths: Widths) -> Result<()> {
        self.len = self.len.saturating_add(extent.len);
        let kind = if !self.seen.insert(extent.addr) {
            ErrorKind::Value {
                field: "Offset",
                value: extent.addr.get(),
                expected: "a chunk that is not in the header yet",
            }
        } else if self.seen.len() > MAX_CHUNKS {
            let (value, limit) = (self.seen.len() as u64, MAX_CHUNKS as u64);
            ErrorKind::TooLarge { field: "number of chunks", value, limit }
        } else if self.len > MAX_LEN {
            ErrorKind::TooLarge { field: "length of all chunks", value: self.len, limit: MAX_LEN }
        } else {
            return Ok(());
        };
        Reader::new(&[], widths, at).within(Continuation::NAME, Continuation::SPEC, |r| Err(r.error(kind)))
    }
}

impl Structure for Chunk {
    const NAME: &'static str = "object header continuation";
    const SPEC: &'static str = "IV.A.1";
    type Context = ChunkContext;

    fn read_len(_: Widths, context: &ChunkContext) -> usize {
        usize::try_from(context.len).unwrap_or(usize::MAX)
    }

    fn decode(r: &mut Reader<'_>, context: &ChunkContext) -> Result<Self> {
        match context.framing {
            Framing::V1 => v1::decode_continuation(r, context),
            Framing::V2 { .. } => v2::decode_continuation(r, context),
        }
    }

    fn encode(&self, w: &mut Writer<'_>, context: &ChunkContext) {
        match context.framing {
            Framing::V1 => v1::encode_messages(&self.messages, w),
            Framing::V2 { .. } => v2::encode_continuation(self, w),
        }
    }
}

impl Chunk {
    /// Creates a chunk after the first with these messages, to be stored at `at`.
    pub fn continuation(messages: Vec<RawMessage>, framing: Framing, at: Addr) -> Self {
        let mut chunk = Self { extent: Extent::new(at, 0), messages, gap: 0 };
        chunk.place(framing, framing.signature_len(), at);
        chunk
    }

    /// Decodes messages up to the end of `r`, the bytes of a chunk between its prefix and its checksum.
    fn decode_messages(r: &mut Reader<'_>, framing: Framing) -> Result<(Vec<RawMessage>, u8)> {
        let mut messages = Vec::new();
        while r.remaining() >= framing.message_prefix_len() {
            let message = match framing {
                Framing::V1 => v1::decode_message(r)?,
                Framing::V2 { creation_order } => v2::decode_message(r, creation_order)?,
            };
            if !kind::is_known(message.kind) && message.flags & RawMessage::FAIL_IF_UNKNOWN != 0 {
                let feature = "a message of an unknown type that no reader may ignore";
                return Err(message.error(ErrorKind::Unsupported { feature }));
            }
            messages.push(message);
        }
        // The rest is shorter than the prefix of a message: at most seven bytes.
        let gap = u8::try_from(r.rest().len()).unwrap_or(u8::MAX);
        Ok((messages, gap))
    }

    /// Returns the size of the messages with their prefixes and of the gap, in bytes.
    fn messages_len(&self, framing: Framing) -> usize {
        let prefix = framing.message_prefix_len();
        self.messages.iter().map(|message| prefix + message.data.len()).sum::<usize>() + usize::from(self.gap)
    }

    /// Sets the addresses of the chunk and of its messages, which begin `skip` bytes after `at`.
    fn place(&mut self, framing: Framing, skip: usize, at: Addr) {
        self.extent = Extent::new(at, (skip + self.messages_len(framing) + framing.checksum_len()) as u64);
        let mut position = skip;
        for message in &mut self.messages {
            position += framing.message_prefix_len();
            message.at = at.checked_add(position as u64).unwrap_or(Addr::UNDEFINED);
            position += message.data.len();
        }
    }
}

impl Framing {
    /// Returns the number of bytes before the body of a message.
    pub const fn message_prefix_len(self) -> usize {
        match self {
            Self::V1 => 8,
            Self::V2 { creation_order: false } => 4,
            Self::V2 { creation_order: true } => 6,
        }
    }

    /// Returns the size in bytes of the signature of a chunk after the first.
    const fn signature_len(self) -> usize {
        match self {
            Self::V1 => 0,
            Self::V2 { .. } => 4,
        }
    }

    /// Returns the size in bytes of a chunk's checksum.
    const fn checksum_len(self) -> usize {
        self.signature_len()
    }
}

impl RawMessage {
    /// Flags, bit 0: the message never changes.
    pub const CONSTANT: u8 = 1;
    /// Flags, bit 1: the body is the location of a shared message.
    pub const SHARED: u8 = 2;
    /// Flags, bit 2: the message must not be shared.
    pub const DO_NOT_SHARE: u8 = 4;
    /// Flags, bit 3: a program that does not know the type must not change the object.
    pub const FAIL_IF_UNKNOWN_AND_WRITING: u8 = 8;
    /// Flags, bit 4: a program that does not know the type sets bit 5 when it changes the object.
    pub const MARK_IF_UNKNOWN: u8 = 16;
    /// Flags, bit 5: a program that did not know the type has changed the object.
    pub const WAS_UNKNOWN: u8 = 32;
    /// Flags, bit 6: an index of shared messages leads to this message, or to an equal one. The body is here.
    pub const SHAREABLE: u8 = 64;
    /// Flags, bit 7: a program that does not know the type must not open the object.
    pub const FAIL_IF_UNKNOWN: u8 = 128;

    /// Adds the padding of version 1, in which all lengths are multiples of 8.
    pub fn pad(&mut self) {
        let padding = self.data.len().next_multiple_of(8) - self.data.len();
        if padding > 0 {
            self.data = self.data.iter().copied().chain(iter::repeat_n(0, padding)).collect();
        }
    }

    /// Returns whether the body is stored elsewhere.
    pub fn is_shared(&self) -> bool {
        self.flags & Self::SHARED != 0
    }

    /// Decodes the body, or its location if it is shared. The caller has checked the type.
    pub fn decode<T: MessageBody>(&self, widths: Widths) -> Result<MaybeShared<T>> {
        debug_assert_eq!(self.kind, T::KIND, "{} is not of this type", T::NAME);
        MaybeShared::decode(&mut Reader::new(&self.data, widths, self.at), self.is_shared())
    }

    /// Decodes the body of a message that is never shared. The caller has checked the type.
    pub fn decode_here<T: MessageBody>(&self, widths: Widths) -> Result<T> {
        match self.decode(widths)? {
            MaybeShared::Here(body) => Ok(body),
            MaybeShared::Shared(_) => {
                Err(self.error(ErrorKind::Unsupported { feature: "sharing this type of message" }))
            }
        }
    }

    /// Returns an error located at this message.
    fn error(&self, kind: ErrorKind) -> FormatError {
        let (structure, spec) = ("header message", "IV.A.2");
        FormatError { kind, structure, spec, at: self.at, offset: 0 }
    }
}
