//! What a slow medium is told of reads to come: all that the tasks of a read take, before they take it, and little more.

#![allow(clippy::unwrap_used)] // helpers of tests, which may fail as tests do

use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;

use hyperslab::Element;
use hyperslab::driver::{Driver, Hints, Medium, Memory, ReadQueue, Request, read_ahead};
use hyperslab::internals::{DatasetOptions, NewStorage};
use hyperslab::{Destination, ReadOptions};
use hyperslab::{Dim, Slab};
use hyperslab::{File, LibVersion, Selection};
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::filters::FilterSpec;
use hyperslab_testkit::sound::assert_sound;
use parking_lot::Mutex;

const SHAPE: [u64; 3] = [60, 50, 70];

/// A medium on which nothing is at hand that was neither asked for nor read.
#[derive(Debug)]
struct Slow {
    inner: Memory,
    /// For each byte: whether it is at hand.
    at_hand: Mutex<Vec<bool>>,
    /// Bytes that were read when they were not at hand, and bytes that were asked for.
    counts: Mutex<(u64, u64)>,
}

impl Slow {
    fn new(bytes: Vec<u8>) -> Self {
        let at_hand = Mutex::new(vec![false; bytes.len()]);
        Self { inner: Memory::new(bytes), at_hand, counts: Mutex::default() }
    }

    /// Makes bytes be at hand; how many were not.
    fn bring(&self, offset: u64, len: u64) -> u64 {
        let mut at_hand = self.at_hand.lock();
        let end = at_hand.len().min(usize::try_from(offset.saturating_add(len)).unwrap());
        let range = &mut at_hand[usize::try_from(offset).unwrap().min(end)..end];
        range.iter_mut().map(|byte| u64::from(!std::mem::replace(byte, true))).sum()
    }

    /// Forgets what is at hand and what was counted.
    fn cool(&self) {
        self.at_hand.lock().fill(false);
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
        read_ahead(self, queue)
    }

    fn hints(&self) -> Hints {
        Hints { coalesce_gap: 512, max_span: 1 << 20, queue_depth: 256, concurrent: true }
    }
}

impl Medium for Slow {
    fn read_now(&self, offset: u64, dst: &mut [u8]) -> Option<usize> {
        let start = usize::try_from(offset).unwrap();
        let there = self.at_hand.lock()[start..].iter().take(dst.len()).take_while(|&&is| is).count();
        self.inner.read_at(offset, &mut dst[..there]).unwrap();
        Some(there)
    }

    fn fetch(&self, offset: u64, len: u64) {
        self.counts.lock().1 += self.bring(offset, len);
    }
}

/// A file with a cube in chunks of that edge.
fn cube(edge: u64, filters: Vec<FilterSpec>, version: LibVersion) -> Vec<u8> {
    let memory = Arc::new(Memory::new(Vec::new()));
    let file = File::options()
        .version(version)
        .create(true)
        .truncate(true)
        .open_on(Arc::clone(&memory) as Arc<dyn Driver>)
        .unwrap();
    let space = Dataspace::Simple { shape: SHAPE.to_vec(), max_shape: None };
    let mut dataset = DatasetOptions::new(space, i32::datatype());
    dataset.storage = NewStorage::Chunked(vec![edge; 3]);
    dataset.filters = filters;
    let values: Vec<i32> = (0..60 * 50 * 70).collect();
    file.root().create_dataset("d", &dataset).unwrap().write(.., &values).unwrap();
    file.close().unwrap();
    let mut bytes = vec![0; usize::try_from(memory.len().unwrap()).unwrap()];
    memory.read_at(0, &mut bytes).unwrap();
    assert_sound(&bytes);
    bytes
}

/// The plane across an axis, and its values.
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

/// Reads every kind of plane of such a file from a slow medium, checks the values, and gives to `check` how many bytes were waited for,
/// how many were asked for, and how many the plane has.
fn read_planes(edge: u64, filters: &[FilterSpec], threads: usize, check: impl Fn(usize, u64, u64, u64)) {
    for version in [LibVersion::Earliest, LibVersion::V200] {
        let slow = Arc::new(Slow::new(cube(edge, filters.to_vec(), version)));
        let options = ReadOptions::default().threads(NonZeroUsize::new(threads));
        for axis in 0..3 {
            let file = File::options().open_on(Arc::clone(&slow) as Arc<dyn Driver>).unwrap();
            let dataset = file.dataset("d").unwrap();
            let (what, expected) = plane(axis, 33);
            let mut found = vec![0_u8; expected.len() * 4];
            // Where the chunks are, is known afterwards.
            dataset.plan(&what).unwrap();
            slow.cool();
            dataset.read_with(&what, &mut Destination::contiguous(&mut found), &options).unwrap();
            let (waited, asked) = *slow.counts.lock();
            check(axis, waited, asked, found.len() as u64);
            let found: Vec<i32> =
                found.as_chunks().0.iter().map(|&bytes| i32::from_le_bytes(bytes)).collect();
            assert!(found == expected, "axis {axis}");
            // All of it is at hand now.
            slow.counts.lock().1 = 0;
            let mut again = vec![0_u8; expected.len() * 4];
            dataset.read_with(&what, &mut Destination::contiguous(&mut again), &options).unwrap();
            assert_eq!(slow.counts.lock().1, 0, "what is at hand is not asked for");
        }
    }
}

#[test]
fn nothing_is_waited_for_that_was_not_asked_for_before() {
    for edge in [10, 23, 32] {
        for filters in [Vec::new(), gzip()] {
            read_planes(edge, &filters, 1, |axis, waited, asked, _| {
                assert!(
                    waited == 0 && asked > 0,
                    "edge {edge}, axis {axis}: waited for {waited} of {asked} bytes"
                );
            });
        }
    }
}

#[test]
fn several_threads_read_what_is_there() {
    for filters in [Vec::new(), gzip()] {
        // A thread may read what another is about to ask for: how much is waited for depends on who comes first.
        read_planes(10, &filters, 3, |_, waited, asked, _| assert!(waited + asked > 0));
    }
}

#[test]
fn a_plane_across_the_slowest_axis_asks_for_itself_alone() {
    read_planes(32, &[], 2, |axis, _, asked, plane| {
        // The chunks at the edges reach beyond the dataset.
        let with_edges = 2 * 3 * 32 * 32 * 4;
        assert!(axis != 0 || (plane..=with_edges).contains(&asked), "{asked} bytes for {plane}");
    });
}

/// A queue of ranges of its own, and of ranges that are left for another queue.
struct Shared {
    own: std::ops::Range<u64>,
    others: std::ops::Range<u64>,
    /// The bytes from one range to the next, and those of a range.
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

/// Reads the ranges of `own`; returns how many bytes were waited for and asked for.
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
fn ranges_that_are_left_for_other_threads_are_fetched() {
    // 10 ranges of 512 bytes are read; 20 more are left for another thread, which finds them in memory.
    let (waited, asked) = read_shared(0..10, 10..30, 1 << 20, 512);
    assert_eq!((waited, asked), (0, 30 * 512));
}

#[test]
fn ranges_that_one_fetch_brings_count_as_one() {
    // 2,000 ranges of 16 bytes, 64 bytes apart, are one fetch: there is room to ask for what others read.
    let (waited, asked) = read_shared(0..2000, 100_000..100_010, 64, 16);
    assert_eq!((waited, asked), (0, 1999 * 64 + 16 + 9 * 64 + 16));
}
