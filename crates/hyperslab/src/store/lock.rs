//! The locks of a file: of its metadata, which many threads read or one changes, and of data on their way; and the order in
//! which all locks are taken (`docs/concurrency.md`), which debug builds hold every thread to.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::{MappedRwLockReadGuard, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// What a lock of a file is for, in the order in which a thread takes them: none after one that is below it here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// What was given out for data and no index knows yet.
    Data,
    /// The data of one dataset.
    Dataset,
    /// Which data of variable length there are.
    HeapObjects,
    /// The shape of one dataset.
    Shape,
    /// Where data of variable length go next.
    HeapRoom,
    /// All metadata.
    Metadata,
    /// Changed blocks.
    Dirty,
    /// The state that is in the file.
    Committed,
    /// Free space.
    Space,
    /// Which objects are gone.
    Lives,
    /// What the file is read and written through.
    Media,
}

/// A lock with its rank.
#[derive(Debug)]
pub struct Ranked<L> {
    place: Place,
    lock: L,
}

/// A guard, and the note that its thread has it.
#[derive(Debug)]
#[must_use]
pub struct Guard<G> {
    guard: G,
    note: Note,
}

impl<L> Ranked<L> {
    /// A lock of the file whose store has this number.
    pub fn new(file: u32, rank: Rank, lock: L) -> Self {
        Self { place: Place { file, rank }, lock }
    }

    /// The lock, to be tried: who does not wait breaks no order.
    pub fn untimely(&self) -> &L {
        &self.lock
    }

    fn take<'l, G>(&'l self, is_shared: bool, take: impl FnOnce(&'l L) -> G) -> Guard<G> {
        let note = Note::new(self.place, is_shared);
        Guard { guard: take(&self.lock), note }
    }
}

impl<T> Ranked<Mutex<T>> {
    /// Waits for the lock.
    pub fn lock(&self) -> Guard<MutexGuard<'_, T>> {
        self.take(false, Mutex::lock)
    }
}

impl<T> Ranked<RwLock<T>> {
    /// Returns the lock if it is free. Who does not wait breaks no order.
    fn try_write(&self) -> Option<Guard<RwLockWriteGuard<'_, T>>> {
        let guard = self.lock.try_write()?;
        Some(Guard { guard, note: Note::of(self.place, false) })
    }

    /// Waits for the lock, to share it. A thread that shares it already may share it again.
    pub fn read(&self) -> Guard<RwLockReadGuard<'_, T>> {
        self.take(true, RwLock::read_recursive)
    }

    /// Waits for the lock, to have it alone.
    pub fn write(&self) -> Guard<RwLockWriteGuard<'_, T>> {
        self.take(false, RwLock::write)
    }
}

/// Where a lock is in the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    file: u32,
    rank: Rank,
}

/// That a thread has a lock. Kept in debug builds alone.
#[derive(Debug)]
struct Note(Place);

thread_local!(static HELD: RefCell<Vec<(Place, bool)>> = const { RefCell::new(Vec::new()) });

impl Note {
    /// Checks the order, and notes the lock.
    fn new(place: Place, is_shared: bool) -> Self {
        if cfg!(debug_assertions) {
            // A thread at its end may have lost its list.
            let held = HELD.try_with(|held| held.borrow().clone()).unwrap_or_default();
            for (before, was_shared) in held {
                let is_again = before == place && is_shared && was_shared;
                let is_in_order = before.file != place.file || is_again || before.rank < place.rank;
                assert!(is_in_order, "{place:?} is taken by a thread that has {before:?}");
            }
        }
        Self::of(place, is_shared)
    }

    fn of(place: Place, is_shared: bool) -> Self {
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
    /// The lock of a part of what it guards, if that is there.
    pub(super) fn try_map<U>(
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

/// The lock of one file. The thread that changes metadata may read them, too.
#[derive(Debug)]
pub(super) struct MetadataLock {
    lock: Ranked<RwLock<()>>,
    /// Which thread changes metadata; 0 for none.
    changing: AtomicUsize,
}

/// While this lives, nobody else takes the lock to change what it is about; a thread that changes metadata may read them, too.
/// Empty in a file that nobody changes.
#[derive(Debug)]
#[must_use]
pub struct ReadGuard<'s> {
    pub(super) _guard: Option<Guard<RwLockReadGuard<'s, ()>>>,
}

/// While this lives, nobody else reads or changes metadata.
#[derive(Debug)]
#[must_use]
pub(super) struct ChangeGuard<'s> {
    lock: &'s MetadataLock,
    _guard: Guard<RwLockWriteGuard<'s, ()>>,
}

impl MetadataLock {
    pub(super) fn new(file: u32) -> Self {
        Self { lock: Ranked::new(file, Rank::Metadata, RwLock::default()), changing: AtomicUsize::new(0) }
    }

    pub(super) fn read(&self) -> ReadGuard<'_> {
        let is_mine = self.changing.load(Ordering::Relaxed) == this_thread();
        // A thread may read while it reads, whoever waits for a change.
        ReadGuard { _guard: (!is_mine).then(|| self.lock.read()) }
    }

    pub(super) fn change(&self) -> ChangeGuard<'_> {
        debug_assert_ne!(self.changing.load(Ordering::Relaxed), this_thread(), "a change inside a change");
        self.changed_by(self.lock.write())
    }

    /// The lock to read, if nobody has it to change.
    pub(super) fn try_read(&self) -> Option<RwLockReadGuard<'_, ()>> {
        self.lock.untimely().try_read_recursive()
    }

    /// The lock, if nobody has it.
    pub(super) fn try_change(&self) -> Option<ChangeGuard<'_>> {
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

/// A number of this thread, never 0. Only the thread itself ever stores its number, so what it loads is right about itself.
fn this_thread() -> usize {
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
    fn locks_are_taken_in_their_order_and_shared_again() {
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
    fn a_lock_that_comes_before_one_that_the_thread_has_is_refused() {
        let [metadata, space] = locks(1);
        let _space = space.read();
        let _metadata = metadata.read();
    }

    #[test]
    #[should_panic(expected = "Metadata } is taken by a thread that has")]
    fn a_lock_that_the_thread_has_is_refused_if_not_shared() {
        let [metadata, _] = locks(1);
        let _shared = metadata.read();
        let _alone = metadata.write();
    }
}
