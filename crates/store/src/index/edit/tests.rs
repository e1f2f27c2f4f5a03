//! Compares changes to chunk indexes with changes to a map in memory.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_error::{Error, RequestError};
use hyperslab_filters::FilterMask;
use hyperslab_format::array::extensible::header::Statistics;
use hyperslab_format::array::extensible::{
    DataBlock, ExtensibleArrayHeader, Geometry, IndexBlock, SecondaryBlock,
};
use hyperslab_format::array::fixed::FixedArrayHeader;
use hyperslab_format::layout::{ChunkIndexInfo, ChunkedLayout, ExtensibleArrayParameters};
use hyperslab_format::{Addr, Extent, Structure, Width, Widths};
use hyperslab_io::driver::Memory;
use hyperslab_select::Coord;
use hyperslab_testkit::golden::Manifest;
use proptest::prelude::*;

use super::super::{ChunkIndex, ChunkRecord, Grid};
use super::IndexEdit;
use crate::testing::{new_store, reopened};
use crate::{SpaceKind, Store, Txn};

const ADDR: Addr = Addr::UNDEFINED;
const NARROW: Widths = Widths { offset: Width::Four, length: Width::Four };

/// A dataset with chunks of one element of one byte, so its shape is its grid.
#[derive(Debug, Clone)]
struct Case {
    info: ChunkIndexInfo,
    shape: Vec<u64>,
    max_shape: Vec<Option<u64>>,
}

impl Case {
    fn new(info: ChunkIndexInfo, shape: &[u64], max_shape: &[Option<u64>]) -> Self {
        Self { info, shape: shape.to_vec(), max_shape: max_shape.to_vec() }
    }

    fn grid(&self, shape: &[u64]) -> Grid {
        Grid::new(shape, Some(&self.max_shape), &vec![1; shape.len()])
    }

    fn index(&self, is_filtered: bool, layout_version: u8) -> ChunkIndex {
        let layout = ChunkedLayout {
            version: layout_version,
            chunk_shape: vec![1; self.shape.len()],
            element_size: 1,
            unfiltered_edges: false,
            index: self.info.clone(),
        };
        ChunkIndex::new(&layout, self.grid(&self.shape), 1, is_filtered, 2)
    }
}

fn extensible_array(page_bits: u8) -> ChunkIndexInfo {
    let parameters = ExtensibleArrayParameters {
        max_elements_bits: 32,
        index_elements: 4,
        min_pointers: 4,
        min_elements: 16,
        page_bits,
    };
    ChunkIndexInfo::ExtensibleArray { addr: ADDR, parameters }
}

fn btree2(node_size: u32) -> ChunkIndexInfo {
    ChunkIndexInfo::BTree2 { addr: ADDR, node_size, split_percent: 100, merge_percent: 40 }
}

fn cases() -> Vec<Case> {
    let fixed = |page_bits| ChunkIndexInfo::FixedArray { addr: ADDR, page_bits };
    let single = ChunkIndexInfo::Single { addr: ADDR, filtered: None };
    vec![
        Case::new(single, &[1], &[Some(1)]),
        Case::new(fixed(10), &[20, 30], &[Some(20), Some(30)]),
        Case::new(fixed(10), &[3000], &[Some(5000)]),
        Case::new(fixed(3), &[20, 30], &[Some(21), Some(33)]),
        Case::new(extensible_array(10), &[900], &[None]),
        // Data blocks of more than 64 elements, which belong to secondary blocks, are paged.
        Case::new(extensible_array(6), &[50, 70], &[Some(50), None]),
        Case::new(extensible_array(10), &[40_000, 2], &[None, Some(3)]),
        Case::new(btree2(2048), &[30, 30], &[None, None]),
        Case::new(btree2(2048), &[20, 30], &[Some(20), Some(33)]),
        Case::new(ChunkIndexInfo::BTree1 { addr: ADDR }, &[300], &[None]),
        Case::new(ChunkIndexInfo::BTree1 { addr: ADDR }, &[10, 20, 4], &[Some(12), None, None]),
        Case::new(btree2(200), &[10, 10, 10], &[None, Some(12), None]),
    ]
}

