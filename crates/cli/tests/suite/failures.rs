//! What every command says about a wrong file: the name of that file, what is wrong, and what to do.

#![allow(clippy::unwrap_used)] // A test may fail loudly outside `#[test]` functions, too.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Output, Stdio};

use hyperslab::Element as _;
use hyperslab::storage::{DatasetOptions, NewStorage};
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_testkit::segy::SegyRecipe;

use crate::common::{Scratch, dataset};

/// Returns a folder with a file `a.h5` with a dataset, a table and a group, a survey `cube.h5`, its source
/// `in.sgy`, and files that are no HDF5 files.
fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    let values: Vec<i32> = (0..6000).collect();
    scratch.make("a.h5", |root| {
        dataset(root, "x", &[60, 100], Some(&[7, 30]), &values);
        dataset(root, "g/y", &[3], None, &[1, 2, 3]);
    });
    let recipe = SegyRecipe { traces: SegyRecipe::grid(5, 6), samples: 40, ..SegyRecipe::default() };
    std::fs::write(scratch.path("in.sgy"), recipe.bytes()).unwrap();
    scratch.printed(&["segy", "ingest", "%in.sgy", "%cube.h5"]);
    scratch.write_damaged("text.h5", b"This is not an HDF5 file, but a text that is long enough.");
    let whole = std::fs::read(scratch.path("a.h5")).unwrap();
    scratch.write_damaged("cut.h5", &whole[..whole.len() - 3000]);
    std::fs::create_dir(scratch.path("folder")).unwrap();
    scratch
}

/// The commands that read `FILE`, each with its other arguments.
const READING: [&[&str]; 16] = [
    &["ls", "FILE"],
    &["ls", "-r", "--json", "FILE"],
    &["dump", "FILE", "/x"],
    &["stat", "FILE"],
    &["explain", "FILE", "/x"],
    &["check", "FILE"],
    &["recover", "FILE"],
    &["repack", "FILE", "new.h5"],
    &["copy", "FILE:/x", "new.h5"],
    &["diff", "FILE", "a.h5"],
    &["diff", "a.h5", "FILE"],
    &["query", "FILE", "/x"],
    &["refs", "FILE"],
    &["tune", "FILE", "/x", "--predict"],
    &["segy", "slice", "FILE", "--inline", "1", "--out", "new.npy"],
    &["segy", "export", "FILE", "new.sgy"],
];

/// The commands that write `NEW`, each with its other arguments.
const WRITING: [&[&str]; 11] = [
    &["repack", "a.h5", "NEW"],
    &["copy", "a.h5:/x", "NEW"],
    &["refs", "a.h5", "-o", "NEW"],
    #[cfg(feature = "parquet")]
    &["refs", "a.h5", "-o", "NEW", "--format", "parquet"],
    #[cfg(not(feature = "parquet"))]
    &["refs", "a.h5", "-o", "NEW"],
    &["query", "table.h5", "/t", "-o", "NEW"],
    &["query", "table.h5", "/t", "--format", "csv", "-o", "NEW"],
    &["segy", "ingest", "in.sgy", "NEW"],
    &["segy", "export", "cube.h5", "NEW"],
    &["segy", "slice", "cube.h5", "--inline", "1", "--out", "NEW.npy"],
    &["segy", "slice", "cube.h5", "--inline", "1", "--out", "NEW.sgy"],
    #[cfg(feature = "plot")]
    &["segy", "slice", "cube.h5", "--inline", "1", "--out", "NEW.png"],
    #[cfg(not(feature = "plot"))]
    &["segy", "slice", "cube.h5", "--inline", "1", "--out", "NEW.npy"],
];

/// Makes a file with a table.
fn with_table(scratch: &Scratch) {
    use hyperslab_format::datatype::{Compound, Datatype, Member};
    let integer = i32::datatype();
    let datatype = Datatype::Compound(Compound { size: 4, members: vec![Member::new("a", 0, integer)] });
    scratch.make("table.h5", |root| {
        let mut options =
            DatasetOptions::new(Dataspace::Simple { shape: vec![9], max_shape: None }, datatype);
        options.storage = NewStorage::Chunked(vec![4]);
        root.create_dataset("t", &options).unwrap();
    });
}

