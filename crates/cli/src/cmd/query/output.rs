//! Record batches as text, or as a file of another format.

use std::io::{self, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use indicatif::ProgressBar;

use crate::error::Usage;
use crate::progress;
use crate::show::plain;
use crate::show::table::Table;
use crate::target::{self, OutputFile};

/// The rows that are printed as text unless there is a limit.
const SHOWN: u64 = 1000;

/// A form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Aligned columns
    Table,
    /// Values separated by commas, after a line of names
    Csv,
    /// One JSON object for each row, in lines
    Json,
    /// Arrow IPC: a file with -o, a stream without
    Arrow,
    /// Parquet, compressed with Zstandard
    #[cfg(feature = "parquet")]
    Parquet,
}

impl Format {
    fn is_text(self) -> bool {
        matches!(self, Self::Table | Self::Csv | Self::Json)
    }
}

/// Where rows are written, and how.
#[derive(Debug, clap::Args)]
pub(super) struct Output {
    /// The form of the output
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Write at most N rows, or all if N is 0 [default: 1000 as a table, else all]
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Write to FILE, which is replaced when the new one, FILE.part, is complete
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    target: Option<PathBuf>,
}

impl Output {
    /// Refuses to write bytes to a terminal, and to replace the file with the rows.
    pub(super) fn check(&self, input: &Path) -> anyhow::Result<()> {
        if let Some(path) = &self.target {
            return target::check(path, input);
        }
        if !self.format.is_text() && io::stdout().is_terminal() {
            return Err(
                Usage("this format is no text: give a file with -o, or pipe the output".to_owned()).into()
            );
        }
        Ok(())
    }

    fn limit(&self) -> u64 {
        match self.limit {
            None if self.format == Format::Table => SHOWN,
            None | Some(0) => u64::MAX,
            Some(limit) => limit,
        }
    }

    /// Returns the number of rows to read: one more than is written, to know whether there are more.
    pub(super) fn read_limit(&self) -> Option<u64> {
        self.limit().checked_add(1)
    }

    /// Writes the rows.
    pub(super) fn write(
        &self,
        rows: Box<dyn RecordBatchReader + Send>,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        // On a terminal the rows themselves show the progress.
        let shows = self.target.is_some() || !io::stdout().is_terminal();
        let bar = if shows { progress::bar(ROWS, None)? } else { ProgressBar::hidden() };
        let mut rows = Limited { rows, left: self.limit(), has_more: false, bar };
        if let Some(path) = &self.target {
            return self.replace(path, &mut rows);
        }
        #[cfg(feature = "parquet")]
        if self.format == Format::Parquet {
            // The writer wants a file of its own.
            let mut file = tempfile::tempfile().context("a temporary file")?;
            parquet(&mut rows, &file)?;
            io::Seek::rewind(&mut file)?;
            io::copy(&mut file, out)?;
            return Ok(());
        }
        let mut out = Noting { out, failed: None };
        let done = match self.format {
            Format::Arrow => stream(&mut rows, &mut out),
            format => text(format, &mut rows, &mut out),
        };
        out.explained(done)
    }

    /// Writes the file at `path`.
    fn replace(&self, path: &Path, rows: &mut Limited) -> anyhow::Result<()> {
        let shown = || path.display().to_string();
        let mut out =
            Noting { out: io::BufWriter::new(OutputFile::new(path).with_context(shown)?), failed: None };
        let done = self.file(rows, &mut out).and_then(|()| Ok(out.flush()?));
        out.explained(done).with_context(shown)?;
        let target = out.out.into_inner().map_err(io::IntoInnerError::into_error).with_context(shown)?;
        target.finish().with_context(shown)
    }

    fn file(&self, rows: &mut Limited, out: &mut (impl Write + Send)) -> anyhow::Result<()> {
        match self.format {
            #[cfg(feature = "parquet")]
            Format::Parquet => parquet(rows, out),
            Format::Arrow => {
                let mut writer = FileWriter::try_new(out, &rows.rows.schema())?;
                rows.try_for_each(|batch| anyhow::Ok(writer.write(&batch?)?))?;
                Ok(writer.finish()?)
            }
            format => text(format, rows, out),
        }
    }
}

