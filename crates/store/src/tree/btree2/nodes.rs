//! The nodes of a version 2 B-tree that changes: the limits on their records, and the sharing of records
//! between neighbours.

use std::sync::Arc;

use hyperslab_error::{Error, Result};
use hyperslab_format::btree2::geometry::{BTree2Geometry, BTree2NodeShape, MAX_DEPTH};
use hyperslab_format::btree2::header::BTree2Header;
use hyperslab_format::btree2::node::{BTree2Node, ChildPointer};
use hyperslab_format::btree2::record::{Record, RecordForm, Records};
use hyperslab_format::{Addr, ErrorKind, Extent, Widths};

use super::super::{broken, misfit, named_twice};
use super::edit::PathNode;
use crate::Txn;

/// The nodes of one tree.
pub(super) struct Nodes {
    pub(super) geometry: BTree2Geometry,
    form: RecordForm,
    split_percent: u64,
    merge_percent: u64,
}

impl Nodes {
    /// Returns the parameters of the tree whose header is at `at`. Errors if such nodes cannot be split.
    pub(super) fn of(header: &BTree2Header, at: Addr, widths: Widths) -> Result<Self> {
        let geometry = header.geometry(widths);
        let error = |kind| broken::<BTree2Header>(at, kind);
        if header.node_size > MAX_NODE_SIZE {
            let (field, value, limit) = ("node size", header.node_size.into(), MAX_NODE_SIZE.into());
            return Err(error(ErrorKind::TooLarge { field, value, limit }));
        }
        if header.depth > MAX_DEPTH {
            return Err(error(ErrorKind::Depth { limit: MAX_DEPTH.into() }));
        }
        let is_too_small = (0..=header.depth).any(|depth| geometry.max_records(depth) < 2);
        if is_too_small || !geometry.is_sound() {
            let expected = "room for 2 to 65535 records in a node";
            return Err(misfit::<BTree2Header>(at, "node size", header.node_size, expected));
        }
        let form = RecordForm::new(header.kind, header.record_size, widths);
        let expected = "the size of records of the tree's type";
        let form =
            form.ok_or_else(|| misfit::<BTree2Header>(at, "record size", header.record_size, expected))?;
        let (split_percent, merge_percent) = (header.split_percent.into(), header.merge_percent.into());
        Ok(Self { geometry, form, split_percent, merge_percent })
    }

    /// Returns the storage format of the records.
    pub(super) fn form(&self) -> RecordForm {
        self.form
    }

    /// Returns the largest number of records in a node. A node with more is split.
    pub(super) fn capacity(&self, depth: u16) -> usize {
        let max = self.geometry.max_records(depth).max(2);
        usize::try_from((max * self.split_percent / 100).clamp(2, max)).unwrap_or(usize::MAX)
    }

    /// Returns the smallest number of records in a node other than the root. A node with fewer is merged with
    /// a neighbour.
    pub(super) fn minimum(&self, depth: u16) -> usize {
        let share = self.geometry.max_records(depth) * self.merge_percent / 100;
        usize::try_from(share).unwrap_or(usize::MAX).clamp(1, self.capacity(depth) / 2)
    }

    /// Returns the node at `at`. Errors if it does not match its parent's description.
    pub(super) fn get(&self, txn: &Txn<'_>, at: Addr, shape: &BTree2NodeShape) -> Result<Arc<BTree2Node>> {
        let node = txn.store().get::<BTree2Node>(at, shape)?;
        self.check(at, &node, shape)?;
        if node.records.len() == usize::from(shape.records) {
            Ok(node)
        } else {
            Err(named_twice::<BTree2Node>(at))
        }
    }

    /// Returns record `index` of a node.
    pub(super) fn record(&self, txn: &Txn<'_>, step: &PathNode, index: usize) -> Result<Record> {
        self.get(txn, step.at, &step.shape)?.records.get(index).map_err(Error::from)
    }

    /// Puts a node into newly allocated space.
    pub(super) fn put_new(&self, txn: &mut Txn<'_>, depth: u16, node: BTree2Node) -> Result<ChildPointer> {
        let at = txn.allocate_metadata(self.geometry.node_size.into())?;
        self.put(txn, at, depth, node)
    }

