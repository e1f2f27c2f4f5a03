//! A driver that records every write, to rebuild every image of the file that a crash could have left.

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use hyperslab::driver::{Capabilities, Driver, Memory};

use crate::fuzz::Random;

/// A file in memory that records its changes and can simulate failures.
#[derive(Debug)]
pub struct CrashDriver {
    start: Vec<u8>,
    inner: Memory,
    steps: Mutex<Vec<Step>>,
    failure: Option<Failure>,
    changes: AtomicUsize,
    /// The largest length that the file may have.
    room: AtomicU64,
    /// The number of changes that exceeded the room.
    has_been_full: AtomicUsize,
}

/// A recorded change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A write.
    Write {
        /// The offset of the write.
        offset: u64,
        /// The written bytes.
        bytes: Vec<u8>,
    },
    /// A change of length.
    SetLen(u64),
    /// A flush.
    Flush,
}

/// When and how a driver fails.
#[derive(Debug, Clone, Copy)]
pub struct Failure {
    /// The number of the change that fails, counted from 0. Writes, changes of length and flushes count.
    pub at: usize,
    /// Whether all later changes fail, too.
    pub stays: bool,
    /// The part of a failing write that reaches the medium.
    pub written: Written,
}

/// The part of a write that reaches the medium when the write fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// Nothing.
    Nothing,
    /// The first half of its sectors.
    HalfOfItsSectors,
    /// The whole write.
    All,
}

impl CrashDriver {
    /// Creates a file with these bytes, all of them durable.
    pub fn new(image: Vec<u8>) -> Self {
        Self {
            start: image.clone(),
            inner: Memory::new(image),
            steps: Mutex::default(),
            failure: None,
            changes: AtomicUsize::new(0),
            room: AtomicU64::new(u64::MAX),
            has_been_full: AtomicUsize::new(0),
        }
    }

    /// Creates a file that fails as `failure` states.
    pub fn failing(image: Vec<u8>, failure: Failure) -> Self {
        Self { failure: Some(failure), ..Self::new(image) }
    }

    /// Creates a file on a disk that has room for at most `len` bytes.
    pub fn with_room(image: Vec<u8>, len: u64) -> Self {
        Self { room: AtomicU64::new(len), ..Self::new(image) }
    }

    /// Removes the limit on the length of the file.
    pub fn make_room(&self) {
        self.room.store(u64::MAX, Ordering::Relaxed);
    }

    /// Returns whether any change has exceeded the room.
    pub fn has_been_full(&self) -> bool {
        self.has_been_full.load(Ordering::Relaxed) > 0
    }

    /// Returns the current bytes of the file.
    pub fn image(&self) -> Vec<u8> {
        self.inner.bytes()
    }

    /// Returns the recorded changes.
    pub fn into_recording(self) -> Recording {
        let steps = self.steps.into_inner().unwrap_or_else(PoisonError::into_inner);
        Recording { start: self.start, steps }
    }

    /// Returns whether the failure has happened.
    pub fn has_failed(&self) -> bool {
        self.failure.is_some_and(|failure| self.changes.load(Ordering::Relaxed) > failure.at)
    }

    /// Applies and records `step`. If there is not enough room, writes the part that fits and fails.
    fn change_within_room(&self, step: Step) -> io::Result<()> {
        let room = self.room.load(Ordering::Relaxed);
        let fits = match &step {
            Step::Write { offset, bytes } => room.saturating_sub(*offset) >= bytes.len() as u64,
            Step::SetLen(len) => *len <= room,
            Step::Flush => true,
        };
        if fits {
            return self.change(step);
        }
        self.has_been_full.fetch_add(1, Ordering::Relaxed);
        if let Step::Write { offset, mut bytes } = step {
            bytes.truncate(usize::try_from(room.saturating_sub(offset)).unwrap_or(usize::MAX));
            if !bytes.is_empty() {
                self.change(Step::Write { offset, bytes })?;
            }
        }
        Err(io::ErrorKind::StorageFull.into())
    }

    /// Applies and records `step`, or fails as configured.
    fn change(&self, step: Step) -> io::Result<()> {
        let number = self.changes.fetch_add(1, Ordering::Relaxed);
        let fails = |failure: &Failure| number == failure.at || (failure.stays && number > failure.at);
        let failure = self.failure.as_ref().filter(|failure| fails(failure));
        let mut arrived = pieces(&step);
        if let Some(Failure { written, .. }) = failure {
            arrived.truncate(match (&step, written) {
                (Step::Write { .. }, Written::All) => arrived.len(),
                (Step::Write { .. }, Written::HalfOfItsSectors) => arrived.len() / 2,
                _ => 0,
            });
        }
        for piece in &arrived {
            match piece {
                Step::Write { offset, bytes } => self.inner.write_at(*offset, bytes)?,
                Step::SetLen(len) => self.inner.set_len(*len)?,
                Step::Flush => {}
            }
        }
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        if failure.is_none() {
            steps.push(step);
        } else {
            steps.extend(arrived);
        }
        if failure.is_some() { Err(io::Error::other("the medium failed")) } else { Ok(()) }
    }
}

