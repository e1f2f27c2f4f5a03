//! Counts the memory that all threads of a read or write allocate together: reads from drivers that take as
//! many requests as the queue has before the first bytes arrive, and from a disk; writes to a disk.

#![allow(clippy::unwrap_used)] // helpers of tests may panic, as tests do

use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyperslab::driver::{Capabilities, Driver, Hints, Memory, ReadQueue, Unchanged, Via};
use hyperslab::filter::{Blosc2, BloscCodec, Deflate};
use hyperslab::{Destination, Dim, Element, File, OpenOptions, ReadOptions, Selection, Slab, WriteOptions};
use hyperslab_testkit::allocator::Watched;
use hyperslab_testkit::fuzz::Random;
use hyperslab_testkit::sound::assert_sound;
use parking_lot::Mutex;

/// The bytes that are allocated now, and the most since the last reset.
static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Watched = Watched {
    allocates: |bytes| {
        MOST.fetch_max(NOW.fetch_add(bytes, Ordering::Relaxed) + bytes, Ordering::Relaxed);
    },
    frees: |bytes| {
        NOW.fetch_sub(bytes, Ordering::Relaxed);
    },
};

/// Takes requests until the queue has none, then reads them.
#[derive(Debug)]
struct Greedy {
    inner: Arc<Memory>,
    /// Whether the memory of a request is asked for when the request is taken, as if its bytes came in parts.
    is_eager: bool,
}

impl Driver for Greedy {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()> {
        self.inner.read_at(offset, dst)
    }

    fn flush(&self, closing: bool) -> io::Result<()> {
        self.inner.flush(closing)
    }

    fn read_many(&self, queue: &mut dyn ReadQueue) -> io::Result<()> {
        let mut taken = std::collections::VecDeque::new();
        loop {
            while let Some(request) = queue.next() {
                if self.is_eager {
                    queue.place(request.id)?;
                }
                taken.push_back(request);
            }
            let Some(request) = taken.pop_front() else { return Ok(()) };
            self.inner.read_at(request.offset, queue.place(request.id)?)?;
            queue.arrived(request.id);
        }
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities::new(
            "custom",
            Hints { coalesce_gap: 0, max_span: 4 << 20, queue_depth: 1024, concurrent: true },
        )
    }
}

const SHAPE: [u64; 2] = [8192, 1024];
const CHUNK: [u64; 2] = [128, 1024];
const CHUNK_BYTES: usize = 128 * 1024 * 4;
const THREADS: usize = 4;
const DATASETS: [&str; 5] = ["blosc", "blosc shuffled", "gzip", "chunked", "contiguous"];

fn made(is_eager: bool) -> (Arc<Greedy>, Vec<i32>) {
    let memory = Arc::new(Memory::default());
    let file = File::options().create(true).open_on(memory.clone()).unwrap();
    let mut random = Random::new(5);
    let values: Vec<i32> = (0..SHAPE[0] * SHAPE[1]).map(|_| (random.u64() & 0xf_ffff) as i32).collect();
    for name in DATASETS {
        let new = file.root().new_dataset::<i32>(name).shape(SHAPE);
        let blosc = Blosc2::default().codec(BloscCodec::Lz4);
        let dataset = match name {
            "blosc" => new.chunks(CHUNK).filter(blosc.filter(hyperslab::filter::BloscFilter::None)).create(),
            "blosc shuffled" => new.chunks(CHUNK).filter(blosc).create(),
            "gzip" => new.chunks(CHUNK).filter(Deflate::default().level(1)).create(),
            "chunked" => new.chunks(CHUNK).create(),
            _ => new.create(),
        };
        dataset.unwrap().write(.., &values).unwrap();
    }
    file.close().unwrap();
    assert_sound(&memory.bytes());
    (Arc::new(Greedy { inner: memory, is_eager }), values)
}

/// Reads every `steps`-th element. Returns the most bytes that were allocated beside the result, and those
/// that stay after it.
fn read(file: &File, name: &str, threads: usize, steps: [u64; 2], values: &[i32]) -> (usize, usize) {
    let dataset = file.dataset(name).unwrap();
    let dim = |axis: usize| Dim { start: 0, step: steps[axis], count: SHAPE[axis].div_ceil(steps[axis]) };
    let what = Selection::Slab(Slab([dim(0), dim(1)].into_iter().collect()));
    let mut dst = vec![0; usize::try_from(dim(0).count * dim(1).count).unwrap() * 4];
    let options = ReadOptions::default().threads(NonZeroUsize::new(threads));
    let before = NOW.load(Ordering::SeqCst);
    MOST.store(before, Ordering::SeqCst);
    dataset.read_with(&what, &mut Destination::contiguous(&mut dst), &options).unwrap();
    let (most, after) = (MOST.load(Ordering::SeqCst), NOW.load(Ordering::SeqCst));
    let found = dst.as_chunks().0.iter().map(|&bytes| i32::from_le_bytes(bytes));
    let expected = dim(0).iter().flat_map(|row| dim(1).iter().map(move |column| row * SHAPE[1] + column));
    assert!(found.eq(expected.map(|at| values[usize::try_from(at).unwrap()])), "{name}, {steps:?}");
    (most - before, after.saturating_sub(before))
}

