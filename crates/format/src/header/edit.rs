//! Changes of an object header within its allocated space (spec IV.A.1).
//!
//! The address of a header is the identity of its object. So the header never moves, and its chunks keep
//! their addresses. A change lays out one chunk again: first its messages in their order, then its free space
//! as NIL messages or, in version 2, as a gap. If a message does not fit, the edit reports the number of
//! bytes by which each chunk would have to grow, and the size of a further chunk. The caller allocates that
//! space. Chunks at the end of the header that are no longer needed are returned to the caller as free space.

use std::collections::BTreeSet;

use super::{Chunk, Framing, ObjectHeader, Prefix, RawMessage};
use crate::addr::{Addr, Extent};
use crate::bytes::{Widths, Writer};
use crate::error::{ErrorKind, FormatError, Result};
use crate::message::MessageBody;
use crate::message::kind;
use crate::message::small::{Continuation, ReferenceCount};
use crate::structure::Structure;

/// An edit of a header.
#[derive(Debug, Clone)]
pub struct HeaderEdit {
    header: ObjectHeader,
    widths: Widths,
    changed: BTreeSet<usize>,
}

/// The place of a message in a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The number of the chunk.
    pub chunk: usize,
    /// The number of the message in the chunk.
    pub message: usize,
}

/// The result of adding a message to a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Fit {
    /// The message was added.
    Placed,
    /// The message needs a further chunk of at least this number of bytes: [`HeaderEdit::put_in`].
    Needs(u64),
}

/// The chunk for a continuation message, and the messages of this chunk that make room for it.
struct Extension {
    chunk: usize,
    /// The numbers of the messages that move to the further chunk, ascending.
    moved: Vec<usize>,
    moved_len: usize,
}

impl HeaderEdit {
    /// Begins an edit of a header. All chunks of the header must be decoded.
    pub fn new(header: ObjectHeader, widths: Widths) -> Result<Self> {
        if header.next_pending().is_some() {
            return Err(error(&header, ErrorKind::Missing { what: "a chunk of the header" }));
        }
        let mut edit = Self { header, widths, changed: BTreeSet::new() };
        edit.mark_unknown();
        let even = |len: usize| len.is_multiple_of(8);
        let is_odd = |chunk: usize| {
            let messages = &edit.header.chunks[chunk].messages;
            !even(edit.room(chunk)) || messages.iter().any(|message| !even(message.data.len()))
        };
        if edit.framing() == Framing::V1 && (0..edit.header.chunks.len()).any(is_odd) {
            let feature = "changing a version 1 header with lengths that are not multiples of 8";
            return Err(error(&edit.header, ErrorKind::Unsupported { feature }));
        }
        Ok(edit)
    }

    /// Marks the messages of unknown types that say so: this program changes the object without knowing them.
    fn mark_unknown(&mut self) {
        const MARK: u8 = RawMessage::MARK_IF_UNKNOWN;
        for (number, chunk) in self.header.chunks.iter_mut().enumerate() {
            for message in chunk.messages.iter_mut().filter(|message| !kind::is_known(message.kind)) {
                if message.flags & (MARK | RawMessage::WAS_UNKNOWN) == MARK {
                    message.flags |= RawMessage::WAS_UNKNOWN;
                    self.changed.insert(number);
                }
            }
        }
    }

    /// Returns the header with all changes so far.
    pub fn header(&self) -> &ObjectHeader {
        &self.header
    }

    /// Returns the header, and the numbers of the chunks to write.
    pub fn finish(self) -> (ObjectHeader, BTreeSet<usize>) {
        (self.header, self.changed)
    }

    /// Returns the messages of a type with their places.
    pub fn places(&self, kind: u16) -> impl Iterator<Item = (Place, &RawMessage)> {
        self.header.chunks.iter().enumerate().flat_map(move |(chunk, within)| {
            let messages = within.messages.iter().enumerate();
            messages.filter_map(move |(message, raw)| {
                (raw.kind == kind).then_some((Place { chunk, message }, raw))
            })
        })
    }

    /// Creates a message with the body `body`, framed for this header.
    pub fn message<T: MessageBody>(&self, body: &T, flags: u8) -> RawMessage {
        let mut data = Vec::with_capacity(T::read_len(self.widths, &()));
        Writer::new(&mut data, self.widths).structure(body, &());
        RawMessage {
            kind: T::KIND,
            flags,
            creation_order: self.no_order(),
            data: data.into(),
            at: Addr::UNDEFINED,
        }
    }