#[derive(Debug, Clone)]
enum Change {
    /// Inserts one chunk: its place in thousandths of the extent, and its size in bytes.
    Insert(u16, u8),
    Remove(u16),
    /// Inserts consecutive chunks: the first place in thousandths of the extent, and the number of chunks.
    Run(u16, u8),
    /// Resizes the dataset to a percentage of its original shape.
    Resize(u8),
}

#[derive(Debug, Clone)]
enum EditStep {
    Do(Vec<Change>),
    Undo(Vec<Change>),
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<EditStep>> {
    let place = 0_u16..1000;
    let change = prop_oneof![
        6 => (place.clone(), 1_u8..).prop_map(|(place, len)| Change::Insert(place, len)),
        3 => place.clone().prop_map(Change::Remove),
        3 => (place, 1_u8..).prop_map(|(place, count)| Change::Run(place, count)),
        1 => (0_u8..=100).prop_map(Change::Resize),
    ];
    let changes = || proptest::collection::vec(change.clone(), 1..8);
    let step = prop_oneof![
        5 => changes().prop_map(EditStep::Do),
        2 => changes().prop_map(EditStep::Undo),
        1 => Just(EditStep::Reopen),
    ];
    proptest::collection::vec(step, 1..14)
}

type Model = BTreeMap<Vec<u64>, ChunkRecord>;

/// A dataset's index and its expected content.
struct Subject<'c> {
    case: &'c Case,
    is_filtered: bool,
    index: ChunkIndex,
    model: Model,
}

impl Subject<'_> {
    /// Applies changes to the index and to the model, and compares what they return.
    fn change(&mut self, store: &Store, changes: &[Change], keep: bool) {
        let mut txn = store.begin().unwrap();
        let mut model = self.model.clone();
        let mut edit = IndexEdit::new(&mut txn, &self.index);
        for change in changes {
            let grid = edit.index.grid.clone();
            let nth = |share: u16, more: u8| grid.nth(grid.len() * u64::from(share) / 1000 + u64::from(more));
            match *change {
                Change::Insert(place, len) => {
                    let Some(coord) = nth(place, 0) else { continue };
                    self.insert(&mut edit, &mut model, &coord, len);
                }
                Change::Run(place, count) => (0..count)
                    .filter_map(|more| nth(place, more))
                    .for_each(|coord| self.insert(&mut edit, &mut model, &coord, count)),
                Change::Remove(place) => {
                    let Some(coord) = nth(place, 0) else { continue };
                    assert_eq!(edit.remove(&coord).unwrap(), model.remove(coord.as_slice()));
                }
                Change::Resize(percent) => {
                    let shape: Vec<u64> =
                        self.case.shape.iter().map(|len| (len * u64::from(percent)).div_ceil(100)).collect();
                    let mut removed = Vec::new();
                    edit.resize(self.case.grid(&shape), &mut |record| removed.push(record)).unwrap();
                    let is_inside = |coord: &[u64]| coord.iter().zip(&shape).all(|(at, len)| at < len);
                    let mut outside: Vec<_> = model
                        .extract_if(.., |coord, _| !is_inside(coord))
                        .map(|(_, record)| record)
                        .collect();
                    removed.sort_by_key(|record| record.extent.addr);
                    outside.sort_by_key(|record| record.extent.addr);
                    assert_eq!(removed, outside);
                }
            }
        }
        let index = edit.into_index();
        if keep {
            txn.finish().unwrap();
            (self.index, self.model) = (index, model);
        }
    }

    fn insert(&self, edit: &mut IndexEdit<'_, '_>, model: &mut Model, coord: &Coord, len: u8) {
        let len = if self.is_filtered { u64::from(len) } else { 1 };
        let extent = edit.txn().allocate(SpaceKind::Raw, len).unwrap();
        let mask = FilterMask(if self.is_filtered { 5 } else { 0 });
        let record = ChunkRecord { extent, mask };
        assert_eq!(edit.insert(coord, record).unwrap(), model.insert(coord.to_vec(), record));
    }

    /// Compares the chunks that the index finds and lists with the model.
    fn check(&self, store: &Store) {
        let mut listed = Model::new();
        let mut visit = |coord: &[u64], record| {
            assert_eq!(listed.insert(coord.to_vec(), record), None, "listed twice");
            ControlFlow::Continue(())
        };
        self.index.visit(store, &mut visit).unwrap();
        assert_eq!(listed, self.model);
        let mut cursor = self.index.cursor(store);
        let grid = self.index.grid();
        let step = usize::try_from(grid.len() / 500 + 1).unwrap();
        for coord in (0..grid.len()).step_by(step).filter_map(|place| grid.nth(place)) {
            assert_eq!(cursor.lookup(&coord).unwrap(), self.model.get(coord.as_slice()).copied());
        }
        drop(cursor);
        if let ChunkIndexInfo::ExtensibleArray { addr, .. } = self.index.info
            && let Some(at) = addr.defined()
        {
            check_statistics(store, at, true);
        }
    }
}

