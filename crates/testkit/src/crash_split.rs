//! The two members of a split file in memory, of which every change is recorded, to rebuild what a crash
//! could have left of them.
//!
//! The image of a split file is one sequence of bytes: a mark, the length of the metadata, the metadata, the
//! elements. [`driver_of`] opens such images, and those of ordinary files.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyperslab::driver::{Driver, Hints, Medium, Memory, Names, Split};

use crate::crash::{Failure, Written};
use crate::fuzz::Random;

/// The members of a split file. Copies share them.
#[derive(Debug, Clone)]
pub struct RecordedSplit(Arc<Mutex<Disk>>);

#[derive(Debug)]
struct Disk {
    start: Members,
    now: Members,
    steps: Vec<SplitStep>,
    failure: Option<Failure>,
    changes: usize,
    /// The most bytes that both members may have together.
    room: usize,
}

/// The bytes of the metadata and of the elements.
type Members = [Vec<u8>; 2];

/// A recorded change. The member with the metadata has number 0, the other one number 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SplitStep {
    /// A write to a member.
    Write {
        /// The member.
        member: usize,
        /// The offset in the member.
        offset: usize,
        /// The written bytes.
        bytes: Vec<u8>,
    },
    /// A change of the length of a member.
    SetLen(usize, usize),
    /// The changes of a member become durable.
    Flush(usize),
    /// The names become durable.
    Sync,
}

/// Returns the driver for an image: of a split file, or of an ordinary one.
pub fn driver_of(image: &[u8]) -> Arc<dyn Driver> {
    match parts(image) {
        Some(_) => Arc::new(RecordedSplit::new(image).open()),
        None => Arc::new(Memory::new(image.to_vec())),
    }
}

/// Returns the metadata and the elements of an image of a split file.
pub fn parts(image: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = image.strip_prefix(MARK)?.split_first_chunk::<8>()?;
    rest.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)
}

/// Returns the image of a split file with these metadata and elements.
pub fn joined(metadata: &[u8], elements: &[u8]) -> Vec<u8> {
    [MARK, &(metadata.len() as u64).to_le_bytes(), metadata, elements].concat()
}

impl RecordedSplit {
    /// Returns the members of an image, or empty ones if it is empty. All is durable.
    ///
    /// # Panics
    /// If the image is that of an ordinary file.
    pub fn new(image: &[u8]) -> Self {
        let start: Members = match parts(image) {
            Some((metadata, elements)) => [metadata.to_vec(), elements.to_vec()],
            None => Members::default(),
        };
        assert!(image.is_empty() || image.starts_with(MARK), "the image is that of an ordinary file");
        let (now, steps) = (start.clone(), Vec::new());
        let disk = Disk { start, now, steps, failure: None, changes: 0, room: usize::MAX };
        Self(Arc::new(Mutex::new(disk)))
    }

    /// Makes a change fail.
    #[must_use]
    pub fn failing(self, failure: Failure) -> Self {
        self.disk().failure = Some(failure);
        self
    }

    /// Limits the bytes of both members together.
    pub fn set_room(&self, bytes: usize) {
        self.disk().room = bytes;
    }

    /// Returns the driver for the members.
    pub fn open(&self) -> Split {
        let member = |number| Arc::new(RecordedMember { split: self.clone(), number }) as Arc<dyn Medium>;
        Split::new(member(0), member(1), Box::new(self.clone()))
    }

    /// Returns the image of the file.
    pub fn image(&self) -> Vec<u8> {
        image_of(&self.disk().now)
    }

    /// Returns whether the failure has happened.
    pub fn has_failed(&self) -> bool {
        let disk = self.disk();
        disk.failure.is_some_and(|failure| disk.changes > failure.at)
    }

    /// Returns the recorded changes.
    pub fn steps(&self) -> Vec<SplitStep> {
        self.disk().steps.clone()
    }

    /// Calls `visit` with the image after every change, as the death of a program leaves it. Returns the
    /// number of images.
    pub fn after_kill(&self, mut visit: impl FnMut(&[u8])) -> usize {
        let disk = self.disk();
        let mut members = disk.start.clone();
        visit(&image_of(&members));
        let pieces: Vec<SplitStep> = disk.steps.iter().flat_map(pieces).collect();
        for piece in &pieces {
            apply(&mut members, piece);
            visit(&image_of(&members));
        }
        pieces.len() + 1
    }

