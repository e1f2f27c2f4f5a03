//! The commit of one transaction: all or nothing, and other programs see the old file, the new file, or a refusal.
//!
//! ```text
//! 1  write the journal at the tail, then guard the superblock   flush   <- the commit point
//! 2  write the overwrites in place                              flush
//! 3  write the final superblock                                 flush
//! 4  cut the tail                                               (no flush)
//! ```
//!
//! J1 to J6 and what is assumed of the medium stand in `journal.rs`; what is done with a file found half-way, in
//! [`recovery`](super::recovery).

use hyperslab_format::superblock::{Superblock, guard};

use super::journal::{self, Entry, Images, Journal, decode_superblock};
use crate::driver::Driver;
use crate::error::{Error, RequestError, Result};

/// A transaction that is ready: its new blocks are written, and durable if it is to be; nothing that was reachable has been changed.
///
/// Offsets are offsets in the file, the base address already added.
#[derive(Debug, Clone)]
pub struct Commit {
    /// The number of the transaction, for people.
    pub transaction: u64,
    /// Where the superblock stands.
    pub superblock_at: u64,
    /// The superblock as it is in the file; `None` in a file that never was committed.
    pub before: Option<Vec<u8>>,
    /// The superblock as it will be, of the same length: it says where the file ends.
    pub after: Vec<u8>,
    /// Reachable bytes that change, in any order. None meets another, or the superblock.
    pub overwrites: Vec<Overwrite>,
    /// What the commit survives.
    pub durability: Durability,
}

/// Bytes that replace as many at the same place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overwrite {
    /// Where they begin.
    pub offset: u64,
    /// The new bytes.
    pub bytes: Vec<u8>,
}

/// What a commit survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// The death of the program at any instruction: the order of writes, without flushes.
    #[default]
    Kill,
    /// The machine losing power, too: the same order of writes, with flushes.
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

/// How a commit ended.
#[derive(Debug)]
#[must_use]
pub enum Outcome {
    /// The new state is in the file.
    Committed,
    /// The old state is in the file, as if nothing had been tried.
    Undone(Error),
    /// Which of the two is in the file will be seen when it is opened next. Until then nobody may read or write it.
    Poisoned(Error),
}

/// Commits `commit`.
pub fn commit(driver: &dyn Driver, mut commit: Commit) -> Outcome {
    let durability = commit.durability;
    let plan = match plan(driver, &mut commit) {
        Ok(plan) => plan,
        Err(error) => return Outcome::Undone(error),
    };
    match plan {
        Plan::Superblock { ends } => replace_superblock(driver, &commit, ends),
        Plan::Journal { journal, at, end } => {
            if let Err(outcome) = begin(driver, &journal, at, durability) {
                return outcome;
            }
            match apply(driver, &journal, end, durability) {
                Ok(()) => Outcome::Committed,
                Err(error) => Outcome::Poisoned(error),
            }
        }
    }
}

/// How a commit will go.
enum Plan {
    /// The superblock alone changes, in one write.
    Superblock { ends: Ends },
    /// The four steps, with the journal at `at`; then the file ends at `end`.
    Journal { journal: Journal, at: u64, end: u64 },
}

/// Where the file ends before and after.
#[derive(Clone, Copy)]
struct Ends {
    before: u64,
    after: u64,
}

impl Ends {
    /// Where both states have ended.
    fn both(self) -> u64 {
        self.before.max(self.after)
    }
}

/// Checks the commit against the file and itself. Writes nothing; takes the overwrites.
fn plan(driver: &dyn Driver, commit: &mut Commit) -> Result<Plan> {
    let at = commit.superblock_at;
    let superblock = decode_superblock(&commit.after, at).map_err(Error::from_format)?;
    let Some(before) = &commit.before else {
        check(commit.overwrites.is_empty(), "overwrites in a file that has nothing yet")?;
        return Ok(Plan::Superblock { ends: Ends { before: 0, after: superblock.end_of_file() } });
    };
    check(before.len() == commit.after.len(), "superblocks of two lengths")?;
    let mut found = vec![0; before.len()];
    journal::read(driver, at, &mut found)?;
    check(found == *before, "another superblock than the file, which some other program has changed")?;
    let old = decode_superblock(before, at).map_err(Error::from_format)?;
    let ends = Ends { before: old.end_of_file(), after: superblock.end_of_file() };
    let guarded = guard::set(before).ok_or_else(|| no_guard(&superblock))?;
    // Inside its sector a superblock is whole or detectably torn, but versions 0 and 1 have no checksum to detect by.
    if commit.overwrites.is_empty() && (superblock.version() >= 2 || *before == commit.after) {
        return Ok(Plan::Superblock { ends });
    }
    let before = before.clone();
    let entries = entries(driver, commit, ends)?;
    let journal = Journal {
        transaction: commit.transaction,
        images: Images { at, before, guarded, after: commit.after.clone() },
        overwrites: entries,
    };
    let journal_at = ends.both();
    // The guard works as long as the file is shorter than the guard says, journal and all.
    let len = journal_at + journal.encoded_len();
    match guard::bit(superblock.widths().offset) {
        Some(bit) if len < bit => Ok(Plan::Journal { journal, at: journal_at, end: ends.after }),
        _ => Err(no_guard(&superblock)),
    }
}

