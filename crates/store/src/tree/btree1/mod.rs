//! Version 1 B-trees (spec III.A.1) of any content: reading and changing.

mod group;
mod nodes;

use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_error::{Result, misfit};
use hyperslab_format::Addr;
use hyperslab_format::btree1::{BTree1Context, BTree1Node};

use super::Seen;
use crate::Store;

pub use group::{GroupTree, GroupTreeEdit};
pub use nodes::BTree1Edit;

/// A tree for reading.
#[derive(Debug, Clone, Copy)]
pub struct BTree1<'s> {
    store: &'s Store,
    root: Addr,
    context: BTree1Context,
}

/// A step on the path from the root to a child of a level 0 node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BTree1Step {
    /// The node.
    pub at: Addr,
    /// The index of the child in the node.
    pub child: usize,
}

/// A callback for each node; it may stop the visit.
type Visitor<'f> = dyn FnMut(Addr, &BTree1Node) -> Result<ControlFlow<()>> + 'f;

impl<'s> BTree1<'s> {
    /// Returns the tree with this root.
    pub fn new(store: &'s Store, root: Addr, context: BTree1Context) -> Self {
        Self { store, root, context }
    }

    /// Returns the node at `at`.
    fn node(&self, at: Addr) -> Result<Arc<BTree1Node>> {
        self.store.get(at, &self.context)
    }

    /// Calls `f` with every node, parents before children and in key order, until `f` breaks.
    pub fn visit(&self, f: &mut Visitor<'_>) -> Result<()> {
        let mut seen = Seen::default();
        // Nodes still to visit, the next one last, each with the level of its parent.
        let mut pending: Vec<(Addr, Option<u8>)> = vec![(self.root, None)];
        while let Some((at, above)) = pending.pop() {
            let node = self.node(at)?;
            above.map_or(Ok(()), |above| check_level(&node, above, at))?;
            seen.note::<BTree1Node>(at)?;
            if f(at, &node)?.is_break() {
                break;
            }
            if node.level > 0 {
                pending.extend(node.entries.children().rev().map(|child| (child, Some(node.level))));
            }
        }
        Ok(())
    }

    /// Returns the path to a child of a level 0 node, and that node. `choose` names a child of each node that
    /// it is given. The path is empty if the tree is; it may end at a node without children, which holds
    /// nothing.
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
            let above = std::mem::replace(&mut node, self.node(at)?);
            check_level(&node, above.level, at)?;
        }
        Ok((path, node))
    }
}

/// Checks that a node is one level below its parent. Falling levels end every descent.
pub fn check_level(node: &BTree1Node, above: u8, at: Addr) -> Result<()> {
    if above.checked_sub(1) == Some(node.level) {
        return Ok(());
    }
    Err(misfit::<BTree1Node>(at, "Node Level", node.level, "one less than that of the node above"))
}