/// Counts the blocks of an Extensible Array and compares the counts with its header.
fn check_statistics(store: &Store, header_at: Addr, is_ours: bool) {
    let header = *store.get::<ExtensibleArrayHeader>(header_at, &()).unwrap();
    let geometry = Geometry::new(header.parameters);
    let index_block = store.get::<IndexBlock>(header.index_block, &header).unwrap();
    let elements_set = header.statistics.elements_set;
    let mut counted = Statistics {
        elements_set,
        elements_allocated: header.parameters.index_elements.into(),
        ..Statistics::default()
    };
    let mut block = |at: Addr, elements, first: Option<u64>| {
        let block = store.get::<DataBlock>(at, &(header, elements)).unwrap();
        assert_eq!((block.offset, block.header), (first.unwrap_or(block.offset), header_at));
        counted.data_blocks += 1;
        counted.data_bytes += DataBlock::len_bytes(&header, elements, store.widths()).unwrap();
        counted.elements_allocated += elements;
    };
    let (mut first, mut direct) = (0, index_block.data_blocks.iter());
    let (mut secondary_blocks, mut secondary_bytes) = (0, 0);
    let first_secondary = u32::try_from(geometry.direct_super_blocks()).unwrap();
    for super_block in 0..u32::try_from(geometry.super_blocks()).unwrap() {
        let elements = geometry.block_elements(super_block);
        let blocks = geometry.data_blocks(super_block);
        if super_block < first_secondary {
            for &at in direct.by_ref().take(blocks) {
                // libhdf5 writes different offsets to these blocks.
                let first_here = is_ours.then_some(first);
                at.defined().into_iter().for_each(|at| block(at, elements, first_here));
                first += elements;
            }
            continue;
        }
        let at = index_block.secondary_blocks[(super_block - first_secondary) as usize];
        if let Some(at) = at.defined() {
            let context = (header, super_block);
            let secondary = store.get::<SecondaryBlock>(at, &context).unwrap();
            assert_eq!(secondary.offset, first);
            secondary_blocks += 1;
            secondary_bytes += secondary.encoded_len(store.widths(), &context) as u64;
            for (number, &at) in secondary.data_blocks.iter().enumerate() {
                let first = first + number as u64 * elements;
                at.defined().into_iter().for_each(|at| block(at, elements, Some(first)));
            }
        }
        first += blocks as u64 * elements;
    }
    counted.secondary_blocks = secondary_blocks;
    counted.secondary_bytes = secondary_bytes;
    assert_eq!(header.statistics, counted);
}

