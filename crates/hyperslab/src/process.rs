//! Which process this is. A forked child has a copy of everything in memory, but not the threads: a lock that another
//! thread held at the fork stays locked for ever, and files belong to the parent.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// How many forks lie between the first process that used this crate and this one.
static FORKS: AtomicU32 = AtomicU32::new(0);
/// Whether the C library counts them.
static COUNTS: AtomicBool = AtomicBool::new(false);

/// Returns how many forks lie between the first process that used this crate and this one. It costs two loads, and can be asked
/// for everything that is done: what is open belongs to a process.
///
/// A process that is made by the bare system call, past the C library's `fork`, is not counted.
#[inline]
pub fn forks() -> u32 {
    if !COUNTS.load(Ordering::Acquire) {
        count_forks();
    }
    FORKS.load(Ordering::Acquire)
}

/// Has the C library tell children that they are. Where it has no memory for that, the next who asks tries again; threads that
/// try at once make every fork count twice, and it is another number all the same.
#[cold]
fn count_forks() {
    extern "C" fn in_child() {
        FORKS.fetch_add(1, Ordering::AcqRel);
    }
    // SAFETY: the handler touches an atomic number alone, as a child of a process with threads may.
    let status = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    COUNTS.store(status == 0, Ordering::Release);
}

/// A value of the process that made it. A child gets a value of its own at its first use of it.
#[derive(Debug)]
pub struct PerProcess<T> {
    forks: u32,
    value: T,
    child: OnceLock<Box<Self>>,
}

impl<T> PerProcess<T> {
    /// The value of this process.
    pub fn new(value: T) -> Self {
        Self { forks: forks(), value, child: OnceLock::new() }
    }

    /// Returns the value of this process; `inherit` makes it of the parent's, whose locks may be locked for ever.
    #[inline]
    pub fn get(&self, inherit: fn(&T) -> T) -> &T {
        if self.forks == forks() { &self.value } else { self.of_child(inherit) }
    }

    #[cold]
    fn of_child(&self, inherit: fn(&T) -> T) -> &T {
        // In a child of a child the first may be that of the child between.
        self.child.get_or_init(|| Box::new(Self::new(inherit(&self.value)))).get(inherit)
    }

    /// Returns the value that [`new`](Self::new) was given, in the process that called it; `None` in a child of that one.
    pub fn own(&self) -> Option<&T> {
        (self.forks == forks()).then_some(&self.value)
    }
}
