//! Words that people type in place of a command: `help`, and the names of the commands of other programs.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Returns the arguments with `help COMMAND` as `COMMAND --help`; `segy` has commands of its own.
pub(crate) fn with_help_last(mut args: Vec<OsString>) -> Vec<OsString> {
    let place = if args.get(1).is_some_and(|word| word == "segy") { 2 } else { 1 };
    if args.get(place).is_some_and(|word| word == "help") {
        args.remove(place);
        args.push("--help".into());
    }
    args
}

/// Returns the error with the commands that do what an unknown word asks for, if the word is a known one.
pub(crate) fn suggesting(mut error: clap::Error, args: &[OsString]) -> clap::Error {
    let word = args.get(1).and_then(|word| word.to_str());
    let found = MEANT.iter().find(|(words, _)| word.is_some_and(|word| words.contains(&word)));
    if let Some((_, meant)) = found.filter(|_| error.kind() == ErrorKind::InvalidSubcommand) {
        let meant = meant.iter().map(|&name| name.to_owned()).collect();
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(meant));
    }
    error
}

/// Words, many of them names of libhdf5's programs, and the commands that do the same.
const MEANT: &[(&[&str], &[&str])] = &[
    (&["info", "show", "inspect", "header"], &["ls", "stat"]),
    (&["list", "tree", "h5ls"], &["ls"]),
    (&["stats", "size", "du", "h5stat"], &["stat"]),
    (&["cat", "print", "head", "h5dump", "ncdump"], &["dump"]),
    (&["verify", "validate", "fsck", "h5check"], &["check"]),
    (&["repair", "fix", "h5clear"], &["recover"]),
    (&["compress", "convert", "rechunk", "h5repack"], &["repack"]),
    (&["cp", "extract", "h5copy"], &["copy"]),
    (&["compare", "cmp", "h5diff"], &["diff"]),
    (&["select", "filter", "where"], &["query", "sql"]),
    (&["kerchunk", "zarr", "references"], &["refs"]),
    (&["sgy", "segyio"], &["segy"]),
    (&["import", "ingest"], &["segy ingest"]),
    (&["export"], &["dump", "query", "segy export"]),
    (&["bench", "benchmark", "perf", "h5perf"], &["pio", "tune"]),
    (&["open", "gui", "browse", "serve", "hdfview"], &["view"]),
];
