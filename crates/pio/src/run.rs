//! A run: from the folder of its files to the results.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::bail;
use hyperslab_terminal::{progress, text};
use indicatif::ProgressBar;

use crate::error::WrongArgument;
use crate::folder::ScratchFolder;
use crate::measure::Timed;
use crate::mpi;
use crate::plan::Plan;
use crate::processes::{self, Program};

/// What is measured, and where.
#[derive(Debug)]
pub struct Run<'a> {
    /// The cases. If it has no numbers of processes, they are from 1 to the number of processors, or of MPI
    /// ranks.
    pub plan: Plan,
    /// The folder in which a folder for the files is created.
    pub folder: &'a Path,
    /// The number of threads of each process, which the caller has set.
    pub threads: usize,
    /// What starts this program again, if anything does.
    pub program: Option<Program<'a>>,
}

/// What a run has measured.
#[derive(Debug)]
pub struct Results {
    /// The cases.
    pub plan: Plan,
    /// The folder of the files.
    pub folder: PathBuf,
    /// How the ranks are connected.
    pub ranks: &'static str,
    /// All times.
    pub timed: Vec<Timed>,
}

/// What is called with the results, before the files are removed.
pub(crate) type OnResults<'a> = &'a mut dyn FnMut(&Results) -> anyhow::Result<()>;

/// Measures, and calls `report` with the results; with MPI, on rank 0.
///
/// Processes of this machine are started by [`Run::program`], and call [`work`](crate::work). If a launcher of
/// MPI has started this process, all ranks call this function. An argument that is wrong is a
/// [`WrongArgument`].
pub fn run(run: &Run<'_>, report: OnResults<'_>) -> anyhow::Result<()> {
    if is_launched() {
        return mpi::run(run, report);
    }
    if let Some(api) = run.plan.apis.iter().find(|api| api.needs_mpi()) {
        return Err(WrongArgument(format!("--api {}: {}", api.name(), mpi::how())).into());
    }
    let Some(program) = run.program else { bail!("this program does not say how it is started again") };
    let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get) as u64;
    let plan = run.plan.up_to(processors);
    plan.check()?;
    let folder = ScratchFolder::create(run.folder, plan.keeps)?;
    plan.check_space(&folder.path)?;
    let bar = bar(&plan)?;
    let mut timed = Vec::new();
    for &processes in &plan.processes {
        let size = usize::try_from(processes)?;
        processes::measure(program, &folder.path, size, |one| {
            advance(&bar, &one);
            timed.push(one);
        })?;
    }
    bar.finish_and_clear();
    let ranks = "processes of this machine, connected by sockets";
    report(&Results { plan, folder: folder.path.clone(), ranks, timed })
}

/// Returns whether a launcher of MPI has started this process as a rank.
pub fn is_launched() -> bool {
    LAUNCHERS.iter().any(|name| std::env::var_os(name).is_some())
}

/// Variables that launchers of MPI set for each rank: Open MPI, MPICH, and those with `PMIx`.
const LAUNCHERS: [&str; 3] = ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"];

pub(crate) fn bar(plan: &Plan) -> anyhow::Result<ProgressBar> {
    progress::bar("{bar:40} {pos} of {len}, {msg}, {eta} left", Some(plan.steps()))
}

/// Shows that an iteration is done.
pub(crate) fn advance(bar: &ProgressBar, done: &Timed) {
    let transfer = text::bytes(done.case.transfer);
    bar.set_message(format!("{} with {} x {transfer}", done.api.name(), done.case.processes));
    bar.inc(1);
}
