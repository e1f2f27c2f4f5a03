//! The state that all Python objects of one open file share.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use hyperslab::{Error, File, RequestError};
use hyperslab_io::os;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::interpreter::error::{ClosedError, OrRaise};
use crate::opening::counts::Handles;
use crate::opening::waiting::Waiting;

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
    /// The size of the blocks for metadata in bytes, as the caller gave it.
    pub(crate) meta_block: u64,
    /// The absolute path or the URL of a file that was opened for reading. Unpickling opens the file by this
    /// path.
    path: Option<PathBuf>,
    /// The keyword arguments to open the file again with.
    keywords: Option<Arc<Py<PyDict>>>,
    /// Equal for two openings of the same file.
    identity: (u64, u64),
    closed: AtomicBool,
    /// Whether a transaction that began through this opening has not ended.
    transaction: AtomicBool,
    /// What waits to be written to tables.
    pub(crate) waiting: Waiting,
    /// The objects of Python that belong to this opening.
    pub(crate) handles: Arc<Handles>,
}

impl FileState {
    /// Returns the state of a file that was just opened.
    pub(crate) fn new(
        core: File,
        name: OsString,
        driver: &'static str,
        libver: (String, String),
        meta_block: u64,
        keywords: Option<Arc<Py<PyDict>>>,
    ) -> Arc<Self> {
        let mode = if core.is_writable() { "r+" } else { "r" };
        let path = match driver {
            // A URL.
            "object_store" => Some(PathBuf::from(&name)),
            _ => core.path().filter(|_| mode == "r").and_then(|path| std::path::absolute(path).ok()),
        };
        let (identity, closed, transaction) =
            (identity(&core), AtomicBool::new(false), AtomicBool::new(false));
        let waiting = Waiting::default();
        let state = Arc::new(Self {
            core,
            name,
            driver,
            mode,
            libver,
            meta_block,
            path,
            keywords,
            identity,
            closed,
            transaction,
            waiting,
            handles: Arc::default(),
        });
        note(&state);
        state
    }

