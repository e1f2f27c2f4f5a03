//! Indexes against a search of all values: every kind, every type, appended rows, and damaged indexes.

use std::ops::{Bound, ControlFlow};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hyperslab::driver::Memory;
use hyperslab::filter::{Deflate, Shuffle};
use hyperslab::{Dataset, Element, File};
use hyperslab_format::datatype::{Charset, Compound, Datatype, Member, Padding, Text};
use hyperslab_tables::index::{
    Candidates, ColumnIndex, Filters, IndexOptions, Kind, build_index, build_index_telling, indexed_columns,
    mark_stale, rebuild_index, remove_index, update_indexes,
};
use hyperslab_testkit::{counts, sound};
use proptest::prelude::*;

#[derive(Element, Debug, Clone, Copy, PartialEq)]
struct Row {
    a: f64,
    b: i16,
    c: u64,
    d: u8,
    e: f32,
}

const COLUMNS: [&str; 5] = ["a", "b", "c", "d", "e"];
const KINDS: [Kind; 4] = [Kind::Ultralight, Kind::Light, Kind::Medium, Kind::Full];

/// Values with many duplicates and all special values.
fn value() -> impl Strategy<Value = f64> {
    let special =
        [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, f64::MIN_POSITIVE, -5e-324];
    prop_oneof![4 => (-20_i8..20).prop_map(f64::from), 1 => prop::sample::select(special.to_vec()), 1 => any::<f64>()]
}

fn row() -> impl Strategy<Value = Row> {
    let large = prop_oneof![0..9_u64, u64::MAX - 3..=u64::MAX, any::<u64>()];
    (value(), -9_i16..9, large, any::<u8>(), value()).prop_map(|(a, b, c, d, e)| Row {
        a,
        b,
        c,
        d,
        #[expect(clippy::cast_possible_truncation, reason = "any float will do")]
        e: e as f32,
    })
}

/// The size of an index that small tables fill: superblocks, blocks, slices and chunks.
fn options(kind: Kind, optlevel: u8) -> IndexOptions {
    IndexOptions { kind, optlevel, sizes: Some([128, 64, 32, 8]), ..IndexOptions::default() }
}

fn table(file: &File, rows: &[Row], chunk: u64) -> Dataset {
    let new =
        file.root().new_dataset::<Row>("t").shape([rows.len() as u64]).max_shape([None]).chunks([chunk]);
    new.filter(Shuffle).filter(Deflate::default()).create_with(rows).expect("a table")
}

fn append(table: &Dataset, rows: &[Row]) {
    let old = table.size();
    table.resize([old + rows.len() as u64]).expect("longer");
    table.write(old..table.size(), rows).expect("written");
}

/// The value of a column as a number for comparisons, and as the bytes of a bound.
fn of(row: &Row, column: &str) -> (f64, i128, Vec<u8>) {
    match column {
        "a" => (row.a, 0, row.a.to_le_bytes().to_vec()),
        "b" => (0.0, row.b.into(), row.b.to_le_bytes().to_vec()),
        "c" => (0.0, row.c.into(), row.c.to_le_bytes().to_vec()),
        "d" => (0.0, row.d.into(), row.d.to_le_bytes().to_vec()),
        _ => (row.e.into(), 0, row.e.to_le_bytes().to_vec()),
    }
}

/// The rows between two bounds, by comparing all values as Rust and NumPy do.
fn expected(rows: &[Row], column: &str, lower: Bound<&Row>, upper: Bound<&Row>) -> Vec<u64> {
    let matches = |row: &Row| {
        let (x, n, _) = of(row, column);
        let above = match lower.map(|bound| of(bound, column)) {
            Bound::Unbounded => !x.is_nan(),
            Bound::Included((y, m, _)) => x >= y && n >= m,
            Bound::Excluded((y, m, _)) => x > y && n >= m || x >= y && n > m,
        };
        let below = match upper.map(|bound| of(bound, column)) {
            Bound::Unbounded => !x.is_nan(),
            Bound::Included((y, m, _)) => x <= y && n <= m,
            Bound::Excluded((y, m, _)) => x < y && n <= m || x <= y && n < m,
        };
        above && below
    };
    (0..).zip(rows).filter(|(_, row)| matches(row)).map(|(number, _)| number).collect()
}

