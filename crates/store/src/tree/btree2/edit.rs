//! Changes to version 2 B-trees (spec III.A.2). A record is inserted into its leaf or removed, then the nodes
//! above are rebalanced from below. A node with too many records shares them with a neighbour or splits; a
//! node with too few takes some from a neighbour or merges with it.
//!
//! After an error a tree may be inconsistent: the step must be dropped, which undoes it.

use std::cmp::Ordering;

use hyperslab_error::{RequestError, Result};
use hyperslab_format::btree2::geometry::BTree2NodeShape;
use hyperslab_format::btree2::header::BTree2Header;
use hyperslab_format::btree2::node::BTree2Node;
use hyperslab_format::btree2::record::{Record, RecordForm, Records};
use hyperslab_format::{Addr, ErrorKind, Extent, Structure};

use super::super::{Seen, bisect, broken, misfit};
use super::nodes::{self, Nodes};
use crate::Txn;

/// The size of nodes, and the fill levels at which they split and merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BTree2Parameters {
    /// The size of a node in bytes.
    pub node_size: u32,
    /// The fill level, in percent, at which a node splits.
    pub split_percent: u8,
    /// The fill level, in percent, at which nodes merge.
    pub merge_percent: u8,
}

impl BTree2Parameters {
    /// libhdf5's parameters for the indexes of links, attributes, shared messages and huge objects.
    pub const NAMES: Self = Self { node_size: 512, split_percent: 100, merge_percent: 40 };
    /// libhdf5's parameters for the indexes of chunks.
    pub const CHUNKS: Self = Self { node_size: 2048, ..Self::NAMES };
}

/// A position in the order of a tree's records. A function that compares a record with the position is a
/// `Key`.
pub trait Key {
    /// Compares record `index` of `records` with the key: less if the record is before the key.
    fn compare(&self, records: &Records, index: usize) -> Result<Ordering>;
}

impl<F: Fn(&Record) -> Result<Ordering>> Key for F {
    fn compare(&self, records: &Records, index: usize) -> Result<Ordering> {
        self(&records.get(index)?)
    }
}

/// Creates an empty tree; returns the address of its header.
pub fn create(txn: &mut Txn<'_>, form: RecordForm, parameters: BTree2Parameters) -> Result<Addr> {
    let header = BTree2Header {
        kind: form.kind(),
        node_size: parameters.node_size,
        record_size: form.size(),
        depth: 0,
        split_percent: parameters.split_percent,
        merge_percent: parameters.merge_percent,
        root: Addr::UNDEFINED,
        root_records: 0,
        total_records: 0,
    };
    txn.put_new(header, ())
}

/// Inserts a record into the tree whose header is at `header`. Replaces and returns the record that is at
/// `key`, if any.
///
/// `record` must itself be at `key`, and of the tree's type.
pub fn insert(txn: &mut Txn<'_>, header: Addr, record: &Record, key: &dyn Key) -> Result<Option<Record>> {
    let mut tree = Tree::open(txn, header)?;
    if !tree.nodes.form().holds(record) {
        let expected = "the type of the inserted record";
        return Err(misfit::<BTree2Header>(header, "type", tree.header.kind, expected));
    }
    let (mut path, found) = tree.find(txn, key)?;
    let Some(last) = path.last().copied() else {
        tree.plant(txn, record)?;
        return Ok(None);
    };
    if found {
        return tree.replace(txn, &last, record).map(Some);
    }
    let limit = txn.store().widths().length.max();
    if tree.header.total_records >= limit {
        return Err(RequestError::TooMany { what: "records of a B-tree", limit }.into());
    }
    tree.header.total_records += 1;
    tree.unshare(txn, &mut path)?;
    let last = path[path.len() - 1];
    txn.edit::<BTree2Node, _>(last.at, &last.shape, |node| node.records.insert(last.place, record))?;
    tree.mend(txn, &path)?;
    Ok(None)
}

