//! The steps of writing chunks: encoded chunks get their addresses together and are written in few calls, by
//! any executor.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]

use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use hyperslab::driver::{Memory, WriteRequest};
use hyperslab::internals::engine::{Encoded, Storage, Write, WriteOptions};
use hyperslab::storage::{DatasetOptions, NewStorage};
use hyperslab::{Dataset, File};
use hyperslab_convert::Scalar;
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::filters::FilterSpec;
use hyperslab_format::{Addr, Extent};
use hyperslab_select::Coord;
use hyperslab_store::SpaceKind;
use hyperslab_testkit::fuzz::Random;
use hyperslab_testkit::hooked::{Call, Hooked};
use hyperslab_testkit::sound::{assert_accounted, assert_sound};

const DEFLATE: u16 = 1;
const FLETCHER32: u16 = 3;

/// The extents of each write call to a file in memory, which fails once `left` calls have been made.
struct Calls {
    noted: Mutex<Vec<Vec<Extent>>>,
    left: AtomicUsize,
}

impl Calls {
    fn new() -> (Arc<Self>, Arc<Hooked>) {
        let calls = Arc::new(Self { noted: Mutex::default(), left: AtomicUsize::new(usize::MAX) });
        let noting = Arc::clone(&calls);
        let driver = Hooked::with(Memory::default(), move |call| {
            if let Call::Write(requests) = call { noting.note(requests) } else { Ok(()) }
        });
        (calls, Arc::new(driver))
    }

    fn note(&self, requests: &[WriteRequest<'_>]) -> io::Result<()> {
        let is_left = |left: usize| left.checked_sub(1);
        if self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, is_left).is_err() {
            return Err(io::Error::other("the disk is gone"));
        }
        let extent =
            |request: &WriteRequest<'_>| Extent::new(Addr::new(request.offset), request.src.len() as u64);
        self.noted.lock().unwrap().push(requests.iter().map(extent).collect());
        Ok(())
    }

    fn take(&self) -> Vec<Vec<Extent>> {
        std::mem::take(&mut self.noted.lock().unwrap())
    }
}

fn create(driver: &Arc<Hooked>, len: u64, chunk: u64, filter: u16) -> (File, Dataset) {
    let file = File::options().create(true).truncate(true).open_on(driver.clone()).unwrap();
    let space = Dataspace::Simple { shape: vec![len], max_shape: None };
    let mut options = DatasetOptions::new(space, i32::datatype());
    options.storage = NewStorage::Chunked(vec![chunk]);
    options.filters = vec![FilterSpec { id: filter, name: None, flags: 0, client_data: vec![] }];
    let dataset = file.root().create_dataset("data", &options).unwrap();
    (file, dataset)
}

fn random(count: u64) -> Vec<i32> {
    let mut random = Random::new(count);
    (0..count).map(|_| i32::from_le_bytes(random.u64().to_le_bytes()[..4].try_into().unwrap())).collect()
}

/// Returns the extents of the chunks, in the order of their coordinates.
fn places(dataset: &Dataset) -> Vec<Extent> {
    let mut found = Vec::new();
    let mut note = |coord: &[u64], record: hyperslab::storage::ChunkRecord| {
        found.push((coord.to_vec(), record.extent));
        ControlFlow::Continue(())
    };
    dataset.visit_chunks(&mut note).unwrap();
    found.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    found.into_iter().map(|(_, extent)| extent).collect()
}

fn follow(extents: &[Extent]) -> bool {
    extents.windows(2).all(|pair| pair[0].end() == Some(pair[1].addr))
}

#[test]
fn small_chunks_are_adjacent_in_the_file_and_written_in_few_calls() {
    for threads in [1, 4] {
        let (calls, driver) = Calls::new();
        let (file, dataset) = create(&driver, 3000 * 64, 64, DEFLATE);
        let values = random(3000 * 64);
        calls.take();
        let options = WriteOptions::default().threads(NonZeroUsize::new(threads));
        dataset.write_with(.., i32::bytes(&values), &options).unwrap();
        let made = calls.take();
        assert!((3..30).contains(&made.len()), "{} calls on {threads} threads", made.len());
        for call in &made {
            let bytes: u64 = call.iter().map(|extent| extent.len).sum();
            assert!(follow(call) && bytes < 300 << 10, "{bytes} bytes at {call:?}");
        }
        if threads == 1 {
            assert!(follow(&places(&dataset)));
        }
        assert_eq!(dataset.read::<i32>(..).unwrap(), values);
        assert_accounted(&file, 0);
    }
}

