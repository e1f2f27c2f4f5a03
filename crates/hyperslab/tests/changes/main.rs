//! Changes structures that span several blocks at random and compares them with models in memory. Steps are
//! kept or dropped, and files are committed and reopened between them.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]

mod fractal;
mod local;
mod symbol_table;

use std::sync::Arc;

use hyperslab::driver::{Driver, Memory};
use hyperslab_format::message::small::BTreeK;
use hyperslab_format::superblock::Superblock;
use hyperslab_format::superblock::v2::SuperblockV2;
use hyperslab_format::{Addr, Width, Widths};
use hyperslab_store::{CommitOptions, Store, Txn};
use proptest::prelude::*;

/// A file in memory that is open for writing.
pub(crate) struct Scratch {
    memory: Arc<Memory>,
    store: Option<Store>,
    btree_k: Option<BTreeK>,
}

impl Scratch {
    /// Creates a file.
    pub(crate) fn new(widths: Widths) -> Self {
        let superblock = Superblock::V2(SuperblockV2 {
            version: 2,
            widths,
            consistency_flags: 0,
            base_address: 0,
            extension: Addr::UNDEFINED,
            end_of_file: 2048,
            root: Addr::new(48),
        });
        let memory = Arc::new(Memory::default());
        let store = Store::create(memory.clone(), 0, superblock, CACHE, CommitOptions::default()).unwrap();
        Self { memory, store: Some(store), btree_k: None }
    }

    /// Creates a file whose version 1 B-trees have nodes of the given capacities.
    pub(crate) fn with_k(widths: Widths, btree_k: BTreeK) -> Self {
        let scratch = Self { btree_k: Some(btree_k), ..Self::new(widths) };
        scratch.store().set_btree_k(btree_k);
        scratch
    }

    pub(crate) fn store(&self) -> &Store {
        self.store.as_ref().unwrap()
    }

    pub(crate) fn commit(&self) {
        self.store().commit().unwrap();
    }

    /// Commits, and opens a copy of the file again as another program would.
    pub(crate) fn reopen(&mut self) {
        self.commit();
        self.store = None;
        let mut image = vec![0; usize::try_from(self.memory.len().unwrap()).unwrap()];
        self.memory.read_at(0, &mut image).unwrap();
        self.memory = Arc::new(Memory::new(image));
        let store = Store::open_writable(self.memory.clone(), CACHE, CommitOptions::default());
        self.store = Some(store.unwrap());
        self.btree_k.into_iter().for_each(|k| self.store().set_btree_k(k));
    }

    /// Runs `f` in one step that is kept.
    pub(crate) fn step<R>(&self, f: impl FnOnce(&mut Txn<'_>) -> R) -> R {
        let mut txn = self.store().begin().unwrap();
        let result = f(&mut txn);
        txn.finish().unwrap();
        result
    }
}

/// The size of the metadata cache, so small that most blocks are evicted.
const CACHE: u64 = 256 << 10;

/// How a step ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Keep,
    Drop,
    Commit,
    Reopen,
}

pub(crate) fn end() -> impl Strategy<Value = End> {
    prop_oneof![6 => Just(End::Keep), 2 => Just(End::Drop), 1 => Just(End::Commit), 1 => Just(End::Reopen)]
}

/// Runs steps. `f` applies an operation to the file and to the model. If the step is dropped, the model is
/// restored.
pub(crate) fn run<M: Clone, O>(
    scratch: &mut Scratch,
    model: &mut M,
    steps: Vec<(Vec<O>, End)>,
    mut f: impl FnMut(&mut Txn<'_>, &mut M, O),
) {
    for (operations, end) in steps {
        let before = (end == End::Drop).then(|| model.clone());
        let mut txn = scratch.store().begin().unwrap();
        for operation in operations {
            f(&mut txn, model, operation);
        }
        match before {
            Some(before) => {
                drop(txn);
                *model = before;
            }
            None => txn.finish().unwrap(),
        }
        match end {
            End::Keep | End::Drop => {}
            End::Commit => scratch.commit(),
            End::Reopen => scratch.reopen(),
        }
    }
}

pub(crate) fn widths() -> impl Strategy<Value = Widths> {
    let four = Widths { offset: Width::Four, length: Width::Four };
    prop_oneof![3 => Just(Widths::EIGHT), 1 => Just(four)]
}
