//! Files in memory, as objects of the class that makes them.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

use super::File;
use crate::handles::classes::{file_object, identifier};
use crate::opening::open;
use crate::opening::state::FileState;

impl File {
    /// Returns an open file of the class `cls`. A subclass is called with the identifier of the file.
    fn made<'py>(cls: &Bound<'py, PyType>, state: Arc<FileState>) -> PyResult<Bound<'py, Self>> {
        let file = Bound::new(cls.py(), file_object(state))?;
        if cls.is(file.get_type()) {
            return Ok(file);
        }
        Ok(cls.call1((identifier(file.as_super().as_super())?,))?.cast_into::<Self>()?)
    }
}

#[pymethods]
impl File {
    /// Opens a copy of the bytes of a file, for reading.
    ///
    /// Args:
    ///     data: The bytes, as `bytes` or any other buffer.
    ///     kwds: Keywords of `File`.
    ///
    /// Raises:
    ///     FormatError: The bytes are not an HDF5 file.
    ///     TypeError: `data` is not a buffer.
    ///
    /// Example:
    ///     >>> from pathlib import Path
    ///     >>> with hs.File.from_bytes(Path("climate.h5").read_bytes()) as reading:
    ///     ...     reading["surface/t2m"].shape
    ///     (4, 2, 3)
    #[classmethod]
    #[pyo3(signature = (data, **kwds))]
    fn from_bytes<'py>(
        cls: &Bound<'py, PyType>,
        data: &Bound<'py, PyAny>,
        kwds: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, Self>> {
        Self::made(cls, open::image(data, &kwds.unwrap_or_else(|| PyDict::new(cls.py())))?)
    }

    /// Creates a new file in memory, or opens a copy of the bytes of a file for changing.
    ///
    /// Args:
    ///     file_image: The bytes of a file. None creates an empty file.
    ///     kwds: Keywords of `File`.
    ///
    /// Returns:
    ///     The file. Its mode is "r+".
    ///
    /// Raises:
    ///     FormatError: The bytes are not an HDF5 file.
    ///     TypeError: The keyword is unknown.
    ///
    /// Example:
    ///     >>> memory = hs.File.in_memory()
    ///     >>> memory["levels"] = [1000, 850]
    ///     >>> memory.flush()
    ///     >>> image = memory.id.get_file_image()
    ///     >>> hs.File.in_memory(image)["levels"].shape
    ///     (2,)
    #[classmethod]
    #[pyo3(signature = (file_image=None, **kwds))]
    fn in_memory<'py>(
        cls: &Bound<'py, PyType>,
        file_image: Option<&Bound<'py, PyAny>>,
        kwds: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, Self>> {
        let kwds = kwds.unwrap_or_else(|| PyDict::new(cls.py()));
        let state = open::in_memory(file_image, &kwds)?;
        Self::made(cls, state)
    }
}
