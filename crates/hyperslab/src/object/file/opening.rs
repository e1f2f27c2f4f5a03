//! Opening and closing files. The process knows its open files, and a second opening of a file shares the
//! first one, as in libhdf5 (decision 0009).

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Weak};

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_io::driver::{Create, Driver, Memory, Posix, Via};
use hyperslab_io::os;
use hyperslab_io::process::PerProcess;
use hyperslab_io::report::TARGET;
use hyperslab_store::commit::Durability;
use hyperslab_store::{Collective, Meeting};
use parking_lot::Mutex;

use super::options::OpenOptions;
use super::{File, Shared, members};

/// One opening of a file. The opening ends when it is closed or when its last handle is dropped. The last
/// opening closes the file.
#[derive(Debug)]
pub(super) struct Opening {
    /// The file for a forked child of the process that opened it.
    shared: Arc<PerProcess<Shared>>,
    is_closed: AtomicBool,
}

/// The openings of a file.
#[derive(Debug, Default)]
pub(super) struct Openings {
    count: AtomicUsize,
    /// Locked while the file is opened or closed. Absent for a file without a path.
    place: Option<Arc<OpenSlot>>,
}

/// The open file at a device and inode, if any.
type OpenSlot = Mutex<Weak<PerProcess<Shared>>>;

/// The device and the inode.
type DeviceInode = HashMap<(u64, u64), Arc<OpenSlot>>;

/// The open files by device and inode. A forked child starts with none: it opens the files of its parent
/// anew.
static PLACES: LazyLock<PerProcess<Mutex<DeviceInode>>> = LazyLock::new(|| PerProcess::new(Mutex::default()));

