//! The space that earlier openings freed is used again, and nothing that is in use is taken (decision 0039).

#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use hyperslab::driver::{Driver, Memory, Operation, Trace};
use hyperslab::storage::{DatasetOptions, NewStorage};
use hyperslab::{Element as _, File, FileSpace, Found, LibVersion, SpaceStrategy, WriteOptions, filter};
use hyperslab_check as check;
use hyperslab_format::datatype::{Charset, Datatype, Padding, VariableText};
use hyperslab_format::heap::global::VariableElement;
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_store::Searches;
use hyperslab_testkit::sound::assert_sound;

fn opened(path: &Path, when: Searches) -> File {
    File::options().write(true).find_free_space(Some(check::holes)).searches(when).open(path).unwrap()
}

fn put(file: &File, name: &str, values: &[i64], is_compressed: bool) {
    let new = file.root().new_dataset::<i64>(name).shape([values.len() as u64]);
    let new = if is_compressed { new.chunks([100]).filter(filter::Deflate::default()) } else { new };
    new.create().unwrap().write(.., values).unwrap();
}

fn get(file: &File, name: &str) -> Vec<i64> {
    file.dataset(name).unwrap().read(..).unwrap()
}

fn len(path: &Path) -> u64 {
    std::fs::metadata(path).unwrap().len()
}

/// A small generator of random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

#[test]
fn a_dataset_that_is_replaced_in_many_openings_takes_its_place_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.h5");
    let file = File::create(&path).unwrap();
    put(&file, "d", &vec![0; 100_000], false);
    put(&file, "after", &[1; 1000], false);
    file.close().unwrap();
    let first = len(&path);
    for number in 0..6 {
        let file = opened(&path, Searches::Rarely);
        file.root().remove("d").unwrap();
        file.close().unwrap();
        let file = opened(&path, Searches::Rarely);
        put(&file, "d", &vec![number; 100_000], false);
        file.close().unwrap();
    }
    assert!(len(&path) < first + first / 10, "{} bytes, {first} at first", len(&path));
    assert_sound(&std::fs::read(&path).unwrap());
    let file = File::open(&path).unwrap();
    assert_eq!(get(&file, "d"), vec![5; 100_000]);
    assert_eq!(get(&file, "after"), [1; 1000]);
}

#[test]
fn small_datasets_that_are_replaced_in_many_openings_take_their_places_a_few_times() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.h5");
    let file = File::create(&path).unwrap();
    (0..10).for_each(|number| put(&file, &format!("d{number}"), &[0; 1250], false));
    file.close().unwrap();
    for turn in 0..100 {
        let file = opened(&path, Searches::Rarely);
        let name = format!("d{}", turn % 10);
        file.root().remove(&name).unwrap();
        put(&file, &name, &[turn; 1250], false);
        file.close().unwrap();
    }
    // 100,000 bytes of elements, and the next multiple of 64 KiB.
    assert!(len(&path) <= 128 << 10, "{} bytes", len(&path));
    assert_sound(&std::fs::read(&path).unwrap());
    let file = File::open(&path).unwrap();
    (0..10).for_each(|number| assert_eq!(get(&file, &format!("d{number}")), vec![90 + number; 1250]));
}

#[test]
fn space_is_found_after_a_commit_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.h5");
    let file = File::create(&path).unwrap();
    put(&file, "d", &vec![0; 100_000], false);
    put(&file, "after", &[1; 1000], false);
    file.close().unwrap();
    let file = opened(&path, Searches::Rarely);
    file.root().remove("d").unwrap();
    file.close().unwrap();
    let before = len(&path);
    let file = opened(&path, Searches::Rarely);
    for number in 0..5 {
        put(&file, &format!("small {number}"), &[number; 10], false);
        file.flush().unwrap();
    }
    put(&file, "d", &vec![7; 100_000], false);
    file.close().unwrap();
    assert!(len(&path) < before + 10_000, "{} bytes, {before} before", len(&path));
    assert_sound(&std::fs::read(&path).unwrap());
    assert_eq!(get(&File::open(&path).unwrap(), "d"), vec![7; 100_000]);
}

