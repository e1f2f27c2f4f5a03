//! Chunks in a version 1 B-tree (spec III.A.1, node type 1). A key is the coordinate of a chunk's first
//! element.

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_error::Result;
use hyperslab_format::Addr;
use hyperslab_format::btree1::entries::ChunkKey;
use hyperslab_format::btree1::{BTree1Context, BTree1Kind, BTree1Node};
use hyperslab_select::{Coord, first_element};
use smallvec::SmallVec;

use super::{ChunkIndex, ChunkRecord, CursorState, Visitor, misfit};
use crate::Store;
use crate::tree::{BTree1, check_level};

/// The leaf that was used last.
#[derive(Debug)]
pub(super) struct Leaf(Arc<BTree1Node>);

pub(super) fn lookup(
    index: &ChunkIndex,
    store: &Store,
    root: Addr,
    coord: &Coord,
    state: &mut CursorState,
) -> Result<Option<ChunkRecord>> {
    let first = first_element(coord, &index.chunk_shape);
    if let CursorState::BTree1(Leaf(leaf)) = state
        && let Some(child) = child_of(leaf, &first)
        && let found = record(index, leaf, child, &first)
        && (found.is_some() || check_keys(index, leaf, child, root).is_ok())
    {
        return Ok(found);
    }
    let context = context(index);
    let mut at = root;
    let mut node = store.get::<BTree1Node>(at, &context)?;
    loop {
        let Some(child) = child_of(&node, &first) else {
            check_keys(index, &node, 0, at)?;
            return Ok(None);
        };
        if node.level == 0 {
            let found = record(index, &node, child, &first);
            if found.is_none() {
                check_keys(index, &node, child, at)?;
            }
            *state = CursorState::BTree1(Leaf(node));
            return Ok(found);
        }
        // A reader of consecutive chunks will need the next leaves. To check whether they are cached has a
        // small cost, so only some look-ups do it.
        let is_tried = child % LEAVES_UNTRIED == 0 || !matches!(state, CursorState::BTree1(_));
        let ahead = if node.level == 1 && is_tried { LEAVES_AHEAD } else { 1 };
        let children = (child..node.entries.len()).filter_map(|child| node.entries.child(child));
        let children: SmallVec<[Addr; 4]> = children.take(ahead).collect();
        let below = store.get_first::<BTree1Node>(&children, &context)?;
        // Without a child, `get_first` has failed.
        at = children.first().copied().unwrap_or(Addr::UNDEFINED);
        let above = std::mem::replace(&mut node, below);
        check_level(&node, above.level, at)?;
        check_range(&node, &above, child, at)?;
    }
}

pub(super) fn visit(index: &ChunkIndex, store: &Store, root: Addr, f: &mut Visitor<'_>) -> Result<()> {
    let mut coord: Vec<u64> = vec![0; index.chunk_shape.len()];
    BTree1::new(store, root, context(index)).visit(&mut |at, node| {
        for child in (0..node.entries.len()).take_while(|_| node.level == 0) {
            check_keys(index, node, child, at)?;
            let Some(key) = node.entries.chunk(child) else { break };
            for ((coord, at), len) in coord.iter_mut().zip(key.offset()).zip(&index.chunk_shape) {
                *coord = at / len;
            }
            if let Some(record) = stored(index, node, child, key)
                && f(&coord, record).is_break()
            {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    })
}

pub(super) fn context(index: &ChunkIndex) -> BTree1Context {
    BTree1Context { kind: BTree1Kind::Chunks { rank: index.chunk_shape.len() }, k: index.btree_k }
}

/// Returns the child whose left key is at or before `first` and whose right key is after `first`.
fn child_of(node: &BTree1Node, first: &[u64]) -> Option<usize> {
    let is_before = |key: usize| order(node, key, first) == Some(Ordering::Greater);
    let (mut low, mut high) = (0, node.entries.len());
    if high == 0 || is_before(0) || !is_before(high) {
        return None;
    }
    // Key `low` is at or before `first`; key `high` is after `first`.
    while high - low > 1 {
        let middle = usize::midpoint(low, high);
        if is_before(middle) { high = middle } else { low = middle }
    }
    Some(low)
}

/// Compares key number `key` of a node with the key of the chunk that begins at `first`.
#[inline]
pub(super) fn order(node: &BTree1Node, key: usize, first: &[u64]) -> Option<Ordering> {
    node.entries.chunk(key).map(|key| key.order(first))
}

/// Returns the record of child number `child` of a leaf, if it is the chunk that begins at `first`.
pub(super) fn record(
    index: &ChunkIndex,
    leaf: &BTree1Node,
    child: usize,
    first: &[u64],
) -> Option<ChunkRecord> {
    let key = leaf.entries.chunk(child).filter(|key| key.order(first).is_eq())?;
    stored(index, leaf, child, key)
}

/// Returns the record of child number `child` of a leaf; `key` is the key of the child.
fn stored(index: &ChunkIndex, leaf: &BTree1Node, child: usize, key: ChunkKey<'_>) -> Option<ChunkRecord> {
    index.stored(leaf.entries.child(child)?, Some((key.size.into(), key.mask)))
}

/// The number of leaves to fetch together from a slow medium.
const LEAVES_AHEAD: usize = 64;
/// A look-up checks the following leaves only at every `LEAVES_UNTRIED`-th leaf.
const LEAVES_UNTRIED: usize = 8;

/// Checks that the two keys around a child are beginnings of chunks. If a look-up finds no chunk, one of the
/// keys may be the damaged key of that chunk.
fn check_keys(index: &ChunkIndex, node: &BTree1Node, child: usize, at: Addr) -> Result<()> {
    for key in [child, child + 1].into_iter().filter_map(|key| node.entries.chunk(key)) {
        if let Some((offset, _)) =
            key.offset().zip(&index.chunk_shape).find(|(offset, len)| offset % *len != 0)
        {
            return Err(misfit::<BTree1Node>(at, "Chunk offset", offset, "a number of whole chunks"));
        }
    }
    Ok(())
}

/// Checks that the keys of a node are between the two keys that its parent has for it. Otherwise the result
/// of a look-up would depend on the look-up before it.
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
    Err(misfit::<BTree1Node>(at, "Chunk offset", value, expected))
}
