//! Checks shared messages (spec III.I): the table, its indexes and heaps, and the number of uses of each
//! message.

use std::collections::{BTreeMap, HashSet};

use hyperslab_error::Error;
use hyperslab_format::btree2::record::{Record, SharedRecordLocation};
use hyperslab_format::header::RawMessage;
use hyperslab_format::message::attribute::Attribute;
use hyperslab_format::message::shared::{MaybeShared, SharedLocation};
use hyperslab_format::message::small;
use hyperslab_format::message::{MessageBody, kind};
use hyperslab_format::shared_messages::list::{SharedMessageList, SharedMessageListContext};
use hyperslab_format::shared_messages::table::{IndexForm, SharedMessageIndex, SharedMessageTable};
use hyperslab_format::{Addr, Reader, shared_messages};
use hyperslab_store::heap::FractalHeap;

use super::fractal_heap::Heap;
use super::{Check, Name, Severity, name_of};

/// The shared messages of a file.
#[derive(Debug, Default)]
pub(super) struct SharedMessages {
    indexes: Vec<Index>,
}

/// The messages of one index.
#[derive(Debug)]
struct Index {
    place: SharedMessageIndex,
    /// The messages in the heap, by id.
    messages: BTreeMap<[u8; 8], Message>,
    /// The headers of objects whose own messages have a record, with the types of these messages.
    own: HashSet<(Addr, u16)>,
}

/// A message in a heap.
#[derive(Debug)]
struct Message {
    hash: u32,
    body: Vec<u8>,
    stated: u32,
    found: u64,
}

impl SharedMessages {
    fn index(&mut self, kind: u16) -> Option<&mut Index> {
        self.indexes.iter_mut().find(|known| known.place.has(kind))
    }
}

