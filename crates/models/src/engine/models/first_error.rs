//! The first error of threads that end when one of them has failed.

use loom::sync::Arc;
use loom::sync::atomic::Ordering;
use loom::thread;

use crate::engine::first_error::FirstError;
use crate::explore;

#[test]
fn the_error_of_a_thread_that_ends_because_another_failed_is_not_the_first() {
    explore(3, || {
        let first = Arc::new(FirstError::default());
        let others: Vec<_> = (0..2)
            .map(|_| {
                let first = Arc::clone(&first);
                thread::spawn(move || {
                    let is_over = first.has_failed().load(Ordering::Relaxed);
                    first.note(if is_over { Err("another one failed") } else { Ok(()) });
                })
            })
            .collect();
        first.note(Err("the medium failed"));
        for other in others {
            other.join().unwrap();
        }
        let first = Arc::try_unwrap(first).ok().expect("no other thread has it");
        assert_eq!(first.into_result(), Err("the medium failed"));
    });
}
