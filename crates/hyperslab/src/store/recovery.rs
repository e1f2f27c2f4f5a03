//! What to do with a file found at open (invariants J1 to J6 in `journal.rs`).

use std::sync::Arc;

use hyperslab_format::superblock::{Superblock, guard};
use hyperslab_format::{Addr, ErrorKind, FormatError, Structure};

use super::commit::{self, Durability};
use super::journal::{self, Found, Images, Journal, decode_superblock};
use crate::driver::{Driver, Overlay};
use crate::error::{Error, Result};

/// What the end of a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Trailer {
    /// No journal.
    Absent,
    /// A journal that is not whole.
    Torn,
    /// A journal that is.
    Whole,
}

/// Which state the superblock is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Seal {
    /// As before the transaction; or as in any file, where there is no journal.
    Before,
    /// Guarded: the file is closed to every program.
    Guarded,
    /// As after the transaction.
    After,
    /// A byte-wise mixture of these.
    Torn,
    /// None of these.
    Foreign,
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Nothing.
    Nothing,
    /// Cut what was left after the end of the file.
    DropTail,
    /// Take back the guard: nothing else was changed.
    Unguard,
    /// Finish the transaction.
    Redo,
    /// Leave it to a person.
    Refuse,
}

/// Decides; does nothing.
pub const fn decide(trailer: Trailer, seal: Seal) -> Action {
    match (trailer, seal) {
        // Damage we did not cause, or a writer that did not know of the journal (J6).
        (Trailer::Absent, Seal::Torn) | (_, Seal::Foreign) => Action::Refuse,
        (Trailer::Absent, Seal::Before | Seal::After) => Action::Nothing,
        // Step 1 was interrupted: nothing reachable has been touched (J2).
        (Trailer::Absent | Trailer::Torn, Seal::Guarded) | (Trailer::Torn, Seal::Torn) => Action::Unguard,
        // Step 1 was interrupted, or all was applied and only the cut of the tail was lost (J4).
        (Trailer::Torn, Seal::Before) | (Trailer::Torn | Trailer::Whole, Seal::After) => Action::DropTail,
        // Committed. Overwrites may be partly done; redoing them is idempotent (J3).
        (Trailer::Whole, Seal::Before | Seal::Guarded | Seal::Torn) => Action::Redo,
    }
}

/// What was found in a file, and what is to be done about it.
#[derive(Debug)]
pub struct Report {
    /// What the end of the file is.
    pub trailer: Trailer,
    /// Which state the superblock is in.
    pub seal: Seal,
    /// What is to be done.
    pub action: Action,
    /// Why nothing can be done, where that is so.
    pub refusal: Option<&'static str>,
    place: Place,
    /// The superblock when all is done, as bytes and decoded.
    image: Vec<u8>,
    superblock: Superblock,
    /// The journal, if it is whole and not yet applied.
    journal: Option<Journal>,
}

/// Where a superblock was found.
#[derive(Debug, Clone)]
struct Place {
    at: u64,
    file_len: u64,
    /// The bytes from there on: the superblock and what follows.
    bytes: Vec<u8>,
}

impl Report {
    /// The number of the transaction that is to be finished.
    pub fn transaction(&self) -> Option<u64> {
        self.journal.as_ref().map(|journal| journal.transaction)
    }

    /// How many overwrites it has.
    pub fn overwrites(&self) -> usize {
        self.journal.as_ref().map_or(0, |journal| journal.overwrites.len())
    }

    /// Where the superblock stands.
    pub fn superblock_at(&self) -> u64 {
        self.place.at
    }

    /// The superblock as it is when all is done.
    pub fn superblock(&self) -> &Superblock {
        &self.superblock
    }

    /// The bytes of the superblock when all is done: what the next commit calls `before`.
    pub fn superblock_bytes(&self) -> &[u8] {
        &self.image
    }

    /// The error of a file that must be left to a person.
    pub fn refused(&self) -> Option<Error> {
        self.refusal.map(|why| Error::NeedsRecovery { why })
    }

    /// The length of the file when all is done.
    pub fn len_bytes(&self) -> u64 {
        let is_tail_ours = match self.action {
            Action::DropTail | Action::Redo => true,
            // Without a trace of a journal the tail may be the user's own.
            Action::Unguard => self.trailer == Trailer::Torn,
            Action::Nothing | Action::Refuse => false,
        };
        if is_tail_ours { self.superblock.end_of_file() } else { self.place.file_len }
    }

    /// The file as it is when all is done, for reading: `driver` itself, or a view of it that writes nothing.
    pub fn view(&self, driver: Arc<dyn Driver>) -> Arc<dyn Driver> {
        if !matches!(self.action, Action::Unguard | Action::Redo) {
            return driver;
        }
        let overwrites = self.journal.iter().flat_map(|journal| &journal.overwrites);
        let mut patches: Vec<_> = overwrites.map(|entry| (entry.offset, entry.bytes.clone())).collect();
        patches.push((self.place.at, self.image.clone()));
        Arc::new(Overlay::new(driver, patches, self.len_bytes()))
    }

    fn refuse(&mut self, why: &'static str) {
        self.action = Action::Refuse;
        self.refusal = Some(why);
    }
}

