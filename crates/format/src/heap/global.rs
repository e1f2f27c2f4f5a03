//! Global heap collection, `GCOL` (spec III.E): the sequences and strings of variable length, region references, and the
//! mappings of virtual datasets.
//!
//! Named, with the index of an object, by a [`GlobalHeapId`] wherever such a thing is stored.

use crate::addr::Addr;
use crate::bytes::{Reader, Widths, Writer};
use crate::error::Result;
use crate::structure::Structure;

/// A collection of objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobalHeapCollection {
    /// Bytes of the collection, its header and its free space included.
    pub size: u64,
    /// Its objects, in the order of the file; free space is what they leave.
    objects: Vec<GlobalHeapObject>,
    /// The bytes of all objects, one after another.
    bytes: Vec<u8>,
    /// For each index, one more than the position in `objects`; 0 if there is no such object.
    positions: Vec<u32>,
}

/// One object of a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GlobalHeapObject {
    /// Its number, at least 1.
    pub index: u16,
    /// How many ids name it.
    pub reference_count: u16,
    /// Where in the bytes of the collection it begins.
    start: usize,
    /// How many bytes it has.
    len: usize,
}

/// Where an object of a global heap is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GlobalHeapId {
    /// The collection; undefined or 0 where nothing was ever written.
    pub collection: Addr,
    /// The object in it.
    pub index: u32,
}

/// No library writes a smaller collection, so a reader may fetch this many bytes before it knows the size.
pub const MIN_COLLECTION: usize = 4096;

impl GlobalHeapCollection {
    /// A collection of `size` bytes without objects.
    pub fn new(size: u64) -> Self {
        Self { size, objects: Vec::new(), bytes: Vec::new(), positions: Vec::new() }
    }

    /// The bytes of object `index`, if there is one.
    pub fn object(&self, index: u32) -> Option<&[u8]> {
        let position = *self.positions.get(usize::try_from(index).ok()?)?;
        let object = self.objects.get(usize::try_from(position.checked_sub(1)?).ok()?)?;
        self.bytes_of(object)
    }

    /// All objects with their bytes, in the order of the file.
    pub fn objects(&self) -> impl Iterator<Item = (&GlobalHeapObject, &[u8])> {
        self.objects.iter().map(|object| (object, self.bytes_of(object).unwrap_or_default()))
    }

    fn bytes_of(&self, object: &GlobalHeapObject) -> Option<&[u8]> {
        self.bytes.get(object.start..object.start.checked_add(object.len)?)
    }

    /// Adds an object, if its index is new and not 0 (which names the free space).
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

    /// Takes out all objects but those whose index `f` keeps.
    pub fn retain(&mut self, mut f: impl FnMut(u16) -> bool) {
        let old = std::mem::replace(self, Self::new(self.size));
        for (object, bytes) in old.objects().filter(|(object, _)| f(object.index)) {
            // An index that was the only one of its kind before is so among fewer.
            let _ = self.insert(object.index, object.reference_count, bytes);
        }
    }

    /// Whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// The first index from `start` on that no object has.
    pub fn unused_index(&self, start: u16) -> Option<u16> {
        (start.max(1)..=u16::MAX)
            .find(|&index| self.positions.get(usize::from(index)).is_none_or(|&at| at == 0))
    }

    /// Bytes of a collection whose objects take so many, each [its own](Self::object_len).
    pub fn len_for(objects: u64, widths: Widths) -> u64 {
        (header_len(widths) as u64).saturating_add(objects).max(MIN_COLLECTION as u64)
    }

    /// Bytes that an object of `len` bytes takes in a collection.
    pub fn object_len(len: usize, widths: Widths) -> u64 {
        let padded = len.checked_next_multiple_of(8).unwrap_or(usize::MAX);
        object_header_len(widths).saturating_add(padded) as u64
    }

    /// Bytes that no object uses.
    pub fn free_len(&self, widths: Widths) -> u64 {
        let used: u64 = self.objects.iter().map(|object| Self::object_len(object.len, widths)).sum();
        self.size.saturating_sub(header_len(widths) as u64).saturating_sub(used)
    }
}

/// Bytes of a collection's header: like everything in a collection, a multiple of eight.
fn header_len(widths: Widths) -> usize {
    (4 + 1 + 3 + widths.length.bytes()).next_multiple_of(8)
}

