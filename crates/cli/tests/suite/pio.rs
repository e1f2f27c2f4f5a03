//! Tests `hyperslab pio` as a program, since it starts itself again. No test depends on how long anything
//! takes.

#![allow(clippy::unwrap_used)] // A test may fail loudly outside `#[test]` functions, too.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use crate::common::Scratch;
use hyperslab::File;
use hyperslab_testkit::processes::{children, group, signal, wait_for};
use serde_json::Value;

/// Returns the command with the files of a test in its folder.
fn pio(scratch: &Scratch, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hyperslab"));
    command.args(["pio", "--folder"]).arg(scratch.path("")).args(args);
    command
}

fn ran(scratch: &Scratch, args: &[&str]) -> Output {
    pio(scratch, args).output().unwrap()
}

/// Returns the output of a run that must succeed without errors.
#[track_caller]
fn printed(scratch: &Scratch, args: &[&str]) -> String {
    let Output { status, stdout, stderr } = ran(scratch, args);
    assert!(status.success() && stderr.is_empty(), "{args:?}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}

/// Returns the error of a run that must fail with this exit code.
#[track_caller]
fn refused(scratch: &Scratch, code: i32, args: &[&str]) -> String {
    let Output { status, stderr, .. } = ran(scratch, args);
    let text = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(code), "{args:?}: {text}");
    text
}

/// The byte of a dataset at a place, which is said in `pattern.rs`.
fn byte(dataset: u64, place: u64) -> u8 {
    let place = (place + dataset * 1013) % 4_194_301;
    let mixed = place.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    u8::try_from(mixed >> 60).unwrap()
}

/// Returns the only folder of kept files.
fn kept(scratch: &Scratch) -> PathBuf {
    let names = scratch.names();
    let [name] = &names[..] else { panic!("{names:?}") };
    scratch.path(name)
}

#[test]
fn the_kept_files_have_the_bytes_of_all_processes() {
    let ways: [&[&str]; 4] = [
        &[],
        &["--interleaved"],
        &["--collective", "--interleaved"],
        &["--chunk", "700", "--filter", "gzip:1"],
    ];
    for way in ways {
        for processes in ["1", "2", "3"] {
            let scratch = Scratch::new("pio-kept");
            let sizes = ["--transfer", "384", "--bytes", "1000", "--files", "2", "--datasets", "2"];
            let rest = ["--iterations", "2", "--keep", "--verify", "--processes", processes];
            printed(&scratch, &[&sizes[..], &rest, way].concat());
            let folder = kept(&scratch);
            let len = 1000 * processes.parse::<u64>().unwrap();
            for file in 0..2 {
                let name = |api, ending| format!("{api}-{processes}x384-{file}.{ending}");
                let raw = fs::read(folder.join(name("posix", "raw"))).unwrap();
                let opened = File::open(folder.join(name("hyperslab", "h5"))).unwrap();
                let mut all = Vec::new();
                for number in 0..2 {
                    let expected: Vec<u8> = (0..len).map(|place| byte(number, place)).collect();
                    let dataset = opened.dataset(&format!("dataset{number}")).unwrap();
                    assert_eq!(dataset.chunk_shape(), way.contains(&"--chunk").then(|| vec![700]));
                    assert!(dataset.read::<u8>(..).unwrap() == expected, "{way:?}, {processes}");
                    all.extend(expected);
                }
                assert!(raw == all, "{way:?}, {processes}");
            }
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 4);
        }
    }
}

#[test]
fn json_has_each_case_and_no_file_is_left() {
    let scratch = Scratch::new("pio-json");
    let args =
        ["--processes", "1..2", "--transfer", "1K..2K", "--bytes", "2K", "--iterations", "2", "--json"];
    let value: Value = serde_json::from_str(&printed(&scratch, &args)).unwrap();
    assert_eq!(
        (value["process_bytes"].as_u64(), value["is_collective"].as_bool()),
        (Some(2048), Some(false))
    );
    assert!(value["ranks"].as_str().unwrap().contains("sockets"), "{value}");
    let results = value["results"].as_array().unwrap();
    let mut cases = Vec::new();
    for result in results {
        let number = |name: &str| result[name].as_u64().unwrap();
        let text = |name: &str| result[name].as_str().unwrap().to_owned();
        cases.push((number("processes"), number("transfer_bytes"), text("operation"), text("api")));
        assert_eq!(number("bytes"), 2048 * number("processes"));
        let seconds = result["seconds"].as_array().unwrap();
        assert!(
            seconds.len() == 2 && seconds.iter().all(|seconds| seconds.as_f64().unwrap() > 0.0),
            "{result}"
        );
        let rate = |name: &str| result["bytes_per_second"][name].as_f64().unwrap();
        assert!(rate("min") <= rate("average") && rate("average") <= rate("max"), "{result}");
    }
    let mut expected = Vec::new();
    for processes in [1, 2] {
        for transfer in [1024, 2048] {
            for operation in ["write", "write open-close", "read", "read open-close"] {
                for api in ["posix", "hyperslab"] {
                    expected.push((processes, transfer, operation.to_owned(), api.to_owned()));
                }
            }
        }
    }
    assert_eq!(cases, expected);
    assert!(scratch.names().is_empty(), "{:?}", scratch.names());
}