/// Removes and returns the record at `key` from the tree whose header is at `header`.
pub fn remove(txn: &mut Txn<'_>, header: Addr, key: &dyn Key) -> Result<Option<Record>> {
    let mut tree = Tree::open(txn, header)?;
    let (mut path, found) = tree.find(txn, key)?;
    if !found || path.is_empty() {
        return Ok(None);
    }
    tree.unshare(txn, &mut path)?;
    let last = path[path.len() - 1];
    let removed;
    if last.shape.is_leaf() {
        removed = tree.nodes.record(txn, &last, last.place)?;
        txn.edit::<BTree2Node, _>(last.at, &last.shape, |node| node.records.remove(last.place))?;
    } else {
        // The record before it, the last one of a leaf, replaces it.
        tree.descend_last(txn, &mut path)?;
        tree.unshare(txn, &mut path)?;
        let leaf = path[path.len() - 1];
        let before = tree.nodes.record(txn, &leaf, leaf.place)?;
        removed = tree.replace(txn, &last, &before)?;
        txn.edit::<BTree2Node, _>(leaf.at, &leaf.shape, |node| node.records.remove(leaf.place))?;
    }
    tree.header.total_records = tree.header.total_records.saturating_sub(1);
    tree.mend(txn, &path)?;
    Ok(Some(removed))
}

/// Frees the tree whose header is at `header`. The space that its records name is the caller's.
pub fn delete(txn: &mut Txn<'_>, header: Addr) -> Result<()> {
    let tree = Tree::open(txn, header)?;
    if let Some((root, shape)) = tree.header.root(txn.store().widths()) {
        tree.free_below(txn, root, &shape, &mut Seen::default())?;
    }
    let len = tree.header.encoded_len(txn.store().widths(), &()) as u64;
    txn.free(Extent::new(header, len));
    Ok(())
}

/// A tree that is being changed.
struct Tree {
    at: Addr,
    header: BTree2Header,
    nodes: Nodes,
}

/// A node on the path from the root.
#[derive(Clone, Copy)]
pub(super) struct PathNode {
    pub(super) at: Addr,
    pub(super) shape: BTree2NodeShape,
    /// The child with which the path continues. In the last step, the index of the record, or the index at
    /// which to insert it.
    pub(super) place: usize,
}

impl Tree {
    fn open(txn: &Txn<'_>, at: Addr) -> Result<Self> {
        let header = *txn.store().get::<BTree2Header>(at, &())?;
        Ok(Self { at, header, nodes: Nodes::of(&header, at, txn.store().widths())? })
    }

    /// Returns the path to the record at `key`, and whether the record exists. The path is empty in an empty
    /// tree.
    fn find(&self, txn: &Txn<'_>, key: &dyn Key) -> Result<(Vec<PathNode>, bool)> {
        let mut path: Vec<PathNode> = Vec::with_capacity(usize::from(self.header.depth) + 1);
        let Some((mut at, mut shape)) = self.header.root(txn.store().widths()) else {
            return Ok((path, false));
        };
        loop {
            let node = self.nodes.get(txn, at, &shape)?;
            let found = bisect(node.records.len(), |index| key.compare(&node.records, index))?;
            let (Ok(place) | Err(place)) = found;
            push(&mut path, PathNode { at, shape, place })?;
            let child = node.children.get(place).filter(|_| found.is_err());
            let Some(child) = child else { return Ok((path, found.is_ok())) };
            at = child.addr;
            shape = self.nodes.geometry.node(shape.depth - 1, child.records);
        }
    }

    /// Extends the path from its last step, an internal node, to the last record below the child at that
    /// step's place.
    fn descend_last(&self, txn: &Txn<'_>, path: &mut Vec<PathNode>) -> Result<()> {
        while let Some(step) = path.last().copied().filter(|step| !step.shape.is_leaf()) {
            let child = self.nodes.get(txn, step.at, &step.shape)?.children[step.place];
            let shape = self.nodes.geometry.node(step.shape.depth - 1, child.records);
            let count = self.nodes.get(txn, child.addr, &shape)?.records.len();
            let place = if shape.is_leaf() { count.checked_sub(1) } else { Some(count) };
            let missing = || broken::<BTree2Node>(child.addr, ErrorKind::Missing { what: "a record" });
            push(path, PathNode { at: child.addr, shape, place: place.ok_or_else(missing)? })?;
        }
        Ok(())
    }

