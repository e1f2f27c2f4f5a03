//! The places of the objects of a collection in its bytes: for readers of many objects, who need no copy.

use std::ops::Range;

use super::{GlobalHeapCollection, next, object_header_len, open, taken};
use crate::addr::Addr;
use crate::bytes::{Reader, Widths};
use crate::error::Result;
use crate::structure::Structure;

/// The places of the objects of one collection after another. Keeps its memory.
#[derive(Debug, Default)]
pub struct GlobalHeapPlaces {
    /// For each index, the offset and the length of the object's data. Offset 0 is in the header: there is no
    /// such object.
    places: Vec<(usize, usize)>,
    size: u64,
}

impl GlobalHeapPlaces {
    /// Finds the objects of the collection at the beginning of `bytes`, whose address is `at`.
    ///
    /// Errors: the same as those of decoding a [`GlobalHeapCollection`].
    pub fn find(&mut self, bytes: &[u8], widths: Widths, at: Addr) -> Result<()> {
        self.places.clear();
        let (name, spec) = (GlobalHeapCollection::NAME, GlobalHeapCollection::SPEC);
        Reader::new(bytes, widths, at).within(name, spec, |r| {
            let (size, mut objects) = open(r)?;
            self.size = size;
            self.places.push((0, 0));
            loop {
                self.find_in_order(&mut objects)?;
                let Some(object) = next(&mut objects)? else { break };
                let place = (object.start, object.bytes.len());
                let slot = usize::from(object.index);
                if slot >= self.places.len() {
                    self.places.resize(slot + 1, (0, 0));
                }
                match self.places.get_mut(slot) {
                    Some(free) if free.0 == 0 => *free = place,
                    _ => return Err(taken(&objects, object.index)),
                }
            }
            Ok(())
        })
    }

    /// Finds the next objects as long as they are in the order of their indices, as nearly all are. Leaves
    /// the first that is not, or that is wrong.
    fn find_in_order(&mut self, objects: &mut Reader<'_>) -> Result<()> {
        if object_header_len(objects.widths()) != 16 {
            return Ok(());
        }
        let (start, most) = (objects.position(), objects.widths().length.max());
        let bytes = objects.clone().rest();
        let mut at = 0;
        while let Some((header, after)) = bytes.get(at..).and_then(<[u8]>::split_first_chunk::<16>) {
            let fields = u128::from_le_bytes(*header);
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the two lowest bytes, and the eight highest"
            )]
            let (index, len) = (fields as u16, (fields >> 64) as u64 & most);
            let len = usize::try_from(len).unwrap_or(usize::MAX);
            let Some(padded) = len.checked_next_multiple_of(8).filter(|&padded| padded <= after.len()) else {
                break;
            };
            if usize::from(index) != self.places.len() {
                break;
            }
            self.places.push((start + at + 16, len));
            at += 16 + padded;
        }
        objects.skip(at)
    }

    /// Returns the place of object `index` in the bytes, or `None` if there is no such object.
    #[inline]
    pub fn get(&self, index: u32) -> Option<Range<usize>> {
        let &(start, len) = self.places.get(usize::try_from(index).ok()?)?;
        (start > 0).then(|| start..start + len)
    }

    /// Returns the size of the collection in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::{Width, Writer};

    /// Objects that are in the order of their indices, and others that are not.
    fn collection(indices: &[u16]) -> GlobalHeapCollection {
        let mut collection = GlobalHeapCollection::new(4096);
        for &index in indices {
            collection.insert(index, 0, &vec![b'x'; usize::from(index) % 19]).unwrap();
        }
        collection
    }

    fn encoded(collection: &GlobalHeapCollection, widths: Widths) -> Vec<u8> {
        let mut bytes = Vec::new();
        Writer::new(&mut bytes, widths).structure(collection, &());
        bytes
    }

    #[test]
    fn objects_are_where_a_collection_has_them() {
        let mut places = GlobalHeapPlaces::default();
        for width in [Width::Two, Width::Four, Width::Eight] {
            let widths = Widths { offset: Width::Eight, length: width };
            for indices in [&[][..], &[1, 2, 3, 4], &[1, 2, 7, 3, 4], &[9, 8, 1, 2, 65535], &[3, 4, 5]] {
                let collection = collection(indices);
                let bytes = encoded(&collection, widths);
                places.find(&bytes, widths, Addr::new(512)).unwrap();
                assert_eq!(places.size(), 4096);
                for index in (0..12).chain([65534, 65535, 65536, u32::MAX]) {
                    let found = places.get(index).map(|place| &bytes[place]);
                    assert_eq!(found, collection.object(index), "{indices:?}, {index}");
                }
            }
        }
    }

    #[test]
    fn an_index_that_is_used_twice_is_an_error() {
        for (indices, at) in [([1, 2, 3], 16 + 24), ([3, 2, 1], 16 + 24), ([1, 3, 2], 16 + 24)] {
            let mut bytes = encoded(&collection(&indices), Widths::EIGHT);
            bytes[at] = u8::try_from(indices[0]).unwrap();
            let error = GlobalHeapPlaces::default().find(&bytes, Widths::EIGHT, Addr::new(512)).unwrap_err();
            assert!(error.to_string().contains("heap object index"), "{error}");
        }
    }

    #[test]
    fn a_new_collection_is_what_its_objects_encode_to() {
        let objects = [&b"one"[..], b"", b"twenty bytes of three"];
        let mut collection = GlobalHeapCollection::new(4096);
        for (index, object) in (1..).zip(objects) {
            collection.insert(index, 0, object).unwrap();
        }
        let mut bytes = Vec::new();
        GlobalHeapCollection::encode_new(
            &mut Writer::new(&mut bytes, Widths::EIGHT),
            4096,
            objects.into_iter(),
        );
        assert_eq!(bytes, encoded(&collection, Widths::EIGHT));
    }
}
