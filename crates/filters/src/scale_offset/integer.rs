//! Integers: differences from the smallest element, in as few bits as the largest difference needs, or in as
//! many as the user chose. The latter loses values that need more.

use std::marker::PhantomData;

use super::word::Word;
use super::{Coder, Header};

/// The parameters of integers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Integer {
    pub(super) is_signed: bool,
    /// The number of bits that the user chose, or 0.
    pub(super) bits: u32,
}

/// The coder for integers of one size.
pub(super) struct Sized<W> {
    is_signed: bool,
    bits: u32,
    word: PhantomData<W>,
}

impl<W: Word> Sized<W> {
    pub(super) fn of(Integer { is_signed, bits }: Integer) -> Self {
        Self { is_signed, bits, word: PhantomData }
    }

    /// Returns a number that is in the order of the elements.
    fn rank(&self, element: W) -> W {
        if self.is_signed { element.flipped() } else { element }
    }
}

impl<W: Word> Coder for Sized<W> {
    type Word = W;

    fn decoder(&self, header: Header, fill: Option<W>) -> impl Fn(u64) -> W {
        let smallest = W::of(header.smallest);
        let fill = fill.map(|fill| (marker(header.bits), fill));
        move |number| match fill {
            Some((marker, fill)) if number == marker => fill,
            _ => W::of(number).plus(smallest),
        }
    }

    fn encoder(
        &self,
        elements: impl Iterator<Item = W> + Clone,
        fill: Option<W>,
    ) -> (Header, impl Fn(W) -> u64) {
        let extremes = match fill {
            None => extremes(elements.map(|element| self.rank(element))),
            Some(fill) => {
                extremes(elements.filter(|&element| element != fill).map(|element| self.rank(element)))
            }
        };
        // The rank of a rank is the element again.
        let (low, high) =
            extremes.map_or((W::of(0), W::of(0)), |(low, high)| (self.rank(low), self.rank(high)));
        let range = high.minus(low);
        let mut smallest = if self.is_signed { low.sign_extended() } else { low.widened() };
        let bits = if self.bits > 0 {
            self.bits
        } else if range > W::MAX.minus(W::of(2)) {
            // libhdf5 stores no smallest element then, except for these elements.
            if !(W::SIZE == 1 && self.is_signed && fill.is_none()) {
                smallest = 0;
            }
            W::BITS
        } else {
            // The number of values, and one for the fill value.
            ceil_log2(range.widened() + 1 + u64::from(fill.is_some()))
        };
        let mask = marker(bits);
        let encode = move |element: W| {
            if Some(element) == fill { mask } else { element.minus(low).widened() & mask }
        };
        (Header { bits, smallest }, encode)
    }
}

/// Returns the smallest and the largest value, if there is one.
fn extremes<W: Word>(mut values: impl Iterator<Item = W>) -> Option<(W, W)> {
    let first = values.next()?;
    Some(values.fold((first, first), |(low, high), value| (value.min(low), value.max(high))))
}

/// Returns the number that stands for the fill value: all bits are ones.
pub(super) fn marker(bits: u32) -> u64 {
    u64::MAX.checked_shr(64 - bits).unwrap_or(0)
}

/// Returns the number of bits that distinguish `values` values.
pub(super) fn ceil_log2(values: u64) -> u32 {
    64 - values.saturating_sub(1).leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_need_as_many_bits_as_their_number_has() {
        let found: Vec<u32> = [1, 2, 3, 4, 5, 255, 256, 257, u64::MAX].map(ceil_log2).into();
        assert_eq!(found, [0, 1, 2, 2, 3, 8, 8, 9, 64]);
        assert_eq!([0, 1, 7, 64].map(marker), [0, 1, 127, u64::MAX]);
    }
}
