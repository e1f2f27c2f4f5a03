//! Checks version 2 B-trees (spec III.A.2): every node, the order of the records, and all counts of records.

use std::cmp::Ordering;

use hyperslab_error::Error;
use hyperslab_format::Addr;
use hyperslab_format::btree2::geometry::{BTree2Geometry, BTree2NodeShape};
use hyperslab_format::btree2::header::BTree2Header;
use hyperslab_format::btree2::node::BTree2Node;
use hyperslab_format::btree2::record::Record;

use super::{Check, name_of};

/// The callback for each record.
pub(super) type RecordVisitor<'f, 'c> = dyn FnMut(&mut Check<'c>, &Record) + 'f;

/// The visit of one tree.
struct Visit<'f, 'g, 'c> {
    geometry: BTree2Geometry,
    previous: Option<Record>,
    /// Whether all nodes could be read. If not, counts are not compared.
    is_whole: bool,
    f: &'g mut RecordVisitor<'f, 'c>,
}

impl<'c> Check<'c> {
    /// Visits the tree whose header is at `at` and whose records have one of the types `kinds`. Returns the
    /// header, and whether all nodes could be read.
    pub(super) fn btree2(
        &mut self,
        at: Addr,
        kinds: &[u8],
        f: &mut RecordVisitor<'_, 'c>,
    ) -> Option<(BTree2Header, bool)> {
        let header = self.block::<BTree2Header>(at, &())?;
        if !kinds.contains(&header.kind) {
            let message = format!("type is {}, which does not match the owner of the tree", header.kind);
            self.wrong(name_of::<BTree2Header>(), at, message);
            return None;
        }
        let geometry = header.geometry(self.store.widths());
        let mut visit = Visit { geometry, previous: None, is_whole: true, f };
        let found = match header.root(self.store.widths()) {
            Some((root, shape)) => self.node2(root, &shape, &mut visit),
            None => 0,
        };
        let is_whole = visit.is_whole;
        if is_whole {
            let stated = header.total_records;
            self.expect(name_of::<BTree2Header>(), at, "total number of records", stated, found);
        }
        Some((header, is_whole))
    }

    /// Visits a node and everything below it. Returns the number of records found. The recursion is limited
    /// to the depth of the tree, which the header limits.
    fn node2(&mut self, at: Addr, shape: &BTree2NodeShape, visit: &mut Visit<'_, '_, 'c>) -> u64 {
        let Some(node) = self.block::<BTree2Node>(at, shape) else {
            visit.is_whole = false;
            return 0;
        };
        let mut total = 0;
        for index in 0..=node.records.len() {
            if self.is_over() {
                break;
            }
            if let Some(child) = node.children.get(index) {
                let below = visit.geometry.node(shape.depth.saturating_sub(1), child.records);
                let found = self.node2(child.addr, &below, visit);
                if visit.is_whole {
                    let what = "total number of records in child";
                    self.expect(name_of::<BTree2Node>(), at, what, child.total_records, found);
                }
                total += found;
            }
            if index == node.records.len() {
                break;
            }
            let record = node.records.get(index).map_err(Error::from);
            let Some(record) = self.noted(record, at) else { continue };
            if visit.previous.as_ref().is_some_and(|previous| !is_in_order(previous, &record)) {
                let text = format!("record {index} is not after the one before it");
                self.wrong(name_of::<BTree2Node>(), at, text);
            }
            (visit.f)(self, &record);
            visit.previous = Some(record);
            total += 1;
        }
        total
    }
}

/// Whether `next` may follow `previous`. For equal hashes, the order depends on the objects themselves, which
/// only the tree's owner can compare.
fn is_in_order(previous: &Record, next: &Record) -> bool {
    match (previous, next) {
        (Record::LinkName { hash: a, .. }, Record::LinkName { hash: b, .. })
        | (Record::AttributeName { hash: a, .. }, Record::AttributeName { hash: b, .. })
        | (Record::SharedMessage { hash: a, .. }, Record::SharedMessage { hash: b, .. }) => a <= b,
        (Record::LinkOrder { order: a, .. }, Record::LinkOrder { order: b, .. }) => a < b,
        (Record::AttributeOrder { order: a, .. }, Record::AttributeOrder { order: b, .. }) => a < b,
        (Record::Chunk { scaled: a, .. }, Record::Chunk { scaled: b, .. }) => a.cmp(b) == Ordering::Less,
        (Record::Huge { id: Some(a), .. }, Record::Huge { id: Some(b), .. }) => a < b,
        (Record::Huge { addr: a, length: m, .. }, Record::Huge { addr: b, length: n, .. }) => (a, m) < (b, n),
        // All records of a tree have one type.
        _ => false,
    }
}
