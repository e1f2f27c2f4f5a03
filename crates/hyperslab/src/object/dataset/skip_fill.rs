//! Datasets that leave out chunks with only the fill value.
//!
//! The file does not store this setting, which lasts while the file is open. Every HDF5 library reads an
//! absent chunk as fill values.

use std::sync::atomic::Ordering;

use crate::object::{Dataset, File};

impl File {
    /// Sets whether chunks that hold only the fill value are left out when they are written, for all datasets
    /// without a setting by [`Dataset::set_skip_fill_chunks`]. The setting lasts while this file is open. By
    /// default, such chunks are stored.
    pub fn set_skip_fill_chunks(&self, skips: bool) {
        self.shared().datasets.skips_fill.store(skips, Ordering::Relaxed);
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
        *self.state().skips_fill.lock() = Some((self.object.found, skips));
    }

    /// Returns whether chunks that hold only the fill value are left out when they are written.
    pub fn skips_fill_chunks(&self) -> bool {
        let said = *self.state().skips_fill.lock();
        let said = said.filter(|(found, _)| !self.store().is_over(self.address(), *found));
        let others = &self.file().shared().datasets.skips_fill;
        said.map_or_else(|| others.load(Ordering::Relaxed), |(_, skips)| skips)
    }
}
