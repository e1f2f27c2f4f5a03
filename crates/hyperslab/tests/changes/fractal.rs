//! Fractal heaps against a list of what is in them.

use hyperslab::internals::heap::FractalHeap;
use hyperslab::internals::heap::fractal::{self, HeapParameters};
use hyperslab::internals::store::{Store, Txn};
use hyperslab_format::free_space::header::FreeSpaceHeader;
use hyperslab_format::free_space::sections::FreeSpaceSections;
use hyperslab_format::heap::fractal::block::{IndirectBlock, IndirectBlockContext};
use hyperslab_format::heap::fractal::geometry::{HeapChild, HeapGeometry};
use hyperslab_format::heap::fractal::header::FractalHeapHeader;
use hyperslab_format::heap::fractal::id::HeapId;
use hyperslab_format::{Addr, Reader, Widths};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::{Scratch, end, run, widths};

#[derive(Debug, Clone)]
enum Operation {
    Insert(usize, u8),
    Remove(prop::sample::Index),
}

type Model = Vec<(Vec<u8>, Vec<u8>)>;

fn operations() -> impl Strategy<Value = Operation> {
    let len = prop_oneof![6 => 1..60_usize, 2 => 1..600_usize, 1 => 1..=4096_usize, 1 => 4000..9000_usize];
    prop_oneof![
        3 => (len, any::<u8>()).prop_map(|(len, byte)| Operation::Insert(len, byte)),
        2 => any::<prop::sample::Index>().prop_map(Operation::Remove),
    ]
}

fn apply(at: Addr, txn: &mut Txn<'_>, model: &mut Model, operation: &Operation) {
    match operation {
        &Operation::Insert(len, byte) => {
            let object = vec![byte; len];
            let id = fractal::insert(txn, at, &object).unwrap();
            model.push((id, object));
        }
        Operation::Remove(_) if model.is_empty() => {}
        Operation::Remove(index) => {
            let (id, _) = model.swap_remove(index.index(model.len()));
            fractal::remove(txn, at, &id).unwrap();
        }
    }
}

/// Every object is there, and the header's numbers are those of the blocks and the objects.
fn check(store: &Store, at: Addr, model: &Model) {
    let heap = FractalHeap::open(store, at).unwrap();
    for (id, object) in model {
        assert_eq!(&heap.object(id).unwrap(), object);
    }
    let header = store.get::<FractalHeapHeader>(at, &()).unwrap();
    let (geometry, form) = (header.geometry(at), header.id_form());
    let mut used = Vec::new();
    let (mut tiny, mut huge) = ((0, 0), (0, 0));
    for (id, object) in model {
        match Reader::new(id, store.widths(), at).structure(&form).unwrap() {
            HeapId::Managed { offset, length } => used.push((offset, length)),
            HeapId::Tiny { data } => tiny = (tiny.0 + data.len() as u64, tiny.1 + 1),
            HeapId::HugeIndirect { .. } | HeapId::HugeDirect { .. } => {
                huge = (huge.0 + object.len() as u64, huge.1 + 1);
            }
        }
    }
    let statistics = header.statistics;
    assert_eq!((statistics.tiny_size, statistics.tiny_objects), tiny);
    assert_eq!((statistics.huge_size, statistics.huge_objects), huge);
    assert_eq!(header.huge_btree.is_defined(), huge.1 > 0);
    assert_eq!(statistics.managed_objects, used.len() as u64);
    let mut blocks = Vec::new();
    match header.root.defined() {
        None => assert!(used.is_empty()),
        Some(_) if header.root_rows == 0 => blocks.push((0, header.starting_size)),
        Some(root) => walk(store, &geometry, root, header.root_rows, 0, &mut blocks),
    }
    assert_eq!(statistics.allocated_space, blocks.iter().map(|block| block.1).sum::<u64>());
    let overhead = geometry.direct_overhead(store.widths()) as u64;
    let (space, capacity) = match (header.root.is_defined(), header.root_rows) {
        (false, _) => (0, 0),
        (true, 0) => (header.starting_size, header.starting_size - overhead),
        (true, rows) => (geometry.row_offset(rows), geometry.capacity(rows, store.widths())),
    };
    assert_eq!(statistics.managed_space, space);
    let bytes: u64 = used.iter().map(|object| object.1).sum();
    assert_eq!(header.free_space, capacity - bytes);
    if let (Some(last), true) = (blocks.last(), header.root_rows > 0) {
        assert!(last.0 + last.1 <= statistics.iterator_offset && statistics.iterator_offset <= space);
    }
    // Objects and free sections fill the blocks, without meeting each other.
    if let Some(manager) = header.free_space_manager.defined() {
        let header: FreeSpaceHeader = store.read(manager, &()).unwrap();
        let list: FreeSpaceSections = store.read(header.list, &header.form(manager)).unwrap();
        assert_eq!(header.total_space, list.sections.iter().map(|section| section.size).sum::<u64>());
        used.extend(list.sections.iter().map(|section| (section.offset, section.size)));
    }
    used.sort_unstable();
    assert!(used.is_sorted_by(|a, b| a.0 + a.1 <= b.0), "objects and free sections overlap");
    let data: u64 = blocks.iter().map(|block| block.1 - overhead).sum();
    assert_eq!(used.iter().map(|object| object.1).sum::<u64>(), data, "some bytes are lost");
}

