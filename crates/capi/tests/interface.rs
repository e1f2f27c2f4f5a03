//! The interface as C sees it: the header and the symbols of the libraries. A name in them stays, since
//! programs are linked with it.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]

mod built;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use built::{crate_root, library, run};

/// The functions that `tests/symbols.txt` lists.
fn listed() -> BTreeSet<String> {
    let text = fs::read_to_string(crate_root().join("tests/symbols.txt")).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// The functions that a library defines for others.
fn defined(nm: &[&str], library: &Path) -> BTreeSet<String> {
    let output = run("nm", nm.iter().map(AsRef::as_ref).chain([library.as_os_str()]));
    let symbols = output.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let name = words.next()?;
        (words.next()? != "U").then(|| name.to_owned())
    });
    symbols.collect()
}

#[test]
fn the_shared_library_has_the_listed_functions_and_nothing_else() {
    let found = defined(&["--dynamic", "--defined-only", "--format=posix"], &library("so"));
    assert_eq!(found, listed());
}

#[test]
fn the_static_library_has_the_listed_functions() {
    let found = defined(&["--defined-only", "--extern-only", "--format=posix"], &library("a"));
    let ours: BTreeSet<_> = found.into_iter().filter(|name| name.starts_with("hs_")).collect();
    assert_eq!(ours, listed());
}

#[test]
fn there_are_at_most_forty_functions() {
    assert!(listed().len() <= 40, "{}", listed().len());
}

/// `make capi-header` writes it.
#[test]
fn the_header_is_that_of_the_functions() {
    let mut text = Vec::new();
    let config = cbindgen::Config::from_file(crate_root().join("cbindgen.toml")).unwrap();
    cbindgen::generate_with_config(crate_root(), config).unwrap().write(&mut text);
    let text = String::from_utf8(text).unwrap();
    let header = crate_root().join("include/hyperslab.h");
    if std::env::var_os("HYPERSLAB_WRITE_HEADER").is_some() {
        fs::write(&header, &text).unwrap();
    }
    let found = fs::read_to_string(header).unwrap();
    let first = found.lines().zip(text.lines()).position(|(a, b)| a != b);
    assert!(found == text, "the header differs from line {first:?} on: run `make capi-header`");
}

#[test]
fn every_function_of_the_header_is_listed() {
    let header = fs::read_to_string(crate_root().join("include/hyperslab.h")).unwrap();
    let declared: BTreeSet<String> = header
        .lines()
        .filter(|line| line.starts_with(|first: char| first.is_ascii_lowercase()))
        .filter_map(|line| {
            let before = line.split_once('(')?.0;
            before.rsplit([' ', '*']).next().map(str::to_owned)
        })
        .filter(|name| name.starts_with("hs_"))
        .collect();
    assert_eq!(declared, listed());
}
