//! Tests the command on golden files: its output and its exit code.

#![allow(clippy::unwrap_used)] // A test may fail loudly outside `#[test]` functions, too.

use std::ffi::OsString;

use hyperslab_testkit::golden::{self, Manifest};
use serde_json::Value;

/// Runs the command and returns its exit code, its output and its errors. `@name` is a golden file.
fn run(args: &[&str]) -> (u8, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = args.iter().map(|arg| match arg.strip_prefix('@') {
        Some(name) => golden::directory().join("files").join(name).into_os_string(),
        None => OsString::from(arg),
    });
    let code = hyperslab_cli::run([OsString::from("hyperslab")].into_iter().chain(args), &mut out, &mut err);
    (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

/// Returns the output of a command that must succeed without errors.
#[track_caller]
fn printed(args: &[&str]) -> String {
    let (code, out, err) = run(args);
    assert_eq!((code, err.as_str()), (0, ""), "{args:?}");
    out
}

#[track_caller]
fn json(args: &[&str]) -> Value {
    serde_json::from_str(&printed(args)).unwrap()
}

#[cfg(windows)]
#[test]
fn the_command_pio_says_that_it_is_not_on_this_system() {
    for args in [&["pio"][..], &["pio", "--processes", "2"], &["pio", "--help"]] {
        let (code, out, err) = run(args);
        assert!((code, out.as_str()) == (2, "") && err.contains("not there on this system"), "{err}");
    }
}

#[test]
fn ls_lists_members_with_their_types_and_storage() {
    let expected = "\
a        dataset  int32  (20,)    80 B  contiguous
group/   group    1 member
group/b  dataset  >f8    (6, 7)  336 B  chunks (4, 4), deflate 4
";
    assert_eq!(printed(&["ls", "-r", "@libver_v110.h5"]), expected);
    let top = "a       dataset  int32  (20,)  80 B  contiguous\ngroup/  group    1 member\n";
    assert_eq!(printed(&["ls", "@libver_v110.h5"]), top);
    assert_eq!(
        printed(&["ls", "@libver_v110.h5", "/group"]),
        "b  dataset  >f8  (6, 7)  336 B  chunks (4, 4), deflate 4\n"
    );
}

#[test]
fn a_path_may_follow_the_file_after_a_colon() {
    let file = golden::directory().join("files/libver_v110.h5:/group");
    assert_eq!(printed(&["ls", file.to_str().unwrap()]), printed(&["ls", "@libver_v110.h5", "group"]));
}

#[test]
fn ls_shows_the_targets_of_links_and_follows_cycles_once() {
    let listed = printed(&["ls", "-r", "@links_latest.h5"]);
    let lines: Vec<String> =
        listed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for line in [
        "dangling soft link -> /not/here (dangling)",
        "data/ group 3 members",
        "data/root/ group same as .",
        "external external link -> link_target.h5:/inside/values (dataset)",
        "external_missing_file external link -> no_such_file.h5:/x (dangling)",
        "hard dataset same as data/numbers",
        "loop_a soft link -> /loop_b (dangling)",
        "soft_group soft link -> /data (group)",
    ] {
        assert!(lines.iter().any(|found| found == line), "{line}\n{listed}");
    }
}

#[test]
fn ls_shows_attributes_with_the_option_long() {
    let listed = printed(&["ls", "-l", "@attributes_latest.h5"]);
    for line in [
        "    @bool: bool = True\n",
        "    @compound: {i: int16, f: >f8, s: S4}(2,) = [(1, 2.5, \"x\") (3, -4.5, \"yz\")]\n",
        "    @empty: float32 = null\n",
        "    @sequences: vlen(int32)(3,) = [[1 2] [] [7]]\n",
        "    @texts: str(3,) = [\"a\" \"\" \"日本\"]\n",
    ] {
        assert!(listed.contains(line), "{line}{listed}");
    }
}

#[test]
fn control_characters_in_names_are_escaped() {
    assert!(printed(&["ls", "@names_latest.h5"]).contains("new\\nline/ "));
}

/// The numbers are `pattern(mix, k)` of golden/README.md.
#[test]
fn dump_prints_rows_and_marks_omitted_elements() {
    let expected = "\
/of_named  dataset  {a: int32, b: S3}  (3,)
[(0, \"\")
 (0, \"\")
 …]
(1 more; --limit 0 prints all)
";
    assert_eq!(printed(&["dump", "@composed_latest.h5", "of_named", "--limit", "2"]), expected);
    let expected = "/enum  dataset  enum(int16: BLUE, GREEN, NONE, RED)  (20,)\n[RED RED NONE GREEN]\n";
    assert_eq!(printed(&["dump", "@composed_latest.h5", "enum", "--select", "[:4]"]), expected);
    let expected = "/zero_fixed  dataset  int32  (0, 4)\n[]\n";
    assert_eq!(printed(&["dump", "@empty_latest.h5", "zero_fixed"]), expected);
}

#[test]
fn dump_prints_attributes_first() {
    let expected = "/group  group\n  @numbers: int64 (3,) = [1 2 3]\n";
    assert_eq!(printed(&["dump", "@libver_v110.h5", "/group"]), expected);
}

#[test]
fn references_are_shown_as_the_paths_of_their_targets() {
    let objects = json(&["dump", "--json", "@references_latest.h5", "objects"]);
    let expected = r#"[{"object":"/target"},{"object":"/group"},{"object":"/"},null]"#;
    assert_eq!(objects["value"].to_string(), expected);
    let text = printed(&["dump", "@references_latest.h5", "regions"]);
    assert!(text.ends_with("[-> region of /target -> region of /target null]\n"), "{text}");
}

/// Returns the bytes of a JSON number as an element of a NumPy type such as `>i4`, or `None` if the type is
/// not a number.
fn stored(number: &Value, dtype: &str) -> Option<Vec<u8>> {
    let (order, kind) = (dtype.chars().next()?, dtype.chars().nth(1)?);
    let size: usize = dtype.get(2..)?.parse().ok()?;
    let mut bytes = match (kind, size) {
        ('i', _) => number.as_i64()?.to_le_bytes()[..size].to_vec(),
        ('u', _) => number.as_u64()?.to_le_bytes()[..size].to_vec(),
        #[expect(clippy::cast_possible_truncation, reason = "the shortest decimal of a float of this size")]
        ('f', 4) => (number.as_f64()? as f32).to_le_bytes().to_vec(),
        ('f', 8) => number.as_f64()?.to_le_bytes().to_vec(),
        _ => return None,
    };
    if order == '>' {
        bytes.reverse();
    }
    Some(bytes)
}

fn flat<'v>(value: &'v Value, out: &mut Vec<&'v Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| flat(item, out)),
        item => out.push(item),
    }
}

#[test]
fn json_of_every_golden_number_equals_its_formula() {
    let mut compared = 0;
    for file in Manifest::load().files.iter().filter(|file| file.committed && !file.damaged) {
        for dataset in file.datasets.iter().filter(|dataset| !dataset.refused && dataset.len() < 2000) {
            let Some(dtype) = dataset.dtype.as_deref() else { continue };
            let is_number = stored(&Value::from(0), dtype).is_some();
            let elsewhere = matches!(dataset.index.as_deref(), Some("virtual" | "external"));
            let Some(expected) = dataset.expected().filter(|_| is_number && !elsewhere) else { continue };
            let (code, out, err) = run(&["dump", "--json", &format!("@{}", file.name), &dataset.path]);
            if err.contains("is not supported yet") {
                continue;
            }
            assert_eq!(code, 0, "{} {}: {err}", file.name, dataset.path);
            let dumped: Value = serde_json::from_str(&out).unwrap();
            // An enumeration is dumped by name.
            if dumped["dtype"].as_str().unwrap().starts_with("enum") {
                continue;
            }
            let mut elements = Vec::new();
            flat(&dumped["value"], &mut elements);
            let found: Vec<u8> =
                elements.iter().flat_map(|element| stored(element, dtype).unwrap()).collect();
            assert_eq!(found, expected, "{} {}", file.name, dataset.path);
            compared += 1;
        }
    }
    assert!(compared > 150, "{compared} datasets");
}

#[test]
fn a_selection_drops_axes_with_a_single_index() {
    let whole = json(&["dump", "--json", "@libver_v110.h5", "group/b"]);
    let row = json(&["dump", "--json", "@libver_v110.h5", "group/b", "--select", "[1, ::3]"]);
    assert_eq!(row["selected"].to_string(), "[3]");
    let expected: Vec<&Value> = [0, 3, 6].iter().map(|&column| &whole["value"][1][column]).collect();
    assert_eq!(row["value"].as_array().unwrap().iter().collect::<Vec<_>>(), expected);
}

#[test]
fn stat_counts_objects_and_bytes() {
    let found = json(&["stat", "--json", "@userblock_512_v108.h5"]);
    let expected =
        [("superblock", 2), ("user_block", 512), ("groups", 2), ("datatypes", 0), ("attributes", 2)];
    for (key, value) in expected {
        assert_eq!(found[key], value, "{key}");
    }
    let [a, b] = &found["datasets"].as_array().unwrap()[..] else { panic!("{found}") };
    assert_eq!((&a["path"], &a["index"], &a["stored"]), (&"/a".into(), &"contiguous".into(), &80.into()));
    assert_eq!((&b["path"], &b["index"], &b["decoded"]), (&"/group/b".into(), &"btree1".into(), &336.into()));
    assert_eq!((&b["chunks_stored"], &b["chunks"]), (&4.into(), &4.into()));
}

#[test]
fn stat_as_text_has_a_line_for_every_dataset() {
    let text = printed(&["stat", "@masks_latest.h5"]);
    assert!(text.contains("objects      1 group, 4 datasets, 0 datatypes, 0 attributes\n"), "{text}");
    let line = "/free        300 B  30.6 %    480 B   1.60  int32     (12, 10)  btree2            \
                6 of 6, (4, 5)  shuffle, deflate 4, fletcher32\n";
    assert!(text.contains(line), "{text}");
}

#[test]
fn explain_prints_the_plan_as_text_and_as_json() {
    let text = printed(&["explain", "@libver_v110.h5", "group/b", "--select", "[0:2]"]);
    assert!(text.starts_with("/group/b  dataset  >f8  (6, 7)\nresult     [2, 7], 112 bytes\n"), "{text}");
    let plan = json(&["explain", "--json", "@libver_v110.h5", "group/b", "--select", "[0:2]"]);
    assert_eq!(plan["tasks"].as_array().unwrap().len(), 2, "{plan}");
    assert_eq!(plan["result_bytes"], 112);
}

#[test]
fn stat_sorts_datasets_and_takes_several_files() {
    let order = |by: &str| -> Vec<String> {
        let found = json(&["stat", "--json", "--sort", by, "@masks_latest.h5"]);
        let datasets = found["datasets"].as_array().unwrap().iter();
        datasets.map(|dataset| dataset["path"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(order("path"), ["/fixed", "/free", "/single", "/unlimited"]);
    assert_eq!(order("stored"), ["/fixed", "/free", "/unlimited", "/single"]);
    assert_eq!(order("ratio"), ["/single", "/fixed", "/free", "/unlimited"]);
    let both = printed(&["stat", "@masks_latest.h5", "@libver_v110.h5"]);
    let one = printed(&["stat", "@masks_latest.h5"]);
    assert_eq!(both, format!("{one}\n{}", printed(&["stat", "@libver_v110.h5"])));
    assert_eq!(printed(&["stat", "--json", "@masks_latest.h5", "@libver_v110.h5"]).lines().count(), 2);
}

#[test]
fn several_objects_are_dumped_one_after_the_other() {
    let (a, b) =
        (printed(&["dump", "@libver_v110.h5", "a"]), printed(&["dump", "@libver_v110.h5", "group/b"]));
    let both = printed(&["dump", "@libver_v110.h5", "a", "group/b"]);
    let without_heads: Vec<&str> = both.lines().filter(|line| !line.ends_with(':')).collect();
    assert_eq!(without_heads, a.lines().chain(b.lines()).collect::<Vec<_>>());
    assert!(both.contains("libver_v110.h5:/group/b:\n"), "{both}");
    let lines = printed(&["dump", "--json", "@libver_v110.h5", "a", "@masks_latest.h5", "/single"]);
    let found: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(found.iter().map(|one| &one["path"]).collect::<Vec<_>>(), ["/a", "/single"]);
    let (code, _, err) = run(&["dump", "--canon", "@libver_v110.h5", "a", "group/b"]);
    assert!(code == 2 && err.contains("--canon prints one object"), "{err}");
}

#[test]
fn wrong_usage_gives_exit_code_2() {
    for args in [
        &[][..],
        &["frobnicate"],
        &["ls"],
        &["dump", "@libver_v110.h5", "a", "--select", "[1,"],
        &["dump", "@libver_v110.h5", "a", "--select", "[99]"],
    ] {
        let (code, out, err) = run(args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}");
        assert!(!err.is_empty(), "{args:?}");
    }
}

#[test]
fn failures_on_the_file_give_exit_code_1_and_a_hint() {
    let cases: [(&[&str], &str); 4] = [
        (&["ls", "@no_such_file.h5"], "no_such_file.h5: No such file"),
        (&["ls", "@../README.md"], "hint: check that this is an HDF5 file"),
        (&["dump", "@libver_v110.h5", "/none"], "no object named \"/none\"\n  hint: `hyperslab ls -r FILE`"),
        (
            &["explain", "@libver_v110.h5", "/group"],
            "\"/group\" is a group, not a dataset\n  hint: name a dataset",
        ),
    ];
    for (args, expected) in cases {
        let (code, out, err) = run(args);
        assert_eq!((code, out.as_str()), (1, ""), "{args:?}");
        assert!(err.contains(expected), "{err}");
        let words = err.trim_start_matches("hyperslab: ");
        assert_eq!(
            words.matches("no object named").count(),
            usize::from(expected.starts_with("no object")),
            "{err}"
        );
    }
}
