//! The keys of a version 1 B-tree node, one by one (spec III.A.1).

use super::{BTree1Keys, BTree1Kind, ChunkKeys};

/// One key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BTree1Key {
    /// The offset of a name in the local heap.
    Group(u64),
    /// What is known of a chunk.
    Chunk {
        /// Its bytes as stored.
        size: u32,
        /// The filters that it was stored without.
        mask: u32,
        /// Where it begins, in elements, and one number more: as many as each key of the node has.
        offset: Vec<u64>,
    },
}

impl BTree1Keys {
    /// The keys of a node without children.
    pub fn none(kind: BTree1Kind) -> Self {
        match kind {
            BTree1Kind::Group => Self::Group(Vec::new()),
            BTree1Kind::Chunks { .. } => Self::Chunks(ChunkKeys::default()),
        }
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Group(keys) => keys.len(),
            Self::Chunks(keys) => keys.sizes.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Key `index`.
    pub fn key(&self, index: usize) -> Option<BTree1Key> {
        match self {
            Self::Group(keys) => keys.get(index).copied().map(BTree1Key::Group),
            Self::Chunks(keys) => {
                let stride = keys.stride();
                let offset = keys.offsets.get(index * stride..(index + 1) * stride)?.to_vec();
                let (size, mask) = (*keys.sizes.get(index)?, *keys.masks.get(index)?);
                Some(BTree1Key::Chunk { size, mask, offset })
            }
        }
    }

    /// Puts a key before key `index`, or at the end. A key of the other kind, or beyond the end, is not taken.
    pub fn insert(&mut self, index: usize, key: BTree1Key) {
        match (self, key) {
            (Self::Group(keys), BTree1Key::Group(key)) if index <= keys.len() => keys.insert(index, key),
            (Self::Chunks(keys), BTree1Key::Chunk { size, mask, offset }) if index <= keys.sizes.len() => {
                let start = index * offset.len();
                if start > keys.offsets.len() {
                    return;
                }
                keys.sizes.insert(index, size);
                keys.masks.insert(index, mask);
                keys.offsets.splice(start..start, offset);
            }
            _ => {}
        }
    }

    /// Takes key `index` out.
    pub fn remove(&mut self, index: usize) {
        if index >= self.len() {
            return;
        }
        match self {
            Self::Group(keys) => {
                keys.remove(index);
            }
            Self::Chunks(keys) => {
                let stride = keys.stride();
                keys.sizes.remove(index);
                keys.masks.remove(index);
                keys.offsets.drain(index * stride..(index + 1) * stride);
            }
        }
    }

    /// Replaces key `index`.
    pub fn replace(&mut self, index: usize, key: BTree1Key) {
        self.insert(index + 1, key);
        self.remove(index);
    }

    /// Cuts the keys before key `index`, which both parts have; returns the later part.
    #[must_use]
    pub fn split(&mut self, index: usize) -> Self {
        let index = index.min(self.len());
        match self {
            Self::Group(keys) => {
                let later = keys.get(index..).unwrap_or_default().to_vec();
                keys.truncate(index + 1);
                Self::Group(later)
            }
            Self::Chunks(keys) => {
                let stride = keys.stride();
                let later = ChunkKeys {
                    sizes: keys.sizes.get(index..).unwrap_or_default().to_vec(),
                    masks: keys.masks.get(index..).unwrap_or_default().to_vec(),
                    offsets: keys.offsets.get(index * stride..).unwrap_or_default().to_vec(),
                };
                keys.sizes.truncate(index + 1);
                keys.masks.truncate(index + 1);
                keys.offsets.truncate((index + 1) * stride);
                Self::Chunks(later)
            }
        }
    }
}

impl ChunkKeys {
    /// Numbers of each key in `offsets`.
    fn stride(&self) -> usize {
        self.offsets.len() / self.sizes.len().max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: u32) -> BTree1Key {
        BTree1Key::Chunk { size: n, mask: 0, offset: vec![u64::from(n), 0] }
    }

    #[test]
    fn keys_are_put_in_replaced_and_taken_out_whole() {
        let mut keys = BTree1Keys::none(BTree1Kind::Chunks { rank: 1 });
        for (index, n) in [(0, 5), (0, 1), (1, 3), (3, 9)] {
            keys.insert(index, key(n));
        }
        keys.insert(7, key(8));
        keys.insert(0, BTree1Key::Group(4));
        keys.replace(1, key(4));
        let all = |keys: &BTree1Keys| (0..keys.len()).map(|i| keys.key(i).unwrap()).collect::<Vec<_>>();
        assert_eq!(all(&keys), [1, 4, 5, 9].map(key));
        let later = keys.split(2);
        assert_eq!((all(&keys), all(&later)), ([1, 4, 5].map(key).to_vec(), [5, 9].map(key).to_vec()));
        keys.remove(0);
        keys.remove(5);
        assert_eq!(all(&keys), [4, 5].map(key));
        assert_eq!(keys.key(2), None);
    }
}
