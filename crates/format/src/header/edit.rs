//! Changes of an object header inside the space that it has (spec IV.A.1).
//!
//! The address of a header is the identity of its object, so it never moves, and its chunks keep their places. A change
//! lays one chunk out again: its messages in their order, and after them what is free, as a NIL message or, in version 2, as a
//! gap. What does not fit says which chunk would have to be how much longer, and how large a further one must be; whoever changes
//! the file finds room. Chunks at the end that are needed no more are given back.

use std::collections::BTreeSet;

use super::{Chunk, Framing, ObjectHeader, Prefix, RawMessage};
use crate::addr::{Addr, Extent};
use crate::bytes::{Widths, Writer};
use crate::error::{ErrorKind, FormatError, Result};
use crate::message::MessageBody;
use crate::message::kind;
use crate::message::small::{Continuation, ReferenceCount};
use crate::structure::Structure;

/// A header that is being changed.
#[derive(Debug, Clone)]
pub struct HeaderEdit {
    header: ObjectHeader,
    widths: Widths,
    changed: BTreeSet<usize>,
}

/// A message of a header: the number of its chunk, and its own in the chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The chunk.
    pub chunk: usize,
    /// The message.
    pub message: usize,
}

/// Whether a message fits into a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Fit {
    /// It is in.
    Placed,
    /// It needs a further chunk of at least so many bytes: [`HeaderEdit::put_in`].
    Needs(u64),
}

/// Where a continuation message goes, and which messages of that chunk make room for it.
struct Extension {
    chunk: usize,
    /// Rising.
    moved: Vec<usize>,
    moved_len: usize,
}

impl HeaderEdit {
    /// Begins to change a header, all of whose chunks are decoded.
    pub fn new(header: ObjectHeader, widths: Widths) -> Result<Self> {
        if header.next_pending().is_some() {
            return Err(error(&header, ErrorKind::Missing { what: "a chunk of the header" }));
        }
        let edit = Self { header, widths, changed: BTreeSet::new() };
        let even = |len: usize| len.is_multiple_of(8);
        let is_odd = |chunk: usize| {
            let messages = &edit.header.chunks[chunk].messages;
            !even(edit.room(chunk)) || messages.iter().any(|message| !even(message.data.len()))
        };
        if edit.framing() == Framing::V1 && (0..edit.header.chunks.len()).any(is_odd) {
            let feature = "changing a version 1 header with lengths that are no multiples of 8";
            return Err(error(&edit.header, ErrorKind::Unsupported { feature }));
        }
        Ok(edit)
    }

    /// The header as it is by now.
    pub fn header(&self) -> &ObjectHeader {
        &self.header
    }

    /// The header, and the numbers of the chunks that are to be written again.
    pub fn finish(self) -> (ObjectHeader, BTreeSet<usize>) {
        (self.header, self.changed)
    }

    /// The messages of a type and where they are.
    pub fn places(&self, kind: u16) -> impl Iterator<Item = (Place, &RawMessage)> {
        self.header.chunks.iter().enumerate().flat_map(move |(chunk, within)| {
            let messages = within.messages.iter().enumerate();
            messages.filter_map(move |(message, raw)| {
                (raw.kind == kind).then_some((Place { chunk, message }, raw))
            })
        })
    }

    /// A message with the body `body`, as this header frames it.
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

    /// Adds a message where there is room.
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

    /// The chunks in which the message would have its place if they were longer, the last first: number, extent, and by how many
    /// bytes.
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

    /// Makes a chunk longer: it now ends where `extent` does, which begins as it did.
    pub fn lengthen(&mut self, number: usize, extent: Extent) -> Result<()> {
        let missing = || error(&self.header, ErrorKind::Missing { what: "the chunk to be made longer" });
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

    /// Adds a message in a further chunk at `extent`, which has as many bytes as [`put`](Self::put) said, or more: what is left
    /// serves later messages.
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
        // Chunks stand in the order in which the continuations are met that name them.
        // This one is the last of its chunk, so its number is that of continuations up to there; it is above `from`.
        let number = self.header.chunks.iter().take(from + 1).map(continuations).sum::<usize>();
        self.changed = self.changed.iter().map(|&at| if at >= number { at + 1 } else { at }).collect();
        self.header.chunks.insert(number, Chunk { extent, messages: further, gap: 0 });
        self.settle(number);
        self.settle(from);
        self.header = self.header.again(self.widths)?;
        Ok(())
    }

    /// Takes a message out.
    pub fn remove(&mut self, place: Place) -> Result<RawMessage> {
        let found =
            self.header.chunks.get_mut(place.chunk).filter(|chunk| place.message < chunk.messages.len());
        let Some(chunk) = found else {
            return Err(error(&self.header, ErrorKind::Missing { what: "the message to be removed" }));
        };
        let message = chunk.messages.remove(place.message);
        self.settle(place.chunk);
        Ok(message)
    }

    /// Puts a message in the place of another: there if it fits, else anywhere; then, if it needs a further chunk, the other is
    /// already gone.
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
        // What is free stands at the end, so the places before it are as they were.
        messages.insert(place.message.min(messages.len()), RawMessage { at: old.at, ..message });
        self.settle(place.chunk);
        Ok(Fit::Placed)
    }

    /// Takes out chunks at the end of the header whose messages have room in one before; returns where they were.
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

    /// A chunk that has room for all messages of the last one, once that is not named any more.
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

    /// The continuation message that names a chunk.
    fn naming(&self, extent: Extent) -> Option<Place> {
        self.places(kind::CONTINUATION).find_map(|(place, message)| {
            let found = message.decode_here::<Continuation>(self.widths).ok()?;
            (found.extent == extent).then_some(place)
        })
    }

    /// Sets the number of hard links to the object. Version 2 has a message of it, where the number is not 1.
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

    /// A message as this header stores it: padded in version 1, with a creation order where there is one.
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

    /// Bytes of a chunk after the first besides its messages.
    fn overhead(&self) -> usize {
        self.framing().signature_len() + self.framing().checksum_len()
    }

    /// Bytes of a chunk for messages.
    fn room(&self, chunk: usize) -> usize {
        let before = if chunk == 0 { self.header.prefix.len() } else { self.framing().signature_len() };
        let len = usize::try_from(self.header.chunks[chunk].extent.len).unwrap_or(usize::MAX);
        len.saturating_sub(before + self.framing().checksum_len())
    }

    /// Bytes of a chunk that no message has.
    fn free(&self, chunk: usize) -> usize {
        let messages = self.header.chunks[chunk].messages.iter().filter(|message| message.kind != kind::NIL);
        let used: usize = messages.map(|message| self.stored_len(message)).sum();
        self.room(chunk).saturating_sub(used)
    }

    /// The chunk in which a continuation message takes the fewest messages from their places.
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

    /// Lays a chunk out again after its messages changed.
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
        // Less than the prefix of a message: six bytes at most; none in version 1, where all lengths are multiples of 8.
        chunk.gap = u8::try_from(free).unwrap_or(u8::MAX);
        let at = chunk.extent.addr;
        chunk.place(framing, skip, at);
        debug_assert_eq!(chunk.messages_len(framing), room, "a chunk keeps its length");
        self.changed.insert(number);
        if framing == Framing::V1 {
            // Its prefix counts the messages of all chunks.
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

/// The longest body of a message: a multiple of 8 below the 65,536 that its length field cannot hold.
pub const LONGEST: usize = 65_528;
