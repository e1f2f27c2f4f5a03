//! Storage of the links of groups and the attributes of objects (spec IV.A.2.c and v). Few and short ones are
//! messages of the header. Others are dense: in a fractal heap, with a version 2 B-tree over hashes of their
//! names and, if the object has this index, one over their creation order.

mod item;

use std::cmp::Ordering;
use std::ops::ControlFlow;

use hyperslab_error::{Error, Result};
use hyperslab_format::btree2::dense::{Ordered, array};
use hyperslab_format::btree2::record::{Record, RecordForm};
use hyperslab_format::bytes::lookup3::lookup3;
use hyperslab_format::header::RawMessage;
use hyperslab_format::message::dense_info::DenseInfo;
use hyperslab_format::message::shared::{MaybeShared, SharedLocation};
use hyperslab_format::name;
use hyperslab_format::{Addr, Writer};
use hyperslab_store::heap::fractal::{self, FractalHeap};
use hyperslab_store::tree::BTree2;
use hyperslab_store::tree::btree2::edit::{self as btree2, BTree2Parameters};
use hyperslab_store::{Store, Txn};

use super::header::edit::{HeaderChange, add_reference};
use super::header::read::{self, Header};
use super::shared;
pub(super) use item::Dense;

/// A stored item.
pub(super) struct Stored<T> {
    pub(super) order: u64,
    pub(super) value: T,
    /// The id of the item in the heap of shared messages, if it is shared.
    pub(super) shared: Option<[u8; 8]>,
}

impl<T: Dense> Stored<T> {
    /// Returns the item as one that is not shared. Gives up the use of the shared message.
    fn into_own(mut self, txn: &mut Txn<'_>) -> Result<T> {
        if let Some(id) = self.shared {
            self.value.make_own(txn)?;
            let mut datatypes = Vec::new();
            shared::release_attribute(txn, id, &mut datatypes)?;
            // The item itself uses the committed datatype by now, so that this is not its last use.
            datatypes.into_iter().try_for_each(|datatype| add_reference(txn, datatype, -1))?;
        }
        Ok(self.value)
    }
}

/// The storage of the links or attributes of an object.
#[derive(Debug, Clone)]
pub(super) struct Storage<T: Dense> {
    /// The info message. An object without attributes may have none for them.
    pub(super) info: Option<DenseInfo<T::Order>>,
}

impl<T: Dense> Storage<T> {
    /// Returns the storage that a header names.
    pub(super) fn of(header: &Header, store: &Store) -> Result<Self> {
        Ok(Self { info: header.find(store)? })
    }

    /// Returns the info message if the storage is dense.
    fn dense(&self) -> Option<&DenseInfo<T::Order>> {
        self.info.as_ref().filter(|info| info.is_dense())
    }

    pub(super) fn len(&self, header: &Header, store: &Store) -> Result<u64> {
        match self.dense() {
            None => Ok(header.count::<T>() as u64),
            Some(info) => Ok(names::<T>(store, info)?.len()),
        }
    }

    /// Calls `f` with each item and its creation order, in the order of the storage.
    pub(super) fn visit(&self, header: &Header, store: &Store, f: &mut dyn FnMut(u64, T)) -> Result<()> {
        self.visit_stored(header, store, &mut |stored| f(stored.order, stored.value))
    }

    /// Returns all items, in the order of the storage.
    pub(super) fn all(&self, header: &Header, store: &Store) -> Result<Vec<Stored<T>>> {
        let mut all = Vec::new();
        self.visit_stored(header, store, &mut |stored| all.push(stored))?;
        Ok(all)
    }

    fn visit_stored(&self, header: &Header, store: &Store, f: &mut dyn FnMut(Stored<T>)) -> Result<()> {
        let Some(info) = self.dense() else {
            return header.all_here_or_shared::<T>().try_for_each(|found| {
                let (order, found) = found?;
                let shared = shared_id(&found);
                let value = read::resolve(found, store)?;
                f(Stored { order: value.order(Some(order.into())).unwrap_or(0), value, shared });
                Ok(())
            });
        };
        let heap = FractalHeap::open(store, info.heap)?;
        names::<T>(store, info)?.visit(&mut |record| {
            let (order, value) = decode::<T>(store, &heap, record)?;
            let shared = T::by_name(record).filter(|named| named.is_shared).map(|named| array(named.id));
            f(Stored { order: order.unwrap_or(0), value, shared });
            Ok(ControlFlow::Continue(()))
        })
    }