impl File {
    /// Returns options for opening or creating a file. They begin with opening an existing file for reading.
    ///
    /// ```
    /// let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("climate.h5");
    /// let file = hyperslab::File::options().create_new(true).track_order(true).open(&path)?;
    /// file.close()?;
    /// let file = hyperslab::File::options().write(true).open(&path)?;
    /// assert!(file.is_writable());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    /// Opens the file at `path` for reading. If this process has the file open already, the new handle shares
    /// that file, and can change it if the other handle can.
    ///
    /// ```
    /// let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("climate.h5");
    /// hyperslab::File::create(&path)?.close()?;
    /// let file = hyperslab::File::open(&path)?;
    /// assert!(!file.is_writable());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::options().open(path)
    }

    /// Creates a file at `path` and opens it for reading and writing. An existing file is replaced.
    ///
    /// ```
    /// let directory = tempfile::tempdir()?;
    /// let file = hyperslab::File::create(directory.path().join("climate.h5"))?;
    /// file.root().set_attribute("title", "Daily temperatures")?;
    /// file.close()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        Self::options().create(true).truncate(true).open(path)
    }

    /// Opens a file given by its bytes, for reading.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use hyperslab::driver::Memory;
    ///
    /// let memory = Arc::new(Memory::default());
    /// let file = hyperslab::File::options().create(true).open_on(memory.clone())?;
    /// file.root().set_attribute("version", 3)?;
    /// file.close()?;
    ///
    /// let file = hyperslab::File::from_bytes(memory.bytes())?;
    /// assert_eq!(file.root().attribute_value::<i32>("version")?, 3);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::options().open_on(Arc::new(Memory::new(bytes)))
    }

    /// Creates a file in memory.
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// let dataset = file.root().new_dataset::<u8>("d").shape([3]).create_with(&[1, 2, 3])?;
    /// assert_eq!(dataset.read::<u8>(..)?, [1, 2, 3]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn in_memory() -> Result<Self> {
        Self::options().create(true).open_on(Arc::new(Memory::default()))
    }

    pub(super) fn open_driver(driver: Arc<dyn Driver>, options: &OpenOptions) -> Result<Self> {
        // The driver has all bytes of the file.
        let options = &options.clone().members(None);
        options.check()?;
        let create = options.access.creates();
        let found = || driver.is_empty().map_err(Error::io("length", 0, 0));
        let collective = options.collective();
        let is_empty = match &collective {
            _ if create == Create::No => false,
            None => found()?,
            // Another rank may find what rank 0 has begun to write.
            Some(collective) => collective.ask_leader(|| Ok(vec![found()?.into()]))? == [1],
        };
        if create == Create::New && !is_empty {
            return Err(RequestError::Exists { name: "a file".to_owned() }.into());
        }
        let shared = Shared::open(driver, options.location.as_deref(), is_empty, options, collective.clone());
        match collective {
            Some(collective) => all_opened(&collective, options, shared),
            None => Ok(Opening::first(shared?, None)),
        }
    }

    pub(super) fn open_path(path: &Path, options: &OpenOptions) -> Result<Self> {
        // Before a file is created.
        options.check()?;
        if let Some(collective) = options.collective() {
            return Self::open_shared(path, &collective, options);
        }
        let (write, create) = (options.access.writes(), options.access.creates());
        let op = if options.access.replaces() { "create" } else { "open" };
        let failed = |error| Error::io(op, 0, 0)(error);
        let driver = match &options.members {
            Some(members) => members.open_first(path, write.then_some(create), options.access.truncates())?,
            None if write => Posix::open_writable_unlocked(path, create).map_err(failed)?,
            None => Posix::open_unlocked(path).map_err(failed)?,
        };
        let identity = driver.identity().map_err(failed)?;
        let place = {
            let mut places = PLACES.get(|_| Mutex::default()).lock();
            // The places of closed files are dropped once in as many openings as there are places.
            if places.len() == places.capacity() {
                places.retain(|_, place| Arc::strong_count(place) > 1);
                let left = places.len();
                places.reserve(left + 1);
            }
            Arc::clone(places.entry(identity).or_default())
        };
        // No other thread opens or closes the file meanwhile.
        let mut open = place.lock();
        let first = open.upgrade().filter(|shared| shared.get(Shared::in_child).openings.are_left());
        let is_apart = first.as_ref().is_some_and(|shared| shared.get(Shared::in_child).is_apart(options));
        if let Some(shared) = first.filter(|_| !is_apart) {
            return Opening::further(&shared, options);
        }
        let driver = driver.locked(options.locking).map_err(failed)?;
        let is_empty = write && driver.len().map_err(failed)? == 0;
        let driver = match (&options.members, options.queue_depth) {
            (Some(members), _) => members::open(driver, path, members, options)?,
            (None, depth) => {
                let driver = depth.into_iter().fold(driver, Posix::with_queue_depth);
                options.via.over(Arc::new(driver), depth).map_err(failed)?
            }
        };
        let shared = Shared::open(Arc::clone(&driver), Some(path), is_empty, options, None)?;
        if options.swmr && !write {
            driver.unlock().map_err(failed)?;
        }
        if is_apart {
            return Ok(Opening::first(shared, None));
        }
        let file = Opening::first(shared, Some(Arc::clone(&place)));
        *open = Arc::downgrade(&file.0.shared);
        Ok(file)
    }

    /// Opens the file at `path` on all ranks: rank 0 creates and locks it. Each opening is a file of its own.
    fn open_shared(path: &Path, collective: &Arc<Collective>, options: &OpenOptions) -> Result<Self> {
        let op = if options.access.replaces() { "create" } else { "open" };
        let open = |create| Posix::open_writable_unlocked(path, create).map_err(Error::io(op, 0, 0));
        let mut first = None;
        let is_empty = collective.ask_leader(|| {
            let driver = open(options.access.creates())?;
            // A lock that keeps out all that take none would keep out the other ranks.
            let locked = if os::LOCKS_ARE_MANDATORY { Ok(driver) } else { driver.locked(options.locking) };
            let driver = locked.map_err(Error::io(op, 0, 0))?;
            let is_empty = driver.len().map_err(Error::io(op, 0, 0))? == 0;
            first = Some(driver);
            Ok(vec![is_empty.into()])
        })?;
        let driver = first.map_or_else(|| open(Create::No), Ok);
        let driver = driver.map_err(|error| collective.fail(Meeting::Open, error))?;
        collective.meet(Meeting::Open, Ok(Vec::new()))?;
        let together = Some(Arc::clone(collective));
        let shared = Shared::open(Arc::new(driver), Some(path), is_empty == [1], options, together);
        all_opened(collective, options, shared)
    }

    /// Ends this opening: writes all changes, and closes the file if this is the last opening. Other handles
    /// return errors once the file is closed.
    ///
    /// Returns an error if the changes cannot be written. The opening has ended all the same. If this is the
    /// last opening, the changes of a transaction that has not ended are lost.
    ///
    /// ```
    /// let directory = tempfile::tempdir()?;
    /// let file = hyperslab::File::create(directory.path().join("climate.h5"))?;
    /// file.close()?; // returns an error of the last write, which a dropped file only logs
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn close(self) -> Result<()> {
        self.0.end()
    }

    /// Ends this opening of a file that several [ranks](OpenOptions::ranks) change, on this rank alone and
    /// without the changes since the last commit: it has failed. The other ranks fail when they meet next.
    /// Any other file is [closed](Self::close).
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// file.give_up("the input ended")?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn give_up(self, why: &str) -> Result<()> {
        self.0.give_up(why)
    }

    /// Updates all handles to the current state of a file that another process extends. In a file open for
    /// writing, this does nothing.
    pub fn refresh(&self) -> Result<()> {
        self.store().refresh()
    }

    /// Returns whether both are handles to the same open file.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0.shared, &other.0.shared)
    }

    pub(in crate::object) fn shared(&self) -> &Shared {
        self.0.shared.get(Shared::in_child)
    }
}

