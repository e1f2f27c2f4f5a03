//! The ids that stand for data of variable length in a dataset (spec IV.B): how many elements, and where in the
//! global heap.

use hyperslab_format::{Addr, Width};

use crate::error::RequestError;

/// A sequence or a string in the global heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VlenId {
    /// How many elements; of a string, how many bytes.
    pub len: u32,
    /// The address of the heap collection.
    pub collection: Addr,
    /// Which object of the collection.
    pub index: u32,
}

impl VlenId {
    /// Bytes of an id in a file with addresses of this width.
    pub const fn size(width: Width) -> usize {
        8 + width.bytes()
    }

    /// Whether nothing is stored for it: it is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// The ids in `bytes`, the elements of a file with addresses of this width.
pub fn parse_ids(bytes: &[u8], width: Width) -> Result<Vec<VlenId>, RequestError> {
    let size = VlenId::size(width);
    if !bytes.len().is_multiple_of(size) {
        let expected = (bytes.len().div_ceil(size) * size) as u64;
        return Err(RequestError::Length {
            what: "ids of variable length",
            given: bytes.len() as u64,
            expected,
        });
    }
    let word = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    };
    // Four bytes of a word are a `u32`.
    let half = |bytes: &[u8]| u32::try_from(word(bytes)).unwrap_or(u32::MAX);
    Ok(bytes
        .chunks_exact(size)
        .map(|id| {
            let (len, rest) = id.split_at(4);
            let (collection, index) = rest.split_at(width.bytes());
            let collection = word(collection);
            VlenId {
                len: half(len),
                collection: if collection == width.max() { Addr::UNDEFINED } else { Addr::new(collection) },
                index: half(index),
            }
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_at_every_width() {
        let bytes = [3, 0, 0, 0, 0x10, 0x20, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0];
        let id = VlenId { len: 3, collection: Addr::new(0x2010), index: 7 };
        assert_eq!(parse_ids(&bytes, Width::Eight), Ok(vec![id]));
        let bytes = [3, 0, 0, 0, 0x10, 0x20, 7, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0];
        let none = VlenId { len: 0, collection: Addr::UNDEFINED, index: 0 };
        assert_eq!(parse_ids(&bytes, Width::Two), Ok(vec![id, none]));
        assert!(none.is_empty());
    }

    #[test]
    fn half_an_id_is_refused() {
        assert!(matches!(
            parse_ids(&[0; 24], Width::Eight),
            Err(RequestError::Length { given: 24, expected: 32, .. })
        ));
        assert_eq!(parse_ids(&[], Width::Eight), Ok(vec![]));
    }
}
