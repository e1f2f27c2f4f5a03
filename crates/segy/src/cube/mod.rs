//! The layout of a survey in an HDF5 file (`docs/guide/seismic.md` describes it for users).

mod attributes;
mod create;
mod datatypes;
mod open;

pub(crate) use attributes::numbers;
pub(crate) use create::{Coordinates, DEFLATE, create, data_options};
pub(crate) use datatypes::ibm_word;
pub use open::{Cube, SampleAxis, Source};

/// The start of the attribute [`LAYOUT`](attribute::LAYOUT) of every file made by this crate.
pub(crate) const LAYOUT_NAME: &str = "hyperslab-segy";
/// The version of the layout that this module describes.
pub(crate) const LAYOUT_VERSION: &str = "hyperslab-segy 1";

/// The samples, along all axes.
pub(crate) const DATA: &str = "data";
/// The x coordinates of common depth points, with the scalar applied.
pub(crate) const X: &str = "cdp_x";
/// The y coordinates of common depth points, with the scalar applied.
pub(crate) const Y: &str = "cdp_y";
/// 1 for each position with a trace, else 0.
pub(crate) const LIVE: &str = "live";
/// The group for everything in a SEG-Y file except samples, unchanged.
pub(crate) const SEGY: &str = "segy";
/// The number of the trace at each position, or -1 without a trace.
pub(crate) const TRACE: &str = "segy/trace";
/// The first header of each trace, in the order of the file.
pub(crate) const TRACE_HEADER: &str = "segy/trace_header";
/// The further headers of each trace.
pub(crate) const FURTHER_HEADERS: &str = "segy/trace_header_extensions";
/// The bytes before the first trace.
pub(crate) const FILE_HEADER: &str = "segy/file_header";
/// The binary header, field by field.
pub(crate) const BINARY_HEADER: &str = "segy/binary_header";
/// The bytes after the last trace.
pub(crate) const TRAILER: &str = "segy/trailer";
/// The IBM floats that 4-byte IEEE floats do not represent bit for bit.
pub(crate) const IBM_WORDS: &str = "segy/ibm_words";

/// Attributes of the group [`SEGY`].
pub(crate) mod attribute {
    /// The name and version of the layout.
    pub(crate) const LAYOUT: &str = "layout";
    /// The textual header, as text.
    pub(crate) const TEXT: &str = "text";
    /// The encoding of the textual header.
    pub(crate) const ENCODING: &str = "text_encoding";
    /// The kind of the survey.
    pub(crate) const KIND: &str = "kind";
    /// The fields of trace headers that locate traces.
    pub(crate) const FIELDS: &str = "geometry_fields";
    /// The revision of the standard, `1.0`.
    pub(crate) const REVISION: &str = "revision";
    /// The code of the sample format.
    pub(crate) const FORMAT: &str = "sample_format";
    /// `big` or `little`.
    pub(crate) const ORDER: &str = "byte_order";
    /// The name of the SEG-Y file.
    pub(crate) const SOURCE: &str = "source";
    /// The length of the SEG-Y file in bytes.
    pub(crate) const BYTES: &str = "source_bytes";
    /// Whether traces of several lengths were padded to the length of the longest.
    pub(crate) const PADDED: &str = "padded";
    /// The number of headers of each trace.
    pub(crate) const HEADERS: &str = "headers_per_trace";
    /// The number of pieces written so far. Only in an incomplete file.
    pub(crate) const PIECES: &str = "pieces_done";
    /// The shape of pieces, samples last. Only in an incomplete file.
    pub(crate) const PIECE_SHAPE: &str = "piece_shape";
    /// 1 if the survey was predicted from a few headers, because the order of pieces may then differ. Only in
    /// an incomplete file.
    pub(crate) const PREDICTED: &str = "pieces_predicted";
}
