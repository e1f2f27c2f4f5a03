//! Changes to the nodes of a version 1 B-tree (spec III.A.1) of any content.
//!
//! Neighbours on every level share a key: a node's last key is the first key of the node to its right, and
//! the parent has the same key between the two. The root keeps its address; when it splits, its contents move
//! down.

use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_error::Result;
use hyperslab_format::btree1::entries::{BTree1Entries, BTree1Key};
use hyperslab_format::btree1::{BTree1Context, BTree1Node};
use hyperslab_format::{Addr, ErrorKind, Extent};

use super::{BTree1, BTree1Step, check_level};
use crate::Txn;
use crate::tree::{broken, free_blocks};

/// A tree within a step that changes it.
#[derive(Debug)]
pub struct BTree1Edit<'t, 's> {
    txn: &'t mut Txn<'s>,
    root: Addr,
    context: BTree1Context,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

impl<'t, 's> BTree1Edit<'t, 's> {
    /// Creates a tree without children; returns the address of its root.
    pub fn create(txn: &mut Txn<'_>, context: BTree1Context) -> Result<Addr> {
        let root = node(txn, context, 0, &[], []);
        txn.put_new(root, context)
    }

    /// Returns the tree with this root.
    pub fn new(txn: &'t mut Txn<'s>, root: Addr, context: BTree1Context) -> Self {
        Self { txn, root, context }
    }

    /// Returns the step that changes the tree.
    pub fn txn(&mut self) -> &mut Txn<'s> {
        self.txn
    }

