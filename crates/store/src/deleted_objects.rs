//! The deleted objects of a file. A handle to a deleted object must not take the structures now at its
//! address for the object.

use std::collections::HashMap;

use hyperslab_format::Addr;

/// The deletions of objects, each recorded by the address of the header. Addresses are reused, so each has
/// the time of the deletion.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lives {
    /// For each address, the metadata generation in which the last object there was deleted.
    ended: HashMap<Addr, u64>,
    /// Objects created since the last commit.
    born: Vec<Addr>,
    /// Objects deleted since the last commit, each with the previous entry in `ended`.
    died: Vec<(Addr, Option<u64>)>,
}

impl Lives {
    /// Records objects that a step has created.
    pub(crate) fn born(&mut self, made: Vec<Addr>) {
        self.born.extend(made);
    }

    /// Records objects that a step has deleted; `generation` is that of the file after the step.
    pub(crate) fn died(&mut self, deleted: Vec<Addr>, generation: u64) {
        for at in deleted {
            let before = self.ended.insert(at, generation);
            self.died.push((at, before));
        }
    }

    /// Makes the creations and deletions since the last commit permanent.
    pub(crate) fn committed(&mut self) {
        self.born.clear();
        self.died.clear();
    }

    /// Undoes the creations and deletions since the last commit; `generation` is that of the file afterwards.
    pub(crate) fn roll_back(&mut self, generation: u64) {
        for (at, before) in self.died.drain(..).rev() {
            match before {
                Some(before) => self.ended.insert(at, before),
                None => self.ended.remove(&at),
            };
        }
        self.born.drain(..).for_each(|at| _ = self.ended.insert(at, generation));
    }

    /// Returns whether the object that was at `at` in generation `seen` is deleted.
    pub(crate) fn is_over(&self, at: Addr, seen: u64) -> bool {
        self.ended.get(&at).is_some_and(|&ended| seen < ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_sees_only_the_deletion_of_its_own_object() {
        let (mut lives, at) = (Lives::default(), Addr::new(96));
        lives.died(vec![at], 5);
        assert!(lives.is_over(at, 4) && !lives.is_over(at, 5) && !lives.is_over(Addr::new(8), 4));
        lives.committed();
        lives.died(vec![at], 7);
        assert!(lives.is_over(at, 5));
        lives.roll_back(8);
        assert!(lives.is_over(at, 4) && !lives.is_over(at, 5), "the second object is there again");
        lives.born(vec![at]);
        lives.roll_back(9);
        assert!(lives.is_over(at, 8) && !lives.is_over(at, 9));
    }
}
