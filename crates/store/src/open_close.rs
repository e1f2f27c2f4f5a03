//! The life of an open file. A file is opened or created, read again after another process has extended it,
//! copied to a forked child, and closed once.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_format::superblock::Superblock;
use hyperslab_format::superblock::guard::{self, Reach};
use hyperslab_format::{Addr, ErrorKind, FormatError, Structure, Width};
use hyperslab_io::driver::Driver;
use hyperslab_io::process;
use parking_lot::{Mutex, RwLock};

use crate::Store;
use crate::cache::BlockCache;
use crate::collective::Collective;
use crate::commit;
use crate::commit::recovery::{self, Report};
use crate::commit::replaced_file;
use crate::commit::writing::{CommitOptions, Writing};
use crate::lock::{Rank, Ranked};
use crate::space::address_ranges;
use crate::space::raw_data_range::{self, ElementRange};
use crate::space::split_space::Ends;
use crate::swmr::reader;

/// The drivers through which a file is read and written.
#[derive(Debug, Clone)]
pub(crate) struct Media {
    /// The driver that the caller gave.
    pub(crate) medium: Option<Arc<dyn Driver>>,
    /// The same driver, or an overlay on it if a crash interrupted a commit.
    pub(crate) view: Option<Arc<dyn Driver>>,
    /// The first bytes of a file that no program changes, from the superblock on. The opening reads them at
    /// once, and a small file has all its metadata there.
    front: Vec<u8>,
    /// The reason why there is no driver, if there is none.
    pub(crate) gone: RequestError,
}

impl Media {
    fn new(medium: Arc<dyn Driver>, view: Arc<dyn Driver>) -> Self {
        Self { medium: Some(medium), view: Some(view), front: Vec::new(), gone: RequestError::Closed }
    }

    fn none(gone: RequestError) -> Self {
        Self { medium: None, view: None, front: Vec::new(), gone }
    }

    /// Keeps the first bytes of the medium, unless readers see others.
    fn keep_front(&mut self, front: Vec<u8>) {
        let is_shown = self
            .medium
            .as_ref()
            .zip(self.view.as_ref())
            .is_some_and(|(medium, view)| Arc::ptr_eq(medium, view));
        self.front = if is_shown { front } else { Vec::new() };
    }

    /// Fills `dst` with the bytes at `at`, of a file whose superblock is at `base`.
    pub(crate) fn read(&self, base: u64, at: Addr, dst: &mut [u8]) -> Result<()> {
        let view = self.view.as_ref().ok_or_else(|| self.gone.clone())?;
        let from = usize::try_from(at.get()).unwrap_or(usize::MAX);
        if let Some(known) = self.front.get(from..from.saturating_add(dst.len())) {
            dst.copy_from_slice(known);
            return Ok(());
        }
        let offset = base.saturating_add(at.get());
        view.read_at(offset, dst).map_err(Error::io("read", offset, dst.len() as u64))
    }
}

impl Store {
    /// Finds and reads the superblock. If a crash interrupted a commit, the file is read as recovery would
    /// leave it. Nothing is written.
    ///
    /// A file that is marked as being written while others read (SWMR) is read as
    /// [`open_following`](Self::open_following) does.
    pub fn open(driver: Arc<dyn Driver>, metadata_cache_bytes: u64) -> Result<Self> {
        let report = inspect(&*driver)?;
        if report.superblock().is_marked_swmr() {
            return Self::open_following(driver, metadata_cache_bytes);
        }
        let store = Self::found(&report, driver, metadata_cache_bytes)?;
        store.media.write().keep_front(report.into_front());
        Ok(store)
    }

    /// Opens a file for reading that may be incomplete, to read what the superblock leads to.
    pub fn open_incomplete(driver: Arc<dyn Driver>) -> Result<Self> {
        let report = inspect(&*driver)?;
        let len = driver.len().map_err(Error::io("length", 0, 0))?.saturating_sub(report.superblock_at());
        let store = Self::found_unchecked(&report, driver, 0);
        store.set_len(len);
        Ok(store)
    }

    /// Opens a file for reading that another program may write meanwhile (SWMR).
    ///
    /// Errors: a program is writing the file, or died while it did, without allowing others to read it.
    pub fn open_following(driver: Arc<dyn Driver>, metadata_cache_bytes: u64) -> Result<Self> {
        let report = reader::patiently(&reader::Patience::default(), reader::ATTEMPTS, || inspect(&*driver))?;
        let superblock = report.superblock();
        if superblock.is_marked_open() && !superblock.is_marked_swmr() {
            return Err(Error::NeedsRecovery { why: NOT_SWMR });
        }
        let mut store = Self::found(&report, driver, metadata_cache_bytes)?;
        store.follows = true;
        Ok(store)
    }

