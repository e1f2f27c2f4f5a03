//! The commit of one transaction. A commit is all or nothing: other programs see the old file, the new file,
//! or a refusal.
//!
//! ```text
//! 1  write the journal at the tail, then guard the superblock   flush   <- the commit point
//! 2  write the overwrites in place                              flush
//! 3  write the final superblock                                 flush
//! 4  cut the tail                                               (no flush)
//! ```
//!
//! Other threads may write new data meanwhile, before the journal: `tail.rs` leaves them room there.
//!
//! A file with a range of elements of its own is committed alike: overwrites are in both ranges, and all else
//! is in the first one. The caller gives the second range its new length before, and cuts it afterwards.
//!
//! `journal.rs` states J1 to J6 and the assumptions about the medium. [`recovery`] handles a file whose
//! commit was interrupted.

pub(crate) mod dirty_blocks;
pub(crate) mod journal;
pub mod recovery;
pub(crate) mod replaced_file;
pub(crate) mod tail;
pub(crate) mod txn;
pub mod writer_mark;
pub(crate) mod writing;

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_format::superblock::{Superblock, guard};
use hyperslab_io::driver::Driver;

use crate::space::raw_data_range;
use journal::{Entry, Images, Journal, decode_superblock};

/// A transaction that is ready to commit. Its new blocks are written, and durable if the commit is to be
/// durable; no reachable byte has been changed.
///
/// Offsets are file offsets: they include the base address.
#[derive(Debug, Clone)]
pub struct Commit {
    /// The number of the transaction, for messages to people.
    pub transaction: u64,
    /// The file offset of the superblock.
    pub superblock_at: u64,
    /// The superblock that is in the file; `None` if the file was never committed.
    pub before: Option<Vec<u8>>,
    /// The new superblock, which has the same length and states the new end of the file.
    pub after: Vec<u8>,
    /// The reachable bytes that change, in any order. Overwrites overlap neither each other nor the
    /// superblock.
    pub overwrites: Vec<Overwrite>,
    /// The failures that the commit survives.
    pub durability: Durability,
}

/// Bytes that replace the same number of bytes at an offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overwrite {
    /// The file offset of the first byte.
    pub offset: u64,
    /// The new bytes.
    pub bytes: Vec<u8>,
}

/// The failures that a commit survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Durability {
    /// The death of the program at any instruction. Writes are ordered, but not flushed.
    #[default]
    Kill,
    /// A loss of power, too. Writes are in the same order, and flushed.
    Power,
}

impl Durability {
    fn flush(self, driver: &dyn Driver) -> Result<()> {
        match self {
            Self::Kill => Ok(()),
            Self::Power => driver.flush(false).map_err(Error::io("flush", 0, 0)),
        }
    }
}

/// The result of a commit.
#[derive(Debug)]
#[must_use]
pub enum Outcome {
    /// The new state is in the file.
    Committed,
    /// The old state is in the file; the commit changed nothing.
    Undone(Error),
    /// The file holds either state; the next open finds out which. Until then the file must not be read or
    /// written.
    Poisoned(Error),
}

/// Commits `commit` to the file of `driver`.
pub fn commit(driver: &dyn Driver, commit: Commit) -> Outcome {
    // If this fails, the file keeps a tail that readers ignore.
    commit_before(driver, commit, 0, |end| _ = driver.set_len(end))
}

/// Commits `commit` to the file of `driver`, with the tail at the offset `tail` or, if that is later, at the
/// end of the longer state. Until `cut` is called, nothing else may be written at or after the tail. `cut`
/// does step 4, with the end of the new state.
pub(crate) fn commit_before(
    driver: &dyn Driver,
    mut commit: Commit,
    tail: u64,
    cut: impl FnOnce(u64),
) -> Outcome {
    let durability = commit.durability;
    let plan = match plan(driver, &mut commit, tail) {
        Ok(plan) => plan,
        Err(error) => return Outcome::Undone(error),
    };
    match plan {
        CommitPlan::Superblock { ends } => replace_superblock(driver, &commit, ends, cut),
        CommitPlan::Journal { journal, ends } => {
            if let Err(outcome) = begin(driver, &journal, ends.tail, durability) {
                return outcome;
            }
            if let Err(error) = apply(driver, &journal, durability) {
                return Outcome::Poisoned(error);
            }
            // The transaction is in the file, and a tail does no harm: the next commit or open cuts it.
            cut(ends.after);
            Outcome::Committed
        }
    }
}

