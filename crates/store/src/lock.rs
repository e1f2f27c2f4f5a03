//! The locks of a file. One lock guards the metadata, which many threads read or one thread changes. Another
//! guards data in transit. All locks are taken in a fixed order (`docs/concurrency.md`), which debug builds
//! check for every thread.

use std::cell::{Cell, RefCell};
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::{MappedRwLockReadGuard, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// What a lock of a file guards, in locking order: a thread never takes a lock while it holds one that is
/// below it here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// The rows of one table, and its indexes.
    Rows,
    /// Space allocated for data that no index refers to yet.
    Data,
    /// The data of one dataset.
    Dataset,
    /// The set of variable-length objects.
    HeapObjects,
    /// The shape of one dataset.
    Shape,
    /// The heap collections with room for variable-length data.
    HeapRoom,
    /// All metadata.
    Metadata,
    /// Changed blocks.
    Dirty,
    /// The state that is in the file.
    Committed,
    /// Free space.
    Space,
    /// The deleted objects.
    Lives,
    /// The drivers through which the file is read and written.
    Media,
}

/// Runs a function that waits. Returns whether it did so: false if the thread may as well wait itself.
type Waiter = fn(&(dyn Fn() + Sync)) -> bool;

static WAITER: OnceLock<Waiter> = OnceLock::new();

/// Sets what threads do that would wait for a lock of a file. A thread with a lock of its own program, such
/// as Python's, gives that lock up meanwhile: the thread with the file's lock may need it, in a driver.
pub fn wait_by(waiter: Waiter) {
    // The first one stays, as there is one program.
    let _ = WAITER.set(waiter);
}

/// A lock with its rank.
#[derive(Debug)]
pub struct Ranked<L> {
    place: LockPlace,
    lock: L,
}

/// A guard, with the record that its thread holds the lock.
#[derive(Debug)]
#[must_use]
pub struct Guard<G> {
    guard: G,
    note: Note,
}

impl<L> Ranked<L> {
    /// Wraps a lock of the file whose store has number `file`.
    pub fn new(file: u32, rank: Rank, lock: L) -> Self {
        Self { place: LockPlace { file, rank }, lock }
    }

    /// Returns the lock itself, to be tried without waiting: a thread that does not wait cannot break the
    /// order.
    pub fn untimely(&self) -> &L {
        &self.lock
    }

    fn take<'l, G>(
        &'l self,
        is_shared: bool,
        try_take: impl Fn(&'l L) -> Option<G>,
        take: impl Fn(&'l L) -> G + Sync,
    ) -> Guard<G>
    where
        L: Sync,
    {
        let note = Note::new(self.place, is_shared);
        if let Some(waiter) = WAITER.get() {
            loop {
                if let Some(guard) = try_take(&self.lock) {
                    return Guard { guard, note };
                }
                if !waiter(&|| drop(take(&self.lock))) {
                    break;
                }
            }
        }
        Guard { guard: take(&self.lock), note }
    }
}

impl<T: Send> Ranked<Mutex<T>> {
    /// Waits for the lock.
    pub fn lock(&self) -> Guard<MutexGuard<'_, T>> {
        self.take(false, Mutex::try_lock, Mutex::lock)
    }
}

impl<T: Send + Sync> Ranked<RwLock<T>> {
    /// Returns a guard if the lock is free. A thread that does not wait cannot break the order.
    fn try_write(&self) -> Option<Guard<RwLockWriteGuard<'_, T>>> {
        let guard = self.lock.try_write()?;
        Some(Guard { guard, note: Note::of(self.place, false) })
    }

    /// Waits for shared access. A thread that already shares the lock may share it again.
    pub fn read(&self) -> Guard<RwLockReadGuard<'_, T>> {
        self.take(true, RwLock::try_read_recursive, RwLock::read_recursive)
    }

    /// Waits for shared access, behind threads that already wait for exclusive access: readers that follow
    /// each other without a gap do not keep a writer waiting.
    ///
    /// A thread that shares such a lock does not wait for writers, because it may share this lock already.
    pub fn read_in_turn(&self) -> TurnGuard<'_, T> {
        let shares = TURNS.try_with(|turns| turns.replace(turns.get() + 1) > 0).unwrap_or(true);
        let guard = if shares {
            self.take(true, RwLock::try_read_recursive, RwLock::read_recursive)
        } else {
            self.take(true, RwLock::try_read, RwLock::read)
        };
        TurnGuard { _guard: guard }
    }

    /// Waits for exclusive access.
    pub fn write(&self) -> Guard<RwLockWriteGuard<'_, T>> {
        self.take(false, RwLock::try_write, RwLock::write)
    }
}

thread_local! {
    /// The number of locks that the thread shares [in turn](Ranked::read_in_turn).
    static TURNS: Cell<usize> = const { Cell::new(0) };
}

/// Shared access from [`Ranked::read_in_turn`].
#[derive(Debug)]
#[must_use]
pub struct TurnGuard<'l, T> {
    _guard: Guard<RwLockReadGuard<'l, T>>,
}

impl<T> Drop for TurnGuard<'_, T> {
    fn drop(&mut self) {
        // A thread that is ending may have lost its count.
        let _ = TURNS.try_with(|turns| turns.set(turns.get() - 1));
    }
}

/// The place of a lock in the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LockPlace {
    file: u32,
    rank: Rank,
}

/// The record that a thread holds a lock. Only debug builds keep it.
#[derive(Debug)]
struct Note(LockPlace);

thread_local!(static HELD: RefCell<Vec<(LockPlace, bool)>> = const { RefCell::new(Vec::new()) });

