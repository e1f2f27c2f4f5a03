//! Where `hyperslab query` and `hyperslab sql` write rows, and what they say when they cannot.

use std::ffi::OsString;
use std::fs;
#[cfg(unix)]
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use crate::common::Scratch;
use arrow_array::RecordBatchReader;
use hyperslab::Element;

#[derive(Element, Debug, Clone, Copy, PartialEq)]
struct Inner {
    x: f64,
}
#[derive(Element, Debug, Clone, Copy, PartialEq)]
struct Row {
    i: i32,
    n: Inner,
}

/// Creates a file with a table of `count` rows.
fn with_rows(scratch: &Scratch, count: i32) {
    let rows: Vec<Row> = (0..count).map(|i| Row { i, n: Inner { x: 0.5 } }).collect();
    scratch.make("t.h5", |root| {
        root.new_dataset::<Row>("t").shape([rows.len() as u64]).create_with(&rows).expect("a table");
    });
}

/// The arguments that write the column `i` as CSV to a target.
fn csv_to(target: &str) -> [&str; 9] {
    ["query", "%t.h5", "t", "--columns", "i", "--format", "csv", "-o", target]
}

#[test]
fn the_file_with_the_rows_is_not_replaced_under_any_of_its_names() {
    let scratch = Scratch::new("query-itself");
    with_rows(&scratch, 3);
    fs::hard_link(scratch.path("t.h5"), scratch.path("hard.h5")).unwrap();
    #[cfg(unix)]
    symlink("t.h5", scratch.path("soft.h5")).unwrap();
    // Windows lets only some users make symbolic links.
    #[cfg(windows)]
    fs::hard_link(scratch.path("t.h5"), scratch.path("soft.h5")).unwrap();
    let before = fs::read(scratch.path("t.h5")).unwrap();
    for name in ["%t.h5", "%hard.h5", "%soft.h5"] {
        for args in [&csv_to(name)[..], &["sql", "%t.h5", "select 1", "-o", name]] {
            let (code, _, err) = scratch.run(args);
            assert!(code == 2 && err.contains("this is the file to read"), "{args:?}: {err}");
        }
    }
    assert_eq!(fs::read(scratch.path("t.h5")).unwrap(), before);
    assert_eq!(scratch.names(), ["hard.h5", "soft.h5", "t.h5"]);
}

#[test]
#[cfg(unix)]
fn a_file_is_replaced_at_the_end_of_a_link_and_keeps_its_permissions() {
    let scratch = Scratch::new("query-link");
    with_rows(&scratch, 3);
    let out = scratch.path("out.csv");
    fs::write(&out, "before").unwrap();
    fs::set_permissions(&out, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("out.csv", scratch.path("link.csv")).unwrap();
    let (code, ..) = scratch.run(&["query", "%t.h5", "t", "--format", "csv", "-o", "%link.csv"]);
    assert_eq!((code, fs::read_to_string(&out).unwrap().as_str()), (1, "before"), "a nested column");
    scratch.printed(&csv_to("%link.csv"));
    assert!(scratch.path("link.csv").is_symlink());
    assert_eq!(fs::read_to_string(&out).unwrap(), "i\n0\n1\n2\n");
    assert_eq!(out.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(scratch.names(), ["link.csv", "out.csv", "t.h5"]);
}

#[test]
#[cfg(target_os = "linux")]
fn pipes_and_devices_are_written_to_and_stay() {
    use std::os::unix::fs::FileTypeExt as _;

    let scratch = Scratch::new("query-devices");
    with_rows(&scratch, 20_000);
    let expected: String =
        std::iter::once("i\n".to_owned()).chain((0..20_000).map(|i| format!("{i}\n"))).collect();
    let pipe = scratch.path("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let read = std::thread::scope(|scope| {
        let reader = scope.spawn(|| fs::read_to_string(&pipe).unwrap());
        scratch.printed(&csv_to("%pipe"));
        reader.join().unwrap()
    });
    assert!(read == expected && pipe.metadata().unwrap().file_type().is_fifo());
    // Through a link, because a test that fails as root must not replace the device.
    symlink("/dev/full", scratch.path("full")).unwrap();
    let parquet = cfg!(feature = "parquet").then_some("parquet");
    for format in ["csv", "json", "table", "arrow"].into_iter().chain(parquet) {
        let args =
            ["query", "%t.h5", "t", "--columns", "i", "--limit", "0", "--format", format, "-o", "%full"];
        let (code, _, err) = scratch.run(&args);
        assert!(
            code == 1 && err.contains("full: No space left on device (os error 28)\n  hint: "),
            "{format}: {err}"
        );
    }
    assert_eq!(scratch.names(), ["full", "pipe", "t.h5"]);
    assert_eq!(fs::read_link(scratch.path("full")).unwrap(), Path::new("/dev/full"));
}

#[test]
#[cfg(target_os = "linux")]
fn the_standard_output_is_written_to_where_it_ends() {
    use std::io::Write as _;

    let scratch = Scratch::new("query-stdout");
    with_rows(&scratch, 2);
    // Not `/dev/stdout`, because a test that fails as root must not replace it.
    for output in ["/dev/fd/1", "/proc/self/fd/1"] {
        fs::write(scratch.path("log"), "before\n").unwrap();
        let mut log = fs::OpenOptions::new().append(true).open(scratch.path("log")).unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_hyperslab"));
        command.arg("query").arg(scratch.path("t.h5")).args(&csv_to(output)[2..]);
        assert!(command.stdout(log.try_clone().unwrap()).status().unwrap().success());
        log.write_all(b"after\n").unwrap();
        assert_eq!(fs::read_to_string(scratch.path("log")).unwrap(), "before\ni\n0\n1\nafter\n");
    }
}

#[test]
fn nested_columns_are_named_when_csv_has_none() {
    let scratch = Scratch::new("query-nested");
    with_rows(&scratch, 1);
    let (code, _, err) = scratch.run(&["query", "%t.h5", "t", "--format", "csv"]);
    let why = "column n: CSV has no nested columns: name others in --columns, or use --format json";
    assert!(code == 1 && err.contains(why), "{err}");
    assert_eq!(
        scratch.printed(&["query", "%t.h5", "t", "--columns", "n/x", "--format", "csv"]),
        "n/x\n0.5\n"
    );
}

/// Runs no statement.
struct Refusing;

impl hyperslab_cli::Sql for Refusing {
    fn run(&self, _: &Path, _: &str) -> anyhow::Result<Box<dyn RecordBatchReader + Send>> {
        anyhow::bail!("syntax error\n\nLINE 1: selec\u{1b}\n        ^")
    }
}

#[test]
fn errors_of_statements_keep_their_lines_and_cannot_control_the_terminal() {
    let scratch = Scratch::new("query-lines");
    with_rows(&scratch, 1);
    let args =
        ["hyperslab".into(), "sql".into(), scratch.path("t.h5").into_os_string(), OsString::from("selec")];
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let libraries = hyperslab_cli::Libraries { sql: Some(&Refusing), ..Default::default() };
    let code = hyperslab_cli::run_with(args, &mut out, &mut err, &libraries);
    let said = String::from_utf8(err).unwrap();
    assert_eq!((code, said.as_str()), (1, "hyperslab: syntax error\n\nLINE 1: selec\\u{1b}\n        ^\n"));
}
