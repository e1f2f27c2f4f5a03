//! `hyperslab stat`: shows where the bytes of a file are.

use std::cmp::Reverse;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use hyperslab::{Dataset, File, Node, Object, Step, Walk};
use hyperslab_format::layout::Layout;
use hyperslab_format::message::link::LinkTarget;
use indicatif::ProgressBar;
use serde_json::{Value, json};

use super::Outputs;
use crate::place::NamedObject;
use crate::show::paint::{BROKEN, DATATYPE, FAINT, HEAD};
use crate::show::table::{Cell, Table};
use crate::show::{bytes, counted, datatype, plain, shape, storage};
use crate::{place, progress};

/// Show versions, counts, and the stored and decoded bytes of each dataset
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hyperslab stat climate.h5 --sort stored
  hyperslab stat *.h5 --json | jq '.datasets[] | select(.ratio < 1.5) | .path'

An object with several hard links counts once. `share` is the part of all stored bytes, and `ratio` is
decoded bytes over stored bytes. --json prints a line for each file.")]
pub(crate) struct Args {
    /// HDF5 files or their URLs
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The order of the datasets
    #[arg(long, value_enum, value_name = "BY", default_value = "path")]
    sort: Sort,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// An order of datasets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Sort {
    /// As the file lists them
    Path,
    /// The most stored bytes first
    Stored,
    /// The most decoded bytes first
    Decoded,
    /// The worst compression first
    Ratio,
}

/// The facts of a file.
#[derive(Debug, Default)]
struct FileFacts {
    groups: u64,
    datatypes: u64,
    attributes: u64,
    soft_links: u64,
    external_links: u64,
    user_links: u64,
    datasets: Vec<DatasetReport>,
    /// Objects that cannot be read, each with its path and the reason.
    broken: Vec<(String, String)>,
}

/// The facts of a dataset.
#[derive(Debug)]
struct DatasetReport {
    path: String,
    datatype: String,
    /// The datatype in a column of the table.
    short: String,
    shape: Vec<u64>,
    layout: &'static str,
    chunk_shape: Option<Vec<u64>>,
    /// The number of stored chunks, and the most chunks that there can be.
    chunks: Option<(u64, u64)>,
    filters: Vec<String>,
    /// `None` if the bytes are not in this file.
    stored: Option<u64>,
    decoded: u64,
}

pub(super) fn run(args: &Args, to: &mut Outputs<'_>) -> anyhow::Result<()> {
    let files: Vec<NamedObject> = args.files.iter().map(|file| NamedObject::file(file)).collect();
    let mut is_first = true;
    to.each(&files, |to, file| {
        if !std::mem::take(&mut is_first) && !args.json {
            writeln!(to.out)?;
        }
        stat(args, &file.file, to)
    })
}

fn stat(args: &Args, path: &Path, to: &mut Outputs<'_>) -> anyhow::Result<()> {
    let file = place::open(path)?;
    let progress = progress::bar(progress::SPINNER, None)?;
    let mut report = examine(&file, &progress);
    progress.finish_and_clear();
    report.sort(args.sort);
    let path = place::shown(path);
    let len = file.store().medium_bytes().with_context(|| path.clone())?;
    if args.json {
        as_json(&path, len, &file, &report, to.out)?;
    } else {
        as_text(&path, len, &file, &report, to)?;
    }
    match &report.broken[..] {
        [] => Ok(()),
        [_] => bail!("{path}: one object cannot be read"),
        many => bail!("{path}: {} objects cannot be read", many.len()),
    }
}

fn examine(file: &File, progress: &ProgressBar) -> FileFacts {
    let root = file.root();
    let mut report = FileFacts { groups: 1, ..FileFacts::default() };
    report.attributes_of(&root, "/");
    let mut unlisted = Vec::new();
    for step in Walk::new(&root) {
        match step {
            Ok(step) => {
                report.visit(&step, progress);
                progress.inc(1);
            }
            Err((path, error)) => unlisted.push((path.to_string(), error.to_string())),
        }
    }
    report.broken.extend(unlisted);
    report
}

