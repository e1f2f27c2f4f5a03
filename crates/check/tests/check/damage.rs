//! Damages one thing at a time and asserts that the check reports it.

use std::collections::BTreeMap;

use hyperslab::{File, Node};
use hyperslab_format::layout::{ChunkIndexInfo, Layout};
use hyperslab_testkit::fuzz::mutate::{reseal, seals};

use super::{Severity, checked, found, only_error, sample};

/// Returns the offset of the first occurrence of `signature`, which may include the bytes that follow a
/// signature.
#[track_caller]
fn place(image: &[u8], signature: &[u8]) -> usize {
    image.windows(signature.len()).position(|window| window == signature).unwrap()
}

/// Returns a copy of `image` with `bytes` at offset `at` and correct checksums.
fn patched(image: &[u8], at: usize, bytes: &[u8]) -> Vec<u8> {
    let seals = seals(image);
    let mut patched = image.to_vec();
    patched[at..at + bytes.len()].copy_from_slice(bytes);
    reseal(&mut patched, &seals);
    patched
}

fn address(node: &Node) -> usize {
    usize::try_from(node.address().get()).unwrap()
}

/// Asserts that the check reports exactly one error, and that its text contains `words`.
#[track_caller]
fn finds(image: &[u8], data: bool, words: &str) {
    let report = checked(image, data);
    let error = only_error(&report);
    assert!(error.to_string().contains(words), "{error}");
}

#[test]
fn every_wrong_checksum_is_reported_at_its_address() {
    let mut met: BTreeMap<[u8; 4], usize> = BTreeMap::new();
    let names = [
        "array_holes.h5",
        "btree2_latest.h5",
        "extensible_array_full_v110.h5",
        "attributes_latest.h5",
        "dense_kinds.h5",
        "links_latest_40.h5",
    ];
    for name in names {
        let sound = sample(name);
        for seal in seals(&sound) {
            let signature = sound[seal.start..seal.start + 4].try_into().unwrap();
            let count = met.entry(signature).or_default();
            if *count >= 8 {
                continue;
            }
            let mut damaged = sound.clone();
            damaged[seal.at] ^= 1;
            let report = checked(&damaged, false);
            let errors = found(&report, Severity::Error);
            // The check does not reach a structure that was deleted.
            let at = seal.start as u64;
            let is_found =
                errors.iter().any(|error| error.at.get() == at && error.message.contains("checksum"));
            assert!(is_found || errors.is_empty(), "{name} {at:#x}: {errors:?}");
            *count += usize::from(is_found);
        }
    }
    let kinds: [&[u8; 4]; 14] = [
        b"\x89HDF", b"OHDR", b"OCHK", b"BTHD", b"BTIN", b"BTLF", b"FRHP", b"FHIB", b"FAHD", b"FADB", b"EAHD",
        b"EAIB", b"EASB", b"EADB",
    ];
    for kind in kinds {
        assert!(met.get(kind).is_some_and(|&count| count > 0), "{}: {met:?}", kind.escape_ascii());
    }
}

#[test]
fn wrong_checksums_of_free_space_managers_are_found() {
    let sound = sample("space_managed.h5");
    for signature in [b"FSHD", b"FSSE"] {
        let at = place(&sound, signature);
        let mut damaged = sound.clone();
        damaged[at + 6] ^= 1;
        let report = checked(&damaged, false);
        assert_eq!(only_error(&report).at.get(), at as u64, "{:?}", report.findings);
    }
}

#[test]
fn two_datasets_at_overlapping_addresses_are_an_error() {
    let sound = sample("numbers_earliest.h5");
    let file = File::from_bytes(sound.clone()).unwrap();
    let mut extents = Vec::new();
    for link in file.root().links().unwrap() {
        let Ok(Node::Dataset(dataset)) = file.get(&link.name) else { continue };
        if let Layout::Contiguous(extent) = dataset.layout() {
            extents.push((dataset.address(), extent));
        }
    }
    let [(_, first), (header, second), ..] = extents[..] else { panic!("{extents:?}") };
    // The layout message of the second dataset gets an address one byte into the data of the first.
    let header = usize::try_from(header.get()).unwrap();
    let at = header + place(&sound[header..], &second.addr.get().to_le_bytes());
    let into = first.addr.get() + 1;
    let report = checked(&patched(&sound, at, &into.to_le_bytes()), true);
    let errors = found(&report, Severity::Error);
    assert!(
        errors.iter().any(|error| error.message.contains("are also in use by a raw data of /")),
        "{errors:?}"
    );
    assert!(errors.iter().any(|error| error.at.get() == into), "{errors:?}");
    // With the same address, both datasets use the same block.
    finds(
        &patched(&sound, at, &first.addr.get().to_le_bytes()),
        true,
        "the address is already in use by a raw data",
    );
    // This address is beyond the end of the file.
    finds(&patched(&sound, at, &(1_u64 << 40).to_le_bytes()), true, "reach beyond the end of the file");
}