/// Batches with at most `left` rows.
struct Limited {
    rows: Box<dyn RecordBatchReader + Send>,
    left: u64,
    /// Whether there are rows after the last one.
    has_more: bool,
    bar: ProgressBar,
}

impl Drop for Limited {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The number of rows that are written.
const ROWS: &str = "{spinner} {human_pos} rows, {elapsed}";

impl Iterator for Limited {
    type Item = anyhow::Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_more {
            return None;
        }
        let batch = match self.rows.next()? {
            Ok(batch) => batch,
            Err(error) => return Some(Err(error.into())),
        };
        let count = batch.num_rows().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        self.left -= count as u64;
        self.bar.inc(count as u64);
        self.has_more = count < batch.num_rows();
        Some(Ok(batch.slice(0, count)))
    }
}

/// Writes rows as text.
fn text(format: Format, rows: &mut Limited, out: &mut dyn Write) -> anyhow::Result<()> {
    match format {
        Format::Csv => {
            let schema = rows.rows.schema();
            if let Some(nested) = schema.fields().iter().find(|field| field.data_type().is_nested()) {
                bail!(
                    "column {}: CSV has no nested columns: name others in --columns, or use --format json",
                    plain(nested.name())
                );
            }
            // The writer leaves the names out if there is no row.
            let mut writer = arrow_csv::Writer::new(out);
            writer.write(&RecordBatch::new_empty(schema))?;
            rows.try_for_each(|batch| anyhow::Ok(writer.write(&batch?)?))
        }
        Format::Json => {
            let mut writer = arrow_json::LineDelimitedWriter::new(out);
            rows.try_for_each(|batch| anyhow::Ok(writer.write(&batch?)?))?;
            Ok(writer.finish()?)
        }
        _ => table(rows, out),
    }
}

fn table(rows: &mut Limited, out: &mut dyn Write) -> anyhow::Result<()> {
    let schema = rows.rows.schema();
    let numbers = schema.fields().iter().enumerate().filter(|(_, field)| field.data_type().is_numeric());
    let right: Vec<usize> = numbers.map(|(number, _)| number).collect();
    let mut table = Table::new(&mut *out, &right);
    table.row(schema.fields().iter().map(|field| plain(field.name())))?;
    let options = FormatOptions::default().with_null("null");
    for batch in &mut *rows {
        let batch = batch?;
        let cells = batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options));
        let cells = cells.collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            table.row(cells.iter().map(|cell| plain(&cell.value(row).to_string())))?;
        }
    }
    table.finish()?;
    if rows.has_more {
        writeln!(out, "(more rows; --limit 0 prints all)")?;
    }
    Ok(())
}

fn stream(rows: &mut Limited, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut writer = StreamWriter::try_new(out, &rows.rows.schema())?;
    rows.try_for_each(|batch| anyhow::Ok(writer.write(&batch?)?))?;
    Ok(writer.finish()?)
}

#[cfg(feature = "parquet")]
fn parquet(rows: &mut Limited, file: impl Write + Send) -> anyhow::Result<()> {
    use parquet::arrow::ArrowWriter;
    use parquet::basic::{Compression, ZstdLevel};
    use parquet::file::properties::WriterProperties;

    let compression = Compression::ZSTD(ZstdLevel::default());
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut writer = ArrowWriter::try_new(file, rows.rows.schema(), Some(properties))?;
    rows.try_for_each(|batch| anyhow::Ok(writer.write(&batch?)?))?;
    writer.close()?;
    Ok(())
}

/// Remembers why the output failed. The writers wrap its errors in their own.
struct Noting<W> {
    out: W,
    failed: Option<io::Error>,
}

impl<W> Noting<W> {
    fn noted<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        done.inspect_err(|error| {
            let kind = || io::Error::from(error.kind());
            self.failed = Some(error.raw_os_error().map_or_else(kind, io::Error::from_raw_os_error));
        })
    }

    /// Returns the result of a writer, or the error of the output that caused it.
    fn explained(&mut self, done: anyhow::Result<()>) -> anyhow::Result<()> {
        match (done, self.failed.take()) {
            (Err(_), Some(error)) => Err(error.into()),
            (done, _) => done,
        }
    }
}

impl<W: Write> Write for Noting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.out.write(bytes);
        self.noted(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.out.flush();
        self.noted(done)
    }
}
