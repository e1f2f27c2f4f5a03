//! Copies objects and everything in them, within a file and between files.
//!
//! No link leads to the copied objects until the last step links the first of them, so readers do not see an
//! unfinished copy. Stored chunks are copied unchanged. Data that hold addresses are rebuilt: links, strings
//! and sequences of variable length, references.

pub(in crate::object) mod data;
pub(in crate::object) mod header;
pub(in crate::object) mod messages;
pub(in crate::object) mod meter;
pub(in crate::object) mod rechunk;
pub(in crate::object) mod renewal;
pub(in crate::object) mod repack;
pub(in crate::object) mod translate;
mod widths;

use std::collections::{HashMap, VecDeque};

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_format::Addr;
use hyperslab_format::message::link::{Link, LinkTarget};
use hyperslab_store::Txn;

use super::group::link_edit;
use super::header::edit::add_reference;
use super::header::read::Header;
use super::{File, Group, Node, delete, path};

pub(super) use renewal::Renewal;
pub(super) use translate::of_variable_parts;

/// Options that say what a copy includes.
///
/// ```
/// let options = hyperslab::CopyOptions::default().expand_soft(true).without_attributes(true);
/// assert!(options.expand_soft && !options.shallow);
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of libhdf5, and they are independent")]
#[non_exhaustive]
pub struct CopyOptions {
    /// Groups below the first one are copied without their members.
    pub shallow: bool,
    /// Soft links are replaced by copies of their targets. Broken links stay.
    pub expand_soft: bool,
    /// External links are replaced by copies of their targets. Broken links stay.
    pub expand_external: bool,
    /// Targets of references are copied too. If not set, references in a copy in another file are null, and
    /// those in a copy in the same file keep their targets.
    pub expand_refs: bool,
    /// Attributes are not copied.
    pub without_attributes: bool,
}

impl CopyOptions {
    /// Sets whether groups below the first one are copied without their members.
    #[must_use]
    pub fn shallow(mut self, shallow: bool) -> Self {
        self.shallow = shallow;
        self
    }

    /// Sets whether soft links are replaced by copies of their targets.
    #[must_use]
    pub fn expand_soft(mut self, expand_soft: bool) -> Self {
        self.expand_soft = expand_soft;
        self
    }

    /// Sets whether external links are replaced by copies of their targets.
    #[must_use]
    pub fn expand_external(mut self, expand_external: bool) -> Self {
        self.expand_external = expand_external;
        self
    }

    /// Sets whether targets of references are copied too.
    #[must_use]
    pub fn expand_refs(mut self, expand_refs: bool) -> Self {
        self.expand_refs = expand_refs;
        self
    }

    /// Sets whether attributes are left out.
    #[must_use]
    pub fn without_attributes(mut self, without_attributes: bool) -> Self {
        self.without_attributes = without_attributes;
        self
    }
}

impl Group {
    /// Copies `source`, which may be in another file, to `path`, and creates missing groups on the way.
    ///
    /// A group is copied with everything that hard links below it lead to. An object with several links is
    /// copied once. If the copy fails, nothing of it remains.
    ///
    /// ```
    /// use hyperslab::{CopyOptions, File};
    ///
    /// let file = File::in_memory()?;
    /// file.root().new_dataset::<u8>("runs/7/d").shape([2]).create_with(&[1, 2])?;
    /// let archive = File::in_memory()?;
    /// archive.root().copy(&file.get("runs/7")?, "old/7", &CopyOptions::default())?;
    /// assert_eq!(archive.dataset("old/7/d")?.read::<u8>(..)?, [1, 2]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn copy(&self, source: &Node, path: &str, options: &CopyOptions) -> Result<Node> {
        if !self.store().is_writable() {
            return Err(Error::from(RequestError::ReadOnly).at(self.path()));
        }
        let place = path::place(self, path)?;
        if place.missing.is_empty() && place.group.link(place.name)?.is_some() {
            return Err(RequestError::Exists { name: path.to_owned() }.into());
        }
        // A roll-back would take back what is copied so far.
        let _storing = place.group.file().storing();
        let mut copy = Copy::new(place.group.file(), *options);
        let copied = copy.run(source).and_then(|address| {
            self.create(path, |txn, _| {
                copy.link_referenced(txn)?;
                Ok(address)
            })
        });
        if copied.is_err() {
            // The first error says more. If undoing fails too, the copied objects are left as unused space.
            let _ = copy.undo();
        }
        copied
    }
}

