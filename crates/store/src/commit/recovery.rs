//! Recovery: the decision what to do with a file when it is opened (invariants J1 to J6 in `journal.rs`).

use std::sync::Arc;

use hyperslab_error::{Error, Result, broken};
use hyperslab_format::superblock::{Superblock, guard};
use hyperslab_format::{Addr, ErrorKind, Structure};
use hyperslab_io::driver::{Driver, Overlay};

use super::journal::{self, Found, Images, Journal, decode_superblock};
use crate::commit::{self, Durability};
use crate::space::raw_data_range;

/// What the end of a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Trailer {
    /// No journal.
    Absent,
    /// A damaged journal.
    Torn,
    /// An intact journal.
    Whole,
}

/// The state of the superblock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Seal {
    /// The state before the transaction; also the state of any file without a journal.
    Before,
    /// Guarded: every program refuses to open the file.
    Guarded,
    /// The state after the transaction.
    After,
    /// A byte-wise mixture of the states above.
    Torn,
    /// None of the states above.
    Foreign,
}

/// What recovery does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Nothing.
    Nothing,
    /// Cut the tail after the end of the file.
    DropTail,
    /// Remove the guard: nothing else was changed.
    Unguard,
    /// Finish the transaction.
    Redo,
    /// Refuse the file; a person must decide.
    Refuse,
}

/// Returns the action for a state of the file. Changes nothing.
pub const fn decide(trailer: Trailer, seal: Seal) -> Action {
    match (trailer, seal) {
        // Damage from another cause, or a writer that did not know of the journal (J6).
        (Trailer::Absent, Seal::Torn) | (_, Seal::Foreign) => Action::Refuse,
        (Trailer::Absent, Seal::Before | Seal::After) => Action::Nothing,
        // Step 1 was interrupted: no reachable byte has been changed (J2).
        (Trailer::Absent | Trailer::Torn, Seal::Guarded) | (Trailer::Torn, Seal::Torn) => Action::Unguard,
        // Step 1 was interrupted, or everything was applied and only the cut of the tail was lost (J4).
        (Trailer::Torn, Seal::Before) | (Trailer::Torn | Trailer::Whole, Seal::After) => Action::DropTail,
        // Committed. Some overwrites may be done already; redoing them is idempotent (J3).
        (Trailer::Whole, Seal::Before | Seal::Guarded | Seal::Torn) => Action::Redo,
    }
}

/// The state of a file, and the action that it needs.
#[derive(Debug)]
pub struct Report {
    /// What the end of the file holds.
    pub trailer: Trailer,
    /// The state of the superblock.
    pub seal: Seal,
    /// The action that is needed.
    pub action: Action,
    /// The reason for a refusal, if the action is [`Refuse`](Action::Refuse).
    pub refusal: Option<&'static str>,
    place: SuperblockPlace,
    /// The superblock after the action, as bytes and decoded.
    image: Vec<u8>,
    superblock: Superblock,
    /// The journal, if it is intact and not yet applied.
    journal: Option<Journal>,
}

/// The place of a superblock.
#[derive(Debug, Clone)]
struct SuperblockPlace {
    at: u64,
    file_len: u64,
    /// The bytes from `at` on: the superblock and the bytes after it.
    bytes: Vec<u8>,
}

impl Report {
    /// Returns the number of the transaction to redo.
    pub fn transaction(&self) -> Option<u64> {
        self.journal.as_ref().map(|journal| journal.transaction)
    }

    /// Returns the number of overwrites in the transaction to redo.
    pub fn overwrites(&self) -> usize {
        self.journal.as_ref().map_or(0, |journal| journal.overwrites.len())
    }

    /// Returns the file offset of the superblock.
    pub fn superblock_at(&self) -> u64 {
        self.place.at
    }

    /// Returns the superblock as it is after the action.
    pub fn superblock(&self) -> &Superblock {
        &self.superblock
    }

    /// Returns the bytes of the superblock after the action, which the next commit calls `before`.
    pub fn superblock_bytes(&self) -> &[u8] {
        &self.image
    }

    /// Returns the error for a file that recovery refuses.
    pub fn refused(&self) -> Option<Error> {
        self.refusal.map(|why| Error::NeedsRecovery { why })
    }

    /// Returns the length of the file after the action.
    pub fn len_bytes(&self) -> u64 {
        let is_tail_ours = match self.action {
            Action::DropTail | Action::Redo => true,
            // Without a trace of a journal the tail may be the user's own.
            Action::Unguard => self.trailer == Trailer::Torn,
            Action::Nothing | Action::Refuse => false,
        };
        if is_tail_ours { self.superblock.end_of_file() } else { self.place.file_len }
    }

