//! The first step of a write of chunks: encodes elements as stored bytes. Reads and writes no file, and takes
//! no lock.

use std::borrow::Cow;

use hyperslab_error::{Error, Result};
use hyperslab_filters::{FilterMask, Scratch, repeated};
use hyperslab_format::Extent;
use hyperslab_select::{Coord, first_element};
use hyperslab_store::index::ChunkRecord;

use super::Write;
use crate::engine::array::ChunkedStorage;
use crate::engine::fill::Fill;

/// A chunk in its stored form.
#[derive(Debug, Clone)]
pub struct Encoded<'a> {
    /// The chunk's position in the grid of chunks.
    pub coord: Coord,
    /// How the chunk is stored.
    pub form: Form<'a>,
}

/// How a chunk is stored.
#[derive(Debug, Clone)]
pub enum Form<'a> {
    /// In newly allocated space.
    New {
        /// The stored bytes.
        bytes: Cow<'a, [u8]>,
        /// The filters that were skipped.
        mask: FilterMask,
    },
    /// In its present place, because it has no filters.
    InPlace {
        /// The stored bytes.
        bytes: Cow<'a, [u8]>,
        /// The present place.
        extent: Extent,
    },
    /// Not at all, because it holds only the fill value. A copy in the file is removed.
    Absent,
}

impl Write<'_> {
    /// Encodes the elements of a chunk. `known` is its record in the index. Returns `None` if nothing changes
    /// in the file: the chunk holds only the fill value, such chunks are left out, and it was not stored
    /// before.
    pub fn encode<'c>(
        &self,
        chunked: &ChunkedStorage,
        coord: &Coord,
        chunk: &'c [u8],
        known: Option<ChunkRecord>,
        filters: &'c mut Scratch,
    ) -> Result<Option<Encoded<'c>>> {
        if self.is_raw(chunked, coord) {
            return Ok(self.encode_raw(chunked, coord, chunk, known));
        }
        let encoded = |form| Some(Encoded { coord: coord.clone(), form });
        if self.is_left_out(chunk) {
            return Ok(known.and_then(|_| encoded(Form::Absent)));
        }
        let encoded_chunk = chunked.codec.encode_with(chunk, filters);
        let (bytes, mask) = encoded_chunk.map_err(|cause| Error::Encode {
            cause,
            coord: first_element(coord, chunked.codec.shape()).into_vec(),
        })?;
        Ok(encoded(Form::New { bytes: Cow::Borrowed(bytes), mask }))
    }

    /// Does the same as [`encode`](Self::encode) for a chunk whose stored bytes are its [elements](Self::is_raw).
    pub(super) fn encode_raw<'c>(
        &self,
        chunked: &ChunkedStorage,
        coord: &Coord,
        chunk: &'c [u8],
        known: Option<ChunkRecord>,
    ) -> Option<Encoded<'c>> {
        let encoded = |form| Encoded { coord: coord.clone(), form };
        if self.is_left_out(chunk) {
            return known.map(|_| encoded(Form::Absent));
        }
        let bytes = Cow::Borrowed(chunk);
        let is_moved = self.moves_chunks(chunked);
        let known = known.filter(|record| record.extent.len == chunk.len() as u64 && !is_moved);
        Some(encoded(match known {
            Some(record) => Form::InPlace { bytes, extent: record.extent },
            None => Form::New { bytes, mask: FilterMask::NONE_SKIPPED },
        }))
    }

    /// Returns whether a chunk is stored without filters.
    pub(super) fn is_raw(&self, chunked: &ChunkedStorage, coord: &Coord) -> bool {
        chunked.is_raw(coord, FilterMask::NONE_SKIPPED, &self.array.shape)
    }

    /// Returns whether a chunk is not stored, because it holds only the fill value. Elements beyond the shape
    /// count too: they become visible when the dataset grows.
    fn is_left_out(&self, chunk: &[u8]) -> bool {
        self.skips_fill && holds(chunk, &self.array.elements.fill)
    }
}

impl Encoded<'_> {
    /// Returns the stored bytes. Empty if the chunk is not stored.
    pub fn bytes(&self) -> &[u8] {
        match &self.form {
            Form::New { bytes, .. } | Form::InPlace { bytes, .. } => bytes,
            Form::Absent => &[],
        }
    }

    /// Returns the same chunk with owned bytes, which outlive the buffers that it was encoded in.
    #[must_use]
    pub fn into_owned(self) -> Encoded<'static> {
        let form = match self.form {
            Form::New { bytes, mask } => Form::New { bytes: Cow::Owned(bytes.into_owned()), mask },
            Form::InPlace { bytes, extent } => {
                Form::InPlace { bytes: Cow::Owned(bytes.into_owned()), extent }
            }
            Form::Absent => Form::Absent,
        };
        Encoded { coord: self.coord, form }
    }
}

/// Returns whether all elements of a piece equal the fill value, bit by bit.
fn holds(piece: &[u8], fill: &Fill) -> bool {
    let value = fill.element();
    piece.starts_with(value) && repeated(piece, value.len()).is_some()
}
