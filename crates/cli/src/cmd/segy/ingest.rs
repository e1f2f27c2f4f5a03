//! `hyperslab segy ingest`: converts SEG-Y to HDF5.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context as _;
use hyperslab::RepackChunks;
use hyperslab_io::os::identity_at;
use hyperslab_segy::{Domain, IngestOptions};

use super::{Taking, blame, check_local};
use crate::cmd::{Threads, repack};
use crate::error::Usage;
use crate::interrupt::Left;
use crate::show::{bytes, counted, plain, shape};
use crate::{filters, progress, target, units};

/// Convert a SEG-Y file to HDF5, with all headers, in chunks that make every slice fast to read
#[derive(Debug, clap::Args)]
#[command(after_help = format!("{EXAMPLE}\n\n{}", filters::help()))]
pub(super) struct Args {
    /// The SEG-Y file
    #[arg(value_name = "SEGY")]
    from: PathBuf,
    /// The new HDF5 file; if an ingest was interrupted, it is continued
    #[arg(value_name = "OUT")]
    to: PathBuf,
    /// A filter for the samples; repeat the option for several filters, which apply in this order
    #[arg(long, value_name = "FILTER", value_parser = filters::parse)]
    filter: Vec<filters::Choice>,
    /// The chunk shape, samples last, or `auto`
    #[arg(long, value_name = "auto|AxBxC", value_parser = repack::chunks)]
    chunks: Option<RepackChunks>,
    /// Samples are in depth, with an interval in thousandths of a metre or foot, instead of in time
    #[arg(long)]
    depth: bool,
    /// The most memory for samples
    #[arg(long, value_name = "SIZE", default_value = "512MiB", value_parser = units::bytes)]
    memory: u64,
    #[command(flatten)]
    threads: Threads,
    /// Replace OUT if it exists
    #[arg(long)]
    overwrite: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    taking: Taking,
}

const EXAMPLE: &str = "\
Examples:
  hyperslab segy ingest volume.sgy cube.h5 --filter blosc2:zstd:5
  hyperslab segy ingest old.sgy cube.h5 --inline-byte 9 --crossline-byte 21 --chunks 64x64x128

If the command is interrupted, run it again to continue. `hyperslab tune` measures which chunk shape
suits a cube.";

impl Args {
    /// Returns what to say about the new file if the command is interrupted.
    pub(super) fn left_by_interrupts(&self) -> Left {
        let to = self.to.clone();
        let before = identity_at(&to).ok();
        let overwrites = self.overwrite;
        Box::new(move || {
            let now = identity_at(&to).ok()?;
            let (is_new, to) = (before != Some(now), to.display());
            let how = "run the command again, without --overwrite, to continue";
            match is_new {
                true => Some(format!("{to} is incomplete: {how}, or remove the file")),
                // Until the new file has its name, an existing one stays.
                false if overwrites => None,
                false => Some(format!("{to} was there before; if this ingest had begun it, {how}")),
            }
        })
    }
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    let options = IngestOptions {
        segy: args.taking.segy(),
        survey: args.taking.survey(),
        filters: filters::chosen(&args.filter)?.unwrap_or_default(),
        chunks: match &args.chunks {
            Some(RepackChunks::Shape(shape)) => Some(shape.clone()),
            Some(RepackChunks::Keep) => {
                return Err(Usage("--chunks keep: a SEG-Y file has no chunks to keep".to_owned()).into());
            }
            _ => None,
        },
        domain: if args.depth { Domain::Depth } else { Domain::Time },
        memory: args.memory,
        overwrite: args.overwrite,
    };
    args.threads.set();
    check_local(&args.from)?;
    target::check_other(&args.to)?;
    let begun = Instant::now();
    let bar = progress::bar(progress::BYTES, Some(0))?;
    let done = hyperslab_segy::ingest(&args.from, &args.to, &options, &super::moves(&bar));
    bar.finish_and_clear();
    let done = done.map_err(|error| blame(error, &args.to))?;
    let seconds = begun.elapsed().as_secs_f64();
    let len = |path: &PathBuf| {
        std::fs::metadata(path).map(|found| found.len()).with_context(|| path.display().to_string())
    };
    let (before, after) = (len(&args.from)?, len(&args.to)?);
    let [from, to] = [&args.from, &args.to].map(|path| path.display().to_string());
    if args.json {
        let said = serde_json::json!({
            "from": from, "to": to, "shape": done.shape, "traces": done.traces, "ibm_words": done.ibm_words,
            "resumed": done.resumed, "note": done.note, "bytes_before": before, "bytes_after": after, "seconds": seconds,
        });
        writeln!(out, "{said}")?;
        return Ok(());
    }
    writeln!(
        out,
        "{}: {} -> {}: {}, {} of shape {}{}",
        plain(&from),
        bytes(before),
        plain(&to),
        bytes(after),
        counted(done.traces, "trace"),
        shape(&done.shape),
        if done.resumed { ", resumed" } else { "" },
    )?;
    if done.ibm_words > 0 {
        writeln!(
            out,
            "  {} without an exact IEEE float: the original bits are kept for export",
            counted(done.ibm_words, "IBM float")
        )?;
    }
    if let Some(note) = done.note {
        writeln!(out, "  {}", plain(&note))?;
    }
    Ok(())
}