#[test]
fn the_table_says_what_was_measured() {
    let scratch = Scratch::new("pio-table");
    let args =
        ["--processes", "2", "--transfer", "512", "--bytes", "1K", "--no-read", "--api", "posix,posix"];
    let text = printed(&scratch, &args);
    assert!(text.contains("1 file, 1 dataset in each, 1.0 KiB of each process"), "{text}");
    assert!(text.contains("page cache") && text.contains("3 iterations"), "{text}");
    let rows: Vec<&str> = text.lines().filter(|line| line.contains("posix  ")).collect();
    assert!(rows.len() == 2 && rows.iter().all(|row| row.contains("write")), "{text}");
    assert!(scratch.names().is_empty(), "{:?}", scratch.names());
}

#[cfg(feature = "plot")]
#[test]
fn the_rates_are_drawn() {
    let scratch = Scratch::new("pio-plot");
    let plot = scratch.path("rates.svg");
    let plot = plot.to_str().unwrap();
    let args = ["--processes", "1..2", "--transfer", "1K..4K", "--bytes", "8K", "--plot", plot];
    printed(&scratch, &args);
    let picture = fs::read_to_string(plot).unwrap();
    for part in ["transfer (KiB)", "MB/s", "posix x1", "hyperslab x2", "write", "read"] {
        assert!(picture.contains(part), "{part}");
    }
    assert_eq!(scratch.names(), ["rates.svg"]);
}

#[test]
fn requests_that_make_no_sense_are_refused_before_anything_is_written() {
    let scratch = Scratch::new("pio-refused");
    let wrong: [(&[&str], &str); 10] = [
        (&["--transfer", "2M", "--bytes", "1M"], "--bytes"),
        (&["--chunk", "1G", "--bytes", "8M"], "more than a dataset has"),
        (&["--processes", "0"], "from 1 to"),
        (&["--transfer", "4M..1M"], "begins with the larger"),
        (&["--filter", "zstd"], "--chunk"),
        (&["--verify", "--no-read"], "cannot be used"),
        (&["--api", "mpiio"], "mpi"),
        (&["--api", "hdf5"], "posix"),
        (&["--plot", "rates.pdf"], "--plot"),
        (&["--worker", "x", "1", "f"], "starts"),
    ];
    for (args, part) in wrong {
        let text = refused(&scratch, 2, args);
        assert!(text.contains(part), "{args:?}: {text}");
    }
    let text = refused(&scratch, 1, &["--bytes", "900000G", "--transfer", "1M"]);
    assert!(text.contains("are free: choose a smaller --bytes"), "{text}");
    assert!(scratch.names().is_empty(), "{:?}", scratch.names());
}

#[test]
fn a_missing_folder_is_an_error() {
    let scratch = Scratch::new("pio-missing");
    let missing = scratch.path("missing");
    let output =
        Command::new(env!("CARGO_BIN_EXE_hyperslab")).args(["pio", "--folder"]).arg(&missing).output();
    let Output { status, stderr, .. } = output.unwrap();
    let text = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(1), "{text}");
    assert!(text.contains("--folder") && text.contains("No such file"), "{text}");
}

#[cfg(not(feature = "mpi"))]
#[test]
fn a_start_under_mpirun_without_mpi_says_what_to_build() {
    let scratch = Scratch::new("pio-launched");
    let output = pio(&scratch, &[]).env("PMI_RANK", "0").output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("--features mpi"), "{text}");
}

/// The limit of the size of a file stands for a full disk.
#[test]
fn a_medium_that_is_full_is_an_error_of_a_rank_and_leaves_no_file() {
    for api in ["posix", "hyperslab"] {
        let scratch = Scratch::new("pio-full");
        let command = "trap '' XFSZ; ulimit -f 64; exec \"$0\" pio --folder \"$1\" --api \"$2\" --bytes 1M \
                       --transfer 64K --processes 2";
        let folder = scratch.path("");
        let output = Command::new("sh")
            .args(["-c", command, env!("CARGO_BIN_EXE_hyperslab"), folder.to_str().unwrap(), api])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.starts_with("hyperslab: rank ") && text.contains("File too large"), "{text}");
        assert!(text.contains(&format!("{api}-2x65536-0.")), "{text}");
        assert_eq!(text.matches("rank ").count(), 1, "the other rank only tells of it: {text}");
        assert!(scratch.names().is_empty(), "{:?}", scratch.names());
    }
}

