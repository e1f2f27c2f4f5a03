//! Messages in the file's heaps of shared messages (spec III.I): reading them, and giving up their use.
//!
//! hyperslab stores new messages in the objects that use them, which every reader accepts. A message that is
//! removed or replaced gives up its use of the shared one. The last use frees it.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use hyperslab_error::{Error, Result, broken};
use hyperslab_format::btree2::record::{Record, Records, SharedRecordLocation};
use hyperslab_format::header::RawMessage;
use hyperslab_format::message::attribute::Attribute;
use hyperslab_format::message::shared::{MaybeShared, SharedLocation};
use hyperslab_format::message::{MessageBody, kind};
use hyperslab_format::shared_messages;
use hyperslab_format::shared_messages::list::{SharedMessageList, SharedMessageListContext};
use hyperslab_format::shared_messages::table::{IndexForm, SharedMessageIndex, SharedMessageTable};
use hyperslab_format::{Addr, ErrorKind, Extent, Reader, Structure};
use hyperslab_store::heap::fractal::{self, FractalHeap};
use hyperslab_store::tree::BTree2;
use hyperslab_store::tree::btree2::edit as btree2;
use hyperslab_store::{Store, Txn};

use super::header::read::Header;

/// Returns the message called `id` in the heap for messages of type `T`.
pub(super) fn read<T: MessageBody>(store: &Store, id: [u8; 8]) -> Result<T> {
    let (_, _, index) = find_index(store, T::KIND)?;
    FractalHeap::open(store, index.heap)?.decode(&id)
}

/// Returns a message as the object itself would store it: the body of a message in the heap in place of its
/// id.
pub(super) fn unshared(store: &Store, raw: &RawMessage) -> Result<RawMessage> {
    let mut own = raw.clone();
    if let Some(Use::Heap(id)) = Use::of(store, raw, Addr::UNDEFINED)? {
        let (_, _, index) = find_index(store, raw.kind)?;
        own.data = FractalHeap::open(store, index.heap)?.object(&id)?.into();
        own.flags &= !RawMessage::SHARED;
    }
    own.flags &= !RawMessage::SHAREABLE;
    Ok(own)
}

/// A use of a shared message by an object.
#[derive(Debug, Clone, Copy)]
pub(super) enum Use<'m> {
    /// The object has the id of a message in the heap.
    Heap([u8; 8]),
    /// The object has the message itself, to which a record leads, or which equals the one in the heap.
    Here {
        /// The header of the object.
        header: Addr,
        /// The body, with the padding of a version 1 header.
        body: &'m [u8],
    },
}

impl<'m> Use<'m> {
    /// Returns the use that a message of the header at `header` makes of a shared one, if it does.
    pub(super) fn of(store: &Store, raw: &'m RawMessage, header: Addr) -> Result<Option<Self>> {
        if !raw.is_shared() {
            let is_known = raw.flags & RawMessage::SHAREABLE != 0 && store.shared_messages().is_some();
            return Ok(is_known.then_some(Self::Here { header, body: &raw.data }));
        }
        let location: SharedLocation = Reader::new(&raw.data, store.widths(), raw.at).structure(&())?;
        Ok(match location {
            SharedLocation::Heap(id) => Some(Self::Heap(id)),
            SharedLocation::Header(_) => None,
        })
    }
}

/// Gives up the uses that the messages of a deleted object make, except for its attributes.
pub(super) fn release_all(txn: &mut Txn<'_>, header: &Header) -> Result<()> {
    for raw in header.object_header().messages().filter(|raw| raw.kind != kind::ATTRIBUTE) {
        if let Some(used) = Use::of(txn.store(), raw, header.address())? {
            release(txn, raw.kind, used)?;
        }
    }
    Ok(())
}

/// Gives up the use of a shared attribute. Adds the committed datatypes that are then used once less to
/// `targets`.
pub(super) fn release_attribute(txn: &mut Txn<'_>, id: [u8; 8], targets: &mut Vec<Addr>) -> Result<()> {
    let Some(bytes) = release(txn, Attribute::KIND, Use::Heap(id))? else { return Ok(()) };
    let attribute = Reader::new(&bytes, txn.store().widths(), Addr::UNDEFINED).structure(&())?;
    release_parts(txn, &attribute, targets)
}

/// Gives up the uses that the parts of a deleted attribute make. Adds its committed datatype to `targets`.
pub(super) fn release_parts(txn: &mut Txn<'_>, attribute: &Attribute, targets: &mut Vec<Addr>) -> Result<()> {
    match attribute.datatype {
        MaybeShared::Here(_) => {}
        MaybeShared::Shared(SharedLocation::Header(datatype)) => targets.push(datatype),
        MaybeShared::Shared(SharedLocation::Heap(id)) => drop(release(txn, kind::DATATYPE, Use::Heap(id))?),
    }
    match attribute.dataspace {
        MaybeShared::Shared(SharedLocation::Heap(id)) => {
            release(txn, kind::DATASPACE, Use::Heap(id)).map(drop)
        }
        MaybeShared::Here(_) | MaybeShared::Shared(SharedLocation::Header(_)) => Ok(()),
    }
}

