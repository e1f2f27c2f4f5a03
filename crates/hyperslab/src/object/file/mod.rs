//! An open file: its store, its root group, and the way to every object in it.

pub(in crate::object) mod create;
pub(in crate::object) mod external;
pub(in crate::object) mod unlinked;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use hyperslab_filters::Registry;
use hyperslab_format::Addr;
use hyperslab_format::message::link::LinkTarget;
use hyperslab_format::message::small::BTreeK;
use parking_lot::{Mutex, RwLock};

use super::dataset::sparse::Sparse;
use super::group::links::LinkStorage;
use super::header::read::Header;
use super::header::versions::LibVersion;
use super::path::{self, Budget};
use super::{Dataset, Group, Node, Object};
use crate::driver::{Driver, Memory, Posix};
use crate::engine::ChunkCache;
use crate::error::{Error, Result};
use crate::heap::HeapRoom;
use crate::store::Store;
use create::Locks;
use unlinked::Unlinked;

/// An open file. Clones are handles to one file, which closes when the last of them and of its objects is dropped: what was
/// changed gets into the file then, at the latest. [`close`](Self::close) and [`flush`](Self::flush) say whether that went
/// well.
#[derive(Clone)]
pub struct File(Arc<Open>);

/// What handles count.
struct Open {
    shared: Arc<Shared>,
    /// Whether the last handle gets changes into the file.
    flushes: bool,
}

pub(super) struct Shared {
    store: Store,
    chunk_cache: ChunkCache,
    /// The file's absolute path, if it has one.
    path: Option<PathBuf>,
    options: OpenOptions,
    /// The header of the root group as it was when the file was opened.
    root: Arc<Header>,
    /// Files that external links have led to and that are still open.
    externals: Mutex<HashMap<PathBuf, Weak<Open>>>,
    /// What new objects are made for.
    pub(super) version: LibVersion,
    /// Of the data of datasets, by the address of the header.
    pub(super) write_locks: Locks,
    /// The locks of shapes of datasets.
    pub(super) shape_locks: Locks,
    /// Where data of variable length go next. Taken before a step is begun.
    pub(super) heap_room: Mutex<HeapRoom>,
    /// Held by who reads ids and what they lead to, and alone by who takes that out of the file.
    pub(super) heap_objects: RwLock<()>,
    /// Objects to which no link leads.
    pub(super) unlinked: Mutex<Unlinked>,
    /// Datasets that leave out chunks.
    pub(super) sparse: Sparse,
}

/// How to open a file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OpenOptions {
    /// Budget for decoded metadata.
    pub metadata_cache_bytes: u64,
    /// Budget for decoded chunks.
    pub chunk_cache_bytes: u64,
    /// The filters that can be decoded; others may be registered.
    pub registry: Arc<Registry>,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self { metadata_cache_bytes: 32 << 20, chunk_cache_bytes: 64 << 20, registry: Arc::default() }
    }
}

