//! Read-ahead on a slow medium: every byte that a read needs is requested before it is read, and few other
//! bytes are.

#![allow(clippy::unwrap_used)] // helpers of tests may panic, as tests do

use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;

use hyperslab::Element;
use hyperslab::driver::{Capabilities, Driver, Hints, Medium, Memory, ReadQueue, Request, read_ahead};
use hyperslab::storage::{DatasetOptions, NewStorage};
use hyperslab::{Destination, ReadOptions};
use hyperslab::{Dim, Slab};
use hyperslab::{File, LibVersion, Selection};
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::filters::FilterSpec;
use hyperslab_testkit::sound::assert_sound;
use parking_lot::Mutex;

const SHAPE: [u64; 3] = [60, 50, 70];

/// A medium that caches only the bytes that were fetched or read before.
#[derive(Debug)]
struct Slow {
    inner: Memory,
    /// Whether each byte is cached.
    cached: Mutex<Vec<bool>>,
    /// The number of bytes that were read before they were cached, and the number of bytes that were fetched.
    counts: Mutex<(u64, u64)>,
}

impl Slow {
    fn new(bytes: Vec<u8>) -> Self {
        let cached = Mutex::new(vec![false; bytes.len()]);
        Self { inner: Memory::new(bytes), cached, counts: Mutex::default() }
    }

    /// Caches a range of bytes and returns how many of them were not cached before.
    fn bring(&self, offset: u64, len: u64) -> u64 {
        let mut cached = self.cached.lock();
        let end = cached.len().min(usize::try_from(offset.saturating_add(len)).unwrap());
        let range = &mut cached[usize::try_from(offset).unwrap().min(end)..end];
        range.iter_mut().map(|byte| u64::from(!std::mem::replace(byte, true))).sum()
    }

    /// Empties the cache and resets the counts.
    fn empty_cache(&self) {
        self.cached.lock().fill(false);
        *self.counts.lock() = (0, 0);
    }
}

impl Driver for Slow {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()> {
        let waited = self.bring(offset, dst.len() as u64);
        self.counts.lock().0 += waited;
        self.inner.read_at(offset, dst)
    }

    fn flush(&self, closing: bool) -> io::Result<()> {
        self.inner.flush(closing)
    }

    fn read_many(&self, queue: &mut dyn ReadQueue) -> io::Result<()> {
        read_ahead(self, queue)
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities::new(
            "custom",
            Hints { coalesce_gap: 512, max_span: 1 << 20, queue_depth: 256, concurrent: true },
        )
    }
}

impl Medium for Slow {
    fn read_now(&self, offset: u64, dst: &mut [u8]) -> Option<usize> {
        let start = usize::try_from(offset).unwrap();
        let there = self.cached.lock()[start..].iter().take(dst.len()).take_while(|&&is| is).count();
        self.inner.read_at(offset, &mut dst[..there]).unwrap();
        Some(there)
    }

    fn fetch(&self, offset: u64, len: u64) {
        self.counts.lock().1 += self.bring(offset, len);
    }
}

/// Returns a file with a dataset in cubic chunks of `edge` elements along each axis.
fn cube(edge: u64, filters: Vec<FilterSpec>, version: LibVersion) -> Vec<u8> {
    let memory = Arc::new(Memory::default());
    let file = File::options().version(version).create(true).open_on(memory.clone()).unwrap();
    let space = Dataspace::Simple { shape: SHAPE.to_vec(), max_shape: None };
    let mut dataset = DatasetOptions::new(space, i32::datatype());
    dataset.storage = NewStorage::Chunked(vec![edge; 3]);
    dataset.filters = filters;
    let values: Vec<i32> = (0..60 * 50 * 70).collect();
    file.root().create_dataset("d", &dataset).unwrap().write(.., &values).unwrap();
    file.close().unwrap();
    assert_sound(&memory.bytes());
    memory.bytes()
}

/// Returns the selection of the plane at index `at` of `axis`, and the values of that plane.
fn plane(axis: usize, at: u64) -> (Selection, Vec<i32>) {
    let dim = |d: usize| {
        if d == axis {
            Dim { start: at, step: 1, count: 1 }
        } else {
            Dim { start: 0, step: 1, count: SHAPE[d] }
        }
    };
    let dims: Vec<Dim> = (0..3).map(dim).collect();
    let along = |d: usize| dims[d].start..dims[d].start + dims[d].count;
    let number = |i, j, k| i32::try_from((i * SHAPE[1] + j) * SHAPE[2] + k).unwrap();
    let values = along(0).flat_map(|i| along(1).flat_map(move |j| along(2).map(move |k| number(i, j, k))));
    let values = values.collect();
    (Selection::Slab(Slab(dims.into())), values)
}

fn gzip() -> Vec<FilterSpec> {
    vec![FilterSpec { id: 1, name: None, flags: 0, client_data: vec![4] }]
}

