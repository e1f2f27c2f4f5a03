//! The measuring: what every process does, and how its times become one.
//!
//! A phase begins when all processes have come to it, and its time is that of the slowest. Bytes are made,
//! compared and removed between the phases.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::bail;
use hyperslab::{Error, Ranks};
use hyperslab_terminal::message::message;

use crate::access::{Api, FileAccess, OpenedFile};
use crate::pattern::Pattern;
use crate::plan::{Plan, TransferCase};

/// The seconds of the phases of a file, or of several files.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Phases {
    /// From the first call to the first transfer.
    pub open: f64,
    /// All transfers.
    pub moving: f64,
    /// From the last transfer to the last call.
    pub close: f64,
}

impl Phases {
    /// Returns the time from opening to closing.
    pub fn whole(&self) -> f64 {
        self.open + self.moving + self.close
    }

    fn add(&mut self, other: &Self) {
        self.open += other.open;
        self.moving += other.moving;
        self.close += other.close;
    }
}

/// What an iteration of a case with an API took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timed {
    /// The case.
    pub case: TransferCase,
    /// How the bytes were moved.
    pub api: Api,
    /// The times of writing.
    pub write: Phases,
    /// The times of reading, unless the plan only writes.
    pub read: Option<Phases>,
}

/// An error of one process, which all processes have been told.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failed {
    pub(crate) rank: usize,
    pub(crate) why: String,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {}: {}", self.rank, self.why)
    }
}

impl std::error::Error for Failed {}

/// Measures all cases with as many processes as there are ranks. Every rank calls this, and gives the same
/// times to `told`.
pub(crate) fn measure(
    plan: &Plan,
    folder: &Path,
    ranks: &Arc<dyn Ranks>,
    accesses: &[Box<dyn FileAccess>],
    told: &mut dyn FnMut(Timed) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let most = usize::try_from(plan.transfers.iter().copied().max().unwrap_or(0))?;
    let mut work = Work { plan, ranks: &**ranks, pattern: Pattern::new(most), buffer: vec![1; most] };
    for &transfer in &plan.transfers {
        let case = TransferCase { processes: ranks.size() as u64, transfer };
        for iteration in 0..plan.iterations {
            // The APIs take turns, so that a slow minute of the machine is not that of one of them.
            let first = usize::try_from(iteration)? % accesses.len().max(1);
            let (before, from) = accesses.split_at(first);
            for access in from.iter().chain(before) {
                let is_last = iteration + 1 == plan.iterations;
                told(work.iteration(case, folder, &**access, plan.keeps && is_last)?)?;
            }
        }
    }
    Ok(())
}

/// What a process works with.
struct Work<'a> {
    plan: &'a Plan,
    ranks: &'a dyn Ranks,
    pattern: Pattern,
    /// The memory for bytes that are read. The system has given it before the first of them.
    buffer: Vec<u8>,
}

