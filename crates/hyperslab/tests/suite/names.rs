//! Names and datatypes that the format cannot hold are refused. A file that has such a name can be read, and
//! the name can be removed.
//!
//! The files `data/bad_names*.h5` were written before names were checked. Each of their groups has an
//! attribute `unit` with the value 5, and an attribute with the value 7 whose name is empty or has a zero
//! byte, which made the attributes of the group unreadable. If the version of the file allows it, the
//! group also has a link `x\0y`. In the groups whose names begin with "many", attributes and links are in
//! dense storage.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]

use std::sync::Arc;

use hyperslab::Element;
use hyperslab::driver::Memory;
use hyperslab::storage::DatasetOptions;
use hyperslab::{Attribute, CopyOptions, Error, File, LibVersion, RequestError, Result};
use hyperslab_check::{CheckOptions, check};
use hyperslab_format::datatype::{Array, Compound, Datatype, Enumeration, Member, Opaque};
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_testkit::sound::assert_sound;

fn number(name: &str) -> Attribute {
    Attribute::number(name, 7_u8)
}

#[track_caller]
fn assert_refused<T>(result: Result<T>) {
    let error = result.err().expect("the name is accepted");
    let Error::Request(request) = error.root() else { panic!("{error}") };
    assert!(matches!(request, RequestError::Argument { .. } | RequestError::LongAttribute { .. }), "{error}");
}

#[test]
fn invalid_names_are_refused_and_change_nothing() {
    for version in [LibVersion::Earliest, LibVersion::V110] {
        let driver = Arc::new(Memory::new(Vec::new()));
        let file =
            File::options().version(version).create(true).truncate(true).open_on(driver.clone()).unwrap();
        let root = file.root();
        let group = root.create_group("g").unwrap();
        group.put_attribute(&number("unit")).unwrap();
        let long = "x".repeat(65_535);
        for name in ["", "\0", "a\0", "a\0b", &long] {
            assert_refused(group.put_attribute(&number(name)));
            assert_refused(group.rename_attribute("unit", name));
        }
        for path in ["a\0b", "g/a\0", "a\0b/c", "", "/", ".", "g/.", "new/./", "/."] {
            assert_refused(root.create_group(path));
            assert_refused(
                root.create_dataset(path, &DatasetOptions::new(Dataspace::Scalar, u8::datatype())),
            );
            assert_refused(root.commit_datatype(path, &u8::datatype()));
            assert_refused(root.link_to(path, &group));
            assert_refused(root.link_soft(path, "/g"));
            assert_refused(root.link_external(path, "f.h5", "/g"));
            assert_refused(root.rename("g", path));
        }
        assert_refused(root.remove("g/."));
        for target in ["", "a\0b", &long] {
            assert_refused(root.link_soft("link", target));
            assert_refused(root.link_external("link", target, "/g"));
            assert_refused(root.link_external("link", "f.h5", target));
        }
        assert_eq!(group.attribute_names().unwrap(), ["unit"]);
        assert_eq!((root.names().unwrap(), group.names().unwrap()), (vec!["g".to_owned()], Vec::new()));
        file.close().unwrap();
        assert_sound(&driver.bytes());
    }
}

/// Returns `count` nested compounds of one member each.
fn nested(count: usize) -> Datatype {
    let inside =
        |inner, _| Datatype::Compound(Compound { size: 1, members: vec![Member::new("m", 0, inner)] });
    (0..count).fold(u8::datatype(), inside)
}

