//! Progress of the copy of one dataset.

use std::sync::atomic::{AtomicU64, Ordering};

/// Reports copied bytes to a callback. The reports add up to the size of the dataset, however much of it was
/// stored.
pub(super) struct Meter<'a> {
    done: &'a (dyn Fn(u64) + Sync),
    left: AtomicU64,
}

impl<'a> Meter<'a> {
    /// Creates a meter for a dataset with `bytes` bytes of elements.
    pub(super) fn new(done: &'a (dyn Fn(u64) + Sync), bytes: u64) -> Self {
        Self { done, left: AtomicU64::new(bytes) }
    }

    /// Reports that `bytes` more bytes were copied. Chunks at the edge may hold more bytes than belong to the
    /// dataset; the excess is not reported.
    pub(super) fn add(&self, bytes: u64) {
        let taken = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(bytes)));
        let left = taken.unwrap_or(0);
        (self.done)(left.min(bytes));
    }

    /// Reports the rest, after everything was copied.
    pub(super) fn finish(self) {
        (self.done)(self.left.into_inner());
    }
}
