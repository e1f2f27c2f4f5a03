//! Detects forks. A forked child has a copy of the parent's memory, but not its threads. A lock that another
//! thread held at the fork stays locked forever, and open files belong to the parent.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The number of forks between the first process that used this crate and this one.
static FORKS: AtomicU32 = AtomicU32::new(0);
/// Whether the C library calls the handler that counts forks.
static COUNTS: AtomicBool = AtomicBool::new(false);

/// Returns the number of forks between the first process that used this crate and this one. The call costs
/// two loads, so every operation can check whether its process opened the file.
///
/// A process made by the system call itself, without the C library's `fork`, is not counted.
#[inline]
pub fn forks() -> u32 {
    if !COUNTS.load(Ordering::Acquire) {
        count_forks();
    }
    FORKS.load(Ordering::Acquire)
}

/// A system without forks has none to count.
#[cfg(not(unix))]
#[cold]
fn count_forks() {
    COUNTS.store(true, Ordering::Release);
}

/// Registers a handler that counts forks in the child. If the C library has no memory for it, the next call
/// tries again. If several threads register it at once, each fork counts several times, but the number still
/// differs from the parent's.
#[cfg(unix)]
#[cold]
fn count_forks() {
    extern "C" fn in_child() {
        FORKS.fetch_add(1, Ordering::AcqRel);
    }
    // SAFETY: the handler only changes an atomic number, which is allowed in a child of a process with
    // threads.
    let status = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    COUNTS.store(status == 0, Ordering::Release);
}

/// A value of the process that made it. A child process makes its own value at its first use.
#[derive(Debug, Clone)]
pub struct PerProcess<T> {
    forks: u32,
    value: T,
    child: OnceLock<Box<Self>>,
}

impl<T: Default> Default for PerProcess<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> PerProcess<T> {
    /// Creates the value of this process.
    pub fn new(value: T) -> Self {
        Self { forks: forks(), value, child: OnceLock::new() }
    }

    /// Returns the value of this process. In a child, `inherit` makes the value from the parent's, whose
    /// locks may be locked forever.
    #[inline]
    pub fn get(&self, inherit: fn(&T) -> T) -> &T {
        if self.forks == forks() { &self.value } else { self.of_child(inherit) }
    }

    #[cold]
    fn of_child(&self, inherit: fn(&T) -> T) -> &T {
        // In a child of a child, the first value may belong to the process in between.
        self.child.get_or_init(|| Box::new(Self::new(inherit(&self.value)))).get(inherit)
    }

    /// Returns the value given to [`new`](Self::new) in the process that called it, or `None` in its
    /// children.
    pub fn own(&self) -> Option<&T> {
        (self.forks == forks()).then_some(&self.value)
    }
}
