//! Local heaps (spec III.D): the names of the links of an old-style group.

mod edit;

use std::sync::Arc;

use hyperslab_error::{Error, Result};
use hyperslab_format::heap::local::{LocalHeapData, LocalHeapHeader};
use hyperslab_format::name;
use hyperslab_format::{Addr, ErrorKind, Extent, FormatError, Reader, Structure, Widths, Writer};

use crate::Store;

pub use edit::{create, delete, insert, remove};

/// A local heap. Its data are read in pages, on demand: a large group has many megabytes of names, and a
/// look-up needs few of them.
#[derive(Debug, Clone, Copy)]
pub struct LocalHeap<'s> {
    store: &'s Store,
    data: Extent,
}

/// A page of a heap's data, the unit of reading and changing. Its context is its length in bytes.
#[derive(Debug, Clone)]
struct Page(Vec<u8>);

impl Structure for Page {
    const NAME: &'static str = LocalHeapData::NAME;
    const SPEC: &'static str = LocalHeapData::SPEC;
    type Context = usize;

    fn read_len(_: Widths, len: &usize) -> usize {
        *len
    }

    fn decode(r: &mut Reader<'_>, len: &usize) -> hyperslab_format::Result<Self> {
        r.bytes(*len).map(|bytes| Self(bytes.to_vec()))
    }

    fn encode(&self, w: &mut Writer<'_>, _: &usize) {
        w.bytes(&self.0);
    }

    fn encoded_len(&self, _: Widths, len: &usize) -> usize {
        *len
    }
}

impl<'s> LocalHeap<'s> {
    /// Opens the heap whose header is at `at`.
    pub fn open(store: &'s Store, at: Addr) -> Result<Self> {
        let header = store.get::<LocalHeapHeader>(at, &())?;
        let data = Extent::new(header.data, header.data_size);
        store.check(data, (LocalHeapData::NAME, LocalHeapData::SPEC))?;
        Ok(Self { store, data })
    }

    /// Returns the zero-terminated bytes at `offset`.
    pub fn bytes_at(&self, offset: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut from = offset;
        while from < self.data.len && bytes.len() <= MAX_NAME {
            let page = self.page(from / PAGE)?;
            // The position is less than a page.
            let rest = usize::try_from(from % PAGE).ok().and_then(|at| page.0.get(at..)).unwrap_or_default();
            if let Some(end) = rest.iter().position(|&byte| byte == 0) {
                bytes.extend_from_slice(rest.get(..end).unwrap_or_default());
                return Ok(bytes);
            }
            bytes.extend_from_slice(rest);
            from = (from / PAGE + 1) * PAGE;
        }
        Err(self.error(
            offset,
            ErrorKind::Missing { what: "the zero byte at the end of a name (of at most 64 KiB)" },
        ))
    }

    /// Returns the zero-terminated name at `offset`.
    pub fn text_at(&self, offset: u64) -> Result<String> {
        self.bytes_at(offset).map(|bytes| name::from_bytes(&bytes))
    }

    /// Returns page `number` of the data, which must exist.
    fn page(&self, number: u64) -> Result<Arc<Page>> {
        let (at, len) = page_of(self.data, number);
        self.store.get(at, &len)
    }

    fn error(&self, offset: u64, kind: ErrorKind) -> Error {
        let (structure, spec) = (LocalHeapData::NAME, LocalHeapData::SPEC);
        Error::from(FormatError { kind, structure, spec, at: self.data.addr, offset })
    }
}

/// Returns the address of page `number` of a data segment, and its length in bytes.
fn page_of(data: Extent, number: u64) -> (Addr, usize) {
    let start = number.saturating_mul(PAGE);
    let len = PAGE.min(data.len.saturating_sub(start));
    // The data are inside the file: opening the heap checked that.
    (data.addr.checked_add(start).unwrap_or(Addr::UNDEFINED), usize::try_from(len).unwrap_or(0))
}

/// The size of a page in bytes.
const PAGE: u64 = 16 << 10;

/// The length limit of names, in bytes. Without it, a heap without zero bytes would be copied once for each
/// name. New-style groups cannot store longer names.
const MAX_NAME: usize = 64 << 10;
