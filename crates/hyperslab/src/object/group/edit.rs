//! Changes groups: new members, links, and the removal of members.

use hyperslab_error::{RequestError, Result};
use hyperslab_format::Addr;
use hyperslab_format::message::group_info::PhaseChange;
use hyperslab_format::message::link::{Link, LinkTarget};
use hyperslab_store::Txn;

use super::link_edit;
use crate::object::file::create::{new_group, new_group_of};
use crate::object::header::edit::add_reference;
use crate::object::path::{self, LinkPlace};
use crate::object::{Group, Node, Object, delete, limits};

impl Group {
    /// Creates a group at `path`, and missing groups on the way.
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// let daily = file.root().create_group("surface/daily")?;
    /// assert_eq!(daily.path(), "/surface/daily");
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn create_group(&self, path: &str) -> Result<Group> {
        self.create_group_with(path, false)
    }

    /// Creates a group at `path`, and missing groups on the way. With `track_order`, the new group stores the
    /// creation order of its links and attributes.
    pub fn create_group_with(&self, path: &str, track_order: bool) -> Result<Group> {
        let make = |txn: &mut Txn<'_>, parent: &Group| {
            new_group(txn, parent.file().version(), track_order).map(|header| header.address())
        };
        self.create(path, make)?.into_group()
    }

    /// Creates a group at `path` that keeps up to `most` links and `most` attributes in its header, where
    /// programs that change them often find them fastest.
    #[doc(hidden)]
    pub fn create_compact_group(&self, path: &str, most: u16) -> Result<Group> {
        let make = |txn: &mut Txn<'_>, parent: &Group| {
            let phase_change = PhaseChange { max_compact: most, min_dense: most - most / 4 };
            let group = new_group_of(txn, parent.file().version(), false, Some(phase_change));
            group.map(|header| header.address())
        };
        self.create(path, make)?.into_group()
    }

    /// Creates an object with `make`, which returns the address of its header, and links it at `path`.
    pub(in crate::object) fn create(
        &self,
        path: &str,
        make: impl FnOnce(&mut Txn<'_>, &Group) -> Result<Addr>,
    ) -> Result<Node> {
        let place = path::place(self, path)?;
        let parent = &place.group;
        let created = parent.step(|txn| {
            let address = make(txn, parent)?;
            insert(txn, &place, link_edit::hard(place.name, address))?;
            Ok(address)
        });
        let path = place.path();
        let address = created.map_err(|error| error.at(&path))?;
        Node::open(parent.file(), address, &path)
    }

    /// Creates a hard link at `path` to an object of the same file.
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// let surface = file.root().create_group("surface")?;
    /// file.root().link_to("ground", &surface)?;
    /// assert_eq!(file.group("ground")?.address(), surface.address());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn link_to(&self, path: &str, target: &Object) -> Result<()> {
        let place = path::place(self, path)?;
        if !place.group.file().is_same(target.file()) {
            let why =
                "a hard link leads to an object of the same file: use a soft or an external link, or copy it";
            return Err(RequestError::Argument { what: format!("link {path:?}"), why }.into());
        }
        linked(&place, LinkTarget::Hard(target.address()), |txn| {
            target.check_alive()?;
            add_reference(txn, target.address(), 1)
        })?;
        target.file().shared().unlinked.lock().forget(target.address());
        Ok(())
    }

    /// Creates a soft link at `path` to the path `target`, which need not exist.
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// file.root().link_soft("latest", "/runs/7")?;
    /// assert!(file.root().contains("latest")? && file.get("latest").is_err());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn link_soft(&self, path: &str, target: &str) -> Result<()> {
        limits::check_target("target of a link", &[target])?;
        let place = path::place(self, path)?;
        linked(&place, LinkTarget::Soft(target.to_owned()), |_| Ok(()))
    }

    /// Creates an external link at `path` to the path `target` in another file. Neither needs to exist.
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// file.root().link_external("1999", "archive/1999.h5", "/surface")?;
    /// assert_eq!(file.root().names()?, ["1999"]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn link_external(&self, path: &str, file: &str, target: &str) -> Result<()> {
        limits::check_target("target of a link", &[file, target])?;
        let place = path::place(self, path)?;
        let target = LinkTarget::External { file: file.to_owned(), path: target.to_owned() };
        linked(&place, target, |_| Ok(()))
    }

    /// Removes the link at `path`. An object without further hard links is deleted, and its space is freed.
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// file.root().create_group("draft")?;
    /// file.root().remove("draft")?;
    /// assert!(file.root().is_empty()?);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn remove(&self, path: &str) -> Result<()> {
        let place = path::place(self, path)?;
        let missing = || RequestError::NoSuchObject { name: path.to_owned() };
        if !place.missing.is_empty() {
            return Err(missing().into());
        }
        let removed = place.group.step(|txn| {
            let link = link_edit::remove(txn, place.group.address(), place.name)?;
            let deleted = match link.target {
                LinkTarget::Hard(target) => delete::unlink(txn, target)?,
                _ => Vec::new(),
            };
            // Done inside the step, before other threads see the deletion or reuse the addresses.
            let dirty = &place.group.file().chunk_cache().dirty;
            for address in deleted {
                dirty.forget_dataset(address);
            }
            Ok(())
        });
        removed.map_err(|error| error.at(&place.path()))
    }

    /// Moves the link at `from` to `to`. The object that it leads to does not change.
    ///
    /// Errors: `Request` if `to` exists, or is below the group at `from` and no other hard link leads there.
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// file.root().create_group("draft")?;
    /// file.root().rename("draft", "final/v1")?;
    /// assert_eq!(file.group("final")?.names()?, ["v1"]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn rename(&self, from: &str, to: &str) -> Result<()> {
        let (source, target) = (path::place(self, from)?, path::place(self, to)?);
        if !source.missing.is_empty() {
            return Err(RequestError::NoSuchObject { name: from.to_owned() }.into());
        }
        if !source.group.file().is_same(target.group.file()) {
            let why = "a link can only be moved within its file: copy the object";
            return Err(RequestError::Argument { what: format!("link {from:?}"), why }.into());
        }
        // If the only link to a group were moved below the group, no path would lead there afterwards.
        if let Some(Link { target: LinkTarget::Hard(address), .. }) = source.group.link(source.name)?
            && let Node::Group(moved) = Node::open(source.group.file(), address, &source.path())?
            && moved.hard_links()? < 2
            && path::leads_through(self, to, &moved)?
        {
            let why = "a group cannot be moved below itself";
            return Err(RequestError::Argument { what: format!("link {:?}", moved.path()), why }.into());
        }
        let renamed = source.group.step(|txn| {
            let link = link_edit::remove(txn, source.group.address(), source.name)?;
            insert(txn, &target, link_edit::new(target.name, link.target))
        });
        renamed.map_err(|error| error.at(&source.path()))
    }
}

/// Runs `f`, then adds a link at its place.
fn linked(
    place: &LinkPlace<'_>,
    target: LinkTarget,
    f: impl FnOnce(&mut Txn<'_>) -> Result<()>,
) -> Result<()> {
    let linked = place.group.step(|txn| {
        f(txn)?;
        insert(txn, place, link_edit::new(place.name, target))
    });
    linked.map_err(|error| error.at(&place.path()))
}

/// Adds a link at its place, and missing groups on the way.
fn insert(txn: &mut Txn<'_>, place: &LinkPlace<'_>, link: Link) -> Result<()> {
    let mut group = place.group.address();
    for name in &place.missing {
        // Another thread may have created it after the place was looked up.
        if let Some(made) = link_edit::find_hard(txn, group, name)? {
            group = made;
            continue;
        }
        let header = new_group(txn, place.group.file().version(), false)?;
        link_edit::insert(txn, group, link_edit::hard(name, header.address()))?;
        group = header.address();
    }
    link_edit::insert(txn, group, link)
}
