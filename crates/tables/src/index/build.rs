//! Builds indexes: sorts the values of a column with their rows, and writes them as an index.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use hyperslab::internals::engine::each_number;
use hyperslab::{Dataset, Progress, RequestError, WriteOptions, silent};
use hyperslab_io::interrupt;
use parking_lot::Mutex;

use super::content::{Bounds, ChunkPart, Content, checksum, key};
use super::layout::{IndexLayout, damaged};
use super::proof::rows_in_chunk;
use super::sizes::Sizes;
use super::sort::Runs;
use super::{Filters, IndexableColumn, Kind, hash};
use crate::error::{Error, Result};

/// How an index is built.
#[derive(Debug, Clone)]
pub struct IndexOptions {
    /// The kind.
    pub kind: Kind,
    /// How much PyTables would sort the values, from 0 to 9. It decides the sizes of the parts of the index;
    /// hyperslab sorts as much as the kind allows.
    pub optlevel: u8,
    /// The filters of the datasets of the index.
    pub filters: Filters,
    /// The directory for temporary files; by default that of the system.
    pub tmp: Option<PathBuf>,
    /// The sizes of superblocks, blocks, slices and chunks of the index in rows, as PyTables' `_blocksizes`.
    /// By default they follow from the number of rows.
    pub sizes: Option<[u64; 4]>,
    /// The bytes of records that are sorted in memory. More records are sorted in a temporary file.
    pub memory: u64,
}

impl Default for IndexOptions {
    /// The options of PyTables' `create_index`: kind `medium`, level 6.
    fn default() -> Self {
        Self {
            kind: Kind::Medium,
            optlevel: 6,
            filters: Filters::default(),
            tmp: None,
            sizes: None,
            memory: 512 << 20,
        }
    }
}

impl IndexOptions {
    /// Returns the options of PyTables' `create_csindex`: kind `full`, level 9.
    pub fn sorted() -> Self {
        Self { kind: Kind::Full, optlevel: 9, ..Self::default() }
    }
}

/// The most positions that one thread merges and writes at a time.
const PART: u64 = 1 << 19;

/// Builds the index of a column. Nothing else may change the table meanwhile.
///
/// Errors: `Argument` if the column has an index already, if it cannot be indexed, or if an option is wrong.
pub fn build_index(table: &Dataset, column: &str, options: &IndexOptions) -> Result<()> {
    build_index_telling(table, column, options, &silent)
}

/// Does the same as [`build_index`]. Calls `progress` with the rows that are read and written so far, and
/// twice the number of all rows. If it breaks, nothing of the index is left.
///
/// Errors: those of [`build_index`]; `RequestError::Stopped` if `progress` breaks.
pub fn build_index_telling(
    table: &Dataset,
    column: &str,
    options: &IndexOptions,
    progress: Progress<'_>,
) -> Result<()> {
    let column = IndexableColumn::of(table, column)?;
    if options.optlevel > 9 {
        let what = format!("level {}", options.optlevel);
        return Err(Error::Argument { what, why: "levels are 0 to 9".into() });
    }
    if IndexLayout::open(table, &column.path)?.is_some() {
        let why = "it has an index already: build it anew with `reindex`, or remove it first".into();
        return Err(Error::Argument { what: format!("column {:?}", column.path), why });
    }
    let rows = table.size();
    let (kind, optlevel, in_chunk) = (options.kind, options.optlevel, rows_in_chunk(table));
    let sizes = match options.sizes {
        None => Sizes::choose(kind, optlevel, rows, column.values.size(), in_chunk),
        Some(sizes) => Sizes::given(kind, optlevel, sizes).ok_or_else(|| {
            let why = "each size must be a multiple of the next one, and a slice longer than a chunk".into();
            Error::Argument { what: format!("sizes {sizes:?}"), why }
        })?,
    };
    let layout = IndexLayout::create(
        table,
        &column.path,
        column.values.indexed(),
        options.kind,
        options.optlevel,
        sizes,
        &options.filters,
    )?;
    let group = layout.group.clone();
    let filled = Content::read(layout).and_then(|content| fill(table, &column, content, options, progress));
    if filled.is_err() {
        interrupt::ignore(|| table.file().root().remove(group.path()))?;
    }
    filled
}

