//! The ways to open or create a file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_filters::Registry;
use hyperslab_io::driver::{Create, Driver, Locking, Members, Posix, Via};
use hyperslab_io::ranks::Ranks;
use hyperslab_store::commit::Durability;
use hyperslab_store::{Alignment, Collective, CommitOptions, Finder, Searches, SpaceRules};

use super::create::check_user_block;
use super::space::FileSpace;
use super::{File, members};
use crate::engine::IN_FLIGHT_BYTES;
use crate::object::LibVersion;

/// Options for opening or creating a file. They begin with opening an existing file for reading.
///
/// ```
/// use hyperslab::{Durability, File};
///
/// # fn main() -> hyperslab::Result<()> {
/// # let directory = tempfile::tempdir().unwrap();
/// # let path = directory.path().join("climate.h5");
/// // Creates the file if it does not exist, and opens it for reading and writing if it does.
/// let file = File::options().create(true).durability(Durability::Power).open(&path)?;
/// file.root().create_group("surface")?;
/// file.close()?;
///
/// let file = File::options().chunk_cache_bytes(1 << 30).open(&path)?;
/// assert_eq!(file.root().names()?, ["surface"]);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
#[must_use = "options do nothing before `open` or `open_on` is called"]
pub struct OpenOptions {
    pub(super) access: Access,
    pub(super) location: Option<PathBuf>,
    pub(super) metadata_cache_bytes: u64,
    pub(super) chunk_cache_bytes: u64,
    pub(super) in_flight_bytes: u64,
    pub(super) locking: Locking,
    pub(super) members: Option<Members>,
    pub(super) via: Via,
    pub(super) queue_depth: Option<usize>,
    pub(super) swmr: bool,
    pub(super) confined_to: Option<Arc<Path>>,
    pub(super) ranks: Option<Arc<dyn Ranks>>,
    pub(in crate::object) registry: Arc<Registry>,
    pub(super) commit: CommitOptions,
    pub(super) version: Option<LibVersion>,
    pub(super) user_block: u64,
    pub(super) space: FileSpace,
    alignment: Alignment,
    metadata_block: Option<u64>,
    pub(super) finder: Option<Finder>,
    pub(super) searches: Searches,
    pub(super) track_order: bool,
}

/// The access to the file, and what happens to an existing one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the independent flags of `std::fs::OpenOptions`")]
pub(super) struct Access {
    write: bool,
    create: bool,
    create_new: bool,
    truncate: bool,
}

impl Access {
    /// Whether the file is opened for writing.
    pub(super) fn writes(self) -> bool {
        self.write || self.create || self.create_new || self.truncate
    }

    /// What happens if the file exists or not. As in `std`, `create_new` counts more than `create`.
    pub(super) fn creates(self) -> Create {
        match self {
            Self { create_new: true, .. } => Create::New,
            Self { create: true, .. } => Create::IfMissing,
            _ => Create::No,
        }
    }

    /// Whether an existing file is replaced.
    pub(super) fn truncates(self) -> bool {
        self.truncate && !self.create_new
    }

    /// Whether no content of an existing file is kept.
    pub(super) fn replaces(self) -> bool {
        self.truncate || self.create_new
    }

    /// Returns whether the file is created, given whether it is empty.
    pub(super) fn makes(self, is_empty: bool) -> bool {
        match self.creates() {
            Create::No => self.truncate,
            Create::IfMissing => self.truncate || is_empty,
            Create::New => true,
        }
    }
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            access: Access::default(),
            location: None,
            metadata_cache_bytes: 32 << 20,
            chunk_cache_bytes: 64 << 20,
            in_flight_bytes: IN_FLIGHT_BYTES,
            locking: Locking::default(),
            members: None,
            via: Via::default(),
            queue_depth: None,
            swmr: false,
            confined_to: None,
            ranks: None,
            registry: Registry::shared(),
            commit: CommitOptions::default(),
            version: None,
            user_block: 0,
            space: FileSpace::default(),
            alignment: Alignment::default(),
            metadata_block: None,
            finder: None,
            searches: Searches::default(),
            track_order: false,
        }
    }
}

impl OpenOptions {
    /// Returns options for opening an existing file for reading.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether the file is opened for writing, too.
    pub fn write(mut self, write: bool) -> Self {
        self.access.write = write;
        self
    }