#[test]
fn lost_space_and_bytes_after_the_end_of_file_are_warnings() {
    let mut image = sample("symbol_table_deep.h5");
    assert_eq!(checked(&image, true).worst(), None);
    let end = image.len();
    image.extend([0; 5000]);
    let report = checked(&image, true);
    let [warning] = found(&report, Severity::Warning)[..] else { panic!("{:?}", report.findings) };
    assert_eq!(warning.message, "5000 bytes follow the End of File Address");
    // In superblock version 0 the End of File Address follows 8 bytes of signature, 16 more bytes and two
    // addresses.
    let mut lost = |bytes: u64| {
        image[40..48].copy_from_slice(&(end as u64 + bytes).to_le_bytes());
        checked(&image[..end + usize::try_from(bytes).unwrap()], true)
    };
    let report = lost(4095);
    assert_eq!((report.worst(), report.totals.lost_bytes), (None, 4095), "too few to be worth a finding");
    let report = lost(4096);
    let [warning] = found(&report, Severity::Warning)[..] else { panic!("{:?}", report.findings) };
    assert_eq!(warning.message, "4096 bytes in 1 piece are unreachable");
    assert_eq!((report.totals.lost_bytes, report.totals.holes), (4096, 1));
}

#[test]
fn wrong_reference_counts_are_found() {
    let sound = sample("links_earliest.h5");
    let file = File::from_bytes(sound.clone()).unwrap();
    let at = address(&file.get("hard").unwrap()) + 4;
    assert_eq!(sound[at], 2);
    finds(&patched(&sound, at, &[1]), false, "reference count is 1, found 2 links");
    let report = checked(&patched(&sound, at, &[3]), false);
    assert!(report.is_sound());
    let warnings = found(&report, Severity::Warning);
    assert!(warnings.iter().any(|w| w.message == "reference count is 3, found 2 links" && w.path == "/hard"));
}

#[test]
fn uses_of_a_committed_datatype_count_as_links() {
    let sound = sample("object/committed_earliest.h5");
    let file = File::from_bytes(sound.clone()).unwrap();
    let at = address(&file.get("number").unwrap()) + 4;
    let count = sound[at];
    assert!(count > 1);
    finds(&patched(&sound, at, &[count - 1]), false, &format!("found {count} links"));
}

#[test]
fn wrong_counts_of_messages_are_found() {
    let sound = sample("links_earliest.h5");
    let at = address(&File::from_bytes(sound.clone()).unwrap().get("hard").unwrap()) + 2;
    finds(&patched(&sound, at, &[sound[at] + 1]), false, "total number of header messages is");
}

#[test]
fn damage_in_the_btree2_of_link_names_is_found() {
    let sound = sample("links_latest_40.h5");
    // The first record of the name index begins with the hash of the name.
    let at = place(&sound, b"BTLF\0\x05") + 6;
    finds(&patched(&sound, at, &[0; 4]), false, "has the hash of another name");
    let header = place(&sound, b"BTHD\0\x05");
    let total = header + 4 + 2 + 4 + 2 + 2 + 2 + 8 + 2;
    finds(&patched(&sound, total, &[sound[total] + 1]), false, "total number of records is");
    // Swaps two neighbouring records, both with the right hash.
    let mut swapped = sound.clone();
    let (first, second) = (at, at + 11);
    let all = seals(&sound);
    for byte in 0..11 {
        swapped.swap(first + byte, second + byte);
    }
    reseal(&mut swapped, &all);
    finds(&swapped, false, "is not after the one before it");
}

#[test]
fn damage_in_the_index_of_creation_order_is_found() {
    for (name, signature) in
        [("links_latest_40.h5", b"BTLF\0\x06"), ("attributes_order_indexed.h5", b"BTLF\0\x09")]
    {
        let sound = sample(name);
        let is_there = sound.windows(6).any(|window| window == signature);
        assert!(is_there, "{name}");
        let of_links = signature[5] == 6;
        let record = place(&sound, signature) + 6;
        // The last byte of the heap id of the first record.
        let id = if of_links { record + 8 + 4 } else { record + 4 };
        let report = checked(&patched(&sound, id, &[sound[id] ^ 0x7f]), false);
        let errors = found(&report, Severity::Error);
        assert!(
            errors.iter().any(|error| error.message.contains("the record of creation order")),
            "{errors:?}"
        );
        assert!(errors.iter().any(|error| error.message.contains("have no record")), "{errors:?}");
    }
}

