//! Programs in C and C++, compiled with every warning as an error: on their own, under valgrind, and with
//! `AddressSanitizer`, which also find memory that is not released.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]
#![cfg(target_os = "linux")]

mod built;

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

use built::{Link, compiled, crate_root, run, run_in};

/// Each program, and the last line that it prints.
const PROGRAMS: [(&str, &str); 4] = [
    ("tests/c/contract.c", "contract kept"),
    ("tests/c/values.c", "values kept"),
    ("examples/planes.c", "mean of the plane: 279.10 K"),
    ("examples/planes.cpp", "mean of the plane: 279.10 K"),
];

fn each(flags: &[&str], link: Link, runner: &[&str]) {
    for (source, last) in PROGRAMS {
        let folder = tempfile::tempdir().unwrap();
        let program = compiled(source, flags, link, folder.path());
        let words = runner.iter().map(OsStr::new).chain([program.as_os_str(), OsStr::new(".")]);
        let words: Vec<&OsStr> = words.collect();
        let output = run_in(folder.path(), words[0], &words[1..]);
        assert_eq!(output.lines().last(), Some(last), "{source}");
    }
}

#[test]
fn programs_run_with_the_shared_library() {
    each(&[], Link::Shared, &[]);
}

#[test]
fn programs_run_with_the_static_library() {
    each(&[], Link::Static, &[]);
}

#[test]
fn valgrind_finds_no_error_and_no_leak() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        assert!(std::env::var_os("HYPERSLAB_NO_SKIPS").is_none(), "valgrind is not installed");
        return; // `make test` has said so, and how to install it
    }
    let suppressions = format!("--suppressions={}", crate_root().join("tests/c/valgrind.supp").display());
    let leaks = ["--leak-check=full", "--show-leak-kinds=definite,indirect"];
    let errors = ["--error-exitcode=9", "--errors-for-leak-kinds=definite,indirect", &suppressions];
    each(&[], Link::Shared, &[&["valgrind", "--quiet"], &leaks[..], &errors[..]].concat());
}

#[test]
fn address_sanitizer_finds_no_error_and_no_leak() {
    each(&["-fsanitize=address,undefined", "-fno-sanitize-recover=all"], Link::Shared, &[]);
}

/// The guide has the programs as they are here.
#[test]
fn the_examples_are_those_of_the_guide() {
    let guide = crate_root().join("../../docs/guide/c.md");
    let guide = fs::read_to_string(guide).unwrap();
    for name in ["planes.c", "planes.cpp"] {
        let program = fs::read_to_string(crate_root().join("examples").join(name)).unwrap();
        let after_comment = program.split_once('\n').map_or(&program[..], |(_, program)| program);
        assert!(guide.contains(after_comment.trim()), "docs/guide/c.md lacks {name}");
    }
}

/// A header that only one language or standard takes would be none.
#[test]
fn the_header_compiles_in_every_standard() {
    let folder = tempfile::tempdir().unwrap();
    for (compiler, standards) in [("gcc", &["c99", "c11", "c17"][..]), ("g++", &["c++11", "c++17", "c++20"])]
    {
        for standard in standards {
            let source = folder.path().join(if compiler == "gcc" { "a.c" } else { "a.cpp" });
            fs::write(&source, "#include <hyperslab.h>\nint main(void) { return hs_version()[0] == 0; }\n")
                .unwrap();
            let include = crate_root().join("include");
            let standard = format!("-std={standard}");
            let words: [&OsStr; 9] = [
                "-Wall".as_ref(),
                "-Wextra".as_ref(),
                "-Werror".as_ref(),
                "-Wpedantic".as_ref(),
                standard.as_ref(),
                "-fsyntax-only".as_ref(),
                "-I".as_ref(),
                include.as_os_str(),
                AsRef::<Path>::as_ref(&source).as_os_str(),
            ];
            run(compiler, words);
        }
    }
}
