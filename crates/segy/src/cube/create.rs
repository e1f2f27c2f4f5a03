//! Creates the HDF5 file with all datasets, empty, and with the facts that are known before the first trace
//! is read.

use hyperslab::Element;
use hyperslab::internals::auto_chunks;
use hyperslab::storage::DatasetOptions;
use hyperslab::{Attribute, Dataset, File, Selection};
use hyperslab_filters::FilterChoice;
use hyperslab_format::datatype::Datatype;
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::fill::FillBytes;

use super::{attribute, datatypes};
use crate::error::{Error, Result};
use crate::field::{ByteOrder, Field, FieldKind};
use crate::file::{BINARY_HEADER_BYTES, SegyFile};
use crate::ingest::{Domain, IngestOptions};
use crate::number::Numbers;
use crate::survey::Survey;
use crate::{TRACE_HEADER_BYTES, tables, textual};

/// The traces whose headers make up one chunk, a quarter of a MiB.
const HEADERS_PER_CHUNK: u64 = 1024;
/// The bytes that are copied at a time, of the parts before and after the traces.
const COPY_BYTES: u64 = 1 << 20;

/// The header fields from which coordinates are computed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Coordinates {
    x: Field,
    y: Field,
    scalar: Field,
    order: ByteOrder,
}

impl Coordinates {
    pub(crate) fn of(file: &SegyFile, survey: &Survey) -> Self {
        let keys = survey.keys;
        Self { x: keys.x, y: keys.y, scalar: keys.scalar, order: file.layout.order }
    }

    /// Returns the coordinates of the trace with this header.
    pub(crate) fn at(&self, header: &[u8]) -> [f64; 2] {
        let scalar = self.scalar.real(header, self.order);
        [self.x, self.y].map(|field| scaled(field.real(header, self.order), scalar))
    }
}

/// Applies the scalar of a header to a number: it multiplies if it is positive, and divides if it is
/// negative.
fn scaled(number: f64, scalar: f64) -> f64 {
    if scalar > 0.0 {
        number * scalar
    } else if scalar < 0.0 {
        number / -scalar
    } else {
        number
    }
}

/// Creates all datasets in an empty file.
pub(crate) fn create(file: &File, segy: &SegyFile, survey: &Survey, options: &IngestOptions) -> Result<()> {
    let root = file.root();
    root.create_group_with(super::SEGY, true)?;
    let data = create_data(file, segy, survey, options)?;
    create_axes(file, &data, segy, survey, options)?;
    create_positions(file, survey, segy)?;
    create_headers(file, segy, options)?;
    describe(file, segy, survey)
}

/// Returns the storage options of the samples, or an error if the samples cannot be stored with them.
pub(crate) fn data_options(
    segy: &SegyFile,
    survey: &Survey,
    options: &IngestOptions,
) -> Result<DatasetOptions> {
    let shape = survey.data_shape(segy.traces.samples().into());
    let stored = segy.layout.format.stored();
    let chunk = match &options.chunks {
        None => auto_chunks(&shape, None, stored.size() as u64),
        Some(chunk) if chunk.len() == shape.len() && !chunk.contains(&0) => {
            chunk.iter().zip(&shape).map(|(&side, &len)| side.min(len)).collect()
        }
        Some(chunk) => {
            return Err(Error::argument(
                format!("chunks {chunk:?}"),
                format!(
                    "the volume has {} axes ({}, samples): give a length for each",
                    shape.len(),
                    survey.kind.axes().join(", ")
                ),
            ));
        }
    };
    let mut options = simple(&shape, datatypes::native(stored)).chunked(&chunk, &options.filters)?;
    match stored {
        FieldKind::F32 => options.fill = FillBytes::Defined(f32::NAN.to_ne_bytes().to_vec()),
        FieldKind::F64 => options.fill = FillBytes::Defined(f64::NAN.to_ne_bytes().to_vec()),
        _ => {}
    }
    Ok(options)
}

/// Creates the dataset of samples.
fn create_data(file: &File, segy: &SegyFile, survey: &Survey, options: &IngestOptions) -> Result<Dataset> {
    let data = file.root().create_dataset(super::DATA, &data_options(segy, survey, options)?)?;
    data.put_attribute(&Attribute::text("long_name", "seismic samples"))?;
    match segy.layout.format.stored() {
        FieldKind::F32 => data.put_attribute(&Attribute::number("_FillValue", f32::NAN))?,
        FieldKind::F64 => data.put_attribute(&Attribute::number("_FillValue", f64::NAN))?,
        _ => {}
    }
    data.put_attribute(&Attribute::text("coordinates", "cdp_x cdp_y"))?;
    Ok(data)
}

