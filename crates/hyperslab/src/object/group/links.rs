//! The links of a group in their three storages behind one interface: messages in the header, a heap with a B-tree
//! over hashes of names (dense), and symbol tables (old style).

use std::cmp::Ordering;
use std::ops::ControlFlow;

use hyperslab_format::btree2::record::Record;
use hyperslab_format::bytes::lookup3::lookup3;
use hyperslab_format::message::dense_info::LinkInfo;
use hyperslab_format::message::link::Link;
use hyperslab_format::message::small::SymbolTable;

use super::symbol_table::SymbolLinks;
use crate::error::Result;
use crate::heap::FractalHeap;
use crate::object::header::read::Header;
use crate::store::Store;
use crate::tree::BTree2;

/// Where the links of a group are.
#[derive(Debug, Clone)]
pub(in crate::object) enum LinkStorage {
    /// Link messages in the header.
    Compact { tracks_creation_order: bool },
    /// A fractal heap of links and B-trees over it.
    Dense(LinkInfo),
    /// A version 1 B-tree of symbol table nodes, and a local heap of names.
    SymbolTable(SymbolTable),
}

impl LinkStorage {
    /// The storage that the header names; none if it is not the header of a group.
    pub(in crate::object) fn of(header: &Header, store: &Store) -> Result<Option<Self>> {
        if let Some(info) = header.find::<LinkInfo>(store)? {
            return Ok(Some(if info.is_dense() {
                Self::Dense(info)
            } else {
                Self::Compact { tracks_creation_order: info.max_creation_order.is_some() }
            }));
        }
        Ok(header.find::<SymbolTable>(store)?.map(Self::SymbolTable))
    }

    pub(in crate::object) fn tracks_creation_order(&self) -> bool {
        match self {
            Self::Compact { tracks_creation_order } => *tracks_creation_order,
            Self::Dense(info) => info.max_creation_order.is_some(),
            Self::SymbolTable(_) => false,
        }
    }

    pub(in crate::object) fn len(&self, header: &Header, store: &Store) -> Result<u64> {
        match self {
            Self::Compact { .. } => Ok(header.count::<Link>() as u64),
            Self::Dense(info) => Ok(BTree2::open(store, info.name_index, LINK_NAMES)?.len()),
            Self::SymbolTable(table) => SymbolLinks::open(store, table)?.len(),
        }
    }

    /// Every link, in the order of the storage.
    pub(in crate::object) fn all(&self, header: &Header, store: &Store) -> Result<Vec<Link>> {
        let mut links = Vec::new();
        self.visit(header, store, &mut |link| links.push(link))?;
        Ok(links)
    }

    /// Calls `f` with every link, in the order of the storage.
    fn visit(&self, header: &Header, store: &Store, f: &mut dyn FnMut(Link)) -> Result<()> {
        match self {
            Self::Compact { .. } => {
                header.all::<Link>(store).try_for_each(|found| found.map(|(_, link)| f(link)))
            }
            Self::Dense(info) => {
                let heap = FractalHeap::open(store, info.heap)?;
                BTree2::open(store, info.name_index, LINK_NAMES)?.visit(&mut |record| {
                    f(link_in(&heap, record)?);
                    Ok(ControlFlow::Continue(()))
                })
            }
            Self::SymbolTable(table) => SymbolLinks::open(store, table)?.visit(f),
        }
    }

    /// The link `name`.
    pub(in crate::object) fn find(&self, header: &Header, store: &Store, name: &str) -> Result<Option<Link>> {
        match self {
            Self::Compact { .. } => {
                // An error ends the search as well: the link might be in what cannot be read.
                let mut links = header.all::<Link>(store);
                let found = links.find(|found| found.as_ref().map_or(true, |(_, link)| link.name == name));
                Ok(found.transpose()?.map(|(_, link)| link))
            }
            Self::Dense(info) => {
                let hash = lookup3(name.as_bytes());
                let heap = FractalHeap::open(store, info.heap)?;
                let mut found = None;
                // Different names may share a hash; such records stand side by side.
                BTree2::open(store, info.name_index, LINK_NAMES)?.visit_where(
                    &|record| match record {
                        Record::LinkName { hash: this, .. } => this.cmp(&hash),
                        _ => Ordering::Less, // no such record in a tree of this type
                    },
                    &mut |record| {
                        let link = link_in(&heap, record)?;
                        if link.name != name {
                            return Ok(ControlFlow::Continue(()));
                        }
                        found = Some(link);
                        Ok(ControlFlow::Break(()))
                    },
                )?;
                Ok(found)
            }
            Self::SymbolTable(table) => SymbolLinks::open(store, table)?.find(name),
        }
    }
}

/// The type of B-trees of links by name.
const LINK_NAMES: u8 = 5;

fn link_in(heap: &FractalHeap<'_>, record: &Record) -> Result<Link> {
    match record {
        Record::LinkName { id, .. } => heap.decode(id),
        _ => Err(heap.foreign_record()),
    }
}
