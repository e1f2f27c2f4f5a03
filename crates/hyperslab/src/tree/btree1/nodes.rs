//! Changing the nodes of a version 1 B-tree (spec III.A.1), whatever they index.
//!
//! Neighbours share the key between them, on every level: a node's last key is the first key of the node to its right, and
//! both stand between the two in the node above. The root stays at its address; when it splits, its contents move down.

use std::sync::Arc;

use hyperslab_format::btree1::entries::{BTree1Entries, BTree1Key};
use hyperslab_format::btree1::{BTree1Context, BTree1Node};
use hyperslab_format::{Addr, ErrorKind, Extent};

use crate::error::Result;
use crate::store::{SpaceKind, Txn};
use crate::tree::{broken, free_blocks};

/// A tree within a step that changes it.
#[derive(Debug)]
pub struct BTree1Edit<'t, 's> {
    txn: &'t mut Txn<'s>,
    root: Addr,
    context: BTree1Context,
}

/// A step on the way from the root to a child of a node of level 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BTree1Step {
    /// The node.
    pub at: Addr,
    /// The number of the child in it.
    pub child: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

impl<'t, 's> BTree1Edit<'t, 's> {
    /// Makes a tree without children; returns the address of its root.
    pub fn create(txn: &mut Txn<'_>, context: BTree1Context) -> Result<Addr> {
        let len = context.node_len(txn.store().widths()) as u64;
        let at = txn.allocate(SpaceKind::Metadata, len)?.addr;
        let root = node(txn, context, 0, &[], []);
        txn.put(at, root, context);
        Ok(at)
    }

    /// The tree with this root.
    pub fn new(txn: &'t mut Txn<'s>, root: Addr, context: BTree1Context) -> Self {
        Self { txn, root, context }
    }

