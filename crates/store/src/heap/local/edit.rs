//! Changes to local heaps: inserts names into the data segment, which grows, and removes them (spec III.D).
//!
//! Free space is a list of blocks in the segment itself. Each block has the offset of the next and its own
//! size.

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_format::heap::local::{LocalHeapData, LocalHeapHeader};
use hyperslab_format::{Addr, ErrorKind, Extent, Reader, Structure, Widths, Writer};

use super::{LocalHeap, MAX_NAME, PAGE, Page, page_of};
use crate::{SpaceKind, Txn};

/// Creates a heap with a data segment of `data_size` bytes, a multiple of eight, and the empty name at offset
/// 0; returns the address of its header.
pub fn create(txn: &mut Txn<'_>, data_size: u64) -> Result<Addr> {
    let widths = txn.store().widths();
    let data_size = data_size.next_multiple_of(ALIGNMENT).max(ALIGNMENT + free_block_len(widths));
    let len = LocalHeapHeader::read_len(widths, &()) as u64;
    let at = txn.allocate(SpaceKind::Metadata, len)?.addr;
    let data = txn.allocate(SpaceKind::Metadata, data_size)?;
    txn.put(at, LocalHeapHeader { data_size, free_list: None, data: data.addr }, ());
    put_pages(txn, data, &vec![0; usize::try_from(data_size).unwrap_or(0)]);
    let mut edit = LocalHeapEdit::open(txn, at)?;
    edit.free.push(FreeBlock { offset: ALIGNMENT, size: data_size - ALIGNMENT });
    edit.finish()?;
    Ok(at)
}

/// Inserts a name into the heap at `at`; returns its offset. After an error, the step must be dropped.
pub fn insert(txn: &mut Txn<'_>, at: Addr, name: &[u8]) -> Result<u64> {
    let mut edit = LocalHeapEdit::open(txn, at)?;
    if name.contains(&0) {
        return Err(edit.error(0, ErrorKind::Text { field: "name" }));
    }
    if name.len() > MAX_NAME {
        return Err(RequestError::TooMany { what: "bytes of a name", limit: MAX_NAME as u64 }.into());
    }
    let size = stored_len(name);
    let offset = if let Some(offset) = edit.take(size) {
        offset
    } else {
        edit.grow(size)?;
        edit.take(size).ok_or_else(|| edit.error(0, ErrorKind::Missing { what: "room for a name" }))?
    };
    let mut bytes = name.to_vec();
    bytes.resize(usize::try_from(size).unwrap_or(0), 0);
    edit.write(offset, &bytes)?;
    edit.finish()?;
    Ok(offset)
}

/// Removes the name at `offset` from the heap at `at`. After an error, the step must be dropped.
pub fn remove(txn: &mut Txn<'_>, at: Addr, offset: u64) -> Result<()> {
    let name = LocalHeap::open(txn.store(), at)?.bytes_at(offset)?;
    let mut edit = LocalHeapEdit::open(txn, at)?;
    let size = stored_len(&name);
    let end = offset.saturating_add(size);
    let is_free = edit.free.iter().any(|block| block.offset < end && offset < block.end());
    if is_free || offset == 0 || !offset.is_multiple_of(ALIGNMENT) || end > edit.header.data_size {
        return Err(edit.error(offset, ErrorKind::Missing { what: "the name to be removed" }));
    }
    edit.give(FreeBlock { offset, size });
    edit.finish()
}

/// Frees all space of the heap at `at`.
pub fn delete(txn: &mut Txn<'_>, at: Addr) -> Result<()> {
    let widths = txn.store().widths();
    let header = *txn.store().get::<LocalHeapHeader>(at, &())?;
    let data = Extent::new(header.data, header.data_size);
    txn.store().check(data, (LocalHeapData::NAME, LocalHeapData::SPEC))?;
    txn.free(data);
    txn.free(Extent::new(at, LocalHeapHeader::read_len(widths, &()) as u64));
    Ok(())
}

