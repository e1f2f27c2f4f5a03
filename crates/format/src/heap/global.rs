//! Global heap collection, `GCOL` (spec III.E): holds sequences and strings of variable length, region
//! references, and the mappings of virtual datasets.
//!
//! A [`GlobalHeapId`] names a collection and the index of an object in it. Every stored reference to such an
//! object is a [`GlobalHeapId`].

mod places;

use std::ops::Range;

use crate::addr::Addr;
use crate::bytes::{Reader, Width, Widths, Writer};
use crate::error::Result;
use crate::structure::Structure;

pub use places::GlobalHeapPlaces;

/// A collection of objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobalHeapCollection {
    /// The size of the collection in bytes, including its header and free space.
    pub size: u64,
    /// The objects in file order. The rest of the collection is free space.
    objects: Vec<GlobalHeapObject>,
    /// The bytes of all objects, concatenated.
    bytes: Vec<u8>,
    /// For each index, the position in `objects` plus one; 0 if no object has the index.
    positions: Vec<u32>,
}

/// One object of a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GlobalHeapObject {
    /// The index of the object, at least 1.
    pub index: u16,
    /// The number of ids that name the object.
    pub reference_count: u16,
    /// The offset of the object in `GlobalHeapCollection::bytes`.
    start: usize,
    /// The size of the object in bytes.
    len: usize,
}

/// The location of an object in a global heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GlobalHeapId {
    /// The address of the collection; undefined or 0 if nothing was ever written.
    pub collection: Addr,
    /// The index of the object in the collection.
    pub index: u32,
}

/// The smallest size of a collection that any library writes. A reader may fetch this many bytes before it
/// knows the size.
pub const MIN_COLLECTION: usize = 4096;

impl GlobalHeapCollection {
    /// Creates a collection of `size` bytes without objects.
    pub fn new(size: u64) -> Self {
        Self { size, objects: Vec::new(), bytes: Vec::new(), positions: Vec::new() }
    }

    /// Returns the bytes of object `index`, or `None` if there is no such object.
    pub fn object(&self, index: u32) -> Option<&[u8]> {
        self.bytes.get(self.place(index)?)
    }

    /// Returns the place of object `index` in [`bytes`](Self::bytes), or `None` if there is no such object.
    pub fn place(&self, index: u32) -> Option<Range<usize>> {
        let position = *self.positions.get(usize::try_from(index).ok()?)?;
        let object = self.objects.get(usize::try_from(position.checked_sub(1)?).ok()?)?;
        Some(object.start..object.start.checked_add(object.len)?)
    }

    /// Returns the bytes of all objects, concatenated.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns all objects with their bytes, in file order.
    pub fn objects(&self) -> impl Iterator<Item = (&GlobalHeapObject, &[u8])> {
        self.objects.iter().map(|object| (object, self.bytes_of(object).unwrap_or_default()))
    }

    /// Appends a collection of `size` bytes that holds `objects`, with the indices from 1 on. The caller
    /// ensures that the objects fit. As in libhdf5, the reference count of an object that one element names
    /// is 0.
    pub fn encode_new<'o>(w: &mut Writer<'_>, size: u64, objects: impl Iterator<Item = &'o [u8]>) {
        put(w, size, (1..).zip(objects).map(|(index, bytes)| (index, 0, bytes)));
    }

    fn bytes_of(&self, object: &GlobalHeapObject) -> Option<&[u8]> {
        self.bytes.get(object.start..object.start.checked_add(object.len)?)
    }

    /// Adds an object. Returns `None` if `index` is in use, or is 0, which names the free space.
    pub fn insert(&mut self, index: u16, reference_count: u16, bytes: &[u8]) -> Option<()> {
        let slot = usize::from(index);
        if index == 0 || self.positions.get(slot).is_some_and(|&position| position != 0) {
            return None;
        }
        self.objects.push(GlobalHeapObject {
            index,
            reference_count,
            start: self.bytes.len(),
            len: bytes.len(),
        });
        self.bytes.extend_from_slice(bytes);
        if self.positions.len() <= slot {
            self.positions.resize(slot + 1, 0);
        }
        *self.positions.get_mut(slot)? = u32::try_from(self.objects.len()).ok()?;
        Some(())
    }

    /// Keeps only the objects for whose index `f` returns true.
    pub fn retain(&mut self, mut f: impl FnMut(u16) -> bool) {
        let old = std::mem::replace(self, Self::new(self.size));
        for (object, bytes) in old.objects().filter(|(object, _)| f(object.index)) {
            // Indices were unique before, so `insert` cannot fail here.
            let _ = self.insert(object.index, object.reference_count, bytes);
        }
    }

    /// Returns whether the collection has no objects.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Returns the lowest unused index that is at least `start`.
    pub fn unused_index(&self, start: u16) -> Option<u16> {
        (start.max(1)..=u16::MAX)
            .find(|&index| self.positions.get(usize::from(index)).is_none_or(|&at| at == 0))
    }

    /// Returns the size of a collection for objects that take `objects` bytes in total, where each takes
    /// [`object_len`](Self::object_len) bytes.
    pub fn len_for(objects: u64, widths: Widths) -> u64 {
        (header_len(widths) as u64).saturating_add(objects).max(MIN_COLLECTION as u64)
    }

    /// Returns the number of bytes that an object of `len` bytes takes in a collection.
    pub fn object_len(len: usize, widths: Widths) -> u64 {
        let padded = len.checked_next_multiple_of(8).unwrap_or(usize::MAX);
        object_header_len(widths).saturating_add(padded) as u64
    }

    /// Returns the number of bytes that no object uses.
    pub fn free_len(&self, widths: Widths) -> u64 {
        let used: u64 = self.objects.iter().map(|object| Self::object_len(object.len, widths)).sum();
        self.size.saturating_sub(header_len(widths) as u64).saturating_sub(used)
    }
}

