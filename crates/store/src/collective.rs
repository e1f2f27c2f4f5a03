//! A file that several ranks change together.
//!
//! Each rank holds the same changed metadata, because each makes the same steps in the same order. So a step
//! that writes nothing needs no messages. Rank 0 writes what all have alike, and only while all are at the
//! same step: everything before is then in the file, and no rank reads what is overwritten. A commit compares
//! the changes of the ranks first. Elements are written by the rank that has them
//! ([`alone`](Collective::alone)).
//!
//! Space that is freed is not used again before the file is closed: a rank does not know what others read.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_io::ranks::Ranks;

use crate::Store;
use crate::commit::Outcome;

/// The ranks of one file.
#[derive(Debug)]
pub struct Collective {
    ranks: Arc<dyn Ranks>,
    /// Whether this rank does something that the others do not do alike.
    is_alone: AtomicBool,
    /// Whether the ranks are not at the same step any more.
    is_apart: AtomicBool,
}

/// The occasions at which ranks meet. Ranks that meet at different ones are apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Meeting {
    /// A file is opened; rank 0 tells what it found.
    Open,
    /// Before rank 0 does something for all.
    Before,
    /// After rank 0 has done it.
    After,
    /// A commit: the changes are compared.
    Compare,
    /// All bytes of a commit but the journal are durable.
    Durable,
    /// Rank 0 tells the outcome of the commit.
    Outcome,
    /// A write: every rank tells which chunks it touches.
    Touched,
    /// A write: every rank has packed the elements of chunks that belong to others.
    Sending,
    /// A write: every rank tells the sizes of its encoded chunks.
    Encoded,
    /// A write: every rank has written its bytes.
    Written,
    /// The file is closed on all ranks, and no rank has it locked.
    Closed,
    /// A rank gives up.
    GivingUp,
}

impl Collective {
    /// Returns the ranks of a file at its opening.
    pub fn new(ranks: Arc<dyn Ranks>) -> Self {
        Self { ranks, is_alone: AtomicBool::new(false), is_apart: AtomicBool::new(false) }
    }

    /// Returns the number of this rank.
    pub fn rank(&self) -> usize {
        self.ranks.rank()
    }

    /// Returns the number of ranks.
    pub fn size(&self) -> usize {
        self.ranks.size()
    }

    /// Waits for all ranks, and returns what each of them tells. If one of them tells an error, all return an
    /// error.
    pub fn meet(&self, meeting: Meeting, mine: Result<Vec<u8>>) -> Result<Vec<Vec<u8>>> {
        if self.is_apart.load(Ordering::Acquire) {
            return mine.and(Err(Error::Poisoned));
        }
        let (is_error, body) = match &mine {
            Ok(bytes) => (0, bytes.clone()),
            Err(error) => (1, error.to_string().into_bytes()),
        };
        let message = [[meeting as u8, is_error].as_slice(), &body].concat();
        let told = self.ranks.all_gather(&message).map_err(|error| self.part(error))?;
        if told.len() != self.size() {
            return Err(self.garbled());
        }
        // A rank that gives up, or is at another meeting, does not come to the next one.
        let is_here = |message: &Vec<u8>| message.first() == Some(&(meeting as u8));
        if !told.iter().all(is_here) {
            self.is_apart.store(true, Ordering::Release);
        }
        mine?;
        let mut bodies = Vec::with_capacity(told.len());
        for (rank, message) in told.into_iter().enumerate() {
            let told = match message.as_slice() {
                [kind, 0, body @ ..] if *kind == meeting as u8 => Ok(body.to_vec()),
                [_, 1, why @ ..] => Err(String::from_utf8_lossy(why).into_owned()),
                _ => Err(OTHER_CALL.to_owned()),
            };
            bodies.push(told.map_err(|why| Error::OtherRank { rank, why })?);
        }
        Ok(bodies)
    }

    /// Tells the other ranks that this one has failed. Returns the error.
    pub fn fail(&self, meeting: Meeting, error: Error) -> Error {
        self.meet(meeting, Err(error)).err().unwrap_or(Error::Poisoned)
    }

    /// Sends bytes to each rank, and returns those that each has sent to this one.
    pub fn exchange(&self, to: &[Vec<u8>]) -> Result<Vec<Vec<u8>>> {
        let came = self.ranks.exchange(to).map_err(|error| self.part(error))?;
        if came.len() == self.size() { Ok(came) } else { Err(self.garbled()) }
    }

    /// Has rank 0 do what all would do alike. If it fails, all ranks return its error. `what` is the same on
    /// all ranks if they would do the same.
    pub(crate) fn lead(&self, what: u32, f: impl FnOnce() -> Result<()>) -> Result<()> {
        self.compare(Meeting::Before, &what.to_le_bytes())?;
        self.meet(Meeting::After, self.as_leader(f).unwrap_or(Ok(())).map(|()| Vec::new())).map(drop)
    }

    /// Calls `f` on rank 0.
    fn as_leader<R>(&self, f: impl FnOnce() -> R) -> Option<R> {
        (self.rank() == 0).then(|| {
            let _alone = self.alone();
            f()
        })
    }