impl Check<'_> {
    /// Checks the table that the superblock extension names, and everything that the table leads to.
    pub(super) fn shared_messages(&mut self, stated: small::SharedMessages) {
        let Some(table) = self.block::<SharedMessageTable>(stated.table, &stated.indexes) else { return };
        for index in table.indexes.iter().filter(|index| index.at.is_defined()) {
            let Some(mut heap) = self.fractal_heap(index.heap) else { continue };
            let mut records = Vec::new();
            let is_whole = self.shared_records(index, &mut records);
            let (messages, own) = (BTreeMap::new(), HashSet::new());
            let mut known = Index { place: *index, messages, own };
            for record in records {
                self.shared_record(&record, &mut heap, &mut known);
            }
            if is_whole {
                self.heap_statistics(&heap);
            }
            self.shared.indexes.push(known);
        }
        self.shared_attributes();
    }

    /// Collects the records of an index. Returns whether all could be read.
    fn shared_records(&mut self, index: &SharedMessageIndex, records: &mut Vec<Record>) -> bool {
        let is_whole = match index.form {
            IndexForm::List => {
                let context = SharedMessageListContext { messages: index.messages, list_max: index.list_max };
                let Some(list) = self.block::<SharedMessageList>(index.at, &context) else { return false };
                for place in 0..list.records.len() {
                    let record = self.noted(list.records.get(place).map_err(Error::from), index.at);
                    records.extend(record);
                }
                true
            }
            IndexForm::BTree => {
                let mut each = |_: &mut Self, record: &Record| records.push(record.clone());
                matches!(self.btree2(index.at, &[SharedMessageList::KIND], &mut each), Some((_, true)))
            }
        };
        if is_whole {
            let found = records.len() as u64;
            self.expect(
                name_of::<SharedMessageTable>(),
                index.at,
                "number of messages",
                index.messages.into(),
                found,
            );
        }
        is_whole
    }

    fn shared_record(&mut self, record: &Record, heap: &mut Heap, known: &mut Index) {
        let Record::SharedMessage { hash, location } = *record else { return };
        match location {
            SharedRecordLocation::Header { message_type, addr, .. } => {
                known.own.insert((addr, message_type.into()));
            }
            SharedRecordLocation::Heap { reference_count, id } => {
                let Some(body) = self.heap_bytes(heap, &id) else { return };
                let hashes = (0..16).filter(|&kind| known.place.has(kind));
                if !hashes.map(|kind| shared_messages::hash(kind, &body)).any(|found| found == hash) {
                    self.wrong(
                        OF_RECORD,
                        known.place.at,
                        "the record of a message has the hash of another one",
                    );
                }
                let message = Message { hash, body, stated: reference_count, found: 0 };
                if known.messages.insert(id, message).is_some() {
                    self.wrong(OF_RECORD, known.place.at, "two records lead to the same message");
                }
            }
        }
    }

    /// Records the uses that shared attributes make of other shared messages.
    fn shared_attributes(&mut self) {
        let Some(index) = self.shared.index(Attribute::KIND) else { return };
        let hash = |body: &[u8]| shared_messages::hash(Attribute::KIND, body);
        let of_attributes = index.messages.values().filter(|message| hash(&message.body) == message.hash);
        let bodies: Vec<Vec<u8>> = of_attributes.map(|message| message.body.clone()).collect();
        for body in bodies {
            let mut r = Reader::new(&body, self.store.widths(), Addr::UNDEFINED);
            let decoded = r.structure::<Attribute>(&()).map_err(Error::from);
            if let Some(attribute) = self.noted(decoded, Addr::UNDEFINED) {
                self.shared_parts(&attribute);
            }
        }
    }

    /// Records the uses of messages that are stored elsewhere by the parts of an attribute.
    pub(super) fn shared_parts(&mut self, attribute: &Attribute) {
        if let MaybeShared::Shared(location) = attribute.datatype {
            self.shared(location, kind::DATATYPE);
        }
        if let MaybeShared::Shared(location) = attribute.dataspace {
            self.shared(location, kind::DATASPACE);
        }
    }

    /// Records the use of a message that is stored elsewhere.
    pub(super) fn shared(&mut self, location: SharedLocation, kind: u16) {
        match location {
            // Uses of a committed datatype count as links to it.
            SharedLocation::Header(at) => {
                let path = format!("(datatype of {})", self.path).into();
                self.link_to(at, path);
            }
            SharedLocation::Heap(id) => {
                let message = self.shared.index(kind).and_then(|index| index.messages.get_mut(&id));
                if let Some(message) = message {
                    message.found += 1;
                } else {
                    let text = format!("the shared message {id:02x?} of type {kind:#x} is missing");
                    self.wrong(OF_RECORD, Addr::UNDEFINED, text);
                }
            }
        }
    }

    /// Records the use of a shared message that equals the object's own one.
    pub(super) fn shared_here(&mut self, message: &RawMessage, header: Addr) {
        let Some(index) = self.shared.index(message.kind) else { return };
        if index.own.contains(&(header, message.kind)) {
            return;
        }
        // A version 1 header pads messages with zeros.
        let equals = |known: &&mut Message| {
            let rest = message.data.strip_prefix(&known.body[..]);
            rest.is_some_and(|padding| padding.len() < 8 && padding.iter().all(|&byte| byte == 0))
        };
        index.messages.values_mut().find(equals).into_iter().for_each(|known| known.found += 1);
    }

    /// Returns the message with body `T` that the heap has under `id`, or `None` if it is unavailable. Adds a
    /// finding if it cannot be decoded.
    pub(super) fn shared_body<T: MessageBody>(&mut self, id: [u8; 8]) -> Option<T> {
        let known = self.shared.indexes.iter().find(|known| known.place.has(T::KIND))?;
        let heap = known.place.heap;
        let decoded = FractalHeap::open(self.store, heap).and_then(|opened| opened.decode(&id));
        self.noted(decoded, heap)
    }

    /// Compares the reference counts of shared messages with the uses that were found.
    pub(super) fn shared_references(&mut self) {
        let mut wrong = Vec::new();
        for known in &self.shared.indexes {
            for (id, message) in &known.messages {
                if u64::from(message.stated) != message.found {
                    wrong.push((known.place.at, *id, message.stated, message.found));
                }
            }
        }
        for (at, id, stated, found) in wrong {
            // If the count is too small, the message will be deleted while objects use it. If it is too
            // large, it will never be deleted.
            let severity = if u64::from(stated) < found { Severity::Error } else { Severity::Warning };
            let text = format!("reference count of {id:02x?} is {stated}, found {found} uses");
            self.find(severity, OF_RECORD, at, text);
        }
    }
}

/// The name and the spec section of records in findings.
const OF_RECORD: Name = ("shared message record", "III.I");
