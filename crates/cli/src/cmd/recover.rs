//! `hyperslab recover`: repairs a file after a crash.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use hyperslab::File;
use hyperslab::driver::{Create, Driver, Members, Posix};
use hyperslab_check::{CheckOptions, Severity, check};
use hyperslab_remote::is_url;
use hyperslab_store::Store;
use hyperslab_store::commit::recovery::{Action, Report, Seal, Trailer, inspect};
use hyperslab_store::commit::writer_mark::{self, Unmarked};

use crate::error::{self, Usage};
use crate::place;
use crate::show::{counted, plain};

/// Finish or undo what a crash interrupted
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hyperslab recover --dry-run climate.h5
  hyperslab recover climate.h5

A program that dies during a commit leaves either the old or the new state of the file, but it may leave
a guard on the superblock, so that other programs refuse the file. hyperslab reads such a file without
recovery. This command writes the state that hyperslab reads into the file. Until it ends, no other
program may have the file open for writing.

A program that writes while others read (SWMR) marks the file, and leaves the mark if it dies. This command
checks the file and takes the mark away, unless it is not sound or a process has it open for writing. A
writer on another machine, of another user or outside Linux is only noticed if it holds a lock; a SWMR
writer holds none.")]
pub(crate) struct Args {
    /// The HDF5 file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print what would be done, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    let path = &args.file;
    if path.to_str().is_some_and(is_url) {
        let why = "a file on a server cannot be changed: download it, and recover the copy";
        return Err(Usage(format!("{}: {why}", place::shown(path))).into());
    }
    let report = inspected(path, false)?.1;
    let shown = plain(&path.display().to_string());
    writeln!(out, "{shown}: {}", found(&report))?;
    let is_marked = writer_mark::is_marked(report.superblock());
    if is_marked {
        writeln!(out, "  marked as open for writing: a program is writing it, or died")?;
    }
    if let Some(why) = report.refusal {
        bail!("{shown}: cannot be recovered: {why}");
    }
    let (needed, found) = (report.superblock().end_of_file(), report.view_len());
    if needed > found && !report.superblock().is_marked_swmr() {
        writeln!(out, "  {}", error::CutShort { needed, found })?;
        writeln!(out, "{}", rescue(&shown, needed))?;
        bail!("{shown}: cannot be recovered: the end of the file is missing");
    }
    if report.action != Action::Nothing || !is_marked {
        if report.action == Action::Nothing || args.dry_run {
            writeln!(out, "  {}", todo(&report))?;
        } else {
            let (driver, report) = inspected(path, true)?;
            Store::recover(&driver, &report).with_context(|| shown.clone())?;
            writeln!(out, "  done: {}", todo(&report))?;
        }
    }
    if is_marked { unmark(path, &shown, args.dry_run, out) } else { Ok(()) }
}

/// Takes away the mark of a program that died, if the file is sound.
fn unmark(path: &Path, shown: &str, dry_run: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    const KEPT: &str = "the mark stays";
    if Members::found(path).is_some() {
        bail!("{shown}: {KEPT}: the file has several members, and `h5clear -s` takes away their mark");
    }
    let opened = if dry_run { Posix::open(path) } else { Posix::open_writable(path, Create::No) };
    let opened = opened.map_err(hyperslab::Error::io("open", 0, 0));
    let medium = opened.map_err(|error| error::opening(path, error)).context(KEPT)?;
    if let Some(who) = medium.writers() {
        bail!("{shown}: {KEPT}: {who} has the file open for writing");
    }
    let medium: Arc<dyn Driver> = Arc::new(medium);
    let report = inspect(&*medium).map_err(|error| error::opening(path, error))?;
    let mut errors = 0;
    for state in Unmarked::states(&report) {
        let view = state.view(report.view(Arc::clone(&medium)));
        let checked = check(view, &CheckOptions::default(), &mut |_| {});
        let checked = checked.map_err(|error| error::opening(path, error))?;
        if checked.is_sound() {
            if !dry_run {
                state.write(&*medium).with_context(|| shown.to_owned())?;
            }
            let done = if dry_run { "" } else { "done: " };
            writeln!(
                out,
                "  {done}take away the mark: the file is sound, and no program has it open for writing"
            )?;
            return Ok(());
        }
        errors = checked.count(Severity::Error);
    }
    bail!(
        "{shown}: {KEPT}: the file has {}, which `hyperslab check` lists (`h5clear -s` takes away the mark all the \
         same)",
        counted(errors, "error")
    );
}

/// Says what can be done with a file whose end is missing.
fn rescue(shown: &str, needed: u64) -> String {
    format!(
        "  there is nothing to finish or undo: copy the file again from where \
         it is complete\n  \
         to read the part that is here, lengthen a copy: `cp {shown} part.h5 && truncate -s {needed} part.h5`; \
         `hyperslab check --data part.h5` then lists the damage, and missing elements read as zeros"
    )
}

fn inspected(path: &Path, write: bool) -> anyhow::Result<(Arc<dyn Driver>, Report)> {
    let driver = opened(path, write).map_err(|error| error::opening(path, error))?;
    let report = inspect(&*driver).map_err(|error| error::opening(path, error))?;
    Ok((driver, report))
}

fn opened(path: &Path, write: bool) -> hyperslab::Result<Arc<dyn Driver>> {
    if let Some(members) = Members::found(path) {
        return File::options().members(members).write(write).medium(path);
    }
    let opened = if write {
        OpenOptions::new().read(true).write(true).open(path).map(Posix::new)
    } else {
        Posix::open(path)
    };
    opened.map(|driver| Arc::new(driver) as _).map_err(hyperslab::Error::io("open", 0, 0))
}

/// Describes the state of the file.
fn found(report: &Report) -> String {
    if (report.seal, report.trailer) == (Seal::Before, Trailer::Absent) {
        return "no transaction was interrupted".to_owned();
    }
    let journal = match report.trailer {
        Trailer::Absent => "no journal",
        Trailer::Torn => "an incomplete journal",
        Trailer::Whole => "a complete journal",
    };
    let superblock = match report.seal {
        Seal::Before => "the superblock from before the transaction",
        Seal::Guarded => "a guarded superblock, which other programs refuse",
        Seal::After => "the superblock from after the transaction",
        Seal::Torn => "a half-written superblock",
        Seal::Foreign => "a superblock unknown to the journal",
    };
    format!("{journal}, {superblock}")
}

/// Describes the action to take, or the action taken.
fn todo(report: &Report) -> String {
    match report.action {
        Action::Nothing => "nothing to do".to_owned(),
        Action::DropTail => format!("cut off the remains of a transaction, to {} bytes", report.len_bytes()),
        Action::Unguard => "undo a transaction that has not overwritten anything yet".to_owned(),
        Action::Redo => {
            let number = report.transaction().unwrap_or_default();
            let overwrites = counted(report.overwrites() as u64, "overwrite");
            format!("finish transaction {number} ({overwrites})")
        }
        Action::Refuse => "leave the file unchanged".to_owned(),
    }
}