/// Runs the program in the folder.
fn run(scratch: &Scratch, args: &[String]) -> (i32, String) {
    ended(Command::new(env!("CARGO_BIN_EXE_hyperslab")).args(args).current_dir(scratch.path("")))
}

fn ended(command: &mut Command) -> (i32, String) {
    let Output { status, stderr, .. } = command.stdin(Stdio::null()).output().unwrap();
    (status.code().unwrap(), String::from_utf8(stderr).unwrap())
}

fn with(args: &[&str], name: &str, value: &str) -> Vec<String> {
    args.iter().map(|arg| arg.replace(name, value)).collect()
}

#[test]
fn every_command_names_the_file_that_it_cannot_read() {
    let scratch = scratch("failures-reading");
    let before = scratch.names();
    let cases = [
        ("none.h5", "none.h5: No such file or directory"),
        ("folder", "folder is a folder: name a file in it"),
        ("text.h5", "text.h5: "),
        ("text.h5", "check that this is an HDF5 file"),
        ("cut.h5", "the file is cut short: its superblock states "),
        ("", "the name of the file is empty"),
    ];
    for args in READING {
        for (name, expected) in cases {
            let is_cut = name == "cut.h5";
            // The report of `check` goes to the output, and that of `recover`, too. A `:/` follows a name.
            if is_cut && matches!(args[0], "check" | "recover") || name.is_empty() && args[0] == "copy" {
                continue;
            }
            let args = with(args, "FILE", name);
            let (code, err) = run(&scratch, &args);
            if name.is_empty() && err.contains("a value is required for '<") {
                continue;
            }
            assert!(matches!(code, 1 | 2) && err.contains(expected), "{args:?} gives {code}: {err}");
            assert!(err.starts_with("hyperslab: ") && err.lines().count() <= 2, "{args:?}: {err}");
        }
    }
    assert_eq!(scratch.names(), before, "nothing is written");
}

#[test]
fn every_command_names_the_object_that_does_not_exist() {
    let scratch = scratch("failures-objects");
    let cases: [&[&str]; 9] = [
        &["ls", "a.h5", "/none"],
        &["ls", "a.h5:/none"],
        &["dump", "a.h5", "/g/none"],
        &["explain", "a.h5", "/none"],
        &["repack", "a.h5", "new.h5", "--select", "/none"],
        &["copy", "a.h5:/none", "new.h5"],
        &["diff", "a.h5:/none", "a.h5:/x"],
        &["query", "a.h5", "/none"],
        &["tune", "a.h5", "/none", "--predict"],
    ];
    for args in cases {
        let args = with(args, "", "");
        let (_, err) = run(&scratch, &args);
        assert!(err.contains("a.h5: no object named") && err.contains("none"), "{args:?}: {err}");
        assert!(err.contains("hint: `hyperslab ls -r FILE` lists"), "{args:?}: {err}");
    }
    let (code, err) = run(&scratch, &with(&["ls", "a.h5", "b.h5"], "", ""));
    assert!(code == 1 && err.contains("there is no file \"b.h5\": a.h5: no object named \"b.h5\""), "{err}");
    scratch.make("links.h5", |root| root.link_soft("dangling", "/nope").unwrap());
    for args in [&["dump", "links.h5", "/dangling"][..], &["dump", "links.h5:/dangling"]] {
        let (code, err) = run(&scratch, &with(args, "", ""));
        let text = "links.h5: /dangling is a link that leads nowhere: no object named \"/nope\" (/dangling)";
        assert!(code == 1 && err.contains(text) && !err.contains("there is no file"), "{err}");
    }
}

