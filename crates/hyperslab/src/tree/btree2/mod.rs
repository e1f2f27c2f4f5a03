//! Version 2 B-trees (spec III.A.2): every record in order, or those within a range; and how they change.

pub mod edit;
mod nodes;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_format::Addr;
use hyperslab_format::btree2::geometry::{BTree2Geometry, BTree2NodeShape};
use hyperslab_format::btree2::header::BTree2Header;
use hyperslab_format::btree2::node::BTree2Node;
use hyperslab_format::btree2::record::{Record, Records};

use super::{Seen, misfit, partition};
use crate::error::Result;
use crate::store::Store;

/// A tree of records.
#[derive(Debug, Clone)]
pub struct BTree2<'s> {
    store: &'s Store,
    header: Arc<BTree2Header>,
    geometry: BTree2Geometry,
}

/// What a visitor of records is asked to do with each; it may stop the visit.
pub type Visitor<'f> = dyn FnMut(&Record) -> Result<ControlFlow<()>> + 'f;

/// The same of a record that it is to fetch itself.
pub type PlaceVisitor<'f> = dyn FnMut(&Records, usize) -> Result<ControlFlow<()>> + 'f;

/// How the record at a place stands to what is visited.
type Order<'f> = dyn Fn(&Records, usize) -> Result<Ordering> + 'f;

impl<'s> BTree2<'s> {
    /// The tree whose header is at `at`; its records must be of type `kind`.
    pub fn open(store: &'s Store, at: Addr, kind: u8) -> Result<Self> {
        let header = store.get::<BTree2Header>(at, &())?;
        if header.kind != kind {
            return Err(misfit::<BTree2Header>(at, "type", header.kind, "the type of what names the tree"));
        }
        let geometry = header.geometry(store.widths());
        Ok(Self { store, header, geometry })
    }

    /// How many records there are.
    pub fn len(&self) -> u64 {
        self.header.total_records
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `f` with every record, in order, until it breaks.
    pub fn visit(&self, f: &mut Visitor<'_>) -> Result<()> {
        self.visit_places(&mut |records, place| f(&records.get(place)?))
    }

    /// The same with the records of a node and the place of each, for who needs but a part of it.
    pub fn visit_places(&self, f: &mut PlaceVisitor<'_>) -> Result<()> {
        self.visit_in_order(&|_, _| Ok(Ordering::Equal), f)
    }

    /// Calls `f` with every record for which `order` says `Equal`, in order, until it breaks. `order` says of a record
    /// whether it stands before, in or after a range of the tree's order; only nodes that reach into it are read.
    pub fn visit_where(&self, order: &dyn Fn(&Record) -> Ordering, f: &mut Visitor<'_>) -> Result<()> {
        let order = |records: &Records, place| Ok(order(&records.get(place)?));
        self.visit_in_order(&order, &mut |records, place| f(&records.get(place)?))
    }

    fn visit_in_order(&self, order: &Order<'_>, f: &mut PlaceVisitor<'_>) -> Result<()> {
        let Some((root, shape)) = self.header.root(self.store.widths()) else { return Ok(()) };
        self.visit_node(root, &shape, &mut Seen::default(), order, f).map(drop)
    }

    /// Recursion is as deep as the tree, which the header limits.
    fn visit_node(
        &self,
        at: Addr,
        shape: &BTree2NodeShape,
        seen: &mut Seen,
        order: &Order<'_>,
        f: &mut PlaceVisitor<'_>,
    ) -> Result<ControlFlow<()>> {
        seen.note::<BTree2Node>(at)?;
        let node = self.store.get::<BTree2Node>(at, shape)?;
        let count = node.records.len();
        let first = partition(count, |place| Ok(order(&node.records, place)?.is_lt()))?;
        // Child `i` stands before record `i`, the last child after the last record.
        for place in first..=count {
            if let Some(child) = node.children.get(place) {
                let below = self.geometry.node(shape.depth.saturating_sub(1), child.records);
                if self.visit_node(child.addr, &below, seen, order, f)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            let order = if place == count { Ordering::Greater } else { order(&node.records, place)? };
            if order.is_gt() {
                break;
            }
            if order.is_eq() && f(&node.records, place)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
