//! Links and attributes as items of dense storage: the records of both trees.

use hyperslab_format::btree2::record::Record;
use hyperslab_format::bytes::lookup3::lookup3;
use hyperslab_format::header::RawMessage;
use hyperslab_format::message::MessageBody;
use hyperslab_format::message::attribute::Attribute;
use hyperslab_format::message::dense_info::CreationOrder;
use hyperslab_format::message::group_info::{GroupInfo, PhaseChange};
use hyperslab_format::message::link::Link;
use hyperslab_format::message::shared::{MaybeShared, SharedLocation};
use hyperslab_format::name;

use super::array;
use crate::error::Result;
use crate::heap::fractal::HeapParameters;
use crate::object::header::edit::add_reference;
use crate::object::header::read::Header;
use crate::object::shared;
use crate::store::{Store, Txn};

/// A link or an attribute.
pub(crate) trait Dense: MessageBody {
    /// The type of the creation order.
    type Order: CreationOrder;
    /// The parameters of the heap, as libhdf5 chooses them.
    const HEAP: HeapParameters;
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

    /// Returns the numbers at which links or attributes move between messages and the heap.
    fn phase_change(header: &Header, store: &Store) -> Result<PhaseChange>;

    /// Makes the value of a shared message one that can be stored on its own.
    fn make_own(&mut self, txn: &mut Txn<'_>) -> Result<()>;
}

/// The contents of a record of the tree by name.
pub(crate) struct Named<'a> {
    pub(crate) hash: u32,
    /// The heap id.
    pub(crate) id: &'a [u8],
    pub(crate) order: Option<u64>,
    pub(crate) is_shared: bool,
}

/// The contents of a record of the tree by creation order.
pub(crate) struct Ordered<'a> {
    pub(crate) order: u64,
    /// The heap id.
    pub(crate) id: &'a [u8],
    pub(crate) is_shared: bool,
}

impl Dense for Link {
    type Order = u64;
    const HEAP: HeapParameters = HeapParameters::LINKS;
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

    fn phase_change(header: &Header, store: &Store) -> Result<PhaseChange> {
        let stated = header.find::<GroupInfo>(store)?.and_then(|info| info.phase_change);
        Ok(stated.unwrap_or(PhaseChange::DEFAULT))
    }

    /// Links are never shared.
    fn make_own(&mut self, _: &mut Txn<'_>) -> Result<()> {
        Ok(())
    }
}

impl Dense for Attribute {
    type Order = u16;
    const HEAP: HeapParameters = HeapParameters::ATTRIBUTES;
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

    fn phase_change(header: &Header, _: &Store) -> Result<PhaseChange> {
        Ok(header.phase_change())
    }

    /// Copies the parts that are shared messages, and counts the use of a committed datatype.
    fn make_own(&mut self, txn: &mut Txn<'_>) -> Result<()> {
        match self.datatype {
            MaybeShared::Here(_) => {}
            MaybeShared::Shared(SharedLocation::Header(datatype)) => add_reference(txn, datatype, 1)?,
            MaybeShared::Shared(SharedLocation::Heap(id)) => {
                self.datatype = MaybeShared::Here(shared::read(txn.store(), id)?);
            }
        }
        if let MaybeShared::Shared(SharedLocation::Heap(id)) = self.dataspace {
            self.dataspace = MaybeShared::Here(shared::read(txn.store(), id)?);
        }
        Ok(())
    }
}
