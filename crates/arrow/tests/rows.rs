//! Record batches against the rows of their table, and rows against the batches that they are made of.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]

use std::num::{NonZeroU64, NonZeroUsize};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int16Type, Int64Type, UInt8Type, UInt32Type};
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use hyperslab::filter::Blosc2;
use hyperslab::{Element, File, Selection, WriteOptions};
use hyperslab_arrow::{Error, Options, Rows, Scan};
use hyperslab_tables::{Query, Table};
use hyperslab_testkit::sound::assert_accounted;
use proptest::prelude::*;

#[derive(Element, Debug, Clone, Copy, PartialEq)]
struct Inner {
    x: u32,
    y: f64,
}

#[derive(Element, Debug, Clone, Copy, PartialEq)]
struct Row {
    time: i64,
    temp: f32,
    kind: u8,
    grid: [i16; 3],
    info: Inner,
}

const ALL: [&str; 5] = ["time", "temp", "kind", "grid", "info"];

fn row() -> impl Strategy<Value = Row> {
    (any::<i64>(), -9_i8..9, 0_u8..3, any::<[i16; 3]>(), any::<u32>(), -1.0..1.0).prop_map(
        |(time, temp, kind, grid, x, y)| Row { time, temp: temp.into(), kind, grid, info: Inner { x, y } },
    )
}

fn table(file: &File, name: &str, rows: &[Row], chunk: u64) -> Table {
    let new = file.root().new_dataset::<Row>(name).shape([rows.len() as u64]).max_shape([None]);
    let dataset = new.chunks([chunk]).filter(Blosc2::default()).create_with(rows).unwrap();
    Table::create(dataset, "", None).unwrap()
}

/// Returns the rows of batches, whose columns are all those of the table in this order.
fn rows_of(batches: &[RecordBatch]) -> Vec<Row> {
    let mut rows = Vec::new();
    for batch in batches {
        let info = batch.column(4).as_struct();
        let grid = batch.column(3).as_fixed_size_list();
        for index in 0..batch.num_rows() {
            let three = grid.value(index);
            rows.push(Row {
                time: batch.column(0).as_primitive::<Int64Type>().value(index),
                temp: batch.column(1).as_primitive::<Float32Type>().value(index),
                kind: batch.column(2).as_primitive::<UInt8Type>().value(index),
                grid: three.as_primitive::<Int16Type>().values().as_ref().try_into().unwrap(),
                info: Inner {
                    x: info.column(0).as_primitive::<UInt32Type>().value(index),
                    y: info.column(1).as_primitive::<Float64Type>().value(index),
                },
            });
        }
    }
    rows
}

/// Some rows of a table, and what a scan of them asks for.
type Asked = (Vec<Row>, u64, Range<u64>, u64, Option<u64>, usize);

fn asked() -> impl Strategy<Value = Asked> {
    let rows = prop::collection::vec(row(), 0..150);
    let limit = prop::option::of(0_u64..80);
    (rows, 1_u64..60, 0_u64..160, 0_u64..160, 1_u64..9, limit, 1_usize..50).prop_map(
        |(rows, chunk, start, stop, step, limit, batch)| (rows, chunk, start..stop, step, limit, batch),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn batches_are_the_rows_of_the_table((rows, chunk, range, step, limit, batch) in asked()) {
        let file = File::in_memory().unwrap();
        let table = table(&file, "t", &rows, chunk);
        for condition in [None, Some("(temp > 0) & (kind != 1)")] {
            let meets = |row: &Row| condition.is_none() || row.temp > 0.0 && row.kind != 1;
            let end = range.end.min(rows.len() as u64);
            let expected: Vec<Row> = (range.start..end)
                .step_by(usize::try_from(step).unwrap())
                .map(|number| rows[usize::try_from(number).unwrap()])
                .filter(meets)
                .take(limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap()))
                .collect();
            let query = condition.map(|text| Arc::new(Query::new(&table, text, &[]).unwrap()));
            let options = Options {
                rows: Some(range.clone()),
                step: NonZeroU64::new(step),
                limit,
                batch_rows: NonZeroUsize::new(batch),
                ..Options::default()
            };
            let scan = Scan::new(&table, query, &options).unwrap();
            for _ in 0..2 {
                let batches: Vec<RecordBatch> = scan.batches().collect::<Result<_, _>>().unwrap();
                prop_assert!(batches.iter().all(|made| (1..=batch).contains(&made.num_rows())));
                prop_assert!(batches.iter().all(|made| made.schema() == scan.schema()));
                prop_assert_eq!(rows_of(&batches), expected.clone());
            }
        }
    }

    #[test]
    fn rows_of_batches_are_those_that_the_batches_were_made_of(rows in prop::collection::vec(row(), 1..90)) {
        let file = File::in_memory().unwrap();
        let source = table(&file, "source", &rows, 16);
        let copy = table(&file, "copy", &[], 7);
        let taken = Rows::new(&copy, None).unwrap();
        let options = Options { batch_rows: NonZeroUsize::new(13), ..Options::default() };
        for batch in Scan::new(&source, None, &options).unwrap().batches() {
            copy.append(&taken.of(&batch.unwrap(), 0).unwrap(), &WriteOptions::default()).unwrap();
        }
        prop_assert_eq!(copy.dataset().read::<Row>(Selection::All).unwrap(), rows);
        assert_accounted(&file, 0);
    }
}

