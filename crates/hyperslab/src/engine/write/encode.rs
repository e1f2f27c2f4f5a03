//! The first step of writing chunks: their elements become the bytes that will be stored. Nothing is read, written or locked.

use std::borrow::Cow;

use hyperslab_filters::{FilterMask, Scratch, repeated};
use hyperslab_format::Extent;

use super::Write;
use crate::engine::array::ChunkedStorage;
use crate::engine::fill::Fill;
use crate::error::{Error, Result};
use crate::index::ChunkRecord;
use crate::select::{Coord, first_element, is_cut};

/// A chunk as it will be stored.
#[derive(Debug, Clone)]
pub struct Encoded<'a> {
    /// The chunk, counted in chunks along each dimension.
    pub coord: Coord,
    /// What becomes of it.
    pub form: Form<'a>,
}

/// What becomes of a chunk.
#[derive(Debug, Clone)]
pub enum Form<'a> {
    /// It goes to new space.
    New {
        /// Its stored bytes.
        bytes: Cow<'a, [u8]>,
        /// The filters that it is stored without.
        mask: FilterMask,
    },
    /// It has no filters, and goes to where it is already.
    InPlace {
        /// Its stored bytes.
        bytes: Cow<'a, [u8]>,
        /// Where it is.
        extent: Extent,
    },
    /// It holds nothing but the fill value, and is stored no longer.
    Absent,
}

impl Write<'_> {
    /// Encodes the elements of a chunk. `known` is where the index has it. `None` if it holds nothing but the fill value, is
    /// left out, and was not stored before.
    pub fn encode<'c>(
        &self,
        chunked: &ChunkedStorage,
        coord: &Coord,
        chunk: &'c [u8],
        known: Option<ChunkRecord>,
        filters: &'c mut Scratch,
    ) -> Result<Option<Encoded<'c>>> {
        let encoded = |form| Some(Encoded { coord: coord.clone(), form });
        // What lies beyond the shape counts as well: it comes to light when the dataset grows.
        if self.skips_fill && holds(chunk, &self.array.fill) {
            return Ok(known.and_then(|_| encoded(Form::Absent)));
        }
        let is_raw = chunked.pipeline.is_empty()
            || (chunked.unfiltered_edges && is_cut(coord, &chunked.chunk_shape, &self.array.shape));
        if is_raw {
            let bytes = Cow::Borrowed(chunk);
            let known = known.filter(|record| record.extent.len == chunk.len() as u64);
            return Ok(encoded(match known {
                Some(record) => Form::InPlace { bytes, extent: record.extent },
                None => Form::New { bytes, mask: FilterMask::NONE_SKIPPED },
            }));
        }
        let (bytes, mask) = chunked.pipeline.encode(chunk, filters).map_err(|source| Error::Encode {
            source,
            coord: first_element(coord, &chunked.chunk_shape).into_vec(),
        })?;
        Ok(encoded(Form::New { bytes: Cow::Borrowed(bytes), mask }))
    }
}

impl Encoded<'_> {
    /// Its stored bytes; none where it is not stored.
    pub fn bytes(&self) -> &[u8] {
        match &self.form {
            Form::New { bytes, .. } | Form::InPlace { bytes, .. } => bytes,
            Form::Absent => &[],
        }
    }

    /// The same with bytes of its own, which outlive the buffers that it was encoded in.
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

/// Whether all elements of a piece are what those are that were never written, bit by bit.
fn holds(piece: &[u8], fill: &Fill) -> bool {
    let value: &[u8] = match fill {
        Fill::Zeros => &[0],
        Fill::Value(value) => value,
    };
    piece.starts_with(value) && repeated(piece, value.len()).is_some()
}
