//! The indices of all axes, as NumPy's `a[3, ..., -1]` has them, and what they select.

use std::iter;

use hyperslab_error::RequestError;
use smallvec::SmallVec;

use super::{AxisIndex, Selection};

/// What [`s!`](crate::s) returns: an index for each axis. A method of a dataset applies them to its shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Indices {
    leading: Vec<AxisIndex>,
    /// The indices of the last axes. Between them and the leading ones, axes are whole.
    trailing: Vec<AxisIndex>,
}

/// The elements that indices select.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selected {
    /// The selection, with every axis of the array.
    pub selection: Selection,
    /// The axes with a single integer, which are dropped from the shape of the result.
    pub dropped: SmallVec<[usize; 4]>,
}

/// What selects elements of a dataset: [`Indices`], or what a [`Selection`] can be made from.
///
/// ```
/// use hyperslab::{Dataset, File, Select, s};
///
/// fn sum(dataset: &Dataset, what: impl Select) -> hyperslab::Result<i64> {
///     Ok(dataset.read::<i64>(what)?.iter().sum())
/// }
///
/// let file = File::in_memory()?;
/// let dataset = file.root().new_dataset::<i32>("d").shape([4]).create_with(&[1, 2, 3, 4])?;
/// assert_eq!((sum(&dataset, ..)?, sum(&dataset, 0..2)?, sum(&dataset, s![-1])?), (10, 3, 4));
/// # Ok::<(), hyperslab::Error>(())
/// ```
pub trait Select {
    /// Returns the elements of an array with the shape that `extent` returns.
    fn select(self, extent: impl FnOnce() -> Vec<u64>) -> Result<Selected, RequestError>;
}

impl Indices {
    /// Indices of the first and of the last axes. All axes between them are whole.
    #[doc(hidden)] // `s!` needs it
    pub const fn new(leading: Vec<AxisIndex>, trailing: Vec<AxisIndex>) -> Self {
        Self { leading, trailing }
    }
}

/// Indices of the first axes. All others are whole.
impl From<Vec<AxisIndex>> for Indices {
    fn from(leading: Vec<AxisIndex>) -> Self {
        Self::new(leading, Vec::new())
    }
}

impl Selected {
    /// Returns the shape of the result, for an array of the shape `extent`.
    pub fn shape(&self, extent: &[u64]) -> Vec<u64> {
        let lens = self.selection.shape(extent).into_iter().enumerate();
        lens.filter(|(axis, _)| !self.dropped.contains(axis)).map(|(_, len)| len).collect()
    }
}

impl<T: Into<Selection>> Select for T {
    #[inline]
    fn select(self, _: impl FnOnce() -> Vec<u64>) -> Result<Selected, RequestError> {
        Ok(Selected { selection: self.into(), dropped: SmallVec::new() })
    }
}

impl Select for Indices {
    fn select(self, extent: impl FnOnce() -> Vec<u64>) -> Result<Selected, RequestError> {
        (&self).select(extent)
    }
}

impl Select for &Indices {
    fn select(self, extent: impl FnOnce() -> Vec<u64>) -> Result<Selected, RequestError> {
        let extent = extent();
        let (given, rank) = (self.leading.len() + self.trailing.len(), extent.len());
        let whole = rank.checked_sub(given).ok_or(RequestError::Rank { given, rank })?;
        let all = AxisIndex::from(..);
        let indices = self.leading.iter().chain(iter::repeat_n(&all, whole)).chain(&self.trailing);
        let (mut axes, mut dropped) = (Vec::with_capacity(rank), SmallVec::new());
        for (axis, (index, len)) in indices.zip(extent).enumerate() {
            axes.push(index.along(axis, len)?);
            if index.drops_axis() {
                dropped.push(axis);
            }
        }
        Ok(Selected { selection: Selection::from_axes(axes), dropped })
    }
}

/// Selects elements by an index for each axis, as NumPy does: integers, ranges, ranges with a step, lists.
///
/// ```
/// use hyperslab::{File, s};
///
/// let file = File::in_memory()?;
/// let values: Vec<i32> = (0..24).collect();
/// let dataset = file.root().new_dataset::<i32>("d").shape([2, 3, 4]).create_with(&values)?;
/// assert_eq!(dataset.read::<i32>(s![1, .., -1])?, [15, 19, 23]);
/// assert_eq!(dataset.read::<i32>(s![0, ..2, 1..;2])?, [1, 3, 5, 7]);
/// assert_eq!(dataset.read::<i32>(s![..., [3, 0]])?.len(), 12);
/// dataset.write(s![.., 0, 0], &[-1, -2])?;
/// assert_eq!(dataset.read::<i32>(s![-1, 0, ..=1])?, [-2, 13]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
///
/// | index | selects |
/// | --- | --- |
/// | `3`, `-1` | one index, counted from the start or the end; the axis is dropped from the shape |
/// | `..`, `2..5`, `-3..`, `..=7` | a range, clamped to the axis |
/// | `..;2`, `10..20;2` | every second index of a range |
/// | `[4, 0, -1]` | a list in this order |
/// | an [`Axis`](crate::Axis) | its indices |
/// | `...` | all axes without an index, at most once. If it is left out, they are the last ones |
///
/// The shape of the dataset is looked at when the elements are read or written. Then it is an error if an
/// integer is out of bounds, if a step is less than 1, or if there are more indices than axes.
#[macro_export]
macro_rules! s {
    ($($axes:tt)*) => {{
        #[allow(clippy::reversed_empty_ranges, reason = "a negative bound counts from the end")]
        let indices = $crate::__indices!([] [] $($axes)*);
        indices
    }};
}

/// Collects indices in the second brackets. At `...` they move to the first ones.
#[doc(hidden)]
#[macro_export]
macro_rules! __indices {
    ([] [$($index:expr,)*]) => {
        $crate::Indices::from(::std::vec![$($index),*])
    };
    ([$leading:expr] [$($index:expr,)*]) => {
        $crate::Indices::new($leading, ::std::vec![$($index),*])
    };
    ([] [$($index:expr,)*] ... $(, $($rest:tt)*)?) => {
        $crate::__indices!([::std::vec![$($index),*]] [] $($($rest)*)?)
    };
    ($leading:tt [$($index:expr,)*] $range:expr ; $step:expr $(, $($rest:tt)*)?) => {
        $crate::__indices!($leading [$($index,)* $crate::AxisIndex::stepped($range, $step),] $($($rest)*)?)
    };
    ($leading:tt [$($index:expr,)*] $next:expr $(, $($rest:tt)*)?) => {
        $crate::__indices!($leading [$($index,)* $crate::AxisIndex::from($next),] $($($rest)*)?)
    };
    ($($other:tt)*) => {
        ::std::compile_error!("indices must be divided by commas, as in s![3, .., -1, 10..20;2]")
    };
}
