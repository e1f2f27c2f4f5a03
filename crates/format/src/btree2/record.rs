//! The eleven types of version 2 B-tree records (spec III.A.2).
//!
//! A node keeps its records as raw bytes and decodes them one by one, because a search looks at only a few.

use std::cmp::Ordering;

use crate::addr::Addr;
use crate::bytes::{Reader, Widths, Writer};
use crate::error::Result;

/// The records of one node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Records {
    form: RecordForm,
    bytes: Vec<u8>,
}

/// The encoding of a tree's records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordForm {
    kind: u8,
    size: u16,
    widths: Widths,
    /// Types 10 and 11: the number of dimensions of the dataset.
    rank: u16,
    /// Type 11: the size in bytes of the field for a chunk's stored size.
    size_width: u8,
}

/// A record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// Types 1 to 4: an object too large for the blocks of the fractal heap.
    Huge {
        /// The address of the object.
        addr: Addr,
        /// The stored size of the object in bytes.
        length: u64,
        /// The filter mask and the size in bytes before filtering, if the heap has filters (types 2 and 4).
        filtered: Option<(u32, u64)>,
        /// The id of the object, if heap ids do not hold the address (types 1 and 2).
        id: Option<u64>,
    },
    /// Type 5: a link, indexed by name.
    LinkName {
        /// The lookup3 hash of the name.
        hash: u32,
        /// The link's fractal heap id.
        id: [u8; 7],
    },
    /// Type 6: a link, indexed by creation order.
    LinkOrder {
        /// The creation order of the link.
        order: i64,
        /// The link's fractal heap id.
        id: [u8; 7],
    },
    /// Type 7: a shared message.
    SharedMessage {
        /// The lookup3 hash of the message.
        hash: u32,
        /// The location of the message.
        location: SharedRecordLocation,
    },
    /// Type 8: an attribute, indexed by name.
    AttributeName {
        /// The attribute's fractal heap id.
        id: [u8; 8],
        /// The message flags. Bit 1: the heap object is a shared message.
        flags: u8,
        /// The creation order of the attribute.
        order: u32,
        /// The lookup3 hash of the name.
        hash: u32,
    },
    /// Type 9: an attribute, indexed by creation order.
    AttributeOrder {
        /// The attribute's fractal heap id.
        id: [u8; 8],
        /// The message flags. Bit 1: the heap object is a shared message.
        flags: u8,
        /// The creation order of the attribute.
        order: u32,
    },
    /// Types 10 and 11: a chunk.
    Chunk {
        /// The location of the chunk.
        chunk: ChunkRecord,
        /// The position of the chunk, counted in chunks.
        scaled: Vec<u64>,
    },
}

/// The location of a shared message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedRecordLocation {
    /// Location 0: in the shared message heap.
    Heap {
        /// The number of object headers that use the message.
        reference_count: u32,
        /// The fractal heap id of the message.
        id: [u8; 8],
    },
    /// Location 1: in an object header.
    Header {
        /// The type of the message.
        message_type: u8,
        /// The creation index of the message in that header.
        index: u16,
        /// The address of the header.
        addr: Addr,
    },
}

/// The location of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkRecord {
    /// The address of the chunk.
    pub addr: Addr,
    /// The stored size in bytes and the filter mask, if the dataset has filters.
    pub filtered: Option<(u64, u32)>,
}

impl RecordForm {
    /// Returns the form of records of type `kind` with `size` bytes. `None` if they cannot have that size.
    pub fn new(kind: u8, size: u16, widths: Widths) -> Option<Self> {
        let plain = Self { kind, size, widths, rank: 0, size_width: 0 };
        let (offset, length) = (widths.offset as u16, widths.length as u16);
        let expected = match kind {
            1 => offset + 2 * length,
            2 => offset + 3 * length + 4,
            3 => offset + length,
            4 => offset + 2 * length + 4,
            5 => 4 + 7,
            6 => 8 + 7,
            7 => 1 + 4 + (4 + 8).max(1 + 1 + 2 + offset),
            8 => 8 + 1 + 4 + 4,
            9 => 8 + 1 + 4,
            10 => {
                let rank = size.checked_sub(offset)? / 8;
                return (rank > 0 && size == offset + 8 * rank).then_some(Self { rank, ..plain });
            }
            11 => {
                // Besides address, mask and coordinates (8 each), the rest is the width of the size, 1 to 8.
                let rest = size.checked_sub(offset + 4 + 1)?;
                let (rank, size_width) = (rest / 8, u8::try_from(rest % 8 + 1).ok()?);
                return (rank > 0).then_some(Self { rank, size_width, ..plain });
            }
            _ => return None,
        };
        (size == expected).then_some(plain)
    }

