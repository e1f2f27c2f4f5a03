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
