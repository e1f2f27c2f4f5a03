//! The B-tree of an old-style group: reads and changes links in symbol table nodes (spec III.B), in the order
//! of their names.
//!
//! Key 0 of the tree is the empty name at offset 0 of the local heap. The key to the right of a symbol table
//! node is the largest name in that node.

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_error::Result;
use hyperslab_format::btree1::entries::BTree1Key;
use hyperslab_format::btree1::{BTree1Context, BTree1Kind};
use hyperslab_format::group::symbol::{SymbolTableContext, SymbolTableEntry, SymbolTableNode};
use hyperslab_format::{Addr, Extent};

use super::{BTree1, BTree1Edit, BTree1Step};
use crate::tree::{Seen, bisect, free_blocks, partition};
use crate::{Store, Txn};

/// The B-tree of a group. Its keys are offsets of names in the group's local heap; the caller compares the
/// names.
#[derive(Debug, Clone, Copy)]
pub struct GroupTree<'s> {
    tree: BTree1<'s>,
    store: &'s Store,
}

/// The B-tree of a group, within a step that changes it.
#[derive(Debug)]
pub struct GroupTreeEdit<'t, 's> {
    tree: BTree1Edit<'t, 's>,
    root: Addr,
}

/// Compares the sought name with the name at an offset of the local heap, as the step sees the heap.
type NameOrder<'f> = dyn Fn(u64) -> Result<Ordering> + 'f;

/// The place of a name, or the place where it would be inserted.
#[derive(Debug)]
pub struct NamePosition {
    path: Vec<BTree1Step>,
    /// The symbol table node.
    pub at: Addr,
    /// The node itself.
    pub node: Arc<SymbolTableNode>,
    /// The index of the entry (`Ok`), or the index at which to insert it (`Err`).
    pub entry: Result<usize, usize>,
}

impl<'s> GroupTree<'s> {
    /// Returns the tree with this root.
    pub fn new(store: &'s Store, root: Addr) -> Self {
        Self { tree: BTree1::new(store, root, nodes_of(store)), store }
    }

    /// Calls `f` with every symbol table node and its address, in the order of names, until `f` breaks.
    pub fn visit(&self, f: &mut dyn FnMut(Addr, &SymbolTableNode) -> Result<ControlFlow<()>>) -> Result<()> {
        let mut seen = Seen::default();
        self.tree.visit(&mut |_, node| {
            for child in node.entries.children().filter(|_| node.level == 0) {
                seen.note::<SymbolTableNode>(child)?;
                if f(child, &*self.store.get(child, &entries_of(self.store))?)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(ControlFlow::Continue(()))
        })
    }

    /// Finds the symbol table node that would hold a name, then the entry in it by bisection. `None` in an
    /// empty tree.
    pub fn find(&self, order: &NameOrder<'_>) -> Result<Option<NamePosition>> {
        // Child `i` holds the names after key `i` up to and including key `i + 1`.
        let (path, nodes) = self.tree.path(&mut |node| {
            partition(node.entries.len(), |child| {
                node.entries.name(child + 1).map_or(Ok(false), |upper| Ok(order(upper)?.is_gt()))
            })
        })?;
        let Some(at) = path.last().and_then(|step| nodes.entries.child(step.child)) else { return Ok(None) };
        let node = self.store.get::<SymbolTableNode>(at, &entries_of(self.store))?;
        let entry = bisect(node.entries.len(), |place| {
            order(node.entries[place].name_offset).map(Ordering::reverse)
        })?;
        Ok(Some(NamePosition { path, at, node, entry }))
    }
}

impl<'t, 's> GroupTreeEdit<'t, 's> {
    /// Creates a tree without links; returns the address of its root.
    pub fn create(txn: &mut Txn<'_>) -> Result<Addr> {
        BTree1Edit::create(txn, nodes_of(txn.store()))
    }

    /// Returns the tree with this root.
    pub fn new(txn: &'t mut Txn<'s>, root: Addr) -> Self {
        let nodes = nodes_of(txn.store());
        Self { tree: BTree1Edit::new(txn, root, nodes), root }
    }