impl Driver for CrashDriver {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()> {
        self.inner.read_at(offset, dst)
    }

    fn write_at(&self, offset: u64, src: &[u8]) -> io::Result<()> {
        self.change_within_room(Step::Write { offset, bytes: src.to_vec() })
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change_within_room(Step::SetLen(len))
    }

    /// A flush that closes the file does nothing: closing makes no more bytes durable.
    fn flush(&self, closing: bool) -> io::Result<()> {
        if closing { Ok(()) } else { self.change(Step::Flush) }
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities::new("custom", self.inner.capabilities().hints)
    }
}

/// A file and the changes made to it.
#[derive(Debug, Clone)]
pub struct Recording {
    start: Vec<u8>,
    steps: Vec<Step>,
}

/// The number of images to try after a loss of power.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// The largest number of pieces of which every subset is tried.
    pub exhaustive: usize,
    /// The number of random subsets for more pieces. Each single piece and each set of all pieces but one is
    /// tried, too.
    pub samples: usize,
}

impl Effort {
    /// Takes seconds for a commit.
    pub const THOROUGH: Self = Self { exhaustive: 10, samples: 300 };
}

/// The number of images tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of epochs, which are the intervals between flushes.
    pub epochs: usize,
    /// The number of epochs of which every subset was tried.
    pub exhaustive: usize,
    /// The total number of images.
    pub images: usize,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { epochs, exhaustive, images } = self;
        write!(f, "{images} images of {epochs} epochs, {exhaustive} of them exhaustively")
    }
}

impl Recording {
    /// Returns the number of flushes.
    pub fn flushes(&self) -> usize {
        self.steps.iter().filter(|step| **step == Step::Flush).count()
    }

    /// Returns the final image of the file.
    pub fn last_image(&self) -> Vec<u8> {
        let mut image = self.start.clone();
        self.steps.iter().for_each(|step| apply(&mut image, step));
        image
    }

    /// Returns a driver with the first `count` changes applied, as if the program had died there. The death
    /// of a program makes nothing more durable.
    pub fn replayed(&self, count: usize) -> CrashDriver {
        let driver = CrashDriver::new(self.start.clone());
        for step in self.steps.iter().take(count) {
            driver.change(step.clone()).expect("the driver is not configured to fail");
        }
        driver
    }

    /// Returns the number of changes, including flushes.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Returns whether the file was not changed.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Returns the recording without flush `number`, counted from 0.
    #[must_use]
    pub fn without_flush(&self, number: usize) -> Self {
        let mut changed = self.clone();
        let mut flushes = 0;
        changed.steps.retain(|step| {
            flushes += usize::from(*step == Step::Flush);
            *step != Step::Flush || flushes != number + 1
        });
        changed
    }

    /// Calls `visit` with every image that the death of the program can leave. Writes keep their order, and
    /// the last write may be torn.
    pub fn after_kill(&self, mut visit: impl FnMut(&[u8])) -> Counts {
        let mut counts = Counts { epochs: 1, exhaustive: 1, images: 1 };
        let mut image = self.start.clone();
        visit(&image);
        let changes = self.steps.iter().filter(|step| **step != Step::Flush);
        for piece in changes.flat_map(pieces) {
            apply(&mut image, &piece);
            visit(&image);
            counts.images += 1;
        }
        counts
    }

    /// Calls `visit` with images that a loss of power can leave, and the number of the epoch of each. An
    /// image has all flushed changes and a subset of the pieces written since then. Up to ten pieces, every
    /// subset is tried; for more pieces, `seed` determines random subsets.
    pub fn after_power_loss(&self, seed: u64, visit: impl FnMut(usize, &[u8])) -> Counts {
        self.after_power_loss_with(seed, Effort::THOROUGH, visit)
    }

    /// Like [`after_power_loss`](Self::after_power_loss), with the given effort.
    pub fn after_power_loss_with(
        &self,
        seed: u64,
        effort: Effort,
        mut visit: impl FnMut(usize, &[u8]),
    ) -> Counts {
        let mut counts = Counts::default();
        let mut random = Random::new(seed);
        let mut durable = self.start.clone();
        for (number, epoch) in self.steps.split(|step| *step == Step::Flush).enumerate() {
            let pieces: Vec<Step> = epoch.iter().flat_map(pieces).collect();
            let mut try_subset = |chosen: &dyn Fn(usize) -> bool| {
                let mut image = durable.clone();
                let kept = pieces.iter().enumerate().filter(|(i, _)| chosen(*i));
                kept.for_each(|(_, piece)| apply(&mut image, piece));
                visit(number, &image);
                counts.images += 1;
            };
            if pieces.len() <= effort.exhaustive {
                (0..1_u64 << pieces.len()).for_each(|set| try_subset(&|i| set >> i & 1 == 1));
                counts.exhaustive += 1;
            } else {
                try_subset(&|_| false);
                try_subset(&|_| true);
                for lonely in 0..pieces.len() {
                    try_subset(&|i| i == lonely);
                    try_subset(&|i| i != lonely);
                }
                for _ in 0..effort.samples {
                    let density = 1 + random.below(7);
                    let chosen: Vec<bool> = pieces.iter().map(|_| random.below(8) < density).collect();
                    try_subset(&|i| chosen.get(i).is_some_and(|&chosen| chosen));
                }
            }
            counts.epochs += 1;
            for piece in &pieces {
                apply(&mut durable, piece);
            }
        }
        counts
    }
}

