//! loom's locks and atomic numbers, as `parking_lot` and the standard library have them.

use std::ops::{Deref, DerefMut};
use std::sync::PoisonError;
use std::time::Duration;

pub(super) use loom::sync::Arc;
use loom::sync::atomic::fence;
pub(super) use loom::sync::atomic::{AtomicBool, Ordering};

/// A lock that no panic poisons.
#[derive(Debug, Default)]
pub(super) struct Mutex<T>(loom::sync::Mutex<T>);

/// Access to what a lock guards. The guard of loom is absent while its thread waits.
pub(super) struct MutexGuard<'l, T> {
    lock: &'l Mutex<T>,
    guard: Option<loom::sync::MutexGuard<'l, T>>,
}

impl<T> Mutex<T> {
    pub(super) fn new(value: T) -> Self {
        Self(loom::sync::Mutex::new(value))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard { lock: self, guard: Some(self.0.lock().unwrap_or_else(PoisonError::into_inner)) }
    }

    pub(super) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        Some(MutexGuard { lock: self, guard: Some(self.0.try_lock().ok()?) })
    }

    pub(super) fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> MutexGuard<'_, T> {
    pub(super) fn unlocked<R>(guard: &mut Self, work: impl FnOnce() -> R) -> R {
        guard.guard = None;
        let done = work();
        *guard = guard.lock.lock();
        done
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.guard.as_ref().expect("the thread does not wait")
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.guard.as_mut().expect("the thread does not wait")
    }
}

/// A condition that threads wait for.
#[derive(Debug)]
pub(super) struct Condvar(loom::sync::Condvar);

/// Whether the time to wait is over.
pub(super) struct TimedOut;

impl TimedOut {
    /// Never: a thread that no thread wakes waits for ever, and loom reports it.
    #[expect(clippy::unused_self, reason = "as in parking_lot")]
    pub(super) fn timed_out(&self) -> bool {
        false
    }
}

impl Condvar {
    pub(super) fn new() -> Self {
        Self(loom::sync::Condvar::new())
    }

    pub(super) fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        let inner = guard.guard.take().expect("the thread does not wait yet");
        guard.guard = Some(self.0.wait(inner).unwrap_or_else(PoisonError::into_inner));
    }

    pub(super) fn wait_for<T>(&self, guard: &mut MutexGuard<'_, T>, _: Duration) -> TimedOut {
        self.wait(guard);
        TimedOut
    }

    pub(super) fn notify_all(&self) {
        self.0.notify_all();
    }
}

/// A lock that several threads may share.
#[derive(Debug)]
pub(super) struct RwLock<T>(loom::sync::RwLock<T>);

impl<T> RwLock<T> {
    pub(super) fn new(value: T) -> Self {
        Self(loom::sync::RwLock::new(value))
    }

    pub(super) fn read(&self) -> loom::sync::RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn try_read(&self) -> Option<loom::sync::RwLockReadGuard<'_, T>> {
        self.0.try_read().ok()
    }
}

/// loom takes `SeqCst` of a number for `AcqRel`, but knows fences. A fence before each such access gives the
/// one order of all of them that the language promises, and no order to other accesses behind it.
fn after_fence<R>(ordering: Ordering, access: impl FnOnce() -> R) -> R {
    if ordering == Ordering::SeqCst {
        fence(Ordering::SeqCst);
    }
    access()
}

macro_rules! number {
    ($name:ident, $int:ty) => {
        /// An atomic number with the orders of the language.
        #[derive(Debug)]
        pub(super) struct $name(loom::sync::atomic::$name);

        impl Default for $name {
            fn default() -> Self {
                Self::new(0)
            }
        }

        impl From<$int> for $name {
            fn from(value: $int) -> Self {
                Self::new(value)
            }
        }

        impl $name {
            pub(super) fn new(value: $int) -> Self {
                Self(loom::sync::atomic::$name::new(value))
            }

            pub(super) fn load(&self, ordering: Ordering) -> $int {
                after_fence(ordering, || self.0.load(ordering))
            }

            pub(super) fn store(&self, value: $int, ordering: Ordering) {
                after_fence(ordering, || self.0.store(value, ordering));
            }

            pub(super) fn fetch_add(&self, value: $int, ordering: Ordering) -> $int {
                after_fence(ordering, || self.0.fetch_add(value, ordering))
            }

            pub(super) fn fetch_sub(&self, value: $int, ordering: Ordering) -> $int {
                after_fence(ordering, || self.0.fetch_sub(value, ordering))
            }

            pub(super) fn fetch_update(
                &self,
                set: Ordering,
                fetch: Ordering,
                next: impl FnMut($int) -> Option<$int>,
            ) -> Result<$int, $int> {
                after_fence(set, || self.0.fetch_update(set, fetch, next))
            }
        }
    };
}

number!(AtomicU64, u64);
number!(AtomicUsize, usize);