    /// Returns all items with their creation orders, or `most` of more dense ones: the first ones by creation
    /// order if there is an index of it, else those whose names have the least hashes.
    pub(super) fn some(&self, header: &Header, store: &Store, most: usize) -> Result<Vec<(u64, T)>> {
        let mut some = Vec::new();
        let Some(info) = self.dense().filter(|_| self.len(header, store).is_ok_and(|len| len > most as u64))
        else {
            self.visit(header, store, &mut |order, value| some.push((order, value)))?;
            return Ok(some);
        };
        let heap = FractalHeap::open(store, info.heap)?;
        let by_order = info.creation_order_index.and_then(Addr::defined);
        let tree = match by_order {
            Some(index) => BTree2::open(store, index, T::TREES[1])?,
            None => names::<T>(store, info)?,
        };
        tree.visit(&mut |record| {
            if some.len() == most {
                return Ok(ControlFlow::Break(()));
            }
            some.push(match T::by_order(record) {
                Some(Ordered { order, id, is_shared }) => (order, decoded(store, &heap, id, is_shared)?),
                None => decode(store, &heap, record).map(|(order, value)| (order.unwrap_or(0), value))?,
            });
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(some)
    }

    /// Returns the item with this name, if there is one.
    pub(super) fn find(&self, header: &Header, store: &Store, name: &str) -> Result<Option<T>> {
        let Some(info) = self.dense() else {
            // An error ends the search too, because the unreadable message might be the one.
            let mut all = header.all::<T>(store);
            let found = all.find(|found| found.as_ref().map_or(true, |(_, value)| value.name() == name));
            return Ok(found.transpose()?.map(|(_, value)| value));
        };
        Ok(find_dense(store, info, name)?.map(|(_, value)| value))
    }

    /// Frees the heap and the trees of a deleted object.
    pub(super) fn delete(self, txn: &mut Txn<'_>) -> Result<()> {
        self.info.filter(DenseInfo::is_dense).map_or(Ok(()), |mut info| delete(txn, &mut info))
    }
}

/// Adds an item whose name is new to the object at `header`. `order` is its creation order if it already had
/// one.
pub(super) fn add<T: Dense>(
    txn: &mut Txn<'_>,
    header: &Header,
    mut value: T,
    order: Option<u64>,
    new_info: impl FnOnce() -> Result<DenseInfo<T::Order>>,
) -> Result<()> {
    let storage = Storage::<T>::of(header, txn.store())?;
    if let Some(info) = storage.dense().filter(|info| info.max_creation_order.is_none()) {
        // The header does not change.
        header.check_writable()?;
        return insert(txn, info, &value, None);
    }
    let max_compact = T::phase_change(header, txn.store())?.max_compact;
    let is_full = storage.len(header, txn.store())? >= u64::from(max_compact);
    let known = storage.info;
    let mut info = known.clone().map_or_else(new_info, Ok)?;
    let order = match (order, info.max_creation_order) {
        (None, Some(next)) => {
            let next: u64 = next.into();
            let after = next.checked_add(1).and_then(|after| T::Order::try_from(after).ok());
            let full = || Error::unsupported("an object whose creation order has reached its limit", T::SPEC);
            info.max_creation_order = Some(after.ok_or_else(full)?);
            Some(next)
        }
        (order, _) => order,
    };
    let noted = value.set_order(order);
    let mut change = HeaderChange::new(txn, header.address())?;
    let message = (!info.is_dense()).then(|| change.message_in_order(&value, noted));
    if message.as_ref().is_some_and(|message| is_full || message.data.len() > LONGEST_MESSAGE) {
        make_dense::<T>(&mut change, &mut info)?;
    }
    // The info message precedes the attributes, as in libhdf5.
    match known {
        None => change.put(&info, RawMessage::DO_NOT_SHARE)?,
        Some(known) if known != info => change.set(&info)?,
        Some(_) => {}
    }
    match message.filter(|_| !info.is_dense()) {
        Some(message) => change.put_raw(message)?,
        None => insert(change.txn(), &info, &value, order)?,
    }
    change.finish().map(drop)
}

/// Removes an item. Returns the item and its creation order, if there is one with this name.
pub(super) fn take<T: Dense>(
    txn: &mut Txn<'_>,
    header: &Header,
    name: &str,
) -> Result<Option<(Option<u64>, T)>> {
    let storage = Storage::<T>::of(header, txn.store())?;
    if let Some(info) = storage.dense() {
        header.check_writable()?;
        let Some((order, _)) = find_dense::<T>(txn.store(), info, name)? else { return Ok(None) };
        let order = info.max_creation_order.and(order);
        let value = remove::<T>(txn, info, name, order)?;
        make_compact(txn, header, &storage)?;
        return Ok(value.map(|value| (order, value)));
    }
    let store = txn.store();
    let mut change = HeaderChange::new(txn, header.address())?;
    let mut found = None;
    for (place, message) in change.places(T::KIND) {
        let body = message.decode::<T>(header.widths())?;
        let shared = shared_id(&body);
        let value = read::resolve(body, store)?;
        if value.name() == name {
            let order = value.order(message.creation_order.map(u64::from));
            found = Some((place, order, Stored { order: 0, value, shared }));
            break;
        }
    }
    let Some((place, order, stored)) = found else { return Ok(None) };
    change.remove(place)?;
    change.finish()?;
    Ok(Some((order, stored.into_own(txn)?)))
}

/// Moves the messages of a header into a new heap, and updates `info`.
fn make_dense<T: Dense>(change: &mut HeaderChange<'_, '_>, info: &mut DenseInfo<T::Order>) -> Result<()> {
    create::<T>(change.txn(), info)?;
    while let Some(message) = change.take(T::KIND)? {
        let store = change.txn().store();
        let body = message.decode::<T>(store.widths())?;
        let shared = shared_id(&body);
        let stored = Stored { order: 0, value: read::resolve(body, store)?, shared };
        let value = stored.into_own(change.txn())?;
        let order = value.order(message.creation_order.map(u64::from));
        insert(change.txn(), info, &value, info.max_creation_order.and(order))?;
    }
    Ok(())
}

/// Moves dense items back into the header if they are few, and all are short enough.
fn make_compact<T: Dense>(txn: &mut Txn<'_>, header: &Header, storage: &Storage<T>) -> Result<()> {
    let min_dense = T::phase_change(header, txn.store())?.min_dense;
    if storage.len(header, txn.store())? >= u64::from(min_dense) {
        return Ok(());
    }
    let Some(mut info) = storage.info.clone() else { return Ok(()) };
    let mut all = storage.all(header, txn.store())?;
    if all.iter().any(|stored| stored.value.encoded_len(header.widths(), &()) > LONGEST_MESSAGE) {
        return Ok(());
    }
    all.sort_by_key(|stored| stored.order);
    let is_tracked = info.max_creation_order.is_some();
    let mut change = HeaderChange::new(txn, header.address())?;
    delete(change.txn(), &mut info)?;
    change.set(&info)?;
    for stored in all {
        let order = stored.order;
        let mut value = stored.into_own(change.txn())?;
        let noted = value.set_order(is_tracked.then_some(order));
        let message = change.message_in_order(&value, noted);
        change.put_raw(message)?;
    }
    change.finish().map(drop)
}

/// Creates the heap and the trees, and updates `info`.
fn create<T: Dense>(txn: &mut Txn<'_>, info: &mut DenseInfo<T::Order>) -> Result<()> {
    let [by_name, by_order] = T::TREES;
    info.heap = fractal::create(txn, &T::HEAP)?;
    info.name_index = btree2::create(txn, form(txn, by_name)?, BTree2Parameters::NAMES)?;
    if let Some(index) = &mut info.creation_order_index {
        *index = btree2::create(txn, form(txn, by_order)?, BTree2Parameters::NAMES)?;
    }
    Ok(())
}

/// Adds an item whose name is new. `order` is its creation order.
fn insert<T: Dense>(
    txn: &mut Txn<'_>,
    info: &DenseInfo<T::Order>,
    value: &T,
    order: Option<u64>,
) -> Result<()> {
    let store = txn.store();
    let mut bytes = Vec::new();
    Writer::new(&mut bytes, store.widths()).structure(value, &());
    let id = fractal::insert(txn, info.heap, &bytes)?;
    let [by_name, by_order] = value.records(order.unwrap_or(UNTRACKED), &id);
    btree2::insert(txn, info.name_index, &by_name, &name_key::<T>(store, info.heap, value.name()))?;
    if let (Some(index), Some(order)) = (info.creation_order_index.and_then(Addr::defined), order) {
        btree2::insert(txn, index, &by_order, &order_key::<T>(order))?;
    }
    Ok(())
}

/// Removes and returns an item, if there is one with this name.
fn remove<T: Dense>(
    txn: &mut Txn<'_>,
    info: &DenseInfo<T::Order>,
    name: &str,
    order: Option<u64>,
) -> Result<Option<T>> {
    let store = txn.store();
    let Some(record) = btree2::remove(txn, info.name_index, &name_key::<T>(store, info.heap, name))? else {
        return Ok(None);
    };
    let (_, value) = decode::<T>(store, &FractalHeap::open(store, info.heap)?, &record)?;
    let mut stored = Stored { order: 0, value, shared: None };
    match T::by_name(&record) {
        Some(named) if named.is_shared => stored.shared = Some(array(named.id)),
        Some(named) => fractal::remove(txn, info.heap, named.id)?,
        None => {}
    }
    if let (Some(index), Some(order)) = (info.creation_order_index.and_then(Addr::defined), order) {
        btree2::remove(txn, index, &order_key::<T>(order))?;
    }
    stored.into_own(txn).map(Some)
}

/// Frees the heap and the trees, and updates `info`.
fn delete<O>(txn: &mut Txn<'_>, info: &mut DenseInfo<O>) -> Result<()> {
    fractal::delete(txn, info.heap)?;
    btree2::delete(txn, info.name_index)?;
    if let Some(index) = &mut info.creation_order_index {
        if index.is_defined() {
            btree2::delete(txn, *index)?;
        }
        *index = Addr::UNDEFINED;
    }
    info.heap = Addr::UNDEFINED;
    info.name_index = Addr::UNDEFINED;
    Ok(())
}

/// Opens the tree by name.
fn names<'s, T: Dense>(store: &'s Store, info: &DenseInfo<T::Order>) -> Result<BTree2<'s>> {
    BTree2::open(store, info.name_index, T::TREES[0])
}

