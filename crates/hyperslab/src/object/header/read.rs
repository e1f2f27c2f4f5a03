//! Reads object headers with all their continuations, and the messages in them, including shared ones.

use std::sync::Arc;

use hyperslab_error::{Error, Result, broken};
use hyperslab_format::header::{Chunk, ObjectHeader, Prefix, RawMessage, v2};
use hyperslab_format::message::group_info::PhaseChange;
use hyperslab_format::message::shared::{MaybeShared, SharedLocation};
use hyperslab_format::message::{MessageBody, kind};
use hyperslab_format::{Addr, ErrorKind, Reader, Structure, Widths};
use hyperslab_store::Store;

use crate::object::shared;

/// An object header with all its chunks, and its address.
#[derive(Debug)]
pub(crate) struct Header {
    address: Addr,
    widths: Widths,
    inner: ObjectHeader,
}

impl Header {
    /// Reads the header at `address` from the cache or the file.
    pub(in crate::object) fn read(store: &Store, address: Addr) -> Result<Arc<Self>> {
        store.get_or_make(address, || {
            let inner = store.patiently(|| Self::chunks_at(store, address))?;
            let header = Self::new(address, store.widths(), inner)?;
            if store.follows() {
                // What is cached of the object's index may be older than the header.
                store.forget();
            }
            let bytes = header.memory_bytes() as u64;
            Ok((header, bytes))
        })
    }

    /// Reads all chunks of the header at `address`.
    fn chunks_at(store: &Store, address: Addr) -> Result<ObjectHeader> {
        let mut inner = store.read::<ObjectHeader>(address, &())?;
        // `ObjectHeader` rejects cycles, and more bytes than any header needs.
        while let Some(extent) = inner.next_pending() {
            let bytes = store.bytes(extent, (ObjectHeader::NAME, ObjectHeader::SPEC))?;
            let mut reader = Reader::new(&bytes, store.widths(), extent.addr);
            inner.decode_continuation(&mut reader)?;
        }
        Ok(inner)
    }

    /// Wraps a header whose chunks have all been read.
    pub(in crate::object) fn new(address: Addr, widths: Widths, inner: ObjectHeader) -> Result<Self> {
        let header = Self { address, widths, inner };
        header.check_unknown()?;
        Ok(header)
    }

    /// Estimates the bytes of memory that the header takes. Small messages take several times their size in
    /// the file.
    pub(in crate::object) fn memory_bytes(&self) -> usize {
        let message = |message: &RawMessage| size_of::<RawMessage>() + ALLOCATION + message.data.len();
        let chunk = |chunk: &Chunk| ALLOCATION + chunk.messages.iter().map(message).sum::<usize>();
        size_of::<Self>() + self.inner.chunks.iter().map(chunk).sum::<usize>()
    }

    /// Returns the decoded header.
    pub(in crate::object) fn object_header(&self) -> &ObjectHeader {
        &self.inner
    }

    /// Rejects changes to an object with a message of an unknown type whose flags forbid them.
    pub(in crate::object) fn check_writable(&self) -> Result<()> {
        match self.inner.forbids_writing() {
            Some(message) => Err(Error::unsupported(
                format!("changing an object with a message of type {:#x}", message.kind),
                "IV.A.2",
            )),
            None => Ok(()),
        }
    }

    pub(in crate::object) fn address(&self) -> Addr {
        self.address
    }

    pub(in crate::object) fn widths(&self) -> Widths {
        self.widths
    }

    /// Whether the creation order of attributes is stored.
    pub(in crate::object) fn tracks_attribute_order(&self) -> bool {
        self.v2().is_some_and(|prefix| prefix.tracks_creation_order)
    }

    /// Whether the creation order of attributes has an index when they are stored in a heap.
    pub(in crate::object) fn indexes_attribute_order(&self) -> bool {
        self.v2().is_some_and(|prefix| prefix.indexes_creation_order)
    }

    /// Returns the numbers of attributes at which these move between messages and the heap.
    pub(in crate::object) fn phase_change(&self) -> PhaseChange {
        self.v2().and_then(|prefix| prefix.phase_change).unwrap_or(PhaseChange::DEFAULT)
    }

    fn v2(&self) -> Option<&v2::Prefix> {
        match &self.inner.prefix {
            Prefix::V1 { .. } => None,
            Prefix::V2(prefix) => Some(prefix),
        }
    }