    /// The step that changes the tree.
    pub fn txn(&mut self) -> &mut Txn<'s> {
        self.txn
    }

    /// The way down to the child of a node of level 0 that `choose` leads to: it names a child of each node that it is
    /// given. Empty if the tree is.
    pub fn path(
        &self,
        choose: &mut dyn FnMut(&BTree1Node) -> Result<usize>,
    ) -> Result<(Vec<BTree1Step>, Arc<BTree1Node>)> {
        let mut path = Vec::new();
        let mut at = self.root;
        let mut node = self.node(at)?;
        while !node.entries.is_empty() {
            let child = choose(&node)?.min(node.entries.len() - 1);
            path.push(BTree1Step { at, child });
            if node.level == 0 {
                break;
            }
            at = node.entries.child(child).unwrap_or(Addr::UNDEFINED);
            node = self.below(at, node.level)?;
        }
        Ok((path, node))
    }

    /// Puts the first child into a tree that has none, between two keys.
    pub fn insert_first(&mut self, child: Addr, before: BTree1Key, after: BTree1Key) -> Result<()> {
        let root = node(self.txn, self.context, 0, &[before, after], [child]);
        self.edit(self.root, |node| (node.level, node.entries) = (root.level, root.entries))
    }

    /// Puts a child before the one that `path` leads to (or after the last, if it leads there), and `key` between the two.
    /// A node that is full splits.
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

    /// Replaces the child that `path` leads to.
    pub fn set_child(&mut self, path: &[BTree1Step], child: Addr) -> Result<()> {
        let Some(step) = path.last() else { return Ok(()) };
        self.edit(step.at, |node| node.entries.set_child(step.child, child))
    }

    fn put_child(&mut self, place: BTree1Step, child: Addr, key: &BTree1Key) -> Result<()> {
        self.edit(place.at, |node| node.entries.insert(place.child, child, key))
    }

    /// Moves the root's contents to a new node, the only child of the root; returns its address.
    fn move_root_down(&mut self) -> Result<Addr> {
        let root = self.node(self.root)?;
        let Some(level) = root.level.checked_add(1) else {
            return Err(broken::<BTree1Node>(self.root, ErrorKind::Depth { limit: u32::from(u8::MAX) }));
        };
        let at = self.allocate()?;
        let ends = [0, root.entries.len()].into_iter().filter_map(|end| root.entries.key(end));
        let above = node(self.txn, self.context, level, &ends.collect::<Vec<_>>(), [at]);
        self.txn.put(at, BTree1Node::clone(&root), self.context);
        self.txn.put(self.root, above, self.context);
        Ok(at)
    }

    /// Splits a full node. `place` is where a child is to be put into it, and is led to the right half if that has the
    /// place; returns the right half, and the key between the two.
    fn split(&mut self, place: &mut BTree1Step) -> Result<(Addr, BTree1Key)> {
        let at = place.at;
        let old = self.node(at)?;
        let kept = kept_of(&old);
        let right = self.allocate()?;
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
        // Beside the child before it.
        if place.child > kept {
            *place = BTree1Step { at: right, child: place.child - kept };
        }
        Ok((right, between))
    }

    /// Takes out the child of a node of level 0 that `path` leads to, with the nodes that have no other. `joins` says what
    /// becomes of its place: it falls to the neighbour on that side.
    fn remove(&mut self, mut path: Vec<BTree1Step>, joins: Side) -> Result<()> {
        let Some(&last) = path.last() else { return Ok(()) };
        let node = self.node(last.at)?;
        // Its two keys become one, everywhere they stand.
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
            let len = self.context.node_len(self.txn.store().widths()) as u64;
            self.txn.free(Extent::new(step.at, len));
        }
        Ok(())
    }

    /// Takes out the child that `path` leads to; what lies between its keys falls to the child after it.
    pub fn remove_keeping_left_key(&mut self, path: Vec<BTree1Step>) -> Result<()> {
        self.remove(path, Side::Right)
    }

    /// Takes out the child that `path` leads to; what lies between its keys falls to the child before it.
    pub fn remove_keeping_right_key(&mut self, path: Vec<BTree1Step>) -> Result<()> {
        self.remove(path, Side::Left)
    }

    /// Replaces the key to the left of the child that `path` leads to, wherever it stands.
    pub fn set_left_key(&mut self, path: &[BTree1Step], key: &BTree1Key) -> Result<()> {
        self.set_key(path, Side::Left, key)
    }

    /// Replaces the key to the right of the child that `path` leads to, wherever it stands.
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
            // A key at the end of a node is also one of the node above; any other ends with the nodes beside it.
            if let Some(neighbour) = neighbour {
                return self.set_outer_key(neighbour, node.level, side, key);
            }
        }
        Ok(())
    }

    /// Replaces the first key (of what is to the right) or the last of a child of a node of level `above`, and of those
    /// below it.
    fn set_outer_key(&mut self, child: Addr, above: u8, side: Side, key: &BTree1Key) -> Result<()> {
        let (mut at, mut above) = (child, above);
        while above > 0 {
            let node = self.below(at, above)?;
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

    /// Gives all nodes back; returns the children of those of level 0, in order, each with the key to its left. Nothing
    /// else may be done with the tree after that.
    pub fn delete(&mut self) -> Result<Vec<(BTree1Key, Addr)>> {
        let len = self.context.node_len(self.txn.store().widths()) as u64;
        let room = self.txn.store().len_bytes() / len + 1;
        let (mut children, mut nodes) = (Vec::new(), Vec::new());
        let mut pending: Vec<(Addr, Option<u8>)> = vec![(self.root, None)];
        while let Some((at, above)) = pending.pop() {
            // Every node is somewhere else in the file: more than fit into it are a circle.
            if nodes.len() as u64 > room {
                return Err(broken::<BTree1Node>(at, ErrorKind::Depth { limit: u32::from(u8::MAX) }));
            }
            let node = above.map_or_else(|| self.node(at), |above| self.below(at, above))?;
            nodes.push(Extent::new(at, len));
            if node.level > 0 {
                pending.extend(node.entries.children().rev().map(|child| (child, Some(node.level))));
            } else {
                let keys = (0..).map_while(|index| node.entries.key(index));
                children.extend(keys.zip(node.entries.children()));
            }
        }
        free_blocks::<BTree1Node>(self.txn, self.root, nodes)?;
        Ok(children)
    }

    fn allocate(&mut self) -> Result<Addr> {
        let len = self.context.node_len(self.txn.store().widths()) as u64;
        Ok(self.txn.allocate(SpaceKind::Metadata, len)?.addr)
    }

    /// The node at `at`.
    pub fn node(&self, at: Addr) -> Result<Arc<BTree1Node>> {
        self.txn.store().get(at, &self.context)
    }

    /// The node at `at`, which must be one level below `above`: levels end every descent.
    fn below(&self, at: Addr, above: u8) -> Result<Arc<BTree1Node>> {
        let node = self.node(at)?;
        if above.checked_sub(1) == Some(node.level) && !node.entries.is_empty() {
            return Ok(node);
        }
        let (field, value) = ("node level", node.level.into());
        let expected = "one less than the level above, in a node with children";
        Err(broken::<BTree1Node>(at, ErrorKind::Value { field, value, expected }))
    }

    fn edit<R>(&mut self, at: Addr, f: impl FnOnce(&mut BTree1Node) -> R) -> Result<R> {
        self.txn.edit(at, &self.context, f)
    }
}

/// A node without neighbours.
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

/// How many children of a full node stay in it when it splits. The last node of a level is split near its end and the
/// first near its beginning, as libhdf5 does: what comes in order leaves full nodes behind.
fn kept_of(node: &BTree1Node) -> usize {
    let count = node.entries.len();
    let kept = match (node.left.is_defined(), node.right.is_defined()) {
        (_, false) => count * 9 / 10,
        (false, true) => count / 10,
        (true, true) => count / 2,
    };
    kept.clamp(1, count.saturating_sub(1).max(1))
}