/// Returns the item with this name and its creation order, if there is one.
fn find_dense<T: Dense>(
    store: &Store,
    info: &DenseInfo<T::Order>,
    name: &str,
) -> Result<Option<(Option<u64>, T)>> {
    let hash = lookup3(&name::to_bytes(name));
    let heap = FractalHeap::open(store, info.heap)?;
    let mut found = None;
    // Different names may have the same hash. Their records are adjacent. A tree of this type has no other
    // records.
    names::<T>(store, info)?.visit_where(
        &|record| T::by_name(record).map_or(Ordering::Less, |named| named.hash.cmp(&hash)),
        &mut |record| {
            let (order, value) = decode::<T>(store, &heap, record)?;
            if value.name() != name {
                return Ok(ControlFlow::Continue(()));
            }
            found = Some((order, value));
            Ok(ControlFlow::Break(()))
        },
    )?;
    Ok(found)
}

/// Returns the item that a record names, and its creation order.
fn decode<T: Dense>(store: &Store, heap: &FractalHeap<'_>, record: &Record) -> Result<(Option<u64>, T)> {
    let named = T::by_name(record).ok_or_else(|| heap.foreign_record())?;
    let value: T = decoded(store, heap, named.id, named.is_shared)?;
    Ok((value.order(named.order), value))
}

