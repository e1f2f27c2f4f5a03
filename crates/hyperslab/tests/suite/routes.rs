//! A read does exactly what its plan predicts, and keeps as many requests in flight as the medium serves at
//! once.

#![allow(clippy::unwrap_used)] // helpers of tests may panic, as tests do

use std::num::NonZeroUsize;
use std::sync::Arc;

use hyperslab::Element;
use hyperslab::driver::{Driver, Memory, Operation, Posix, Trace};
use hyperslab::internals::engine::{Destination, ReadOptions, ReadPlan, Route, Source};
use hyperslab::storage::{DatasetOptions, NewStorage};
use hyperslab::{Axis, Dim, Points, Slab};
use hyperslab::{Dataset, File, Selection};
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::filters::FilterSpec;
use hyperslab_testkit::build;
use hyperslab_testkit::deep::Deep;
use hyperslab_testkit::fuzz::Random;
use hyperslab_testkit::sound::assert_sound;

const SHAPE: [u64; 3] = [50, 70, 90];

fn filter(id: u16, client_data: &[u32]) -> FilterSpec {
    FilterSpec { id, name: None, flags: 0, client_data: client_data.to_vec() }
}

/// Creates datasets of every layout with the values 0, 1, 2, ... row by row. Returns their names and the
/// number of rows written; the dataset "in part" has rows that are never written.
fn fill(file: &File) -> Vec<(&'static str, u64)> {
    let deflate = [filter(2, &[4]), filter(1, &[1])];
    let blosc = |edge: u32| vec![filter(32026, &[2, 8192, 4, edge.pow(3) * 4, 5, 1, 1])];
    let datasets = [
        ("contiguous", None, vec![], 50),
        ("raw", Some([40; 3]), vec![], 50),
        ("raw small", Some([16; 3]), vec![], 50),
        ("deflate", Some([32; 3]), deflate.to_vec(), 50),
        ("rows", Some([7, 70, 90]), deflate.to_vec(), 50),
        ("deflate small", Some([10; 3]), deflate.to_vec(), 50),
        ("blosc", Some([48; 3]), blosc(48), 50),
        ("blosc small", Some([12; 3]), blosc(12), 50),
        ("in part", Some([30; 3]), deflate.to_vec(), 20),
    ];
    let mut made = Vec::new();
    for (name, chunk, filters, rows) in datasets {
        let space = Dataspace::Simple { shape: SHAPE.to_vec(), max_shape: None };
        let mut options = DatasetOptions::new(space, i32::datatype());
        options.filters = filters;
        if let Some(chunk) = chunk {
            options.storage = NewStorage::Chunked(chunk.to_vec());
        }
        let dataset = file.root().create_dataset(name, &options).unwrap();
        let values: Vec<i32> = (0..i32::try_from(rows * SHAPE[1] * SHAPE[2]).unwrap()).collect();
        dataset.write([0..rows, 0..SHAPE[1], 0..SHAPE[2]], &values).unwrap();
        made.push((name, rows));
    }
    let values: Vec<i32> = (0..5 * 7 * 9).collect();
    file.root().new_dataset::<i32>("compact").shape([5, 7, 9]).compact().create_with(&values).unwrap();
    made.push(("compact", 5));
    made
}

/// Returns a random selection.
fn selection(shape: &[u64], random: &mut Random) -> Selection {
    let mut below = |limit: u64| random.u64() % limit.max(1);
    let mut dim = |len: u64, most: u64| {
        let (start, step) = (below(len), 1 + below(3));
        Dim { start, step, count: 1 + below((len - start).div_ceil(step).min(most)) }
    };
    match dim(6, 6).start {
        0 => Selection::All,
        1 => Selection::Slab(Slab(shape.iter().map(|&len| dim(len, 4)).collect())),
        2 | 3 => Selection::Slab(Slab(shape.iter().map(|&len| dim(len, len)).collect())),
        4 => {
            let list = (0..6).map(|_| dim(shape[1], 1).start).collect::<Vec<_>>();
            Selection::Grid(vec![
                Axis::Range(dim(shape[0], 20)),
                Axis::List(list.into()),
                Axis::Range(dim(shape[2], 50)),
            ])
        }
        _ => {
            let coords: Vec<u64> = (0..60).map(|n| dim(shape[n % 3], 1).start).collect();
            Selection::Points(Points::new(3, coords).unwrap())
        }
    }
}

/// Returns the expected elements of `what` in a dataset whose rows from `rows` on were never written.
fn expected(shape: &[u64], what: &Selection, rows: u64) -> Vec<i32> {
    let end = rows * shape[1] * shape[2];
    let runs = what.runs(shape).unwrap();
    let values = runs.flat_map(|run| run.offset..run.offset + run.len);
    values.map(|n| if n < end { i32::try_from(n).unwrap() } else { 0 }).collect()
}

fn read(dataset: &Dataset, what: &Selection, threads: usize) -> Vec<i32> {
    let count = usize::try_from(what.count(&dataset.shape()).unwrap()).unwrap();
    let mut dst = vec![0xEE; count * 4];
    let options = ReadOptions::default().threads(NonZeroUsize::new(threads));
    dataset.read_with(what, &mut Destination::contiguous(&mut dst), &options).unwrap();
    dst.as_chunks().0.iter().map(|&bytes| i32::from_le_bytes(bytes)).collect()
}