/// Looks at a file: at its superblock, and at its tail if it has one. Writes nothing.
pub fn inspect(driver: &dyn Driver) -> Result<Report> {
    let place = locate(driver)?;
    let decoded = decode_superblock(&place.bytes, place.at);
    if let Ok(superblock) = &decoded
        && !superblock.is_guarded(place.file_len)
        && superblock.end_of_file() >= place.file_len
    {
        // No tail, no journal. That a file was cut short is noticed by who reads it.
        return without_images(place, Trailer::Absent, decoded);
    }
    match journal::find(driver, place.file_len)? {
        Found::Absent => without_images(place, Trailer::Absent, decoded),
        Found::Torn(None) => without_images(place, Trailer::Torn, decoded),
        Found::Torn(Some(images)) => with_images(driver, place, images, None),
        Found::Whole(journal) => with_images(driver, place, journal.images.clone(), Some(journal)),
    }
}

/// The report where the superblock alone says in which state it is.
fn without_images(
    place: Place,
    trailer: Trailer,
    decoded: hyperslab_format::Result<Superblock>,
) -> Result<Report> {
    let superblock = decoded.map_err(Error::from_format)?;
    let mut image = place.bytes.clone();
    image.truncate(superblock.encoded_len(superblock.widths(), &()));
    let is_guarded = superblock.is_guarded(place.file_len);
    let seal = if is_guarded { Seal::Guarded } else { Seal::Before };
    let image = guard::clear(&image).filter(|_| is_guarded).unwrap_or(image);
    let superblock = decode_superblock(&image, place.at).map_err(Error::from_format)?;
    let action = decide(trailer, seal);
    let mut report = Report { trailer, seal, action, refusal: None, place, image, superblock, journal: None };
    if is_guarded && report.superblock.end_of_file() > report.place.file_len {
        report.refuse(CUT_SHORT);
    }
    Ok(report)
}

/// The report where a journal says which states there are.
fn with_images(
    driver: &dyn Driver,
    place: Place,
    images: Images,
    journal: Option<Journal>,
) -> Result<Report> {
    let found = place.bytes.get(..images.before.len()).unwrap_or_default();
    if found != images.guarded && guard::set(&images.after).is_some_and(|guarded| guarded == found) {
        // The guard of the next transaction, whose journal never arrived; this one is a leftover, long applied.
        let decoded = decode_superblock(found, place.at);
        return without_images(place, Trailer::Torn, decoded);
    }
    let trailer = if journal.is_some() { Trailer::Whole } else { Trailer::Torn };
    let seal = if images.at == place.at { seal(&images, found, trailer) } else { Seal::Foreign };
    let action = decide(trailer, seal);
    let image = match action {
        Action::Redo => images.after,
        Action::Nothing | Action::DropTail => found.to_vec(),
        Action::Unguard | Action::Refuse => images.before,
    };
    let superblock = decode_superblock(&image, place.at).map_err(Error::from_format)?;
    let journal = journal.filter(|_| action == Action::Redo);
    let mut report = Report { trailer, seal, action, refusal: None, place, image, superblock, journal };
    if action == Action::Refuse {
        report.refuse(CHANGED);
    }
    // Nobody was kept out of a file that is not guarded: it must be as the transaction knows it (J6).
    if let Some(journal) = &report.journal
        && seal != Seal::Guarded
        && !targets_are_old_or_new(driver, journal)?
    {
        report.refuse(CHANGED);
    }
    Ok(report)
}

/// Which of its journal's images a superblock is.
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
    // Without a whole journal the final superblock cannot have been begun: a mixture with it is none of ours.
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

/// Does what `report`, made of the same file just now, says.
///
/// It may be interrupted as a commit may, and flushes whatever the commit did: what is in the file may not be durable.
pub fn act(driver: &dyn Driver, report: &Report) -> Result<()> {
    let flush = || driver.flush(false).map_err(Error::io("flush", 0, 0));
    let place = &report.place;
    match report.action {
        Action::Nothing => Ok(()),
        Action::Refuse => Err(Error::NeedsRecovery { why: report.refusal.unwrap_or(CHANGED) }),
        Action::DropTail => {
            // J4: the final superblock may still be on its way.
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
            // J1, J2: the journal and the guard were perhaps never flushed.
            flush()?;
            commit::apply(driver, journal, report.len_bytes(), Durability::Power)
        }
    }
}

/// Finds the superblock: its offset, the length of the file, and the bytes there.
fn locate(driver: &dyn Driver) -> Result<Place> {
    let file_len = driver.len().map_err(Error::io("length", 0, 0))?;
    for at in Superblock::candidate_offsets(file_len) {
        let len = usize::try_from(file_len - at).unwrap_or(usize::MAX).min(SUPERBLOCK_PREFIX);
        let mut bytes = vec![0; len];
        journal::read(driver, at, &mut bytes)?;
        if Superblock::is_signature(&bytes) {
            return Ok(Place { at, file_len, bytes });
        }
    }
    Err(Error::Format(FormatError {
        kind: ErrorKind::NotHdf5 { file_len },
        structure: "Superblock",
        spec: "II.A",
        at: Addr::new(0),
        offset: 0,
    }))
}

/// Enough for every version of the superblock.
const SUPERBLOCK_PREFIX: usize = 512;

const CHANGED: &str = "it was changed by another program while a transaction was unfinished";
const CUT_SHORT: &str = "it was cut short while a transaction was unfinished";
