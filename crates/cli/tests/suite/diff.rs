//! Tests `hyperslab diff` on files that are equal, nearly equal, and different.

#![allow(clippy::unwrap_used)] // A test may fail loudly outside `#[test]` functions, too.

use hyperslab_convert::Scalar as _;
use hyperslab_format::datatype::{Datatype, Enumeration};
use hyperslab_format::message::dataspace::Dataspace;

use crate::common::{Scratch, dataset};
use hyperslab::{Attribute, File, Group, Selection};
use serde_json::{Value, json};

fn attribute(group: &Group, name: &str, value: f64) {
    let data = f64::bytes(&[value]).to_vec();
    let (datatype, dataspace) = (f64::datatype(), Dataspace::Scalar);
    group.put_attribute(&Attribute { name: name.to_owned(), datatype, dataspace, data }).unwrap();
}

/// Makes two files that differ in everything that can differ.
fn two(scratch: &Scratch) {
    for (name, second) in [("a.h5", false), ("b.h5", true)] {
        scratch.make(name, |root| {
            let change = |a: f64, b: f64| if second { b } else { a };
            dataset(root, "same", &[2], if second { Some(&[1]) } else { None }, &[1.0, f64::NAN]);
            let values = [0.0, 1.0, change(2.0, 2.5), 3.0, 4.0, change(5.0, f64::NAN)];
            dataset(root, "group/values", &[2, 3], None, &values);
            if second {
                dataset(root, "type", &[2], None, &[1_i16, 3]);
                dataset(root, "kind", &[1], None, &[1_i32]);
                dataset(root, "shape", &[2, 1], None, &[1_i32, 2]);
                root.create_group("added").unwrap();
            } else {
                dataset(root, "type", &[2], None, &[1_i32, 2]);
                root.create_group("kind").unwrap();
                dataset(root, "shape", &[2], None, &[1_i32, 2]);
                root.create_group("removed").unwrap();
            }
            root.link_soft("link", if second { "/b" } else { "/a" }).unwrap();
            let group = root.group("group").unwrap();
            attribute(&group, "scale", change(1.0, 1.001));
            attribute(&group, if second { "new" } else { "old" }, 1.0);
            // A cycle.
            root.link_to("group/root", root).unwrap();
        });
    }
}

const DIFFERENCES: &str = "\
/added: only in the second
/group@new: only in the second
/group@old: only in the first
/group@scale: 1.0 | 1.001
/group/values: 2 elements of 6 differ
  (0, 2): 2.0 | 2.5
  (1, 2): 5.0 | nan
/kind: kind group | dataset
/link: link soft -> /a | soft -> /b
/removed: only in the first
/shape: shape (2,) | (2, 1)
/type: 1 element of 2 differ
  (1,): 2 | 3
/type: type int32 | int16
";

fn sorted(text: &str) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    for line in text.lines() {
        match blocks.last_mut() {
            Some(block) if line.starts_with(' ') => block.extend(["\n", line]),
            _ => blocks.push(line.to_owned()),
        }
    }
    blocks.sort();
    blocks
}

#[test]
fn all_differences_are_reported_and_nothing_else() {
    let scratch = Scratch::new("diff-all");
    two(&scratch);
    let (code, out, err) = scratch.run(&["diff", "%a.h5", "%b.h5"]);
    assert_eq!((code, err.as_str(), sorted(&out)), (1, "", sorted(DIFFERENCES)));
    assert_eq!(scratch.printed(&["diff", "%a.h5", "%a.h5"]), "");
    assert_eq!(scratch.run(&["diff", "%a.h5", "%b.h5", "-q"]), (1, String::new(), String::new()));
    assert_eq!(scratch.run(&["diff", "%a.h5:/same", "%b.h5:/same"]).0, 0);
}

#[test]
fn tolerances_apply_to_each_element() {
    let scratch = Scratch::new("diff-tolerance");
    two(&scratch);
    let values = |more: &[&str]| {
        scratch.run(&[&["diff", "%a.h5:/group/values", "%b.h5:/group/values"], more].concat())
    };
    let (code, out, _) = values(&["--atol", "0.5"]);
    assert_eq!((code, out.as_str()), (1, "/: 1 element of 6 differ\n  (1, 2): 5.0 | nan\n"));
    assert!(values(&["--atol", "0.49"]).1.starts_with("/: 2 elements of 6"));
    assert!(values(&["--rtol", "0.2"]).1.starts_with("/: 1 element of 6"), "0.5 of 2.5");
    assert!(values(&["--rtol", "0.19"]).1.starts_with("/: 2 elements of 6"));
    let (_, out, _) = scratch.run(&["diff", "%a.h5:/group", "%b.h5:/group", "--rtol", "0.01"]);
    assert!(!out.contains("@scale"), "{out}");
    assert_eq!(values(&["--atol", "-1"]).0, 2);
}

