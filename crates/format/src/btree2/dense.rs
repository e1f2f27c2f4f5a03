//! Links and attributes in dense storage (spec IV.A.2.c and v): what the records of its two B-trees, by name
//! and by creation order, have of them.

use super::record::Record;
use crate::bytes::lookup3::lookup3;
use crate::header::RawMessage;
use crate::message::MessageBody;
use crate::message::attribute::Attribute;
use crate::message::dense_info::CreationOrder;
use crate::message::link::Link;
use crate::name;

/// A link or an attribute, as dense storage has it: in a heap, with records in two trees.
pub trait DenseItem: MessageBody {
    /// The type of the creation order.
    type Order: CreationOrder;
    /// The types of the B-trees by name and by creation order.
    const TREES: [u8; 2];

    /// Returns the name.
    fn name(&self) -> &str;

    /// Returns the creation order, which is stored in the value, or in `stored` beside it.
    fn order(&self, stored: Option<u64>) -> Option<u64>;

    /// Stores the creation order in the value, or returns it if the message's prefix stores it.
    fn set_order(&mut self, order: Option<u64>) -> Option<u16>;

    /// Makes the records of the two trees: by name and by creation order.
    fn records(&self, order: u64, id: &[u8]) -> [Record; 2];

    /// Returns the contents of a record of the tree by name, or `None` if it is of another type.
    fn by_name(record: &Record) -> Option<Named<'_>>;

    /// Returns the contents of a record of the tree by creation order, or `None` if it is of another type.
    fn by_order(record: &Record) -> Option<Ordered<'_>>;
}

/// The contents of a record of the tree by name.
pub struct Named<'a> {
    /// The hash of the name.
    pub hash: u32,
    /// The heap id.
    pub id: &'a [u8],
    /// The creation order, if the record has it.
    pub order: Option<u64>,
    /// Whether the id is one of the heap of shared messages.
    pub is_shared: bool,
}

/// The contents of a record of the tree by creation order.
pub struct Ordered<'a> {
    /// The creation order.
    pub order: u64,
    /// The heap id.
    pub id: &'a [u8],
    /// Whether the id is one of the heap of shared messages.
    pub is_shared: bool,
}

impl DenseItem for Link {
    type Order = u64;
    const TREES: [u8; 2] = [5, 6];

    fn name(&self) -> &str {
        &self.name
    }

    fn order(&self, _: Option<u64>) -> Option<u64> {
        self.creation_order
    }

    fn set_order(&mut self, order: Option<u64>) -> Option<u16> {
        self.creation_order = order;
        None
    }

    fn records(&self, order: u64, id: &[u8]) -> [Record; 2] {
        let id = array(id);
        let hash = lookup3(&name::to_bytes(&self.name));
        [Record::LinkName { hash, id }, Record::LinkOrder { order: order.cast_signed(), id }]
    }

    fn by_name(record: &Record) -> Option<Named<'_>> {
        match record {
            Record::LinkName { hash, id } => Some(Named { hash: *hash, id, order: None, is_shared: false }),
            _ => None,
        }
    }

    fn by_order(record: &Record) -> Option<Ordered<'_>> {
        match record {
            Record::LinkOrder { order, id } => {
                Some(Ordered { order: order.cast_unsigned(), id, is_shared: false })
            }
            _ => None,
        }
    }
}

impl DenseItem for Attribute {
    type Order = u16;
    const TREES: [u8; 2] = [8, 9];

    fn name(&self) -> &str {
        &self.name
    }

    fn order(&self, stored: Option<u64>) -> Option<u64> {
        stored
    }

    fn set_order(&mut self, order: Option<u64>) -> Option<u16> {
        order.and_then(|order| u16::try_from(order).ok())
    }

    fn records(&self, order: u64, id: &[u8]) -> [Record; 2] {
        let id = array(id);
        let hash = lookup3(&name::to_bytes(&self.name));
        // The creation order has 16 bits in the attribute info message that counts it.
        let order = u32::try_from(order).unwrap_or(u32::MAX);
        [Record::AttributeName { id, flags: 0, order, hash }, Record::AttributeOrder { id, flags: 0, order }]
    }

    fn by_name(record: &Record) -> Option<Named<'_>> {
        match record {
            Record::AttributeName { hash, id, flags, order } => {
                let is_shared = flags & RawMessage::SHARED != 0;
                Some(Named { hash: *hash, id, order: Some((*order).into()), is_shared })
            }
            _ => None,
        }
    }

    fn by_order(record: &Record) -> Option<Ordered<'_>> {
        match record {
            Record::AttributeOrder { order, id, flags } => {
                let is_shared = flags & RawMessage::SHARED != 0;
                Some(Ordered { order: (*order).into(), id, is_shared })
            }
            _ => None,
        }
    }
}

/// Converts a heap id to an array. All heaps of this kind have ids of this length.
pub fn array<const N: usize>(id: &[u8]) -> [u8; N] {
    let mut array = [0; N];
    array.iter_mut().zip(id).for_each(|(to, from)| *to = *from);
    array
}
