//! Tables: one-dimensional datasets of records with PyTables' attributes.

mod attributes;
mod column;

use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::Arc;

use hyperslab::internals::counted;
use hyperslab::{Dataset, WriteOptions};
use hyperslab_format::datatype::{Compound, Datatype};

pub use self::column::{Column, row_datatype};
pub(crate) use self::column::{is_bool, is_complex};
use crate::class::Class;
use crate::error::{Error, Result};
use crate::index;
use crate::node::mark_file;

/// A table: rows of named columns, in a chunked dataset of one dimension.
///
/// ```
/// use hyperslab::{Element, File};
/// use hyperslab_tables::Table;
///
/// #[derive(Element)]
/// struct Reading { time: i64, temperature: f32 }
///
/// # fn main() -> hyperslab_tables::Result<()> {
/// let file = File::in_memory()?;
/// let dataset = file.root().new_dataset::<Reading>("readings").shape([0]).max_shape([None]).chunks([1024]);
/// let table = Table::create(dataset.create()?, "Readings of a station", None)?;
/// let rows = [Reading { time: 0, temperature: 288.0 }, Reading { time: 60, temperature: 289.5 }];
/// table.dataset().resize([2])?;
/// table.dataset().write(.., &rows)?;
/// assert_eq!(table.len(), 2);
/// assert_eq!(table.column("temperature")?.bytes, 8..12);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Table {
    dataset: Dataset,
    columns: Arc<[Column]>,
}

/// The bytes that are moved at once when rows are removed.
const MOVED: usize = 32 << 20;

impl Table {
    /// Returns the table that a dataset is, whatever its attributes say.
    ///
    /// Errors: `Object` if the dataset has no rows of columns: it must have one dimension and a compound
    /// datatype.
    pub fn new(dataset: Dataset) -> Result<Self> {
        let datatype = dataset.datatype();
        let widths = dataset.file().store().widths();
        let row = row(&datatype).filter(|_| dataset.with_shape(<[u64]>::len) == 1);
        let columns = row.and_then(|row| column::columns(row, widths));
        let Some(columns) = columns else {
            let why = "not a table: it needs one dimension and a compound datatype".to_owned();
            return Err(Error::Object { path: dataset.path().to_owned(), why });
        };
        Ok(Self { dataset, columns: columns.into() })
    }

    /// Returns whether a dataset is a table of PyTables: it has rows of columns, and the attribute `CLASS`
    /// with the value `TABLE`.
    pub fn is_table(dataset: &Dataset) -> Result<bool> {
        Ok(row(&dataset.datatype()).is_some()
            && dataset.with_shape(<[u64]>::len) == 1
            && Class::of(dataset)? == Some(Class::Table))
    }

    /// Makes a dataset a table: writes PyTables' attributes, those of the file among them. `defaults` is one
    /// row in the stored datatype, with the values that PyTables gives to columns that a new row leaves out;
    /// without it they are zero. Indexes that another program has left at this path are removed.
    ///
    /// Errors: those of [`Table::new`]; `Argument` if `defaults` is not one row.
    pub fn create(dataset: Dataset, title: &str, defaults: Option<&[u8]>) -> Result<Self> {
        let table = Self::new(dataset)?;
        let zeros = vec![0; table.dataset.element_size()];
        let defaults = defaults.unwrap_or(&zeros);
        if defaults.len() != zeros.len() {
            let what = format!("defaults of {} bytes", defaults.len());
            let why = format!("a row has {} bytes", zeros.len());
            return Err(Error::Argument { what, why });
        }
        index::remove_leftover(&table.dataset.file().root(), table.dataset.path())?;
        mark_file(table.dataset.file())?;
        if let Some(row) = row(&table.dataset.datatype()) {
            attributes::put(&table.dataset, row, &table.columns, title, defaults)?;
        }
        Ok(table)
    }

    /// Returns the dataset.
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// Returns the columns, those of nested columns last.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns the column at a path. Nested names are joined by `/` or by `.`.
    ///
    /// Errors: `Argument` if the table has no such column.
    pub fn column(&self, path: &str) -> Result<&Column> {
        let dotted = path.replace('.', "/");
        let found = self.columns.iter().find(|column| column.path == path || column.path == dotted);
        found.ok_or_else(|| {
            let known: Vec<&str> = self.columns.iter().map(|column| &*column.path).collect();
            let why = format!("it must be one of {}", known.join(", "));
            Error::Argument { what: format!("column {path:?}"), why }
        })
    }

