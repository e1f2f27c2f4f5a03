//! Arrays of the crate `ndarray`, of any layout (feature `ndarray`).

use hyperslab_convert::Scalar;
use hyperslab_error::{RequestError, Result};
use hyperslab_select::{Select, Selected};
use ndarray::{Array, ArrayBase, ArrayViewMut, Data, Dimension, IxDyn};

use crate::engine::{Destination, ReadOptions};
use crate::object::Dataset;
use crate::object::element::Element;

impl Dataset {
    /// Reads the elements of `what` as an array. Elements of another type are converted to `T`.
    ///
    /// The array has the shape of the selection. As in NumPy, an integer in [`s!`](crate::s) drops its axis.
    ///
    /// ```
    /// # fn main() -> hyperslab::Result<()> {
    /// use hyperslab::s;
    /// use ndarray::{Array1, Array2, array};
    ///
    /// # let file = hyperslab::File::in_memory()?;
    /// let dataset = file.root().new_dataset::<i32>("d").shape([2, 3]).create()?;
    /// dataset.write_array(.., &array![[1, 2, 3], [4, 5, 6]])?;
    /// let columns: Array2<f64> = dataset.read_array([0..2, 1..3])?;
    /// assert_eq!(columns, array![[2.0, 3.0], [5.0, 6.0]]);
    /// let last: Array1<i32> = dataset.read_array(s![-1, ..])?;
    /// assert_eq!(last, array![4, 5, 6]);
    /// # Ok(()) }
    /// ```
    ///
    /// Errors: those of [`read`](Self::read); `Request` if the selection has another number of dimensions
    /// than `D`.
    pub fn read_array<T: Element, D: Dimension>(&self, what: impl Select) -> Result<Array<T, D>> {
        let what = self.select(what)?;
        loop {
            let shape = lengths(&what.shape(&self.shape()));
            let values = self.read(&what.selection)?;
            // After a resize, a selection of everything has another shape.
            if shape.iter().product::<usize>() != values.len() {
                continue;
            }
            let dimensions = shape.len();
            let array = Array::from_shape_vec(IxDyn(&shape), values).ok();
            return array.and_then(|array| array.into_dimensionality().ok()).ok_or_else(|| {
                let why = "the array has another number of dimensions";
                let what = format!("selection of {dimensions} dimensions");
                crate::Error::from(RequestError::Argument { what, why }).at(self.path())
            });
        }
    }

    /// Reads the elements of `what` into an array. Elements of another type are converted to `T`. If the
    /// memory of the array has no gaps, elements are decoded straight into it, in any order of the axes.
    ///
    /// Errors: those of [`read`](Self::read); `Request` if the array has another shape than the selection.
    ///
    /// ```
    /// use ndarray::{Array2, ShapeBuilder};
    ///
    /// let file = hyperslab::File::in_memory()?;
    /// let dataset = file.root().new_dataset::<i32>("d").shape([2, 3]).create_with(&[1, 2, 3, 4, 5, 6])?;
    /// let mut columns_first = Array2::<f64>::zeros((2, 3).f());
    /// dataset.read_array_into(.., columns_first.view_mut())?;
    /// assert_eq!(columns_first[[1, 2]], 6.0);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn read_array_into<T: Scalar + Element, D: Dimension>(
        &self,
        what: impl Select,
        mut array: ArrayViewMut<'_, T, D>,
    ) -> Result<()> {
        let what = self.select(what)?;
        let extent = self.shape();
        let shape = self.check_shape(&what, &extent, array.shape())?;
        let strides: Option<Vec<usize>> = array.strides().iter().map(|&s| usize::try_from(s).ok()).collect();
        if let Some(strides) = strides
            && let Some(bytes) = array.as_slice_memory_order_mut().and_then(T::bytes_mut)
        {
            let strides: Vec<usize> = strides.iter().map(|&stride| stride * size_of::<T>()).collect();
            let mut destination = Destination::strided(bytes, &shape, &strides, size_of::<T>())?;
            let options = ReadOptions { datatype: Some(<T as Scalar>::datatype()), ..ReadOptions::default() };
            return self.read_shaped(
                Some(&extent),
                &what.selection,
                &mut destination.with_axes(&what.dropped),
                &options,
            );
        }
        array.iter_mut().zip(self.read::<T>(&what.selection)?).for_each(|(place, value)| *place = value);
        Ok(())
    }

    /// Writes an array of any layout to the elements of `what`. If the dataset stores another type, the
    /// elements are converted.
    ///
    /// Errors: those of [`write`](Self::write); `Request` if the array has another shape than the selection.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let file = hyperslab::File::in_memory()?;
    /// let dataset = file.root().new_dataset::<i32>("d").shape([3, 2]).create()?;
    /// dataset.write_array(.., &array![[1, 2, 3], [4, 5, 6]].t())?;
    /// assert_eq!(dataset.read::<i32>(..)?, [1, 4, 2, 5, 3, 6]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn write_array<T: Element + Clone, S: Data<Elem = T>, D: Dimension>(
        &self,
        what: impl Select,
        array: &ArrayBase<S, D>,
    ) -> Result<()> {
        let what = self.select(what)?;
        self.check_shape(&what, &self.shape(), array.shape())?;
        match array.as_slice() {
            Some(values) => self.write(&what.selection, values),
            None => self.write(&what.selection, &array.iter().cloned().collect::<Vec<_>>()),
        }
    }

    /// Checks that an array has the shape of `what`, and returns this shape.
    fn check_shape(&self, what: &Selected, extent: &[u64], array: &[usize]) -> Result<Vec<u64>> {
        let shape: Vec<u64> = array.iter().map(|&len| len as u64).collect();
        let wanted = what.shape(extent);
        if *wanted == *shape {
            return Ok(shape);
        }
        let what = format!("array of shape {shape:?} for a selection of shape {wanted:?}");
        let why = "the shapes differ";
        Err(crate::Error::from(RequestError::Argument { what, why }).at(self.path()))
    }
}

fn lengths(shape: &[u64]) -> Vec<usize> {
    shape.iter().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect()
}
