//! Reads every golden file and compares each element with the manifest.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use hyperslab::driver::{Unchanged, Via};
use hyperslab::{Error, File, Group, Node, Selection};

use hyperslab_testkit::golden::{self, Manifest};

#[test]
fn every_dataset_has_the_values_of_its_formula() {
    every_dataset_is_right(Via::Calls);
}

#[test]
fn every_dataset_is_read_through_rings() {
    every_dataset_is_right(Via::Rings { direct: true });
    every_dataset_is_right(Via::Rings { direct: false });
}

#[test]
fn every_dataset_is_read_from_a_mapping() {
    // SAFETY: no test changes golden files.
    every_dataset_is_right(Via::Map(unsafe { Unchanged::promised() }));
}

fn every_dataset_is_right(via: Via) {
    let (mut compared, mut refused, mut wrong) = (0, 0, Vec::new());
    for (entry, path) in Manifest::load().present().filter(|(entry, _)| !entry.damaged) {
        let file = File::options().via(via).open(&path);
        let file = file.unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        assert_eq!(file.store().base(), entry.userblock_bytes, "{}", entry.name);
        for expected in &entry.datasets {
            match check(&file, entry, expected) {
                Ok(Outcome::Equal) => compared += 1,
                Ok(Outcome::Refused) => refused += 1,
                Ok(Outcome::NoFormula) => {}
                Err(what) => wrong.push(format!("{}:{}: {what}", entry.name, expected.path)),
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 150, "only {compared} datasets compared");
    assert!(refused > 0, "no dataset was refused");
}

enum Outcome {
    Equal,
    NoFormula,
    Refused,
}

fn check(file: &File, entry: &golden::File, expected: &golden::Dataset) -> Result<Outcome, String> {
    let refusal = |error: Error| {
        if expected.refused && is_refusal(&error) { Ok(Outcome::Refused) } else { Err(error.to_string()) }
    };
    let dataset = match file.dataset(&expected.path) {
        Ok(dataset) => dataset,
        Err(error) => return refusal(error),
    };
    let found = if dataset.has_external_files() { "external" } else { dataset.layout().name() };
    if dataset.shape() != expected.shape
        || expected.chunks.as_deref().is_some_and(|chunks| dataset.chunk_shape().as_deref() != Some(chunks))
        || expected.index.as_deref().is_some_and(|index| found != index)
    {
        return Err(format!("{:?} in chunks {:?}, {found}", dataset.shape(), dataset.chunk_shape()));
    }
    let mut bytes = vec![0xa5; usize::try_from(dataset.len_bytes()).unwrap()];
    if let Err(error) = dataset.read_into(.., &mut bytes) {
        return refusal(error);
    }
    // The Python package refuses datatypes that NumPy lacks. The engine reads their bytes.
    if expected.refused && entry.script != "datatypes" {
        return Err("was read, but should have been refused".to_owned());
    }
    let Some(values) = expected.expected() else { return Ok(Outcome::NoFormula) };
    match bytes.iter().zip(&values).position(|(a, b)| a != b) {
        None if bytes.len() == values.len() => Ok(Outcome::Equal),
        at => Err(format!("{} bytes, first wrong byte {at:?}, expected {} bytes", bytes.len(), values.len())),
    }
}

/// Listing walks the structures of an index, and a lookup computes an address. The two share no code, so each
/// checks the other.
#[test]
fn a_chunk_listing_has_exactly_the_chunks_that_single_lookups_find() {
    let (mut listed, mut never_written) = (0, 0);
    for (entry, path) in Manifest::load().present().filter(|(entry, _)| !entry.damaged) {
        let file = File::open(&path).unwrap();
        for expected in entry.datasets.iter().filter(|expected| !expected.refused) {
            let Ok(dataset) = file.dataset(&expected.path) else { continue };
            let Some(chunk) = dataset.chunk_shape() else { continue };
            let mut found = BTreeMap::new();
            let listing = dataset.visit_chunks(&mut |coord, record| {
                let twice = found.insert(coord.to_vec(), record);
                assert_eq!(twice, None, "{}:{} {coord:?}", entry.name, expected.path);
                ControlFlow::Continue(())
            });
            listing.unwrap_or_else(|error| panic!("{}: {error}", entry.name));
            listed += found.len();
            for coord in Selection::All.tiling(&dataset.shape(), &chunk).unwrap().touched() {
                let record = dataset.chunk_at(&coord).unwrap();
                assert_eq!(record, found.remove(coord.as_slice()), "{}:{}", entry.name, expected.path);
                never_written += usize::from(record.is_none());
            }
            assert!(found.is_empty(), "{}:{}: {found:?}", entry.name, expected.path);
        }
    }
    assert!(listed > 1000 && never_written > 100, "{listed} listed, {never_written} never written");
}

#[test]
fn every_layout_and_chunk_index_is_in_some_golden_file() {
    let mut met: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, path) in Manifest::load().present().filter(|(entry, _)| !entry.damaged) {
        let file = File::open(&path).unwrap();
        each_dataset(&file.root(), 0, &mut |dataset| {
            *met.entry(dataset.layout().name()).or_default() += 1;
        });
    }
    let layouts: &[_] = if golden::generated().is_dir() {
        &["compact", "contiguous", "virtual"]
    } else {
        &["contiguous", "virtual"]
    };
    let indexes = ["btree1", "single", "implicit", "fixed_array", "extensible_array", "btree2"];
    for layout in layouts.iter().chain(&indexes) {
        assert!(met.contains_key(layout), "no golden file has a dataset of layout {layout}");
    }
}

/// Reading a damaged file returns an error or the right values. It never panics, hangs or makes a huge
/// allocation.
#[test]
fn reading_damaged_golden_files_never_panics_or_hangs() {
    let mut walked = 0;
    for (_, path) in Manifest::load().present().filter(|(entry, _)| entry.damaged) {
        walked += 1;
        let Ok(file) = File::open(&path) else { continue };
        each_dataset(&file.root(), 0, &mut |dataset| {
            if dataset.len_bytes() < 1 << 20 {
                let mut bytes = vec![0; usize::try_from(dataset.len_bytes()).unwrap()];
                let _ = dataset.read_into(.., &mut bytes);
                let _ = dataset.visit_chunks(&mut |_, _| ControlFlow::Continue(()));
            }
            let _ = dataset.attributes();
        });
    }
    let generated = golden::generated().join("MANIFEST.toml").exists() || golden::generated().is_dir();
    assert!(walked > 0 || !generated, "no damaged file was found");
}

fn each_dataset(group: &Group, depth: u32, f: &mut dyn FnMut(&hyperslab::Dataset)) {
    if depth > 8 {
        return;
    }
    for name in group.names().unwrap_or_default() {
        match group.get(&name) {
            Ok(Node::Group(inner)) => each_dataset(&inner, depth + 1, f),
            Ok(Node::Dataset(dataset)) => f(&dataset),
            Ok(Node::Datatype(_)) | Err(_) => {}
        }
    }
}

fn is_refusal(error: &Error) -> bool {
    matches!(error.root(), Error::Unsupported { .. } | Error::Chunk { .. } | Error::Filter { .. })
}
