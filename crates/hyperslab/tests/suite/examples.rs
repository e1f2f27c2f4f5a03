//! Runs the example programs. `cargo test` builds them before the tests.

#![allow(clippy::unwrap_used)] // helpers of tests may panic, as tests do

use std::path::PathBuf;
use std::process::Command;

/// Returns the directory of the compiled examples, beside that of the tests.
fn examples() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().and_then(|dependencies| dependencies.parent()).unwrap().join("examples")
}

#[track_caller]
fn run(name: &str, arguments: &[&str]) -> String {
    let program = examples().join(name).with_extension(std::env::consts::EXE_EXTENSION);
    let output = Command::new(&program).args(arguments).output();
    let output = output.unwrap_or_else(|error| {
        panic!("{}: {error}: build it with `cargo build --examples --all-features`", program.display())
    });
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{name}: {err}");
    out
}

#[test]
fn the_read_example_prints_the_selected_elements() {
    let out = run("read", &[]);
    assert!(out.starts_with("[30, 20, 10] of "), "{out}");
    assert!(out.contains("[270.3, 270.4, 270.5, 270.6, 271.3"), "elements 100 to 103 and 110: {out}");
}

#[test]
fn the_write_example_creates_a_file_smaller_than_its_data() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("climate.h5");
    assert!(run("write", &[path.to_str().unwrap()]).contains("of 24000 stored"));
    assert!(hyperslab::File::open(path).unwrap().dataset("surface/t2m").unwrap().shape() == [30, 20, 10]);
}

#[test]
fn the_attributes_example_prints_strings_and_structs() {
    let out = run("attributes", &[]);
    assert!(out.contains("[\"Ada\", \"Grace\"]") && out.contains("Station { id: 5792"), "{out}");
}

#[test]
fn the_threads_example_prints_the_sums_of_rows() {
    assert_eq!(run("threads", &[]), "[0, 160, 320, 480]\n");
}

#[test]
#[cfg(feature = "ndarray")]
fn the_arrays_example_prints_an_array() {
    assert!(run("arrays", &[]).contains("[84, 85, 86, 87, 88, 89]\n"));
}

#[test]
fn the_driver_example_reads_what_it_has_written() {
    let out = run("driver", &[]);
    assert!(out.starts_with("[2007.0, 2107.0, 2207.0, 2307.0] from the driver pages\n"), "{out}");
}
