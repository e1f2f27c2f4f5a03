//! Groups, links, attributes and datasets of files written by libhdf5 (`golden/make/object_samples.py`). The
//! expected values are those that h5py 3.16 returns.

#![allow(clippy::unwrap_used)] // helpers of tests may panic, as tests do

use std::path::PathBuf;

use hyperslab::{Attribute, Error, File, Node, RequestError, Result};
use hyperslab_format::datatype::{ByteOrder, Datatype, Reference};
use hyperslab_format::layout::Layout;
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::link::{Link, LinkTarget};
use hyperslab_format::selection::StoredSelection;

fn sample(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden/files/object").join(name)
}

fn open(name: &str) -> File {
    File::open(sample(name)).unwrap()
}

fn failure<T>(result: Result<T>) -> String {
    result.err().unwrap().to_string()
}

fn soft(link: Option<Link>) -> String {
    match link.unwrap().target {
        LinkTarget::Soft(path) => path,
        other => panic!("{other:?}"),
    }
}

fn i32_of(attribute: &Attribute) -> i32 {
    i32::from_le_bytes(attribute.data.as_slice().try_into().unwrap())
}

#[test]
fn links_of_every_kind_lead_to_the_same_objects_as_in_h5py() {
    for name in ["links_earliest.h5", "links_latest.h5"] {
        let file = open(name);
        let numbers = file.dataset("data/numbers").unwrap();
        assert_eq!(numbers.shape(), [5]);
        for path in
            ["hard", "soft", "/soft", "soft_group/numbers", "soft_of_soft", "data/beside", "data/root/hard"]
        {
            let found = file.get(path).unwrap();
            assert_eq!(found.address(), numbers.address(), "{path} of {name}");
            assert_eq!(
                found.path(),
                format!("/{}", path.trim_start_matches('/')),
                "an object has the path by which it was opened"
            );
        }
        assert_eq!(file.get("data//numbers/").unwrap().path(), "/data/numbers");
        assert_eq!(file.get("./data/./numbers").unwrap().path(), "/data/numbers");
        assert_eq!(file.group("data").unwrap().get("/hard").unwrap().path(), "/hard");
        assert_eq!(file.get(".").unwrap().path(), "/");
        assert!(matches!(file.get("type").unwrap(), Node::Datatype(_)));
    }
}

#[test]
fn external_links_lead_into_other_files_and_back() {
    let file = open("links_latest.h5");
    let values = file.dataset("external").unwrap();
    assert_eq!((values.path(), values.shape()), ("/inside/values", vec![4, 3]));
    assert!(values.file().path().unwrap().ends_with("link_target.h5"));
    assert_eq!(file.get("external_group/back").unwrap().address(), values.address());
    let home = file.group("external_group/home").unwrap();
    assert_eq!(home.names().unwrap(), ["beside", "numbers", "root"]);
    let again = file.dataset("external").unwrap();
    assert!(again.file().is_same(values.file()), "an open file is not opened again");
}

#[test]
fn following_a_broken_or_circular_link_is_an_error() {
    let file = open("links_latest.h5");
    let missing = |path: &str| match file.get(path) {
        Err(error) => matches!(error.root(), Error::Request(RequestError::NoSuchObject { .. })),
        Ok(_) => false,
    };
    for path in ["nope", "nope/x", "data/nope", "dangling", "data/numbers/x", "external_missing_object", ""] {
        assert!(missing(path), "{path}");
    }
    assert!(failure(file.get("loop_a")).contains("more than 64 links"));
    assert!(failure(file.get("external_itself")).contains("more than 64 links"));
    assert!(failure(file.get("external_missing_file")).contains("no_such_file.h5"));
    assert!(failure(file.group("hard")).contains("is a dataset, not a group"));
}

#[test]
fn contains_looks_for_the_link_and_not_for_its_target() {
    let file = open("links_latest.h5");
    let root = file.root();
    for path in [
        "/",
        ".",
        "data",
        "data/numbers",
        "dangling",
        "loop_a",
        "external_missing_file",
        "soft_group/numbers",
    ] {
        assert!(root.contains(path).unwrap(), "{path}");
    }
    for path in ["", "nope", "nope/x", "data/numbers/x", "dangling/x", "external_missing_file/x"] {
        assert!(!root.contains(path).unwrap(), "{path}");
    }
}

#[test]
fn members_are_listed_by_name_or_in_creation_order() {
    let file = open("heaps.h5");
    let plain = file.group("plain").unwrap();
    let names = plain.names().unwrap();
    assert_eq!((plain.len().unwrap(), names.len()), (305, 305));
    assert!(names.is_sorted() && !plain.tracks_creation_order().unwrap());
    let ordered = open("attributes_latest.h5").group("ordered").unwrap();
    assert_eq!(ordered.attribute_names().unwrap(), ["c", "a", "b"]);
}