    /// Returns rank 0's answer to `f` on all ranks.
    pub fn ask_leader(&self, f: impl FnOnce() -> Result<Vec<u8>>) -> Result<Vec<u8>> {
        let mut told = self.meet(Meeting::Open, self.as_leader(f).unwrap_or(Ok(Vec::new())))?;
        Ok(told.swap_remove(0))
    }

    /// Has rank 0 commit, and returns the outcome on all ranks.
    pub(crate) fn commit(&self, f: impl FnOnce() -> Outcome) -> Outcome {
        let own = self.as_leader(f);
        let message = match &own {
            None | Some(Outcome::Committed) => Vec::new(),
            Some(Outcome::Undone(error)) => format!("u{error}").into_bytes(),
            Some(Outcome::Poisoned(error)) => format!("p{error}").into_bytes(),
        };
        let told = match self.meet(Meeting::Outcome, Ok(message)) {
            Ok(told) => told,
            Err(error) => return Outcome::Poisoned(error),
        };
        let failed =
            |why: &[u8]| Error::OtherRank { rank: 0, why: String::from_utf8_lossy(why).into_owned() };
        own.unwrap_or_else(|| match told.first().map(Vec::as_slice) {
            Some([b'u', why @ ..]) => Outcome::Undone(failed(why)),
            Some([b'p', why @ ..]) => Outcome::Poisoned(failed(why)),
            _ => Outcome::Committed,
        })
    }

    /// Compares what all ranks should have alike.
    pub fn compare(&self, meeting: Meeting, mine: &[u8]) -> Result<()> {
        let told = self.meet(meeting, Ok(mine.to_vec()))?;
        match told.iter().position(|other| *other != told[0]) {
            None => Ok(()),
            Some(rank) => {
                self.is_apart.store(true, Ordering::Release);
                Err(Error::OtherRank { rank, why: OTHER_CHANGES.to_owned() })
            }
        }
    }

    /// Tells the other ranks that this one does not take part any more, wherever they meet next.
    pub fn give_up(&self, why: &str) {
        if !self.is_apart.swap(true, Ordering::AcqRel) {
            let message = [[Meeting::GivingUp as u8, 1].as_slice(), why.as_bytes()].concat();
            // The others cannot be told then.
            let _ = self.ranks.all_gather(&message);
        }
    }

    /// What this rank writes while the guard lives, the others do not write. It changes no structure of the
    /// file.
    pub fn alone(&self) -> Alone<'_> {
        Alone { collective: self, was_alone: self.is_alone.swap(true, Ordering::AcqRel) }
    }

    pub(crate) fn is_alone(&self) -> bool {
        self.is_alone.load(Ordering::Acquire)
    }

    /// Errors if the ranks are not at the same step any more, or a step of this rank would take them apart.
    pub fn check_step(&self) -> Result<()> {
        if self.is_apart.load(Ordering::Acquire) {
            return Err(Error::Poisoned);
        }
        if self.is_alone() {
            let why = "it changes the structure of the file, so all ranks write it together: collective";
            return Err(RequestError::Argument { what: "write by one rank".to_owned(), why }.into());
        }
        Ok(())
    }

    /// Returns the error for a message that no rank sends at this meeting. The ranks are apart then.
    pub fn garbled(&self) -> Error {
        self.part(std::io::ErrorKind::InvalidData.into())
    }

    /// Returns the error for elements that no rank sends. The ranks meet again, so they are not apart.
    pub fn garbled_elements() -> Error {
        Error::io(MESSAGE, 0, 0)(std::io::ErrorKind::InvalidData.into())
    }

    fn part(&self, cause: std::io::Error) -> Error {
        self.is_apart.store(true, Ordering::Release);
        Error::io(MESSAGE, 0, 0)(cause)
    }
}

/// See [`Collective::alone`].
#[derive(Debug)]
#[must_use]
pub struct Alone<'c> {
    collective: &'c Collective,
    was_alone: bool,
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        self.collective.is_alone.store(self.was_alone, Ordering::Release);
    }
}

impl Store {
    /// Returns the ranks that change the file together, if they do.
    pub fn collective(&self) -> Option<&Collective> {
        self.collective.as_deref()
    }

    /// Returns whether the ranks are not at the same step any more.
    pub(crate) fn is_apart(&self) -> bool {
        self.collective().is_some_and(|collective| collective.is_apart.load(Ordering::Acquire))
    }

    /// Does what all ranks do alike, once. `what` returns a number that tells other work from this.
    pub(crate) fn once(&self, what: impl FnOnce() -> u32, f: impl FnOnce() -> Result<()>) -> Result<()> {
        match self.collective() {
            Some(collective) if !collective.is_alone() => collective.lead(what(), f),
            _ => f(),
        }
    }
}

const MESSAGE: &str = "a message to the other ranks";
const OTHER_CALL: &str =
    "it made another call that changes the file: all ranks make the same calls, in the same order";
const OTHER_CHANGES: &str = "its changes are not those of rank 0: all ranks make the same calls, with the same \
                             arguments, and only what is written by collective writes may differ";
