//! Limits that protect against damaged files, one by one. An address that leads back to its own structure,
//! beyond the end of the file, or to a chunk of another dataset is an error that says so.

#![allow(clippy::unwrap_used)] // helpers of tests may panic, as tests do

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use hyperslab::driver::Memory;
use hyperslab::storage::{DatasetOptions, NewStorage};
use hyperslab::{Dataset, Element, Error, File, Result, Selection, Slab};
use hyperslab_check::{CheckOptions, Finding, check};
use hyperslab_format::array::fixed::{FixedArrayBlock, FixedArrayHeader};
use hyperslab_format::btree1::entries::{BTree1Entries, BTree1Key};
use hyperslab_format::btree1::{BTree1Context, BTree1Kind, BTree1Node};
use hyperslab_format::btree2::header::BTree2Header;
use hyperslab_format::btree2::node::{BTree2Node, ChildPointer};
use hyperslab_format::btree2::record::{Record, RecordForm, Records};
use hyperslab_format::layout::{ChunkIndexInfo, Layout};
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::{Addr, Extent, Reader, Structure, Widths, Writer};
use hyperslab_testkit::fuzz::mutate::{reseal, seals};
use hyperslab_testkit::sound::assert_sound;

fn golden(name: &str) -> Vec<u8> {
    std::fs::read(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden/files").join(name)).unwrap()
}

fn open(bytes: &[u8]) -> File {
    File::from_bytes(bytes.to_vec()).unwrap()
}

fn failure<T>(result: Result<T>) -> String {
    result.err().expect("a damaged file is refused").to_string()
}

/// Returns the offsets of `signature`.
fn places<'b>(bytes: &'b [u8], signature: &'b [u8]) -> impl Iterator<Item = usize> + 'b {
    bytes.windows(signature.len()).enumerate().filter(move |(_, at)| *at == signature).map(|(at, _)| at)
}

fn decode<S: Structure>(bytes: &[u8], at: usize, context: &S::Context) -> S {
    Reader::new(&bytes[at..], Widths::EIGHT, Addr::new(at as u64)).structure(context).unwrap()
}

/// Overwrites the bytes at `at` with the encoded `value`.
fn encode<S: Structure>(bytes: &mut [u8], at: usize, value: &S, context: &S::Context) {
    let mut encoded = Vec::new();
    Writer::new(&mut encoded, Widths::EIGHT).structure(value, context);
    bytes[at..at + encoded.len()].copy_from_slice(&encoded);
}

fn position(addr: Addr) -> usize {
    usize::try_from(addr.get()).unwrap()
}

#[test]
fn an_extent_that_ends_beyond_the_file_is_an_error() {
    for (name, user_block) in [("single_latest.h5", 0), ("userblock_512_latest.h5", 512)] {
        let bytes = golden(name);
        let file = open(&bytes);
        let len = bytes.len() as u64 - user_block;
        let check = |at, len| file.store().check(Extent::new(Addr::new(at), len), ("test", ""));
        assert_eq!(check(len - 4, 4).unwrap(), 4);
        assert_eq!(check(len, 0).unwrap(), 0);
        for (at, len) in [(len - 4, 5), (len, 1), (0, len + 1), (4, u64::MAX - 2), (u64::MAX - 3, 8)] {
            assert!(check(at, len).is_err(), "{len} bytes at {at}");
        }
        assert!(file.store().bytes(Extent::new(Addr::new(1), len), ("test", "")).is_err());
    }
}

/// Returns the offset and the contents of each version 1 B-tree node of a group.
fn group_nodes(bytes: &[u8], context: &BTree1Context) -> Vec<(usize, BTree1Node)> {
    places(bytes, b"TREE\0").map(|at| (at, decode(bytes, at, context))).collect()
}

/// Replaces every child of `node` with `child`.
fn set_children(node: &mut BTree1Node, child: Addr) {
    for index in 0..node.entries.len() {
        node.entries.set_child(index, child);
    }
}

/// Changes the stored size and the mask of a chunk.
fn set_chunk(node: &mut BTree1Node, index: usize, change: impl FnOnce(&mut u32, &mut u32)) {
    let Some(mut key) = node.entries.key(index) else { panic!("no key {index}") };
    let BTree1Key::Chunk { size, mask, .. } = &mut key else { panic!("{key:?}") };
    change(size, mask);
    node.entries.set_key(index, &key);
}

fn groups(bytes: &[u8]) -> BTree1Context {
    BTree1Context { kind: BTree1Kind::Group, k: open(bytes).store().btree_k().group_internal_k }
}

#[test]
fn a_node_twice_in_the_btree1_of_a_group_is_an_error() {
    let mut bytes = golden("object/symbol_table.h5");
    let k = groups(&bytes);
    let (at, mut node) =
        group_nodes(&bytes, &k).into_iter().find(|(_, node)| node.entries.len() > 1).unwrap();
    node.entries.set_child(1, node.entries.child(0).unwrap());
    encode(&mut bytes, at, &node, &k);
    let group = open(&bytes).group("many").unwrap();
    assert!(failure(group.names()).contains("one that is not in the tree already"));
}

#[test]
fn a_group_node_whose_level_is_not_one_less_than_its_parent_is_an_error() {
    let mut bytes = golden("symbol_table_deep.h5");
    let k = groups(&bytes);
    let path = {
        let file = open(&bytes);
        let mut groups = file.root().names().unwrap().into_iter();
        groups.find(|name| file.group(name).is_ok_and(|group| group.len().unwrap() > 2)).unwrap()
    };
    let inner: Vec<_> = group_nodes(&bytes, &k).into_iter().filter(|(_, node)| node.level > 0).collect();
    assert!(!inner.is_empty());
    // First children have the level of their parent, then nodes are their own children.
    for is_circle in [false, true] {
        for (at, node) in &inner {
            if is_circle {
                let mut circle = node.clone();
                set_children(&mut circle, Addr::new(*at as u64));
                encode(&mut bytes, *at, &circle, &k);
            } else {
                for child in node.entries.children() {
                    let mut below: BTree1Node = decode(&bytes, position(child), &k);
                    below.level = node.level;
                    encode(&mut bytes, position(child), &below, &k);
                }
            }
        }
        let group = open(&bytes).group(&path).unwrap();
        assert!(failure(group.link("no such name")).contains("one less than that of the node above"));
        group.names().unwrap_err();
    }
}

#[test]
fn a_node_twice_in_the_btree2_of_links_is_an_error() {
    let mut bytes = golden("object/heaps.h5");
    let trees = places(&bytes, b"BTHD\0\x05").map(|at| decode::<BTree2Header>(&bytes, at, &()));
    let header = trees.into_iter().find(|header| header.depth == 1).unwrap();
    let (root, shape) = header.root(Widths::EIGHT).unwrap();
    let mut node: BTree2Node = decode(&bytes, position(root), &shape);
    node.children[1] = node.children[0];
    encode(&mut bytes, position(root), &node, &shape);
    let file = open(&bytes);
    let listed = ["plain", "packed"].map(|path| file.group(path).unwrap().names());
    let refused = listed.into_iter().filter_map(Result::err).map(|error| error.to_string());
    let refused: Vec<String> = refused.collect();
    assert_eq!(refused.len(), 1);
    assert!(refused[0].contains("one that is not in the tree already"), "{refused:?}");
}

/// Returns a chunked dataset and its chunk index.
fn index(file: &File, path: &str) -> (Dataset, ChunkIndexInfo) {
    let dataset = file.dataset(path).unwrap();
    match dataset.layout() {
        Layout::Chunked(layout) => (dataset.clone(), layout.index.clone()),
        other => panic!("{other:?}"),
    }
}

/// Returns whether listing the chunks fails because a node is in the tree twice.
fn is_refused_as_a_circle(file: &File, path: &str) -> bool {
    let listed = file.dataset(path).unwrap().visit_chunks(&mut |_, _| ControlFlow::Continue(()));
    listed.is_err_and(|error| error.to_string().contains("one that is not in the tree already"))
}

#[test]
fn a_node_twice_in_the_btree1_of_chunks_is_an_error() {
    let mut bytes = golden("btree1_k2.h5");
    let ChunkIndexInfo::BTree1 { addr: root } = index(&open(&bytes), "/deep").1 else { panic!() };
    let context = BTree1Context { kind: BTree1Kind::Chunks { rank: 1 }, k: 2 };
    let mut at = position(root);
    // All four children of a node are the same node, so each level would have four times as many visits.
    loop {
        let mut node: BTree1Node = decode(&bytes, at, &context);
        if node.level == 0 {
            break;
        }
        let (below, key) = (node.entries.child(0).unwrap(), node.entries.key(0).unwrap());
        node.entries = BTree1Entries::new(context.kind, Widths::EIGHT, &vec![key; 5], [below; 4]);
        encode(&mut bytes, at, &node, &context);
        at = position(below);
    }
    assert!(is_refused_as_a_circle(&open(&bytes), "/deep"));
    assert!(!is_refused_as_a_circle(&open(&bytes), "/deep_grid"));
}

#[test]
fn a_chunk_node_that_is_its_own_child_is_an_error() {
    let mut bytes = golden("btree1_k2.h5");
    let ChunkIndexInfo::BTree1 { addr: root } = index(&open(&bytes), "/deep").1 else { panic!() };
    let context = BTree1Context { kind: BTree1Kind::Chunks { rank: 1 }, k: 2 };
    let mut node: BTree1Node = decode(&bytes, position(root), &context);
    set_children(&mut node, root);
    encode(&mut bytes, position(root), &node, &context);
    let dataset = open(&bytes).dataset("/deep").unwrap();
    let expected = "one less than that of the node above";
    assert!(failure(dataset.chunk_at(&[0])).contains(expected));
    assert!(failure(dataset.stored_chunks()).contains(expected));
}

#[test]
fn chunks_beyond_the_extent_are_not_listed() {
    let mut bytes = golden("btree1.h5");
    let stored = |bytes: &[u8]| open(bytes).dataset("/level0").unwrap().stored_chunks().unwrap();
    assert_eq!(stored(&bytes), 17);
    // The beginning of a version 1 dataspace message: one dimension with a maximum size, and 50 elements.
    let mut message = vec![1, 1, 1, 0, 0, 0, 0, 0];
    message.extend(50_u64.to_le_bytes());
    let at = places(&bytes, &message).next().unwrap();
    bytes[at + 8] = 20;
    assert_eq!(open(&bytes).dataset("/level0").unwrap().shape(), [20]);
    assert_eq!(stored(&bytes), 7);
}

#[test]
fn an_unfiltered_chunk_of_another_size_than_the_chunk_shape_is_an_error() {
    let mut bytes = golden("resized_earliest.h5");
    let ChunkIndexInfo::BTree1 { addr: root } = index(&open(&bytes), "/fixed_gzip").1 else { panic!() };
    let context = BTree1Context { kind: BTree1Kind::Chunks { rank: 2 }, k: 32 };
    let mut node: BTree1Node = decode(&bytes, position(root), &context);
    set_chunk(&mut node, 0, |size, mask| {
        assert_ne!(*size, 80);
        *mask = u32::MAX;
    });
    encode(&mut bytes, position(root), &node, &context);
    let read = open(&bytes).dataset("/fixed_gzip").unwrap().read::<i32>([0..4, 0..5]);
    assert!(matches!(read.unwrap_err().root(), Error::Chunk { .. }));
}

#[test]
fn a_local_heap_name_without_an_end_is_refused() {
    let mut bytes = golden("symbol_table_3.h5");
    let header = places(&bytes, b"HEAP").nth(1).unwrap();
    // Moves the data of the heap of `/g` to the end of the file, where a long name is. The header has the
    // size of the data, the free list and the address of the data.
    for (len, is_refused) in [(60_000_u64, false), (100_000, true)] {
        bytes[header + 8..header + 16].copy_from_slice(&(len + 1).to_le_bytes());
        let at = bytes.len() as u64;
        bytes[header + 24..header + 32].copy_from_slice(&at.to_le_bytes());
        bytes.resize(bytes.len() + usize::try_from(len).unwrap(), b'n');
        bytes.push(0);
        let names = open(&bytes).group("g").unwrap().names();
        assert_eq!(names.is_err(), is_refused, "{len}");
        if is_refused {
            assert!(failure(names).contains("at most 64 KiB"));
        }
    }
}

#[test]
fn a_heap_object_with_an_unfiltered_size_over_64_mebibytes_is_refused() {
    let mut bytes = golden("object/heaps.h5");
    // The B-tree of filtered huge objects.
    let at = places(&bytes, b"BTHD\0\x02").next().unwrap();
    let (root, shape) = decode::<BTree2Header>(&bytes, at, &()).root(Widths::EIGHT).unwrap();
    let mut node: BTree2Node = decode(&bytes, position(root), &shape);
    let mut records: Vec<Record> = node.records.iter().map(Result::unwrap).collect();
    for record in &mut records {
        let Record::Huge { filtered: Some((_, size)), .. } = record else { panic!("{record:?}") };
        *size = (64 << 20) + 1;
    }
    let form = RecordForm::new(shape.kind, shape.record_size, Widths::EIGHT).unwrap();
    node.records = Records::new(form, &records);
    encode(&mut bytes, position(root), &node, &shape);
    let file = open(&bytes);
    let refused = file.group("packed").unwrap().names();
    assert!(failure(refused).contains("size without filters"));
}

#[test]
fn a_shared_datatype_that_refers_to_itself_is_refused() {
    let mut bytes = golden("object/committed_earliest.h5");
    let file = open(&bytes);
    let numbers = file.dataset("numbers").unwrap();
    let (own, committed) = (numbers.address(), numbers.committed_datatype().unwrap());
    let header = position(own);
    let at = header + places(&bytes[header..], &committed.get().to_le_bytes()).next().unwrap();
    bytes[at..at + 8].copy_from_slice(&own.get().to_le_bytes());
    assert!(failure(open(&bytes).dataset("numbers")).contains("nested more than"));
}

#[test]
fn a_sequence_longer_than_its_heap_object_is_refused() {
    let file = open(&golden("object/attributes_latest.h5"));
    let text = file.group("few").unwrap().attribute("text").unwrap();
    let ids = file.vlen_ids(&text.data).unwrap();
    assert_eq!(file.vlen_many(&ids, 1).unwrap(), ["grüße".as_bytes()]);
    assert!(failure(file.vlen_many(&ids, 2)).contains("global heap"));
}

/// Returns the address of the tree of chunks `/depth1`, and its header.
fn tree_of_chunks(bytes: &[u8]) -> (Addr, BTree2Header) {
    let ChunkIndexInfo::BTree2 { addr, .. } = index(&open(bytes), "/depth1").1 else { panic!() };
    (addr, decode(bytes, position(addr), &()))
}

#[test]
fn a_node_twice_in_the_btree2_of_chunks_is_an_error() {
    let mut bytes = golden("btree2_latest.h5");
    let (addr, header) = tree_of_chunks(&bytes);
    let (root, shape) = header.root(Widths::EIGHT).unwrap();
    let node: BTree2Node = decode(&bytes, position(root), &shape);
    let form = RecordForm::new(header.kind, header.record_size, Widths::EIGHT).unwrap();
    let Record::Chunk { chunk, scaled } = node.records.get(0).unwrap() else { panic!() };
    let record = |n| Record::Chunk { chunk, scaled: vec![n; scaled.len()] };
    let records: Vec<Record> = (0..40).map(record).collect();
    let header = BTree2Header { root_records: 40, ..header };
    let children: Vec<ChildPointer> = vec![node.children[0]; 41];
    let (root, shape) = header.root(Widths::EIGHT).map(|(_, shape)| (root, shape)).unwrap();
    encode(&mut bytes, position(addr), &header, &());
    let node = BTree2Node { records: Records::new(form, &records), children };
    encode(&mut bytes, position(root), &node, &shape);
    assert!(is_refused_as_a_circle(&open(&bytes), "/depth1"));
    assert!(!is_refused_as_a_circle(&open(&bytes), "/depth1_full"));
}

#[test]
fn a_chunk_beyond_its_neighbours_in_the_node_above_is_an_error() {
    let mut bytes = golden("btree2_latest.h5");
    let (root, shape) = tree_of_chunks(&bytes).1.root(Widths::EIGHT).unwrap();
    let mut node: BTree2Node = decode(&bytes, position(root), &shape);
    let Record::Chunk { chunk, .. } = node.records.get(0).unwrap() else { panic!() };
    node.records.replace(0, &Record::Chunk { chunk, scaled: vec![0, 5] });
    encode(&mut bytes, position(root), &node, &shape);
    let error = open(&bytes).dataset("/depth1").unwrap().read::<u8>(..).unwrap_err().to_string();
    assert!(error.contains("between those of the parent"), "{error}");
}

#[test]
fn a_fixed_array_longer_than_the_file_is_refused() {
    let mut bytes = golden("array_holes.h5");
    let ChunkIndexInfo::FixedArray { addr, .. } = index(&open(&bytes), "/pages").1 else { panic!() };
    let header: FixedArrayHeader = decode(&bytes, position(addr), &());
    assert!(header.pages() > 1);
    // The page bitmap is in the file and marks every page as unwritten. The file ends before the pages.
    let (at, block) = (bytes.len(), FixedArrayBlock::new(addr, &header));
    bytes.resize(at + block.encoded_len(Widths::EIGHT, &header), 0);
    encode(&mut bytes, at, &block, &header);
    encode(&mut bytes, position(addr), &FixedArrayHeader { data_block: Addr::new(at as u64), ..header }, &());
    let dataset = open(&bytes).dataset("/pages").unwrap();
    assert!(failure(dataset.chunk_at(&[0])).contains("Fixed Array data block"));
    assert!(failure(dataset.stored_chunks()).contains("Fixed Array data block"));
}

#[test]
fn a_cached_chunk_is_not_used_for_another_dataset_or_record() {
    let mut bytes = golden("resized_earliest.h5");
    let file = open(&bytes);
    let (first, own) = index(&file, "/fixed_gzip");
    let (_, ChunkIndexInfo::BTree1 { addr }) = index(&file, "/unlimited_gzip") else { panic!() };
    let record = first.chunk_at(&[0, 0]).unwrap().unwrap();
    // The first chunk of `/unlimited_gzip` gets the address of the first chunk of `/fixed_gzip`, and below a
    // wider chunk shape.
    let context = BTree1Context { kind: BTree1Kind::Chunks { rank: 2 }, k: 32 };
    let mut node: BTree1Node = decode(&bytes, position(addr), &context);
    node.entries.set_child(0, record.extent.addr);
    set_chunk(&mut node, 0, |size, _| *size = u32::try_from(record.extent.len).unwrap());
    encode(&mut bytes, position(addr), &node, &context);
    let ChunkIndexInfo::BTree1 { addr: own } = own else { panic!() };
    let mut node: BTree1Node = decode(&bytes, position(own), &context);
    node.entries.set_child(1, record.extent.addr);
    set_chunk(&mut node, 1, |size, _| *size = 20);
    encode(&mut bytes, position(own), &node, &context);
    // A version 3 layout message: three dimensions, the address of the tree, and the chunk shape.
    let mut message = vec![3, 2, 3];
    message.extend(addr.get().to_le_bytes());
    let sides = places(&bytes, &message).next().unwrap() + message.len();
    assert_eq!(bytes[sides..sides + 12], [4, 0, 0, 0, 5, 0, 0, 0, 4, 0, 0, 0]);
    bytes[sides + 4] = 10;

    let file = open(&bytes);
    let (narrow, wide) = (file.dataset("/fixed_gzip").unwrap(), file.dataset("/unlimited_gzip").unwrap());
    let before = wide.read::<i32>([0..2, 6..9]);
    assert!(matches!(before.unwrap_err().root(), Error::Chunk { .. }));
    for _ in 0..5 {
        narrow.read::<i32>([1..3, 1..3]).unwrap();
    }
    assert!(file.chunk_cache().weight_bytes() > 0, "the chunk is cached");
    let after = wide.read::<i32>([0..2, 6..9]);
    assert!(matches!(after.unwrap_err().root(), Error::Chunk { .. }));
    // Nor is the cached chunk used for another chunk of the same dataset at the same address, whose record
    // has fewer bytes.
    let beside = narrow.read::<i32>([1..3, 6..8]);
    assert!(matches!(beside.unwrap_err().root(), Error::Chunk { .. }));
}

/// Returns the file with another length of a dataset of one dimension, which has the length `from`.
fn resized(name: &str, from: u64, to: u64) -> Vec<u8> {
    let mut bytes = golden(name);
    let seals = seals(&bytes);
    let old = [from.to_le_bytes(), from.to_le_bytes()].concat();
    let at = places(&bytes, &old).next().unwrap();
    bytes[at..at + 16].copy_from_slice(&[to.to_le_bytes(), to.to_le_bytes()].concat());
    reseal(&mut bytes, &seals);
    bytes
}

#[test]
fn an_index_without_a_list_of_chunks_has_no_more_than_it_can_have() {
    let many = 1 << 44;
    for (name, path, from, why) in [
        ("single_v110.h5", "full", 300, "1, which a single chunk"),
        ("implicit_v110.h5", "line", 50, "Raw data"),
    ] {
        let driver = Arc::new(Memory::new(resized(name, from, many)));
        let file = File::options().write(true).open_on(driver).unwrap();
        let dataset = file.dataset(path).unwrap();
        assert_eq!(dataset.shape(), [many]);
        assert!(failure(dataset.read::<i32>(0..1)).contains(why));
        assert!(failure(dataset.visit_chunks(&mut |_, _| ControlFlow::Continue(()))).contains(why));
        // The removal would free as many chunks.
        assert!(failure(file.root().remove(path)).contains(why));
    }
}

#[test]
fn a_selection_of_a_compact_null_dataset_reads_no_stored_bytes() {
    let file = File::in_memory().unwrap();
    let mut options = DatasetOptions::new(Dataspace::Null, i32::datatype());
    options.storage = NewStorage::Compact;
    file.root().create_dataset("null", &options).unwrap();
    let mut bytes = [7; 4];
    let what = Selection::Slab(Slab([].into_iter().collect()));
    let _ = file.dataset("null").unwrap().read_into(&what, &mut bytes);
    assert_eq!(bytes, [0; 4]);
}

#[test]
fn a_group_with_an_uncounted_link_to_itself_is_deleted_once() {
    let mut bytes = golden("link_target.h5");
    let inside = open(&bytes).group("inside").unwrap().address();
    // The first soft link of the group becomes a hard link: an address in place of none, and no cached path.
    let soft = [&[0xff_u8; 8][..], &2_u32.to_le_bytes()].concat();
    let node = places(&bytes, b"SNOD").last().unwrap();
    let at = node + places(&bytes[node..], &soft).next().unwrap();
    bytes[at..at + 12].copy_from_slice(&[&inside.get().to_le_bytes()[..], &[0; 4]].concat());
    let driver = Arc::new(Memory::new(bytes));
    let file = File::options().write(true).open_on(driver.clone()).unwrap();
    assert_eq!(file.group("inside/back").or(file.group("inside/home")).unwrap().address(), inside);
    file.root().remove("inside").unwrap();
    assert!(file.root().is_empty().unwrap());
    file.close().unwrap();
    assert_sound(&driver.bytes());
}

#[test]
fn a_free_section_beyond_its_block_of_a_heap_is_an_error() {
    let mut bytes = golden("object/links_earliest.h5");
    let seals = seals(&bytes);
    // The only section: 67 bytes to the end of a block of 512 bytes.
    let section = places(&bytes, b"FSSE").next().unwrap() + 17;
    assert_eq!(bytes[section..section + 2], (512_u16 - 67).to_le_bytes());
    bytes[section..section + 2].copy_from_slice(&(512_u16 - 66).to_le_bytes());
    reseal(&mut bytes, &seals);
    let report = check(Arc::new(Memory::new(bytes.clone())), &CheckOptions::default(), &mut |_| {}).unwrap();
    let found = |finding: &&Finding| finding.message == "1 free sections are not inside one direct block";
    assert_eq!(report.findings.iter().filter(found).count(), 1);
    let driver = Arc::new(Memory::new(bytes.clone()));
    let file = File::options().write(true).open_on(driver.clone()).unwrap();
    let error = file.root().create_group("new").map(drop).unwrap_err();
    assert!(error.to_string().contains("inside one direct block"), "{error}");
    file.close().unwrap();
    assert_eq!(driver.bytes(), bytes);
}