    /// Returns the file as it is after the action, for reading: `driver` itself, or an overlay that writes
    /// nothing.
    pub fn view(&self, driver: Arc<dyn Driver>) -> Arc<dyn Driver> {
        if !self.has_overlay() {
            return driver;
        }
        let overwrites = self.journal.iter().flat_map(|journal| &journal.overwrites);
        let mut patches: Vec<_> = overwrites.map(|entry| (entry.offset, entry.bytes.clone())).collect();
        patches.push((self.place.at, self.image.clone()));
        Arc::new(Overlay::new(driver, patches, self.len_bytes()))
    }

    /// Returns the length of the [`view`](Self::view).
    pub fn view_len(&self) -> u64 {
        if self.has_overlay() { self.len_bytes() } else { self.place.file_len }
    }

    fn has_overlay(&self) -> bool {
        matches!(self.action, Action::Unguard | Action::Redo)
    }

    /// Returns the first bytes of the file from the superblock on, before the action.
    pub fn into_front(self) -> Vec<u8> {
        self.place.bytes
    }

    fn refuse(&mut self, why: &'static str) {
        self.action = Action::Refuse;
        self.refusal = Some(why);
    }
}

/// Inspects a file: its superblock, and its tail if it has one. Writes nothing.
pub fn inspect(driver: &dyn Driver) -> Result<Report> {
    let place = locate(driver)?;
    let decoded = decode_superblock(&place.bytes, place.at);
    if let Ok(superblock) = &decoded
        && !superblock.is_guarded(raw_data_range::reach(driver), place.file_len)
        && superblock.end_of_file() >= place.file_len
    {
        // No tail, no journal. The reader of the file notices a truncated file.
        return without_images(driver, place, Trailer::Absent, decoded);
    }
    if !driver.parts().is_empty() {
        // Only other programs write files in such parts.
        return without_images(driver, place, Trailer::Absent, decoded);
    }
    match journal::find(driver, place.file_len)? {
        Found::Absent => without_images(driver, place, Trailer::Absent, decoded),
        Found::Torn(None) => without_images(driver, place, Trailer::Torn, decoded),
        Found::Torn(Some(images)) => with_images(driver, place, images, None),
        Found::Whole(journal) => with_images(driver, place, journal.images.clone(), Some(journal)),
        Found::OfOtherRanges { images, is_split } => {
            let mut report = with_images(driver, place, images, None)?;
            report.refuse(if is_split { OF_A_SPLIT_FILE } else { OF_ONE_FILE });
            Ok(report)
        }
    }
}

/// Makes the report if only the superblock shows the state of the file.
fn without_images(
    driver: &dyn Driver,
    place: SuperblockPlace,
    trailer: Trailer,
    decoded: hyperslab_format::Result<Superblock>,
) -> Result<Report> {
    let superblock = decoded?;
    let len = superblock.encoded_len(superblock.widths(), &());
    let image = place.bytes.get(..len).unwrap_or(&place.bytes).to_vec();
    let reach = raw_data_range::reach(driver);
    let is_guarded = superblock.is_guarded(reach, place.file_len);
    let seal = if is_guarded { Seal::Guarded } else { Seal::Before };
    let image = guard::clear(&image, reach).filter(|_| is_guarded).unwrap_or(image);
    let superblock = decode_superblock(&image, place.at)?;
    let action = decide(trailer, seal);
    let mut report = Report { trailer, seal, action, refusal: None, place, image, superblock, journal: None };
    if is_guarded && report.superblock.end_of_file() > report.place.file_len {
        report.refuse(CUT_SHORT);
    }
    Ok(report)
}

/// Makes the report if a journal has the possible states of the superblock.
fn with_images(
    driver: &dyn Driver,
    place: SuperblockPlace,
    images: Images,
    journal: Option<Journal>,
) -> Result<Report> {
    let found = place.bytes.get(..images.before.len()).unwrap_or_default();
    let next = guard::set(&images.after, raw_data_range::reach(driver));
    if found != images.guarded && next.is_some_and(|guarded| guarded == found) {
        // The guard of the next transaction, whose journal was not written; the journal in the file is an old
        // one, already applied.
        let decoded = decode_superblock(found, place.at);
        return without_images(driver, place, Trailer::Torn, decoded);
    }
    let trailer = if journal.is_some() { Trailer::Whole } else { Trailer::Torn };
    let seal = if images.at == place.at { seal(&images, found, trailer) } else { Seal::Foreign };
    let action = decide(trailer, seal);
    let image = match action {
        Action::Redo => images.after,
        Action::Nothing | Action::DropTail => found.to_vec(),
        Action::Unguard | Action::Refuse => images.before,
    };
    let superblock = decode_superblock(&image, place.at)?;
    let journal = journal.filter(|_| action == Action::Redo);
    let mut report = Report { trailer, seal, action, refusal: None, place, image, superblock, journal };
    if action == Action::Refuse {
        report.refuse(CHANGED);
    }
    // An unguarded file was open to other programs: its bytes must be those that the transaction knows (J6).
    if let Some(journal) = &report.journal
        && seal != Seal::Guarded
        && !targets_are_old_or_new(driver, journal)?
    {
        report.refuse(CHANGED);
    }
    Ok(report)
}

