//! A caller lends its work to threads that help, and has it back when it returns.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use crate::engine::help::with_help;
use crate::explore;

/// What the caller lends. loom reports a thread that looks at it after the caller has it back, or at the same
/// time as the caller changes it.
struct Lent(UnsafeCell<usize>);

// SAFETY: loom checks each access.
unsafe impl Send for Lent {}
// SAFETY: as above.
unsafe impl Sync for Lent {}

impl Lent {
    fn look(&self) {
        // SAFETY: loom reports a change at the same time, before the pointer is used.
        assert_eq!(self.0.with(|value| unsafe { *value }), 1);
    }

    fn take_back(&self) {
        // SAFETY: as above.
        self.0.with_mut(|value| unsafe { *value = 0 });
    }
}

fn lend(helpers: usize) {
    let lent = Arc::new(Lent(UnsafeCell::new(1)));
    // The work outlives the model, so that a fault is loom's report and no use of freed memory.
    let work: &'static (dyn Fn() + Sync) = {
        let lent = Arc::clone(&lent);
        Box::leak(Box::new(move || lent.look()))
    };
    let mut threads = Vec::new();
    with_help(work, |help| {
        for _ in 0..helpers {
            let help = help();
            threads.push(thread::spawn(move || help.give()));
        }
    });
    lent.take_back();
    for thread in threads {
        thread.join().unwrap();
    }
    // SAFETY: no thread is left that has the work.
    drop(unsafe { Box::from_raw(std::ptr::from_ref(work).cast_mut()) });
}

#[test]
fn a_caller_has_its_work_back_once_all_that_began_are_done() {
    explore(5, || lend(1));
}

#[test]
fn also_with_two_threads_that_help() {
    explore(3, || lend(2));
}
