//! One file as a store of structures. The store knows the base address and the field widths, caches decoded
//! structures, and commits changes all or nothing.

mod cache;
mod collective;
pub mod commit;
mod deleted_objects;
pub mod heap;
pub mod index;
mod lock;
mod open_close;
mod raw_writes;
mod space;
mod superblock_extension;
mod swmr;
#[cfg(test)]
pub(crate) mod testing;
pub mod tree;

use std::cell::Cell;
use std::ops::{Deref, Range};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use hyperslab_format::message::small::{BTreeK, SharedMessages};
use hyperslab_format::superblock::Superblock;
use hyperslab_format::{Addr, ErrorKind, Extent, FormatError, Reader, Structure, Widths};
use smallvec::SmallVec;

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_io::driver::{Driver, Hints};
use hyperslab_io::process;
use parking_lot::{Mutex, RwLock};

use cache::prefetch::Siblings;
use commit::writing::Writing;
use open_close::Media;
use space::raw_data_range::ElementRange;
use space::split_space::Spaces;
use swmr::reader;

pub use cache::BlockCache;
pub use collective::{Collective, Meeting};
pub use commit::dirty_blocks::Block;
pub use commit::txn::Txn;
pub use commit::writing::{CommitOptions, DataGuard};
pub use lock::{Rank, Ranked, ReadGuard, this_thread, wait_by};
pub use space::stated_ends::MemberEnds;
pub use space::unlisted::{Finder, Found, Searches};
pub use space::{Alignment, FreeSpace, SpaceKind, SpaceRules};

/// An open file, below the level of objects.
#[derive(Debug)]
pub struct Store {
    /// The number of this store. Copies in forked processes share it.
    number: u32,
    /// The number of [forks](process::forks) before the file was opened.
    forks: u32,
    media: Ranked<RwLock<Media>>,
    /// Held by the thread that refreshes the file.
    refreshing: Mutex<()>,
    /// Whether the file is closing: new uses of the driver are refused.
    is_closing: AtomicBool,
    hints: Hints,
    /// The offset of the superblock, which is added to every address.
    base: u64,
    /// The length of the file from the base address on, including space that is allocated and not yet
    /// written.
    len: AtomicU64,
    /// The ranges of addresses that have bytes, if there are gaps between them.
    parts: Box<[Range<u64>]>,
    /// The range of addresses for elements, if metadata and elements are apart.
    elements: Option<ElementRange>,
    superblock: Superblock,
    /// Whether another program may write the file meanwhile, which is open for reading.
    follows: bool,
    /// How long reads still wait for that program.
    patience: reader::Patience,
    cache: BlockCache,
    /// Rises with every change of metadata and with every refresh.
    generation: AtomicU64,
    /// `None` in a file open for reading only.
    writing: Option<Box<Writing>>,
    /// The ranks that change the file together, if there are several.
    collective: Option<Arc<Collective>>,
    /// The capacities that the superblock extension states, if it states any.
    btree_k: OnceLock<BTreeK>,
    /// The table of shared messages, if the superblock extension names one.
    shared_messages: OnceLock<SharedMessages>,
}

impl Store {
    /// Returns the superblock as of the opening of the file. A refresh finds it unchanged, except for the end
    /// of the file.
    pub fn superblock(&self) -> &Superblock {
        &self.superblock
    }

    /// Sets the superblock of a new file, and so its root group, before the first commit.
    pub fn set_superblock(&mut self, superblock: Superblock) {
        self.superblock = superblock;
    }

    /// Returns the widths of addresses and lengths.
    pub fn widths(&self) -> Widths {
        self.superblock.widths()
    }

    /// Returns the number of bytes before the base address: the user block.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Returns the length of the file from the base address on.
    ///
    /// A file that another program extends has its present length.
    pub fn len_bytes(&self) -> u64 {
        let grown = if self.follows { self.driver().ok().and_then(|driver| driver.len().ok()) } else { None };
        grown.map_or_else(|| self.len.load(Ordering::Relaxed), |len| len.saturating_sub(self.base))
    }

    /// Returns the number of bytes known to be free. Space that was free when the file was opened is not
    /// known.
    pub fn free_bytes(&self) -> u64 {
        self.writing.as_ref().map_or(0, |writing| writing.space.lock().free_bytes())
    }