/// Makes an index hold all rows of a table. Whole slices of the index keep their positions; the rows of the
/// last row and those that the index does not know yet are sorted anew.
pub(super) fn fill(
    table: &Dataset,
    column: &IndexableColumn,
    content: Content,
    options: &IndexOptions,
    progress: Progress<'_>,
) -> Result<()> {
    match column.values.words() {
        0..=1 => Filling::<2>::of(table, column, content, options, progress)?.run(),
        2 => Filling::<3>::of(table, column, content, options, progress)?.run(),
        3..=4 => Filling::<5>::of(table, column, content, options, progress)?.run(),
        5..=8 => Filling::<9>::of(table, column, content, options, progress)?.run(),
        9..=16 => Filling::<17>::of(table, column, content, options, progress)?.run(),
        _ => Filling::<33>::of(table, column, content, options, progress)?.run(),
    }
}

/// An index that is being filled. Records of `N` words hold a key and a row.
struct Filling<'a, const N: usize> {
    table: &'a Dataset,
    column: &'a IndexableColumn,
    content: Content,
    options: &'a IndexOptions,
    bucket: u64,
    /// The sum of the hashes of the rows that were read.
    sum: AtomicU64,
    /// The records of the old last row, if its rows are any rows of the table.
    kept: Vec<[u64; N]>,
    /// The number of rows that the index knew.
    known: u64,
    /// The first row to read.
    first: u64,
    /// The first position to write.
    start: u64,
    /// Whether the index had a stamp, or is new.
    is_stamped: bool,
    old_sum: u64,
    written: Mutex<Written>,
    progress: Progress<'a>,
    /// The rows that were read and written so far, for `progress`.
    done: AtomicU64,
}

/// What is noted of chunks that are written.
struct Written {
    bounds: Bounds,
    values: Vec<u64>,
    places: Vec<u64>,
}

impl<'a, const N: usize> Filling<'a, N> {
    fn of(
        table: &'a Dataset,
        column: &'a IndexableColumn,
        mut content: Content,
        options: &'a IndexOptions,
        progress: Progress<'a>,
    ) -> Result<Self> {
        let layout = &content.layout;
        let (is_new, old, slices) = (layout.len() == 0, layout.len(), layout.slices);
        let start = slices * layout.sizes.slice;
        let is_full = layout.kind == Kind::Full;
        let kept = if is_full && layout.last > 0 { last_row(&content)? } else { Vec::new() };
        let stamp = content.stamp;
        let is_stamped = is_new || stamp.is_some();
        let words = column.values.words();
        let known = usize::try_from(content.first_chunk(slices)).unwrap_or(0);
        let sums = content.checksums();
        let mut written = Written {
            bounds: (*content.bounds).clone(),
            values: sums.get(..known).unwrap_or_default().to_vec(),
            places: sums.get(sums.len() / 2..sums.len() / 2 + known).unwrap_or_default().to_vec(),
        };
        let rows = table.size();
        content.layout.set_dirty(true)?;
        content.remove_stamp()?;
        content.layout.resize(rows / content.layout.sizes.slice, rows % content.layout.sizes.slice)?;
        let chunks = usize::try_from(content.layout.chunks()).unwrap_or(usize::MAX);
        written.bounds.starts.resize(chunks * words, 0);
        written.bounds.ends.resize(usize::try_from(content.slices()).unwrap_or(usize::MAX) * words, 0);
        written.values.resize(chunks, 0);
        written.places.resize(chunks, 0);
        Ok(Self {
            bucket: content.bucket(table),
            known: old,
            first: if is_full { old } else { start },
            old_sum: stamp.map_or(0, |stamp| stamp.values),
            sum: AtomicU64::new(0),
            written: Mutex::new(written),
            table,
            column,
            content,
            options,
            kept,
            start,
            is_stamped,
            progress,
            done: AtomicU64::new(0),
        })
    }