impl FileFacts {
    fn visit(&mut self, step: &Step, progress: &ProgressBar) {
        match &step.link.target {
            LinkTarget::Hard(_) => {}
            LinkTarget::Soft(_) => self.soft_links += 1,
            LinkTarget::External { .. } => self.external_links += 1,
            LinkTarget::User { .. } => self.user_links += 1,
        }
        let (Some(node), None) = (&step.node, &step.before) else { return };
        let path = format!("/{}", step.path);
        progress.set_message(plain(&path));
        let node = match node {
            Ok(node) => node,
            Err(error) => return self.broken.push((path, error.to_string())),
        };
        self.attributes_of(node, &path);
        match node {
            Node::Group(_) => self.groups += 1,
            Node::Datatype(_) => self.datatypes += 1,
            Node::Dataset(dataset) => match DatasetReport::of(path.clone(), dataset, progress) {
                Ok(found) => self.datasets.push(found),
                Err(error) => self.broken.push((path, error.to_string())),
            },
        }
    }

    fn attributes_of(&mut self, object: &Object, path: &str) {
        match object.attribute_count() {
            Ok(count) => self.attributes += count,
            Err(error) => self.broken.push((path.to_owned(), error.to_string())),
        }
    }

    fn sort(&mut self, by: Sort) {
        match by {
            Sort::Path => {}
            Sort::Stored => self.datasets.sort_by_key(|found| Reverse(found.stored)),
            Sort::Decoded => self.datasets.sort_by_key(|found| Reverse(found.decoded)),
            // Without stored bytes there is no ratio.
            Sort::Ratio => self.datasets.sort_by(|a, b| {
                let ratio = |found: &DatasetReport| {
                    let stored = found.stored.filter(|&stored| stored > 0)?;
                    Some(quotient(found.decoded, stored))
                };
                let last = f64::INFINITY;
                ratio(a).unwrap_or(last).total_cmp(&ratio(b).unwrap_or(last))
            }),
        }
    }

    /// Returns the stored and decoded bytes of all datasets whose bytes are in this file.
    fn totals(&self) -> (u64, u64) {
        self.datasets
            .iter()
            .filter_map(|found| Some((found.stored?, found.decoded)))
            .fold((0, 0), |sum, found| (sum.0 + found.0, sum.1.saturating_add(found.1)))
    }
}

impl DatasetReport {
    fn of(path: String, dataset: &Dataset, progress: &ProgressBar) -> hyperslab::Result<Self> {
        let decoded = dataset.len_bytes();
        let mut chunks = None;
        let stored = match dataset.layout() {
            _ if dataset.has_external_files() => None,
            Layout::Virtual { .. } => None,
            Layout::Compact { data } => Some(data.len() as u64),
            Layout::Contiguous(extent) => Some(if extent.addr.is_defined() { decoded } else { 0 }),
            Layout::Chunked(chunked) => {
                let (mut count, mut stored) = (0_u64, 0_u64);
                dataset.visit_chunks(&mut |_, record| {
                    count += 1;
                    stored = stored.saturating_add(record.extent.len);
                    if count.is_multiple_of(TICK) {
                        progress.set_message(format!("{} {count} chunks", plain(&path)));
                    }
                    ControlFlow::Continue(())
                })?;
                let along = dataset.shape().into_iter().zip(&chunked.chunk_shape);
                let most =
                    along.map(|(size, chunk)| size.div_ceil((*chunk).max(1))).fold(1, u64::saturating_mul);
                chunks = Some((count, most));
                Some(stored)
            }
        };
        Ok(Self {
            path,
            datatype: datatype::name(&dataset.datatype()),
            short: datatype::short(&dataset.datatype(), ROOM),
            shape: dataset.shape(),
            layout: storage::layout(dataset),
            chunk_shape: dataset.chunk_shape(),
            chunks,
            filters: dataset.filters().filters.iter().map(storage::filter).collect(),
            stored,
            decoded,
        })
    }

    /// Returns the decoded bytes divided by the stored bytes.
    fn ratio(&self) -> Option<String> {
        ratio(self.decoded, self.stored?)
    }

    fn json(&self) -> Value {
        let ratio = self.ratio().and_then(|ratio| ratio.parse::<f64>().ok());
        let mut said = json!({
            "path": self.path, "dtype": self.datatype, "shape": self.shape, "index": self.layout,
            "filters": self.filters, "decoded": self.decoded, "stored": self.stored, "ratio": ratio,
        });
        if let (Some(chunk), Some((count, most))) = (&self.chunk_shape, self.chunks) {
            said["chunk_shape"] = json!(chunk);
            (said["chunks_stored"], said["chunks"]) = (count.into(), most.into());
        }
        said
    }
}

/// The chunks that are counted between two progress messages.
const TICK: u64 = 100_000;