fn walk(
    store: &Store,
    geometry: &HeapGeometry,
    at: Addr,
    rows: u16,
    start: u64,
    blocks: &mut Vec<(u64, u64)>,
) {
    let context = IndirectBlockContext { geometry: *geometry, rows };
    let block = store.get::<IndirectBlock>(at, &context).unwrap();
    assert_eq!(block.offset, start);
    for (index, entry) in block.entries.iter().enumerate().filter(|(_, entry)| entry.addr.is_defined()) {
        let (child, offset) = geometry.entry(index);
        match child {
            HeapChild::Direct { size } => blocks.push((start + offset, size)),
            HeapChild::Indirect { rows } => walk(store, geometry, entry.addr, rows, start + offset, blocks),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn a_heap_holds_what_was_put_in_and_not_taken_out(
        widths in widths(),
        of_links: bool,
        steps in vec((vec(operations(), 0..30), end()), 1..20),
    ) {
        let mut scratch = Scratch::new(widths);
        let parameters = if of_links { HeapParameters::LINKS } else { HeapParameters::ATTRIBUTES };
        let at = scratch.step(|txn| fractal::create(txn, &parameters).unwrap());
        let mut model = Model::new();
        run(&mut scratch, &mut model, steps, |txn, model, operation| apply(at, txn, model, &operation));
        scratch.reopen();
        check(scratch.store(), at, &model);
        let before = scratch.store().len_bytes();
        // What is deleted in a step that is dropped, stays.
        drop({
            let mut txn = scratch.store().begin().unwrap();
            fractal::delete(&mut txn, at).unwrap();
            txn
        });
        check(scratch.store(), at, &model);
        prop_assert_eq!(scratch.store().len_bytes(), before);
        // And back to nothing.
        scratch.step(|txn| {
            for (id, _) in model.drain(..) {
                fractal::remove(txn, at, &id).unwrap();
            }
        });
        scratch.reopen();
        check(scratch.store(), at, &model);
    }
}

#[test]
fn a_large_heap_goes_down_into_indirect_blocks_and_up_again() {
    let mut scratch = Scratch::new(Widths::EIGHT);
    let at = scratch.step(|txn| fractal::create(txn, &HeapParameters::LINKS).unwrap());
    let mut model = Model::new();
    for round in 0..40 {
        scratch.step(|txn| {
            for n in 0..1000_usize {
                let len = 300 + n % 500;
                apply(at, txn, &mut model, &Operation::Insert(len, u8::try_from(round).unwrap()));
            }
        });
    }
    scratch.reopen();
    let header = scratch.store().get::<FractalHeapHeader>(at, &()).unwrap();
    assert!(header.root_rows > 9 && header.statistics.managed_space > 16 << 20);
    drop(header);
    check(scratch.store(), at, &model);
    let before = scratch.store().len_bytes();
    scratch.step(|txn| fractal::delete(txn, at).unwrap());
    // The first commit drops the blocks, the next may hand them out.
    scratch.commit();
    scratch.commit();
    // What is given back is used again: a second heap of the same size finds room.
    let at = scratch.step(|txn| fractal::create(txn, &HeapParameters::LINKS).unwrap());
    scratch.step(|txn| {
        for (_, object) in &mut model {
            fractal::insert(txn, at, object).unwrap();
        }
    });
    scratch.commit();
    assert!(
        scratch.store().len_bytes() <= before + before / 8,
        "{} of {before}",
        scratch.store().len_bytes()
    );
}

#[test]
fn a_step_for_each_object_wastes_no_blocks() {
    let mut scratch = Scratch::new(Widths::EIGHT);
    let at = scratch.step(|txn| fractal::create(txn, &HeapParameters::LINKS).unwrap());
    for n in 0..500_u32 {
        scratch.step(|txn| fractal::insert(txn, at, &[7; 40]).unwrap());
        if n % 10 == 0 {
            scratch.reopen();
        }
    }
    let header = scratch.store().get::<FractalHeapHeader>(at, &()).unwrap();
    // Blocks double; a new one comes only when all before are full.
    assert!(header.statistics.allocated_space < 3 * 500 * 40 / 2, "{header:?}");
}

#[test]
fn what_is_not_in_a_heap_cannot_be_taken_out() {
    let scratch = Scratch::new(Widths::EIGHT);
    let at = scratch.step(|txn| fractal::create(txn, &HeapParameters::LINKS).unwrap());
    let (first, second) = scratch.step(|txn| {
        (fractal::insert(txn, at, &[1; 50]).unwrap(), fractal::insert(txn, at, &[2; 50]).unwrap())
    });
    scratch.step(|txn| fractal::remove(txn, at, &first).unwrap());
    for id in [first, vec![0; 7], vec![0xff; 7], vec![0, 0, 2, 0, 0, 1, 0]] {
        let mut txn = scratch.store().begin().unwrap();
        assert!(fractal::remove(&mut txn, at, &id).is_err(), "{id:?}");
    }
    assert_eq!(FractalHeap::open(scratch.store(), at).unwrap().object(&second).unwrap(), [2; 50]);
}
