//! The proof that an index holds the values of its column.
//!
//! Nothing in an HDF5 file tells that another program has changed a dataset, so the first search in an
//! opening compares the index with the column: decision 0015. Every row contributes the hash of its number
//! and its value to a sum. The column must have the sum that the index has; then no row is missing in the
//! index, and none has another value there.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use hyperslab::Dataset;
use hyperslab::internals::engine::each_number;

use super::content::{Content, key};
use super::hash;
use super::value::ValueType;
use super::{IndexableColumn, Kind};
use crate::error::{Error, Result};

/// Compares the index with the column. Returns why it cannot be used, or `None` if it holds the column.
pub(super) fn compare(
    table: &Dataset,
    column: &IndexableColumn,
    content: &Content,
) -> Result<Option<String>> {
    let layout = &content.layout;
    if layout.is_dirty {
        return Ok(Some("it is marked as out of date".to_owned()));
    }
    let (rows, known) = (table.size(), layout.len());
    if known > rows {
        return Ok(Some(format!("it has {known} rows, and the table has {rows}")));
    }
    let changed = || Some("the column has changed since the index was built".to_owned());
    if let Some(stamp) = content.stamp {
        let found = column_sum(table, column, 0..known, 1)?;
        return Ok(if found == stamp.values { None } else { changed() });
    }
    if layout.sizes.reduction > 1 {
        let why = "PyTables has stored a part of the values only, which cannot be compared with the column";
        return Ok(Some(why.to_owned()));
    }
    let bucket = if layout.kind == Kind::Full { 1 } else { content.bucket(table) };
    let found = match index_sum(content, bucket) {
        Ok(Ok(sum)) => sum,
        Ok(Err(why)) => return Ok(Some(why.to_owned())),
        Err(error) => return Err(error),
    };
    Ok(if column_sum(table, column, 0..known, bucket)? == found { None } else { changed() })
}

/// Returns the sum of the hashes of the values of a column, each at its row divided by `bucket`.
pub(super) fn column_sum(
    table: &Dataset,
    column: &IndexableColumn,
    rows: Range<u64>,
    bucket: u64,
) -> Result<u64> {
    let sum = AtomicU64::new(0);
    let (values, words) = (column.values, column.values.words());
    table.blocks(rows, std::slice::from_ref(&column.bytes), None, &|block| {
        let first = block.piece.first().copied().unwrap_or(0) + block.first as u64;
        let mut part = 0_u64;
        if words == 1 {
            for (row, value) in (first..).zip(block.iter()) {
                let place = if bucket == 1 { row } else { row / bucket };
                part = part.wrapping_add(hash::placed(place, &[values.word(value)]));
            }
        } else {
            let mut key = vec![0; words];
            for (row, value) in (first..).zip(block.iter()) {
                values.key(value, &mut key);
                part = part.wrapping_add(hash::placed(row / bucket, &key));
            }
        }
        sum.fetch_add(part, Ordering::Relaxed);
        Ok(())
    })?;
    Ok(sum.into_inner())
}

/// Returns the sum of the hashes of all values of an index at their places, or why a search would go wrong:
/// values that are not sorted, or bounds that are not the values.
fn index_sum(content: &Content, bucket: u64) -> Result<Result<u64, &'static str>> {
    let layout = &content.layout;
    let words = layout.values.words();
    let sum = AtomicU64::new(0);
    let chunks_in_slice = layout.sizes.chunks_in_slice();
    let work = |number: u64| -> Result<(), WalkEnd> {
        let (slice, chunk) = (number / chunks_in_slice, number % chunks_in_slice);
        let values = content.values(slice, chunk)?;
        let places = content.places(slice, chunk)?;
        let count = values.len() / words;
        let is_start = values.get(..words) == Some(content.start(number));
        let sorted = values.chunks_exact(words).zip(values.chunks_exact(words).skip(1));
        let is_last = (chunk + 1) * layout.sizes.chunk >= content.len_of(slice);
        let next = if is_last { content.end(slice) } else { content.start(number + 1) };
        let last = key(&values, (count as u64).saturating_sub(1), words);
        if !is_start || !sorted.clone().all(|(a, b)| a <= b) || last > next || is_last && last != next {
            return Err(WalkEnd::Disorder("its values are not sorted, or its bounds are not its values"));
        }
        let mut part = 0_u64;
        for (place, value) in places.into_iter().zip(values.chunks_exact(words)) {
            part = part.wrapping_add(hash::placed(content.place(place, slice, bucket), value));
        }
        sum.fetch_add(part, Ordering::Relaxed);
        Ok(())
    };
    match each_number(layout.chunks(), &work) {
        Ok(()) => Ok(Ok(sum.into_inner())),
        Err(WalkEnd::Disorder(why)) => Ok(Err(why)),
        Err(WalkEnd::Error(error)) => Err(error),
    }
}

/// What ends the walk over an index.
enum WalkEnd {
    Disorder(&'static str),
    Error(Error),
}

impl From<Error> for WalkEnd {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl Content {
    /// Returns the number of rows in a bucket.
    pub(super) fn bucket(&self, table: &Dataset) -> u64 {
        self.layout.sizes.bucket(self.layout.kind, rows_in_chunk(table))
    }

    /// Returns the row or the bucket that a stored number of a slice means.
    pub(super) fn place(&self, stored: u64, slice: u64, bucket: u64) -> u64 {
        let sizes = &self.layout.sizes;
        match self.layout.kind {
            Kind::Full | Kind::Medium => stored,
            Kind::Light => stored.wrapping_add(slice / sizes.slices_in_block() * sizes.block / bucket),
            Kind::Ultralight => stored.wrapping_add(slice * sizes.slice / bucket),
        }
    }
}

/// Returns the rows in a chunk of a table.
pub(super) fn rows_in_chunk(table: &Dataset) -> u64 {
    table.chunk_shape().and_then(|shape| shape.first().copied()).unwrap_or(1).max(1)
}

/// Returns the type of the values of a column, if the index can be its index.
pub(super) fn fits(column: ValueType, content: &Content) -> bool {
    column.fits(content.layout.values)
}
