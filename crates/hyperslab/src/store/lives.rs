//! Which objects are gone: who still has a handle to one must not take what stands at its address now for the object.

use std::collections::HashMap;

use hyperslab_format::Addr;

/// Ends of objects, each known by the address of its header. Addresses are used again, so what counts is when.
#[derive(Debug, Clone, Default)]
pub(super) struct Lives {
    /// The generation of the file's metadata in which the last object at an address was gone.
    ended: HashMap<Addr, u64>,
    /// Made since the last commit.
    born: Vec<Addr>,
    /// Deleted since the last commit, and what was known of the address before.
    died: Vec<(Addr, Option<u64>)>,
}

impl Lives {
    /// A step has made objects.
    pub(super) fn born(&mut self, made: Vec<Addr>) {
        self.born.extend(made);
    }

    /// A step has deleted objects; `generation` is that of the file after it.
    pub(super) fn died(&mut self, deleted: Vec<Addr>, generation: u64) {
        for at in deleted {
            let before = self.ended.insert(at, generation);
            self.died.push((at, before));
        }
    }

    /// What was made and deleted stays so.
    pub(super) fn committed(&mut self) {
        self.born.clear();
        self.died.clear();
    }

    /// What was deleted since the last commit is there again, and what was made is not; `generation` is that of the file
    /// after it.
    pub(super) fn roll_back(&mut self, generation: u64) {
        for (at, before) in self.died.drain(..).rev() {
            match before {
                Some(before) => self.ended.insert(at, before),
                None => self.ended.remove(&at),
            };
        }
        self.born.drain(..).for_each(|at| _ = self.ended.insert(at, generation));
    }

    /// Whether the object that was at `at` in a generation is gone.
    pub(super) fn is_over(&self, at: Addr, seen: u64) -> bool {
        self.ended.get(&at).is_some_and(|&ended| seen < ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_to_the_object_of_its_own_time() {
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