    /// Adds a message to the first chunk that has room for it.
    pub fn put(&mut self, message: RawMessage) -> Result<Fit> {
        let message = self.framed(message)?;
        let len = self.stored_len(&message);
        let Some(chunk) = (0..self.header.chunks.len()).find(|&chunk| self.free(chunk) >= len) else {
            let extension = self.extension()?;
            return Ok(Fit::Needs((self.overhead() + extension.moved_len + len) as u64));
        };
        self.header.chunks[chunk].messages.push(message);
        self.settle(chunk);
        Ok(Fit::Placed)
    }

    /// Returns the chunks that are too short for the message, the last chunk first. For each chunk: its
    /// number, its extent, and the number of bytes by which it must grow to hold the message.
    pub fn short_chunks(&self, message: &RawMessage) -> Vec<(usize, Extent, u64)> {
        let Ok(message) = self.framed(message.clone()) else { return Vec::new() };
        let len = self.stored_len(&message);
        let chunks = self.header.chunks.iter().enumerate().rev();
        let short = chunks.filter_map(|(number, chunk)| {
            let missing = len.checked_sub(self.free(number)).filter(|&missing| missing > 0)?;
            let missing = if self.framing() == Framing::V1 { missing.next_multiple_of(8) } else { missing };
            let wider = if number > 0 { 0 } else { self.header.prefix.widening(self.room(0) + missing) };
            Some((number, chunk.extent, (missing + wider) as u64))
        });
        short.collect()
    }

    /// Lengthens a chunk to `extent`, which begins at the same address.
    pub fn lengthen(&mut self, number: usize, extent: Extent) -> Result<()> {
        let missing = || error(&self.header, ErrorKind::Missing { what: "the chunk to lengthen" });
        let chunk = self.header.chunks.get(number).filter(|chunk| {
            chunk.extent.addr == extent.addr
                && extent.len >= chunk.extent.len
                && (self.framing() != Framing::V1 || extent.len.is_multiple_of(8))
        });
        let old = chunk.ok_or_else(missing)?.extent;
        if let Some(place) = self.naming(old) {
            let data = self.message(&Continuation { extent }, 0).data;
            let message = &mut self.header.chunks[place.chunk].messages[place.message];
            let padding = message.data.iter().skip(data.len());
            message.data = data.iter().chain(padding).copied().collect();
            self.changed.insert(place.chunk);
        } else if number > 0 {
            return Err(missing());
        }
        self.header.chunks[number].extent = extent;
        if number == 0 {
            self.header.prefix.widen(usize::try_from(extent.len).unwrap_or(usize::MAX));
        }
        self.settle(number);
        self.header = self.header.again(self.widths)?;
        Ok(())
    }

    /// Adds a message in a further chunk at `extent`. The chunk has at least the number of bytes that
    /// [`put`](Self::put) returned; bytes to spare are free for later messages.
    pub fn put_in(&mut self, message: RawMessage, extent: Extent) -> Result<()> {
        let message = self.framed(message)?;
        let Extension { chunk: from, moved, moved_len } = self.extension()?;
        let needed = (self.overhead() + moved_len + self.stored_len(&message)) as u64;
        if extent.len < needed || (self.framing() == Framing::V1 && !extent.len.is_multiple_of(8)) {
            let kind =
                ErrorKind::Value { field: "Length", value: extent.len, expected: "room for the messages" };
            return Err(error(&self.header, kind));
        }
        let messages = &mut self.header.chunks[from].messages;
        let mut further: Vec<RawMessage> = moved.iter().rev().map(|&index| messages.remove(index)).collect();
        further.reverse();
        further.push(message);
        let continuation = self.framed(self.message(&Continuation { extent }, 0))?;
        self.header.chunks[from].messages.push(continuation);
        // Chunks are in the order of their continuation messages. The new continuation is the last one in
        // chunk `from`, so the number of the new chunk is the number of continuations in the chunks up to
        // `from`. It is above `from`.
        let number = self.header.chunks.iter().take(from + 1).map(continuations).sum::<usize>();
        self.changed = self.changed.iter().map(|&at| if at >= number { at + 1 } else { at }).collect();
        self.header.chunks.insert(number, Chunk { extent, messages: further, gap: 0 });
        self.settle(number);
        self.settle(from);
        self.header = self.header.again(self.widths)?;
        Ok(())
    }