impl Shared {
    /// Returns whether an opening with `options` is a file of its own, because both only read, and in other
    /// ways.
    fn is_apart(&self, options: &OpenOptions) -> bool {
        let is_alike = self.options.via == options.via
            && self.options.members == options.members
            && self.options.confined_to == options.confined_to;
        !is_alike && !self.store.is_writable() && !options.access.writes()
    }

    /// Returns whether an opening with `options` takes the same files for the members.
    fn has_members_of(&self, options: &OpenOptions) -> bool {
        match (&self.options.members, &options.members) {
            (Some(open), Some(members)) => open.are_those_of(members),
            (open, members) => open.is_none() && members.is_none(),
        }
    }
}

impl Openings {
    fn are_left(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
    }
}

impl Opening {
    /// Returns the first opening of a file.
    fn first(mut shared: Shared, place: Option<Arc<OpenSlot>>) -> File {
        shared.openings = Openings { count: AtomicUsize::new(1), place };
        File(Arc::new(Self { shared: Arc::new(PerProcess::new(shared)), is_closed: AtomicBool::new(false) }))
    }

    /// Returns one more opening of an open file, by the rules of libhdf5.
    fn further(shared: &Arc<PerProcess<Shared>>, options: &OpenOptions) -> Result<File> {
        let open = shared.get(Shared::in_child);
        let write = options.access.writes();
        let why = if matches!(options.via, Via::Map(_)) && open.store.is_writable() {
            "the file is open in this process to be changed, so it cannot be mapped into memory"
        } else if !open.has_members_of(options) {
            "the file is open in this process with another driver, as one file or in other parts"
        } else if options.access.replaces() {
            "unable to truncate a file which is already open in this process"
        } else if write && !open.store.is_writable() {
            "the file is already open read-only in this process: close it before it is opened to be changed"
        } else if options.swmr && !write && !open.store.is_writable() && !open.store.follows() {
            "SWMR read access flag not the same for a file that is already open in this process"
        } else if options.confined_to != open.options.confined_to {
            "the file is open in this process with other limits to the files that it may name"
        } else if options.locking.effective() != open.options.locking.effective() {
            "file locking flag values don't match: the file is already open in this process with others"
        } else if write
            && options.commit.durability == Durability::Power
            && open.store.durability() == Some(Durability::Kill)
        {
            "the file is already open in this process with a durability that does not survive a loss of power"
        } else {
            ""
        };
        if !why.is_empty() {
            return Err(RequestError::AlreadyOpen { why }.into());
        }
        open.openings.count.fetch_add(1, Ordering::AcqRel);
        Ok(File(Arc::new(Self { shared: Arc::clone(shared), is_closed: AtomicBool::new(false) })))
    }

