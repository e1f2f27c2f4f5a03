//! Encodes and decodes chunks in memory, without a file.

use std::sync::Arc;

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_filters::{FilterChoice, FilterError, FilterMask, Pipeline, Registry, Scratch};
use hyperslab_format::Widths;
use hyperslab_format::datatype::Datatype;
use hyperslab_format::message::fill::FillBytes;
use hyperslab_format::message::filters::FilterSpec;
use hyperslab_store::heap::stages;

use super::bounds;
use super::fill::Fill;
use super::filter_spec::filter_spec;
use super::scratch;

/// The elements of an array, as they are stored.
#[derive(Debug, Clone)]
pub struct StoredElements {
    /// The datatype of the elements in the file.
    pub datatype: Arc<Datatype>,
    /// The size of one element in the file, in bytes.
    pub size: usize,
    /// The value of elements that were never written.
    pub fill: Fill,
}

/// How the chunks of a dataset are encoded: their shape, the datatype and the fill value of their elements,
/// and their filters.
///
/// A codec needs no file: it encodes chunks for a file, or decodes chunks of a file, that something else
/// writes or reads.
///
/// ```
/// # fn main() -> hyperslab::Result<()> {
/// use hyperslab::filter::{Deflate, Shuffle};
/// use hyperslab::{ChunkCodec, Element};
///
/// let filters = [Shuffle.into(), Deflate::default().into()];
/// let codec = ChunkCodec::new(i32::datatype(), &[100, 100], &filters)?;
/// let encoded = codec.encode(&[7; 40_000])?;
/// let mut decoded = vec![0; codec.chunk_bytes()];
/// codec.decode(&encoded.bytes, encoded.mask, &mut decoded)?;
/// assert_eq!(decoded, [7; 40_000]);
/// assert!(encoded.bytes.len() < 400);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct ChunkCodec {
    elements: Arc<StoredElements>,
    shape: Vec<u64>,
    pipeline: Arc<Pipeline>,
    chunk_bytes: usize,
}

/// A chunk in its stored form, in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EncodedChunk {
    /// The stored bytes.
    pub bytes: Vec<u8>,
    /// The filters that were skipped because they do not make this chunk smaller. It is stored with the
    /// chunk, and decoding needs it.
    pub mask: FilterMask,
}

impl ChunkCodec {
    /// Returns the codec of chunks of the shape `chunk_shape`, whose elements have this datatype and zeros as
    /// their fill value. `filters` encode a chunk, first to last.
    ///
    /// Errors: `Filter` if a parameter of a filter is out of range, or a filter is not for the datatype;
    /// `Request` if the chunk is empty or larger than the address space.
    pub fn new(datatype: Datatype, chunk_shape: &[u64], filters: &[FilterChoice]) -> Result<Self> {
        let fill = FillBytes::Default;
        let spec = |choice| filter_spec(choice, (&datatype, &fill), chunk_shape, Widths::EIGHT);
        let specs = filters.iter().map(spec).collect::<Result<Vec<_>>>()?;
        Self::stored(datatype, &fill, chunk_shape, &specs)
    }

    /// Returns the codec of chunks whose filters are given as a file describes them (spec IV.A.2.l).
    ///
    /// Errors: `Filter` if a parameter of a filter is invalid; `Request` if the chunk is empty or larger than
    /// the address space, or if the fill value does not have the size of an element.
    pub fn stored(
        datatype: Datatype,
        fill: &FillBytes,
        chunk_shape: &[u64],
        filters: &[FilterSpec],
    ) -> Result<Self> {
        let size = usize::try_from(datatype.size(Widths::EIGHT)).unwrap_or(usize::MAX);
        let fill = match fill {
            FillBytes::Default | FillBytes::Undefined => Fill::Zeros,
            FillBytes::Defined(value) if value.len() == size => Fill::Value(value.clone()),
            FillBytes::Defined(_) => {
                return Err(invalid("fill value", "it must have the size of an element"));
            }
        };
        let elements = StoredElements { datatype: Arc::new(datatype), size, fill };
        Self::of(Arc::new(elements), chunk_shape.to_vec(), filters, &Registry::shared())
    }

