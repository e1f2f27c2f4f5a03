//! How far the elements of one dataset have been moved.

use std::sync::atomic::{AtomicU64, Ordering};

/// Tells whoever asked of the bytes that were moved: of all together as many as the dataset has, whatever was stored of them.
pub(super) struct Meter<'a> {
    done: &'a (dyn Fn(u64) + Sync),
    left: AtomicU64,
}

impl<'a> Meter<'a> {
    /// For a dataset of so many bytes of elements.
    pub(super) fn new(done: &'a (dyn Fn(u64) + Sync), bytes: u64) -> Self {
        Self { done, left: AtomicU64::new(bytes) }
    }

    /// So many more bytes were moved. Chunks over the edge have more than belong to the dataset.
    pub(super) fn add(&self, bytes: u64) {
        let taken = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(bytes)));
        let left = taken.unwrap_or(0);
        (self.done)(left.min(bytes));
    }

    /// Everything was moved.
    pub(super) fn finish(self) {
        (self.done)(self.left.into_inner());
    }
}
