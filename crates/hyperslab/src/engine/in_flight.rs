//! How many bytes of stored data the reads of one file hold in memory before they are decoded, over all
//! threads.
//!
//! A request is counted from the moment a driver takes it until its bytes are used, if memory is allocated
//! for it; a request straight into the destination is not. There are two shares. `First` is for the first
//! bytes of Blosc chunks, from which the other ranges are computed. `Rest` is for everything else: what is
//! counted there needs nothing more to be finished. A share that is empty admits any request, so a chunk
//! larger than the budget is read too, alone.
//!
//! No deadlock: a worker waits only outside a driver, when none of its requests is in progress and it can
//! make none without more room. Then it holds nothing of `Rest`. So a worker that holds some of `Rest` does
//! not wait, and gives it back; an empty `Rest` admits a waiting worker, and with what it gets there the
//! worker finishes the chunks that hold its part of `First`. A read inside the work of another read (a
//! function that takes elements may read) is not counted, because the outer read keeps what it holds until
//! the inner ends.

use hyperslab_error::Result;
use hyperslab_io::interrupt;

use super::sync::{AtomicU64, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering};
use super::task_queue::worked;

/// The bytes that the reads of a file may hold, and those they hold.
#[derive(Debug)]
pub(in crate::engine) struct Budget {
    limit: u64,
    used: [AtomicU64; 2],
    /// The number of workers that wait. Only if there are any does giving back take the lock.
    waiting: AtomicUsize,
    gate: Mutex<()>,
    given_back: Condvar,
}

/// The share of the budget that a request is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Share {
    First,
    Rest,
}

/// Bytes of a share.
pub(in crate::engine) type Claim = (Share, u64);

impl Budget {
    pub(in crate::engine) fn new(limit: u64) -> Self {
        Self {
            limit,
            used: Default::default(),
            waiting: AtomicUsize::new(0),
            gate: Mutex::new(()),
            given_back: Condvar::new(),
        }
    }

    pub(in crate::engine) fn limit(&self) -> u64 {
        self.limit
    }

    /// Returns what a share is with `claim`, if the claim is admitted.
    fn with(&self, (share, bytes): Claim, used: u64) -> Option<u64> {
        let first = self.limit / FIRST;
        let most = if share == Share::First { first } else { self.limit - first };
        let sum = used.saturating_add(bytes);
        (used == 0 || sum <= most).then_some(sum)
    }

    fn take(&self, claim: Claim) -> bool {
        let used = &self.used[claim.0 as usize];
        used.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |used| self.with(claim, used)).is_ok()
    }

    /// Waits until `claim` would be admitted.
    ///
    /// Errors: the program of this thread ends the read.
    fn wait(&self, claim: Claim) -> Result<()> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let (mut gate, mut goes_on) = (self.gate.lock(), Ok(()));
        while goes_on.is_ok()
            && self.with(claim, self.used[claim.0 as usize].load(Ordering::SeqCst)).is_none()
        {
            if self.given_back.wait_for(&mut gate, interrupt::ASKED_EVERY).timed_out() {
                // What answers may wait for another thread of this file.
                goes_on = MutexGuard::unlocked(&mut gate, || worked("read", usize::MAX));
            }
        }
        drop(gate);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        goes_on
    }

    fn give_back(&self, (share, bytes): Claim) {
        self.used[share as usize].fetch_sub(bytes, Ordering::SeqCst);
        if self.waiting.load(Ordering::SeqCst) > 0 {
            // A worker that found no room waits by the time the lock is free.
            drop(self.gate.lock());
            self.given_back.notify_all();
        }
    }
}

/// What one worker holds of a budget. It is given back at the end.
#[derive(Debug)]
pub(in crate::engine) struct Held<'b> {
    /// `None` if the worker's memory is not counted.
    budget: Option<&'b Budget>,
    bytes: [u64; 2],
}

impl<'b> Held<'b> {
    pub(in crate::engine) fn new(budget: Option<&'b Budget>) -> Self {
        Self { budget, bytes: [0; 2] }
    }

    /// Takes `claim` if it is admitted now.
    pub(in crate::engine) fn take(&mut self, claim: Claim) -> bool {
        let Some(budget) = self.budget else { return true };
        let is_admitted = budget.take(claim);
        if is_admitted {
            self.bytes[claim.0 as usize] += claim.1;
        }
        is_admitted
    }

    /// Waits until `claim` would be admitted.
    ///
    /// Errors: the program of this thread ends the read.
    pub(in crate::engine) fn wait(&self, claim: Claim) -> Result<()> {
        debug_assert_eq!(
            self.bytes[Share::Rest as usize],
            0,
            "a worker that waits holds nothing of the rest"
        );
        self.budget.map_or(Ok(()), |budget| budget.wait(claim))
    }

    pub(in crate::engine) fn give_back(&mut self, claim: Claim) {
        if let Some(budget) = self.budget.filter(|_| claim.1 > 0) {
            self.bytes[claim.0 as usize] -= claim.1;
            budget.give_back(claim);
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.give_back((Share::First, self.bytes[Share::First as usize]));
        self.give_back((Share::Rest, self.bytes[Share::Rest as usize]));
    }
}

/// The part of the budget that is for the first bytes of Blosc chunks: one in this many.
const FIRST: u64 = 8;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_share_admits_what_fits_and_anything_if_it_is_empty() {
        let budget = Budget::new(800);
        let (mut one, mut two) = (Held::new(Some(&budget)), Held::new(Some(&budget)));
        assert!(one.take((Share::Rest, 700)) && !two.take((Share::Rest, 1)));
        assert!(two.take((Share::First, 1000)), "larger than the share, and alone");
        assert!(!one.take((Share::First, 1)));
        one.give_back((Share::Rest, 300));
        assert!(two.take((Share::Rest, 300)) && !two.take((Share::Rest, 1)));
        drop((one, two));
        let used = budget.used.map(AtomicU64::into_inner);
        assert_eq!(used, [0, 0], "all is given back");
    }

    #[test]
    fn workers_that_wait_go_on_when_there_is_room() {
        for limit in [0, 100] {
            let budget = Budget::new(limit);
            let (now, most) = (AtomicU64::new(0), AtomicU64::new(0));
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        for _ in 0..500 {
                            let mut held = Held::new(Some(&budget));
                            while !held.take((Share::Rest, 40)) {
                                held.wait((Share::Rest, 40)).unwrap();
                            }
                            let sum = now.fetch_add(40, Ordering::SeqCst) + 40;
                            most.fetch_max(sum, Ordering::SeqCst);
                            std::thread::yield_now();
                            now.fetch_sub(40, Ordering::SeqCst);
                        }
                    });
                }
            });
            assert!(most.into_inner() <= limit.max(40), "at most {limit} bytes, or one claim");
        }
    }
}