    /// Sets whether a file that does not exist, or is empty, is created. It is open for writing.
    pub fn create(mut self, create: bool) -> Self {
        self.access.create = create;
        self
    }

    /// Sets whether the file is created and must not exist. It is open for writing.
    pub fn create_new(mut self, create: bool) -> Self {
        self.access.create_new = create;
        self
    }

    /// Sets whether an existing file is replaced by an empty HDF5 file. It is open for writing.
    pub fn truncate(mut self, truncate: bool) -> Self {
        self.access.truncate = truncate;
        self
    }

    /// Sets the path of a file on a driver. External links and external raw data are relative to this path.
    pub fn location(mut self, path: impl AsRef<Path>) -> Self {
        self.location = Some(path.as_ref().to_owned());
        self
    }

    /// Sets the memory for decoded metadata in bytes. The default is 32 MiB.
    pub fn metadata_cache_bytes(mut self, bytes: u64) -> Self {
        self.metadata_cache_bytes = bytes;
        self
    }

    /// Sets the memory for decoded chunks in bytes: chunks kept for later reads, and chunks changed in part.
    /// The default is 64 MiB.
    pub fn chunk_cache_bytes(mut self, bytes: u64) -> Self {
        self.chunk_cache_bytes = bytes;
        self
    }

    /// Sets the memory for stored bytes that reads in progress have requested and not decoded yet, over all
    /// threads. The default is 64 MiB. A chunk that is larger is read alone.
    ///
    /// ```
    /// use hyperslab::File;
    ///
    /// let opened = File::options().in_flight_bytes(8 << 20).open("/no/such/file.h5");
    /// assert!(opened.is_err());
    /// ```
    pub fn in_flight_bytes(mut self, bytes: u64) -> Self {
        self.in_flight_bytes = bytes;
        self
    }

    /// Sets whether a file opened by its path is locked.
    pub fn locking(mut self, locking: Locking) -> Self {
        self.locking = locking;
        self
    }

    /// Sets how the bytes of the file are distributed over several files. Families and split files can be
    /// created and changed, multi files are only read.
    ///
    /// ```
    /// use hyperslab::{File, driver::Members};
    ///
    /// let opened = File::options().members(Members::split()).open("/no/such/run");
    /// assert!(opened.is_err());
    /// ```
    pub fn members(mut self, members: impl Into<Option<Members>>) -> Self {
        self.members = members.into();
        self
    }

    /// Sets how the bytes of a file opened by its path are read.
    pub fn via(mut self, via: Via) -> Self {
        self.via = via;
        self
    }

