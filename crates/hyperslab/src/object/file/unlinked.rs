//! Objects to which no link leads yet. They stay while the file is open. Closing the file deletes those that
//! are still without a link.

use hyperslab_error::Result;
use hyperslab_format::Addr;
use hyperslab_store::Txn;

use super::create::new_group;
use crate::object::dataset::create;
use crate::object::dataset::options::DatasetOptions;
use crate::object::header::edit::add_reference;
use crate::object::{Dataset, File, Group, Node, delete};

/// The headers of objects to which no link leads.
#[derive(Debug, Default)]
pub(in crate::object) struct Unlinked {
    now: Vec<Addr>,
    /// The headers before the current transaction, if there is one.
    before: Option<Vec<Addr>>,
}

impl Unlinked {
    /// Notes that a link leads to the object.
    pub(in crate::object) fn forget(&mut self, address: Addr) {
        self.now.retain(|&known| known != address);
    }

    /// Notes the begin of a transaction, which may be undone.
    pub(in crate::object) fn begin(&mut self) {
        self.before = Some(self.now.clone());
    }

    /// Notes the end of the transaction.
    pub(in crate::object) fn end(&mut self, is_kept: bool) {
        if let (Some(before), false) = (self.before.take(), is_kept) {
            self.now = before;
        }
    }
}

impl File {
    /// Creates a group to which no link leads. [`Group::link_to`] creates a link; without one, the group is
    /// deleted with the last handle of the file.
    #[doc(hidden)]
    pub fn create_unlinked_group(&self, track_order: bool) -> Result<Group> {
        let version = self.version();
        self.create_unlinked(|txn| new_group(txn, version, track_order).map(|header| header.address()))?
            .into_group()
    }

    /// Creates a dataset to which no link leads. [`Group::link_to`] creates a link; without one, the dataset
    /// is deleted with the last handle of the file.
    #[doc(hidden)]
    pub fn create_unlinked_dataset(&self, options: &DatasetOptions) -> Result<Dataset> {
        let version = self.version();
        let make = |txn: &mut Txn<'_>| create::make_checked(txn, version, options);
        let dataset = self.create_unlinked(make)?.into_dataset()?;
        options.skip_fill_chunks.into_iter().for_each(|skips| dataset.set_skip_fill_chunks(skips));
        Ok(dataset)
    }

    fn create_unlinked(&self, make: impl FnOnce(&mut Txn<'_>) -> Result<Addr>) -> Result<Node> {
        let address = self.store().step(|txn| {
            let address = make(txn)?;
            add_reference(txn, address, -1)?;
            Ok(address)
        })?;
        self.shared().unlinked.lock().now.push(address);
        self.object_at(address)
    }

    /// Deletes the objects to which no link leads. Their handles become useless.
    #[doc(hidden)]
    pub fn delete_unlinked(&self) -> Result<()> {
        let unlinked = std::mem::take(&mut self.shared().unlinked.lock().now);
        for address in unlinked {
            let deleted = self.store().step(|txn| delete::unlink(txn, address));
            let deleted = deleted.map_err(|error| error.at(""))?;
            for address in deleted {
                self.chunk_cache().dirty.forget_dataset(address);
            }
        }
        Ok(())
    }
}
