//! Elements as bytes of a described datatype, for the transfers of `hyperslab.low`.

use hyperslab::{Destination, ReadOptions, WriteOptions};
use hyperslab_format::datatype::Datatype as StoredDatatype;
use pyo3::exceptions::{PyMemoryError, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::Dataset;
use crate::interpreter::error::{OrRaise, in_one_shape};
use crate::interpreter::signals;
use crate::opening::state::writable;
use crate::selection::index::Request;
use crate::transfer::read;
use crate::values::description::described;

/// Returns the datatype of a description, unless its elements refer to other places of a file.
fn plain(description: &Bound<'_, PyAny>) -> PyResult<StoredDatatype> {
    let datatype = described(description)?;
    if datatype.has_variable_parts() {
        return Err(PyTypeError::new_err("elements of variable length are no bytes: take Python objects"));
    }
    Ok(datatype)
}

impl Dataset {
    /// Returns the number of bytes of the selected elements.
    fn described_len(&self, request: &Request, datatype: &StoredDatatype) -> PyResult<usize> {
        let size = usize::try_from(datatype.size(self.core.file().store().widths()))?;
        let len = request.shape.iter().try_fold(size, |len, &count| len.checked_mul(count));
        len.ok_or_else(|| PyMemoryError::new_err("the elements take too much memory"))
    }
}

#[pymethods]
impl Dataset {
    /// Returns selected elements as bytes of a described datatype.
    fn _read_described<'py>(
        &self,
        py: Python<'py>,
        sel: &Bound<'py, PyAny>,
        description: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let datatype = plain(description)?;
        in_one_shape(py, || {
            let request = read::request_of(self, Some(sel))?;
            let len = self.described_len(&request, &datatype)?;
            let mut bytes = Vec::new();
            bytes.try_reserve_exact(len).map_err(|_| PyMemoryError::new_err("the result is too large"))?;
            bytes.resize(len, 0);
            let is_stored = datatype == *self.core.datatype();
            let options = ReadOptions::default().datatype((!is_stored).then(|| datatype.clone()));
            if len > 0 {
                signals::detach(py, || {
                    let mut destination = Destination::contiguous(&mut bytes);
                    let Request { extent, selection, .. } = &request;
                    self.core.read_shaped(Some(extent), selection, &mut destination, &options)
                })
                .or_raise()?;
            }
            Ok(PyBytes::new(py, &bytes))
        })
    }

    /// Writes bytes of a described datatype to selected elements.
    fn _write_described(
        &self,
        py: Python<'_>,
        sel: &Bound<'_, PyAny>,
        description: &Bound<'_, PyAny>,
        bytes: &[u8],
    ) -> PyResult<()> {
        writable::<PyOSError>(&self.state, "write data")?;
        let datatype = plain(description)?;
        in_one_shape(py, || {
            let request = read::request_of(self, Some(sel))?;
            let len = self.described_len(&request, &datatype)?;
            let Some(bytes) = bytes.get(..len) else {
                let given = bytes.len();
                return Err(PyValueError::new_err(format!("the selection takes {len} bytes, not {given}")));
            };
            let is_stored = datatype == *self.core.datatype();
            let options = WriteOptions::default()
                .datatype((!is_stored).then(|| datatype.clone()))
                .transfer(self.transfer());
            signals::detach(py, || {
                self.core.write_shaped(&request.extent, &request.selection, bytes, &options)
            })
            .or_raise()
        })
    }
}
