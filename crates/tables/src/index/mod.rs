//! Indexes of columns in PyTables' layout: what they are, and searches.
//!
//! `sizes` explains the parts of an index. `layout` has its groups, datasets and attributes, `content` its
//! values. A search answers with rows or ranges of rows that hold all matching rows. It answers only when
//! `proof` has found that the index holds the values of the column, so an index never hides a row (decision
//! 0015). `sort` sorts columns of any size for `build`; `update` extends, rebuilds and removes indexes;
//! `follow` moves them with their table.

mod build;
mod content;
mod follow;
mod hash;
mod layout;
mod proof;
mod search;
mod sizes;
mod sort;
mod update;
mod value;

use std::ops::{Bound, Range};
use std::sync::Arc;

use hyperslab::filter::{Deflate, Filter, Shuffle};
use hyperslab::storage::FilterSpec;
use hyperslab::{Dataset, Group};
use hyperslab_format::datatype::{Compound, Datatype};

pub use self::build::{IndexOptions, build_index, build_index_telling};
use self::content::Content;
pub use self::follow::{container_of, copy, remove, remove_leftover, rename};
use self::layout::{IndexLayout, damaged};
pub(crate) use self::search::joined;
pub use self::update::{
    build_like, indexed_columns, indexes_follow, mark_stale, rebuild_index, remove_index, set_indexes_follow,
    update_indexes,
};
use self::value::ValueType;
use crate::error::{Error, Result};
use crate::node::is_class;

/// How precisely an index gives the rows of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A range of rows in each slice of the index, in one byte.
    Ultralight,
    /// A range of rows in each block of the index, in two bytes.
    Light,
    /// A range of rows, in four bytes.
    Medium,
    /// The row, in eight bytes.
    Full,
}

/// The filters of the datasets of an index. By default those of PyTables: zlib at level 1 after a shuffle.
#[derive(Debug, Clone, PartialEq)]
pub enum Filters {
    /// Filters for a new index, first to last.
    New(Vec<Filter>),
    /// The filters of an older index, and the number by which PyTables knows them.
    Kept(Vec<FilterSpec>, Option<i64>),
}

impl Default for Filters {
    fn default() -> Self {
        Self::New(vec![Shuffle.into(), Deflate::default().level(1).into()])
    }
}

/// The rows that a search of an index returns. All matching rows are among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Candidates {
    /// These rows match. They are sorted, and none is listed twice. The index does not know the rows from
    /// `unknown` on: they were appended since.
    Rows {
        /// The rows.
        rows: Vec<u64>,
        /// The rows that may match, too.
        unknown: Range<u64>,
    },
    /// Rows outside of these ranges do not match. The ranges are sorted and do not touch.
    Ranges(Vec<Range<u64>>),
}

/// A column that can be indexed.
#[derive(Debug, Clone)]
struct IndexableColumn {
    /// The names from the outermost column to this one, joined by `/`.
    path: String,
    /// The bytes of the column in a row.
    bytes: Range<usize>,
    values: ValueType,
}

impl IndexableColumn {
    /// Finds a column of a table.
    ///
    /// Errors: `Argument` if there is no such column, or if its values cannot be indexed.
    fn of(table: &Dataset, path: &str) -> Result<Self> {
        let wrong = |why: String| Error::Argument { what: format!("column {path:?}"), why };
        if table.with_shape(<[u64]>::len) != 1 {
            return Err(Error::Object {
                path: table.path().to_owned(),
                why: "not a table: it needs one dimension".into(),
            });
        }
        let path = path.replace('.', "/");
        let mut datatype = &*table.datatype();
        let mut first = 0_usize;
        for name in path.split('/') {
            let Datatype::Compound(Compound { members, .. }) = datatype else {
                return Err(wrong(format!("the table has no column {name:?} there")));
            };
            let member = members.iter().find(|member| member.name == name);
            let member = member.ok_or_else(|| wrong(format!("the table has no column {name:?}")))?;
            first = first.saturating_add(usize::try_from(member.offset).unwrap_or(usize::MAX));
            datatype = &member.datatype;
        }
        let values = ValueType::of(datatype).ok_or_else(|| {
            wrong(
                "its values cannot be indexed: use numbers, truth values or texts of up to 256 bytes".into(),
            )
        })?;
        let bytes = first..first.saturating_add(values.size());
        if bytes.end > table.element_size() {
            return Err(wrong("it is outside of the row".into()));
        }
        Ok(Self { path, bytes, values })
    }
}

/// The index of a column.
///
/// ```
/// use std::ops::Bound;
///
/// use hyperslab::{Element, File};
/// use hyperslab_tables::index::{Candidates, ColumnIndex, IndexOptions, build_index};
///
/// #[derive(Element)]
/// struct Reading { time: i64, temperature: f32 }
///
/// # fn main() -> hyperslab_tables::Result<()> {
/// let file = File::in_memory()?;
/// let row = |n: i16| Reading { time: n.into(), temperature: f32::from(n % 10) };
/// let rows: Vec<Reading> = (0..100).map(row).collect();
/// let table = file.root().new_dataset::<Reading>("t").shape([100]).chunks([10]).create_with(&rows)?;
/// build_index(&table, "temperature", &IndexOptions::sorted())?;
/// let index = ColumnIndex::open(&table, "temperature")?.expect("the index was built");
/// let above = index.find(Bound::Excluded(&8.5_f32.to_le_bytes()), Bound::Unbounded)?;
/// let rows = (0..10).map(|tens| tens * 10 + 9).collect();
/// assert_eq!(above, Candidates::Rows { rows, unknown: 100..100 });
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct ColumnIndex {
    table: Dataset,
    column: IndexableColumn,
    content: Arc<Content>,
}

