//! One interface to the links of a group: in messages or dense (new style, [`Storage`]), and in symbol tables
//! (old style).

use std::ops::ControlFlow;

use hyperslab_error::Result;
use hyperslab_format::message::link::Link;
use hyperslab_format::message::small::SymbolTable;
use hyperslab_store::Store;

use super::symbol_table::SymbolLinks;
use crate::object::dense::Storage;
use crate::object::header::read::Header;

/// The storage of the links of a group.
#[derive(Debug, Clone)]
pub(in crate::object) enum LinkStorage {
    /// New style: messages in the header, or a fractal heap.
    New(Storage<Link>),
    /// A version 1 B-tree of symbol table nodes, and a local heap of names.
    SymbolTable(SymbolTable),
}

impl LinkStorage {
    /// Returns the storage that the header names, or `None` if the header is not that of a group.
    pub(in crate::object) fn of(header: &Header, store: &Store) -> Result<Option<Self>> {
        let new = Storage::of(header, store)?;
        if new.info.is_some() {
            return Ok(Some(Self::New(new)));
        }
        Ok(header.find::<SymbolTable>(store)?.map(Self::SymbolTable))
    }

    pub(in crate::object) fn tracks_creation_order(&self) -> bool {
        match self {
            Self::New(links) => links.info.as_ref().is_some_and(|info| info.max_creation_order.is_some()),
            Self::SymbolTable(_) => false,
        }
    }

    pub(in crate::object) fn len(&self, header: &Header, store: &Store) -> Result<u64> {
        match self {
            Self::New(links) => links.len(header, store),
            Self::SymbolTable(table) => SymbolLinks::open(store, table)?.len(),
        }
    }

    /// Returns every link, in the order of the storage.
    pub(in crate::object) fn all(&self, header: &Header, store: &Store) -> Result<Vec<Link>> {
        let mut all = Vec::new();
        match self {
            Self::New(links) => links.visit(header, store, &mut |_, link| all.push(link)),
            Self::SymbolTable(table) => SymbolLinks::open(store, table)?.visit(&mut |link| {
                all.push(link);
                ControlFlow::Continue(())
            }),
        }?;
        Ok(all)
    }

    /// Returns `most` links of a group with more, and the number of all links if the file states it. They are
    /// the first ones where an index has the order of the group, and others where it has none.
    pub(in crate::object) fn some(
        &self,
        header: &Header,
        store: &Store,
        most: usize,
    ) -> Result<(Vec<Link>, Option<u64>)> {
        match self {
            Self::New(links) => {
                let some = links.some(header, store, most)?.into_iter().map(|(_, link)| link).collect();
                Ok((some, Some(links.len(header, store)?)))
            }
            Self::SymbolTable(table) => {
                let mut found = Vec::new();
                SymbolLinks::open(store, table)?.visit(&mut |link| {
                    found.push(link);
                    if found.len() > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                })?;
                let count = Some(found.len() as u64).filter(|_| found.len() <= most);
                Ok((found, count))
            }
        }
    }

    /// Returns the link `name`, if there is one.
    pub(in crate::object) fn find(&self, header: &Header, store: &Store, name: &str) -> Result<Option<Link>> {
        match self {
            Self::New(links) => links.find(header, store, name),
            Self::SymbolTable(table) => SymbolLinks::open(store, table)?.find(name),
        }
    }
}
