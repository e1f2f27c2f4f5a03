//! What the superblock extension states of the whole file (spec II.C), read when the file is opened.

use hyperslab_format::message::small::{BTreeK, SharedMessages};

use crate::Store;

impl Store {
    /// Returns half the capacities of the nodes of version 1 B-trees and symbol tables.
    pub fn btree_k(&self) -> BTreeK {
        self.btree_k.get().copied().unwrap_or(BTreeK {
            indexed_storage_k: self.superblock.indexed_storage_k(),
            group_internal_k: self.superblock.group_internal_k(),
            group_leaf_k: self.superblock.group_leaf_k(),
        })
    }

    /// Sets the capacities that the superblock extension states. Only the first call has an effect.
    pub fn set_btree_k(&self, stated: BTreeK) {
        let _ = self.btree_k.set(stated);
    }

    /// Returns the place of the table of shared messages, if the file has one.
    pub fn shared_messages(&self) -> Option<SharedMessages> {
        self.shared_messages.get().copied()
    }

    /// Sets the place of the table of shared messages. Only the first call has an effect.
    pub fn set_shared_messages(&self, stated: SharedMessages) {
        let _ = self.shared_messages.set(stated);
    }
}
