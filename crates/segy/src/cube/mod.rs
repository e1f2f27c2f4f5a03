//! The volume in an HDF5 file: what lies where in it (`docs/guide/seismic.md` says it for users).

mod attributes;
mod create;
mod datatypes;
mod open;

pub(crate) use attributes::numbers;
pub(crate) use create::{Coordinates, DEFLATE, create, data_options};
pub(crate) use datatypes::ibm_word;
pub use open::{Cube, SampleAxis, Source};

/// What the attribute [`LAYOUT`] of a file that was made here begins with.
pub(crate) const LAYOUT_NAME: &str = "hyperslab-segy";
/// The layout that is described here.
pub(crate) const LAYOUT_VERSION: &str = "hyperslab-segy 1";

/// The samples, along all axes.
pub(crate) const DATA: &str = "data";
/// Coordinates of common depth points, with the scalar applied.
pub(crate) const X: &str = "cdp_x";
/// The other.
pub(crate) const Y: &str = "cdp_y";
/// Where a trace stands: 1, else 0.
pub(crate) const LIVE: &str = "live";
/// What a SEG-Y file holds beside samples, as it is in the file.
pub(crate) const SEGY: &str = "segy";
/// The number of the trace at each position, -1 where there is none.
pub(crate) const TRACE: &str = "segy/trace";
/// The first header of each trace, in the order of the file.
pub(crate) const TRACE_HEADER: &str = "segy/trace_header";
/// The further headers of each trace.
pub(crate) const FURTHER_HEADERS: &str = "segy/trace_header_extensions";
/// All before the first trace.
pub(crate) const FILE_HEADER: &str = "segy/file_header";
/// The binary header, field by field.
pub(crate) const BINARY_HEADER: &str = "segy/binary_header";
/// All after the last trace.
pub(crate) const TRAILER: &str = "segy/trailer";
/// IBM floats that 4-byte IEEE floats do not hold bit by bit.
pub(crate) const IBM_WORDS: &str = "segy/ibm_words";

/// Attributes of the group [`SEGY`].
pub(crate) mod attribute {
    /// Which layout this is.
    pub(crate) const LAYOUT: &str = "layout";
    /// The textual header, as text.
    pub(crate) const TEXT: &str = "text";
    /// Its encoding.
    pub(crate) const ENCODING: &str = "text_encoding";
    /// What the survey is.
    pub(crate) const KIND: &str = "kind";
    /// The fields of trace headers that place traces.
    pub(crate) const FIELDS: &str = "geometry_fields";
    /// The revision of the standard, `1.0`.
    pub(crate) const REVISION: &str = "revision";
    /// The code of the format of samples.
    pub(crate) const FORMAT: &str = "sample_format";
    /// `big` or `little`.
    pub(crate) const ORDER: &str = "byte_order";
    /// The name of the SEG-Y file.
    pub(crate) const SOURCE: &str = "source";
    /// Bytes of the SEG-Y file.
    pub(crate) const BYTES: &str = "source_bytes";
    /// Traces of several lengths were made as long as the longest.
    pub(crate) const PADDED: &str = "padded";
    /// Headers of each trace.
    pub(crate) const HEADERS: &str = "headers_per_trace";
    /// Of a file that is not whole yet: how many pieces are in it.
    pub(crate) const PIECES: &str = "pieces_done";
    /// Of such a file: the shape of pieces, samples last.
    pub(crate) const PIECE_SHAPE: &str = "piece_shape";
    /// Of such a file: 1 where the survey was predicted from a few headers, as pieces may follow each other otherwise.
    pub(crate) const PREDICTED: &str = "pieces_predicted";
}
