//! The members of a family in memory, of which every change is recorded, to rebuild what a crash could have
//! left of them.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyperslab::driver::{Driver, Family, Folder, Hints, Medium, Memory};

use crate::crash::{Failure, Written};
use crate::fuzz::Random;

/// The files of a family. Copies share them.
#[derive(Debug, Clone)]
pub struct RecordedFolder {
    size: usize,
    disk: Arc<Mutex<Disk>>,
}

#[derive(Debug)]
struct Disk {
    start: Image,
    now: Image,
    steps: Vec<FamilyStep>,
    failure: Option<Failure>,
    changes: usize,
    /// The most bytes that all files may have together.
    room: usize,
}

/// A recorded change. Files are known by numbers of their own: a removed member may be created again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FamilyStep {
    /// A new file gets the name of a member.
    Create {
        /// The number of the member.
        member: usize,
        /// The new file.
        file: usize,
    },
    /// The name of a member is removed.
    Remove(usize),
    /// A write to a file.
    Write {
        /// The file.
        file: usize,
        /// The offset in the file.
        offset: usize,
        /// The written bytes.
        bytes: Vec<u8>,
    },
    /// A change of the length of a file.
    SetLen(usize, usize),
    /// The changes of a file become durable.
    Flush(usize),
    /// The names become durable.
    Sync,
}

/// Names, and files by number.
#[derive(Debug, Clone, Default)]
struct Image {
    names: BTreeMap<usize, usize>,
    files: BTreeMap<usize, Vec<u8>>,
}

impl Image {
    fn apply(&mut self, step: &FamilyStep) {
        match step {
            FamilyStep::Create { member, file } => _ = self.names.insert(*member, *file),
            FamilyStep::Remove(member) => _ = self.names.remove(member),
            FamilyStep::Write { file, offset, bytes } => {
                let content = self.files.entry(*file).or_default();
                if content.len() < offset + bytes.len() {
                    content.resize(offset + bytes.len(), 0);
                }
                content[*offset..offset + bytes.len()].copy_from_slice(bytes);
            }
            FamilyStep::SetLen(file, len) => self.files.entry(*file).or_default().resize(*len, 0),
            FamilyStep::Flush(_) | FamilyStep::Sync => {}
        }
    }

    /// Returns the length of the file that `step` changes, before and after.
    fn lengths(&self, step: &FamilyStep) -> (usize, usize) {
        let before = |file: &usize| self.files.get(file).map_or(0, Vec::len);
        match step {
            FamilyStep::Write { file, offset, bytes } => {
                (before(file), before(file).max(offset + bytes.len()))
            }
            FamilyStep::SetLen(file, len) => (before(file), *len),
            _ => (0, 0),
        }
    }

    fn content(&self, member: usize) -> &[u8] {
        let file = self.names.get(&member);
        file.and_then(|file| self.files.get(file)).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the bytes of the family: those of its members up to the first one that is short.
    fn joined(&self, size: usize) -> Vec<u8> {
        let mut joined = Vec::new();
        for member in 0.. {
            joined.extend_from_slice(self.content(member));
            if joined.len() < (member + 1) * size {
                break;
            }
        }
        joined
    }

    fn bytes(&self) -> usize {
        self.names.keys().map(|&member| self.content(member).len()).sum()
    }
}

impl RecordedFolder {
    /// Returns the members of a family with these bytes, and with members of `size` bytes. All is durable.
    pub fn new(image: &[u8], size: usize) -> Self {
        let mut start = Image::default();
        for (number, part) in image.chunks(size).enumerate() {
            start.names.insert(number, number);
            start.files.insert(number, part.to_vec());
        }
        start.names.entry(0).or_insert(0);
        let (now, steps) = (start.clone(), Vec::new());
        let disk = Disk { start, now, steps, failure: None, changes: 0, room: usize::MAX };
        Self { size, disk: Arc::new(Mutex::new(disk)) }
    }

    /// Makes a change fail.
    #[must_use]
    pub fn failing(self, failure: Failure) -> Self {
        self.disk().failure = Some(failure);
        self
    }