#[test]
fn every_link_of_a_large_group_is_found_by_its_name() {
    let file = open("heaps.h5");
    let plain = file.group("plain").unwrap();
    for i in 0..300 {
        let text = "y".repeat(i * 7 % 400) + &i.to_string();
        assert_eq!(soft(plain.link(&format!("soft{i}")).unwrap()), text);
    }
    for i in 0..5 {
        let node = plain.get(&format!("{i}{}", "l".repeat(5000))).unwrap();
        assert_eq!(node.address(), file.get("target").unwrap().address());
    }
    assert!(plain.link("soft300").unwrap().is_none());
    assert!(plain.link("").unwrap().is_none());
}

#[test]
fn symbol_tables_with_many_nodes_are_searched_and_listed() {
    let file = open("symbol_table.h5");
    let many = file.group("many").unwrap();
    let expected: Vec<_> = (0..60).map(|i| format!("link{i:02}")).collect();
    assert_eq!(many.names().unwrap(), expected);
    assert_eq!(many.len().unwrap(), 60);
    let target = file.get("target").unwrap().address();
    for i in 0..60 {
        let link = many.link(&format!("link{:02}", i * 37 % 60)).unwrap().unwrap();
        match link.target {
            LinkTarget::Hard(address) => assert!(i % 5 != 0 && address == target),
            LinkTarget::Soft(path) => assert_eq!(path, format!("/target{i}")),
            other => panic!("{other:?}"),
        }
    }
    for name in ["", "a", "link", "link5", "link60", "link591", "zz"] {
        assert!(many.link(name).unwrap().is_none(), "{name}");
    }
}

#[test]
fn a_user_defined_link_is_listed_but_not_followed() {
    let file = open("user_link.h5");
    assert_eq!(file.root().names().unwrap(), ["g", "user"]);
    let link = file.root().link("user").unwrap().unwrap();
    assert_eq!(link.target, LinkTarget::User { kind: 187, data: b"payload".to_vec() });
    let error = file.get("user").unwrap_err();
    assert!(matches!(error.root(), Error::Request(RequestError::UserLink { kind: 187, .. })));
}

#[test]
fn attributes_have_their_values_in_compact_and_dense_storage() {
    for name in ["attributes_earliest.h5", "attributes_latest.h5"] {
        let file = open(name);
        let few = file.group("few").unwrap();
        let names = ["alpha", "empty", "fixed", "größe", "reference", "strings", "text", "zulu"];
        assert_eq!(few.attribute_names().unwrap(), names);
        assert_eq!(few.attribute_count().unwrap(), 8);
        assert_eq!(i32_of(&few.attribute("zulu").unwrap()), 5);
        let alpha = few.attribute("alpha").unwrap();
        assert_eq!(alpha.dataspace.shape(), [2, 3]);
        assert_eq!(alpha.data, [0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5]);
        assert!(matches!(alpha.datatype, Datatype::Integer(i) if i.order == ByteOrder::Big && i.size == 2));
        assert_eq!(few.attribute("empty").unwrap().dataspace, Dataspace::Null);
        assert_eq!(few.attribute("fixed").unwrap().data, b"abc");
        assert_eq!(few.attribute("größe").unwrap().data, 1.5_f64.to_le_bytes());
        let missing = few.attribute("nope").unwrap_err();
        assert!(matches!(missing.root(), Error::Request(RequestError::NoSuchAttribute { .. })));

        for (path, by_order) in [("many", false), ("many_ordered", true)] {
            let many = file.group(path).unwrap();
            let expected: Vec<_> =
                (0..60).map(|i| format!("attribute{:03}", if by_order { i * 37 % 60 } else { i })).collect();
            assert_eq!(many.attribute_names().unwrap(), expected, "{path} of {name}");
            assert_eq!(many.attributes().unwrap().len(), 60);
            for i in 0..60_i64 {
                assert_eq!(
                    many.attribute(&format!("attribute{:03}", i * 37 % 60)).unwrap().data,
                    i.to_le_bytes()
                );
            }
            assert!(many.attribute("attribute060").is_err());
        }
    }
}

#[test]
fn an_attribute_too_large_for_a_heap_block_is_read() {
    let file = open("attributes_latest.h5");
    let large = file.group("huge").unwrap().attribute("large").unwrap();
    let expected: Vec<u8> = (0..9000_i64).flat_map(i64::to_le_bytes).collect();
    assert!(large.data == expected);
}

#[test]
fn strings_of_attributes_are_read_from_the_global_heap() {
    let file = open("attributes_latest.h5");
    let few = file.group("few").unwrap();
    let texts = |name: &str| -> Vec<String> {
        let ids = file.vlen_ids(&few.attribute(name).unwrap().data).unwrap();
        let texts = file.vlen_many(&ids, 1).unwrap();
        texts.into_iter().map(|bytes| String::from_utf8(bytes).unwrap()).collect()
    };
    assert_eq!(texts("text"), ["grüße"]);
    assert_eq!(texts("strings"), ["one", "", "three"]);
}

