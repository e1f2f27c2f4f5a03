//! The order of modules, enforced: every `crate::…` that a module names must be below it.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Each module and what it may use. `error` is everybody's.
const ALLOWED: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("process", &[]),
    ("filter", &[]),
    ("record", &["datatype", "internals"]),
    ("driver", &["error", "process"]),
    ("select", &["error"]),
    ("types", &["error"]),
    ("store", &["error", "process", "driver"]),
    ("tree", &["error", "driver", "store"]),
    ("heap", &["error", "driver", "types", "store", "tree"]),
    ("index", &["error", "driver", "select", "store", "tree"]),
    ("engine", &["error", "process", "driver", "select", "types", "store", "index"]),
    (
        "object",
        &["error", "process", "driver", "select", "types", "store", "tree", "heap", "index", "engine"],
    ),
    ("check", &["error", "driver", "select", "store", "heap", "index", "object"]),
];

#[test]
fn no_module_uses_one_above_it() {
    let mut checked = 0;
    for file in sources(&source_root()) {
        let module = module_of(&file);
        if module == "lib" {
            continue;
        }
        let allowed = ALLOWED.iter().find(|(name, _)| *name == module);
        let (_, allowed) = allowed.unwrap_or_else(|| panic!("module `{module}` has no place in the order"));
        for used in used_modules(&fs::read_to_string(&file).unwrap()) {
            assert!(
                used == module || allowed.contains(&used.as_str()),
                "{}: `{module}` may not use `{used}`",
                file.display()
            );
            checked += 1;
        }
    }
    assert!(checked > 50, "only {checked} uses found: the search is broken");
}

#[test]
fn the_search_sees_uses_in_lists_and_in_paths() {
    let text =
        "use crate::store::Store;\nuse crate::{engine::Fill, types::Conversion};\nlet x = crate::index::f();";
    let found: Vec<String> = used_modules(text).into_iter().collect();
    assert_eq!(found, ["engine", "index", "store", "types"]);
}

#[test]
fn every_module_of_the_order_exists() {
    for (module, _) in ALLOWED {
        let root = source_root();
        assert!(root.join(module).is_dir() || root.join(format!("{module}.rs")).is_file(), "{module}");
    }
}

/// Where code may be unsafe; each block there says why it is sound.
const UNSAFE_ALLOWED: &[&str] = &[
    "crates/filters/src/simd/",
    "crates/filters/src/ffi/",
    "crates/hyperslab/src/engine/dst.rs",
    "crates/hyperslab/src/process.rs",
    "crates/python/src/buffer.rs",
    "crates/testkit/src/allocator.rs",
];

#[test]
fn unsafe_code_stands_in_the_named_places_alone() {
    let workspace = source_root().join("../../..").canonicalize().unwrap();
    let mut seen = 0;
    for file in sources(&workspace.join("crates")) {
        let text = fs::read_to_string(&file).unwrap();
        let is_unsafe = text.lines().any(|line| {
            let code = line.split("//").next().unwrap_or_default();
            ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern"].iter().any(|word| code.contains(word))
        });
        let name = file.strip_prefix(&workspace).unwrap().to_string_lossy().into_owned();
        if is_unsafe && !name.ends_with("tests/layers.rs") {
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

/// The top-level module that a file belongs to.
fn module_of(file: &Path) -> String {
    let relative = file.strip_prefix(source_root()).unwrap();
    let first = relative.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
    first.trim_end_matches(".rs").to_owned()
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

/// The leading lower-case word: a module, where a type or macro would begin otherwise.
fn first_word(text: &str) -> Option<String> {
    let word: String =
        text.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_' || c.is_ascii_digit()).collect();
    let is_module = text[word.len()..].starts_with("::") || text[word.len()..].starts_with([',', '}', ';']);
    (is_module && !word.is_empty()).then_some(word)
}
