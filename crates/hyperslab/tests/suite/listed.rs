//! Compares reads of lists of elements of chunks compressed by Blosc with the elements of the whole dataset:
//! lists whose elements are near each other or far apart, in any order, once or several times.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Mutex;

use hyperslab::filter::{Blosc, Blosc2, BloscCodec, Filter};
use hyperslab::{Axis, Block, Dataset, Element, File, Selection};
use hyperslab_testkit::fuzz::Random;
use hyperslab_testkit::sound::assert_accounted;

#[derive(Element, Debug, Clone, Copy, PartialEq)]
struct Row {
    number: u32,
    value: f64,
    other: [u16; 6],
}

#[derive(Element, Debug, Clone, Copy, PartialEq)]
struct Value {
    value: f64,
}

const ROWS: u64 = 150_000;
const VALUE: Range<usize> = 4..12;

fn row(number: u64) -> Row {
    let low = u32::try_from(number).unwrap();
    let word = |bits: u32| u16::try_from(low.wrapping_mul(2_654_435_761) >> bits & 0xffff).unwrap();
    Row { number: low, value: f64::from(low) / 8.0, other: [word(0), 7, word(16), 0, word(8), 1] }
}

fn table(file: &File, name: &str, chunk: u64, filter: impl Into<Filter>) -> Dataset {
    let rows: Vec<Row> = (0..ROWS).map(row).collect();
    let table = file.root().new_dataset::<Row>(name).shape([ROWS]).chunks([chunk]).filter(filter);
    let table = table.create().unwrap();
    table.write(.., &rows).unwrap();
    file.flush().unwrap();
    table
}

/// Returns the numbers of some rows: clusters and single ones, of which some are listed again.
fn some_rows(random: &mut Random) -> Vec<u64> {
    let below = |random: &mut Random, most: u64| random.below(usize::try_from(most).unwrap()) as u64;
    let mut rows = Vec::new();
    for _ in 0..=random.below(12) {
        let first = below(random, ROWS);
        match random.below(4) {
            0 => rows.push(first),
            1 => rows.extend((first..ROWS).take(random.below(3000))),
            2 => rows.extend((first..ROWS).step_by(3).take(100)),
            _ => rows.extend((0..40).map(|_| (first + below(random, 5000)).min(ROWS - 1))),
        }
    }
    match random.below(3) {
        0 => rows.sort_unstable(),
        1 => {
            rows.sort_unstable();
            rows.dedup();
        }
        _ => {}
    }
    rows
}

#[test]
fn listed_elements_are_those_of_the_whole_dataset() {
    let file = File::in_memory().unwrap();
    let blosc2 = || Blosc2::default().codec(BloscCodec::Lz4);
    let tables = [
        table(&file, "one chunk", ROWS, blosc2()),
        table(&file, "several", 40_000, blosc2()),
        table(&file, "small blocks", 40_000, blosc2().codec(BloscCodec::Zstd).level(1)),
        table(&file, "blosc 1", 50_000, Blosc::default()),
        table(&file, "no filter of blosc", 50_000, hyperslab::filter::Deflate::default().level(1)),
    ];
    let mut random = Random::new(11);
    for _ in 0..40 {
        let listed = some_rows(&mut random);
        let what = Selection::from_axes([Axis::from_indices(listed.clone())]);
        let expected: Vec<Row> = listed.iter().map(|&number| row(number)).collect();
        for table in &tables {
            assert_eq!(table.read::<Row>(&what).unwrap(), expected, "{}", table.path());
            let values: Vec<Value> = table.read(&what).unwrap();
            assert!(values.iter().map(|row| row.value).eq(expected.iter().map(|row| row.value)));
        }
        check_blocks(&tables, &listed, &what);
    }
    assert_accounted(&file, 0);
}

/// Checks that a sink gets the listed rows, as often as they are listed.
fn check_blocks(tables: &[Dataset], listed: &[u64], what: &Selection) {
    let mut times: HashMap<u64, usize> = HashMap::new();
    for &number in listed {
        *times.entry(number).or_default() += 1;
    }
    for table in tables {
        let found: Mutex<HashMap<u64, usize>> = Mutex::default();
        let sink = |block: Block<'_>| {
            let first = block.piece[0] + block.first as u64;
            for (number, value) in (first..).zip(block.iter()) {
                assert_eq!(value, row(number).value.to_le_bytes());
                *found.lock().unwrap().entry(number).or_default() += 1;
            }
            Ok(())
        };
        table.blocks(what, &[VALUE], None, &sink).unwrap();
        assert_eq!(found.into_inner().unwrap(), times, "{}", table.path());
    }
}

#[test]
fn rows_that_were_never_written_or_wait_in_memory_are_listed_too() {
    let file = File::in_memory().unwrap();
    let table = file.root().new_dataset::<Row>("t").shape([ROWS]).chunks([30_000]);
    let table = table.filter(Blosc2::default()).create().unwrap();
    let some: Vec<Row> = (30_000..60_000).map(row).collect();
    table.write(30_000..60_000, &some).unwrap();
    file.flush().unwrap();
    table.write(60_000..60_010, &some[..10]).unwrap();
    let listed = [5, 29_999, 30_000, 30_007, 30_009, 59_999, 60_000, 60_003, 60_004, 149_999];
    let what = Selection::from_axes([Axis::from_indices(listed.to_vec())]);
    let numbers: Vec<u32> = table.read::<Row>(&what).unwrap().iter().map(|row| row.number).collect();
    assert_eq!(numbers, [0, 0, 30_000, 30_007, 30_009, 59_999, 30_000, 30_003, 30_004, 0]);
    assert_accounted(&file, 0);
}
