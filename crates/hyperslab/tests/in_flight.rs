//! Counts the memory that all threads of a read allocate together, from drivers that take as many requests
//! as the queue has before the first bytes arrive.

#![allow(clippy::unwrap_used)] // helpers of tests may panic, as tests do

use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyperslab::driver::{Driver, Hints, Memory, ReadQueue};
use hyperslab::filter::{Blosc2, BloscCodec, Deflate};
use hyperslab::{Destination, Dim, File, ReadOptions, Selection, Slab};
use hyperslab_testkit::allocator::Watched;
use hyperslab_testkit::fuzz::Random;
use hyperslab_testkit::sound::assert_sound;

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
    inner: Memory,
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

    fn write_at(&self, offset: u64, src: &[u8]) -> io::Result<()> {
        self.inner.write_at(offset, src)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.inner.set_len(len)
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

    fn hints(&self) -> Hints {
        Hints { coalesce_gap: 0, max_span: 4 << 20, queue_depth: 1024, concurrent: true }
    }
}

const SHAPE: [u64; 2] = [8192, 1024];
const CHUNK: [u64; 2] = [128, 1024];
const CHUNK_BYTES: usize = 128 * 1024 * 4;
const THREADS: usize = 4;
const DATASETS: [&str; 5] = ["blosc", "blosc shuffled", "gzip", "chunked", "contiguous"];

fn made(is_eager: bool) -> (Arc<Greedy>, Vec<i32>) {
    let driver = Arc::new(Greedy { inner: Memory::default(), is_eager });
    let file = File::options().create(true).open_on(driver.clone()).unwrap();
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
    assert_sound(&driver.inner.bytes());
    (driver, values)
}

/// Reads every `steps`-th element. Returns the most bytes that were allocated beside the result, and those
/// that stay after it.
fn read(
    driver: &Arc<Greedy>,
    name: &str,
    limit: u64,
    threads: usize,
    steps: [u64; 2],
    values: &[i32],
) -> (usize, usize) {
    let file = File::options().chunk_cache_bytes(0).in_flight_bytes(limit).open_on(driver.clone()).unwrap();
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
    assert!(found.eq(expected.map(|at| values[usize::try_from(at).unwrap()])), "{name}, {steps:?}, {limit}");
    (most - before, after.saturating_sub(before))
}

#[test]
fn the_memory_of_a_read_is_bounded_over_all_threads() {
    // A stored chunk, a decoded one, and what the filters need.
    let of_threads = THREADS * 4 * CHUNK_BYTES;
    for is_eager in [false, true] {
        let (driver, values) = made(is_eager);
        for name in DATASETS {
            for steps in [[64, 256], [1, 100], [3, 1], [128, 1]] {
                for limit in [0, 100, 2 << 20] {
                    let (most, stays) = read(&driver, name, limit, THREADS, steps, &values);
                    let bound = usize::try_from(limit).unwrap().max(CHUNK_BYTES) + of_threads + (1 << 20);
                    assert!(most <= bound, "{name}, {steps:?}, {limit}: {most} bytes, {bound} are allowed");
                    assert!(
                        stays <= of_threads + (1 << 20),
                        "{name}, {steps:?}, {limit}: {stays} bytes stay"
                    );
                }
            }
        }
        if is_eager {
            let (most, _) = read(&driver, "gzip", 1 << 40, 1, [64, 256], &values);
            assert!(most > 16 << 20, "without the bound there are many chunks in memory: {most}");
        }
    }
}