/// Creates the axes, as dimension scales of the samples.
fn create_axes(
    file: &File,
    data: &Dataset,
    segy: &SegyFile,
    survey: &Survey,
    options: &IngestOptions,
) -> Result<()> {
    for (number, axis) in survey.axes.iter().enumerate() {
        let scale = match &axis.values {
            Numbers::Integers(values) => numbers(file, axis.name, values)?,
            Numbers::Reals(values) => numbers(file, axis.name, values)?,
        };
        scale.put_attribute(&Attribute::text("long_name", &format!("{} number", axis.name)))?;
        scale.make_scale(axis.name)?;
        data.attach_scale(number, &scale)?;
    }
    let header = segy.trace_header(0)?;
    let order = segy.layout.order;
    let [delay, scalar] = [109, 215].map(|byte| f64::from(order.read::<i16>(&header, byte)));
    let own = f64::from(order.read::<u16>(&header, 117));
    let interval = if segy.layout.interval > 0.0 { segy.layout.interval } else { own };
    // In milliseconds, or in metres or feet if depth takes the place of time. Dividing last keeps multiples
    // of the interval as exact as floats allow.
    let first = scaled(delay, scalar);
    let value = |i: u32| first + f64::from(i) * interval / 1000.0;
    let values: Vec<f64> = (0..segy.traces.samples()).map(value).collect();
    let (name, unit, long_name) = match options.domain {
        Domain::Time => ("twt", "ms", "two-way travel time"),
        Domain::Depth => ("depth", length_unit(segy)?, "depth"),
    };
    let scale = numbers(file, name, &values)?;
    scale.put_attribute(&Attribute::text("units", unit))?;
    scale.put_attribute(&Attribute::text("long_name", long_name))?;
    scale.make_scale(name)?;
    data.attach_scale(survey.axes.len(), &scale)?;
    Ok(())
}

/// Creates the datasets with one value per position of the survey.
fn create_positions(file: &File, survey: &Survey, segy: &SegyFile) -> Result<()> {
    let shape = survey.shape();
    let scales: Vec<Dataset> =
        survey.axes.iter().map(|axis| file.dataset(axis.name)).collect::<hyperslab::Result<_>>()?;
    let make =
        |name: &str, shape: &[u64], datatype: Datatype, fill: Vec<u8>, long_name: &str| -> Result<Dataset> {
            let size = fill.len() as u64;
            let mut options = simple(shape, datatype)
                .chunked(&auto_chunks(shape, None, size), &[FilterChoice::Shuffle, DEFLATE])?;
            options.fill = FillBytes::Defined(fill);
            let made = file.root().create_dataset(name, &options)?;
            made.put_attribute(&Attribute::text("long_name", long_name))?;
            for (axis, scale) in scales.iter().enumerate().take(shape.len()) {
                made.attach_scale(axis, scale)?;
            }
            Ok(made)
        };
    make(
        super::TRACE,
        &shape,
        i64::datatype(),
        (-1_i64).to_ne_bytes().to_vec(),
        "number of the trace in the SEG-Y file",
    )?;
    make(super::LIVE, &shape, u8::datatype(), vec![0], "1 where there is a trace")?;
    let plane = &shape[..survey.kind.ground_axes()];
    let (unit, directions) = coordinate_unit(segy)?;
    for (name, direction) in [super::X, super::Y].into_iter().zip(directions) {
        let nan = f64::NAN.to_ne_bytes().to_vec();
        let made =
            make(name, plane, f64::datatype(), nan, &format!("{direction} of the common depth point"))?;
        made.put_attribute(&Attribute::number("_FillValue", f64::NAN))?;
        made.put_attribute(&Attribute::text("units", unit))?;
    }
    Ok(())
}

/// Creates the datasets for everything in the SEG-Y file except samples.
fn create_headers(file: &File, segy: &SegyFile, options: &IngestOptions) -> Result<()> {
    let root = file.root();
    let layout = &segy.layout;
    let count = segy.traces.count();
    let header = datatypes::header(tables::TRACE_HEADER, TRACE_HEADER_BYTES, layout.order);
    let chunk = HEADERS_PER_CHUNK.min(count);
    // Without filters for samples, speed is preferred to size for headers, too.
    let stored = |made: DatasetOptions, chunk: &[u64], filters: &[FilterChoice]| match &options.filters[..] {
        [] => Ok(made),
        _ => made.chunked(chunk, filters),
    };
    let shuffled = [FilterChoice::Shuffle, DEFLATE];
    root.create_dataset(super::TRACE_HEADER, &stored(simple(&[count], header), &[chunk], &shuffled)?)?;
    if layout.headers > 1 {
        let further = u64::from(layout.headers - 1) * TRACE_HEADER_BYTES as u64;
        let made = simple(&[count, further], u8::datatype());
        root.create_dataset(super::FURTHER_HEADERS, &stored(made, &[chunk, further], &[DEFLATE])?)?;
    }
    copy_bytes(file, super::FILE_HEADER, segy, 0, layout.first_trace)?;
    let (start, len) = segy.trailer();
    if len > 0 {
        copy_bytes(file, super::TRAILER, segy, start, len)?;
    }
    let binary = segy.binary_header()?;
    let datatype = datatypes::header(tables::BINARY_HEADER, BINARY_HEADER_BYTES, layout.order);
    let made =
        root.create_dataset(super::BINARY_HEADER, &DatasetOptions::new(Dataspace::Scalar, datatype))?;
    made.write_with(.., &binary, &hyperslab::WriteOptions::default())?;
    Ok(())
}

