//! Counts of the handles that Python holds of an open file, for `h5f.get_obj_count`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyperslab::Node;

/// The number of handles of each kind: files, datasets, groups, committed datatypes.
#[derive(Debug, Default)]
pub(crate) struct Handles([AtomicUsize; 4]);

impl Handles {
    /// Returns the numbers as they are now.
    pub(crate) fn counts(&self) -> [usize; 4] {
        self.0.each_ref().map(|count| count.load(Ordering::Relaxed))
    }
}

/// One handle, which counts as long as it lives.
#[derive(Debug)]
pub(crate) struct Handle {
    handles: Arc<Handles>,
    kind: usize,
}

impl Handle {
    /// Counts a handle of an object, or of the file itself.
    pub(crate) fn new(handles: &Arc<Handles>, node: &Node, is_file: bool) -> Self {
        let kind = match node {
            Node::Group(_) if is_file => 0,
            Node::Dataset(_) => 1,
            Node::Group(_) => 2,
            Node::Datatype(_) => 3,
        };
        handles.0[kind].fetch_add(1, Ordering::Relaxed);
        Self { handles: Arc::clone(handles), kind }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.handles.0[self.kind].fetch_sub(1, Ordering::Relaxed);
    }
}
