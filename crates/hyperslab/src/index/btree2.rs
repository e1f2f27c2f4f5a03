//! Chunks in a version 2 B-tree (spec VII.E, record types 10 and 11): the records are in the order of coordinates.

use std::cmp::Ordering;
use std::sync::Arc;

use hyperslab_filters::FilterMask;
use hyperslab_format::btree2::geometry::{BTree2Geometry, BTree2NodeShape};
use hyperslab_format::btree2::header::BTree2Header;
use hyperslab_format::btree2::node::BTree2Node;
use hyperslab_format::btree2::record::RecordForm;
use hyperslab_format::{Addr, ErrorKind, Extent};
use smallvec::SmallVec;

use super::{ChunkIndex, ChunkRecord, Visitor, broken};
use crate::error::{Error, Result};
use crate::select::Coord;
use crate::store::Store;

/// The tree, and the node that was used last.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) header: Arc<BTree2Header>,
    root: Option<(Addr, BTree2NodeShape)>,
    geometry: BTree2Geometry,
    leaf: Option<Arc<BTree2Node>>,
}

impl Tree {
    pub(super) fn open(index: &ChunkIndex, store: &Store, at: Addr) -> Result<Self> {
        let header = store.get::<BTree2Header>(at, &())?;
        let kind = if index.is_filtered { 11 } else { 10 };
        if header.kind != kind {
            let expected = "11 where the dataset has filters, else 10";
            let kind = ErrorKind::Value { field: "Type", value: header.kind.into(), expected };
            return Err(broken::<BTree2Header>(at, kind));
        }
        let rank = RecordForm::new(header.kind, header.record_size, store.widths()).map(RecordForm::rank);
        if rank != Some(index.chunk_shape.len()) {
            let expected = "that of a record with the dataset's dimensions";
            let kind = ErrorKind::Value { field: "Record Size", value: header.record_size.into(), expected };
            return Err(broken::<BTree2Header>(at, kind));
        }
        let (root, geometry) = (header.root(store.widths()), header.geometry(store.widths()));
        Ok(Self { header, root, geometry, leaf: None })
    }

    pub(super) fn lookup(
        &mut self,
        index: &ChunkIndex,
        store: &Store,
        coord: &Coord,
    ) -> Result<Option<ChunkRecord>> {
        if let Some(leaf) = &self.leaf
            && let Ok(place) = search(leaf, coord)
        {
            return record(index, leaf, place, &mut scaled(index));
        }
        let Some((mut at, mut shape)) = self.root else { return Ok(None) };
        loop {
            let node = store.get::<BTree2Node>(at, &shape)?;
            let place = match search(&node, coord) {
                Ok(place) => {
                    let found = record(index, &node, place, &mut scaled(index));
                    if node.children.is_empty() {
                        self.leaf = Some(node);
                    }
                    return found;
                }
                Err(place) => place,
            };
            let Some(child) = node.children.get(place) else { return Ok(None) };
            at = child.addr;
            shape = self.geometry.node(below(shape, at)?, child.records);
        }
    }
}

pub(super) fn visit(index: &ChunkIndex, store: &Store, at: Addr, f: &mut Visitor<'_>) -> Result<()> {
    let tree = Tree::open(index, store, at)?;
    let mut coord = scaled(index);
    let Some((root, shape)) = tree.root else { return Ok(()) };
    // The path from the root to the node being visited, and the next place in each.
    let mut path: Vec<(Arc<BTree2Node>, BTree2NodeShape, usize)> = vec![(store.get(root, &shape)?, shape, 0)];
    // Every node is somewhere else in the file: more than fit into it are a loop.
    let mut room = store.len_bytes() / u64::from(tree.header.node_size.max(1)) + 1;
    while let Some((node, shape, place)) = path.last_mut() {
        // Child `i` stands before record `i`: even places are children, odd ones records.
        let step = if node.children.is_empty() { *place * 2 + 1 } else { *place };
        *place += 1;
        if step % 2 == 1 {
            let number = step / 2;
            if number >= node.records.len() {
                path.pop();
            } else if let Some(record) = record(index, node, number, &mut coord)?
                && f(&coord, record).is_break()
            {
                return Ok(());
            }
            continue;
        }
        let Some(child) = node.children.get(step / 2).copied() else {
            path.pop();
            continue;
        };
        room = room.checked_sub(1).ok_or_else(|| {
            broken::<BTree2Node>(child.addr, ErrorKind::Depth { limit: tree.header.depth.into() })
        })?;
        let below = tree.geometry.node(below(*shape, child.addr)?, child.records);
        path.push((store.get(child.addr, &below)?, below, 0));
    }
    Ok(())
}

/// The place of `coord` among a node's records, or the child to go on with.
fn search(node: &BTree2Node, coord: &[u64]) -> std::result::Result<usize, usize> {
    let (mut low, mut high) = (0, node.records.len());
    while low < high {
        let middle = usize::midpoint(low, high);
        match node.records.order(middle, coord) {
            Some(Ordering::Less) => low = middle + 1,
            Some(Ordering::Equal) => return Ok(middle),
            Some(Ordering::Greater) | None => high = middle,
        }
    }
    Err(low)
}

/// Record number `place`; its coordinate is written to `coord`.
fn record(
    index: &ChunkIndex,
    node: &BTree2Node,
    place: usize,
    coord: &mut [u64],
) -> Result<Option<ChunkRecord>> {
    let chunk = node.records.chunk(place, coord).map_err(Error::from_format)?;
    let (len, mask) = chunk.filtered.unwrap_or((index.chunk_bytes, 0));
    Ok(chunk
        .addr
        .defined()
        .map(|addr| ChunkRecord { extent: Extent::new(addr, len), mask: FilterMask(mask) }))
}

fn scaled(index: &ChunkIndex) -> SmallVec<[u64; 4]> {
    SmallVec::from_elem(0, index.chunk_shape.len())
}

fn below(shape: BTree2NodeShape, at: Addr) -> Result<u16> {
    shape.depth.checked_sub(1).ok_or_else(|| broken::<BTree2Node>(at, ErrorKind::Missing { what: "a level" }))
}
