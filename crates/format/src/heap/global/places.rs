//! The places of the objects of a collection in its bytes: for readers of many objects, who need no copy.

use std::ops::Range;

use super::{GlobalHeapCollection, next, open, taken};
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
            while let Some(object) = next(&mut objects)? {
                let place = (object.start, object.bytes.len());
                let slot = usize::from(object.index);
                // Nearly all objects are in the order of their indices.
                if slot == self.places.len() {
                    self.places.push(place);
                    continue;
                }
                if slot > self.places.len() {
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
