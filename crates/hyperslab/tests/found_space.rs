//! The space that earlier openings freed is used again, and nothing that is in use is taken (decision 0039).

#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::collections::BTreeMap;
use std::path::Path;

use hyperslab::check;
use hyperslab::{File, filter};
use hyperslab_testkit::sound::assert_sound;

fn opened(path: &Path) -> File {
    File::options().write(true).find_free_space(Some(check::holes)).open(path).unwrap()
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
        let file = opened(&path);
        file.root().remove("d").unwrap();
        file.close().unwrap();
        let file = opened(&path);
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
fn random_changes_in_many_openings_keep_all_values_and_a_sound_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.h5");
    File::create(&path).unwrap().close().unwrap();
    let (mut random, mut expected) = (Random(5), BTreeMap::new());
    for _ in 0..60 {
        let file = opened(&path);
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
