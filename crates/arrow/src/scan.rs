//! Streams of record batches: the rows of a table, or those that meet a condition.

use std::num::{NonZeroU64, NonZeroUsize};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use hyperslab::{Axis, Destination, ReadOptions, Selection};
use hyperslab_tables::{Query, Table};

use crate::columns::{Columns, Forms};
use crate::error::{Error, Result};
use crate::export::Stored;

/// The rows of a batch, unless they have too many bytes.
const BATCH_ROWS: usize = 1 << 16;
/// The bytes of a batch, unless one row has more.
const BATCH_BYTES: usize = 16 << 20;
/// The bytes that one read decodes, so that several threads have work. A read has at least one batch.
const READ_BYTES: usize = 8 << 20;
/// A read of this many bytes may be larger than others, to end where a chunk ends.
const ALIGNED_BYTES: usize = 64 << 20;
/// The rows in which a condition is searched at a time: the first step, and the largest.
const SEARCHED: Range<u64> = 1 << 16..1 << 22;

/// What a stream has of a table.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The paths of the columns, in the order of the stream. `None` takes all outermost columns.
    pub columns: Option<Vec<String>>,
    /// The rows that are looked at. `None` takes all.
    pub rows: Option<Range<u64>>,
    /// The distance of rows. The default is 1.
    pub step: Option<NonZeroU64>,
    /// The number of rows after which the stream ends.
    pub limit: Option<u64>,
    /// The largest number of rows of a batch. The default is 65,536. A batch has at most 16 MiB, or one row.
    pub batch_rows: Option<NonZeroUsize>,
    /// The forms of values of which Arrow has several.
    pub forms: Forms,
}

/// Rows of a table that can be read as record batches, any number of times.
///
/// ```
/// use hyperslab::{Element, File};
/// use hyperslab_arrow::{Options, Scan};
/// use hyperslab_tables::{Query, Table};
///
/// #[derive(Element)]
/// struct Reading { time: i64, temperature: f32 }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let file = File::in_memory()?;
/// let dataset = file.root().new_dataset::<Reading>("readings").shape([2]).max_shape([None]).chunks([1024]);
/// let rows = [Reading { time: 0, temperature: 288.0 }, Reading { time: 60, temperature: 289.5 }];
/// let table = Table::create(dataset.create_with(&rows)?, "Readings of a station", None)?;
/// let query = Query::new(&table, "temperature > 289", &[])?;
/// let options = Options { columns: Some(vec!["time".to_owned()]), ..Options::default() };
/// let scan = Scan::new(&table, Some(query.into()), &options)?;
/// let batches = scan.batches().collect::<Result<Vec<_>, _>>()?;
/// assert_eq!(batches.len(), 1);
/// assert_eq!(batches[0].num_rows(), 1);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Scan {
    table: Table,
    query: Option<Arc<Query>>,
    columns: Arc<Columns>,
    rows: Range<u64>,
    step: u64,
    limit: u64,
    batch_rows: usize,
    read_rows: usize,
}

impl Scan {
    /// Returns the rows that meet `query`, or all rows.
    ///
    /// Errors: `Column` if a column is unknown, or its values have no counterpart in Arrow.
    pub fn new(table: &Table, query: Option<Arc<Query>>, options: &Options) -> Result<Self> {
        let columns = Columns::new(table, options.columns.as_deref(), options.forms)?;
        let (len, width) = (table.len(), columns.width.max(1));
        let rows = options.rows.clone().unwrap_or(0..len);
        let batch_rows = options.batch_rows.map_or(BATCH_ROWS, NonZeroUsize::get);
        let batch_rows = batch_rows.min(BATCH_BYTES / width).max(1);
        Ok(Self {
            table: table.clone(),
            query,
            columns: Arc::new(columns),
            rows: rows.start..rows.end.min(len),
            step: options.step.map_or(1, NonZeroU64::get),
            limit: options.limit.unwrap_or(u64::MAX),
            batch_rows,
            read_rows: batch_rows.max(READ_BYTES / width),
        })
    }

    /// Returns the schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.columns.schema.clone()
    }

    /// Returns the batches from the first row on.
    pub fn batches(&self) -> Batches {
        let dataset = self.table.dataset();
        Batches {
            scan: self.clone(),
            next: self.rows.start,
            left: self.limit,
            window: SEARCHED.start,
            found: Vec::new(),
            taken: 0,
            changes: dataset.changes(),
            removals: dataset.removals(),
            ready: None,
            sent: 0,
        }
    }

    /// Returns the rows from `next` to where a read ends: at the end of a chunk, if that is not far.
    fn read_end(&self, next: u64) -> u64 {
        let end = next.saturating_add(self.read_rows as u64);
        let chunk = self.table.dataset().chunk_shape().and_then(|chunk| chunk.first().copied()).unwrap_or(1);
        let largest = self.read_rows.max(ALIGNED_BYTES / self.columns.width.max(1)) as u64;
        let aligned = match end / chunk * chunk {
            before if before > next => before,
            _ => end.div_ceil(chunk).saturating_mul(chunk),
        };
        if aligned - next <= largest { aligned } else { end }
    }

    /// Reads rows as one batch. `numbers` returns the number of a row.
    fn read(&self, what: &Selection, count: usize, number: &dyn Fn(usize) -> u64) -> Result<RecordBatch> {
        let columns = &*self.columns;
        let mut rows = Vec::new();
        if let Some(datatype) = &columns.datatype {
            let len = count.saturating_mul(columns.width);
            rows.try_reserve_exact(len).map_err(|_| {
                let why = format!("{len} bytes of rows do not fit in memory: read fewer columns");
                Error::Column { path: self.table.dataset().path().to_owned(), why }
            })?;
            rows.resize(len, 0);
            let options = ReadOptions::default().datatype(datatype.clone());
            let dataset = self.table.dataset();
            dataset
                .read_with(what, &mut Destination::contiguous(&mut rows), &options)
                .map_err(hyperslab_tables::Error::from)?;
        }
        let array = |column: &crate::columns::Column| {
            let stored = Stored { rows: &rows, at: column.at, width: columns.width, count };
            column.values.array(stored, columns.forms).map_err(|bad| bad.at(&column.path, number))
        };
        let arrays = columns.list.iter().map(array).collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        Ok(RecordBatch::try_new_with_options(self.schema(), arrays, &options)?)
    }
}

