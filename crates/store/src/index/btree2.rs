//! Chunks in a version 2 B-tree (spec VII.E, record types 10 and 11). The records are in the order of their
//! coordinates.

use std::cmp::Ordering;
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_error::Result;
use hyperslab_format::btree2::geometry::{BTree2Geometry, BTree2NodeShape};
use hyperslab_format::btree2::header::BTree2Header;
use hyperslab_format::btree2::node::BTree2Node;
use hyperslab_format::btree2::record::{RecordForm, Records};
use hyperslab_format::{Addr, ErrorKind};
use hyperslab_select::Coord;
use smallvec::SmallVec;

use super::{ChunkIndex, ChunkRecord, Visitor, broken, misfit};
use crate::Store;
use crate::tree::{BTree2, bisect};

/// The tree and the leaf that was used last.
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
            let expected = "11 if the dataset has filters, else 10";
            return Err(misfit::<BTree2Header>(at, "Type", header.kind, expected));
        }
        let rank = RecordForm::new(header.kind, header.record_size, store.widths()).map(RecordForm::rank);
        if rank != Some(index.chunk_shape.len()) {
            let expected = "the size of a record with the dataset's dimensions";
            return Err(misfit::<BTree2Header>(at, "Record Size", header.record_size, expected));
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
            return record(index, &leaf.records, place, &mut scaled(index));
        }
        let Some((mut at, mut shape)) = self.root else { return Ok(None) };
        let mut bounds = Bounds::default();
        loop {
            let node = store.get::<BTree2Node>(at, &shape)?;
            bounds.check(&node, at)?;
            let place = match search(&node, coord) {
                Ok(place) => {
                    let found = record(index, &node.records, place, &mut scaled(index));
                    if node.children.is_empty() {
                        self.leaf = Some(node);
                    }
                    return found;
                }
                Err(place) => place,
            };
            let Some(child) = node.children.get(place) else { return Ok(None) };
            bounds.narrow(index, &node, place)?;
            at = child.addr;
            shape = self.geometry.node(below(shape, at)?, child.records);
        }
    }
}

/// The records of the nodes above that are next to a node: all of its records are between them. Otherwise a
/// search from the root would miss chunks that a search in the node finds.
#[derive(Default)]
struct Bounds {
    low: Option<SmallVec<[u64; 4]>>,
    high: Option<SmallVec<[u64; 4]>>,
}

impl Bounds {
    fn check(&self, node: &BTree2Node, at: Addr) -> Result<()> {
        let is_on = |place, bound: &Option<SmallVec<[u64; 4]>>, side| {
            bound
                .as_ref()
                .is_none_or(|bound| node.records.order(place, bound).is_none_or(|order| order == side))
        };
        if is_on(0, &self.low, Ordering::Greater)
            && is_on(node.records.len().saturating_sub(1), &self.high, Ordering::Less)
        {
            return Ok(());
        }
        Err(misfit::<BTree2Node>(
            at,
            "chunks of records",
            node.records.len() as u64,
            "chunks between those of the parent",
        ))
    }

    /// Narrows the bounds to those of child `place`.
    fn narrow(&mut self, index: &ChunkIndex, node: &BTree2Node, place: usize) -> Result<()> {
        let bound = |place| {
            let mut coord = scaled(index);
            node.records.chunk(place, &mut coord).map(|_| coord)
        };
        if let Some(before) = place.checked_sub(1) {
            self.low = Some(bound(before)?);
        }
        if place < node.records.len() {
            self.high = Some(bound(place)?);
        }
        Ok(())
    }
}

pub(super) fn visit(index: &ChunkIndex, store: &Store, at: Addr, f: &mut Visitor<'_>) -> Result<()> {
    let tree = Tree::open(index, store, at)?;
    let mut coord = scaled(index);
    BTree2::open(store, at, tree.header.kind)?.visit_places(&mut |records, place| {
        let record = record(index, records, place, &mut coord)?;
        Ok(record.map_or(ControlFlow::Continue(()), |record| f(&coord, record)))
    })
}

/// Returns the index of the record with `coord` in a node, or the index of the child to search next.
fn search(node: &BTree2Node, coord: &[u64]) -> std::result::Result<usize, usize> {
    let order = |place| Ok(node.records.order(place, coord).unwrap_or(Ordering::Greater));
    let Ok::<_, Infallible>(found) = bisect(node.records.len(), order);
    found
}

/// Returns record number `place` and writes its coordinate to `coord`.
fn record(
    index: &ChunkIndex,
    records: &Records,
    place: usize,
    coord: &mut [u64],
) -> Result<Option<ChunkRecord>> {
    let chunk = records.chunk(place, coord)?;
    Ok(index.stored(chunk.addr, chunk.filtered))
}

fn scaled(index: &ChunkIndex) -> SmallVec<[u64; 4]> {
    SmallVec::from_elem(0, index.chunk_shape.len())
}

fn below(shape: BTree2NodeShape, at: Addr) -> Result<u16> {
    shape.depth.checked_sub(1).ok_or_else(|| broken::<BTree2Node>(at, ErrorKind::Missing { what: "a level" }))
}