#[test]
fn wrong_statistics_in_the_header_of_a_fractal_heap_are_found() {
    let sound = sample("links_latest_40.h5");
    let header = place(&sound, b"FRHP");
    // The fields from the signature to "maximum size of managed objects", the next huge id, and the address
    // before "free space".
    let free = header + 4 + 1 + 2 + 2 + 1 + 4 + 8 + 8;
    finds(&patched(&sound, free, &[sound[free] - 1]), false, "amount of free space in managed blocks is");
    let allocated = free + 8 + 8 + 8;
    finds(
        &patched(&sound, allocated + 1, &[sound[allocated + 1] ^ 8]),
        false,
        "amount of allocated managed space is",
    );
    let managed = allocated + 8 + 8;
    finds(&patched(&sound, managed, &[sound[managed] + 1]), false, "number of managed objects in heap is");
}

#[test]
fn a_free_section_of_a_heap_inside_an_object_is_found() {
    let sound = sample("links_v108.h5");
    // After the signature, the version, the address of the header, and the count and the size of the first
    // sections.
    let offset = place(&sound, b"FSSE") + 4 + 1 + 8 + 1 + 3;
    for byte in [sound[offset] - 8, sound[offset] - 1] {
        finds(&patched(&sound, offset, &[byte]), false, "free sections overlap others");
    }
}

#[test]
fn damage_in_symbol_tables_is_found() {
    let sound = sample("symbol_table_300.h5");
    let tree = place(&sound, b"TREE\0\0");
    // Sets a left sibling where there should be none.
    finds(&patched(&sound, tree + 8, &[96, 0, 0, 0, 0, 0, 0, 0]), false, "left sibling is");
    let node = place(&sound, b"SNOD\x01\0\x08");
    // Swaps two links of a node.
    let mut swapped = sound.clone();
    for byte in 0..40 {
        swapped.swap(node + 8 + byte, node + 48 + byte);
    }
    let report = checked(&swapped, false);
    let errors = found(&report, Severity::Error);
    assert!(
        errors.iter().any(|error| error.message.contains("is not after the name before it")),
        "{errors:?}"
    );
}

#[test]
fn a_circular_free_list_in_a_local_heap_is_found() {
    let sound = sample("symbol_table_300.h5");
    let mut lists = 0;
    for (heap, _) in sound.windows(5).enumerate().filter(|(_, window)| *window == b"HEAP\0") {
        let word = |at: usize| u64::from_le_bytes(sound[at..at + 8].try_into().unwrap());
        let (size, free, data) = (word(heap + 8), word(heap + 16), word(heap + 24));
        if free == 1 || free >= size {
            continue;
        }
        lists += 1;
        // The first free block gets itself as the next free block.
        let at = usize::try_from(data + free).unwrap();
        finds(&patched(&sound, at, &free.to_le_bytes()), false, "the list of free blocks has no end");
    }
    assert!(lists > 0);
}

#[test]
fn a_name_that_runs_into_free_space_or_a_key_inside_a_name_is_found() {
    let sound = sample("symbol_table_300.h5");
    let heap = place(&sound, b"HEAP\0");
    let word = |at: usize| u64::from_le_bytes(sound[at..at + 8].try_into().unwrap());
    let [free, data] = [word(heap + 16), word(heap + 24)].map(|word| usize::try_from(word).unwrap());
    let end = data + free;
    let text = sound[..end].iter().rposition(|&byte| byte != 0).unwrap() + 1;
    // The zero bytes that end the last name, up to the free block.
    finds(&patched(&sound, text, &vec![b'~'; end - text]), false, "extends over");
    let tree = place(&sound, b"TREE\0\0");
    let first = 8_u64;
    finds(&patched(&sound, tree + 24, &(first + 1).to_le_bytes()), false, "extends over");
    // The empty name at the beginning of the heap is the first key.
    finds(&patched(&sound, data, b"!"), false, "the first key is the name !");
}

#[test]
fn array_blocks_with_a_wrong_header_address_are_found() {
    for (name, signature) in [
        ("array_holes.h5", b"FADB"),
        ("extensible_array_full_v110.h5", b"EAIB"),
        ("extensible_array_full_v110.h5", b"EADB"),
        ("extensible_array_full_v110.h5", b"EASB"),
    ] {
        let sound = sample(name);
        // The header address follows the signature, the version and the client id.
        let at = place(&sound, signature) + 6;
        finds(&patched(&sound, at, &[sound[at] ^ 4]), false, "header address is");
    }
}

