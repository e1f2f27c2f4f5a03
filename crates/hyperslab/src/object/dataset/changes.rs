//! Counts the changes of the elements of datasets. A value that was derived from elements is stale if the
//! count has risen.

use std::sync::atomic::Ordering;

use crate::object::Dataset;

/// Counts a change when it begins and when it ends: what was read in between is stale, too.
#[must_use]
pub(in crate::object) struct Changing<'a>(&'a Dataset);

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        self.0.count_change();
    }
}

impl Dataset {
    /// Returns a number that rises whenever elements of the dataset change in this process, through any
    /// handle, and when a refresh shows the changes of another process.
    #[doc(hidden)]
    pub fn changes(&self) -> u64 {
        let undone = self.file().shared().datasets.undone();
        self.state().changes.load(Ordering::Acquire) + undone + self.store().epoch()
    }

    /// Counts a change of elements that begins now and ends when the result is dropped.
    pub(in crate::object) fn changing(&self) -> Changing<'_> {
        self.count_change();
        Changing(self)
    }

    fn count_change(&self) {
        self.state().changes.fetch_add(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use crate::{Error, File, RequestError};

    #[test]
    fn every_change_of_elements_counts_and_no_other() {
        let file = File::in_memory().expect("a file");
        let make = |name: &str| file.root().new_dataset::<u8>(name).shape([4]).max_shape([None]).chunks([4]);
        let (one, other) = (make("a").create().expect("a dataset"), make("b").create().expect("a dataset"));
        let mut last = one.changes();
        let mut rises = |what: &str| {
            let now = one.changes();
            assert!(std::mem::replace(&mut last, now) < now, "{what} is a change");
        };
        one.write(.., &[1_u8, 2, 3, 4]).expect("written");
        rises("a write");
        one.write(0..1, &[1_u8]).expect("written");
        rises("a write of a part");
        one.resize([3]).expect("resized");
        rises("a resize");
        one.write_stored_chunk(&[0], 0, &[5, 6, 7, 8]).expect("stored");
        rises("a stored chunk");
        let stop = || Err::<(), _>(Error::from(RequestError::NoSuchAttribute { name: String::new() }));
        file.transaction(|| one.write(0..1, &[1_u8]).and_then(|()| stop())).expect_err("undone");
        rises("a transaction that is undone");
        let before = one.changes();
        other.write(.., &[1_u8, 2, 3, 4]).expect("written");
        one.set_attribute("a", 1).expect("an attribute");
        assert_eq!(one.read::<u8>(..).expect("elements"), [5, 6, 7]);
        assert_eq!(one.changes(), before, "neither reads, attributes nor other datasets count");
    }
}
