//! The keys and children of a version 1 B-tree node (spec III.A.1). They alternate, and one more key follows
//! the last child.
//!
//! Entries are kept as raw bytes and decoded one by one, because a search looks at only a few of them.

use std::cmp::Ordering;

use super::BTree1Kind;
use crate::addr::Addr;
use crate::bytes::{Reader, Widths, Writer};
use crate::error::Result;

/// The children of a node, with one key more than children. A node without children has no keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BTree1Entries {
    kind: BTree1Kind,
    widths: Widths,
    /// The size of a key in bytes.
    key_len: usize,
    /// The size in bytes of a key and a child.
    stride: usize,
    bytes: Vec<u8>,
}

/// A key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BTree1Key {
    /// The offset of a name in the local heap.
    Group(u64),
    /// The description of a chunk.
    Chunk {
        /// The stored size of the chunk in bytes.
        size: u32,
        /// The mask of the filters that were skipped for the chunk.
        mask: u32,
        /// The offset of the chunk in elements, with one extra number at the end. The length is the same for
        /// all keys of a node.
        offset: Vec<u64>,
    },
}

/// A borrowed key of a node of chunks. Key `i` describes child `i` if that child is a chunk.
#[derive(Debug, Clone, Copy)]
pub struct ChunkKey<'n> {
    /// The stored size of the chunk in bytes.
    pub size: u32,
    /// The mask of the filters that were skipped for the chunk.
    pub mask: u32,
    offset: &'n [[u8; 8]],
}

impl<'n> ChunkKey<'n> {
    /// Returns the offset of the chunk in elements: one number for each dimension of the dataset, and an
    /// extra number, which is 0 for a chunk. libhdf5 ends a node with a key that has the last chunk's own
    /// offset and an extra number of one element size, so the extra number counts in comparisons.
    pub fn offset(&self) -> impl Iterator<Item = u64> + use<'n> {
        self.offset.iter().map(|&bytes| u64::from_le_bytes(bytes))
    }

    /// Compares this key with the key of the chunk that begins at `first`.
    #[inline]
    pub fn order(&self, first: &[u64]) -> Ordering {
        for (bytes, &other) in self.offset.iter().zip(first) {
            let number = u64::from_le_bytes(*bytes);
            if number != other {
                return number.cmp(&other);
            }
        }
        // The extra number of a chunk is 0.
        self.offset.get(first.len()).map_or(Ordering::Equal, |&last| u64::from_le_bytes(last).cmp(&0))
    }
}

impl BTree1Kind {
    /// Returns the size of a key in bytes.
    pub(super) fn key_len(self, widths: Widths) -> usize {
        match self {
            Self::Group => widths.length.bytes(),
            Self::Chunks { rank } => 4 + 4 + 8 * (rank + 1),
        }
    }
}

impl BTree1Key {
    fn decode(r: &mut Reader<'_>, kind: BTree1Kind) -> Result<Self> {
        Ok(match kind {
            BTree1Kind::Group => Self::Group(r.length()?),
            BTree1Kind::Chunks { rank } => {
                let (size, mask) = (r.u32()?, r.u32()?);
                Self::Chunk { size, mask, offset: (0..=rank).map(|_| r.u64()).collect::<Result<_>>()? }
            }
        })
    }

    fn encode(&self, w: &mut Writer<'_>) {
        match self {
            Self::Group(name) => w.length(*name),
            Self::Chunk { size, mask, offset } => {
                w.u32(*size);
                w.u32(*mask);
                for &number in offset {
                    w.u64(number);
                }
            }
        }
    }
}

impl BTree1Entries {
    /// Creates entries from `children` and the keys around them, for a file with `widths`. There is one more
    /// key than children, or no key and no child.
    pub fn new(
        kind: BTree1Kind,
        widths: Widths,
        keys: &[BTree1Key],
        children: impl IntoIterator<Item = Addr>,
    ) -> Self {
        let mut bytes = Vec::new();
        let (mut w, mut children) = (Writer::new(&mut bytes, widths), children.into_iter());
        for key in keys {
            key.encode(&mut w);
            if let Some(child) = children.next() {
                w.addr(child);
            }
        }
        Self { bytes, ..Self::none(kind, widths) }
    }

