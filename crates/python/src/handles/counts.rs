//! Counts of the handles that Python holds of open files, for `h5f.get_obj_count`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use hyperslab::Node;
use pyo3::prelude::*;

use crate::handles::object::HLObject;
use crate::opening::state::FileState;

/// The number of handles of each kind: files, datasets, groups, committed datatypes.
#[derive(Debug, Default)]
pub(crate) struct Handles([AtomicUsize; 4]);

/// All openings of files, also those that have been closed.
static OPENINGS: Mutex<Vec<Weak<FileState>>> = Mutex::new(Vec::new());

/// Notes an opening of a file.
pub(crate) fn note(state: &Arc<FileState>) {
    let mut openings = OPENINGS.lock().unwrap_or_else(PoisonError::into_inner);
    if openings.len() == openings.capacity() {
        openings.retain(|opening| opening.strong_count() > 0);
    }
    openings.push(Arc::downgrade(state));
}

/// One handle, which counts as long as it lives.
#[derive(Debug)]
pub(crate) struct Handle {
    state: Arc<FileState>,
    kind: usize,
}

impl Handle {
    /// Counts a handle of an object, or of the file itself.
    pub(crate) fn new(state: &Arc<FileState>, node: &Node, is_file: bool) -> Self {
        let kind = match node {
            Node::Group(_) if is_file => 0,
            Node::Dataset(_) => 1,
            Node::Group(_) => 2,
            Node::Datatype(_) => 3,
        };
        state.handles.0[kind].fetch_add(1, Ordering::Relaxed);
        Self { state: Arc::clone(state), kind }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.state.handles.0[self.kind].fetch_sub(1, Ordering::Relaxed);
    }
}

/// Returns the numbers of handles of open files, datasets, groups and committed datatypes: of all files, or
/// of the file of an object.
#[pyfunction]
#[pyo3(name = "_handle_counts", signature = (object=None))]
pub(crate) fn handle_counts(object: Option<&Bound<'_, HLObject>>) -> [usize; 4] {
    let openings: Vec<_> = {
        let openings = OPENINGS.lock().unwrap_or_else(PoisonError::into_inner);
        openings.iter().filter_map(Weak::upgrade).collect()
    };
    let wanted = object.map(|object| object.get().state.identity());
    let mut counts = [0; 4];
    for state in openings {
        if state.is_open() && wanted.is_none_or(|wanted| wanted == state.identity()) {
            for (count, handles) in counts.iter_mut().zip(&state.handles.0) {
                *count += handles.load(Ordering::Relaxed);
            }
        }
    }
    counts
}