    /// Returns the driver. The file is neither closed nor refreshed while the returned guard lives.
    ///
    /// Errors: the file is closed.
    pub fn driver(&self) -> Result<impl Deref<Target = Arc<dyn Driver>>> {
        if self.is_closing.load(Ordering::Acquire) {
            return Err(RequestError::Closed.into());
        }
        self.media.read().try_map(|media| media.view.as_ref()).map_err(|media| media.gone.clone().into())
    }

    /// Returns the access patterns that suit the medium.
    pub fn hints(&self) -> Hints {
        self.hints
    }

    /// Returns the number of the store in the locking order: see [`Ranked`].
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Returns the number of bytes in the metadata cache.
    pub fn cached_bytes(&self) -> u64 {
        self.cache.weight_bytes()
    }

    /// Returns the structure at `at`, from the cache or the file.
    pub fn get<S>(&self, at: Addr, context: &S::Context) -> Result<Arc<S>>
    where
        S: Structure + Send + Sync + 'static,
    {
        if let Some(known) = self.known(at) {
            return Ok(known);
        }
        self.remember(at, || self.decode::<S>(at, context))
    }

    /// Returns the structure at the first of the addresses `at`. If it has to be read from a slow medium, the
    /// structures at the other addresses are read with it and cached, because the caller will need them next.
    pub fn get_first<S>(&self, at: &[Addr], context: &S::Context) -> Result<Arc<S>>
    where
        S: Structure + Send + Sync + 'static,
    {
        let first = at.first().copied().unwrap_or(Addr::UNDEFINED);
        if at.len() > 1 && self.hints.queue_depth > 1 && !self.follows && self.known::<S>(first).is_none() {
            self.check_readable()?;
            // The locks of changed blocks and of space come before that of the medium.
            let is_unknown = |at: &&Addr| self.writing.is_none() || self.known::<S>(**at).is_none();
            let at = &at[..at.iter().take_while(is_unknown).count()];
            let mut siblings = Siblings::<S>::new(self, at, context);
            // Structures that could not be read are read again when they are needed, and their errors are
            // reported then.
            let _ = self.driver()?.read_many(&mut siblings);
        }
        self.get(first, context)
    }

    /// Reads the structure at `at` without the cache: for structures that are read once.
    pub fn read<S: Structure>(&self, at: Addr, context: &S::Context) -> Result<S> {
        self.decode(at, context).map(|(value, _)| value)
    }

