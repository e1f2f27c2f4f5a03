//! One file as a store of structures: where it begins, how wide its fields are, a cache of what was decoded; and how
//! changes get into it, all or nothing.

mod cache;
pub mod commit;
mod dirty;
mod extents;
mod journal;
mod lives;
mod lock;
pub mod recovery;
mod space;
#[cfg(test)]
pub(crate) mod testing;
mod txn;
mod writing;

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use hyperslab_format::message::small::BTreeK;
use hyperslab_format::superblock::Superblock;
use hyperslab_format::{Addr, ErrorKind, Extent, FormatError, Reader, Structure, Widths};

use crate::driver::Driver;
use crate::error::{Error, RequestError, Result};
use recovery::Report;
use writing::Writing;

pub use cache::BlockCache;
pub use dirty::Block;
pub use lock::ReadGuard;
pub use space::SpaceKind;
pub use txn::Txn;
pub use writing::{DataGuard, WriteOptions};

/// An open file, below the level of objects.
#[derive(Debug)]
pub struct Store {
    driver: Arc<dyn Driver>,
    /// Added to every address: where the superblock was found.
    base: u64,
    /// Bytes of the file from the base address on, with those that were given out and are not written yet.
    len: AtomicU64,
    superblock: Superblock,
    cache: BlockCache,
    /// Absent in a file open for reading alone.
    writing: Option<Box<Writing>>,
    /// As the superblock extension says, if it does.
    btree_k: OnceLock<BTreeK>,
}

impl Store {
    /// Finds and reads the superblock. A file that a crash left half-way is seen as recovery would leave it; nothing is
    /// written.
    pub fn open(driver: Arc<dyn Driver>, metadata_cache_bytes: u64) -> Result<Self> {
        let report = recovery::inspect(&*driver)?;
        if let Some(error) = report.refused() {
            return Err(error);
        }
        let driver = report.view(driver);
        Self::new(driver, &report, metadata_cache_bytes)
    }

    /// Opens a file to change it. What a crash left half-way is finished first.
    pub fn open_writable(
        driver: Arc<dyn Driver>,
        metadata_cache_bytes: u64,
        options: WriteOptions,
    ) -> Result<Self> {
        let mut report = recovery::inspect(&*driver)?;
        if let Some(error) = report.refused() {
            return Err(error);
        }
        if report.action != recovery::Action::Nothing {
            recovery::act(&*driver, &report)?;
            report = recovery::inspect(&*driver)?;
        }
        let mut store = Self::new(driver, &report, metadata_cache_bytes)?;
        if store.superblock.is_marked_open() {
            return Err(Error::NeedsRecovery { why: MARKED });
        }
        let end = store.superblock.end_of_file().saturating_sub(store.base);
        *store.len.get_mut() = end;
        let superblock = Some(report.superblock_bytes().to_vec());
        store.writing = Some(Box::new(Writing::new(end, superblock, store.widths(), options)));
        Ok(store)
    }

    /// Makes a new file of what `driver` has, from `base` on. It is none before the first commit, which writes `superblock`.
    pub fn create(
        driver: Arc<dyn Driver>,
        base: u64,
        superblock: Superblock,
        metadata_cache_bytes: u64,
        options: WriteOptions,
    ) -> Result<Self> {
        commit::set_len(&*driver, base)?;
        let widths = superblock.widths();
        let len = superblock.encoded_len(widths, &()) as u64;
        Ok(Self {
            driver,
            base,
            len: AtomicU64::new(len),
            superblock,
            cache: BlockCache::new(metadata_cache_bytes),
            writing: Some(Box::new(Writing::new(len, None, widths, options))),
            btree_k: OnceLock::new(),
        })
    }

    fn new(driver: Arc<dyn Driver>, report: &Report, metadata_cache_bytes: u64) -> Result<Self> {
        let file_len = driver.len().map_err(Error::io("length", 0, 0))?;
        let (base, superblock) = (report.superblock_at(), report.superblock().clone());
        check_whole(&superblock, &*driver, base, file_len)?;
        Ok(Self {
            driver,
            base,
            len: AtomicU64::new(file_len - base),
            superblock,
            cache: BlockCache::new(metadata_cache_bytes),
            writing: None,
            btree_k: OnceLock::new(),
        })
    }

    /// The superblock.
    pub fn superblock(&self) -> &Superblock {
        &self.superblock
    }

