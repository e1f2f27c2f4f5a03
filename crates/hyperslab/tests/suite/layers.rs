//! What the compiler does not hold: the engine uses no module above it, and unsafe code is in the listed
//! places.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Below the engine, the crates hold the layers. Above it is everything else in this one.
#[test]
fn the_engine_uses_no_module_above_it() {
    let mut checked = 0;
    for file in sources(&source_root().join("engine")) {
        for used in used_modules(&fs::read_to_string(&file).unwrap()) {
            assert!(used == "engine", "{}: `engine` may not use `{used}`", file.display());
            checked += 1;
        }
    }
    assert!(checked > 20, "only {checked} uses were found: the search is broken");
}

#[test]
fn the_search_finds_modules_in_use_lists_and_in_paths() {
    let text =
        "use crate::store::Store;\nuse crate::{engine::Fill, types::Conversion};\nlet x = crate::index::f();";
    let found: Vec<String> = used_modules(text).into_iter().collect();
    assert_eq!(found, ["engine", "index", "store", "types"]);
}

#[test]
fn every_file_of_the_suite_is_part_of_it() {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite");
    for file in sources(&suite) {
        // The module of a folder is in its `mod.rs`.
        let module = if file.ends_with("mod.rs") { file.parent().unwrap() } else { file.as_path() };
        let folder = module.parent().unwrap();
        let parent = folder.join(if folder == suite { "main.rs" } else { "mod.rs" });
        let name = module.file_stem().unwrap().to_string_lossy().into_owned();
        let is_declared = fs::read_to_string(&parent).unwrap().contains(&format!("mod {name};\n"));
        assert!(file == parent || is_declared, "{name} is not in {}", parent.display());
    }
}

/// The files and folders that may have unsafe code. A comment at each block there says why the block is
/// sound.
const UNSAFE_ALLOWED: &[&str] = &[
    "crates/capi/src/api/",
    "crates/capi/src/pointers.rs",
    "crates/capi/src/transfer.rs",
    "crates/filters/src/simd/",
    "crates/filters/src/ffi/",
    "crates/hyperslab/src/engine/destination.rs",
    "crates/hyperslab/src/engine/help.rs",
    "crates/hyperslab/tests/in_flight.rs",
    "crates/hyperslab/tests/suite/contracts.rs",
    "crates/hyperslab/tests/suite/golden.rs",
    "crates/io/src/driver/mapped.rs",
    "crates/io/src/driver/uring/ring.rs",
    "crates/io/src/process.rs",
    "crates/jni/src/",
    "crates/models/src/engine/models/help.rs",
    "crates/mpio/src/sys.rs",
    "crates/mpio/tests/ranks/native.rs",
    "crates/plugins/src/native/call.rs",
    "crates/plugins/src/native/h5/",
    "crates/plugins/src/native/library.rs",
    "crates/plugins/src/native/memory.rs",
    "crates/python/src/interpreter/gil.rs",
    "crates/python/src/interpreter/reports.rs",
    "crates/python/src/interpreter/signals.rs",
    "crates/python/src/opening/keywords.rs",
    "crates/python/src/tables/arrow/capsule.rs",
    "crates/python/src/values/buffer.rs",
    "crates/python/src/values/string_dtype.rs",
    "crates/testkit/src/allocator.rs",
    "crates/vol/src/callbacks/",
    "crates/vol/src/ffi/",
    "crates/vol/src/read.rs",
    "crates/vol/src/write.rs",
];

#[test]
fn unsafe_code_is_only_in_the_listed_files() {
    let workspace = source_root().join("../../..").canonicalize().unwrap();
    let mut seen = 0;
    for file in sources(&workspace.join("crates")) {
        let text = fs::read_to_string(&file).unwrap();
        let is_unsafe = text.lines().any(|line| {
            let code = line.split("//").next().unwrap_or_default();
            ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern"].iter().any(|word| code.contains(word))
        });
        let name = file.strip_prefix(&workspace).unwrap().to_string_lossy().replace('\\', "/");
        if is_unsafe && !name.ends_with("tests/suite/layers.rs") {
            seen += 1;
            assert!(UNSAFE_ALLOWED.iter().any(|place| name.starts_with(place)), "unsafe code in {name}");
        }
    }
    assert!(seen > 0, "the search is broken: it finds no unsafe code at all");
}

fn source_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn used_modules(text: &str) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for after in text.split("crate::").skip(1) {
        match after.strip_prefix('{') {
            None => used.extend(first_word(after)),
            Some(list) => {
                let mut depth = 0;
                let end = list.find(|c: char| {
                    depth += i32::from(c == '{') - i32::from(c == '}');
                    depth < 0
                });
                let mut depth = 0;
                for item in list[..end.unwrap_or(list.len())].split(|c: char| {
                    depth += i32::from(c == '{') - i32::from(c == '}');
                    c == ',' && depth == 0
                }) {
                    used.extend(first_word(item.trim()));
                }
            }
        }
    }
    used
}

/// Returns the leading lower-case word if it names a module, and `None` for a type or a macro.
fn first_word(text: &str) -> Option<String> {
    let word: String =
        text.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_' || c.is_ascii_digit()).collect();
    let is_module = text[word.len()..].starts_with("::") || text[word.len()..].starts_with([',', '}', ';']);
    (is_module && !word.is_empty()).then_some(word)
}
