//! Workers that claim tasks.

use loom::sync::Arc;
use loom::sync::atomic::AtomicBool;
use loom::thread;

use crate::engine::claims::Claims;
use crate::explore;

/// Has `workers` threads take all tasks, and counts how often each was taken.
fn take_all(tasks: usize, workers: usize, most: usize, share: usize, fills: bool) {
    let numbers: &'static [usize] = &[0, 1, 2, 3];
    let has_failed = Arc::new(AtomicBool::new(false));
    let claims = Arc::new(Claims::shared(&numbers[..tasks], workers, share, most, &has_failed));
    let work = move |claims: &Claims<'static, usize>| {
        let mut taken = Vec::new();
        loop {
            let mut under_way = 0;
            loop {
                let mine = claims.take(under_way);
                taken.extend_from_slice(mine);
                under_way += mine.len();
                // A worker looks ahead to what the medium may fetch.
                if mine.is_empty() || !fills {
                    break;
                }
                assert!(claims.untold(1).len() <= 1);
            }
            if under_way == 0 {
                return taken;
            }
        }
    };
    let others: Vec<_> = (1..workers)
        .map(|_| {
            let claims = Arc::clone(&claims);
            thread::spawn(move || work(&claims))
        })
        .collect();
    let mut taken = work(&claims);
    for other in others {
        taken.extend(other.join().unwrap());
    }
    taken.sort_unstable();
    assert_eq!(taken, numbers[..tasks], "each task once");
}

#[test]
fn each_task_is_claimed_once() {
    explore(5, || take_all(3, 2, 1, 0, false));
}

#[test]
fn also_several_at_a_time_and_not_evenly() {
    explore(5, || take_all(3, 2, 2, 0, false));
}

#[test]
fn also_by_workers_that_fill_their_window() {
    explore(5, || take_all(2, 2, 1, 1, true));
}

#[test]
fn also_by_three_workers() {
    explore(3, || take_all(2, 3, 1, 0, false));
}
