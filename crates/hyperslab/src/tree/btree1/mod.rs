//! The version 1 B-tree of an old group (spec III.A.1): from a name to the symbol table node that would hold it.

mod group;
mod nodes;

use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_format::btree1::{BTree1Context, BTree1Kind, BTree1Node};
use hyperslab_format::{Addr, ErrorKind};

use super::{Seen, broken};
use crate::error::Result;
use crate::store::Store;

pub use group::GroupTreeEdit;
pub use nodes::{BTree1Edit, BTree1Step};

/// The tree of a group. Its keys are offsets of names in the group's local heap, which the caller compares.
#[derive(Debug, Clone, Copy)]
pub struct GroupTree<'s> {
    store: &'s Store,
    root: Addr,
    context: BTree1Context,
}

impl<'s> GroupTree<'s> {
    /// The tree with this root.
    pub fn new(store: &'s Store, root: Addr) -> Self {
        let context = BTree1Context { kind: BTree1Kind::Group, k: store.btree_k().group_internal_k };
        Self { store, root, context }
    }

    /// The symbol table node that would hold a name, where `is_after(key)` says whether the name comes after the name
    /// at offset `key` of the local heap.
    pub fn find(&self, is_after: &dyn Fn(u64) -> Result<bool>) -> Result<Option<Addr>> {
        let mut at = self.root;
        let mut node = self.node(at)?;
        loop {
            // Child `i` holds what comes after key `i` and not after key `i + 1`.
            let mut range = 0..node.entries.len();
            while !range.is_empty() {
                let middle = range.start + range.len() / 2;
                let Some(upper) = node.entries.name(middle + 1) else { break };
                range = if is_after(upper)? { middle + 1..range.end } else { range.start..middle };
            }
            let Some(child) = node.entries.child(range.start) else { return Ok(None) };
            if node.level == 0 {
                return Ok(Some(child));
            }
            node = self.child(at, node.level, child)?;
            at = child;
        }
    }

    /// Calls `f` with every symbol table node, in the order of names, until it breaks.
    pub fn visit(&self, f: &mut dyn FnMut(Addr) -> Result<ControlFlow<()>>) -> Result<()> {
        let root = self.node(self.root)?;
        let mut seen = Seen::default();
        seen.note::<BTree1Node>(self.root)?;
        self.visit_below(self.root, &root, &mut seen, f).map(|_| ())
    }

    /// Recursion is as deep as the tree, whose levels are at most 255.
    fn visit_below(
        &self,
        at: Addr,
        node: &BTree1Node,
        seen: &mut Seen,
        f: &mut dyn FnMut(Addr) -> Result<ControlFlow<()>>,
    ) -> Result<ControlFlow<()>> {
        for child in node.entries.children() {
            seen.note::<BTree1Node>(child)?;
            let flow = if node.level == 0 {
                f(child)?
            } else {
                let below = self.child(at, node.level, child)?;
                self.visit_below(child, &below, seen, f)?
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn node(&self, at: Addr) -> Result<Arc<BTree1Node>> {
        self.store.get(at, &self.context)
    }

    /// The node at `child`, which must be one level below the node at `parent`: levels end every descent.
    fn child(&self, parent: Addr, level: u8, child: Addr) -> Result<Arc<BTree1Node>> {
        let node = self.node(child)?;
        if level.checked_sub(1) == Some(node.level) {
            return Ok(node);
        }
        let (field, value) = ("node level", node.level.into());
        let at = if child.is_defined() { child } else { parent };
        Err(broken::<BTree1Node>(
            at,
            ErrorKind::Value { field, value, expected: "one less than the level above" },
        ))
    }
}