    /// Inserts a link whose name `order` compares; returns whether the name was new.
    pub fn insert(&mut self, entry: SymbolTableEntry, order: &NameOrder<'_>) -> Result<bool> {
        let name = BTree1Key::Group(entry.name_offset);
        let Some(found) = self.find(order)? else {
            let at = self.put_node(vec![entry])?;
            self.tree.insert_first(at, BTree1Key::Group(0), name)?;
            return Ok(true);
        };
        let Err(place) = found.entry else { return Ok(false) };
        let is_last = place == found.node.entries.len();
        let mut entries = found.node.entries.clone();
        entries.insert(place, entry);
        if is_last {
            // The name is after every name of the group. In any other place a key to the right bounds it.
            self.tree.set_right_key(&found.path, &name)?;
        }
        if entries.len() <= self.context().capacity() {
            self.write_node(found.at, entries);
            return Ok(true);
        }
        let half = usize::from(self.context().k);
        // The new entry makes one of the halves larger.
        let kept = if place <= half { half + 1 } else { half };
        let right = entries.split_off(kept);
        let between = entries.last().map_or(0, |entry| entry.name_offset);
        self.write_node(found.at, entries);
        let right = self.put_node(right)?;
        let mut path = found.path;
        if let Some(step) = path.last_mut() {
            step.child += 1;
        }
        self.tree.insert(path, right, BTree1Key::Group(between))?;
        Ok(true)
    }

    /// Removes and returns the link whose name `order` compares, if it exists.
    pub fn remove(&mut self, order: &NameOrder<'_>) -> Result<Option<SymbolTableEntry>> {
        let Some(NamePosition { path, at, node, entry: Ok(place) }) = self.find(order)? else {
            return Ok(None);
        };
        let mut entries = node.entries.clone();
        let removed = entries.remove(place);
        match entries.last() {
            None => {
                let len = self.node_len();
                self.tree.txn().free(Extent::new(at, len));
                self.tree.remove_keeping_left_key(path)?;
            }
            Some(last) => {
                if place == entries.len() {
                    self.tree.set_right_key(&path, &BTree1Key::Group(last.name_offset))?;
                }
                self.write_node(at, entries);
            }
        }
        Ok(Some(removed))
    }

    /// Returns whether the link exists whose name `order` compares.
    pub fn contains(&mut self, order: &NameOrder<'_>) -> Result<bool> {
        Ok(self.find(order)?.is_some_and(|found| found.entry.is_ok()))
    }

    /// Frees the tree and its symbol table nodes.
    pub fn delete(mut self) -> Result<()> {
        let root = self.root;
        let len = self.node_len();
        let nodes = self.tree.delete()?;
        let blocks = nodes.into_iter().map(|(_, at)| Extent::new(at, len)).collect();
        free_blocks::<SymbolTableNode>(self.tree.txn(), root, blocks)
    }

    fn find(&mut self, order: &NameOrder<'_>) -> Result<Option<NamePosition>> {
        GroupTree::new(self.tree.txn().store(), self.root).find(order)
    }

    fn context(&mut self) -> SymbolTableContext {
        entries_of(self.tree.txn().store())
    }

    fn node_len(&mut self) -> u64 {
        self.context().node_len(self.tree.txn().store().widths()) as u64
    }

    fn put_node(&mut self, entries: Vec<SymbolTableEntry>) -> Result<Addr> {
        let context = self.context();
        self.tree.txn().put_new(SymbolTableNode { entries }, context)
    }

    fn write_node(&mut self, at: Addr, entries: Vec<SymbolTableEntry>) {
        let context = self.context();
        self.tree.txn().put(at, SymbolTableNode { entries }, context);
    }
}

/// Returns the format of the nodes above the symbol table nodes.
fn nodes_of(store: &Store) -> BTree1Context {
    BTree1Context { kind: BTree1Kind::Group, k: store.btree_k().group_internal_k }
}

/// Returns the format of symbol table nodes.
fn entries_of(store: &Store) -> SymbolTableContext {
    SymbolTableContext { k: store.btree_k().group_leaf_k }
}
