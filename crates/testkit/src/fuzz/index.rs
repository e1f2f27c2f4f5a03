//! Fuzz target `index`: a file with a table and an index. Whatever bytes the index has, it hides no row.

use std::ops::Bound;
use std::sync::Arc;

use hyperslab::driver::Memory;
use hyperslab::{Dataset, Element, File};
use hyperslab_tables::index::{Candidates, ColumnIndex, IndexOptions, Kind, build_index};

#[derive(Element, Debug, Clone, Copy, PartialEq)]
struct IndexRow {
    a: f64,
    b: i16,
}

/// The most rows of a table that are searched one by one.
const ROWS: u64 = 10_000;
/// The most bytes of a row that is read.
const BYTES: usize = 4096;

/// Runs the target on an input.
///
/// # Panics
/// If an index does not find a row that matches.
pub fn index(input: &[u8]) {
    let Ok(file) = File::from_bytes(input.to_vec()) else { return };
    let Ok(table) = file.dataset("t") else { return };
    if table.size() > ROWS || table.element_size() > BYTES {
        return;
    }
    let Ok(rows) = table.read::<IndexRow>(..) else { return };
    for column in ["a", "b"] {
        let Ok(Some(index)) = ColumnIndex::open(&table, column) else { continue };
        for (low, high) in [(-3_i8, 3_i8), (7, 7), (-100, 100)] {
            search(&index, column, &rows, low, high);
        }
        if index.is_complete() && index.len() <= ROWS {
            let _ = index.in_order(0..index.len());
        }
    }
}

/// Compares a search with a search of all rows.
fn search(index: &ColumnIndex, column: &str, rows: &[IndexRow], low: i8, high: i8) {
    let bytes = |value: i8| match column {
        "a" => f64::from(value).to_le_bytes().to_vec(),
        _ => i16::from(value).to_le_bytes().to_vec(),
    };
    let Ok(found) = index.find(Bound::Included(&bytes(low)), Bound::Included(&bytes(high))) else { return };
    let matches = |row: &IndexRow| match column {
        "a" => row.a >= f64::from(low) && row.a <= f64::from(high),
        _ => row.b >= i16::from(low) && row.b <= i16::from(high),
    };
    let is_found = |row: u64| match &found {
        Candidates::Rows { rows, unknown } => rows.binary_search(&row).is_ok() || unknown.contains(&row),
        Candidates::Ranges(ranges) => ranges.iter().any(|range| range.contains(&row)),
    };
    let missing = (0..).zip(rows).find(|(number, row)| matches(row) && !is_found(*number));
    assert!(missing.is_none(), "column {column}, {low} to {high}: the index does not find {missing:?}");
}

/// Returns files with indexes of every kind.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    [Kind::Ultralight, Kind::Light, Kind::Medium, Kind::Full]
        .into_iter()
        .filter_map(|kind| seed(kind).ok())
        .collect()
}

fn seed(kind: Kind) -> hyperslab_tables::Result<Vec<u8>> {
    let driver = Arc::new(Memory::new(Vec::new()));
    let file = File::options().create(true).truncate(true).open_on(driver.clone())?;
    let rows: Vec<IndexRow> =
        (0..150_i16).map(|n| IndexRow { a: f64::from(n * 37 % 64 - 30), b: n % 11 }).collect();
    let new = file.root().new_dataset::<IndexRow>("t").shape([150]).max_shape([None]).chunks([16]);
    let table: Dataset = new.create_with(&rows)?;
    let options = IndexOptions { kind, sizes: Some([128, 64, 32, 8]), ..IndexOptions::default() };
    build_index(&table, "a", &options)?;
    build_index(&table, "b", &IndexOptions { optlevel: 9, ..options })?;
    file.close()?;
    Ok(driver.bytes())
}
