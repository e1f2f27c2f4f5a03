//! The libraries that cargo has built for the tests, and programs in C that are linked with them.

#![allow(dead_code, reason = "each program of tests uses a part")]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of this crate.
pub(crate) fn crate_root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The library with this ending, which cargo puts beside the tests.
pub(crate) fn library(ending: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let path = tests.parent().unwrap().join(format!("libhyperslab_c.{ending}"));
    assert!(path.is_file(), "{} was not built", path.display());
    path
}

/// Runs a program, and returns its output. A program that fails fails the test.
pub(crate) fn run<A: AsRef<OsStr>>(
    program: impl AsRef<OsStr>,
    arguments: impl IntoIterator<Item = A>,
) -> String {
    run_in(Path::new("."), program, arguments)
}

/// Does the same in a folder.
pub(crate) fn run_in<A: AsRef<OsStr>>(
    folder: &Path,
    program: impl AsRef<OsStr>,
    arguments: impl IntoIterator<Item = A>,
) -> String {
    let program = program.as_ref();
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    let output = command.output().unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{out}\n{err}", output.status);
    out.into_owned()
}

/// How a program is linked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    Shared,
    Static,
}

/// Compiles a program in C or C++ into `folder`, and returns its path.
pub(crate) fn compiled(source: &str, flags: &[&str], link: Link, folder: &Path) -> PathBuf {
    let source = crate_root().join(source);
    let is_c = source.extension().is_some_and(|extension| extension == "c");
    let (compiler, standard) = if is_c { ("gcc", "-std=gnu11") } else { ("g++", "-std=c++17") };
    let program = folder.join(source.file_stem().unwrap());
    let include = crate_root().join("include");
    let mut arguments: Vec<&OsStr> =
        ["-Wall", "-Wextra", "-Werror", "-Wpedantic", standard, "-g", "-O1", "-pthread"]
            .into_iter()
            .chain(flags.iter().copied())
            .map(OsStr::new)
            .collect();
    arguments.extend([
        OsStr::new("-I"),
        include.as_os_str(),
        source.as_os_str(),
        OsStr::new("-o"),
        program.as_os_str(),
    ]);
    let (shared, archive) = (library("so"), library("a"));
    let rpath = format!("-Wl,-rpath,{}", shared.parent().unwrap().display());
    match link {
        Link::Shared => arguments.extend([shared.as_os_str(), OsStr::new(&rpath)]),
        Link::Static => {
            arguments.push(archive.as_os_str());
            // What `rustc --print native-static-libs` lists for this system.
            arguments
                .extend(["-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl", "-lc"].map(OsStr::new));
        }
    }
    run(compiler, arguments);
    program
}
