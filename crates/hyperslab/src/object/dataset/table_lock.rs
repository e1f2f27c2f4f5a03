//! The lock of the rows of a table. A query, and most changes of rows, take several steps of the engine. This
//! lock has each of them see the rows as no other one leaves them halfway.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use hyperslab_store::{Ranked, this_thread};
use parking_lot::RwLock;

use super::Dataset;

/// The lock, which all handles of a table share.
#[derive(Debug)]
pub(in crate::object) struct RowsLock {
    lock: Ranked<RwLock<()>>,
    /// The thread that changes rows; 0 if there is none.
    changing: AtomicUsize,
    removals: AtomicU64,
    /// Whether rows were changed since the file was opened.
    are_changed: AtomicBool,
}

impl RowsLock {
    pub(super) fn new(lock: Ranked<RwLock<()>>) -> Self {
        let (changing, removals) = (AtomicUsize::new(0), AtomicU64::new(0));
        Self { lock, changing, removals, are_changed: AtomicBool::new(false) }
    }

    fn is_mine(&self) -> bool {
        self.changing.load(Ordering::Relaxed) == this_thread()
    }
}

/// Forgets the thread that changes rows when it has done so.
struct Changing<'l>(&'l RowsLock);

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        self.0.changing.store(0, Ordering::Relaxed);
    }
}

#[doc(hidden)]
impl Dataset {
    /// Calls `f` while no other thread is inside [`changing_rows`](Self::changing_rows). Other methods of a
    /// dataset take no part in this: they change elements that others may be reading.
    pub fn keeping_rows<T>(&self, f: impl FnOnce() -> T) -> T {
        if !self.store().is_writable() {
            return f();
        }
        let rows = &self.state().rows;
        let _kept = (!rows.is_mine()).then(|| rows.lock.read_in_turn());
        f()
    }

    /// Calls `f` while no other thread is inside this method or [`keeping_rows`](Self::keeping_rows). `f` may
    /// call both. A thread that keeps rows must not change them.
    pub fn changing_rows<T>(&self, f: impl FnOnce() -> T) -> T {
        let rows = &self.state().rows;
        if rows.is_mine() {
            return f();
        }
        let _alone = rows.lock.write();
        rows.changing.store(this_thread(), Ordering::Relaxed);
        rows.are_changed.store(true, Ordering::Relaxed);
        let _changing = Changing(rows);
        f()
    }

    /// Returns whether [`changing_rows`](Self::changing_rows) was called, through any handle. A change of rows
    /// takes several writes, which reach the file together.
    pub(super) fn are_rows_changed(&self) -> bool {
        self.state().rows.are_changed.load(Ordering::Relaxed)
    }

    /// Returns how often rows were removed, or a transaction was undone: other rows have their numbers then.
    pub fn removals(&self) -> u64 {
        if !self.store().is_writable() {
            return 0;
        }
        self.state().rows.removals.load(Ordering::Relaxed) + self.file().shared().datasets.undone()
    }

    /// Notes that rows were removed.
    pub fn count_removal(&self) {
        self.state().rows.removals.fetch_add(1, Ordering::Relaxed);
    }
}
