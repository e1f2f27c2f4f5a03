//! The locks of a file: of its metadata, which many threads read or one changes, and of data on their way.

use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The lock of one file. The thread that changes metadata may read them, too.
#[derive(Debug, Default)]
pub(super) struct MetadataLock {
    lock: RwLock<()>,
    /// Which thread changes metadata; 0 for none.
    changing: AtomicUsize,
}

/// The lock of what was given out for data and no index knows yet: many threads write data, or one takes all of it back.
#[derive(Debug, Default)]
pub(super) struct DataLock(RwLock<()>);

impl DataLock {
    pub(super) fn read(&self) -> ReadGuard<'_> {
        // A write may flush what was held before it.
        ReadGuard { _guard: Some(self.0.read_recursive()) }
    }

    /// Whether no write is under way, as it seems.
    pub(super) fn is_idle(&self) -> bool {
        !self.0.is_locked()
    }

    /// Waits for the writes that are under way.
    pub(super) fn change(&self) -> RwLockWriteGuard<'_, ()> {
        self.0.write()
    }
}

/// While this lives, nobody else takes the lock to change what it is about; a thread that changes metadata may read them, too.
#[derive(Debug)]
#[must_use]
pub struct ReadGuard<'s> {
    _guard: Option<RwLockReadGuard<'s, ()>>,
}

/// While this lives, nobody else reads or changes metadata.
#[derive(Debug)]
#[must_use]
pub(super) struct ChangeGuard<'s> {
    lock: &'s MetadataLock,
    _guard: RwLockWriteGuard<'s, ()>,
}

impl ReadGuard<'_> {
    /// The guard of a file that nobody changes.
    pub(super) fn none() -> Self {
        Self { _guard: None }
    }
}

impl MetadataLock {
    pub(super) fn read(&self) -> ReadGuard<'_> {
        let is_mine = self.changing.load(Ordering::Relaxed) == this_thread();
        // A thread may read while it reads, whoever waits for a change.
        ReadGuard { _guard: (!is_mine).then(|| self.lock.read_recursive()) }
    }

    pub(super) fn change(&self) -> ChangeGuard<'_> {
        debug_assert_ne!(self.changing.load(Ordering::Relaxed), this_thread(), "a change inside a change");
        self.changed_by(self.lock.write())
    }

    /// The lock, if nobody has it.
    pub(super) fn try_change(&self) -> Option<ChangeGuard<'_>> {
        self.lock.try_write().map(|guard| self.changed_by(guard))
    }

    fn changed_by<'s>(&'s self, guard: RwLockWriteGuard<'s, ()>) -> ChangeGuard<'s> {
        self.changing.store(this_thread(), Ordering::Relaxed);
        ChangeGuard { lock: self, _guard: guard }
    }
}

impl Drop for ChangeGuard<'_> {
    fn drop(&mut self) {
        self.lock.changing.store(0, Ordering::Relaxed);
    }
}

/// A number of this thread, never 0. Only the thread itself ever stores its number, so what it loads is right about itself.
fn this_thread() -> usize {
    thread_local!(static MARK: u8 = const { 0 });
    MARK.with(|mark| std::ptr::from_ref(mark).addr())
}
