//! The state of a file that is open for writing: the changes since the last commit, and how they get into the
//! file.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use hyperslab_error::{Error, Result};
use hyperslab_format::superblock::Superblock;
use hyperslab_format::{Addr, Extent, Structure, Widths, Writer};
use hyperslab_io::driver::Driver;
use parking_lot::{Mutex, MutexGuard, RwLock};

use super::dirty_blocks::{self, Blocks, Dirty, Held};
use super::tail::Tail;
use crate::Store;
use crate::collective::Meeting;
use crate::commit::{self, Commit, Durability, Outcome, Overwrite};
use crate::deleted_objects::Lives;
use crate::lock::{Guard, MetadataLock, Rank, Ranked};
use crate::raw_writes::checksum;
use crate::space::SpaceKind;
use crate::space::raw_data_range;
use crate::space::split_space::{Ends, Spaces};
use crate::space::stated_ends;

/// The additional state of a file that is open for writing.
#[derive(Debug)]
pub(crate) struct Writing {
    pub(crate) lock: MetadataLock,
    /// Guards data that no index refers to yet: many threads write data, or one thread rolls all of it back.
    pub(crate) data: Ranked<RwLock<()>>,
    pub(crate) lives: Ranked<Mutex<Lives>>,
    pub(crate) dirty: Ranked<RwLock<Dirty>>,
    pub(crate) space: Ranked<Mutex<Spaces>>,
    /// The number of reads in progress.
    pub(crate) reads: AtomicUsize,
    /// Whether other ranks may read what they like meanwhile.
    pub(crate) is_shared: AtomicBool,
    /// Whether other programs read the file meanwhile, and changes are written in order.
    pub(crate) is_swmr: AtomicBool,
    /// The [generation](Store::generation) in which nothing was changed yet, if the file [keeps](crate::space::persisted)
    /// its free space.
    pub(crate) untouched: AtomicU64,
    is_poisoned: AtomicBool,
    /// Whether any write has not been made durable by a flush.
    has_written: AtomicBool,
    /// The address after the last byte ever written.
    written: AtomicU64,
    /// Whether nothing is left of what followed the end when the file was opened.
    pub(crate) tail_is_cut: AtomicBool,
    /// Whether commits wait for the end of a [transaction](Store::begin_transaction).
    in_transaction: AtomicBool,
    pub(crate) committed: Ranked<Mutex<Committed>>,
    pub(crate) options: CommitOptions,
}

/// Options for writing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitOptions {
    /// The failures that a commit survives.
    pub durability: Durability,
    /// The largest size of changed metadata in memory, in bytes.
    pub dirty_bytes: u64,
}

impl Default for CommitOptions {
    fn default() -> Self {
        Self { durability: Durability::Kill, dirty_bytes: 32 << 20 }
    }
}

/// Freed space is not reallocated while this guard lives.
#[derive(Debug)]
#[must_use]
pub struct DataGuard<'s> {
    writing: Option<&'s Writing>,
}

impl<'s> DataGuard<'s> {
    pub(crate) fn new(writing: Option<&'s Writing>) -> Self {
        writing.inspect(|writing| _ = writing.reads.fetch_add(1, Ordering::AcqRel));
        Self { writing }
    }
}

impl Drop for DataGuard<'_> {
    fn drop(&mut self) {
        self.writing.inspect(|writing| _ = writing.reads.fetch_sub(1, Ordering::AcqRel));
    }
}

/// The state that is in the file.
#[derive(Debug)]
pub(crate) struct Committed {
    /// The superblock; `None` in a new file that the medium does not show yet.
    pub(crate) superblock: Option<Vec<u8>>,
    transactions: u64,
    /// The ends that the superblock and the driver information state.
    pub(crate) ends: Ends,
}

impl Writing {
    /// Returns the state for file number `file`, which ends at `ends` and has this superblock. Its range of
    /// elements begins at the address `elements`, if it has one.
    pub(crate) fn new(
        file: u32,
        ends: Ends,
        elements: u64,
        superblock: Option<Vec<u8>>,
        widths: Widths,
        options: CommitOptions,
    ) -> Self {
        // All bits set means an undefined address, and the guard needs the second-highest bit.
        let limit = u64::MAX >> (64 - 8 * widths.offset.bytes() + 2);
        let written = if superblock.is_some() { ends.first } else { 0 };
        let committed = Committed { superblock, transactions: 0, ends };
        Self {
            lock: MetadataLock::new(file),
            data: Ranked::new(file, Rank::Data, RwLock::default()),
            lives: Ranked::new(file, Rank::Lives, Mutex::default()),
            dirty: Ranked::new(file, Rank::Dirty, RwLock::default()),
            space: Ranked::new(file, Rank::Space, Mutex::new(Spaces::new(ends, elements, limit))),
            reads: AtomicUsize::new(0),
            is_shared: AtomicBool::new(false),
            is_swmr: AtomicBool::new(false),
            untouched: AtomicU64::new(u64::MAX),
            is_poisoned: AtomicBool::new(false),
            has_written: AtomicBool::new(false),
            written: AtomicU64::new(written),
            tail_is_cut: AtomicBool::new(false),
            in_transaction: AtomicBool::new(false),
            committed: Ranked::new(file, Rank::Committed, Mutex::new(committed)),
            options,
        }
    }