/// The columns of a datatype in the table.
const ROOM: usize = 40;

fn as_text(
    path: &str,
    len: u64,
    file: &File,
    report: &FileFacts,
    to: &mut Outputs<'_>,
) -> anyhow::Result<()> {
    let (paint, out) = (to.paint, &mut *to.out);
    let store = file.store();
    let widths = store.widths();
    let (stored, decoded) = report.totals();
    let name = paint.styled(HEAD, &plain(path));
    writeln!(out, "file         {name}, {} ({len} bytes)", bytes(len))?;
    writeln!(
        out,
        "superblock   version {}, addresses of {} bytes, lengths of {} bytes",
        store.superblock().version(),
        widths.offset.bytes(),
        widths.length.bytes()
    )?;
    writeln!(out, "user block   {} bytes", store.base())?;
    writeln!(
        out,
        "objects      {}, {}, {}, {}",
        counted(report.groups, "group"),
        counted(report.datasets.len() as u64, "dataset"),
        counted(report.datatypes, "datatype"),
        counted(report.attributes, "attribute")
    )?;
    writeln!(
        out,
        "links        {} soft, {} external, {} user-defined",
        report.soft_links, report.external_links, report.user_links
    )?;
    let share = ratio(decoded, stored).map_or(String::new(), |ratio| format!(", ratio {ratio}"));
    writeln!(out, "data         {} stored, {} decoded{share}", bytes(stored), bytes(decoded))?;
    if !report.datasets.is_empty() {
        writeln!(out)?;
    }
    let mut table = Table::new(out, &[1, 2, 3, 4]).painted(paint);
    if !report.datasets.is_empty() {
        table.row(HEADS.map(|head| Cell::styled(head, HEAD)))?;
    }
    for found in &report.datasets {
        let in_file = found.stored.map_or_else(|| "elsewhere".to_owned(), bytes);
        let share = found
            .stored
            .filter(|_| stored > 0)
            .map_or(String::new(), |bytes| format!("{:.1} %", 100.0 * quotient(bytes, stored)));
        let ratio = found.ratio().unwrap_or_default();
        let chunks = match (found.chunks, &found.chunk_shape) {
            (Some((count, most)), Some(chunk)) => format!("{count} of {most}, {}", shape(chunk)),
            _ => String::new(),
        };
        table.row([
            Cell::from(plain(&found.path)),
            in_file.into(),
            share.into(),
            bytes(found.decoded).into(),
            ratio.into(),
            Cell::styled(&found.short, DATATYPE),
            shape(&found.shape).into(),
            found.layout.into(),
            chunks.into(),
            Cell::styled(found.filters.join(", "), FAINT),
        ])?;
    }
    for (path, reason) in &report.broken {
        table.line(Cell::styled(format!("broken: {}: {}", plain(path), plain(reason)), BROKEN))?;
    }
    Ok(table.finish()?)
}

/// The heads of the columns.
const HEADS: [&str; 10] =
    ["dataset", "stored", "share", "decoded", "ratio", "datatype", "shape", "index", "chunks", "filters"];

fn as_json(path: &str, len: u64, file: &File, report: &FileFacts, out: &mut dyn Write) -> anyhow::Result<()> {
    let (store, widths) = (file.store(), file.store().widths());
    let (stored, decoded) = report.totals();
    let broken = report.broken.iter().map(|(path, reason)| json!({ "path": path, "error": reason }));
    let said = json!({
        "file": path, "bytes": len, "superblock": store.superblock().version(),
        "address_bytes": widths.offset.bytes(), "length_bytes": widths.length.bytes(), "user_block": store.base(),
        "groups": report.groups, "datatypes": report.datatypes, "attributes": report.attributes,
        "soft_links": report.soft_links, "external_links": report.external_links, "user_links": report.user_links,
        "stored": stored, "decoded": decoded,
        "datasets": report.datasets.iter().map(DatasetReport::json).collect::<Vec<_>>(),
        "broken": broken.collect::<Vec<_>>(),
    });
    Ok(writeln!(out, "{said}")?)
}

/// Returns the decoded bytes divided by the stored bytes, with two digits, or `None` if nothing is stored.
fn ratio(decoded: u64, stored: u64) -> Option<String> {
    (stored > 0).then(|| format!("{:.2}", quotient(decoded, stored)))
}

#[expect(clippy::cast_precision_loss, reason = "shown with few digits")]
fn quotient(a: u64, b: u64) -> f64 {
    a as f64 / b as f64
}
