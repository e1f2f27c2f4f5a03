//! Handles to deleted objects: every call returns an error, and never touches the object that now has the
//! same address.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]

use hyperslab::Element;
use hyperslab::storage::{DatasetOptions, NewStorage};
use hyperslab::{Attribute, Dataset, Error, File, Object, RequestError, Result, Selection};
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_testkit::sound::assert_accounted;

fn options() -> DatasetOptions {
    let space = Dataspace::Simple { shape: vec![8], max_shape: Some(vec![None]) };
    let mut options = DatasetOptions::new(space, i32::datatype());
    options.storage = NewStorage::Chunked(vec![4]);
    options
}

fn make(file: &File, path: &str, first: i32) -> Dataset {
    let dataset = file.root().create_dataset(path, &options()).unwrap();
    dataset.write(Selection::All, &(first..first + 8).collect::<Vec<_>>()).unwrap();
    dataset
}

fn unit() -> Attribute {
    Attribute { name: "unit".into(), datatype: u8::datatype(), dataspace: Dataspace::Scalar, data: vec![1] }
}

fn is_gone<T>(result: Result<T>) -> bool {
    matches!(result.err().as_ref().map(Error::root), Some(Error::Request(RequestError::Deleted { .. })))
}

/// Asserts that every call on the dataset is refused because the dataset is deleted.
fn assert_gone(file: &File, dataset: &Dataset) {
    assert!(is_gone(dataset.put_attribute(&unit())));
    assert!(is_gone(dataset.remove_attribute("unit")));
    assert!(is_gone(dataset.attributes()));
    assert!(is_gone(dataset.write(Selection::All, &[0; 8])));
    assert!(is_gone(dataset.write(1..2, &[0])));
    assert!(is_gone(dataset.resize([3])));
    assert!(is_gone(dataset.read::<i32>(Selection::All)));
    assert!(is_gone(file.root().link_to("again", dataset)));
}

#[test]
fn a_handle_to_a_deleted_dataset_does_not_touch_a_new_one_at_its_address() {
    for is_flushed in [false, true] {
        let file = File::in_memory().unwrap();
        let deleted = make(&file, "deleted", 0);
        if is_flushed {
            file.flush().unwrap();
        }
        file.root().remove("deleted").unwrap();
        assert_gone(&file, &deleted);
        // New datasets are created until one gets the address of the deleted dataset.
        let mut others = Vec::new();
        for turn in 0..20 {
            file.flush().unwrap();
            others.push(make(&file, &format!("other {turn}"), 100 * turn));
            assert_gone(&file, &deleted);
        }
        assert!(others.iter().any(|other| other.address() == deleted.address()), "no address was used again");
        for (turn, other) in others.iter().enumerate() {
            let first = 100 * i32::try_from(turn).unwrap();
            assert_eq!(other.read::<i32>(..).unwrap(), (first..first + 8).collect::<Vec<_>>());
            assert_eq!(other.attribute_count().unwrap(), 0);
        }
        assert_accounted(&file, 0);
    }
}

#[test]
fn a_rollback_invalidates_handles_made_in_the_transaction_and_keeps_earlier_ones() {
    let file = File::in_memory().unwrap();
    let kept = make(&file, "kept", 0);
    file.begin_transaction().unwrap();
    let made = make(&file, "made", 100);
    file.root().remove("kept").unwrap();
    assert_gone(&file, &kept);
    file.end_transaction(false).unwrap();
    assert_gone(&file, &made);
    assert_eq!(kept.read::<i32>(..).unwrap(), (0..8).collect::<Vec<_>>());
    kept.put_attribute(&unit()).unwrap();
    let again = make(&file, "made", 200);
    assert_gone(&file, &made);
    file.flush().unwrap();
    assert_eq!(again.read::<i32>(..).unwrap(), (200..208).collect::<Vec<_>>());
    assert_eq!(file.dataset("kept").unwrap().attribute("unit").unwrap(), unit());
    assert_accounted(&file, 0);
}

#[test]
fn adding_members_to_a_deleted_group_is_an_error() {
    let file = File::in_memory().unwrap();
    let group = file.root().create_group("group").unwrap();
    let below = group.create_group("below").unwrap();
    let target: &Object = &file.root().create_group("target").unwrap();
    file.root().remove("group").unwrap();
    for group in [&group, &below] {
        assert!(is_gone(group.create_group("new")));
        assert!(is_gone(group.create_dataset("new", &options())));
        assert!(is_gone(group.link_to("new", target)));
        assert!(is_gone(group.link_soft("new", "/")));
        assert!(is_gone(group.names()));
    }
    assert_eq!(file.root().names().unwrap(), ["target"]);
    assert_accounted(&file, 0);
}