    /// Returns the state for a forked child: the parent's changes up to the fork, read-only. `None` if
    /// another thread was changing the file at the fork: its locks stay locked, and the guarded state may be
    /// inconsistent.
    pub(crate) fn in_child(&self, file: u32, elements: u64, widths: Widths) -> Option<Self> {
        let _metadata = self.lock.try_read()?;
        let ends = self.space.untimely().try_lock()?.ends();
        let child = Self::new(file, ends, elements, None, widths, self.options);
        child.written.store(self.written(), Ordering::Release);
        child.is_poisoned.store(self.is_poisoned.load(Ordering::Acquire), Ordering::Release);
        *child.dirty.write() = self.dirty.untimely().try_read_recursive()?.clone();
        *child.lives.lock() = self.lives.untimely().try_lock()?.clone();
        Some(child)
    }

    /// Errors if an earlier commit failed half-way.
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_poisoned.load(Ordering::Acquire) { Err(Error::Poisoned) } else { Ok(()) }
    }

    fn is_read(&self) -> bool {
        self.is_shared.load(Ordering::Acquire) || self.reads.load(Ordering::Acquire) > 0
    }

    /// Cuts the tail, once, before anything is written past the end. The tail is not part of the file (fact
    /// M2).
    pub(crate) fn cut_tail(&self, store: &Store) -> Result<()> {
        if self.tail_is_cut.load(Ordering::Acquire) {
            return Ok(());
        }
        let _committed = self.committed.lock();
        if !self.tail_is_cut.load(Ordering::Acquire) {
            let end = store.base() + self.space.lock().ends().first;
            commit::cut(&**store.driver()?, end)?;
            self.tail_is_cut.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Cuts what was written past the committed ends and is not part of the file, because the writing ended
    /// early or was undone. Nothing else may use the medium any more.
    ///
    /// A failed commit may still need its journal, and what follows the end of a file that nothing was added
    /// to is not ours.
    pub(crate) fn cut_dead(&self, medium: &dyn Driver, base: u64) -> Result<()> {
        let committed = self.committed.lock();
        let is_ours = self.tail_is_cut.load(Ordering::Acquire);
        if committed.superblock.is_none() || !is_ours || self.check().is_err() {
            return Ok(());
        }
        commit::cut(medium, base + committed.ends.first)?;
        committed.ends.elements.map_or(Ok(()), |len| raw_data_range::cut(medium, len))
    }

    /// Keeps changed metadata within the budget. New blocks may be written before the commit. Blocks that the
    /// committed state refers to may not; if they exceed the budget on their own, everything is committed.
    ///
    /// Only called between steps: the changes of a step may still be undone.
    pub(crate) fn make_room(&self, store: &Store) -> Result<()> {
        if self.dirty.read().bytes() <= self.options.dirty_bytes {
            return Ok(());
        }
        self.write_fresh(store)?;
        let is_late = self.dirty.read().bytes() > self.options.dirty_bytes;
        if is_late && !self.in_transaction() { self.commit(store) } else { Ok(()) }
    }

    /// Writes the blocks that no committed state refers to.
    fn write_fresh(&self, store: &Store) -> Result<()> {
        let mut dirty = self.dirty.write();
        let (fresh, _) = self.parted(dirty.sorted());
        Self::write_blocks(store, &fresh)?;
        // All or none: the chunks of a header are read together.
        for (at, held) in fresh {
            held.block.remember(&store.cache, at, held.block.memory_bytes(store.widths()) as u64);
            dirty.set(at, None);
        }
        Ok(())
    }

    fn write_blocks(store: &Store, blocks: &Blocks) -> Result<()> {
        let what = || Self::checksum_of(store, blocks);
        store.once(what, || {
            dirty_blocks::pieces(blocks, store.widths())
                .try_for_each(|(at, bytes)| store.write_data(at, &bytes))
        })
    }

    fn checksum_of(store: &Store, blocks: &Blocks) -> u32 {
        let pieces: Vec<_> = dirty_blocks::pieces(blocks, store.widths()).collect();
        checksum(pieces.iter().map(|(at, bytes)| (*at, bytes.as_slice())))
    }

    /// Splits the blocks into those that no state in the file refers to, and the others.
    fn parted(&self, blocks: Blocks) -> (Blocks, Blocks) {
        let space = self.space.lock();
        blocks.into_iter().partition(|(at, _)| space.is_fresh(*at) && !space.is_shown(*at))
    }

    /// Records a write outside a commit (data or new blocks) that ends at address `end`.
    pub(crate) fn wrote(&self, end: u64) {
        self.written.fetch_max(end, Ordering::AcqRel);
        self.has_written.store(true, Ordering::Release);
    }

    /// Records that the medium has all bytes before `stated`, and none from `end` on.
    pub(crate) fn settle_written(&self, stated: u64, end: u64) {
        let settled = |written: u64| Some(written.min(end).max(stated));
        let _ = self.written.fetch_update(Ordering::AcqRel, Ordering::Acquire, settled);
    }

    /// Returns the address after the last byte that the driver is known to have.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Acquire)
    }

    /// Records a write outside commits to the range of elements.
    pub(crate) fn wrote_elements(&self) {
        self.has_written.store(true, Ordering::Release);
    }

    /// Returns bytes that are the same on all ranks if their changes are: of blocks, and of the superblock
    /// with the end of the file.
    fn digest(store: &Store, fresh: &Blocks, overwrites: &[Overwrite], end: u64) -> Vec<u8> {
        let overwrites = overwrites.iter().map(|over| (Addr::new(over.offset), over.bytes.as_slice()));
        let superblock = superblock_bytes(store.superblock(), store.base() + end, None);
        let of_all = [Self::checksum_of(store, fresh), checksum(overwrites)].map(u32::to_le_bytes);
        [of_all.concat(), superblock].concat()
    }

    /// Makes [writes](Self::wrote) outside commits durable, on all ranks, if commits survive a loss of power.
    fn make_durable(&self, store: &Store) -> Result<()> {
        let own = self.make_own_durable(store);
        match store.collective() {
            Some(collective) => {
                let all = collective.meet(Meeting::Durable, own.map(|()| Vec::new()));
                // On all ranks alike.
                all.map(drop).inspect_err(|_| self.is_poisoned.store(true, Ordering::Release))
            }
            None => own,
        }
    }

    fn make_own_durable(&self, store: &Store) -> Result<()> {
        if self.options.durability == Durability::Kill || !self.has_written.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        // The data lost in a failed flush are unknown, and the next flush may not report the failure again.
        let flushed = store.driver()?.flush(false).map_err(Error::io("flush", 0, 0));
        flushed.inspect_err(|_| self.is_poisoned.store(true, Ordering::Release))
    }

    /// Commits all changes, all or nothing. The caller holds the lock for changes.
    pub(crate) fn commit(&self, store: &Store) -> Result<()> {
        self.check()?;
        if self.is_untouched(store) {
            return Ok(());
        }
        self.cut_tail(store)?;
        // Reads that begin later find nothing that was freed before.
        let is_read = self.is_read();
        if !is_read {
            self.space.lock().no_reads();
        }
        let mut changed = self.dirty.read().sorted();
        // Other threads may allocate space for elements from here on, to which this commit does not refer.
        let stated = store.elements.as_ref().map(|_| self.space.lock().ends_after_commit(is_read));
        if stated.map_or(Ok(false), |ends| stated_ends::state(store, ends, &mut changed))? {
            // Another thread may have extended the medium to this end and not have recorded it yet.
            self.wrote_elements();
        }
        let (fresh, reachable) = self.parted(changed);
        let overwrites: Vec<_> = dirty_blocks::pieces(&reachable, store.widths())
            .map(|(at, bytes)| Overwrite { offset: store.base() + at.get(), bytes })
            .collect();
        if let Some(collective) = store.collective() {
            let end = self.space.lock().ends_after_commit(is_read).first;
            let compared =
                collective.compare(Meeting::Compare, &Self::digest(store, &fresh, &overwrites, end));
            compared.inspect_err(|_| self.is_poisoned.store(true, Ordering::Release))?;
        }
        Self::write_blocks(store, &fresh)?;
        let mut committed = self.committed.lock();
        // From here on other threads keep off the tail, and write to what this commit does not refer to.
        let tail = Tail::reserve(self, store, &committed, is_read, stated, !overwrites.is_empty())?;
        // One flush for all earlier writes, before the journal that refers to them.
        self.make_durable(store)?;
        if self.is_swmr() {
            let before = committed.superblock.take();
            let end = tail.ends.first;
            committed.superblock =
                Some(self.write_in_order(store, before.as_deref(), end, reachable.clone())?);
            self.settle(store, committed, tail, fresh.into_iter().chain(reachable));
            return self.make_durable(store);
        }
        if tail.is_unchanged {
            tail.settle(store);
            return Ok(());
        }
        let changes = Commit {
            transaction: committed.transactions + 1,
            superblock_at: store.base(),
            before: committed.superblock.clone(),
            after: tail.superblock.clone(),
            overwrites,
            durability: self.options.durability,
        };
        let driver = Arc::clone(&*store.driver()?);
        let commit =
            || commit::commit_before(&*driver, changes, tail.offset(store), |_| tail.cut(store, &*driver));
        let outcome = match store.collective() {
            Some(collective) => collective.commit(commit),
            None => commit(),
        };
        match outcome {
            Outcome::Committed => {}
            Outcome::Undone(error) => return Err(error),
            Outcome::Poisoned(error) => {
                self.is_poisoned.store(true, Ordering::Release);
                return Err(error);
            }
        }
        committed.superblock = Some(tail.superblock.clone());
        tail.cut_elements(&*driver);
        self.settle(store, committed, tail, fresh.into_iter().chain(reachable));
        Ok(())
    }

    /// Records that all changes are in the file.
    fn settle(
        &self,
        store: &Store,
        mut committed: Guard<MutexGuard<'_, Committed>>,
        tail: Tail<'_>,
        blocks: impl Iterator<Item = (Addr, Held)>,
    ) {
        committed.transactions += 1;
        committed.ends = tail.ends;
        tail.settle(store);
        self.lives.lock().committed();
        // Threads with space behind the tail go on now.
        drop(committed);
        for (at, held) in blocks {
            held.block.remember(&store.cache, at, held.block.memory_bytes(store.widths()) as u64);
        }
        self.dirty.write().clear();
    }

    /// Waits until no commit is being written. The caller does not hold the lock of the space.
    pub(crate) fn wait_for_commit(&self) {
        drop(self.committed.lock());
    }

    /// Makes freed space available, unless a thread may still read or write it. The caller holds the lock for
    /// changes.
    pub(crate) fn reuse(&self) {
        let mut space = self.space.lock();
        if space.is_waiting() && !self.is_read() && !self.data.untimely().is_locked() {
            space.no_reads();
        }
    }

    /// Like [`reuse`](Self::reuse) for a caller without the lock; does nothing while another thread holds it.
    pub(crate) fn try_reuse(&self) {
        if self.space.lock().is_waiting()
            && let Some(_guard) = self.lock.try_change()
        {
            self.reuse();
        }
    }

    /// Drops all changes since the last commit.
    pub(crate) fn roll_back(&self, store: &Store) {
        self.dirty.write().clear();
        self.space.lock().roll_back();
        store.cache.clear();
        self.lives.lock().roll_back(store.generation() + 1);
        let was_untouched = self.is_untouched(store);
        store.changed();
        if was_untouched {
            self.untouched.store(store.generation(), Ordering::Release);
        }
    }

    /// Begins or ends a transaction of the user; returns whether one was active.
    pub(crate) fn set_in_transaction(&self, is: bool) -> bool {
        self.in_transaction.swap(is, Ordering::AcqRel)
    }

    pub(crate) fn in_transaction(&self) -> bool {
        self.in_transaction.load(Ordering::Acquire)
    }

    /// Frees space that is not needed after all.
    pub(crate) fn release(&self, extent: Extent) {
        self.space.lock().release(SpaceKind::Raw, extent);
    }
}

/// Returns the superblock of a file that ends at the offset `end`, encoded, with these consistency flags if
/// they change.
pub(crate) fn superblock_bytes(superblock: &Superblock, end: u64, flags: Option<u8>) -> Vec<u8> {
    let mut superblock = superblock.clone();
    superblock.set_end_of_file(end);
    if let Some(flags) = flags {
        superblock.set_consistency_flags(flags);
    }
    let mut bytes = Vec::with_capacity(superblock.encoded_len(superblock.widths(), &()));
    Writer::new(&mut bytes, superblock.widths()).structure(&superblock, &());
    bytes
}
