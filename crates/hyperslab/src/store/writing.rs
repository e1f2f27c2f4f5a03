//! A file that is open for writing: what was changed since the last commit, and how that gets into the file.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use hyperslab_format::superblock::Superblock;
use hyperslab_format::{Extent, Structure, Widths, Writer};
use parking_lot::{Mutex, RwLock};

use super::Store;
use super::commit::{self, Commit, Durability, Outcome, Overwrite};
use super::dirty::{self, Blocks, Dirty};
use super::lives::Lives;
use super::lock::{DataLock, MetadataLock, Rank, Ranked};
use super::space::Space;
use crate::error::{Error, Result};

/// What a file open for writing has besides.
#[derive(Debug)]
pub(super) struct Writing {
    pub(super) lock: MetadataLock,
    pub(super) data: DataLock,
    pub(super) lives: Ranked<Mutex<Lives>>,
    pub(super) dirty: Ranked<RwLock<Dirty>>,
    pub(super) space: Ranked<Mutex<Space>>,
    /// Reads under way.
    reads: AtomicUsize,
    is_poisoned: AtomicBool,
    /// Whether anything was written that no flush has made durable.
    has_written: AtomicBool,
    /// The address after all that was ever written.
    written: AtomicU64,
    /// Whether commits wait for the end of a [transaction](Store::begin_transaction).
    in_transaction: AtomicBool,
    committed: Ranked<Mutex<Committed>>,
    pub(super) options: CommitOptions,
}

/// How changes get into a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitOptions {
    /// What a commit survives.
    pub durability: Durability,
    /// Changed metadata that are kept in memory at most.
    pub dirty_bytes: u64,
}

impl Default for CommitOptions {
    fn default() -> Self {
        Self { durability: Durability::Kill, dirty_bytes: 32 << 20 }
    }
}

/// While this lives, what is freed is not given out again.
#[derive(Debug)]
#[must_use]
pub struct DataGuard<'s> {
    writing: Option<&'s Writing>,
}