#[test]
fn wrong_statistics_in_the_header_of_an_extensible_array_are_found() {
    let sound = sample("extensible_array_full_v110.h5");
    let header = place(&sound, b"EAHD");
    let words = [
        "number of secondary blocks created",
        "size of secondary blocks created",
        "number of data blocks created",
        "size of data blocks created",
        "max index set",
        "number of elements realized",
    ];
    for (number, words) in words.iter().enumerate() {
        let at = header + 12 + 8 * number;
        finds(&patched(&sound, at, &[0]), false, words);
    }
}

#[test]
fn damaged_chunks_are_found_when_data_are_checked() {
    let sound = sample("masks_latest.h5");
    let file = File::from_bytes(sound.clone()).unwrap();
    let dataset = file.dataset("/free").unwrap();
    let Layout::Chunked(layout) = dataset.layout() else { panic!() };
    assert!(matches!(layout.index, ChunkIndexInfo::BTree2 { .. }));
    let record = dataset.chunk_at(&[0, 0]).unwrap().unwrap();
    let mut damaged = sound.clone();
    damaged[usize::try_from(record.extent.addr.get()).unwrap() + 5] ^= 0x10;
    assert!(checked(&damaged, false).is_sound());
    let report = checked(&damaged, true);
    let error = only_error(&report);
    assert_eq!((error.at, error.path.as_str()), (record.extent.addr, "/free"));
    assert!(error.message.contains("in the chunk at [0, 0]"), "{error}");
}

#[test]
fn elements_that_refer_to_missing_heap_objects_are_found_when_data_are_checked() {
    // Damages the signature of a collection of the global heap.
    let sound = sample("composed_earliest.h5");
    let heap = place(&sound, b"GCOL");
    let mut damaged = sound.clone();
    damaged[heap] = b'g';
    let report = checked(&damaged, true);
    let errors = found(&report, Severity::Error);
    assert!(errors.iter().any(|error| error.at.get() == heap as u64 && error.message.contains("signature")));
    assert!(checked(&damaged, false).is_sound());
    // Changes the index of the first object.
    let mut damaged = sound;
    damaged[heap + 16..heap + 18].copy_from_slice(&999_u16.to_le_bytes());
    let report = checked(&damaged, true);
    let errors = found(&report, Severity::Error);
    assert!(
        errors.iter().any(|error| error.message.contains("an element names object 1, which does not exist")),
        "{errors:?}"
    );
}

#[test]
fn references_to_no_object_are_found_when_data_are_checked() {
    let sound = sample("references_earliest.h5");
    let file = File::from_bytes(sound.clone()).unwrap();
    let Layout::Contiguous(extent) = file.dataset("objects").unwrap().layout() else { panic!() };
    let at = usize::try_from(extent.addr.get()).unwrap();
    let damaged = patched(&sound, at, &24_u64.to_le_bytes());
    let report = checked(&damaged, true);
    assert!(report.is_sound());
    let warnings = found(&report, Severity::Warning);
    assert!(
        warnings.iter().any(|w| w.message == "a reference leads to no object" && w.at.get() == 24),
        "{warnings:?}"
    );
}

#[test]
fn a_btree_node_that_is_its_own_child_is_found() {
    // A group may be its own member, but a B-tree node must not be its own child.
    let sound = sample("symbol_table_deep.h5");
    let nodes: Vec<usize> =
        sound.windows(5).enumerate().filter(|(_, w)| *w == b"TREE\0").map(|(at, _)| at).collect();
    let inner = nodes.into_iter().find(|at| sound[at + 5] > 0).unwrap();
    // The first child follows the 24-byte head of the node and the first key.
    let report = checked(&patched(&sound, inner + 32, &(inner as u64).to_le_bytes()), false);
    let errors = found(&report, Severity::Error);
    assert!(errors.iter().any(|error| error.message.contains("the address is already in use")), "{errors:?}");
}

/// Whichever byte is wrong, the check returns a report or an error.
#[test]
fn checking_a_file_with_one_wrong_byte_never_panics() {
    for (name, step) in
        [("links_latest.h5", 3), ("dense_kinds.h5", 11), ("composed_earliest.h5", 13), ("masks_latest.h5", 5)]
    {
        let sound = sample(name);
        let mut errors = 0;
        for at in (0..sound.len()).step_by(step) {
            let mut damaged = sound.clone();
            damaged[at] ^= 0xff;
            let options = hyperslab_check::CheckOptions::default();
            let driver = std::sync::Arc::new(hyperslab::driver::Memory::new(damaged));
            let report = hyperslab_check::check(driver, &options, &mut |_| {});
            errors += usize::from(report.is_ok_and(|report| !report.is_sound()));
        }
        assert!(errors > sound.len() / step / 20, "{name}: {errors}");
    }
}
