//! The first error of several threads that work together, which ends the work of all of them.

use super::sync::{Arc, AtomicBool, Mutex, Ordering};

/// The first error, and whether there is one.
pub(super) struct FirstError<E> {
    has_failed: Arc<AtomicBool>,
    error: Mutex<Option<E>>,
}

impl<E> Default for FirstError<E> {
    fn default() -> Self {
        Self { has_failed: Arc::new(AtomicBool::new(false)), error: Mutex::new(None) }
    }
}

impl<E> FirstError<E> {
    /// What the threads look at while they work.
    pub(super) fn has_failed(&self) -> &Arc<AtomicBool> {
        &self.has_failed
    }

    /// Notes how the work of a thread has ended.
    pub(super) fn note(&self, done: Result<(), E>) {
        if let Err(error) = done {
            // In this order: the error of a thread that ends because another one failed is not the first.
            self.error.lock().get_or_insert(error);
            self.has_failed.store(true, Ordering::Release);
        }
    }

    pub(super) fn into_result(self) -> Result<(), E> {
        self.error.into_inner().map_or(Ok(()), Err)
    }
}
