//! The index of one axis: an integer or bounds that may count from the end, or a list.

use std::ops::{Bound, Range, RangeBounds, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use hyperslab_error::RequestError;

use super::{Axis, Dim};

/// The index of one axis in [`s!`](crate::s), in the sense of NumPy: an integer, a range, or a list.
///
/// It is made from an integer, from a range or an array of integers, or from an [`Axis`]. Negative integers
/// and bounds count from the end, and bounds beyond the end are those of the axis.
///
/// ```
/// use hyperslab::{AxisIndex, File, Indices};
///
/// let file = File::in_memory()?;
/// let dataset = file.root().new_dataset::<i32>("d").shape([2, 3]).create_with(&[1, 2, 3, 4, 5, 6])?;
/// // As many axes as the dataset has: the last row and column.
/// let corner: Vec<AxisIndex> = dataset.shape().iter().map(|_| (-1).into()).collect();
/// assert_eq!(dataset.read::<i32>(Indices::from(corner))?, [6]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisIndex(pub(crate) Item);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Item {
    At(IndexNumber),
    Slice { start: Option<IndexNumber>, stop: Option<IndexNumber>, step: IndexNumber },
    List(Vec<IndexNumber>),
    Given(Axis),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IndexNumber {
    pub(crate) value: i128,
    /// The column of the number in a text, counted from 1. 0 if it is not from a text.
    pub(crate) column: usize,
}

impl AxisIndex {
    /// The first index of `range` and every `step`-th one after it, as `range; step` in [`s!`](crate::s).
    /// `step` must be 1 or more.
    pub fn stepped(range: impl IndexRange, step: impl IndexInteger) -> Self {
        let (start, stop) = range.bounds();
        let step = step.value().into();
        Self(Item::Slice { start: start.map(Into::into), stop: stop.map(Into::into), step })
    }

    /// Returns whether the axis is dropped from the shape of the result.
    pub(crate) const fn drops_axis(&self) -> bool {
        matches!(self.0, Item::At(_))
    }

    /// Returns the selected indices of the axis, which has `len` elements.
    pub(crate) fn along(&self, axis: usize, len: u64) -> Result<Axis, RequestError> {
        Ok(match &self.0 {
            Item::At(number) => Axis::Range(Dim::one(number.index(axis, len)?)),
            Item::Slice { start, stop, step } => {
                let start = start.map_or(0, |number| number.bound(len));
                let stop = stop.map_or(len, |number| number.bound(len));
                let step = step.step(axis)?;
                Axis::Range(Dim { start, step, count: stop.saturating_sub(start).div_ceil(step) })
            }
            Item::List(numbers) => {
                let indices = numbers.iter().map(|number| number.index(axis, len));
                Axis::from_indices(indices.collect::<Result<Vec<_>, _>>()?)
            }
            Item::Given(indices) => indices.clone(),
        })
    }
}

impl IndexNumber {
    /// Returns the number as an index into an axis of `len` elements.
    fn index(self, axis: usize, len: u64) -> Result<u64, RequestError> {
        let index = u64::try_from(self.absolute(len)).ok().filter(|index| *index < len);
        index.ok_or_else(|| {
            let error = RequestError::OutOfBounds { axis, index: self.value, len };
            if self.column == 0 { error } else { self.in_text(error.to_string()) }
        })
    }

    /// Returns the number as a bound of a slice, clamped to the axis.
    fn bound(self, len: u64) -> u64 {
        u64::try_from(self.absolute(len).max(0)).unwrap_or(u64::MAX).min(len)
    }

    fn step(self, axis: usize) -> Result<u64, RequestError> {
        u64::try_from(self.value).ok().filter(|step| *step > 0).ok_or_else(|| match self.column {
            0 => RequestError::Step { axis, step: self.value },
            _ => self.in_text(format!("step {}: steps must be 1 or more", self.value)),
        })
    }

    fn absolute(self, len: u64) -> i128 {
        if self.value < 0 { self.value + i128::from(len) } else { self.value }
    }

    fn in_text(self, what: String) -> RequestError {
        RequestError::Syntax { column: self.column, what }
    }
}

impl From<i128> for IndexNumber {
    fn from(value: i128) -> Self {
        Self { value, column: 0 }
    }
}

/// An integer type of indices, which all but those of 128 bits are.
pub trait IndexInteger: Copy {
    /// Returns the number.
    fn value(self) -> i128;
}

/// A range of indices: `..`, and all other ranges of integers. Those that end with `-1` in `..=-1` end with
/// the last index.
pub trait IndexRange {
    /// Returns the first index, and the one after the last. `None` is the end of the axis.
    fn bounds(self) -> (Option<i128>, Option<i128>);
}

macro_rules! integers {
    ($($integer:ty)*) => {$(
        impl IndexInteger for $integer {
            fn value(self) -> i128 {
                self as i128
            }
        }

        impl From<$integer> for AxisIndex {
            fn from(index: $integer) -> Self {
                Self(Item::At(index.value().into()))
            }
        }
    )*};
}

macro_rules! ranges {
    ($($range:ident)*) => {$(
        impl<T: IndexInteger> IndexRange for $range<T> {
            fn bounds(self) -> (Option<i128>, Option<i128>) {
                let start = match self.start_bound() {
                    Bound::Included(start) | Bound::Excluded(start) => Some(start.value()),
                    Bound::Unbounded => None,
                };
                let stop = match self.end_bound() {
                    // One more than the last index is the first one, and not the end.
                    Bound::Included(last) => Some(last.value() + 1).filter(|stop| *stop != 0),
                    Bound::Excluded(stop) => Some(stop.value()),
                    Bound::Unbounded => None,
                };
                (start, stop)
            }
        }
    )*};
}

integers!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);
ranges!(Range RangeFrom RangeInclusive RangeTo RangeToInclusive);

impl IndexRange for RangeFull {
    fn bounds(self) -> (Option<i128>, Option<i128>) {
        (None, None)
    }
}

impl<R: IndexRange> From<R> for AxisIndex {
    fn from(range: R) -> Self {
        Self::stepped(range, 1)
    }
}

impl<T: IndexInteger, const N: usize> From<[T; N]> for AxisIndex {
    fn from(list: [T; N]) -> Self {
        Self(Item::List(list.into_iter().map(|index| index.value().into()).collect()))
    }
}

impl From<Axis> for AxisIndex {
    fn from(indices: Axis) -> Self {
        Self(Item::Given(indices))
    }
}
