//! Data of variable length that are put into the global heap and taken out of it, against a map of what is there.

#![allow(clippy::unwrap_used)] // helpers of tests, which may fail as tests do

use std::collections::BTreeMap;
use std::sync::Arc;

use hyperslab::driver::Memory;
use hyperslab::engine::WriteOptions;
use hyperslab::{CreateOptions, DatasetOptions, File, NewStorage, Selection, VlenId};
use hyperslab_format::Addr;
use hyperslab_format::datatype::{Charset, Datatype, Padding, Reference, ReferenceKind, VariableText};
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_testkit::sound::{assert_accounted, assert_sound};
use proptest::prelude::*;

fn new_file() -> (Arc<Memory>, File) {
    let driver = Arc::new(Memory::new(Vec::new()));
    let file = File::create_on(driver.clone(), None, &CreateOptions::default()).unwrap();
    (driver, file)
}

fn reopened(driver: &Arc<Memory>) -> File {
    File::open_writable_on(driver.clone(), None, &CreateOptions::default()).unwrap()
}

#[derive(Debug, Clone)]
enum Action {
    /// Strings of these lengths.
    Put(Vec<usize>),
    /// Every so-manieth of what is there.
    Remove(usize, usize),
    /// A transaction that is taken back.
    Undo(Vec<usize>),
    Flush,
    Reopen,
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let len = || prop_oneof![8 => 0..60_usize, 2 => 0..5000_usize, 1 => 60_000..80_000_usize];
    let lens = move || prop::collection::vec(len(), 0..60);
    let action = prop_oneof![
        4 => lens().prop_map(Action::Put),
        3 => (1..4_usize, 0..4_usize).prop_map(|(every, first)| Action::Remove(every, first)),
        1 => lens().prop_map(Action::Undo),
        1 => Just(Action::Flush),
        1 => Just(Action::Reopen),
    ];
    prop::collection::vec(action, 1..14)
}

fn items(lens: &[usize], seed: &mut u8) -> Vec<Vec<u8>> {
    let item = |&len: &usize| {
        *seed = seed.wrapping_add(1);
        (0..=255_u8).cycle().map(|k| k.wrapping_mul(31).wrapping_add(*seed)).take(len).collect()
    };
    lens.iter().map(item).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn the_heap_holds_what_was_put_and_not_removed(actions in actions()) {
        let (driver, mut file) = new_file();
        let (mut known, mut seed) = (BTreeMap::<(Addr, u32), (VlenId, Vec<u8>)>::new(), 0);
        for action in actions {
            match action {
                Action::Put(lens) => {
                    let items = items(&lens, &mut seed);
                    let ids = file.put_vlen(&items, 1).unwrap();
                    for (id, item) in ids.into_iter().zip(items) {
                        prop_assert_eq!(id.count as usize, item.len());
                        prop_assert_eq!(id.count == 0, id.id.is_null());
                        if id.count > 0 {
                            let key = (id.id.collection, id.id.index);
                            prop_assert!(known.insert(key, (id, item)).is_none(), "an id is given twice");
                        }
                    }
                }
                Action::Remove(every, first) => {
                    let keys: Vec<_> = known.keys().copied().skip(first).step_by(every).collect();
                    let ids: Vec<VlenId> = keys.iter().map(|key| known.remove(key).unwrap().0).collect();
                    file.remove_vlen(&ids).unwrap();
                    let is_shared = |id: &&VlenId| known.keys().any(|(collection, _)| *collection == id.id.collection);
                    if let Some(id) = ids.iter().find(is_shared) {
                        prop_assert!(file.remove_vlen(&[*id]).is_err(), "what is gone cannot be taken out");
                    }
                }
                Action::Undo(lens) => {
                    let items = items(&lens, &mut seed);
                    let undone = file.transaction(|| {
                        file.put_vlen(&items, 1)?;
                        file.group("missing")
                    });
                    prop_assert!(undone.is_err());
                }
                Action::Flush => {
                    file.flush().unwrap();
                    // No element names what is in the heap: nothing reaches it.
                    assert_sound(&driver.bytes());
                }
                Action::Reopen => {
                    file.flush().unwrap();
                    file = reopened(&driver);
                }
            }
            for (id, item) in known.values() {
                prop_assert_eq!(&file.vlen_bytes(*id).unwrap(), item);
            }
        }
    }
}

fn strings(len: u64) -> DatasetOptions {
    let text = VariableText { padding: Padding::NullTerminated, charset: Charset::Utf8 };
    let space = Dataspace::Simple { shape: vec![len], max_shape: None };
    DatasetOptions::new(space, Datatype::VariableText(text))
}

