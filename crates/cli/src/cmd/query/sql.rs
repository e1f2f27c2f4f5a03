//! `hyperslab sql`: runs a statement of SQL on the tables of a file.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

use arrow_array::RecordBatchReader;

use super::output::Output;
use crate::error::{Lines, Usage};
use crate::place;

/// Run an SQL query on the tables in a file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hyperslab sql climate.h5 'select id, avg(temp) from readings where lat > 40 group by id'
  hyperslab sql climate.h5 'select * from \"/2024/readings\" where temp > 310' --format csv -o hot.csv

DuckDB runs the statement: install it with `pip install duckdb` where hyperslab's Python package is. With
pyarrow it reads only the columns that the statement needs. A table has the name of the last part of its path,
or its whole path in double quotes. Only the tables that the statement names are opened. Statements
that would change or write something are refused.")]
pub(crate) struct Args {
    /// The HDF5 file or its URL
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: OsString,
    /// The statement
    #[arg(value_name = "STATEMENT")]
    statement: String,
    #[command(flatten)]
    output: Output,
}

/// What runs statements of SQL: the Python package has it, the program does not.
pub trait Sql {
    /// Returns the rows of the result of `statement`, whose tables are those of `file`.
    fn run(&self, file: &Path, statement: &str) -> anyhow::Result<Box<dyn RecordBatchReader + Send>>;
}

pub(crate) fn run(args: &Args, out: &mut dyn Write, sql: Option<&dyn Sql>) -> anyhow::Result<()> {
    let file = Path::new(&args.file);
    args.output.check(file)?;
    let Some(sql) = sql else {
        let why = "this program has no SQL: `pip install hyperslab duckdb` brings a command `hyperslab` \
                   that has it; `hyperslab query` selects rows without SQL";
        return Err(Usage(why.to_owned()).into());
    };
    // A file that cannot be opened has the same message and hint here as in all commands.
    place::open(file)?;
    let rows = sql.run(file, &args.statement).map_err(|error| Lines(error.to_string()))?;
    args.output.write(rows, out)
}
