//! What programs set for the whole process.

use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;

/// Whether the package stands in for h5py (`hyperslab.as_h5py`).
static STANDS_IN: AtomicBool = AtomicBool::new(false);

/// Lets the package stand in for h5py from now on: files of PyTables have no classes of their own, and new
/// files are for the earliest version of HDF5 that has what they hold.
#[pyfunction]
#[pyo3(name = "_stand_in")]
pub(crate) fn stand_in() {
    STANDS_IN.store(true, Ordering::Relaxed);
}

/// Whether the package stands in for h5py.
pub(crate) fn stands_in() -> bool {
    STANDS_IN.load(Ordering::Relaxed)
}

/// Whether new files, groups and datasets keep the order of their members and attributes.
static TRACK_ORDER: AtomicBool = AtomicBool::new(false);

/// Returns whether new files, groups and datasets keep the order of their members and attributes. A value
/// other than None is the new answer.
#[pyfunction]
#[pyo3(name = "_track_order")]
pub(crate) fn track_order(is_on: Option<bool>) -> bool {
    if let Some(is_on) = is_on {
        TRACK_ORDER.store(is_on, Ordering::Relaxed);
    }
    TRACK_ORDER.load(Ordering::Relaxed)
}