    fn none(kind: BTree1Kind, widths: Widths) -> Self {
        let key_len = kind.key_len(widths);
        Self { kind, widths, key_len, stride: key_len + widths.offset.bytes(), bytes: Vec::new() }
    }

    pub(super) fn decode(r: &mut Reader<'_>, kind: BTree1Kind, count: usize) -> Result<Self> {
        let none = Self::none(kind, r.widths());
        let last = if count == 0 { 0 } else { none.key_len };
        Ok(Self { bytes: r.bytes(count * none.stride + last)?.to_vec(), ..none })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.bytes(&self.bytes);
    }

    /// Returns the index of the first key that is less than its left neighbour. A search in such a node would
    /// miss chunks that exist. The keys of groups are offsets of names and may be in any order.
    pub(super) fn first_out_of_order<'n>(&'n self) -> Option<usize> {
        let mut left = self.chunk(0)?;
        let is_before_left = |key: ChunkKey<'n>| {
            let is_before = key.offset().lt(left.offset());
            left = key;
            is_before
        };
        (1..).map_while(|key| self.chunk(key)).position(is_before_left).map(|key| key + 1)
    }

    /// Returns the number of children.
    pub fn len(&self) -> usize {
        // The last key is shorter than a key with a child.
        self.bytes.len() / self.stride
    }

    /// Returns whether there are no children.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns child `index`.
    pub fn child(&self, index: usize) -> Option<Addr> {
        let start = index.checked_mul(self.stride)?.checked_add(self.key_len)?;
        Reader::new(self.bytes.get(start..)?, self.widths, Addr::UNDEFINED).addr().ok()
    }

    /// Returns all children in order.
    pub fn children(&self) -> impl DoubleEndedIterator<Item = Addr> {
        (0..self.len()).map(|index| self.child(index).unwrap_or(Addr::UNDEFINED))
    }

    /// Returns key `index`.
    pub fn key(&self, index: usize) -> Option<BTree1Key> {
        let key = self.bytes.get(index.checked_mul(self.stride)?..)?;
        BTree1Key::decode(&mut Reader::new(key, self.widths, Addr::UNDEFINED), self.kind).ok()
    }

    /// Returns key `index` of a node of chunks, like [`key`](Self::key) but without allocation.
    #[inline]
    pub fn chunk(&self, index: usize) -> Option<ChunkKey<'_>> {
        let BTree1Kind::Chunks { .. } = self.kind else { return None };
        let key = self.bytes.get(index.saturating_mul(self.stride)..)?.get(..self.key_len)?;
        let ([size, mask, ..], offset) = (key.as_chunks::<4>().0, key.get(8..)?) else { return None };
        let (size, mask) = (u32::from_le_bytes(*size), u32::from_le_bytes(*mask));
        Some(ChunkKey { size, mask, offset: offset.as_chunks().0 })
    }

    /// Returns key `index` of a node of links: the offset of a name in the local heap.
    pub fn name(&self, index: usize) -> Option<u64> {
        match self.key(index)? {
            BTree1Key::Group(name) => Some(name),
            BTree1Key::Chunk { .. } => None,
        }
    }

    /// Inserts `child` before child `index`, or after the last child. Does nothing if the node has no
    /// children. `key` is inserted between the new child and the child before it or, if the new child is the
    /// first, the child after it.
    pub fn insert(&mut self, index: usize, child: Addr, key: &BTree1Key) {
        let index = index.min(self.len());
        let (key, child) = (self.encoded(|w| key.encode(w)), self.encoded(|w| w.addr(child)));
        if self.is_empty() || key.len() != self.key_len {
            return;
        }
        let (at, entry) = match index {
            0 => (self.key_len, [child, key]),
            _ => (index * self.stride, [key, child]),
        };
        self.bytes.splice(at..at, entry.into_iter().flatten());
    }

    /// Removes child `index`, if it exists, and the key after it. The last child's other key is removed, too.
    pub fn remove(&mut self, index: usize) {
        if index >= self.len() {
            return;
        }
        let start = index * self.stride + self.key_len;
        self.bytes.drain(start..start + self.stride);
        if self.bytes.len() == self.key_len {
            self.bytes.clear();
        }
    }

    /// Replaces child `index`, if it exists.
    pub fn set_child(&mut self, index: usize, child: Addr) {
        let child = self.encoded(|w| w.addr(child));
        self.overwrite(index * self.stride + self.key_len, &child);
    }

    /// Replaces key `index`, if it exists.
    pub fn set_key(&mut self, index: usize, key: &BTree1Key) {
        let key = self.encoded(|w| key.encode(w));
        if key.len() == self.key_len {
            self.overwrite(index * self.stride, &key);
        }
    }

    /// Splits off and returns the children from child `index` on. Both parts keep the key between them.
    #[must_use]
    pub fn split_off(&mut self, index: usize) -> Self {
        let start = index.min(self.len()) * self.stride;
        let later = Self { bytes: self.bytes.get(start..).unwrap_or_default().to_vec(), ..*self };
        self.bytes.truncate(start + self.key_len);
        later
    }

    fn encoded(&self, f: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
        let mut bytes = Vec::new();
        f(&mut Writer::new(&mut bytes, self.widths));
        bytes
    }

    fn overwrite(&mut self, start: usize, new: &[u8]) {
        if let Some(old) = self.bytes.get_mut(start..start + new.len()) {
            old.copy_from_slice(new);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: u32) -> BTree1Key {
        BTree1Key::Chunk { size: n, mask: 0, offset: vec![u64::from(n), 0] }
    }

    fn all(entries: &BTree1Entries) -> (Vec<BTree1Key>, Vec<u64>) {
        let keys = (0..).map_while(|index| entries.key(index)).collect();
        (keys, entries.children().map(Addr::get).collect())
    }

    #[test]
    fn inserting_replacing_and_removing_keeps_keys_and_children_aligned() {
        let kind = BTree1Kind::Chunks { rank: 1 };
        let mut entries = BTree1Entries::new(kind, Widths::EIGHT, &[key(1), key(9)], [Addr::new(10)]);
        for (index, n) in [(1, 5), (0, 3), (7, 8)] {
            entries.insert(index, Addr::new(u64::from(10 * n)), &key(n));
        }
        let keys = |numbers: &[u32]| numbers.iter().map(|&n| key(n)).collect::<Vec<_>>();
        assert_eq!(all(&entries), (keys(&[1, 3, 5, 8, 9]), vec![30, 10, 50, 80]));
        entries.insert(1, Addr::new(8), &BTree1Key::Group(4));
        entries.set_key(1, &BTree1Key::Group(4));
        entries.set_key(1, &key(4));
        entries.set_key(4, &key(10));
        entries.set_key(5, &key(11));
        entries.set_child(3, Addr::new(81));
        entries.set_child(4, Addr::new(82));
        assert_eq!(all(&entries), (keys(&[1, 4, 5, 8, 10]), vec![30, 10, 50, 81]));
        let later = entries.split_off(2);
        assert_eq!(all(&entries), (keys(&[1, 4, 5]), vec![30, 10]));
        assert_eq!(all(&later), (keys(&[5, 8, 10]), vec![50, 81]));
        entries.remove(2);
        entries.remove(0);
        assert_eq!(all(&entries), (keys(&[1, 5]), vec![10]));
        assert_eq!((entries.key(2), entries.child(1), entries.name(0)), (None, None, None));
        entries.remove(0);
        assert!(entries.is_empty() && entries.key(0).is_none());
    }
}
