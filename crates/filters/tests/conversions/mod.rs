//! Conversions of elements, and a model that converts one byte at a time.

use hyperslab_filters::{ByteMap, Convert};

/// Replaces every byte by the byte and its complement.
#[derive(Debug)]
struct Twice(usize);

impl Convert for Twice {
    fn size(&self) -> usize {
        2 * self.0
    }

    fn bytes(&self) -> Option<&[u16]> {
        None
    }

    fn run(&self, src: &[u8], dst: &mut [u8]) {
        assert_eq!(
            (src.len() % self.0, 2 * src.len()),
            (0, dst.len()),
            "source and destination hold the same number of whole elements"
        );
        for (to, from) in dst.chunks_exact_mut(2).zip(src) {
            to.copy_from_slice(&[*from, !from]);
        }
    }
}

/// Returns conversions of elements of `size` bytes: none, a computation, and bytes in the order that `picks`
/// makes.
pub(crate) fn conversions(size: usize, picks: &[usize]) -> Vec<Option<Box<dyn Convert>>> {
    let bytes: Vec<u16> = picks.iter().map(|pick| u16::try_from(pick % size).unwrap()).collect();
    let reversed: Vec<u16> = (0..size).rev().map(|byte| u16::try_from(byte).unwrap()).collect();
    let map =
        |bytes: &[u16]| -> Option<Box<dyn Convert>> { Some(Box::new(ByteMap::new(size, bytes).unwrap())) };
    vec![None, Some(Box::new(Twice(size))), map(&bytes), map(&reversed)]
}

/// Returns elements of `size` bytes, converted one byte at a time.
pub(crate) fn converted(convert: Option<&dyn Convert>, size: usize, elements: &[u8]) -> Vec<u8> {
    match convert.map(|convert| convert.bytes()) {
        None => elements.to_vec(),
        Some(None) => elements.iter().flat_map(|byte| [*byte, !byte]).collect(),
        Some(Some(bytes)) => {
            let of =
                |element: &[u8]| bytes.iter().map(|&byte| element[usize::from(byte)]).collect::<Vec<u8>>();
            elements.chunks_exact(size).flat_map(of).collect()
        }
    }
}
