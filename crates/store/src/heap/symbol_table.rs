//! Changes to the links of an old-style group: symbol table nodes under a version 1 B-tree, names in a local
//! heap (spec III.B to D).

use std::cmp::Ordering;

use hyperslab_error::{RequestError, Result};
use hyperslab_format::Addr;
use hyperslab_format::group::symbol::{EntryCache, SymbolTableEntry};
use hyperslab_format::message::small::SymbolTable;
use hyperslab_format::name;

use super::{LocalHeap, local};
use crate::Txn;
use crate::tree::GroupTreeEdit;

/// The target of a link in an old-style group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolTarget<'a> {
    /// An object.
    Hard {
        /// The address of its header.
        header: Addr,
        /// Its own tree and heap, if it is an old-style group: entries repeat them.
        group: Option<SymbolTable>,
    },
    /// A path.
    Soft(&'a str),
}

/// Creates the tree and the heap of a group without links.
pub fn create(txn: &mut Txn<'_>) -> Result<SymbolTable> {
    let btree = GroupTreeEdit::create(txn)?;
    let heap = local::create(txn, INITIAL_HEAP)?;
    Ok(SymbolTable { btree, heap })
}

/// Inserts a link; returns whether the name was new. After an error, the step must be dropped.
pub fn insert(txn: &mut Txn<'_>, table: &SymbolTable, name: &str, target: SymbolTarget<'_>) -> Result<bool> {
    let found = order(txn, table, name)?;
    if GroupTreeEdit::new(txn, table.btree).contains(&found)? {
        return Ok(false);
    }
    let name_offset = local::insert(txn, table.heap, &name::to_bytes(name))?;
    let entry = match target {
        SymbolTarget::Hard { header, group } => {
            let cache = group
                .map_or(EntryCache::None, |SymbolTable { btree, heap }| EntryCache::Group { btree, heap });
            SymbolTableEntry { name_offset, header, cache }
        }
        SymbolTarget::Soft(path) => {
            let offset = local::insert(txn, table.heap, &name::to_bytes(path))?;
            let limit = u64::from(u32::MAX);
            let Ok(path_offset) = u32::try_from(offset) else {
                return Err(RequestError::TooMany { what: "bytes of names in an old group", limit }.into());
            };
            let header = Addr::UNDEFINED;
            SymbolTableEntry { name_offset, header, cache: EntryCache::SoftLink { path_offset } }
        }
    };
    let order = order(txn, table, name)?;
    GroupTreeEdit::new(txn, table.btree).insert(entry, &order)
}

/// Removes a link; returns whether it existed. After an error, the step must be dropped.
pub fn remove(txn: &mut Txn<'_>, table: &SymbolTable, name: &str) -> Result<bool> {
    let order = order(txn, table, name)?;
    let Some(entry) = GroupTreeEdit::new(txn, table.btree).remove(&order)? else { return Ok(false) };
    local::remove(txn, table.heap, entry.name_offset)?;
    if let EntryCache::SoftLink { path_offset } = entry.cache {
        local::remove(txn, table.heap, path_offset.into())?;
    }
    Ok(true)
}

/// Frees all space of a group's links. The objects that they lead to stay.
pub fn delete(txn: &mut Txn<'_>, table: &SymbolTable) -> Result<()> {
    GroupTreeEdit::new(txn, table.btree).delete()?;
    local::delete(txn, table.heap)
}

/// Compares `name` with the current names of the heap.
fn order<'s>(
    txn: &Txn<'s>,
    table: &SymbolTable,
    name: &str,
) -> Result<impl Fn(u64) -> Result<Ordering> + use<'s>> {
    let heap = LocalHeap::open(txn.store(), table.heap)?;
    let name = name::to_bytes(name).into_owned();
    Ok(move |offset| Ok(name.as_slice().cmp(heap.bytes_at(offset)?.as_slice())))
}

/// The size of the data of a new group's heap: libhdf5 expects four names of eight bytes, and needs two
/// numbers for the free block.
const INITIAL_HEAP: u64 = 88;