    /// Reports that `rows` more rows were read or written.
    fn tell(&self, rows: usize) -> Result<(), hyperslab::Error> {
        let done = self.done.fetch_add(rows as u64, Ordering::Relaxed) + rows as u64;
        let total = 2 * (self.table.size() - self.first.min(self.start));
        if (self.progress)(done, total).is_break() {
            return Err(RequestError::Stopped.into());
        }
        Ok(())
    }

    fn run(mut self) -> Result<()> {
        let rows = self.table.size();
        // Rows of the last row that are read again are in the old sum.
        let again = match self.content.layout.kind {
            Kind::Full => 0,
            _ => self.sum_of_old()?,
        };
        let kept = std::mem::take(&mut self.kept);
        let mut kept = Some(kept);
        for group in self.groups(rows) {
            let from = self.first.max(if self.content.layout.kind == Kind::Full { 0 } else { group.start });
            self.sort(group.start, from..group.end, &kept.take().unwrap_or_default())?;
        }
        let sum = self.old_sum.wrapping_sub(again).wrapping_add(self.sum.load(Ordering::Relaxed));
        self.finish(sum)
    }

    /// Returns the sum of the rows that the index knows and that are read again.
    fn sum_of_old(&self) -> Result<u64> {
        super::proof::column_sum(self.table, self.column, self.start..self.known.max(self.start), 1)
    }

    /// Returns the ranges of rows that are sorted independently. Their positions are the same ranges.
    fn groups(&self, rows: u64) -> Vec<Range<u64>> {
        let sizes = self.content.layout.sizes;
        let whole = rows / sizes.slice * sizes.slice;
        let unit = match self.content.layout.kind {
            // The last row has any rows, so it is sorted with the others.
            Kind::Full => return std::iter::once(self.start..rows).collect(),
            Kind::Medium => whole.max(1),
            // Rows stay in their block, and after the first filling in their slice.
            Kind::Light if self.start == 0 => sizes.slices_in_block() * sizes.slice,
            Kind::Light | Kind::Ultralight => sizes.slice,
        };
        let mut groups = Vec::new();
        let mut at = self.start;
        while at < whole {
            let end = whole.min(at + unit);
            groups.push(at..end);
            at = end;
        }
        groups.extend((whole < rows).then_some(whole..rows));
        groups
    }

    /// Sorts the records of `rows` and `kept`, and writes them from position `start` on.
    fn sort(&self, start: u64, rows: Range<u64>, kept: &[[u64; N]]) -> Result<()> {
        let end = start + kept.len() as u64 + (rows.end - rows.start);
        let tmp = self.options.tmp.clone().unwrap_or_else(std::env::temp_dir);
        let load = |rows: Range<u64>, records: &mut Vec<[u64; N]>| self.load(rows, records);
        let runs = Runs::make(kept, rows, self.options.memory, &tmp, &load)?;
        let sizes = self.content.layout.sizes;
        let mut parts = Vec::new();
        let mut at = start;
        while at < end {
            let in_slice = at % sizes.slice;
            let part = (PART / sizes.chunk).max(1) * sizes.chunk;
            let next = end.min(at + part.min(sizes.slice - in_slice));
            parts.push(at..next);
            at = next;
        }
        each_number(parts.len() as u64, &|number| {
            let Some(part) = usize::try_from(number).ok().and_then(|number| parts.get(number)) else {
                return Ok(());
            };
            let records = runs.merged(&runs.cut(part.start - start)?, &runs.cut(part.end - start)?)?;
            self.write(part.start, &records)?;
            Ok(self.tell(records.len())?)
        })
    }