    /// Removes a message and returns it.
    pub fn remove(&mut self, place: Place) -> Result<RawMessage> {
        let found =
            self.header.chunks.get_mut(place.chunk).filter(|chunk| place.message < chunk.messages.len());
        let Some(chunk) = found else {
            return Err(error(&self.header, ErrorKind::Missing { what: "the message to remove" }));
        };
        let message = chunk.messages.remove(place.message);
        self.settle(place.chunk);
        Ok(message)
    }

    /// Replaces a message: in its place if the new message fits there, otherwise in any chunk. If the new
    /// message needs a further chunk, the old one has been removed nevertheless.
    pub fn replace(&mut self, place: Place, message: RawMessage) -> Result<Fit> {
        let message = self.framed(message)?;
        let chunk = self.header.chunks.get_mut(place.chunk);
        if let Some(old) = chunk.and_then(|chunk| chunk.messages.get_mut(place.message))
            && old.data.len() == message.data.len()
        {
            // Nothing moves.
            *old = RawMessage { at: old.at, ..message };
            self.changed.insert(place.chunk);
            return Ok(Fit::Placed);
        }
        let old = self.remove(place)?;
        if self.free(place.chunk) < self.stored_len(&message) {
            return self.put(message);
        }
        let messages = &mut self.header.chunks[place.chunk].messages;
        // The free space is at the end of the chunk, so the places before it have not changed.
        messages.insert(place.message.min(messages.len()), RawMessage { at: old.at, ..message });
        self.settle(place.chunk);
        Ok(Fit::Placed)
    }

    /// Removes chunks from the end of the header while the messages of the last chunk fit into an earlier
    /// one. Returns the extents of the removed chunks.
    pub fn condense(&mut self) -> Result<Vec<Extent>> {
        let mut freed = Vec::new();
        while let Some(target) = self.room_for_last() {
            let Some(last) = self.header.chunks.pop() else { break };
            self.changed.remove(&self.header.chunks.len());
            freed.push(last.extent);
            if let Some(place) = self.naming(last.extent) {
                self.remove(place)?;
            }
            let messages = last.messages.into_iter().filter(|message| message.kind != kind::NIL);
            self.header.chunks[target].messages.extend(messages);
            self.settle(target);
            self.header = self.header.again(self.widths)?;
        }
        Ok(freed)
    }

    /// Returns a chunk that has room for all messages of the last chunk once the last chunk's continuation
    /// message is removed.
    fn room_for_last(&self) -> Option<usize> {
        let (last, before) = self.header.chunks.split_last()?;
        let naming = self.naming(last.extent)?;
        if continuations(last) > 0 {
            return None;
        }
        let messages = last.messages.iter().filter(|message| message.kind != kind::NIL);
        let len: usize = messages.map(|message| self.stored_len(message)).sum();
        (0..before.len()).find(|&chunk| {
            let named = &before[naming.chunk].messages[naming.message];
            let more = if chunk == naming.chunk { self.stored_len(named) } else { 0 };
            self.free(chunk) + more >= len
        })
    }

    /// Returns the place of the continuation message of a chunk.
    fn naming(&self, extent: Extent) -> Option<Place> {
        self.places(kind::CONTINUATION).find_map(|(place, message)| {
            let found = message.decode_here::<Continuation>(self.widths).ok()?;
            (found.extent == extent).then_some(place)
        })
    }

    /// Sets the number of hard links to the object. Version 2 stores it in a message unless it is 1.
    pub fn set_reference_count(&mut self, count: u32) -> Result<Fit> {
        if let Prefix::V1 { reference_count } = &mut self.header.prefix {
            *reference_count = count;
            self.changed.insert(0);
            return Ok(Fit::Placed);
        }
        let place = self.places(kind::REFERENCE_COUNT).next().map(|(place, _)| place);
        let message = self.message(&ReferenceCount { count }, 0);
        match place {
            Some(place) if count == 1 => self.remove(place).map(|_| Fit::Placed),
            Some(place) => self.replace(place, message),
            None if count == 1 => Ok(Fit::Placed),
            None => self.put(message),
        }
    }

    fn framing(&self) -> Framing {
        self.header.prefix.framing()
    }

    fn no_order(&self) -> Option<u16> {
        (self.framing() == Framing::V2 { creation_order: true }).then_some(0)
    }