    /// Limits the bytes of all members together.
    pub fn set_room(&self, bytes: usize) {
        self.disk().room = bytes;
    }

    /// Returns the driver for the members.
    pub fn open(&self) -> Family {
        let members = self.disk().now.joined(self.size).len().div_ceil(self.size).max(1);
        let member = |number| Arc::new(self.file(number)) as Arc<dyn Medium>;
        Family::new(Box::new(self.clone()), (0..members).map(member).collect(), self.size as u64)
    }

    /// Puts bytes into the file of a member, as another program may have left them.
    pub fn leave(&self, member: usize, bytes: &[u8]) {
        let disk = &mut *self.disk();
        for image in [&mut disk.start, &mut disk.now] {
            image.names.insert(member, member);
            image.files.insert(member, bytes.to_vec());
        }
    }

    /// Returns the bytes of the family.
    pub fn image(&self) -> Vec<u8> {
        self.disk().now.joined(self.size)
    }

    /// Returns the length of each member that exists.
    pub fn lengths(&self) -> BTreeMap<usize, usize> {
        let disk = self.disk();
        disk.now.names.keys().map(|&member| (member, disk.now.content(member).len())).collect()
    }

    /// Returns whether the failure has happened.
    pub fn has_failed(&self) -> bool {
        let disk = self.disk();
        disk.failure.is_some_and(|failure| disk.changes > failure.at)
    }

    /// Returns the recorded changes.
    pub fn steps(&self) -> Vec<FamilyStep> {
        self.disk().steps.clone()
    }

    /// Calls `visit` with the bytes of the family after every change, as the death of a program leaves them.
    /// Returns the number of images.
    pub fn after_kill(&self, mut visit: impl FnMut(&[u8])) -> usize {
        let disk = self.disk();
        let mut image = disk.start.clone();
        visit(&image.joined(self.size));
        let pieces: Vec<FamilyStep> = disk.steps.iter().flat_map(pieces).collect();
        for piece in &pieces {
            image.apply(piece);
            visit(&image.joined(self.size));
        }
        pieces.len() + 1
    }