    /// Returns the keywords with which the file was opened.
    pub(crate) fn given<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match &self.keywords {
            Some(keywords) => keywords.bind(py).copy()?.into_any(),
            None => PyDict::new(py).into_any(),
        })
    }

    /// Returns the absolute path or the URL, and the keyword arguments to open the file again with. `None` if
    /// the file is open for writing or has no path.
    pub(crate) fn reopening<'py>(&self, py: Python<'py>) -> PyResult<Option<(&OsStr, Bound<'py, PyDict>)>> {
        let Some(path) = &self.path else { return Ok(None) };
        let keywords =
            self.keywords.as_ref().map_or_else(|| Ok(PyDict::new(py)), |given| given.bind(py).copy())?;
        keywords.set_item("driver", self.driver)?;
        Ok(Some((path.as_os_str(), keywords)))
    }

    /// Returns the state of an object that `__init__` has not opened: a closed file without a driver.
    pub(crate) fn unopened(core: File) -> Arc<Self> {
        let state = Self::new(core, OsString::new(), "", (String::new(), String::new()), 0, None);
        state.closed.store(true, Ordering::Release);
        state
    }

    /// Returns the state of another file that was opened through an external link.
    pub(crate) fn external(&self, core: &File) -> Arc<Self> {
        let name = core.path().map_or_else(OsString::new, |path| path.as_os_str().to_owned());
        Self::new(
            core.clone(),
            name,
            self.driver,
            self.libver.clone(),
            self.meta_block,
            self.keywords.clone(),
        )
    }

    /// Whether `close` has not been called.
    pub(crate) fn is_open(&self) -> bool {
        !self.closed.load(Ordering::Acquire)
    }

    /// Writes what waits: rows of single appends, the indexes of tables, and their numbers of rows.
    pub(crate) fn write_waiting(&self, py: Python<'_>) -> PyResult<()> {
        self.waiting.write(py)
    }

    /// Writes all changes and returns the bytes of the file.
    pub(crate) fn image<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.flush(py)?;
        if self.core.store().has_gaps() {
            let why =
                "the file has its bytes in several files, at addresses far apart: read the members, or copy \
                       it into one file (`hyperslab repack`)"
                    .to_owned();
            return Err(hyperslab::Error::from(RequestError::Members { why })).or_raise();
        }
        let image = py.detach(|| {
            let driver = self.core.store().driver()?;
            let failed = |error| hyperslab::Error::io("read", 0, 0)(error);
            let len = driver.len().map_err(failed)?;
            let mut image = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
            driver.read_at(0, &mut image).map_err(failed)?;
            Ok::<_, hyperslab::Error>(image)
        });
        Ok(PyBytes::new(py, &image.or_raise()?))
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
            if matches!(self.driver, "core" | "fileobj") {
                // Such a medium keeps the bytes in this process until it is flushed.
                self.core.store().driver()?.flush(false).map_err(Error::io("write", 0, 0))?;
            }
            Ok::<_, Error>(())
        })
        .or_raise()
    }

    /// Lets other programs read the file while this one writes it. `RuntimeError`, as in h5py: the file does
    /// not allow that.
    pub(crate) fn start_swmr(&self, py: Python<'_>) -> PyResult<()> {
        self.write_waiting(py)?;
        match py.detach(|| self.core.start_swmr()) {
            Err(Error::Request(RequestError::Argument { why, .. })) => {
                Err(PyRuntimeError::new_err(format!("Unable to start swmr writing ({why})")))
            }
            _ if !self.core.is_writable() => {
                Err(PyRuntimeError::new_err("Unable to start swmr writing (no write intent on file)"))
            }
            started => started.or_raise(),
        }
    }

    /// Begins a transaction. Earlier changes do not belong to it.
    pub(crate) fn begin(&self, py: Python<'_>) -> PyResult<()> {
        self.write_waiting(py)?;
        py.detach(|| self.core.begin_transaction()).or_raise()?;
        self.transaction.store(true, Ordering::Release);
        Ok(())
    }

    /// Ends the transaction: its changes are kept or rolled back. They are rolled back, too, if they cannot
    /// be written.
    pub(crate) fn end(&self, py: Python<'_>, is_kept: bool) -> PyResult<()> {
        let written = if is_kept { self.write_waiting(py) } else { Ok(()) };
        let is_kept = is_kept && written.is_ok();
        self.transaction.store(false, Ordering::Release);
        let ended = py.detach(|| self.core.end_transaction(is_kept)).or_raise();
        if !is_kept || ended.is_err() {
            self.waiting.discard(py);
        }
        written.and(ended)
    }

    /// Writes all changes to the file, and makes every object of this opening unusable. The file is closed
    /// also if the changes cannot be written.
    pub(crate) fn close(&self, py: Python<'_>) -> PyResult<()> {
        if !self.is_open() {
            return Ok(());
        }
        if self.transaction.load(Ordering::Acquire) {
            return Err(PyValueError::new_err(
                "a transaction has not ended: leave its block, then close the file",
            ));
        }
        let written = self.write_waiting(py);
        if self.closed.swap(true, Ordering::AcqRel) {
            return written;
        }
        self.waiting.discard(py);
        written.and(py.detach(|| self.core.clone().close()).or_raise())
    }

    /// Returns whether several processes change the file together.
    pub(crate) fn has_ranks(&self) -> bool {
        self.core.store().collective().is_some()
    }

    /// Closes the file on this rank, without the changes since the last flush, because this rank has failed.
    pub(crate) fn give_up(&self, py: Python<'_>, why: &str) -> PyResult<()> {
        if self.closed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        self.waiting.discard(py);
        py.detach(|| self.core.clone().give_up(why)).or_raise()
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

/// All openings of files, also those that have been closed.
static OPENINGS: Mutex<Vec<Weak<FileState>>> = Mutex::new(Vec::new());

/// Notes an opening of a file.
fn note(state: &Arc<FileState>) {
    let mut openings = OPENINGS.lock().unwrap_or_else(PoisonError::into_inner);
    if openings.len() == openings.capacity() {
        openings.retain(|opening| opening.strong_count() > 0);
    }
    openings.push(Arc::downgrade(state));
}

/// Returns all openings of files that some object still belongs to.
pub(crate) fn openings() -> Vec<Arc<FileState>> {
    let openings = OPENINGS.lock().unwrap_or_else(PoisonError::into_inner);
    openings.iter().filter_map(Weak::upgrade).collect()
}

/// A file whose last object is dropped has the changes of its tables, as it has all others.
impl Drop for FileState {
    fn drop(&mut self) {
        let is_undone = self.transaction.load(Ordering::Acquire);
        if self.waiting.is_empty() || is_undone || !self.is_open() {
            return;
        }
        Python::try_attach(|py| {
            if let Err(error) = self.write_waiting(py) {
                error.write_unraisable(py, None);
            }
        });
    }
}

/// Raises `E`, the exception type of h5py, if the file is open only for reading. `what` names the change.
pub(crate) fn writable<E: pyo3::PyTypeInfo>(state: &FileState, what: &str) -> PyResult<()> {
    state.check()?;
    if state.core.is_writable() {
        return Ok(());
    }
    Err(PyErr::new::<E, _>(format!(
        "Unable to {what} (no write intent on file): open it with mode 'r+' or 'a'"
    )))
}

/// Returns the identity of the file on disk, or a unique number for a file that is only in memory.
fn identity(core: &File) -> (u64, u64) {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let on_disk = core.path().and_then(|path| os::identity_at(path).ok());
    on_disk.unwrap_or_else(|| (u64::MAX, NEXT.fetch_add(1, Ordering::Relaxed)))
}
