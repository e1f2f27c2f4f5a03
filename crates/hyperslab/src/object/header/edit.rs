//! Creates and changes object headers in a step of the store.

use std::any::Any;
use std::sync::Arc;

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_format::header::edit::{Fit, HeaderEdit, LONGEST, Place};
use hyperslab_format::header::{Chunk, ChunkContext, ObjectHeader, Prefix, RawMessage};
use hyperslab_format::message::{MessageBody, kind};
use hyperslab_format::{Addr, Structure, Widths, Writer};
use hyperslab_store::{Block, BlockCache, SpaceKind, Txn};

use super::read::{Header, resolve};
use crate::object::shared::{self, Use};

/// A header being changed in a step. [`finish`](Self::finish) adds the change to the step.
pub(in crate::object) struct HeaderChange<'t, 's> {
    txn: &'t mut Txn<'s>,
    address: Addr,
    edit: HeaderEdit,
}

impl<'t, 's> HeaderChange<'t, 's> {
    /// Begins to change the header at `address`.
    pub(in crate::object) fn new(txn: &'t mut Txn<'s>, address: Addr) -> Result<Self> {
        let header = Header::read(txn.store(), address)?;
        header.check_writable()?;
        let edit = HeaderEdit::new(header.object_header().clone(), txn.store().widths());
        Ok(Self { txn, address, edit: edit? })
    }

    /// Returns the step.
    pub(in crate::object) fn txn(&mut self) -> &mut Txn<'s> {
        self.txn
    }

    /// Returns the first message with body `T`.
    pub(in crate::object) fn find<T: MessageBody>(&self) -> Result<Option<T>> {
        let store = self.txn.store();
        self.edit.header().message::<T>(store.widths())?.map(|found| resolve(found, store)).transpose()
    }

    /// Returns the messages of a type and their places.
    pub(in crate::object) fn places(&self, kind: u16) -> impl Iterator<Item = (Place, &RawMessage)> {
        self.edit.places(kind)
    }

    /// Adds a message.
    pub(in crate::object) fn put<T: MessageBody>(&mut self, body: &T, flags: u8) -> Result<()> {
        let message = self.edit.message(body, flags);
        self.put_raw(message)
    }

    /// Makes a message with this creation order, if the header stores creation orders.
    pub(in crate::object) fn message_in_order<T: MessageBody>(
        &self,
        body: &T,
        order: Option<u16>,
    ) -> RawMessage {
        let message = self.edit.message(body, 0);
        RawMessage { creation_order: order.or(message.creation_order), ..message }
    }

    /// Adds an encoded message.
    pub(in crate::object) fn put_raw(&mut self, message: RawMessage) -> Result<()> {
        let fit = self.edit.put(message.clone())?;
        self.settle(fit, message)
    }

    /// Replaces the first message of the type of `body`, keeping its flags, or adds one if there is none. The
    /// object gives up its use of a shared message.
    pub(in crate::object) fn set<T: MessageBody>(&mut self, body: &T) -> Result<()> {
        let place = self.edit.places(T::KIND).next().map(|(place, old)| (place, old.clone()));
        let Some((place, old)) = place else { return self.put(body, 0) };
        if let Some(used) = Use::of(self.txn.store(), &old, self.address)? {
            shared::release(self.txn, T::KIND, used)?;
        }
        let message = self.edit.message(body, old.flags & !(RawMessage::SHARED | RawMessage::SHAREABLE));
        self.replace(place, message)
    }

    /// Replaces the message at `place`.
    pub(in crate::object) fn replace(&mut self, place: Place, message: RawMessage) -> Result<()> {
        let fit = self.edit.replace(place, message.clone())?;
        self.settle(fit, message)
    }

    /// Removes and returns the first message of a type, if there is one.
    pub(in crate::object) fn take(&mut self, kind: u16) -> Result<Option<RawMessage>> {
        let place = self.edit.places(kind).next().map(|(place, _)| place);
        place.map(|place| self.remove(place)).transpose()
    }

    /// Removes and returns the message at `place`.
    pub(in crate::object) fn remove(&mut self, place: Place) -> Result<RawMessage> {
        self.edit.remove(place).map_err(Error::from)
    }

    /// Adds `change` to the number of hard links and returns the new number.
    pub(in crate::object) fn add_references(&mut self, change: i32) -> Result<u32> {
        let widths = self.txn.store().widths();
        let count = self.edit.header().reference_count(widths)?;
        let count = count.saturating_add_signed(change);
        let fit = self.edit.set_reference_count(count)?;
        let message = self.edit.message(&hyperslab_format::message::small::ReferenceCount { count }, 0);
        self.settle(fit, message)?;
        Ok(count)
    }

    /// Makes room for a message that does not fit: extends a chunk if the space after it is free, or adds a
    /// chunk.
    fn settle(&mut self, fit: Fit, message: RawMessage) -> Result<()> {
        let Fit::Needs(len) = fit else { return Ok(()) };
        for (number, extent, missing) in self.edit.short_chunks(&message) {
            if let Some(extent) = self.txn.extend(extent, missing) {
                self.edit.lengthen(number, extent)?;
                let fit = self.edit.put(message.clone())?;
                return self.settle(fit, message);
            }
        }
        // A header with many chunks is likely to grow again. Spare room keeps it to few chunks, which makes
        // it quick to read.
        let chunks = &self.edit.header().chunks;
        let spare = if chunks.len() > FEW_CHUNKS { len / 2 } else { 0 };
        let len = (len + spare).next_multiple_of(8);
        let extent = self.txn.allocate(SpaceKind::Metadata, len)?;
        self.edit.put_in(message, extent).map_err(Error::from)
    }

    /// Adds the change to the step.
    pub(in crate::object) fn finish(self) -> Result<Arc<Header>> {
        let Self { txn, address, mut edit } = self;
        for extent in edit.condense()? {
            txn.free(extent);
        }
        let (header, mut changed) = edit.finish();
        // Readers look up the header at its address, so the first chunk is always replaced.
        changed.insert(0);
        let header = Arc::new(Header::new(address, txn.store().widths(), header)?);
        for number in changed {
            put_chunk(txn, &header, number);
        }
        Ok(header)
    }
}

