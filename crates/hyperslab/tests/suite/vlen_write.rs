//! Puts variable-length data into the global heap and removes them, and compares the heap with a map in
//! memory.

#![allow(clippy::unwrap_used)] // helpers of tests may panic, as tests do

use std::collections::BTreeMap;
use std::sync::Arc;

use hyperslab::WriteOptions;
use hyperslab::driver::Memory;
use hyperslab::internals::VlenId;
use hyperslab::storage::{DatasetOptions, NewStorage};
use hyperslab::{File, Selection};
use hyperslab_format::Addr;
use hyperslab_format::datatype::{
    Array, Charset, Compound, Datatype, Member, Padding, Reference, ReferenceKind, VariableText,
};
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::fill::FillBytes;
use hyperslab_testkit::sound::{assert_accounted, assert_sound};
use proptest::prelude::*;

fn new_file() -> (Arc<Memory>, File) {
    let driver = Arc::new(Memory::new(Vec::new()));
    let file = File::options().create(true).truncate(true).open_on(driver.clone()).unwrap();
    (driver, file)
}

fn reopened(driver: &Arc<Memory>) -> File {
    File::options().write(true).open_on(driver.clone()).unwrap()
}

#[derive(Debug, Clone)]
enum Action {
    /// Puts strings of these lengths.
    Put(Vec<usize>),
    /// Removes every `n`-th item, with `n` the first number, after skipping as many items as the second
    /// number says.
    Remove(usize, usize),
    /// Puts strings of these lengths in a transaction that is rolled back.
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
    fn the_global_heap_holds_what_was_put_and_not_removed(actions in actions()) {
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
                            prop_assert!(known.insert(key, (id, item)).is_none(), "an id was used twice");
                        }
                    }
                }
                Action::Remove(every, first) => {
                    let keys: Vec<_> = known.keys().copied().skip(first).step_by(every).collect();
                    let ids: Vec<VlenId> = keys.iter().map(|key| known.remove(key).unwrap().0).collect();
                    file.remove_vlen(&ids).unwrap();
                    let is_shared = |id: &&VlenId| known.keys().any(|(collection, _)| *collection == id.id.collection);
                    if let Some(id) = ids.iter().find(is_shared) {
                        prop_assert!(file.remove_vlen(&[*id]).is_err(), "a removed object cannot be removed again");
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
                    // No element refers to the objects in the heap, so their space counts as lost and the
                    // file is still sound.
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
    dataset.read_into(.., &mut stored).unwrap();
    let ids = file.vlen_ids(&stored).unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    file.vlen_many(&ids, 1).unwrap().into_iter().map(text).collect()
}

#[test]
fn strings_written_by_their_heap_ids_are_read_back() {
    for storage in [NewStorage::Contiguous, NewStorage::Compact, NewStorage::Chunked(vec![3])] {
        let (driver, file) = new_file();
        let mut options = strings(8);
        options.storage = storage;
        let dataset = file.root().create_dataset("texts", &options).unwrap();
        let words: Vec<String> = (0..8).map(|k| "äbc".repeat(k)).collect();
        let ids = file.put_text(&words).unwrap();
        // An empty string has its own heap object, because readers in C take a null id for a null pointer.
        assert!(ids.iter().all(|id| !id.id.is_null()));
        let as_stored = WriteOptions::default().datatype(Some(options.datatype.clone()));
        dataset.write_with(.., &file.vlen_stored(&ids), &as_stored).unwrap();
        assert_eq!(texts(&file, "texts"), words);
        file.close().unwrap();
        assert_sound(&driver.bytes());
        assert_eq!(texts(&reopened(&driver), "texts"), words);
    }
}

#[test]
fn the_space_of_overwritten_strings_is_reused() {
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
    let numbers = file.root().new_dataset::<i64>("numbers").shape([1]).create().unwrap();
    assert!(numbers.replace_vlen(&Selection::All, &["a"]).is_err());
}

#[test]
fn small_heap_objects_share_a_collection_and_a_large_one_has_its_own() {
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
fn a_sequence_whose_length_is_not_a_multiple_of_the_element_size_is_refused() {
    let (_, file) = new_file();
    assert!(file.put_vlen(&[[0; 7]], 4).is_err());
    let ids = file.put_vlen(&[[0; 8]], 4).unwrap();
    assert_eq!(ids[0].count, 2);
}

#[test]
fn object_references_lead_to_the_objects_they_were_made_from() {
    let (driver, file) = new_file();
    let group = file.root().create_group("a/b").unwrap();
    let mut stored = file.object_reference(&group).unwrap();
    stored.extend(file.object_reference(&file.root()).unwrap());
    stored.extend([0; 8]);
    let kind = Reference { kind: ReferenceKind::Object1, size: 8 };
    let new = file.root().new_dataset_of("references", Datatype::Reference(kind)).shape([3]);
    let dataset = new.create().unwrap();
    dataset.write_with(.., &stored, &WriteOptions::default()).unwrap();
    file.close().unwrap();
    assert_sound(&driver.bytes());
    let file = reopened(&driver);
    let mut stored = vec![0; 24];
    file.dataset("references").unwrap().read_into(.., &mut stored).unwrap();
    assert_eq!(
        file.dereference(&kind, &stored[..8]).unwrap().address(),
        file.group("a/b").unwrap().address()
    );
    assert_eq!(file.dereference(&kind, &stored[8..16]).unwrap().address(), file.root().address());
    assert_eq!(file.reference_target(&kind, &stored[16..]).unwrap(), None);
    let (_, other) = new_file();
    assert!(other.object_reference(&file.root()).is_err());
}

/// Returns a compound datatype of a number, a string and an array of two strings, and a function that encodes
/// an element of it.
fn record() -> (Datatype, impl Fn(&File, i32, [&str; 3]) -> Vec<u8>) {
    let text =
        Datatype::VariableText(VariableText { padding: Padding::NullTerminated, charset: Charset::Utf8 });
    let pair = Datatype::Array(Array { base: Box::new(text.clone()), shape: vec![2] });
    let members = vec![
        Member::new("number", 0, <i32 as hyperslab::Element>::datatype()),
        Member::new("text", 8, text),
        Member::new("pair", 24, pair),
    ];
    let element = |file: &File, number: i32, texts: [&str; 3]| {
        let mut bytes = number.to_le_bytes().to_vec();
        bytes.extend([0; 4]);
        bytes.extend(file.vlen_stored(&file.put_text(&texts).unwrap()));
        bytes
    };
    (Datatype::Compound(Compound { size: 56, members }), element)
}

#[test]
fn strings_replaced_by_many_threads_are_each_removed_from_the_heap_once() {
    let (driver, file) = new_file();
    let mut options = strings(4);
    options.storage = NewStorage::Chunked(vec![3]);
    file.root().create_dataset("chunks", &options).unwrap();
    file.root().create_dataset("texts", &strings(4)).unwrap();
    let (datatype, element) = record();
    file.root().new_dataset_of("records", datatype).shape([1]).create().unwrap();
    let words =
        |thread: usize, turn: usize| [1, 2, 3, 4].map(|k| format!("{thread}: {}", "x".repeat(turn * k % 50)));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (file, element) = (&file, &element);
            scope.spawn(move || {
                for turn in 0..150 {
                    for path in ["texts", "chunks"] {
                        let dataset = file.dataset(path).unwrap();
                        dataset.replace_vlen(&Selection::All, &words(thread, turn)).unwrap();
                        let _reading = file.reading_vlen();
                        let found = texts(file, path);
                        let of = found[0].split(':').next().unwrap();
                        assert!(
                            found.iter().all(|text| text.starts_with(of)) || path == "chunks",
                            "{found:?}"
                        );
                    }
                    let records = file.dataset("records").unwrap();
                    let bytes = element(file, 7, ["a", &"b".repeat(turn), "c"]);
                    records.write_with(.., &bytes, &WriteOptions::default()).unwrap();
                }
            });
        }
    });
    for path in ["texts", "chunks"] {
        file.dataset(path).unwrap().replace_vlen(&Selection::All, &words(0, 0)).unwrap();
        assert_eq!(texts(&file, path), words(0, 0));
    }
    assert_accounted(&file, 0);
    assert_sound(&driver.bytes());
}

