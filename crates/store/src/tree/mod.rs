//! B-trees: structures of many nodes, searched and listed through the store.
//!
//! A damaged file never causes endless loops: levels fall on the way down, and a listing refuses a node that
//! it has seen before.

mod btree1;
pub mod btree2;

use std::cmp::Ordering;
use std::collections::HashSet;

use hyperslab_error::{Error, Result, broken, misfit};
use hyperslab_format::{Addr, ErrorKind, Extent, Structure};

use crate::Txn;

pub use btree1::{BTree1, BTree1Edit, BTree1Step, GroupTree, GroupTreeEdit, check_level};
pub use btree2::{BTree2, Visitor};

/// The nodes that a listing has seen.
#[derive(Default)]
struct Seen(HashSet<Addr>);

impl Seen {
    /// Records the node at `at`, an `S`. Errors if it was recorded before.
    fn note<S: Structure>(&mut self, at: Addr) -> Result<()> {
        if self.0.insert(at) { Ok(()) } else { Err(named_twice::<S>(at)) }
    }
}

/// Frees the blocks of a structure of `S`s whose first block is at `at`. Errors if blocks overlap: space
/// freed twice would be allocated twice.
pub fn free_blocks<S: Structure>(txn: &mut Txn<'_>, at: Addr, mut blocks: Vec<Extent>) -> Result<()> {
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

/// Returns the error for an `S` at `at` that is reached by more than one way.
fn named_twice<S: Structure>(at: Addr) -> Error {
    misfit::<S>(at, "address of a node", at.get(), "one that is not in the tree already")
}

/// Searches `len` ordered items by bisection. Returns the index of the match (`Ok`), or the index at which to
/// insert the target (`Err`). `compare` compares the item at an index with the target.
#[inline]
pub fn bisect<E>(
    len: usize,
    mut compare: impl FnMut(usize) -> Result<Ordering, E>,
) -> Result<Result<usize, usize>, E> {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = usize::midpoint(low, high);
        match compare(middle)? {
            Ordering::Less => low = middle + 1,
            Ordering::Equal => return Ok(Ok(middle)),
            Ordering::Greater => high = middle,
        }
    }
    Ok(Err(low))
}

/// Returns how many of `len` ordered items are before the target.
pub fn partition(len: usize, mut is_before: impl FnMut(usize) -> Result<bool>) -> Result<usize> {
    let order = |place| Ok(if is_before(place)? { Ordering::Less } else { Ordering::Greater });
    bisect(len, order).map(|place| place.unwrap_or_else(|place| place))
}
