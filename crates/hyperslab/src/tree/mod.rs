//! B-trees: nodes that span several blocks, searched and listed through the store.
//!
//! A damaged file never makes these loop: levels fall on the way down, and a listing refuses a node seen before.

mod btree1;
pub mod btree2;

use std::collections::HashSet;

use hyperslab_format::{Addr, ErrorKind, FormatError, Structure};

use crate::error::{Error, Result};

pub use btree1::GroupTree;
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

/// The error of an `S` at `at` that does not fit its tree.
fn broken<S: Structure>(at: Addr, kind: ErrorKind) -> Error {
    Error::from_format(FormatError { kind, structure: S::NAME, spec: S::SPEC, at, offset: 0 })
}
