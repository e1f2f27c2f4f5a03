//! How a program ends its reads and writes before their end, as on Ctrl-C.
//!
//! Signals do not reach the threads of the pool, and a thread that works does not return to its program. So
//! the thread that called asks its program now and then whether to end, and the other threads of the call
//! end with it.

use std::cell::{Cell, RefCell};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// What a thread does while it asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// It reads or writes, and holds locks of the file: the program must not use the file now.
    Working,
    /// It waits for a server.
    Waiting,
}

/// A function that returns an error, of the kind `Interrupted`, if the work of the calling thread has to end.
pub type Poll = fn(Doing) -> io::Result<()>;

static POLL: OnceLock<Poll> = OnceLock::new();

/// Sets the function that threads ask: those that wait for a server about 20 times in a second, and those
/// that [`heed`] it about 10 times in a second of work.
///
/// Only the first call has an effect.
pub fn set_poll(poll: Poll) {
    // A second function would be one of another program in this process.
    let _ = POLL.set(poll);
}

/// The state of a thread that works.
struct Thread {
    /// Whether its work may end before its end.
    heeds: Cell<bool>,
    /// The bytes to work on before the clock is looked at.
    left: Cell<usize>,
    asked: Cell<Option<Instant>>,
}

thread_local! {
    static THREAD: Thread =
        const { Thread { heeds: Cell::new(false), left: Cell::new(0), asked: Cell::new(None) } };
    /// Whether other threads of the same call have failed, so that this one need not go on.
    static OTHERS: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Does work that may end before its end: it leaves nothing that is wrong if it fails at any place.
pub fn heed<R>(work: impl FnOnce() -> R) -> R {
    let _before = Heeded::set(true);
    work()
}

/// Does work in several steps that must all be done.
pub fn ignore<R>(work: impl FnOnce() -> R) -> R {
    let (_before, _others) = (Heeded::set(false), Others::set(None));
    work()
}

/// Does a thread's part of work that several threads do together, which ends once one of them has failed.
pub fn together<R>(has_failed: &Arc<AtomicBool>, work: impl FnOnce() -> R) -> R {
    let _others = Others::set(Some(Arc::clone(has_failed)));
    work()
}

/// Sets what was before when it is dropped, also if the work panics.
struct Heeded(bool);

impl Heeded {
    fn set(heeds: bool) -> Self {
        Self(THREAD.with(|thread| thread.heeds.replace(heeds)))
    }
}

impl Drop for Heeded {
    fn drop(&mut self) {
        THREAD.with(|thread| thread.heeds.set(self.0));
    }
}

struct Others(Option<Arc<AtomicBool>>);

impl Others {
    fn set(others: Option<Arc<AtomicBool>>) -> Self {
        Self(OTHERS.replace(others))
    }
}

impl Drop for Others {
    fn drop(&mut self) {
        OTHERS.set(self.0.take());
    }
}

/// Says that a thread has worked on `bytes` bytes in `steps` steps since it said so last.
///
/// Errors: `Interrupted`, if the work has to end, or another thread of it has failed.
#[inline]
pub fn after(steps: usize, bytes: usize) -> io::Result<()> {
    THREAD.with(|thread| {
        let (left, done) = (thread.left.get(), bytes.saturating_add(steps.saturating_mul(STEP)));
        if done < left {
            thread.left.set(left - done);
            return Ok(());
        }
        thread.left.set(LOOKED_AFTER);
        thread.ask()
    })
}

impl Thread {
    #[cold]
    fn ask(&self) -> io::Result<()> {
        if OTHERS.with_borrow(|others| others.as_ref().is_some_and(|failed| failed.load(Ordering::Relaxed))) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let Some(poll) = POLL.get().filter(|_| self.heeds.get()) else { return Ok(()) };
        let now = Instant::now();
        if self.asked.get().is_some_and(|last| now.duration_since(last) < ASKED_EVERY) {
            return Ok(());
        }
        self.asked.set(Some(now));
        poll(Doing::Working)
    }
}

/// Asks on behalf of a thread that waits for a server.
pub fn waiting() -> io::Result<()> {
    POLL.get().map_or(Ok(()), |poll| poll(Doing::Waiting))
}

/// How often a thread that works asks. The program may have to wait for a lock of its own to answer.
pub const ASKED_EVERY: Duration = Duration::from_millis(100);
/// The bytes after which a thread looks at the clock, which takes as long as copying a few hundred of them.
const LOOKED_AFTER: usize = 64 << 10;
/// What a step counts besides its bytes, as bytes.
const STEP: usize = 4 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_thread_asks_only_for_work_that_heeds_and_now_and_then() {
        static ASKED: AtomicUsize = AtomicUsize::new(0);
        set_poll(|doing| {
            assert_eq!(doing, Doing::Working);
            ASKED.fetch_add(1, Ordering::Relaxed);
            Err(io::ErrorKind::Interrupted.into())
        });
        let asked = || ASKED.load(Ordering::Relaxed);
        after(1, usize::MAX).unwrap();
        assert_eq!(asked(), 0, "work that does not heed");
        heed(|| {
            ignore(|| after(1, usize::MAX)).unwrap();
            assert_eq!(asked(), 0, "work inside that must be done");
            assert_eq!(after(1, usize::MAX).unwrap_err().kind(), io::ErrorKind::Interrupted);
            let since = Instant::now();
            let soon = after(1, usize::MAX);
            assert!(soon.is_ok() || since.elapsed() >= ASKED_EVERY, "it asked a moment ago");
            std::thread::sleep(ASKED_EVERY);
            let before = asked();
            let steps = (0..=LOOKED_AFTER).position(|_| after(1, 1).is_err()).unwrap();
            assert!(steps <= LOOKED_AFTER / STEP, "{steps} small steps");
            assert_eq!(asked(), before + 1);
        });
        std::thread::sleep(ASKED_EVERY);
        after(1, usize::MAX).unwrap();
    }

    #[test]
    fn a_thread_ends_when_another_one_of_its_call_has_failed() {
        let failed = Arc::new(AtomicBool::new(false));
        together(&failed, || {
            after(1, usize::MAX).unwrap();
            failed.store(true, Ordering::Relaxed);
            ignore(|| after(1, usize::MAX)).unwrap();
            assert_eq!(after(1, usize::MAX).unwrap_err().kind(), io::ErrorKind::Interrupted);
        });
        after(1, usize::MAX).unwrap();
    }
}
