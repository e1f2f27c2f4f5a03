//! Files that hyperslab writes are sound after every commit, whatever was created, changed or removed.

use std::sync::Arc;

use hyperslab::WriteOptions;
use hyperslab::driver::{Driver, Memory};
use hyperslab::storage::{DatasetOptions, NewStorage};
use hyperslab::{Attribute, File, Group, LibVersion, Selection};
use hyperslab_format::datatype::{
    ByteOrder, Charset, Datatype, Integer, Padding, Reference, ReferenceKind, VariableText,
};
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::filters::FilterSpec;
use hyperslab_store::commit::recovery::{Action, inspect};
use hyperslab_store::commit::{Commit, Durability, Outcome, Overwrite, commit};
use hyperslab_testkit::crash::CrashDriver;

use super::{Severity, assert_sound, checked, found, sample};

fn int32() -> Datatype {
    Datatype::Integer(Integer::whole(4, true, ByteOrder::Little))
}

fn image(driver: &Memory) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(driver.len().unwrap()).unwrap()];
    driver.read_at(0, &mut bytes).unwrap();
    bytes
}

fn attribute(name: &str, value: i32) -> Attribute {
    let (datatype, dataspace) = (int32(), Dataspace::Scalar);
    Attribute { name: name.to_owned(), datatype, dataspace, data: value.to_le_bytes().to_vec() }
}

fn simple(shape: &[u64], max_shape: Option<&[Option<u64>]>) -> Dataspace {
    Dataspace::Simple { shape: shape.to_vec(), max_shape: max_shape.map(<[_]>::to_vec) }
}

/// Creates a dataset of every layout and chunk index that the version of the file has.
fn make_datasets(file: &File) {
    let deflate = FilterSpec { id: 1, name: None, flags: 1, client_data: vec![4] };
    let chunks = |chunk: &[u64]| NewStorage::Chunked(chunk.to_vec());
    let cases = [
        ("contiguous", simple(&[10, 10], None), NewStorage::Contiguous, vec![]),
        ("compact", simple(&[10], None), NewStorage::Compact, vec![]),
        ("single", simple(&[10, 10], None), chunks(&[10, 10]), vec![]),
        ("fixed", simple(&[40, 30], None), chunks(&[4, 7]), vec![]),
        ("fixed_deflate", simple(&[40, 30], None), chunks(&[4, 7]), vec![deflate.clone()]),
        ("paged", simple(&[3000], None), chunks(&[2]), vec![]),
        ("extensible", simple(&[600, 5], Some(&[None, Some(5)])), chunks(&[1, 5]), vec![]),
        ("extensible_deflate", simple(&[600, 5], Some(&[None, Some(5)])), chunks(&[1, 5]), vec![deflate]),
        ("btree2", simple(&[50, 50], Some(&[None, None])), chunks(&[3, 3]), vec![]),
    ];
    for (name, dataspace, storage, filters) in cases {
        let count = usize::try_from(dataspace.elements().unwrap()).unwrap();
        let mut options = DatasetOptions::new(dataspace, int32());
        (options.storage, options.filters) = (storage, filters);
        let dataset = file.root().create_dataset(&format!("data/{name}"), &options).unwrap();
        let values: Vec<i32> = (0..i32::try_from(count).unwrap()).collect();
        dataset.write(Selection::All, &values).unwrap();
        dataset.put_attribute(&attribute("unit", 3)).unwrap();
    }
}

/// Adds many links and attributes to a group, removes most of them, and calls `sound` around each change
/// of storage.
fn many(group: &Group, sound: &dyn Fn(&str)) {
    for i in 0..300 {
        group.link_soft(&format!("link{:03}", i * 37 % 300), "/data").unwrap();
        if i < 60 {
            group.put_attribute(&attribute(&format!("attribute{:03}", i * 37 % 60), i)).unwrap();
        }
        if [7, 8, 9, 50, 299].contains(&i) {
            sound(&format!("{} links", i + 1));
        }
    }
    for i in 0..300 {
        group.remove(&format!("link{i:03}")).unwrap();
        if i < 58 {
            group.remove_attribute(&format!("attribute{i:03}")).unwrap();
        }
        if [0, 100, 292, 294, 299].contains(&i) {
            sound(&format!("{} links left", 299 - i));
        }
    }
}

