//! The links of an old-style group: symbol table nodes under a version 1 B-tree, names in a local heap (spec
//! III.B, III.C).

use std::ops::ControlFlow;

use hyperslab_format::datatype::Charset;
use hyperslab_format::group::symbol::{EntryCache, SymbolTableEntry};
use hyperslab_format::message::link::{Link, LinkTarget};
use hyperslab_format::message::small::SymbolTable;
use hyperslab_format::name;
use hyperslab_format::{Addr, ErrorKind};

use hyperslab_error::{Result, broken};
use hyperslab_store::Store;
use hyperslab_store::heap::LocalHeap;
use hyperslab_store::tree::GroupTree;

/// The links of one old-style group.
pub(in crate::object) struct SymbolLinks<'s> {
    tree: GroupTree<'s>,
    names: LocalHeap<'s>,
}

impl<'s> SymbolLinks<'s> {
    pub(in crate::object) fn open(store: &'s Store, table: &SymbolTable) -> Result<Self> {
        let names = LocalHeap::open(store, table.heap)?;
        Ok(Self { tree: GroupTree::new(store, table.btree), names })
    }

    pub(in crate::object) fn len(&self) -> Result<u64> {
        let mut count = 0;
        self.tree.visit(&mut |_, node| {
            count += node.entries.len() as u64;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(count)
    }

    /// Calls `f` with every link, sorted by name, until `f` breaks.
    pub(in crate::object) fn visit(&self, f: &mut dyn FnMut(Link) -> ControlFlow<()>) -> Result<()> {
        self.tree.visit(&mut |at, node| {
            for entry in &node.entries {
                if f(self.link(at, entry)?).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(ControlFlow::Continue(()))
        })
    }

    /// Returns the link `name`: descends the tree, then bisects one node.
    pub(in crate::object) fn find(&self, name: &str) -> Result<Option<Link>> {
        let wanted = name::to_bytes(name);
        let found = self.tree.find(&|offset| Ok((*wanted).cmp(&*self.names.bytes_at(offset)?)))?;
        let found = found.and_then(|found| Some((found.at, found.node.entries[found.entry.ok()?])));
        found.map(|(at, entry)| self.link(at, &entry)).transpose()
    }

    fn link(&self, at: Addr, entry: &SymbolTableEntry) -> Result<Link> {
        let target = match entry.cache {
            EntryCache::SoftLink { path_offset } => LinkTarget::Soft(self.names.text_at(path_offset.into())?),
            _ if entry.header.is_defined() => LinkTarget::Hard(entry.header),
            _ => {
                let kind = ErrorKind::Missing { what: "the object header address of a link" };
                return Err(broken::<SymbolTableEntry>(at, kind));
            }
        };
        let name = self.names.text_at(entry.name_offset)?;
        // The entry does not store the character set. UTF-8 includes ASCII.
        let charset = Charset::of_name(&name);
        Ok(Link { creation_order: None, charset, name, target })
    }
}
