//! Chunks in their stored form, made by the engine and given to the native connector.

use hyperslab::datatype::Datatype;
use hyperslab::internals::{DatasetOptions, NewStorage};
use hyperslab::storage::{FillBytes, FilterSpec};
use hyperslab::{Dataspace, Error, File, WriteOptions};

/// How a dataset stores its chunks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Form {
    pub(crate) datatype: Datatype,
    /// The number of elements of a chunk along each dimension.
    pub(crate) chunk: Vec<u64>,
    pub(crate) filters: Vec<FilterSpec>,
    pub(crate) fill: FillBytes,
}

/// A chunk as it is stored.
#[derive(Debug)]
pub(crate) struct Stored {
    /// The position of its first element in the box.
    pub(crate) first: Vec<u64>,
    /// The filters that were skipped.
    pub(crate) mask: u32,
    pub(crate) bytes: Vec<u8>,
}

impl Form {
    /// Encodes a box of elements, which begins with the first element of a chunk, and calls `each` with its chunks.
    /// Elements of chunks beyond the box hold the fill value.
    ///
    /// `memory` is the datatype of `elements` if it is another one than in the file.
    pub(crate) fn encode(
        &self,
        shape: &[u64],
        elements: &[u8],
        memory: Option<&Datatype>,
        each: &mut dyn FnMut(Stored) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let file = File::in_memory()?;
        // A chunk may be larger than the box.
        let room = shape.iter().zip(&self.chunk).map(|(&len, &chunk)| Some(len.max(chunk))).collect();
        let space = Dataspace::Simple { shape: shape.to_vec(), max_shape: Some(room) };
        let mut options = DatasetOptions::new(space, self.datatype.clone());
        options.storage = NewStorage::Chunked(self.chunk.clone());
        options.filters.clone_from(&self.filters);
        options.fill.clone_from(&self.fill);
        let dataset = file.root().create_dataset("elements", &options)?;
        dataset.write_with(.., elements, &WriteOptions::default().datatype(memory.cloned()))?;
        for coord in coordinates(shape, &self.chunk) {
            let Some(record) = dataset.chunk_at(&coord)? else { continue };
            let first = coord.iter().zip(&self.chunk).map(|(at, len)| at * len).collect();
            each(Stored { first, mask: record.mask.0, bytes: dataset.read_stored_chunk(record)? })?;
        }
        Ok(())
    }
}

/// Returns the positions, in the grid of chunks, of the chunks of a box, in row-major order.
fn coordinates(shape: &[u64], chunk: &[u64]) -> impl Iterator<Item = Vec<u64>> {
    let counts: Vec<u64> = shape.iter().zip(chunk).map(|(len, chunk)| len.div_ceil(*chunk)).collect();
    (0..counts.iter().product::<u64>()).map(move |number| {
        let mut left = number;
        let mut coord: Vec<u64> = counts
            .iter()
            .rev()
            .map(|count| {
                let at = left % count;
                left /= count;
                at
            })
            .collect();
        coord.reverse();
        coord
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_listed_in_row_major_order() {
        let found: Vec<_> = coordinates(&[3, 5], &[2, 2]).collect();
        assert_eq!(found, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
    }
}
