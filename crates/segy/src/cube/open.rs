//! Opens a file made by this crate, and finds lines in it.

use std::path::Path;

use hyperslab::storage::NewStorage;
use hyperslab::{Dataset, File, Group, Selection};
use hyperslab_format::datatype::Datatype;
use hyperslab_format::message::filters::FilterSpec;

use super::{attribute, attributes, datatypes};
use crate::error::{Error, Result};
use crate::field::ByteOrder;
use crate::file::SegyFile;
use crate::ingest::{Domain, IngestOptions};
use crate::number::{Number, Numbers};
use crate::plane;
use crate::sample::SampleFormat;
use crate::survey::{Axis, Survey, SurveyKind};

/// A survey in an HDF5 file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Cube {
    /// The file.
    pub file: File,
    /// The samples.
    pub data: Dataset,
    /// The kind of the survey.
    pub kind: SurveyKind,
    /// The axes except that of samples.
    pub axes: Vec<Axis>,
    /// The axis of samples.
    pub samples: SampleAxis,
    /// The SEG-Y file from which the survey was made.
    pub source: Source,
}

/// The axis of samples.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleAxis {
    /// `twt` or `depth`.
    pub name: String,
    /// The unit.
    pub unit: String,
    /// The value at each sample.
    pub values: Vec<f64>,
}

/// The SEG-Y file from which a survey was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// The name of the file.
    pub name: String,
    /// The length of the file in bytes.
    pub bytes: u64,
    /// The fields of trace headers that locate traces, if the HDF5 file stores them.
    pub fields: Option<String>,
    /// The revision of the standard.
    pub revision: String,
    /// The sample format.
    pub format: SampleFormat,
    /// The byte order.
    pub order: ByteOrder,
    /// The number of headers of each trace.
    pub headers: u64,
    /// Whether traces of several lengths were padded to the length of the longest.
    pub padded: bool,
    /// The textual header.
    pub text: String,
}

