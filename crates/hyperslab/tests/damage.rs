//! Damaged files: whatever byte is wrong, opening and walking answers or fails; it never panics and never hangs.

#![allow(clippy::unwrap_used)] // helpers of tests, which may fail as tests do

use std::collections::HashSet;
use std::path::PathBuf;

use hyperslab::{File, Node, Selection};
use hyperslab_format::message::link::LinkTarget;

fn sample(name: &str) -> Vec<u8> {
    std::fs::read(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden/files/object").join(name))
        .unwrap()
}

/// Reads everything that can be reached by hard links, and returns how many objects that were.
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
fn one_wrong_byte_in_old_groups_and_headers_does_no_harm() {
    flip_every_byte("symbol_table.h5", 7);
    flip_every_byte("links_earliest.h5", 1);
}

#[test]
fn one_wrong_byte_in_new_groups_and_headers_does_no_harm() {
    flip_every_byte("links_latest.h5", 1);
    flip_every_byte("committed_latest.h5", 5);
}

#[test]
fn one_wrong_byte_in_heaps_and_trees_does_no_harm() {
    flip_every_byte("attributes_earliest.h5", 29);
    flip_every_byte("heaps.h5", 1009);
}

#[test]
fn a_file_cut_short_anywhere_does_no_harm() {
    let whole = sample("links_earliest.h5");
    for len in (0..whole.len()).step_by(7) {
        assert!(File::from_bytes(whole[..len].to_vec()).is_err());
    }
}

#[test]
fn a_damaged_tree_of_chunks_answers_the_same_whichever_way_it_is_asked() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden/files/btree1_k2.h5");
    let sound = std::fs::read(path).unwrap();
    let nodes: Vec<usize> = (0..sound.len() - 5).filter(|&at| sound[at..].starts_with(b"TREE\x01")).collect();
    assert!(nodes.len() > 20, "{} nodes", nodes.len());
    let mut compared = 0;
    // The first element of a key follows the node's head of 24 bytes and the key's size and mask; a child follows the key.
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
