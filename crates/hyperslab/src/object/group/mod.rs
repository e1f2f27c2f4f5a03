//! Groups: members by name, in the order of h5py, and their targets.

pub(in crate::object) mod edit;
pub(in crate::object) mod link_edit;
pub(in crate::object) mod links;
pub(in crate::object) mod symbol_table;

use hyperslab_error::Result;
use hyperslab_format::message::link::Link;
use hyperslab_format::name;
use hyperslab_store::Store;

use super::header::read::Header;
use super::path::{self, Budget};
use super::{Dataset, LinkAccess, Node, Object};
use links::LinkStorage;

/// A group: a set of named links.
///
/// ```
/// let file = hyperslab::File::in_memory()?;
/// let surface = file.root().create_group("surface")?;
/// surface.new_dataset::<f32>("t2m").shape([2, 3]).create()?;
/// surface.set_attribute("model", "ERA5")?;
/// assert_eq!(surface.names()?, ["t2m"]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Clone)]
pub struct Group {
    pub(super) object: Object,
}

impl Group {
    pub(super) fn new(object: Object) -> Self {
        Self { object }
    }

    /// Returns the number of links.
    pub fn len(&self) -> Result<u64> {
        self.with_links(LinkStorage::len)
    }

    /// Whether the group has no links.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Whether the group stores the creation order of its links. If so, they are listed in this order.
    pub fn tracks_creation_order(&self) -> Result<bool> {
        self.with_links(|links, _, _| Ok(links.tracks_creation_order()))
    }

    /// Returns all links: in creation order if the group tracks it, else sorted by name (as bytes).
    ///
    /// ```
    /// use hyperslab::LinkTarget;
    ///
    /// let file = hyperslab::File::in_memory()?;
    /// file.root().link_soft("latest", "/runs/7")?;
    /// let links = file.root().links()?;
    /// assert_eq!(links[0].target, LinkTarget::Soft("/runs/7".to_owned()));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn links(&self) -> Result<Vec<Link>> {
        self.with_links(|links, header, store| {
            let mut all = links.all(header, store)?;
            sort(&mut all, links.tracks_creation_order());
            Ok(all)
        })
    }

    /// Returns all links, in the order in which they are stored.
    pub(super) fn stored_links(&self) -> Result<Vec<Link>> {
        self.with_links(LinkStorage::all)
    }

    /// Returns the names of all links, in the order of [`links`](Self::links).
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// file.root().create_group("b")?;
    /// file.root().create_group("a")?;
    /// assert_eq!(file.root().names()?, ["a", "b"]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn names(&self) -> Result<Vec<String>> {
        Ok(self.links()?.into_iter().map(|link| link.name).collect())
    }

    /// Returns the names of at most `most` links, and the number of all links if the file states it, without
    /// reading more of a large group.
    ///
    /// They are the first ones of [`names`](Self::names), unless the group is large and has no index of its
    /// order.
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// file.root().create_group("b")?;
    /// file.root().create_group("a")?;
    /// assert_eq!(file.root().some_names(1)?, (vec!["a".to_owned()], Some(2)));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn some_names(&self, most: usize) -> Result<(Vec<String>, Option<u64>)> {
        self.with_links(|links, header, store| {
            let (mut some, count) = links.some(header, store, most)?;
            sort(&mut some, links.tracks_creation_order());
            Ok((some.into_iter().take(most).map(|link| link.name).collect(), count))
        })
    }

    /// Returns the link `name`, which is one component of a path, if there is one.
    pub fn link(&self, name: &str) -> Result<Option<Link>> {
        self.with_links(|links, header, store| links.find(header, store, name))
    }

    /// Returns the object at `path`, relative to this group, or to the root if `path` begins with `/`.
    pub fn get(&self, path: &str) -> Result<Node> {
        path::resolve(self, path, &mut Budget::new())
    }

    /// Does the same as [`get`](Self::get), with other access to the files behind external links.
    pub fn get_with(&self, path: &str, access: LinkAccess) -> Result<Node> {
        path::resolve(self, path, &mut Budget::with(access))
    }

    /// Returns the group at `path`.
    pub fn group(&self, path: &str) -> Result<Group> {
        self.get(path)?.into_group()
    }

    /// Returns the dataset at `path`.
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// let surface = file.root().create_group("surface")?;
    /// surface.new_dataset::<f32>("t2m").shape([2]).create_with(&[281.5, 283.0])?;
    /// assert_eq!(surface.dataset("t2m")?.read::<f32>(..)?, [281.5, 283.0]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn dataset(&self, path: &str) -> Result<Dataset> {
        self.get(path)?.into_dataset()
    }

    /// Whether there is a link at `path`. As in h5py, the link's target need not exist.
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// file.root().create_group("surface")?;
    /// assert!(file.root().contains("surface")? && !file.root().contains("ocean")?);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn contains(&self, path: &str) -> Result<bool> {
        path::exists(self, path)
    }

    /// Returns the object that a link of this group leads to.
    #[doc(hidden)]
    pub fn open_link(&self, link: &Link) -> Result<Node> {
        path::follow(self, link, &mut Budget::new())
    }

    /// Runs `f` on the current links.
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

/// Sorts links in the order in which a group lists them.
fn sort(links: &mut [Link], is_tracked: bool) {
    if is_tracked {
        links.sort_by_key(|link| link.creation_order);
    } else {
        links.sort_by(|a, b| name::order(&a.name, &b.name));
    }
}
