//! Expressions over arrays.

use hyperslab::Dim;
use hyperslab_tables::{Calculation, Operand};
use numpy::prelude::*;
use numpy::{PyArrayDescr, PyUntypedArray};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::handles::dataset::Dataset;
use crate::interpreter::error::OrRaise;
use crate::interpreter::signals;
use crate::opening::state::writable;
use crate::tables::operand::{name_of, scalar, type_of};
use crate::values::buffer;

/// An expression and its operands: datasets, pairs of a dataset and the path of a field, contiguous arrays in
/// native byte order, and scalars.
#[pyclass(frozen, module = "hyperslab", name = "_Calculation")]
pub(crate) struct PyCalculation {
    text: String,
    operands: Vec<(String, GivenOperand)>,
    rows: Option<Dim>,
}

/// An operand as Python has it.
enum GivenOperand {
    Dataset(Py<Dataset>),
    Field(Py<Dataset>, String),
    Array(Py<PyUntypedArray>),
    Scalar(hyperslab_expr::Operand),
}

impl GivenOperand {
    fn new(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(dataset) = value.cast::<Dataset>() {
            return Ok(Self::Dataset(dataset.clone().unbind()));
        }
        if let Ok((dataset, path)) = value.extract::<(Bound<'_, Dataset>, String)>() {
            return Ok(Self::Field(dataset.unbind(), path));
        }
        match value.cast::<PyUntypedArray>() {
            Ok(array) => Ok(Self::Array(array.clone().unbind())),
            Err(_) => scalar(name, value).map(Self::Scalar),
        }
    }
}

#[pymethods]
impl PyCalculation {
    /// Makes a calculation, of the rows `(start, step, count)` if they are given.
    #[new]
    #[pyo3(signature = (text, operands, rows=None))]
    fn new(text: String, operands: &Bound<'_, PyDict>, rows: Option<(u64, u64, u64)>) -> PyResult<Self> {
        let mut given = Vec::new();
        for (name, value) in operands {
            let name: String = name.extract()?;
            let value = GivenOperand::new(&name, &value)?;
            given.push((name, value));
        }
        Ok(Self { text, operands: given, rows: rows.map(dim) })
    }

    /// Returns the shape of the result and the name of its dtype.
    fn outline<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyTuple>, String)> {
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the path of the method is not general enough"
        )]
        let (shape, kind) = self.with(py, |calculation| calculation.outline())?;
        Ok((PyTuple::new(py, shape)?, name_of(kind)))
    }

    /// Computes the result into a contiguous array in native byte order.
    fn run_into(&self, py: Python<'_>, mut out: Bound<'_, PyUntypedArray>) -> PyResult<()> {
        let kind = type_of(&out.dtype())?;
        let bytes = buffer::bytes_mut(&mut out)?;
        self.with(py, |calculation| calculation.run_into(bytes, kind))
    }

    /// Computes the result into a dataset, or into its rows `(start, step, count)`.
    #[pyo3(signature = (out, rows=None))]
    fn run_to(
        &self,
        py: Python<'_>,
        out: &Bound<'_, Dataset>,
        rows: Option<(u64, u64, u64)>,
    ) -> PyResult<()> {
        let out = out.get();
        writable::<pyo3::exceptions::PyOSError>(&out.state, "write the results of an expression")?;
        self.with(py, |calculation| calculation.run_to(&out.core, rows.map(dim)))
    }
}

impl PyCalculation {
    /// Calls `run` without the GIL.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        run: impl FnOnce(&Calculation<'_>) -> hyperslab_tables::Result<T> + Send,
    ) -> PyResult<T> {
        let arrays: Vec<Option<&Bound<'_, PyUntypedArray>>> = self
            .operands
            .iter()
            .map(|(_, given)| match given {
                GivenOperand::Array(array) => Some(array.bind(py)),
                _ => None,
            })
            .collect();
        let mut operands = Vec::new();
        for ((name, given), array) in self.operands.iter().zip(&arrays) {
            operands.push((name.clone(), operand(given, *array)?));
        }
        let (text, rows) = (&*self.text, self.rows);
        signals::detach(py, || {
            Calculation::new(text, &operands, rows).and_then(|calculation| run(&calculation))
        })
        .or_raise()
    }
}

/// Returns an operand of the engine. `array` is the array that it is, if it is one.
fn operand<'a>(given: &GivenOperand, array: Option<&'a Bound<'_, PyUntypedArray>>) -> PyResult<Operand<'a>> {
    let core = |dataset: &Py<Dataset>| {
        dataset.get().state.check()?;
        Ok::<_, PyErr>((*dataset.get().core).clone())
    };
    Ok(match (given, array) {
        (GivenOperand::Dataset(dataset), _) => Operand::Dataset(core(dataset)?),
        (GivenOperand::Field(dataset, path), _) => Operand::Field(core(dataset)?, path.clone()),
        (GivenOperand::Scalar(scalar), _) => Operand::Scalar(scalar.clone()),
        (GivenOperand::Array(_), Some(array)) => Operand::Memory {
            kind: type_of(&array.dtype())?,
            shape: array.shape().iter().map(|len| *len as u64).collect(),
            bytes: buffer::bytes(array)?,
        },
        (GivenOperand::Array(_), None) => return Err(PyTypeError::new_err("an array is missing")),
    })
}

fn dim((start, step, count): (u64, u64, u64)) -> Dim {
    Dim { start, step, count }
}

/// Returns the names that an expression uses.
#[pyfunction]
#[pyo3(name = "_names_of")]
pub(crate) fn names_of(text: &str) -> PyResult<Vec<String>> {
    let parsed = hyperslab_expr::Expression::parse(text).map_err(hyperslab_tables::Error::from).or_raise()?;
    Ok(parsed.names().to_vec())
}

/// Raises `TypeError` if an expression cannot compute with elements of a dtype.
#[pyfunction]
#[pyo3(name = "_check_operand")]
pub(crate) fn check_operand(dtype: &Bound<'_, PyArrayDescr>) -> PyResult<()> {
    type_of(dtype).map(drop)
}