/// Gives up one use of a shared message of type `kind`. Returns the body of the message if this was its last
/// use, and the heap had it.
pub(super) fn release(txn: &mut Txn<'_>, kind: u16, used: Use<'_>) -> Result<Option<Vec<u8>>> {
    let found = find_index(txn.store(), kind);
    if matches!(used, Use::Here { .. }) && found.as_ref().map_or(true, |(.., index)| index.messages == 0) {
        // Nothing leads to the message.
        return Ok(None);
    }
    let (at, number, mut index) = found?;
    let heap = FractalHeap::open(txn.store(), index.heap)?;
    let wanted = Wanted::new(&heap, kind, used)?;
    let Some(record) = wanted.find(txn.store(), &index)? else {
        return match used {
            Use::Here { .. } => Ok(None),
            Use::Heap(_) => Err(lost("the record of a shared message")),
        };
    };
    let Record::SharedMessage { hash, location } = record else { return Err(heap.foreign_record()) };
    if let SharedRecordLocation::Heap { reference_count, id } = location
        && reference_count > 1
    {
        let location = SharedRecordLocation::Heap { reference_count: reference_count - 1, id };
        wanted.replace(txn, &index, &Record::SharedMessage { hash, location })?;
        return Ok(None);
    }
    wanted.remove(txn, &mut index)?;
    let body = match location {
        SharedRecordLocation::Heap { id, .. } => {
            let body = heap.object(&id)?;
            fractal::remove(txn, index.heap, &id)?;
            Some(body)
        }
        SharedRecordLocation::Header { .. } => None,
    };
    shrink(txn, &mut index)?;
    let indexes = txn.store().shared_messages().map_or(0, |stated| stated.indexes);
    txn.edit::<SharedMessageTable, _>(at, &indexes, |table| {
        table.indexes.get_mut(number).into_iter().for_each(|place| *place = index);
    })?;
    Ok(body)
}

/// Returns the address of the table, and the number and the content of the index for messages of type `kind`.
fn find_index(store: &Store, kind: u16) -> Result<(Addr, usize, SharedMessageIndex)> {
    let stated = store.shared_messages().ok_or_else(|| lost("the table of shared messages"))?;
    let table = store.get::<SharedMessageTable>(stated.table, &stated.indexes)?;
    let number = table.index_of(kind);
    let number = number.ok_or_else(|| lost("an index of shared messages of this type"))?;
    Ok((stated.table, number, table.indexes[number]))
}

fn lost(what: &'static str) -> Error {
    broken::<SharedMessageTable>(Addr::UNDEFINED, ErrorKind::Missing { what })
}

/// The record of a shared message in its index.
struct Wanted<'m, 's> {
    heap: FractalHeap<'s>,
    kind: u16,
    used: Use<'m>,
    /// The body of the message with each length that it may have, and the hash of that body.
    bodies: Vec<(u32, Vec<u8>)>,
}

impl<'m, 's> Wanted<'m, 's> {
    fn new(heap: &FractalHeap<'s>, kind: u16, used: Use<'m>) -> Result<Self> {
        let lens = match used {
            Use::Heap(id) => vec![heap.object(&id)?],
            // A version 1 header pads a body with up to seven zeros, which the hash does not include.
            Use::Here { body, .. } => {
                let zeros = body.iter().rev().take(7).take_while(|&&byte| byte == 0).count();
                (0..=zeros).map(|zeros| body[..body.len() - zeros].to_vec()).collect()
            }
        };
        let bodies = lens.into_iter().map(|body| (shared_messages::hash(kind, &body), body)).collect();
        Ok(Self { heap: heap.clone(), kind, used, bodies })
    }

    /// Whether a record is the wanted one.
    fn is(&self, record: &Record) -> Result<bool> {
        let Record::SharedMessage { hash, location } = record else { return Err(self.heap.foreign_record()) };
        match (*location, self.used) {
            (SharedRecordLocation::Heap { id, .. }, Use::Heap(wanted)) => Ok(id == wanted),
            (SharedRecordLocation::Heap { id, .. }, Use::Here { .. }) => {
                let Some((_, body)) = self.bodies.iter().find(|(wanted, _)| wanted == hash) else {
                    return Ok(false);
                };
                Ok(self.heap.object(&id)? == *body)
            }
            (SharedRecordLocation::Header { message_type, addr, .. }, Use::Here { header, .. }) => {
                Ok(addr == header && u16::from(message_type) == self.kind)
            }
            (SharedRecordLocation::Header { .. }, Use::Heap(_)) => Ok(false),
        }
    }