#[test]
fn an_object_without_links_keeps_its_space() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.h5");
    File::create(&path).unwrap().close().unwrap();
    let file = opened(&path, Searches::AfterCommit);
    let mut options =
        DatasetOptions::new(Dataspace::Simple { shape: vec![1000], max_shape: None }, i64::datatype());
    options.storage = NewStorage::Contiguous;
    let unlinked = file.create_unlinked_dataset(&options).unwrap();
    unlinked.write(.., &[3_i64; 1000]).unwrap();
    file.flush().unwrap();
    put(&file, "d", &[4; 1000], false);
    file.root().link_to("unlinked", &unlinked.clone()).unwrap();
    file.close().unwrap();
    assert_sound(&std::fs::read(&path).unwrap());
    let file = File::open(&path).unwrap();
    assert_eq!((get(&file, "unlinked"), get(&file, "d")), (vec![3; 1000], vec![4; 1000]));
}

#[test]
fn random_changes_in_many_openings_keep_all_values_and_a_sound_file() {
    for when in [Searches::Rarely, Searches::AtOnce, Searches::AfterCommit] {
        change_at_random(when);
    }
}

fn change_at_random(when: Searches) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.h5");
    File::create(&path).unwrap().close().unwrap();
    let (mut random, mut expected) = (Random(5), BTreeMap::new());
    for _ in 0..60 {
        let file = opened(&path, when);
        for _ in 0..=random.below(6) {
            let name = format!("g{}/d{}", random.below(3), random.below(6));
            if expected.remove(&name).is_some() {
                file.root().remove(&name).unwrap();
            }
            if random.below(4) > 0 {
                let values: Vec<i64> =
                    (0..100 + random.below(3000)).map(|_| random.below(1 << 20).cast_signed()).collect();
                put(&file, &name, &values, random.below(2) == 0);
                expected.insert(name, values);
            }
            if random.below(5) == 0 {
                file.flush().unwrap();
            }
        }
        file.close().unwrap();
        assert_sound(&std::fs::read(&path).unwrap());
        let file = File::open(&path).unwrap();
        for (name, values) in &expected {
            assert_eq!(&get(&file, name), values, "{name}");
        }
    }
}

/// The bytes of a file whose group has this many links.
fn with_links(version: LibVersion, count: u64) -> Vec<u8> {
    let memory = Arc::new(Memory::default());
    let file = File::options().create(true).version(version).open_on(memory.clone()).unwrap();
    let group = file.root().create_group("g").unwrap();
    (0..count).for_each(|number| group.link_soft(&format!("link {number}"), "/g").unwrap());
    file.close().unwrap();
    memory.bytes()
}

#[test]
fn a_walk_ends_within_a_group_of_many_links() {
    for version in [LibVersion::Earliest, LibVersion::V110] {
        let bytes = with_links(version, 5000);
        let all = Arc::new(Trace::new(Memory::new(bytes.clone())));
        assert!(matches!(check::holes(all.clone(), u64::MAX), Found::Free { .. }));
        let some = Arc::new(Trace::new(Memory::new(bytes)));
        assert_eq!(check::holes(some.clone(), 64), Found::TooMany);
        let (some, all) = (some.take().len(), all.take().len());
        assert!(some < 150 && some < all / 2, "{version:?}: {some} of {all} calls of the driver");
    }
}

#[test]
fn a_walk_ends_within_a_dataset_of_many_chunks() {
    let memory = Arc::new(Memory::default());
    let file = File::options().create(true).version(LibVersion::Earliest).open_on(memory.clone()).unwrap();
    let new = file.root().new_dataset::<i64>("d").shape([20_000]).max_shape([None]).chunks([1]);
    new.create().unwrap().write(.., &vec![1; 20_000]).unwrap();
    file.close().unwrap();
    let some = Arc::new(Trace::new(Memory::new(memory.bytes())));
    assert_eq!(check::holes(some.clone(), 64), Found::TooMany);
    let calls = some.take().len();
    assert!(calls < 150, "{calls} calls of the driver");
}

/// Adds a dataset of ten strings, and returns their ids.
fn put_texts(file: &File, name: &str) -> Vec<VariableElement> {
    let text = VariableText { padding: Padding::NullTerminated, charset: Charset::Utf8 };
    let space = Dataspace::Simple { shape: vec![10], max_shape: None };
    let options = DatasetOptions::new(space, Datatype::VariableText(text));
    let dataset = file.root().create_dataset(name, &options).unwrap();
    let ids = file.put_text(&["a text of some length"; 10]).unwrap();
    let as_stored = WriteOptions::default().datatype(Some(Datatype::VariableText(text)));
    dataset.write_with(.., &file.vlen_stored(&ids), &as_stored).unwrap();
    ids
}