/// Bytes before an object's data.
fn object_header_len(widths: Widths) -> usize {
    (2 + 2 + 4 + widths.length.bytes()).next_multiple_of(8)
}

impl Structure for GlobalHeapCollection {
    const NAME: &'static str = "global heap collection";
    const SPEC: &'static str = "III.E";
    type Context = ();

    fn read_len(_: Widths, (): &()) -> usize {
        MIN_COLLECTION
    }

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        let widths = r.widths();
        let mut start = r.clone();
        start.signature(b"GCOL")?;
        start.version(1)?;
        start.skip(3)?;
        let size = start.length()?;
        let Some(len) = usize::try_from(size).ok().filter(|&len| len >= header_len(widths)) else {
            return Err(start.bad_value("collection size", size, "at least the size of its header"));
        };
        let mut r = r.sub(len)?;
        r.skip(header_len(widths))?;
        let mut collection = Self::new(size);
        while r.remaining() >= object_header_len(widths) {
            let before = r.remaining();
            let index = r.u16()?;
            let reference_count = r.u16()?;
            r.skip(4)?;
            let object_len = r.length()?;
            r.skip(object_header_len(widths) - (before - r.remaining()))?;
            if index == 0 {
                // The free space: its size counts its own header, and nothing comes after it.
                if object_len != before as u64 {
                    return Err(r.bad_value(
                        "free space size",
                        object_len,
                        "all that is left of the collection",
                    ));
                }
                break;
            }
            let len = usize::try_from(object_len).unwrap_or(usize::MAX);
            let bytes = r.bytes(len)?;
            r.skip(len.next_multiple_of(8) - len)?;
            if collection.insert(index, reference_count, bytes).is_none() {
                return Err(r.bad_value(
                    "heap object index",
                    index.into(),
                    "an index that no other object has",
                ));
            }
        }
        Ok(collection)
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        let widths = w.widths();
        let field_len = widths.length.bytes();
        w.signature(b"GCOL");
        w.u8(1); // version
        w.zeros(3);
        w.length(self.size);
        w.zeros(header_len(widths) - 8 - field_len);
        for (object, bytes) in self.objects() {
            w.u16(object.index);
            w.u16(object.reference_count);
            w.zeros(4);
            w.length(bytes.len() as u64);
            w.zeros(object_header_len(widths) - 8 - field_len);
            w.bytes(bytes);
            w.zeros(bytes.len().next_multiple_of(8) - bytes.len());
        }
        let free = self.free_len(widths);
        let free_len = usize::try_from(free).unwrap_or(0);
        if free_len < object_header_len(widths) {
            w.zeros(free_len);
            return;
        }
        w.zeros(8); // index 0, no references
        w.length(free);
        w.zeros(free_len - 8 - field_len);
    }

    fn encoded_len(&self, _: Widths, (): &()) -> usize {
        usize::try_from(self.size).unwrap_or(usize::MAX)
    }
}

impl GlobalHeapId {
    /// Names nothing, as libhdf5 says it.
    pub const NULL: Self = Self { collection: Addr::new(0), index: 0 };

    /// Whether it names nothing: what libhdf5 stores for a sequence or string that is empty or was never written.
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

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        Ok(Self { collection: r.addr()?, index: r.u32()? })
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.addr(self.collection);
        w.u32(self.index);
    }
}

/// One element of variable length as a dataset stores it: how many elements of the base type, and where they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VariableElement {
    /// Elements of the base type; bytes of a string.
    pub count: u32,
    /// Where they are.
    pub id: GlobalHeapId,
}

impl VariableElement {
    /// No elements.
    pub const EMPTY: Self = Self { count: 0, id: GlobalHeapId::NULL };
}

impl Structure for VariableElement {
    const NAME: &'static str = "variable-length element";
    const SPEC: &'static str = "IV.A.2.d";
    type Context = ();
    const FIXED: bool = true;

    fn read_len(widths: Widths, (): &()) -> usize {
        4 + GlobalHeapId::read_len(widths, &())
    }

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
    fn one_index_names_one_object() {
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
    fn what_is_taken_out_leaves_room_and_its_index() {
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
    fn an_element_never_written_names_nothing() {
        let bytes = unhex("00*16");
        let mut r = Reader::new(&bytes, Widths::EIGHT, Addr::new(0));
        assert!(r.structure::<VariableElement>(&()).unwrap().id.is_null());
    }
}