#[test]
fn a_file_with_every_kind_of_object_is_sound_after_every_change() {
    for version in [LibVersion::Earliest, LibVersion::V18, LibVersion::V110, LibVersion::V200] {
        let driver = Arc::new(Memory::new(Vec::new()));
        let file =
            File::options().version(version).create(true).truncate(true).open_on(driver.clone()).unwrap();
        let sound = |what: &str| {
            file.flush().unwrap();
            let report = checked(&image(&driver), true);
            assert_sound(&report, &format!("{version:?} {what}"));
            assert_eq!(found(&report, Severity::Note), [] as [&super::Finding; 0], "{version:?} {what}");
            report
        };
        sound("empty");
        let root = file.root();
        root.create_group("data").unwrap();
        make_datasets(&file);
        let report = sound("datasets");
        assert!(report.totals.chunks > 2000 && report.totals.decoded == report.totals.chunks);
        // Nothing was deleted yet, so only the ends of blocks and replaced smaller blocks are lost.
        assert!(report.totals.lost_bytes < report.totals.bytes / 4, "{version:?}: {:?}", report.totals);
        for (name, shapes) in [("extensible", [[90, 5], [700, 5]]), ("btree2", [[20, 50], [60, 10]])] {
            for shape in shapes {
                file.dataset(&format!("data/{name}")).unwrap().resize(shape).unwrap();
                sound(&format!("{name} resized to {shape:?}"));
            }
        }
        let number = root.commit_datatype("number", &int32()).unwrap();
        root.new_dataset::<i32>("typed").shape([4]).committed(number).create_with(&[1, 2, 3, 4]).unwrap();
        root.link_to("data/again", &root.get("typed").unwrap()).unwrap();
        root.link_soft("soft", "/data/again").unwrap();
        root.link_external("data/external", "other.h5", "/x").unwrap();
        let group = root.create_group_with("ordered", true).unwrap();
        for i in 0..6 {
            group.create_group(&format!("g{i}")).unwrap();
            group.put_attribute(&attribute(&format!("a{i}"), i)).unwrap();
        }
        sound("links and attributes");
        root.rename("typed", "ordered/typed").unwrap();
        group.remove("g3").unwrap();
        group.remove_attribute("a2").unwrap();
        root.remove("number").unwrap();
        sound("renamed and removed");
        root.remove("data/again").unwrap();
        group.remove("typed").unwrap();
        let report = sound("all links to one object removed");
        assert_eq!(report.totals.datatypes, 0);
        for (name, track_order) in [("many", false), ("many_ordered", true)] {
            many(&root.create_group_with(name, track_order).unwrap(), &|what| {
                sound(&format!("{name}: {what}"));
            });
        }
        root.remove("data").unwrap();
        let report = sound("a whole group removed");
        assert_eq!(report.totals.chunks, 0);
    }
}

#[test]
fn dangling_strings_and_references_are_found() {
    let driver = Arc::new(Memory::new(Vec::new()));
    let file = File::options().create(true).truncate(true).open_on(driver.clone()).unwrap();
    let root = file.root();
    let make = |name: &str, datatype: Datatype, bytes: &[u8]| {
        let new = root.new_dataset_of(name, datatype).shape([3]).max_shape([None]).chunks([2]);
        let dataset = new.create().unwrap();
        dataset.write_with(.., bytes, &WriteOptions::default()).unwrap();
    };
    let text = VariableText { padding: Padding::NullTerminated, charset: Charset::Utf8 };
    let ids = file.put_vlen(&["one", "", "three"], 1).unwrap();
    make("texts", Datatype::VariableText(text), &file.vlen_stored(&ids));
    let target = root.create_group("target").unwrap().address().get();
    let object = Reference { size: 8, kind: ReferenceKind::Object1 };
    make("references", Datatype::Reference(object), &[target, 0, target].map(u64::to_le_bytes).concat());
    file.flush().unwrap();
    let report = checked(&image(&driver), true);
    assert_sound(&report, "strings and references");
    assert_eq!(report.totals.decoded, 4);
    // Without checking data, the collection of the strings counts as lost.
    let collection = checked(&image(&driver), false).totals.lost_bytes - report.totals.lost_bytes;
    assert!(collection >= 4096, "{collection}");
    root.remove("target").unwrap();
    file.remove_vlen(&ids[2..]).unwrap();
    file.flush().unwrap();
    let report = checked(&image(&driver), true);
    let errors = found(&report, Severity::Error);
    assert!(errors.len() == 1 && errors[0].message.contains("an element names object"), "{errors:?}");
    assert!(
        found(&report, Severity::Warning).iter().any(|w| w.message.starts_with("a reference leads to")),
        "{report:?}"
    );
}

#[test]
fn a_file_left_by_a_crash_is_checked_as_if_it_were_recovered() {
    let before = sample("libver_v110.h5");
    let superblock = inspect(&Memory::new(before.clone())).unwrap().superblock_bytes().to_vec();
    let driver = CrashDriver::new(before.clone());
    let change = Commit {
        transaction: 1,
        superblock_at: 0,
        before: Some(superblock.clone()),
        after: superblock,
        overwrites: vec![Overwrite { offset: before.len() as u64 - 8, bytes: vec![0x5a; 8] }],
        durability: Durability::Kill,
    };
    assert!(matches!(commit(&driver, change.clone()), Outcome::Committed));
    let (mut images, mut seen) = (Vec::new(), Vec::new());
    driver.into_recording().after_kill(|image| images.push(image.to_vec()));
    for image in images {
        let report = checked(&image, false);
        assert_sound(&report, "an interrupted commit");
        let notes = found(&report, Severity::Note);
        let expected = match report.recovery {
            Action::Nothing => None,
            Action::DropTail => Some("the remains of a transaction"),
            Action::Unguard => Some("checked as if it were undone"),
            Action::Redo => Some("checked as if it were finished"),
            Action::Refuse => panic!("{report:?}"),
        };
        assert_eq!(notes.len(), usize::from(expected.is_some()), "{notes:?}");
        assert!(notes.iter().all(|note| note.message.contains(expected.unwrap())), "{notes:?}");
        seen.push(report.recovery);
    }
    assert!(seen.contains(&Action::Redo) && seen.contains(&Action::Nothing), "{seen:?}");
}
