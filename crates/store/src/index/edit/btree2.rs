//! Changes to the chunks of a version 2 B-tree (spec VII.E).

use std::cmp::Ordering;

use hyperslab_error::Result;
use hyperslab_format::array::element::chunk_size_width;
use hyperslab_format::btree2::header::BTree2Header;
use hyperslab_format::btree2::node::BTree2Node;
use hyperslab_format::btree2::record::{self, Record, RecordForm, Records};
use hyperslab_format::layout::ChunkIndexInfo;
use hyperslab_format::{Addr, ErrorKind};

use super::super::btree2::Tree;
use super::super::{ChunkIndex, ChunkRecord, broken};
use super::{too_long, too_many_chunks};
use crate::tree::btree2::edit::{self, BTree2Parameters, Key};
use crate::{Store, Txn};

/// Changes a tree.
#[derive(Debug)]
pub(super) struct Edit {
    at: Addr,
    form: RecordForm,
}

/// The search key of a chunk's record: its coordinate.
struct At<'c>(&'c [u64]);

impl Key for At<'_> {
    fn compare(&self, records: &Records, index: usize) -> Result<Ordering> {
        let missing = || broken::<BTree2Node>(Addr::UNDEFINED, ErrorKind::Missing { what: "a record" });
        records.order(index, self.0).ok_or_else(missing)
    }
}

impl Edit {
    /// Opens the tree of the index, or creates one.
    pub(super) fn open(index: &ChunkIndex, txn: &mut Txn<'_>) -> Result<Self> {
        let ChunkIndexInfo::BTree2 { addr, node_size, split_percent, merge_percent } = index.info else {
            return Err(broken::<BTree2Header>(Addr::UNDEFINED, ErrorKind::Missing { what: "a tree" }));
        };
        let widths = txn.store().widths();
        if let Some(at) = addr.defined() {
            return Ok(Self { at, form: form(index, txn.store(), at)? });
        }
        let rank = u16::try_from(index.chunk_shape.len()).map_err(|_| too_many_chunks())?;
        let width = chunk_size_width(widths, index.chunk_bytes, index.layout_version);
        let width = index.is_filtered.then_some(u8::try_from(width).unwrap_or(8));
        let form = RecordForm::of_chunks(rank, width, widths).ok_or_else(too_many_chunks)?;
        let parameters = BTree2Parameters { node_size, split_percent, merge_percent };
        Ok(Self { at: edit::create(txn, form, parameters)?, form })
    }

    /// Returns the address of the header.
    pub(super) fn addr(&self) -> Addr {
        self.at
    }

    pub(super) fn insert(
        &self,
        index: &ChunkIndex,
        txn: &mut Txn<'_>,
        coord: &[u64],
        record: ChunkRecord,
    ) -> Result<Option<ChunkRecord>> {
        let filtered = match self.form.max_chunk_len() {
            Some(limit) if record.extent.len > limit => return Err(too_long(limit)),
            limit => limit.map(|_| (record.extent.len, record.mask.0)),
        };
        let chunk = record::ChunkRecord { addr: record.extent.addr, filtered };
        let record = Record::Chunk { chunk, scaled: coord.to_vec() };
        Ok(match edit::insert(txn, self.at, &record, &At(coord))? {
            Some(Record::Chunk { chunk, .. }) => index.stored(chunk.addr, chunk.filtered),
            _ => None,
        })
    }

    pub(super) fn remove(&self, txn: &mut Txn<'_>, coord: &[u64]) -> Result<()> {
        edit::remove(txn, self.at, &At(coord)).map(drop)
    }
}

/// Frees the tree at `at`.
pub(super) fn delete(index: &ChunkIndex, txn: &mut Txn<'_>, at: Addr) -> Result<()> {
    form(index, txn.store(), at)?;
    edit::delete(txn, at)
}

/// Returns the storage format of the records of the tree at `at`, after checking that it is an index of the
/// dataset's chunks.
fn form(index: &ChunkIndex, store: &Store, at: Addr) -> Result<RecordForm> {
    let header = Tree::open(index, store, at)?.header;
    let form = RecordForm::new(header.kind, header.record_size, store.widths());
    let missing = ErrorKind::Missing { what: "a record" };
    form.ok_or_else(|| broken::<BTree2Header>(at, missing))
}
