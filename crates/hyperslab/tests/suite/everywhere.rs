//! Asserts that every test that writes a file checks that file.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]

use std::path::{Path, PathBuf};

/// Returns the source of a test: one file, or all Rust files of a folder.
fn text(path: &Path) -> String {
    let files: Vec<PathBuf> = match std::fs::read_dir(path) {
        Ok(found) => found.map(|entry| entry.unwrap().path()).filter(|path| is_code(path)).collect(),
        Err(_) => vec![path.to_owned()],
    };
    files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect()
}

fn is_code(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}

#[test]
fn every_test_that_writes_a_file_checks_that_file() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    // A file of the suite is a test of its own; the files of any other folder are one.
    let texts: Vec<(PathBuf, String)> = [tests.join("suite"), tests]
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| !path.ends_with("suite"))
        .map(|path| (path.clone(), text(&path)))
        .collect();
    let calls = ["File::create", ".create(true)", ".write(true)", "File::in_memory"];
    let writes = |text: &String| calls.iter().any(|call| text.contains(call));
    let checks =
        |text: &String| ["assert_sound(", "assert_accounted("].iter().any(|call| text.contains(call));
    let (checked, unchecked): (Vec<_>, Vec<_>) =
        texts.iter().filter(|(_, text)| writes(text)).partition(|(_, text)| checks(text));
    assert!(checked.len() >= 10, "{}", checked.len());
    let unchecked: Vec<&PathBuf> = unchecked.into_iter().map(|(path, _)| path).collect();
    assert!(
        unchecked.is_empty(),
        "these tests write files and do not call `assert_sound` or `assert_accounted`: {unchecked:?}"
    );
}
