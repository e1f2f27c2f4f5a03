//! Completion in shells, man pages, and the reference in the documentation.

#![allow(clippy::unwrap_used)] // A test may fail loudly outside `#[test]` functions, too.

use std::io::Write as _;
use std::process::{Command, Stdio};

use hyperslab_cli::reference;

use crate::common::Scratch;

/// Returns what bash offers for the last of these words, after it has read the script.
fn offered(scratch: &Scratch, words: &[&str]) -> Vec<String> {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let previous = words.len().checked_sub(2).map_or("", |place| words[place]);
    let script = format!(
        "source ./completion.bash
COMP_WORDS=({})
COMP_CWORD={}
_hyperslab hyperslab '{}' '{previous}'
printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        quoted.join(" "),
        words.len() - 1,
        words.last().unwrap(),
    );
    let bash = Command::new("bash").args(["--norc", "-c", &script]).current_dir(scratch.path("")).output();
    let ended = bash.unwrap();
    assert!(ended.status.success() && ended.stderr.is_empty(), "{}", String::from_utf8_lossy(&ended.stderr));
    let lines = String::from_utf8(ended.stdout).unwrap();
    lines.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn bash_completes_commands_options_and_values_and_leaves_files_to_its_own_completion() {
    let scratch = Scratch::new("completion-bash");
    let script = scratch.printed(&["completions", "bash"]);
    std::fs::write(scratch.path("completion.bash"), &script).unwrap();
    let offered = |words: &[&str]| offered(&scratch, words);
    assert_eq!(offered(&["hyperslab", "rep"]), ["repack"]);
    assert_eq!(offered(&["hyperslab", "segy", "ing"]), ["ingest"]);
    assert_eq!(offered(&["hyperslab", "ls", "--rec"]), ["--recursive"]);
    assert_eq!(offered(&["hyperslab", "repack", "a.h5", "b.h5", "--over"]), ["--overwrite"]);
    assert_eq!(offered(&["hyperslab", "completions", "f"]), ["fish"]);
    assert_eq!(offered(&["hyperslab", "--color", "al"]), ["always"]);
    assert!(offered(&["hyperslab", ""]).contains(&"stat".to_owned()));
    // With nothing offered, bash completes names of files (`complete -o default`).
    for words in
        [&["hyperslab", "ls", ""][..], &["hyperslab", "repack", "a.h5", ""], &["hyperslab", "dump", "cl"]]
    {
        assert!(offered(words).is_empty(), "{words:?}");
    }
    assert!(script.contains("complete -F _hyperslab -o nosort -o bashdefault -o default hyperslab"));
}

#[test]
fn the_scripts_for_other_shells_name_every_command() {
    let scratch = Scratch::new("completion-others");
    for (shell, begin) in
        [("zsh", "#compdef hyperslab"), ("fish", "complete -c hyperslab"), ("elvish", ""), ("powershell", "")]
    {
        let script = scratch.printed(&["completions", shell]);
        assert!(script.contains(begin), "{shell}");
        for page in reference::pages().iter().skip(1) {
            let last = page.name.rsplit(' ').next().unwrap();
            assert!(script.contains(last), "{shell} {}", page.name);
        }
    }
    let (code, _, err) = scratch.run(&["completions", "tcsh"]);
    assert!(code == 2 && err.contains("possible values: bash, elvish, fish, powershell, zsh"), "{err}");
}

#[test]
fn man_pages_are_written_for_every_command_and_groff_finds_no_fault() {
    let scratch = Scratch::new("man");
    let said = scratch.printed(&["man", "--out", "%man1"]);
    let names: Vec<String> =
        reference::pages().iter().map(|page| format!("{}.1", page.file_name())).collect();
    assert!(said.ends_with(&format!("man1: {} pages\n", names.len())), "{said}");
    assert!(names.iter().any(|name| name == "hyperslab-segy-ingest.1"));
    for name in &names {
        let page = std::fs::read_to_string(scratch.path("man1").join(name)).unwrap();
        for section in [".TH HYPERSLAB", ".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS"] {
            assert!(page.contains(section), "{name}: {section}");
        }
        assert!(page.contains(".SH EXAMPLE"), "{name}");
        let groff = Command::new("groff")
            .args(["-man", "-ww", "-Tutf8", "-P-cbou"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let Ok(mut groff) = groff else {
            assert!(std::env::var_os("HYPERSLAB_NO_SKIPS").is_none(), "groff is not installed");
            continue; // `make test` has said so, and how to install it
        };
        groff.stdin.take().unwrap().write_all(page.as_bytes()).unwrap();
        let ended = groff.wait_with_output().unwrap();
        let (text, faults) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
        assert!(ended.status.success() && faults.is_empty(), "{name}: {faults}");
        let example =
            format!("  {} ", name.trim_end_matches(".1").replace("segy-", "segy ").replacen('-', " ", 1));
        assert!(text.contains(&example) || name == "hyperslab.1", "{name}: {example:?}\n{text}");
    }
    let page = scratch.printed(&["man", "segy", "ingest"]);
    assert_eq!(page, std::fs::read_to_string(scratch.path("man1/hyperslab-segy-ingest.1")).unwrap());
    let (code, _, err) = scratch.run(&["man", "unpack"]);
    assert!(code == 2 && err.contains("no command `hyperslab unpack`"), "{err}");
}

#[test]
fn the_reference_is_markdown_of_few_columns() {
    let text = reference::markdown();
    for page in reference::pages().iter().skip(1) {
        assert!(text.contains(&format!("\n## {}\n", page.name)), "{}", page.name);
        assert!(text.contains(&format!("](#{})", page.file_name())), "{}", page.name);
    }
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.starts_with("```");
        assert!(is_code || line.starts_with('|') || line.chars().count() <= 110, "{line}");
    }
    assert!(!is_code);
    let item = "- `--libver VERSION`: The oldest libhdf5 that must be able to read the file. Default: structures keep";
    assert!(text.contains(item), "{text}");
}

/// Other features have other options.
#[cfg(all(feature = "parquet", not(feature = "mpi")))]
#[test]
fn the_reference_in_the_documentation_is_that_of_the_commands() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/command-line.md");
    let (found, made) = (std::fs::read_to_string(path).unwrap_or_default(), reference::markdown());
    let differ = found.lines().zip(made.lines()).find(|(found, made)| found != made);
    assert!(
        found == made,
        "docs/reference/command-line.md is out of date; write it again with\n  \
         cargo run -p hyperslab-cli --example reference\n{differ:?}"
    );
}

#[test]
fn every_command_has_help_with_an_example_of_its_own() {
    let scratch = Scratch::new("help");
    for page in reference::pages() {
        let words: Vec<&str> = page.name.split(' ').skip(1).chain(["--help"]).collect();
        let help = scratch.printed(&words);
        let examples = help.lines().filter(|line| line.starts_with("  ") && line.contains("hyperslab "));
        let own = examples.filter(|line| line.contains(&page.name)).count();
        assert!(own > 0, "{}\n{help}", page.name);
    }
}

#[test]
fn the_examples_of_completions_run_in_an_empty_home() {
    let scratch = Scratch::new("completion-home");
    let home = scratch.path("home");
    std::fs::create_dir(&home).unwrap();
    let help = scratch.printed(&["completions", "--help"]);
    let examples: Vec<&str> = help
        .lines()
        .skip_while(|line| *line != "Examples:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .collect();
    assert_eq!(examples.len(), 6, "{help}");
    let script =
        format!("hyperslab() {{ '{}' \"$@\"; }}\n{}", env!("CARGO_BIN_EXE_hyperslab"), examples.join("\n"));
    let ended = Command::new("bash").args(["--norc", "-ec", &script]).env("HOME", &home).output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let fish = std::fs::read_to_string(home.join(".config/fish/completions/hyperslab.fish")).unwrap();
    assert_eq!(fish, scratch.printed(&["completions", "fish"]));
}

#[test]
fn help_takes_the_name_of_a_command() {
    let scratch = Scratch::new("help-word");
    for (words, options) in [
        (&["help"][..], &["--help"][..]),
        (&["help", "ls"], &["ls", "--help"]),
        (&["help", "segy", "slice"], &["segy", "slice", "--help"]),
        (&["segy", "help", "slice"], &["segy", "slice", "--help"]),
        (&["segy", "help"], &["segy", "--help"]),
    ] {
        assert_eq!(scratch.printed(words), scratch.printed(options), "{words:?}");
    }
    let (code, _, err) = scratch.run(&["help", "unpack"]);
    assert!(code == 2 && err.contains("unrecognized subcommand 'unpack'"), "{err}");
}

#[test]
fn names_of_other_programs_commands_lead_to_those_that_do_the_same() {
    let scratch = Scratch::new("words");
    for (word, meant) in [
        ("info", "'ls', 'stat'"),
        ("h5ls", "'ls'"),
        ("h5stat", "'stat'"),
        ("h5repack", "'repack'"),
        ("cp", "'copy'"),
        ("import", "'segy ingest'"),
        ("export", "'dump', 'query', 'segy export'"),
        ("serve", "'view'"),
    ] {
        let (code, _, err) = scratch.run(&[word, "climate.h5"]);
        let tip = err.lines().find(|line| line.contains("tip:")).unwrap_or_default();
        assert!(code == 2 && tip.ends_with(&format!(": {meant}")), "{err}");
    }
    // A word below a command has other meanings.
    let (code, _, err) = scratch.run(&["segy", "convert"]);
    assert!(code == 2 && !err.contains("repack"), "{err}");
}