    /// Returns the form of the records of chunks with `rank` dimensions. If the dataset has filters,
    /// `size_width` is the size in bytes of the field for the stored size.
    pub fn of_chunks(rank: u16, size_width: Option<u8>, widths: Widths) -> Option<Self> {
        let unfiltered = (widths.offset as u16).checked_add(rank.checked_mul(8)?)?;
        match size_width {
            None => Self::new(10, unfiltered, widths),
            Some(size_width) => {
                let form = Self::new(11, unfiltered.checked_add(4 + u16::from(size_width))?, widths)?;
                (form.rank == rank).then_some(form)
            }
        }
    }

    /// Returns the type of the tree.
    pub fn kind(self) -> u8 {
        self.kind
    }

    /// Returns the size of a record in bytes.
    pub fn size(self) -> u16 {
        self.size
    }

    /// Returns the number of dimensions of the dataset if the records describe chunks, and 0 otherwise.
    pub fn rank(self) -> usize {
        self.rank.into()
    }

    /// Returns the largest stored size of a chunk that a record can hold, or `None` if records hold no size.
    pub fn max_chunk_len(self) -> Option<u64> {
        match self.size_width {
            0 => None,
            width => Some(u64::MAX >> (64 - 8 * u32::from(width))),
        }
    }

    /// Returns whether `record` has the type and the optional fields of this form.
    pub fn holds(self, record: &Record) -> bool {
        match record {
            Record::Huge { filtered, id, .. } => {
                let kind = if id.is_some() { 1 } else { 3 };
                self.kind == kind + u8::from(filtered.is_some())
            }
            Record::LinkName { .. } => self.kind == 5,
            Record::LinkOrder { .. } => self.kind == 6,
            Record::SharedMessage { .. } => self.kind == 7,
            Record::AttributeName { .. } => self.kind == 8,
            Record::AttributeOrder { .. } => self.kind == 9,
            Record::Chunk { chunk, scaled } => {
                let kind = if chunk.filtered.is_some() { 11 } else { 10 };
                self.kind == kind && scaled.len() == self.rank()
            }
        }
    }

    /// Decodes one record.
    pub fn decode(self, r: &mut Reader<'_>) -> Result<Record> {
        Ok(match self.kind {
            1..=4 => self.decode_huge(r)?,
            5 => Record::LinkName { hash: r.u32()?, id: r.array()? },
            6 => Record::LinkOrder { order: i64::from_le_bytes(r.array()?), id: r.array()? },
            7 => self.decode_shared(r)?,
            8 => Record::AttributeName { id: r.array()?, flags: r.u8()?, order: r.u32()?, hash: r.u32()? },
            9 => Record::AttributeOrder { id: r.array()?, flags: r.u8()?, order: r.u32()? },
            _ => {
                let chunk = self.decode_chunk(r)?;
                let scaled = (0..self.rank).map(|_| r.u64()).collect::<Result<_>>()?;
                Record::Chunk { chunk, scaled }
            }
        })
    }

    fn decode_huge(self, r: &mut Reader<'_>) -> Result<Record> {
        let (addr, length) = (r.addr()?, r.length()?);
        let filtered = if self.kind.is_multiple_of(2) { Some((r.u32()?, r.length()?)) } else { None };
        let id = if self.kind < 3 { Some(r.length()?) } else { None };
        Ok(Record::Huge { addr, length, filtered, id })
    }

