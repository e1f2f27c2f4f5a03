//! Shuffle, filter 2: byte k of every element is stored together, so that slowly changing bytes compress
//! well.
//!
//! A tail shorter than one element is stored unchanged.

use crate::error::{FilterError, Result};
use crate::filter::{Encoded, Filter, FilterId, Scratch, prefix};
use crate::simd::Kernels;

/// The filter for one dataset.
#[derive(Debug)]
pub struct Shuffle {
    element_size: usize,
    /// Whether the client data state the size. libhdf5 leaves them out for elements of variable length, and
    /// then stores chunks without the filter.
    is_stated: bool,
}

impl Shuffle {
    const NAME: &'static str = "shuffle";

    /// Creates the filter from its client data: the element size, which defaults to that of the dataset.
    pub fn new(client_data: &[u32], element_size: usize) -> Result<Self> {
        let element_size = client_data.first().map_or(element_size, |&size| size as usize);
        if element_size == 0 {
            let (filter, parameter, expected) = (Self::NAME, "element size", "1 or more");
            return Err(FilterError::Parameter { filter, parameter, value: 0, expected });
        }
        Ok(Self { element_size, is_stated: !client_data.is_empty() })
    }
}

impl Filter for Shuffle {
    fn id(&self) -> FilterId {
        FilterId::SHUFFLE
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<usize> {
        Kernels::fastest().unshuffle(
            self.element_size,
            src,
            prefix(Self::NAME, dst, src.len())?,
            scratch.stores,
        );
        Ok(src.len())
    }

    fn as_shuffle(&self) -> Option<usize> {
        Some(self.element_size)
    }

    fn encode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> Result<Encoded> {
        if !self.is_stated {
            return Ok(Encoded::Skipped);
        }
        Kernels::fastest().shuffle(self.element_size, src, prefix(Self::NAME, dst, src.len())?);
        Ok(Encoded::Stored(src.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_stated_size_chunks_are_stored_without_the_filter() {
        let (src, mut scratch) = ([1, 0, 2, 0], Scratch::default());
        let mut encode = |client_data: &[u32]| {
            let mut dst = [0; 4];
            let encoded =
                Shuffle::new(client_data, 2).unwrap().encode_into(&src, &mut dst, &mut scratch).unwrap();
            (matches!(encoded, Encoded::Stored(4)), dst)
        };
        assert_eq!(encode(&[2]), (true, [1, 2, 0, 0]));
        assert!(!encode(&[]).0);
    }
}