    /// Opens a file for writing. Finishes or undoes an interrupted commit first.
    pub fn open_writable(
        driver: Arc<dyn Driver>,
        metadata_cache_bytes: u64,
        options: CommitOptions,
    ) -> Result<Self> {
        Self::open_shared(driver, metadata_cache_bytes, options, None)
    }

    /// Opens a file for writing by several ranks, if there are any, as [`open_writable`](Self::open_writable)
    /// does.
    pub fn open_shared(
        driver: Arc<dyn Driver>,
        metadata_cache_bytes: u64,
        options: CommitOptions,
        collective: Option<Arc<Collective>>,
    ) -> Result<Self> {
        let once = |f: &dyn Fn() -> Result<()>| match &collective {
            Some(collective) => collective.lead(0, f),
            None => f(),
        };
        let mut report = inspect(&*driver)?;
        if report.superblock().widths().offset == Width::Sixteen {
            return Err(Error::unsupported("changing files with addresses of 16 bytes", "II.A"));
        }
        let reach = raw_data_range::reach(&*driver);
        if reach == Reach::Split && guard::bits(report.superblock().widths().offset, reach).is_none() {
            return Err(Error::unsupported(
                "changing split files with addresses of less than 8 bytes",
                "II.A",
            ));
        }
        if report.action != recovery::Action::Nothing {
            once(&|| Self::recover(&driver, &report))?;
            report = recovery::inspect(&*driver)?;
        }
        let mut store = Self::found(&report, driver, metadata_cache_bytes)?;
        if report.superblock().is_marked_open() {
            return Err(Error::NeedsRecovery { why: MARKED });
        }
        let first = report.superblock().end_of_file().saturating_sub(store.base);
        let ends = Ends { first, elements: store.stated_elements()? };
        let superblock = Some(report.superblock_bytes().to_vec());
        store.make_writable(ends, superblock, options);
        store.share(collective)?;
        Ok(store)
    }

    /// Does the action of `report`, which must have been made from `driver` just before.
    ///
    /// Errors: those of [`recovery::act`]; the member with the elements was cut short or replaced. It would
    /// be changed, and the journal lost.
    pub fn recover(driver: &Arc<dyn Driver>, report: &Report) -> Result<()> {
        if report.refusal.is_none() && driver.elements().is_some() {
            Self::found(report, Arc::clone(driver), 0)?.stated_elements()?;
        }
        recovery::act(&**driver, report)
    }

    /// Creates a file in `driver`, from offset `base` on. Its old content stays until the new file is
    /// [shown](Self::show_empty), if it can be, and else is dropped at once: then the file is not valid before
    /// the first commit, which writes `superblock`.
    pub fn create(
        driver: Arc<dyn Driver>,
        base: u64,
        superblock: Superblock,
        metadata_cache_bytes: u64,
        options: CommitOptions,
    ) -> Result<Self> {
        Self::create_shared(driver, base, superblock, metadata_cache_bytes, options, None)
    }

    /// Creates a file for several ranks, if there are any, as [`create`](Self::create) does.
    pub fn create_shared(
        driver: Arc<dyn Driver>,
        base: u64,
        superblock: Superblock,
        metadata_cache_bytes: u64,
        options: CommitOptions,
        collective: Option<Arc<Collective>>,
    ) -> Result<Self> {
        // The bytes before the base may begin with the signature of another file.
        let cut = || {
            commit::set_len(&*driver, 0)?;
            raw_data_range::cut(&*driver, 0)?;
            commit::set_len(&*driver, base)
        };
        match &collective {
            Some(collective) => collective.lead(0, cut)?,
            None if replaced_file::is_shown(&*driver) => {}
            None => cut()?,
        }
        let len = superblock.encoded_len(superblock.widths(), &()) as u64;
        let mut store = Self::new(Arc::clone(&driver), driver, base, superblock, metadata_cache_bytes);
        let ends = Ends { first: len, elements: store.elements.is_some().then_some(0) };
        store.make_writable(ends, None, options);
        store.share(collective)?;
        Ok(store)
    }

