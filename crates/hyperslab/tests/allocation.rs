//! Counts the allocations of reads: none for each chunk, and none larger than the file can fill.

#![allow(clippy::unwrap_used)] // helpers of tests may panic, as tests do

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use hyperslab::{Dataset, File, Node, Selection};
use hyperslab::{Destination, ReadOptions};
use hyperslab_format::message::link::LinkTarget;
use hyperslab_testkit::allocator::Watched;
use hyperslab_testkit::build;
use hyperslab_testkit::fuzz::mutate::{reseal, seals};

/// The allocations of the current thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Count {
    calls: usize,
    bytes: usize,
    largest: usize,
}

/// Returns the allocations that `f` makes, and its result.
fn count<T>(f: impl FnOnce() -> T) -> (Count, T) {
    COUNT.set(Count::default());
    let result = f();
    (COUNT.get(), result)
}

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden/files").join(name)
}

/// Reads on the current thread, so that every allocation is counted.
fn read(dataset: &Dataset, what: &Selection, dst: &mut [u8]) {
    let options = ReadOptions::default().threads(NonZeroUsize::new(1));
    dataset.read_with(what, &mut Destination::contiguous(dst), &options).unwrap();
}

/// Returns the allocations of reading the first `len` elements when all caches are warm.
fn warm(dataset: &Dataset, len: u64) -> Count {
    let what = Selection::from(0..len);
    let mut dst = vec![0; usize::try_from(len).unwrap() * dataset.element_size()];
    (0..3).for_each(|_| read(dataset, &what, &mut dst));
    let (counted, ()) = count(|| read(dataset, &what, &mut dst));
    counted
}

#[test]
fn reading_chunks_into_a_buffer_does_not_allocate_per_chunk() {
    for name in ["index", "tree"] {
        let (file, path, chunk, most) = match name {
            "index" => (File::from_bytes(build::chunked(&vec![7; 64_000], 64)).unwrap(), "/values", 64, 1000),
            _ => (File::open(golden("btree1.h5")).unwrap(), "/level1", 2, 350),
        };
        let dataset = file.dataset(path).unwrap();
        assert_eq!(dataset.chunk_shape(), Some(vec![chunk]));
        let (few, many) = (warm(&dataset, 10 * chunk), warm(&dataset, most * chunk));
        // The list of tasks of the plan is one allocation. The lists of each batch of 256 chunks grow by
        // doubling.
        let batches = usize::try_from(most.div_ceil(256)).unwrap();
        assert!(few.calls <= 10, "{few:?} for 10 chunks");
        assert!(many.calls <= few.calls + 10 * batches, "{few:?} for 10 chunks, {many:?} for {most}");
        let chunks = usize::try_from(most).unwrap();
        assert!(many.bytes <= few.bytes + chunks * 192, "{few:?} for 10 chunks, {many:?} for {most}");
    }
}

#[test]
fn reading_filtered_chunks_into_a_buffer_does_not_allocate_per_chunk() {
    let dataset = File::open(golden("btree1.h5")).unwrap().dataset("/level0_gzip").unwrap();
    assert_eq!(dataset.chunk_shape(), Some(vec![3]));
    let (few, many) = (warm(&dataset, 6), warm(&dataset, 48));
    assert!(many.calls <= few.calls + 8, "{few:?} for 2 chunks, {many:?} for 16");
    assert!(many.bytes <= few.bytes + 14 * 256, "{few:?} for 2 chunks, {many:?} for 16");
}

#[test]
fn reading_a_slab_allocates_little_more_than_its_result() {
    let dataset = File::open(golden("btree1.h5")).unwrap().dataset("/grid").unwrap();
    let read = || dataset.read::<f32>([3..9, 4..12]).unwrap();
    (0..3).for_each(|_| drop(read()));
    let (counted, values) = count(read);
    assert_eq!(values.len(), 48);
    assert!(counted.bytes >= 48 * 4, "the result is counted");
    assert!(counted.calls <= 10 && counted.bytes <= 48 * 4 + 2048, "{counted:?}");
}

