//! An open file: its store, its root group, and access to every object.

pub(in crate::object) mod create;
pub(in crate::object) mod external;
mod members;
mod opening;
pub(in crate::object) mod options;
pub(in crate::object) mod space;
pub(in crate::object) mod unlinked;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use hyperslab_error::Result;
use hyperslab_format::Addr;
use hyperslab_format::message::link::LinkTarget;
use hyperslab_format::message::small::{BTreeK, SharedMessages};
use hyperslab_io::driver::{Driver, DriverInfo};
use hyperslab_store::heap::HeapRoom;
use hyperslab_store::{Collective, Rank, Ranked, Store};
use parking_lot::{Mutex, RwLock};

use super::dataset::state::DatasetStates;
use super::dataset::vds::sources::Sources;
use super::group::links::LinkStorage;
use super::header::read::Header;
use super::header::versions::LibVersion;
use super::path::{self, Budget};
use super::{Dataset, Group, Node, Object};
use crate::engine::ChunkCache;
use crate::object::walk::Walk;
use opening::{Opening, Openings};
use options::OpenOptions;
use unlinked::Unlinked;

/// An open file.
///
/// Clones are handles to the same opening. The opening ends when the last handle and the last object are
/// dropped. Changes are written to the file then at the latest. [`close`](Self::close) and
/// [`flush`](Self::flush) return an error if writing fails.
///
/// ```
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("climate.h5");
/// let file = hyperslab::File::create(&path)?;
/// file.root().new_dataset::<f32>("t2m").shape([2]).create_with(&[281.5, 283.0])?;
/// file.close()?;
///
/// let file = hyperslab::File::open(&path)?;
/// assert_eq!(file.dataset("t2m")?.read::<f32>(..)?, [281.5, 283.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct File(Arc<Opening>);

#[derive(Debug)]
pub(super) struct Shared {
    store: Store,
    chunk_cache: ChunkCache,
    /// The file's absolute path, if it has one.
    path: Option<PathBuf>,
    options: OpenOptions,
    openings: Openings,
    /// The header of the root group at the time of opening.
    root: Arc<Header>,
    /// The version that new objects are created for.
    pub(super) version: LibVersion,
    /// What the handles of each dataset share.
    pub(super) datasets: DatasetStates,
    /// The place for the next data of variable length. This lock is taken before a step begins.
    pub(super) heap_room: Ranked<Mutex<HeapRoom>>,
    /// Threads that read ids and their data share this lock; a thread that removes such data holds it
    /// exclusively.
    pub(super) heap_objects: Ranked<RwLock<()>>,
    /// The objects to which no link leads.
    pub(super) unlinked: Mutex<Unlinked>,
    /// The sources that virtual datasets of the file hold open.
    sources: Mutex<Vec<Weak<Sources>>>,
}

impl Shared {
    /// Opens the file on `driver`, or creates one, as `options` say. The ranks of a file that several change
    /// are those with which its opening began.
    fn open(
        driver: Arc<dyn Driver>,
        path: Option<&Path>,
        is_empty: bool,
        options: &OpenOptions,
        collective: Option<Arc<Collective>>,
    ) -> Result<Self> {
        match options.access {
            access if access.makes(is_empty) => Self::create(driver, path, options, collective),
            access if access.writes() => Self::change(driver, path, options, collective),
            _ => Self::read(driver, path, options),
        }
    }

    /// Opens a file for reading.
    fn read(driver: Arc<dyn Driver>, path: Option<&Path>, options: &OpenOptions) -> Result<Self> {
        let opened = if options.swmr {
            Store::open_following(Arc::clone(&driver), options.metadata_cache_bytes)
        } else {
            Store::open(Arc::clone(&driver), options.metadata_cache_bytes)
        };
        let advised = |error| match &options.members {
            Some(_) => error,
            None => members::advice_for(driver, path).unwrap_or(error),
        };
        let store = opened.map_err(advised)?;
        let version = LibVersion::of_superblock(store.superblock().version());
        Self::of_store(store, path, options, version)
    }

    /// Returns the file of an open store.
    fn of_store(
        store: Store,
        path: Option<&Path>,
        options: &OpenOptions,
        version: LibVersion,
    ) -> Result<Self> {
        if options.members.is_none() {
            members::check(&store, path)?;
        }
        if let Some(extension) = store.superblock().extension() {
            let header = Header::read(&store, extension)?;
            header.find::<BTreeK>(&store)?.into_iter().for_each(|stated| store.set_btree_k(stated));
            if let Some(stated) = header.find::<SharedMessages>(&store)? {
                store.set_shared_messages(stated);
            }
        }
        let root = Header::read(&store, store.superblock().root()).map_err(|error| error.at("/"))?;
        if LinkStorage::of(&root, &store).map_err(|error| error.at("/"))?.is_none() {
            return Err(root.lacks("the link info or symbol table message of the root group").at("/"));
        }
        // External links are relative to this file, wherever the process moves later.
        let path = path.map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
        let chunks = ChunkCache::new(options.chunk_cache_bytes).in_flight(options.in_flight_bytes);
        Ok(Self::new(store, chunks, path, options.clone(), root, version))
    }