    /// Says where the root group of a new file is, before the first commit.
    pub fn set_superblock(&mut self, superblock: Superblock) {
        self.superblock = superblock;
    }

    /// How wide addresses and lengths are.
    pub fn widths(&self) -> Widths {
        self.superblock.widths()
    }

    /// Half the capacities of the nodes of version 1 B-trees and symbol tables.
    pub fn btree_k(&self) -> BTreeK {
        self.btree_k.get().copied().unwrap_or(BTreeK {
            indexed_storage_k: self.superblock.indexed_storage_k(),
            group_internal_k: self.superblock.group_internal_k(),
            group_leaf_k: self.superblock.group_leaf_k(),
        })
    }

    /// Takes over the capacities that the superblock extension states, once.
    pub fn set_btree_k(&self, stated: BTreeK) {
        let _ = self.btree_k.set(stated);
    }

    /// Bytes before the base address: the user block.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Bytes of the file from the base address on.
    pub fn len_bytes(&self) -> u64 {
        self.len.load(Ordering::Relaxed)
    }

    /// Bytes of them that nothing uses, as far as is known: what was free when the file was opened is not.
    pub fn free_bytes(&self) -> u64 {
        self.writing.as_ref().map_or(0, |writing| writing.space.lock().free_bytes())
    }

    /// The driver below.
    pub fn driver(&self) -> &Arc<dyn Driver> {
        &self.driver
    }

    /// Bytes that the metadata cache holds now.
    pub fn cached_bytes(&self) -> u64 {
        self.cache.weight_bytes()
    }

    /// The structure at `at`, from the cache or the file.
    pub fn get<S>(&self, at: Addr, context: &S::Context) -> Result<Arc<S>>
    where
        S: Structure + Send + Sync + 'static,
    {
        self.get_first(std::iter::once(at), context)
    }

    /// The structure at the first of the addresses `at`. If it has to be fetched from a slow medium, so are those at the others: for
    /// who will ask for them next.
    pub fn get_first<S>(&self, at: impl Iterator<Item = Addr>, context: &S::Context) -> Result<Arc<S>>
    where
        S: Structure + Send + Sync + 'static,
    {
        let mut at = at.peekable();
        let first = at.next().unwrap_or(Addr::UNDEFINED);
        if let Some(known) = self.known(first) {
            return Ok(known);
        }
        if at.peek().is_some() && !self.is_at_hand(first) {
            let len = S::read_len(self.widths(), context) as u64;
            std::iter::once(first).chain(at).for_each(|addr| self.prefetch(Extent::new(addr, len)));
        }
        let (value, len) = self.decode::<S>(first, context)?;
        let value = Arc::new(value);
        self.cache.insert(first, Arc::clone(&value), len);
        Ok(value)
    }

    /// The structure at `at`, past the cache: what is read once.
    pub fn read<S: Structure>(&self, at: Addr, context: &S::Context) -> Result<S> {
        self.decode(at, context).map(|(value, _)| value)
    }

