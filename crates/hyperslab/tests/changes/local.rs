//! Local heaps, compared with a list of their names.

use hyperslab_format::heap::local::{LocalHeapData, LocalHeapHeader};
use hyperslab_store::heap::{LocalHeap, local};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::{Scratch, end, run, widths};

#[derive(Debug, Clone)]
enum Operation {
    Insert(String),
    Remove(prop::sample::Index),
}

fn operations() -> impl Strategy<Value = Operation> {
    prop_oneof![
        6 => "[a-z]{0,40}".prop_map(Operation::Insert),
        1 => (1..3000_usize).prop_map(|len| Operation::Insert("x".repeat(len))),
        3 => any::<prop::sample::Index>().prop_map(Operation::Remove),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn names_in_a_local_heap_stay_at_their_offsets(
        widths in widths(),
        steps in vec((vec(operations(), 0..30), end()), 1..20),
    ) {
        let mut scratch = Scratch::new(widths);
        let at = scratch.step(|txn| local::create(txn, 88).unwrap());
        let mut model: Vec<(u64, String)> = Vec::new();
        run(&mut scratch, &mut model, steps, |txn, model, operation| match operation {
            Operation::Insert(name) => {
                let offset = local::insert(txn, at, name.as_bytes()).unwrap();
                model.push((offset, name));
            }
            Operation::Remove(_) if model.is_empty() => {}
            Operation::Remove(index) => {
                let (offset, _) = model.swap_remove(index.index(model.len()));
                local::remove(txn, at, offset).unwrap();
            }
        });
        scratch.reopen();
        let store = scratch.store();
        let heap = LocalHeap::open(store, at).unwrap();
        prop_assert_eq!(heap.text_at(0).unwrap(), "");
        for (offset, name) in &model {
            prop_assert_eq!(&heap.text_at(*offset).unwrap(), name);
        }
        // Names and free blocks do not overlap.
        let header = store.read::<LocalHeapHeader>(at, &()).unwrap();
        let data = store.read::<LocalHeapData>(header.data, &header).unwrap().bytes;
        let width = widths.length.bytes();
        let number = |at: usize| data[at..at + width].iter().rev().fold(0, |n, &byte| n << 8 | u64::from(byte));
        let mut used: Vec<(u64, u64)> = vec![(0, 8)];
        used.extend(model.iter().map(|(offset, name)| (*offset, (name.len() as u64 / 8 + 1) * 8)));
        let mut next = header.free_list.unwrap_or(1);
        while next != 1 {
            let at = usize::try_from(next).unwrap();
            used.push((next, number(at + width)));
            next = number(at);
        }
        used.sort_unstable();
        prop_assert!(used.is_sorted_by(|a, b| a.0 + a.1 <= b.0), "{used:?}");
        prop_assert!(used.last().unwrap().0 + used.last().unwrap().1 <= header.data_size);
    }
}

#[test]
fn removing_a_name_twice_is_an_error() {
    let scratch = Scratch::new(hyperslab_format::Widths::EIGHT);
    let at = scratch.step(|txn| local::create(txn, 88).unwrap());
    let offset = scratch.step(|txn| local::insert(txn, at, b"a name of some length").unwrap());
    scratch.step(|txn| local::remove(txn, at, offset).unwrap());
    let mut txn = scratch.store().begin().unwrap();
    for offset in [offset, 0, 4, 1 << 40] {
        assert!(local::remove(&mut txn, at, offset).is_err());
    }
    assert!(local::insert(&mut txn, at, b"no\0name").is_err());
}