fn texts(file: &File, path: &str) -> Vec<String> {
    let dataset = file.dataset(path).unwrap();
    let mut stored = vec![0; usize::try_from(dataset.len_bytes()).unwrap()];
    dataset.read_into(&Selection::All, &mut stored).unwrap();
    let ids = file.vlen_ids(&stored).unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    file.vlen_many(&ids, 1).unwrap().into_iter().map(text).collect()
}

#[test]
fn ids_that_are_written_come_back_as_the_strings_that_were_put() {
    for storage in [NewStorage::Contiguous, NewStorage::Compact, NewStorage::Chunked(vec![3])] {
        let (driver, file) = new_file();
        let mut options = strings(8);
        options.storage = storage;
        let dataset = file.root().create_dataset("texts", &options).unwrap();
        let words: Vec<String> = (0..8).map(|k| "äbc".repeat(k)).collect();
        let ids = file.put_text(&words).unwrap();
        // Readers in C take a null id for a null pointer: an empty string has an object of its own.
        assert!(ids.iter().all(|id| !id.id.is_null()));
        let as_stored = WriteOptions { datatype: Some(options.datatype.clone()), ..WriteOptions::default() };
        dataset.write_with(&Selection::All, &file.vlen_stored(&ids), &as_stored).unwrap();
        assert_eq!(texts(&file, "texts"), words);
        file.close().unwrap();
        assert_sound(&driver.bytes());
        assert_eq!(texts(&reopened(&driver), "texts"), words);
    }
}

#[test]
fn strings_that_are_overwritten_make_room_for_others() {
    let (_, file) = new_file();
    let dataset = file.root().create_dataset("texts", &strings(500)).unwrap();
    let mut lengths = Vec::new();
    for round in 0..8 {
        let words: Vec<String> = (0..500).map(|k| format!("{round}/{k}: {}", "x".repeat(k % 90))).collect();
        dataset.replace_vlen(&Selection::All, &words).unwrap();
        assert_eq!(texts(&file, "texts"), words);
        assert_accounted(&file, 0);
        lengths.push(file.store().len_bytes());
    }
    assert!(lengths[4..].iter().max() <= lengths[..4].iter().max(), "{lengths:?}");
    let numbers = DatasetOptions::new(
        Dataspace::Simple { shape: vec![1], max_shape: None },
        <i64 as hyperslab::types::Element>::datatype(),
    );
    let numbers = file.root().create_dataset("numbers", &numbers).unwrap();
    assert!(numbers.replace_vlen(&Selection::All, &["a"]).is_err());
}

#[test]
fn small_objects_share_a_collection_and_a_large_one_has_its_own() {
    let (_, file) = new_file();
    let first = file.put_vlen(&["a"], 1).unwrap()[0];
    let second = file.put_vlen(&["b"], 1).unwrap()[0];
    assert_eq!((first.id.collection, first.id.index + 1), (second.id.collection, second.id.index));
    let large = file.put_vlen(&[vec![1; 100_000]], 1).unwrap()[0];
    assert_ne!(large.id.collection, first.id.collection);
    let third = file.put_vlen(&["c"], 1).unwrap()[0];
    assert_eq!(third.id.collection, first.id.collection);
}

#[test]
fn a_sequence_that_is_no_whole_number_of_elements_is_refused() {
    let (_, file) = new_file();
    assert!(file.put_vlen(&[[0; 7]], 4).is_err());
    let ids = file.put_vlen(&[[0; 8]], 4).unwrap();
    assert_eq!(ids[0].count, 2);
}

#[test]
fn references_lead_to_the_objects_that_they_were_made_of() {
    let (driver, file) = new_file();
    let group = file.root().create_group("a/b").unwrap();
    let mut stored = file.object_reference(&group).unwrap();
    stored.extend(file.object_reference(&file.root()).unwrap());
    stored.extend([0; 8]);
    let kind = Reference { kind: ReferenceKind::Object1, size: 8 };
    let options =
        DatasetOptions::new(Dataspace::Simple { shape: vec![3], max_shape: None }, Datatype::Reference(kind));
    let dataset = file.root().create_dataset("references", &options).unwrap();
    dataset.write_with(&Selection::All, &stored, &WriteOptions::default()).unwrap();
    file.close().unwrap();
    assert_sound(&driver.bytes());
    let file = reopened(&driver);
    let mut stored = vec![0; 24];
    file.dataset("references").unwrap().read_into(&Selection::All, &mut stored).unwrap();
    assert_eq!(
        file.dereference(&kind, &stored[..8]).unwrap().address(),
        file.group("a/b").unwrap().address()
    );
    assert_eq!(file.dereference(&kind, &stored[8..16]).unwrap().address(), file.root().address());
    assert_eq!(file.reference_target(&kind, &stored[16..]).unwrap(), None);
    let (_, other) = new_file();
    assert!(other.object_reference(&file.root()).is_err());
}
