//! `hyperslab vol`: the plug-in for libhdf5.

use std::env::{self, consts};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process;

use anyhow::Context as _;

use crate::error::Usage;

/// Let programs that use libhdf5 read and write with hyperslab
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hyperslab vol -- h5repack -f GZIP=1 in.h5 out.h5
  hyperslab vol --quiet -- python train.py
  export HDF5_PLUGIN_PATH=$(hyperslab vol --path) HDF5_VOL_CONNECTOR=hyperslab

Programs need libhdf5 1.14 or later. At its end, each process prints how many reads and writes of datasets hyperslab
has done, how many it has left to libhdf5, and why. Set HYPERSLAB_VOL_REPORT to the name of a file to append the same
to it as JSON. HYPERSLAB_THREADS sets the number of threads.")]
pub(crate) struct Args {
    /// Print the folder of the plug-in, for HDF5_PLUGIN_PATH
    #[arg(long, conflicts_with_all = ["quiet", "command"])]
    path: bool,
    /// Print no report at the end
    #[arg(long)]
    quiet: bool,
    /// The program to run, and its arguments
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "path")]
    command: Vec<OsString>,
}

/// The variables of libhdf5, and ours.
const FOLDERS: &str = "HDF5_PLUGIN_PATH";
const CONNECTOR: &str = "HDF5_VOL_CONNECTOR";
const REPORT: &str = "HYPERSLAB_VOL_REPORT";

/// Runs the command. `folder` is where the plug-in is installed, if it is known.
pub(super) fn run(args: &Args, folder: Option<&Path>, out: &mut dyn Write) -> anyhow::Result<u8> {
    let folder = find(folder)?;
    if args.path {
        writeln!(out, "{}", folder.display())?;
        return Ok(crate::OK);
    }
    let Some((program, arguments)) = args.command.split_first() else {
        return Err(Usage("a program to run is missing".to_owned()).into());
    };
    out.flush()?;
    let mut command = process::Command::new(program);
    command.args(arguments).env(FOLDERS, folders(&folder)?).env(CONNECTOR, "hyperslab");
    if args.quiet {
        command.env_remove(REPORT);
    } else if env::var_os(REPORT).is_none() {
        command.env(REPORT, "1");
    }
    let status = command.status().with_context(|| format!("running {}", program.to_string_lossy()))?;
    Ok(code(status))
}

/// Returns the exit code for that of a program: shells add 128 to the number of a signal that ended it.
fn code(status: process::ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return u8::try_from(128 + signal).unwrap_or(u8::MAX);
    }
    status.code().map_or(crate::FAILED, |code| u8::try_from(code).unwrap_or(u8::MAX))
}

/// Returns the folders in which libhdf5 looks for plug-ins: ours, and those that are set, such as those of filters.
fn folders(ours: &Path) -> anyhow::Result<OsString> {
    let set = env::var_os(FOLDERS);
    let set = set.iter().flat_map(env::split_paths);
    Ok(env::join_paths(std::iter::once(ours.to_owned()).chain(set))?)
}

/// Returns the folder of the plug-in: where it is installed, or beside this program.
fn find(installed: Option<&Path>) -> anyhow::Result<PathBuf> {
    let file = format!("{}hyperslab_vol{}", consts::DLL_PREFIX, consts::DLL_SUFFIX);
    let program = env::current_exe().ok();
    let beside = program.as_deref().and_then(Path::parent);
    let candidates = installed.map(Path::to_owned).into_iter().chain(beside.map(|folder| folder.join("vol")));
    let candidates: Vec<PathBuf> = candidates.collect();
    let found = candidates.iter().find(|folder| folder.join(&file).is_file());
    found.cloned().with_context(|| {
        let places: Vec<String> = candidates.iter().map(|folder| folder.display().to_string()).collect();
        format!(
            "the plug-in {file} is not installed (looked in {}): wheels of hyperslab for Linux have it, and in the \
             sources `make vol` builds it",
            places.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_plug_in_is_reported_with_the_places_that_were_looked_at() {
        let error = find(Some(Path::new("/no/such/folder"))).unwrap_err().to_string();
        assert!(error.contains("/no/such/folder") && error.contains("make vol"), "{error}");
    }

    #[test]
    fn the_plug_in_is_found_where_it_is_installed() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("libhyperslab_vol.so"), b"").unwrap();
        if consts::DLL_SUFFIX == ".so" {
            assert_eq!(find(Some(folder.path())).unwrap(), folder.path());
        }
    }
}