#[test]
fn extensible_array_statistics_match_those_of_libhdf5() {
    let mut arrays = 0;
    let is_of_arrays = |name: &str| name.starts_with("extensible_array") || name.starts_with("array_holes");
    for (_, path) in Manifest::load().present().filter(|(entry, _)| is_of_arrays(&entry.name)) {
        let bytes = std::fs::read(path).unwrap();
        let headers = bytes.windows(4).enumerate().filter(|(_, found)| found == b"EAHD");
        let headers: Vec<u64> = headers.map(|(at, _)| at as u64).collect();
        let store = Store::open(Arc::new(Memory::new(bytes)), 1 << 20).unwrap();
        for at in headers {
            check_statistics(&store, Addr::new(at), false);
            arrays += 1;
        }
    }
    assert!(arrays > 3, "{arrays}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn an_index_has_the_same_chunks_as_a_map(
        case in proptest::sample::select(cases()),
        is_filtered in any::<bool>(),
        layout_version in 4_u8..=5,
        is_narrow in any::<bool>(),
        steps in steps(),
    ) {
        let mut store = new_store(if is_narrow { NARROW } else { Widths::EIGHT });
        let index = case.index(is_filtered, layout_version);
        let mut subject = Subject { case: &case, is_filtered, index, model: Model::new() };
        for step in &steps {
            match step {
                EditStep::Do(changes) => subject.change(&store, changes, true),
                EditStep::Undo(changes) => subject.change(&store, changes, false),
                EditStep::Reopen => {
                    store = reopened(&store);
                    // The state of the last cursor belongs to the old store: an edit without changes drops
                    // it.
                    subject.change(&store, &[], true);
                }
            }
            subject.check(&store);
        }
        // After the index and its chunks are freed, nothing is left.
        let mut txn = store.begin().unwrap();
        let mut edit = IndexEdit::new(&mut txn, &subject.index);
        edit.delete().unwrap();
        prop_assert!(edit.index.addr_mut().is_undefined());
        subject.model.values().for_each(|record| edit.txn().free(record.extent));
        txn.finish().unwrap();
    }

    #[test]
    fn deleting_an_index_frees_all_its_blocks(
        case in proptest::sample::select(cases()),
        is_filtered in any::<bool>(),
        places in proptest::collection::vec(0_u16..1000, 1..40),
    ) {
        let store = new_store(Widths::EIGHT);
        store.commit().unwrap();
        let empty = store.len_bytes();
        let mut txn = store.begin().unwrap();
        let mut edit = IndexEdit::new(&mut txn, &case.index(is_filtered, 4));
        for place in places {
            let grid = edit.index.grid.clone();
            let coord = grid.nth(grid.len() * u64::from(place) / 1000).unwrap();
            // The chunks themselves are not stored.
            let extent = Extent::new(Addr::new(0), 1);
            edit.insert(&coord, ChunkRecord { extent, mask: FilterMask(0) }).unwrap();
        }
        edit.delete().unwrap();
        txn.finish().unwrap();
        prop_assert_eq!(reopened(&store).len_bytes(), empty);
    }
}

#[test]
fn an_implicit_index_does_not_move_chunks() {
    let store = new_store(Widths::EIGHT);
    let case = Case::new(ChunkIndexInfo::Implicit { addr: ADDR }, &[2, 3], &[Some(4), Some(5)]);
    let mut txn = store.begin().unwrap();
    let mut edit = IndexEdit::new(&mut txn, &case.index(false, 4));
    let all = edit.allocate_implicit().unwrap();
    assert_eq!(all.len, 20);
    let record = |place| {
        let extent = Extent::new(all.addr.checked_add(place).unwrap(), 1);
        ChunkRecord { extent, mask: FilterMask::NONE_SKIPPED }
    };
    assert_eq!(edit.insert(&[1, 2], record(7)).unwrap(), None);
    assert!(edit.insert(&[1, 2], record(5)).is_err());
    assert_eq!(edit.remove(&[1, 2]).unwrap(), None);
    let index = edit.into_index();
    assert_eq!(index.cursor(&store).lookup(&Coord::from_slice(&[1, 1])).unwrap(), Some(record(6)));
}