#[test]
fn opening_a_file_does_not_allocate_for_links_that_it_does_not_read() {
    let open = |name: &str| {
        drop(File::open(golden(name)).unwrap()); // makes the allocations that a process makes once
        count(|| File::open(golden(name)).unwrap()).0
    };
    let (few, many) = (open("symbol_table_3.h5"), open("symbol_table_300.h5"));
    // The cache is split into parts by the hash of a block, and a part allocates when it gets its first
    // block.
    let apart = few.calls.abs_diff(many.calls);
    assert!(apart <= 4, "the links of the root are not read: {few:?} for 3, {many:?} for 300");
    for name in ["btree1.h5", "extensible_array_full_v110.h5", "btree2_latest.h5", "symbol_table_300.h5"] {
        let counted = open(name);
        // The first page of a file is kept: it is read to find the superblock.
        assert!(counted.calls <= 64 && counted.bytes <= 12 << 10, "{name}: {counted:?}");
    }
}

#[test]
fn a_damaged_size_field_does_not_cause_an_allocation_larger_than_the_file_can_fill() {
    for name in ["links_latest.h5", "single_latest.h5", "masks_latest.h5"] {
        let whole = std::fs::read(golden(name)).unwrap();
        let seals = seals(&whole);
        for (number, at) in (0..whole.len() - 8).step_by(2).enumerate() {
            // Fields may be at odd offsets as well.
            let at = at + number % 2;
            for (value, len) in [(1_u64 << 40, 8), (0x7fff_ffff, 4), (0xffff, 2)] {
                let mut damaged = whole.clone();
                damaged[at..at + len].copy_from_slice(&value.to_le_bytes()[..len]);
                reseal(&mut damaged, &seals);
                // The caller sets the sizes of the caches, not the file.
                let (counted, ()) = count(|| touch(damaged));
                let most = 4 * whole.len() + (64 << 10);
                assert!(counted.largest <= most, "{name}: {value:#x} at {at}: {counted:?}");
            }
        }
    }
}

/// Opens a file and reads its attributes, and the datasets that are small by the shapes and sizes that the
/// file states.
fn touch(bytes: Vec<u8>) {
    let Ok(file) = File::from_bytes(bytes) else { return };
    let root = file.root();
    let _ = root.attributes();
    for link in root.links().unwrap_or_default() {
        if !matches!(link.target, LinkTarget::Hard(_)) {
            continue;
        }
        let Ok(Node::Dataset(dataset)) = root.open_link(&link) else { continue };
        let _ = dataset.attributes();
        let chunk = dataset.chunk_shape().unwrap_or_default();
        let bytes = chunk.iter().fold(dataset.element_size() as u64, |bytes, &len| bytes.saturating_mul(len));
        if bytes.max(dataset.len_bytes()) <= 16 << 10 && dataset.size() <= 16 << 10 {
            let mut dst = vec![0; usize::try_from(dataset.len_bytes()).unwrap()];
            let options = ReadOptions::default().threads(NonZeroUsize::new(1));
            let _ = dataset.read_with(.., &mut Destination::contiguous(&mut dst), &options);
        }
    }
}

thread_local! {
    static COUNT: Cell<Count> = const { Cell::new(Count { calls: 0, bytes: 0, largest: 0 }) };
}

#[global_allocator]
static ALLOCATOR: Watched = Watched { allocates: note, frees: |_| {} };

fn note(bytes: usize) {
    // A thread that ends may allocate after its counter has been destroyed.
    let _ = COUNT.try_with(|count| {
        let Count { calls, bytes: sum, largest } = count.get();
        count.set(Count { calls: calls + 1, bytes: sum.saturating_add(bytes), largest: largest.max(bytes) });
    });
}
