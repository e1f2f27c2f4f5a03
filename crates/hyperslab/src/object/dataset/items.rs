//! The data of many elements of variable length in memory.

use hyperslab_error::Result;
use parking_lot::Mutex;

use super::vlen_read::{Found, Place, VlenElements, VlenSink};
use crate::object::File;

/// The data of many elements of variable length, in the order of the elements.
#[derive(Debug, Default)]
pub struct VlenItems {
    /// The bytes of the items that were read together.
    parts: Vec<Vec<u8>>,
    items: Vec<Item>,
}

/// The place of an item.
#[derive(Debug, Clone, Copy, Default)]
struct Item {
    part: u32,
    start: usize,
    len: usize,
}

impl VlenItems {
    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the bytes of item `index`, or no bytes if there is no such item.
    pub fn get(&self, index: usize) -> &[u8] {
        self.items.get(index).map_or(&[], |item| self.bytes(item))
    }

    /// Returns the bytes of each item.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.items.iter().map(|item| self.bytes(item))
    }

    fn bytes(&self, item: &Item) -> &[u8] {
        let part = self.parts.get(item.part as usize).map_or(&[][..], Vec::as_slice);
        part.get(item.start..item.start + item.len).unwrap_or_default()
    }
}

/// Items that one thread has read: the bytes, and the place of each item in them.
type ThreadItems = (Vec<u8>, Vec<Place>);

/// Collects items in parts.
struct Collector(Mutex<Vec<ThreadItems>>);

impl VlenSink for Collector {
    type Part = ThreadItems;

    /// Copies the data. If elements of a damaged file have the same data, the whole collection is copied
    /// once: such elements cannot multiply a large object.
    fn take(&self, (bytes, places): &mut ThreadItems, found: &Found<'_>) -> Result<()> {
        let wanted = found.places.iter().fold(0_usize, |sum, place| sum.saturating_add(place.len));
        if wanted > found.bytes.len() {
            let before = bytes.len();
            bytes.extend_from_slice(found.bytes);
            places.extend(found.places.iter().map(|place| Place { start: before + place.start, ..*place }));
            return Ok(());
        }
        bytes.reserve(wanted);
        for (element, data) in found.iter() {
            places.push(Place { element, start: bytes.len(), len: data.len() });
            bytes.extend_from_slice(data);
        }
        Ok(())
    }

    fn finish(&self, part: ThreadItems) -> Result<()> {
        self.0.lock().push(part);
        Ok(())
    }
}

impl File {
    /// Returns the elements of many sequences, each of `element_size` bytes (1 for strings).
    #[doc(hidden)]
    pub fn vlen_items(
        &self,
        elements: &(impl VlenElements + ?Sized),
        element_size: usize,
    ) -> Result<VlenItems> {
        let collector = Collector(Mutex::default());
        self.vlen_gather(elements, element_size, &collector)?;
        let parts = collector.0.into_inner();
        let mut items = VlenItems {
            parts: Vec::with_capacity(parts.len()),
            items: vec![Item::default(); elements.count()],
        };
        for (part, (bytes, places)) in (0_u32..).zip(parts) {
            for Place { element, start, len } in places {
                items.items[element] = Item { part, start, len };
            }
            items.parts.push(bytes);
        }
        Ok(items)
    }
}

#[cfg(test)]
mod tests {
    use hyperslab_format::heap::global::VariableElement;

    use super::*;

    #[test]
    fn items_of_one_object_share_its_bytes() {
        let file = File::in_memory().unwrap();
        let [long, short] = [40_u32, 8].map(|count| {
            let put = file.put_vlen(&[vec![b'x'; 40]], 1).unwrap();
            VariableElement { count, id: put[0].id }
        });
        let cut = VariableElement { count: 5, ..long };
        let null = VariableElement { count: 3, ..VariableElement::EMPTY };
        let ids = [long, short, cut, null, long].repeat(1000);
        let items = file.vlen_items(&ids[..], 1).unwrap();
        assert_eq!(items.iter().take(5).map(<[u8]>::len).collect::<Vec<_>>(), [40, 8, 5, 0, 40]);
        assert!(items.iter().flatten().all(|&byte| byte == b'x'));
        assert_eq!(items.parts.iter().map(Vec::len).sum::<usize>(), 40 + 40);
    }
}