/// A heap within a step that changes it. [`finish`](Self::finish) writes the list of free blocks.
struct LocalHeapEdit<'t, 's> {
    txn: &'t mut Txn<'s>,
    at: Addr,
    header: LocalHeapHeader,
    /// The free blocks, in list order.
    free: Vec<FreeBlock>,
    /// The free blocks as stored in the segment.
    stored: Vec<FreeBlock>,
}

/// A block of the list of free blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FreeBlock {
    offset: u64,
    /// The size of the block in bytes, its own fields included.
    size: u64,
}

impl FreeBlock {
    fn end(self) -> u64 {
        self.offset.saturating_add(self.size)
    }
}

impl<'t, 's> LocalHeapEdit<'t, 's> {
    fn open(txn: &'t mut Txn<'s>, at: Addr) -> Result<Self> {
        let header = *txn.store().get::<LocalHeapHeader>(at, &())?;
        let data = Extent::new(header.data, header.data_size);
        txn.store().check(data, (LocalHeapData::NAME, LocalHeapData::SPEC))?;
        let mut edit = Self { txn, at, header, free: Vec::new(), stored: Vec::new() };
        edit.read_free()?;
        edit.stored.clone_from(&edit.free);
        Ok(edit)
    }

    fn read_free(&mut self) -> Result<()> {
        let widths = self.widths();
        let node_len = free_block_len(widths);
        let mut next = self.header.free_list;
        while let Some(offset) = next {
            let bytes = self.read(offset, node_len)?;
            let mut r = Reader::new(&bytes, widths, self.header.data);
            let (after, size) = (r.length()?, r.length()?);
            let block = FreeBlock { offset, size };
            // More blocks than fit beside each other form a circle.
            let is_circle = self.free.len() as u64 >= self.header.data_size / node_len;
            if size < node_len || block.end() > self.header.data_size || is_circle {
                let (field, expected) = ("size of a free block", "the size of a block in the segment");
                return Err(self.error(offset, ErrorKind::Value { field, value: size, expected }));
            }
            self.free.push(block);
            next = Some(after).filter(|&after| after != LAST);
        }
        Ok(())
    }

    /// Takes `size` bytes from the first free block that has enough. The rest has room for a free block's own
    /// fields, or is empty.
    fn take(&mut self, size: u64) -> Option<u64> {
        let least = free_block_len(self.widths());
        let fits = |block: &FreeBlock| block.size == size || block.size >= size.saturating_add(least);
        let place = self.free.iter().position(fits)?;
        let block = self.free.get_mut(place)?;
        let offset = block.offset;
        (block.offset, block.size) = (offset + size, block.size - size);
        if block.size == 0 {
            self.free.remove(place);
        }
        Some(offset)
    }

    /// Adds a free block, merged with adjacent ones. A block too small for its own fields is lost.
    fn give(&mut self, mut block: FreeBlock) {
        let given = block;
        let is_beside = |other: &FreeBlock| other.end() == given.offset || given.end() == other.offset;
        while let Some(place) = self.free.iter().position(is_beside) {
            let other = self.free.remove(place);
            block = FreeBlock { offset: block.offset.min(other.offset), size: block.size + other.size };
        }
        if block.size >= free_block_len(self.widths()) {
            self.free.insert(0, block);
        }
    }

    /// Moves the data to a segment at least twice as large, with room for `size` bytes more.
    fn grow(&mut self, size: u64) -> Result<()> {
        let old = Extent::new(self.header.data, self.header.data_size);
        let more = old.len.max(size.saturating_add(free_block_len(self.widths())));
        let new = self.txn.allocate(SpaceKind::Metadata, old.len.saturating_add(more))?;
        let mut bytes = self.read(0, old.len)?;
        bytes.resize(usize::try_from(new.len).unwrap_or(0), 0);
        self.txn.free(old);
        put_pages(self.txn, new, &bytes);
        (self.header.data, self.header.data_size) = (new.addr, new.len);
        self.give(FreeBlock { offset: old.len, size: more });
        Ok(())
    }

