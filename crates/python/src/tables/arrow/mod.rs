//! Arrow: streams of the rows of a table, and rows from the streams of other libraries.

mod capsule;

use std::num::{NonZeroU64, NonZeroUsize};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};
use hyperslab::WriteOptions;
use hyperslab_arrow::{Batches, Described, Forms, Options, Rows, Scan, described};
use hyperslab_convert::Conversion;
use hyperslab_tables::Table;
use numpy::PyUntypedArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList, PyString, PyTuple};

pub(crate) use self::capsule::Incoming;
use crate::handles::dataset::Dataset;
use crate::interpreter::error::OrRaise;
use crate::interpreter::signals;
use crate::opening::state::FileState;
use crate::tables::query::PyQuery;
use crate::tables::table::changed;
use crate::values::buffer;
use crate::values::dtype::holds;

/// The bytes of rows that are appended at a time.
const APPENDED: usize = 32 << 20;

/// Rows of a table that can be read as a stream of Arrow, any number of times.
#[pyclass(frozen, module = "hyperslab", name = "_Scan")]
pub(crate) struct PyScan {
    scan: Scan,
    state: Arc<FileState>,
}

#[pymethods]
impl PyScan {
    /// Names rows of a table: those that meet a query, or all of a range.
    #[new]
    #[pyo3(signature = (dataset, query, columns, rows, limit, batch_rows, forms, requested))]
    #[allow(clippy::too_many_arguments, reason = "they are the options of a scan")]
    fn new(
        dataset: &Bound<'_, Dataset>,
        query: Option<&Bound<'_, PyQuery>>,
        columns: Option<Vec<String>>,
        rows: (u64, u64, NonZeroU64),
        limit: Option<u64>,
        batch_rows: Option<NonZeroUsize>,
        forms: (bool, bool),
        requested: Option<&Bound<'_, PyCapsule>>,
    ) -> PyResult<Self> {
        let table = dataset.get().table()?;
        let forms = Forms { binary: forms.0, wide_halves: forms.1 };
        let mut options =
            Options { columns, rows: Some(rows.0..rows.1), step: Some(rows.2), limit, batch_rows, forms };
        let query = query.map(|query| query.get().query.clone());
        let mut scan = Scan::new(table, query.clone(), &options).or_raise()?;
        if let Some(requested) = requested
            && wants_binary(&capsule::requested(requested)?, &scan.schema())
        {
            options.forms.binary = true;
            scan = Scan::new(table, query, &options).or_raise()?;
        }
        Ok(Self { scan, state: dataset.get().state.clone() })
    }

    /// Returns a capsule with a stream of the rows.
    fn stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        self.state.check()?;
        let stream = Stream { batches: self.scan.batches(), state: self.state.clone() };
        capsule::stream(py, Box::new(stream))
    }

    /// Returns a capsule with the schema.
    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::schema(py, &self.scan.schema())
    }
}

/// Returns whether a consumer wants all texts as bytes.
fn wants_binary(requested: &Schema, schema: &Schema) -> bool {
    let texts = schema.fields().iter().filter(|field| *field.data_type() == DataType::Utf8);
    let mut wanted = texts.filter_map(|field| requested.field_with_name(field.name()).ok()).peekable();
    let is_binary =
        |kind: &DataType| matches!(kind, DataType::Binary | DataType::LargeBinary | DataType::BinaryView);
    wanted.peek().is_some() && wanted.all(|field| is_binary(field.data_type()))
}

/// The record batches of a table, for a consumer in any thread.
struct Stream {
    batches: Batches,
    state: Arc<FileState>,
}

impl Stream {
    fn read(&mut self) -> Option<Result<RecordBatch, ArrowError>> {
        if !self.state.is_open() {
            let why = "the file was closed: read the stream before the file is closed";
            return Some(Err(ArrowError::ExternalError(why.into())));
        }
        self.batches.next()
    }
}

