//! Compares changing trees with a map in memory.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use hyperslab_format::btree2::geometry::BTree2NodeShape;
use hyperslab_format::btree2::header::BTree2Header;
use hyperslab_format::btree2::node::{BTree2Node, ChildPointer};
use hyperslab_format::btree2::record::{ChunkRecord, Record, RecordForm};
use hyperslab_format::{Addr, Widths};
use proptest::prelude::*;

use super::BTree2;
use super::edit::{self, BTree2Parameters};
use super::nodes::Nodes;
use crate::testing::{new_store, reopened};
use crate::{Store, Txn};

/// A type of record with a numeric key; makes the record for a key, and returns the key of a record.
#[derive(Debug, Clone, Copy)]
struct RecordKind {
    kind: u8,
    size: u16,
}

const KINDS: [RecordKind; 10] = [
    RecordKind { kind: 1, size: 24 },
    RecordKind { kind: 2, size: 36 },
    RecordKind { kind: 3, size: 16 },
    RecordKind { kind: 4, size: 28 },
    RecordKind { kind: 5, size: 11 },
    RecordKind { kind: 6, size: 15 },
    RecordKind { kind: 8, size: 17 },
    RecordKind { kind: 9, size: 13 },
    RecordKind { kind: 10, size: 24 },
    RecordKind { kind: 11, size: 31 },
];

impl RecordKind {
    fn form(self) -> RecordForm {
        RecordForm::new(self.kind, self.size, Widths::EIGHT).unwrap()
    }

    /// Returns the record at `key` that carries `value`.
    fn record(self, key: u32, value: u8) -> Record {
        let filtered = self.kind.is_multiple_of(2).then_some((u32::from(value), 9));
        match self.kind {
            1 | 2 => {
                let (addr, length) = (Addr::new(value.into()), value.into());
                Record::Huge { addr, length, filtered, id: Some(key.into()) }
            }
            3 | 4 => Record::Huge { addr: Addr::new(key.into()), length: value.into(), filtered, id: None },
            5 => Record::LinkName { hash: key, id: [value; 7] },
            6 => Record::LinkOrder { order: i64::from(key) - 40, id: [value; 7] },
            8 => Record::AttributeName { id: [value; 8], flags: 0, order: 1, hash: key },
            9 => Record::AttributeOrder { id: [value; 8], flags: 0, order: key },
            kind => {
                let filtered = (kind == 11).then_some((value.into(), 1));
                let chunk = ChunkRecord { addr: Addr::new(value.into()), filtered };
                Record::Chunk { chunk, scaled: vec![(key / 16).into(), (key % 16).into()] }
            }
        }
    }

    fn key(record: &Record) -> u32 {
        let key = match record {
            Record::Huge { id: Some(id), .. } => *id,
            Record::Huge { addr, .. } => addr.get(),
            Record::LinkName { hash, .. } | Record::AttributeName { hash, .. } => (*hash).into(),
            Record::LinkOrder { order, .. } => u64::try_from(order + 40).unwrap(),
            Record::AttributeOrder { order, .. } => (*order).into(),
            Record::Chunk { scaled, .. } => scaled[0] * 16 + scaled[1],
            Record::SharedMessage { .. } => panic!("not in these trees"),
        };
        u32::try_from(key).unwrap()
    }
}

fn at(key: u32) -> impl Fn(&Record) -> crate::Result<Ordering> {
    move |record| Ok(RecordKind::key(record).cmp(&key))
}

/// Reads the whole tree and checks every count in it; returns the records in order.
fn read(store: &Store, header_at: Addr) -> Vec<Record> {
    let header = store.get::<BTree2Header>(header_at, &()).unwrap();
    let nodes = Nodes::of(&header, header_at, store.widths()).unwrap();
    let mut records = Vec::new();
    if let Some((root, shape)) = header.root(store.widths()) {
        assert_ne!(header.root_records, 0);
        read_node(store, &nodes, root, &shape, true, &mut records);
    }
    assert_eq!(header.total_records, records.len() as u64);
    let mut visited = Vec::new();
    let tree = BTree2::open(store, header_at, header.kind).unwrap();
    tree.visit(&mut |record| {
        visited.push(record.clone());
        Ok(ControlFlow::Continue(()))
    })
    .unwrap();
    assert_eq!(visited, records);
    records
}