/// Returns the parts of a change that reach the medium independently: the sectors of a write.
fn pieces(step: &Step) -> Vec<Step> {
    let Step::Write { offset, bytes } = step else { return vec![step.clone()] };
    let mut pieces = Vec::new();
    let (mut at, mut rest) = (*offset, bytes.as_slice());
    while !rest.is_empty() {
        let room = SECTOR - at % SECTOR;
        let take = usize::try_from(room).unwrap_or(usize::MAX).min(rest.len());
        let (sector, after) = rest.split_at(take);
        pieces.push(Step::Write { offset: at, bytes: sector.to_vec() });
        at += take as u64;
        rest = after;
    }
    pieces
}

/// Applies `step` to an image in memory.
fn apply(image: &mut Vec<u8>, step: &Step) {
    let size = |offset: u64| usize::try_from(offset).expect("files are in memory");
    match step {
        Step::Write { offset, bytes } => {
            let range = size(*offset)..size(*offset) + bytes.len();
            if image.len() < range.end {
                image.resize(range.end, 0);
            }
            image[range].copy_from_slice(bytes);
        }
        Step::SetLen(len) => image.resize(size(*len), 0),
        Step::Flush => {}
    }
}

/// The number of bytes that a medium writes atomically.
const SECTOR: u64 = 512;

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded() -> Recording {
        let driver = CrashDriver::new(vec![0; 1024]);
        driver.write_at(500, &[1; 24]).unwrap();
        driver.flush(false).unwrap();
        driver.write_at(0, &[2]).unwrap();
        driver.set_len(600).unwrap();
        driver.into_recording()
    }

    #[test]
    fn a_kill_leaves_prefixes_of_the_writes_cut_at_sectors() {
        let mut seen = Vec::new();
        recorded().after_kill(|image| seen.push((image[0], image[511], image[512], image.len())));
        let expected = [(0, 0, 0, 1024), (0, 1, 0, 1024), (0, 1, 1, 1024), (2, 1, 1, 1024), (2, 1, 1, 600)];
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_power_loss_leaves_any_subset_of_the_writes_since_the_last_flush() {
        let mut seen = Vec::new();
        let counts = recorded().after_power_loss(1, |epoch, image| {
            seen.push((epoch, image[0], image[511], image[512], image.len()));
        });
        seen.sort_unstable();
        let first =
            [(0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 1, 0), (0, 0, 1, 1)].map(|(e, a, b, c)| (e, a, b, c, 1024));
        let second = [(1, 0, 1, 1, 600), (1, 0, 1, 1, 1024), (1, 2, 1, 1, 600), (1, 2, 1, 1, 1024)];
        assert_eq!(seen, [first, second].concat());
        assert_eq!(counts, Counts { epochs: 2, exhaustive: 2, images: 8 });
        assert_eq!(recorded().without_flush(0).after_power_loss(1, |_, _| {}).images, 16);
    }

    #[test]
    fn a_write_to_a_full_disk_stores_the_bytes_that_fit() {
        let driver = CrashDriver::with_room(vec![0; 10], 12);
        driver.write_at(4, &[1; 8]).unwrap();
        assert!(!driver.has_been_full());
        assert_eq!(driver.write_at(8, &[2; 8]).unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(driver.set_len(13).unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert!(driver.has_been_full());
        driver.make_room();
        driver.write_at(12, &[3]).unwrap();
        assert_eq!(driver.into_recording().last_image(), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3]);
    }

    #[test]
    fn a_failing_medium_may_have_written_some_sectors() {
        for (written, expected) in [
            (Written::Nothing, [1, 0, 0, 0]),
            (Written::HalfOfItsSectors, [1, 0, 2, 0]),
            (Written::All, [1, 0, 2, 2]),
        ] {
            let failure = Failure { at: 1, stays: false, written };
            let driver = CrashDriver::failing(vec![0; 1024], failure);
            driver.write_at(0, &[1]).unwrap();
            assert!(!driver.has_failed());
            assert!(driver.write_at(510, &[2; 4]).is_err());
            driver.set_len(514).unwrap();
            let image = driver.into_recording().last_image();
            assert_eq!([image[0], image[1], image[511], image[513]], expected);
        }
    }
}