#[test]
fn every_command_names_the_file_that_it_cannot_write() {
    let scratch = scratch("failures-writing");
    with_table(&scratch);
    let before = scratch.names();
    let cases = [
        ("none/new", "there is no folder none: create it (`mkdir -p none`), or name another one"),
        ("a.h5/new", "a.h5 is no folder: name a file in a folder"),
        ("s3://bucket/new", "files are written to this machine, not to URLs"),
    ];
    for args in WRITING {
        for (name, expected) in cases {
            let args = with(args, "NEW", name);
            let (code, err) = run(&scratch, &args);
            assert!(matches!(code, 1 | 2) && err.contains(expected), "{args:?} gives {code}: {err}");
            assert!(err.lines().count() == 1, "{args:?}: {err}");
        }
        if args.contains(&"NEW") && !args.contains(&"parquet") {
            for (name, expected) in [("folder", "folder is a folder: name a file in it"), ("", "is empty")] {
                let args = with(args, "NEW", name);
                let (code, err) = run(&scratch, &args);
                let expected = if err.contains("a value is required for") { "" } else { expected };
                assert!(matches!(code, 1 | 2) && err.contains(expected), "{args:?} gives {code}: {err}");
            }
        }
    }
    assert_eq!(scratch.names(), before, "nothing is written");
}

#[test]
fn an_existing_file_is_named_with_the_option_that_replaces_it() {
    let scratch = scratch("failures-exists");
    let (code, err) = run(&scratch, &with(&["repack", "a.h5", "cube.h5"], "", ""));
    let expected = "cube.h5 exists already: name another file, or replace it with --overwrite";
    assert_eq!((code, err), (1, format!("hyperslab: {expected}\n")));
    let (code, err) = run(&scratch, &with(&["segy", "ingest", "in.sgy", "a.h5"], "", ""));
    assert!(code == 2 && err.contains("a.h5: it exists") && err.contains("overwrite"), "{err}");
    let (code, err) = run(&scratch, &with(&["segy", "export", "cube.h5", "a.h5"], "", ""));
    assert!(code == 2 && err.contains("a.h5: it exists: choose another name"), "{err}");
    let (code, err) = run(&scratch, &with(&["copy", "a.h5:/x", "a.h5:/g"], "", ""));
    assert!(code == 1 && err.contains("a.h5: ") && err.contains("objects are not replaced"), "{err}");
    for args in [
        &["refs", "a.h5", "-o", "a.h5"][..],
        &["segy", "export", "cube.h5", "cube.h5"],
        &["query", "a.h5", "/g/y", "-o", "a.h5"],
    ] {
        let (code, err) = run(&scratch, &with(args, "", ""));
        assert!(
            code == 2 && err.contains("this is the file to read, so name another one"),
            "{args:?}: {err}"
        );
    }
    // With the option, a file may even be replaced by itself.
    let (code, err) = run(&scratch, &with(&["repack", "a.h5", "a.h5", "--overwrite"], "", ""));
    assert_eq!((code, &*err), (0, ""));
}

#[test]
fn a_selection_is_for_datasets() {
    let scratch = scratch("failures-selection");
    for args in
        [&["dump", "%a.h5", "--select", "[0]"][..], &["dump", "--json", "%a.h5", "/g", "--select", "[0]"]]
    {
        let (code, out, err) = scratch.run(args);
        assert!(code == 2 && out.is_empty(), "{args:?}: {err}");
        let expected = ["--select selects elements of a dataset", "is a group: name a dataset"];
        assert!(expected.iter().all(|text| err.contains(text)), "{args:?}: {err}");
    }
    assert!(scratch.printed(&["dump", "%a.h5", "/g"]).starts_with("/g  group"));
}

