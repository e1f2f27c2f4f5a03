//! Damaged files: whichever byte is wrong, opening and reading a file returns a result or an error, and never
//! panics or hangs. A wrong checksum is an error.

#![allow(clippy::unwrap_used)] // helpers of tests may panic, as tests do

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use hyperslab::driver::Memory;
use hyperslab::filter::Deflate;
use hyperslab::{Error, File, Node, Selection};
use hyperslab_format::array::fixed::{FixedArrayHeader, FixedArraySlot};
use hyperslab_format::layout::{ChunkIndexInfo, Layout};
use hyperslab_format::message::link::LinkTarget;
use hyperslab_testkit::fuzz::mutate::seals;
use hyperslab_testkit::sound::assert_sound;

fn sample(name: &str) -> Vec<u8> {
    std::fs::read(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden/files/object").join(name))
        .unwrap()
}

/// Reads everything that hard links reach, and returns the number of objects.
fn walk(file: &File) -> usize {
    let mut seen = HashSet::new();
    let mut waiting = vec![Node::Group(file.root())];
    while let Some(node) = waiting.pop() {
        if !seen.insert(node.address()) {
            continue;
        }
        let _ = node.attribute_names();
        if let Ok(attributes) = node.attributes() {
            for attribute in attributes {
                let _ = file.vlen_ids(&attribute.data).and_then(|ids| file.vlen_many(&ids, 1));
            }
        }
        let Node::Group(group) = node else { continue };
        let _ = group.len();
        for link in group.links().unwrap_or_default() {
            let _ = group.link(&link.name);
            if matches!(link.target, LinkTarget::Hard(_)) {
                waiting.extend(group.open_link(&link));
            }
        }
    }
    seen.len()
}

fn flip_every_byte(name: &str, step: usize) {
    let whole = sample(name);
    assert!(walk(&File::from_bytes(whole.clone()).unwrap()) > 1);
    for (at, mask) in (0..whole.len()).step_by(step).flat_map(|at| [(at, 0xff), (at, 0x01)]) {
        let mut damaged = whole.clone();
        damaged[at] ^= mask;
        let _ = File::from_bytes(damaged).map(|file| walk(&file));
    }
}

#[test]
fn one_wrong_byte_in_old_style_groups_and_headers_never_panics_or_hangs() {
    flip_every_byte("symbol_table.h5", 7);
    flip_every_byte("links_earliest.h5", 1);
}

#[test]
fn one_wrong_byte_in_new_style_groups_and_headers_never_panics_or_hangs() {
    flip_every_byte("links_latest.h5", 1);
    flip_every_byte("committed_latest.h5", 5);
}

#[test]
fn one_wrong_byte_in_heaps_and_trees_never_panics_or_hangs() {
    flip_every_byte("attributes_earliest.h5", 29);
    flip_every_byte("heaps.h5", 1009);
}

#[test]
fn opening_a_truncated_file_is_an_error() {
    let whole = sample("links_earliest.h5");
    for len in (0..whole.len()).step_by(7) {
        assert!(File::from_bytes(whole[..len].to_vec()).is_err());
    }
}

#[test]
fn a_damaged_chunk_tree_gives_the_same_elements_to_whole_and_partial_reads() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden/files/btree1_k2.h5");
    let sound = std::fs::read(path).unwrap();
    let nodes: Vec<usize> = (0..sound.len() - 5).filter(|&at| sound[at..].starts_with(b"TREE\x01")).collect();
    assert!(nodes.len() > 20, "{} nodes", nodes.len());
    let mut compared = 0;
    // A node has a head of 24 bytes, then keys and children in turn. A key has a size and a mask of 8 bytes
    // together, then the first element of its chunk.
    for at in nodes.iter().flat_map(|node| (0..3).map(move |key| node + 24 + 8 + key * 32)) {
        for value in [0, 2, 100, 0xff] {
            let mut damaged = sound.clone();
            damaged[at] = value;
            let file = File::from_bytes(damaged).unwrap();
            let Ok(dataset) = file.dataset("/deep") else { continue };
            let Ok(whole) = dataset.read::<i64>(Selection::All) else { continue };
            for element in [0, whole.len() / 3, whole.len() / 2, whole.len() - 1] {
                let part = element as u64..element as u64 + 1;
                if let Ok(found) = dataset.read::<i64>(part) {
                    assert_eq!(found, whole[element..=element], "element {element}, {value:#x} at {at}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 100, "{compared}");
}

/// libhdf5 2.0 reports "bad coordinate offset".
#[test]
fn a_chunk_whose_key_is_not_a_multiple_of_the_chunk_shape_is_an_error() {
    let sound = sample("../composed_earliest.h5");
    assert!(is_whole(&sound));
    let node = (0..sound.len()).find(|&at| sound[at..].starts_with(b"TREE\x01")).unwrap();
    // A key has a size and a mask, then the first element of its chunk. A child follows the key.
    for key in (0..7).map(|key| node + 24 + key * 32 + 8) {
        let mut damaged = sound.clone();
        damaged[key] += 1;
        assert!(!is_whole(&damaged), "the key at {key}");
    }
}

/// Opens a file, then lists, looks up and reads everything in it. Returns whether every call succeeded.
fn is_whole(bytes: &[u8]) -> bool {
    let Ok(file) = File::from_bytes(bytes.to_vec()) else { return false };
    let mut is_whole = true;
    let mut waiting = vec![Node::Group(file.root())];
    while let Some(node) = waiting.pop() {
        is_whole &= node.attributes().is_ok();
        match node {
            Node::Group(group) => {
                let links = group.links();
                is_whole &= links.is_ok();
                for link in links.unwrap_or_default() {
                    is_whole &= group.link(&link.name).is_ok();
                    if matches!(link.target, LinkTarget::Hard(_)) {
                        let member = group.open_link(&link);
                        is_whole &= member.is_ok();
                        waiting.extend(member);
                    }
                }
            }
            Node::Dataset(dataset) => {
                let mut values = vec![0; usize::try_from(dataset.len_bytes()).unwrap()];
                is_whole &= dataset.read_into(.., &mut values).is_ok();
            }
            Node::Datatype(_) => {}
        }
    }
    is_whole
}

#[test]
fn a_wrong_checksum_in_every_kind_of_structure_is_an_error() {
    let mut refused: BTreeMap<[u8; 4], usize> = BTreeMap::new();
    for name in ["../array_holes.h5", "../btree2_latest.h5", "../extensible_array_v110.h5", "heaps.h5"] {
        let sound = sample(name);
        assert!(is_whole(&sound), "{name}");
        for seal in seals(&sound) {
            let signature = sound[seal.start..seal.start + 4].try_into().unwrap();
            if refused.get(&signature).is_some_and(|&count| count >= 3) {
                continue;
            }
            let mut damaged = sound.clone();
            damaged[seal.at] ^= 1;
            // Indexes by creation order are not read, so a wrong checksum in them is not found.
            *refused.entry(signature).or_default() += usize::from(!is_whole(&damaged));
        }
    }
    let kinds = [
        *b"\x89HDF",
        *b"OHDR",
        *b"OCHK",
        *b"BTHD",
        *b"BTIN",
        *b"BTLF",
        *b"FRHP",
        *b"FHIB",
        *b"FAHD",
        *b"FADB",
        *b"EAHD",
        *b"EAIB",
        *b"EASB",
        *b"EADB",
    ];
    for kind in kinds {
        assert!(refused.get(&kind).is_some_and(|&count| count > 0), "{}: {refused:?}", kind.escape_ascii());
    }
}

#[test]
fn a_wrong_checksum_of_a_page_is_an_error() {
    let mut bytes = sample("../array_holes.h5");
    let file = File::from_bytes(bytes.clone()).unwrap();
    let pages = file.dataset("/pages").unwrap();
    let Layout::Chunked(layout) = pages.layout() else { panic!() };
    let ChunkIndexInfo::FixedArray { addr, .. } = layout.index else { panic!() };
    let header = file.store().read::<FixedArrayHeader>(addr, &()).unwrap();
    let slot = header.slot(2048, file.store().widths()).unwrap();
    let FixedArraySlot::Page { extent, .. } = slot else { panic!("{slot:?}") };
    bytes[usize::try_from(extent.addr.get()).unwrap() + 8] ^= 1;
    let damaged = File::from_bytes(bytes).unwrap().dataset("/pages").unwrap();
    damaged.read::<u8>(0..1).unwrap();
    assert!(damaged.read::<u8>(2048..2049).unwrap_err().to_string().contains("checksum"));
}

#[test]
fn a_wrong_checksum_of_a_heap_block_is_an_error() {
    let sound = sample("heaps.h5");
    let blocks = sound.windows(4).enumerate().filter(|(_, window)| *window == b"FHDB").map(|(at, _)| at);
    let refused = blocks.take(8).filter(|at| {
        let mut damaged = sound.clone();
        // The checksum follows the signature, the version, the address of the heap header and a block offset
        // of four bytes.
        damaged[at + 4 + 1 + 8 + 4] ^= 1;
        !is_whole(&damaged)
    });
    assert!(refused.count() > 0);
}

#[test]
fn the_error_of_a_partial_write_to_a_damaged_chunk_names_the_chunk() {
    let driver = Arc::new(Memory::default());
    let file = File::options().create(true).truncate(true).open_on(driver.clone()).unwrap();
    let new = file.root().new_dataset::<i32>("values").shape([4, 6]).chunks([2, 3]);
    let dataset = new.filter(Deflate::default()).create_with(&[7; 24]).unwrap();
    let stored = dataset.chunk_at(&[1, 1]).unwrap().unwrap().extent;
    file.close().unwrap();
    let mut bytes = driver.bytes();
    assert_sound(&bytes);
    bytes[usize::try_from(stored.addr.get()).unwrap()] ^= 0xFF;
    let damaged = Arc::new(Memory::new(bytes));
    let file = File::options().write(true).open_on(damaged).unwrap();
    let written = file.dataset("/values").unwrap().write([3..4, 3..6], &[8; 3]);
    let Err(error) = written else { panic!("a damaged chunk was overwritten in part") };
    let Error::Chunk { coord, addr, .. } = error.root() else { panic!("{error}") };
    assert_eq!((coord.as_slice(), *addr), (&[2, 3][..], stored.addr.get()));
}
