//! SEG-Y surveys: passes the arguments that `hyperslab.segy` has parsed to the crate `hyperslab-segy`.

use std::path::PathBuf;

use hyperslab_filters::{FilterChoice, FilterId};
use hyperslab_segy::{
    AxisSummary, Cube, Domain, Fact, Field, IngestOptions, Number, SegyOptions, SurveyKind, SurveyOptions,
};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::filters;
use crate::handles::file::{File, open_state};
use crate::interpreter::error::OrRaise;
use crate::interpreter::progress::Progress;

/// How to read a SEG-Y file, and which trace header fields hold its geometry.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Taking {
    inline_byte: Option<String>,
    crossline_byte: Option<String>,
    offset_byte: Option<String>,
    cdp_byte: Option<String>,
    x_byte: Option<String>,
    y_byte: Option<String>,
    kind: Option<String>,
    pad: bool,
    ignore_rest: bool,
    trust_length: bool,
}

impl Taking {
    fn options(self) -> PyResult<(SegyOptions, SurveyOptions)> {
        let segy =
            SegyOptions { pad: self.pad, ignore_rest: self.ignore_rest, trust_length: self.trust_length };
        let survey = SurveyOptions {
            lines: both("inline_byte", self.inline_byte, "crossline_byte", self.crossline_byte)?,
            offset: field(self.offset_byte)?,
            cdp: field(self.cdp_byte)?,
            coordinates: both("x_byte", self.x_byte, "y_byte", self.y_byte)?,
            kind: self.kind.as_deref().map(kind).transpose()?,
        };
        Ok((segy, survey))
    }
}

/// How to store the survey in an HDF5 file.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Storing {
    /// The number of each filter, with the parameters that its plugin takes.
    filters: Vec<(u16, Vec<i64>)>,
    chunks: Option<Vec<u64>>,
    depth: bool,
    memory: u64,
    overwrite: bool,
}

fn field(text: Option<String>) -> PyResult<Option<Field>> {
    text.map(|text| text.parse::<Field>().or_raise()).transpose()
}

/// Parses two fields that must be given together, or returns `None` if neither is given.
fn both(
    first_name: &str,
    first: Option<String>,
    second_name: &str,
    second: Option<String>,
) -> PyResult<Option<(Field, Field)>> {
    match (field(first)?, field(second)?) {
        (Some(first), Some(second)) => Ok(Some((first, second))),
        (None, None) => Ok(None),
        _ => Err(PyValueError::new_err(format!("{first_name} and {second_name}: give both, or neither"))),
    }
}

fn kind(name: &str) -> PyResult<SurveyKind> {
    SurveyKind::from_name(name).ok_or_else(|| {
        let names = "'volume', 'prestack', 'line', 'prestack line' and 'traces'";
        PyValueError::new_err(format!("kind must be one of {names}, not {name:?}"))
    })
}

/// Writes the survey of a SEG-Y file to an HDF5 file.
#[pyfunction]
#[pyo3(name = "_segy_ingest")]
pub(crate) fn ingest(
    py: Python<'_>,
    source: PathBuf,
    to: PathBuf,
    taking: Taking,
    storing: Storing,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'_, PyDict>> {
    let choice = |(id, options): &(u16, Vec<i64>)| filters::choice(FilterId(*id), options);
    let (segy, survey) = taking.options()?;
    let options = IngestOptions {
        segy,
        survey,
        filters: storing.filters.iter().map(choice).collect::<PyResult<Vec<FilterChoice>>>()?,
        chunks: storing.chunks,
        domain: if storing.depth { Domain::Depth } else { Domain::Time },
        memory: storing.memory,
        overwrite: storing.overwrite,
    };
    let progress = Progress::of_steps(progress);
    let tell = |done, total| progress.tell(done, total);
    let done = py.detach(|| hyperslab_segy::ingest(source, to, &options, &tell));
    let done = progress.result(done.or_raise())?;
    let said = PyDict::new(py);
    said.set_item("shape", done.shape)?;
    said.set_item("traces", done.traces)?;
    said.set_item("ibm_words", done.ibm_words)?;
    said.set_item("resumed", done.resumed)?;
    said.set_item("note", done.note)?;
    Ok(said)
}

