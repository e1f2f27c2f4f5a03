//! Fractal heaps (spec III.G): the links of large new-style groups, and the attributes of objects that have
//! many.

mod edit;
mod filtered_block;
mod free;
mod huge;
mod managed;

use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_error::{Error, Result, broken, misfit};
use hyperslab_format::btree2::record::Record;
use hyperslab_format::heap::fractal::block::{
    DirectBlock, DirectBlockContext, IndirectBlock, IndirectBlockContext,
};
use hyperslab_format::heap::fractal::geometry::{HeapChild, HeapGeometry};
use hyperslab_format::heap::fractal::header::FractalHeapHeader;
use hyperslab_format::heap::fractal::id::{HeapId, HeapIdForm};
use hyperslab_format::{Addr, ErrorKind, Extent, Reader, Structure};

use super::filtered;
use crate::Store;
use crate::tree::BTree2;

pub use edit::{HeapParameters, create, delete, insert, remove};

/// A fractal heap.
#[derive(Debug, Clone)]
pub struct FractalHeap<'s> {
    store: &'s Store,
    at: Addr,
    header: Arc<FractalHeapHeader>,
    geometry: HeapGeometry,
    id_form: HeapIdForm,
}

/// The location of an object that has its own extent.
#[derive(Debug, Clone, Copy)]
struct Huge {
    stored: Extent,
    /// The filter mask and the decoded size, if the heap has filters.
    filtered: Option<(u32, u64)>,
}

/// A location in a direct block.
#[derive(Debug, Clone, Copy)]
struct HeapPlace {
    /// The address of the block.
    at: Addr,
    /// The decoded size of the block in bytes.
    size: u64,
    /// The stored size and filter mask of the block, if the heap has filters.
    filtered: Option<(u64, u32)>,
    /// The offset within the block.
    within: u64,
    /// The entry that leads to the block, or `None` if the block is the root.
    parent: Option<Parent>,
}

/// An entry of an indirect block.
#[derive(Debug, Clone, Copy)]
struct Parent {
    /// The address of the indirect block.
    at: Addr,
    /// The number of rows of the indirect block.
    rows: u16,
    /// The number of the entry.
    entry: usize,
}

impl<'s> FractalHeap<'s> {
    /// Opens the heap whose header is at `at`.
    pub fn open(store: &'s Store, at: Addr) -> Result<Self> {
        let header = store.get::<FractalHeapHeader>(at, &())?;
        let (geometry, id_form) = (header.geometry(at), header.id_form());
        Ok(Self { store, at, header, geometry, id_form })
    }

    /// Decodes the object called `id`.
    pub fn decode<T: Structure<Context = ()>>(&self, id: &[u8]) -> Result<T> {
        let widths = self.store.widths();
        self.with(id, |bytes, at| Reader::new(bytes, widths, at).structure(&()).map_err(Error::from))
    }

    /// Returns the bytes of the object called `id`.
    pub fn object(&self, id: &[u8]) -> Result<Vec<u8>> {
        self.with(id, |bytes, _| Ok(bytes.to_vec()))
    }

    /// Calls `f` with the bytes of the object called `id`, and their address.
    fn with<R>(&self, id: &[u8], f: impl FnOnce(&[u8], Addr) -> Result<R>) -> Result<R> {
        let mut id = Reader::new(id, self.store.widths(), self.at);
        match id.structure::<HeapId>(&self.id_form)? {
            HeapId::Managed { offset, length } => {
                let place = self.place(offset)?;
                let block = self.direct(&place)?;
                let object = block.object(place.within, length).ok_or_else(|| self.misplaced(offset))?;
                f(object, place.at.checked_add(place.within).ok_or_else(|| self.misplaced(offset))?)
            }
            HeapId::HugeDirect { addr, length, filtered } => {
                f(&self.huge(Huge { stored: Extent::new(addr, length), filtered })?, addr)
            }
            HeapId::HugeIndirect { id } => {
                let huge = self.find_huge(id)?;
                f(&self.huge(huge)?, huge.stored.addr)
            }
            HeapId::Tiny { data } => f(&data, self.at),
        }
    }

    /// Returns the error for an index over this heap whose records have the wrong type.
    pub fn foreign_record(&self) -> Error {
        self.broken(ErrorKind::Missing { what: "the right type of record in the index of the heap" })
    }

    /// Returns the direct block that holds `offset` of the heap, and the place in that block.
    fn place(&self, offset: u64) -> Result<HeapPlace> {
        let header = &self.header;
        if header.root_rows == 0 {
            let filtered =
                header.filtering.as_ref().map(|filtering| (filtering.root_size, filtering.root_mask));
            return Ok(HeapPlace {
                at: header.root,
                size: header.starting_size,
                filtered,
                within: offset,
                parent: None,
            });
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
                    let parent = Some(Parent { at, rows, entry: step.entry });
                    let (at, filtered) = (entry.addr, entry.filtered);
                    return Ok(HeapPlace { at, size, filtered, within: step.within, parent });
                }
                HeapChild::Indirect { rows: below } => {
                    self.check_rows(below, rows)?;
                    (at, rows, offset) = (entry.addr, below, step.within);
                }
            }
        }
    }

    /// Returns the direct block of a place.
    fn direct(&self, place: &HeapPlace) -> Result<Arc<DirectBlock>> {
        let &HeapPlace { at, size, filtered, .. } = place;
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
            Ok((r.structure(&context)?, size))
        })
    }

    /// Reads an object that has its own extent.
    fn huge(&self, huge: Huge) -> Result<Vec<u8>> {
        let name = ("fractal heap huge object", FractalHeapHeader::SPEC);
        match (&self.header.filtering, huge.filtered) {
            (Some(filtering), Some((mask, size))) => {
                filtered::read(self.store, huge.stored, name, &filtering.pipeline, mask, size)
            }
            _ => self.store.bytes(huge.stored, name),
        }
    }

    /// Finds huge object number `wanted` in the heap's B-tree.
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

    /// Returns the error for an id with this `offset`.
    fn misplaced(&self, offset: u64) -> Error {
        let expected = "the offset of an object inside one block";
        misfit::<FractalHeapHeader>(self.at, "offset in the heap id", offset, expected)
    }

    fn broken(&self, kind: ErrorKind) -> Error {
        broken::<FractalHeapHeader>(self.at, kind)
    }

    /// Checks that an indirect block has fewer rows than its parent, which ends every descent.
    fn check_rows(&self, rows: u16, above: u16) -> Result<()> {
        if rows < above {
            return Ok(());
        }
        let (field, expected) = ("rows of an indirect block", "fewer than in the block above");
        Err(misfit::<FractalHeapHeader>(self.at, field, rows, expected))
    }
}

/// The types of the B-trees of huge objects whose ids do not hold their addresses: without and with filters.
const HUGE: u8 = 1;
const HUGE_FILTERED: u8 = 2;