    /// Calls `visit` with images that a loss of power can leave, before each flush of a member and at the
    /// end: all that is durable, and some of the other changes. Returns the number of images.
    pub fn after_power_loss(&self, seed: u64, samples: usize, mut visit: impl FnMut(&[u8])) -> usize {
        let disk = self.disk();
        let (mut random, mut images) = (Random::new(seed), 0);
        let mut durable = disk.start.clone();
        let mut pending: Vec<SplitStep> = Vec::new();
        let mut try_some = |durable: &Members, pending: &[SplitStep]| {
            for sample in 0..samples {
                let density = 1 + random.below(7);
                let mut members = durable.clone();
                for step in pending {
                    let is_kept = match sample {
                        0 => true,
                        // All of one member, and nothing of the other one.
                        1 => member_of(step) == Some(0),
                        2 => member_of(step) == Some(1),
                        _ => random.below(8) < density,
                    };
                    if is_kept {
                        apply(&mut members, step);
                    }
                }
                visit(&image_of(&members));
                images += 1;
            }
        };
        for step in &disk.steps {
            if let SplitStep::Flush(member) = step {
                try_some(&durable, &pending);
                pending.retain(|step| {
                    let is_flushed = member_of(step) == Some(*member);
                    if is_flushed {
                        apply(&mut durable, step);
                    }
                    !is_flushed
                });
            } else {
                pending.extend(pieces(step));
            }
        }
        try_some(&durable, &pending);
        images
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn image_of(members: &Members) -> Vec<u8> {
    joined(&members[0], &members[1])
}

fn member_of(step: &SplitStep) -> Option<usize> {
    match step {
        SplitStep::Write { member, .. } | SplitStep::SetLen(member, _) => Some(*member),
        SplitStep::Flush(_) | SplitStep::Sync => None,
    }
}

fn apply(members: &mut Members, step: &SplitStep) {
    match step {
        SplitStep::Write { member, offset, bytes } => {
            let content = &mut members[*member];
            if content.len() < offset + bytes.len() {
                content.resize(offset + bytes.len(), 0);
            }
            content[*offset..offset + bytes.len()].copy_from_slice(bytes);
        }
        SplitStep::SetLen(member, len) => members[*member].resize(*len, 0),
        SplitStep::Flush(_) | SplitStep::Sync => {}
    }
}

impl Disk {
    /// Applies and records `step`, or fails as configured.
    fn change(&mut self, step: &SplitStep) -> io::Result<()> {
        let number = self.changes;
        self.changes += 1;
        let fails = |failure: &Failure| number == failure.at || (failure.stays && number > failure.at);
        let failure = self.failure.filter(fails);
        let mut arrived = pieces(step);
        if let Some(Failure { written, .. }) = failure {
            arrived.truncate(match (step, written) {
                (SplitStep::Write { .. }, Written::All) => arrived.len(),
                (SplitStep::Write { .. }, Written::HalfOfItsSectors) => arrived.len() / 2,
                _ => 0,
            });
        }
        for piece in arrived {
            let mut next = self.now.clone();
            apply(&mut next, &piece);
            let len = |members: &Members| members.iter().map(Vec::len).sum::<usize>();
            if len(&next) > len(&self.now) && len(&next) > self.room {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.now = next;
            self.steps.push(piece);
        }
        if failure.is_some() { Err(io::Error::other("the medium failed")) } else { Ok(()) }
    }
}

impl Names for RecordedSplit {
    fn sync(&self) -> io::Result<()> {
        self.disk().change(&SplitStep::Sync)
    }
}

#[derive(Debug)]
struct RecordedMember {
    split: RecordedSplit,
    number: usize,
}

impl RecordedMember {
    fn memory(&self) -> Memory {
        Memory::new(self.split.disk().now[self.number].clone())
    }
}

impl Driver for RecordedMember {
    fn len(&self) -> io::Result<u64> {
        Ok(self.split.disk().now[self.number].len() as u64)
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()> {
        self.memory().read_at(offset, dst)
    }

    fn write_at(&self, offset: u64, src: &[u8]) -> io::Result<()> {
        let offset = usize::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge)?;
        self.split.disk().change(&SplitStep::Write { member: self.number, offset, bytes: src.to_vec() })
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).map_err(|_| io::ErrorKind::FileTooLarge)?;
        if self.len()? == len as u64 {
            return Ok(());
        }
        self.split.disk().change(&SplitStep::SetLen(self.number, len))
    }

    fn flush(&self, _closing: bool) -> io::Result<()> {
        self.split.disk().change(&SplitStep::Flush(self.number))
    }

    fn hints(&self) -> Hints {
        self.memory().hints()
    }
}

impl Medium for RecordedMember {}

/// Returns the parts of a change that reach the medium independently: the sectors of a write.
fn pieces(step: &SplitStep) -> Vec<SplitStep> {
    let SplitStep::Write { member, offset, bytes } = step else { return vec![step.clone()] };
    let mut pieces = Vec::new();
    let (mut at, mut rest) = (*offset, bytes.as_slice());
    while !rest.is_empty() {
        let (sector, after) = rest.split_at((SECTOR - at % SECTOR).min(rest.len()));
        pieces.push(SplitStep::Write { member: *member, offset: at, bytes: sector.to_vec() });
        at += sector.len();
        rest = after;
    }
    pieces
}

/// The first bytes of the image of a split file.
const MARK: &[u8] = b"split file";
/// The number of bytes that a medium writes atomically.
const SECTOR: usize = 512;