/// A copy in progress.
pub(super) struct Copy<'a> {
    to: File,
    options: CopyOptions,
    /// The differences from the source, if the copy is a repacked file.
    renewal: Option<Renewal<'a>>,
    /// The files of the sources, in the order in which they were met.
    from: Vec<File>,
    /// The address of the copy of each source, by the number of the source's file and the source's address.
    made: HashMap<(usize, Addr), Addr>,
    /// The number of headers that are being made: the fill value of a dataset may be a reference.
    making: usize,
    /// The number of links to each new object so far. Uses of a committed datatype count as links.
    users: HashMap<Addr, u32>,
    /// Objects whose header is written, but not their contents.
    pending: VecDeque<Pending>,
}

/// The most headers that are made for each other. A reference may lead to the dataset whose fill value it is.
const MAKING: usize = 64;

struct Pending {
    source: Node,
    copy: Addr,
    /// The number of links from the first object to this one.
    depth: usize,
}

impl<'a> Copy<'a> {
    fn new(to: &File, options: CopyOptions) -> Self {
        Self {
            to: to.clone(),
            options,
            renewal: None,
            from: Vec::new(),
            made: HashMap::new(),
            making: 0,
            users: HashMap::new(),
            pending: VecDeque::new(),
        }
    }

    /// Creates a copy of a whole file or of selected objects.
    pub(super) fn renewing(to: &File, options: CopyOptions, renewal: Renewal<'a>) -> Self {
        Self { renewal: Some(renewal), ..Self::new(to, options) }
    }

    /// Copies `source` and everything below it. Returns the address of the copy, which has no link yet.
    fn run(&mut self, source: &Node) -> Result<Addr> {
        let address = self.object(source, 0)?;
        self.users.insert(address, 1); // the link that the caller makes
        self.complete_all()?;
        Ok(address)
    }

    /// Copies everything in a root group into the empty root group of the new file.
    pub(super) fn run_root(&mut self, source: &Group) -> Result<()> {
        let key = (self.number_of(source.file()), source.address());
        let copy = self.to.root().address();
        self.made.insert(key, copy);
        self.users.insert(copy, 1); // the superblock
        self.pending.push_back(Pending { source: Node::Group(source.clone()), copy, depth: 0 });
        self.complete_all()?;
        self.to.store().step(|txn| self.link_referenced(txn))
    }

    fn complete_all(&mut self) -> Result<()> {
        while let Some(next) = self.pending.pop_front() {
            self.complete(&next).map_err(|error| error.at(next.source.path()))?;
        }
        Ok(())
    }

    /// Returns the address of the copy of `source`, and makes the copy's header if there is none.
    fn object(&mut self, source: &Node, depth: usize) -> Result<Addr> {
        let key = (self.number_of(source.file()), source.address());
        if let Some(&known) = self.made.get(&key) {
            return Ok(known);
        }
        if self.making >= MAKING {
            let what = "copying a chain of references in fill values of more than 64 datasets";
            return Err(Error::unsupported(what, "IV.A.2.f").at(source.path()));
        }
        self.making += 1;
        let copy = self.make_header(source).map_err(|error| error.at(source.path()));
        self.making -= 1;
        let copy = copy?;
        self.made.insert(key, copy);
        self.users.insert(copy, 0);
        self.pending.push_back(Pending { source: source.clone(), copy, depth });
        Ok(copy)
    }