    /// Sets the number of requests of one reader that are in progress at a time, for a file opened by its
    /// path. `None` stands for the number that suits a disk.
    ///
    /// ```
    /// use hyperslab::{File, driver::Via};
    ///
    /// let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("climate.h5");
    /// File::create(&path)?.close()?;
    /// let file = File::options().via(Via::Rings { direct: false }).queue_depth(8).open(&path)?;
    /// # if file.driver_info()?.fallback.is_none() {
    /// assert_eq!(file.queue_depth()?, 8);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn queue_depth(mut self, requests: impl Into<Option<usize>>) -> Self {
        self.queue_depth = requests.into();
        self
    }

    /// Sets whether a file open for reading may be written by another program meanwhile (SWMR: single writer,
    /// multiple readers). No lock is held after opening. [`Dataset::refresh`](crate::Dataset::refresh) shows
    /// what the writer has flushed.
    ///
    /// ```
    /// use hyperslab::{File, LibVersion};
    ///
    /// let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("series.h5");
    /// let writer = File::options().create(true).version(LibVersion::V110).open(&path)?;
    /// writer.root().new_dataset::<u8>("series").shape([0]).max_shape([None]).chunks([4]).create()?;
    /// writer.start_swmr()?;
    /// // Another program may now do this:
    /// let reader = File::options().swmr(true).open(&path)?;
    /// assert_eq!(reader.dataset("series")?.shape(), [0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn swmr(mut self, swmr: bool) -> Self {
        self.swmr = swmr;
        self
    }

    /// Limits the other files that the file may name to those in `folder` and below: targets of external
    /// links, sources of virtual datasets and external raw data. Symbolic links count as their targets. An
    /// empty path allows no other file. By default, there is no limit.
    ///
    /// For files of unknown origin: a file can name any path, and a program that shows the file would also
    /// show the contents of that path.
    ///
    /// ```
    /// use hyperslab::File;
    ///
    /// let directory = tempfile::tempdir()?;
    /// let (inside, outside) = (directory.path().join("in"), directory.path().join("out.h5"));
    /// std::fs::create_dir(&inside)?;
    /// File::create(&outside)?.close()?;
    /// let file = File::create(inside.join("all.h5"))?;
    /// file.root().link_external("out", outside.to_str().unwrap(), "/")?;
    /// assert!(file.get("out").is_ok());
    /// file.close()?;
    ///
    /// let file = File::options().confined_to(&inside).open(inside.join("all.h5"))?;
    /// assert!(file.get("out").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn confined_to(mut self, folder: impl AsRef<Path>) -> Self {
        self.confined_to = Some(folder.as_ref().into());
        self
    }

    /// Sets the processes that change the file together. Every rank opens the file, makes the same calls that
    /// change it, in the same order, and writes its own elements: [`Transfer`](crate::Transfer).
    ///
    /// A failure of one rank is an error on all, and the file is then as it was committed last. A file that
    /// is dropped without [`close`](File::close) is not committed, since other ranks may not close it then.
    /// This has no effect on a file that is opened for reading.
    pub fn ranks(mut self, ranks: Arc<dyn Ranks>) -> Self {
        self.ranks = Some(ranks);
        self
    }

    /// Sets additional filters, beside the built-in ones.
    pub fn registry(mut self, registry: Arc<Registry>) -> Self {
        self.registry = registry;
        self
    }

    /// Sets what a [flush](File::flush) survives: the death of the program, or a loss of power.
    ///
    /// ```
    /// use hyperslab::{Durability, File};
    ///
    /// let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("climate.h5");
    /// let file = File::options().create(true).durability(Durability::Power).open(&path)?;
    /// file.flush()?; // waits for the disk
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn durability(mut self, durability: Durability) -> Self {
        self.commit.durability = durability;
        self
    }

    /// Sets the memory for changed metadata between commits in bytes. The default is 32 MiB.
    pub fn dirty_bytes(mut self, bytes: u64) -> Self {
        self.commit.dirty_bytes = bytes;
        self
    }

    /// Sets the oldest libhdf5 that must be able to read new objects. The default is 1.10 for a new file, and
    /// the version of the superblock for an existing file.
    pub fn version(mut self, version: LibVersion) -> Self {
        self.version = Some(version);
        self
    }

    /// Sets the size of the user block before a new file's superblock, in bytes: 0, or a power of two from
    /// 512 on.
    pub fn user_block(mut self, bytes: u64) -> Self {
        self.user_block = bytes;
        self
    }

    /// Sets how a new file manages its space.
    ///
    /// ```
    /// use hyperslab::{File, FileSpace, SpaceStrategy};
    ///
    /// let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("climate.h5");
    /// let space = FileSpace { strategy: SpaceStrategy::Pages, persist: true, ..FileSpace::default() };
    /// File::options().create(true).space(space).open(&path)?.close()?;
    /// assert_eq!(File::open(&path)?.space()?, space);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn space(mut self, space: FileSpace) -> Self {
        self.space = space;
        self
    }

    /// Makes extents of `threshold` bytes and more begin at multiples of `step`. This has no effect in a file
    /// that allocates space in pages.
    pub fn alignment(mut self, threshold: u64, step: u64) -> Self {
        self.alignment = Alignment { threshold, step };
        self
    }

    /// Sets the size in bytes of the blocks from which metadata are allocated. This has no effect in a file
    /// that allocates space in pages. By default the size grows with the metadata.
    pub fn metadata_block(mut self, bytes: u64) -> Self {
        self.metadata_block = Some(bytes);
        self
    }

    /// Checks options that exclude each other, and what they say of a new file.
    pub(super) fn check(&self) -> Result<()> {
        if matches!(self.via, Via::Map(_)) && (self.access.writes() || self.swmr) {
            let what = "a file mapped into memory".to_owned();
            let why = "it can only be read, as it was when it was opened";
            return Err(RequestError::Argument { what, why }.into());
        }
        if self.ranks.is_some() && self.members.is_some() {
            let what = "a file in several members".to_owned();
            let why = "several processes change only files in one piece together";
            return Err(RequestError::Argument { what, why }.into());
        }
        if self.ranks.is_some() && self.space.persist {
            let what = "free space that is kept".to_owned();
            let why = "a file that several processes change together does not keep it";
            return Err(RequestError::Argument { what, why }.into());
        }
        members::check_options(self)?;
        self.space.check()?;
        check_user_block(self.user_block)
    }

    /// Returns the rules of allocation for a file with this management of space.
    pub(super) fn space_rules(&self, space: &FileSpace) -> SpaceRules {
        SpaceRules { page: space.page(), alignment: self.alignment, metadata_block: self.metadata_block }
    }

    /// Sets how the free space of an existing file is found, such as `check::holes`. It is looked for when
    /// the file would otherwise grow, and not at each opening. By default only free space is used that the
    /// file keeps a list of.
    pub fn find_free_space(mut self, finder: Option<Finder>) -> Self {
        self.finder = finder;
        self
    }

    /// Sets when free space is [looked for](Self::find_free_space).
    #[doc(hidden)]
    pub fn searches(mut self, when: Searches) -> Self {
        self.searches = when;
        self
    }

    /// Sets whether the root group of a new file tracks the order in which its links and attributes are
    /// created.
    pub fn track_order(mut self, track: bool) -> Self {
        self.track_order = track;
        self
    }

    /// Returns whether the file is opened for writing, or created.
    #[doc(hidden)]
    pub fn writes(&self) -> bool {
        self.access.writes()
    }

    /// Returns the ranks for one opening of a file that they change together. The whole opening has the same:
    /// ranks that are apart meet no more.
    pub(super) fn collective(&self) -> Option<Arc<Collective>> {
        let ranks = self.ranks.as_ref().filter(|_| self.access.writes())?;
        Some(Arc::new(Collective::new(Arc::clone(ranks))))
    }

    /// Returns what all ranks of a file must have alike: these options decide where its structures are, and
    /// when they change.
    pub(super) fn alike(&self) -> String {
        let at_once = (self.commit, self.chunk_cache_bytes);
        let new = (self.version, self.user_block, &self.space, self.alignment, self.metadata_block);
        format!("{:?}", (self.access, at_once, new, self.track_order))
    }

    /// Returns the same options for a file of its own that exists. Ranks only read other files: each would
    /// change them on its own.
    pub(in crate::object) fn for_existing(&self, write: bool) -> Self {
        let access = Access { write: write && self.ranks.is_none(), ..Access::default() };
        Self { access, members: None, ranks: None, ..self.clone() }
    }

    /// Opens the file at `path`.
    ///
    /// A process opens a file once for each device and inode. If the file is open already, the new handle
    /// shares it by the rules of libhdf5, and the options of the first opening stay in force.
    ///
    /// Errors: `Io` if the file cannot be opened (`WouldBlock` if another process has locked it); `Format` if
    /// the file is not HDF5 or is damaged; `Request` if this process has the file open in a way that excludes
    /// these options.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<File> {
        File::open_path(path.as_ref(), self)
    }

    /// Returns the medium of the existing file at `path`, for reading or writing.
    ///
    /// Errors: those of opening it; the file is only one of several members.
    #[doc(hidden)]
    pub fn medium(&self, path: &Path) -> Result<Arc<dyn Driver>> {
        if let Some(members) = &self.members {
            let options = self.for_existing(self.access.writes()).members(members.clone());
            members::check_options(&options)?;
            let create = options.access.writes().then_some(Create::No);
            let first = members.open_first(path, create, false)?.locked(options.locking);
            return members::open(first.map_err(Error::io("open", 0, 0))?, path, members, &options);
        }
        let driver = Arc::new(Posix::open(path).map_err(Error::io("open", 0, 0))?);
        members::advice_for(Arc::clone(&driver) as Arc<dyn Driver>, Some(path)).map_or(Ok(driver as _), Err)
    }

    /// Opens the file that `driver` reads and writes.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use hyperslab::{File, driver::Memory};
    ///
    /// let memory = Arc::new(Memory::default());
    /// let file = File::options().create(true).open_on(memory.clone())?;
    /// file.root().set_attribute("version", 3)?;
    /// file.close()?;
    /// assert!(memory.bytes().starts_with(b"\x89HDF"));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn open_on(&self, driver: Arc<dyn Driver>) -> Result<File> {
        File::open_driver(driver, self)
    }
}
