//! Fractal heaps, compared with a list of their objects.

use hyperslab_format::free_space::header::FreeSpaceHeader;
use hyperslab_format::free_space::sections::FreeSpaceSections;
use hyperslab_format::heap::fractal::block::{IndirectBlock, IndirectBlockContext};
use hyperslab_format::heap::fractal::geometry::{HeapChild, HeapGeometry};
use hyperslab_format::heap::fractal::header::FractalHeapHeader;
use hyperslab_format::heap::fractal::id::HeapId;
use hyperslab_format::{Addr, Reader, Widths};
use hyperslab_store::heap::FractalHeap;
use hyperslab_store::heap::fractal::{self, HeapParameters};
use hyperslab_store::{Store, Txn};
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

/// Asserts that every object is in the heap, and that the counts and sizes in the header match the blocks and
/// the objects.
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
    // Objects and free sections fill the blocks and do not overlap.
    if let Some(manager) = header.free_space_manager.defined() {
        let header: FreeSpaceHeader = store.read(manager, &()).unwrap();
        let list: FreeSpaceSections = store.read(header.list, &header.form(manager)).unwrap();
        assert_eq!(header.total_space, list.sections.iter().map(|section| section.size).sum::<u64>());
        used.extend(list.sections.iter().map(|section| (section.offset, section.size)));
    }
    used.sort_unstable();
    assert!(used.is_sorted_by(|a, b| a.0 + a.1 <= b.0), "objects and free sections overlap");
    let data: u64 = blocks.iter().map(|block| block.1 - overhead).sum();
    assert_eq!(
        used.iter().map(|object| object.1).sum::<u64>(),
        data,
        "some bytes belong to no object and no free section"
    );
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
    fn a_fractal_heap_holds_the_objects_inserted_and_not_removed(
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
        // Deleting the heap in a step that is dropped changes nothing.
        drop({
            let mut txn = scratch.store().begin().unwrap();
            fractal::delete(&mut txn, at).unwrap();
            txn
        });
        check(scratch.store(), at, &model);
        prop_assert_eq!(scratch.store().len_bytes(), before);
        // Removes every object.
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
fn a_large_fractal_heap_uses_indirect_blocks_and_deleting_it_frees_them() {
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
    // The first commit frees the blocks. Their space may be reused after the second commit.
    scratch.commit();
    scratch.commit();
    // A second heap of the same size reuses the freed space.
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
fn inserting_each_object_in_its_own_step_wastes_no_blocks() {
    let mut scratch = Scratch::new(Widths::EIGHT);
    let at = scratch.step(|txn| fractal::create(txn, &HeapParameters::LINKS).unwrap());
    for n in 0..500_u32 {
        scratch.step(|txn| fractal::insert(txn, at, &[7; 40]).unwrap());
        if n % 10 == 0 {
            scratch.reopen();
        }
    }
    let header = scratch.store().get::<FractalHeapHeader>(at, &()).unwrap();
    // Block sizes double, and a new block is allocated only when all earlier blocks are full.
    assert!(header.statistics.allocated_space < 3 * 500 * 40 / 2, "{header:?}");
}

#[test]
fn removing_an_object_that_is_not_in_the_heap_is_an_error() {
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
