//! Chunks in a version 1 B-tree (spec III.A.1, node type 1): the keys are the chunks' first elements.

use std::cmp::Ordering;
use std::sync::Arc;

use hyperslab_filters::FilterMask;
use hyperslab_format::btree1::{BTree1Context, BTree1Kind, BTree1Node, ChunkKeys};
use hyperslab_format::{Addr, ErrorKind, Extent};

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
        let children = node.children.get(child..).unwrap_or_default();
        let below = store.get_first::<BTree1Node>(&children[..ahead.min(children.len())], &context)?;
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
            pending.extend(node.children.iter().rev().map(|&child| (child, Some(node.level))));
            continue;
        }
        let Some(keys) = node.keys.chunks() else { continue };
        for child in 0..node.children.len() {
            let Some(first) = keys.offset(child, index.chunk_shape.len()) else { break };
            for ((coord, at), len) in coord.iter_mut().zip(first).zip(&index.chunk_shape) {
                *coord = at / len;
            }
            if let Some(record) = record(index, &node, child, first)
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
    let keys = node.keys.chunks()?;
    let is_before = |key: usize| compare(keys, key, first) == Some(Ordering::Greater);
    let (mut low, mut high) = (0, node.children.len());
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

/// A key has one more number than the dataset has dimensions, 0 for a chunk. libhdf5 ends a node with the last chunk's
/// own offset and 1 element size there, so it counts in the comparison.
pub(super) fn compare(keys: &ChunkKeys, key: usize, first: &[u64]) -> Option<Ordering> {
    let start = key.checked_mul(first.len() + 1)?;
    let (offset, beyond) = keys.offsets.get(start..=start + first.len())?.split_at(first.len());
    Some(offset.cmp(first).then(beyond.cmp(&[0])))
}

/// The record of child `child` of a leaf, if it is the chunk that begins at `first`.
pub(super) fn record(
    index: &ChunkIndex,
    leaf: &BTree1Node,
    child: usize,
    first: &[u64],
) -> Option<ChunkRecord> {
    let keys = leaf.keys.chunks()?;
    if keys.offset(child, first.len())? != first {
        return None;
    }
    let addr = leaf.children.get(child)?.defined()?;
    let len = if index.is_filtered { u64::from(*keys.sizes.get(child)?) } else { index.chunk_bytes };
    Some(ChunkRecord { extent: Extent::new(addr, len), mask: FilterMask(*keys.masks.get(child)?) })
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
    let (Some(keys), Some(bounds)) = (node.keys.chunks(), above.keys.chunks()) else { return Ok(()) };
    let stride = keys.offsets.len() / (node.children.len() + 1);
    let (first, last) = (keys.offsets.get(..stride), keys.offsets.get(keys.offsets.len() - stride..));
    let mut bounds = bounds.offsets.chunks_exact(stride.max(1)).skip(child);
    if node.children.is_empty() || (first >= bounds.next() && last <= bounds.next()) {
        return Ok(());
    }
    let value = keys.offsets.first().copied().unwrap_or(0);
    let expected = "between the keys of the node above";
    Err(broken::<BTree1Node>(at, ErrorKind::Value { field: "Chunk offset", value, expected }))
}