    /// Writes the header and the changed free blocks.
    fn finish(mut self) -> Result<()> {
        let widths = self.widths();
        let with_next = |blocks: &[FreeBlock]| -> Vec<(FreeBlock, u64)> {
            let next = blocks.iter().skip(1).map(|block| block.offset).chain([LAST]);
            blocks.iter().copied().zip(next).collect()
        };
        let (before, after) = (with_next(&self.stored), with_next(&self.free));
        // Most changes touch only the first blocks: the common end of both lists stays.
        let alike = before.iter().rev().zip(after.iter().rev()).take_while(|(a, b)| a == b).count();
        for &(block, next) in after.get(..after.len() - alike).unwrap_or_default() {
            let mut bytes = Vec::new();
            let mut w = Writer::new(&mut bytes, widths);
            w.length(next);
            w.length(block.size);
            self.write(block.offset, &bytes)?;
        }
        self.header.free_list = self.free.first().map(|block| block.offset);
        self.txn.put(self.at, self.header, ());
        Ok(())
    }

    /// Reads `len` bytes at `offset` of the data.
    fn read(&self, offset: u64, len: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let end = offset.saturating_add(len);
        let mut from = offset;
        while from < end && from < self.header.data_size {
            let (at, page_len) = page_of(self.data(), from / PAGE);
            let page = self.txn.store().get::<Page>(at, &page_len)?;
            let start = usize::try_from(from % PAGE).unwrap_or(0);
            let count = usize::try_from(end - from).unwrap_or(usize::MAX);
            bytes.extend(page.0.iter().skip(start).take(count));
            from = (from / PAGE + 1) * PAGE;
        }
        if bytes.len() as u64 == len {
            return Ok(bytes);
        }
        Err(self.error(offset, ErrorKind::Truncated { needed: end, have: self.header.data_size }))
    }

    /// Replaces bytes at `offset` of the data, which must contain them.
    fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        let (mut from, mut rest) = (offset, bytes);
        while !rest.is_empty() {
            let (at, page_len) = page_of(self.data(), from / PAGE);
            let start = usize::try_from(from % PAGE).unwrap_or(0);
            let (now, later) = rest.split_at(rest.len().min(page_len.saturating_sub(start)));
            if now.is_empty() {
                return Err(self.error(from, ErrorKind::Missing { what: "room in the data segment" }));
            }
            self.txn.edit::<Page, _>(at, &page_len, |page| {
                page.0.iter_mut().skip(start).zip(now).for_each(|(old, new)| *old = *new);
            })?;
            (from, rest) = (from + now.len() as u64, later);
        }
        Ok(())
    }

    fn data(&self) -> Extent {
        Extent::new(self.header.data, self.header.data_size)
    }

    fn widths(&self) -> Widths {
        self.txn.store().widths()
    }

    fn error(&self, offset: u64, kind: ErrorKind) -> Error {
        LocalHeap { store: self.txn.store(), data: self.data() }.error(offset, kind)
    }
}

/// Puts all pages of a data segment.
fn put_pages(txn: &mut Txn<'_>, data: Extent, bytes: &[u8]) {
    for (number, page) in (0..).zip(bytes.chunks(usize::try_from(PAGE).unwrap_or(usize::MAX))) {
        txn.put(page_of(data, number).0, Page(page.to_vec()), page.len());
    }
}

/// Returns the bytes that a name takes: with its zero terminator, rounded up to a multiple of eight.
fn stored_len(name: &[u8]) -> u64 {
    (name.len() as u64 + 1).next_multiple_of(ALIGNMENT)
}

/// Returns the size of a free block's own fields.
fn free_block_len(widths: Widths) -> u64 {
    (2 * widths.length.bytes() as u64).next_multiple_of(ALIGNMENT)
}

/// Names begin at multiples of this.
const ALIGNMENT: u64 = 8;

/// The "next" offset of the last free block.
const LAST: u64 = 1;
