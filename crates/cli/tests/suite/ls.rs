//! How `hyperslab ls` shows many, long and nested things, and in what colours.

#![allow(clippy::unwrap_used)] // A test may fail loudly outside `#[test]` functions, too.

use std::process::{Command, Stdio};

use hyperslab::Element as _;
use hyperslab_format::datatype::{Compound, Datatype, Member};
use serde_json::Value;

use crate::common::{Scratch, dataset, sample};

/// A file with a compound of 91 members, as the trace headers of a survey are, and with nested groups.
fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.make("a.h5", |root| {
        let member = |number: u32| Member::new(format!("field_{number}"), 4 * number, i32::datatype());
        let datatype = Datatype::Compound(Compound { size: 364, members: (0..91).map(member).collect() });
        root.new_dataset_of("headers", datatype).shape([1000]).create().unwrap();
        dataset(root, "g/below/y", &[3], None, &[1, 2, 3]);
        dataset(root, "g/z", &[1 << 20], Some(&[1 << 12]), &[0_i32; 0]);
        dataset(root, "last", &[2], None, &[1_i64, 2]);
    });
    scratch
}

#[test]
fn a_long_compound_type_is_short_in_a_list_and_whole_with_the_option_long() {
    let scratch = scratch("ls-long");
    let listed = scratch.printed(&["ls", "-r", "%a.h5"]);
    let row = "headers    dataset  {field_0: int32, field_1: int32, … 89 more}  (1000,)     355.5 KiB  contiguous\n";
    assert!(listed.contains(row), "{listed}");
    assert!(listed.lines().all(|line| line.chars().count() <= 110), "{listed}");
    let long = scratch.printed(&["ls", "-rl", "%a.h5"]);
    for member in ["    .field_0: int32\n", "    .field_90: int32\n"] {
        assert!(long.contains(member), "{long}");
    }
    let stat = scratch.printed(&["stat", "%a.h5"]);
    assert!(stat.lines().all(|line| line.chars().count() <= 160), "{stat}");
    assert!(stat.contains("{field_0: int32, … 90 more}"), "{stat}");
}

#[test]
fn a_tree_has_the_names_of_each_group_below_it() {
    let scratch = scratch("ls-tree");
    let expected = "\
/
├── g/           group    2 members
│   ├── below/   group    1 member
│   │   └── y    dataset  int32                                     (3,)            12 B  contiguous
│   └── z        dataset  int32                                     (1048576,)   4.0 MiB  chunks (4096,)
├── headers      dataset  {field_0: int32, field_1: int32, … 89 more}  (1000,)  355.5 KiB  contiguous
└── last         dataset  int64                                     (2,)            16 B  contiguous
";
    let names = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    };
    assert_eq!(names(&scratch.printed(&["ls", "--tree", "%a.h5"])), names(expected));
    let below = scratch.printed(&["ls", "--tree", "%a.h5", "/g/below"]);
    assert_eq!(below, "/g/below/\n└── y  dataset  int32  (3,)  12 B  contiguous\n");
}

