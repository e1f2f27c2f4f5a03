//! Fractal heaps (spec III.G): the links of large new groups and the attributes of objects that have many.

use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_format::btree2::record::Record;
use hyperslab_format::heap::fractal::block::{
    DirectBlock, DirectBlockContext, IndirectBlock, IndirectBlockContext,
};
use hyperslab_format::heap::fractal::geometry::{HeapChild, HeapGeometry};
use hyperslab_format::heap::fractal::header::FractalHeapHeader;
use hyperslab_format::heap::fractal::id::{HeapId, HeapIdForm};
use hyperslab_format::{Addr, ErrorKind, Extent, FormatError, Reader, Structure};

use super::filtered;
use crate::error::{Error, Result};
use crate::store::Store;
use crate::tree::BTree2;

/// A fractal heap.
#[derive(Debug, Clone)]
pub struct FractalHeap<'s> {
    store: &'s Store,
    at: Addr,
    header: Arc<FractalHeapHeader>,
    geometry: HeapGeometry,
    id_form: HeapIdForm,
}

/// Where an object is that has an extent of its own.
#[derive(Debug, Clone, Copy)]
struct Huge {
    stored: Extent,
    /// Its filter mask and its bytes without filters, if the heap has filters.
    filtered: Option<(u32, u64)>,
}

impl<'s> FractalHeap<'s> {
    /// The heap whose header is at `at`.
    pub fn open(store: &'s Store, at: Addr) -> Result<Self> {
        let header = store.get::<FractalHeapHeader>(at, &())?;
        let (geometry, id_form) = (header.geometry(at), header.id_form());
        Ok(Self { store, at, header, geometry, id_form })
    }

    /// Decodes the object called `id`.
    pub fn decode<T: Structure<Context = ()>>(&self, id: &[u8]) -> Result<T> {
        let widths = self.store.widths();
        let mut id = Reader::new(id, widths, self.at);
        let read =
            |bytes: &[u8], at| Reader::new(bytes, widths, at).structure(&()).map_err(Error::from_format);
        match id.structure::<HeapId>(&self.id_form).map_err(Error::from_format)? {
            HeapId::Managed { offset, length } => {
                let (at, block, within) = self.block_of(offset)?;
                let Some(object) = block.object(within, length) else {
                    let (field, expected) = ("offset in the heap id", "that of an object in one block");
                    return Err(self.broken(ErrorKind::Value { field, value: offset, expected }));
                };
                read(object, at.checked_add(within).unwrap_or(at))
            }
            HeapId::HugeDirect { addr, length, filtered } => {
                read(&self.huge(Huge { stored: Extent::new(addr, length), filtered })?, addr)
            }
            HeapId::HugeIndirect { id } => {
                let huge = self.find_huge(id)?;
                read(&self.huge(huge)?, huge.stored.addr)
            }
            HeapId::Tiny { data } => read(&data, self.at),
        }
    }

    /// The error of an index over this heap that holds another type of record than it should.
    pub fn foreign_record(&self) -> Error {
        self.broken(ErrorKind::Missing { what: "the right type of record in the index of the heap" })
    }

    /// The direct block that holds `offset` of the heap, where it is stored, and the offset within it.
    fn block_of(&self, offset: u64) -> Result<(Addr, Arc<DirectBlock>, u64)> {
        let header = &self.header;
        if header.root_rows == 0 {
            let stored =
                header.filtering.as_ref().map(|filtering| (filtering.root_size, filtering.root_mask));
            let block = self.direct(header.root, header.starting_size, stored)?;
            return Ok((header.root, block, offset));
        }
        let (mut at, mut rows, mut offset) = (header.root, header.root_rows, offset);
        loop {
            let context = IndirectBlockContext { geometry: self.geometry, rows };
            let block = self.store.get::<IndirectBlock>(at, &context)?;
            let step = self.geometry.step(offset);
            let Some(entry) = block.entries.get(step.entry).filter(|entry| entry.addr.is_defined()) else {
                return Err(self.broken(ErrorKind::Missing { what: "the block of an object" }));
            };
            match step.child {
                HeapChild::Direct { size } => {
                    return Ok((entry.addr, self.direct(entry.addr, size, entry.filtered)?, step.within));
                }
                // Each has fewer rows than the one above: that ends the descent.
                HeapChild::Indirect { rows: below } if below < rows => {
                    (at, rows, offset) = (entry.addr, below, step.within);
                }
                HeapChild::Indirect { rows: below } => {
                    let (value, expected) = (below.into(), "fewer than in the block above");
                    return Err(self.broken(ErrorKind::Value {
                        field: "rows of an indirect block",
                        value,
                        expected,
                    }));
                }
            }
        }
    }

    /// The direct block of `size` bytes at `at`, where `filtered` says its stored size and filter mask.
    fn direct(&self, at: Addr, size: u64, filtered: Option<(u64, u32)>) -> Result<Arc<DirectBlock>> {
        let name = (DirectBlock::NAME, DirectBlock::SPEC);
        let context = DirectBlockContext { geometry: self.geometry, size };
        let (Some(filtering), Some((stored, mask))) = (&self.header.filtering, filtered) else {
            self.store.check(Extent::new(at, size), name)?;
            return self.store.get(at, &context);
        };
        self.store.get_or_make(at, || {
            let extent = Extent::new(at, stored);
            let bytes = filtered::read(self.store, extent, name, &filtering.pipeline, mask, size)?;
            let mut r = Reader::new(&bytes, self.store.widths(), at);
            Ok((r.structure(&context).map_err(Error::from_format)?, size))
        })
    }

    /// The bytes of an object that has an extent of its own.
    fn huge(&self, huge: Huge) -> Result<Vec<u8>> {
        let name = ("fractal heap huge object", FractalHeapHeader::SPEC);
        match (&self.header.filtering, huge.filtered) {
            (Some(filtering), Some((mask, size))) => {
                filtered::read(self.store, huge.stored, name, &filtering.pipeline, mask, size)
            }
            _ => self.store.bytes(huge.stored, name),
        }
    }

    /// Where the heap's B-tree says the huge object number `wanted` is.
    fn find_huge(&self, wanted: u64) -> Result<Huge> {
        let kind = if self.header.filtering.is_some() { HUGE_FILTERED } else { HUGE };
        let number = |record: &Record| match record {
            Record::Huge { id, .. } => id.unwrap_or(0),
            _ => 0, // no such record in a tree of this type
        };
        let mut found = None;
        BTree2::open(self.store, self.header.huge_btree, kind)?.visit_where(
            &|record| number(record).cmp(&wanted),
            &mut |record| {
                if let Record::Huge { addr, length, filtered, .. } = record {
                    found = Some(Huge { stored: Extent::new(*addr, *length), filtered: *filtered });
                }
                Ok(ControlFlow::Break(()))
            },
        )?;
        found.ok_or_else(|| self.broken(ErrorKind::Missing { what: "a huge object" }))
    }

    fn broken(&self, kind: ErrorKind) -> Error {
        let (structure, spec) = (FractalHeapHeader::NAME, FractalHeapHeader::SPEC);
        Error::from_format(FormatError { kind, structure, spec, at: self.at, offset: 0 })
    }
}

/// Types of the B-trees of huge objects whose ids do not hold their addresses: without and with filters.
const HUGE: u8 = 1;
const HUGE_FILTERED: u8 = 2;
