//! Arrays over the file: elements that are used where they are.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::Dataset;
use crate::interpreter::error::OrRaise;
use crate::values::buffer::Pages;

#[pymethods]
impl Dataset {
    /// Returns the elements as an array over the file, without reading or copying them.
    ///
    /// The file must be mapped into memory (`driver="mmap"`), and the dataset contiguous. The array cannot be
    /// written. It stays usable when the file is closed, and as long as it lives, no program may change or
    /// cut the file: you promise that with the driver. If a program cuts the file short, the system kills a
    /// program that uses the lost elements.
    ///
    /// Returns:
    ///     An array of the shape and dtype of the dataset.
    ///
    /// Raises:
    ///     TypeError: The elements are not stored as NumPy has them in memory, such as strings of variable
    ///         length.
    ///     ValueError: The file is not mapped, or the dataset is not contiguous, or was never written.
    ///
    /// Example:
    ///     >>> with hs.File("out.h5", "w") as made:
    ///     ...     made["levels"] = [1000, 850]
    ///     >>> with hs.File("out.h5", driver="mmap") as mapped:
    ///     ...     levels = mapped["levels"].view()
    ///     >>> levels
    ///     array([1000,  850])
    fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.state.check()?;
        let translation = self.translation(py)?;
        if translation.recipe.is_some() || !self.is_stored_as(py, translation) {
            return Err(PyTypeError::new_err(
                "the elements are not stored as NumPy has them in memory; read them",
            ));
        }
        let pages = Bound::new(py, Pages(self.core.in_place().or_raise()?))?;
        let keywords = PyDict::new(py);
        keywords.set_item("shape", self.core.shape())?;
        keywords.set_item("dtype", translation.descr.bind(py))?;
        keywords.set_item("buffer", pages)?;
        py.import("numpy")?.call_method("ndarray", (), Some(&keywords))
    }
}