    /// Puts a node at `at`, or elsewhere if other programs may see the old node; returns the pointer to it
    /// for the parent.
    pub(super) fn put(
        &self,
        txn: &mut Txn<'_>,
        at: Addr,
        depth: u16,
        node: BTree2Node,
    ) -> Result<ChildPointer> {
        let at = if txn.store().is_seen(at) {
            txn.free(Extent::new(at, self.geometry.node_size.into()));
            txn.allocate_metadata(self.geometry.node_size.into())?
        } else {
            at
        };
        let pointer = self.pointer(at, depth, &node)?;
        txn.put(at, node, self.geometry.node(depth, pointer.records));
        Ok(pointer)
    }

    /// Returns the pointer to a node for its parent.
    fn pointer(&self, at: Addr, depth: u16, node: &BTree2Node) -> Result<ChildPointer> {
        let below = node.children.iter().try_fold(0_u64, |sum, child| sum.checked_add(child.total_records));
        let total = below.and_then(|below| below.checked_add(node.records.len() as u64));
        let (value, limit) = (total.unwrap_or(u64::MAX), self.geometry.max_total(depth));
        if value > limit {
            let field = "total number of records in child";
            return Err(broken::<BTree2Node>(at, ErrorKind::TooLarge { field, value, limit }));
        }
        Ok(ChildPointer { addr: at, records: count(at, node.records.len())?, total_records: value })
    }

    /// Updates the pointer in `parent` to a changed child; then rebalances a child with too many or too few
    /// records.
    pub(super) fn mend_child(&self, txn: &mut Txn<'_>, parent: &PathNode, child: &PathNode) -> Result<()> {
        let depth = child.shape.depth;
        let node = txn.store().get::<BTree2Node>(child.at, &child.shape)?;
        let records = node.records.len();
        if records > self.capacity(depth) {
            drop(node);
            return self.relieve(txn, parent);
        }
        if records < self.minimum(depth) && parent.shape.records > 0 {
            drop(node);
            return self.support(txn, parent);
        }
        let pointer = self.pointer(child.at, depth, &node)?;
        txn.edit::<BTree2Node, _>(parent.at, &parent.shape, |node| node.children[parent.place] = pointer)
    }

    /// Relieves a child that has too many records: moves some to the neighbour that has fewer, or splits the
    /// child if both neighbours are full.
    fn relieve(&self, txn: &mut Txn<'_>, parent: &PathNode) -> Result<()> {
        let above = txn.store().get::<BTree2Node>(parent.at, &parent.shape)?;
        let capacity = self.capacity(parent.shape.depth - 1);
        let records = |place: usize| Some(usize::from(above.children.get(place)?.records));
        let place = parent.place;
        let neighbours = [place.checked_sub(1), Some(place + 1)].into_iter().flatten();
        let emptiest = neighbours.filter_map(|place| Some((records(place)?, place))).min();
        drop(above);
        match emptiest {
            Some((records, neighbour)) if records < capacity => {
                self.balance(txn, parent, neighbour.min(place), 0)
            }
            _ => self.split(txn, parent),
        }
    }

    /// Supports a child that has too few records: takes some from a neighbour, or merges the two.
    fn support(&self, txn: &mut Txn<'_>, parent: &PathNode) -> Result<()> {
        let left = parent.place.saturating_sub(1);
        // A merged node must not be so full that the next record splits it again.
        self.balance(txn, parent, left, 2 * self.minimum(parent.shape.depth - 1))
    }

    /// Shares the records of children `left` and `left + 1` evenly. Merges the two if they have at most
    /// `merged` records, including the one between them.
    fn balance(&self, txn: &mut Txn<'_>, parent: &PathNode, left: usize, merged: usize) -> Result<()> {
        let depth = parent.shape.depth - 1;
        let above = txn.store().get::<BTree2Node>(parent.at, &parent.shape)?;
        let separator = above.records.get(left)?;
        let (child, next) = (above.children[left], above.children[left + 1]);
        drop(above);
        if child.addr == next.addr {
            return Err(named_twice::<BTree2Node>(child.addr));
        }
        let all = join(self.take(txn, child, depth)?, &separator, &self.take(txn, next, depth)?);
        if all.records.len() <= merged {
            let pointer = self.put(txn, child.addr, depth, all)?;
            txn.free(Extent::new(next.addr, self.geometry.node_size.into()));
            return txn.edit::<BTree2Node, _>(parent.at, &parent.shape, |node| {
                node.records.remove(left);
                node.children.remove(left + 1);
                node.children[left] = pointer;
            });
        }
        let (first, separator, second) = halve(all)?;
        let pointers = [self.put(txn, child.addr, depth, first)?, self.put(txn, next.addr, depth, second)?];
        txn.edit::<BTree2Node, _>(parent.at, &parent.shape, |node| {
            node.records.replace(left, &separator);
            node.children[left..left + 2].copy_from_slice(&pointers);
        })
    }

