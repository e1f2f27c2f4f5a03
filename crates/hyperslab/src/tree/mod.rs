//! B-trees: nodes that span several blocks, searched and listed through the store.
//!
//! A damaged file never makes these loop: levels fall on the way down, and a listing refuses a node seen before.

mod btree1;
pub mod btree2;

use std::collections::HashSet;

use hyperslab_format::{Addr, ErrorKind, Extent, FormatError, Structure};

use crate::error::{Error, Result};
use crate::store::Txn;

pub use btree1::{BTree1Edit, BTree1Step, GroupTree, GroupTreeEdit};
pub use btree2::{BTree2, Visitor};

/// The nodes that a listing has seen.
#[derive(Default)]
struct Seen(HashSet<Addr>);

impl Seen {
    /// Notes the node at `at`, an `S`, and refuses it if it was there before.
    fn note<S: Structure>(&mut self, at: Addr) -> Result<()> {
        if self.0.insert(at) {
            return Ok(());
        }
        let (field, expected) = ("address of a node", "one that is not in the tree already");
        Err(broken::<S>(at, ErrorKind::Value { field, value: at.get(), expected }))
    }
}

/// Gives back the blocks of a structure of `S`s, whose first is at `at`, if each has its own bytes of the file: what is
/// given back twice would be given out twice.
pub(crate) fn free_blocks<S: Structure>(txn: &mut Txn<'_>, at: Addr, mut blocks: Vec<Extent>) -> Result<()> {
    blocks.sort_unstable_by_key(|block| block.addr);
    let is_apart = |a: &Extent, b: &Extent| a.end().is_some_and(|end| end <= b.addr);
    if !blocks.is_sorted_by(is_apart) {
        let what = "blocks that do not overlap";
        return Err(broken::<S>(at, ErrorKind::Missing { what }));
    }
    for &block in &blocks {
        txn.store().check(block, (S::NAME, S::SPEC))?;
    }
    for block in blocks {
        txn.free(block);
    }
    Ok(())
}

/// The error of an `S` at `at` that does not fit its tree.
fn broken<S: Structure>(at: Addr, kind: ErrorKind) -> Error {
    Error::from_format(FormatError { kind, structure: S::NAME, spec: S::SPEC, at, offset: 0 })
}