/// A run that does not end by itself, in a process that is ended with this value.
struct Endless(Child);

impl Endless {
    fn start(scratch: &Scratch, api: &str) -> Self {
        Self::start_with(scratch, &["--api", api, "--transfer", "1K", "--bytes", "64K"])
    }

    fn start_with(scratch: &Scratch, args: &[&str]) -> Self {
        let args = [args, &["--processes", "3", "--iterations", "1000000"]].concat();
        let mut command = pio(scratch, &args);
        Self(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// Waits until all processes measure. Returns them.
    fn workers(&self, scratch: &Scratch) -> Vec<u32> {
        let mut found = Vec::new();
        let measures = || {
            scratch.names().iter().any(|name| {
                let files = fs::read_dir(scratch.path(name));
                files.is_ok_and(|mut files| files.next().is_some())
            })
        };
        wait_for(|| {
            found = children(self.0.id());
            found.len() == 3 && measures()
        });
        found
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn is_running(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/stat"));
    status.is_ok_and(|status| !status.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'))
}

#[test]
#[cfg(target_os = "linux")]
fn a_worker_that_dies_ends_all_with_an_error_and_leaves_no_file() {
    for api in ["posix", "hyperslab"] {
        let scratch = Scratch::new("pio-dies");
        let mut run = Endless::start(&scratch, api);
        let workers = run.workers(&scratch);
        signal("KILL", workers[1]);
        wait_for(|| run.0.try_wait().unwrap().is_some());
        assert_eq!(run.0.wait().unwrap().code(), Some(1));
        let mut text = String::new();
        std::io::Read::read_to_string(&mut run.0.stderr.take().unwrap(), &mut text).unwrap();
        assert!(text.contains("has ended: signal: 9"), "{text}");
        assert!(workers.iter().all(|&worker| !is_running(worker)));
        assert!(scratch.names().is_empty(), "{:?}", scratch.names());
    }
}

#[test]
#[cfg(target_os = "linux")]
fn no_process_and_no_file_is_left_when_the_command_is_interrupted() {
    // In the second, a phase takes hours, and so no process tells anything.
    let runs: [&[&str]; 2] =
        [&["--transfer", "1K", "--bytes", "64K"], &["--api", "posix", "--transfer", "1", "--bytes", "1G"]];
    for (name, args) in [("TERM", runs[0]), ("KILL", runs[0]), ("TERM", runs[1])] {
        let scratch = Scratch::new("pio-interrupted");
        let mut run = Endless::start_with(&scratch, args);
        let workers = run.workers(&scratch);
        // A terminal sends Ctrl-C to a group, and workers must have the time to remove the files.
        assert!(workers.iter().all(|&worker| group(worker) == Some(worker)));
        signal(name, run.0.id());
        wait_for(|| run.0.try_wait().unwrap().is_some());
        assert!(!run.0.wait().unwrap().success());
        wait_for(|| workers.iter().all(|&worker| !is_running(worker)));
        assert!(scratch.names().is_empty(), "{name}: {:?}", scratch.names());
    }
}

/// A stopped process is one that waits for the disk.
#[test]
#[cfg(target_os = "linux")]
fn a_worker_that_does_not_answer_is_killed_when_another_has_died() {
    let scratch = Scratch::new("pio-stopped");
    let mut run = Endless::start(&scratch, "posix");
    let workers = run.workers(&scratch);
    signal("STOP", workers[0]);
    signal("KILL", workers[2]);
    wait_for(|| run.0.try_wait().unwrap().is_some());
    assert_eq!(run.0.wait().unwrap().code(), Some(1));
    assert!(workers.iter().all(|&worker| !is_running(worker)));
    assert!(scratch.names().is_empty(), "{:?}", scratch.names());
}

#[test]
fn files_of_others_are_left_alone() {
    let scratch = Scratch::new("pio-others");
    fs::create_dir(scratch.path("hyperslab-pio-mine")).unwrap();
    printed(&scratch, &["--processes", "1", "--transfer", "1K", "--bytes", "1K"]);
    assert_eq!(scratch.names(), ["hyperslab-pio-mine"]);
}