fn read_node(
    store: &Store,
    nodes: &Nodes,
    at: Addr,
    shape: &BTree2NodeShape,
    is_root: bool,
    records: &mut Vec<Record>,
) {
    let node = store.get::<BTree2Node>(at, shape).unwrap();
    assert_eq!(node.records.len(), usize::from(shape.records));
    assert!(node.records.len() <= nodes.capacity(shape.depth));
    assert!(is_root || node.records.len() >= nodes.minimum(shape.depth), "a node with too few records");
    for (index, record) in node.records.iter().enumerate() {
        if let Some(child) = node.children.get(index) {
            read_child(store, nodes, shape, *child, records);
        }
        records.push(record.unwrap());
    }
    if let Some(child) = node.children.last() {
        read_child(store, nodes, shape, *child, records);
    }
}

fn read_child(
    store: &Store,
    nodes: &Nodes,
    above: &BTree2NodeShape,
    child: ChildPointer,
    records: &mut Vec<Record>,
) {
    let before = records.len();
    let shape = nodes.geometry.node(above.depth - 1, child.records);
    read_node(store, nodes, child.addr, &shape, false, records);
    assert_eq!(child.total_records, (records.len() - before) as u64);
}

#[derive(Debug, Clone)]
enum Change {
    Insert(u32, u8),
    Remove(u32),
    /// Inserts this many records, one after another, from the key on.
    Run(u32, u8),
    RemoveRun(u32, u8),
}