    /// Frames a message for this header: pads it in version 1, adds a creation order if the header tracks it.
    fn framed(&self, mut message: RawMessage) -> Result<RawMessage> {
        if self.framing() == Framing::V1 {
            message.pad();
        }
        message.creation_order = self.no_order().map(|none| message.creation_order.unwrap_or(none));
        let (value, limit) = (message.data.len() as u64, LONGEST as u64);
        if value > limit {
            return Err(error(
                &self.header,
                ErrorKind::TooLarge { field: "Size of Message Data", value, limit },
            ));
        }
        Ok(message)
    }

    fn stored_len(&self, message: &RawMessage) -> usize {
        self.framing().message_prefix_len() + message.data.len()
    }

    /// Returns the size in bytes of the signature and checksum of a chunk after the first.
    fn overhead(&self) -> usize {
        self.framing().signature_len() + self.framing().checksum_len()
    }

    /// Returns the number of bytes in a chunk that messages can use.
    fn room(&self, chunk: usize) -> usize {
        let before = if chunk == 0 { self.header.prefix.len() } else { self.framing().signature_len() };
        let len = usize::try_from(self.header.chunks[chunk].extent.len).unwrap_or(usize::MAX);
        len.saturating_sub(before + self.framing().checksum_len())
    }

    /// Returns the number of bytes in a chunk that no message uses.
    fn free(&self, chunk: usize) -> usize {
        let messages = self.header.chunks[chunk].messages.iter().filter(|message| message.kind != kind::NIL);
        let used: usize = messages.map(|message| self.stored_len(message)).sum();
        self.room(chunk).saturating_sub(used)
    }

    /// Returns the chunk in which a continuation message displaces the fewest bytes of messages.
    fn extension(&self) -> Result<Extension> {
        let (offset, length) = (self.widths.offset.bytes(), self.widths.length.bytes());
        let body = offset + length;
        let body = if self.framing() == Framing::V1 { body.next_multiple_of(8) } else { body };
        let len = self.framing().message_prefix_len() + body;
        let candidates = (0..self.header.chunks.len()).filter_map(|chunk| {
            let (mut moved, mut moved_len) = (Vec::new(), 0);
            let messages = self.header.chunks[chunk].messages.iter().enumerate().rev();
            let mut movable = messages.filter(|(_, m)| m.kind != kind::NIL && m.kind != kind::CONTINUATION);
            while self.free(chunk) + moved_len < len {
                let (index, message) = movable.next()?;
                moved.insert(0, index);
                moved_len += self.stored_len(message);
            }
            Some(Extension { chunk, moved, moved_len })
        });
        let best = candidates.min_by_key(|extension| extension.moved_len);
        best.ok_or_else(|| {
            error(&self.header, ErrorKind::Missing { what: "room for a continuation message" })
        })
    }

    /// Lays out a chunk again after its messages changed.
    fn settle(&mut self, number: usize) {
        let (framing, room) = (self.framing(), self.room(number));
        let skip = if number == 0 { self.header.prefix.len() } else { framing.signature_len() };
        let creation_order = self.no_order();
        let prefix = framing.message_prefix_len();
        let mut free = self.free(number);
        let chunk = &mut self.header.chunks[number];
        chunk.messages.retain(|message| message.kind != kind::NIL);
        while free >= prefix {
            let data = vec![0; (free - prefix).min(LONGEST)];
            free -= prefix + data.len();
            chunk.messages.push(RawMessage {
                kind: kind::NIL,
                flags: 0,
                creation_order,
                data: data.into(),
                at: Addr::UNDEFINED,
            });
        }
        // At most five bytes, too few for a message; none in version 1, where all lengths are multiples of 8.
        chunk.gap = u8::try_from(free).unwrap_or(u8::MAX);
        let at = chunk.extent.addr;
        chunk.place(framing, skip, at);
        debug_assert_eq!(chunk.messages_len(framing), room, "a chunk keeps its length");
        self.changed.insert(number);
        if framing == Framing::V1 {
            // The prefix has the number of messages in all chunks.
            self.changed.insert(0);
        }
    }
}

fn continuations(chunk: &Chunk) -> usize {
    chunk.messages.iter().filter(|message| message.kind == kind::CONTINUATION).count()
}

fn error(header: &ObjectHeader, kind: ErrorKind) -> FormatError {
    let at = header.chunks.first().map_or(Addr::UNDEFINED, |chunk| chunk.extent.addr);
    FormatError { kind, structure: ObjectHeader::NAME, spec: ObjectHeader::SPEC, at, offset: 0 }
}

/// The size of the longest message body in bytes: the largest multiple of 8 in a two-byte length field.
pub const LONGEST: usize = 65_528;
