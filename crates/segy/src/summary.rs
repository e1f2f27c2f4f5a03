//! A summary, for people, of a SEG-Y file or of a survey made from one.

use std::io::Read;
use std::path::Path;

use hyperslab_format::superblock::SIGNATURE;
use serde::Serialize;

use crate::cube::Cube;
use crate::error::Result;
use crate::file::{SegyFile, SegyOptions};
use crate::io;
use crate::number::Number;
use crate::survey::{Axis, Survey, SurveyOptions};

/// Names and facts of a file, in reading order.
pub type Summary = Vec<(&'static str, Fact)>;

/// One fact of a summary.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Fact {
    /// A word or a sentence.
    Text(String),
    /// Lines of text.
    Lines(String),
    /// A count.
    Count(u64),
    /// A number of bytes.
    Bytes(u64),
    /// A number of microseconds.
    Microseconds(f64),
    /// A length for each axis.
    Shape(Vec<u64>),
    /// The axes.
    Axes(Vec<AxisSummary>),
}

/// An axis with its first and last position only.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AxisSummary {
    /// Its name.
    pub name: String,
    /// The value at the first position, or `None` if the axis is empty.
    pub first: Option<Number>,
    /// The value at the last position.
    pub last: Option<Number>,
    /// The number of positions.
    pub length: u64,
    /// The unit of the values, if they have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// Returns the summary of the file at `path`: of a survey if the file is HDF5, else of a SEG-Y file, which is
/// opened with these options.
pub fn summary(path: impl AsRef<Path>, segy: &SegyOptions, survey: &SurveyOptions) -> Result<Summary> {
    let path = path.as_ref();
    if is_hdf5(path) { of_cube(path) } else { of_segy(path, segy, survey) }
}

fn is_hdf5(path: &Path) -> bool {
    let mut start = [0; SIGNATURE.len()];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == SIGNATURE
}

fn of_segy(path: &Path, segy: &SegyOptions, survey: &SurveyOptions) -> Result<Summary> {
    let file = SegyFile::open(path, segy)?;
    let survey = Survey::find(&file, survey)?;
    let (lines, encoding) = file.text()?;
    let layout = &file.layout;
    let samples = file.traces.samples();
    let mut axes: Vec<_> = survey.axes.iter().map(AxisSummary::of_lines).collect();
    axes.push(AxisSummary {
        name: "sample".to_owned(),
        first: Some(Number::Integer(0)),
        last: Some(Number::Integer(i64::from(samples) - 1)),
        length: samples.into(),
        unit: None,
    });
    let mut said = vec![
        ("survey", Fact::Text(survey.kind.name().to_owned())),
        ("axes", Fact::Axes(axes)),
        ("geometry_fields", Fact::Text(survey.named_fields())),
        ("positions", Fact::Count(survey.positions())),
        ("traces", Fact::Count(file.traces.count())),
        ("sample_format", Fact::Text(layout.format.name().to_owned())),
        ("sample_interval", Fact::Microseconds(layout.interval)),
        ("byte_order", Fact::Text(layout.order.name().to_owned())),
        ("revision", Fact::Text(format!("{}.{}", layout.revision.0, layout.revision.1))),
        ("headers_per_trace", Fact::Count(layout.headers.into())),
        ("extended_textual_headers", Fact::Count(layout.extended)),
        ("bytes", Fact::Bytes(file.len_bytes())),
    ];
    said.extend(survey.note.map(|note| ("note", Fact::Text(note))));
    said.push(("text_encoding", Fact::Text(encoding.name().to_owned())));
    said.push(("text", Fact::Lines(lines.join("\n").trim_end().to_owned())));
    Ok(said)
}

fn of_cube(path: &Path) -> Result<Summary> {
    let bytes = std::fs::metadata(path).map_err(io(&path.display().to_string()))?.len();
    let cube = Cube::open(path)?;
    let (source, samples) = (&cube.source, &cube.samples);
    let mut axes: Vec<_> = cube.axes.iter().map(AxisSummary::of_lines).collect();
    axes.push(AxisSummary {
        name: samples.name.clone(),
        first: samples.values.first().copied().map(Number::Real),
        last: samples.values.last().copied().map(Number::Real),
        length: samples.values.len() as u64,
        unit: Some(samples.unit.clone()),
    });
    let mut said = vec![("survey", Fact::Text(cube.kind.name().to_owned())), ("axes", Fact::Axes(axes))];
    said.extend(source.fields.clone().map(|fields| ("geometry_fields", Fact::Text(fields))));
    said.extend([
        ("chunks", Fact::Shape(cube.data.chunk_shape().unwrap_or_default())),
        ("sample_format", Fact::Text(source.format.name().to_owned())),
        ("byte_order", Fact::Text(source.order.name().to_owned())),
        ("revision", Fact::Text(source.revision.clone())),
        ("headers_per_trace", Fact::Count(source.headers)),
        ("bytes", Fact::Bytes(bytes)),
        ("source", Fact::Text(source.name.clone())),
        ("source_bytes", Fact::Bytes(source.bytes)),
        ("text", Fact::Lines(source.text.clone())),
    ]);
    Ok(said)
}

impl AxisSummary {
    fn of_lines(axis: &Axis) -> Self {
        Self {
            name: axis.name.to_owned(),
            first: axis.values.first(),
            last: axis.values.last(),
            length: axis.values.len() as u64,
            unit: None,
        }
    }
}