    /// Replaces the record at the end of a path with `record`; returns the old record.
    fn replace(&self, txn: &mut Txn<'_>, step: &PathNode, record: &Record) -> Result<Record> {
        let old = self.nodes.record(txn, step, step.place)?;
        txn.edit::<BTree2Node, _>(step.at, &step.shape, |node| node.records.replace(step.place, record))?;
        Ok(old)
    }

    /// Moves the nodes of a path whose number of records may change, if other programs may see them. The
    /// parent of a node holds the number of its records, so the two must change together: only the header of
    /// the tree leads to the new nodes.
    fn unshare(&mut self, txn: &mut Txn<'_>, path: &mut [PathNode]) -> Result<()> {
        let mut above: Option<PathNode> = None;
        for step in path {
            if txn.store().is_seen(step.at) {
                let node = (*self.nodes.get(txn, step.at, &step.shape)?).clone();
                let pointer = self.nodes.put(txn, step.at, step.shape.depth, node)?;
                match above {
                    Some(above) => txn.edit::<BTree2Node, _>(above.at, &above.shape, |parent| {
                        parent.children[above.place] = pointer;
                    })?,
                    None => self.header.root = pointer.addr,
                }
                step.at = pointer.addr;
            }
            above = Some(*step);
        }
        Ok(())
    }

    /// Inserts the first record into an empty tree.
    fn plant(&mut self, txn: &mut Txn<'_>, record: &Record) -> Result<()> {
        let records = Records::new(self.nodes.form(), [record]);
        let root = self.nodes.put_new(txn, 0, BTree2Node { records, children: Vec::new() })?;
        self.header.root = root.addr;
        self.header.root_records = root.records;
        self.header.total_records = root.total_records;
        self.write_header(txn)
    }

    /// Restores the invariants after a leaf has changed: counts, nodes with too many or too few records, the
    /// root.
    fn mend(&mut self, txn: &mut Txn<'_>, path: &[PathNode]) -> Result<()> {
        for pair in path.windows(2).rev() {
            self.nodes.mend_child(txn, &pair[0], &pair[1])?;
        }
        let Some(root) = path.first() else { return Ok(()) };
        let depth = root.shape.depth;
        let node = txn.store().get::<BTree2Node>(root.at, &root.shape)?;
        let count = node.records.len();
        let only_child = node.children.first().copied();
        drop(node);
        if count == 0 {
            txn.free(Extent::new(root.at, self.header.node_size.into()));
            self.header.root = only_child.map_or(Addr::UNDEFINED, |child| child.addr);
            self.header.root_records = only_child.map_or(0, |child| child.records);
            self.header.depth = depth.saturating_sub(1);
        } else if count > self.nodes.capacity(depth) {
            self.header.depth = depth + 1;
            self.nodes = Nodes::of(&self.header, self.at, txn.store().widths())?;
            let new = self.nodes.split_root(txn, root)?;
            self.header.root = new.addr;
            self.header.root_records = new.records;
        } else {
            self.header.root_records = nodes::count(root.at, count)?;
        }
        self.write_header(txn)
    }

    fn write_header(&self, txn: &mut Txn<'_>) -> Result<()> {
        txn.edit::<BTree2Header, _>(self.at, &(), |header| *header = self.header)
    }

    /// Recursion is as deep as the tree, which the header limits.
    fn free_below(
        &self,
        txn: &mut Txn<'_>,
        at: Addr,
        shape: &BTree2NodeShape,
        seen: &mut Seen,
    ) -> Result<()> {
        seen.note::<BTree2Node>(at)?;
        let extent = Extent::new(at, self.header.node_size.into());
        txn.store().check(extent, (BTree2Node::NAME, BTree2Node::SPEC))?;
        if !shape.is_leaf() {
            for child in &self.nodes.get(txn, at, shape)?.children {
                let below = self.nodes.geometry.node(shape.depth - 1, child.records);
                self.free_below(txn, child.addr, &below, seen)?;
            }
        }
        txn.free(extent);
        Ok(())
    }
}

/// Adds a step to a path. Errors if its node is on the path already.
fn push(path: &mut Vec<PathNode>, step: PathNode) -> Result<()> {
    if path.iter().any(|above| above.at == step.at) {
        let expected = "an address of no node above it";
        return Err(misfit::<BTree2Node>(step.at, "address of a node", step.at.get(), expected));
    }
    path.push(step);
    Ok(())
}