#[test]
fn a_large_fixed_array_is_created_as_a_btree2() {
    let record = ChunkRecord { extent: Extent::new(Addr::new(8), 1), mask: FilterMask(0) };
    for (count, is_tree) in [(1 << 20, false), ((1 << 20) + 1, true), (1 << 42, true)] {
        let store = new_store(Widths::EIGHT);
        let info = ChunkIndexInfo::FixedArray { addr: ADDR, page_bits: 10 };
        let case = Case::new(info, &[count - 5, 1], &[Some(count), Some(1)]);
        let mut txn = store.begin().unwrap();
        let mut edit = IndexEdit::new(&mut txn, &case.index(false, 4));
        assert_eq!(edit.insert(&[count - 6, 0], record).unwrap(), None);
        assert_eq!(matches!(edit.info(), ChunkIndexInfo::BTree2 { .. }), is_tree, "{count}");
        edit.resize(case.grid(&[count, 1]), &mut |_| panic!("nothing is cut off")).unwrap();
        assert_eq!(edit.insert(&[count - 1, 0], record).unwrap(), None);
        edit.resize(case.grid(&[count - 1, 1]), &mut |cut| assert_eq!(cut, record)).unwrap();
        txn.finish().unwrap();
        // The file needs space only for the tree of the written chunk, whatever the maximum extent is.
        assert!(!is_tree || store.len_bytes() < 5000, "{}", store.len_bytes());
    }
}

#[test]
fn a_chunk_outside_the_dataset_is_refused() {
    let store = new_store(Widths::EIGHT);
    let case = Case::new(extensible_array(10), &[5, 3], &[None, Some(3)]);
    let mut txn = store.begin().unwrap();
    let mut edit = IndexEdit::new(&mut txn, &case.index(false, 4));
    let record = ChunkRecord { extent: Extent::new(Addr::new(0), 1), mask: FilterMask(0) };
    for coord in [&[5, 0][..], &[0, 3], &[u64::MAX, 0], &[1]] {
        assert!(matches!(edit.insert(coord, record), Err(Error::Request(_))), "{coord:?}");
        assert!(matches!(edit.remove(coord), Err(Error::Request(_))), "{coord:?}");
    }
    assert_eq!(edit.info(), &case.info);
}

#[test]
fn a_chunk_longer_than_the_size_field_of_its_record_is_refused() {
    for info in [extensible_array(10), btree2(2048)] {
        let store = new_store(Widths::EIGHT);
        let case = Case::new(info, &[5, 3], &[None, Some(3)]);
        let mut txn = store.begin().unwrap();
        let mut edit = IndexEdit::new(&mut txn, &case.index(true, 4));
        let record = |len| ChunkRecord { extent: Extent::new(Addr::new(0), len), mask: FilterMask(0) };
        edit.insert(&[0, 0], record(0xffff)).unwrap();
        let error = edit.insert(&[0, 1], record(0x1_0000)).unwrap_err();
        assert!(matches!(error, Error::Request(RequestError::TooMany { limit: 0xffff, .. })), "{error}");
    }
}

/// The damage to an array. A wrong address is selected by number; most are those of other blocks of the
/// array.
#[derive(Debug, Clone)]
enum Damage {
    DataBlock(usize, usize),
    SecondaryBlock(usize, usize),
    Parameters(ExtensibleArrayParameters),
    Fixed { elements: u64, page_bits: u8, block: usize },
}

