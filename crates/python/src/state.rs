//! What the Python objects of one open file share.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hyperslab::driver::Driver;
use hyperslab::{File, OpenOptions};
use pyo3::prelude::*;

use crate::error::ClosedError;
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
    /// The version bounds that were asked for; they mean nothing to a reader.
    pub(crate) libver: (String, String),
    /// What makes two opened files the same file.
    identity: (u64, u64),
    closed: AtomicBool,
    /// Lets go of the medium; another file behind an external link closes with its last object.
    valve: Option<Arc<Valve>>,
}

impl FileState {
    /// Opens the file that `medium` reads. External links are relative to `path`, if it has one.
    pub(crate) fn open(
        medium: Arc<dyn Driver>,
        path: Option<&Path>,
        options: &OpenOptions,
    ) -> hyperslab::Result<(File, Arc<Valve>)> {
        let valve = Arc::new(Valve::new(medium));
        let driver: Arc<dyn Driver> = Arc::clone(&valve) as _;
        let core = match path {
            Some(path) => File::from_driver_at(driver, path, options)?,
            None => File::from_driver(driver, options)?,
        };
        Ok((core, valve))
    }

    /// The state of a file that was just opened.
    pub(crate) fn new(
        (core, valve): (File, Arc<Valve>),
        name: String,
        driver: &'static str,
        libver: (String, String),
    ) -> Arc<Self> {
        Self::make(core, Some(valve), name, driver, libver)
    }

    fn make(
        core: File,
        valve: Option<Arc<Valve>>,
        name: String,
        driver: &'static str,
        libver: (String, String),
    ) -> Arc<Self> {
        let identity = identity(&core);
        Arc::new(Self { core, name, driver, libver, identity, closed: AtomicBool::new(false), valve })
    }

    /// The state of another file that an external link led to.
    pub(crate) fn external(&self, core: &File) -> Arc<Self> {
        let name = core.path().map_or_else(String::new, |path| path.to_string_lossy().into_owned());
        Self::make(core.clone(), None, name, self.driver, self.libver.clone())
    }

    /// Whether `close` was not called yet.
    pub(crate) fn is_open(&self) -> bool {
        !self.closed.load(Ordering::Acquire)
    }

    /// Makes every object of the file unusable.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        if let Some(valve) = &self.valve {
            valve.shut();
        }
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
