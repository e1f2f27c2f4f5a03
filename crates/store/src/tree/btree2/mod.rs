//! Version 2 B-trees (spec III.A.2): visits of all records in order, or of a range; and changes.

pub mod edit;
mod nodes;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_error::Result;
use hyperslab_format::Addr;
use hyperslab_format::btree2::geometry::{BTree2Geometry, BTree2NodeShape};
use hyperslab_format::btree2::header::BTree2Header;
use hyperslab_format::btree2::node::BTree2Node;
use hyperslab_format::btree2::record::{Record, Records};

use super::{Seen, misfit, partition};
use crate::Store;

/// A tree of records.
#[derive(Debug, Clone)]
pub struct BTree2<'s> {
    store: &'s Store,
    header: Arc<BTree2Header>,
    geometry: BTree2Geometry,
}

/// A callback for each record; it may stop the visit.
pub type Visitor<'f> = dyn FnMut(&Record) -> Result<ControlFlow<()>> + 'f;

/// A callback for each record that gets the node's records and an index, and decodes the record itself.
pub type PlaceVisitor<'f> = dyn FnMut(&Records, usize) -> Result<ControlFlow<()>> + 'f;

/// Compares the record at an index with the visited range.
type RecordOrder<'f> = dyn Fn(&Records, usize) -> Result<Ordering> + 'f;

impl<'s> BTree2<'s> {
    /// Opens the tree whose header is at `at`; its records must be of type `kind`.
    pub fn open(store: &'s Store, at: Addr, kind: u8) -> Result<Self> {
        let header = store.get::<BTree2Header>(at, &())?;
        if header.kind != kind {
            return Err(misfit::<BTree2Header>(at, "type", header.kind, "the type that the reader needs"));
        }
        let geometry = header.geometry(store.widths());
        Ok(Self { store, header, geometry })
    }

    /// Returns the number of records.
    pub fn len(&self) -> u64 {
        self.header.total_records
    }

    /// Returns whether the tree has no records.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `f` with every record, in order, until `f` breaks.
    pub fn visit(&self, f: &mut Visitor<'_>) -> Result<()> {
        self.visit_places(&mut |records, place| f(&records.get(place)?))
    }

    /// Calls `f` with the records of a node and each index, in order, for callers that need only a part of
    /// each record.
    pub fn visit_places(&self, f: &mut PlaceVisitor<'_>) -> Result<()> {
        self.visit_in_order(&|_, _| Ok(Ordering::Equal), f)
    }

    /// Calls `f` with every record for which `order` returns `Equal`, in order, until `f` breaks. `order`
    /// tells whether a record is before, in or after a range of the tree's order. Only nodes that overlap the
    /// range are read.
    pub fn visit_where(&self, order: &dyn Fn(&Record) -> Ordering, f: &mut Visitor<'_>) -> Result<()> {
        let order = |records: &Records, place| Ok(order(&records.get(place)?));
        self.visit_in_order(&order, &mut |records, place| f(&records.get(place)?))
    }

    fn visit_in_order(&self, order: &RecordOrder<'_>, f: &mut PlaceVisitor<'_>) -> Result<()> {
        let Some((root, shape)) = self.header.root(self.store.widths()) else { return Ok(()) };
        self.visit_node(root, &shape, &mut Seen::default(), order, f).map(drop)
    }

    /// Recursion is as deep as the tree, which the header limits.
    fn visit_node(
        &self,
        at: Addr,
        shape: &BTree2NodeShape,
        seen: &mut Seen,
        order: &RecordOrder<'_>,
        f: &mut PlaceVisitor<'_>,
    ) -> Result<ControlFlow<()>> {
        seen.note::<BTree2Node>(at)?;
        let node = self.store.get::<BTree2Node>(at, shape)?;
        let count = node.records.len();
        let first = partition(count, |place| Ok(order(&node.records, place)?.is_lt()))?;
        // Child `i` is before record `i`; the last child is after the last record.
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
