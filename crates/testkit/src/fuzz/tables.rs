//! Fuzz target `tables`: a file with a table, its attributes, an index and bounds of chunks. Whatever bytes
//! it has, a query returns the rows that a search of all values finds, also after rows were appended.

use std::sync::Arc;

use hyperslab::driver::Memory;
use hyperslab::filter::{Blosc2, Deflate};
use hyperslab::{Dataset, Element, File, WriteOptions};
use hyperslab_tables::index::{
    IndexOptions, Kind, build_index, indexed_columns, indexes_follow, mark_stale, update_indexes,
};
use hyperslab_tables::{Class, Query, Table};

#[derive(Element, Debug, Clone, Copy, PartialEq)]
struct TableRow {
    a: f64,
    b: i16,
    u: u64,
    f: f32,
}

/// The most rows of a table that are searched one by one.
const ROWS: u64 = 10_000;
/// The most bytes of a chunk that is decoded.
const CHUNK: u64 = 16 << 20;
/// A condition as a text, and what it says of a row.
type Condition = (&'static str, fn(&TableRow) -> bool);
const CONDITIONS: [Condition; 6] = [
    ("a > 3", |row| row.a > 3.0),
    ("(a >= -2) & (b == 3)", |row| row.a >= -2.0 && row.b == 3),
    ("~(a < 28)", |row| row.a >= 28.0 || row.a.is_nan()),
    ("u > 18446744073709551000", |row| row.u > 18_446_744_073_709_551_000),
    ("(f < -30) | (u == 5)", |row| row.f < -30.0 || row.u == 5),
    ("(b > 9) & (f > 60) & (a < 0)", |row| row.b > 9 && row.f > 60.0 && row.a < 0.0),
];

/// Runs the target on an input.
///
/// # Panics
/// If a query returns other rows than a search of all values.
pub fn tables(input: &[u8]) {
    let driver = Arc::new(Memory::new(input.to_vec()));
    let Ok(file) = File::options().write(true).open_on(driver) else { return };
    let Ok(dataset) = file.dataset("t") else { return };
    let chunk = dataset.chunk_shape().unwrap_or_default();
    let chunk = chunk.iter().fold(dataset.element_size() as u64, |bytes, &len| bytes.saturating_mul(len));
    if dataset.size() > ROWS || chunk > CHUNK {
        return;
    }
    let (_, _) = (Class::of(&dataset), Table::is_table(&dataset));
    let (_, _) = (indexed_columns(&dataset), indexes_follow(&dataset));
    let Ok(table) = Table::new(dataset) else { return };
    compare(&table);
    let Ok(first) = table.dataset().read::<TableRow>(0..1) else { return };
    let [row] = first[..] else { return };
    if append(&table, &[row; 3]).is_ok() {
        compare(&table);
        let _ = mark_stale(table.dataset(), Some(&["a".to_owned()]));
        compare(&table);
    }
}

fn append(table: &Table, rows: &[TableRow]) -> hyperslab_tables::Result<()> {
    let first = table.dataset().size();
    table.append(&vec![0; rows.len() * table.dataset().element_size()], &WriteOptions::default())?;
    table.dataset().write(first..table.len(), rows)?;
    update_indexes(table.dataset())
}

/// Compares queries with a search of all values.
fn compare(table: &Table) {
    let Ok(rows) = table.dataset().read::<TableRow>(..) else { return };
    for (condition, holds) in CONDITIONS {
        let Ok(query) = Query::new(table, condition, &[]) else { continue };
        let Ok(found) = query.rows(0..table.len(), None) else { continue };
        let wanted = (0..).zip(&rows).filter(|(_, row)| holds(row)).map(|(number, _)| number);
        let wanted: Vec<u64> = wanted.collect();
        assert_eq!(found, wanted, "{condition}: {:?}", query.explain(0..table.len()));
        if let Ok(count) = query.count(0..table.len()) {
            assert_eq!(count, wanted.len() as u64, "{condition}");
        }
    }
}

/// Returns tables with indexes of every kind, with bounds of chunks and without.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let kinds = [Kind::Ultralight, Kind::Light, Kind::Medium, Kind::Full];
    let all = kinds.into_iter().flat_map(|kind| [(kind, false), (kind, true)]);
    all.filter_map(|(kind, has_bounds)| seed(kind, has_bounds).ok()).collect()
}

fn seed(kind: Kind, has_bounds: bool) -> hyperslab_tables::Result<Vec<u8>> {
    let driver = Arc::new(Memory::new(Vec::new()));
    let file = File::options().create(true).truncate(true).open_on(driver.clone())?;
    let row = |n: i16| TableRow {
        a: f64::from(n * 37 % 64 - 30),
        b: n % 11,
        u: if n % 100 == 7 { u64::MAX - 3 } else { n.unsigned_abs().into() },
        f: f32::from(n / 5 - 40),
    };
    let rows: Vec<TableRow> = (0..700).map(row).collect();
    let new = file.root().new_dataset::<TableRow>("t").shape([700]).max_shape([None]).chunks([256]);
    let table: Dataset =
        if has_bounds { new.filter(Blosc2::default()) } else { new.filter(Deflate::default()) }
            .create_with(&rows)?;
    let table = Table::create(table, "fuzzed", None)?;
    let options = IndexOptions { kind, sizes: Some([512, 256, 128, 32]), ..IndexOptions::default() };
    build_index(table.dataset(), "a", &options)?;
    build_index(table.dataset(), "u", &options)?;
    file.close()?;
    Ok(driver.bytes())
}