    /// Returns the codec of chunks of a dataset, whose filters `registry` knows.
    #[doc(hidden)]
    pub fn of(
        elements: Arc<StoredElements>,
        shape: Vec<u64>,
        filters: &[FilterSpec],
        registry: &Registry,
    ) -> Result<Self> {
        let bytes = shape.iter().try_fold(elements.size as u64, |bytes, &len| bytes.checked_mul(len));
        let Some(chunk_bytes @ 1..) = bytes.and_then(|bytes| usize::try_from(bytes).ok()) else {
            return Err(invalid("chunk shape", "a chunk must have 1 byte or more, and fit in memory"));
        };
        let pipeline = Pipeline::new(&stages(filters), elements.size, chunk_bytes, registry);
        let pipeline = Arc::new(pipeline.map_err(|cause| Error::Filter { cause })?);
        Ok(Self { elements, shape, pipeline, chunk_bytes })
    }

    /// Returns the number of elements of a chunk along each dimension.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Returns the datatype of the stored elements.
    pub fn datatype(&self) -> &Datatype {
        &self.elements.datatype
    }

    /// Returns the size of a stored element in bytes.
    pub fn element_size(&self) -> usize {
        self.elements.size
    }

    /// Returns the size of a decoded chunk in bytes.
    pub fn chunk_bytes(&self) -> usize {
        self.chunk_bytes
    }

    /// Returns a decoded chunk that holds the fill value everywhere.
    ///
    /// Errors: `Io` if the memory is exhausted.
    pub fn filled(&self) -> Result<Vec<u8>> {
        let mut chunk = Vec::new();
        scratch::sized(&mut chunk, self.chunk_bytes)?;
        self.elements.fill.write(&mut chunk);
        Ok(chunk)
    }

    /// Encodes a chunk, given its elements in row-major order, as [`chunk_bytes`](Self::chunk_bytes) bytes.
    ///
    /// Errors: `Request` if `chunk` has another size; `Filter` if a filter cannot encode it.
    pub fn encode(&self, chunk: &[u8]) -> Result<EncodedChunk> {
        self.check(chunk)?;
        let encoded = scratch::with(|scratch| self.encode_owned(chunk, &mut scratch.filters));
        encoded.map_err(|cause| Error::Filter { cause })
    }

    /// Decodes a chunk from its stored bytes, for which the filters in `mask` were skipped, into `chunk`,
    /// which must have [`chunk_bytes`](Self::chunk_bytes) bytes. After an error, they have any value.
    ///
    /// Errors: `Request` if `chunk` has another size; `Filter` if the bytes are not those of a chunk.
    pub fn decode(&self, stored: &[u8], mask: FilterMask, chunk: &mut [u8]) -> Result<()> {
        self.check(chunk)?;
        let decoded = scratch::with(|scratch| self.decode_with(stored, mask, chunk, &mut scratch.filters));
        decoded.map_err(|cause| Error::Filter { cause })
    }

    /// Encodes a chunk of the right size.
    pub(in crate::engine) fn encode_owned(
        &self,
        chunk: &[u8],
        filters: &mut Scratch,
    ) -> Result<EncodedChunk, FilterError> {
        let (bytes, mask) = self.encode_with(chunk, filters)?;
        Ok(EncodedChunk { bytes: bytes.to_vec(), mask })
    }

    /// Encodes a chunk in buffers of the caller.
    pub(in crate::engine) fn encode_with<'c>(
        &self,
        chunk: &'c [u8],
        filters: &'c mut Scratch,
    ) -> Result<(&'c [u8], FilterMask), FilterError> {
        filters.note = bounds::note(self, chunk);
        self.pipeline.encode(chunk, filters)
    }

    /// Decodes a chunk with buffers of the caller.
    pub(in crate::engine) fn decode_with(
        &self,
        stored: &[u8],
        mask: FilterMask,
        chunk: &mut [u8],
        filters: &mut Scratch,
    ) -> Result<(), FilterError> {
        self.pipeline.decode_into(mask, stored, chunk, filters)
    }

    pub(in crate::engine) fn elements(&self) -> &Arc<StoredElements> {
        &self.elements
    }

    pub(crate) fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }

    /// Checks the size of a decoded chunk.
    pub(in crate::engine) fn check(&self, chunk: &[u8]) -> Result<()> {
        let (expected, found) = (self.chunk_bytes as u64, chunk.len() as u64);
        if expected == found { Ok(()) } else { Err(RequestError::SourceSize { expected, found }.into()) }
    }
}

pub(in crate::engine) fn invalid(what: &str, why: &'static str) -> Error {
    RequestError::Argument { what: what.to_owned(), why }.into()
}