#[derive(Debug, Clone)]
enum TreeStep {
    Do(Vec<Change>),
    Undo(Vec<Change>),
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<TreeStep>> {
    let key = 0_u32..600;
    let change = prop_oneof![
        6 => (key.clone(), any::<u8>()).prop_map(|(key, value)| Change::Insert(key, value)),
        3 => key.clone().prop_map(Change::Remove),
        2 => (key.clone(), 0_u8..200).prop_map(|(key, count)| Change::Run(key, count)),
        2 => (key, 0_u8..250).prop_map(|(key, count)| Change::RemoveRun(key, count)),
    ];
    let changes = || proptest::collection::vec(change.clone(), 1..10);
    let step = prop_oneof![
        6 => changes().prop_map(TreeStep::Do),
        2 => changes().prop_map(TreeStep::Undo),
        1 => Just(TreeStep::Reopen),
    ];
    proptest::collection::vec(step, 1..25)
}

/// Applies changes to a tree and to the model, and compares the results.
fn apply(
    store: &Store,
    kind: RecordKind,
    header: Addr,
    model: &mut BTreeMap<u32, u8>,
    changes: &[Change],
    keep: bool,
) {
    let mut txn = store.begin().unwrap();
    for change in changes {
        match *change {
            Change::Insert(key, value) => insert(&mut txn, kind, header, model, key, value),
            Change::Run(key, count) => {
                (0..u32::from(count)).for_each(|i| insert(&mut txn, kind, header, model, key + i, count));
            }
            Change::Remove(key) => remove(&mut txn, kind, header, model, key),
            Change::RemoveRun(key, count) => {
                (0..u32::from(count)).for_each(|i| remove(&mut txn, kind, header, model, key + i));
            }
        }
    }
    if keep {
        txn.finish().unwrap();
    }
}

fn insert(
    txn: &mut Txn<'_>,
    kind: RecordKind,
    header: Addr,
    model: &mut BTreeMap<u32, u8>,
    key: u32,
    value: u8,
) {
    let replaced = edit::insert(txn, header, &kind.record(key, value), &at(key)).unwrap();
    assert_eq!(replaced, model.insert(key, value).map(|old| kind.record(key, old)));
}

fn remove(txn: &mut Txn<'_>, kind: RecordKind, header: Addr, model: &mut BTreeMap<u32, u8>, key: u32) {
    let removed = edit::remove(txn, header, &at(key)).unwrap();
    assert_eq!(removed, model.remove(&key).map(|old| kind.record(key, old)));
}

fn create(store: &Store, kind: RecordKind, node_size: u32) -> Addr {
    let mut txn = store.begin().unwrap();
    let parameters = BTree2Parameters { node_size, ..BTree2Parameters::NAMES };
    let header = edit::create(&mut txn, kind.form(), parameters).unwrap();
    txn.finish().unwrap();
    header
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn a_tree_has_the_same_records_as_a_map(
        kind in proptest::sample::select(&KINDS[..]),
        // The smallest nodes hold two or three records, so trees get deep.
        node_records in prop_oneof![2_u32..6, 20_u32..40],
        steps in steps(),
    ) {
        let mut store = new_store(Widths::EIGHT);
        let node_size = 10 + 11 + node_records * (u32::from(kind.size) + 11);
        let header = create(&store, kind, node_size);
        let mut model = BTreeMap::new();
        for step in &steps {
            match step {
                TreeStep::Do(changes) => apply(&store, kind, header, &mut model, changes, true),
                TreeStep::Undo(changes) => {
                    apply(&store, kind, header, &mut model.clone(), changes, false);
                }
                TreeStep::Reopen => store = reopened(&store),
            }
            let expected: Vec<Record> =
                model.iter().map(|(&key, &value)| kind.record(key, value)).collect();
            prop_assert_eq!(read(&store, header), expected);
        }
    }
}

#[test]
fn records_in_order_fill_their_nodes() {
    let store = new_store(Widths::EIGHT);
    let kind = KINDS[8];
    let header = create(&store, kind, 2048);
    let mut model = BTreeMap::new();
    apply(&store, kind, header, &mut model, &[Change::Run(0, 255)], true);
    for start in (0..100_000).step_by(250) {
        apply(&store, kind, header, &mut model, &[Change::Run(start, 250)], true);
    }
    let records = read(&store, header).len();
    let end = store.len_bytes();
    let full = records as u64 * 24;
    assert!(end < full * 5 / 4, "{records} records in {end} bytes");
}

#[test]
fn an_emptied_or_deleted_tree_frees_its_space() {
    let mut store = new_store(Widths::EIGHT);
    let kind = KINDS[4];
    let header = create(&store, kind, 512);
    store = reopened(&store);
    let empty = store.len_bytes();
    let mut model = BTreeMap::new();
    apply(&store, kind, header, &mut model, &[Change::Run(0, 250), Change::Run(250, 250)], true);
    store = reopened(&store);
    assert!(store.len_bytes() > empty + 5000);
    let before = store.len_bytes();
    apply(&store, kind, header, &mut model, &[Change::RemoveRun(0, 250), Change::RemoveRun(250, 250)], true);
    assert_eq!(read(&store, header), []);
    store.commit().unwrap();
    apply(&store, kind, header, &mut model, &[Change::Run(0, 250), Change::Run(250, 250)], true);
    store.commit().unwrap();
    assert!(store.len_bytes() <= before + 4096, "freed nodes are reused");
    let mut txn = store.begin().unwrap();
    edit::delete(&mut txn, header).unwrap();
    txn.finish().unwrap();
    store.commit().unwrap();
    store.commit().unwrap();
    assert!(store.len_bytes() <= empty);
}

#[test]
fn a_record_of_another_type_is_refused() {
    let store = new_store(Widths::EIGHT);
    let header = create(&store, KINDS[4], 512);
    let mut txn = store.begin().unwrap();
    let error = edit::insert(&mut txn, header, &KINDS[5].record(1, 1), &at(1)).unwrap_err();
    assert!(matches!(error, crate::Error::Format(_)), "{error}");
}

#[test]
fn an_error_of_a_comparison_is_returned() {
    let store = new_store(Widths::EIGHT);
    let header = create(&store, KINDS[4], 512);
    let mut txn = store.begin().unwrap();
    edit::insert(&mut txn, header, &KINDS[4].record(1, 1), &at(1)).unwrap();
    let order = |_: &Record| Err(crate::Error::Poisoned);
    assert!(matches!(edit::remove(&mut txn, header, &order), Err(crate::Error::Poisoned)));
}

/// A kind of damage to a tree. Places are percentages of the tree.
#[derive(Debug, Clone)]
enum Damage {
    /// A child pointer that points to another child's node.
    Child {
        node: u8,
        child: u8,
        other: u8,
    },
    /// A child pointer with a wrong number of records, in the child or below it.
    Counts {
        node: u8,
        child: u8,
        records: u16,
        total: u64,
    },
    Header {
        depth: u16,
        root_records: u16,
        total: u64,
    },
    Percent {
        split: u8,
        merge: u8,
    },
}

fn damage() -> impl Strategy<Value = Damage> {
    let total = || prop_oneof![0_u64..300, Just(255), Just(65535)];
    prop_oneof![
        (0_u8..100, 0_u8..100, 0_u8..100).prop_map(|(node, child, other)| Damage::Child {
            node,
            child,
            other
        }),
        (0_u8..100, 0_u8..100, 0_u16..5, total()).prop_map(|(node, child, records, total)| Damage::Counts {
            node,
            child,
            records,
            total
        }),
        (0_u16..6, 0_u16..4, prop_oneof![0_u64..9, Just(u64::MAX)])
            .prop_map(|(depth, root_records, total)| Damage::Header { depth, root_records, total }),
        any::<(u8, u8)>().prop_map(|(split, merge)| Damage::Percent { split, merge }),
    ]
}

/// Returns the nodes of a tree, from the root on, each with its shape.
fn all_nodes(store: &Store, header_at: Addr) -> Vec<(Addr, BTree2NodeShape)> {
    let header = store.get::<BTree2Header>(header_at, &()).unwrap();
    let geometry = header.geometry(store.widths());
    let mut nodes: Vec<_> = header.root(store.widths()).into_iter().collect();
    let mut next = 0;
    while let Some((at, shape)) = nodes.get(next).copied() {
        next += 1;
        let Ok(node) = store.get::<BTree2Node>(at, &shape) else { continue };
        let depth = shape.depth.saturating_sub(1);
        nodes.extend(node.children.iter().map(|child| (child.addr, geometry.node(depth, child.records))));
    }
    nodes
}

fn nth<T: Copy>(things: &[T], share: u8) -> Option<T> {
    things.get(things.len() * usize::from(share) / 100).copied()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_tree_causes_errors_but_no_panic(
        kind in proptest::sample::select(&KINDS[..]),
        keys in 10_u32..200,
        damages in proptest::collection::vec(damage(), 1..4),
        changes in proptest::collection::vec((any::<bool>(), 0_u32..250), 1..60),
    ) {
        let store = new_store(Widths::EIGHT);
        let header = create(&store, kind, 10 + 11 + 3 * (u32::from(kind.size) + 11));
        let mut txn = store.begin().unwrap();
        for key in 0..keys {
            edit::insert(&mut txn, header, &kind.record(key, 1), &at(key)).unwrap();
        }
        let nodes = all_nodes(&store, header);
        let internal: Vec<_> = nodes.iter().copied().filter(|(_, shape)| !shape.is_leaf()).collect();
        for damage in &damages {
            match *damage {
                Damage::Child { node, child, other } => {
                    let Some((at, shape)) = nth(&internal, node) else { continue };
                    let other = nth(&nodes, other).unwrap().0;
                    txn.edit::<BTree2Node, _>(at, &shape, |node| {
                        let child = node.children.len() * usize::from(child) / 100;
                        node.children[child].addr = other;
                    }).unwrap();
                }
                Damage::Counts { node, child, records, total } => {
                    let Some((at, shape)) = nth(&internal, node) else { continue };
                    let total = total.min((1 << (8 * u32::from(shape.total_width.max(1)))) - 1);
                    txn.edit::<BTree2Node, _>(at, &shape, |node| {
                        let child = node.children.len() * usize::from(child) / 100;
                        node.children[child].records = records;
                        node.children[child].total_records = total;
                    }).unwrap();
                }
                Damage::Header { depth, root_records, total } => {
                    txn.edit::<BTree2Header, _>(header, &(), |header| {
                        (header.depth, header.root_records) = (depth, root_records);
                        header.total_records = total;
                    }).unwrap();
                }
                Damage::Percent { split, merge } => {
                    txn.edit::<BTree2Header, _>(header, &(), |header| {
                        (header.split_percent, header.merge_percent) = (split, merge);
                    }).unwrap();
                }
            }
        }
        txn.finish().unwrap();
        // A reopened store may refuse the damage while it decodes; a cached structure is not decoded again.
        for store in [reopened(&store), store] {
            for &(is_insert, key) in &changes {
                let mut txn = store.begin().unwrap();
                let changed = if is_insert {
                    edit::insert(&mut txn, header, &kind.record(key, 2), &at(key)).map(drop)
                } else {
                    edit::remove(&mut txn, header, &at(key)).map(drop)
                };
                if changed.is_ok() {
                    txn.finish().unwrap();
                }
            }
            let mut txn = store.begin().unwrap();
            let _ = edit::delete(&mut txn, header);
        }
    }
}
