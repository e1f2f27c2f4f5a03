//! Tests `hyperslab refs`; the Python tests read the arrays through Zarr.

#![allow(clippy::unwrap_used)] // A test may fail loudly outside `#[test]` functions, too.

use crate::common::{Scratch, dataset};
use serde_json::{Value, from_str};

fn source(scratch: &Scratch, name: &str) {
    scratch.make(name, |root| {
        dataset(root, "group/x", &[100], Some(&[30]), &(0..100).collect::<Vec<i32>>());
        dataset(root, "y", &[5], None, &[1.5_f64; 5]);
    });
}

#[test]
fn references_lead_to_the_bytes_of_the_chunks() {
    let scratch = Scratch::new("refs-bytes");
    source(&scratch, "a.h5");
    let printed: Value = from_str(&scratch.printed(&["refs", "%a.h5"])).unwrap();
    assert_eq!(printed["version"], 1);
    let refs = &printed["refs"];
    let array: Value = from_str(refs["group/x/.zarray"].as_str().unwrap()).unwrap();
    assert_eq!(
        (&array["shape"], &array["chunks"]),
        (&from_str("[100]").unwrap(), &from_str("[30]").unwrap())
    );
    let bytes = std::fs::read(scratch.path("a.h5")).unwrap();
    for (number, first) in [(0, 0_i32), (3, 90)] {
        let chunk = &refs[format!("group/x/{number}")];
        assert_eq!(chunk[0], scratch.path("a.h5").to_str().unwrap());
        let [offset, len] = [1, 2].map(|at| usize::try_from(chunk[at].as_u64().unwrap()).unwrap());
        let stored = &bytes[offset..offset + len];
        assert_eq!(
            (len, &stored[..8]),
            (120, &[first.to_le_bytes(), (first + 1).to_le_bytes()].concat()[..])
        );
    }
    assert!(refs.get("group/x/4").is_none() && refs.get("y/0").is_some());
    let inlined: Value = from_str(&scratch.printed(&["refs", "%a.h5", "--inline", "41"])).unwrap();
    assert!(inlined["refs"]["y/0"].as_str().unwrap().starts_with("base64:AAAAAAAA+D8"));
}

#[test]
fn what_cannot_be_referenced_is_named_or_left_out() {
    let scratch = Scratch::new("refs-left-out");
    scratch.make("a.h5", |root| {
        let filter = hyperslab::filter::Lzf;
        root.new_dataset::<i32>("lzf").shape([8]).chunks([4]).filter(filter).create_with(&[7; 8]).unwrap();
        dataset(root, "plain", &[8], None, &[7_u8; 8]);
    });
    let (code, out, err) = scratch.run(&["refs", "%a.h5", "-o", "%a.json"]);
    assert!(
        code == 1 && out.is_empty() && err.contains("lzf: numcodecs has no codec for filter 32000"),
        "{err}"
    );
    assert_eq!(scratch.names(), ["a.h5"]);
    let (code, out, err) = scratch.run(&["refs", "%a.h5", "--skip-unsupported"]);
    assert!(code == 0 && err.contains("1 dataset left out:\n  lzf: "), "{err}");
    assert!(out.contains("plain/0") && !out.contains("lzf"));
}

#[test]
fn several_files_get_references_each() {
    let scratch = Scratch::new("refs-files");
    source(&scratch, "a.h5");
    source(&scratch, "b.h5");
    let (code, _, err) = scratch.run(&["refs", "%a.h5", "%b.h5"]);
    assert!(code == 2 && err.contains("--out-dir"), "{err}");
    let (code, _, err) = scratch.run(&["refs", "%a.h5", "%b.h5", "--out-dir", "%out", "--url", "s3://x"]);
    assert!(code == 2 && err.contains("ends with `/`"), "{err}");
    let (code, _, err) = scratch.run(&["refs", "%a.h5", "%a.h5", "--out-dir", "%out"]);
    assert!(code == 2 && err.contains("the same name"), "{err}");
    scratch.printed(&["refs", "%a.h5", "%b.h5", "--out-dir", "%out", "--url", "s3://x/"]);
    let text = std::fs::read_to_string(scratch.path("out/b.json")).unwrap();
    assert_eq!(from_str::<Value>(&text).unwrap()["refs"]["y/0"][0], "s3://x/b.h5");
}

#[test]
fn a_target_is_not_what_is_read_or_there() {
    let scratch = Scratch::new("refs-targets");
    source(&scratch, "a.h5");
    let (code, _, err) = scratch.run(&["refs", "%a.h5", "-o", "%a.h5"]);
    assert!(code == 2 && err.contains("this is the file to read"), "{err}");
    let (code, _, err) = scratch.run(&["refs", "%a.h5", "--format", "parquet"]);
    assert!(code == 2 && err.contains("name one with -o"), "{err}");
    std::fs::create_dir(scratch.path("there")).unwrap();
    let (code, _, err) = scratch.run(&["refs", "%a.h5", "--format", "parquet", "-o", "%there"]);
    assert!(code == 1 && err.contains("exists already"), "{err}");
    let (code, _, err) = scratch.run(&["refs", "%a.h5", "--format", "icechunk", "-o", "%new"]);
    assert!(code == 1 && err.contains("pip install hyperslab icechunk"), "{err}");
}