impl ColumnIndex {
    /// Opens the index of a column, if it has one. Names of nested columns are joined by `/` or `.`.
    ///
    /// Errors: `Argument` if the table has no such column; `Object` if the parts of the index contradict each
    /// other. The index can be built again.
    pub fn open(table: &Dataset, column: &str) -> Result<Option<Self>> {
        let column = IndexableColumn::of(table, column)?;
        let Some(layout) = IndexLayout::open(table, &column.path)? else { return Ok(None) };
        let content = Arc::new(Content::read(layout)?);
        if !proof::fits(column.values, &content) {
            return Err(damaged(
                &content.layout.group,
                "its values are not of the column's type: build the index again",
            ));
        }
        Ok(Some(Self { table: table.clone(), column, content }))
    }

    /// Returns the kind.
    pub fn kind(&self) -> Kind {
        self.content.layout.kind
    }

    /// Returns how much the values are sorted, from 0 to 9, as the index says.
    pub fn optlevel(&self) -> u8 {
        self.content.layout.optlevel
    }

    /// Returns whether all rows are in the order of their values, so that [`in_order`](Self::in_order) gives
    /// it.
    pub fn is_complete(&self) -> bool {
        self.content.is_sorted()
    }

    /// Returns whether the index is marked as out of date.
    pub fn is_dirty(&self) -> bool {
        self.content.layout.is_dirty
    }

    /// Returns the number of rows that the index knows.
    pub fn len(&self) -> u64 {
        self.content.layout.len()
    }

    /// Returns whether the index knows no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns why the index cannot be used, or `None` if it holds the values of the column. The first call
    /// reads the column; the result is remembered until the table or the index changes.
    pub fn unusable(&self) -> Result<Option<String>> {
        let layout = &self.content.layout;
        let parts = [
            &layout.sorted,
            &layout.indices,
            &layout.ranges,
            &layout.bounds,
            &layout.sorted_last,
            &layout.indices_last,
        ];
        let changes = || {
            let parts = parts.iter().map(|dataset| dataset.changes());
            [self.table.changes(), self.table.address().get(), self.len(), u64::from(layout.is_dirty)]
                .into_iter()
                .chain(parts)
                .collect::<Vec<u64>>()
        };
        let now = changes();
        let store = self.table.file().store();
        let mut failed = None;
        let proof = store.get_or_make_where::<Proof>(
            layout.group.address(),
            |proof| proof.changes == now && proof.stamp == self.content.stamp,
            || {
                let unusable =
                    proof::compare(&self.table, &self.column, &self.content).unwrap_or_else(|error| {
                        failed = Some(error);
                        None
                    });
                // The result is not kept if the comparison failed.
                let changes = if failed.is_some() { Vec::new() } else { now.clone() };
                Ok((Proof { changes, stamp: self.content.stamp, unusable }, 256))
            },
        )?;
        failed.map_or_else(|| Ok(proof.unusable.clone()), Err)
    }

    /// Returns an error if the index cannot be used.
    fn check(&self) -> Result<()> {
        match self.unusable()? {
            None => Ok(()),
            Some(why) => Err(damaged(&self.content.layout.group, format!("{why}: build the index again"))),
        }
    }

    /// Returns rows that hold all rows with values in a range. Bounds are values of the column: numbers in
    /// little-endian bytes, texts of any length, and seconds as float64 for times with fractions.
    ///
    /// Errors: `Argument` if a bound has another size than a value; `Object` if the index cannot be used, or
    /// a part of it is damaged. Then the table must be scanned.
    pub fn find(&self, lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> Result<Candidates> {
        self.check()?;
        search::find(self, lower, upper)
    }

    /// Returns the number of positions of the index that [`find`](Self::find) would look at.
    ///
    /// Errors: those of `find`.
    pub fn count(&self, lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> Result<u64> {
        self.check()?;
        search::count(self, lower, upper)
    }

    /// Returns the rows at positions of the order of values, if the index [is complete](Self::is_complete).
    ///
    /// Errors: `Argument` if the index is not complete or has fewer rows; those of [`find`](Self::find).
    pub fn in_order(&self, positions: Range<u64>) -> Result<Vec<u64>> {
        if !self.is_complete() || positions.end > self.len() {
            let what = format!("positions {} to {}", positions.start, positions.end);
            let why =
                format!("the index is complete: {}, and it has {} rows", self.is_complete(), self.len());
            return Err(Error::Argument { what, why });
        }
        self.check()?;
        search::in_order(self, positions)
    }
}

/// The result of comparing an index with its column.
struct Proof {
    /// The counts of changes of the table and of the parts of the index at that time.
    changes: Vec<u64>,
    stamp: Option<content::Stamp>,
    unusable: Option<String>,
}

/// Returns whether a group holds the indexes of a table, as `_i_readings` does those of `readings`.
///
/// Such groups are not for users: PyTables does not list them, either.
///
/// Errors: an attribute of the group cannot be read.
pub fn holds_indexes(group: &Group) -> Result<bool> {
    Ok(is_class(group, layout::CONTAINER)?)
}