/// Returns the size of a collection's header. Every size in a collection is a multiple of eight.
fn header_len(widths: Widths) -> usize {
    (4 + 1 + 3 + widths.length.bytes()).next_multiple_of(8)
}

/// Returns the number of bytes before an object's data.
fn object_header_len(widths: Widths) -> usize {
    (2 + 2 + 4 + widths.length.bytes()).next_multiple_of(8)
}

/// An object of a collection, as the file stores it.
struct StoredObject<'a> {
    index: u16,
    reference_count: u16,
    /// The offset of the object's data in the slice of the reader.
    start: usize,
    bytes: &'a [u8],
}

/// Reads the header of a collection. Returns the size of the collection, and a reader of its objects.
fn open<'a>(r: &Reader<'a>) -> Result<(u64, Reader<'a>)> {
    let widths = r.widths();
    let mut start = r.clone();
    start.signature(b"GCOL")?;
    start.version(1)?;
    start.skip(3)?;
    let size = start.length()?;
    let Some(len) = usize::try_from(size).ok().filter(|&len| len >= header_len(widths)) else {
        return Err(start.bad_value("collection size", size, "at least the size of its header"));
    };
    let mut objects = r.clone().sub(len)?;
    objects.skip(header_len(widths))?;
    Ok((size, objects))
}

/// Reads the next object of a collection. Returns `None` at the free space.
#[inline]
fn next<'a>(r: &mut Reader<'a>) -> Result<Option<StoredObject<'a>>> {
    let before = r.remaining();
    let header_len = object_header_len(r.widths());
    if before < header_len {
        return Ok(None);
    }
    let [index_low, index_high, count_low, count_high, ..] = r.array::<8>()?;
    let (index, reference_count) =
        (u16::from_le_bytes([index_low, index_high]), u16::from_le_bytes([count_low, count_high]));
    let object_len = r.length()?;
    r.skip(header_len - (before - r.remaining()))?;
    if index == 0 {
        // The free space: its size includes its own header, and nothing follows it.
        if object_len != before as u64 {
            let expected = "the number of bytes left in the collection";
            return Err(r.bad_value("free space size", object_len, expected));
        }
        return Ok(None);
    }
    let (start, len) = (r.position(), usize::try_from(object_len).unwrap_or(usize::MAX));
    let bytes = r.bytes(len)?;
    r.skip(len.next_multiple_of(8) - len)?;
    Ok(Some(StoredObject { index, reference_count, start, bytes }))
}

/// Returns the error for the index of the object just read.
fn taken(r: &Reader<'_>, index: u16) -> crate::FormatError {
    r.bad_value("heap object index", index.into(), "an index that no other object has")
}

/// Appends a collection of `size` bytes. Each object has an index, a reference count and its data.
fn put<'o>(w: &mut Writer<'_>, size: u64, objects: impl Iterator<Item = (u16, u16, &'o [u8])>) {
    let widths = w.widths();
    let (head, object_head) = (header_len(widths), object_header_len(widths));
    // The padding stays zero, and so do the high bytes of narrow lengths.
    let mut rest = w.room(usize::try_from(size).unwrap_or(usize::MAX));
    let mut take = |len: usize| -> &mut [u8] {
        let (taken, left) = std::mem::take(&mut rest).split_at_mut(len);
        rest = left;
        taken
    };
    let header = u128::from(u32::from_le_bytes(*b"GCOL")) | 1 << 32 | u128::from(size) << 64;
    lead(take(head), header);
    let mut free = usize::try_from(size).unwrap_or(usize::MAX) - head;
    for (index, reference_count, bytes) in objects {
        let header = u128::from(index) | u128::from(reference_count) << 16 | (bytes.len() as u128) << 64;
        lead(take(object_head), header);
        let padded = bytes.len().next_multiple_of(8);
        let (data, _) = take(padded).split_at_mut(bytes.len());
        data.copy_from_slice(bytes);
        free -= object_head + padded;
    }
    if free >= object_head {
        // Index 0, no references.
        lead(take(object_head), (free as u128) << 64);
    }
}

