//! Tests `hyperslab pio` under mpirun: `make test-mpi` builds and runs this.

#![allow(clippy::unwrap_used)] // A test may fail loudly outside `#[test]` functions, too.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use hyperslab::File;
use hyperslab_testkit::processes::{children, signal, wait_for};
use serde_json::Value;

/// A folder of one test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hyperslab-mpi-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// Returns the command with 4 ranks.
    fn mpirun(&self, args: &[&str]) -> Command {
        let mut command = Command::new("mpirun");
        let program = env!("CARGO_BIN_EXE_hyperslab");
        command.args(["--oversubscribe", "-n", "4", program, "pio", "--folder"]).arg(&self.0).args(args);
        command
    }

    #[track_caller]
    fn printed(&self, args: &[&str]) -> String {
        let Output { status, stdout, stderr } = self.mpirun(args).output().unwrap();
        assert!(status.success(), "{args:?}: {}", String::from_utf8_lossy(&stderr));
        String::from_utf8(stdout).unwrap()
    }

    #[track_caller]
    fn refused(&self, args: &[&str]) -> String {
        let Output { status, stderr, .. } = self.mpirun(args).output().unwrap();
        let text = String::from_utf8(stderr).unwrap();
        assert!(!status.success(), "{args:?}: {text}");
        text
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const APIS: [&str; 4] = ["posix", "mpiio", "hyperslab", "hyperslab-mpiio"];

#[test]
fn all_apis_write_the_same_bytes_with_any_number_of_ranks() {
    for way in [&[][..], &["--collective", "--interleaved"], &["--chunk", "700", "--filter", "gzip:1"]] {
        let folder = Folder::new("kept");
        let args = ["--api", &APIS.join(","), "--transfer", "384", "--bytes", "1000", "--datasets", "2"];
        let rest = ["--iterations", "2", "--verify", "--keep", "--json"];
        let value: Value = serde_json::from_str(&folder.printed(&[&args[..], &rest, way].concat())).unwrap();
        assert_eq!(value["ranks"], "ranks of MPI");
        // 1, 2 and 4 ranks, 4 operations, 4 APIs.
        assert_eq!(value["results"].as_array().unwrap().len(), 3 * 4 * 4);
        let names = folder.names();
        let [kept] = &names[..] else { panic!("{names:?}") };
        for ranks in [1, 2, 4] {
            let path =
                |api: &str, ending: &str| folder.0.join(kept).join(format!("{api}-{ranks}x384-0.{ending}"));
            let raw = fs::read(path("posix", "raw")).unwrap();
            assert_eq!(raw.len(), 2 * 1000 * ranks);
            assert!(raw == fs::read(path("mpiio", "raw")).unwrap(), "{way:?}");
            for api in ["hyperslab", "hyperslab-mpiio"] {
                let file = File::open(path(api, "h5")).unwrap();
                let read = |name: &str| file.dataset(name).unwrap().read::<u8>(..).unwrap();
                assert!(raw == [read("dataset0"), read("dataset1")].concat(), "{way:?}, {api}");
            }
        }
    }
}

#[test]
fn rank_0_prints_the_table_and_no_file_is_left() {
    let folder = Folder::new("table");
    let args = ["--processes", "2", "--transfer", "1K", "--bytes", "4K", "--api", "mpiio,hyperslab"];
    let text = folder.printed(&args);
    assert_eq!(text.matches("of mpiio").count(), 1, "{text}");
    assert!(text.contains("ranks of MPI"), "{text}");
    assert!(folder.names().is_empty(), "{:?}", folder.names());
}

#[test]
fn errors_are_printed_once() {
    let folder = Folder::new("errors");
    let text = folder.refused(&["--processes", "5"]);
    assert_eq!(text.matches("hyperslab: --processes: mpirun has started 4").count(), 1, "{text}");
    let text = folder.refused(&["--bytes", "900000G"]);
    assert_eq!(text.matches("are free: choose a smaller --bytes").count(), 1, "{text}");
    assert!(folder.names().is_empty(), "{:?}", folder.names());
}

/// The limit of the size of a file stands for a full disk.
#[test]
fn a_medium_that_is_full_is_an_error_of_a_rank_and_leaves_no_file() {
    for (api, way) in
        [("mpiio", "--interleaved"), ("mpiio", "--collective"), ("hyperslab-mpiio", "--collective")]
    {
        let folder = Folder::new("full");
        let command = "trap '' XFSZ; ulimit -f 64; exec \"$@\"";
        let program = env!("CARGO_BIN_EXE_hyperslab");
        let output = Command::new("mpirun")
            .args(["--oversubscribe", "-n", "2", "sh", "-c", command, "sh", program, "pio", "--folder"])
            .arg(&folder.0)
            .args(["--api", api, way, "--bytes", "1M", "--transfer", "64K", "--processes", "2"])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success(), "{text}");
        assert_eq!(text.matches(": rank ").count(), 1, "{text}");
        assert!(folder.names().is_empty(), "{:?}", folder.names());
    }
}

/// A run of mpirun that does not end by itself, and is ended with this value.
struct Endless(Child);

impl Drop for Endless {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts such a run, and waits until all ranks measure. Returns it and its ranks.
fn endless(folder: &Folder) -> (Endless, Vec<u32>) {
    let args = ["--processes", "4", "--transfer", "1K", "--bytes", "64K", "--iterations", "1000000"];
    let mut command = folder.mpirun(&args);
    let run = Endless(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let measures = || {
        let folders = folder.names();
        folders
            .iter()
            .any(|name| fs::read_dir(folder.0.join(name)).is_ok_and(|mut files| files.next().is_some()))
    };
    wait_for(measures);
    let ranks = children(run.0.id());
    (run, ranks)
}

#[test]
fn a_rank_that_dies_ends_all_and_leaves_no_file() {
    let folder = Folder::new("dies");
    let (mut run, ranks) = endless(&folder);
    assert_eq!(ranks.len(), 4);
    signal("KILL", ranks[2]);
    wait_for(|| run.0.try_wait().unwrap().is_some());
    assert!(!run.0.wait().unwrap().success());
    wait_for(|| folder.names().is_empty());
}

#[test]
fn no_file_is_left_when_mpirun_is_interrupted() {
    let folder = Folder::new("interrupted");
    let (mut run, _) = endless(&folder);
    signal("INT", run.0.id());
    wait_for(|| run.0.try_wait().unwrap().is_some());
    wait_for(|| folder.names().is_empty());
}