    /// Returns the value at `at`, cached under its type and address. `make` reads a missing value from
    /// several blocks and also returns the number of bytes that the value counts as.
    pub fn get_or_make<T: Send + Sync + 'static>(
        &self,
        at: Addr,
        make: impl FnOnce() -> Result<(T, u64)>,
    ) -> Result<Arc<T>> {
        self.get_or_make_where(at, |_| true, make)
    }

    /// Like [`get_or_make`](Self::get_or_make), but uses a cached value only if `is_valid` accepts it.
    pub fn get_or_make_where<T: Send + Sync + 'static>(
        &self,
        at: Addr,
        is_valid: impl FnOnce(&T) -> bool,
        make: impl FnOnce() -> Result<(T, u64)>,
    ) -> Result<Arc<T>> {
        if let Some(known) = self.known(at).filter(|known| is_valid(known)) {
            return Ok(known);
        }
        self.remember(at, make)
    }

    /// Makes a value and caches it under the epoch in which its reading began.
    fn remember<T: Send + Sync + 'static>(
        &self,
        at: Addr,
        make: impl FnOnce() -> Result<(T, u64)>,
    ) -> Result<Arc<T>> {
        let epoch = self.cache.epoch();
        let (value, len) = make()?;
        let value = Arc::new(value);
        self.cache.insert_of(epoch, at, Arc::clone(&value), len);
        Ok(value)
    }

    /// Returns the value at `at` if it is in memory.
    fn known<T: Send + Sync + 'static>(&self, at: Addr) -> Option<Arc<T>> {
        let dirty = self.writing.as_ref().and_then(|writing| writing.dirty.read().get(at));
        dirty.or_else(|| self.cache.get(at))
    }

    /// Reads the bytes at `extent`. `name` is the structure that they belong to, with its section.
    pub fn bytes(&self, extent: Extent, name: (&'static str, &'static str)) -> Result<Vec<u8>> {
        let mut bytes = vec![0; self.check(extent, name)?];
        self.read_raw(extent.addr, &mut bytes)?;
        Ok(bytes)
    }

    /// Fills `dst` with the bytes at `at`. The caller has checked the bounds.
    pub fn read_raw(&self, at: Addr, dst: &mut [u8]) -> Result<()> {
        self.check_readable()?;
        if self.is_closing.load(Ordering::Acquire) {
            return Err(RequestError::Closed.into());
        }
        self.media.read().read(self.base, at, dst)
    }

    /// Errors if a commit failed half-way: the file may then hold neither the old state nor the new one.
    pub fn check_readable(&self) -> Result<()> {
        self.writing.as_ref().map_or(Ok(()), |writing| writing.check())
    }

    /// Returns whether the file is open for writing.
    pub fn is_writable(&self) -> bool {
        self.writing.is_some()
    }

    /// Errors if the file cannot be changed: it is open for reading, belongs to the parent of this process,
    /// or is closed.
    pub fn check_writable(&self) -> Result<()> {
        self.writing()?;
        self.driver().map(drop)
    }

    /// Returns the failures that commits survive; `None` if the file is open for reading.
    pub fn durability(&self) -> Option<commit::Durability> {
        self.writing.as_ref().map(|writing| writing.options.durability)
    }

    fn writing(&self) -> Result<&Writing> {
        if process::forks() != self.forks {
            return Err(RequestError::Forked.into());
        }
        self.writing.as_deref().ok_or_else(|| RequestError::ReadOnly.into())
    }

    /// Begins a step that changes the file's metadata. Other steps wait until it ends.
    ///
    /// If earlier steps have left too much in memory, room is made first.
    pub fn begin(&self) -> Result<Txn<'_>> {
        let writing = self.writing()?;
        self.collective().map_or(Ok(()), Collective::check_step)?;
        let guard = writing.lock.change();
        writing.check()?;
        drop(self.driver()?);
        writing.make_room(self)?;
        writing.reuse();
        Ok(Txn::new(self, writing, guard))
    }

    /// Runs `f` as one [step](Self::begin).
    pub fn step<R>(&self, f: impl FnOnce(&mut Txn<'_>) -> Result<R>) -> Result<R> {
        let mut txn = self.begin()?;
        let result = f(&mut txn)?;
        txn.finish()?;
        Ok(result)
    }

    /// Prevents other threads from changing metadata while the guard lives.
    pub fn reading(&self) -> ReadGuard<'_> {
        self.writing.as_ref().map_or(ReadGuard { _guard: None }, |writing| writing.lock.read())
    }

    /// Returns whether no committed state of the file refers to the byte at `at`.
    pub fn is_fresh(&self, at: Addr) -> bool {
        self.writing.as_deref().is_some_and(|writing| writing.space.lock().is_fresh(at))
    }

    /// Freed space is not reallocated while this guard lives, so a reader may look up an address and then
    /// read it.
    pub fn reading_data(&self) -> DataGuard<'_> {
        DataGuard::new(self.writing.as_deref())
    }

    /// Space allocated for data is not taken back by a [roll-back](Self::roll_back) while the guard lives. A
    /// thread that writes data to new space holds the guard from before the allocation until an index refers
    /// to the space.
    ///
    /// Makes space that was freed earlier available again, if no thread may still read or write it.
    pub fn writing_data(&self) -> ReadGuard<'_> {
        let guard = self.writing.as_ref().map(|writing| {
            writing.try_reuse();
            // A write may flush changes that were held before it.
            writing.data.read()
        });
        ReadGuard { _guard: guard }
    }

    /// Returns whether the object whose header was at `at` in a [generation](Self::generation) has been
    /// deleted since.
    pub fn is_over(&self, at: Addr, generation: u64) -> bool {
        self.writing.as_ref().is_some_and(|writing| writing.lives.lock().is_over(at, generation))
    }

    /// Returns a number that rises with every change of metadata and, in a file open for reading, with every
    /// [refresh](Self::refresh). State remembered from another generation may be stale.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Returns a number that rises when everything that was read becomes stale. A decoded chunk is kept for
    /// reads of the same epoch.
    pub fn epoch(&self) -> u64 {
        self.cache.epoch()
    }

    fn changed(&self) {
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Allocates space for the data of a dataset. No committed state refers to the space. A step must
    /// [name](Txn::names) it, or the caller must [release](Self::release) it.
    pub fn allocate(&self, len: u64) -> Result<Extent> {
        Ok(self.allocate_all(SpaceKind::Raw, [len])?[0])
    }

    /// Allocates several extents at once. They are adjacent unless holes elsewhere fit better.
    ///
    /// Waits if the space can be written only after a commit that another thread makes.
    pub fn allocate_all(
        &self,
        kind: SpaceKind,
        lens: impl IntoIterator<Item = u64>,
    ) -> Result<SmallVec<[Extent; 1]>> {
        let lens: SmallVec<[u64; 1]> = lens.into_iter().collect();
        let (extents, waits) = self.with_space(lens.iter().sum(), |space| {
            let mut extents: SmallVec<[Extent; 1]> = SmallVec::new();
            for len in lens {
                let Some(extent) = space.allocate_unnamed(kind, len) else {
                    extents.into_iter().for_each(|extent| space.release(kind, extent));
                    return None;
                };
                extents.push(extent);
            }
            let waits = extents.iter().any(|extent| space.is_in_tail(*extent));
            Some((extents, waits))
        })?;
        if waits {
            self.writing()?.wait_for_commit();
        }
        Ok(extents)
    }

    /// Calls `f`, which allocates `len` bytes, with the space. Errors if `f` returns `None`: addresses cannot
    /// reach that far.
    fn with_space<R>(&self, len: u64, f: impl FnOnce(&mut Spaces) -> Option<R>) -> Result<R> {
        self.collective().map_or(Ok(()), Collective::check_step)?;
        let mut space = self.writing()?.space.lock();
        self.find_space(&mut space, len);
        let taken = f(&mut space).ok_or_else(|| {
            let limit = u64::MAX >> (64 - 8 * self.widths().offset.bytes());
            RequestError::TooMany { what: "bytes of a file with addresses of this width", limit }
        })?;
        self.note_ends(&space);
        Ok(taken)
    }

    /// Records what was allocated.
    fn note_ends(&self, space: &Spaces) {
        let ends = space.ends();
        self.len.fetch_max(ends.first, Ordering::Relaxed);
        if let (Some(range), Some(len)) = (&self.elements, ends.elements) {
            range.grow(len);
        }
    }

    /// Extends an extent in place by `len` bytes; returns the added part. `None` if it cannot be extended.
    fn extend(&self, extent: Extent, len: u64) -> Option<Extent> {
        let mut space = self.writing.as_ref()?.space.lock();
        let added = space.extend(extent, len)?;
        self.note_ends(&space);
        Some(added)
    }

    /// Frees space of data that was [allocated](Self::allocate) and that nothing refers to.
    pub fn release(&self, extent: Extent) {
        self.writing.iter().for_each(|writing| writing.release(extent));
    }

    /// Commits all changes since the last commit, all or nothing.
    pub fn commit(&self) -> Result<()> {
        let writing = self.writing()?;
        let _guard = writing.lock.change();
        drop(self.driver()?);
        // Only its end commits a transaction.
        if writing.in_transaction() { Ok(()) } else { writing.commit(self) }
    }

    /// Begins a transaction: commits wait for [`end_transaction`](Self::end_transaction), or
    /// [`roll_back`](Self::roll_back) drops the changes.
    pub fn begin_transaction(&self) -> Result<()> {
        let writing = self.writing()?;
        writing.check()?;
        if writing.is_swmr() {
            let why = "other programs may read the file meanwhile (SWMR), and would see half of it";
            return Err(RequestError::Argument { what: "transaction".into(), why }.into());
        }
        if writing.is_untouched(self) {
            // The end of the transaction may return to the state that this commit makes.
            let _guard = writing.lock.change();
            writing.touch();
            writing.commit(self)?;
        }
        if writing.set_in_transaction(true) {
            return Err(RequestError::Argument {
                what: "transaction".into(),
                why: "another is not ended yet",
            }
            .into());
        }
        Ok(())
    }

    /// Returns whether a transaction has begun and not ended.
    pub fn in_transaction(&self) -> bool {
        self.writing.as_deref().is_some_and(Writing::in_transaction)
    }

    /// Ends the transaction and commits its changes.
    pub fn end_transaction(&self) -> Result<()> {
        self.writing()?.set_in_transaction(false);
        self.commit()
    }

    /// Drops all changes since the last commit. No thread may write data meanwhile. `lock` takes the other
    /// locks that are needed; its guard is returned.
    pub fn roll_back<G>(&self, lock: impl FnOnce() -> G) -> Result<G> {
        let writing = self.writing()?;
        let _data = writing.data.write();
        let locked = lock();
        let _guard = writing.lock.change();
        writing.set_in_transaction(false);
        writing.roll_back(self);
        Ok(locked)
    }

    fn set_len(&self, len: u64) {
        self.len.store(len, Ordering::Relaxed);
    }

    /// Returns the length of `extent` as a `usize`. Errors if the extent is outside the file.
    pub fn check(&self, extent: Extent, name: (&'static str, &'static str)) -> Result<usize> {
        match (extent.end(), usize::try_from(extent.len)) {
            (Some(end), Ok(len)) if end.get() <= self.end_of_part(extent.addr) => Ok(len),
            _ => Err(self.outside(extent, name)),
        }
    }

    fn decode<S: Structure>(&self, at: Addr, context: &S::Context) -> Result<(S, u64)> {
        self.very_patiently(|| self.decode_once(at, context))
    }

    fn decode_once<S: Structure>(&self, at: Addr, context: &S::Context) -> Result<(S, u64)> {
        let name = (S::NAME, S::SPEC);
        let readable = self.readable_bytes(at);
        if at.is_undefined() || at.get() >= readable {
            return Err(self.outside(Extent::new(at, 1), name));
        }
        let available = readable - at.get();
        let mut want = (S::read_len(self.widths(), context) as u64).max(1);
        let mut buffer = DECODED.take();
        loop {
            let len = want.min(available);
            let size = self.check(Extent::new(at, len), name)?;
            if buffer.len() < size {
                buffer.resize(size, 0);
            }
            let bytes = &mut buffer[..size];
            self.read_raw(at, bytes)?;
            let mut reader = Reader::new(bytes, self.widths(), at);
            match reader.structure::<S>(context) {
                Ok(value) => {
                    let len = reader.position() as u64;
                    if buffer.len() <= DECODED_BYTES {
                        DECODED.set(buffer);
                    }
                    return Ok((value, len));
                }
                Err(FormatError { kind: ErrorKind::Truncated { needed, .. }, .. })
                    if needed > len && needed <= available =>
                {
                    // At least double, so that a structure that requests single bytes needs only a few reads.
                    want = needed.max(len * 2);
                }
                Err(error) => return Err(Error::from(error)),
            }
        }
    }

    /// Returns the end of the bytes after `at` that the driver has: the last allocated bytes may not be
    /// written yet.
    fn readable_bytes(&self, at: Addr) -> u64 {
        if let (Some(range), true) = (self.elements_at(at), self.is_writable()) {
            return range.end().min(range.written());
        }
        let written = match (&self.writing, &self.collective) {
            // Other ranks write, too.
            (Some(_), Some(_)) => self
                .driver()
                .and_then(|driver| driver.len().map_err(Error::io("length", 0, 0)))
                .map_or(0, |len| len.saturating_sub(self.base)),
            (Some(writing), None) => writing.written(),
            (None, _) => u64::MAX,
        };
        self.end_of_part(at).min(written)
    }

    fn outside(&self, extent: Extent, (structure, spec): (&'static str, &'static str)) -> Error {
        let needed = extent.addr.get().saturating_add(extent.len);
        if let Some(error) = self.missing_part(extent) {
            return error;
        }
        let kind = if extent.addr.is_undefined() {
            ErrorKind::Missing { what: "the address" }
        } else {
            ErrorKind::Truncated { needed, have: self.readable_bytes(extent.addr) }
        };
        Error::Format(FormatError { kind, structure, spec, at: extent.addr, offset: 0 })
    }
}

thread_local! {
    /// The buffer into which a thread read its last structure. Decoding a B-tree node takes less time than
    /// allocating and clearing a buffer.
    static DECODED: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// The largest buffer that a thread keeps for its next structure.
const DECODED_BYTES: usize = 64 << 10;