    /// Splits the child on the path.
    fn split(&self, txn: &mut Txn<'_>, parent: &PathNode) -> Result<()> {
        let (depth, place) = (parent.shape.depth - 1, parent.place);
        let child = txn.store().get::<BTree2Node>(parent.at, &parent.shape)?.children[place];
        let (first, separator, second) = halve(self.take(txn, child, depth)?)?;
        let first = self.put(txn, child.addr, depth, first)?;
        let second = self.put_new(txn, depth, second)?;
        txn.edit::<BTree2Node, _>(parent.at, &parent.shape, |node| {
            node.records.insert(place, &separator);
            node.children[place] = first;
            node.children.insert(place + 1, second);
        })
    }

    /// Splits the root, and puts a new root above the two halves.
    pub(super) fn split_root(&self, txn: &mut Txn<'_>, root: &PathNode) -> Result<ChildPointer> {
        let depth = root.shape.depth;
        let child = ChildPointer { addr: root.at, records: root.shape.records, total_records: 0 };
        let (first, separator, second) = halve(self.take(txn, child, depth)?)?;
        let children = vec![self.put(txn, root.at, depth, first)?, self.put_new(txn, depth, second)?];
        let records = Records::new(self.form, [&separator]);
        self.put_new(txn, depth + 1, BTree2Node { records, children })
    }

    /// Returns a copy of the node that `child` points to. If this step has changed the node, its number of
    /// records may differ from the pointer's.
    fn take(&self, txn: &Txn<'_>, child: ChildPointer, depth: u16) -> Result<BTree2Node> {
        let shape = self.geometry.node(depth, child.records);
        let node = txn.store().get::<BTree2Node>(child.addr, &shape)?;
        self.check(child.addr, &node, &shape)?;
        Ok((*node).clone())
    }

    /// Checks that a node is of the tree and of its depth. If two nodes of a damaged file point to the same
    /// bytes, the bytes may have been decoded as a node of another depth.
    fn check(&self, at: Addr, node: &BTree2Node, shape: &BTree2NodeShape) -> Result<()> {
        let children = if shape.is_leaf() { 0 } else { node.records.len() + 1 };
        let is_right = node.records.form() == self.form && node.children.len() == children;
        if is_right { Ok(()) } else { Err(named_twice::<BTree2Node>(at)) }
    }
}

/// Returns the number of records of the node at `at` in its stored width.
pub(super) fn count(at: Addr, records: usize) -> Result<u16> {
    let limit = u16::MAX.into();
    let field = "number of records";
    u16::try_from(records)
        .map_err(|_| broken::<BTree2Node>(at, ErrorKind::TooLarge { field, value: records as u64, limit }))
}

/// Merges two neighbours and the record between them into one node.
fn join(mut left: BTree2Node, separator: &Record, right: &BTree2Node) -> BTree2Node {
    left.records.insert(usize::MAX, separator);
    left.records.append(&right.records);
    left.children.extend_from_slice(&right.children);
    left
}

/// Splits one node into two neighbours and the record between them.
fn halve(mut node: BTree2Node) -> Result<(BTree2Node, Record, BTree2Node)> {
    let middle = node.records.len() / 2;
    let separator = node.records.get(middle)?;
    let records = node.records.split_off(middle + 1);
    node.records.remove(middle);
    let children = node.children.split_off((middle + 1).min(node.children.len()));
    Ok((node, separator, BTree2Node { records, children }))
}

/// The largest size of a node that is changed. Only damaged files and unknown writers have larger nodes.
const MAX_NODE_SIZE: u32 = 1 << 24;
