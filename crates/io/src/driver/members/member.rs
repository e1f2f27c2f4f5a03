//! A member that is open for writing.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::driver::ahead::Medium;

#[derive(Debug)]
pub(super) struct Member {
    pub(super) file: Arc<dyn Medium>,
    /// Whether anything was written since the last flush.
    is_dirty: AtomicBool,
}

impl Member {
    pub(super) fn new(file: Arc<dyn Medium>) -> Self {
        Self { file, is_dirty: AtomicBool::new(false) }
    }

    /// Calls `f`, which changes the file. A flush that runs meanwhile may come before the change, so the mark
    /// is set afterwards, too.
    pub(super) fn change(&self, f: impl FnOnce(&dyn Medium) -> io::Result<()>) -> io::Result<()> {
        self.is_dirty.store(true, Ordering::Release);
        let changed = f(&*self.file);
        self.is_dirty.store(true, Ordering::Release);
        changed
    }

    /// Makes all changes since the last flush durable, if there are any.
    pub(super) fn flush(&self) -> io::Result<()> {
        if !self.is_dirty.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        self.file.flush(false).inspect_err(|_| self.is_dirty.store(true, Ordering::Release))
    }
}
