//! Evenly spaced indices along one axis.

use std::iter;

/// The `count` indices `start`, `start + step`, `start + 2 * step`, ...
///
/// ```
/// use hyperslab::Dim;
///
/// let every_third = Dim { start: 1, step: 3, count: 4 };
/// assert_eq!(every_third.iter().collect::<Vec<_>>(), [1, 4, 7, 10]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dim {
    /// The first index.
    pub start: u64,
    /// The distance from one index to the next, at least 1.
    pub step: u64,
    /// The number of indices.
    pub count: u64,
}

impl Dim {
    /// Returns the indices `start..end`. Empty if `end <= start`.
    pub const fn range(start: u64, end: u64) -> Self {
        Self { start, step: 1, count: end.saturating_sub(start) }
    }

    /// Returns the single index `index`.
    pub const fn one(index: u64) -> Self {
        Self { start: index, step: 1, count: 1 }
    }

    /// Returns the number of indices.
    pub const fn len(self) -> u64 {
        self.count
    }

    /// Returns whether there are no indices.
    pub const fn is_empty(self) -> bool {
        self.count == 0
    }

    /// Returns the last index. `None` if there is none or it does not fit a `u64`.
    pub fn last(self) -> Option<u64> {
        self.count.checked_sub(1)?.checked_mul(self.step)?.checked_add(self.start)
    }

    /// Returns the last index plus one, or `start` if there are no indices.
    pub fn end(self) -> u64 {
        self.last().map_or(self.start, |last| last.saturating_add(1))
    }

    /// Returns the indices in order.
    pub fn iter(self) -> impl Iterator<Item = u64> {
        let mut next = Some(self.start);
        (0..self.count).map_while(move |_| {
            let index = next?;
            next = index.checked_add(self.step);
            Some(index)
        })
    }

    /// Returns whether `index` is one of the indices.
    pub fn contains(self, index: u64) -> bool {
        index.checked_sub(self.start).is_some_and(|distance| {
            distance % self.step.max(1) == 0 && distance / self.step.max(1) < self.count
        })
    }

    /// Returns the positions of the indices in the half-open interval `[lo, hi)`: the first, and one past the
    /// last.
    #[doc(hidden)]
    pub fn positions(self, lo: u64, hi: u64) -> (u64, u64) {
        let position = |bound: u64| {
            let distance = bound.saturating_sub(self.start);
            let position = if self.step <= 1 { distance } else { distance.div_ceil(self.step) };
            position.min(self.count)
        };
        (position(lo), position(hi))
    }

    /// Returns the indices in the half-open interval `[lo, hi)`. `None` if there are none.
    #[doc(hidden)]
    pub fn clip(self, lo: u64, hi: u64) -> Option<Self> {
        let (first, end) = self.positions(lo, hi);
        (first < end).then(|| Self {
            start: self.start + first * self.step,
            step: self.step,
            count: end - first,
        })
    }

    /// Returns `indices` as an arithmetic sequence, if they ascend evenly.
    pub fn from_indices(indices: &[u64]) -> Option<Self> {
        let (&start, step) = match indices {
            [] => return Some(Self::range(0, 0)),
            [one] => (one, 1),
            [first, second, ..] => (first, second.checked_sub(*first)?),
        };
        let even =
            step > 0 && iter::zip(indices, &indices[1..]).all(|(a, b)| b.checked_sub(*a) == Some(step));
        even.then_some(Self { start, step, count: indices.len() as u64 })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn dims() -> impl Strategy<Value = Dim> {
        (0u64..60, 1u64..9, 0u64..12).prop_map(|(start, step, count)| Dim { start, step, count })
    }

    proptest! {
        #[test]
        fn clip_keeps_exactly_the_elements_inside(dim in dims(), lo in 0u64..90, len in 0u64..90) {
            let hi = lo + len;
            let kept: Vec<u64> = dim.clip(lo, hi).into_iter().flat_map(Dim::iter).collect();
            let expected: Vec<u64> = dim.iter().filter(|x| (lo..hi).contains(x)).collect();
            prop_assert_eq!(kept, expected);
        }

        #[test]
        fn contains_agrees_with_iter(dim in dims(), index in 0u64..170) {
            prop_assert_eq!(dim.contains(index), dim.iter().any(|x| x == index));
        }

        #[test]
        fn from_indices_inverts_iter(dim in dims()) {
            let indices: Vec<u64> = dim.iter().collect();
            let found = Dim::from_indices(&indices).unwrap();
            prop_assert_eq!(found.iter().collect::<Vec<_>>(), indices);
            prop_assert_eq!(found.len(), dim.len());
        }
    }

    #[test]
    fn from_indices_rejects_uneven_indices() {
        for indices in [&[3, 3][..], &[2, 1], &[0, 1, 3], &[0, 2, 1]] {
            assert_eq!(Dim::from_indices(indices), None, "{indices:?}");
        }
    }

    #[test]
    fn the_ends_of_the_number_range_do_not_overflow() {
        let dim = Dim { start: u64::MAX, step: u64::MAX, count: u64::MAX };
        assert_eq!(dim.last(), None);
        assert_eq!(dim.iter().collect::<Vec<_>>(), [u64::MAX]);
        assert_eq!(Dim::one(u64::MAX).last(), Some(u64::MAX));
        assert_eq!(Dim::one(u64::MAX).end(), u64::MAX);
        assert!(!dim.contains(0));
    }
}