/// Returns the item with this heap id.
fn decoded<T: Dense>(store: &Store, heap: &FractalHeap<'_>, id: &[u8], is_shared: bool) -> Result<T> {
    if is_shared { shared::read(store, array(id)) } else { heap.decode(id) }
}

/// Compares records of the tree by name with a name: first by hash, then, for equal hashes, by the name
/// itself.
fn name_key<'s, T: Dense>(
    store: &'s Store,
    heap: Addr,
    name: &'s str,
) -> impl Fn(&Record) -> Result<Ordering> + 's {
    let hash = lookup3(&name::to_bytes(name));
    move |record| {
        let heap = || FractalHeap::open(store, heap);
        let Some(named) = T::by_name(record) else { return Err(heap()?.foreign_record()) };
        match named.hash.cmp(&hash) {
            Ordering::Equal => {
                let (_, other) = decode::<T>(store, &heap()?, record)?;
                Ok(name::order(other.name(), name))
            }
            order => Ok(order),
        }
    }
}

fn order_key<T: Dense>(order: u64) -> impl Fn(&Record) -> Result<Ordering> {
    move |record| Ok(T::by_order(record).map_or(Ordering::Less, |found| found.order.cmp(&order)))
}

fn form(txn: &Txn<'_>, kind: u8) -> Result<RecordForm> {
    let size = match kind {
        5 => 11,
        6 => 15,
        8 => 17,
        _ => 13,
    };
    let form = RecordForm::new(kind, size, txn.store().widths());
    form.ok_or_else(|| Error::unsupported("a B-tree of this type", "III.A.2"))
}

/// Returns the id of a message in the heap of shared messages, if it is there.
fn shared_id<T>(found: &MaybeShared<T>) -> Option<[u8; 8]> {
    match found {
        MaybeShared::Shared(SharedLocation::Heap(id)) => Some(*id),
        MaybeShared::Here(_) | MaybeShared::Shared(SharedLocation::Header(_)) => None,
    }
}

/// Makes the info message of an object without links or attributes.
pub(super) fn none_yet<O>(max_creation_order: Option<O>, is_indexed: bool) -> DenseInfo<O> {
    let creation_order_index = is_indexed.then_some(Addr::UNDEFINED);
    DenseInfo { max_creation_order, heap: Addr::UNDEFINED, name_index: Addr::UNDEFINED, creation_order_index }
}

/// The creation order in records of items that have none.
const UNTRACKED: u64 = 0xffff;

/// The longest body of a message in a header. A longer one is stored in the heap, even if there are few.
pub(super) const LONGEST_MESSAGE: usize = 65_000;