/// Each rank encodes some of the chunks, and knows only the sizes of the other chunks.
#[test]
fn ranks_that_exchange_chunk_sizes_write_one_dataset() {
    let (calls, driver) = Calls::new();
    let (file, dataset) = create(&driver, 40 * 64, 64, DEFLATE);
    let values = random(40 * 64);
    let array = dataset.array().unwrap();
    let Storage::Chunked(chunked) = &array.storage else { panic!() };
    let (store, cache) = (file.store(), file.chunk_cache());
    let write = Write { store, cache, array: &array, skips_fill: false, moves: false };
    let data = file.store().writing_data();
    let mut ranks: Vec<Vec<Encoded<'static>>> = std::thread::scope(|scope| {
        let encode = |rank: usize| {
            let mut filters = hyperslab_filters::Scratch::default();
            let mut chunk = |(number, elements): (u64, &[i32])| {
                let coord: Coord = [number].into_iter().collect();
                let encoded =
                    write.encode(chunked, &coord, i32::bytes(elements), None, &mut filters).unwrap();
                encoded.unwrap().into_owned()
            };
            (0..).zip(values.chunks(64)).skip(rank).step_by(3).map(&mut chunk).collect()
        };
        let ranks: Vec<_> = (0..3).map(|rank| scope.spawn(move || encode(rank))).collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    });
    let sizes = ranks.iter().flatten().map(|encoded| encoded.bytes().len() as u64);
    let mut places = file.store().allocate_all(SpaceKind::Raw, sizes).unwrap().into_iter();
    calls.take();
    let mut placed = Vec::new();
    for rank in &mut ranks {
        let places: Vec<Extent> = places.by_ref().take(rank.len()).collect();
        assert!(follow(&places));
        placed.extend(write.write(rank, &places).unwrap());
    }
    assert_eq!(calls.take().len(), 3);
    dataset.insert_chunks(placed).unwrap();
    assert_eq!(dataset.read::<i32>(..).unwrap(), values);
    drop(data);
    assert_accounted(&file, 0);
}

#[test]
fn a_failed_write_leaves_the_latest_old_elements_or_the_new_ones() {
    let (calls, driver) = Calls::new();
    let (file, dataset) = create(&driver, 3 << 14, 1 << 14, FLETCHER32);
    dataset.write(.., &vec![1; 3 << 14]).unwrap();
    file.flush().unwrap();
    // The modified chunk is held in memory, and the file has the elements from before.
    dataset.write(5..9, &[2; 4]).unwrap();
    for writes in 0..3 {
        calls.left.store(writes, Ordering::SeqCst);
        let options = WriteOptions::default().threads(NonZeroUsize::new(1));
        let written = dataset.write_with(.., i32::bytes(&vec![3; 3 << 14]), &options);
        assert!(written.unwrap_err().to_string().contains("the disk is gone"));
        calls.left.store(usize::MAX, Ordering::SeqCst);
        let found = dataset.read::<i32>(0..10).unwrap();
        assert!(found[5..9].iter().all(|value| [2, 3].contains(value)), "{found:?} after {writes}");
    }
    assert_accounted(&file, 0);
    dataset.write(.., &vec![4; 3 << 14]).unwrap();
    assert_eq!(dataset.read::<i32>(..).unwrap(), vec![4; 3 << 14]);
    assert_accounted(&file, 0);
}

#[test]
fn the_error_of_a_first_write_is_returned_when_the_removal_fails_as_well() {
    let is_gone = AtomicBool::new(false);
    let driver = Arc::new(Hooked::with(Memory::default(), move |call| {
        if is_gone.load(Ordering::SeqCst) {
            return Err(io::Error::other("the disk is gone"));
        }
        let is_full = matches!(call, Call::Write([request]) if request.src == [0xab; 64]);
        is_gone.store(is_full, Ordering::SeqCst);
        if is_full { Err(io::Error::other("the disk is full")) } else { Ok(()) }
    }));
    // Without a cache, the removal reads the groups on the way from the disk.
    let options = File::options().create(true).metadata_cache_bytes(0);
    let file = options.open_on(driver.clone()).unwrap();
    file.root().create_group("a/b").unwrap();
    file.flush().unwrap();
    let new = file.root().new_dataset::<u8>("a/b/d").shape([64]);
    let error = new.create_with(&[0xab; 64]).unwrap_err().to_string();
    assert!(error.contains("the disk is full"), "{error}");
    // The last commit fails with the disk, which is not what is tested.
    let _ = file.close();
    assert_sound(&driver.inner.bytes());
}