/// Asserts that the reads made are the reads planned.
fn compare(plan: &ReadPlan, reads: &[(u64, u64)], case: &str) {
    let mut more = false;
    for task in &plan.tasks {
        let (start, len) = match task.source {
            Source::Raw(extent) => (extent.addr.get(), extent.len),
            Source::Chunk(record) => (record.extent.addr.get(), record.extent.len),
            Source::Fill | Source::Compact => {
                assert!(
                    matches!(task.route, Route::Fill | Route::Copy) && task.bytes == 0,
                    "{case}: {task:?}"
                );
                continue;
            }
        };
        let inside = |&(at, bytes): &(u64, u64)| (at + bytes).min(start + len).saturating_sub(at.max(start));
        let found: u64 = reads.iter().map(inside).sum();
        // The first bytes of a Blosc chunk determine which other bytes are read.
        let is_partial = task.route == Route::Blocks && task.bytes < len;
        assert!(
            found == task.bytes || (is_partial && (task.bytes..=len).contains(&found)),
            "{case}: {found} bytes, {task:?}"
        );
        more |= is_partial;
    }
    let requests: u64 = plan.tasks.iter().map(|task| task.requests).sum();
    assert!(more || reads.len() as u64 <= requests, "{case}: {} requests, {requests} planned", reads.len());
    assert!(more || requests == 0 || !reads.is_empty(), "{case}: nothing was read");
}

#[test]
fn a_read_makes_the_requests_that_its_plan_predicts() {
    let posix = Trace::new(Posix::new(tempfile::tempfile().unwrap()));
    compare_all(&Arc::new(posix));
    compare_all(&Arc::new(Trace::new(Memory::default())));
}

fn compare_all<D: Driver + 'static>(driver: &Arc<Trace<D>>) {
    let file = File::options().create(true).truncate(true).open_on(driver.clone()).unwrap();
    let made = fill(&file);
    file.close().unwrap();
    let mut bytes = vec![0; usize::try_from(driver.len().unwrap()).unwrap()];
    driver.read_at(0, &mut bytes).unwrap();
    assert_sound(&bytes);
    let file = File::options().write(true).open_on(driver.clone()).unwrap();
    let mut random = Random::new(7);
    let mut seen = [0; Route::ALL.len()];
    for (name, rows) in made {
        let dataset = file.dataset(name).unwrap();
        let shape = dataset.shape();
        for round in 0..60 {
            if round == 40 && name.contains("deflate") {
                // From here on, the chunks with these elements are modified in memory but not in the file.
                let values = expected(&shape, &Selection::from([3..9, 5..60, 7..8]), rows);
                dataset.write([3..9, 5..60, 7..8], &values).unwrap();
            }
            let what = selection(&shape, &mut random);
            // From the third time on, small parts of Blosc chunks are cached.
            for time in 0..4 {
                let case = format!("{name}, {what:?}, {time}");
                let plan = dataset.plan(&what).unwrap();
                driver.take();
                assert!(read(&dataset, &what, 1) == expected(&shape, &what, rows), "{case}");
                let reads = driver.take().into_iter().map(|operation| match operation {
                    Operation::Read { offset, len } => (offset, len),
                    other => panic!("{case}: {other:?}"),
                });
                compare(&plan, &reads.collect::<Vec<_>>(), &case);
                for task in &plan.tasks {
                    let number = Route::ALL.iter().position(|route| *route == task.route).unwrap();
                    seen[number] += 1;
                }
            }
        }
    }
    let missing: Vec<_> = Route::ALL.iter().zip(seen).filter(|(_, times)| *times == 0).collect();
    assert!(missing.is_empty(), "no read took these routes: {missing:?}");
}

/// Two threads read 1,000 chunks from a medium that serves 16 requests at once. One request at a time would
/// take 1,000 rounds.
#[test]
fn a_medium_that_serves_many_requests_at_once_gets_many_requests_at_once() {
    let values: Vec<u8> = (0..1000_u32 * 300).map(|n| (n ^ n >> 8).to_le_bytes()[0]).collect();
    let deep = Arc::new(Deep::new(build::chunked(&values, 300)));
    let file = File::options().open_on(Arc::clone(&deep) as Arc<dyn Driver>).unwrap();
    let dataset = file.dataset("values").unwrap();
    dataset.plan(..).unwrap();
    for (what, requests) in [(Selection::All, 1000), (Selection::from(0..4500), 15)] {
        deep.take();
        let mut dst = vec![0; usize::try_from(what.count(&dataset.shape()).unwrap()).unwrap()];
        let options = ReadOptions::default().threads(NonZeroUsize::new(2));
        dataset.read_with(&what, &mut Destination::contiguous(&mut dst), &options).unwrap();
        assert!(dst == values[..dst.len()]);
        let served = deep.take();
        assert_eq!(served.requests, requests);
        assert!(served.mean() >= 12, "{served:?}: {} at a time", served.mean());
    }
}