/// Searches an index. Rows must be exact and ranges must hold all matching rows.
fn compare(
    index: &ColumnIndex,
    rows: &[Row],
    column: &str,
    lower: Bound<&Row>,
    upper: Bound<&Row>,
) -> Result<(), String> {
    let bytes = |bound: Bound<&Row>| bound.map(|row| of(row, column).2);
    let (low, high) = (bytes(lower), bytes(upper));
    let found = index.find(as_slice(&low), as_slice(&high)).map_err(|error| error.to_string())?;
    let expected = expected(rows, column, lower, upper);
    match found {
        Candidates::Rows { rows: found, unknown } => {
            let known: Vec<u64> = expected.iter().copied().filter(|row| *row < unknown.start).collect();
            assert_eq!(found, known, "{column} {lower:?} {upper:?}");
            assert_eq!(unknown.end, rows.len() as u64);
        }
        Candidates::Ranges(ranges) => {
            let missing = expected.iter().find(|row| !ranges.iter().any(|range| range.contains(row)));
            assert_eq!(missing, None, "{column} {lower:?} {upper:?} {ranges:?}");
            assert!(ranges.iter().all(|range| range.end <= rows.len() as u64), "{ranges:?}");
        }
    }
    Ok(())
}

fn as_slice(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    match bound {
        Bound::Included(bytes) => Bound::Included(bytes),
        Bound::Excluded(bytes) => Bound::Excluded(bytes),
        Bound::Unbounded => Bound::Unbounded,
    }
}

fn open(table: &Dataset, column: &str) -> ColumnIndex {
    ColumnIndex::open(table, column).expect("a sound index").expect("an index")
}

