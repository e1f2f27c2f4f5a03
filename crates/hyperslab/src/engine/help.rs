//! The help that a call gets from threads of the pool. A thread that has not begun to help when the caller is
//! done need not begin: threads that are busy with a long call do not keep a short one waiting.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::sync::{Arc, AtomicUsize, Condvar, Mutex, Ordering};

/// Work that a caller does, and that other threads may help with until the caller is done.
struct Call {
    /// The work, which the caller borrows.
    work: *const (dyn Fn() + Sync),
    state: Mutex<HelpState>,
    /// A thread has stopped helping.
    stopped: Condvar,
}

#[derive(Default)]
struct HelpState {
    /// Whether the caller is done, so that no other thread begins to help.
    is_over: bool,
    /// The number of threads that help now.
    helping: usize,
    panicked: Option<Box<dyn Any + Send>>,
}

// SAFETY: the work may be done by several threads, since it is `Sync`. `Call::help` says why it still exists.
unsafe impl Send for Call {}
// SAFETY: as above.
unsafe impl Sync for Call {}

/// Does `work` on this thread, and calls `ask` with functions for other threads that help. Returns when
/// `work` has returned on all threads that have begun it.
pub(super) fn with_help(work: &(dyn Fn() + Sync), ask: impl FnOnce(&dyn Fn() -> Help)) {
    let work: *const (dyn Fn() + Sync) = work;
    #[expect(clippy::transmute_ptr_to_ptr, reason = "a cast does not change the lifetime")]
    // SAFETY: this changes the lifetime only. The pointer is used by `Call::help` alone.
    let work =
        unsafe { std::mem::transmute::<*const (dyn Fn() + Sync), *const (dyn Fn() + Sync + 'static)>(work) };
    let call = Arc::new(Call { work, state: Mutex::default(), stopped: Condvar::new() });
    let end = End(&call);
    ask(&|| Help(Arc::clone(&call)));
    call.help();
    drop(end);
    let panicked = call.state.lock().panicked.take();
    if let Some(panic) = panicked {
        resume_unwind(panic);
    }
}

/// One thread's help.
pub(super) struct Help(Arc<Call>);

impl Help {
    /// Does the work, unless the caller is done.
    pub(super) fn give(self) {
        self.0.help();
    }
}

impl Call {
    fn help(&self) {
        {
            let mut state = self.state.lock();
            if state.is_over {
                return;
            }
            state.helping += 1;
        }
        // SAFETY: the caller is in `with_help`, which borrows the work, and does not leave it while a thread
        // helps: `End` waits, also if something panics. Once it has begun to wait, no thread gets here.
        let done = catch_unwind(AssertUnwindSafe(|| unsafe { (*self.work)() }));
        let mut state = self.state.lock();
        state.helping -= 1;
        if let Err(panic) = done {
            state.panicked.get_or_insert(panic);
        }
        self.stopped.notify_all();
    }
}

/// The requests for help, of all calls, that no thread has taken.
pub(super) struct Requests {
    waiting: AtomicUsize,
    most: usize,
}

impl Requests {
    /// Starts with none waiting. About `most` requests may wait: threads that ask at the same time may
    /// each go beyond it by one.
    pub(super) fn new(most: usize) -> Self {
        Self { waiting: AtomicUsize::new(0), most }
    }

    /// Returns a request for `help`, which another thread runs, or `None` if too many wait.
    pub(super) fn ask(requests: &Arc<Self>, help: &dyn Fn() -> Help) -> Option<impl FnOnce() + Send + use<>> {
        if requests.waiting.load(Ordering::Relaxed) >= requests.most {
            return None;
        }
        requests.waiting.fetch_add(1, Ordering::Relaxed);
        let (help, requests) = (help(), Arc::clone(requests));
        Some(move || {
            requests.waiting.fetch_sub(1, Ordering::Relaxed);
            help.give();
        })
    }
}

/// Waits for the threads that help when it is dropped.
struct End<'c>(&'c Call);

impl Drop for End<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.is_over = true;
        while state.helping > 0 {
            self.0.stopped.wait(&mut state);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread;

    #[test]
    fn a_call_waits_for_threads_that_have_begun_and_for_no_others() {
        let (begun, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (say, hear) = mpsc::channel();
        let (mut late, mut thread) = (None, None);
        let work = || {
            let number = begun.fetch_add(1, Ordering::SeqCst);
            if number == 0 {
                // The other thread, which the caller waits for.
                say.send(()).unwrap();
                thread::sleep(std::time::Duration::from_millis(100));
            }
            ended.fetch_add(1, Ordering::SeqCst);
        };
        with_help(&work, |help| {
            let first = help();
            thread = Some(thread::spawn(|| first.give()));
            hear.recv().unwrap();
            late = Some(help());
        });
        assert_eq!((begun.load(Ordering::SeqCst), ended.load(Ordering::SeqCst)), (2, 2));
        late.unwrap().give();
        assert_eq!(begun.load(Ordering::SeqCst), 2, "help that comes too late");
        thread.unwrap().join().unwrap();
    }

    #[test]
    fn a_panic_of_any_thread_is_one_of_the_caller() {
        for panicking in [0, 1] {
            let begun = AtomicUsize::new(0);
            let (say, hear) = mpsc::channel();
            let work = || {
                let number = begun.fetch_add(1, Ordering::SeqCst);
                say.send(()).unwrap();
                assert!(number != panicking, "thread {number}");
            };
            let call = AssertUnwindSafe(|| {
                with_help(&work, |help| {
                    let help = help();
                    thread::spawn(|| help.give());
                    hear.recv().unwrap();
                });
            });
            let panic = catch_unwind(call).unwrap_err();
            assert_eq!(panic.downcast_ref::<String>().unwrap(), &format!("thread {panicking}"));
            assert_eq!(begun.load(Ordering::SeqCst), 2);
        }
    }
}