    /// The value at `at` that `make` reads from several blocks, cached under its type and address; `make` also says how
    /// many bytes it counts for.
    pub fn get_or_make<T: Send + Sync + 'static>(
        &self,
        at: Addr,
        make: impl FnOnce() -> Result<(T, u64)>,
    ) -> Result<Arc<T>> {
        self.get_or_make_where(at, |_| true, make)
    }

    /// As [`get_or_make`](Self::get_or_make), where a cached value counts only if `is_valid`.
    pub fn get_or_make_where<T: Send + Sync + 'static>(
        &self,
        at: Addr,
        is_valid: impl FnOnce(&T) -> bool,
        make: impl FnOnce() -> Result<(T, u64)>,
    ) -> Result<Arc<T>> {
        if let Some(known) = self.known(at).filter(|known| is_valid(known)) {
            return Ok(known);
        }
        let (value, len) = make()?;
        let value = Arc::new(value);
        self.cache.insert(at, Arc::clone(&value), len);
        Ok(value)
    }

    /// The value that `f` makes of the bytes at `extent`, cached under its type and address.
    pub fn get_with<T: Send + Sync + 'static>(
        &self,
        extent: Extent,
        name: (&'static str, &'static str),
        f: impl FnOnce(&mut Reader<'_>) -> hyperslab_format::Result<T>,
    ) -> Result<Arc<T>> {
        if let Some(known) = self.known(extent.addr) {
            return Ok(known);
        }
        let bytes = self.bytes(extent, name)?;
        let mut reader = Reader::new(&bytes, self.widths(), extent.addr);
        let value = Arc::new(reader.within(name.0, name.1, f).map_err(Error::from_format)?);
        self.cache.insert(extent.addr, Arc::clone(&value), extent.len);
        Ok(value)
    }

    /// The value at `at`, if it is in memory.
    fn known<T: Send + Sync + 'static>(&self, at: Addr) -> Option<Arc<T>> {
        let dirty = self.writing.as_ref().and_then(|writing| writing.dirty.read().get(at));
        dirty.or_else(|| self.cache.get(at))
    }

    /// The bytes at `extent`, which belong to the structure called `name` (and its section).
    pub fn bytes(&self, extent: Extent, name: (&'static str, &'static str)) -> Result<Vec<u8>> {
        let mut bytes = vec![0; self.check(extent, name)?];
        self.read_raw(extent.addr, &mut bytes)?;
        Ok(bytes)
    }

    /// Fills `dst` with the bytes at `at`, which the caller has checked to lie in the file.
    pub fn read_raw(&self, at: Addr, dst: &mut [u8]) -> Result<()> {
        self.check_readable()?;
        let offset = self.base.saturating_add(at.get());
        self.driver.read_at(offset, dst).map_err(Error::io("read", offset, dst.len() as u64))
    }

    /// Whether the byte at `at` can be read without waiting for a slow medium.
    pub fn is_at_hand(&self, at: Addr) -> bool {
        self.driver.is_at_hand(self.base.saturating_add(at.get()))
    }

    /// Says that `extent` will be read soon, wherever it is.
    pub fn prefetch(&self, extent: Extent) {
        self.driver.prefetch(self.base.saturating_add(extent.addr.get()), extent.len);
    }

    /// An error where a commit failed half-way: what is in the file may be neither the old state nor the new one.
    pub fn check_readable(&self) -> Result<()> {
        self.writing.as_ref().map_or(Ok(()), |writing| writing.check())
    }

    /// Writes bytes to space of the dataset that they belong to, or that nothing reaches yet.
    pub fn write_data(&self, at: Addr, bytes: &[u8]) -> Result<()> {
        let writing = self.writing()?;
        writing.check()?;
        writing.cut_tail(self)?;
        let offset = self.base.saturating_add(at.get());
        commit::write(&*self.driver, offset, bytes)?;
        // Not before: a flush meanwhile need not have made it durable.
        writing.wrote(Extent::new(at, bytes.len() as u64));
        Ok(())
    }

    /// Prepares space that nothing reaches yet for being written whole.
    pub fn reserve(&self, extent: Extent) -> Result<()> {
        if extent.len < RESERVE_FROM {
            return Ok(());
        }
        self.writing()?.cut_tail(self)?;
        let offset = self.base.saturating_add(extent.addr.get());
        self.driver.reserve(offset, extent.len).map_err(Error::io("make room", offset, extent.len))
    }

    /// Writes zeros to space that nothing reaches yet; where the file ends before it, it becomes longer.
    pub fn zero(&self, extent: Extent) -> Result<()> {
        let file_len = self.driver.len().map_err(Error::io("length", 0, 0))?.saturating_sub(self.base);
        let end = extent.addr.get().saturating_add(extent.len);
        let zeros = vec![0; usize::try_from(extent.len.min(ZERO_BYTES)).unwrap_or(0)];
        let mut at = extent.addr.get();
        while at < end.min(file_len) {
            let len = (end.min(file_len) - at).min(ZERO_BYTES);
            self.write_data(Addr::new(at), &zeros[..usize::try_from(len).unwrap_or(zeros.len())])?;
            at += len;
        }
        if end <= file_len {
            return Ok(());
        }
        self.writing()?.cut_tail(self)?;
        commit::set_len(&*self.driver, self.base + end)
    }

    /// Whether the file is open for writing.
    pub fn is_writable(&self) -> bool {
        self.writing.is_some()
    }

    fn writing(&self) -> Result<&Writing> {
        self.writing.as_deref().ok_or_else(|| RequestError::ReadOnly.into())
    }

    /// Begins a step that changes the file's metadata. Other steps wait for its end.
    ///
    /// Where the steps before it have left too much in memory, room is made first.
    pub fn begin(&self) -> Result<Txn<'_>> {
        let writing = self.writing()?;
        let guard = writing.lock.change();
        writing.check()?;
        writing.make_room(self)?;
        writing.reuse();
        Ok(Txn::new(self, writing, guard))
    }

    /// While the guard lives, no other thread changes metadata.
    pub fn reading(&self) -> ReadGuard<'_> {
        self.writing.as_ref().map_or_else(ReadGuard::none, |writing| writing.lock.read())
    }

    /// While the guard lives, what is freed is not given out again: for who has looked up where data are and reads them.
    pub fn reading_data(&self) -> DataGuard<'_> {
        DataGuard::new(self.writing.as_deref())
    }

    /// While the guard lives, what was given out for data is not taken back by who [rolls back](Self::roll_back): for who writes
    /// data to new places, from before they are given out until an index knows them.
    ///
    /// Space that was freed before is handed out again, if nobody may still read or write it.
    pub fn writing_data(&self) -> ReadGuard<'_> {
        self.writing.as_ref().map_or_else(ReadGuard::none, |writing| {
            writing.try_reuse();
            writing.data.read()
        })
    }

    /// Whether the object whose header was at `at` in a [generation](Self::generation) is gone since.
    pub fn is_over(&self, at: Addr, generation: u64) -> bool {
        self.writing.as_ref().is_some_and(|writing| writing.lives.lock().is_over(at, generation))
    }

    /// A number that rises with every change of metadata; always 0 in a file open for reading alone.
    pub fn generation(&self) -> u64 {
        self.writing.as_ref().map_or(0, |writing| writing.generation())
    }

    /// Space that no committed state reaches, for the data of a dataset.
    pub fn allocate(&self, kind: SpaceKind, len: u64) -> Result<Extent> {
        let mut space = self.writing()?.space.lock();
        let Some(extent) = space.allocate(kind, len) else {
            let limit = u64::MAX >> (64 - 8 * self.widths().offset.bytes());
            return Err(RequestError::TooMany {
                what: "bytes of a file with addresses of this width",
                limit,
            }
            .into());
        };
        self.len.fetch_max(space.end(), Ordering::Relaxed);
        Ok(extent)
    }

    /// Makes an extent longer by `len` bytes where it stands; returns what is added. `None` if that cannot be.
    fn extend(&self, extent: Extent, len: u64) -> Option<Extent> {
        let mut space = self.writing.as_ref()?.space.lock();
        let added = space.extend(extent, len)?;
        self.len.fetch_max(space.end(), Ordering::Relaxed);
        Some(added)
    }

    /// Gives space back that was [allocated](Self::allocate) and that nothing reaches.
    pub fn release(&self, extent: Extent) {
        self.writing.iter().for_each(|writing| writing.release(extent));
    }

    /// Writes everything that was changed since the last commit, all or nothing.
    pub fn commit(&self) -> Result<()> {
        let writing = self.writing()?;
        let _guard = writing.lock.change();
        // A transaction is committed by its end alone.
        if writing.in_transaction() { Ok(()) } else { writing.commit(self) }
    }

    /// Commits wait for [`end_transaction`](Self::end_transaction), or for [`roll_back`](Self::roll_back) to make them
    /// needless.
    pub fn begin_transaction(&self) -> Result<()> {
        let writing = self.writing()?;
        writing.check()?;
        if writing.set_in_transaction(true) {
            return Err(RequestError::Argument {
                what: "transaction".into(),
                why: "another is not ended yet",
            }
            .into());
        }
        Ok(())
    }

    /// Commits what was changed in the transaction.
    pub fn end_transaction(&self) -> Result<()> {
        self.writing()?.set_in_transaction(false);
        self.commit()
    }

    /// Forgets everything since the last commit.
    pub fn roll_back(&self) -> Result<()> {
        let writing = self.writing()?;
        let _data = writing.data.change();
        let _guard = writing.lock.change();
        writing.set_in_transaction(false);
        writing.roll_back(self);
        Ok(())
    }

    fn set_len(&self, len: u64) {
        self.len.store(len, Ordering::Relaxed);
    }

    /// The length of `extent` as a size in memory, if it lies inside the file.
    pub fn check(&self, extent: Extent, name: (&'static str, &'static str)) -> Result<usize> {
        match (extent.end(), usize::try_from(extent.len)) {
            (Some(end), Ok(len)) if end.get() <= self.len_bytes() => Ok(len),
            _ => Err(self.outside(extent, name)),
        }
    }

    fn decode<S: Structure>(&self, at: Addr, context: &S::Context) -> Result<(S, u64)> {
        let name = (S::NAME, S::SPEC);
        if at.is_undefined() || at.get() >= self.readable_bytes() {
            return Err(self.outside(Extent::new(at, 1), name));
        }
        let available = self.readable_bytes().saturating_sub(at.get());
        let mut want = (S::read_len(self.widths(), context) as u64).max(1);
        let mut buffer = ReadBuffer::take();
        loop {
            let len = want.min(available);
            let bytes = buffer.bytes(self.check(Extent::new(at, len), name)?);
            self.read_raw(at, bytes)?;
            let mut reader = Reader::new(bytes, self.widths(), at);
            match reader.structure::<S>(context) {
                Ok(value) => return Ok((value, reader.position() as u64)),
                Err(FormatError { kind: ErrorKind::Truncated { needed, .. }, .. })
                    if needed > len && needed <= available =>
                {
                    // At least double, so that a structure that asks byte by byte ends after a few reads.
                    want = needed.max(len * 2);
                }
                Err(error) => return Err(Error::from_format(error)),
            }
        }
    }

    /// Bytes of the file that the driver has: the last that were given out may not be written yet.
    fn readable_bytes(&self) -> u64 {
        let written = self.writing.as_ref().map_or(u64::MAX, |writing| writing.written());
        self.len_bytes().min(written)
    }

    fn outside(&self, extent: Extent, (structure, spec): (&'static str, &'static str)) -> Error {
        let needed = extent.addr.get().saturating_add(extent.len);
        let kind = if extent.addr.is_undefined() {
            ErrorKind::Missing { what: "the address" }
        } else {
            ErrorKind::Truncated { needed, have: self.len_bytes() }
        };
        Error::Format(FormatError { kind, structure, spec, at: extent.addr, offset: 0 })
    }
}