/// The steps that a commit takes.
enum CommitPlan {
    /// Only the superblock changes, in one write.
    Superblock { ends: Ends },
    /// The four steps.
    Journal { journal: Journal, ends: Ends },
}

/// Where the file ends.
#[derive(Clone, Copy)]
struct Ends {
    /// The end of the longer state, before or after the commit.
    both: u64,
    /// The end after the commit.
    after: u64,
    /// The beginning of the tail, in which the journal is.
    tail: u64,
}

impl Ends {
    fn new(before: u64, after: u64, tail: u64) -> Self {
        let both = before.max(after);
        Self { both, after, tail: tail.max(both) }
    }
}

/// Checks the commit against the file and for consistency. Writes nothing; takes the overwrites out of
/// `commit`.
fn plan(driver: &dyn Driver, commit: &mut Commit, tail: u64) -> Result<CommitPlan> {
    let at = commit.superblock_at;
    let superblock = decode_superblock(&commit.after, at)?;
    let Some(before) = &commit.before else {
        check(commit.overwrites.is_empty(), "overwrites in a file without a superblock")?;
        return Ok(CommitPlan::Superblock { ends: Ends::new(0, superblock.end_of_file(), tail) });
    };
    check(before.len() == commit.after.len(), "superblocks of different lengths")?;
    let mut found = vec![0; before.len()];
    journal::read(driver, at, &mut found)?;
    check(found == *before, "a superblock that another program has changed meanwhile")?;
    let old = decode_superblock(before, at)?;
    let ends = Ends::new(old.end_of_file(), superblock.end_of_file(), tail);
    let reach = raw_data_range::reach(driver);
    let guarded = guard::set(before, reach).ok_or_else(|| no_guard(&superblock))?;
    // Inside its sector a superblock is whole or detectably torn, but versions 0 and 1 have no checksum that
    // would detect it.
    if commit.overwrites.is_empty() && (superblock.version() >= 2 || *before == commit.after) {
        return Ok(CommitPlan::Superblock { ends });
    }
    let before = before.clone();
    let entries = entries(driver, commit, ends)?;
    let journal = Journal {
        transaction: commit.transaction,
        elements: raw_data_range::start(driver),
        images: Images { at, before, guarded, after: commit.after.clone() },
        overwrites: entries,
    };
    // The guard works only if the file, journal included, is shorter than the guard says.
    let len = ends.tail + journal.encoded_len();
    match guard::bits(superblock.widths().offset, reach) {
        Some(bits) if len < lowest(bits) => Ok(CommitPlan::Journal { journal, ends }),
        _ => Err(no_guard(&superblock)),
    }
}

/// Returns the overwrites in order, each with the checksum of the bytes that it replaces. Errors if an
/// overwrite is invalid.
fn entries(driver: &dyn Driver, commit: &mut Commit, ends: Ends) -> Result<Vec<Entry>> {
    let mut taken: Vec<(u64, u64)> = vec![(commit.superblock_at, commit.after.len() as u64)];
    taken.extend(commit.overwrites.iter().map(|over| (over.offset, over.bytes.len() as u64)));
    taken.sort_unstable();
    let elements = match driver.elements() {
        Some(range) => Some((range.start(), range.len().map_err(Error::io("length", 0, 0))?)),
        None => None,
    };
    let mut end = 0;
    for (offset, len) in taken.into_iter().filter(|&(_, len)| len > 0) {
        check(offset >= end, "blocks that overlap")?;
        end = offset.saturating_add(len);
        let limit = match elements {
            Some((start, len)) if offset >= start => start.saturating_add(len),
            _ => ends.both,
        };
        check(end <= limit, "blocks after the end of the file")?;
    }
    let mut entries = Vec::with_capacity(commit.overwrites.len());
    for Overwrite { offset, bytes } in std::mem::take(&mut commit.overwrites) {
        if !bytes.is_empty() {
            let old_crc32c = journal::crc_of(driver, offset, bytes.len() as u64)?;
            entries.push(Entry { offset, old_crc32c, bytes });
        }
    }
    entries.sort_unstable_by_key(|entry| entry.offset);
    Ok(entries)
}

/// Returns the lowest of some bits.
const fn lowest(bits: u64) -> u64 {
    bits & bits.wrapping_neg()
}

fn check(holds: bool, what: &'static str) -> Result<()> {
    if holds { Ok(()) } else { Err(RequestError::Commit { what }.into()) }
}