impl<'s> DataGuard<'s> {
    pub(super) fn new(writing: Option<&'s Writing>) -> Self {
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
struct Committed {
    /// The superblock; none in a new file.
    superblock: Option<Vec<u8>>,
    transactions: u64,
    /// Whether anything was changed since: blocks, space or data.
    tail_is_cut: bool,
}

impl Writing {
    /// For the file of this number, which ends at `end` (relative to the base address) and has this superblock.
    pub(super) fn new(
        file: u32,
        end: u64,
        superblock: Option<Vec<u8>>,
        widths: Widths,
        options: CommitOptions,
    ) -> Self {
        // All bits set is no address, and the guard needs the highest bit but one.
        let limit = u64::MAX >> (64 - 8 * widths.offset.bytes() + 2);
        let written = if superblock.is_some() { end } else { 0 };
        let committed = Committed { superblock, transactions: 0, tail_is_cut: false };
        Self {
            lock: MetadataLock::new(file),
            data: DataLock::new(file),
            lives: Ranked::new(file, Rank::Lives, Mutex::default()),
            dirty: Ranked::new(file, Rank::Dirty, RwLock::default()),
            space: Ranked::new(file, Rank::Space, Mutex::new(Space::new(end, limit))),
            reads: AtomicUsize::new(0),
            is_poisoned: AtomicBool::new(false),
            has_written: AtomicBool::new(false),
            written: AtomicU64::new(written),
            in_transaction: AtomicBool::new(false),
            committed: Ranked::new(file, Rank::Committed, Mutex::new(committed)),
            options,
        }
    }

    /// What a forked child sees of it: the parent's changes up to the fork. It can only be read. `None` if another thread
    /// was changing the file at the fork: its locks stay locked, and what they guard may be half-way.
    pub(super) fn in_child(&self, file: u32, widths: Widths) -> Option<Self> {
        let _metadata = self.lock.try_read()?;
        let child = Self::new(file, self.space.untimely().try_lock()?.end(), None, widths, self.options);
        child.written.store(self.written(), Ordering::Release);
        child.is_poisoned.store(self.is_poisoned.load(Ordering::Acquire), Ordering::Release);
        *child.dirty.write() = self.dirty.untimely().try_read_recursive()?.clone();
        *child.lives.lock() = self.lives.untimely().try_lock()?.clone();
        Some(child)
    }

    /// An error where an earlier commit failed half-way.
    pub(super) fn check(&self) -> Result<()> {
        if self.is_poisoned.load(Ordering::Acquire) { Err(Error::Poisoned) } else { Ok(()) }
    }

    fn is_read(&self) -> bool {
        self.reads.load(Ordering::Acquire) > 0
    }

    /// Once, before anything is written past the end: whatever stands there is no part of the file (fact M2).
    pub(super) fn cut_tail(&self, store: &Store) -> Result<()> {
        let mut committed = self.committed.lock();
        if !committed.tail_is_cut {
            let end = store.base() + self.space.lock().end();
            let driver = store.driver()?;
            let len = driver.len().map_err(Error::io("length", 0, 0))?;
            if len > end {
                commit::set_len(&**driver, end)?;
            }
            committed.tail_is_cut = true;
        }
        Ok(())
    }

    /// Keeps to the budget: new blocks may go to their places before the commit; blocks that the committed state reaches
    /// may not, and where they alone are too many, all is committed.
    ///
    /// Between steps alone: what a step has changed may be taken back.
    pub(super) fn make_room(&self, store: &Store) -> Result<()> {
        if self.dirty.read().bytes() <= self.options.dirty_bytes {
            return Ok(());
        }
        self.write_fresh(store)?;
        let is_late = self.dirty.read().bytes() > self.options.dirty_bytes;
        if is_late && !self.in_transaction() { self.commit(store) } else { Ok(()) }
    }

    /// Writes the blocks that no committed state reaches.
    fn write_fresh(&self, store: &Store) -> Result<()> {
        let mut dirty = self.dirty.write();
        let (fresh, _) = self.parted(dirty.sorted());
        for (at, bytes) in dirty::pieces(&fresh, store.widths()) {
            store.write_data(at, &bytes)?;
        }
        // All or none: the chunks of a header are read together.
        for (at, held) in fresh {
            held.block.remember(&store.cache, at, held.block.memory_bytes(store.widths()) as u64);
            dirty.set(at, None);
        }
        Ok(())
    }

    /// The blocks that no committed state reaches, and the others.
    fn parted(&self, blocks: Blocks) -> (Blocks, Blocks) {
        let space = self.space.lock();
        blocks.into_iter().partition(|(at, _)| space.is_fresh(*at))
    }

    /// Something was written beside a commit, data or new blocks, before this address.
    pub(super) fn wrote(&self, end: u64) {
        self.written.fetch_max(end, Ordering::AcqRel);
        self.has_written.store(true, Ordering::Release);
    }

    /// The address after the last byte that the driver is known to have.
    pub(super) fn written(&self) -> u64 {
        self.written.load(Ordering::Acquire)
    }

    /// Where commits survive a loss of power, makes durable what was [written](Self::wrote) beside them.
    fn make_durable(&self, store: &Store) -> Result<()> {
        if self.options.durability == Durability::Kill || !self.has_written.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        // What a failed flush has lost is not known, and the next one may not say it again.
        let flushed = store.driver()?.flush(false).map_err(Error::io("flush", 0, 0));
        flushed.inspect_err(|_| self.is_poisoned.store(true, Ordering::Release))
    }

    /// Writes everything that was changed, all or nothing. The caller holds the lock for changes.
    pub(super) fn commit(&self, store: &Store) -> Result<()> {
        self.check()?;
        self.cut_tail(store)?;
        if !self.is_read() {
            self.space.lock().no_reads();
        }
        let changed = self.dirty.read().sorted();
        let (fresh, reachable) = self.parted(changed);
        for (at, bytes) in dirty::pieces(&fresh, store.widths()) {
            store.write_data(at, &bytes)?;
        }
        let overwrites: Vec<_> = dirty::pieces(&reachable, store.widths())
            .map(|(at, bytes)| Overwrite { offset: store.base() + at.get(), bytes })
            .collect();
        let mut committed = self.committed.lock();
        // Data are given room without the lock for changes. Until the file has its new end they have to wait: beyond it the
        // journal stands, and then nothing.
        let mut space = self.space.lock();
        let end = space.end_after_commit(self.is_read());
        // One flush for everything written so far, before the journal that leads to it.
        self.make_durable(store)?;
        let after = superblock_bytes(store.superblock(), store.base() + end);
        if committed.superblock.as_ref() == Some(&after) && overwrites.is_empty() {
            space.committed(end);
            return Ok(());
        }
        let outcome = commit::commit(
            &**store.driver()?,
            Commit {
                transaction: committed.transactions + 1,
                superblock_at: store.base(),
                before: committed.superblock.clone(),
                after: after.clone(),
                overwrites,
                durability: self.options.durability,
            },
        );
        match outcome {
            Outcome::Committed => {}
            Outcome::Undone(error) => return Err(error),
            Outcome::Poisoned(error) => {
                self.is_poisoned.store(true, Ordering::Release);
                return Err(error);
            }
        }
        committed.superblock = Some(after);
        committed.transactions += 1;
        self.lives.lock().committed();
        space.committed(end);
        store.set_len(end);
        self.written.store(end, Ordering::Release);
        drop((space, committed));
        for (at, held) in fresh.into_iter().chain(reachable) {
            held.block.remember(&store.cache, at, held.block.memory_bytes(store.widths()) as u64);
        }
        self.dirty.write().clear();
        Ok(())
    }

    /// Hands out again what was freed, unless anybody may still read or write it. The caller holds the lock for changes.
    pub(super) fn reuse(&self) {
        let mut space = self.space.lock();
        if space.is_waiting() && !self.is_read() && self.data.is_idle() {
            space.no_reads();
        }
    }

    /// The same where the caller holds no lock; nothing happens while somebody else does.
    pub(super) fn try_reuse(&self) {
        if self.space.lock().is_waiting()
            && let Some(_guard) = self.lock.try_change()
        {
            self.reuse();
        }
    }

    /// Forgets everything since the last commit.
    pub(super) fn roll_back(&self, store: &Store) {
        self.dirty.write().clear();
        self.space.lock().roll_back();
        store.cache.clear();
        self.lives.lock().roll_back(store.generation() + 1);
        store.changed();
    }

    /// Begins or ends a transaction of the user; whether there was one.
    pub(super) fn set_in_transaction(&self, is: bool) -> bool {
        self.in_transaction.swap(is, Ordering::AcqRel)
    }

    pub(super) fn in_transaction(&self) -> bool {
        self.in_transaction.load(Ordering::Acquire)
    }

    /// Space that nobody needs after all.
    pub(super) fn release(&self, extent: Extent) {
        self.space.lock().release(extent);
    }
}

/// The superblock of a file that ends at the offset `end`.
fn superblock_bytes(superblock: &Superblock, end: u64) -> Vec<u8> {
    let mut superblock = superblock.clone();
    superblock.set_end_of_file(end);
    let mut bytes = Vec::with_capacity(superblock.encoded_len(superblock.widths(), &()));
    Writer::new(&mut bytes, superblock.widths()).structure(&superblock, &());
    bytes
}