/// Reads a plane across each axis from a slow medium and compares the values. Calls `check` with the axis,
/// the number of bytes that the read waited for, the number of bytes that were fetched, and the number of
/// bytes in the plane.
fn read_planes(edge: u64, filters: &[FilterSpec], threads: usize, check: impl Fn(usize, u64, u64, u64)) {
    for version in [LibVersion::Earliest, LibVersion::V200] {
        let slow = Arc::new(Slow::new(cube(edge, filters.to_vec(), version)));
        let options = ReadOptions::default().threads(NonZeroUsize::new(threads));
        for axis in 0..3 {
            let file = File::options().open_on(Arc::clone(&slow) as Arc<dyn Driver>).unwrap();
            let dataset = file.dataset("d").unwrap();
            let (what, expected) = plane(axis, 33);
            let mut found = vec![0_u8; expected.len() * 4];
            // Loads the chunk index, so that only reads of chunks are counted.
            dataset.plan(&what).unwrap();
            slow.empty_cache();
            dataset.read_with(&what, &mut Destination::contiguous(&mut found), &options).unwrap();
            let (waited, asked) = *slow.counts.lock();
            check(axis, waited, asked, found.len() as u64);
            let found: Vec<i32> =
                found.as_chunks().0.iter().map(|&bytes| i32::from_le_bytes(bytes)).collect();
            assert!(found == expected, "axis {axis}");
            // The whole plane is cached now.
            slow.counts.lock().1 = 0;
            let mut again = vec![0_u8; expected.len() * 4];
            dataset.read_with(&what, &mut Destination::contiguous(&mut again), &options).unwrap();
            assert_eq!(slow.counts.lock().1, 0, "cached bytes are not fetched again");
        }
    }
}

#[test]
fn every_byte_is_requested_before_a_read_waits_for_it() {
    for edge in [10, 23, 32] {
        for filters in [Vec::new(), gzip()] {
            read_planes(edge, &filters, 1, |axis, waited, asked, _| {
                assert!(
                    waited == 0 && asked > 0,
                    "edge {edge}, axis {axis}: the read waited for {waited} bytes, {asked} bytes were fetched"
                );
            });
        }
    }
}

#[test]
fn several_threads_with_read_ahead_read_the_right_values() {
    for filters in [Vec::new(), gzip()] {
        // A thread may read bytes that another thread is about to request, so the number of bytes waited for
        // varies.
        read_planes(10, &filters, 3, |_, waited, asked, _| assert!(waited + asked > 0));
    }
}

#[test]
fn read_ahead_of_a_plane_across_the_slowest_axis_fetches_only_that_plane() {
    read_planes(32, &[], 2, |axis, _, asked, plane| {
        // Chunks at the edges extend beyond the dataset.
        let with_edges = 2 * 3 * 32 * 32 * 4;
        assert!(axis != 0 || (plane..=with_edges).contains(&asked), "{asked} bytes for {plane}");
    });
}

/// A queue with its own ranges, and with ranges that another queue will read.
struct Shared {
    own: std::ops::Range<u64>,
    others: std::ops::Range<u64>,
    /// The distance in bytes from the start of one range to the start of the next.
    stride: u64,
    buffer: Vec<u8>,
}

impl ReadQueue for Shared {
    fn next(&mut self) -> Option<Request> {
        let id = self.own.next()?;
        Some(Request { id, offset: id * self.stride, len: self.buffer.len() })
    }

    fn place(&mut self, _: u64) -> io::Result<&mut [u8]> {
        Ok(&mut self.buffer)
    }

    fn arrived(&mut self, _: u64) {}

    fn upcoming(&mut self, most: usize, f: &mut dyn FnMut(u64, u64)) {
        self.others.by_ref().take(most).for_each(|id| f(id * self.stride, self.buffer.len() as u64));
    }
}

/// Reads the ranges of `own`. Returns the number of bytes that were waited for and the number that were
/// fetched.
fn read_shared(
    own: std::ops::Range<u64>,
    others: std::ops::Range<u64>,
    stride: u64,
    len: usize,
) -> (u64, u64) {
    let bytes = usize::try_from(own.end.max(others.end) * stride).unwrap();
    let slow = Slow::new(vec![0; bytes]);
    read_ahead(&slow, &mut Shared { own, others, stride, buffer: vec![0; len] }).unwrap();
    *slow.counts.lock()
}

#[test]
fn read_ahead_fetches_ranges_that_other_threads_will_read() {
    // This queue reads 10 ranges of 512 bytes. Another thread will read 20 more, and finds them in memory.
    let (waited, asked) = read_shared(0..10, 10..30, 1 << 20, 512);
    assert_eq!((waited, asked), (0, 30 * 512));
}

#[test]
fn ranges_covered_by_one_fetch_count_as_one() {
    // 2,000 ranges of 16 bytes, 64 bytes apart, are one fetch, which leaves room to fetch the ranges of other
    // threads.
    let (waited, asked) = read_shared(0..2000, 100_000..100_010, 64, 16);
    assert_eq!((waited, asked), (0, 1999 * 64 + 16 + 9 * 64 + 16));
}
