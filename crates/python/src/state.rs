//! The state that all Python objects of one open file share.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyperslab::{Error, File};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::dataset::Dataset;
use crate::error::{ClosedError, OrRaise};
use crate::table::put_row_count;

/// One opening of a file from Python.
#[derive(Debug)]
pub(crate) struct FileState {
    /// The engine's handle of the file.
    pub(crate) core: File,
    /// The name that the caller gave.
    pub(crate) name: OsString,
    /// The name of the driver in h5py.
    pub(crate) driver: &'static str,
    /// h5py's name of the mode: "r" or "r+".
    pub(crate) mode: &'static str,
    /// The version bounds that the caller gave. They have no effect on reading.
    pub(crate) libver: (String, String),
    /// The absolute path of a file that was opened for reading. Unpickling opens the file by this path.
    path: Option<PathBuf>,
    /// The keyword arguments to open the file again with.
    keywords: Option<Arc<Py<PyDict>>>,
    /// Equal for two openings of the same file.
    identity: (u64, u64),
    closed: AtomicBool,
    /// Whether a transaction that began through this opening has not ended.
    transaction: AtomicBool,
    /// What waits to be written, by the address of its table.
    waiting: Mutex<BTreeMap<(u64, Waiting), Py<PyAny>>>,
}

/// What waits until a file is flushed or closed. The rows of a table are written before its indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Waiting {
    /// Rows that programs have appended one by one.
    Rows,
    /// Indexes that do not hold all rows.
    Indexes,
    /// The attribute with the number of rows. What waits is the table itself.
    Count,
}

impl FileState {
    /// Returns the state of a file that was just opened.
    pub(crate) fn new(
        core: File,
        name: OsString,
        driver: &'static str,
        libver: (String, String),
        keywords: Option<Arc<Py<PyDict>>>,
    ) -> Arc<Self> {
        let mode = if core.is_writable() { "r+" } else { "r" };
        let path = core.path().filter(|_| mode == "r").and_then(|path| std::path::absolute(path).ok());
        let (identity, closed, transaction) =
            (identity(&core), AtomicBool::new(false), AtomicBool::new(false));
        let waiting = Mutex::default();
        Arc::new(Self {
            core,
            name,
            driver,
            mode,
            libver,
            path,
            keywords,
            identity,
            closed,
            transaction,
            waiting,
        })
    }

