//! Compares the bounds that are stored with chunks of records with the values of the records, and searches
//! that use them with searches that do not.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use hyperslab::datatype::{ByteOrder, Datatype, Enumeration};
use hyperslab::derive_support::compound;
use hyperslab::driver::{Memory, Operation, Trace};
use hyperslab::filter::{Blosc, Blosc2, BloscCodec, BloscFilter, Filter};
use hyperslab::{Bound, Bounds, Dataset, Element, File, WriteOptions};
use hyperslab_testkit::fuzz::Random;
use hyperslab_testkit::sound::assert_accounted;
use proptest::prelude::*;

const CHUNK: u64 = 1500;
const RECORD: usize = 51;
/// The place of each column that has bounds, and its name.
const COLUMNS: [(Range<usize>, &str); 11] = [
    (0..4, "f32"),
    (4..12, "f64 big"),
    (12..13, "i8"),
    (13..14, "bool"),
    (14..16, "i16 big"),
    (16..20, "u32"),
    (20..28, "i64"),
    (28..36, "u64 big"),
    (39..43, "f32 big"),
    (43..45, "u16"),
    (45..49, "i32"),
];

/// Returns the datatype with the bytes of its numbers in the other order.
fn big(mut datatype: Datatype) -> Datatype {
    match &mut datatype {
        Datatype::Integer(number) => number.order = ByteOrder::Big,
        Datatype::Float(number) => number.order = ByteOrder::Big,
        other => panic!("{other:?}"),
    }
    datatype
}

fn datatype() -> Datatype {
    let names = vec![("FALSE".to_owned(), vec![0]), ("TRUE".to_owned(), vec![1])];
    let boolean = Datatype::Enumeration(Enumeration { base: Box::new(i8::datatype()), members: names });
    let nested = compound([
        ("x", big(f32::datatype()), 4),
        ("n", u16::datatype(), 2),
        ("i", i32::datatype(), 4),
        ("half", hyperslab::half::f16::datatype(), 2),
    ]);
    compound([
        ("a", f32::datatype(), 4),
        ("b", big(f64::datatype()), 8),
        ("c", i8::datatype(), 1),
        ("d", boolean, 1),
        ("e", big(i16::datatype()), 2),
        ("f", u32::datatype(), 4),
        ("g", i64::datatype(), 8),
        ("h", big(u64::datatype()), 8),
        ("text", <[u8; 3]>::datatype(), 3),
        ("nested", nested, 12),
    ])
}

/// Returns the number in a column: a float as it is, an integer without loss.
fn number(bytes: &[u8], name: &str) -> (i128, f64) {
    let mut bytes = bytes.to_vec();
    if name.ends_with(" big") {
        bytes.reverse();
    }
    let mut wide = [0; 16];
    wide[..bytes.len()].copy_from_slice(&bytes);
    let unsigned = i128::from_le_bytes(wide);
    match &name[..1] {
        "f" if bytes.len() == 4 => (0, f32::from_le_bytes(bytes.try_into().unwrap()).into()),
        "f" => (0, f64::from_le_bytes(bytes.try_into().unwrap())),
        "i" | "b" => {
            let bits = 128 - 8 * bytes.len();
            (unsigned << bits >> bits, 0.0)
        }
        _ => (unsigned, 0.0),
    }
}

/// Returns records whose columns have random values, small ones, special ones or a single one.
fn records(random: &mut Random, count: usize) -> Vec<u8> {
    let special = |random: &mut Random| match random.below(8) {
        0 => f64::NAN,
        1 => f64::INFINITY,
        2 => f64::NEG_INFINITY,
        3 => -0.0,
        4 => f64::MIN_POSITIVE / 3.0,
        _ => 0.0,
    };
    let mut rows: Vec<u8> = (0..count * RECORD).map(|_| random.below(256).to_le_bytes()[0]).collect();
    for (place, name) in &COLUMNS {
        let kind = random.below(7);
        for (number, row) in (0_u32..).zip(rows.chunks_exact_mut(RECORD)) {
            let value = match kind {
                0 => continue,
                1 => f64::from(u32::try_from(random.below(50)).unwrap()),
                2 => special(random),
                3 => f64::NAN,
                // The last record of a chunk has the smallest value, or the largest.
                4 => -f64::from(number),
                5 => f64::from(number),
                _ => 7.0,
            };
            #[allow(clippy::cast_possible_truncation, reason = "any value will do")]
            let mut bytes = match (&name[..1], place.len()) {
                ("f", 4) => (value as f32).to_le_bytes().to_vec(),
                ("f", _) => value.to_le_bytes().to_vec(),
                (_, len) => (value as i64).to_le_bytes()[..len].to_vec(),
            };
            if name.ends_with(" big") {
                bytes.reverse();
            }
            row[place.clone()].copy_from_slice(&bytes);
        }
    }
    rows
}