impl Cube {
    /// Opens the file at `path`.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let opened = File::open(path).map_err(Error::from).and_then(Self::of);
        opened.map_err(|error| error.opening(path))
    }

    /// Opens the survey in a file.
    pub fn of(file: File) -> Result<Self> {
        let group = segy_group(&file)?;
        if let Some(done) = attributes::number(&group, attribute::PIECES)? {
            return Err(bad(
                &file,
                format!("the ingest was interrupted after {done} pieces: run it again to complete it"),
            ));
        }
        let missing = |name: &str| bad(&file, format!("attribute {name:?} of /segy is missing"));
        let text = |name: &str| attributes::text(&group, name)?.ok_or_else(|| missing(name));
        let number = |name: &str| attributes::number(&group, name)?.ok_or_else(|| missing(name));
        let named = text(attribute::KIND)?;
        let kind = SurveyKind::from_name(&named)
            .ok_or_else(|| bad(&file, format!("unknown kind of survey: {named:?}")))?;
        let code = number(attribute::FORMAT)?;
        let format = SampleFormat::from_code(code.cast_signed())
            .ok_or_else(|| bad(&file, format!("unknown sample format {code}")))?;
        let source = Source {
            name: text(attribute::SOURCE)?,
            bytes: number(attribute::BYTES)?,
            fields: attributes::text(&group, attribute::FIELDS)?,
            revision: text(attribute::REVISION)?,
            format,
            order: if text(attribute::ORDER)? == "little" { ByteOrder::Little } else { ByteOrder::Big },
            headers: number(attribute::HEADERS)?.max(1),
            padded: number(attribute::PADDED)? != 0,
            text: text(attribute::TEXT)?,
        };
        let data = file.dataset(super::DATA)?;
        if *data.datatype() != datatypes::native(format.stored()) {
            return Err(bad(&file, "the datatype of the samples does not match their format".to_owned()));
        }
        let shape = data.shape();
        let mut axes = Vec::new();
        for &name in kind.axes() {
            axes.push(Axis { name, values: line_axis(&file, name)? });
        }
        let samples = sample_axis(&file)?;
        let lengths = axes.iter().map(|axis| axis.values.len()).chain([samples.values.len()]);
        if !lengths.map(|len| len as u64).eq(shape.iter().copied()) {
            return Err(bad(
                &file,
                "the lengths of the axes do not match the shape of the samples".to_owned(),
            ));
        }
        Ok(Self { file, data, kind, axes, samples, source })
    }

    /// Returns the number of the axis with this name, and the index on it of the line, offset or trace with
    /// this number.
    pub fn find(&self, axis: &str, number: impl Into<Number>) -> Result<(usize, u64)> {
        let number = number.into();
        let place = self.axes.iter().position(|known| known.name == axis).ok_or_else(|| {
            let names: Vec<&str> = self.axes.iter().map(|axis| axis.name).collect();
            Error::argument(format!("axis {axis:?}"), format!("the survey has the axes {}", names.join(", ")))
        })?;
        let values = &self.axes[place].values;
        let index = values.find(number).ok_or_else(|| {
            let said = match (values.first(), values.last(), values.step()) {
                (Some(first), Some(last), Some(step)) => {
                    format!("there are {first} to {last}, in steps of {step}")
                }
                (Some(first), ..) => format!("there is only {first}"),
                _ => "there are none".to_owned(),
            };
            Error::argument(format!("{axis} {number}"), said)
        })?;
        Ok((place, index as u64))
    }

    /// Returns the selection of all samples at one index of an axis. The axis of samples is the last.
    pub fn plane(&self, axis: usize, index: u64) -> Selection {
        plane(&self.data.shape(), axis, index)
    }

    /// Returns an error about the contents of the file.
    pub(crate) fn bad(&self, why: String) -> Error {
        bad(&self.file, why)
    }

    /// Returns how many pieces of this SEG-Y file an interrupted ingest has written to a file, or `None` if
    /// the file is something else.
    pub(crate) fn pieces_done(file: &File, segy: &SegyFile) -> Result<Option<u64>> {
        let Ok(group) = segy_group(file) else { return Ok(None) };
        let Some(done) = attributes::number(&group, attribute::PIECES)? else { return Ok(None) };
        let header: Vec<u8> = file.dataset(super::FILE_HEADER)?.read(Selection::All)?;
        let is_same = attributes::number(&group, attribute::BYTES)? == Some(segy.len_bytes())
            && header == segy.bytes(0, segy.layout.first_trace)?;
        Ok(is_same.then_some(done))
    }

    /// Returns whether an incomplete file has the layout of this survey.
    pub(crate) fn is_laid_out_as(file: &File, segy: &SegyFile, survey: &Survey) -> Result<bool> {
        let group = segy_group(file)?;
        let shape = survey.data_shape(segy.traces.samples().into());
        if attributes::number(&group, attribute::PREDICTED)? != Some(survey.is_predicted.into())
            || attributes::text(&group, attribute::KIND)?.as_deref() != Some(survey.kind.name())
            || attributes::text(&group, attribute::FIELDS)?
                .is_some_and(|named| named != survey.named_fields())
            || file.dataset(super::DATA)?.shape() != shape
        {
            return Ok(false);
        }
        for axis in &survey.axes {
            if line_axis(file, axis.name)? != axis.values {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether an incomplete file stores samples as `options` ask. Options that are not set agree
    /// with any file.
    pub(crate) fn is_stored_as(
        file: &File,
        segy: &SegyFile,
        survey: &Survey,
        options: &IngestOptions,
    ) -> Result<bool> {
        let data = file.dataset(super::DATA)?;
        let begun = data.chunk_shape();
        let chunks = options.chunks.clone().or_else(|| begun.clone());
        let wanted = super::data_options(segy, survey, &IngestOptions { chunks, ..options.clone() })?;
        let has_chunks =
            matches!(&wanted.storage, NewStorage::Chunked(chunk) if Some(chunk) == begun.as_ref());
        let parameters = |filter: &FilterSpec| (filter.id, filter.client_data.clone());
        let has_filters = options.filters.is_empty()
            || wanted.filters.iter().map(parameters).eq(data.filters().filters.iter().map(parameters));
        let has_domain = options.domain == Domain::Time || file.root().contains("depth")?;
        Ok(has_chunks && has_filters && has_domain)
    }
}

fn segy_group(file: &File) -> Result<Group> {
    let foreign = || {
        bad(
            file,
            "it holds no survey made by `hyperslab segy ingest`: ingest the SEG-Y file first".to_owned(),
        )
    };
    let group = file.group(super::SEGY).map_err(|_| foreign())?;
    let layout = attributes::text(&group, attribute::LAYOUT)?.unwrap_or_default();
    if layout == super::LAYOUT_VERSION {
        Ok(group)
    } else if layout.starts_with(super::LAYOUT_NAME) {
        Err(bad(
            file,
            format!(
                "its layout is {layout:?}, but this version of hyperslab reads {:?}",
                super::LAYOUT_VERSION
            ),
        ))
    } else {
        Err(foreign())
    }
}

/// Reads the axis of a header field: 8-byte floats if the field is a float, else integers.
fn line_axis(file: &File, name: &str) -> Result<Numbers> {
    let dataset = file.dataset(name)?;
    Ok(match *dataset.datatype() {
        Datatype::Float(_) => Numbers::Reals(dataset.read(Selection::All)?),
        _ => Numbers::Integers(dataset.read(Selection::All)?),
    })
}

fn sample_axis(file: &File) -> Result<SampleAxis> {
    for name in ["twt", "depth"] {
        if let Ok(dataset) = file.dataset(name) {
            let unit = attributes::text(&dataset, "units")?.unwrap_or_default();
            let is_float = *dataset.datatype() == <f64 as hyperslab::Element>::datatype();
            if is_float {
                return Ok(SampleAxis { name: name.to_owned(), unit, values: dataset.read(Selection::All)? });
            }
        }
    }
    Err(bad(file, "the dataset /twt or /depth is missing".to_owned()))
}

fn bad(file: &File, why: String) -> Error {
    let path = file.path().map_or_else(|| "the file".to_owned(), |path| path.display().to_string());
    Error::Cube { path, why }
}
