//! Changes to the chunks of a version 1 B-tree (spec III.A.1, node type 1).
//!
//! Key `i` describes child `i`. The last key is after the last chunk: one chunk further along every
//! dimension, followed by the size of an element, as libhdf5 writes it.

use std::cmp::Ordering;

use hyperslab_error::{Error, Result};
use hyperslab_format::btree1::BTree1Node;
use hyperslab_format::btree1::entries::BTree1Key;
use hyperslab_format::layout::ChunkIndexInfo;
use hyperslab_format::{Addr, ErrorKind};
use hyperslab_select::{Coord, first_element};

use super::super::btree1::{context, order, record};
use super::super::{ChunkIndex, ChunkRecord, broken};
use super::too_long;
use crate::Txn;
use crate::tree::{BTree1, BTree1Edit, BTree1Step, partition};

/// Changes a tree.
#[derive(Debug)]
pub(super) struct Edit {
    root: Addr,
}

/// The position of a chunk in the tree, or the position to insert it at.
struct ChunkPosition {
    /// The path to the last chunk that is not after the wanted chunk, or else to the first chunk of the tree.
    path: Vec<BTree1Step>,
    /// The order of the chunk at the end of the path relative to the wanted chunk; `None` in an empty tree.
    order: Option<Ordering>,
    /// The record of the wanted chunk, if the tree has it.
    record: Option<ChunkRecord>,
    /// Whether the wanted chunk is at or after the last key of the tree.
    is_beyond: bool,
}

impl Edit {
    /// Opens the tree of the index, or creates one.
    pub(super) fn open(index: &ChunkIndex, txn: &mut Txn<'_>) -> Result<Self> {
        let ChunkIndexInfo::BTree1 { addr } = index.info else {
            return Err(broken::<BTree1Node>(Addr::UNDEFINED, ErrorKind::Missing { what: "a tree" }));
        };
        if txn.store().is_swmr_writer() {
            let feature = "SWMR writing of chunks with an index of HDF5 1.8 (libver below 'v110')";
            return Err(Error::unsupported(feature, "III.A.1"));
        }
        let root = addr.defined().map_or_else(|| BTree1Edit::create(txn, context(index)), Ok)?;
        Ok(Self { root })
    }

    /// Returns the address of the root, which never changes.
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
        let ChunkPosition { mut path, order, record: replaced, is_beyond } =
            find(&tree.tree(), index, coord)?;
        let at = record.extent.addr;
        match order {
            None => tree.insert_first(at, key, beyond(index, coord))?,
            Some(Ordering::Equal) => {
                tree.set_left_key(&path, &key)?;
                tree.set_child(&path, at)?;
            }
            // The new chunk is before all others: the old first key separates the two chunks.
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
        match find(&tree.tree(), index, coord)? {
            ChunkPosition { path, order: Some(Ordering::Equal), .. } => tree.remove_keeping_right_key(path),
            _ => Ok(()),
        }
    }
}

/// Frees the tree at `root`.
pub(super) fn delete(index: &ChunkIndex, txn: &mut Txn<'_>, root: Addr) -> Result<()> {
    BTree1Edit::new(txn, root, context(index)).delete().map(drop)
}

fn find(tree: &BTree1<'_>, index: &ChunkIndex, coord: &[u64]) -> Result<ChunkPosition> {
    let first = first_element(coord, &index.chunk_shape);
    let (path, leaf) = tree.path(&mut |node| {
        let is_before = |key| Ok(order(node, key, &first) != Some(Ordering::Greater));
        partition(node.entries.len(), is_before).map(|key| key.saturating_sub(1))
    })?;
    let Some(step) = path.last() else {
        return Ok(ChunkPosition { path, order: None, record: None, is_beyond: true });
    };
    let is_beyond = order(&leaf, leaf.entries.len(), &first) != Some(Ordering::Greater);
    let order = order(&leaf, step.child, &first);
    let record = record(index, &leaf, step.child, &first);
    Ok(ChunkPosition { path, order, record, is_beyond })
}

/// Returns the key to the right of the chunk at `coord`, if it is the last chunk.
fn beyond(index: &ChunkIndex, coord: &[u64]) -> BTree1Key {
    let elements = index.chunk_shape.iter().fold(1, |all: u64, len| all.saturating_mul(*len));
    let element_bytes = index.chunk_bytes / elements.max(1);
    let next: Coord = coord.iter().map(|at| at.saturating_add(1)).collect();
    let ends = first_element(&next, &index.chunk_shape).into_iter();
    BTree1Key::Chunk { size: 0, mask: 0, offset: ends.chain([element_bytes.max(1)]).collect() }
}
