//! Chunks in a version 1 B-tree (spec III.A.1, node type 1): the keys are the chunks' first elements.

use std::cmp::Ordering;
use std::sync::Arc;

use hyperslab_filters::FilterMask;
use hyperslab_format::btree1::entries::ChunkKey;
use hyperslab_format::btree1::{BTree1Context, BTree1Kind, BTree1Node};
use hyperslab_format::{Addr, ErrorKind, Extent};
use smallvec::SmallVec;

use super::{ChunkIndex, ChunkRecord, State, Visitor, broken};
use crate::error::Result;
use crate::select::{Coord, first_element};
use crate::store::Store;

/// The leaf that was used last.
#[derive(Debug)]
pub(super) struct Leaf(Arc<BTree1Node>);

pub(super) fn lookup(
    index: &ChunkIndex,
    store: &Store,
    root: Addr,
    coord: &Coord,
    state: &mut State,
) -> Result<Option<ChunkRecord>> {
    let first = first_element(coord, &index.chunk_shape);
    if let State::BTree1(Leaf(leaf)) = state
        && let Some(child) = child_of(leaf, &first)
    {
        return Ok(record(index, leaf, child, &first));
    }
    let context = context(index);
    let mut at = root;
    let mut node = store.get::<BTree1Node>(at, &context)?;
    loop {
        let Some(child) = child_of(&node, &first) else { return Ok(None) };
        if node.level == 0 {
            let found = record(index, &node, child, &first);
            *state = State::BTree1(Leaf(node));
            return Ok(found);
        }
        // Who looks up one chunk after another will want the leaves that follow. To try whether they are at hand costs a little.
        let is_tried = child % LEAVES_UNTRIED == 0 || !matches!(state, State::BTree1(_));
        let ahead = if node.level == 1 && is_tried { LEAVES_AHEAD } else { 1 };
        let children = (child..node.entries.len()).filter_map(|child| node.entries.child(child));
        let children: SmallVec<[Addr; 4]> = children.take(ahead).collect();
        let below = store.get_first::<BTree1Node>(&children, &context)?;
        at = children.first().copied().unwrap_or(at);
        let above = std::mem::replace(&mut node, below);
        check_level(&node, above.level, at)?;
        check_range(&node, &above, child, at)?;
    }
}

pub(super) fn visit(index: &ChunkIndex, store: &Store, root: Addr, f: &mut Visitor<'_>) -> Result<()> {
    let context = context(index);
    let mut coord: Vec<u64> = vec![0; index.chunk_shape.len()];
    // Nodes still to visit, the next one last, each with the level above it.
    let mut pending: Vec<(Addr, Option<u8>)> = vec![(root, None)];
    // Every node is somewhere else in the file: more than fit into it are a loop.
    let mut room = store.len_bytes() / context.node_len(store.widths()) as u64 + 1;
    while let Some((at, above)) = pending.pop() {
        room = room
            .checked_sub(1)
            .ok_or_else(|| broken::<BTree1Node>(at, ErrorKind::Depth { limit: u32::from(u8::MAX) }))?;
        let node = store.get::<BTree1Node>(at, &context)?;
        if let Some(above) = above {
            check_level(&node, above, at)?;
        }
        if node.level > 0 {
            pending.extend(node.entries.children().rev().map(|child| (child, Some(node.level))));
            continue;
        }
        for child in 0..node.entries.len() {
            let Some(key) = node.entries.chunk(child) else { break };
            for ((coord, at), len) in coord.iter_mut().zip(key.offset()).zip(&index.chunk_shape) {
                *coord = at / len;
            }
            if let Some(record) = stored(index, &node, child, key)
                && f(&coord, record).is_break()
            {
                return Ok(());
            }
        }
    }
    Ok(())
}

pub(super) fn context(index: &ChunkIndex) -> BTree1Context {
    BTree1Context { kind: BTree1Kind::Chunks { rank: index.chunk_shape.len() }, k: index.btree_k }
}

/// The child between whose keys `first` lies.
fn child_of(node: &BTree1Node, first: &[u64]) -> Option<usize> {
    let is_before = |key: usize| order(node, key, first) == Some(Ordering::Greater);
    let (mut low, mut high) = (0, node.entries.len());
    if high == 0 || is_before(0) || !is_before(high) {
        return None;
    }
    // Key `low` is not beyond `first`, key `high` is.
    while high - low > 1 {
        let middle = usize::midpoint(low, high);
        if is_before(middle) { high = middle } else { low = middle }
    }
    Some(low)
}

/// How key `key` of a node stands to that of the chunk which begins at `first`.
#[inline]
pub(super) fn order(node: &BTree1Node, key: usize, first: &[u64]) -> Option<Ordering> {
    node.entries.chunk(key).map(|key| key.order(first))
}

/// The record of child `child` of a leaf, if it is the chunk that begins at `first`.
pub(super) fn record(
    index: &ChunkIndex,
    leaf: &BTree1Node,
    child: usize,
    first: &[u64],
) -> Option<ChunkRecord> {
    let key = leaf.entries.chunk(child).filter(|key| key.order(first).is_eq())?;
    stored(index, leaf, child, key)
}

/// The record of child `child` of a leaf, which has this key.
fn stored(index: &ChunkIndex, leaf: &BTree1Node, child: usize, key: ChunkKey<'_>) -> Option<ChunkRecord> {
    let addr = leaf.entries.child(child)?.defined()?;
    let len = if index.is_filtered { u64::from(key.size) } else { index.chunk_bytes };
    Some(ChunkRecord { extent: Extent::new(addr, len), mask: FilterMask(key.mask) })
}

/// Nodes that are fetched from a slow medium together.
const LEAVES_AHEAD: usize = 64;
/// One of so many is tried.
const LEAVES_UNTRIED: usize = 8;

fn check_level(node: &BTree1Node, above: u8, at: Addr) -> Result<()> {
    if u16::from(node.level) + 1 == u16::from(above) {
        return Ok(());
    }
    let expected = "one less than that of the node above";
    Err(broken::<BTree1Node>(
        at,
        ErrorKind::Value { field: "Node Level", value: node.level.into(), expected },
    ))
}

/// Checks that the keys of a node lie between those that the node above has for it. Else what a look-up finds would depend
/// on the look-up before it.
fn check_range(node: &BTree1Node, above: &BTree1Node, child: usize, at: Addr) -> Result<()> {
    let count = node.entries.len();
    let reaches = |key: Option<ChunkKey<'_>>, bound: Option<ChunkKey<'_>>| {
        key.zip(bound).is_some_and(|(key, bound)| key.offset().ge(bound.offset()))
    };
    let (keys, bounds) = (|key| node.entries.chunk(key), |key| above.entries.chunk(key));
    if count == 0 || (reaches(keys(0), bounds(child)) && reaches(bounds(child + 1), keys(count))) {
        return Ok(());
    }
    let value = keys(0).and_then(|key| key.offset().next()).unwrap_or(0);
    let expected = "between the keys of the node above";
    Err(broken::<BTree1Node>(at, ErrorKind::Value { field: "Chunk offset", value, expected }))
}
