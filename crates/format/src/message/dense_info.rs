//! Link info message, type 2 (spec IV.A.2.c), and attribute info message, type 21 (spec IV.A.2.v): the dense
//! storage of a new-style group's links, or of an object's attributes. The two differ in the width of
//! creation orders.

use crate::addr::Addr;
use crate::bytes::{Reader, Writer};
use crate::error::Result;
use crate::message::{MessageBody, kind};
use crate::structure::Structure;

/// The link storage of a new-style group.
pub type LinkInfo = DenseInfo<u64>;
/// The attribute storage of an object.
pub type AttributeInfo = DenseInfo<u16>;

/// A fractal heap of links or attributes, and the B-trees that index it. Fields in disk order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DenseInfo<O> {
    /// The next unused creation order, if the object tracks creation order.
    pub max_creation_order: Option<O>,
    /// The fractal heap; undefined while links or attributes are messages of the header.
    pub heap: Addr,
    /// The version 2 B-tree that indexes names.
    pub name_index: Addr,
    /// The version 2 B-tree that indexes creation order, if the object has this index.
    pub creation_order_index: Option<Addr>,
}

/// An integer as wide as the creation order in one of the two messages.
pub trait CreationOrder: Copy + PartialEq + Into<u64> + TryFrom<u64> {
    /// The message's name.
    const MESSAGE: &'static str;
    /// The section that defines the message.
    const SPEC: &'static str;
    /// The number of the message type.
    const KIND: u16;
}

impl CreationOrder for u64 {
    const MESSAGE: &'static str = "link info message";
    const SPEC: &'static str = "IV.A.2.c";
    const KIND: u16 = kind::LINK_INFO;
}

impl CreationOrder for u16 {
    const MESSAGE: &'static str = "attribute info message";
    const SPEC: &'static str = "IV.A.2.v";
    const KIND: u16 = kind::ATTRIBUTE_INFO;
}

const TRACKED: u8 = 1;
const INDEXED: u8 = 2;

impl<O> DenseInfo<O> {
    /// Returns whether links or attributes are in the fractal heap.
    pub fn is_dense(&self) -> bool {
        self.heap.is_defined()
    }
}

impl<O: CreationOrder> MessageBody for DenseInfo<O> {
    const KIND: u16 = O::KIND;
}

impl<O: CreationOrder> Structure for DenseInfo<O> {
    const NAME: &'static str = O::MESSAGE;
    const SPEC: &'static str = O::SPEC;
    type Context = ();

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        r.version(0)?;
        let flags = r.flags(TRACKED | INDEXED, "only bits 0 and 1")?;
        Ok(Self {
            // The conversion never fails: the field is as wide as `O`.
            max_creation_order: r
                .when(flags & TRACKED != 0, |r| r.uint(size_of::<O>()))?
                .and_then(|n| n.try_into().ok()),
            heap: r.addr()?,
            name_index: r.addr()?,
            creation_order_index: r.when(flags & INDEXED != 0, Reader::addr)?,
        })
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.u8(0); // version
        let tracked = if self.max_creation_order.is_some() { TRACKED } else { 0 };
        let indexed = if self.creation_order_index.is_some() { INDEXED } else { 0 };
        w.u8(tracked | indexed);
        if let Some(order) = self.max_creation_order {
            w.uint(order.into(), size_of::<O>());
        }
        w.addr(self.heap);
        w.addr(self.name_index);
        if let Some(index) = self.creation_order_index {
            w.addr(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden;

    /// A small group with `track_order=True`, written by h5py 3.16 with `libver="latest"`.
    #[test]
    fn link_info_with_creation_order_has_three_addresses() {
        let info: LinkInfo = golden::golden("00 03 0300000000000000 ff*24", &());
        assert_eq!((info.max_creation_order, info.is_dense()), (Some(3), false));
        assert_eq!(info.creation_order_index, Some(Addr::UNDEFINED));
    }

    /// A dataset that tracks the order of its three attributes, by h5py 3.16 with `libver="latest"`.
    #[test]
    fn attribute_info_with_creation_order_has_three_addresses() {
        let info: AttributeInfo = golden::golden("00 03 0300 ff*24", &());
        assert_eq!((info.max_creation_order, info.is_dense()), (Some(3), false));
        assert_eq!(info.creation_order_index, Some(Addr::UNDEFINED));
    }
}