    fn decode_shared(self, r: &mut Reader<'_>) -> Result<Record> {
        let mut record = r.sub(self.size.into())?;
        let location = record.u8()?;
        let hash = record.u32()?;
        let location = match location {
            0 => SharedRecordLocation::Heap { reference_count: record.u32()?, id: record.array()? },
            1 => {
                record.skip(1)?;
                let (message_type, index) = (record.u8()?, record.u16()?);
                SharedRecordLocation::Header { message_type, index, addr: record.addr()? }
            }
            other => return Err(record.bad_value("message location", other.into(), "0 or 1")),
        };
        Ok(Record::SharedMessage { hash, location })
    }

    fn decode_chunk(self, r: &mut Reader<'_>) -> Result<ChunkRecord> {
        let addr = r.addr()?;
        let filtered = match self.size_width {
            0 => None,
            width => Some((r.uint(width.into())?, r.u32()?)),
        };
        Ok(ChunkRecord { addr, filtered })
    }

    /// Appends one record.
    pub fn encode(self, record: &Record, w: &mut Writer<'_>) {
        let start = w.written();
        match record {
            Record::Huge { addr, length, filtered, id } => {
                w.addr(*addr);
                w.length(*length);
                if let Some((mask, memory_size)) = filtered {
                    w.u32(*mask);
                    w.length(*memory_size);
                }
                if let Some(id) = id {
                    w.length(*id);
                }
            }
            Record::LinkName { hash, id } => {
                w.u32(*hash);
                w.bytes(id);
            }
            Record::LinkOrder { order, id } => {
                w.bytes(&order.to_le_bytes());
                w.bytes(id);
            }
            Record::SharedMessage { hash, location } => encode_shared(*hash, location, w),
            Record::AttributeName { id, flags, order, hash } => {
                w.bytes(id);
                w.u8(*flags);
                w.u32(*order);
                w.u32(*hash);
            }
            Record::AttributeOrder { id, flags, order } => {
                w.bytes(id);
                w.u8(*flags);
                w.u32(*order);
            }
            Record::Chunk { chunk, scaled } => {
                w.addr(chunk.addr);
                if let Some((size, mask)) = chunk.filtered {
                    w.uint(size, self.size_width.into());
                    w.u32(mask);
                }
                for &coordinate in scaled {
                    w.u64(coordinate);
                }
            }
        }
        let unused = usize::from(self.size).saturating_sub(w.written() - start);
        w.zeros(unused);
    }
}

fn encode_shared(hash: u32, location: &SharedRecordLocation, w: &mut Writer<'_>) {
    match location {
        SharedRecordLocation::Heap { reference_count, id } => {
            w.u8(0);
            w.u32(hash);
            w.u32(*reference_count);
            w.bytes(id);
        }
        SharedRecordLocation::Header { message_type, index, addr } => {
            w.u8(1);
            w.u32(hash);
            w.zeros(1);
            w.u8(*message_type);
            w.u16(*index);
            w.addr(*addr);
        }
    }
}