fn no_guard(superblock: &Superblock) -> Error {
    let bytes = superblock.widths().offset.bytes();
    Error::unsupported(format!("changing a file of this size with addresses of {bytes} bytes"), "II.A")
}

/// Commits a change of the superblock only: makes new blocks durable first, then replaces the superblock in
/// one write.
fn replace_superblock(driver: &dyn Driver, commit: &Commit, ends: Ends, cut: impl FnOnce(u64)) -> Outcome {
    let prepare = || -> Result<()> {
        // A tail left over from before would be taken for the tail of the new superblock.
        let len = driver.len().map_err(Error::io("length", 0, 0))?;
        if len > ends.tail || len < ends.after {
            set_len(driver, ends.tail)?;
        }
        commit.durability.flush(driver)
    };
    if let Err(error) = prepare() {
        return Outcome::Undone(error);
    }
    let before = commit.before.as_deref().unwrap_or_default();
    if before == commit.after {
        return Outcome::Committed;
    }
    if let Err(error) = write(driver, commit.superblock_at, &commit.after) {
        let undone = commit.before.is_some()
            && write(driver, commit.superblock_at, before).is_ok()
            && commit.durability.flush(driver).is_ok();
        return failed(undone, error);
    }
    if let Err(error) = commit.durability.flush(driver) {
        return Outcome::Poisoned(error);
    }
    if ends.after < ends.tail {
        cut(ends.after);
    }
    Outcome::Committed
}

/// Does step 1. A failure before the guard is written is undone; a failed flush has an unknown effect.
fn begin(driver: &dyn Driver, journal: &Journal, at: u64, durability: Durability) -> Result<(), Outcome> {
    let images = &journal.images;
    let written = write_journal(driver, journal, at)
        .and_then(|()| write_change(driver, images.at, &images.before, &images.guarded));
    if let Err(error) = written {
        // The journal goes first: opening the file would redo a whole journal.
        let undone = cut(driver, at)
            .and_then(|()| write_change(driver, images.at, &images.guarded, &images.before))
            .and_then(|()| durability.flush(driver));
        return Err(failed(undone.is_ok(), error));
    }
    durability.flush(driver).map_err(Outcome::Poisoned)
}

/// Returns the outcome of a commit that failed before it was durable. `undone`: whether its writes were
/// undone.
fn failed(undone: bool, error: Error) -> Outcome {
    if undone { Outcome::Undone(error) } else { Outcome::Poisoned(error) }
}

fn write_journal(driver: &dyn Driver, journal: &Journal, at: u64) -> Result<()> {
    // The trailer must be the last bytes of the file, whatever tail the file had.
    cut(driver, at)?;
    write(driver, at, &journal.encode(at))
}

/// Cuts the file off at `at`. A shorter file stays as it is: a full disk has no room to extend it.
pub(crate) fn cut(driver: &dyn Driver, at: u64) -> Result<()> {
    let len = driver.len().map_err(Error::io("length", 0, 0))?;
    if len > at { set_len(driver, at) } else { Ok(()) }
}

/// Does steps 2 and 3 of a commit or of a redo. The journal and the guard are in the file, and durable if the
/// commit is to be durable.
pub(crate) fn apply(driver: &dyn Driver, journal: &Journal, durability: Durability) -> Result<()> {
    for entry in &journal.overwrites {
        write(driver, entry.offset, &entry.bytes)?;
    }
    durability.flush(driver)?;
    write_change(driver, journal.images.at, &journal.images.guarded, &journal.images.after)?;
    durability.flush(driver)
}

/// Writes `to` over `from`, from the first differing byte to the last. In versions 0 and 1 the guard is one
/// byte.
pub(crate) fn write_change(driver: &dyn Driver, at: u64, from: &[u8], to: &[u8]) -> Result<()> {
    let differs = |&i: &usize| from.get(i) != to.get(i);
    let first = (0..to.len()).find(differs);
    let last = (0..to.len()).rfind(differs);
    match (first, last) {
        (Some(first), Some(last)) => {
            write(driver, at + first as u64, to.get(first..=last).unwrap_or_default())
        }
        _ => Ok(()),
    }
}

pub(crate) fn write(driver: &dyn Driver, offset: u64, bytes: &[u8]) -> Result<()> {
    driver.write_at(offset, bytes).map_err(Error::io("write", offset, bytes.len() as u64))
}

pub(crate) fn set_len(driver: &dyn Driver, len: u64) -> Result<()> {
    driver.set_len(len).map_err(Error::io("set the length", 0, 0))
}
