//! Reads the data of many elements of variable length: every collection of the global heap is decoded once,
//! and several collections are decoded at a time (spec III.E).

use std::cmp::Reverse;
use std::ops::Range;

use hyperslab_format::heap::global::VariableElement;
use parking_lot::Mutex;

use crate::engine::each_number;
use crate::error::{Error, Result};
use crate::heap::GlobalHeap;
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
type Part = (Vec<u8>, Vec<(usize, usize)>);

impl File {
    /// Returns the elements of many sequences, each of `element_size` bytes (1 for strings).
    #[doc(hidden)]
    pub fn vlen_items(&self, ids: &[VariableElement], element_size: usize) -> Result<VlenItems> {
        let order = Order::of(ids);
        let ranges = order.ranges(ids);
        let done: Vec<Mutex<Part>> = ranges.iter().map(|_| Mutex::default()).collect();
        each_number(ranges.len() as u64, &|number| {
            // The number is below the number of parts.
            let number = usize::try_from(number).unwrap_or(0);
            let in_order = ranges[number].clone().filter_map(|at| ids.get(order.at(at)));
            *done[number].lock() = part(&mut GlobalHeap::new(self.store()), in_order, element_size)?;
            Ok::<_, Error>(())
        })?;
        let mut items =
            VlenItems { parts: Vec::with_capacity(done.len()), items: vec![Item::default(); ids.len()] };
        for ((range, part), done) in ranges.into_iter().zip(0_u32..).zip(done) {
            let (bytes, places) = done.into_inner();
            for (at, (start, len)) in range.zip(places) {
                items.items[order.at(at)] = Item { part, start, len };
            }
            items.parts.push(bytes);
        }
        Ok(items)
    }
}

/// Reads items, which are ordered by their ids. Items of the same id share their bytes, so that elements of a
/// damaged file cannot multiply a large object.
fn part<'i>(
    heap: &mut GlobalHeap<'_>,
    ids: impl Iterator<Item = &'i VariableElement>,
    element_size: usize,
) -> Result<Part> {
    let (mut bytes, mut places) = (Vec::new(), Vec::new());
    let mut last: Option<(VariableElement, usize)> = None;
    for &id in ids {
        let start = match last {
            Some((before, start)) if before.id == id.id && before.count >= id.count => start,
            _ => {
                let start = bytes.len();
                bytes.extend_from_slice(heap.elements(id, element_size)?);
                last = Some((id, start));
                start
            }
        };
        // The bytes are in memory, so their number fits.
        let len = if id.id.is_null() { 0 } else { id.count as usize * element_size };
        places.push((start, len));
    }
    Ok((bytes, places))
}

/// The order in which items are read: collection by collection, and in each by index.
enum Order {
    /// The order of the elements.
    AsGiven,
    Sorted(Vec<usize>),
}

impl Order {
    fn of(ids: &[VariableElement]) -> Self {
        let key = |id: &VariableElement| (id.id.collection, id.id.index, Reverse(id.count));
        if ids.is_sorted_by_key(key) {
            return Self::AsGiven;
        }
        let mut sorted: Vec<_> = ids.iter().map(key).zip(0..).collect();
        sorted.sort_unstable();
        Self::Sorted(sorted.into_iter().map(|(_, index)| index).collect())
    }

    /// Returns the index of the item that is read in place `at`.
    fn at(&self, at: usize) -> usize {
        match self {
            Self::AsGiven => at,
            Self::Sorted(order) => order.get(at).copied().unwrap_or(usize::MAX),
        }
    }

    /// Divides the items into parts of about [`PART_ITEMS`], each with all items of its collections.
    fn ranges(&self, ids: &[VariableElement]) -> Vec<Range<usize>> {
        let collection = |at: usize| ids.get(self.at(at)).map(|id| id.id.collection);
        let (mut ranges, mut start) = (Vec::new(), 0);
        while start < ids.len() {
            let mut end = ids.len().min(start + PART_ITEMS);
            while end < ids.len() && collection(end) == collection(end - 1) {
                end += 1;
            }
            ranges.push(start..end);
            start = end;
        }
        ranges
    }
}

/// The least number of items that are read together by one thread.
const PART_ITEMS: usize = 4096;

#[cfg(test)]
mod tests {
    use hyperslab_format::Addr;
    use hyperslab_format::heap::global::GlobalHeapId;

    use super::*;

    fn in_collection(collection: u64, index: u32) -> VariableElement {
        VariableElement { count: 1, id: GlobalHeapId { collection: Addr::new(collection), index } }
    }

    #[test]
    fn a_part_has_all_items_of_its_collections() {
        let ids: Vec<_> = (0..20_000).map(|number| in_collection(u64::from(number) % 3, number)).collect();
        let order = Order::of(&ids);
        let parts = order.ranges(&ids);
        let collections: Vec<Vec<u64>> = parts
            .iter()
            .map(|part| {
                let mut found: Vec<u64> =
                    part.clone().map(|at| ids[order.at(at)].id.collection.get()).collect();
                found.dedup();
                found
            })
            .collect();
        assert_eq!(collections, [[0], [1], [2]]);
        let mut seen: Vec<usize> = parts.into_iter().flatten().map(|at| order.at(at)).collect();
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..20_000));
    }

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
        let items = file.vlen_items(&ids, 1).unwrap();
        assert_eq!(items.iter().take(5).map(<[u8]>::len).collect::<Vec<_>>(), [40, 8, 5, 0, 40]);
        assert!(items.iter().flatten().all(|&byte| byte == b'x'));
        assert_eq!(items.parts.iter().map(Vec::len).sum::<usize>(), 40 + 8);
    }

    #[test]
    fn items_that_are_in_order_are_read_in_order() {
        let ids: Vec<_> = (0..10_000).map(|number| in_collection(u64::from(number) / 100, number)).collect();
        let order = Order::of(&ids);
        assert!(matches!(order, Order::AsGiven));
        assert_eq!(order.ranges(&ids), [0..4100, 4100..8200, 8200..10_000]);
    }
}