fn options(limit: u64) -> OpenOptions {
    File::options().chunk_cache_bytes(0).in_flight_bytes(limit)
}

/// A stored chunk, a decoded one, and what the filters need, for each thread.
const OF_THREADS: usize = THREADS * 4 * CHUNK_BYTES;
const SELECTED: [[u64; 2]; 4] = [[64, 256], [1, 100], [3, 1], [128, 1]];

/// Reads from a file that is opened with each limit, by drivers that allocate `of_driver` bytes for a thread.
fn check(what: &str, open: &dyn Fn(OpenOptions) -> File, of_driver: usize, values: &[i32]) {
    for name in DATASETS {
        for steps in SELECTED {
            for limit in [0, 100, 2 << 20] {
                let (most, stays) = read(&open(options(limit)), name, THREADS, steps, values);
                let of_threads = OF_THREADS + THREADS * of_driver + (1 << 20);
                let bound = usize::try_from(limit).unwrap().max(CHUNK_BYTES) + of_threads;
                let case = format!("{what}, {name}, {steps:?}, {limit}");
                assert!(most <= bound, "{case}: {most} bytes, {bound} are allowed");
                assert!(stays <= of_threads, "{case}: {stays} bytes stay");
            }
        }
    }
}

/// There is one allocator, so one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn the_memory_of_a_read_is_bounded_over_all_threads() {
    let _alone = ALONE.lock();
    for is_eager in [false, true] {
        let (driver, values) = made(is_eager);
        check(&format!("eager: {is_eager}"), &|options| options.open_on(driver.clone()).unwrap(), 0, &values);
        if is_eager {
            let file = options(1 << 40).open_on(driver.clone()).unwrap();
            let (most, _) = read(&file, "gzip", 1, [64, 256], &values);
            assert!(most > 16 << 20, "without the bound there are many chunks in memory: {most}");
        }
    }
}

#[test]
fn the_memory_of_a_read_from_a_disk_is_bounded_over_all_threads() {
    let _alone = ALONE.lock();
    let (driver, values) = made(false);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("disk.h5");
    std::fs::write(&path, driver.inner.bytes()).unwrap();
    drop(driver);
    // Slots of 64 KiB for 64 requests in progress.
    let of_rings = 64 * (64 << 10);
    // SAFETY: nothing writes to the file any more.
    let unchanged = unsafe { Unchanged::promised() };
    let media = [
        ("calls", Via::Calls, 0),
        ("mapped", Via::Map(unchanged), 0),
        ("rings", Via::Rings { direct: false }, of_rings),
        ("rings, direct", Via::Rings { direct: true }, of_rings),
    ];
    for (what, via, of_driver) in media {
        check(what, &|options| options.via(via).open(&path).unwrap(), of_driver, &values);
    }
}

#[test]
fn the_memory_of_a_write_is_bounded_over_all_threads() {
    let _alone = ALONE.lock();
    let (driver, values) = made(false);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("disk.h5");
    std::fs::write(&path, driver.inner.bytes()).unwrap();
    drop(driver);
    let file = options(0).write(true).open(&path).unwrap();
    let doubles: Vec<f64> = values.iter().map(|&value| f64::from(value)).collect();
    for name in DATASETS {
        let dataset = file.dataset(name).unwrap();
        let options = WriteOptions::default().threads(NonZeroUsize::new(THREADS));
        let bytes = [bytemuck::cast_slice(&values), bytemuck::cast_slice(&doubles)];
        let datatypes = [i32::datatype(), f64::datatype()];
        for (bytes, datatype) in bytes.into_iter().zip(datatypes) {
            let before = NOW.load(Ordering::SeqCst);
            MOST.store(before, Ordering::SeqCst);
            dataset.write_with(.., bytes, &options.clone().datatype(datatype.clone())).unwrap();
            let most = MOST.load(Ordering::SeqCst) - before;
            // A piece of contiguous data has up to 4 MiB, and there are elements before a conversion.
            let bound = OF_THREADS + THREADS * (8 << 20) + (1 << 20);
            assert!(most <= bound, "{name}, {datatype:?}: {most} bytes, {bound} are allowed");
        }
        assert_eq!(dataset.read::<i32>(..).unwrap(), values);
    }
}