#[test]
fn the_space_of_strings_in_overwritten_records_is_reused() {
    let (_, file) = new_file();
    let (datatype, element) = record();
    let dataset = file.root().new_dataset_of("records", datatype).shape([50]).create().unwrap();
    let mut lengths = Vec::new();
    for round in 0..8 {
        let long = "x".repeat(500 + round);
        let records: Vec<u8> = (0..50).flat_map(|number| element(&file, number, ["a", &long, "b"])).collect();
        dataset.write_with(.., &records, &WriteOptions::default()).unwrap();
        // Strings that are written again are not removed.
        dataset.write_with(.., &records, &WriteOptions::default()).unwrap();
        let mut stored = vec![0; 56 * 50];
        dataset.read_into(.., &mut stored).unwrap();
        let ids = file.vlen_ids(&stored[56 * 49 + 8..]).unwrap();
        assert_eq!(file.vlen_many(&ids, 1).unwrap(), [b"a".as_slice(), long.as_bytes(), b"b"]);
        assert_accounted(&file, 0);
        lengths.push(file.store().len_bytes());
    }
    assert!(lengths[4..].iter().max() <= lengths[..4].iter().max(), "{lengths:?}");
}

#[test]
fn overwriting_elements_does_not_remove_the_string_of_the_fill_value() {
    for storage in [NewStorage::Contiguous, NewStorage::Chunked(vec![2])] {
        let (driver, file) = new_file();
        let mut options = strings(5);
        options.storage = storage;
        let fill = file.put_text(&["fill"]).unwrap();
        options.fill = FillBytes::Defined(file.vlen_stored(&fill));
        let dataset = file.root().create_dataset("texts", &options).unwrap();
        assert_eq!(texts(&file, "texts"), ["fill"; 5]);
        for index in [0, 3, 0] {
            dataset.replace_vlen(&(index..index + 1).into(), &["new"]).unwrap();
        }
        assert_eq!(texts(&file, "texts"), ["new", "fill", "fill", "new", "fill"]);
        // No two elements share a heap object, because libhdf5 removes the object of an element that it
        // replaces.
        let mut stored = vec![0; 16 * 4];
        dataset.read_into(0..4, &mut stored).unwrap();
        let mut ids: Vec<u32> = file.vlen_ids(&stored).unwrap().iter().map(|id| id.id.index).collect();
        ids.push(fill[0].id.index);
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 5, "{ids:?}");
        file.close().unwrap();
        assert_sound(&driver.bytes());
    }
}

#[test]
fn replacing_strings_with_the_wrong_number_of_strings_changes_nothing() {
    let (_, file) = new_file();
    let dataset = file.root().create_dataset("texts", &strings(3)).unwrap();
    dataset.replace_vlen(&Selection::All, &["a", "b", "c"]).unwrap();
    let free = file.put_text(&["x"]).unwrap();
    file.remove_vlen(&free).unwrap();
    assert!(dataset.replace_vlen(&Selection::All, &["one", "two"]).is_err());
    assert!(dataset.replace_vlen(&(2..4).into(), &["one", "two"]).is_err());
    assert_eq!(texts(&file, "texts"), ["a", "b", "c"]);
    // The next object gets the same id as before.
    assert_eq!(file.put_text(&["x"]).unwrap(), free);
}
