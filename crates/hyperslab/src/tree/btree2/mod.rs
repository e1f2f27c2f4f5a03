//! Version 2 B-trees (spec III.A.2): every record in order, or those within a range; and how they change.

pub mod edit;
mod nodes;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_format::btree2::geometry::{BTree2Geometry, BTree2NodeShape};
use hyperslab_format::btree2::header::BTree2Header;
use hyperslab_format::btree2::node::BTree2Node;
use hyperslab_format::btree2::record::Record;
use hyperslab_format::{Addr, ErrorKind};

use super::{Seen, broken};
use crate::error::{Error, Result};
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

impl<'s> BTree2<'s> {
    /// The tree whose header is at `at`; its records must be of type `kind`.
    pub fn open(store: &'s Store, at: Addr, kind: u8) -> Result<Self> {
        let header = store.get::<BTree2Header>(at, &())?;
        if header.kind != kind {
            let (field, value) = ("type", header.kind.into());
            let expected = "the type of what names the tree";
            return Err(broken::<BTree2Header>(at, ErrorKind::Value { field, value, expected }));
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
        self.visit_where(&|_| Ordering::Equal, f)
    }

    /// Calls `f` with every record for which `order` says `Equal`, in order, until it breaks. `order` says of a record
    /// whether it stands before, in or after a range of the tree's order; only nodes that reach into it are read.
    pub fn visit_where(&self, order: &dyn Fn(&Record) -> Ordering, f: &mut Visitor<'_>) -> Result<()> {
        let Some((root, shape)) = self.header.root(self.store.widths()) else { return Ok(()) };
        self.visit_node(root, &shape, &mut Seen::default(), order, f).map(|_| ())
    }

    /// Recursion is as deep as the tree, which the header limits.
    fn visit_node(
        &self,
        at: Addr,
        shape: &BTree2NodeShape,
        seen: &mut Seen,
        order: &dyn Fn(&Record) -> Ordering,
        f: &mut Visitor<'_>,
    ) -> Result<ControlFlow<()>> {
        seen.note::<BTree2Node>(at)?;
        let node = self.store.get::<BTree2Node>(at, shape)?;
        let record = |index: usize| node.records.get(index).map_err(Error::from_format);
        let mut first = 0..node.records.len();
        while !first.is_empty() {
            let middle = first.start + first.len() / 2;
            first = if order(&record(middle)?).is_lt() { middle + 1..first.end } else { first.start..middle };
        }
        // Child `i` stands before record `i`, the last child after the last record.
        for index in first.start..=node.records.len() {
            if let Some(child) = node.children.get(index) {
                let below = self.geometry.node(shape.depth.saturating_sub(1), child.records);
                if self.visit_node(child.addr, &below, seen, order, f)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            if index == node.records.len() {
                break;
            }
            let record = record(index)?;
            match order(&record) {
                Ordering::Less => {}
                Ordering::Equal => {
                    if f(&record)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Ordering::Greater => break,
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