    /// Returns the absolute path and the keyword arguments to open the file again with. `None` if the file is
    /// open for writing or has no path.
    pub(crate) fn reopening<'py>(&self, py: Python<'py>) -> PyResult<Option<(&Path, Bound<'py, PyDict>)>> {
        let Some(path) = &self.path else { return Ok(None) };
        let keywords =
            self.keywords.as_ref().map_or_else(|| Ok(PyDict::new(py)), |given| given.bind(py).copy())?;
        keywords.set_item("driver", self.driver)?;
        Ok(Some((path, keywords)))
    }

    /// Returns the state of an object that `__init__` has not opened: a closed file without a driver.
    pub(crate) fn unopened(core: File) -> Arc<Self> {
        let state = Self::new(core, OsString::new(), "", (String::new(), String::new()), None);
        state.closed.store(true, Ordering::Release);
        state
    }

    /// Returns the state of another file that was opened through an external link.
    pub(crate) fn external(&self, core: &File) -> Arc<Self> {
        let name = core.path().map_or_else(OsString::new, |path| path.as_os_str().to_owned());
        Self::new(core.clone(), name, self.driver, self.libver.clone(), self.keywords.clone())
    }

    /// Whether `close` has not been called.
    pub(crate) fn is_open(&self) -> bool {
        !self.closed.load(Ordering::Acquire)
    }

    /// Returns what waits to be written to the table at an address.
    pub(crate) fn waiting(&self, py: Python<'_>, table: u64, what: Waiting) -> Option<Py<PyAny>> {
        self.all_waiting().get(&(table, what)).map(|object| object.clone_ref(py))
    }

    /// Returns whether something of a table waits to be written.
    pub(crate) fn is_waiting(&self, table: u64, what: Waiting) -> bool {
        self.all_waiting().contains_key(&(table, what))
    }

    /// Remembers an object whose `_write` writes what waits, or with `None` that nothing waits.
    pub(crate) fn set_waiting(&self, table: u64, what: Waiting, object: Option<Py<PyAny>>) {
        match object {
            Some(object) => self.all_waiting().insert((table, what), object),
            None => self.all_waiting().remove(&(table, what)),
        };
    }

    fn all_waiting(&self) -> MutexGuard<'_, BTreeMap<(u64, Waiting), Py<PyAny>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets what waits to be written to tables that were deleted.
    pub(crate) fn forget_deleted(&self, py: Python<'_>) {
        // Tables are looked at without the lock, which they may need.
        let all: Vec<_> = {
            let waiting = self.all_waiting();
            waiting.iter().map(|(key, object)| (*key, object.clone_ref(py))).collect()
        };
        for ((table, what), object) in all {
            let object = object.into_bound(py);
            let found = if what == Waiting::Count { Ok(object) } else { object.getattr("_table") };
            let is_deleted = found.is_ok_and(|found| {
                found.cast::<Dataset>().is_ok_and(|found| found.get().core.hard_links().is_err())
            });
            if is_deleted {
                self.set_waiting(table, what, None);
            }
        }
    }

    /// Writes what waits: rows of single appends, the indexes of tables, and their numbers of rows.
    pub(crate) fn write_waiting(&self, py: Python<'_>) -> PyResult<()> {
        loop {
            // Writing removes the rows here, for which the lock must be free.
            let next = self.all_waiting().iter().next().map(|(key, object)| (*key, object.clone_ref(py)));
            let Some(((table, what), object)) = next else { return Ok(()) };
            if what == Waiting::Count {
                self.set_waiting(table, what, None);
                put_row_count(object.bind(py).cast::<Dataset>()?.get())?;
            } else {
                object.call_method0(py, "_write")?;
            }
        }
    }

    /// Writes all changes to the file.
    pub(crate) fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.check()?;
        self.write_waiting(py)?;
        if !self.core.is_writable() {
            return Ok(());
        }
        py.detach(|| {
            self.core.flush()?;
            if self.driver == "core" {
                // A file in memory is written to its backing store, if it has one.
                self.core.store().driver()?.flush(false).map_err(Error::io("write", 0, 0))?;
            }
            Ok::<_, Error>(())
        })
        .or_raise()
    }

    /// Begins a transaction.
    pub(crate) fn begin(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.core.begin_transaction()).or_raise()?;
        self.transaction.store(true, Ordering::Release);
        Ok(())
    }

    /// Ends the transaction: its changes are kept or rolled back.
    pub(crate) fn end(&self, py: Python<'_>, is_kept: bool) -> PyResult<()> {
        if is_kept {
            self.write_waiting(py)?;
        } else {
            self.all_waiting().clear();
        }
        self.transaction.store(false, Ordering::Release);
        py.detach(|| self.core.end_transaction(is_kept)).or_raise()
    }

    /// Writes all changes to the file, and makes every object of this opening unusable.
    pub(crate) fn close(&self, py: Python<'_>) -> PyResult<()> {
        if self.is_open() && self.transaction.load(Ordering::Acquire) {
            return Err(PyValueError::new_err(
                "a transaction has not ended: leave its block, then close the file",
            ));
        }
        if self.is_open() {
            self.write_waiting(py)?;
        }
        if self.closed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        py.detach(|| self.core.clone().close()).or_raise()
    }

    /// Raises `ClosedError` if the file is closed.
    #[inline]
    pub(crate) fn check(&self) -> PyResult<()> {
        if self.is_open() { Ok(()) } else { Err(self.closed_error()) }
    }

    #[cold]
    fn closed_error(&self) -> PyErr {
        ClosedError::new_err(if self.driver.is_empty() {
            "the object is not open: __init__ of the subclass must call super().__init__() first"
        } else {
            "the file is closed"
        })
    }

    /// Returns a value that is equal for two openings of the same file.
    pub(crate) fn identity(&self) -> (u64, u64) {
        self.identity
    }
}

#[cfg(unix)]
fn on_disk(core: &File) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = std::fs::metadata(core.path()?).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn on_disk(core: &File) -> Option<(u64, u64)> {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    core.path()?.hash(&mut hasher);
    Some((u64::MAX - 1, hasher.finish()))
}

/// Returns the identity of the file on disk, or a unique number for a file that is only in memory.
fn identity(core: &File) -> (u64, u64) {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    on_disk(core).unwrap_or_else(|| (u64::MAX, NEXT.fetch_add(1, Ordering::Relaxed)))
}