#[test]
fn advice_about_a_damaged_chunk_is_for_the_command() {
    let scratch = scratch("failures-chunk");
    scratch.printed(&["repack", "%a.h5", "%damaged.h5", "--filter", "gzip", "--filter", "fletcher32"]);
    let mut bytes = std::fs::read(scratch.path("damaged.h5")).unwrap();
    let plan = scratch.printed(&["explain", "%damaged.h5", "/x", "--json"]);
    let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    let at = plan.to_string();
    let chunk = first_address(&plan).unwrap_or_else(|| panic!("{at}"));
    bytes[usize::try_from(chunk).unwrap() + 3] ^= 0xff;
    scratch.write_damaged("damaged.h5", &bytes);
    let cases: [(&[&str], &str); 5] = [
        (&["dump", "%damaged.h5", "/x"], "a --select without this chunk reads the rest of the dataset"),
        (&["repack", "%damaged.h5", "%new.h5", "--filter", "lz4"], "--select takes over other objects only"),
        (&["copy", "%damaged.h5:/x", "%new.h5", "--without-attrs"], ""),
        (&["diff", "%damaged.h5", "%a.h5"], ""),
        (&["query", "%damaged.h5", "/x"], ""),
    ];
    for (args, expected) in cases {
        let (code, _, err) = scratch.run(args);
        if expected.is_empty() {
            // A copy takes chunks over as they are stored, and `query` is for tables.
            assert!(!err.contains("--select"), "{args:?} gives {code}: {err}");
        } else {
            assert!(code == 1 && err.contains(expected), "{args:?} gives {code}: {err}");
        }
    }
    assert!(!scratch.names().iter().any(|name| name.contains(".part")));
    // The copy has the damaged chunk.
    std::fs::remove_file(scratch.path("new.h5")).unwrap();
}

/// Returns the first address in the JSON of a plan.
fn first_address(plan: &serde_json::Value) -> Option<u64> {
    match plan {
        serde_json::Value::Object(members) => {
            let own = ["address", "addr", "offset"].iter().find_map(|name| members.get(*name)?.as_u64());
            own.filter(|&address| address > 0).or_else(|| members.values().find_map(first_address))
        }
        serde_json::Value::Array(items) => items.iter().find_map(first_address),
        _ => None,
    }
}

#[test]
fn a_full_disk_is_named_and_the_old_file_stays() {
    let scratch = scratch("failures-full");
    with_table(&scratch);
    for args in
        [&["refs", "a.h5", "-o", "NEW"][..], &["query", "table.h5", "/t", "--format", "csv", "-o", "NEW"]]
    {
        let (code, err) = run(&scratch, &with(args, "NEW", "/dev/full"));
        let expected = ["/dev/full: No space left on device", "hint: the disk is full"];
        assert!(code == 1 && expected.iter().all(|text| err.contains(text)), "{args:?}: {err}");
    }
    for args in [&["ls", "a.h5"][..], &["man"], &["completions", "zsh"], &["--help"], &["stat", "a.h5"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_hyperslab"));
        let child =
            command.args(args).current_dir(scratch.path("")).stdout(full).stderr(Stdio::piped()).spawn();
        let ended = child.unwrap().wait_with_output().unwrap();
        let err = String::from_utf8(ended.stderr).unwrap();
        assert!(ended.status.code() == Some(1) && err.contains("No space left on device"), "{args:?}: {err}");
    }
    // A small disk of its own, where the system lets a user make one.
    let in_namespace = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["-rm", "sh", "-c", script, env!("CARGO_BIN_EXE_hyperslab")]);
        command.current_dir(scratch.path("")).output()
    };
    let mount = "mount -t tmpfs -o size=64k none folder";
    if !in_namespace(mount).is_ok_and(|ended| ended.status.success()) {
        return;
    }
    std::fs::write(scratch.path("noise.sgy"), {
        let recipe = SegyRecipe { traces: SegyRecipe::grid(20, 20), samples: 100, ..SegyRecipe::default() };
        recipe.bytes()
    })
    .unwrap();
    scratch.printed(&["segy", "ingest", "%noise.sgy", "%noise.h5"]);
    for args in [
        "repack noise.h5 folder/new.h5 --overwrite",
        "copy noise.h5:/data folder/fresh.h5",
        "segy export noise.h5 folder/new.sgy",
        "segy ingest noise.sgy folder/cube.h5",
    ] {
        let script = format!("{mount} && cp a.h5 folder/new.h5 && \"$0\" {args}; echo \"$?\"; ls folder");
        let ended = in_namespace(&script).unwrap();
        let (out, err) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
        assert!(out.starts_with("1\n"), "{args}: {out}{err}");
        let expected = ["folder/", "No space left on device", "hint: the disk is full"];
        assert!(expected.iter().all(|text| err.contains(text)), "{args}: {err}");
        assert!(!out.contains(".part"), "{args}: {out}");
    }
}

