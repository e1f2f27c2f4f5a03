//! Ctrl-C in commands that write files: nothing incomplete stays, and the command says so.

#![allow(clippy::unwrap_used)] // A test may fail loudly outside `#[test]` functions, too.
#![cfg(target_os = "linux")]

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use hyperslab_testkit::processes::{signal, wait_for};
use hyperslab_testkit::segy::SegyRecipe;

use crate::common::{Scratch, dataset};

/// Makes a file whose data take several seconds to compress.
fn large(scratch: &Scratch) {
    with_rows(scratch, 48);
}

fn with_rows(scratch: &Scratch, rows: u64) {
    let mut state = 1_u32;
    let values: Vec<i32> = (0..rows << 18)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16).cast_signed() % 97
        })
        .collect();
    scratch.make("in.h5", |root| {
        dataset(root, "x", &[rows, 1 << 18], Some(&[1, 1 << 16]), &values);
    });
}

fn begin(scratch: &Scratch, args: &[&str]) -> Child {
    // A test that runs in the background may ignore signals, and so would the command.
    under("--default-signal=INT,TERM,HUP", scratch, args)
}

/// Begins a command with the signals that `env` gives it.
fn under(signals: &str, scratch: &Scratch, args: &[&str]) -> Child {
    Command::new("env")
        .args([signals, env!("CARGO_BIN_EXE_hyperslab")])
        .args(args)
        .current_dir(scratch.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until `is_there` is true, and sends a signal.
#[track_caller]
fn interrupted(mut child: Child, name: &str, is_there: impl Fn() -> bool) -> Output {
    wait_for(|| {
        let ended = child.try_wait().unwrap();
        assert!(ended.is_none(), "{ended:?}");
        is_there()
    });
    signal(name, child.id());
    child.wait_with_output().unwrap()
}

/// Returns whether a process has a handler of the signal 2.
fn catches_interrupts(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() & 0b10 != 0)
}

/// Returns a condition that is true when a file has at least this many bytes.
fn grown(path: &Path, bytes: u64) -> impl Fn() -> bool {
    let path = path.to_owned();
    move || path.metadata().is_ok_and(|found| found.len() > bytes)
}

#[test]
fn an_interrupted_repack_removes_its_part_and_leaves_the_old_file() {
    let scratch = Scratch::new("interrupt-repack");
    large(&scratch);
    scratch.make("out.h5", |root| _ = dataset(root, "old", &[2], None, &[1, 2]));
    let before = std::fs::read(scratch.path("out.h5")).unwrap();
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let args = ["repack", "in.h5", "out.h5", "--overwrite", "--filter", "bzip2", "--threads", "1"];
        let child = begin(&scratch, &args);
        let ended = interrupted(child, name, grown(&scratch.path("out.h5.part"), 0));
        let err = String::from_utf8(ended.stderr).unwrap();
        assert_eq!((ended.status.code(), ended.status.signal()), (Some(code), None), "{err}");
        assert!(err.contains("hyperslab: interrupted: out.h5.part was removed"), "{err}");
        assert_eq!(scratch.names(), ["in.h5", "out.h5"]);
        assert_eq!(std::fs::read(scratch.path("out.h5")).unwrap(), before);
    }
}

#[test]
fn a_signal_that_is_ignored_as_under_nohup_interrupts_nothing() {
    let scratch = Scratch::new("interrupt-ignored");
    with_rows(&scratch, 8);
    let args = ["repack", "in.h5", "out.h5", "--filter", "bzip2", "--threads", "1"];
    let child = under("--ignore-signal=HUP", &scratch, &args);
    let ended = interrupted(child, "HUP", grown(&scratch.path("out.h5.part"), 0));
    assert!(ended.status.success(), "{ended:?}");
    assert_eq!(scratch.names(), ["in.h5", "out.h5"]);
}

#[test]
fn an_interrupted_copy_leaves_no_new_file_and_an_existing_file_as_it_was() {
    let scratch = Scratch::new("interrupt-copy");
    // Many small objects take longer to copy than to read.
    scratch.make("in.h5", |root| {
        for number in 0..20_000 {
            dataset(root, &format!("g/{}/x{number}", number % 40), &[5], Some(&[1]), &[1, 2, 3, 4, 5]);
        }
    });
    scratch.make("to.h5", |root| _ = dataset(root, "old", &[2], None, &[1, 2]));
    std::fs::copy(scratch.path("to.h5"), scratch.path("before.h5")).unwrap();
    let child = begin(&scratch, &["copy", "in.h5:/g", "new.h5"]);
    let ended = interrupted(child, "INT", || scratch.path("new.h5.part").exists());
    let err = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(130), "{err}");
    assert!(err.contains("interrupted: new.h5.part was removed"), "{err}");
    assert_eq!(scratch.names(), ["before.h5", "in.h5", "to.h5"]);

    let child = begin(&scratch, &["copy", "in.h5:/g", "to.h5"]);
    // The copy is in memory until it is committed.
    let process = child.id();
    let ended = interrupted(child, "INT", || catches_interrupts(process));
    let err = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(130), "{err}");
    assert!(err.contains("interrupted: to.h5 has the whole copy or nothing of it"), "{err}");
    assert_eq!(scratch.printed(&["diff", "%before.h5", "%to.h5"]), "");
}

#[test]
fn an_interrupted_ingest_says_how_to_continue() {
    let scratch = Scratch::new("interrupt-ingest");
    let recipe = SegyRecipe { traces: SegyRecipe::grid(60, 60), samples: 1500, ..SegyRecipe::default() };
    scratch.write_damaged("in.sgy", &recipe.bytes());
    let args =
        ["segy", "ingest", "in.sgy", "cube.h5", "--filter", "bzip2", "--memory", "1MB", "--threads", "1"];
    let ended = interrupted(begin(&scratch, &args), "INT", grown(&scratch.path("cube.h5"), 0));
    let err = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(130), "{err}");
    assert!(err.contains("cube.h5 is incomplete: run the command again"), "{err}");
    scratch.printed(&["segy", "ingest", "%in.sgy", "%cube.h5", "--filter", "bzip2"]);
    scratch.printed(&["segy", "export", "%cube.h5", "%back.sgy"]);
    assert!(std::fs::read(scratch.path("back.sgy")).unwrap() == recipe.bytes());
}

#[test]
fn interrupted_measurements_remove_their_folder() {
    let scratch = Scratch::new("interrupt-pio");
    let args = ["pio", "--folder", ".", "--processes", "2", "--iterations", "100000", "--transfer", "64K"];
    let is_there = || scratch.names().iter().any(|name| name.starts_with("hyperslab-pio-"));
    let ended = interrupted(begin(&scratch, &args), "INT", is_there);
    let err = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(130), "{err}");
    assert!(err.contains("hyperslab-pio-") && err.contains("was removed"), "{err}");
    assert!(scratch.names().is_empty(), "{:?}", scratch.names());
}

#[test]
fn a_command_that_only_reads_ends_by_the_signal_itself() {
    let scratch = Scratch::new("interrupt-read");
    large(&scratch);
    let child = begin(&scratch, &["dump", "in.h5", "/x", "--limit", "0"]);
    let begun = Instant::now();
    let ended = interrupted(child, "INT", || begun.elapsed() > Duration::from_millis(100));
    assert_eq!((ended.status.code(), ended.status.signal()), (None, Some(2)));
    assert!(ended.stderr.is_empty());
}