    /// Reads the records of some rows.
    fn load(&self, rows: Range<u64>, records: &mut Vec<[u64; N]>) -> Result<()> {
        let found = Mutex::new(std::mem::take(records));
        let (values, words) = (self.column.values, self.column.values.words());
        let columns = std::slice::from_ref(&self.column.bytes);
        let sum = AtomicU64::new(0);
        self.table.blocks(rows, columns, Some(std::num::NonZeroUsize::MIN), &|block| {
            let first = block.piece.first().copied().unwrap_or(0) + block.first as u64;
            let mut found = found.lock();
            let mut part = 0_u64;
            for (row, value) in (first..).zip(block.iter()) {
                let mut record = [0; N];
                values.key(value, &mut record[..words]);
                part = part.wrapping_add(hash::placed(row, &record[..words]));
                record[N - 1] = row;
                found.push(record);
            }
            sum.fetch_add(part, Ordering::Relaxed);
            drop(found);
            self.tell(block.iter().len())
        })?;
        self.sum.fetch_add(sum.into_inner(), Ordering::Relaxed);
        *records = found.into_inner();
        Ok(())
    }

    /// Writes sorted records at consecutive positions of one slice, which begin a chunk.
    fn write(&self, start: u64, records: &[[u64; N]]) -> Result<()> {
        let layout = &self.content.layout;
        let (sizes, words, size) = (layout.sizes, self.column.values.words(), layout.values.size());
        let slice = (start / sizes.slice).min(layout.slices);
        let first = start - slice * sizes.slice;
        let end = first + records.len() as u64;
        let step = usize::try_from(sizes.reduction).unwrap_or(usize::MAX);
        let keys: Vec<u64> =
            records.iter().step_by(step).flat_map(|record| &record[..words]).copied().collect();
        let mut values = vec![0; keys.len() / words * size];
        for (value, key) in values.chunks_exact_mut(size).zip(keys.chunks_exact(words)) {
            layout.values.value(key, value);
        }
        let places = records.iter().map(|record| self.stored(record[N - 1], slice));
        let places = places.collect::<Option<Vec<u64>>>().ok_or_else(|| {
            damaged(&layout.group, "the table has too many rows for this kind of index: use kind=\"full\"")
        })?;
        let width = layout.indices.element_size();
        // With reduced values, PyTables reads row numbers up to a multiple of the reduction.
        let more = if slice < layout.slices || end < layout.last { 0 } else { sizes.reduction - 1 };
        let padded = (end + more).min(sizes.slice);
        let rest = std::iter::repeat_n(places.last(), usize::try_from(padded - end).unwrap_or(0)).flatten();
        let bytes: Vec<u8> =
            places.iter().chain(rest).flat_map(|place| place.to_le_bytes().into_iter().take(width)).collect();
        let options = WriteOptions::default().threads(std::num::NonZeroUsize::MIN);
        // PyTables' numbers of rows have the byte order of the table.
        let places_options = options.clone().datatype(layout.kind.datatype());
        let (from, to) = (first / sizes.reduction, layout.values_in(end));
        if slice < layout.slices {
            layout.sorted.write_with([slice..slice + 1, from..to], &values, &options)?;
            layout.indices.write_with([slice..slice + 1, first..end], &bytes, &places_options)?;
        } else {
            layout.sorted_last.write_with(from..to, &values, &options)?;
            layout.indices_last.write_with(first..padded, &bytes, &places_options)?;
        }
        self.note(slice, first, &keys, &places, records.last().map(|record| &record[..words]));
        Ok(())
    }

