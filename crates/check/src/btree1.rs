//! Checks version 1 B-trees (spec III.A.1): every node, the levels and siblings, and the keys against those
//! of the parent node.

use hyperslab_format::Addr;
use hyperslab_format::btree1::entries::BTree1Key;
use hyperslab_format::btree1::{BTree1Context, BTree1Node};

use super::{Check, name_of};

/// A key: the offset of a chunk (with one more number), or the name that a heap offset names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Chunk(Vec<u64>),
    Name(Vec<u8>),
}

/// The part of the check that depends on the tree's owner.
pub(super) trait Owner<'c> {
    /// Returns the name at an offset of the group's heap, or `None` if there is none.
    fn name(&mut self, _: &mut Check<'c>, _offset: u64) -> Option<Vec<u8>> {
        None
    }

    /// Checks child `index` of a leaf of the tree. `keys` are the keys around it.
    fn child(&mut self, check: &mut Check<'c>, leaf: &BTree1Node, index: usize, keys: [&Key; 2]);
}

/// The level and keys that a node must have according to its parent.
struct NodeBounds {
    level: Option<u8>,
    keys: Option<[Key; 2]>,
}

/// The last visited node of each level, and the address of its right sibling.
type Siblings = Vec<Option<(Addr, Addr)>>;

impl<'c> Check<'c> {
    /// Visits the tree whose root is at `at`. Returns whether all nodes could be read.
    pub(super) fn btree1(&mut self, at: Addr, context: &BTree1Context, owner: &mut dyn Owner<'c>) -> bool {
        let mut siblings = vec![None; LEVELS];
        let is_whole = self.node1(at, context, &NodeBounds { level: None, keys: None }, &mut siblings, owner);
        if is_whole {
            for (last, right) in siblings.into_iter().flatten() {
                if right.is_defined() {
                    let message = format!("right sibling is {right}, but the node is the last of its level");
                    self.wrong(name_of::<BTree1Node>(), last, message);
                }
            }
        }
        is_whole
    }

    /// The recursion is limited to the depth of the tree, at most 255 levels.
    fn node1(
        &mut self,
        at: Addr,
        context: &BTree1Context,
        place: &NodeBounds,
        siblings: &mut Siblings,
        owner: &mut dyn Owner<'c>,
    ) -> bool {
        let name = name_of::<BTree1Node>();
        let Some(node) = self.block::<BTree1Node>(at, context) else { return false };
        if place.level.is_some_and(|level| level != node.level) {
            self.wrong(
                name,
                at,
                format_args!("node level is {}, not one less than that of the parent", node.level),
            );
            return false;
        }
        self.sibling(at, &node, siblings);
        let mut keys = Vec::with_capacity(node.entries.len() + 1);
        for index in 0..=node.entries.len() {
            let Some(key) = self.key(&node, index, owner) else { break };
            keys.push(key);
        }
        if !node.entries.is_empty() && keys.len() != node.entries.len() + 1 {
            self.wrong(name, at, "a key cannot be read");
            return false;
        }
        if let (Some(first), Some(last)) = (keys.first(), keys.last())
            && place.keys.as_ref().is_some_and(|[low, high]| first < low || last > high)
        {
            self.wrong(name, at, "the keys are not between those of the parent");
        }
        if let Some(Key::Name(first)) = keys.first()
            && place.keys.is_none()
            && !node.entries.is_empty()
            && !first.is_empty()
        {
            // Names before it would not be between their keys, and no writer changes it.
            let first = first.escape_ascii();
            self.wrong(name, at, format_args!("the first key is the name {first}, expected the empty one"));
        }
        if let Some(index) = keys.windows(2).position(|pair| pair[0] > pair[1]) {
            self.wrong(name, at, format_args!("key {} is less than the key to its left", index + 1));
        }
        let mut is_whole = true;
        for (index, (child, around)) in node.entries.children().zip(keys.windows(2)).enumerate() {
            let [low, high] = around else { break };
            match node.level.checked_sub(1) {
                None => owner.child(self, &node, index, [low, high]),
                Some(level) => {
                    let below = NodeBounds { level: Some(level), keys: Some([low.clone(), high.clone()]) };
                    is_whole &= self.node1(child, context, &below, siblings, owner);
                }
            }
        }
        is_whole
    }

    /// Checks the siblings of a node. Nodes of a level are visited from left to right.
    fn sibling(&mut self, at: Addr, node: &BTree1Node, siblings: &mut Siblings) {
        let Some(last) = siblings.get_mut(usize::from(node.level)) else { return };
        let (left, named) = last.replace((at, node.right)).unwrap_or((Addr::UNDEFINED, at));
        let name = name_of::<BTree1Node>();
        if node.left != left {
            self.wrong(name, at, format_args!("left sibling is {}, found {left}", node.left));
        }
        if named != at {
            self.wrong(name, left, format_args!("right sibling is {named}, found {at}"));
        }
    }

    fn key(&mut self, node: &BTree1Node, index: usize, owner: &mut dyn Owner<'c>) -> Option<Key> {
        match node.entries.key(index)? {
            BTree1Key::Chunk { offset, .. } => Some(Key::Chunk(offset)),
            BTree1Key::Group(name) => owner.name(self, name).map(Key::Name),
        }
    }
}

/// The number of levels that a byte can express.
const LEVELS: usize = 256;