/// The record batches of a [`Scan`]. Dropping it ends the scan.
pub struct Batches {
    scan: Scan,
    /// The first row that was not looked at yet.
    next: u64,
    /// The number of rows until the limit.
    left: u64,
    /// The number of rows in which the condition is searched next.
    window: u64,
    /// The rows that meet the condition and were not read yet: those of `found` from `taken` on.
    found: Vec<u64>,
    taken: usize,
    /// The changes of the table when these rows were found.
    changes: u64,
    /// The removals of rows before the scan.
    removals: u64,
    /// Rows that were read, and how many of them were returned.
    ready: Option<RecordBatch>,
    sent: usize,
}

impl Batches {
    /// Returns whether the next batch is already in memory.
    pub fn is_ready(&self) -> bool {
        self.ready.as_ref().is_some_and(|ready| self.sent < ready.num_rows())
    }

    /// Returns the next batch, or `None` after the last one.
    ///
    /// Errors: `Removed` if rows were removed meanwhile; `Value` if a text is not UTF-8; those of
    /// [`hyperslab::Dataset::read_with`].
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        if !self.is_ready() {
            self.ready = self.read()?;
            self.sent = 0;
        }
        let Some(ready) = &self.ready else { return Ok(None) };
        let count = self.scan.batch_rows.min(ready.num_rows() - self.sent);
        let batch = ready.slice(self.sent, count);
        self.sent += count;
        if self.sent == ready.num_rows() {
            self.ready = None;
        }
        Ok(Some(batch))
    }

    /// Reads the next rows, or returns `None` at the end.
    fn read(&mut self) -> Result<Option<RecordBatch>> {
        let table = self.scan.table.clone();
        table.dataset().keeping_rows(|| {
            if self.scan.rows.end > table.len() || self.removals != table.dataset().removals() {
                return Err(Error::Removed { path: table.dataset().path().to_owned() });
            }
            if self.scan.query.is_some() { self.read_found() } else { self.read_range() }
        })
    }

    /// Reads the next rows of a scan without a condition.
    fn read_range(&mut self) -> Result<Option<RecordBatch>> {
        let scan = &self.scan;
        let (first, step) = (self.next, scan.step);
        let end = if step == 1 {
            scan.read_end(first)
        } else {
            first.saturating_add(step.saturating_mul(scan.read_rows as u64))
        };
        let end = end.min(scan.rows.end);
        let count = end.saturating_sub(first).div_ceil(step).min(self.left);
        if count == 0 {
            return Ok(None);
        }
        let what = if step == 1 {
            Selection::from(first..first + count)
        } else {
            listed((0..count).map(|number| first + number * step).collect())
        };
        let rows = usize::try_from(count).unwrap_or(usize::MAX);
        let batch = scan.read(&what, rows, &|index| first + index as u64 * step)?;
        self.next = first.saturating_add(count.saturating_mul(step));
        self.left -= count;
        Ok(Some(batch))
    }

    /// Reads the next rows that meet the condition.
    fn read_found(&mut self) -> Result<Option<RecordBatch>> {
        let Some(query) = &self.scan.query else { return Ok(None) };
        let rows = &self.scan.rows;
        let changes = self.scan.table.dataset().changes();
        if changes != self.changes {
            // The rows that are left may not meet the condition any more, and others may.
            if let Some(&next) = self.found.get(self.taken) {
                self.left += (self.found.len() - self.taken) as u64;
                self.next = next;
                self.taken = self.found.len();
            }
            self.changes = changes;
        }
        while self.taken == self.found.len() {
            if self.next >= rows.end || self.left == 0 {
                return Ok(None);
            }
            let end = rows.end.min(self.next.saturating_add(self.window));
            self.found = query.rows(self.next..end, None)?;
            if self.scan.step > 1 {
                self.found.retain(|row| (row - rows.start).is_multiple_of(self.scan.step));
            }
            self.found.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
            self.taken = 0;
            self.left -= self.found.len() as u64;
            self.next = end;
            self.window = (self.window * 2).min(SEARCHED.end);
        }
        let count = self.scan.read_rows.min(self.found.len() - self.taken);
        let numbers = &self.found[self.taken..self.taken + count];
        let batch = self.scan.read(&listed(numbers.to_vec()), count, &|index| numbers[index])?;
        self.taken += count;
        Ok(Some(batch))
    }
}

/// Returns the selection of rows with these numbers, in ascending order.
fn listed(numbers: Vec<u64>) -> Selection {
    Selection::from_axes([Axis::from_indices(numbers)])
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().map_err(|error| ArrowError::ExternalError(Box::new(error))).transpose()
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        self.scan.schema()
    }
}
