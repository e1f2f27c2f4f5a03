//! The sources of a virtual dataset: found, opened, and kept open for the next read.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_format::layout::mappings::SAME_FILE;
use hyperslab_io::process::PerProcess;
use parking_lot::{Mutex, MutexGuard};

use super::view::View;
use crate::object::file::external;
use crate::object::{Dataset, File};

/// The names of a source file and of a dataset in it.
type SourceNames = (Arc<str>, Arc<str>);

/// The sources that a handle of a virtual dataset has opened. A file drops those of all its datasets when it
/// is closed.
#[derive(Debug, Default)]
pub(in crate::object) struct Sources {
    held: PerProcess<Mutex<Held>>,
    /// The state of the file for which they were opened.
    epoch: AtomicU64,
    /// The missing sources of which callers were told.
    told: PerProcess<Mutex<BTreeSet<SourceNames>>>,
    /// The folder of files whose names are relative. It may begin with `${ORIGIN}`.
    prefix: PerProcess<Mutex<String>>,
}

#[derive(Debug, Default)]
struct Held {
    files: HashMap<Arc<str>, File>,
    datasets: HashMap<SourceNames, Dataset>,
    view: Option<(u64, Arc<View>)>,
    missing: BTreeSet<SourceNames>,
}

/// The most datasets and files that stay open. Each file has a descriptor of the process.
const MOST: usize = 1024;
/// The error of the system if the process has no descriptor left (`EMFILE`).
const NO_DESCRIPTOR: i32 = 24;

impl Sources {
    /// A forked child opens sources of its own.
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.get(|_| Mutex::default()).lock()
    }

    fn prefix_lock(&self) -> &Mutex<String> {
        self.prefix
            .get(|parent| Mutex::new(parent.try_lock().map(|prefix| prefix.clone()).unwrap_or_default()))
    }

    /// Closes all sources.
    pub(in crate::object) fn clear(&self) {
        // Files are closed after the lock is released: closing one may clear these sources again.
        let held = std::mem::take(&mut *self.held());
        drop(held);
    }

    fn look_at(&self, file: &File) {
        let epoch = file.store().epoch();
        if self.epoch.swap(epoch, Ordering::AcqRel) != epoch {
            self.clear();
        }
    }

    pub(super) fn view(&self, file: &File) -> Option<Arc<View>> {
        self.look_at(file);
        let generation = file.store().generation();
        let held = self.held();
        held.view.as_ref().filter(|(known, _)| *known == generation).map(|(_, view)| Arc::clone(view))
    }

    pub(super) fn keep_view(&self, generation: u64, view: &Arc<View>) {
        self.held().view = Some((generation, Arc::clone(view)));
    }

    /// Returns the names of missing sources that no caller was told of yet.
    pub(super) fn take_missing(&self) -> Vec<SourceNames> {
        let missing = std::mem::take(&mut self.held().missing);
        if missing.is_empty() {
            return Vec::new();
        }
        let mut told = self.told.get(|_| Mutex::default()).lock();
        missing.into_iter().filter(|names| told.insert(names.clone())).collect()
    }

    pub(super) fn forget_missing(&self, names: &SourceNames) {
        self.held().missing.remove(names);
    }

    pub(super) fn prefix(&self) -> String {
        self.prefix_lock().lock().clone()
    }

    pub(super) fn set_prefix(&self, prefix: &str) {
        prefix.clone_into(&mut self.prefix_lock().lock());
        self.clear();
    }
}

impl Dataset {
    /// Returns the source of this name, or `None` if there is no such file or dataset. A source that exists
    /// and cannot be read is an error.
    pub(super) fn source(&self, file: &Arc<str>, dataset: &Arc<str>) -> Result<Option<Self>> {
        self.sources.look_at(self.file());
        let key = (Arc::clone(file), Arc::clone(dataset));
        if let Some(found) = self.sources.held().datasets.get(&key) {
            return Ok(Some(found.clone()));
        }
        let Some(from) = self.source_file(file)? else {
            self.sources.held().missing.insert(key);
            return Ok(None);
        };
        let is_here = from.is_same(self.file());
        match from.dataset(dataset) {
            Ok(found) => {
                let mut held = self.sources.held();
                // A dataset of this file is not kept: the handle would keep its own file open.
                let is_kept = !is_here && held.datasets.len() < MOST;
                let replaced = is_kept.then(|| held.datasets.insert(key, found.clone()));
                drop(held);
                drop(replaced);
                Ok(Some(found))
            }
            Err(error) if is_missing(&error) => {
                self.sources.held().missing.insert(key);
                Ok(None)
            }
            Err(error) => Err(named(error, file, dataset)),
        }
    }

    fn source_file(&self, name: &Arc<str>) -> Result<Option<File>> {
        if &**name == SAME_FILE {
            return Ok(Some(self.file().clone()));
        }
        if let Some(found) = self.sources.held().files.get(name) {
            return Ok(Some(found.clone()));
        }
        let options = self.file().opened_with().for_existing(false);
        let open = || external::open_source(self.file(), name, &self.sources.prefix(), &options);
        let opened = match open() {
            Err(Error::Io { cause, .. }) if cause.raw_os_error() == Some(NO_DESCRIPTOR) => {
                self.sources.clear();
                open()
            }
            opened => opened,
        };
        match opened {
            Ok(found) if found.is_same(self.file()) => Ok(Some(self.file().clone())),
            Ok(found) => {
                self.file().holds(&self.sources);
                let mut held = self.sources.held();
                let is_kept = held.files.len() < MOST;
                let replaced = is_kept.then(|| held.files.insert(Arc::clone(name), found.clone()));
                drop(held);
                drop(replaced);
                Ok(Some(found))
            }
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(named(error, name, "")),
        }
    }

    /// Returns the source of this name, opened to be changed.
    pub(super) fn source_to_change(&self, file: &str, dataset: &str) -> Result<Option<Self>> {
        let from = if file == SAME_FILE {
            self.file().clone()
        } else {
            let options = self.file().opened_with().for_existing(true);
            match external::open_source(self.file(), file, &self.sources.prefix(), &options) {
                Ok(found) if found.is_same(self.file()) => self.file().clone(),
                Ok(found) => found,
                Err(error) if is_missing(&error) => return Ok(None),
                Err(error) => return Err(named(error, file, dataset)),
            }
        };
        match from.dataset(dataset) {
            Ok(found) => Ok(Some(found)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(named(error, file, dataset)),
        }
    }
}

fn is_missing(error: &Error) -> bool {
    let Error::Request(request) = error.root() else { return false };
    matches!(request, RequestError::NoSuchFile { .. } | RequestError::NoSuchObject { .. })
}

/// Adds the name of the source to an error.
pub(super) fn named(error: Error, file: &str, dataset: &str) -> Error {
    let at = match &error {
        Error::At { path, .. } => path.clone(),
        _ => dataset.to_owned(),
    };
    let cause = match error {
        Error::At { cause, .. } => *cause,
        cause => cause,
    };
    Error::At { path: format!("source {file}:{at} of a virtual dataset"), cause: Box::new(cause) }
}
