//! Ends the process at Ctrl-C, and at the other signals that end programs: removes incomplete files and says
//! what stays.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::Context as _;
use hyperslab::driver::Aside;

use signals::Signals;

#[cfg_attr(not(unix), path = "signals_windows.rs")]
mod signals;

/// What to say about the files that an interrupted command leaves, if anything.
pub type Left = Box<dyn Fn() -> Option<String> + Send>;

/// Waits for signals until it is dropped.
pub struct Watch {
    _signals: Signals,
}

impl Watch {
    /// Begins to wait. `left` says what an interrupted command leaves, apart from the files that are removed.
    pub fn new(left: Left) -> anyhow::Result<Self> {
        let signals = Signals::new(move |signal| end(signal, &left)).context("waiting for Ctrl-C")?;
        Ok(Self { _signals: signals })
    }
}

/// Removes the incomplete files and folders, and ends the process as a shell does after a signal.
fn end(signal: i32, left: &Left) {
    let mut removed = Aside::abandon_all();
    for folder in folders().drain(..) {
        if is_removed(&folder) {
            removed.push(folder);
        }
    }
    let mut told: Vec<String> =
        removed.iter().map(|path| format!("{} was removed", path.display())).collect();
    told.extend(left());
    let told = if told.is_empty() { String::new() } else { format!(": {}", told.join("; ")) };
    // A bar of progress may be on this line. Standard error may be closed.
    let _ = writeln!(std::io::stderr(), "\nhyperslab: interrupted{}", crate::text::plain(&told));
    // Other threads are at work, so nothing but the process itself is ended.
    signal_hook::low_level::exit(SIGNALLED + signal)
}

/// A folder that is removed at an interrupt, until this value is dropped.
#[derive(Debug)]
pub struct Incomplete(PathBuf);

impl Incomplete {
    /// Adds a folder to those that an interrupt removes.
    pub fn folder(path: &Path) -> Self {
        folders().push(path.to_owned());
        Self(path.to_owned())
    }

    /// Gives the folder, which is complete, its name. An interrupt comes before or after that.
    pub fn finish(self, target: &Path) -> std::io::Result<()> {
        let mut folders = folders();
        fs::rename(&self.0, target)?;
        folders.retain(|path| *path != self.0);
        drop(folders);
        Ok(())
    }
}

impl Drop for Incomplete {
    fn drop(&mut self) {
        folders().retain(|path| *path != self.0);
    }
}

static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn folders() -> MutexGuard<'static, Vec<PathBuf>> {
    // The list is whole after every statement that changes it.
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes a folder, in which other threads or processes may still create files.
fn is_removed(folder: &Path) -> bool {
    (0..TRIES).any(|_| {
        // The next try finds the files that remain.
        let _ = fs::remove_dir_all(folder);
        !folder.exists()
    })
}

/// The most tries to remove a folder.
const TRIES: u32 = 100;
/// The exit code of a program that a signal ended is this number plus that of the signal.
const SIGNALLED: i32 = 128;