/// Writes the fields at the beginning of a header: eight bytes, and a length.
fn lead(header: &mut [u8], fields: u128) {
    if let Some(first) = header.first_chunk_mut() {
        *first = fields.to_le_bytes();
    }
}

impl Structure for GlobalHeapCollection {
    const NAME: &'static str = "global heap collection";
    const SPEC: &'static str = "III.E";
    type Context = ();

    fn read_len(_: Widths, (): &()) -> usize {
        MIN_COLLECTION
    }

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        let (size, mut objects) = open(r)?;
        r.skip(usize::try_from(size).unwrap_or(usize::MAX))?;
        let mut collection = Self::new(size);
        while let Some(object) = next(&mut objects)? {
            if collection.insert(object.index, object.reference_count, object.bytes).is_none() {
                return Err(taken(&objects, object.index));
            }
        }
        Ok(collection)
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        let stored = |(object, bytes): (&GlobalHeapObject, _)| (object.index, object.reference_count, bytes);
        put(w, self.size, self.objects().map(stored));
    }

    fn encoded_len(&self, _: Widths, (): &()) -> usize {
        usize::try_from(self.size).unwrap_or(usize::MAX)
    }
}

impl GlobalHeapId {
    /// The id that names no object, as libhdf5 writes it.
    pub const NULL: Self = Self { collection: Addr::new(0), index: 0 };

    /// Returns whether the id names no object. libhdf5 stores such an id for a sequence or string that is
    /// empty or was never written.
    pub fn is_null(self) -> bool {
        self.collection.is_undefined() || self.collection == Addr::new(0)
    }
}

impl Structure for GlobalHeapId {
    const NAME: &'static str = "global heap id";
    const SPEC: &'static str = "III.E";
    type Context = ();
    const FIXED: bool = true;

    fn read_len(widths: Widths, (): &()) -> usize {
        widths.offset.bytes() + 4
    }

    #[inline]
    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        Ok(Self { collection: r.addr()?, index: r.u32()? })
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.addr(self.collection);
        w.u32(self.index);
    }
}

/// A variable-length element as a dataset stores it: the length of the sequence, and the id of its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VariableElement {
    /// The number of elements of the base type; for a string, the number of bytes.
    pub count: u32,
    /// The location of the data.
    pub id: GlobalHeapId,
}

impl VariableElement {
    /// The element of length zero.
    pub const EMPTY: Self = Self { count: 0, id: GlobalHeapId::NULL };

    /// Returns the element at the beginning of `bytes`, or `None` if they are fewer than those of an element.
    #[inline]
    pub fn get(bytes: &[u8], widths: Widths) -> Option<Self> {
        if let (Width::Eight, Some(all)) = (widths.offset, bytes.first_chunk::<16>()) {
            // Most files are of this kind, and elements are many.
            let fields = u128::from_le_bytes(*all);
            #[expect(clippy::cast_possible_truncation, reason = "fields of 4, 8 and 4 bytes")]
            let (count, collection, index) = (fields as u32, (fields >> 32) as u64, (fields >> 96) as u32);
            return Some(Self { count, id: GlobalHeapId { collection: Addr::new(collection), index } });
        }
        Reader::new(bytes, widths, Addr::UNDEFINED).structure(&()).ok()
    }

    /// Writes the element to `out`, which has the length of an element. Does the same as
    /// [`encode`](Structure::encode).
    #[inline]
    pub fn put(&self, out: &mut [u8], widths: Widths) {
        let addr = self.id.collection.get();
        if let (Width::Eight, Some(all)) = (widths.offset, out.first_chunk_mut::<16>()) {
            // An undefined address has all bits set.
            let fields = u128::from(self.count) | u128::from(addr) << 32 | u128::from(self.id.index) << 96;
            *all = fields.to_le_bytes();
            return;
        }
        let mut bytes = Vec::with_capacity(out.len());
        Writer::new(&mut bytes, widths).structure(self, &());
        out.copy_from_slice(&bytes);
    }
}

impl Structure for VariableElement {
    const NAME: &'static str = "variable-length element";
    const SPEC: &'static str = "IV.A.2.d";
    type Context = ();
    const FIXED: bool = true;