impl Iterator for Stream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.batches.is_ready() {
            return self.read();
        }
        // The consumer may hold the GIL, which no thread of a decoding read may wait for.
        match Python::try_attach(|py| signals::detach(py, || self.read())) {
            Some(read) => read,
            None => self.read(),
        }
    }
}

impl RecordBatchReader for Stream {
    fn schema(&self) -> SchemaRef {
        self.batches.schema()
    }
}

/// Rows of another library.
#[pyclass(frozen, module = "hyperslab", name = "_ArrowRows")]
pub(crate) struct ArrowRows {
    /// The stream, and the batches that were read to measure their texts. `None` after they were appended.
    rows: Mutex<Option<(Incoming, Vec<RecordBatch>)>>,
    added: Mutex<Added>,
}

/// The rows of a table that came from a stream.
#[derive(Default)]
struct Added {
    rows: Vec<Range<u64>>,
    /// The removals of rows from the table when they were added.
    removals: u64,
    /// Whether rows were removed between two batches, so that those before have other numbers.
    are_moved: bool,
}

#[pymethods]
impl ArrowRows {
    /// Takes the stream of an object with the method `__arrow_c_stream__`.
    #[new]
    fn new(source: &Bound<'_, PyAny>) -> PyResult<Self> {
        let rows = Mutex::new(Some((Incoming::of(source)?, Vec::new())));
        Ok(Self { rows, added: Mutex::default() })
    }

    /// Returns the argument of `numpy.dtype` for columns that hold the rows. If there are texts, all rows are
    /// read to find the longest ones.
    fn described<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let columns = py.detach(|| {
            let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
            let Some((incoming, held)) = rows.as_mut() else {
                return Err(
                    ArrowError::InvalidArgumentError("the stream was appended already".to_owned()).into()
                );
            };
            let schema = incoming.schema();
            if schema.fields().iter().any(|field| has_texts(field.data_type())) {
                held.extend(incoming.by_ref().collect::<Result<Vec<_>, _>>()?);
            }
            described(&schema, held)
        });
        record(py, columns.or_raise()?)
    }

    /// Appends the rows to a table, whose columns have the values of `defaults` where the rows lack them.
    /// Returns the number of the first new row. After an error, `take_back` removes the new rows.
    fn append_to(&self, dataset: &Bound<'_, Dataset>, defaults: &Bound<'_, PyUntypedArray>) -> PyResult<u64> {
        let (py, this) = (dataset.py(), dataset.get());
        let table = changed(this, "append rows")?;
        let taken = self.rows.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((incoming, held)) = taken else {
            return Err(PyValueError::new_err("the stream was appended already"));
        };
        let defaults = stored_row(py, this, defaults)?;
        signals::detach(py, || {
            let mut added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
            let first = added.append(table, held.into_iter().map(Ok).chain(incoming), defaults)?;
            table.dataset().changing_rows(|| this.state.waiting.grown(table))?;
            Ok::<_, hyperslab_arrow::Error>(first)
        })
        .or_raise()
    }

    /// Removes the rows that `append_to` has appended to the table.
    fn take_back(&self, dataset: &Bound<'_, Dataset>) -> PyResult<()> {
        let this = dataset.get();
        let table = changed(this, "remove rows")?;
        let take_back = || {
            let mut added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
            table.dataset().changing_rows(|| {
                if added.take_back(table)? {
                    this.state.waiting.count(table);
                    this.state.waiting.changed(table, None)?;
                }
                Ok::<_, hyperslab_tables::Error>(())
            })
        };
        dataset.py().detach(take_back).or_raise()
    }
}

/// Returns one record of the dtype of the table in the stored datatype.
fn stored_row(py: Python<'_>, dataset: &Dataset, row: &Bound<'_, PyUntypedArray>) -> PyResult<Vec<u8>> {
    let translation = dataset.translation(py)?;
    if !holds(row, translation.descr.bind(py)) || row.len()? != 1 {
        return Err(PyValueError::new_err("the defaults are not one row of the table"));
    }
    let bytes = buffer::bytes(row)?;
    let (datatype, widths) = (dataset.core.datatype(), dataset.core.file().store().widths());
    let conversion = Conversion::with_widths(&translation.memory, &datatype, widths).or_raise()?;
    let mut stored = vec![0; conversion.dst_size()];
    conversion.apply(bytes, &mut stored, 1).or_raise()?;
    Ok(stored)
}

