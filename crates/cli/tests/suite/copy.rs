//! Tests `hyperslab copy` with `hyperslab diff` and `hyperslab check`.

#![allow(clippy::unwrap_used)] // A test may fail loudly outside `#[test]` functions, too.

use crate::common::{Scratch, dataset};
use hyperslab::File;

fn source(scratch: &Scratch) {
    scratch.make("a.h5", |root| {
        dataset(root, "group/x", &[100], Some(&[30]), &(0..100).collect::<Vec<i32>>());
        root.create_group("group/below").unwrap();
        dataset(root, "group/below/y", &[1], None, &[1_i32]);
        root.link_soft("group/soft", "/group/below").unwrap();
    });
}

#[test]
fn an_object_is_copied_into_a_new_file() {
    let scratch = Scratch::new("copy-new");
    source(&scratch);
    for (to, path) in [("%b.h5:/new", "/new"), ("%c.h5", "/group"), ("%d.h5:/", "/group")] {
        let said = scratch.printed(&["copy", "%a.h5:/group", to]);
        assert!(said.trim_end().ends_with(path), "{said}");
        let copy = format!("{}{path}", &to.split(":/").next().unwrap());
        let copy = copy.replacen(path, &format!(":{path}"), 1);
        assert_eq!(scratch.printed(&["diff", "%a.h5:/group", &copy]), "");
        scratch.printed(&["check", "--data", to.split(":/").next().unwrap()]);
    }
}

#[test]
fn an_object_is_copied_into_an_existing_file_or_within_a_file() {
    let scratch = Scratch::new("copy-beside");
    source(&scratch);
    scratch.printed(&["copy", "%a.h5:/group/x", "%a.h5:/x"]);
    assert_eq!(scratch.printed(&["diff", "%a.h5:/group/x", "%a.h5:/x"]), "");
    let (code, _, err) = scratch.run(&["copy", "%a.h5:/group/x", "%a.h5:/x"]);
    assert!(code == 1 && err.contains("/x"), "{err}");
    let (code, _, err) = scratch.run(&["copy", "%a.h5:/group", "%a.h5:/on/the/way"]);
    assert!(code == 1 && err.contains("--parents"), "{err}");
    scratch.printed(&["copy", "%a.h5:/group", "%a.h5:/on/the/way", "--parents"]);
    assert_eq!(scratch.printed(&["diff", "%a.h5:/group", "%a.h5:/on/the/way"]), "");
    scratch.printed(&["check", "--data", "%a.h5"]);
}

#[test]
fn options_select_what_a_copy_includes() {
    let scratch = Scratch::new("copy-options");
    source(&scratch);
    let names = |more: &[&str], path: &str| {
        let _ = std::fs::remove_file(scratch.path("b.h5"));
        scratch.printed(&[&["copy", "%a.h5:/group", "%b.h5:/g"], more].concat());
        File::open(scratch.path("b.h5")).unwrap().group(path).unwrap().names().unwrap()
    };
    assert_eq!(names(&[], "/g/below"), ["y"]);
    assert!(names(&["--shallow"], "/g/below").is_empty());
    assert_eq!(names(&["--expand-soft"], "/g/soft"), ["y"]);
}

#[test]
fn a_copy_that_fails_leaves_no_file() {
    let scratch = Scratch::new("copy-fails");
    source(&scratch);
    for (from, code) in [("%a.h5:/none", 1), ("%a.h5", 2), ("%none.h5:/x", 1)] {
        let (found, out, err) = scratch.run(&["copy", from, "%b.h5"]);
        assert!(found == code && out.is_empty() && !err.is_empty(), "{from}: {err}");
        assert_eq!(scratch.names(), ["a.h5"], "{from}");
    }
}