#[test]
fn files_without_permission_are_named() {
    let scratch = scratch("failures-permission");
    let mode = |name: &str, mode| {
        std::fs::set_permissions(scratch.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    std::fs::copy(scratch.path("a.h5"), scratch.path("locked.h5")).unwrap();
    mode("locked.h5", 0);
    mode("folder", 0o555);
    mode("a.h5", 0o644);
    mode("in.sgy", 0o644);
    // The administrator may read everything, so another user runs the command, in a copy that this user may
    // read.
    let program = scratch.path("hyperslab");
    std::fs::copy(env!("CARGO_BIN_EXE_hyperslab"), &program).unwrap();
    mode("hyperslab", 0o755);
    mode("", 0o755);
    let is_admin = is_admin();
    let cases: [(&[&str], &str); 7] = [
        (&["ls", "locked.h5"], "locked.h5: Permission denied"),
        (&["check", "locked.h5"], "locked.h5: Permission denied"),
        (&["repack", "locked.h5", "folder/new.h5"], "locked.h5: Permission denied"),
        (&["repack", "a.h5", "folder/new.h5"], "folder/new.h5: create failed: Permission denied"),
        (&["copy", "a.h5:/x", "folder/new.h5"], "folder/new.h5: create failed: Permission denied"),
        (&["refs", "a.h5", "-o", "folder/new.json"], "folder/new.json: Permission denied"),
        (&["segy", "ingest", "in.sgy", "folder/new.h5"], "folder/new.h5: Permission denied"),
    ];
    for (args, expected) in cases {
        let mut command = Command::new(&program);
        command.args(args).current_dir(scratch.path(""));
        if is_admin {
            command.uid(65534).gid(65534);
        }
        let (code, err) = ended(&mut command);
        assert!(code == 1 && err.contains(expected), "{args:?} gives {code}: {err}");
    }
    mode("locked.h5", 0o644);
}

/// Returns whether this process may read every file.
fn is_admin() -> bool {
    let ended = Command::new("id").arg("-u").output().unwrap();
    ended.stdout.trim_ascii() == b"0"
}

#[test]
fn every_command_ends_silently_when_its_output_is_closed() {
    let scratch = scratch("failures-pipe");
    with_table(&scratch);
    let cases: [&[&str]; 16] = [
        &["ls", "-r", "a.h5", "cube.h5"],
        &["ls", "--tree", "cube.h5"],
        &["ls", "-r", "--json", "cube.h5"],
        &["dump", "a.h5", "/x", "--limit", "0"],
        &["stat", "a.h5", "cube.h5"],
        &["explain", "a.h5", "/x"],
        &["check", "a.h5", "cube.h5"],
        &["diff", "a.h5", "cube.h5"],
        &["query", "table.h5", "/t"],
        &["refs", "a.h5"],
        &["tune", "a.h5", "/x", "--predict"],
        &["segy", "info", "in.sgy"],
        &["completions", "bash"],
        &["man"],
        &["--help"],
        &["repack", "--help"],
    ];
    for args in cases {
        // A quick command writes before a reader that is closed later, so the reader is closed first.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_hyperslab"));
        command.args(args).current_dir(scratch.path("")).stdout(writer).stderr(Stdio::piped());
        let ended = command.spawn().unwrap().wait_with_output().unwrap();
        let err = String::from_utf8(ended.stderr).unwrap();
        assert_eq!((ended.status.code(), &*err), (Some(0), ""), "{args:?}");
    }
}
