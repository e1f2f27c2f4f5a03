//! `hyperslab query`: prints the rows of a table for which a condition is true.

mod output;
pub(super) mod sql;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use hyperslab_arrow::{Forms, Options, Scan};
use hyperslab_tables::{Query, Table};

use self::output::Output;
use super::Threads;
use crate::place;
use crate::show::counted;

/// Print the rows of a table that meet a condition
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hyperslab query climate.h5 /readings 'temp > 310' --columns time,temp --limit 20
  hyperslab query climate.h5 /readings \"(temp > 310) & ((lat < 10) | (id == 'XK4'))\" --count
  hyperslab query climate.h5 /readings 'temp > 310' --format parquet -o hot.parquet

A condition compares columns and values, and joins comparisons with `&`, `|` and `~` in parentheses. Nested
columns are written `info.level` in a condition and `info/level` in --columns. Only the columns of the
condition and of the result are decoded. TABLE may be a PyTables table or any other one-dimensional dataset of
records. `--format json` prints one object for each row; NaN and infinities are null there.")]
pub(crate) struct Args {
    /// The HDF5 file or its URL
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: OsString,
    /// The path of the table in the file
    #[arg(value_name = "TABLE")]
    table: String,
    /// The condition [default: all rows]
    #[arg(value_name = "CONDITION")]
    condition: Option<String>,
    /// The columns to print, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    columns: Option<Vec<String>>,
    /// Print the number of rows
    #[arg(long, conflicts_with_all = ["columns", "explain"])]
    count: bool,
    /// Print how the rows are found: by which indexes, and how many rows are examined
    #[arg(long)]
    explain: bool,
    /// Print strings as bytes, for strings that are not UTF-8
    #[arg(long)]
    binary: bool,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    threads: Threads,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    args.threads.set();
    let path = Path::new(&args.file);
    args.output.check(path)?;
    let dataset = place::open(path)?.dataset(&args.table).with_context(|| place::shown(path))?;
    let table = Table::new(dataset).with_context(|| place::shown(path))?;
    // A condition without columns is true for all rows.
    let query = args.condition.as_deref().map(|condition| Query::new(&table, condition, &[])).transpose()?;
    if args.count {
        let count = query.map_or_else(|| Ok(table.len()), |query| query.count(0..table.len()))?;
        writeln!(out, "{count}")?;
        return Ok(());
    }
    if args.explain {
        match &query {
            Some(query) => writeln!(out, "{}", query.explain(0..table.len())?)?,
            None => writeln!(out, "{}, without a condition", counted(table.len(), "row"))?,
        }
        return Ok(());
    }
    let options = Options {
        columns: args.columns.clone(),
        limit: args.output.read_limit(),
        forms: Forms { binary: args.binary, ..Forms::default() },
        ..Options::default()
    };
    let scan = Scan::new(&table, query.map(Arc::new), &options)?;
    args.output.write(Box::new(scan.batches()), out)
}
