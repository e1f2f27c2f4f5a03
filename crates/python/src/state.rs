//! What the Python objects of one open file share.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hyperslab::driver::{Aside, Driver, Memory};
use hyperslab::{CreateOptions, File, OpenOptions};
use pyo3::prelude::*;

use crate::error::{ClosedError, OrRaise};
use crate::valve::Valve;

/// An open file, as Python sees it.
#[derive(Debug)]
pub(crate) struct FileState {
    /// The file itself.
    pub(crate) core: File,
    /// Its name, as it was given.
    pub(crate) name: String,
    /// h5py's name of the driver.
    pub(crate) driver: &'static str,
    /// h5py's word for what may be done: "r" or "r+".
    pub(crate) mode: &'static str,
    /// The version bounds that were asked for; they mean nothing to a reader.
    pub(crate) libver: (String, String),
    /// Where a file in memory goes when it is flushed.
    backing: Option<Backing>,
    /// What makes two opened files the same file.
    identity: (u64, u64),
    closed: AtomicBool,
    /// Lets go of the medium; another file behind an external link closes with its last object.
    valve: Option<Arc<Valve>>,
}

/// A file in memory that is written to another place.
#[derive(Debug)]
pub(crate) struct Backing {
    /// The file.
    pub(crate) image: Arc<Memory>,
    /// The other place.
    pub(crate) path: PathBuf,
}

impl Backing {
    /// Writes the file there, in place of what may be there, at once.
    fn save(&self) -> hyperslab::Result<()> {
        let saved = Aside::new(&self.path).and_then(|aside| {
            aside.medium().write_at(0, &self.image.bytes())?;
            aside.finish()
        });
        saved.map_err(hyperslab::Error::io("write", 0, 0))
    }
}

/// What a file that was just opened is.
pub(crate) struct Opened {
    pub(crate) core: File,
    pub(crate) valve: Arc<Valve>,
    pub(crate) backing: Option<Backing>,
}

impl FileState {
    /// Opens the file that `medium` reads. External links are relative to `path`, if it has one.
    pub(crate) fn open(
        medium: Arc<dyn Driver>,
        path: Option<&Path>,
        options: &OpenOptions,
    ) -> hyperslab::Result<Opened> {
        Self::through(medium, |driver| match path {
            Some(path) => File::from_driver_at(driver, path, options),
            None => File::from_driver(driver, options),
        })
    }

    /// Opens the file that `medium` has for reading and writing, or makes one of it.
    pub(crate) fn open_writable(
        medium: Arc<dyn Driver>,
        path: Option<&Path>,
        options: &CreateOptions,
        is_new: bool,
    ) -> hyperslab::Result<Opened> {
        Self::through(medium, |driver| {
            if is_new {
                File::create_on(driver, path, options)
            } else {
                File::open_writable_on(driver, path, options)
            }
        })
    }

    fn through(
        medium: Arc<dyn Driver>,
        open: impl FnOnce(Arc<dyn Driver>) -> hyperslab::Result<File>,
    ) -> hyperslab::Result<Opened> {
        let valve = Arc::new(Valve::new(medium));
        let core = open(Arc::clone(&valve) as _)?;
        Ok(Opened { core, valve, backing: None })
    }

    /// The state of a file that was just opened.
    pub(crate) fn new(
        opened: Opened,
        name: String,
        driver: &'static str,
        libver: (String, String),
    ) -> Arc<Self> {
        let Opened { core, valve, backing } = opened;
        let mode = if core.is_writable() { "r+" } else { "r" };
        let identity = identity(&core);
        let closed = AtomicBool::new(false);
        Arc::new(Self { core, name, driver, mode, libver, backing, identity, closed, valve: Some(valve) })
    }

    /// The state of another file that an external link led to.
    pub(crate) fn external(&self, core: &File) -> Arc<Self> {
        let name = core.path().map_or_else(String::new, |path| path.to_string_lossy().into_owned());
        Arc::new(Self {
            core: core.clone(),
            name,
            driver: self.driver,
            mode: "r",
            libver: self.libver.clone(),
            backing: None,
            identity: identity(core),
            closed: AtomicBool::new(false),
            valve: None,
        })
    }

    /// Whether `close` was not called yet.
    pub(crate) fn is_open(&self) -> bool {
        !self.closed.load(Ordering::Acquire)
    }

    /// Gets everything that was changed into the file.
    pub(crate) fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.check()?;
        if !self.core.is_writable() {
            return Ok(());
        }
        py.detach(|| {
            self.core.flush()?;
            self.backing.as_ref().map_or(Ok(()), Backing::save)
        })
        .or_raise()
    }

    /// Gets everything that was changed into the file, and makes every object of the file unusable.
    pub(crate) fn close(&self, py: Python<'_>) -> PyResult<()> {
        if !self.is_open() {
            return Ok(());
        }
        let deleted = if self.core.is_writable() {
            py.detach(|| self.core.delete_unlinked()).or_raise()
        } else {
            Ok(())
        };
        let flushed = deleted.and(self.flush(py));
        self.closed.store(true, Ordering::Release);
        if let Some(valve) = &self.valve {
            valve.shut();
        }
        flushed
    }

    /// An exception if the file is closed.
    #[inline]
    pub(crate) fn check(&self) -> PyResult<()> {
        if self.is_open() { Ok(()) } else { Err(ClosedError::new_err("the file is closed")) }
    }

    /// What makes two opened files the same file.
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

/// Device and inode, or a number of its own for a file that is only in memory.
fn identity(core: &File) -> (u64, u64) {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    on_disk(core).unwrap_or_else(|| (u64::MAX, NEXT.fetch_add(1, Ordering::Relaxed)))
}