    /// Returns the number of rows.
    pub fn len(&self) -> u64 {
        self.dataset.with_shape(|shape| shape.first().copied().unwrap_or(0))
    }

    /// Returns whether the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends rows in the stored datatype or that of `options`, and returns their numbers. Appends of
    /// several threads take turns, and queries wait.
    ///
    /// Errors: `Argument` if `rows` are not whole rows; those of [`Dataset::resize`] and `write_with`. If the
    /// write fails, the table keeps its length.
    pub fn append(&self, rows: &[u8], options: &WriteOptions) -> Result<Range<u64>> {
        let size = match &options.datatype {
            Some(datatype) => usize::try_from(datatype.size(self.dataset.file().store().widths())),
            None => Ok(self.dataset.element_size()),
        };
        let size = size.unwrap_or(usize::MAX).max(1);
        if !rows.len().is_multiple_of(size) {
            let why = format!("a row has {size} bytes");
            return Err(Error::Argument { what: format!("rows of {} bytes", rows.len()), why });
        }
        let count = (rows.len() / size) as u64;
        self.dataset.changing_rows(|| {
            let first = self.dataset.grow_axis(0, count)?;
            let new = first..first + count;
            if let Err(error) = self.dataset.write_with(new.clone(), rows, options) {
                if self.len() == new.end {
                    self.dataset.resize_axis(0, first)?;
                }
                return Err(error.into());
            }
            Ok(new)
        })
    }

    /// Removes every `step`-th row of `rows`: the rows after them move up. Returns the number of removed
    /// rows. Queries of other threads wait.
    ///
    /// Errors: `Argument` if `rows` are not inside the table. After any other error, the table may hold some
    /// rows twice, and none is lost.
    pub fn remove(&self, rows: Range<u64>, step: NonZeroU64) -> Result<u64> {
        self.dataset.changing_rows(|| self.remove_alone(rows, step))
    }

    fn remove_alone(&self, rows: Range<u64>, step: NonZeroU64) -> Result<u64> {
        let len = self.len();
        if rows.start > rows.end || rows.end > len {
            let what = format!("rows {} to {}", rows.start, rows.end);
            return Err(Error::Argument { what, why: format!("the table has {}", counted(len, "row")) });
        }
        self.dataset.count_removal();
        let size = self.dataset.element_size();
        let most = (MOVED / size).max(1) as u64;
        let is_removed = |row: u64| row < rows.end && (row - rows.start).is_multiple_of(step.get());
        let mut from = if step == NonZeroU64::MIN { rows.end } else { rows.start };
        let mut to = rows.start;
        let mut buffer = Vec::new();
        while from < len && rows.start < rows.end {
            let end = len.min(from + most);
            // At most `MOVED` bytes, or one row.
            buffer.resize(usize::try_from(end - from).unwrap_or(usize::MAX) * size, 0);
            self.dataset.read_into(from..end, &mut buffer)?;
            let mut kept = 0;
            for (number, row) in (from..end).enumerate() {
                if !is_removed(row) {
                    buffer.copy_within(number * size..(number + 1) * size, kept);
                    kept += size;
                }
            }
            let next = to + (kept / size) as u64;
            self.dataset.write_with(to..next, &buffer[..kept], &WriteOptions::default())?;
            (from, to) = (end, next);
        }
        let removed = (rows.end - rows.start).div_ceil(step.get());
        self.dataset.resize_axis(0, len - removed)?;
        Ok(removed)
    }

    /// Writes the number of rows to the attribute `NROWS`, if the table has it. PyTables keeps and shows this
    /// number, and does not rely on it, so it need not be written after each append.
    pub fn put_row_count(&self) -> Result<()> {
        attributes::put_rows(&self.dataset)
    }
}

/// Returns the columns of a row, if elements of this datatype are rows.
fn row(datatype: &Datatype) -> Option<&Compound> {
    match datatype {
        Datatype::Compound(row) if !is_complex(row) => Some(row),
        _ => None,
    }
}
