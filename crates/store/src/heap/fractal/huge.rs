//! Huge objects of a fractal heap (spec III.G). Each has its own extent, which a version 2 B-tree records.

use std::ops::ControlFlow;

use hyperslab_error::{RequestError, Result};
use hyperslab_format::btree2::record::{Record, RecordForm};
use hyperslab_format::heap::fractal::header::FractalHeapHeader;
use hyperslab_format::heap::fractal::id::HeapId;
use hyperslab_format::{Addr, ErrorKind, Extent};

use super::edit::FractalHeapEdit;
use crate::SpaceKind;
use crate::tree::BTree2;
use crate::tree::btree2::edit::{self as btree2, BTree2Parameters};
use crate::tree::free_blocks;

impl FractalHeapEdit<'_, '_> {
    /// Stores an object in an extent of its own. Its bytes are written at once, because nothing refers to
    /// them yet.
    pub(super) fn insert_huge(&mut self, object: &[u8]) -> Result<HeapId> {
        let size = object.len() as u64;
        let encoded = self.encoded(object)?;
        let (object, filtered) = match &encoded {
            Some((stored, mask)) => (&stored[..], Some((*mask, size))),
            None => (object, None),
        };
        let length = object.len() as u64;
        let addr = self.txn().allocate(SpaceKind::Raw, length)?.addr;
        self.txn().store().write_data(addr, object)?;
        let (is_direct, id) = if self.is_direct() { (true, None) } else { (false, Some(self.next_id()?)) };
        let record = Record::Huge { addr, length, filtered, id };
        if self.header().huge_btree.is_undefined() {
            let widths = self.widths();
            let mut size = widths.offset.bytes() + (1 + usize::from(!is_direct)) * widths.length.bytes();
            if filtered.is_some() {
                size += 4 + widths.length.bytes(); // the mask, and the size before filtering
            }
            let (kind, size) = (self.huge_kind(), u16::try_from(size).unwrap_or(0));
            let Some(form) = RecordForm::new(kind, size, widths) else {
                return Err(self.broken(ErrorKind::Missing { what: "a record type for huge objects" }));
            };
            let at = btree2::create(self.txn(), form, BTree2Parameters::NAMES)?;
            self.header_mut().huge_btree = at;
        }
        let tree = self.header().huge_btree;
        let key = key(&record);
        btree2::insert(self.txn(), tree, &record, &move |other: &Record| Ok(self::key(other).cmp(&key)))?;
        let statistics = &mut self.header_mut().statistics;
        statistics.huge_size = statistics.huge_size.saturating_add(size);
        statistics.huge_objects = statistics.huge_objects.saturating_add(1);
        Ok(id.map_or(HeapId::HugeDirect { addr, length, filtered }, |id| HeapId::HugeIndirect { id }))
    }

    /// Removes the object that `id` names, and frees its extent.
    pub(super) fn remove_huge(&mut self, id: &HeapId) -> Result<()> {
        let key = match *id {
            HeapId::HugeDirect { addr, length, .. } => (addr.get(), length),
            HeapId::HugeIndirect { id } => (id, 0),
            HeapId::Managed { .. } | HeapId::Tiny { .. } => return Ok(()),
        };
        let tree = self.header().huge_btree;
        let found = match tree.defined() {
            Some(tree) => {
                btree2::remove(self.txn(), tree, &move |other: &Record| Ok(self::key(other).cmp(&key)))?
            }
            None => None,
        };
        let Some(Record::Huge { addr, length, filtered, .. }) = found else {
            return Err(self.broken(ErrorKind::Missing { what: "a huge object" }));
        };
        free_blocks::<FractalHeapHeader>(self.txn(), addr, vec![Extent::new(addr, length)])?;
        let header = self.header_mut();
        let size = filtered.map_or(length, |(_, size)| size);
        header.statistics.huge_size = header.statistics.huge_size.saturating_sub(size);
        header.statistics.huge_objects = header.statistics.huge_objects.saturating_sub(1);
        if header.statistics.huge_objects == 0 { self.clear_huge() } else { Ok(()) }
    }

    /// Frees all huge objects and their tree.
    pub(super) fn clear_huge(&mut self) -> Result<()> {
        let Some(tree) = self.header().huge_btree.defined() else { return Ok(()) };
        let mut objects = Vec::new();
        let kind = self.huge_kind();
        BTree2::open(self.txn().store(), tree, kind)?.visit(&mut |record| {
            if let Record::Huge { addr, length, .. } = record {
                objects.push(Extent::new(*addr, *length));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        free_blocks::<FractalHeapHeader>(self.txn(), tree, objects)?;
        btree2::delete(self.txn(), tree)?;
        let header = self.header_mut();
        (header.huge_btree, header.next_huge_id, header.huge_ids_wrapped) = (Addr::UNDEFINED, 0, false);
        (header.statistics.huge_size, header.statistics.huge_objects) = (0, 0);
        Ok(())
    }

    /// Returns the number of the next object. Numbers are reused only after the last huge object is removed.
    fn next_id(&mut self) -> Result<u64> {
        let width = self.id_form().huge_id_width().clamp(1, 8);
        let limit = u64::MAX >> (64 - 8 * width);
        let header = self.header_mut();
        if header.huge_ids_wrapped || header.next_huge_id >= limit {
            return Err(RequestError::TooMany { what: "huge objects of a fractal heap", limit }.into());
        }
        header.next_huge_id += 1;
        Ok(header.next_huge_id)
    }

    fn is_direct(&self) -> bool {
        self.id_form().huge_is_direct(self.widths())
    }

    /// Returns the type of the B-tree of huge objects.
    fn huge_kind(&self) -> u8 {
        let kind = if self.is_direct() { DIRECT } else { INDIRECT };
        if self.header().filtering.is_some() { kind + 1 } else { kind }
    }
}

/// Returns the sort key of a record of a huge object: its number, or its address and length.
fn key(record: &Record) -> (u64, u64) {
    match *record {
        Record::Huge { id: Some(id), .. } => (id, 0),
        Record::Huge { addr, length, .. } => (addr.get(), length),
        _ => (0, 0), // no such record in a tree of these types
    }
}

/// The types of the B-trees of huge objects without filters. Ids hold the objects' numbers, or their
/// addresses. With filters, the type is greater by one.
const INDIRECT: u8 = 1;
const DIRECT: u8 = 3;
