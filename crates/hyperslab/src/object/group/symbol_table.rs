//! The links of an old group: symbol table nodes under a version 1 B-tree, names in a local heap (spec III.B, III.C).

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_format::datatype::Charset;
use hyperslab_format::group::symbol::{EntryCache, SymbolTableContext, SymbolTableEntry, SymbolTableNode};
use hyperslab_format::message::link::{Link, LinkTarget};
use hyperslab_format::message::small::SymbolTable;
use hyperslab_format::{Addr, ErrorKind, FormatError, Structure};

use crate::error::{Error, Result};
use crate::heap::LocalHeap;
use crate::store::Store;
use crate::tree::GroupTree;

/// The links of one old group.
pub(in crate::object) struct SymbolLinks<'s> {
    store: &'s Store,
    tree: GroupTree<'s>,
    names: LocalHeap<'s>,
}

impl<'s> SymbolLinks<'s> {
    pub(in crate::object) fn open(store: &'s Store, table: &SymbolTable) -> Result<Self> {
        let names = LocalHeap::open(store, table.heap)?;
        Ok(Self { store, tree: GroupTree::new(store, table.btree), names })
    }

    pub(in crate::object) fn len(&self) -> Result<u64> {
        let mut count = 0;
        self.tree.visit(&mut |at| {
            count += self.node(at)?.entries.len() as u64;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(count)
    }

    /// Calls `f` with every link, by name.
    pub(in crate::object) fn visit(&self, f: &mut dyn FnMut(Link)) -> Result<()> {
        self.tree.visit(&mut |at| {
            for entry in &self.node(at)?.entries {
                f(self.link(at, entry)?);
            }
            Ok(ControlFlow::Continue(()))
        })
    }

    /// The link `name`: down the tree, then by bisection in one node.
    pub(in crate::object) fn find(&self, name: &str) -> Result<Option<Link>> {
        let order = |offset: u64| Ok::<_, Error>(name.as_bytes().cmp(&*self.names.bytes_at(offset)?));
        let Some(at) = self.tree.find(&|key| order(key).map(Ordering::is_gt))? else { return Ok(None) };
        let node = self.node(at)?;
        let mut entries = node.entries.as_slice();
        while let Some(middle) = entries.get(entries.len() / 2) {
            let (before, after) = entries.split_at(entries.len() / 2);
            entries = match order(middle.name_offset)? {
                Ordering::Equal => return self.link(at, middle).map(Some),
                Ordering::Less => before,
                Ordering::Greater => after.get(1..).unwrap_or_default(),
            };
        }
        Ok(None)
    }

    fn node(&self, at: Addr) -> Result<Arc<SymbolTableNode>> {
        self.store.get(at, &SymbolTableContext { k: self.store.btree_k().group_leaf_k })
    }

    fn link(&self, at: Addr, entry: &SymbolTableEntry) -> Result<Link> {
        let target = match entry.cache {
            EntryCache::SoftLink { path_offset } => LinkTarget::Soft(self.names.text_at(path_offset.into())?),
            _ if entry.header.is_defined() => LinkTarget::Hard(entry.header),
            _ => {
                let kind = ErrorKind::Missing { what: "the object header address of a link" };
                let (structure, spec) = (SymbolTableEntry::NAME, SymbolTableEntry::SPEC);
                return Err(FormatError { kind, structure, spec, at, offset: 0 }.into());
            }
        };
        let name = self.names.text_at(entry.name_offset)?;
        // The entry does not say the character set; UTF-8 includes ASCII.
        let charset = if name.is_ascii() { Charset::Ascii } else { Charset::Utf8 };
        Ok(Link { creation_order: None, charset, name, target })
    }
}