    /// Returns the number of hard links to the object.
    pub(in crate::object) fn reference_count(&self) -> Result<u32> {
        self.inner.reference_count(self.widths).map_err(Error::from)
    }

    /// Whether the header has a message of this type.
    pub(in crate::object) fn has(&self, kind: u16) -> bool {
        self.inner.find(kind).is_some()
    }

    /// Returns the first message with body `T`. A shared one is read from the place where it is stored.
    pub(in crate::object) fn find<T: MessageBody>(&self, store: &Store) -> Result<Option<T>> {
        self.find_here_or_shared::<T>()?.map(|found| resolve(found, store)).transpose()
    }

    /// Returns the first message with body `T`, or the location of its value if it is shared.
    pub(in crate::object) fn find_here_or_shared<T: MessageBody>(&self) -> Result<Option<MaybeShared<T>>> {
        self.inner.message::<T>(self.widths).map_err(Error::from)
    }

    /// Returns the number of messages with body `T`.
    pub(in crate::object) fn count<T: MessageBody>(&self) -> usize {
        self.raw::<T>().count()
    }

    /// Returns all messages with body `T`, each with its creation order, or its position if orders are not
    /// stored.
    pub(in crate::object) fn all<T: MessageBody>(
        &self,
        store: &Store,
    ) -> impl Iterator<Item = Result<(u32, T)>> {
        self.all_here_or_shared::<T>().map(|found| {
            let (order, body) = found?;
            Ok((order, resolve(body, store)?))
        })
    }

    /// Returns all messages with body `T` like [`all`](Self::all), or the locations of shared ones.
    pub(in crate::object) fn all_here_or_shared<T: MessageBody>(
        &self,
    ) -> impl Iterator<Item = Result<(u32, MaybeShared<T>)>> {
        self.raw::<T>().zip(0..).map(|(message, position)| {
            let order =
                if self.tracks_attribute_order() { message.creation_order.map(u32::from) } else { None };
            Ok((order.unwrap_or(position), message.decode::<T>(self.widths)?))
        })
    }

    /// Returns the error for an object that lacks `what`.
    pub(in crate::object) fn lacks(&self, what: &'static str) -> Error {
        self.error(ErrorKind::Missing { what })
    }

    /// Returns an error about the header as a whole.
    pub(in crate::object) fn error(&self, kind: ErrorKind) -> Error {
        broken::<ObjectHeader>(self.address, kind)
    }

    fn raw<T: MessageBody>(&self) -> impl Iterator<Item = &RawMessage> {
        self.inner.messages().filter(|message| message.kind == T::KIND)
    }

    /// Rejects an object with a message of an unknown type that readers must understand.
    fn check_unknown(&self) -> Result<()> {
        let must_be_known = |message: &&RawMessage| {
            !kind::is_known(message.kind) && message.flags & RawMessage::FAIL_IF_UNKNOWN != 0
        };
        match self.inner.messages().find(must_be_known) {
            Some(message) => {
                Err(Error::unsupported(format!("a message of type {:#x}", message.kind), "IV.A.2"))
            }
            None => Ok(()),
        }
    }
}

/// Returns the value of a message. A shared value is read from the heap of shared messages, or from the
/// header of the committed datatype.
pub(in crate::object) fn resolve<T: MessageBody>(found: MaybeShared<T>, store: &Store) -> Result<T> {
    match found {
        MaybeShared::Here(value) => Ok(value),
        MaybeShared::Shared(SharedLocation::Heap(id)) => shared::read(store, id),
        MaybeShared::Shared(SharedLocation::Header(address)) => {
            let header = Header::read(store, address)?;
            match header.find_here_or_shared::<T>()? {
                Some(MaybeShared::Here(value)) => Ok(value),
                Some(MaybeShared::Shared(SharedLocation::Heap(id))) => shared::read(store, id),
                // A committed datatype holds its value. If it points elsewhere, the chain might have no end.
                Some(MaybeShared::Shared(_)) => Err(header.error(ErrorKind::Depth { limit: 1 })),
                None => Err(header.lacks(T::NAME)),
            }
        }
    }
}

/// Returns the address of the header that holds the value of a shared message, or `None` if the message is
/// not shared with a header.
pub(in crate::object) fn shared_in<T>(found: &MaybeShared<T>) -> Option<Addr> {
    match found {
        MaybeShared::Shared(SharedLocation::Header(address)) => Some(*address),
        _ => None,
    }
}

/// The approximate overhead per message in bytes, for the allocator and the reference count.
const ALLOCATION: usize = 32;