/// The overwrites in order, with what they replace; or what is wrong with them.
fn entries(driver: &dyn Driver, commit: &mut Commit, ends: Ends) -> Result<Vec<Entry>> {
    let mut taken: Vec<(u64, u64)> = vec![(commit.superblock_at, commit.after.len() as u64)];
    taken.extend(commit.overwrites.iter().map(|over| (over.offset, over.bytes.len() as u64)));
    taken.sort_unstable();
    let mut end = 0;
    for (offset, len) in taken.into_iter().filter(|&(_, len)| len > 0) {
        check(offset >= end, "blocks that overlap")?;
        end = offset.saturating_add(len);
    }
    check(end <= ends.both(), "blocks after the end of the file")?;
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

fn check(holds: bool, what: &'static str) -> Result<()> {
    if holds { Ok(()) } else { Err(RequestError::Commit { what }.into()) }
}

fn no_guard(superblock: &Superblock) -> Error {
    let bytes = superblock.widths().offset.bytes();
    Error::unsupported(format!("changing a file of this size with addresses of {bytes} bytes"), "II.A")
}

/// The whole commit where only the superblock changes: new blocks first, then one write.
fn replace_superblock(driver: &dyn Driver, commit: &Commit, ends: Ends) -> Outcome {
    let prepare = || -> Result<()> {
        // A tail that is left over would be taken for the tail of the new superblock.
        let len = driver.len().map_err(Error::io("length", 0, 0))?;
        if len > ends.both() || len < ends.after {
            set_len(driver, ends.both())?;
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
    if ends.after < ends.before {
        // What is left is a tail that nobody reads.
        let _ = driver.set_len(ends.after);
    }
    Outcome::Committed
}

/// Step 1. What fails before the guard is written is taken back; a flush that fails has unknown effect.
fn begin(driver: &dyn Driver, journal: &Journal, at: u64, durability: Durability) -> Result<(), Outcome> {
    let images = &journal.images;
    let written = write_journal(driver, journal, at)
        .and_then(|()| write_change(driver, images.at, &images.before, &images.guarded));
    if let Err(error) = written {
        // First the journal: as long as it is whole, opening the file would redo it.
        let undone = cut(driver, at)
            .and_then(|()| write_change(driver, images.at, &images.guarded, &images.before))
            .and_then(|()| durability.flush(driver));
        return Err(failed(undone.is_ok(), error));
    }
    durability.flush(driver).map_err(Outcome::Poisoned)
}

/// The outcome of a commit that failed before it was durable, and was undone or not.
fn failed(undone: bool, error: Error) -> Outcome {
    if undone { Outcome::Undone(error) } else { Outcome::Poisoned(error) }
}

fn write_journal(driver: &dyn Driver, journal: &Journal, at: u64) -> Result<()> {
    // The trailer must be the last bytes of the file, whatever tail there was.
    cut(driver, at)?;
    write(driver, at, &journal.encode(at))
}

/// Cuts off what stands at `at` and after it. A file that ends before stays so: a full disk has no room for more.
fn cut(driver: &dyn Driver, at: u64) -> Result<()> {
    let len = driver.len().map_err(Error::io("length", 0, 0))?;
    if len > at { set_len(driver, at) } else { Ok(()) }
}

/// Steps 2 to 4, of a commit or of a redo: the journal and the guard are in the file, and durable if anything is.
pub(super) fn apply(driver: &dyn Driver, journal: &Journal, end: u64, durability: Durability) -> Result<()> {
    for entry in &journal.overwrites {
        write(driver, entry.offset, &entry.bytes)?;
    }
    durability.flush(driver)?;
    write_change(driver, journal.images.at, &journal.images.guarded, &journal.images.after)?;
    durability.flush(driver)?;
    // The transaction is in the file, and a tail does no harm: the next commit, or the next open, cuts it.
    let _ = driver.set_len(end);
    Ok(())
}

/// Writes `to` over `from`, from the first byte that differs to the last: in versions 0 and 1 the guard is one byte.
pub(super) fn write_change(driver: &dyn Driver, at: u64, from: &[u8], to: &[u8]) -> Result<()> {
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

pub(super) fn write(driver: &dyn Driver, offset: u64, bytes: &[u8]) -> Result<()> {
    driver.write_at(offset, bytes).map_err(Error::io("write", offset, bytes.len() as u64))
}

pub(super) fn set_len(driver: &dyn Driver, len: u64) -> Result<()> {
    driver.set_len(len).map_err(Error::io("set the length", 0, 0))
}
