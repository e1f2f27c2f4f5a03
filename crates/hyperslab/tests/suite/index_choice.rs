//! A new dataset gets the same chunk index, with the same parameters, that libhdf5 chose for the datasets in
//! the golden files.

use std::collections::BTreeMap;

use hyperslab::File;
use hyperslab_format::Addr;
use hyperslab_format::layout::{ChunkIndexInfo, Layout};
use hyperslab_format::message::fill::AllocationTime;
use hyperslab_store::index::{ChunkingPlan, choose};
use hyperslab_testkit::golden::Manifest;

#[test]
fn the_chunk_index_of_a_new_dataset_is_the_one_that_libhdf5_chooses() {
    let mut compared: BTreeMap<&str, u32> = BTreeMap::new();
    // A resized dataset has the index of the shape that it was created with.
    let is_as_made = |name: &str| !name.starts_with("resized");
    for (entry, path) in Manifest::load().present().filter(|(entry, _)| !entry.damaged) {
        let file = File::open(&path).unwrap();
        for expected in entry.datasets.iter().filter(|_| is_as_made(&entry.name)) {
            let Ok(dataset) = file.dataset(&expected.path) else { continue };
            let layout = dataset.layout();
            let Layout::Chunked(chunked) = &layout else { continue };
            let (shape, max_shape) = (dataset.shape(), dataset.max_shape());
            let chosen = choose(&ChunkingPlan {
                layout_version: chunked.version,
                shape: &shape,
                max_shape: max_shape.as_deref(),
                chunk_shape: &chunked.chunk_shape,
                is_filtered: !dataset.filters().filters.is_empty(),
                is_allocated_early: dataset.fill_value().allocation == AllocationTime::Early,
            });
            assert_eq!(chosen, without_chunks(chunked.index.clone()), "{}:{}", entry.name, expected.path);
            *compared.entry(layout.name()).or_default() += 1;
        }
    }
    assert_eq!(compared.len(), 6, "{compared:?}");
    assert!(compared.values().sum::<u32>() > 100, "{compared:?}");
}

/// Returns the index as it was before any chunk was written.
fn without_chunks(mut index: ChunkIndexInfo) -> ChunkIndexInfo {
    match &mut index {
        ChunkIndexInfo::Single { addr, filtered } => {
            *addr = Addr::UNDEFINED;
            *filtered = filtered.map(|_| (0, 0));
        }
        ChunkIndexInfo::BTree1 { addr }
        | ChunkIndexInfo::Implicit { addr }
        | ChunkIndexInfo::FixedArray { addr, .. }
        | ChunkIndexInfo::ExtensibleArray { addr, .. }
        | ChunkIndexInfo::BTree2 { addr, .. } => *addr = Addr::UNDEFINED,
    }
    index
}
