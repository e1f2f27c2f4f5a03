//! Searches in an index: binary searches over its bounds, and in one chunk on each side of a range.

use std::ops::{Bound, Range};

use hyperslab::internals::engine::each_number;
use parking_lot::Mutex;

use super::layout::damaged;
use super::value::ValueType;
use super::{Candidates, ColumnIndex, Kind};
use crate::error::{Error, Result};

/// A bound as a key: values below it, or up to it, are before it.
struct Edge {
    key: Vec<u64>,
    /// Whether values with this key are before the edge.
    is_after: bool,
}

impl Edge {
    fn has_before(&self, key: &[u64]) -> bool {
        if self.is_after { key <= &self.key[..] } else { key < &self.key[..] }
    }
}

/// The positions of a slice in which a search looks.
struct SlicePart {
    slice: u64,
    positions: Range<u64>,
}

pub(super) fn count(index: &ColumnIndex, lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> Result<u64> {
    let parts = parts(index, lower, upper)?;
    Ok(parts.iter().map(|part| part.positions.end - part.positions.start).sum())
}

pub(super) fn find(index: &ColumnIndex, lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> Result<Candidates> {
    let parts = parts(index, lower, upper)?;
    let content = &index.content;
    let (known, rows) = (index.len(), index.table.size());
    if index.kind() == Kind::Full && content.layout.sizes.reduction == 1 {
        let mut found = places(index, &parts, |_, place| place)?;
        let count = found.len();
        found.sort_unstable();
        found.dedup();
        if found.len() != count || found.last().is_some_and(|&row| row >= known) {
            return Err(damaged(
                &content.layout.group,
                "it names a row twice, or none: build the index again",
            ));
        }
        return Ok(Candidates::Rows { rows: found, unknown: known..rows });
    }
    let bucket = content.bucket(&index.table);
    let mut buckets = places(index, &parts, |slice, place| match index.kind() {
        Kind::Full => place / bucket,
        _ => content.place(place, slice, bucket),
    })?;
    buckets.sort_unstable();
    buckets.dedup();
    let ranges = buckets.into_iter().map(|number| {
        let first = number.saturating_mul(bucket).min(known);
        first..first.saturating_add(bucket).min(known)
    });
    Ok(Candidates::Ranges(joined(ranges.chain(std::iter::once(known..rows)))))
}

pub(super) fn in_order(index: &ColumnIndex, positions: Range<u64>) -> Result<Vec<u64>> {
    let slice = index.content.layout.sizes.slice;
    let mut parts = Vec::new();
    let mut at = positions.start;
    while at < positions.end {
        let first = at / slice * slice;
        let end = positions.end.min(first + slice);
        parts.push(SlicePart { slice: at / slice, positions: at - first..end - first });
        at = end;
    }
    let rows = places(index, &parts, |_, place| place)?;
    if rows.iter().any(|&row| row >= index.len()) {
        let why = "it names a row that the table does not have: build the index again";
        return Err(damaged(&index.content.layout.group, why));
    }
    Ok(rows)
}

/// Returns the positions of all slices whose values are in a range.
fn parts(index: &ColumnIndex, lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> Result<Vec<SlicePart>> {
    let values = index.column.values.indexed();
    let (Some(lower), Some(upper)) = (edge(values, lower, true)?, edge(values, upper, false)?) else {
        return Ok(Vec::new());
    };
    let content = &index.content;
    let found = Mutex::new(Vec::new());
    let search = |slice: u64| -> Result<()> {
        let (len, reduction) = (content.len_of(slice), content.layout.sizes.reduction);
        let start = match before(index, slice, &lower)? {
            None => len,
            Some(0) => 0,
            Some(values) => (values - 1) * reduction + 1,
        };
        if start < len {
            let end = before(index, slice, &upper)?.map_or(len, |values| len.min(values * reduction));
            if start < end {
                found.lock().push(SlicePart { slice, positions: start..end });
            }
        }
        Ok(())
    };
    each_number(content.slices(), &search)?;
    let mut found = found.into_inner();
    found.sort_unstable_by_key(|part: &SlicePart| part.slice);
    Ok(found)
}

/// Returns the number of stored values of a slice that are before an edge, or `None` if all values are.
fn before(index: &ColumnIndex, slice: u64, edge: &Edge) -> Result<Option<u64>> {
    let content = &index.content;
    let layout = &content.layout;
    if edge.has_before(content.end(slice)) {
        return Ok(None);
    }
    let first = content.first_chunk(slice);
    let chunks = layout.values_in(content.len_of(slice)).div_ceil(layout.values_in_chunk());
    let starts = partition(chunks, |chunk| edge.has_before(content.start(first + chunk)));
    let Some(chunk) = starts.checked_sub(1) else { return Ok(Some(0)) };
    let keys = content.values(slice, chunk)?;
    let words = layout.values.words();
    let inside = partition((keys.len() / words) as u64, |number| {
        edge.has_before(super::content::key(&keys, number, words))
    });
    Ok(Some(chunk * layout.values_in_chunk() + inside))
}

/// Returns how many of the numbers below `count` satisfy `is_before`, which the first ones do.
fn partition(count: u64, is_before: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// Returns a bound as an edge, or `None` if no value satisfies it.
///
/// Errors: `Argument` if the bound has another size than a value.
fn edge(values: ValueType, bound: Bound<&[u8]>, is_lower: bool) -> Result<Option<Edge>> {
    let words = values.words();
    let (value, is_included) = match bound {
        Bound::Included(value) => (value, true),
        Bound::Excluded(value) => (value, false),
        Bound::Unbounded => {
            // NaN comes last and is in no range.
            let word = if is_lower { 0 } else { u64::MAX };
            return Ok(Some(Edge { key: vec![word; words], is_after: !is_lower && !values.has_nan() }));
        }
    };
    let is_text = values.is_text();
    if !is_text && value.len() != values.size() {
        let what = format!("a bound of {} bytes", value.len());
        return Err(Error::Argument { what, why: format!("a value has {} bytes", values.size()) });
    }
    let mut key = vec![0; words];
    let len = value.len().min(values.size());
    values.key(&value[..len], &mut key);
    if values.is_nan(&key) {
        return Ok(None);
    }
    // A text that continues beyond the size of the column is above all texts that it begins with.
    let is_longer = value[len..].iter().any(|&byte| byte != 0);
    Ok(Some(Edge { key, is_after: is_longer || is_included != is_lower }))
}

/// Returns the row numbers or buckets of all positions, as `meaning` of a slice and a stored number gives
/// them.
fn places(index: &ColumnIndex, parts: &[SlicePart], meaning: impl Fn(u64, u64) -> u64) -> Result<Vec<u64>> {
    let content = &index.content;
    let len = content.layout.sizes.chunk;
    let chunks = parts.iter().flat_map(|part| {
        let (first, end) = (part.positions.start / len, part.positions.end.div_ceil(len));
        (first..end).map(move |chunk| (part, chunk))
    });
    let chunks: Vec<(&SlicePart, u64)> = chunks.collect();
    let found: Vec<Mutex<Vec<u64>>> = chunks.iter().map(|_| Mutex::default()).collect();
    each_number(chunks.len() as u64, &|number| {
        let Ok(number) = usize::try_from(number) else { return Ok(()) };
        let (part, chunk) = chunks[number];
        let places = content.places(part.slice, chunk)?;
        let first = chunk * len;
        let inside =
            |at: u64| usize::try_from(at.saturating_sub(first)).unwrap_or(usize::MAX).min(places.len());
        let (start, end) = (inside(part.positions.start), inside(part.positions.end));
        *found[number].lock() = places[start..end].to_vec();
        Ok::<(), Error>(())
    })?;
    let mut all = Vec::new();
    for ((part, _), places) in chunks.iter().zip(found) {
        all.extend(places.into_inner().into_iter().map(|place| meaning(part.slice, place)));
    }
    Ok(all)
}

/// Joins sorted ranges that touch, and leaves out empty ones.
pub(crate) fn joined(ranges: impl Iterator<Item = Range<u64>>) -> Vec<Range<u64>> {
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges.filter(|range| range.start < range.end) {
        match joined.last_mut() {
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}