    fn number_of(&mut self, file: &File) -> usize {
        if let Some(number) = self.from.iter().position(|known| known.is_same(file)) {
            return number;
        }
        self.from.push(file.clone());
        self.from.len() - 1
    }

    /// Whether references in the source mean the same in the copy.
    fn keeps_references(&self, from: &File) -> bool {
        from.is_same(&self.to) && !self.options.expand_refs
    }

    fn complete(&mut self, pending: &Pending) -> Result<()> {
        if !self.options.without_attributes {
            self.attributes(&pending.source, pending.copy)?;
        }
        match &pending.source {
            Node::Group(group) if pending.depth == 0 || !self.options.shallow => self.links(group, pending),
            Node::Dataset(dataset) => self.data(dataset, pending.copy),
            Node::Group(_) | Node::Datatype(_) => Ok(()),
        }
    }

    fn links(&mut self, group: &Group, pending: &Pending) -> Result<()> {
        let mut links = Vec::new();
        for link in group.links()? {
            let path = path::join(group.path(), &link.name);
            if self.renewal.as_ref().is_some_and(|renewal| !renewal.takes(&path)) {
                continue;
            }
            let target = match self.followed(group, &link)? {
                Some(node) => LinkTarget::Hard(self.object(&node, pending.depth + 1)?),
                None => link.target,
            };
            links.push(Link { creation_order: None, target, ..link });
        }
        let to = self.to.clone();
        to.store().step(|txn| {
            links.into_iter().try_for_each(|link| {
                if let LinkTarget::Hard(target) = link.target {
                    self.count_user(txn, target)?;
                }
                link_edit::insert(txn, pending.copy, link)
            })
        })
    }

    /// Returns the target of a link if a copy of the target replaces the link.
    fn followed(&self, group: &Group, link: &Link) -> Result<Option<Node>> {
        let is_expanded = match link.target {
            LinkTarget::Hard(_) => return group.open_link(link).map(Some),
            LinkTarget::Soft(_) => self.options.expand_soft,
            LinkTarget::External { .. } => self.options.expand_external,
            LinkTarget::User { .. } => false,
        };
        if !is_expanded {
            return Ok(None);
        }
        match group.open_link(link) {
            Ok(node) => Ok(Some(node)),
            Err(error) if path::leads_nowhere(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Counts a link to a new object, or a use of a new committed datatype. A new header already counts the
    /// first.
    fn count_user(&mut self, txn: &mut Txn<'_>, copy: Addr) -> Result<()> {
        let users = self.users.entry(copy).or_default();
        *users += 1;
        if *users > 1 { add_reference(txn, copy, 1) } else { Ok(()) }
    }

    /// Links objects that were copied only because of references in the root group, under the names that
    /// libhdf5 gives them.
    fn link_referenced(&self, txn: &mut Txn<'_>) -> Result<()> {
        let root = self.to.store().superblock().root();
        let alone = |(_, copy): &(&(usize, Addr), &Addr)| self.users.get(copy) == Some(&0);
        let mut alone: Vec<((usize, Addr), Addr)> =
            self.made.iter().filter(alone).map(|(source, copy)| (*source, *copy)).collect();
        alone.sort_unstable();
        for ((_, source), copy) in alone {
            let name = format!("~obj_pointed_by_{}", source.get());
            link_edit::insert(txn, root, link_edit::hard(&name, copy))?;
        }
        Ok(())
    }

    /// Frees the space of everything that was copied.
    fn undo(&self) -> Result<()> {
        self.to.store().step(|txn| {
            self.made.values().try_for_each(|&copy| {
                let header = Header::read(txn.store(), copy)?;
                // Linked objects are copies too, and are deleted by this loop.
                delete::delete(txn, &header, &mut Vec::new())
            })
        })?;
        self.made.values().for_each(|&copy| self.to.chunk_cache().dirty.forget_dataset(copy));
        Ok(())
    }
}
