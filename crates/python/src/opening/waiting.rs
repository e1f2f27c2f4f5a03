//! What waits to be written to tables until their file is flushed or closed: rows that programs have appended
//! one by one, indexes, and the attributes with the number of rows.
//!
//! Nothing here refers to an object of Python that refers to the file: such a cycle would keep the file open.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyperslab::WriteOptions;
use hyperslab_tables::{Result, Table, index};
use pyo3::prelude::*;

use crate::interpreter::error::OrRaise;

/// What waits, by the address of its table.
#[derive(Default)]
pub(crate) struct Waiting {
    items: Mutex<BTreeMap<(u64, WaitingKind), Item>>,
    /// The tables of rows that programs have. The rows do not own them, so that they keep no file open.
    tables: Mutex<BTreeMap<u64, Arc<Table>>>,
}

/// The rows of a table are written before its indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum WaitingKind {
    Rows,
    /// Indexes, if there are any, that do not hold all rows.
    Indexes,
    /// The attribute with the number of rows.
    Count,
}

/// Rows that a program has appended one by one, as an object of Python that keeps them.
pub(crate) trait WaitingRows: Send + Sync {
    /// Returns another reference to the same object.
    fn clone_ref(&self, py: Python<'_>) -> Box<dyn WaitingRows>;

    /// Returns the object of Python.
    fn object(&self, py: Python<'_>) -> Py<PyAny>;

    /// Returns the table of the rows. Raises `ClosedError` if its file is not open, or the table was deleted.
    fn table(&self, py: Python<'_>) -> PyResult<Arc<Table>>;

    /// Appends the rows to their table. If that fails, they go on waiting.
    fn write(&self, py: Python<'_>, waiting: &Waiting) -> PyResult<()>;

    /// Forgets all rows, which will never be written.
    fn discard(&self, py: Python<'_>);
}

enum Item {
    Rows(Box<dyn WaitingRows>),
    Table(Table),
}

impl Item {
    fn clone_ref(&self, py: Python<'_>) -> Self {
        match self {
            Self::Rows(rows) => Self::Rows(rows.clone_ref(py)),
            Self::Table(table) => Self::Table(table.clone()),
        }
    }

    fn is_deleted(&self, py: Python<'_>) -> bool {
        match self {
            Self::Rows(rows) => !rows.table(py).is_ok_and(|table| is_there(&table)),
            Self::Table(table) => !is_there(table),
        }
    }
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.items().keys()).finish()
    }
}

fn is_there(table: &Table) -> bool {
    table.dataset().hard_links().is_ok()
}

fn address(table: &Table) -> u64 {
    table.dataset().address().get()
}

impl Waiting {
    fn items(&self) -> MutexGuard<'_, BTreeMap<(u64, WaitingKind), Item>> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tables(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Table>>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a table that the file owns.
    pub(crate) fn owned(&self, table: &Table) -> Arc<Table> {
        self.tables().entry(address(table)).or_insert_with(|| Arc::new(table.clone())).clone()
    }

    /// Returns the rows of single appends to a table.
    pub(crate) fn rows(&self, py: Python<'_>, table: u64) -> Option<Box<dyn WaitingRows>> {
        match self.items().get(&(table, WaitingKind::Rows)) {
            Some(Item::Rows(rows)) => Some(rows.clone_ref(py)),
            _ => None,
        }
    }

    /// Remembers rows of single appends, or forgets them.
    pub(crate) fn set_rows(&self, table: &Table, rows: Option<Box<dyn WaitingRows>>) {
        let key = (address(table), WaitingKind::Rows);
        let before = match rows {
            Some(rows) => self.items().insert(key, Item::Rows(rows)),
            None => self.items().remove(&key),
        };
        drop(before);
    }

    /// Notes that a table has more or fewer rows.
    pub(crate) fn count(&self, table: &Table) {
        self.items()
            .entry((address(table), WaitingKind::Count))
            .or_insert_with(|| Item::Table(table.clone()));
    }

    /// Appends rows to a table, and has its indexes follow. Returns the number of the first new row.
    pub(crate) fn append(&self, table: &Table, rows: &[u8], options: &WriteOptions) -> Result<u64> {
        table.dataset().changing_rows(|| {
            let new = table.append(rows, options)?;
            self.grown(table)?;
            Ok(new.start)
        })
    }

    /// Notes that rows were appended to a table: its indexes follow, or are marked as out of date.
    pub(crate) fn grown(&self, table: &Table) -> Result<()> {
        self.count(table);
        let key = (address(table), WaitingKind::Indexes);
        // Few appends look for indexes, which takes as long as a small append.
        if self.items().contains_key(&key) {
            return Ok(());
        }
        let dataset = table.dataset();
        if index::indexed_columns(dataset)?.is_empty() || index::indexes_follow(dataset)? {
            self.items().insert(key, Item::Table(table.clone()));
        } else {
            index::mark_stale(dataset, None)?;
        }
        Ok(())
    }

    /// Marks the indexes of changed columns, or all of them, as out of date. They are built again if they
    /// follow.
    pub(crate) fn changed(&self, table: &Table, columns: Option<&[String]>) -> Result<()> {
        if index::mark_stale(table.dataset(), columns)? && index::indexes_follow(table.dataset())? {
            self.items().insert((address(table), WaitingKind::Indexes), Item::Table(table.clone()));
        }
        Ok(())
    }

    /// Notes that the indexes of a table do not follow any more. Those that wait are out of date.
    pub(crate) fn unfollowed(&self, table: &Table) -> Result<()> {
        if self.items().remove(&(address(table), WaitingKind::Indexes)).is_some() {
            index::mark_stale(table.dataset(), None)?;
        }
        Ok(())
    }

    /// Writes everything. What cannot be written goes on waiting, and the first error is returned.
    pub(crate) fn write(&self, py: Python<'_>) -> PyResult<()> {
        let (mut failed, mut result) = (BTreeSet::new(), Ok(()));
        loop {
            // Writing removes and adds items, for which the lock must be free.
            let next = self
                .items()
                .iter()
                .find_map(|(key, item)| (!failed.contains(key)).then(|| (*key, item.clone_ref(py))));
            let Some((key, item)) = next else { return result };
            let written = match &item {
                Item::Rows(rows) => rows.write(py, self),
                Item::Table(table) => {
                    self.items().remove(&key);
                    let write = || match key.1 {
                        WaitingKind::Count => table.put_row_count(),
                        _ => table.dataset().changing_rows(|| index::update_indexes(table.dataset())),
                    };
                    py.detach(write).or_raise()
                }
            };
            if let Err(error) = written {
                self.items().entry(key).or_insert(item);
                failed.insert(key);
                result = result.and(Err(error));
            }
        }
    }

    /// Forgets everything: the changes that it is about were undone.
    pub(crate) fn discard(&self, py: Python<'_>) {
        let items = std::mem::take(&mut *self.items());
        for item in items.into_values() {
            dropped(py, &item);
        }
    }

    /// Forgets what waits to be written to tables that were deleted.
    pub(crate) fn forget_deleted(&self, py: Python<'_>) {
        // Tables are looked at without the lock, which they may need.
        let tables: Vec<_> = self.tables().values().cloned().collect();
        for table in tables.iter().filter(|table| !is_there(table)) {
            self.tables().remove(&address(table));
        }
        let all: Vec<_> = self.items().iter().map(|(key, item)| (*key, item.clone_ref(py))).collect();
        for (key, item) in all.into_iter().filter(|(_, item)| item.is_deleted(py)) {
            self.items().remove(&key);
            dropped(py, &item);
        }
    }

    /// Returns whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.items().is_empty()
    }
}

/// Empties a row whose appended rows will never be written.
fn dropped(py: Python<'_>, item: &Item) {
    if let Item::Rows(rows) = item {
        rows.discard(py);
    }
}
