//! The count of requests for help that wait.

use loom::sync::Arc;
use loom::thread;

use crate::engine::help::{Requests, with_help};
use crate::explore;

#[test]
fn the_count_is_that_of_requests_that_no_thread_has_taken() {
    explore(3, || {
        let requests = Arc::new(Requests::new(1));
        let mut threads = Vec::new();
        for _ in 0..2 {
            let requests = Arc::clone(&requests);
            threads.push(thread::spawn(move || {
                let mut taken = Vec::new();
                with_help(&|| {}, |help| taken.extend(Requests::ask(&requests, help)));
                let asked = taken.len();
                for request in taken {
                    request();
                }
                asked
            }));
        }
        let asked: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert!(asked >= 1, "a request is refused only while another one waits");
        with_help(&|| {}, |help| {
            let first = Requests::ask(&requests, help).expect("no request waits any more");
            assert!(Requests::ask(&requests, help).is_none(), "one waits");
            first();
        });
    });
}
