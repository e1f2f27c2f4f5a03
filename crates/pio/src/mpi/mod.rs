//! The ranks of MPI, when mpirun has started the command.

mod access;

use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use hyperslab::Ranks;
use hyperslab_mpio::Communicator;
use hyperslab_mpio::mpi::topology::{Color, SimpleCommunicator};
use hyperslab_mpio::mpi::traits::{Communicator as _, CommunicatorCollectives as _};
use hyperslab_mpio::mpi::{self, Threading};
use hyperslab_terminal::message::message;
use indicatif::ProgressBar;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use self::access::{ByMpi, Mpiio};
use crate::access::{Api, AtPath, FileAccess, Hdf5, Posix};
use crate::error::WrongArgument;
use crate::folder::{self, ScratchFolder};
use crate::measure::{Failed, Timed, agree, measure};
use crate::plan::Plan;
use crate::run::{OnResults, Results, Run, advance, bar};
use crate::worker::FAILED;

/// How to get the APIs of MPI.
pub(crate) fn how() -> String {
    "start the command with mpirun, as in `mpirun -n 4 hyperslab pio --api mpiio`".to_owned()
}

/// Measures as one of the ranks. Rank 0 writes the results, and the error if there is one.
pub(crate) fn run(run: &Run<'_>, report: OnResults<'_>) -> anyhow::Result<()> {
    let level = if run.threads > 1 { Threading::Multiple } else { Threading::Funneled };
    let (universe, provided) = mpi::initialize_with_threading(level).context("MPI is initialized already")?;
    let world = universe.world();
    if provided < level {
        return Err(WrongArgument(
            "--threads: this MPI has no threads that call it at the same time".to_owned(),
        )
        .into());
    }
    // A rank that panics would leave the others waiting for it.
    let done = panic::catch_unwind(AssertUnwindSafe(|| work(run, &world, report)));
    let Ok(done) = done else { world.abort(FAILED) };
    match done {
        Ok(()) => Ok(()),
        // All ranks have been told. If another one returned a failure, mpirun might end rank 0 before it has
        // written the error.
        Err(error) if error.is::<Failed>() || error.is::<WrongArgument>() => {
            if world.rank() == 0 {
                Err(error)
            } else {
                Ok(())
            }
        }
        Err(error) => {
            eprintln!("hyperslab: rank {}: {}", world.rank(), message(&error));
            world.abort(FAILED)
        }
    }
}

fn work(run: &Run<'_>, world: &SimpleCommunicator, report: OnResults<'_>) -> anyhow::Result<()> {
    let all = Communicator::new(world)?;
    let is_first = all.rank() == 0;
    let size = all.size() as u64;
    let plan = run.plan.up_to(size);
    plan.check()?;
    if plan.processes.last().is_some_and(|&processes| processes > size) {
        return Err(WrongArgument(format!("--processes: mpirun has started {size}")).into());
    }
    let mut folder = None;
    let made = if is_first {
        let made = ScratchFolder::create(run.folder, plan.keeps);
        made.and_then(|made| plan.check_space(&folder.insert(made).path))
    } else {
        Ok(())
    };
    agree(&all, &made.map(|()| 0.0))?;
    let name = folder.as_ref().map(|folder| folder.path.display().to_string()).unwrap_or_default();
    let told = all.all_gather(name.as_bytes())?.swap_remove(0);
    let path = PathBuf::from(String::from_utf8(told).context("the name of the folder is no UTF-8")?);
    if !plan.keeps {
        remove_on_signals(path.clone())?;
    }
    let bar = if is_first { bar(&plan)? } else { ProgressBar::hidden() };
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
        Some(folder) => report(&Results { plan, folder: folder.path.clone(), ranks: "ranks of MPI", timed }),
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
            std::process::exit(FAILED);
        }
    });
    Ok(())
}
