//! The tasks of a read or a write, which workers claim a few at a time.

use super::sync::{Arc, AtomicBool, AtomicUsize, Ordering};

/// The tasks that workers claim, a few at a time.
pub(super) struct Claims<'t, T> {
    tasks: &'t [T],
    workers: usize,
    /// The most tasks of one claim.
    most: usize,
    /// The tasks that each worker may have in progress, however few are left: a medium that serves many
    /// requests at once gets all of them at once.
    share: usize,
    next: AtomicUsize,
    /// The number of tasks that are claimed or that a medium was told to fetch.
    told: AtomicUsize,
    /// `None` for a single worker.
    has_failed: Option<Arc<AtomicBool>>,
}

impl<'t, T> Claims<'t, T> {
    /// Creates the claims of a single worker.
    pub(super) fn all(tasks: &'t [T]) -> Self {
        Self {
            tasks,
            workers: 1,
            most: tasks.len(),
            share: 0,
            next: 0.into(),
            told: 0.into(),
            has_failed: None,
        }
    }

    /// Creates the claims of `workers` workers. Each may have `share` tasks in progress, and claims up
    /// to `most` at a time, until `has_failed` says that one of them has failed.
    pub(super) fn shared(
        tasks: &'t [T],
        workers: usize,
        share: usize,
        most: usize,
        has_failed: &Arc<AtomicBool>,
    ) -> Self {
        Self { workers, most, share, has_failed: Some(Arc::clone(has_failed)), ..Self::all(tasks) }
    }

    /// Returns the next tasks for a worker with `under_way` tasks in progress. The slice is empty if no tasks
    /// are left, or if the worker has its share of the remaining tasks, so that others have work while it
    /// waits.
    pub(super) fn take(&self, under_way: usize) -> &'t [T] {
        let left = self.tasks.len().saturating_sub(self.next.load(Ordering::Relaxed));
        let enough = (left / self.workers).max(self.share);
        let is_enough = self.workers > 1 && under_way > 0 && under_way >= enough;
        let has_failed = self.has_failed.as_ref().is_some_and(|failed| failed.load(Ordering::Relaxed));
        if left == 0 || is_enough || has_failed {
            return &[];
        }
        let start = self.next.fetch_add(self.most, Ordering::Relaxed);
        let rest = self.tasks.get(start..).unwrap_or_default();
        &rest[..self.most.min(rest.len())]
    }

    /// Returns up to `most` tasks that no worker has claimed and no medium was told to fetch. Workers that
    /// call this at the same time may get the same tasks.
    pub(super) fn untold(&self, most: usize) -> &'t [T] {
        let start = self.told.load(Ordering::Relaxed).max(self.next.load(Ordering::Relaxed));
        let rest = self.tasks.get(start..).unwrap_or_default();
        let untold = &rest[..most.min(rest.len())];
        self.told.store(start + untold.len(), Ordering::Relaxed);
        untold
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Returns the number of tasks that a worker takes, one by one, before the first of them is done.
    fn fill(claims: &Claims<'_, u32>) -> usize {
        let mut under_way = 0;
        while !claims.take(under_way).is_empty() {
            under_way += 1;
        }
        under_way
    }

    #[test]
    fn no_task_waits_for_a_worker_if_the_medium_serves_all_at_once() {
        let tasks: Vec<u32> = (0..20).collect();
        let claims = Claims { workers: 2, most: 1, share: 10, ..Claims::all(&tasks) };
        assert_eq!((fill(&claims), fill(&claims)), (10, 10));
    }

    #[test]
    fn a_waiting_worker_leaves_tasks_to_others() {
        let tasks: Vec<u32> = (0..100).collect();
        let claims = Claims { workers: 2, most: 1, ..Claims::all(&tasks) };
        let (first, second) = (fill(&claims), fill(&claims));
        assert!((30..=50).contains(&first), "a driver that takes any number: {first}");
        assert!((20..=50).contains(&second), "{second} for the second worker");
        assert!(first + second < 100, "some tasks are left for the first worker to finish");
        let left = 100 - first - second;
        assert_eq!([5, 100, 100].map(|most| claims.untold(most).len()), [5, left - 5, 0]);
        // A worker with no task in progress gets the rest, one by one.
        assert_eq!(
            (first + second..100).filter(|_| !claims.take(0).is_empty()).count(),
            100 - first - second
        );
        assert!(claims.take(0).is_empty());
    }
}
