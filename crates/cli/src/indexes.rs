//! The groups of the indexes of tables, which commands leave out unless the user names them.

use std::sync::Arc;

use hyperslab::{Node, Step};
use hyperslab_tables::index;

/// Tells which steps of a walk lead to the indexes of tables.
#[derive(Default)]
pub(crate) struct Indexes {
    /// The number of groups of indexes so far.
    pub(crate) count: u64,
    /// The last one. What is below a group comes directly after it.
    last: Option<Arc<str>>,
}

impl Indexes {
    /// Returns whether the next step of the walk leads to a group of indexes, or to something below one.
    pub(crate) fn have(&mut self, step: &Step) -> bool {
        if let Some(Ok(Node::Group(group))) = &step.node
            && index::holds_indexes(group).unwrap_or(false)
        {
            self.count += 1;
            self.last = Some(Arc::clone(&step.path));
            return true;
        }
        let is_below =
            |group: &Arc<str>| step.path.strip_prefix(&**group).is_some_and(|rest| rest.starts_with('/'));
        self.last.as_ref().is_some_and(is_below)
    }
}
