//! `hyperslab repack`: rewrites a file.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context as _;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use hyperslab::{Dataset, File, LibVersion, Node, RepackChunks, RepackOptions, Walk};
use hyperslab_filters::{BloscFilter, FilterChoice};
use hyperslab_tables::{Table, index};
use serde_json::json;

use super::Threads;
use crate::show::{bytes, plain};
use crate::{error, filters, place, progress, target};

/// Rewrite a file, with other filters, chunk shapes or versions of structures
#[derive(Debug, clap::Args)]
#[command(after_help = format!("{EXAMPLE}\n\n{}", filters::help()))]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(crate) struct Args {
    /// The HDF5 file or its URL
    #[arg(value_name = "IN")]
    from: PathBuf,
    /// The new file, which gets its name only when it is complete
    #[arg(value_name = "OUT")]
    to: PathBuf,
    /// A filter for every chunked dataset; repeat the option for several filters, which apply in this order
    #[arg(long, value_name = "FILTER", value_parser = filters::parse)]
    filter: Vec<filters::Choice>,
    /// Shuffle bytes before the other filters
    #[arg(long, requires = "filter")]
    shuffle: bool,
    /// `keep` the chunk shapes, choose them (`auto`), or set them (`AxBxC`)
    #[arg(long, value_name = "auto|keep|AxBxC", value_parser = chunks)]
    chunks: Option<RepackChunks>,
    /// Encode every filtered chunk again, also if its filters stay: tables whose Blosc 2 chunks other
    /// programs wrote become faster to search
    #[arg(long)]
    encode: bool,
    /// Take over only this object and everything below it; may be repeated
    #[arg(long, value_name = "PATH")]
    select: Vec<String>,
    /// The oldest libhdf5 that must be able to read the file [default: structures keep their versions]
    #[arg(long, value_name = "VERSION", value_parser = version())]
    libver: Option<LibVersion>,
    #[command(flatten)]
    threads: Threads,
    /// Replace OUT if it exists
    #[arg(long)]
    overwrite: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLE: &str = "\
Examples:
  hyperslab repack climate.h5 small.h5 --filter zstd:5 --shuffle
  hyperslab repack climate.h5 surface.h5 --select /surface --chunks auto --filter blosc2:lz4
  hyperslab repack pytables.h5 fast.h5 --filter blosc2:lz4 --encode

Takes over everything: links, attributes, references, committed datatypes, fill values, the user block.
Unused space is dropped. Chunks that keep their shape and filters are copied as they are stored. With a
filter, contiguous data of at least 4 KiB become chunked unless --chunks is `keep`. Compact data stay
compact. A selected table takes its indexes along. Indexes that depend on the chunk shape of their table
are built again if the shape changes.

Blosc 2 chunks of table rows that hyperslab encodes have a stream for each byte of a row, so a search decodes
only the columns that it needs, and bounds of the columns, which skip chunks. Other programs read both
layouts. --encode stores the chunks of other programs in this way. `--filter blosc:lz4` or `--filter gzip`
stores rows as other programs do.";

impl Args {
    fn options(&self) -> anyhow::Result<RepackOptions> {
        let mut options = RepackOptions::default();
        let shuffle = self.shuffle.then_some(Some(FilterChoice::Shuffle));
        let named: Vec<_> = shuffle.into_iter().chain(self.filter.iter().cloned()).collect();
        options.filters = filters::chosen(&named)?;
        options.chunks = self.chunks.clone().unwrap_or_default();
        options.encode = self.encode;
        options.version = self.libver;
        options.select.clone_from(&self.select);
        options.overwrite = self.overwrite;
        Ok(options)
    }

    /// Returns whether the object at this path from the root is taken over.
    fn takes(&self, path: &str) -> bool {
        let is_at_or_below = |selected: &str| {
            let rest = path.strip_prefix(selected.trim_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || selected == "/")
        };
        self.select.is_empty() || self.select.iter().any(|selected| is_at_or_below(selected))
    }
}