fn bound(rows: &[Row]) -> impl Strategy<Value = Bound<Row>> + use<> {
    let rows = rows.to_vec();
    let known = prop::sample::select(if rows.is_empty() {
        vec![Row { a: 0.0, b: 0, c: 0, d: 0, e: 0.0 }]
    } else {
        rows
    });
    let row = prop_oneof![known, row()];
    (row, 0..7).prop_map(|(row, kind)| match kind {
        0..3 => Bound::Included(row),
        3..6 => Bound::Excluded(row),
        _ => Bound::Unbounded,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn searches_are_those_of_all_values(
        (rows, bounds) in prop::collection::vec(row(), 0..200).prop_flat_map(|rows| {
            let bounds = prop::collection::vec((bound(&rows), bound(&rows)), 5);
            (Just(rows), bounds)
        }),
        more in prop::collection::vec(prop::collection::vec(row(), 0..60), 0..3),
        kind in prop::sample::select(KINDS.to_vec()),
        optlevel in 0..10_u8,
        chunk in 1..40_u64,
        column in prop::sample::select(COLUMNS.to_vec()),
        memory in prop::sample::select(vec![1, 1 << 30]),
    ) {
        let file = File::in_memory().expect("a file");
        let table = table(&file, &rows, chunk);
        let options = IndexOptions { memory, ..options(kind, optlevel) };
        build_index(&table, column, &options).expect("an index");
        let mut all = rows;
        for part in [Vec::new()].into_iter().chain(more) {
            append(&table, &part);
            all.extend_from_slice(&part);
            let index = open(&table, column);
            prop_assert_eq!(index.unusable().expect("compared"), None);
            for (lower, upper) in &bounds {
                compare(&index, &all, column, lower.as_ref(), upper.as_ref()).expect("found");
            }
            update_indexes(&table).expect("extended");
            let index = open(&table, column);
            prop_assert_eq!((index.kind(), index.len()), (kind, all.len() as u64));
            for (lower, upper) in &bounds {
                compare(&index, &all, column, lower.as_ref(), upper.as_ref()).expect("found");
            }
            if index.is_complete() {
                let order = index.in_order(0..index.len()).expect("rows");
                let keys: Vec<_> = order.iter().map(|&row| of(&all[usize::try_from(row).expect("a row")], column)).collect();
                let is_sorted = keys.windows(2).all(|pair| {
                    let ((x, n, _), (y, m, _)) = (&pair[0], &pair[1]);
                    y.is_nan() || x <= y && n <= m
                });
                prop_assert!(is_sorted);
                let mut rows = order;
                rows.sort_unstable();
                prop_assert!(rows.into_iter().eq(0..all.len() as u64));
            }
        }
        sound::assert_accounted(&file, 0);
    }
}

#[test]
fn a_change_that_an_index_does_not_know_is_noticed() {
    let rows: Vec<Row> =
        (0..300_i16).map(|n| Row { a: f64::from(n % 50), b: n, c: 0, d: 1, e: 2.0 }).collect();
    for kind in KINDS {
        let file = File::in_memory().expect("a file");
        let table = table(&file, &rows, 16);
        build_index(&table, "a", &options(kind, 6)).expect("an index");
        let index = open(&table, "a");
        let any = (Bound::Included(&7.0_f64.to_le_bytes()[..]), Bound::Included(&7.0_f64.to_le_bytes()[..]));
        index.find(any.0, any.1).expect("found");
        let mut changed = rows[33];
        changed.b = -1;
        table.write(33..34, &[changed]).expect("another column");
        index.find(any.0, any.1).expect("another column does not matter");
        changed.a = 7.0;
        table.write(33..34, &[changed]).expect("a write that does not go through the table");
        let error = index.find(any.0, any.1).expect_err("the index does not know this row").to_string();
        assert!(error.contains("has changed"), "{error}");
        assert!(open(&table, "a").find(any.0, any.1).is_err());
        assert!(rebuild_index(&table, "a", true).expect("rebuilt"));
        assert!(!rebuild_index(&table, "a", true).expect("current"), "it is current");
        let mut now = rows.clone();
        now[33] = changed;
        compare(&open(&table, "a"), &now, "a", Bound::Included(&rows[7]), Bound::Included(&rows[7]))
            .expect("found");
        assert!(
            !mark_stale(&table, Some(&["b".to_owned()])).expect("looked") && !open(&table, "a").is_dirty()
        );
        assert!(mark_stale(&table, None).expect("marked"));
        assert!(open(&table, "a").is_dirty() && open(&table, "a").find(any.0, any.1).is_err());
        table.resize([200]).expect("shorter");
        rebuild_index(&table, "a", true).expect("rebuilt");
        table.resize([100]).expect("shorter");
        assert!(
            open(&table, "a").unusable().expect("compared").expect("unusable").contains("the table has 100")
        );
        assert_eq!(indexed_columns(&table).expect("columns"), ["a"]);
        assert!(remove_index(&table, "a").expect("removed") && !remove_index(&table, "a").expect("none"));
        assert!(ColumnIndex::open(&table, "a").expect("opened").is_none());
        file.flush().expect("flushed");
    }
}

/// Returns the image of a file with a table and an index, and the rows.
fn image(kind: Kind, filters: Filters) -> (Vec<u8>, Vec<Row>) {
    let rows: Vec<Row> = (0..200_i16)
        .map(|n| Row { a: f64::from((n * 37) % 64), b: n, c: 3, d: 1, e: f32::from(n % 3) })
        .collect();
    let driver = Arc::new(Memory::default());
    let file = File::options().write(true).create(true).open_on(Arc::clone(&driver) as _).expect("a file");
    let table = table(&file, &rows, 16);
    build_index(&table, "a", &IndexOptions { filters, ..options(kind, 6) }).expect("an index");
    file.close().expect("closed");
    (driver.bytes(), rows)
}

#[test]
fn flipped_bits_never_hide_a_row() {
    let (mut right, mut refused) = (0, 0);
    for kind in KINDS {
        for filters in [Filters::default(), Filters::New(Vec::new())] {
            let (image, rows) = image(kind, filters);
            sound::assert_sound(&image);
            // Every byte of the file once, with another bit each time.
            for at in (0..image.len()).step_by(37) {
                let mut flipped = image.clone();
                flipped[at] ^= 1 << (at % 8);
                let Ok(file) = File::from_bytes(flipped) else { continue };
                let Ok(table) = file.dataset("t") else { continue };
                // The values that the table holds now are the truth.
                let Ok(now) = table.read::<Row>(..) else { continue };
                if now.len() > 1000 || rows.is_empty() {
                    continue;
                }
                let index = match ColumnIndex::open(&table, "a") {
                    Ok(Some(index)) => index,
                    Ok(None) => continue,
                    Err(_) => {
                        refused += 1;
                        continue;
                    }
                };
                for (low, high) in [(0, 63), (5, 5), (11, 40)] {
                    let of = |value: u8| Row { a: value.into(), ..rows[0] };
                    let (low, high) = (of(low), of(high));
                    match compare(&index, &now, "a", Bound::Included(&low), Bound::Included(&high)) {
                        Ok(()) => right += 1,
                        Err(_) => refused += 1,
                    }
                }
            }
        }
    }
    counts::say_counts(format_args!(
        "searches of indexes with a flipped bit: {right} right, {refused} refused"
    ));
    assert!(right > 10_000 && refused > 500, "{right} {refused}");
}

#[test]
fn texts_are_compared_up_to_their_last_byte_that_is_not_zero() {
    for size in [3_u32, 8, 13, 40, 200] {
        let text = Text { size, padding: Padding::NullPadded, charset: Charset::Ascii };
        let member = Member { name: "s".into(), offset: 0, datatype: Datatype::Text(text) };
        let nested = Compound { size, members: vec![member] };
        let outer = Member { name: "n".into(), offset: 4, datatype: Datatype::Compound(nested) };
        let number = Member { name: "x".into(), offset: 0, datatype: i32::datatype() };
        let row = Compound { size: size + 4, members: vec![number, outer] };
        let width = size as usize;
        let texts: Vec<Vec<u8>> = (0..150_u32)
            .map(|n| {
                let mut text = vec![0; width];
                let word = format!("{:x}", n.wrapping_mul(2_654_435_761) % 97);
                let len = if n % 7 == 0 { 0 } else { word.len().min(width) };
                text[..len].copy_from_slice(&word.as_bytes()[..len]);
                if n % 5 == 0 {
                    text[width - 1] = b'a' + (n % 3) as u8;
                }
                text
            })
            .collect();
        let file = File::in_memory().expect("a file");
        let new = file.root().new_dataset_of("t", Datatype::Compound(row)).shape([150]).chunks([20]);
        let table = new.create().expect("a table");
        let bytes: Vec<u8> = texts.iter().flat_map(|text| [&[0; 4][..], text].concat()).collect();
        table.write_with(.., &bytes, &hyperslab::WriteOptions::default()).expect("written");
        build_index(&table, "n.s", &options(Kind::Full, 9)).expect("an index");
        assert_eq!(indexed_columns(&table).expect("columns"), ["n/s"]);
        let index = open(&table, "n/s");
        let trimmed = |text: &[u8]| {
            text[..text.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1)].to_vec()
        };
        let long = vec![b'3'; width + 4];
        for bound in [&b""[..], b"3", b"3\0\0", b"zz", &texts[10], &texts[11], &long] {
            let key = trimmed(bound);
            let matching = |is_match: &dyn Fn(&[u8]) -> bool| -> Vec<u64> {
                (0..).zip(&texts).filter(|(_, text)| is_match(&trimmed(text))).map(|(row, _)| row).collect()
            };
            let find = |lower, upper| match index.find(lower, upper).expect("found") {
                Candidates::Rows { rows, .. } => rows,
                Candidates::Ranges(_) => panic!("an index of kind full names rows"),
            };
            assert_eq!(find(Bound::Included(bound), Bound::Unbounded), matching(&|text| *text >= key[..]));
            assert_eq!(find(Bound::Excluded(bound), Bound::Unbounded), matching(&|text| *text > key[..]));
            assert_eq!(find(Bound::Unbounded, Bound::Included(bound)), matching(&|text| *text <= key[..]));
            assert_eq!(find(Bound::Unbounded, Bound::Excluded(bound)), matching(&|text| *text < key[..]));
            assert_eq!(
                find(Bound::Included(bound), Bound::Included(bound)),
                matching(&|text| *text == key[..])
            );
        }
        sound::assert_accounted(&file, 0);
    }
}

#[test]
fn wrong_arguments_say_what_to_do() {
    let file = File::in_memory().expect("a file");
    let rows = [Row { a: 1.0, b: 2, c: 3, d: 4, e: 5.0 }];
    let table = table(&file, &rows, 4);
    let error = |result: hyperslab_tables::Result<()>| result.expect_err("an error").to_string();
    assert!(error(build_index(&table, "z", &IndexOptions::default())).contains("no column \"z\""));
    let sizes = IndexOptions { sizes: Some([8, 8, 8, 3]), ..IndexOptions::default() };
    assert!(error(build_index(&table, "a", &sizes)).contains("multiple"));
    build_index(&table, "a", &IndexOptions::sorted()).expect("an index");
    assert!(error(build_index(&table, "a", &IndexOptions::sorted())).contains("an index already"));
    let index = open(&table, "a");
    assert!(
        error(index.find(Bound::Included(&[1, 2]), Bound::Unbounded).map(drop))
            .contains("a value has 8 bytes")
    );
    assert!(error(index.in_order(0..2).map(drop)).contains("1 rows"));
    let directory =
        IndexOptions { tmp: Some("/no/such/directory".into()), memory: 1, ..IndexOptions::default() };
    assert!(error(build_index(&table, "b", &directory)).contains("another directory"));
    assert!(ColumnIndex::open(&table, "b").expect("opened").is_none(), "nothing is left of it");
    sound::assert_accounted(&file, 0);
}

#[test]
fn an_index_tells_its_progress_and_leaves_nothing_when_it_is_stopped() {
    let rows: Vec<Row> =
        (0..5000_i16).map(|n| Row { a: f64::from(n % 50), b: n, c: 0, d: 1, e: 2.0 }).collect();
    for kind in KINDS {
        let file = File::in_memory().expect("a file");
        let table = table(&file, &rows, 16);
        let calls = AtomicU64::new(0);
        let stops = |_done, _total| {
            calls.fetch_add(1, Ordering::Relaxed);
            ControlFlow::Break(())
        };
        build_index_telling(&table, "a", &options(kind, 6), &stops).expect_err("it was stopped");
        assert!(calls.load(Ordering::Relaxed) > 0);
        assert!(indexed_columns(&table).expect("columns").is_empty(), "nothing of the index is left");
        let last = AtomicU64::new(0);
        let tell = |done, total| {
            assert!(done <= total && total == 2 * rows.len() as u64, "{done} of {total}");
            last.fetch_max(done, Ordering::Relaxed);
            ControlFlow::Continue(())
        };
        build_index_telling(&table, "a", &options(kind, 6), &tell).expect("an index");
        assert_eq!(last.into_inner(), 2 * rows.len() as u64);
    }
}
