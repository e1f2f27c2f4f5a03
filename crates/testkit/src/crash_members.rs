//! The members of a file in memory, of which every change is recorded, to rebuild what a crash could have
//! left of them: those of a family, or of a split file.
//!
//! The image of a family is its bytes. That of a split file is a mark, the length of the metadata, the
//! metadata and the elements. [`driver_of`] opens such images, and those of ordinary files.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyperslab::driver::{Capabilities, Driver, Family, Folder, Medium, Memory, Names, Split};

use crate::crash::{Failure, Written};
use crate::fuzz::Random;

/// The members of one file. Copies share them.
#[derive(Debug, Clone)]
pub struct RecordedMembers {
    arrangement: Arrangement,
    disk: Arc<Mutex<Disk>>,
}

/// How the bytes of a file are distributed over members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrangement {
    /// Members of this many bytes, of which only the last one may be shorter.
    Family { size: usize },
    /// The metadata in member 0, the elements in member 1.
    Split,
}

#[derive(Debug)]
struct Disk {
    start: FilesImage,
    now: FilesImage,
    steps: Vec<MemberStep>,
    failure: Option<Failure>,
    changes: usize,
    /// The most bytes that all members may have together.
    room: usize,
}

/// A recorded change. Files are known by numbers of their own: a removed member may be created again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemberStep {
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

impl MemberStep {
    /// Returns the file whose bytes the step changes.
    pub fn changed(&self) -> Option<usize> {
        match self {
            Self::Write { file, .. } | Self::SetLen(file, _) => Some(*file),
            _ => None,
        }
    }

    /// Returns whether the step makes the change `other` durable.
    fn settles(&self, other: &Self) -> bool {
        match self {
            Self::Flush(file) => other.changed() == Some(*file),
            Self::Sync => matches!(other, Self::Create { .. } | Self::Remove(_)),
            _ => false,
        }
    }

    /// Returns the parts of a change that reach the medium independently: the sectors of a write.
    fn pieces(&self) -> Vec<Self> {
        let Self::Write { file, offset, bytes } = self else { return vec![self.clone()] };
        let mut pieces = Vec::new();
        let (mut at, mut rest) = (*offset, bytes.as_slice());
        while !rest.is_empty() {
            let (sector, after) = rest.split_at((SECTOR - at % SECTOR).min(rest.len()));
            pieces.push(Self::Write { file: *file, offset: at, bytes: sector.to_vec() });
            at += sector.len();
            rest = after;
        }
        pieces
    }
}

/// Names, and files by number.
#[derive(Debug, Clone, Default)]
struct FilesImage {
    names: BTreeMap<usize, usize>,
    files: BTreeMap<usize, Vec<u8>>,
}

impl FilesImage {
    fn of(members: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let mut image = Self::default();
        for (number, content) in members.into_iter().enumerate() {
            image.names.insert(number, number);
            image.files.insert(number, content);
        }
        image
    }

    fn apply(&mut self, step: &MemberStep) {
        match step {
            MemberStep::Create { member, file } => _ = self.names.insert(*member, *file),
            MemberStep::Remove(member) => _ = self.names.remove(member),
            MemberStep::Write { file, offset, bytes } => {
                let content = self.files.entry(*file).or_default();
                if content.len() < offset + bytes.len() {
                    content.resize(offset + bytes.len(), 0);
                }
                content[*offset..offset + bytes.len()].copy_from_slice(bytes);
            }
            MemberStep::SetLen(file, len) => self.files.entry(*file).or_default().resize(*len, 0),
            MemberStep::Flush(_) | MemberStep::Sync => {}
        }
    }

    /// Returns the length of the file that `step` changes, before and after.
    fn lengths(&self, step: &MemberStep) -> (usize, usize) {
        let before = |file: &usize| self.files.get(file).map_or(0, Vec::len);
        match step {
            MemberStep::Write { file, offset, bytes } => {
                (before(file), before(file).max(offset + bytes.len()))
            }
            MemberStep::SetLen(file, len) => (before(file), *len),
            _ => (0, 0),
        }
    }

    fn content(&self, member: usize) -> &[u8] {
        let file = self.names.get(&member);
        file.and_then(|file| self.files.get(file)).map(Vec::as_slice).unwrap_or_default()
    }

    fn bytes(&self) -> usize {
        self.names.keys().map(|&member| self.content(member).len()).sum()
    }
}

