//! What was done, and what was left to the native connector: printed at the end of the process if
//! `HYPERSLAB_VOL_REPORT` is set. `1` prints it for a person, anything else is the name of a file to
//! which a line of JSON is appended.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::sync::{Mutex, Once, OnceLock, PoisonError};

use hyperslab_io::process::forks;
use serde_json::json;

use crate::ffi::{self, library::Library};
use crate::rules::{Reason, Ruled};

/// The environment variable that asks for a report.
const VARIABLE: &str = "HYPERSLAB_VOL_REPORT";

/// Calls of one kind.
#[derive(Debug, Default)]
struct Counts {
    taken: u64,
    left: BTreeMap<Reason, u64>,
}

/// What happened in this process.
#[derive(Debug, Default)]
struct ProcessReport {
    reads: Counts,
    writes: Counts,
    /// The versions of the libraries that use the plug-in.
    libraries: Vec<String>,
    /// The first error of the engine.
    first_error: Option<String>,
    /// Which process this is.
    forks: u32,
}

static REPORT: Mutex<Option<ProcessReport>> = Mutex::new(None);

/// Where a report for a person goes: a program may close its standard error before it ends.
static STDERR: OnceLock<File> = OnceLock::new();

fn with(f: impl FnOnce(&mut ProcessReport)) {
    let mut known = REPORT.lock().unwrap_or_else(PoisonError::into_inner);
    let report = known.get_or_insert_default();
    if report.forks != forks() {
        // A child reports its own calls.
        let libraries = std::mem::take(&mut report.libraries);
        *report = ProcessReport { libraries, forks: forks(), ..ProcessReport::default() };
    }
    f(report);
}

/// Notes that a library uses the plug-in.
pub(crate) fn begin(library: &Library) {
    extern "C" fn at_exit() {
        finish();
    }
    static REGISTERED: Once = Once::new();
    let [major, minor, release] = library.version;
    let version = format!("{major}.{minor}.{release}");
    with(|report| {
        if !report.libraries.contains(&version) {
            report.libraries.push(version);
        }
    });
    REGISTERED.call_once(|| {
        if let Some(wanted) = std::env::var_os(VARIABLE) {
            if wanted == "1"
                && let Ok(copy) = std::io::stderr().as_fd().try_clone_to_owned()
            {
                STDERR.get_or_init(|| File::from(copy));
            }
            ffi::at_exit(at_exit);
        }
    });
}

/// Notes a read.
pub(crate) fn read(done: Ruled<()>) {
    with(|report| report.reads.note(done));
}

/// Notes a write.
pub(crate) fn write(done: Ruled<()>) {
    with(|report| report.writes.note(done));
}

/// Notes an error of the engine, and returns the reason to leave the call.
pub(crate) fn refused(error: &hyperslab::Error) -> Reason {
    with(|report| _ = report.first_error.get_or_insert_with(|| error.to_string()));
    Reason::Engine
}

impl Counts {
    fn note(&mut self, done: Ruled<()>) {
        match done {
            Ok(()) => self.taken += 1,
            Err(reason) => *self.left.entry(reason).or_default() += 1,
        }
    }

    fn to_json(&self) -> serde_json::Value {
        let left: BTreeMap<String, u64> =
            self.left.iter().map(|(reason, count)| (reason.to_string(), *count)).collect();
        json!({ "taken": self.taken, "left": left })
    }

    fn to_text(&self, what: &str) -> String {
        let left: u64 = self.left.values().sum();
        let mut text = format!("hyperslab: {} of {} {what} taken over", self.taken, self.taken + left);
        for (number, (reason, count)) in self.left.iter().enumerate() {
            let begin = if number == 0 { "; left: " } else { ", " };
            _ = write!(text, "{begin}{reason} {count}");
        }
        text + "\n"
    }
}

/// Prints the report. Nothing can be done about an error here.
fn finish() {
    let Some(wanted) = std::env::var_os(VARIABLE) else { return };
    // In a child, another thread of the parent may have had the lock for ever.
    let Ok(Some(report)) = REPORT.try_lock().map(|mut report| report.take()) else { return };
    if report.forks != forks() {
        return;
    }
    if wanted == "1" {
        let mut text = format!("hyperslab: used by libhdf5 {}\n", report.libraries.join(", "));
        text += &report.reads.to_text("reads");
        text += &report.writes.to_text("writes");
        if let Some(error) = &report.first_error {
            _ = writeln!(text, "hyperslab: the first read or write that was not possible: {error}");
        }
        if let Some(mut stderr) = STDERR.get() {
            _ = stderr.write_all(text.as_bytes());
        }
        return;
    }
    let line = json!({
        "reads": report.reads.to_json(),
        "writes": report.writes.to_json(),
        "libraries": report.libraries,
        "first_error": report.first_error,
    });
    let file = OpenOptions::new().append(true).create(true).open(wanted);
    _ = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
}
