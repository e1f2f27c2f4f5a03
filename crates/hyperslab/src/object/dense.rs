//! Dense storage (spec IV.A.2.c and v): the links of a large group, or the attributes of an object that has many or large ones,
//! in a fractal heap, with a version 2 B-tree over hashes of their names and, where the object has that index, one over the
//! order of their creation.

use std::cmp::Ordering;

use hyperslab_format::btree2::record::{Record, RecordForm};
use hyperslab_format::bytes::lookup3::lookup3;
use hyperslab_format::message::attribute::Attribute;
use hyperslab_format::message::dense_info::DenseInfo;
use hyperslab_format::message::link::Link;
use hyperslab_format::{Addr, Structure, Writer};

use crate::error::{Error, Result};
use crate::heap::fractal::{self, FractalHeap, HeapParameters};
use crate::store::{Store, Txn};
use crate::tree::btree2::edit::{self as btree2, BTree2Parameters};

/// What is stored dense: links or attributes.
pub(super) trait Dense: Structure<Context = ()> {
    /// The heap that libhdf5 makes for them.
    const HEAP: HeapParameters;
    /// The types of B-trees by name and by order.
    const TREES: [u8; 2];

    /// Its name.
    fn name(&self) -> &str;

    /// The records of one in the two trees: by name and by order.
    fn records(&self, order: u64, id: &[u8]) -> [Record; 2];

    /// The hash and the heap id in a record by name.
    fn by_name(record: &Record) -> Option<(u32, &[u8])>;

    /// The order in a record by order.
    fn by_order(record: &Record) -> Option<u64>;
}

impl Dense for Link {
    const HEAP: HeapParameters = HeapParameters::LINKS;
    const TREES: [u8; 2] = [5, 6];

    fn name(&self) -> &str {
        &self.name
    }

    fn records(&self, order: u64, id: &[u8]) -> [Record; 2] {
        let id = array(id);
        let hash = lookup3(self.name.as_bytes());
        [Record::LinkName { hash, id }, Record::LinkOrder { order: order.cast_signed(), id }]
    }

    fn by_name(record: &Record) -> Option<(u32, &[u8])> {
        match record {
            Record::LinkName { hash, id } => Some((*hash, id)),
            _ => None,
        }
    }

    fn by_order(record: &Record) -> Option<u64> {
        match record {
            Record::LinkOrder { order, .. } => Some(order.cast_unsigned()),
            _ => None,
        }
    }
}

impl Dense for Attribute {
    const HEAP: HeapParameters = HeapParameters::ATTRIBUTES;
    const TREES: [u8; 2] = [8, 9];

    fn name(&self) -> &str {
        &self.name
    }

    fn records(&self, order: u64, id: &[u8]) -> [Record; 2] {
        let id = array(id);
        let hash = lookup3(self.name.as_bytes());
        // Sixteen bits of it, in the message that counts them.
        let order = u32::try_from(order).unwrap_or(u32::MAX);
        [Record::AttributeName { id, flags: 0, order, hash }, Record::AttributeOrder { id, flags: 0, order }]
    }

    fn by_name(record: &Record) -> Option<(u32, &[u8])> {
        match record {
            Record::AttributeName { hash, id, .. } => Some((*hash, id)),
            _ => None,
        }
    }

    fn by_order(record: &Record) -> Option<u64> {
        match record {
            Record::AttributeOrder { order, .. } => Some((*order).into()),
            _ => None,
        }
    }
}

/// Makes the heap and the trees, and says so in `info`.
pub(super) fn create<T: Dense, O>(txn: &mut Txn<'_>, info: &mut DenseInfo<O>) -> Result<()> {
    let [by_name, by_order] = T::TREES;
    info.heap = fractal::create(txn, &T::HEAP)?;
    info.name_index = btree2::create(txn, form(txn, by_name)?, BTree2Parameters::NAMES)?;
    if let Some(index) = &mut info.creation_order_index {
        *index = btree2::create(txn, form(txn, by_order)?, BTree2Parameters::NAMES)?;
    }
    Ok(())
}

/// Adds one that is not there; `order` is its place in the order of creation.
pub(super) fn insert<T: Dense, O>(
    txn: &mut Txn<'_>,
    info: &DenseInfo<O>,
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

/// Takes one out.
pub(super) fn remove<T: Dense, O>(
    txn: &mut Txn<'_>,
    info: &DenseInfo<O>,
    name: &str,
    order: Option<u64>,
) -> Result<()> {
    let store = txn.store();
    let record = btree2::remove(txn, info.name_index, &name_key::<T>(store, info.heap, name))?;
    if let Some((_, id)) = record.as_ref().and_then(T::by_name) {
        fractal::remove(txn, info.heap, id)?;
    }
    if let (Some(index), Some(order)) = (info.creation_order_index.and_then(Addr::defined), order) {
        btree2::remove(txn, index, &order_key::<T>(order))?;
    }
    Ok(())
}

/// Frees the heap and the trees, and says so in `info`.
pub(super) fn delete<O>(txn: &mut Txn<'_>, info: &mut DenseInfo<O>) -> Result<()> {
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

/// Where a name stands in the tree by names: by its hash, then, where names share one, by the name itself.
fn name_key<'s, T: Dense>(
    store: &'s Store,
    heap: Addr,
    name: &'s str,
) -> impl Fn(&Record) -> Result<Ordering> + 's {
    let hash = lookup3(name.as_bytes());
    move |record| {
        let Some((found, id)) = T::by_name(record) else { return Err(foreign(store, heap)) };
        match found.cmp(&hash) {
            Ordering::Equal => {
                let other: T = FractalHeap::open(store, heap)?.decode(id)?;
                Ok(other.name().as_bytes().cmp(name.as_bytes()))
            }
            order => Ok(order),
        }
    }
}

fn order_key<T: Dense>(order: u64) -> impl Fn(&Record) -> Result<Ordering> {
    move |record| Ok(T::by_order(record).map_or(Ordering::Less, |found| found.cmp(&order)))
}

fn foreign(store: &Store, heap: Addr) -> Error {
    FractalHeap::open(store, heap).map_or_else(|error| error, |heap| heap.foreign_record())
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

/// A heap id of the length that all heaps of this kind have.
fn array<const N: usize>(id: &[u8]) -> [u8; N] {
    let mut array = [0; N];
    array.iter_mut().zip(id).for_each(|(to, from)| *to = *from);
    array
}

/// The order of what has none.
const UNTRACKED: u64 = 0xffff;