    /// Makes the store that of one of several ranks.
    fn share(&mut self, collective: Option<Arc<Collective>>) -> Result<()> {
        let Some(collective) = collective else { return Ok(()) };
        self.collective = Some(collective);
        let writing = self.writing()?;
        writing.is_shared.store(true, Ordering::Release);
        // A tail is cut while all ranks are here, and never later.
        self.once(|| 0, || writing.cut_tail(self))?;
        writing.cut_tail(self)
    }

    fn make_writable(&mut self, ends: Ends, superblock: Option<Vec<u8>>, options: CommitOptions) {
        *self.len.get_mut() = ends.first;
        *self.generation.get_mut() = 1;
        if let (Some(range), Some(len)) = (&self.elements, ends.elements) {
            range.set_len(len);
        }
        let writing =
            Writing::new(self.number, ends, self.elements_start(), superblock, self.widths(), options);
        self.writing = Some(Box::new(writing));
    }

    fn elements_start(&self) -> u64 {
        self.elements.as_ref().map_or(0, ElementRange::start)
    }

    fn found(report: &Report, medium: Arc<dyn Driver>, metadata_cache_bytes: u64) -> Result<Self> {
        let len = checked_len(report)?;
        let store = Self::found_unchecked(report, medium, metadata_cache_bytes);
        store.set_len(len);
        store.show_image()?;
        Ok(store)
    }

    fn found_unchecked(report: &Report, medium: Arc<dyn Driver>, metadata_cache_bytes: u64) -> Self {
        let view = report.view(Arc::clone(&medium));
        let (base, superblock) = (report.superblock_at(), report.superblock().clone());
        Self::new(medium, view, base, superblock, metadata_cache_bytes)
    }

    fn new(
        medium: Arc<dyn Driver>,
        view: Arc<dyn Driver>,
        base: u64,
        superblock: Superblock,
        metadata_cache_bytes: u64,
    ) -> Self {
        static STORES: AtomicU32 = AtomicU32::new(1);
        let number = STORES.fetch_add(1, Ordering::Relaxed);
        Self {
            number,
            forks: process::forks(),
            refreshing: Mutex::default(),
            is_closing: AtomicBool::new(false),
            hints: view.hints(),
            base,
            len: AtomicU64::new(0),
            parts: address_ranges::of(&*view, base),
            elements: ElementRange::of(&*view, base),
            media: Ranked::new(number, Rank::Media, RwLock::new(Media::new(medium, view))),
            superblock,
            follows: false,
            patience: reader::Patience::default(),
            cache: BlockCache::new(metadata_cache_bytes),
            generation: AtomicU64::new(0),
            writing: None,
            collective: None,
            btree_k: OnceLock::new(),
            shared_messages: OnceLock::new(),
        }
    }

    /// Reads the superblock and the length again and drops the cached blocks, for a file open for reading
    /// that another process extends. Does nothing for a file open for writing, which no other program may
    /// change.
    ///
    /// Reads in other threads either end before the refresh or see the new state.
    ///
    /// Errors: those of opening the file. The store is then unchanged.
    pub fn refresh(&self) -> Result<()> {
        if self.is_writable() {
            return self.driver().map(drop);
        }
        let _alone = self.refreshing.lock();
        let medium = {
            let media = self.media.read();
            Arc::clone(media.medium.as_ref().ok_or_else(|| media.gone.clone())?)
        };
        let report = self.very_patiently(|| inspect(&*medium))?;
        let fresh = Self::found(&report, medium, 0)?;
        let (view, len) = (fresh.media.read().view.clone(), fresh.len_bytes());
        let (old, new) = (&self.superblock, report.superblock());
        if report.superblock_at() != self.base || old.widths() != new.widths() || old.root() != new.root() {
            return Err(RequestError::OtherFile.into());
        }
        let mut media = self.media.write();
        if media.view.is_some() {
            media.view = view;
        }
        media.keep_front(if self.follows { Vec::new() } else { report.into_front() });
        self.set_len(len);
        if let (Some(range), Some(found)) = (&self.elements, &fresh.elements) {
            range.set_len(found.end() - found.start());
        }
        self.cache.clear();
        // Last, so that a thread that sees the new generation finds no stale blocks in the cache.
        self.changed();
        Ok(())
    }

