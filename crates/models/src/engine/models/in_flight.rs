//! Workers that wait for room in the memory of requests.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

use crate::engine::in_flight::{Budget, Held, Share};
use crate::explore;

/// Takes `bytes`, waits where there is no room, and gives them back. `sum` is what all threads hold.
fn work(budget: &Budget, bytes: u64, sum: &AtomicU64) {
    let mut held = Held::new(Some(budget));
    while !held.take((Share::Rest, bytes)) {
        held.wait((Share::Rest, bytes)).unwrap();
    }
    let most = budget.limit().max(bytes);
    assert!(sum.fetch_add(bytes, Ordering::Relaxed) + bytes <= most, "at most the budget, or one claim");
    sum.fetch_sub(bytes, Ordering::Relaxed);
}

fn workers(limit: u64, bytes: &'static [u64]) {
    let (budget, sum) = (Arc::new(Budget::new(limit)), Arc::new(AtomicU64::new(0)));
    let others: Vec<_> = bytes[1..]
        .iter()
        .map(|&bytes| {
            let (budget, sum) = (Arc::clone(&budget), Arc::clone(&sum));
            thread::spawn(move || work(&budget, bytes, &sum))
        })
        .collect();
    work(&budget, bytes[0], &sum);
    for other in others {
        other.join().unwrap();
    }
    assert!(Held::new(Some(&budget)).take((Share::Rest, u64::MAX)), "all is given back");
}

#[test]
fn a_worker_that_waits_goes_on_when_there_is_room() {
    explore(5, || workers(80, &[40, 40]));
}

#[test]
fn also_one_that_needs_more_than_there_is() {
    explore(5, || workers(0, &[40, 50]));
}

#[test]
fn also_two_that_wait_for_a_third() {
    explore(3, || workers(0, &[40, 40, 40]));
}