impl Records {
    /// Creates the records of a node. All `records` have the form `form`.
    pub fn new<'a>(form: RecordForm, records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut bytes = Vec::new();
        let mut w = Writer::new(&mut bytes, form.widths);
        for record in records {
            form.encode(record, &mut w);
        }
        Self { form, bytes }
    }

    pub(crate) fn decode(r: &mut Reader<'_>, kind: u8, size: u16, count: u16) -> Result<Self> {
        let Some(form) = RecordForm::new(kind, size, r.widths()) else {
            return Err(r.bad_value("record size", size.into(), "the size of records of the tree's type"));
        };
        let bytes = r.bytes(usize::from(count) * usize::from(size))?.to_vec();
        Ok(Self { form, bytes })
    }

    pub(crate) fn encode(&self, w: &mut Writer<'_>) {
        w.bytes(&self.bytes);
    }

    /// Inserts a record before record `index`, or at the end if there is no such record.
    pub fn insert(&mut self, index: usize, record: &Record) {
        let size = usize::from(self.form.size);
        let start = index.min(self.len()) * size;
        self.push(record);
        if let Some(moved) = self.bytes.get_mut(start..) {
            moved.rotate_right(size);
        }
    }

    /// Replaces record `index`, if it exists.
    pub fn replace(&mut self, index: usize, record: &Record) {
        let size = usize::from(self.form.size);
        let last = self.bytes.len();
        self.push(record);
        let (records, new) = self.bytes.split_at_mut(last);
        if let Some(old) = records.chunks_exact_mut(size.max(1)).nth(index) {
            old.copy_from_slice(new);
        }
        self.bytes.truncate(last);
    }

    /// Removes record `index`, if it exists.
    pub fn remove(&mut self, index: usize) {
        let size = usize::from(self.form.size);
        if index < self.len() {
            self.bytes.drain(index * size..(index + 1) * size);
        }
    }

    /// Splits off and returns record `index` and all later records.
    #[must_use]
    pub fn split_off(&mut self, index: usize) -> Self {
        let start = index.min(self.len()) * usize::from(self.form.size);
        Self { form: self.form, bytes: self.bytes.split_off(start) }
    }

    /// Appends the records of another node of the same tree.
    pub fn append(&mut self, other: &Self) {
        self.bytes.extend_from_slice(&other.bytes);
    }

    /// Appends a record, in exactly as many bytes as the form states.
    fn push(&mut self, record: &Record) {
        let end = self.bytes.len() + usize::from(self.form.size);
        self.form.encode(record, &mut Writer::new(&mut self.bytes, self.form.widths));
        self.bytes.resize(end, 0);
    }

    /// Returns the form of the records.
    pub fn form(&self) -> RecordForm {
        self.form
    }

    /// Returns the number of records.
    pub fn len(&self) -> usize {
        self.bytes.len() / usize::from(self.form.size.max(1))
    }

    /// Returns whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Decodes record `index`. Fails if it does not exist or holds a value that its type does not allow.
    pub fn get(&self, index: usize) -> Result<Record> {
        self.form.decode(&mut self.reader(index)?)
    }

    /// Decodes all records in order.
    pub fn iter(&self) -> impl Iterator<Item = Result<Record>> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Returns the chunk that record `index` describes, like [`Records::get`] but without allocation. Writes
    /// its position to the front of `scaled`, which must hold at least [`rank`](RecordForm::rank) numbers.
    pub fn chunk(&self, index: usize, scaled: &mut [u64]) -> Result<ChunkRecord> {
        let mut r = self.reader(index)?;
        let chunk = self.form.decode_chunk(&mut r)?;
        for coordinate in scaled.iter_mut().take(self.form.rank()) {
            *coordinate = r.u64()?;
        }
        Ok(chunk)
    }

    /// Compares the chunk that record `index` describes with the chunk at `scaled`. `None` if there is no
    /// such record.
    #[inline]
    pub fn order(&self, index: usize, scaled: &[u64]) -> Option<Ordering> {
        let (size, rank) = (usize::from(self.form.size), self.form.rank());
        let end = index.checked_add(1)?.checked_mul(size)?;
        let position = self.bytes.get(end.checked_sub(8 * rank)?..end)?;
        for (bytes, at) in position.as_chunks::<8>().0.iter().zip(scaled) {
            let number = u64::from_le_bytes(*bytes);
            if number != *at {
                return Some(number.cmp(at));
            }
        }
        Some(Ordering::Equal)
    }

    /// Returns the index of the first chunk that does not follow its left neighbour. A search in such a node
    /// would miss chunks that exist.
    pub(super) fn first_out_of_order(&self) -> Option<usize> {
        let (size, rank) = (usize::from(self.form.size), self.form.rank());
        if rank == 0 {
            return None;
        }
        let position = size - 8 * rank;
        let pairs = self.bytes.chunks_exact(size).zip(self.bytes.chunks_exact(size).skip(1));
        let follows = |(left, record): (&[u8], &[u8])| {
            let (left, _) = left[position..].as_chunks::<8>();
            let (numbers, _) = record[position..].as_chunks::<8>();
            let mut differing = left.iter().zip(numbers).filter(|(left, number)| left != number);
            differing
                .next()
                .is_some_and(|(left, number)| u64::from_le_bytes(*left) < u64::from_le_bytes(*number))
        };
        pairs.map(follows).position(|follows| !follows).map(|before| before + 1)
    }

    fn reader(&self, index: usize) -> Result<Reader<'_>> {
        let size = usize::from(self.form.size);
        let mut r = Reader::new(&self.bytes, self.form.widths, Addr::UNDEFINED);
        r.skip(index.saturating_mul(size))?;
        r.sub(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_record_determines_its_rank_and_widths() {
        for rank in 1..=32 {
            let plain = RecordForm::of_chunks(rank, None, Widths::EIGHT).unwrap();
            assert_eq!((plain.kind(), plain.size(), plain.rank()), (10, 8 + 8 * rank, rank.into()));
            for size_width in 1..=8 {
                let form = RecordForm::of_chunks(rank, Some(size_width), Widths::EIGHT).unwrap();
                assert_eq!((form.kind(), form.rank(), form.size_width), (11, rank.into(), size_width));
            }
        }
        assert_eq!(RecordForm::new(10, 23, Widths::EIGHT), None);
        assert_eq!(RecordForm::new(11, 12, Widths::EIGHT), None);
        assert_eq!(RecordForm::new(5, 12, Widths::EIGHT), None);
        assert_eq!(RecordForm::new(12, 24, Widths::EIGHT), None);
    }

    #[test]
    fn insert_replace_remove_split_and_append_keep_the_order() {
        let form = RecordForm::new(6, 15, Widths::EIGHT).unwrap();
        let record = |order| Record::LinkOrder { order, id: [1; 7] };
        let orders = |records: &Records| -> Vec<i64> {
            let order = |record| match record {
                Ok(Record::LinkOrder { order, .. }) => order,
                other => panic!("{other:?}"),
            };
            records.iter().map(order).collect()
        };
        let mut records = Records::new(form, []);
        for (index, order) in [(0, 5), (0, 3), (1, 4), (99, 9)] {
            records.insert(index, &record(order));
        }
        assert_eq!(orders(&records), [3, 4, 5, 9]);
        records.replace(2, &record(6));
        records.replace(4, &record(7));
        records.remove(0);
        records.remove(3);
        assert_eq!(orders(&records), [4, 6, 9]);
        let after = records.split_off(1);
        assert_eq!((orders(&records), orders(&after)), (vec![4], vec![6, 9]));
        records.append(&after);
        assert_eq!(orders(&records), [4, 6, 9]);
    }

    #[test]
    fn every_record_type_round_trips() {
        let (id7, id8) = ([1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7, 8]);
        let huge = |filtered, id| Record::Huge { addr: Addr::new(0x1234), length: 99, filtered, id };
        let shared = |location| Record::SharedMessage { hash: 5, location };
        let chunk = |filtered| Record::Chunk {
            chunk: ChunkRecord { addr: Addr::UNDEFINED, filtered },
            scaled: vec![3, u64::MAX],
        };
        for (kind, size, record) in [
            (1, 24, huge(None, Some(7))),
            (2, 36, huge(Some((1, 200)), Some(7))),
            (3, 16, huge(None, None)),
            (4, 28, huge(Some((1, 200)), None)),
            (5, 11, Record::LinkName { hash: 0xdead_beef, id: id7 }),
            (6, 15, Record::LinkOrder { order: -1, id: id7 }),
            (7, 17, shared(SharedRecordLocation::Heap { reference_count: 2, id: id8 })),
            (7, 17, shared(SharedRecordLocation::Header { message_type: 3, index: 9, addr: Addr::new(8) })),
            (8, 17, Record::AttributeName { id: id8, flags: 2, order: 3, hash: 4 }),
            (9, 13, Record::AttributeOrder { id: id8, flags: 2, order: 3 }),
            (10, 24, chunk(None)),
            (11, 31, chunk(Some((0x00ff_ffff, 1)))),
        ] {
            let form = RecordForm::new(kind, size, Widths::EIGHT).unwrap();
            let records = Records::new(form, [&record, &record]);
            assert!(form.holds(&record) && form.kind() == kind);
            assert_eq!(records.len(), 2);
            assert_eq!(records.bytes.len(), 2 * usize::from(size));
            assert_eq!(records.get(1).unwrap(), record);
            if let Record::Chunk { scaled, .. } = &record {
                assert_eq!(records.order(1, scaled), Some(Ordering::Equal));
                assert_eq!(records.order(1, &[4, 0]), Some(Ordering::Less));
                assert_eq!(records.order(1, &[3, 8]), Some(Ordering::Greater));
                assert_eq!(records.order(2, scaled), None);
            }
        }
    }
}