/// Creates a header with these messages and allocates its space. The header has room for `room` bytes of
/// messages with their prefixes, or more if these messages need more.
pub(in crate::object) fn create(
    txn: &mut Txn<'_>,
    prefix: Prefix,
    mut messages: Vec<RawMessage>,
    room: usize,
) -> Result<Arc<Header>> {
    let widths = txn.store().widths();
    let is_tracked = matches!(prefix, Prefix::V2(prefix) if prefix.tracks_creation_order);
    for message in &mut messages {
        if message.data.len() > LONGEST {
            let what = format!("message of type {:#x} with {} bytes", message.kind, message.data.len());
            let why = "a datatype, fill value or filter list in an object header must be smaller than 64 KiB";
            return Err(RequestError::Argument { what, why }.into());
        }
        message.creation_order = is_tracked.then_some(message.creation_order.unwrap_or(0));
        if matches!(prefix, Prefix::V1 { .. }) {
            message.pad();
        }
    }
    let before = prefix.framing().message_prefix_len();
    let used: usize = messages.iter().map(|message| before + message.data.len()).sum();
    // Every header has room for a continuation message, so that it can name a further chunk.
    let continuation = before + (widths.offset.bytes() + widths.length.bytes()).next_multiple_of(8);
    let room = if used < continuation { room.max(continuation + before) } else { room };
    if let Some(spare) = room.checked_sub(used + before) {
        messages.push(RawMessage {
            kind: kind::NIL,
            flags: 0,
            creation_order: is_tracked.then_some(0),
            data: vec![0; spare].into(),
            at: Addr::UNDEFINED,
        });
    }
    let sized = ObjectHeader::new(prefix, messages.clone(), Addr::new(0), widths)?;
    let prefix = widened(prefix, sized.encoded_len(widths, &()));
    let len = ObjectHeader::new(prefix, messages.clone(), Addr::new(0), widths)?.encoded_len(widths, &());
    let extent = txn.allocate(SpaceKind::Metadata, len as u64)?;
    let header = ObjectHeader::new(prefix, messages, extent.addr, widths)?;
    let header = Arc::new(Header::new(extent.addr, widths, header)?);
    put_chunk(txn, &header, 0);
    txn.born(extent.addr);
    Ok(header)
}

/// Adds `change` to the number of hard links to the object whose header is at `address`. Uses of a committed
/// datatype count as links.
pub(in crate::object) fn add_reference(txn: &mut Txn<'_>, address: Addr, change: i32) -> Result<()> {
    let mut header = HeaderChange::new(txn, address)?;
    header.add_references(change)?;
    header.finish().map(drop)
}

/// Frees all space of a header.
pub(in crate::object) fn delete(txn: &mut Txn<'_>, header: &Header) {
    txn.died(header.address());
    header.object_header().chunks.iter().for_each(|chunk| txn.free(chunk.extent));
}

/// Returns the prefix with a length field wide enough for a first chunk of `len` bytes.
fn widened(mut prefix: Prefix, len: usize) -> Prefix {
    if let Prefix::V2(prefix) = &mut prefix {
        prefix.len_width = match len {
            0..=0xff => 0,
            0x100..=0xffff => 1,
            _ => 2,
        };
    }
    prefix
}

fn put_chunk(txn: &mut Txn<'_>, header: &Arc<Header>, number: usize) {
    let at = header.object_header().chunks[number].extent.addr;
    txn.put_block(at, Arc::new(HeaderChunk { header: Arc::clone(header), number }));
}

/// One chunk of a changed header.
#[derive(Debug)]
struct HeaderChunk {
    header: Arc<Header>,
    number: usize,
}

impl Block for HeaderChunk {
    fn name(&self) -> &'static str {
        if self.number == 0 { ObjectHeader::NAME } else { Chunk::NAME }
    }

    fn encode(&self, w: &mut Writer<'_>) {
        let header = self.header.object_header();
        match self.number {
            0 => w.structure(header, &()),
            number => {
                let chunk = &header.chunks[number];
                w.structure(chunk, &ChunkContext { framing: header.prefix.framing(), len: chunk.extent.len });
            }
        }
    }

    fn encoded_len(&self, _: Widths) -> usize {
        usize::try_from(self.header.object_header().chunks[self.number].extent.len).unwrap_or(usize::MAX)
    }

    fn memory_bytes(&self, widths: Widths) -> usize {
        if self.number == 0 { self.header.memory_bytes() } else { self.encoded_len(widths) }
    }

    /// Returns the whole header: readers look it up at the address of its first chunk.
    fn value(&self) -> &dyn Any {
        &self.header
    }

    fn remember(&self, cache: &BlockCache, at: Addr, len: u64) {
        if self.number == 0 {
            cache.insert(at, Arc::clone(&self.header), len);
        }
    }

    fn forget(&self, cache: &BlockCache, at: Addr) {
        if self.number == 0 {
            cache.remove::<Header>(at);
        }
    }
}

/// A header with more chunks gets further ones with spare room.
const FEW_CHUNKS: usize = 3;
