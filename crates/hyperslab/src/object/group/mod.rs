//! Groups: members by name, in h5py's order, and what they lead to.

pub(in crate::object) mod edit;
pub(in crate::object) mod link_edit;
pub(in crate::object) mod links;
pub(in crate::object) mod symbol_table;

use hyperslab_format::message::link::Link;

use super::header::read::Header;
use super::path::{self, Budget};
use super::{Dataset, Node, Object};
use crate::error::Result;
use crate::store::Store;
use links::LinkStorage;

/// A group: links by name.
#[derive(Clone)]
pub struct Group {
    pub(super) object: Object,
}

impl Group {
    pub(super) fn new(object: Object) -> Self {
        Self { object }
    }

    /// The number of links.
    pub fn len(&self) -> Result<u64> {
        self.with_links(LinkStorage::len)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Whether links know in which order they were created; then they are listed in it.
    pub fn tracks_creation_order(&self) -> Result<bool> {
        self.with_links(|links, _, _| Ok(links.tracks_creation_order()))
    }

    /// All links: in the order of creation if the group tracks it, else by name (as bytes).
    pub fn links(&self) -> Result<Vec<Link>> {
        let (mut links, is_tracked) = self.with_links(|links, header, store| {
            Ok((links.all(header, store)?, links.tracks_creation_order()))
        })?;
        if is_tracked {
            links.sort_by_key(|link| link.creation_order);
        } else {
            links.sort_by(|a, b| a.name.cmp(&b.name));
        }
        Ok(links)
    }

    /// All links, in the order in which they are stored.
    pub(super) fn stored_links(&self) -> Result<Vec<Link>> {
        self.with_links(LinkStorage::all)
    }

    /// The names of all links, in the order of [`links`](Self::links).
    pub fn names(&self) -> Result<Vec<String>> {
        Ok(self.links()?.into_iter().map(|link| link.name).collect())
    }

    /// The link `name`, which is one component of a path.
    pub fn link(&self, name: &str) -> Result<Option<Link>> {
        self.with_links(|links, header, store| links.find(header, store, name))
    }

    /// The object at `path` from here, or from the root if it begins with `/`.
    pub fn get(&self, path: &str) -> Result<Node> {
        path::resolve(self, path, &mut Budget::new())
    }

    /// The group at `path`.
    pub fn group(&self, path: &str) -> Result<Group> {
        self.get(path)?.into_group()
    }

    /// The dataset at `path`.
    pub fn dataset(&self, path: &str) -> Result<Dataset> {
        self.get(path)?.into_dataset()
    }

    /// Whether there is a link at `path`. Where the last one leads is not asked, as in h5py.
    pub fn contains(&self, path: &str) -> Result<bool> {
        path::exists(self, path)
    }

    /// The object that a link of this group leads to.
    pub fn open_link(&self, link: &Link) -> Result<Node> {
        path::follow(self, link, &mut Budget::new())
    }

    /// Runs `f` on the links as they are now.
    fn with_links<T>(&self, f: impl FnOnce(&LinkStorage, &Header, &Store) -> Result<T>) -> Result<T> {
        let store = self.store();
        let _reading = store.reading();
        let result = self.header().and_then(|header| {
            let links = LinkStorage::of(&header, store)?.ok_or_else(|| header.lacks("links"))?;
            f(&links, &header, store)
        });
        result.map_err(|error| error.at(self.path()))
    }
}