/// Memory that a thread reads structures into, one after another: a node of a B-tree is decoded in less time than it takes
/// to allocate and clear as many bytes.
struct ReadBuffer(Vec<u8>);

impl ReadBuffer {
    fn take() -> Self {
        Self(READ_BUFFER.take())
    }

    fn bytes(&mut self, len: usize) -> &mut [u8] {
        if self.0.len() < len {
            self.0.resize(len, 0);
        }
        &mut self.0[..len]
    }
}

impl Drop for ReadBuffer {
    fn drop(&mut self) {
        if self.0.len() <= READ_BUFFER_BYTES {
            READ_BUFFER.set(std::mem::take(&mut self.0));
        }
    }
}

thread_local! {
    static READ_BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Refuses a file that is not all there: it was cut short, or is one of several.
fn check_whole(superblock: &Superblock, driver: &dyn Driver, base: u64, file_len: u64) -> Result<()> {
    let is_cut = superblock.end_of_file() > file_len;
    match written_by(superblock, driver, base).as_ref() {
        // A family of one member is a file like others; the parts of a multi file are never whole.
        Some(b"NCSAfami") if is_cut => Err(Error::unsupported("a family of files", "II.B")),
        Some(b"NCSAmult") => {
            Err(Error::unsupported("a file split by the kind of data (multi, split)", "II.B"))
        }
        _ if is_cut => Err(truncated_file(superblock.end_of_file(), file_len)),
        _ => Ok(()),
    }
}

/// The Driver Identification of the driver information block, if the superblock names one (spec II.B).
fn written_by(superblock: &Superblock, driver: &dyn Driver, base: u64) -> Option<[u8; 8]> {
    let at = superblock.driver_information()?;
    let mut name = [0; 8];
    driver.read_at(base.checked_add(at.get())?.checked_add(8)?, &mut name).ok()?;
    Some(name)
}

/// Zeros that are written at a time.
const ZERO_BYTES: u64 = 1 << 20;
/// A thread keeps no more for the next structure that it reads.
const READ_BUFFER_BYTES: usize = 64 << 10;
/// Shorter writes gain less than it costs to say that they will come.
const RESERVE_FROM: u64 = 1 << 20;

const MARKED: &str = "another program has it open for writing, or died while it had";

fn truncated_file(needed: u64, have: u64) -> Error {
    Error::Format(FormatError {
        kind: ErrorKind::Truncated { needed, have },
        structure: "Superblock (End of File Address: the file was cut short)",
        spec: "II.A",
        at: Addr::new(0),
        offset: 0,
    })
}