fn table(file: &File, name: &str, rows: &[u8], filter: impl Into<Filter>) -> Dataset {
    let count = (rows.len() / RECORD) as u64;
    let table = file.root().new_dataset_of(name, datatype()).shape([count]).max_shape([None]);
    let table = table.chunks([CHUNK]).filter(filter).create().unwrap();
    table.write_with(.., rows, &WriteOptions::default()).unwrap();
    file.flush().unwrap();
    table
}

fn blosc2() -> Blosc2 {
    Blosc2::default().codec(BloscCodec::Lz4)
}

/// Returns the rows that `blocks_where` passes, by row.
fn passed(table: &Dataset, keep: &(dyn Fn(&Bounds<'_>) -> bool + Sync)) -> BTreeMap<u64, Vec<u8>> {
    let found: Mutex<BTreeMap<u64, Vec<u8>>> = Mutex::default();
    table
        .blocks_where(.., &[], keep, None, &|block| {
            for (row, record) in (block.piece[0] + block.first as u64..).zip(block.iter()) {
                assert!(found.lock().unwrap().insert(row, record.to_vec()).is_none(), "row {row} came twice");
            }
            Ok(())
        })
        .unwrap();
    found.into_inner().unwrap()
}

/// Checks the bounds of every chunk against its rows, and returns the number of chunks with bounds.
fn check_bounds(table: &Dataset, rows: &[u8]) -> usize {
    let mut seen = 0;
    for (chunk, rows) in rows.chunks(usize::try_from(CHUNK).unwrap() * RECORD).enumerate() {
        let first = chunk as u64 * CHUNK;
        let what = first..first + (rows.len() / RECORD) as u64;
        let noted = Mutex::new(0);
        let keep = |bounds: &Bounds<'_>| {
            *noted.lock().unwrap() += 1;
            for (place, name) in &COLUMNS {
                let bound = bounds.column(place.clone()).unwrap();
                let values = rows.chunks_exact(RECORD).map(|row| number(&row[place.clone()], name));
                let mut least: Option<((i128, f64), (i128, f64))> = None;
                let mut has_nan = false;
                for value in values {
                    has_nan |= value.1.is_nan();
                    if !value.1.is_nan() {
                        let (low, high) = least.unwrap_or((value, value));
                        least = Some((
                            if value < low { value } else { low },
                            if value > high { value } else { high },
                        ));
                    }
                }
                // The last chunk also has zeros beyond the edge.
                if rows.len() < usize::try_from(CHUNK).unwrap() * RECORD {
                    let (low, high) = least.unwrap_or(((0, 0.0), (0, 0.0)));
                    let zero = (0, 0.0);
                    least =
                        Some((if zero < low { zero } else { low }, if zero > high { zero } else { high }));
                }
                let found = bound.extremes.map(|(low, high)| (number(low, name), number(high, name)));
                assert_eq!((found, bound.has_nan), (least, has_nan), "{name} of chunk {chunk}");
            }
            for other in [0..3, 1..5, 0..12, 36..39, 49..51, 12..12, 40..usize::MAX] {
                assert_eq!(bounds.column(other.clone()), None, "{other:?}");
            }
            true
        };
        table.blocks_where(what, &[], &keep, None, &|_| Ok(())).unwrap();
        seen += noted.into_inner().unwrap();
    }
    seen
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bounds_are_the_extremes_of_each_column_of_each_chunk(seed in any::<u64>(), count in 1500_usize..9000) {
        let file = File::in_memory().unwrap();
        let mut rows = records(&mut Random::new(seed), count);
        let table = table(&file, "t", &rows, blosc2());
        let chunks = count / usize::try_from(CHUNK).unwrap();
        prop_assert!(check_bounds(&table, &rows) >= chunks);
        // A part of two chunks changes: their bounds follow.
        let other = records(&mut Random::new(!seed), 900);
        table.write_with(300..1200, &other, &WriteOptions::default()).unwrap();
        rows[300 * RECORD..1200 * RECORD].copy_from_slice(&other);
        let before = passed(&table, &|_| false);
        prop_assert!(before.keys().all(|row| *row < CHUNK), "a changed chunk that is in memory is passed on");
        file.flush().unwrap();
        prop_assert!(check_bounds(&table, &rows) >= chunks);
    }
}

#[test]
fn a_search_finds_the_rows_of_a_scan() {
    let file = File::in_memory().unwrap();
    let mut rows = records(&mut Random::new(5), 20_000);
    for (row, record) in rows.chunks_exact_mut(RECORD).enumerate() {
        record[45..49].copy_from_slice(&i32::try_from(row * 3).unwrap().to_le_bytes());
    }
    let table = table(&file, "t", &rows, blosc2());
    let value = |bytes: &[u8]| i32::from_le_bytes(*bytes.first_chunk().unwrap());
    for least in [0, 4499, 4500, 30_000, 59_997, 59_998, 70_000] {
        let keep = |bounds: &Bounds<'_>| match bounds.column(45..49) {
            Some(Bound { extremes: Some((_, largest)), .. }) => value(largest) >= least,
            _ => true,
        };
        let found = passed(&table, &keep);
        let expected: Vec<_> = (0_u64..).zip(rows.chunks_exact(RECORD)).collect();
        let expected = expected.into_iter().filter(|(_, row)| value(&row[45..49]) >= least);
        let is_wanted = |row: &Vec<u8>| value(&row[45..49]) >= least;
        assert!(found.iter().filter(|(_, row)| is_wanted(row)).map(|(at, row)| (*at, &row[..])).eq(expected));
        let unwanted = found.values().filter(|row| !is_wanted(row)).count() as u64;
        assert!(unwanted < CHUNK, "{unwanted} rows of other chunks for {least}");
    }
    assert_accounted(&file, 0);
}