    /// Ends the opening on this rank only, without the changes since the last commit. Other ranks learn why
    /// when they meet next.
    fn give_up(&self, why: &str) -> Result<()> {
        if self.shared.own().is_some_and(|shared| shared.store.collective().is_none()) {
            return self.end();
        }
        let Some(shared) = self.shared.own().filter(|_| !self.is_closed.swap(true, Ordering::AcqRel)) else {
            return Ok(());
        };
        if let Some(collective) = shared.store.collective() {
            collective.give_up(why);
        }
        shared.chunk_cache.dirty.clear();
        shared.store.roll_back(|| ())?;
        shared.store.close()
    }

    /// Ends the opening. A forked child of the process that opened the file changes nothing.
    fn end(&self) -> Result<()> {
        let Some(shared) = self.shared.own().filter(|_| !self.is_closed.swap(true, Ordering::AcqRel)) else {
            return Ok(());
        };
        // Sources of virtual datasets may hold further openings of this file.
        let held = std::mem::take(&mut *shared.sources.lock());
        held.iter().filter_map(Weak::upgrade).for_each(|sources| sources.clear());
        // This handle has no opening of its own.
        let handle =
            File(Arc::new(Self { shared: Arc::clone(&self.shared), is_closed: AtomicBool::new(true) }));
        let _alone = shared.openings.place.as_ref().map(|place| place.lock());
        if shared.openings.count.fetch_sub(1, Ordering::AcqRel) > 1 {
            return handle.flush();
        }
        let kept = if shared.store.is_writable() {
            let kept = handle.delete_unlinked().and_then(|()| handle.flush());
            let kept = kept.and_then(|()| shared.store.end_swmr()).and_then(|()| handle.keep_free_space());
            // All changes are written, or none.
            kept.inspect_err(|error| {
                // The other ranks may not have failed.
                shared.store.collective().into_iter().for_each(|ranks| ranks.give_up(&error.to_string()));
                let _ = shared.store.roll_back(|| ());
            })
        } else {
            Ok(())
        };
        let closed = shared.store.close();
        shared.chunk_cache.clear();
        let closed = match shared.store.collective() {
            Some(ranks) if kept.is_ok() => ranks.meet(Meeting::Closed, closed.map(|()| Vec::new())).map(drop),
            _ => closed,
        };
        kept.and(closed)
    }
}

/// Returns the file if all ranks have opened it, with the same options.
fn all_opened(collective: &Collective, options: &OpenOptions, shared: Result<Shared>) -> Result<File> {
    let shared = shared.map_err(|error| collective.fail(Meeting::Open, error))?;
    collective.compare(Meeting::Open, options.alike().as_bytes())?;
    Ok(Opening::first(shared, None))
}

impl Drop for Opening {
    fn drop(&mut self) {
        let is_shared = |shared: &Shared| shared.store.collective().is_some();
        if !self.is_closed.load(Ordering::Acquire) && self.shared.own().is_some_and(is_shared) {
            // The changes are lost on all ranks alike.
            let _ = self.give_up("it dropped the file and did not close it");
            return;
        }
        if let Err(error) = self.end() {
            // No caller is left to receive the error.
            let path = self.shared.get(Shared::in_child).path.as_deref();
            let path = path.map_or_else(|| "a file in memory".into(), Path::to_string_lossy);
            log::error!(target: TARGET, "{path}: what was changed since the last flush is lost: {error}");
        }
    }
}