#[test]
fn collections_of_the_global_heap_keep_their_space() {
    for when in [Searches::AtOnce, Searches::AfterCommit] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.h5");
        let file = File::create(&path).unwrap();
        put_texts(&file, "texts");
        put(&file, "after", &[1; 1000], false);
        file.close().unwrap();
        let file = opened(&path, when);
        for number in 0..20 {
            put(&file, &format!("d{number}"), &[number; 60], false);
            file.flush().unwrap();
        }
        file.close().unwrap();
        let report = check::check_path(&path, &check::CheckOptions::default().data(true), &mut |_| {});
        let report = report.unwrap();
        assert!(report.is_sound(), "{:?}", report.findings);
    }
}

/// After a commit, no element names the collection, so the walk takes its space for unused. But one of its
/// strings was removed, so this opening knows that it has room, and puts the next strings there.
#[test]
fn a_collection_that_has_room_for_strings_keeps_its_space() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.h5");
    let file = File::create(&path).unwrap();
    let ids = put_texts(&file, "texts");
    put(&file, "after", &[1; 1000], false);
    file.close().unwrap();
    let file = opened(&path, Searches::AfterCommit);
    file.root().remove("texts").unwrap();
    file.remove_vlen(&ids[..1]).unwrap();
    file.flush().unwrap();
    put(&file, "d", &[2; 60], false);
    put_texts(&file, "new texts");
    put(&file, "e", &[3; 60], false);
    file.close().unwrap();
    let report = check::check_path(&path, &check::CheckOptions::default().data(true), &mut |_| {});
    let report = report.unwrap();
    assert!(report.is_sound(), "{:?}", report.findings);
    let file = File::open(&path).unwrap();
    assert_eq!((get(&file, "d"), get(&file, "e")), (vec![2; 60], vec![3; 60]));
}

/// A large hole in a file with strings is read only in part, because a collection of the global heap may be
/// anywhere in it.
#[test]
fn a_small_change_reads_a_small_part_of_a_large_hole() {
    let memory = Arc::new(Memory::default());
    let file = File::options().create(true).open_on(memory.clone()).unwrap();
    put_texts(&file, "texts");
    put(&file, "gone", &vec![0; 1 << 20], false);
    put(&file, "after", &[1; 1000], false);
    file.close().unwrap();
    let file = File::options().write(true).open_on(memory.clone()).unwrap();
    file.root().remove("gone").unwrap();
    file.close().unwrap();
    let before = memory.bytes().len();
    let trace = Arc::new(Trace::new(Memory::new(memory.bytes())));
    let file =
        File::options().write(true).find_free_space(Some(check::holes)).open_on(trace.clone()).unwrap();
    put(&file, "new", &vec![3; 1 << 16], false);
    let read: u64 = trace
        .take()
        .iter()
        .map(|operation| match operation {
            Operation::Read { len, .. } => *len,
            _ => 0,
        })
        .sum();
    assert!((1 << 19..4 << 20).contains(&read), "{read} bytes are read to find 512 KiB in 8 MiB");
    file.close().unwrap();
    let len = trace.len().unwrap();
    assert!(len < before as u64 + 10_000, "{len} bytes, {before} before");
}

/// The number of searches in an opening of a file with this strategy, which adds a dataset of this length.
fn searches(strategy: SpaceStrategy, when: Searches, len: usize) -> usize {
    thread_local! {
        static CALLS: Cell<usize> = const { Cell::new(0) };
    }
    fn counted(_: Arc<dyn Driver>, _: u64) -> Found {
        CALLS.set(CALLS.get() + 1);
        Found::Unknown
    }
    CALLS.set(0);
    let memory = Arc::new(Memory::default());
    let space = FileSpace { strategy, threshold: 2, ..FileSpace::default() };
    File::options().create(true).space(space).open_on(memory.clone()).unwrap().close().unwrap();
    let options = File::options().write(true).find_free_space(Some(counted)).searches(when);
    let file = options.open_on(memory).unwrap();
    put(&file, "d", &vec![1; len], false);
    file.close().unwrap();
    CALLS.get()
}

#[test]
fn a_file_with_pages_is_not_searched() {
    assert_eq!(searches(SpaceStrategy::Pages, Searches::AtOnce, 1000), 0);
    assert_eq!(searches(SpaceStrategy::Managers, Searches::AtOnce, 1000), 1);
}

#[test]
fn a_file_that_grows_within_a_step_is_not_searched() {
    assert_eq!(searches(SpaceStrategy::Managers, Searches::Rarely, 7000), 0);
    assert_eq!(searches(SpaceStrategy::Managers, Searches::Rarely, 9000), 1);
}