#[test]
fn json_reports_the_same_differences() {
    let scratch = Scratch::new("diff-json");
    two(&scratch);
    let (code, out, _) = scratch.run(&["diff", "%a.h5", "%b.h5", "--json", "--max", "1"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &report["same"]), (1, &json!(false)));
    let found = report["differences"].as_array().unwrap();
    assert_eq!(found.len(), 11);
    let at = |path: &str| found.iter().find(|one| one["path"] == path).unwrap();
    assert_eq!(
        *at("/group/values"),
        json!({"path": "/group/values", "what": "elements", "count": 2, "of": 6,
            "first": [{"at": [0, 2], "values": [2.0, 2.5]}]})
    );
    assert_eq!(at("/removed")["in"], 1);
    assert_eq!(at("/kind")["values"], json!(["group", "dataset"]));
    let same = scratch.printed(&["diff", "%a.h5", "%a.h5", "--json"]);
    assert!(same.contains(r#""same":true,"differences":[]"#), "{same}");
}

#[test]
fn every_changed_element_of_many_blocks_is_found_in_order() {
    let scratch = Scratch::new("diff-blocks");
    let count = 3_000_000_u64;
    let mut values: Vec<i64> = (0..3_000_000).map(|k| (1 << 60) + k).collect();
    for (name, chunk) in [("a.h5", 100_000), ("b.h5", 70_001)] {
        scratch.make(name, |root| {
            dataset(root, "x", &[count], Some(&[chunk]), &values);
        });
        // As floats, the old and new values would be equal.
        for at in [5, 1_048_576, 2_999_999] {
            values[at] += 1;
        }
    }
    let (code, out, _) = scratch.run(&["diff", "%a.h5", "%b.h5"]);
    let places: Vec<&str> = out.lines().skip(1).map(|line| line.split(':').next().unwrap().trim()).collect();
    assert_eq!((code, places), (1, vec!["(5,)", "(1048576,)", "(2999999,)"]));
    let (_, out, _) = scratch.run(&["diff", "%a.h5", "%b.h5", "--max", "2"]);
    assert!(out.starts_with("/x: 3 elements of 3000000 differ\n") && out.ends_with("\n  …\n"), "{out}");
}

#[test]
fn failures_give_exit_code_2() {
    let scratch = Scratch::new("diff-trouble");
    scratch.make("a.h5", |root| {
        dataset(root, "x", &[10], Some(&[5]), &[1_i32; 10]);
    });
    std::fs::copy(scratch.path("a.h5"), scratch.path("b.h5")).unwrap();
    let (code, out, err) = scratch.run(&["diff", "@refused_filters_latest.h5", "@refused_filters_latest.h5"]);
    assert!(code == 2 && out.contains(": not compared: ") && err.contains("2 objects cannot"), "{out}{err}");
    for args in [
        &["%a.h5", "%none.h5"][..],
        &["%a.h5:/none", "%b.h5"],
        &["%a.h5"],
        &["%a.h5", "%b.h5", "-q", "--json"],
    ] {
        let (code, _, err) = scratch.run(&[&["diff"], args].concat());
        assert!(code == 2 && !err.is_empty(), "{args:?}: {err}");
    }
    // The same file, modified after it was copied.
    let file = File::options().write(true).open(scratch.path("b.h5")).unwrap();
    file.dataset("x").unwrap().write(Selection::All, &[2_i32; 10]).unwrap();
    file.close().unwrap();
    assert_eq!(scratch.run(&["diff", "%a.h5", "%b.h5"]).0, 1);
}

#[test]
fn the_order_of_the_names_of_an_enumeration_is_no_difference() {
    let scratch = Scratch::new("diff-enum");
    for (name, order) in [("a.h5", b"RGB"), ("b.h5", b"BGR"), ("c.h5", b"RGX")] {
        let members = order.iter().map(|&letter| (char::from(letter).to_string(), vec![letter])).collect();
        let datatype = Datatype::Enumeration(Enumeration { base: Box::new(u8::datatype()), members });
        scratch.make(name, |root| {
            let (name, dataspace) = ("letter".to_owned(), Dataspace::Scalar);
            root.put_attribute(&Attribute { name, datatype, dataspace, data: vec![b'R'] }).unwrap();
        });
    }
    assert_eq!(scratch.printed(&["diff", "%a.h5", "%b.h5"]), "");
    let (code, out, _) = scratch.run(&["diff", "%a.h5", "%c.h5"]);
    assert!(code == 1 && out.contains("enum(uint8: R, G, B) | enum(uint8: R, G, X)"), "{out}");
}