    fn read_len(widths: Widths, (): &()) -> usize {
        4 + GlobalHeapId::read_len(widths, &())
    }

    #[inline]
    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        Ok(Self { count: r.u32()?, id: r.structure(&())? })
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.u32(self.count);
        w.structure(&self.id, &());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::golden::{error, golden, unhex};

    /// h5py, libver earliest: strings and sequences of variable length in one file.
    const COLLECTION: &str = "47434f4c010000000010 00*6 01 00*15 02 00*7 0b 00*7 67616d6d612064656c7461000000000003 00*7 01 \
        00*7 62 00*7 04 00*7 05 00*7 616c70686100000005 00*7 0c 00*7 010000000200000003 00*7 06 00*7 \
        04 00*7 07 00*15 580f 00*3918";

    #[test]
    fn objects_are_found_by_their_index() {
        let collection = golden::<GlobalHeapCollection>(COLLECTION, &());
        assert_eq!(collection.object(1), Some(&b""[..]));
        assert_eq!(collection.object(2), Some(&b"gamma delta"[..]));
        assert_eq!(collection.object(5), Some(&[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0][..]));
        assert_eq!(collection.object(6), Some(&[7, 0, 0, 0][..]));
        for index in [0, 7, u32::MAX] {
            assert_eq!(collection.object(index), None);
        }
        assert_eq!(collection.objects().count(), 6);
        assert_eq!(collection.free_len(Widths::EIGHT), 0xf58);
    }

    #[test]
    fn an_object_larger_than_its_collection_is_an_error() {
        let kind = error::<GlobalHeapCollection>("47434f4c0100000030 00*7 01 00*7 ff*8 00*32", &());
        assert!(matches!(kind, ErrorKind::Truncated { .. }), "{kind:?}");
    }

    #[test]
    fn two_objects_with_one_index_are_an_error() {
        let kind = error::<GlobalHeapCollection>("47434f4c0100000030 00*7 01 00*15 01 00*15", &());
        assert!(matches!(kind, ErrorKind::Value { field: "heap object index", value: 1, .. }), "{kind:?}");
    }

    #[test]
    fn a_remainder_too_small_for_a_header_is_free_space() {
        let collection =
            golden::<GlobalHeapCollection>("47434f4c0100000030 00*7 01 00*7 05 00*7 68656c6c6f 00*11", &());
        assert_eq!(collection.object(1), Some(&b"hello"[..]));
        assert_eq!(collection.free_len(Widths::EIGHT), 8);
    }

    #[test]
    fn removed_objects_free_their_space_and_index() {
        let mut collection = golden::<GlobalHeapCollection>(COLLECTION, &());
        let free = collection.free_len(Widths::EIGHT);
        assert_eq!(collection.unused_index(1), Some(7));
        collection.retain(|index| index != 2 && index != 5);
        assert_eq!(collection.object(2), None);
        assert_eq!(collection.object(6), Some(&[7, 0, 0, 0][..]));
        assert_eq!(collection.unused_index(1), Some(2));
        assert_eq!(collection.unused_index(3), Some(5));
        let freed = [11, 12].map(|len| GlobalHeapCollection::object_len(len, Widths::EIGHT));
        assert_eq!(collection.free_len(Widths::EIGHT), free + freed[0] + freed[1]);
        assert_eq!(collection.insert(2, 0, b"again"), Some(()));
        assert_eq!(collection.object(2), Some(&b"again"[..]));
        collection.retain(|_| false);
        assert!(collection.is_empty());
    }

    #[test]
    fn elements_in_bulk_are_those_of_the_structure() {
        use crate::bytes::Width;
        let element = VariableElement {
            count: 0x0403_0201,
            id: GlobalHeapId { collection: Addr::new(0x4241), index: 0x7473_7271 },
        };
        let null = VariableElement { id: GlobalHeapId { collection: Addr::UNDEFINED, index: 7 }, ..element };
        for offset in [Width::Two, Width::Four, Width::Eight] {
            let widths = Widths { offset, length: Width::Eight };
            for element in [element, null] {
                let mut bytes = Vec::new();
                Writer::new(&mut bytes, widths).structure(&element, &());
                let mut out = vec![0; bytes.len()];
                element.put(&mut out, widths);
                assert_eq!(out, bytes);
                assert_eq!(VariableElement::get(&bytes, widths), Some(element));
                assert_eq!(VariableElement::get(&bytes[1..], widths), None);
            }
        }
    }

    #[test]
    fn a_zero_element_has_a_null_id() {
        let bytes = unhex("00*16");
        let mut r = Reader::new(&bytes, Widths::EIGHT, Addr::new(0));
        assert!(r.structure::<VariableElement>(&()).unwrap().id.is_null());
    }
}