impl Work<'_> {
    /// Writes and reads the files of a case once.
    fn iteration(
        &mut self,
        case: TransferCase,
        folder: &Path,
        access: &dyn FileAccess,
        keeps: bool,
    ) -> anyhow::Result<Timed> {
        let api = access.api();
        let mut timed = Timed { case, api, write: Phases::default(), read: None };
        let paths: Vec<_> = (0..self.plan.files).map(|file| case.path(folder, api, file)).collect();
        for path in &paths {
            timed.write.add(&self.write(case, path, access)?);
        }
        if self.plan.reads {
            let mut read = Phases::default();
            for path in &paths {
                read.add(&self.read(case, path, access)?);
            }
            timed.read = Some(read);
        }
        let is_first = self.ranks.rank() == 0;
        let remove = |path| std::fs::remove_file(path);
        let removed = if is_first && !keeps { paths.iter().try_for_each(remove) } else { Ok(()) };
        agree(self.ranks, &removed.map(|()| 0.0).map_err(Into::into))?;
        Ok(timed)
    }

    /// Creates a file, and writes this process's part of each dataset.
    fn write(&self, case: TransferCase, path: &Path, access: &dyn FileAccess) -> anyhow::Result<Phases> {
        let mut opened = None;
        let open = self.timed(path, || {
            opened = Some(access.create(path, self.plan, case.processes)?);
            Ok(())
        })?;
        let Some(mut file) = opened else { bail!("the file is open on other ranks only") };
        let rank = self.ranks.rank() as u64;
        let moving = self.timed(path, || {
            for dataset in 0..self.plan.datasets {
                for (offset, len) in case.places(self.plan, rank) {
                    file.write(dataset, offset, self.pattern.at(dataset, offset, len))?;
                }
            }
            file.settle()
        })?;
        let close = self.timed(path, || file.close())?;
        Ok(Phases { open, moving, close })
    }

    /// Opens a file, and reads this process's part of each dataset.
    fn read(&mut self, case: TransferCase, path: &Path, access: &dyn FileAccess) -> anyhow::Result<Phases> {
        let mut opened = None;
        let open = self.timed(path, || {
            opened = Some(access.open(path, self.plan, case.processes)?);
            Ok(())
        })?;
        let Some(mut file) = opened else { bail!("the file is open on other ranks only") };
        let (plan, rank) = (self.plan, self.ranks.rank() as u64);
        let mut buffer = std::mem::take(&mut self.buffer);
        let moving = self.timed(path, || {
            for dataset in 0..plan.datasets {
                for (offset, len) in case.places(plan, rank) {
                    file.read(dataset, offset, &mut buffer[..len])?;
                }
            }
            file.settle()
        })?;
        if plan.verifies {
            let verified = self.verify(case, &mut *file, &mut buffer);
            let verified = verified.map_err(|error| error.context(path.display().to_string()));
            agree(self.ranks, &verified.map(|()| 0.0))?;
        }
        self.buffer = buffer;
        let close = self.timed(path, || file.close())?;
        Ok(Phases { open, moving, close })
    }

    /// Reads again, and compares the bytes.
    fn verify(&self, case: TransferCase, file: &mut dyn OpenedFile, buffer: &mut [u8]) -> anyhow::Result<()> {
        let mut differs = None;
        for dataset in 0..self.plan.datasets {
            for (offset, len) in case.places(self.plan, self.ranks.rank() as u64) {
                file.read(dataset, offset, &mut buffer[..len])?;
                let expected = self.pattern.at(dataset, offset, len);
                let wrong = buffer[..len].iter().zip(expected).position(|(found, wanted)| found != wanted);
                // Reads of all processes together go on.
                differs = differs.or_else(|| wrong.map(|at| (dataset, offset + at as u64)));
            }
        }
        file.settle()?;
        match differs {
            Some((dataset, place)) => bail!("byte {place} of dataset {dataset} is not what was written"),
            None => Ok(()),
        }
    }

    /// Does the work of all processes at the same time. Returns the seconds of the slowest.
    fn timed(&self, path: &Path, work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<f64> {
        self.ranks.all_gather(&[])?;
        let begun = Instant::now();
        let done = work();
        let seconds = begun.elapsed().as_secs_f64();
        let done = done.map_err(|error| error.context(path.display().to_string()));
        agree(self.ranks, &done.map(|()| seconds))
    }
}

/// Waits for all processes. Returns the greatest number of any, or the error of one of them.
pub(crate) fn agree(ranks: &dyn Ranks, mine: &anyhow::Result<f64>) -> anyhow::Result<f64> {
    let mine = match mine {
        Ok(seconds) => [[DONE].as_slice(), &seconds.to_le_bytes()].concat(),
        Err(error) => {
            let kind = if is_echo(error) { ECHO } else { FAILED };
            let (rank, why) = match error.downcast_ref::<Failed>() {
                Some(Failed { rank, why }) => (*rank, why.clone()),
                None => (ranks.rank(), message(error)),
            };
            [[kind].as_slice(), &(rank as u64).to_le_bytes(), why.as_bytes()].concat()
        }
    };
    let told = ranks.all_gather(&mine)?;
    // The error that another process tells of comes first.
    for kind in [FAILED, ECHO] {
        let found = told.iter().find_map(|bytes| bytes.strip_prefix(&[kind])?.split_first_chunk());
        if let Some((rank, why)) = found {
            let rank = usize::try_from(u64::from_le_bytes(*rank))?;
            return Err(Failed { rank, why: String::from_utf8_lossy(why).into_owned() }.into());
        }
    }
    let mut greatest = 0.0_f64;
    for bytes in &told {
        let Some(seconds) = bytes.get(1..).and_then(|bytes| bytes.try_into().ok()) else {
            bail!("a process does something else: do all run the same version?");
        };
        greatest = greatest.max(f64::from_le_bytes(seconds));
    }
    Ok(greatest)
}

/// Returns whether an error only says that another process has failed.
fn is_echo(error: &anyhow::Error) -> bool {
    let found = error.chain().find_map(|cause| cause.downcast_ref::<Error>());
    found.is_some_and(|error| matches!(error.root(), Error::OtherRank { .. }))
}

const DONE: u8 = 0;
const FAILED: u8 = 1;
const ECHO: u8 = 2;
