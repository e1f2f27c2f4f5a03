//! Chunks of a version 1 B-tree that change (spec III.A.1, node type 1).
//!
//! Key `i` describes child `i`. The last key lies beyond the last chunk: one chunk further along every dimension, with the
//! size of an element after that, as libhdf5 writes it.

use std::cmp::Ordering;

use hyperslab_format::btree1::BTree1Node;
use hyperslab_format::btree1::entries::BTree1Key;
use hyperslab_format::layout::ChunkIndexInfo;
use hyperslab_format::{Addr, ErrorKind};

use super::super::btree1::{context, order, record};
use super::super::{ChunkIndex, ChunkRecord, broken};
use super::too_long;
use crate::error::Result;
use crate::select::{Coord, first_element};
use crate::store::Txn;
use crate::tree::{BTree1Edit, BTree1Step};

/// A tree that is being changed.
#[derive(Debug)]
pub(super) struct Edit {
    root: Addr,
}

/// Where a chunk is in the tree, or would be.
struct Found {
    /// Down to the last chunk that is not after it, or to the first of all.
    path: Vec<BTree1Step>,
    /// How the chunk at the end of the path stands to it; none in an empty tree.
    order: Option<Ordering>,
    /// The chunk itself, if it is there.
    record: Option<ChunkRecord>,
    /// Whether it is beyond the last key of the tree.
    is_beyond: bool,
}

impl Edit {
    /// The tree that the index names, or a new one.
    pub(super) fn open(index: &ChunkIndex, txn: &mut Txn<'_>) -> Result<Self> {
        let ChunkIndexInfo::BTree1 { addr } = index.info else {
            return Err(broken::<BTree1Node>(Addr::UNDEFINED, ErrorKind::Missing { what: "a tree" }));
        };
        let root = addr.defined().map_or_else(|| BTree1Edit::create(txn, context(index)), Ok)?;
        Ok(Self { root })
    }

    /// Where the root is: it stays there.
    pub(super) fn addr(&self) -> Addr {
        self.root
    }

    pub(super) fn insert(
        &self,
        index: &ChunkIndex,
        txn: &mut Txn<'_>,
        coord: &[u64],
        record: ChunkRecord,
    ) -> Result<Option<ChunkRecord>> {
        let limit = u32::MAX;
        let size = u32::try_from(record.extent.len).map_err(|_| too_long(limit.into()))?;
        let offset: Vec<u64> = first_element(coord, &index.chunk_shape).into_iter().chain([0]).collect();
        let key = BTree1Key::Chunk { size, mask: record.mask.0, offset };
        let mut tree = BTree1Edit::new(txn, self.root, context(index));
        let Found { mut path, order, record: replaced, is_beyond } = find(&tree, index, coord)?;
        let at = record.extent.addr;
        match order {
            None => tree.insert_first(at, key, beyond(index, coord))?,
            Some(Ordering::Equal) => {
                tree.set_left_key(&path, &key)?;
                tree.set_child(&path, at)?;
            }
            // Before all others: the key that was the first stands between the two.
            Some(Ordering::Greater) => {
                let node = path.last().map(|step| tree.node(step.at)).transpose()?;
                let between = node.and_then(|node| node.entries.key(0)).unwrap_or_else(|| key.clone());
                tree.set_left_key(&path, &key)?;
                tree.insert(path, at, between)?;
            }
            Some(Ordering::Less) => {
                if is_beyond {
                    tree.set_right_key(&path, &beyond(index, coord))?;
                }
                if let Some(step) = path.last_mut() {
                    step.child += 1;
                }
                tree.insert(path, at, key)?;
            }
        }
        Ok(replaced)
    }

    pub(super) fn remove(&self, index: &ChunkIndex, txn: &mut Txn<'_>, coord: &[u64]) -> Result<()> {
        let mut tree = BTree1Edit::new(txn, self.root, context(index));
        match find(&tree, index, coord)? {
            Found { path, order: Some(Ordering::Equal), .. } => tree.remove_keeping_right_key(path),
            _ => Ok(()),
        }
    }
}

/// Frees the tree at `root`.
pub(super) fn delete(index: &ChunkIndex, txn: &mut Txn<'_>, root: Addr) -> Result<()> {
    BTree1Edit::new(txn, root, context(index)).delete().map(drop)
}

fn find(tree: &BTree1Edit<'_, '_>, index: &ChunkIndex, coord: &[u64]) -> Result<Found> {
    let first = first_element(coord, &index.chunk_shape);
    let (path, leaf) = tree.path(&mut |node| {
        let (mut low, mut high) = (0, node.entries.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            let is_after = order(node, middle, &first) == Some(Ordering::Greater);
            (low, high) = if is_after { (low, middle) } else { (middle + 1, high) };
        }
        Ok(low.saturating_sub(1))
    })?;
    let Some(step) = path.last() else {
        return Ok(Found { path, order: None, record: None, is_beyond: true });
    };
    let is_beyond = order(&leaf, leaf.entries.len(), &first) != Some(Ordering::Greater);
    let order = order(&leaf, step.child, &first);
    let record = record(index, &leaf, step.child, &first);
    Ok(Found { path, order, record, is_beyond })
}

/// The key to the right of the last chunk.
fn beyond(index: &ChunkIndex, coord: &[u64]) -> BTree1Key {
    let elements = index.chunk_shape.iter().fold(1, |all: u64, len| all.saturating_mul(*len));
    let element_bytes = index.chunk_bytes / elements.max(1);
    let next: Coord = coord.iter().map(|at| at.saturating_add(1)).collect();
    let ends = first_element(&next, &index.chunk_shape).into_iter();
    BTree1Key::Chunk { size: 0, mask: 0, offset: ends.chain([element_bytes.max(1)]).collect() }
}