    /// Returns the record, if there is one.
    fn find(&self, store: &Store, index: &SharedMessageIndex) -> Result<Option<Record>> {
        match index.form {
            IndexForm::List => {
                let records = list(store, index)?.records.clone();
                Ok(self.place(&records)?.map(|place| records.get(place)).transpose()?)
            }
            IndexForm::BTree => {
                let tree = BTree2::open(store, index.at, SharedMessageList::KIND)?;
                let mut found = None;
                for (wanted, _) in &self.bodies {
                    let order = |record: &Record| match record {
                        Record::SharedMessage { hash, .. } => hash.cmp(wanted),
                        _ => Ordering::Less,
                    };
                    tree.visit_where(&order, &mut |record| {
                        if !self.is(record)? {
                            return Ok(ControlFlow::Continue(()));
                        }
                        found = Some(record.clone());
                        Ok(ControlFlow::Break(()))
                    })?;
                }
                Ok(found)
            }
        }
    }

    /// Returns the place of the record in a list.
    fn place(&self, records: &Records) -> Result<Option<usize>> {
        for place in 0..records.len() {
            if self.is(&records.get(place)?)? {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// Replaces the record by `record`.
    fn replace(&self, txn: &mut Txn<'_>, index: &SharedMessageIndex, record: &Record) -> Result<()> {
        match index.form {
            IndexForm::List => self.edit_list(txn, index, index.messages, |records, place| {
                records.replace(place, record);
            }),
            IndexForm::BTree => {
                btree2::insert(txn, index.at, record, &|other: &Record| self.order(other)).map(drop)
            }
        }
    }

    /// Removes the record.
    fn remove(&self, txn: &mut Txn<'_>, index: &mut SharedMessageIndex) -> Result<()> {
        let left = index.messages.saturating_sub(1);
        match index.form {
            IndexForm::List => self.edit_list(txn, index, left, Records::remove)?,
            IndexForm::BTree => {
                btree2::remove(txn, index.at, &|other: &Record| self.order(other))?;
            }
        }
        index.messages = left;
        Ok(())
    }

    fn edit_list(
        &self,
        txn: &mut Txn<'_>,
        index: &SharedMessageIndex,
        messages: u16,
        f: impl FnOnce(&mut Records, usize),
    ) -> Result<()> {
        let mut records = list(txn.store(), index)?.records.clone();
        let place = self.place(&records)?.ok_or_else(|| lost("the record of a shared message"))?;
        f(&mut records, place);
        let context = SharedMessageListContext { messages, list_max: index.list_max };
        txn.put(index.at, SharedMessageList { records }, context);
        Ok(())
    }

    /// Compares a record of the tree with the wanted one: by hash, then by the length and the bytes of the
    /// body.
    fn order(&self, record: &Record) -> Result<Ordering> {
        if self.is(record)? {
            return Ok(Ordering::Equal);
        }
        let Record::SharedMessage { hash, location } = record else { return Err(self.heap.foreign_record()) };
        let Some((wanted, body)) = self.bodies.iter().find(|(wanted, _)| wanted == hash) else {
            // All lengths of one body have the same neighbours only by chance, so the first decides.
            return Ok(hash.cmp(&self.bodies.first().map_or(0, |(wanted, _)| *wanted)));
        };
        debug_assert_eq!(hash, wanted, "bodies are found by hash");
        match location {
            SharedRecordLocation::Heap { id, .. } => {
                let other = self.heap.object(id)?;
                Ok(other.len().cmp(&body.len()).then_with(|| other.cmp(body)))
            }
            SharedRecordLocation::Header { .. } => Ok(Ordering::Less),
        }
    }
}

fn list(store: &Store, index: &SharedMessageIndex) -> Result<std::sync::Arc<SharedMessageList>> {
    store.get(index.at, &SharedMessageListContext { messages: index.messages, list_max: index.list_max })
}

/// Gives an index with fewer records the structure that libhdf5 gives it: none, or a list.
fn shrink(txn: &mut Txn<'_>, index: &mut SharedMessageIndex) -> Result<()> {
    let context = SharedMessageListContext { messages: index.messages, list_max: index.list_max };
    let list_len = SharedMessageList::read_len(txn.store().widths(), &context) as u64;
    if index.messages == 0 {
        match index.form {
            IndexForm::List => txn.free(Extent::new(index.at, list_len)),
            IndexForm::BTree => btree2::delete(txn, index.at)?,
        }
        fractal::delete(txn, index.heap)?;
        index.form = if index.list_max > 0 { IndexForm::List } else { IndexForm::BTree };
        (index.at, index.heap) = (Addr::UNDEFINED, Addr::UNDEFINED);
    } else if index.form == IndexForm::BTree
        && index.messages < index.btree_min
        && index.messages <= index.list_max
    {
        let mut records = Vec::new();
        BTree2::open(txn.store(), index.at, SharedMessageList::KIND)?.visit(&mut |record| {
            records.push(record.clone());
            Ok(ControlFlow::Continue(()))
        })?;
        let form = SharedMessageList::record_form(txn.store().widths());
        let form = form.ok_or_else(|| lost("a form of records for this width of addresses"))?;
        btree2::delete(txn, index.at)?;
        let records = Records::new(form, &records);
        index.at = txn.put_new(SharedMessageList { records }, context)?;
        index.form = IndexForm::List;
    }
    Ok(())
}