    fn new(
        store: Store,
        chunk_cache: ChunkCache,
        path: Option<PathBuf>,
        options: OpenOptions,
        root: Arc<Header>,
        version: LibVersion,
    ) -> Self {
        Self {
            heap_room: Ranked::new(store.number(), Rank::HeapRoom, Mutex::default()),
            heap_objects: Ranked::new(store.number(), Rank::HeapObjects, RwLock::default()),
            store,
            chunk_cache,
            path,
            options,
            openings: Openings::default(),
            root,
            version,
            datasets: DatasetStates::default(),
            unlinked: Mutex::default(),
            sources: Mutex::default(),
        }
    }

    /// Returns the file as a forked child has it; see [`Store::in_child`].
    fn in_child(&self) -> Self {
        let chunks = self.chunk_cache.in_child();
        let mut store = self.store.in_child();
        if chunks.is_none() {
            store.give_up();
        }
        let chunks = chunks.unwrap_or_else(|| ChunkCache::new(0));
        Self::new(
            store,
            chunks,
            self.path.clone(),
            self.options.clone(),
            Arc::clone(&self.root),
            self.version,
        )
    }
}

impl File {
    /// Returns the absolute path of the file, if the file was opened by path.
    pub fn path(&self) -> Option<&Path> {
        self.shared().path.as_deref()
    }

    /// Returns the store, which reads and writes structures by address.
    #[doc(hidden)]
    pub fn store(&self) -> &Store {
        &self.shared().store
    }

    /// Returns the cache of decoded chunks.
    #[doc(hidden)]
    pub fn chunk_cache(&self) -> &ChunkCache {
        &self.shared().chunk_cache
    }

    /// Returns the options with which the file was opened.
    pub(in crate::object) fn opened_with(&self) -> &OpenOptions {
        &self.shared().options
    }

    /// Notes that a virtual dataset of this file has opened sources, which are closed with the file.
    pub(in crate::object) fn holds(&self, sources: &Arc<Sources>) {
        let mut held = self.shared().sources.lock();
        held.retain(|held| held.strong_count() > 0);
        if !held.iter().any(|held| held.as_ptr() == Arc::as_ptr(sources)) {
            held.push(Arc::downgrade(sources));
        }
    }

    /// Returns what the driver of the file is and does.
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// assert_eq!(file.driver_info()?.name, "memory");
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn driver_info(&self) -> Result<DriverInfo> {
        Ok(self.store().driver()?.info())
    }

    /// Returns the number of requests of one reader that the driver has in progress at a time.
    pub fn queue_depth(&self) -> Result<usize> {
        Ok(self.store().driver()?.hints().queue_depth)
    }

    /// Returns the root group.
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// assert_eq!(file.root().path(), "/");
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn root(&self) -> Group {
        // With generation 0, the header is read again after any change.
        Group::new(Object::new(self.clone(), Arc::clone(&self.shared().root), 0, "/".into()))
    }

    /// Returns the object at `path`, through links of every kind. Every path begins at the root group, with
    /// or without a leading slash.
    ///
    /// ```
    /// use hyperslab::Node;
    ///
    /// let file = hyperslab::File::in_memory()?;
    /// file.root().create_group("surface")?;
    /// assert!(matches!(file.get("surface")?, Node::Group(_)));
    /// assert!(file.get("ocean").is_err());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn get(&self, path: &str) -> Result<Node> {
        path::resolve(&self.root(), path, &mut Budget::new())
    }

    /// Returns the group at `path`.
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// file.root().create_group("surface/daily")?;
    /// assert_eq!(file.group("surface")?.names()?, ["daily"]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn group(&self, path: &str) -> Result<Group> {
        self.get(path)?.into_group()
    }

    /// Returns the dataset at `path`.
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// file.root().new_dataset::<f32>("surface/t2m").shape([2, 3]).create()?;
    /// assert_eq!(file.dataset("surface/t2m")?.shape(), [2, 3]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn dataset(&self, path: &str) -> Result<Dataset> {
        self.get(path)?.into_dataset()
    }

    /// Returns the object with the header at `address`, which an object reference stores. The path of the
    /// object is empty, because it is not known.
    #[doc(hidden)]
    pub fn object_at(&self, address: Addr) -> Result<Node> {
        if address == self.store().superblock().root() {
            return Ok(Node::Group(self.root()));
        }
        Node::open(self, address, &"".into())
    }

    /// Returns a path from the root to the object with the header at `address`, or `None` if no hard link
    /// leads there. In the worst case, this reads all groups of the file.
    ///
    /// Of several paths, this is the one that libhdf5 finds first: links in the order of the group, and
    /// everything below a link before the next link.
    #[doc(hidden)]
    pub fn path_of(&self, address: Addr) -> Result<Option<String>> {
        let root = self.root();
        if root.address() == address {
            return Ok(Some(root.path().to_owned()));
        }
        for step in Walk::ordered(&root, Group::stored_links) {
            let step = step.map_err(|(_, error)| error)?;
            if step.link.target == LinkTarget::Hard(address) {
                return Ok(Some(format!("/{}", step.path)));
            }
            step.node.transpose()?;
        }
        Ok(None)
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File").field("path", &self.shared().path).finish_non_exhaustive()
    }
}