impl Note {
    /// Checks the order, and records the lock.
    fn new(place: LockPlace, is_shared: bool) -> Self {
        if cfg!(debug_assertions) {
            // A thread that is ending may have lost its list.
            let held = HELD.try_with(|held| held.borrow().clone()).unwrap_or_default();
            for (before, was_shared) in held {
                let is_again = before == place && is_shared && was_shared;
                let is_in_order = before.file != place.file || is_again || before.rank < place.rank;
                assert!(is_in_order, "{place:?} is taken by a thread that has {before:?}");
            }
        }
        Self::of(place, is_shared)
    }

    fn of(place: LockPlace, is_shared: bool) -> Self {
        if cfg!(debug_assertions) {
            let _ = HELD.try_with(|held| held.borrow_mut().push((place, is_shared)));
        }
        Self(place)
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        if cfg!(debug_assertions) {
            let _ = HELD.try_with(|held| {
                let mut held = held.borrow_mut();
                let last = held.iter().rposition(|(place, _)| *place == self.0);
                last.map(|last| held.remove(last));
            });
        }
    }
}

impl<'l, T> Guard<RwLockReadGuard<'l, T>> {
    /// Narrows the guard to a part of the guarded value, if `f` returns one.
    pub(crate) fn try_map<U>(
        self,
        part: impl FnOnce(&T) -> Option<&U>,
    ) -> Result<Guard<MappedRwLockReadGuard<'l, U>>, Self> {
        match RwLockReadGuard::try_map(self.guard, part) {
            Ok(guard) => Ok(Guard { guard, note: self.note }),
            Err(guard) => Err(Self { guard, note: self.note }),
        }
    }
}

impl<G: Deref> Deref for Guard<G> {
    type Target = G::Target;

    fn deref(&self) -> &G::Target {
        &self.guard
    }
}

impl<G: DerefMut> DerefMut for Guard<G> {
    fn deref_mut(&mut self) -> &mut G::Target {
        &mut self.guard
    }
}

/// The metadata lock of one file. The thread that changes metadata may also read it.
#[derive(Debug)]
pub(crate) struct MetadataLock {
    lock: Ranked<RwLock<()>>,
    /// The thread that changes metadata; 0 if there is none.
    changing: AtomicUsize,
}

/// Shared access: no other thread changes the guarded state while this guard lives. The thread that changes
/// metadata may also read it. The guard is empty for a file open for reading only.
#[derive(Debug)]
#[must_use]
pub struct ReadGuard<'s> {
    pub(crate) _guard: Option<Guard<RwLockReadGuard<'s, ()>>>,
}

/// Exclusive access: no other thread reads or changes metadata while this guard lives.
#[derive(Debug)]
#[must_use]
pub(crate) struct ChangeGuard<'s> {
    lock: &'s MetadataLock,
    _guard: Guard<RwLockWriteGuard<'s, ()>>,
}

impl MetadataLock {
    pub(crate) fn new(file: u32) -> Self {
        Self { lock: Ranked::new(file, Rank::Metadata, RwLock::default()), changing: AtomicUsize::new(0) }
    }

    pub(crate) fn read(&self) -> ReadGuard<'_> {
        let is_mine = self.changing.load(Ordering::Relaxed) == this_thread();
        // Recursive: a thread that already reads may read again even if another thread waits to change.
        ReadGuard { _guard: (!is_mine).then(|| self.lock.read()) }
    }

    pub(crate) fn change(&self) -> ChangeGuard<'_> {
        debug_assert_ne!(self.changing.load(Ordering::Relaxed), this_thread(), "a change inside a change");
        self.changed_by(self.lock.write())
    }

    /// Returns a guard for reading if no thread has the lock for a change.
    pub(crate) fn try_read(&self) -> Option<RwLockReadGuard<'_, ()>> {
        self.lock.untimely().try_read_recursive()
    }

    /// Returns a guard for changes if the lock is free.
    pub(crate) fn try_change(&self) -> Option<ChangeGuard<'_>> {
        self.lock.try_write().map(|guard| self.changed_by(guard))
    }

    fn changed_by<'s>(&'s self, guard: Guard<RwLockWriteGuard<'s, ()>>) -> ChangeGuard<'s> {
        self.changing.store(this_thread(), Ordering::Relaxed);
        ChangeGuard { lock: self, _guard: guard }
    }
}

impl Drop for ChangeGuard<'_> {
    fn drop(&mut self) {
        self.lock.changing.store(0, Ordering::Relaxed);
    }
}

/// Returns a nonzero number of this thread. Only the thread itself ever stores its number, so a comparison
/// with it is always right.
pub fn this_thread() -> usize {
    thread_local!(static MARK: u8 = const { 0 });
    MARK.with(|mark| std::ptr::from_ref(mark).addr())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locks(file: u32) -> [Ranked<RwLock<()>>; 2] {
        [Rank::Metadata, Rank::Space].map(|rank| Ranked::new(file, rank, RwLock::default()))
    }

    #[test]
    fn locks_taken_in_order_and_shared_again_are_allowed() {
        let ([metadata, space], [other, _]) = (locks(1), locks(2));
        for _ in 0..2 {
            let first = metadata.read();
            let (_again, _space, _other) = (metadata.read(), space.write(), other.write());
            drop(first);
        }
        let _alone = metadata.write();
    }

    #[test]
    #[should_panic(expected = "Metadata } is taken by a thread that has")]
    fn a_lock_taken_out_of_order_panics() {
        let [metadata, space] = locks(1);
        let _space = space.read();
        let _metadata = metadata.read();
    }

    #[test]
    #[should_panic(expected = "Metadata } is taken by a thread that has")]
    fn an_exclusive_lock_taken_twice_by_a_thread_panics() {
        let [metadata, _] = locks(1);
        let _shared = metadata.read();
        let _alone = metadata.write();
    }
}
