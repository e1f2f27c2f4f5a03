//! References as the Parquet files of kerchunk, which fsspec reads piece by piece.
//!
//! A folder has `.zmetadata`, and for each array `refs.N.parq` with the same number of references, in
//! row-major order of the chunks. A file whose chunks were all never written is left out.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use arrow_array::{ArrayRef, BinaryArray, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use super::{Array, Chunk, Plan, Sink, group_entries};
use crate::interrupt::Incomplete;
use crate::show::json;

/// The references in each file, unless the user says otherwise.
pub const RECORD: usize = 100_000;

/// Writes references into the folder `target`, which must not exist, with `record` references in each file.
///
/// Errors: those of the file and of the folder; a folder or a file of this name exists.
pub fn write(plan: &Plan, target: &Path, record: usize) -> anyhow::Result<()> {
    let shown = || target.display().to_string();
    ensure!(
        target.symlink_metadata().is_err(),
        "{} exists already: remove it, or give another name",
        target.display()
    );
    let mut name = target.file_name().with_context(shown)?.to_owned();
    name.push(".part");
    let part = target.with_file_name(name);
    // What an earlier attempt left.
    if part.is_dir() {
        fs::remove_dir_all(&part).with_context(shown)?;
    }
    fs::create_dir(&part).with_context(shown)?;
    let incomplete = Incomplete::folder(&part);
    let done = Folder::new(part.clone(), record).fill(plan);
    let done = done.and_then(|()| incomplete.finish(target).with_context(shown));
    if done.is_err() {
        // The error tells more than one from removing what is incomplete.
        let _ = fs::remove_dir_all(&part);
    }
    done
}

struct Folder {
    path: PathBuf,
    /// The references in each file.
    record: usize,
    metadata: Vec<String>,
    /// The number of the file that is being filled, and its references.
    number: u64,
    current: Vec<Option<Reference>>,
    /// References of an array whose chunks come in any order, by the number of the chunk.
    waiting: Vec<(u64, Reference)>,
    url: Arc<str>,
}

#[derive(Debug, Clone)]
enum Reference {
    Stored { url: Arc<str>, offset: i64, len: i64 },
    Bytes(Box<[u8]>),
}

impl Folder {
    fn new(path: PathBuf, record: usize) -> Self {
        let (number, current, waiting) = (0, Vec::new(), Vec::new());
        Self { path, record: record.max(1), metadata: Vec::new(), number, current, waiting, url: "".into() }
    }

    fn fill(mut self, plan: &Plan) -> anyhow::Result<()> {
        plan.write(&mut self)?;
        let mut file = File::create(self.path.join(".zmetadata"))?;
        let (metadata, record) = (self.metadata.join(",\n"), self.record);
        Ok(writeln!(file, "{{\"metadata\":{{\n{metadata}\n}},\"record_size\":{record}}}")?)
    }

    fn texts(&mut self, entries: [(String, &str); 2]) {
        self.metadata.extend(entries.map(|(key, text)| format!("{}:{text}", json(&key))));
    }

    /// Takes the next reference in row-major order.
    fn put(&mut self, array: &Array, number: u64, reference: Reference) -> anyhow::Result<()> {
        let record = self.record as u64;
        let (file, at) = (number / record, usize::try_from(number % record)?);
        // A file that is written is not written again.
        ensure!(file >= self.number, "the index of chunks is damaged: it is not in order");
        if file != self.number {
            self.flush(array)?;
            self.number = file;
        }
        if self.current.is_empty() {
            self.current.resize(self.record, None);
        }
        self.current[at] = Some(reference);
        Ok(())
    }

    /// Writes the file that is being filled.
    fn flush(&mut self, array: &Array) -> anyhow::Result<()> {
        if self.current.is_empty() {
            return Ok(());
        }
        let total = array.grid.iter().fold(1, |count: u64, &len| count.saturating_mul(len));
        let left = total - self.number * self.record as u64;
        let rows = usize::try_from(left).unwrap_or(usize::MAX).min(self.record);
        let rows = &self.current[..rows];
        let stored = |row: &Option<Reference>| match row {
            Some(Reference::Stored { offset, len, .. }) => (*offset, *len),
            _ => (0, 0),
        };
        let urls = rows.iter().map(|row| match row {
            Some(Reference::Stored { url, .. }) => Some(&**url),
            _ => None,
        });
        let raw = rows.iter().map(|row| match row {
            Some(Reference::Bytes(bytes)) => Some(&**bytes),
            _ => None,
        });
        let mut fields = vec![
            Field::new("path", DataType::Utf8, true),
            Field::new("offset", DataType::Int64, false),
            Field::new("size", DataType::Int64, false),
        ];
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(urls.collect::<StringArray>()),
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| stored(row).0))),
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| stored(row).1))),
        ];
        if raw.clone().any(|bytes| bytes.is_some()) {
            fields.push(Field::new("raw", DataType::Binary, true));
            columns.push(Arc::new(raw.collect::<BinaryArray>()));
        }
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?;
        let path = self.path.join(&array.path).join(format!("refs.{}.parq", self.number));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(parquet::basic::ZstdLevel::default()))
            .set_statistics_enabled(EnabledStatistics::None)
            // Without a count of nulls, the package fastparquet reads integers as floating-point numbers.
            .set_column_statistics_enabled(ColumnPath::from("offset"), EnabledStatistics::Chunk)
            .set_column_statistics_enabled(ColumnPath::from("size"), EnabledStatistics::Chunk);
        let file = File::create(&path).with_context(|| path.display().to_string())?;
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties.build()))?;
        writer.write(&batch)?;
        writer.close()?;
        self.current.clear();
        Ok(())
    }
}

impl Sink for Folder {
    fn group(&mut self, path: &str, attributes: &str) -> anyhow::Result<()> {
        self.texts(group_entries(path, attributes));
        Ok(())
    }

    fn array(&mut self, array: &Array) -> anyhow::Result<()> {
        self.texts(array.entries());
        let is_folder = |name: &str| !matches!(name, "" | "." | "..");
        ensure!(array.path.split('/').all(is_folder), "no folder can have this name");
        let folder = self.path.join(&array.path);
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        self.number = 0;
        Ok(())
    }

    fn chunk(&mut self, array: &Array, coord: &[u64], chunk: Chunk<'_>) -> anyhow::Result<()> {
        let reference = match chunk {
            Chunk::Stored { url, offset, len } => {
                if *self.url != *url {
                    self.url = url.into();
                }
                let (offset, len) = (i64::try_from(offset)?, i64::try_from(len)?);
                Reference::Stored { url: Arc::clone(&self.url), offset, len }
            }
            Chunk::Bytes(bytes) => Reference::Bytes(bytes.into()),
        };
        let number = array.number(coord);
        if array.is_ordered {
            return self.put(array, number, reference);
        }
        self.waiting.push((number, reference));
        Ok(())
    }

    fn end_array(&mut self, array: &Array) -> anyhow::Result<()> {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.sort_by_key(|(number, _)| *number);
        for (number, reference) in waiting {
            self.put(array, number, reference)?;
        }
        self.flush(array)
    }
}
