//! Every golden file holds what its manifest says, element by element.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use hyperslab::{Error, File, Group, Node, Selection};
use hyperslab_format::layout::{ChunkIndexInfo, Layout};
use hyperslab_testkit::golden::{self, Manifest};

#[test]
fn every_dataset_has_the_values_of_its_formula() {
    let (mut compared, mut refused) = (0, 0);
    for (entry, path) in Manifest::load().present().filter(|(entry, _)| !entry.damaged) {
        let file = File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        assert_eq!(file.store().base(), entry.userblock_bytes, "{}", entry.name);
        for expected in &entry.datasets {
            let name = format!("{}:{}", entry.name, expected.path);
            let dataset = file.dataset(&expected.path).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(dataset.shape(), expected.shape, "{name}");
            if let Some(chunks) = &expected.chunks {
                assert_eq!(dataset.chunk_shape(), Some(chunks.as_slice()), "{name}");
            }
            if let Some(index) = &expected.index {
                let found = if dataset.has_external_files() { "external" } else { layout_name(dataset.layout()) };
                assert_eq!(found, index, "{name}");
            }
            let mut bytes = vec![0xa5; usize::try_from(dataset.len_bytes()).unwrap()];
            let result = dataset.read_into(&Selection::All, &mut bytes);
            if expected.refused {
                let error = result.expect_err(&name);
                assert!(is_refusal(&error), "{name}: {error}");
                refused += 1;
                continue;
            }
            result.unwrap_or_else(|error| panic!("{name}: {error}"));
            if let Some(values) = expected.expected() {
                let wrong = bytes.iter().zip(&values).position(|(a, b)| a != b);
                assert_eq!((wrong, bytes.len()), (None, values.len()), "{name}: other bytes than the formula's");
                compared += 1;
            }
        }
    }
    assert!(compared > 150, "only {compared} datasets compared");
    assert!(refused > 0, "no refusal was met");
}

#[test]
fn every_structure_is_met_in_some_golden_file() {
    let mut met: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, path) in Manifest::load().present().filter(|(entry, _)| !entry.damaged) {
        let file = File::open(&path).unwrap();
        each_dataset(&file.root(), 0, &mut |dataset| *met.entry(layout_name(dataset.layout())).or_default() += 1);
    }
    for layout in
        ["compact", "contiguous", "btree1", "single", "implicit", "fixed_array", "extensible_array", "btree2", "virtual"]
    {
        assert!(met.contains_key(layout), "no golden file has a dataset of layout {layout}");
    }
}

/// A damaged file is an error or right, and never a panic, a hang or a huge allocation.
#[test]
fn damaged_files_are_walked_without_harm() {
    let mut walked = 0;
    for (_, path) in Manifest::load().present().filter(|(entry, _)| entry.damaged) {
        walked += 1;
        let Ok(file) = File::open(&path) else { continue };
        each_dataset(&file.root(), 0, &mut |dataset| {
            if dataset.len_bytes() < 1 << 20 {
                let mut bytes = vec![0; usize::try_from(dataset.len_bytes()).unwrap()];
                let _ = dataset.read_into(&Selection::All, &mut bytes);
                let _ = dataset.visit_chunks(&mut |_, _| ControlFlow::Continue(()));
            }
            let _ = dataset.attributes();
        });
    }
    let generated = golden::generated().join("MANIFEST.toml").exists() || golden::generated().is_dir();
    assert!(walked > 0 || !generated, "no damaged file was met");
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

fn layout_name(layout: &Layout) -> &'static str {
    match layout {
        Layout::Compact { .. } => "compact",
        Layout::Contiguous(_) => "contiguous",
        Layout::Virtual { .. } => "virtual",
        Layout::Chunked(chunked) => match chunked.index {
            ChunkIndexInfo::BTree1 { .. } => "btree1",
            ChunkIndexInfo::Single { .. } => "single",
            ChunkIndexInfo::Implicit { .. } => "implicit",
            ChunkIndexInfo::FixedArray { .. } => "fixed_array",
            ChunkIndexInfo::ExtensibleArray { .. } => "extensible_array",
            ChunkIndexInfo::BTree2 { .. } => "btree2",
        },
    }
}