    /// Calls `visit` with bytes of the family that a loss of power can leave, before each flush of a member
    /// and at the end: all that is durable, and some of the other changes. Returns the number of images.
    pub fn after_power_loss(&self, seed: u64, samples: usize, mut visit: impl FnMut(&[u8])) -> usize {
        let disk = self.disk();
        let (mut random, mut images) = (Random::new(seed), 0);
        let mut durable = disk.start.clone();
        let mut pending: Vec<FamilyStep> = Vec::new();
        let mut try_some = |durable: &Image, pending: &[FamilyStep]| {
            for sample in 0..samples {
                let density = 1 + random.below(7);
                let mut image = durable.clone();
                for step in pending {
                    if sample == 0 || random.below(8) < density {
                        image.apply(step);
                    }
                }
                visit(&image.joined(self.size));
                images += 1;
            }
        };
        for step in &disk.steps {
            let is_flushed = |pending: &FamilyStep| match (step, pending) {
                (FamilyStep::Sync, FamilyStep::Create { .. } | FamilyStep::Remove(_)) => true,
                (
                    FamilyStep::Flush(flushed),
                    FamilyStep::Write { file, .. } | FamilyStep::SetLen(file, _),
                ) => flushed == file,
                _ => false,
            };
            if matches!(step, FamilyStep::Flush(_) | FamilyStep::Sync) {
                try_some(&durable, &pending);
                pending.retain(|step| {
                    let is_flushed = is_flushed(step);
                    if is_flushed {
                        durable.apply(step);
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
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, member: usize) -> RecordedMember {
        let file = self.disk().now.names.get(&member).copied().unwrap_or(member);
        RecordedMember { folder: self.clone(), file }
    }
}

impl Disk {
    /// Applies and records `step`, or fails as configured.
    fn change(&mut self, step: &FamilyStep) -> io::Result<()> {
        let number = self.changes;
        self.changes += 1;
        let fails = |failure: &Failure| number == failure.at || (failure.stays && number > failure.at);
        let failure = self.failure.filter(fails);
        let mut arrived = pieces(step);
        if let Some(Failure { written, .. }) = failure {
            arrived.truncate(match (step, written) {
                (FamilyStep::Write { .. }, Written::All) => arrived.len(),
                (FamilyStep::Write { .. }, Written::HalfOfItsSectors) => arrived.len() / 2,
                _ => 0,
            });
        }
        for piece in arrived {
            let (before, after) = self.now.lengths(&piece);
            if after > before && self.room < usize::MAX && self.now.bytes() + (after - before) > self.room {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.now.apply(&piece);
            self.steps.push(piece);
        }
        if failure.is_some() { Err(io::Error::other("the medium failed")) } else { Ok(()) }
    }
}

impl Folder for RecordedFolder {
    fn create(&self, member: usize) -> io::Result<Arc<dyn Medium>> {
        let mut disk = self.disk();
        if let Some(file) = disk.now.names.get(&member).copied() {
            disk.change(&FamilyStep::SetLen(file, 0))?;
        } else {
            let file = FIRST_NEW + disk.changes;
            disk.change(&FamilyStep::Create { member, file })?;
        }
        drop(disk);
        Ok(Arc::new(self.file(member)))
    }

    fn remove(&self, member: usize) {
        let mut disk = self.disk();
        assert!(disk.now.content(member).is_empty(), "only members without bytes are removed");
        // A failure leaves an empty file.
        let _ = disk.change(&FamilyStep::Remove(member));
    }

    fn clear(&self, member: usize) -> io::Result<()> {
        let mut disk = self.disk();
        let Some(file) = disk.now.names.get(&member).copied() else { return Ok(()) };
        disk.change(&FamilyStep::SetLen(file, 0))?;
        let _ = disk.change(&FamilyStep::Remove(member));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.disk().change(&FamilyStep::Sync)
    }
}

#[derive(Debug)]
struct RecordedMember {
    folder: RecordedFolder,
    file: usize,
}

impl RecordedMember {
    fn memory(&self) -> Memory {
        Memory::new(self.folder.disk().now.files.get(&self.file).cloned().unwrap_or_default())
    }
}

impl Driver for RecordedMember {
    fn len(&self) -> io::Result<u64> {
        self.memory().len()
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()> {
        self.memory().read_at(offset, dst)
    }

    fn write_at(&self, offset: u64, src: &[u8]) -> io::Result<()> {
        let offset = usize::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge)?;
        assert!(offset + src.len() <= self.folder.size, "a write inside the member");
        self.folder.disk().change(&FamilyStep::Write { file: self.file, offset, bytes: src.to_vec() })
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).map_err(|_| io::ErrorKind::FileTooLarge)?;
        if self.len()? == len as u64 {
            return Ok(());
        }
        self.folder.disk().change(&FamilyStep::SetLen(self.file, len))
    }

    fn flush(&self, _closing: bool) -> io::Result<()> {
        self.folder.disk().change(&FamilyStep::Flush(self.file))
    }

    fn hints(&self) -> Hints {
        self.memory().hints()
    }
}

impl Medium for RecordedMember {}

/// Returns the parts of a change that reach the medium independently: the sectors of a write.
fn pieces(step: &FamilyStep) -> Vec<FamilyStep> {
    let FamilyStep::Write { file, offset, bytes } = step else { return vec![step.clone()] };
    let mut pieces = Vec::new();
    let (mut at, mut rest) = (*offset, bytes.as_slice());
    while !rest.is_empty() {
        let (sector, after) = rest.split_at((SECTOR - at % SECTOR).min(rest.len()));
        pieces.push(FamilyStep::Write { file: *file, offset: at, bytes: sector.to_vec() });
        at += sector.len();
        rest = after;
    }
    pieces
}

/// The least number of a file that is not there at first.
const FIRST_NEW: usize = 1 << 20;
/// The number of bytes that a medium writes atomically.
const SECTOR: usize = 512;