#[test]
fn committed_datatypes_are_resolved_wherever_they_are_used() {
    for name in ["committed_earliest.h5", "committed_latest.h5"] {
        let file = open(name);
        let Node::Datatype(number) = file.get("number").unwrap() else { panic!("{name}") };
        assert!(
            matches!(number.datatype(), Datatype::Integer(i) if i.order == ByteOrder::Big && i.size == 4)
        );
        assert_eq!(number.attribute_names().unwrap(), ["note"]);
        let numbers = file.dataset("numbers").unwrap();
        assert_eq!(*numbers.datatype(), *number.datatype());
        assert_eq!(numbers.committed_datatype(), Some(number.address()));
        assert_eq!(numbers.attribute("typed").unwrap().data, [0, 0, 0, 7]);
        let records = file.dataset("records").unwrap();
        assert_eq!((records.element_size(), records.len_bytes()), (13, 26));
        assert!(matches!(file.get("plain").unwrap(), Node::Dataset(d) if d.committed_datatype().is_none()));
    }
}

#[test]
fn shared_messages_are_read_from_headers_and_from_the_heap() {
    let file = open("shared_messages.h5");
    assert_eq!(file.root().names().unwrap(), ["d0", "d1", "d2"]);
    // The first message of its kind is in the object header. Later messages are in the shared message heap.
    assert_eq!(file.dataset("d0").unwrap().shape(), [20, 30, 40]);
    assert_eq!(file.dataset("d1").unwrap().shape(), [20, 30, 40]);
}

#[test]
fn opening_an_object_again_adds_nothing_to_the_metadata_cache() {
    let file = open("links_latest.h5");
    file.dataset("soft_of_soft").unwrap();
    let cached = file.store().cached_bytes();
    for _ in 0..100 {
        file.dataset("soft_of_soft").unwrap();
    }
    assert_eq!(file.store().cached_bytes(), cached);
}

#[test]
fn links_and_attributes_in_filtered_heaps_are_read() {
    let packed = open("heaps.h5").group("packed").unwrap();
    let mut expected: Vec<_> = (0..200).map(|i| format!("link{i:03}")).collect();
    expected.push("l".repeat(5000));
    assert_eq!(packed.names().unwrap(), expected);
    for i in 0..200 {
        assert_eq!(
            soft(packed.link(&format!("link{i:03}")).unwrap()),
            format!("/target/{}{i}", "x".repeat(80))
        );
    }
    assert!(packed.attribute("large").unwrap().data == vec![0; 72_000]);
    let seven: Vec<u8> = [7_i32; 50].into_iter().flat_map(i32::to_le_bytes).collect();
    assert_eq!(packed.attribute("attribute7").unwrap().data, seven);
}

/// Returns the type and the stored elements of a small contiguous dataset of references.
fn references(file: &File, path: &str) -> (Reference, Vec<Vec<u8>>) {
    let dataset = file.dataset(path).unwrap();
    let (Datatype::Reference(kind), Layout::Contiguous(extent)) = (&*dataset.datatype(), dataset.layout())
    else {
        panic!("{path}");
    };
    let bytes = file.store().bytes(extent, ("test", "")).unwrap();
    (*kind, bytes.chunks(dataset.element_size()).map(<[u8]>::to_vec).collect())
}

#[test]
fn references_before_1_12_lead_to_objects_and_dataset_regions() {
    let file = open("references.h5");
    let (kind, stored) = references(&file, "objects");
    let found: Vec<_> = stored[..2].iter().map(|one| file.dereference(&kind, one).unwrap()).collect();
    assert_eq!(found[0].address(), file.get("data").unwrap().address());
    assert_eq!((found[1].kind(), found[1].path()), ("group", ""));
    assert_eq!(file.path_of(found[1].address()).unwrap().as_deref(), Some("/group"));
    assert_eq!(file.reference_target(&kind, &stored[2]).unwrap(), None);
    assert!(failure(file.dereference(&kind, &stored[2])).contains("a null reference"));

    let (kind, stored) = references(&file, "regions");
    let region = file.reference_target(&kind, &stored[0]).unwrap().unwrap();
    assert_eq!(region.object, found[0].address());
    let dataset = file.dataset("data").unwrap();
    let read = dataset.region(&region).unwrap();
    assert_eq!(read.selection.count(&dataset.shape()).unwrap(), read.shape.unwrap().iter().product());
    assert_eq!(file.reference_target(&kind, &stored[1]).unwrap(), None);
}

#[test]
fn references_of_1_12_lead_to_objects_regions_and_attributes() {
    let file = open("references_1_12.h5");
    let (kind, stored) = references(&file, "references");
    let data = file.get("data").unwrap().address();
    let target = |stored: &Vec<u8>| file.reference_target(&kind, stored).unwrap().unwrap();
    let targets: Vec<_> = stored[..3].iter().map(target).collect();
    assert!(targets.iter().all(|target| target.object == data));
    assert!(matches!(targets[1].selection, Some(StoredSelection::Blocks(_) | StoredSelection::Regular(_))));
    assert_eq!(targets[2].attribute.as_deref(), Some("unit"));
    assert_eq!(file.reference_target(&kind, &stored[3]).unwrap(), None);
}
