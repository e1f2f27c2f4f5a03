//! Copies of objects with all that is in them, within a file and from file to file.
//!
//! A copy is made of objects to which no link leads until the last step, which links the first of them: who reads meanwhile
//! sees nothing of it. Stored chunks are copied as they are. What holds addresses is made anew: links, sequences and strings
//! of variable length, references.

pub(in crate::object) mod data;
pub(in crate::object) mod header;
pub(in crate::object) mod messages;
pub(in crate::object) mod meter;
pub(in crate::object) mod rechunk;
pub(in crate::object) mod renewal;
pub(in crate::object) mod repack;
pub(in crate::object) mod translate;

use std::collections::{HashMap, VecDeque};

use hyperslab_format::Addr;
use hyperslab_format::message::link::{Link, LinkTarget};

use super::group::link_edit;
use super::header::edit::add_reference;
use super::header::read::Header;
use super::{File, Group, Node, delete, path};
use crate::error::{Error, RequestError, Result};
use crate::store::Txn;

pub(super) use renewal::Renewal;
pub(super) use translate::of_variable_parts;

/// What a copy takes along.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of libhdf5, and they are independent")]
pub struct CopyOptions {
    /// Groups below the first one are copied without their members.
    pub shallow: bool,
    /// What soft links lead to is copied in their place, where they lead anywhere.
    pub expand_soft: bool,
    /// What external links lead to is copied in their place, where they lead anywhere.
    pub expand_external: bool,
    /// What references lead to is copied, too. Else they are null in another file, and lead where they led within one.
    pub expand_refs: bool,
    /// Attributes are left out.
    pub without_attributes: bool,
}

impl Group {
    /// Copies `source`, of this file or another, to `path`, with the groups on the way that are missing.
    ///
    /// A group is copied with everything that hard links below it lead to; what several of them lead to is copied once. If it
    /// fails, nothing of the copy stays.
    pub fn copy(&self, source: &Node, path: &str, options: &CopyOptions) -> Result<Node> {
        if !self.store().is_writable() {
            return Err(Error::from(RequestError::ReadOnly).at(self.path()));
        }
        let place = path::place(self, path)?;
        if place.missing.is_empty() && place.group.link(place.name)?.is_some() {
            return Err(RequestError::Exists { name: path.to_owned() }.into());
        }
        let mut copy = Copy::new(place.group.file(), *options);
        let copied = copy.run(source).and_then(|address| {
            self.create(path, |txn, _| {
                copy.link_referenced(txn)?;
                Ok(address)
            })
        });
        if copied.is_err() {
            // The first error says more; what it leaves then is unused space.
            let _ = copy.undo();
        }
        copied
    }
}

/// One copy under way.
pub(super) struct Copy<'a> {
    to: File,
    options: CopyOptions,
    /// What is made anew, where the copy is a repacked file.
    renewal: Option<Renewal<'a>>,
    /// The files of sources, in the order in which they were met.
    from: Vec<File>,
    /// What was made of each source: by the number of its file, and its address.
    made: HashMap<(usize, Addr), Addr>,
    /// How many links and users of committed datatypes each of the new objects has by now.
    users: HashMap<Addr, u32>,
    /// Objects that have their header and nothing else yet.
    pending: VecDeque<Pending>,
}

struct Pending {
    source: Node,
    copy: Addr,
    /// How many links below the first object.
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
            users: HashMap::new(),
            pending: VecDeque::new(),
        }
    }

    /// A copy of a whole file, or of some of it.
    pub(super) fn renewing(to: &File, options: CopyOptions, renewal: Renewal<'a>) -> Self {
        Self { renewal: Some(renewal), ..Self::new(to, options) }
    }

    /// Copies `source` and everything below, and returns where the copy is, to which there is no link yet.
    fn run(&mut self, source: &Node) -> Result<Addr> {
        let address = self.object(source, 0)?;
        self.users.insert(address, 1); // the link that the caller makes
        self.complete_all()?;
        Ok(address)
    }

    /// Copies everything in a root group into that of the new file, which is empty.
    pub(super) fn run_root(&mut self, source: &Group) -> Result<()> {
        let key = (self.number_of(source.file())?, source.address());
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

    /// Where the copy of `source` is; it is made if it is not there.
    fn object(&mut self, source: &Node, depth: usize) -> Result<Addr> {
        let key = (self.number_of(source.file())?, source.address());
        if let Some(&known) = self.made.get(&key) {
            return Ok(known);
        }
        let copy = self.make_header(source).map_err(|error| error.at(source.path()))?;
        self.made.insert(key, copy);
        self.users.insert(copy, 0);
        self.pending.push_back(Pending { source: source.clone(), copy, depth });
        Ok(copy)
    }

    fn number_of(&mut self, file: &File) -> Result<usize> {
        if let Some(number) = self.from.iter().position(|known| known.is_same(file)) {
            return Ok(number);
        }
        if file.store().widths() != self.to.store().widths() {
            return Err(Error::unsupported(
                "copying between files with addresses of different widths",
                "II.A",
            ));
        }
        self.from.push(file.clone());
        Ok(self.from.len() - 1)
    }

    /// Whether addresses in the source mean the same in the copy.
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

    /// What a link leads to, if that is to be copied in its place.
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

    /// Counts a link to a new object, or a use of a new committed datatype: the header was made for one.
    fn count_user(&mut self, txn: &mut Txn<'_>, copy: Addr) -> Result<()> {
        let users = self.users.entry(copy).or_default();
        *users += 1;
        if *users > 1 { add_reference(txn, copy, 1) } else { Ok(()) }
    }

    /// Links what was copied for references alone in the root group, under the names that libhdf5 gives them.
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

    /// Gives the space of everything back that was made.
    fn undo(&self) -> Result<()> {
        self.to.store().step(|txn| {
            self.made.values().try_for_each(|&copy| {
                let header = Header::read(txn.store(), copy)?;
                // What it leads to was made here, too, and is deleted in its turn.
                delete::delete(txn, &header, &mut Vec::new())
            })
        })?;
        self.made.values().for_each(|&copy| self.to.chunk_cache().dirty.forget_dataset(copy));
        Ok(())
    }
}