fn damage() -> impl Strategy<Value = Damage> {
    let parameters = (3_u8..=64, any::<u8>(), 0_u32..7, 1_u32..7, 0_u8..=32);
    prop_oneof![
        (0_usize..6, any::<usize>()).prop_map(|(place, at)| Damage::DataBlock(place, at)),
        (0_usize..9, any::<usize>()).prop_map(|(place, at)| Damage::SecondaryBlock(place, at)),
        parameters.prop_map(|(max_elements_bits, index_elements, elements, pointers, page_bits)| {
            Damage::Parameters(ExtensibleArrayParameters {
                max_elements_bits,
                index_elements,
                min_pointers: 1 << pointers,
                min_elements: 1 << elements,
                page_bits: page_bits.min(max_elements_bits),
            })
        }),
        (prop_oneof![Just(5000_u64), any::<u64>()], 0_u8..=32, any::<usize>())
            .prop_map(|(elements, page_bits, block)| Damage::Fixed { elements, page_bits, block }),
    ]
}

proptest! {
    #[test]
    fn a_damaged_array_causes_errors_but_no_panic(
        is_fixed in any::<bool>(),
        page_bits in 3_u8..11,
        damages in proptest::collection::vec(damage(), 1..4),
        changes in proptest::collection::vec((any::<bool>(), 0_u64..5000), 1..40),
    ) {
        let case = if is_fixed {
            Case::new(ChunkIndexInfo::FixedArray { addr: ADDR, page_bits }, &[5000], &[Some(5000)])
        } else {
            Case::new(extensible_array(page_bits.max(6)), &[5000], &[None])
        };
        let store = new_store(Widths::EIGHT);
        let mut txn = store.begin().unwrap();
        let mut edit = IndexEdit::new(&mut txn, &case.index(true, 4));
        let record = ChunkRecord { extent: Extent::new(Addr::new(0), 1), mask: FilterMask(0) };
        for number in (0..5000).step_by(37) {
            edit.insert(&[number], record).unwrap();
        }
        let index = edit.into_index();
        let (ChunkIndexInfo::FixedArray { addr: at, .. } | ChunkIndexInfo::ExtensibleArray { addr: at, .. }) =
            index.info
        else {
            panic!("no array");
        };
        for damage in &damages {
            damage_array(&mut txn, at, is_fixed, damage);
        }
        txn.finish().unwrap();
        for store in [reopened(&store), store] {
            for &(is_insert, number) in &changes {
                let mut txn = store.begin().unwrap();
                let mut edit = IndexEdit::new(&mut txn, &index);
                let changed = if is_insert { edit.insert(&[number], record) } else { edit.remove(&[number]) };
                if changed.is_ok() {
                    txn.finish().unwrap();
                }
            }
            let mut txn = store.begin().unwrap();
            let _ = IndexEdit::new(&mut txn, &index).delete();
        }
    }
}

fn damage_array(txn: &mut Txn<'_>, at: Addr, is_fixed: bool, damage: &Damage) {
    if is_fixed {
        if let Damage::Fixed { elements, page_bits, block } = *damage {
            txn.edit::<FixedArrayHeader, _>(at, &(), |header| {
                (header.elements, header.page_bits) = (elements, page_bits);
                let blocks = [header.data_block, at, Addr::UNDEFINED, Addr::new(u64::MAX - 1)];
                header.data_block = blocks[block % blocks.len()];
            })
            .unwrap();
        }
        return;
    }
    let header = *txn.store().get::<ExtensibleArrayHeader>(at, &()).unwrap();
    if let Damage::Parameters(parameters) = *damage {
        return txn
            .edit::<ExtensibleArrayHeader, _>(at, &(), |header| header.parameters = parameters)
            .unwrap();
    }
    let Ok(block) = txn.store().get::<IndexBlock>(header.index_block, &header) else { return };
    let blocks = [&block.data_blocks[..], &block.secondary_blocks, &[at, header.index_block]].concat();
    drop(block);
    txn.edit::<IndexBlock, _>(header.index_block, &header, |block| match *damage {
        Damage::DataBlock(place, other) => block.data_blocks[place] = blocks[other % blocks.len()],
        Damage::SecondaryBlock(place, other) => block.secondary_blocks[place] = blocks[other % blocks.len()],
        _ => {}
    })
    .unwrap();
}
