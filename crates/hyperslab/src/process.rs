//! Which process this is. A forked child has a copy of everything in memory, but not the threads: a lock that another
//! thread held at the fork stays locked for ever, and files belong to the parent.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The process id in the upper half, and how many forks lie between the first process and this one in the lower.
static PROCESS: AtomicU64 = AtomicU64::new(0);

/// Returns how many forks lie between the first process that used this crate and this one, as far as they were
/// [noticed](notice_fork). It costs one load.
#[inline]
pub fn forks() -> u32 {
    lower_half(PROCESS.load(Ordering::Acquire))
}

/// Asks the system which process this is and returns [`forks`]. Whatever changes a file, opens or closes one, or hands
/// work to other threads asks; a host that is told of forks (Python is) calls this in the child before anything else.
pub fn notice_fork() -> u32 {
    let id = u64::from(std::process::id()) << 32;
    let mut known = PROCESS.load(Ordering::Acquire);
    while known & !LOWER != id {
        let forks = if known == 0 { 0 } else { u64::from(lower_half(known).wrapping_add(1)) };
        match PROCESS.compare_exchange(known, id | forks, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return lower_half(forks),
            Err(other) => known = other,
        }
    }
    lower_half(known)
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
        Self { forks: notice_fork(), value, child: OnceLock::new() }
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
        (self.forks == notice_fork()).then_some(&self.value)
    }
}

fn lower_half(process: u64) -> u32 {
    u32::try_from(process & LOWER).unwrap_or(u32::MAX)
}

const LOWER: u64 = u32::MAX as u64;
