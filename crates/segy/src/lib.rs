//! Conversion of SEG-Y seismic surveys to HDF5 and back.

#![forbid(unsafe_code)]

mod cube;
mod encode;
mod error;
mod export;
mod extract;
mod field;
mod file;
mod ingest;
mod number;
mod pieces;
mod sample;
mod summary;
mod survey;
mod tables;
mod textual;

pub use cube::{Cube, SampleAxis, Source};
pub use error::{Error, Result};
pub use export::{export, export_to};
pub use extract::extract;
pub use field::{ByteOrder, Field, FieldKind, NamedField};
pub use file::{BINARY_HEADER_BYTES, Layout, SegyFile, SegyOptions, Traces};
pub use hyperslab::{Progress, silent};
pub use ingest::{Domain, IngestOptions, Ingested, ingest, ingest_into};
pub use number::{Number, Numbers};
pub use sample::SampleFormat;
pub use summary::{AxisSummary, Fact, Summary, summary};
pub use survey::{Axis, Keys, Survey, SurveyKind, SurveyOptions, TraceMap};
pub use tables::{BINARY_HEADER, TRACE_HEADER};
pub use textual::{Encoding, TEXT_BYTES, lines};

/// The length of a trace header, in bytes.
pub const TRACE_HEADER_BYTES: usize = 240;

/// Returns a function that adds the name of the file to an input or output error.
fn io(path: &str) -> impl Fn(std::io::Error) -> Error + '_ {
    move |cause| Error::Io { path: path.to_owned(), cause }
}

/// Returns the selection of everything at one index of an axis, in an array of this shape.
fn plane(shape: &[u64], axis: usize, index: u64) -> hyperslab::Selection {
    let range = |(number, &len): (usize, &u64)| if number == axis { index..index + 1 } else { 0..len };
    ranges(&shape.iter().enumerate().map(range).collect::<Vec<_>>())
}

/// Returns the selection of the box with these ranges.
fn ranges(ranges: &[std::ops::Range<u64>]) -> hyperslab::Selection {
    let dims = ranges.iter().map(|range| hyperslab::Dim::range(range.start, range.end)).collect();
    hyperslab::Slab(dims).into()
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
