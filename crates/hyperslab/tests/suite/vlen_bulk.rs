//! Writes and reads many elements of variable length at a time, and compares the result with that of single
//! elements.

#![allow(clippy::unwrap_used)] // helpers of tests may panic, as tests do

use std::sync::Arc;

use hyperslab::driver::Memory;
use hyperslab::internals::VlenId;
use hyperslab::{Dataset, File, Result, Selection};
use hyperslab_format::heap::global::{GlobalHeapCollection, GlobalHeapId};
use hyperslab_format::{Addr, Widths, Writer};
use hyperslab_testkit::fuzz::Random;
use hyperslab_testkit::sound::{assert_accounted, assert_sound};

fn new_file() -> (Arc<Memory>, File) {
    let driver = Arc::new(Memory::new(Vec::new()));
    let file = File::options().create(true).truncate(true).open_on(driver.clone()).unwrap();
    (driver, file)
}

fn open(bytes: Vec<u8>) -> Result<File> {
    File::options().open_on(Arc::new(Memory::new(bytes)))
}

/// Strings of lengths from 0 to 40, and one that has a collection of its own.
fn words(count: usize, seed: usize) -> Vec<String> {
    let word = |k: usize| match k % 1000 {
        500 => "é".repeat(40_000),
        _ => format!("{k} {}", "x".repeat((k * 7 + seed) % 37)).split_off((k % 3).min(1)),
    };
    (0..count).map(|k| if k % 11 == 3 { String::new() } else { word(k) }).collect()
}

fn ids_of(dataset: &Dataset) -> Vec<VlenId> {
    let mut stored = vec![0; usize::try_from(dataset.len_bytes()).unwrap()];
    dataset.read_into(.., &mut stored).unwrap();
    dataset.file().vlen_ids(&stored).unwrap()
}

/// Returns the data of each element, read on its own.
fn one_by_one(file: &File, ids: &[VlenId]) -> Result<Vec<Vec<u8>>> {
    ids.iter().map(|id| file.vlen_bytes(*id)).collect()
}

fn dataset_of(file: &File, len: u64, chunk: Option<u64>) -> Dataset {
    let builder = file.root().new_dataset::<String>("texts").shape([len]);
    match chunk {
        Some(chunk) => builder.chunks([chunk]).create().unwrap(),
        None => builder.create().unwrap(),
    }
}

#[test]
fn many_strings_are_written_read_and_replaced() {
    for chunk in [None, Some(777)] {
        let (driver, file) = new_file();
        let dataset = dataset_of(&file, 9000, chunk);
        let mut lengths = Vec::new();
        for seed in 0..4 {
            let words = words(9000, seed);
            dataset.write(.., &words).unwrap();
            assert_eq!(dataset.read::<String>(..).unwrap(), words);
            let ids = ids_of(&dataset);
            assert!(ids.iter().all(|id| !id.id.is_null()), "an empty string has an object of its own, too");
            let bytes: Vec<&[u8]> = words.iter().map(String::as_bytes).collect();
            assert_eq!(one_by_one(&file, &ids).unwrap(), bytes);
            file.flush().unwrap();
            assert_accounted(&file, 0);
            lengths.push(file.store().len_bytes());
        }
        assert!(lengths[3] <= lengths[1] + 4096, "the space of replaced strings is used again: {lengths:?}");
        file.close().unwrap();
        assert_sound(&driver.bytes());
        let file = open(driver.bytes()).unwrap();
        assert_eq!(file.dataset("texts").unwrap().read::<String>(..).unwrap(), words(9000, 3));
    }
}

#[test]
fn many_sequences_of_which_some_are_empty_are_written_and_read() {
    let (driver, file) = new_file();
    let sequences: Vec<Vec<u16>> = (0..9000_u16).map(|k| (0..k % 9).map(|i| k ^ i).collect()).collect();
    let dataset = file.root().new_dataset::<Vec<u16>>("d").shape([9000]).create_with(&sequences).unwrap();
    assert!(
        ids_of(&dataset).iter().zip(&sequences).all(|(id, sequence)| id.id.is_null() == sequence.is_empty())
    );
    file.close().unwrap();
    assert_sound(&driver.bytes());
    let file = open(driver.bytes()).unwrap();
    assert_eq!(file.dataset("d").unwrap().read::<Vec<u16>>(..).unwrap(), sequences);
}

