//! Objects without a link: they exist until the file is closed, unless a link to them is created.

#![allow(clippy::unwrap_used)] // helpers of tests may panic, as tests do

use std::sync::Arc;

use hyperslab::driver::Memory;
use hyperslab::storage::DatasetOptions;
use hyperslab::{Error, File, LibVersion, RequestError};
use hyperslab_format::datatype::{BitRange, ByteOrder, Datatype, Integer};
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_testkit::sound::{assert_accounted, assert_sound};

fn new_file(version: LibVersion) -> (Arc<Memory>, File) {
    let driver = Arc::new(Memory::new(Vec::new()));
    let file = File::options().version(version).create(true).truncate(true).open_on(driver.clone()).unwrap();
    (driver, file)
}

fn numbers() -> DatasetOptions {
    let bits = BitRange { offset: 0, precision: 32 };
    let order = ByteOrder::Little;
    let integer = Integer { size: 4, order, signed: true, low_pad: false, high_pad: false, bits };
    DatasetOptions::new(Dataspace::Simple { shape: vec![5], max_shape: None }, Datatype::Integer(integer))
}

#[test]
fn an_object_without_a_link_can_be_used_and_linked_later() {
    for version in [LibVersion::Earliest, LibVersion::V110] {
        let (driver, file) = new_file(version);
        let dataset = file.create_unlinked_dataset(&numbers()).unwrap();
        let group = file.create_unlinked_group(false).unwrap();
        assert_eq!((dataset.hard_links().unwrap(), dataset.path()), (0, ""));
        dataset.write(.., &[1, 2, 3, 4, 5]).unwrap();
        file.root().link_to("data", &dataset).unwrap();
        group.link_to("inner", &dataset).unwrap();
        file.root().link_to("group", &group).unwrap();
        drop((dataset, group, file));
        assert_sound(&driver.bytes());
        let file = File::options().open_on(driver).unwrap();
        assert_eq!(file.dataset("group/inner").unwrap().read::<i32>(..).unwrap(), [1, 2, 3, 4, 5]);
        assert_eq!(file.get("data").unwrap().hard_links().unwrap(), 2);
        assert_eq!(file.get("group").unwrap().hard_links().unwrap(), 1);
    }
}

#[test]
fn deleting_an_object_that_was_never_linked_frees_its_space() {
    let (_, file) = new_file(LibVersion::V110);
    let lengths = [(); 20].map(|()| {
        let dataset = file.create_unlinked_dataset(&numbers()).unwrap();
        dataset.write(.., &[1, 2, 3, 4, 5]).unwrap();
        let len = file.store().len_bytes();
        file.delete_unlinked().unwrap();
        let error = dataset.hard_links().unwrap_err();
        assert!(matches!(error.root(), Error::Request(RequestError::Deleted { .. })));
        // A reader might still need the space, so the space is free only after the next commit.
        file.flush().unwrap();
        len
    });
    assert!(lengths[1..].iter().all(|&len| len <= lengths[1]), "{lengths:?}");
    assert_accounted(&file, 0);
}

#[test]
fn a_rollback_undoes_links_and_unlinked_objects_of_the_transaction() {
    let (driver, file) = new_file(LibVersion::V110);
    let early = file.create_unlinked_group(false).unwrap();
    file.begin_transaction().unwrap();
    file.root().link_to("early", &early).unwrap();
    file.create_unlinked_dataset(&numbers()).unwrap();
    file.end_transaction(false).unwrap();
    // If the rollback did not forget the unlinked dataset, closing the file would delete the new dataset at
    // its address.
    let kept = file.root().create_dataset("kept", &numbers()).unwrap();
    kept.write(.., &[1, 2, 3, 4, 5]).unwrap();
    drop((early, kept, file));
    assert_sound(&driver.bytes());
    let file = File::options().open_on(driver).unwrap();
    assert_eq!(file.root().names().unwrap(), ["kept"]);
    assert_eq!(file.dataset("kept").unwrap().read::<i32>(..).unwrap(), [1, 2, 3, 4, 5]);
}

#[test]
fn a_group_is_not_moved_below_itself() {
    let (_, file) = new_file(LibVersion::Earliest);
    let root = file.root();
    let group = root.create_group("a/b").unwrap();
    root.link_soft("soft", "/a").unwrap();
    for target in ["a/x", "a/b/x", "a/new/x", "soft/x"] {
        let error = root.rename("a", target).unwrap_err();
        assert!(error.to_string().contains("cannot be moved below itself"), "{error}");
    }
    let error = group.rename("/a", "x").unwrap_err();
    assert!(error.to_string().contains("cannot be moved below itself"), "{error}");
    assert_eq!(root.names().unwrap(), ["a", "soft"]);
    // An absolute path does not lead through the groups above the caller.
    group.rename("/a", "/c").unwrap();
    root.rename("c", "a").unwrap();
    // A second hard link still leads to the group.
    root.link_to("second", &root.group("a").unwrap()).unwrap();
    root.rename("a", "a/x").unwrap();
    assert_eq!(file.group("second/x/b").unwrap().address(), group.address());
}