/// Returns which of its journal's images a superblock is.
fn seal(images: &Images, found: &[u8], trailer: Trailer) -> Seal {
    let Images { before, guarded, after, .. } = images;
    if found == before {
        return Seal::Before;
    }
    if found == guarded {
        return Seal::Guarded;
    }
    if found == after {
        return Seal::After;
    }
    // Without an intact journal the write of the final superblock cannot have begun, so a mixture with it has
    // another cause.
    let last = if trailer == Trailer::Whole { after } else { before };
    let mut bytes = found.iter().zip(before).zip(guarded.iter().zip(last));
    let is_mixture = bytes.all(|((found, before), (guarded, last))| [before, guarded, last].contains(&found));
    if is_mixture && found.len() == before.len() { Seal::Torn } else { Seal::Foreign }
}

fn targets_are_old_or_new(driver: &dyn Driver, journal: &Journal) -> Result<bool> {
    for entry in &journal.overwrites {
        let crc = journal::crc_of(driver, entry.offset, entry.bytes.len() as u64)?;
        if crc != entry.old_crc32c && crc != crc32c::crc32c(&entry.bytes) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Does the action of `report`, which must have been made from the same file just before.
///
/// Recovery may be interrupted as a commit may. It always flushes, because the writes of the commit may not
/// be durable.
pub fn act(driver: &dyn Driver, report: &Report) -> Result<()> {
    let flush = || driver.flush(false).map_err(Error::io("flush", 0, 0));
    let place = &report.place;
    match report.action {
        Action::Nothing => Ok(()),
        Action::Refuse => Err(Error::NeedsRecovery { why: report.refusal.unwrap_or(CHANGED) }),
        Action::DropTail => {
            // J4: the final superblock may not be durable yet.
            flush()?;
            commit::set_len(driver, report.len_bytes())
        }
        Action::Unguard => {
            commit::write_change(driver, place.at, &place.bytes, &report.image)?;
            flush()?;
            commit::set_len(driver, report.len_bytes())
        }
        Action::Redo => {
            let Some(journal) = &report.journal else { return Ok(()) };
            commit::write_change(driver, place.at, &place.bytes, &journal.images.guarded)?;
            // J1, J2: the journal and the guard may never have been flushed.
            flush()?;
            commit::apply(driver, journal, Durability::Power)?;
            // The transaction is in the file, and a tail does no harm: the next commit or open cuts it.
            let _ = driver.set_len(report.len_bytes());
            Ok(())
        }
    }
}

/// Finds the superblock: its offset, the length of the file, and the bytes at the offset.
fn locate(driver: &dyn Driver) -> Result<SuperblockPlace> {
    let file_len = driver.len().map_err(Error::io("length", 0, 0))?;
    for at in Superblock::candidate_offsets(file_len) {
        let len = usize::try_from(file_len - at).unwrap_or(usize::MAX).min(FRONT);
        let mut bytes = vec![0; len];
        journal::read(driver, at, &mut bytes)?;
        if Superblock::is_signature(&bytes) {
            return Ok(SuperblockPlace { at, file_len, bytes });
        }
    }
    Err(broken::<Superblock>(Addr::new(0), ErrorKind::NotHdf5 { file_len }))
}

/// The bytes that are read to find the superblock: a page of memory. They cost as much as a few bytes, and
/// begin with the metadata of most small files.
const FRONT: usize = 4096;

const CHANGED: &str = "it was changed by another program while a transaction was unfinished";
const OF_A_SPLIT_FILE: &str =
    "its journal is that of a file in two members: open the whole file, with driver=\"split\"";
const OF_ONE_FILE: &str =
    "its journal is that of a file in one piece: open it by itself, without driver=\"split\"";
const CUT_SHORT: &str = "it was cut short while a transaction was unfinished";