#[test]
fn columns_are_read_in_the_order_in_which_they_are_named() {
    let file = File::in_memory().unwrap();
    let row = Row { time: 7, temp: 1.5, kind: 2, grid: [1, 2, 3], info: Inner { x: 9, y: 0.5 } };
    let table = table(&file, "t", &[row; 3], 2);
    let named = ["info/y", "time", "info", "time"].map(str::to_owned).to_vec();
    let options = Options { columns: Some(named), ..Options::default() };
    let batches: Vec<RecordBatch> =
        Scan::new(&table, None, &options).unwrap().batches().map(Result::unwrap).collect();
    let names: Vec<String> = batches[0].schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["info/y", "time", "info", "time"]);
    assert_eq!(batches[0].column(0).as_primitive::<Float64Type>().values(), &[0.5; 3]);
    assert_eq!(batches[0].column(2).as_struct().column(0).as_primitive::<UInt32Type>().values(), &[9; 3]);
    for index in [1, 3] {
        assert_eq!(batches[0].column(index).as_primitive::<Int64Type>().values(), &[7; 3]);
    }
    let none = Options { columns: Some(Vec::new()), ..Options::default() };
    let empty: Vec<RecordBatch> =
        Scan::new(&table, None, &none).unwrap().batches().map(Result::unwrap).collect();
    assert_eq!(empty.iter().map(RecordBatch::num_rows).sum::<usize>(), 3);
    assert_accounted(&file, 0);
}

/// Returns the error of rows with these columns.
fn refused(columns: Vec<(&str, ArrayRef)>, with_defaults: bool) -> Error {
    let file = File::in_memory().unwrap();
    let table = table(&file, "t", &[], 2);
    let size = table.dataset().element_size();
    let rows = Rows::new(&table, with_defaults.then(|| vec![0; size])).unwrap();
    rows.of(&RecordBatch::try_from_iter(columns).unwrap(), 100).unwrap_err()
}

#[test]
fn what_a_table_cannot_hold_is_named_with_its_column_and_row() {
    let times = |values: Vec<Option<i64>>| Arc::new(Int64Array::from(values)) as ArrayRef;
    let cases: [(Vec<(&str, ArrayRef)>, &str); 6] = [
        (vec![("time", times(vec![Some(1), None]))], r#"column "time", row 101: the value must not be null"#),
        (vec![("kind", times(vec![Some(255), Some(256)]))], r#"column "kind", row 101"#),
        (vec![("kind", times(vec![Some(-1)]))], r#"column "kind", row 100"#),
        (vec![("time", Arc::new(Float64Array::from(vec![0.5])))], r#"column "time", row 100"#),
        (vec![("time", Arc::new(StringArray::from(vec!["1"])))], r#"column "time""#),
        (
            vec![("other", times(vec![Some(1)]))],
            r#"column "other": the rows must have only columns of the table"#,
        ),
    ];
    for (columns, expected) in cases {
        let error = refused(columns, true).to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    let error = refused(vec![("time", times(vec![Some(1)]))], false).to_string();
    assert_eq!(error, r#"column "temp": the rows must have this column, or the table defaults"#);
}

#[test]
fn unknown_columns_and_tables_that_become_shorter_are_errors() {
    let file = File::in_memory().unwrap();
    let row = Row { time: 7, temp: 1.5, kind: 2, grid: [1, 2, 3], info: Inner { x: 9, y: 0.5 } };
    let table = table(&file, "t", &[row; 100], 10);
    for name in ["other", "info/z", "grid/x", "", "info/"] {
        let options = Options { columns: Some(vec![name.to_owned()]), ..Options::default() };
        let Err(error) = Scan::new(&table, None, &options) else { panic!("{name:?} was found") };
        assert!(matches!(error, Error::Column { .. }), "{error}");
        assert!(error.to_string().ends_with(&ALL.join(", ")), "{error}");
    }
    let mut batches = Scan::new(&table, None, &Options::default()).unwrap().batches();
    table.remove(5..90, NonZeroU64::MIN).unwrap();
    assert!(matches!(batches.next_batch(), Err(Error::Removed { .. })));
    assert_accounted(&file, 0);
}

#[test]
fn a_limit_counts_the_rows_of_all_searches() {
    let file = File::in_memory().unwrap();
    let inner = Inner { x: 9, y: 0.5 };
    let row = |time: i64| Row { time, temp: 0.0, kind: u8::from(time % 2 == 0), grid: [0; 3], info: inner };
    let rows: Vec<Row> = (0..400_000).map(row).collect();
    let table = table(&file, "t", &rows, 50_000);
    let query = Arc::new(Query::new(&table, "kind == 1", &[]).unwrap());
    let options =
        Options { limit: Some(150_000), columns: Some(vec!["time".to_owned()]), ..Options::default() };
    let batches = Scan::new(&table, Some(query), &options).unwrap().batches();
    let times: Vec<i64> = batches
        .flat_map(|batch| batch.unwrap().column(0).as_primitive::<Int64Type>().values().to_vec())
        .collect();
    assert!(times.iter().copied().eq((0..300_000).step_by(2)), "{} rows", times.len());
    assert_accounted(&file, 0);
}