impl File {
    /// Opens the file at `path` for reading.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &OpenOptions::default())
    }

    /// Opens the file at `path` for reading.
    pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        let path = path.as_ref();
        let driver = Posix::open(path).map_err(Error::io("open", 0, 0))?;
        // External links are relative to this file, wherever the process moves later.
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Self::new(Arc::new(driver), Some(absolute), options)
    }

    /// Opens a file that is in memory.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::from_driver(Arc::new(Memory::new(bytes)), &OpenOptions::default())
    }

    /// Opens a file through any driver.
    pub fn from_driver(driver: Arc<dyn Driver>, options: &OpenOptions) -> Result<Self> {
        Self::new(driver, None, options)
    }

    /// Opens the file at `path` through a driver of the caller's: external links are relative to `path`.
    pub fn from_driver_at(
        driver: Arc<dyn Driver>,
        path: impl AsRef<Path>,
        options: &OpenOptions,
    ) -> Result<Self> {
        let path = path.as_ref();
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Self::new(driver, Some(absolute), options)
    }

    fn new(driver: Arc<dyn Driver>, path: Option<PathBuf>, options: &OpenOptions) -> Result<Self> {
        let store = Store::open(driver, options.metadata_cache_bytes)?;
        let version = LibVersion::of_superblock(store.superblock().version());
        Self::of_store(store, path, options, version)
    }

    /// The file of an open store.
    pub(super) fn of_store(
        store: Store,
        path: Option<PathBuf>,
        options: &OpenOptions,
        version: LibVersion,
    ) -> Result<Self> {
        if let Some(extension) = store.superblock().extension() {
            let header = Header::read(&store, extension)?;
            header.find::<BTreeK>(&store)?.into_iter().for_each(|stated| store.set_btree_k(stated));
        }
        let header = Header::read(&store, store.superblock().root()).map_err(|error| error.at("/"))?;
        if LinkStorage::of(&header, &store).map_err(|error| error.at("/"))?.is_none() {
            return Err(header.lacks("the link info or symbol table message of the root group").at("/"));
        }
        Ok(Self::of(Arc::new(Shared {
            store,
            chunk_cache: ChunkCache::new(options.chunk_cache_bytes),
            path,
            options: options.clone(),
            root: header,
            externals: Mutex::default(),
            version,
            write_locks: Locks::default(),
            shape_locks: Locks::default(),
            heap_room: Mutex::default(),
            heap_objects: RwLock::default(),
            unlinked: Mutex::default(),
            sparse: Sparse::default(),
        })))
    }

    fn of(shared: Arc<Shared>) -> Self {
        Self(Arc::new(Open { shared, flushes: true }))
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.0.shared
    }

    /// Gets everything that was changed into the file. Handles that are left go on working.
    pub fn close(self) -> Result<()> {
        self.flush()
    }

    /// The file's absolute path, if it was opened by one.
    pub fn path(&self) -> Option<&Path> {
        self.0.shared.path.as_deref()
    }

    /// The level below: structures by address.
    pub fn store(&self) -> &Store {
        &self.0.shared.store
    }

    /// The cache of decoded chunks.
    pub fn chunk_cache(&self) -> &ChunkCache {
        &self.0.shared.chunk_cache
    }

    /// How the file was opened.
    pub fn options(&self) -> &OpenOptions {
        &self.0.shared.options
    }

    /// Whether both are handles to the same open file.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0.shared, &other.0.shared)
    }

    /// The root group.
    pub fn root(&self) -> Group {
        // Generation 0: whatever was changed since, the header is read again.
        Group::new(Object::new(self.clone(), Arc::clone(&self.0.shared.root), 0, "/".into()))
    }

    /// The object at `path`, through links of every kind; with or without a slash in front, from the root.
    pub fn get(&self, path: &str) -> Result<Node> {
        path::resolve(&self.root(), path, &mut Budget::new())
    }

    /// The group at `path`.
    pub fn group(&self, path: &str) -> Result<Group> {
        self.get(path)?.into_group()
    }

    /// The dataset at `path`.
    pub fn dataset(&self, path: &str) -> Result<Dataset> {
        self.get(path)?.into_dataset()
    }

    /// The object whose header is at `address`, as an object reference says. Its path is not known, and empty.
    pub fn object_at(&self, address: Addr) -> Result<Node> {
        if address == self.store().superblock().root() {
            return Ok(Node::Group(self.root()));
        }
        Node::open(self, address, &"".into())
    }

    /// A path from the root to the object whose header is at `address`; `None` if no hard link leads there. This reads the
    /// file's whole tree of groups if it has to.
    ///
    /// Of several paths it is the one that libhdf5 finds first: links in the order in which a group stores them, and what
    /// is below a link before the next.
    pub fn path_of(&self, address: Addr) -> Result<Option<String>> {
        let root = self.root();
        if root.address() == address {
            return Ok(Some(root.path().to_owned()));
        }
        let mut seen = HashSet::from([root.address()]);
        let links = root.stored_links()?.into_iter();
        // The groups on the way down, each with its links that are still to follow.
        let mut way = vec![(root, links)];
        while let Some((group, links)) = way.last_mut() {
            let Some(link) = links.next() else {
                way.pop();
                continue;
            };
            let LinkTarget::Hard(target) = link.target else { continue };
            if target == address {
                return Ok(Some(path::join(group.path(), &link.name).to_string()));
            }
            if seen.insert(target)
                && let Node::Group(below) = group.open_link(&link)?
            {
                let links = below.stored_links()?.into_iter();
                way.push((below, links));
            }
        }
        Ok(None)
    }

    /// The file at `path`, if an external link has led there and it is still open.
    pub(super) fn known_external(&self, path: &Path) -> Option<Self> {
        let externals = self.0.shared.externals.lock();
        externals.get(path).and_then(Weak::upgrade).map(Self)
    }

    /// Opens the file at `path` and remembers it. Two threads may both open it; the first to finish is kept.
    pub(super) fn open_external(&self, path: PathBuf, driver: Posix) -> Result<Self> {
        let absolute = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
        let opened = Self::new(Arc::new(driver), Some(absolute), self.options())?;
        let mut externals = self.0.shared.externals.lock();
        externals.retain(|_, file| file.strong_count() > 0);
        if let Some(first) = externals.get(&path).and_then(Weak::upgrade) {
            return Ok(Self(first));
        }
        externals.insert(path, Arc::downgrade(&opened.0));
        Ok(opened)
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File").field("path", &self.0.shared.path).finish_non_exhaustive()
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if !self.flushes || !self.shared.store.is_writable() {
            return;
        }
        let file = File(Arc::new(Self { shared: Arc::clone(&self.shared), flushes: false }));
        // Nobody is left to be told but the person at the terminal.
        if let Err(error) = file.delete_unlinked().and_then(|()| file.flush()) {
            let path = file.path().map_or_else(|| "a file in memory".into(), |path| path.to_string_lossy());
            eprintln!("hyperslab: {path}: what was changed since the last flush is lost: {error}");
        }
    }
}
