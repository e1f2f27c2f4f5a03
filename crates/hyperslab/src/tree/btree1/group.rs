//! Changing the tree of an old group: links in symbol table nodes (spec III.B), in the order of their names.
//!
//! Key 0 of the tree is the empty name at offset 0 of the local heap; the key to the right of a symbol table node is the
//! largest name in it.

use std::cmp::Ordering;
use std::sync::Arc;

use hyperslab_format::btree1::entries::BTree1Key;
use hyperslab_format::btree1::{BTree1Context, BTree1Kind};
use hyperslab_format::group::symbol::{SymbolTableContext, SymbolTableEntry, SymbolTableNode};
use hyperslab_format::{Addr, Extent};

use super::nodes::{BTree1Edit, BTree1Step};
use crate::error::Result;
use crate::store::{SpaceKind, Txn};
use crate::tree::free_blocks;

/// The tree of a group within a step that changes it.
#[derive(Debug)]
pub struct GroupTreeEdit<'t, 's> {
    tree: BTree1Edit<'t, 's>,
    root: Addr,
    context: SymbolTableContext,
}

/// How a name compares with the one at an offset of the local heap, as the step has it.
type Order<'f> = dyn Fn(u64) -> Result<Ordering> + 'f;

/// Where a name is, or would be.
struct Found {
    path: Vec<BTree1Step>,
    /// The symbol table node.
    at: Addr,
    node: Arc<SymbolTableNode>,
    /// The entry's number, or where it would be put.
    entry: Result<usize, usize>,
}

impl<'t, 's> GroupTreeEdit<'t, 's> {
    /// Makes a tree without links; returns the address of its root.
    pub fn create(txn: &mut Txn<'_>) -> Result<Addr> {
        let context = context(txn);
        BTree1Edit::create(txn, context)
    }

    /// The tree with this root.
    pub fn new(txn: &'t mut Txn<'s>, root: Addr) -> Self {
        let context = SymbolTableContext { k: txn.store().btree_k().group_leaf_k };
        let nodes = self::context(txn);
        Self { tree: BTree1Edit::new(txn, root, nodes), root, context }
    }

    /// Puts a link in, whose name `order` compares; returns whether there was none of that name.
    pub fn insert(&mut self, entry: SymbolTableEntry, order: &Order<'_>) -> Result<bool> {
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
            // After every name of the group: elsewhere the name would not be after the key to the right.
            self.tree.set_right_key(&found.path, &name)?;
        }
        if entries.len() <= self.context.capacity() {
            self.write_node(found.at, entries);
            return Ok(true);
        }
        let half = usize::from(self.context.k);
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

    /// Takes out the link whose name `order` compares; returns it, if there was one.
    pub fn remove(&mut self, order: &Order<'_>) -> Result<Option<SymbolTableEntry>> {
        let Some(Found { path, at, node, entry: Ok(place) }) = self.find(order)? else { return Ok(None) };
        let mut entries = node.entries.clone();
        let removed = entries.remove(place);
        match entries.last() {
            None => {
                let len = self.context.node_len(self.tree.txn().store().widths()) as u64;
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

    /// Whether there is a link whose name `order` compares.
    pub fn contains(&mut self, order: &Order<'_>) -> Result<bool> {
        Ok(self.find(order)?.is_some_and(|found| found.entry.is_ok()))
    }

    /// Gives the tree and its symbol table nodes back.
    pub fn delete(mut self) -> Result<()> {
        let root = self.root;
        let len = self.context.node_len(self.tree.txn().store().widths()) as u64;
        let nodes = self.tree.delete()?;
        let blocks = nodes.into_iter().map(|(_, at)| Extent::new(at, len)).collect();
        free_blocks::<SymbolTableNode>(self.tree.txn(), root, blocks)
    }

    /// Down to the symbol table node that would hold a name, then by bisection; none in an empty tree.
    fn find(&mut self, order: &Order<'_>) -> Result<Option<Found>> {
        let (path, nodes) = self.tree.path(&mut |node| {
            let mut range = 0..node.entries.len();
            while range.len() > 1 {
                let middle = range.start + (range.len() - 1) / 2;
                let Some(upper) = node.entries.name(middle + 1) else { break };
                range = if order(upper)?.is_gt() { middle + 1..range.end } else { range.start..middle + 1 };
            }
            Ok(range.start)
        })?;
        let Some(at) = path.last().and_then(|step| nodes.entries.child(step.child)) else { return Ok(None) };
        let node = self.tree.txn().store().get::<SymbolTableNode>(at, &self.context)?;
        let mut range = 0..node.entries.len();
        while !range.is_empty() {
            let middle = range.start + range.len() / 2;
            let Some(entry) = node.entries.get(middle) else { break };
            range = match order(entry.name_offset)? {
                Ordering::Equal => return Ok(Some(Found { path, at, node, entry: Ok(middle) })),
                Ordering::Less => range.start..middle,
                Ordering::Greater => middle + 1..range.end,
            };
        }
        Ok(Some(Found { path, at, node, entry: Err(range.start) }))
    }

    fn put_node(&mut self, entries: Vec<SymbolTableEntry>) -> Result<Addr> {
        let len = self.context.node_len(self.tree.txn().store().widths()) as u64;
        let at = self.tree.txn().allocate(SpaceKind::Metadata, len)?.addr;
        self.write_node(at, entries);
        Ok(at)
    }

    fn write_node(&mut self, at: Addr, entries: Vec<SymbolTableEntry>) {
        let context = self.context;
        self.tree.txn().put(at, SymbolTableNode { entries }, context);
    }
}

/// The form of the nodes above the symbol table nodes.
fn context(txn: &Txn<'_>) -> BTree1Context {
    BTree1Context { kind: BTree1Kind::Group, k: txn.store().btree_k().group_internal_k }
}
