//! Datasets that leave out chunks with only the fill value.
//!
//! The file does not store this setting, which lasts while the file is open. Every HDF5 library reads an
//! absent chunk as fill values.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use hyperslab_format::Addr;
use parking_lot::Mutex;

use crate::object::{Dataset, File};

/// The datasets of a file that leave out chunks.
#[derive(Debug, Default)]
pub(in crate::object) struct Sparse {
    /// The setting of datasets without a setting of their own.
    others: AtomicBool,
    /// The setting of a dataset, and its generation: another dataset may have the address later.
    datasets: Mutex<HashMap<Addr, (u64, bool)>>,
}

impl File {
    /// Sets whether chunks that hold only the fill value are left out when they are written, for all datasets
    /// without a setting by [`Dataset::set_skip_fill_chunks`]. The setting lasts while this file is open. By
    /// default, such chunks are stored.
    pub fn set_skip_fill_chunks(&self, skips: bool) {
        self.shared().sparse.others.store(skips, Ordering::Relaxed);
    }
}

impl Dataset {
    /// Sets whether chunks that hold only the fill value are left out when they are written, while this file
    /// is open. A stored chunk that becomes such a chunk is removed, and its space is reused.
    ///
    /// The setting has no effect if some readers would not read an absent chunk as fill values: without a
    /// defined fill value, with a fill value that is never written, or with early allocation. Chunks that are
    /// [stored without encoding](Self::write_stored_chunk) are not examined.
    pub fn set_skip_fill_chunks(&self, skips: bool) {
        let mut datasets = self.file().shared().sparse.datasets.lock();
        if datasets.len() > MANY {
            datasets.retain(|&at, (found, _)| !self.store().is_over(at, *found));
        }
        datasets.insert(self.address(), (self.object.found, skips));
    }

    /// Returns whether chunks that hold only the fill value are left out when they are written.
    pub fn skips_fill_chunks(&self) -> bool {
        let sparse = &self.file().shared().sparse;
        let said = sparse.datasets.lock().get(&self.address()).copied();
        let said = said.filter(|(found, _)| !self.store().is_over(self.address(), *found));
        said.map_or_else(|| sparse.others.load(Ordering::Relaxed), |(_, skips)| skips)
    }
}

/// Beyond this number of settings, those of deleted datasets are removed.
const MANY: usize = 1024;
