//! Other processes that a test has started: finds them, signals them and waits for what they do.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

/// Waits until `is_so`.
///
/// # Panics
/// If a minute is not enough.
#[track_caller]
pub fn wait_for(mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it takes too long");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Returns the processes that another has started and that have not ended.
///
/// # Panics
/// If the system does not list processes in `/proc`.
pub fn children(parent: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("the processes are listed");
    let processes = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()?.parse().ok());
    let is_child = |process: &u32| {
        // The state and the parent follow the name, which may have any letters.
        fields(*process).is_some_and(|fields| {
            fields.first().is_some_and(|state| state != "Z") && fields.get(1) == Some(&parent.to_string())
        })
    };
    processes.filter(is_child).collect()
}

/// Returns the group of a process, if it is there.
pub fn group(process: u32) -> Option<u32> {
    fields(process)?.get(2)?.parse().ok()
}

/// Sends a signal by its name without `SIG`.
///
/// # Panics
/// If the process is gone.
pub fn signal(name: &str, process: u32) {
    // The shell's own `kill`: a bare Debian has no program of that name.
    let sent = Command::new("sh").args(["-c", &format!("kill -s {name} {process}")]).status();
    assert!(sent.expect("a shell").success(), "process {process} takes the signal {name}");
}

/// Returns the fields of the state of a process after its name.
fn fields(process: u32) -> Option<Vec<String>> {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, fields) = status.rsplit_once(')')?;
    Some(fields.split_whitespace().map(str::to_owned).collect())
}