/// Copies bytes of the SEG-Y file unchanged.
fn copy_bytes(file: &File, name: &str, segy: &SegyFile, start: u64, len: u64) -> Result<()> {
    let chunk = len.clamp(1, COPY_BYTES);
    let made =
        file.root().create_dataset(name, &simple(&[len], u8::datatype()).chunked(&[chunk], &[DEFLATE])?)?;
    for at in (0..len).step_by(usize::try_from(COPY_BYTES).unwrap_or(1)) {
        let bytes = segy.bytes(start + at, COPY_BYTES.min(len - at))?;
        made.write(at..at + bytes.len() as u64, &bytes)?;
    }
    Ok(())
}

/// Writes the attributes of the group.
fn describe(file: &File, segy: &SegyFile, survey: &Survey) -> Result<()> {
    let group = file.group(super::SEGY)?;
    let layout = &segy.layout;
    let bytes = segy.textual_header()?;
    let encoding = textual::Encoding::of(&bytes);
    let text = textual::lines(&bytes, encoding).join("\n");
    let source =
        std::path::Path::new(segy.path()).file_name().map(|name| name.to_string_lossy().into_owned());
    let set = |name: &str, text: &str| group.put_attribute(&Attribute::text(name, text));
    set(attribute::LAYOUT, super::LAYOUT_VERSION)?;
    set(attribute::KIND, survey.kind.name())?;
    set(attribute::FIELDS, &survey.named_fields())?;
    set(attribute::TEXT, text.trim_end())?;
    set(attribute::ENCODING, encoding.name())?;
    set(attribute::REVISION, &format!("{}.{}", layout.revision.0, layout.revision.1))?;
    set(attribute::ORDER, layout.order.name())?;
    set(attribute::SOURCE, &source.unwrap_or_default())?;
    let number = |name: &str, number: u64| group.put_attribute(&Attribute::number(name, number));
    number(attribute::FORMAT, layout.format as u64)?;
    number(attribute::HEADERS, layout.headers.into())?;
    number(attribute::BYTES, segy.len_bytes())?;
    number(attribute::PADDED, segy.traces.vary().into())?;
    number(attribute::PREDICTED, survey.is_predicted.into())?;
    number(attribute::PIECES, 0)?;
    Ok(())
}

/// The filter of all datasets except the samples. Every HDF5 library has this filter, so h5py and netCDF read
/// the datasets without a plugin.
pub(crate) const DEFLATE: FilterChoice = FilterChoice::Deflate { level: 1 };

/// Returns the unit of length in the binary header: metres or feet.
fn length_unit(segy: &SegyFile) -> Result<&'static str> {
    let system: i16 = segy.layout.order.read(&segy.binary_header()?, 55);
    Ok(if system == 2 { "ft" } else { "m" })
}

/// Returns the unit of coordinates, and the names of the two coordinates (standard: bytes 89-90 of the trace
/// header).
fn coordinate_unit(segy: &SegyFile) -> Result<(&'static str, [&'static str; 2])> {
    let angles = ["longitude", "latitude"];
    Ok(match segy.layout.order.read::<i16>(&segy.trace_header(0)?, 89) {
        2 => ("arcsec", angles),
        3 => ("degrees", angles),
        4 => ("DDDMMSS.ss", angles),
        _ => (length_unit(segy)?, ["easting", "northing"]),
    })
}

fn simple(shape: &[u64], datatype: Datatype) -> DatasetOptions {
    DatasetOptions::new(Dataspace::Simple { shape: shape.to_vec(), max_shape: None }, datatype)
}

/// Creates a dataset and writes its numbers.
fn numbers<T: Element>(file: &File, name: &str, values: &[T]) -> Result<Dataset> {
    let made = file.root().create_dataset(name, &simple(&[values.len() as u64], T::datatype()))?;
    made.write(Selection::All, values)?;
    Ok(made)
}