#[test]
fn a_chunk_that_is_known_not_to_be_wanted_is_not_read_again_before_it_changes() {
    let memory = Arc::new(Memory::new(Vec::new()));
    let made = File::options().create(true).truncate(true).open_on(memory.clone()).unwrap();
    let rows = records(&mut Random::new(9), 20 * usize::try_from(CHUNK).unwrap());
    table(&made, "t", &rows, blosc2());
    made.close().unwrap();
    let driver = Arc::new(Trace::new(Memory::new(memory.bytes())));
    let file = File::options().write(true).open_on(driver.clone()).unwrap();
    let table = file.dataset("t").unwrap();
    let read = |keep: bool| {
        driver.take();
        let found = passed(&table, &|_| keep);
        let reads = driver.take().into_iter().map(|operation| match operation {
            Operation::Read { len, .. } => len,
            _ => 0,
        });
        (found.len(), reads.sum::<u64>())
    };
    let stored = table.storage_bytes().unwrap();
    assert!(read(false).1 >= stored, "all bytes are compared with the notes");
    assert_eq!(read(false), (0, 0));
    let (found, bytes) = read(true);
    assert!(found == 20 * usize::try_from(CHUNK).unwrap() && bytes >= stored, "wanted chunks are read");
    // Other rows, in chunks of the same sizes: each chunk is compared again.
    for at in 0..20 {
        let chunk = table.chunk_at(&[at]).unwrap().unwrap();
        let bytes = table.read_stored_chunk(chunk).unwrap();
        table.write_stored_chunk(&[at * CHUNK], 0, &bytes).unwrap();
    }
    assert!(read(false).1 >= stored);
}

#[test]
fn a_note_is_forgotten_when_its_place_is_given_to_another_chunk() {
    let file = File::in_memory().unwrap();
    let count = usize::try_from(CHUNK).unwrap();
    let rows = |step: i32| {
        let mut random = Random::new(10);
        let mut rows: Vec<u8> = (0..count * RECORD).map(|_| random.below(256).to_le_bytes()[0]).collect();
        for row in rows.chunks_exact_mut(RECORD) {
            row[45..49].copy_from_slice(&(step << 16).to_le_bytes());
        }
        rows
    };
    let table = table(&file, "t", &rows(0), blosc2());
    let mut places = BTreeMap::new();
    for step in 1..12 {
        let keep = |bounds: &Bounds<'_>| {
            let (_, most) = bounds.column(45..49).unwrap().extremes.unwrap();
            i32::from_le_bytes(most.try_into().unwrap()) >= step << 16
        };
        assert!(passed(&table, &keep).is_empty(), "the rows before step {step} are smaller");
        table.write_with(0..CHUNK, &rows(step), &WriteOptions::default()).unwrap();
        file.flush().unwrap();
        assert_eq!(passed(&table, &keep).len(), count, "all rows of step {step} are wanted");
        let record = table.chunk_at(&[0]).unwrap().unwrap();
        *places.entry((record.extent.addr, record.extent.len)).or_insert(0) += 1;
    }
    assert!(places.values().any(|&times| times > 1), "no place was used again: {places:?}");
}