/// Returns a parser for the names of versions.
fn version() -> impl TypedValueParser<Value = LibVersion> {
    let names = PossibleValuesParser::new(LibVersion::NAMES.map(|(name, _)| name));
    names.try_map(|name| LibVersion::named(&name).ok_or("not a version of libhdf5"))
}

/// Parses the value of `--chunks`.
pub(super) fn chunks(text: &str) -> Result<RepackChunks, String> {
    let sides = || {
        text.split('x').map(|side| side.parse().ok().filter(|&side| side > 0)).collect::<Option<Vec<u64>>>()
    };
    match text {
        "auto" => Ok(RepackChunks::Auto),
        "keep" => Ok(RepackChunks::Keep),
        _ => sides().map(RepackChunks::Shape).ok_or_else(|| "not a chunk shape such as 100x200".to_owned()),
    }
}

pub(super) fn run(args: &Args, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<()> {
    let mut options = args.options()?;
    args.threads.set();
    let from = place::open(&args.from)?;
    target::check_other(&args.to)?;
    target::check_new(&args.to, args.overwrite)?;
    let begun = Instant::now();
    let indexes: Vec<String> = options.select.iter().filter_map(|path| indexes_of(&from, path)).collect();
    options.select.extend(indexes);
    let outdated = outdated(&from, args);
    options.leave_out.extend(outdated.iter().filter_map(|path| indexes_of(&from, path)));
    let misfits = Misfits::of(&from, args);
    // The total of the progress bar is the bytes of all datasets.
    let lengths = datasets(&from, args).map(|(_, dataset)| dataset.len_bytes());
    let progress = progress::bar(progress::BYTES, Some(lengths.fold(0, u64::saturating_add)))?;
    let done = from.repack(&args.to, &options, &|bytes| progress.inc(bytes));
    progress.finish_and_clear();
    done.map_err(|error| error::between(&args.from, &args.to, error))?;
    let rebuilt = rebuilt(&from, &args.to, &outdated).with_context(|| args.to.display().to_string())?;
    let size = |path: &PathBuf| {
        std::fs::metadata(path).map(|found| found.len()).with_context(|| path.display().to_string())
    };
    let (before, after) = (from.store().medium_bytes()?, size(&args.to)?);
    let [source, target] = [&args.from, &args.to].map(|path| place::shown(path));
    if misfits.fitting == 0 && !misfits.others.is_empty() {
        writeln!(err, "hyperslab: {misfits}")?;
    }
    if after > before
        && let Some(filters) = options.filters.as_deref().filter(|filters| !filters.is_empty())
    {
        let what = if filters.iter().any(shuffles) { "try another filter" } else { "add --shuffle" };
        let [source, target] = [&source, &target].map(|name| plain(name));
        writeln!(err, "hyperslab: {target} is larger than {source}: {what}")?;
    }
    if args.json {
        let kept: Vec<&str> = misfits.others.iter().map(|(path, _)| path.as_str()).collect();
        let said = json!({
            "from": source, "to": target, "bytes_before": before, "bytes_after": after, "element_bytes":
            progress.position(), "seconds": begun.elapsed().as_secs_f64(), "other_rank": kept,
            "indexes_rebuilt": rebuilt,
        });
        writeln!(out, "{said}")?;
        return Ok(());
    }
    let share = match before {
        0 => String::new(),
        _ => format!(", {:.1} %", 100.0 * ratio(after, before)),
    };
    writeln!(out, "{}: {} -> {}: {}{share}", plain(&source), bytes(before), plain(&target), bytes(after))?;
    if misfits.fitting > 0 && !misfits.others.is_empty() {
        writeln!(out, "{misfits}")?;
    }
    for index in rebuilt {
        writeln!(out, "index {}: built again for the new chunks of its table", plain(&index))?;
    }
    Ok(())
}

/// Returns whether a filter knows elements. Others compress numbers badly without a shuffle before them.
fn shuffles(filter: &FilterChoice) -> bool {
    match filter {
        FilterChoice::Blosc { filter, .. } | FilterChoice::Blosc2 { filter, .. } => {
            *filter != BloscFilter::None
        }
        // The coders of these filters take elements, and not bytes.
        FilterChoice::Szip { .. }
        | FilterChoice::NBit
        | FilterChoice::ScaleOffset { .. }
        | FilterChoice::Zfp { .. } => true,
        other => matches!(other, FilterChoice::Shuffle | FilterChoice::Bitshuffle { .. }),
    }
}

/// Returns the path of the indexes of a selected table, if it has any.
fn indexes_of(from: &File, path: &str) -> Option<String> {
    let table = from.dataset(path).ok().filter(|table| Table::is_table(table).unwrap_or(false))?;
    index::container_of(&table).ok().flatten()
}

/// Returns the paths of the tables whose indexes count rows in chunks that get another shape.
fn outdated(from: &File, args: &Args) -> Vec<String> {
    let Some(chunks) = args.chunks.as_ref().filter(|chunks| **chunks != RepackChunks::Keep) else {
        return Vec::new();
    };
    let is_outdated = |table: &Dataset| {
        Table::is_table(table).unwrap_or(false)
            && !matches!(chunks, RepackChunks::Shape(shape) if table.chunk_shape().as_ref() == Some(shape))
            && index::container_of(table).is_ok_and(|indexes| indexes.is_some())
    };
    let tables = datasets(from, args).filter(|(_, table)| is_outdated(table));
    tables.map(|(path, _)| format!("/{path}")).collect()
}

/// Builds the indexes of these tables in the new file. Returns the tables and columns.
fn rebuilt(from: &File, to: &Path, tables: &[String]) -> anyhow::Result<Vec<String>> {
    let mut rebuilt = Vec::new();
    if tables.is_empty() {
        return Ok(rebuilt);
    }
    let new = File::options().write(true).open(to)?;
    for path in tables {
        let (old, table) = (from.dataset(path)?, new.dataset(path)?);
        for column in index::indexed_columns(&old)? {
            index::build_like(&old, &table, &column)?;
            rebuilt.push(format!("{path} {column}"));
        }
    }
    new.close()?;
    Ok(rebuilt)
}

/// The datasets that could be chunked, but whose rank differs from that of `--chunks`.
#[derive(Default)]
struct Misfits {
    shape: Vec<u64>,
    fitting: usize,
    /// The paths and ranks of these datasets.
    others: Vec<(String, usize)>,
}

impl Misfits {
    fn of(from: &File, args: &Args) -> Self {
        let Some(RepackChunks::Shape(shape)) = &args.chunks else { return Self::default() };
        let mut found = Self { shape: shape.clone(), ..Self::default() };
        for (path, dataset) in datasets(from, args) {
            match dataset.shape().len() {
                _ if !RepackChunks::can_chunk(&dataset) => {}
                rank if rank == shape.len() => found.fitting += 1,
                rank => found.others.push((path, rank)),
            }
        }
        found
    }
}

impl std::fmt::Display for Misfits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shape: Vec<String> = self.shape.iter().map(ToString::to_string).collect();
        write!(f, "--chunks {} does not fit", shape.join("x"))?;
        for (number, (path, rank)) in self.others.iter().take(NAMED).enumerate() {
            let comma = if number > 0 { "," } else { "" };
            write!(f, "{comma} {} (rank {rank})", plain(path))?;
        }
        match self.others.len().saturating_sub(NAMED) {
            0 => write!(f, ": stored as before"),
            more => write!(f, " and {more} others: stored as before"),
        }
    }
}

/// The most datasets that are named. Others are only counted.
const NAMED: usize = 5;

#[expect(clippy::cast_precision_loss, reason = "shown with one digit after the point")]
fn ratio(after: u64, before: u64) -> f64 {
    after as f64 / before as f64
}

/// Returns the datasets that are taken over, with their paths.
fn datasets(from: &File, args: &Args) -> impl Iterator<Item = (String, Dataset)> {
    Walk::new(&from.root()).flatten().filter_map(|step| match step.new_node() {
        Some(Node::Dataset(dataset)) if args.takes(&step.path) => {
            Some((step.path.to_string(), dataset.clone()))
        }
        _ => None,
    })
}
