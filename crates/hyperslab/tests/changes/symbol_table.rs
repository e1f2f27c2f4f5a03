//! The links of old-style groups, compared with an ordered map, and the rules of the keys in their B-trees.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use hyperslab_format::btree1::{BTree1Context, BTree1Kind, BTree1Node};
use hyperslab_format::group::symbol::{EntryCache, SymbolTableContext, SymbolTableNode};
use hyperslab_format::message::small::{BTreeK, SymbolTable};
use hyperslab_format::{Addr, Widths};
use hyperslab_store::Store;
use hyperslab_store::heap::LocalHeap;
use hyperslab_store::heap::symbol_table::{self, SymbolTarget};
use hyperslab_store::tree::GroupTree;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::{Scratch, end, run, widths};

#[derive(Debug, Clone)]
enum Operation {
    Hard(String, u64),
    Soft(String, String),
    Remove(prop::sample::Index),
    RemoveAbsent(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Target {
    Hard(u64),
    Soft(String),
}

type Model = BTreeMap<String, Target>;

fn operations() -> impl Strategy<Value = Operation> {
    prop_oneof![
        5 => ("[a-d]{1,6}", 0..1000_u64).prop_map(|(name, at)| Operation::Hard(name, at)),
        1 => ("[a-d]{1,6}", "[/a-z]{1,30}").prop_map(|(name, path)| Operation::Soft(name, path)),
        4 => any::<prop::sample::Index>().prop_map(Operation::Remove),
        1 => "[a-d]{1,3}".prop_map(Operation::RemoveAbsent),
    ]
}

fn k(group_internal_k: u16, group_leaf_k: u16) -> BTreeK {
    BTreeK { indexed_storage_k: 32, group_internal_k, group_leaf_k }
}

/// Returns the links of the group, in the order of its B-tree.
fn links(store: &Store, table: &SymbolTable) -> Vec<(String, Target)> {
    let names = LocalHeap::open(store, table.heap).unwrap();
    let mut links = Vec::new();
    let mut visit = |_, node: &SymbolTableNode| {
        assert!(!node.entries.is_empty());
        for entry in &node.entries {
            let target = match entry.cache {
                EntryCache::SoftLink { path_offset } => Target::Soft(names.text_at(path_offset.into())?),
                _ => Target::Hard(entry.header.get()),
            };
            links.push((names.text_at(entry.name_offset)?, target));
        }
        Ok(ControlFlow::Continue(()))
    };
    GroupTree::new(store, table.btree).visit(&mut visit).unwrap();
    links
}

/// Asserts that each key is the largest name of the child before it, and that sibling addresses are right.
fn check_keys(store: &Store, table: &SymbolTable) {
    let names = LocalHeap::open(store, table.heap).unwrap();
    let k = store.btree_k();
    let context = BTree1Context { kind: BTree1Kind::Group, k: k.group_internal_k };
    let mut level = vec![table.btree];
    while !level.is_empty() {
        let nodes: Vec<_> = level.iter().map(|&at| store.get::<BTree1Node>(at, &context).unwrap()).collect();
        let mut below = Vec::new();
        let mut last_key = 0;
        for (index, node) in nodes.iter().enumerate() {
            let at =
                |index: Option<usize>| index.and_then(|i| level.get(i)).copied().unwrap_or(Addr::UNDEFINED);
            assert_eq!((node.left, node.right), (at(index.checked_sub(1)), at(Some(index + 1))));
            let keys: Vec<u64> = (0..).map_while(|index| node.entries.name(index)).collect();
            assert_eq!(keys.first().copied().unwrap_or(0), last_key, "the key shared with the left sibling");
            last_key = keys.last().copied().unwrap_or(0);
            for (child, &key) in node.entries.children().zip(keys.iter().skip(1)) {
                assert_eq!(names.bytes_at(key).unwrap(), largest(store, &names, child, node.level));
            }
            if node.level > 0 {
                assert!(!node.entries.is_empty());
                below.extend(node.entries.children());
            }
        }
        level = below;
    }
}

/// Returns the largest name below `child`, whose parent has the level `above`.
fn largest(store: &Store, names: &LocalHeap<'_>, child: Addr, above: u8) -> Vec<u8> {
    let k = store.btree_k();
    if above == 0 {
        let context = SymbolTableContext { k: k.group_leaf_k };
        let node = store.get::<SymbolTableNode>(child, &context).unwrap();
        return names.bytes_at(node.entries.last().unwrap().name_offset).unwrap();
    }
    let context = BTree1Context { kind: BTree1Kind::Group, k: k.group_internal_k };
    let node = store.get::<BTree1Node>(child, &context).unwrap();
    largest(store, names, node.entries.children().next_back().unwrap(), node.level)
}

fn check(store: &Store, table: &SymbolTable, model: &Model) {
    let expected: Vec<_> = model.iter().map(|(name, target)| (name.clone(), target.clone())).collect();
    assert_eq!(links(store, table), expected);
    check_keys(store, table);
    let names = LocalHeap::open(store, table.heap).unwrap();
    for name in model.keys() {
        let order = |offset| Ok(name.as_bytes().cmp(&names.bytes_at(offset)?));
        let found = GroupTree::new(store, table.btree).find(&order).unwrap().unwrap();
        assert!(order(found.node.entries[found.entry.unwrap()].name_offset).unwrap().is_eq(), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn an_old_style_group_has_the_links_of_the_model(
        widths in widths(),
        capacities in (1..4_u16, 1..4_u16),
        steps in vec((vec(operations(), 0..40), end()), 1..15),
    ) {
        let mut scratch = Scratch::with_k(widths, k(capacities.0, capacities.1));
        let table = scratch.step(|txn| symbol_table::create(txn).unwrap());
        let mut model = Model::new();
        run(&mut scratch, &mut model, steps, |txn, model, operation| match operation {
            Operation::Hard(name, at) => {
                let target = SymbolTarget::Hard { header: Addr::new(at), group: None };
                let is_new = symbol_table::insert(txn, &table, &name, target).unwrap();
                assert_eq!(is_new, !model.contains_key(&name));
                model.entry(name).or_insert(Target::Hard(at));
            }
            Operation::Soft(name, path) => {
                let is_new = symbol_table::insert(txn, &table, &name, SymbolTarget::Soft(&path)).unwrap();
                assert_eq!(is_new, !model.contains_key(&name));
                model.entry(name).or_insert(Target::Soft(path));
            }
            Operation::Remove(_) if model.is_empty() => {}
            Operation::Remove(index) => {
                let name = model.keys().nth(index.index(model.len())).unwrap().clone();
                model.remove(&name);
                assert!(symbol_table::remove(txn, &table, &name).unwrap());
            }
            Operation::RemoveAbsent(name) => {
                assert_eq!(symbol_table::remove(txn, &table, &name).unwrap(), model.remove(&name).is_some());
            }
        });
        check(scratch.store(), &table, &model);
        scratch.reopen();
        check(scratch.store(), &table, &model);
        scratch.step(|txn| {
            for name in model.keys() {
                assert!(symbol_table::remove(txn, &table, name).unwrap());
            }
        });
        check(scratch.store(), &table, &Model::new());
        scratch.step(|txn| symbol_table::delete(txn, &table).unwrap());
    }
}

#[test]
fn many_links_inserted_in_order_fill_their_nodes() {
    let scratch = Scratch::new(Widths::EIGHT);
    let table = scratch.step(|txn| symbol_table::create(txn).unwrap());
    let mut model = Model::new();
    for chunk in 0..20 {
        scratch.step(|txn| {
            for n in 0..500_u64 {
                let (name, at) = (format!("link {:05}", chunk * 500 + n), n);
                let target = SymbolTarget::Hard { header: Addr::new(at), group: None };
                assert!(symbol_table::insert(txn, &table, &name, target).unwrap());
                model.insert(name, Target::Hard(at));
            }
        });
    }
    scratch.commit();
    check(scratch.store(), &table, &model);
    // libhdf5 needs 1,054,200 bytes for the same links. Here the file has free space where the local heap was
    // before it grew.
    let before = scratch.store().len_bytes();
    assert!(before < 1_300_000, "{before}");
    scratch.step(|txn| symbol_table::delete(txn, &table).unwrap());
    scratch.commit();
    scratch.commit();
    assert!(scratch.store().len_bytes() < before / 20, "{} of {before}", scratch.store().len_bytes());
}