#[test]
fn a_note_that_is_damaged_or_of_another_chunk_is_ignored() {
    let file = File::in_memory().unwrap();
    let rows = records(&mut Random::new(6), 3000);
    let table = table(&file, "t", &rows, blosc2());
    let stored = |chunk: u64| table.read_stored_chunk(table.chunk_at(&[chunk]).unwrap().unwrap()).unwrap();
    let (first, second) = (stored(0), stored(1));
    assert!(passed(&table, &|_| false).is_empty(), "both chunks have notes");
    let at = first.windows(9).position(|window| window == b"hyperslab").unwrap();
    let header = usize::try_from(u32::from_be_bytes(*first[11..].first_chunk().unwrap())).unwrap();
    assert!(at < header && header < 1000);
    for position in 0..header {
        for change in [1, 0x10, 0x80] {
            let mut damaged = first.clone();
            damaged[position] ^= change;
            table.write_stored_chunk(&[0], 0, &damaged).unwrap();
            let found = Mutex::new(0);
            let refuse = |_: &Bounds<'_>| false;
            let result = table.blocks_where(.., &[], &refuse, None, &|block| {
                *found.lock().unwrap() += block.count;
                Ok(())
            });
            // A damaged length of the frame makes the chunk unreadable, with or without bounds.
            assert!(result.is_err() || found.into_inner().unwrap() == 1500, "byte {position} by {change}");
        }
    }
    // The header of the second chunk before the content of the first: a program that changes a chunk and
    // keeps what it does not know.
    let mut mixed = first.clone();
    let note = at + 20..header;
    mixed[note.clone()].copy_from_slice(&second[note]);
    table.write_stored_chunk(&[0], 0, &mixed).unwrap();
    let found = passed(&table, &|_| false);
    assert_eq!(found.len(), 1500);
    assert!(found.values().flatten().eq(&rows[..1500 * RECORD]));
}

#[test]
fn chunks_of_equal_records_other_filters_and_other_shapes_have_no_notes() {
    let file = File::in_memory().unwrap();
    let rows = records(&mut Random::new(8), 3000);
    let equal = rows[..RECORD].repeat(3000);
    let is_noted = |table: &Dataset| {
        let stored = table.read_stored_chunk(table.chunk_at(&[0]).unwrap().unwrap()).unwrap();
        stored.windows(9).any(|window| window == b"hyperslab")
    };
    assert!(is_noted(&table(&file, "noted", &rows, blosc2())));
    assert!(!is_noted(&table(&file, "equal", &equal, blosc2())));
    assert!(!is_noted(&table(&file, "blosc", &rows, Blosc::default())));
    assert!(!is_noted(&table(&file, "deflate", &rows, hyperslab::filter::Deflate::default())));
    let numbers = file.root().new_dataset::<i32>("numbers").shape([9000]).chunks([9000]).filter(blosc2());
    let numbers = numbers.create_with(&(0..9000).collect::<Vec<i32>>()).unwrap();
    file.flush().unwrap();
    let stored = numbers.read_stored_chunk(numbers.chunk_at(&[0]).unwrap().unwrap()).unwrap();
    assert!(!stored.windows(9).any(|window| window == b"hyperslab"));
    // Values that lose precision are not those that were given.
    let pair = compound([("x", f32::datatype(), 4), ("y", f32::datatype(), 4)]);
    for (filter, expected) in [(BloscFilter::Shuffle, true), (BloscFilter::Truncate, false)] {
        let name = format!("{filter:?}");
        let pairs = file.root().new_dataset_of(name, pair.clone()).shape([5000]).chunks([5000]);
        let pairs = pairs.filter(blosc2().filter(filter)).create().unwrap();
        pairs.write_with(.., &rows[..40_000], &WriteOptions::default()).unwrap();
        file.flush().unwrap();
        assert_eq!(is_noted(&pairs), expected, "{filter:?}");
    }
    let whole = passed(&file.dataset("equal").unwrap(), &|_| false);
    assert!(whole.len() == 3000 && whole.values().all(|row| row[..] == equal[..RECORD]));
}