    /// Commits all changes and releases the driver, even if handles remain; they then report that the file is
    /// closed. Driver calls in progress end first. The file is closed even if the commit fails.
    ///
    /// A forked child writes nothing: the file belongs to the parent.
    pub fn close(&self) -> Result<()> {
        let is_own = process::forks() == self.forks;
        let writing = self.writing.as_deref().filter(|_| is_own);
        let alone = writing.map(|writing| writing.lock.change());
        if self.is_closing.load(Ordering::Acquire) {
            return Ok(());
        }
        let committed = match writing {
            // An unfinished transaction is rolled back, and ranks that are apart commit nothing.
            Some(writing) if !writing.in_transaction() && !self.is_apart() => writing.commit(self),
            _ => Ok(()),
        };
        self.is_closing.store(true, Ordering::Release);
        let medium = {
            let mut media = self.media.write();
            media.view = None;
            media.front = Vec::new();
            media.medium.take()
        };
        self.cache.clear();
        self.changed();
        // No other thread uses the driver now, so its calls need not hold a lock of the file.
        drop(alone);
        let flushed = match (medium, writing) {
            (Some(medium), Some(writing)) => {
                // Other ranks may still write, and other programs may follow the file.
                let is_alone = self.collective.is_none() && !writing.is_swmr();
                if is_alone {
                    // If this fails, the file keeps a tail that readers ignore.
                    let _ = writing.cut_dead(&*medium, self.base);
                }
                medium.flush(true).map_err(Error::io("close", 0, 0))
            }
            _ => Ok(()),
        };
        committed.and(flushed)
    }

    /// Makes the file of a forked child unreadable.
    pub fn give_up(&mut self) {
        *self.media.untimely().write() = Media::none(RequestError::ForkedInChange);
    }

    /// Returns the store for a forked child. It shows the file at the fork, uncommitted changes included,
    /// with its own locks and caches, and is read-only. If another thread was changing the file at the fork,
    /// the child cannot read it.
    #[must_use]
    pub fn in_child(&self) -> Self {
        let elements = self.elements_start();
        let writing =
            self.writing.as_ref().map(|writing| writing.in_child(self.number, elements, self.widths()));
        let is_whole = writing.as_ref().is_none_or(Option::is_some);
        let media = match self.media.untimely().try_read_recursive() {
            Some(media) if is_whole => media.clone(),
            _ => Media::none(RequestError::ForkedInChange),
        };
        Self {
            number: self.number,
            forks: self.forks,
            media: Ranked::new(self.number, Rank::Media, RwLock::new(media)),
            refreshing: Mutex::default(),
            is_closing: AtomicBool::new(self.is_closing.load(Ordering::Acquire)),
            hints: self.hints,
            base: self.base,
            len: AtomicU64::new(self.len_bytes()),
            parts: self.parts.clone(),
            elements: self.elements.as_ref().map(ElementRange::in_child),
            superblock: self.superblock.clone(),
            follows: self.follows,
            patience: reader::Patience::default(),
            cache: self.cache.emptied(),
            // Handles read their headers again: their cached state may be locked.
            generation: AtomicU64::new(self.generation() + 1),
            writing: writing.flatten().map(Box::new),
            collective: None,
            btree_k: self.btree_k.clone(),
            shared_messages: self.shared_messages.clone(),
        }
    }
}

/// Inspects the file. Errors if recovery refuses it.
fn inspect(driver: &dyn Driver) -> Result<Report> {
    let report = recovery::inspect(driver)?;
    report.refused().map_or(Ok(report), Err)
}

/// Returns the length of the file from the superblock on. Errors if the file is incomplete.
fn checked_len(report: &Report) -> Result<u64> {
    let file_len = report.view_len();
    check_whole(report.superblock(), file_len)?;
    Ok(file_len - report.superblock_at())
}

/// Refuses a truncated file.
fn check_whole(superblock: &Superblock, file_len: u64) -> Result<()> {
    // A writer that others may follow states where the file will end.
    if superblock.end_of_file() <= file_len || superblock.is_marked_swmr() {
        return Ok(());
    }
    Err(FormatError {
        kind: ErrorKind::Truncated { needed: superblock.end_of_file(), have: file_len },
        structure: "Superblock (End of File Address: the file was cut short)",
        spec: "II.A",
        at: Addr::new(0),
        offset: 0,
    }
    .into())
}

const MARKED: &str = "another program has it open for writing, or died before closing it (then `hyperslab recover \
                      FILE` takes away the mark)";
const NOT_SWMR: &str = "another program has it open for writing, but not for SWMR, or died before closing it (then \
                        `hyperslab recover FILE` takes away the mark)";