impl Added {
    /// Appends batches. Other threads may append rows between them.
    fn append(
        &mut self,
        table: &Table,
        batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
        defaults: Vec<u8>,
    ) -> hyperslab_arrow::Result<u64> {
        let step = (APPENDED / table.dataset().element_size().max(1)).max(1);
        let rows = Rows::new(table, Some(defaults))?;
        let mut count = 0;
        for batch in batches {
            let batch = batch?;
            for start in (0..batch.num_rows()).step_by(step) {
                let part = batch.slice(start, step.min(batch.num_rows() - start));
                let stored = rows.of(&part, count)?;
                table.dataset().changing_rows(|| {
                    self.note(table.append(&stored, &WriteOptions::default())?, table.dataset().removals());
                    Ok::<_, hyperslab_tables::Error>(())
                })?;
                count += part.num_rows() as u64;
            }
        }
        Ok(self.rows.first().map_or_else(|| table.len(), |first| first.start))
    }

    fn note(&mut self, new: Range<u64>, removals: u64) {
        self.are_moved |= !self.rows.is_empty() && self.removals != removals;
        self.removals = removals;
        match self.rows.last_mut() {
            Some(last) if last.end == new.start => last.end = new.end,
            _ => self.rows.push(new),
        }
    }

    /// Removes the rows from the table. Returns whether there were any.
    fn take_back(&mut self, table: &Table) -> hyperslab_tables::Result<bool> {
        let is_any = !self.rows.is_empty();
        if is_any && (self.are_moved || self.removals != table.dataset().removals()) {
            let count: u64 = self.rows.iter().map(|rows| rows.end - rows.start).sum();
            let why =
                "they stay in the table: its rows were removed meanwhile, so the new ones have other numbers";
            let what = format!("{count} rows of the stream");
            return Err(hyperslab_tables::Error::Argument { what, why: why.to_owned() });
        }
        for rows in self.rows.drain(..).rev() {
            table.remove(rows, NonZeroU64::MIN)?;
        }
        Ok(is_any)
    }
}

/// Returns whether values have texts, whose lengths the type does not say.
fn has_texts(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, inner) => has_texts(inner),
        DataType::FixedSizeList(field, _) => has_texts(field.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| has_texts(field.data_type())),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        kind => matches!(kind, DataType::Binary | DataType::LargeBinary | DataType::BinaryView),
    }
}

/// Returns nested columns as the argument of `numpy.dtype`.
fn record(py: Python<'_>, columns: Vec<(String, Described)>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for (name, column) in columns {
        list.append((name, dtype(py, column)?))?;
    }
    Ok(list)
}

/// Returns the argument of `numpy.dtype` for the values of a column. Times are marked as opaque bytes, which
/// is how HDF5 stores them.
fn dtype(py: Python<'_>, column: Described) -> PyResult<Bound<'_, PyAny>> {
    let code = |code: &str| PyString::new(py, code).into_any();
    Ok(match column {
        Described::Number(name) => code(name),
        Described::Text(size) => code(&format!("S{size}")),
        Described::Opaque(size) => code(&format!("V{size}")),
        Described::Time(name) => {
            let opaque = py.import("hyperslab._dtypes")?.getattr("opaque_dtype")?;
            let plain = py.import("numpy")?.getattr("dtype")?.call1((name,))?;
            opaque.call1((plain,))?
        }
        Described::List(inner, len) => {
            PyTuple::new(py, [dtype(py, *inner)?, len.into_pyobject(py)?.into_any()])?.into_any()
        }
        Described::Record(columns) => record(py, columns)?.into_any(),
    })
}
