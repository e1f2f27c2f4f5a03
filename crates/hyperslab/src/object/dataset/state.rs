//! What all handles of a dataset share while its file is open, beside what its header says: locks, counts of
//! changes, and a setting that files do not store.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use hyperslab_format::Addr;
use hyperslab_store::{Rank, Ranked};
use parking_lot::{Mutex, RwLock};

use super::table_lock::RowsLock;
use crate::object::{Dataset, File};

/// What the handles of one dataset share.
#[derive(Debug)]
pub(in crate::object) struct DatasetState {
    /// Writers of whole chunks share this lock; other writers hold it exclusively.
    pub(in crate::object) data: Ranked<RwLock<()>>,
    /// Reads share this lock; a thread that shrinks the dataset holds it exclusively. It is taken after the
    /// lock of the data.
    pub(super) shape: Ranked<RwLock<()>>,
    pub(super) rows: RowsLock,
    /// The changes of elements; see [`Dataset::changes`].
    pub(super) changes: AtomicU64,
    /// Whether chunks that hold only the fill value are left out, and the generation of the handle that said
    /// so: another dataset may have the address later.
    pub(super) skips_fill: Mutex<Option<(u64, bool)>>,
}

/// The states of the datasets of a file, by the addresses of their headers.
#[derive(Debug, Default)]
pub(in crate::object) struct DatasetStates {
    known: Mutex<KnownStates>,
    /// The changes that concern all datasets: transactions that were undone.
    undone: AtomicU64,
    /// Whether datasets without a setting of their own leave out chunks that hold only the fill value.
    pub(super) skips_fill: AtomicBool,
}

#[derive(Debug, Default)]
struct KnownStates {
    by_address: HashMap<Addr, Arc<DatasetState>>,
    /// A new state begins with this number of changes, so that no number falls when a state is removed.
    first_changes: u64,
    /// The number of states from which on those that no handle uses are removed.
    many: usize,
}

impl DatasetState {
    fn new(file: u32, changes: u64) -> Self {
        let lock = |rank| Ranked::new(file, rank, RwLock::default());
        Self {
            data: lock(Rank::Dataset),
            shape: lock(Rank::Shape),
            rows: RowsLock::new(lock(Rank::Rows)),
            changes: changes.into(),
            skips_fill: Mutex::default(),
        }
    }
}

impl DatasetStates {
    fn of(&self, dataset: Addr, file: u32) -> Arc<DatasetState> {
        let mut known = self.known.lock();
        if let Some(state) = known.by_address.get(&dataset) {
            return Arc::clone(state);
        }
        known.shrink();
        let state = Arc::new(DatasetState::new(file, known.first_changes));
        known.by_address.insert(dataset, Arc::clone(&state));
        state
    }

    /// Returns how many changes may have concerned any dataset.
    pub(super) fn undone(&self) -> u64 {
        self.undone.load(Ordering::Acquire)
    }

    /// Counts a change that may concern any dataset.
    pub(in crate::object) fn count_for_all(&self) {
        self.undone.fetch_add(1, Ordering::AcqRel);
    }
}

impl KnownStates {
    /// Removes states without a handle and without a setting, if there are many.
    fn shrink(&mut self) {
        if self.by_address.len() < self.many.max(MANY) {
            return;
        }
        self.by_address.retain(|_, state| {
            // No lock with a rank is taken here: a thread with the GIL may wait for this one.
            if Arc::strong_count(state) > 1 || state.skips_fill.lock().is_some() {
                return true;
            }
            self.first_changes = self.first_changes.max(state.changes.load(Ordering::Acquire));
            false
        });
        self.many = 2 * self.by_address.len();
    }
}

impl File {
    /// Returns what the handles of the dataset with this header share.
    pub(in crate::object) fn dataset_state(&self, dataset: Addr) -> Arc<DatasetState> {
        self.shared().datasets.of(dataset, self.store().number())
    }
}

impl Dataset {
    /// Returns what all handles of the dataset share.
    pub(in crate::object) fn state(&self) -> &DatasetState {
        self.state.get(|_| OnceLock::default()).get_or_init(|| self.file().dataset_state(self.address()))
    }
}

/// The least number of states from which on those that no handle uses are removed.
const MANY: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_that_are_in_use_or_set_stay_and_the_number_of_changes_never_falls() {
        let file = File::in_memory().expect("a file");
        let make = |name: &str| file.root().new_dataset::<u8>(name).shape([4]).create().expect("a dataset");
        let (used, set, unused) = (make("used"), make("set"), make("unused"));
        let state = file.dataset_state(used.address());
        set.set_skip_fill_chunks(true);
        unused.write(.., &[1_u8; 4]).expect("written");
        let (at, changes) = (unused.address(), unused.changes());
        let set_at = set.address();
        drop((set, unused));
        for number in 0..10 * MANY as u64 {
            file.dataset_state(Addr::new(number << 32));
        }
        assert!(file.shared().datasets.known.lock().by_address.len() <= MANY);
        assert!(Arc::ptr_eq(&state, &file.dataset_state(used.address())));
        let reopened = |at| file.object_at(at).and_then(crate::Node::into_dataset).expect("a dataset");
        assert!(reopened(set_at).skips_fill_chunks());
        assert!(reopened(at).changes() >= changes);
    }
}