impl Arrangement {
    /// Returns the image of the file that has these members. The bytes of a family are those of its members
    /// up to the first one that is short.
    fn join(self, members: &FilesImage) -> Vec<u8> {
        let size = match self {
            Self::Split => return joined(members.content(0), members.content(1)),
            Self::Family { size } => size,
        };
        let mut bytes = Vec::new();
        for member in 0.. {
            bytes.extend_from_slice(members.content(member));
            if bytes.len() < (member + 1) * size {
                break;
            }
        }
        bytes
    }
}

/// Returns the driver for an image: of a split file, or of an ordinary one.
pub fn driver_of(image: &[u8]) -> Arc<dyn Driver> {
    match parts(image) {
        Some(_) => RecordedMembers::split(image).open(),
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

impl RecordedMembers {
    /// Returns the members of a family with these bytes, and with members of `size` bytes. All is durable.
    pub fn family(image: &[u8], size: usize) -> Self {
        let mut start = FilesImage::of(image.chunks(size).map(<[u8]>::to_vec));
        start.names.entry(0).or_insert(0);
        Self::new(Arrangement::Family { size }, start)
    }

    /// Returns the members of an image of a split file, or empty ones if it is empty. All is durable.
    ///
    /// # Panics
    /// If the image is that of an ordinary file.
    pub fn split(image: &[u8]) -> Self {
        assert!(image.is_empty() || image.starts_with(MARK), "the image is that of an ordinary file");
        let (metadata, elements) = parts(image).unwrap_or_default();
        Self::new(Arrangement::Split, FilesImage::of([metadata.to_vec(), elements.to_vec()]))
    }

    fn new(arrangement: Arrangement, start: FilesImage) -> Self {
        let (now, steps) = (start.clone(), Vec::new());
        let disk = Disk { start, now, steps, failure: None, changes: 0, room: usize::MAX };
        Self { arrangement, disk: Arc::new(Mutex::new(disk)) }
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
    pub fn open(&self) -> Arc<dyn Driver> {
        let member = |number| Arc::new(self.member(number)) as Arc<dyn Medium>;
        match self.arrangement {
            Arrangement::Split => Arc::new(Split::new(member(0), member(1), Box::new(self.clone()))),
            Arrangement::Family { size } => {
                let count = self.image().len().div_ceil(size).max(1);
                let members = (0..count).map(member).collect();
                Arc::new(Family::new(Box::new(self.clone()), members, size as u64))
            }
        }
    }

    /// Puts bytes into the file of a member, as another program may have left them.
    pub fn leave(&self, member: usize, bytes: &[u8]) {
        let disk = &mut *self.disk();
        for image in [&mut disk.start, &mut disk.now] {
            image.names.insert(member, member);
            image.files.insert(member, bytes.to_vec());
        }
    }

    /// Returns the image of the file.
    pub fn image(&self) -> Vec<u8> {
        self.arrangement.join(&self.disk().now)
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
    pub fn steps(&self) -> Vec<MemberStep> {
        self.disk().steps.clone()
    }

    /// Calls `visit` with the image after every change, as the death of a program leaves it. Returns the
    /// number of images.
    pub fn after_kill(&self, mut visit: impl FnMut(&[u8])) -> usize {
        let disk = self.disk();
        let mut members = disk.start.clone();
        visit(&self.arrangement.join(&members));
        let pieces: Vec<MemberStep> = disk.steps.iter().flat_map(MemberStep::pieces).collect();
        for piece in &pieces {
            members.apply(piece);
            visit(&self.arrangement.join(&members));
        }
        pieces.len() + 1
    }

    /// Calls `visit` with images that a loss of power can leave, before each flush and at the end: all that
    /// is durable, and some of the other changes. Returns the number of images. Of a split file, two of the
    /// `samples` have all changes of one member and none of the other.
    pub fn after_power_loss(&self, seed: u64, samples: usize, mut visit: impl FnMut(&[u8])) -> usize {
        let disk = self.disk();
        let (mut random, mut images) = (Random::new(seed), 0);
        let mut durable = disk.start.clone();
        let mut pending: Vec<MemberStep> = Vec::new();
        let mut try_some = |durable: &FilesImage, pending: &[MemberStep]| {
            for sample in 0..samples {
                let density = 1 + random.below(7);
                let mut members = durable.clone();
                for step in pending {
                    let is_kept = match (sample, self.arrangement) {
                        (0, _) => true,
                        (1 | 2, Arrangement::Split) => step.changed() == Some(sample - 1),
                        _ => random.below(8) < density,
                    };
                    if is_kept {
                        members.apply(step);
                    }
                }
                visit(&self.arrangement.join(&members));
                images += 1;
            }
        };
        for step in &disk.steps {
            if !matches!(step, MemberStep::Flush(_) | MemberStep::Sync) {
                pending.extend(step.pieces());
                continue;
            }
            try_some(&durable, &pending);
            pending.retain(|change| {
                let is_settled = step.settles(change);
                if is_settled {
                    durable.apply(change);
                }
                !is_settled
            });
        }
        try_some(&durable, &pending);
        images
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn member(&self, member: usize) -> RecordedMember {
        let file = self.disk().now.names.get(&member).copied().unwrap_or(member);
        RecordedMember { all: self.clone(), file }
    }
}

impl Disk {
    /// Applies and records `step`, or fails as configured.
    fn change(&mut self, step: &MemberStep) -> io::Result<()> {
        let number = self.changes;
        self.changes += 1;
        let fails = |failure: &Failure| number == failure.at || (failure.stays && number > failure.at);
        let failure = self.failure.filter(fails);
        let mut arrived = step.pieces();
        if let Some(Failure { written, .. }) = failure {
            arrived.truncate(match (step, written) {
                (MemberStep::Write { .. }, Written::All) => arrived.len(),
                (MemberStep::Write { .. }, Written::HalfOfItsSectors) => arrived.len() / 2,
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

impl Folder for RecordedMembers {
    fn create(&self, member: usize) -> io::Result<Arc<dyn Medium>> {
        let mut disk = self.disk();
        if let Some(file) = disk.now.names.get(&member).copied() {
            disk.change(&MemberStep::SetLen(file, 0))?;
        } else {
            let file = FIRST_NEW + disk.changes;
            disk.change(&MemberStep::Create { member, file })?;
        }
        drop(disk);
        Ok(Arc::new(self.member(member)))
    }

    fn remove(&self, member: usize) {
        let mut disk = self.disk();
        assert!(disk.now.content(member).is_empty(), "only members without bytes are removed");
        // A failure leaves an empty file.
        let _ = disk.change(&MemberStep::Remove(member));
    }

    fn clear(&self, member: usize) -> io::Result<()> {
        let mut disk = self.disk();
        let Some(file) = disk.now.names.get(&member).copied() else { return Ok(()) };
        disk.change(&MemberStep::SetLen(file, 0))?;
        let _ = disk.change(&MemberStep::Remove(member));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.disk().change(&MemberStep::Sync)
    }
}

impl Names for RecordedMembers {
    fn sync(&self) -> io::Result<()> {
        self.disk().change(&MemberStep::Sync)
    }
}

#[derive(Debug)]
struct RecordedMember {
    all: RecordedMembers,
    file: usize,
}

impl RecordedMember {
    fn memory(&self) -> Memory {
        Memory::new(self.all.disk().now.files.get(&self.file).cloned().unwrap_or_default())
    }
}

impl Driver for RecordedMember {
    fn len(&self) -> io::Result<u64> {
        Ok(self.all.disk().now.files.get(&self.file).map_or(0, Vec::len) as u64)
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()> {
        self.memory().read_at(offset, dst)
    }

    fn write_at(&self, offset: u64, src: &[u8]) -> io::Result<()> {
        let offset = usize::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge)?;
        if let Arrangement::Family { size } = self.all.arrangement {
            assert!(offset + src.len() <= size, "a write inside the member");
        }
        self.all.disk().change(&MemberStep::Write { file: self.file, offset, bytes: src.to_vec() })
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).map_err(|_| io::ErrorKind::FileTooLarge)?;
        if self.len()? == len as u64 {
            return Ok(());
        }
        self.all.disk().change(&MemberStep::SetLen(self.file, len))
    }

    fn flush(&self, _closing: bool) -> io::Result<()> {
        self.all.disk().change(&MemberStep::Flush(self.file))
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities::new("custom", self.memory().capabilities().hints)
    }
}

impl Medium for RecordedMember {}

/// The first bytes of the image of a split file.
const MARK: &[u8] = b"split file";
/// The least number of a file that is not there at first.
const FIRST_NEW: usize = 1 << 20;
/// The number of bytes that a medium writes atomically.
const SECTOR: usize = 512;
