//! Datasets whose chunks are not stored where they hold nothing but the fill value.
//!
//! A file has no place to say so: it is how a dataset is written, and remembered while the file is open. Every HDF5 library
//! takes an absent chunk for one that holds the fill value.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use hyperslab_format::Addr;
use parking_lot::Mutex;

use crate::object::{Dataset, File};

/// Which datasets of a file are written so.
#[derive(Debug, Default)]
pub(in crate::object) struct Sparse {
    /// Those of which nothing was said.
    others: AtomicBool,
    /// What was said, and in which generation: another dataset may have the address later.
    datasets: Mutex<HashMap<Addr, (u64, bool)>>,
}

impl File {
    /// Whether chunks that hold nothing but the fill value are left out when they are written, in all datasets of which
    /// [`Dataset::set_skip_fill_chunks`] does not say something else. While this file is open; at first they are not.
    pub fn set_skip_fill_chunks(&self, skips: bool) {
        self.shared().sparse.others.store(skips, Ordering::Relaxed);
    }
}

impl Dataset {
    /// Whether chunks that hold nothing but the fill value are left out when they are written, while this file is open. One
    /// that was stored is taken out, and its space used again.
    ///
    /// It is without effect where an absent chunk is not one of fill values to every reader: with no defined fill value, one
    /// that is never written, or space allocated early. Chunks [stored as they are](Self::write_stored_chunk) are not looked at.
    pub fn set_skip_fill_chunks(&self, skips: bool) {
        let mut datasets = self.file().shared().sparse.datasets.lock();
        if datasets.len() > MANY {
            datasets.retain(|&at, (found, _)| !self.store().is_over(at, *found));
        }
        datasets.insert(self.address(), (self.object.found, skips));
    }

    /// Whether chunks that hold nothing but the fill value are left out when they are written.
    pub fn skips_fill_chunks(&self) -> bool {
        let sparse = &self.file().shared().sparse;
        let said = sparse.datasets.lock().get(&self.address()).copied();
        let said = said.filter(|(found, _)| !self.store().is_over(self.address(), *found));
        said.map_or_else(|| sparse.others.load(Ordering::Relaxed), |(_, skips)| skips)
    }
}

/// When there are more than this, those that are gone are forgotten.
const MANY: usize = 1024;