#[test]
fn json_has_a_line_for_each_object() {
    let scratch = scratch("ls-json");
    let lines = scratch.printed(&["ls", "-r", "--json", "%a.h5"]);
    let found: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let paths: Vec<&str> = found.iter().map(|one| one["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["/g", "/g/below", "/g/below/y", "/g/z", "/headers", "/last"]);
    assert_eq!((&found[3]["chunk_shape"][0], &found[3]["bytes"]), (&4096.into(), &(4 << 20).into()));
    assert!(found[4]["dtype"].as_str().unwrap().ends_with("field_90: int32}"));
    let below = scratch.printed(&["ls", "--json", "%a.h5", "/g"]);
    assert!(below.lines().next().unwrap().contains("\"path\":\"/g/below\""), "{below}");
    // Links have their kind and their target, and attributes come with --long.
    let lines = scratch.printed(&["ls", "-r", "--json", "@links_latest.h5"]);
    let found: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let one = |path: &str| found.iter().find(|one| one["path"] == path).unwrap();
    assert_eq!(
        (&one("/dangling")["kind"], &one("/dangling")["found"]),
        (&"soft link".into(), &"dangling".into())
    );
    assert_eq!(one("/hard")["same_as"], "/data/numbers");
    assert_eq!(one("/data/root")["same_as"], "/");
    let long = scratch.printed(&["ls", "--long", "--json", "@attributes_latest.h5"]);
    let found: Value = serde_json::from_str(long.lines().next().unwrap()).unwrap();
    assert!(found["attributes"].is_object(), "{long}");
}

#[test]
fn several_files_are_listed_under_their_names_and_one_that_fails_does_not_hide_the_others() {
    let scratch = scratch("ls-several");
    let one = scratch.printed(&["ls", "%a.h5"]);
    let path = scratch.path("a.h5").display().to_string();
    let both = scratch.printed(&["ls", "%a.h5", "%a.h5"]);
    assert_eq!(both, format!("{path}:\n{one}\n{path}:\n{one}"));
    scratch.write_damaged("text.h5", b"no HDF5");
    let (code, out, err) = scratch.run(&["ls", "%text.h5", "%a.h5", "/g/below"]);
    assert_eq!(code, 1);
    assert!(out.ends_with("a.h5:/g/below:\ny  dataset  int32  (3,)  12 B  contiguous\n"), "{out}");
    assert!(err.contains("text.h5: ") && err.ends_with("hyperslab: 1 of 2 failed\n"), "{err}");
}

/// Runs the program with variables of the environment. Its output is a pipe.
fn coloured(args: &[&str], variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hyperslab"));
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env_remove("CLICOLOR").env("TERM", "xterm");
    let ended = command.args(args).envs(variables.iter().copied()).stdin(Stdio::null()).output().unwrap();
    String::from_utf8([ended.stdout, ended.stderr].concat()).unwrap()
}

#[test]
fn text_is_coloured_as_the_option_and_the_environment_say() {
    let file = sample("links_latest.h5").into_os_string().into_string().unwrap();
    let commands: [&[&str]; 6] = [
        &["ls", &file],
        &["ls", "--tree", &file],
        &["stat", &file],
        &["check", &file],
        &["ls", "none.h5"],
        &["--help"],
    ];
    let has_colour = |args: &[&str], variables: &[(&str, &str)]| coloured(args, variables).contains('\u{1b}');
    for args in commands {
        assert!(!has_colour(args, &[]), "{args:?}: the output is no terminal");
        assert!(has_colour(args, &[("CLICOLOR_FORCE", "1")]), "{args:?}");
        assert!(!has_colour(args, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), "{args:?}");
        if args[0] == "--help" {
            continue;
        }
        let with = |when| [args, &["--color", when]].concat();
        assert!(has_colour(&with("always"), &[("NO_COLOR", "1")]), "{args:?}");
        assert!(!has_colour(&with("never"), &[("CLICOLOR_FORCE", "1")]), "{args:?}");
        // Colours change nothing else.
        let painted = coloured(&with("always"), &[]);
        let mut parts = painted.split('\u{1b}');
        let first = parts.next().unwrap().to_owned();
        let plain = parts.fold(first, |plain, part| plain + part.split_once('m').unwrap().1);
        assert_eq!(plain, coloured(&with("never"), &[]), "{args:?}");
    }
}

/// `script` runs the program on a terminal of its own.
#[test]
fn text_for_a_terminal_has_colours_unless_the_environment_forbids_them() {
    let file = sample("links_latest.h5").into_os_string().into_string().unwrap();
    let line = format!("'{}' ls '{file}'", env!("CARGO_BIN_EXE_hyperslab"));
    let on_terminal = |variables: &[(&str, &str)]| {
        let mut command = Command::new("script");
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env_remove("CI").env("TERM", "xterm");
        command.args(["-qec", &line, "/dev/null"]).envs(variables.iter().copied()).stdin(Stdio::null());
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    assert!(on_terminal(&[]).contains("\u{1b}[1m\u{1b}[34m") || on_terminal(&[]).contains("\u{1b}[1;34m"));
    assert!(!on_terminal(&[("NO_COLOR", "1")]).contains('\u{1b}'));
    assert!(!on_terminal(&[("TERM", "dumb")]).contains('\u{1b}'));
}
