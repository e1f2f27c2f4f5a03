//! Tests `hyperslab check` on sound and on damaged files.

#![allow(clippy::unwrap_used)] // A test may fail loudly outside `#[test]` functions, too.

use std::ffi::OsString;
use std::path::PathBuf;

use hyperslab_testkit::golden;
use hyperslab_testkit::server::Server;
use serde_json::Value;

use crate::common;

fn check(file: PathBuf, more: &[&str]) -> (u8, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = ["hyperslab", "check"].iter().chain(more).map(OsString::from);
    let code = hyperslab_cli::run(args.chain([file.into()]), &mut out, &mut err);
    (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

fn sample(name: &str) -> PathBuf {
    golden::directory().join("files").join(name)
}

/// A modified copy of a golden file, removed at the end of a test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, change: impl FnOnce(&mut Vec<u8>)) -> Self {
        let mut image = std::fs::read(sample(name)).unwrap();
        change(&mut image);
        let path = std::env::temp_dir().join(format!("hyperslab-check-{}-{name}", std::process::id()));
        std::fs::write(&path, image).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn a_sound_file_gives_exit_code_0_and_a_summary() {
    let file = sample("space_page.h5");
    let (code, out, err) = check(file.clone(), &["--data", "--strict"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let expected = "\
: sound
  objects     2 groups, 2 datasets, 0 datatypes, 3 links, 2 attributes
  checked     13 structures, 4 chunks, 4 decoded
  space       6.5 KiB, 550 B free, 0 B lost
";
    assert_eq!(out, format!("{}{expected}", file.display()));
}

#[test]
fn warnings_give_exit_code_1_only_with_strict() {
    let scratch = common::Scratch::new("check-warnings");
    scratch.make("a.h5", |root| {
        common::dataset(root, "large", &[1000], None, &[7_i64; 1000]);
        common::dataset(root, "small", &[1], None, &[7_i64]);
    });
    let file = hyperslab::File::options().write(true).open(scratch.path("a.h5")).unwrap();
    file.root().remove("large").unwrap();
    file.close().unwrap();
    let (code, out, err) = scratch.run(&["check", "%a.h5"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.starts_with("warning: 8"), "{out}");
    assert!(out.contains(" bytes in 1 piece are unreachable, file space, HDF5 spec II\n"), "{out}");
    assert!(out.contains("a.h5: sound, with warnings\n"), "{out}");
    let (code, again, err) = scratch.run(&["check", "%a.h5", "--strict"]);
    assert_eq!((code, again), (1, out));
    assert!(err.ends_with("a.h5: 1 warning\n"), "{err}");
    // Pieces between structures, which other programs leave, are only counted.
    let (code, out, err) = check(sample("links_latest.h5"), &["--strict"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("154 B lost\n") && !out.contains("warning"), "{out}");
}

#[test]
fn errors_give_exit_code_1_and_name_the_structure_and_address() {
    let damaged = Scratch::new("links_latest_40.h5", |image| {
        let at = image.windows(4).position(|window| window == b"BTLF").unwrap();
        image[at + 10] ^= 1;
    });
    let (code, out, err) = check(damaged.0.clone(), &[]);
    assert_eq!(code, 1);
    assert!(out.starts_with("error: checksum 0x") && out.contains("version 2 B-tree node at 0x"), "{out}");
    assert!(out.contains(": damaged\n") && err.ends_with(": 1 error\n"), "{out}{err}");
    let (code, out, _) = check(damaged.0.clone(), &["--json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &report["sound"], &report["errors"]), (1, &false.into(), &1.into()));
    let finding = &report["findings"][0];
    assert_eq!((&finding["severity"], &finding["spec"]), (&"error".into(), &"III.A.2".into()));
    assert!(finding["address"].as_u64().unwrap() > 0 && finding["path"].is_string(), "{finding}");
}

#[test]
fn json_has_the_same_counts_as_the_text() {
    let (code, out, err) = check(sample("btree1.h5"), &["--json", "--data"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let report: Value = serde_json::from_str(&out).unwrap();
    for (key, value) in [("errors", 0), ("warnings", 0), ("lost_bytes", 1149), ("holes", 5), ("datasets", 8)]
    {
        assert_eq!(report[key], value, "{key}");
    }
    assert_eq!((&report["chunks"], &report["data"]), (&report["decoded"], &true.into()));
    assert_eq!(report["findings"][0]["address"], Value::Null);
}

#[test]
fn unreadable_files_give_exit_code_1_and_wrong_usage_2() {
    let (code, _, err) = check("/no/such.h5".into(), &[]);
    assert!(code == 1 && err.contains("/no/such.h5: No such file"), "{err}");
    let (code, out, err) = check(golden::directory().join("README.md"), &[]);
    assert!(code == 1 && out.is_empty() && err.contains("hint: check that this is an HDF5 file"), "{err}");
    assert_eq!(check(sample("btree1.h5"), &["--dta"]).0, 2);
}

#[test]
fn a_file_on_a_server_is_listed_and_checked() {
    let server = Server::start(std::fs::read(sample("space_page.h5")).unwrap());
    let run = |command: &str, file: &str| {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let code = hyperslab_cli::run(["hyperslab", command, file].map(OsString::from), &mut out, &mut err);
        (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
    };
    let local = sample("space_page.h5").display().to_string();
    for command in ["ls", "dump"] {
        let (code, out, err) = run(command, &server.url());
        assert_eq!((code, err.as_str()), (0, ""));
        assert_eq!(out.replace(&server.url(), &local), run(command, &local).1);
    }
    let (code, out, _) = run("check", &server.url());
    assert!(code == 0 && out.starts_with(&format!("{}: sound\n", server.url())), "{out}");
    server.state().fails = [404].into();
    let (code, _, err) = run("ls", &(server.url() + "?token=hidden"));
    assert!(code == 1 && err.contains("no such file") && !err.contains("hidden"), "{err}");
}