    /// Notes bounds and checksums of chunks of a slice that are written from position `first` on.
    fn note(&self, slice: u64, first: u64, keys: &[u64], places: &[u64], last: Option<&[u64]>) {
        let layout = &self.content.layout;
        let words = layout.values.words();
        let in_chunk = usize::try_from(layout.values_in_chunk()).unwrap_or(usize::MAX) * words;
        let positions = usize::try_from(layout.sizes.chunk).unwrap_or(usize::MAX);
        let chunk = self.content.first_chunk(slice) + first / layout.sizes.chunk;
        let mut guard = self.written.lock();
        let written = &mut *guard;
        for ((number, keys), places) in (chunk..).zip(keys.chunks(in_chunk)).zip(places.chunks(positions)) {
            let Ok(at) = usize::try_from(number) else { return };
            written.bounds.starts[at * words..][..words].copy_from_slice(&keys[..words]);
            written.values[at] = checksum(ChunkPart::Values, number, keys);
            written.places[at] = checksum(ChunkPart::Places, number, places);
        }
        if first + places.len() as u64 == self.content.len_of(slice)
            && let (Some(last), Ok(slice)) = (last, usize::try_from(slice))
        {
            written.bounds.ends[slice * words..][..words].copy_from_slice(last);
        }
    }

    /// Returns the number that is stored for a row in a slice, or `None` if the kind has no such number.
    fn stored(&self, row: u64, slice: u64) -> Option<u64> {
        if self.content.layout.kind == Kind::Full {
            return Some(row);
        }
        let stored = (row / self.bucket).checked_sub(self.content.place(0, slice, self.bucket))?;
        let bits = 8 * self.content.layout.indices.element_size();
        (stored >> bits == 0).then_some(stored)
    }

    /// Writes bounds, stamp and the marks of the index.
    fn finish(mut self, sum: u64) -> Result<()> {
        let written = self.written.into_inner();
        let content = &mut self.content;
        let layout = &content.layout;
        let (values, words, size) = (layout.values, layout.values.words(), layout.values.size());
        let bytes = |keys: &[u64]| {
            let mut bytes = vec![0; keys.len() / words * size];
            bytes
                .chunks_exact_mut(size)
                .zip(keys.chunks_exact(words))
                .for_each(|(to, key)| values.value(key, to));
            bytes
        };
        let Bounds { starts, ends } = &written.bounds;
        let per_slice = usize::try_from(layout.sizes.chunks_in_slice()).unwrap_or(usize::MAX) * words;
        let whole = usize::try_from(layout.slices).unwrap_or(0);
        let (mut ranges, mut bounds) = (Vec::new(), Vec::new());
        for (starts, end) in starts.chunks_exact(per_slice).zip(ends.chunks_exact(words)).take(whole) {
            ranges.extend_from_slice(&starts[..words]);
            ranges.extend_from_slice(end);
            bounds.extend_from_slice(&starts[words..]);
        }
        if whole > 0 {
            layout.ranges.write_with(.., &bytes(&ranges), &WriteOptions::default())?;
            layout.bounds.write_with(.., &bytes(&bounds), &WriteOptions::default())?;
        }
        if layout.last > 0 {
            let mut last = starts[whole * per_slice..].to_vec();
            last.extend_from_slice(key(ends, layout.slices, words));
            let first = layout.last_values();
            let end = first + (last.len() / words) as u64;
            layout.sorted_last.write_with(first..end, &bytes(&last), &WriteOptions::default())?;
        }
        content.bounds = written.bounds.into();
        content.layout.set_sorted(content.is_sorted())?;
        if self.is_stamped {
            content.write_stamp([written.values, written.places].concat(), sum)?;
        }
        content.layout.set_dirty(false)
    }
}

/// Returns the records of the last row of an index of kind `full`.
fn last_row<const N: usize>(content: &Content) -> Result<Vec<[u64; N]>> {
    let layout = &content.layout;
    let words = layout.values.words();
    let mut records = Vec::new();
    for chunk in 0..layout.last_chunks() {
        let values = content.values(layout.slices, chunk)?;
        let places = content.places(layout.slices, chunk)?;
        for (key, row) in values.chunks_exact(words).zip(places) {
            let mut record = [0; N];
            record[..words].copy_from_slice(key);
            record[N - 1] = row;
            records.push(record);
        }
    }
    // PyTables leaves the rows of equal values in any order.
    records.sort_unstable();
    Ok(records)
}