#[test]
fn datatypes_that_cannot_be_read_back_are_refused() {
    let compound = |size, members: &[(&str, u32)]| {
        let member = |&(name, offset): &(&str, u32)| Member::new(name, offset, u16::datatype());
        Datatype::Compound(Compound { size, members: members.iter().map(member).collect() })
    };
    let names: Vec<String> = (0..70_000).map(|k| format!("n{k}")).collect();
    let enumeration = |names: &[&str]| {
        let members =
            names.iter().zip(0_u32..).map(|(name, value)| ((*name).to_owned(), value.to_le_bytes().into()));
        Datatype::Enumeration(Enumeration { base: Box::new(u32::datatype()), members: members.collect() })
    };
    let array = |shape: Vec<u32>| Datatype::Array(Array { base: Box::new(u8::datatype()), shape });
    let refused = [
        compound(2, &[("a\0b", 0)]),
        compound(2, &[("", 0)]),
        compound(4, &[("a", 0), ("b", 1)]),
        compound(4, &[("a", 0), ("a", 2)]),
        compound(4, &[]),
        Datatype::Sequence(Box::new(compound(2, &[("a\0b", 0)]))),
        enumeration(&["a\0b"]),
        enumeration(&[""]),
        enumeration(&names.iter().map(String::as_str).collect::<Vec<_>>()),
        array(vec![1; 33]),
        array(vec![0]),
        Datatype::Opaque(Opaque { size: 1, tag: "t".repeat(300) }),
        Datatype::Opaque(Opaque { size: 1, tag: "a\0b".to_owned() }),
        nested(100),
    ];
    let driver = Arc::new(Memory::new(Vec::new()));
    let file = File::options().create(true).truncate(true).open_on(driver.clone()).unwrap();
    let root = file.root();
    for datatype in refused {
        assert_refused(root.create_dataset("d", &DatasetOptions::new(Dataspace::Scalar, datatype.clone())));
        assert_refused(root.commit_datatype("d", &datatype));
        let len = usize::try_from(datatype.size(hyperslab_format::Widths::EIGHT)).unwrap();
        let (name, dataspace, data) = ("d".to_owned(), Dataspace::Scalar, vec![0; len]);
        assert_refused(root.put_attribute(&Attribute { name, datatype, dataspace, data }));
    }
    // A datatype and a dataspace too long for a header message and for a 16-bit field.
    let long = enumeration(&names[..9000].iter().map(String::as_str).collect::<Vec<_>>());
    assert_refused(root.create_dataset("d", &DatasetOptions::new(Dataspace::Scalar, long.clone())));
    assert_refused(root.commit_datatype("d", &long));
    let (name, dataspace) = ("d".to_owned(), Dataspace::Scalar);
    assert_refused(root.put_attribute(&Attribute { name, datatype: long, dataspace, data: vec![0; 4] }));
    let space = Dataspace::Simple { shape: vec![1; 33], max_shape: None };
    assert_refused(root.create_dataset("d", &DatasetOptions::new(space.clone(), u8::datatype())));
    assert_refused(root.put_attribute(&Attribute { dataspace: space, ..number("d") }));
    assert!(root.names().unwrap().is_empty() && root.attribute_names().unwrap().is_empty());
    file.close().unwrap();
    assert_sound(&driver.bytes());
}

#[test]
fn an_invalid_name_in_a_file_hides_no_other_name_and_can_be_deleted() {
    for name in ["bad_names.h5", "bad_names_earliest.h5"] {
        let image = std::fs::read(format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        let driver = Arc::new(Memory::new(image));
        let report = check(driver.clone(), &CheckOptions::default(), &mut |_| {}).unwrap();
        let named =
            report.findings.iter().filter(|finding| finding.message.contains("cannot be read by libhdf5"));
        assert!(named.count() >= 4 && !report.is_sound(), "{report:?}");
        let file = File::options().write(true).open_on(driver.clone()).unwrap();
        for group in ["few 0", "few 3", "many 0", "many 3"] {
            let bad = if group.ends_with('0') { "" } else { "a\0b" };
            let group = file.group(group).unwrap();
            let mut names = group.attribute_names().unwrap();
            names.retain(|name| !name.starts_with('a') || name == bad);
            names.sort_unstable();
            assert_eq!(names, [bad, "unit"]);
            assert_eq!(
                (group.attribute("unit").unwrap().data[0], group.attribute(bad).unwrap().data[0]),
                (5, 7)
            );
            // An object with an invalid name cannot be copied.
            let copy = file.root().copy(&file.get(group.path()).unwrap(), "copy", &CopyOptions::default());
            assert_refused(copy);
            if bad.is_empty() {
                group.rename_attribute(bad, "nameless").unwrap();
                assert_eq!(group.attribute("nameless").unwrap().data[0], 7);
            } else {
                group.remove_attribute(bad).unwrap();
            }
            if group.names().unwrap().iter().any(|name| name == "x\0y") {
                assert!(group.group("x\0y").unwrap().is_empty().unwrap());
                group.remove("x\0y").unwrap();
            }
            group.put_attribute(&number("new")).unwrap();
        }
        file.close().unwrap();
        assert_sound(&driver.bytes());
    }
}