    /// Returns the tree as the step sees it.
    pub fn tree(&self) -> BTree1<'s> {
        BTree1::new(self.txn.store(), self.root, self.context)
    }

    /// Inserts the first child into an empty tree, between two keys.
    pub fn insert_first(&mut self, child: Addr, before: BTree1Key, after: BTree1Key) -> Result<()> {
        if !self.node(self.root)?.entries.is_empty() {
            // A look-up ended at a node below the root that has no children.
            let what = "the children of a node below";
            return Err(broken::<BTree1Node>(self.root, ErrorKind::Missing { what }));
        }
        let root = node(self.txn, self.context, 0, &[before, after], [child]);
        self.edit(self.root, |node| (node.level, node.entries) = (root.level, root.entries))
    }

    /// Inserts a child before the one at the end of `path` (or after the last, if the path ends there), with
    /// `key` between the two. Splits full nodes.
    pub fn insert(&mut self, mut path: Vec<BTree1Step>, mut child: Addr, mut key: BTree1Key) -> Result<()> {
        while let Some(step) = path.pop() {
            let mut place = step;
            let node = self.node(step.at)?;
            if node.entries.len() < self.context.capacity() {
                return self.put_child(place, child, &key);
            }
            if path.is_empty() {
                place.at = self.move_root_down()?;
                path.push(BTree1Step { at: self.root, child: 0 });
            }
            let (right, between) = self.split(&mut place)?;
            self.put_child(place, child, &key)?;
            (child, key) = (right, between);
            if let Some(above) = path.last_mut() {
                above.child += 1;
            }
        }
        Ok(())
    }

    /// Replaces the child at the end of `path`.
    pub fn set_child(&mut self, path: &[BTree1Step], child: Addr) -> Result<()> {
        let Some(step) = path.last() else { return Ok(()) };
        self.edit(step.at, |node| node.entries.set_child(step.child, child))
    }

    fn put_child(&mut self, place: BTree1Step, child: Addr, key: &BTree1Key) -> Result<()> {
        self.edit(place.at, |node| node.entries.insert(place.child, child, key))
    }

    /// Moves the root's contents to a new node, the only child of the root; returns the address of the new
    /// node.
    fn move_root_down(&mut self) -> Result<Addr> {
        let root = self.node(self.root)?;
        let Some(level) = root.level.checked_add(1) else {
            return Err(broken::<BTree1Node>(self.root, ErrorKind::Depth { limit: u32::from(u8::MAX) }));
        };
        let at = self.txn.allocate_metadata(self.node_len())?;
        let ends = [0, root.entries.len()].into_iter().filter_map(|end| root.entries.key(end));
        let above = node(self.txn, self.context, level, &ends.collect::<Vec<_>>(), [at]);
        self.txn.put(at, BTree1Node::clone(&root), self.context);
        self.txn.put(self.root, above, self.context);
        Ok(at)
    }

    /// Splits a full node. `place` is the place of an insertion; it moves to the right half if it belongs
    /// there. Returns the right half and the key between the halves.
    fn split(&mut self, place: &mut BTree1Step) -> Result<(Addr, BTree1Key)> {
        let at = place.at;
        let old = self.node(at)?;
        let kept = kept_of(&old);
        let right = self.txn.allocate_metadata(self.node_len())?;
        let entries = self.edit(at, |node| {
            node.right = right;
            node.entries.split_off(kept)
        })?;
        let Some(between) = entries.key(0) else {
            return Err(broken::<BTree1Node>(at, ErrorKind::Missing { what: "a key of each child" }));
        };
        let new = BTree1Node { level: old.level, left: at, right: old.right, entries };
        self.txn.put(right, new, self.context);
        if old.right.is_defined() {
            self.edit(old.right, |node| node.left = right)?;
        }
        // The new child goes beside the child before it.
        if place.child > kept {
            *place = BTree1Step { at: right, child: place.child - kept };
        }
        Ok((right, between))
    }

    /// Removes the child at the end of `path`, and every node that this leaves empty. The key range of the
    /// child goes to the neighbour on the side `joins`.
    fn remove(&mut self, mut path: Vec<BTree1Step>, joins: Side) -> Result<()> {
        let Some(&last) = path.last() else { return Ok(()) };
        let node = self.node(last.at)?;
        // The two keys of the child become one key, in every node that has them.
        let (stays, side) = match joins {
            Side::Right => (last.child, Side::Right),
            Side::Left => (last.child + 1, Side::Left),
        };
        if let Some(key) = node.entries.key(stays) {
            self.set_key(&path, side, &key)?;
        }
        while let Some(step) = path.pop() {
            let is_root = path.is_empty();
            let is_empty = self.edit(step.at, |node| {
                node.entries.remove(step.child);
                if node.entries.is_empty() && is_root {
                    node.level = 0;
                }
                node.entries.is_empty()
            })?;
            if !is_empty || is_root {
                return Ok(());
            }
            let gone = self.node(step.at)?;
            if gone.left.is_defined() {
                self.edit(gone.left, |node| node.right = gone.right)?;
            }
            if gone.right.is_defined() {
                self.edit(gone.right, |node| node.left = gone.left)?;
            }
            self.txn.free(Extent::new(step.at, self.node_len()));
        }
        Ok(())
    }

    /// Removes the child at the end of `path`; its key range goes to the child after it.
    pub fn remove_keeping_left_key(&mut self, path: Vec<BTree1Step>) -> Result<()> {
        self.remove(path, Side::Right)
    }

    /// Removes the child at the end of `path`; its key range goes to the child before it.
    pub fn remove_keeping_right_key(&mut self, path: Vec<BTree1Step>) -> Result<()> {
        self.remove(path, Side::Left)
    }

    /// Replaces the key to the left of the child at the end of `path`, in every node that has it.
    pub fn set_left_key(&mut self, path: &[BTree1Step], key: &BTree1Key) -> Result<()> {
        self.set_key(path, Side::Left, key)
    }

    /// Replaces the key to the right of the child at the end of `path`, in every node that has it.
    pub fn set_right_key(&mut self, path: &[BTree1Step], key: &BTree1Key) -> Result<()> {
        self.set_key(path, Side::Right, key)
    }

    fn set_key(&mut self, path: &[BTree1Step], side: Side, key: &BTree1Key) -> Result<()> {
        for step in path.iter().rev() {
            let index = step.child + usize::from(side == Side::Right);
            self.edit(step.at, |node| node.entries.set_key(index, key))?;
            let node = self.node(step.at)?;
            let neighbour = match side {
                Side::Left => step.child.checked_sub(1).and_then(|child| node.entries.child(child)),
                Side::Right => node.entries.child(step.child + 1),
            };
            // The end key of a node is also in its parent; any other key is an end key of the child nodes on
            // both sides.
            if let Some(neighbour) = neighbour {
                return self.set_outer_key(neighbour, node.level, side, key);
            }
        }
        Ok(())
    }

    /// Replaces the first key (of the node on the right) or the last key of a child of a node of level
    /// `above`, and of the nodes below that child.
    fn set_outer_key(&mut self, child: Addr, above: u8, side: Side, key: &BTree1Key) -> Result<()> {
        let (mut at, mut above) = (child, above);
        while above > 0 {
            let node = self.node(at)?;
            check_level(&node, above, at)?;
            let last = node.entries.len();
            let (index, next) = match side {
                Side::Right => (0, node.entries.child(0)),
                Side::Left => (last, node.entries.children().next_back()),
            };
            self.edit(at, |node| node.entries.set_key(index, key))?;
            (at, above) = (next.unwrap_or(Addr::UNDEFINED), node.level);
        }
        Ok(())
    }

    /// Frees all nodes. Returns the children of the level 0 nodes in order, each with the key to its left.
    /// The tree must not be used afterwards.
    pub fn delete(&mut self) -> Result<Vec<(BTree1Key, Addr)>> {
        let len = self.node_len();
        let (mut children, mut nodes) = (Vec::new(), Vec::new());
        self.tree().visit(&mut |at, node| {
            nodes.push(Extent::new(at, len));
            if node.level == 0 {
                let keys = (0..).map_while(|index| node.entries.key(index));
                children.extend(keys.zip(node.entries.children()));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        free_blocks::<BTree1Node>(self.txn, self.root, nodes)?;
        Ok(children)
    }

    fn node_len(&self) -> u64 {
        self.context.node_len(self.txn.store().widths()) as u64
    }

    /// Returns the node at `at`.
    pub fn node(&self, at: Addr) -> Result<Arc<BTree1Node>> {
        self.txn.store().get(at, &self.context)
    }

    fn edit<R>(&mut self, at: Addr, f: impl FnOnce(&mut BTree1Node) -> R) -> Result<R> {
        self.txn.edit(at, &self.context, f)
    }
}

/// Returns a node without neighbours.
fn node<const N: usize>(
    txn: &Txn<'_>,
    context: BTree1Context,
    level: u8,
    keys: &[BTree1Key],
    children: [Addr; N],
) -> BTree1Node {
    let entries = BTree1Entries::new(context.kind, txn.store().widths(), keys, children);
    BTree1Node { level, left: Addr::UNDEFINED, right: Addr::UNDEFINED, entries }
}

/// Returns how many children of a full node stay in it when it splits. As in libhdf5, the last node of a
/// level is split near its end and the first near its beginning, so that insertions in order leave full nodes
/// behind.
fn kept_of(node: &BTree1Node) -> usize {
    let count = node.entries.len();
    let kept = match (node.left.is_defined(), node.right.is_defined()) {
        (_, false) => count * 9 / 10,
        (false, true) => count / 10,
        (true, true) => count / 2,
    };
    kept.clamp(1, count.saturating_sub(1).max(1))
}
