//! Streams of Arrow's C interface in Python's capsules. This file reads the memory of other libraries.

use std::ffi::CStr;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, RecordBatch, RecordBatchOptions, RecordBatchReader, StructArray, make_array};
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// The name of a capsule with a stream.
const STREAM: &CStr = c"arrow_array_stream";
/// The name of a capsule with a schema.
const SCHEMA: &CStr = c"arrow_schema";

/// Returns a stream in a capsule.
pub(super) fn stream(
    py: Python<'_>,
    batches: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(batches), STREAM)
}

/// Returns a schema in a capsule.
pub(super) fn schema<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let schema =
        FFI_ArrowSchema::try_from(schema).map_err(|error| PyValueError::new_err(error.to_string()))?;
    PyCapsule::new_with_value(py, schema, SCHEMA)
}

/// Returns the schema that a consumer requests.
pub(super) fn requested(capsule: &Bound<'_, PyCapsule>) -> PyResult<Schema> {
    let place: NonNull<FFI_ArrowSchema> = capsule.pointer_checked(Some(SCHEMA))?.cast();
    // SAFETY: by the protocol, a capsule of this name holds a valid schema, and the GIL keeps others from
    // changing it. The schema is only read.
    let schema = unsafe { Schema::try_from(place.as_ref()) };
    schema.map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The record batches of another library.
pub(crate) struct Incoming {
    stream: FFI_ArrowArrayStream,
    schema: SchemaRef,
}

impl Incoming {
    /// Takes the stream of an object with the method `__arrow_c_stream__`.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let capsule = object.call_method0("__arrow_c_stream__")?;
        let capsule = capsule.cast::<PyCapsule>()?;
        let place: NonNull<FFI_ArrowArrayStream> = capsule.pointer_checked(Some(STREAM))?.cast();
        // SAFETY: by the protocol, a capsule of this name holds a valid stream or one that was taken, and the
        // GIL keeps others from taking it now. The call leaves a stream there that is marked as taken.
        let mut stream = unsafe { FFI_ArrowArrayStream::from_raw(place.as_ptr()) };
        let Some(get_schema) = stream.get_schema().filter(|_| stream.release().is_some()) else {
            return Err(PyValueError::new_err("the Arrow stream was read already: make a new one"));
        };
        let mut schema = FFI_ArrowSchema::empty();
        // SAFETY: the stream is valid and was not released, and the schema is a place to write to.
        let code = unsafe { get_schema(&raw mut stream, &raw mut schema) };
        if code != 0 {
            return Err(PyValueError::new_err(message(&mut stream, code)));
        }
        match DataType::try_from(&schema) {
            Ok(DataType::Struct(fields)) => Ok(Self { stream, schema: Arc::new(Schema::new(fields)) }),
            Ok(other) => {
                let why = format!("the Arrow stream must have rows, not values of {other}; pass a table");
                Err(PyTypeError::new_err(why))
            }
            Err(error) => Err(PyTypeError::new_err(error.to_string())),
        }
    }
}

/// Returns the words of a stream for its last error.
fn message(stream: &mut FFI_ArrowArrayStream, code: i32) -> String {
    let Some(last_error) = stream.get_last_error() else { return format!("Arrow stream: error {code}") };
    // SAFETY: the stream is valid, and its last call returned an error.
    let text = unsafe { last_error(&raw mut *stream) };
    if text.is_null() {
        return format!("Arrow stream: error {code}");
    }
    // SAFETY: a text that is not null ends with a zero, and is valid until the next call.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_string_lossy().into_owned()
}

impl Iterator for Incoming {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let get_next = self.stream.get_next()?;
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: the stream is valid and was not released, and the array is a place to write to.
        let code = unsafe { get_next(&raw mut self.stream, &raw mut array) };
        if code != 0 {
            return Some(Err(ArrowError::CDataInterface(message(&mut self.stream, code))));
        }
        if array.is_released() {
            return None;
        }
        let kind = DataType::Struct(self.schema.fields().clone());
        // SAFETY: by the protocol, the array is valid and has the type of the schema. What it says of its
        // own buffers is checked before they are read.
        let data = unsafe { from_ffi_and_data_type(array, kind) };
        let batch = || {
            let data = data?;
            data.validate_full()?;
            let rows = make_array(data);
            let Some(rows) = rows.as_any().downcast_ref::<StructArray>() else {
                return Err(ArrowError::CDataInterface("the stream has no rows".to_owned()));
            };
            if rows.null_count() > 0 {
                return Err(ArrowError::InvalidArgumentError("a row of the stream is null".to_owned()));
            }
            let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
            RecordBatch::try_new_with_options(self.schema.clone(), rows.columns().to_vec(), &options)
        };
        Some(batch())
    }
}

impl RecordBatchReader for Incoming {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
