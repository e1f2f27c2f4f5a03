//! The ranks of MPI, when mpirun has started the command.

use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use hyperslab::driver::Create;
use hyperslab::{File, Ranks};
use hyperslab_mpio::mpi::topology::{Color, SimpleCommunicator};
use hyperslab_mpio::mpi::traits::{Communicator as _, CommunicatorCollectives as _};
use hyperslab_mpio::mpi::{self, Threading};
use hyperslab_mpio::raw::CommonFile;
use hyperslab_mpio::{Communicator, MpiFile};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::access::{Api, AtPath, FileAccess, Hdf5, Hdf5Medium, OpenedFile, Posix, Raw, RawFile};
use super::folder::{self, ScratchFolder};
use super::measure::{Failed, Timed, agree, measure};
use super::plan::Plan;
use super::sizes::Doublings;
use super::{Args, advance, bar};
use crate::error::{Usage, message};
use crate::{FAILED, OK};

/// How to get the APIs of MPI.
pub(super) fn how() -> String {
    "start the command with mpirun, as in `mpirun -n 4 hyperslab pio --api mpiio`".to_owned()
}

/// Measures as one of the ranks. Rank 0 writes the results, and the error if there is one.
pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<u8> {
    let level = if args.threads.get() > 1 { Threading::Multiple } else { Threading::Funneled };
    let (universe, provided) = mpi::initialize_with_threading(level).context("MPI is initialized already")?;
    let world = universe.world();
    if provided < level {
        return Err(
            Usage("--threads: this MPI has no threads that call it at the same time".to_owned()).into()
        );
    }
    // A rank that panics would leave the others waiting for it.
    let done = panic::catch_unwind(AssertUnwindSafe(|| work(args, &world, out)));
    let Ok(done) = done else { world.abort(FAILED.into()) };
    match done {
        Ok(()) => Ok(OK),
        // All ranks have been told. If another one returned a failure, mpirun might end rank 0 before it has
        // written the error.
        Err(error) if error.is::<Failed>() || error.is::<Usage>() => {
            if world.rank() == 0 {
                Err(error)
            } else {
                Ok(OK)
            }
        }
        Err(error) => {
            eprintln!("hyperslab: rank {}: {}", world.rank(), message(&error));
            world.abort(FAILED.into())
        }
    }
}

fn work(args: &Args, world: &SimpleCommunicator, out: &mut dyn Write) -> anyhow::Result<()> {
    let all = Communicator::new(world)?;
    let is_first = all.rank() == 0;
    let size = all.size() as u64;
    let plan = args.plan(&Doublings::between(1, size).0)?;
    plan.check()?;
    if plan.processes.last().is_some_and(|&processes| processes > size) {
        return Err(Usage(format!("--processes: mpirun has started {size}")).into());
    }
    let mut folder = None;
    let made = if is_first {
        let made = ScratchFolder::create(&args.folder, args.keep);
        made.and_then(|made| plan.check_space(&folder.insert(made).path))
    } else {
        Ok(())
    };
    agree(&all, &made.map(|()| 0.0))?;
    let name = folder.as_ref().map(|folder| folder.path.display().to_string()).unwrap_or_default();
    let told = all.all_gather(name.as_bytes())?.swap_remove(0);
    let path = PathBuf::from(String::from_utf8(told).context("the name of the folder is no UTF-8")?);
    if !args.keep {
        remove_on_signals(path.clone())?;
    }
    let bar = if is_first { bar(&plan)? } else { indicatif::ProgressBar::hidden() };
    let mut timed = Vec::new();
    for &processes in &plan.processes {
        let takes_part = (all.rank() as u64) < processes;
        let color = if takes_part { Color::with_value(0) } else { Color::undefined() };
        let done = match world.split_by_color(color) {
            None => Ok(()),
            Some(some) => measure_with(&plan, &path, &some, &mut |one| {
                advance(&bar, &one);
                timed.push(one);
                Ok(())
            }),
        };
        match done {
            Err(error) if !error.is::<Failed>() => return Err(error),
            done => {
                wait_quietly(world);
                agree(&all, &done.map(|()| 0.0))?;
            }
        }
    }
    bar.finish_and_clear();
    match &folder {
        Some(folder) => args.report(&plan, folder, "ranks of MPI", timed, out),
        None => Ok(()),
    }
}

/// Measures with the ranks of a communicator.
fn measure_with(
    plan: &Plan,
    folder: &Path,
    comm: &SimpleCommunicator,
    told: &mut dyn FnMut(Timed) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let comm = Arc::new(Communicator::new(comm)?);
    let ranks: Arc<dyn Ranks> = Arc::clone(&comm) as _;
    let access = |api: &Api| -> Box<dyn FileAccess> {
        let ranks = Arc::clone(&ranks);
        match api {
            Api::Posix => Box::new(Posix),
            Api::Mpiio => Box::new(Mpiio(Arc::clone(&comm))),
            Api::Hyperslab => Box::new(Hdf5 { ranks, medium: AtPath }),
            Api::HyperslabMpiio => Box::new(Hdf5 { ranks, medium: ByMpi }),
        }
    };
    let accesses: Vec<_> = plan.apis.iter().map(access).collect();
    measure(plan, folder, &ranks, &accesses, told)
}

/// MPI's calls, on a file that all ranks open together.
struct Mpiio(Arc<Communicator>);

impl FileAccess for Mpiio {
    fn api(&self) -> Api {
        Api::Mpiio
    }

    fn create(&self, path: &Path, plan: &Plan, processes: u64) -> anyhow::Result<Box<dyn OpenedFile>> {
        let file = CommonFile::open(&self.0, path, true, plan.is_collective).context("create")?;
        Ok(Raw::boxed(Box::new(file), plan, processes, plan.is_collective))
    }

    fn open(&self, path: &Path, plan: &Plan, processes: u64) -> anyhow::Result<Box<dyn OpenedFile>> {
        let file = CommonFile::open(&self.0, path, false, plan.is_collective).context("open")?;
        Ok(Raw::boxed(Box::new(file), plan, processes, plan.is_collective))
    }
}

impl RawFile for CommonFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        CommonFile::write_at(self, offset, bytes)
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        CommonFile::read_at(self, offset, bytes)
    }

    fn close(self: Box<Self>) -> io::Result<()> {
        CommonFile::close(*self)
    }
}

/// HDF5 files by MPI-IO.
struct ByMpi;

impl Hdf5Medium for ByMpi {
    fn api(&self) -> Api {
        Api::HyperslabMpiio
    }

    fn create(&self, path: &Path, ranks: &Arc<dyn Ranks>) -> anyhow::Result<File> {
        let driver = Arc::new(MpiFile::open_together(path, Create::New, &**ranks)?);
        Ok(File::options().create(true).ranks(Arc::clone(ranks)).open_on(driver)?)
    }

    fn open(&self, path: &Path) -> anyhow::Result<File> {
        Ok(File::options().open_on(Arc::new(MpiFile::open(path)?))?)
    }
}

/// Waits for all ranks without using the processor, which those that measure need.
fn wait_quietly(world: &SimpleCommunicator) {
    let mut waiting = Some(world.immediate_barrier());
    while let Some(request) = waiting.take() {
        if let Err(request) = request.test() {
            waiting = Some(request);
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Removes the files when mpirun ends the ranks, because of Ctrl-C or of a rank that has ended.
fn remove_on_signals(path: PathBuf) -> anyhow::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).context("signals")?;
    thread::spawn(move || {
        if signals.forever().next().is_some() {
            folder::remove(&path);
            std::process::exit(FAILED.into());
        }
    });
    Ok(())
}