/// Writes the survey of an HDF5 file back to a SEG-Y file.
#[pyfunction]
#[pyo3(name = "_segy_export")]
pub(crate) fn export(file: &Bound<'_, File>, to: PathBuf, progress: Option<Py<PyAny>>) -> PyResult<()> {
    let core = open_state(file)?.core.clone();
    let progress = Progress::of_steps(progress);
    let tell = |done, total| progress.tell(done, total);
    let done = file.py().detach(|| hyperslab_segy::export(&Cube::of(core)?, to, &tell));
    progress.result(done.or_raise())
}

/// Writes the traces at one number of an axis to a SEG-Y file.
#[pyfunction]
#[pyo3(name = "_segy_extract")]
pub(crate) fn extract(
    file: &Bound<'_, File>,
    axis: &str,
    number: &Bound<'_, PyAny>,
    to: PathBuf,
) -> PyResult<()> {
    // What Python takes for an index is an integer, also NumPy's integers.
    let number = match number.extract::<i64>() {
        Ok(number) => Number::Integer(number),
        Err(_) => Number::Real(number.extract()?),
    };
    let core = open_state(file)?.core.clone();
    file.py()
        .detach(|| {
            let cube = Cube::of(core)?;
            let (axis, index) = cube.find(axis, number)?;
            hyperslab_segy::extract(&cube, axis, index, to)
        })
        .or_raise()
}

/// Describes the survey in a file. Raises an exception if the file has no survey, or an incomplete one.
#[pyfunction]
#[pyo3(name = "_segy_describe")]
pub(crate) fn describe<'py>(file: &Bound<'py, File>) -> PyResult<Bound<'py, PyDict>> {
    let py = file.py();
    let core = open_state(file)?.core.clone();
    let cube = py.detach(|| Cube::of(core)).or_raise()?;
    let (source, samples) = (&cube.source, &cube.samples);
    let said = PyDict::new(py);
    said.set_item("kind", cube.kind.name())?;
    said.set_item("axes", cube.axes.iter().map(|axis| axis.name).collect::<Vec<_>>())?;
    said.set_item("sample_axis", &samples.name)?;
    said.set_item("sample_unit", &samples.unit)?;
    said.set_item("ground_axes", cube.kind.ground_axes())?;
    said.set_item("text", &source.text)?;
    said.set_item("name", &source.name)?;
    said.set_item("bytes", source.bytes)?;
    said.set_item("geometry_fields", &source.fields)?;
    said.set_item("revision", &source.revision)?;
    said.set_item("sample_format", source.format.name())?;
    said.set_item("byte_order", source.order.name())?;
    said.set_item("headers_per_trace", source.headers)?;
    said.set_item("padded", source.padded)?;
    Ok(said)
}

/// Summarizes a SEG-Y file, or an HDF5 file made from one.
#[pyfunction]
#[pyo3(name = "_segy_scan")]
pub(crate) fn scan(py: Python<'_>, path: PathBuf, taking: Taking) -> PyResult<Bound<'_, PyDict>> {
    let (segy, survey) = taking.options()?;
    let facts = py.detach(|| hyperslab_segy::summary(path, &segy, &survey)).or_raise()?;
    let said = PyDict::new(py);
    for (name, fact) in facts {
        match fact {
            Fact::Text(text) | Fact::Lines(text) => said.set_item(name, text)?,
            Fact::Count(number) | Fact::Bytes(number) => said.set_item(name, number)?,
            Fact::Microseconds(interval) => said.set_item(name, interval)?,
            Fact::Shape(shape) => said.set_item(name, PyTuple::new(py, shape)?)?,
            Fact::Axes(axes) => {
                let axes = axes.into_iter().map(|axis| axis_dict(py, axis)).collect::<PyResult<Vec<_>>>()?;
                said.set_item(name, axes)?;
            }
        }
    }
    Ok(said)
}

fn axis_dict(py: Python<'_>, axis: AxisSummary) -> PyResult<Bound<'_, PyDict>> {
    let position = |position| match position {
        Number::Integer(number) => number.into_bound_py_any(py),
        Number::Real(number) => number.into_bound_py_any(py),
    };
    let said = PyDict::new(py);
    said.set_item("name", axis.name)?;
    said.set_item("first", axis.first.map(position).transpose()?)?;
    said.set_item("last", axis.last.map(position).transpose()?)?;
    said.set_item("length", axis.length)?;
    if let Some(unit) = axis.unit {
        said.set_item("unit", unit)?;
    }
    Ok(said)
}