#[test]
fn strings_in_any_order_are_read_as_single_ones_are() {
    let (driver, file) = new_file();
    let dataset = dataset_of(&file, 5000, None);
    dataset.write(.., &words(5000, 0)).unwrap();
    file.flush().unwrap();
    let mut ids = ids_of(&dataset);
    let mut random = Random::new(7);
    for index in (1..ids.len()).rev() {
        ids.swap(index, random.below(index + 1));
    }
    // Elements that share an object, shorter elements, and null ones.
    ids.extend_from_within(..300);
    ids.iter_mut().step_by(5).for_each(|id| id.count /= 2);
    ids[17] = VlenId { count: 3, id: GlobalHeapId::NULL };
    let reopened = open(driver.bytes()).unwrap();
    for file in [&file, &reopened] {
        assert_eq!(file.vlen_many(&ids, 1).unwrap(), one_by_one(file, &ids).unwrap());
    }
}

/// Every byte of a collection's header and first objects is changed: all elements are then read as single
/// ones, or reading is an error, as for single ones.
#[test]
fn a_damaged_collection_is_read_in_bulk_as_for_single_strings() {
    let (driver, file) = new_file();
    let dataset = dataset_of(&file, 400, None);
    let words: Vec<String> = (0..400).map(|k| format!("string {k}")).collect();
    dataset.write(.., &words).unwrap();
    let ids = ids_of(&dataset);
    file.close().unwrap();
    let bytes = driver.bytes();
    let at = usize::try_from(ids[0].id.collection.get()).unwrap();
    let (mut errors, mut right) = (0, 0);
    for place in 0..120 {
        for value in [0, 1, 0x10, 0x80, 0xFF] {
            let mut bytes = bytes.clone();
            bytes[at + place] = value;
            let file = open(bytes).unwrap();
            match (file.vlen_many(&ids, 1), one_by_one(&file, &ids)) {
                (Ok(many), Ok(single)) => {
                    assert_eq!(many, single);
                    right += 1;
                }
                (Err(many), Err(single)) => {
                    assert_eq!(many.to_string(), single.to_string(), "byte {place} is {value:#x}");
                    errors += 1;
                }
                (many, single) => panic!("byte {place} is {value:#x}: {many:?} but {single:?}"),
            }
        }
    }
    assert!(errors > 50 && right > 50, "{errors} errors, {right} right");
    for end in [at + 10, at + 100, at + 4095] {
        let cut = open(bytes[..end].to_vec()).and_then(|file| file.vlen_many(&ids, 1));
        assert!(cut.is_err(), "a file that ends in the collection");
    }
}

/// A file could have a collection at each of its bytes, each as long as the rest of the file.
#[test]
fn collections_inside_each_other_are_refused() {
    let (driver, file) = new_file();
    let mut inner = Vec::new();
    let w = &mut Writer::new(&mut inner, Widths::EIGHT);
    GlobalHeapCollection::encode_new(w, 4096, [&b"inside"[..]].into_iter());
    let outer = file.put_vlen(&[&inner[..]], 1).unwrap()[0];
    file.flush().unwrap();
    // The header of the collection has 16 bytes, and so has that of its object.
    let inside = outer.id.collection.checked_add(32).unwrap();
    let id = |collection: Addr| VlenId { count: 6, id: GlobalHeapId { collection, index: 1 } };
    let file = open(driver.bytes()).unwrap();
    assert_eq!(file.vlen_bytes(id(inside)).unwrap(), b"inside");
    let file = open(driver.bytes()).unwrap();
    let mut ids = vec![outer; 300];
    ids.push(id(inside));
    let error = file.vlen_many(&ids, 1).unwrap_err().to_string();
    assert!(error.contains("address of the collection"), "{error}");
}

#[test]
fn elements_that_were_never_written_are_not_read_to_be_replaced() {
    let (_, file) = new_file();
    let dataset = dataset_of(&file, 300, Some(100));
    dataset.write(0..100, &words(100, 1)).unwrap();
    dataset.write(50..250, &words(200, 2)).unwrap();
    let expected: Vec<String> =
        words(100, 1)[..50].iter().chain(&words(200, 2)).cloned().chain(vec![String::new(); 50]).collect();
    assert_eq!(dataset.read::<String>(..).unwrap(), expected);
    file.flush().unwrap();
    assert_accounted(&file, 0);
    dataset.replace_vlen(&Selection::All, &words(300, 3)).unwrap();
    assert_accounted(&file, 0);
}
