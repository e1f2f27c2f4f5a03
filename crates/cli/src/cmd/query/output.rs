//! Record batches as text, or as a file of another format.

use std::fs::Permissions;
use std::io::{self, IsTerminal as _, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_ipc::writer::{FileWriter, StreamWriter};

use crate::error::Usage;
use crate::show::plain;
use crate::show::table::Table;

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
    /// Write to FILE, which is replaced when it is complete
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    target: Option<PathBuf>,
}

impl Output {
    /// Refuses to write bytes to a terminal.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        if self.target.is_none() && !self.format.is_text() && io::stdout().is_terminal() {
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
        let mut rows = Limited { rows, left: self.limit(), has_more: false };
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
        // The writers wrap errors of the output in their own.
        match (done, out.failed) {
            (Err(_), Some(kind)) => Err(io::Error::from(kind).into()),
            (done, _) => done,
        }
    }

    /// Writes a file beside `path`, and gives it this name when it is complete.
    fn replace(&self, path: &Path, rows: &mut Limited) -> anyhow::Result<()> {
        let shown = || path.display().to_string();
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        // As any new file: the mask of the process decides.
        let permissions = Permissions::from_mode(0o666);
        let made =
            tempfile::Builder::new().permissions(permissions).tempfile_in(folder.unwrap_or(Path::new(".")));
        let mut file = made.with_context(shown)?;
        match self.format {
            #[cfg(feature = "parquet")]
            Format::Parquet => parquet(rows, file.as_file())?,
            Format::Arrow => {
                let mut writer = FileWriter::try_new_buffered(file.as_file_mut(), &rows.rows.schema())?;
                rows.try_for_each(|batch| anyhow::Ok(writer.write(&batch?)?))?;
                writer.finish()?;
            }
            format => {
                let mut out = io::BufWriter::new(file.as_file_mut());
                text(format, rows, &mut out)?;
                out.flush().with_context(shown)?;
            }
        }
        file.persist(path).map_err(|error| error.error).with_context(shown)?;
        Ok(())
    }
}

/// Batches with at most `left` rows.
struct Limited {
    rows: Box<dyn RecordBatchReader + Send>,
    left: u64,
    /// Whether there are rows after the last one.
    has_more: bool,
}

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
        self.has_more = count < batch.num_rows();
        Some(Ok(batch.slice(0, count)))
    }
}

/// Writes rows as text.
fn text(format: Format, rows: &mut Limited, out: &mut dyn Write) -> anyhow::Result<()> {
    match format {
        Format::Csv => {
            // The writer leaves the names out if there is no row.
            let names = RecordBatch::new_empty(rows.rows.schema());
            let mut writer = arrow_csv::Writer::new(out);
            writer.write(&names).map_err(not_flat)?;
            rows.try_for_each(|batch| writer.write(&batch?).map_err(not_flat))
        }
        Format::Json => {
            let mut writer = arrow_json::LineDelimitedWriter::new(out);
            rows.try_for_each(|batch| anyhow::Ok(writer.write(&batch?)?))?;
            Ok(writer.finish()?)
        }
        _ => table(rows, out),
    }
}

/// Adds what to do to the error for a nested column.
fn not_flat(error: arrow_schema::ArrowError) -> anyhow::Error {
    anyhow::Error::new(error)
        .context("CSV has no nested columns: name others in --columns, or use --format json")
}

fn table(rows: &mut Limited, out: &mut dyn Write) -> anyhow::Result<()> {
    let schema = rows.rows.schema();
    let numbers = schema.fields().iter().enumerate().filter(|(_, field)| field.data_type().is_numeric());
    let right: Vec<usize> = numbers.map(|(number, _)| number).collect();
    let mut table = Table::new(&mut *out, &right);
    table.row(schema.fields().iter().map(|field| plain(field.name())).collect())?;
    let options = FormatOptions::default().with_null("null");
    for batch in &mut *rows {
        let batch = batch?;
        let cells = batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options));
        let cells = cells.collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            table.row(cells.iter().map(|cell| plain(&cell.value(row).to_string())).collect())?;
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
fn parquet(rows: &mut Limited, file: &std::fs::File) -> anyhow::Result<()> {
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

/// Remembers why the output failed.
struct Noting<'w> {
    out: &'w mut dyn Write,
    failed: Option<io::ErrorKind>,
}

impl Noting<'_> {
    fn noted<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &done {
            self.failed = Some(error.kind());
        }
        done
    }
}

impl Write for Noting<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.out.write(bytes);
        self.noted(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.out.flush();
        self.noted(done)
    }
}
