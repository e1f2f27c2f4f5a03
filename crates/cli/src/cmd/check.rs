//! `hyperslab check`: whether a file is sound.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::bail;
use hyperslab::check::{self, CheckOptions, Finding, Report, Severity};
use hyperslab::driver::Posix;

use crate::{error, progress};
use crate::show::{bytes, counted, json, plain};

/// Check every structure of a file, and account for every byte
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  hyperslab check climate.h5
  hyperslab check climate.h5 --data --json | jq '.findings[] | select(.severity == \"error\")'

Walks everything that can be reached: each structure is decoded, its checksum, counts and order are verified, and no two may
share a byte. Errors end the command with 1. Warnings are things that do no harm, such as space that nothing reaches; with
--strict they end it with 1, too. Nothing is written; a file that a crash left half-way is checked as `hyperslab recover`
would leave it.")]
pub(crate) struct Args {
    /// The HDF5 file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Decode every chunk, and follow variable-length elements and references
    #[arg(long)]
    data: bool,
    /// End with 1 where there are warnings
    #[arg(long)]
    strict: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    let path = &args.file;
    let opening = |error| error::opening(path, error);
    let driver = Posix::open(path).map_err(hyperslab::Error::io("open", 0, 0)).map_err(opening)?;
    let mut options = CheckOptions::default();
    options.data = args.data;
    let progress = progress::bar(progress::SPINNER, None)?;
    let report = check::check(Arc::new(driver), &options, &mut |now| {
        let chunks = now.totals.chunks;
        progress.set_message(if chunks == 0 {
            plain(now.path)
        } else {
            format!("{} {chunks} chunks", plain(now.path))
        });
    });
    progress.finish_and_clear();
    let report = report.map_err(opening)?;
    let shown = plain(&path.display().to_string());
    if args.json {
        as_json(&path.display().to_string(), args.data, &report, out)?;
    } else {
        as_text(&shown, &report, out)?;
    }
    let (errors, warnings) = (report.count(Severity::Error), report.count(Severity::Warning));
    if errors > 0 {
        bail!("{shown}: {}", counted(errors, "error"));
    }
    if args.strict && warnings > 0 {
        bail!("{shown}: {}", counted(warnings, "warning"));
    }
    Ok(())
}

fn as_text(shown: &str, report: &Report, out: &mut dyn Write) -> anyhow::Result<()> {
    for finding in &report.findings {
        writeln!(out, "{}", plain(&finding.to_string()))?;
    }
    if report.left_out() > 0 {
        writeln!(out, "({} more)", report.left_out())?;
    }
    let totals = &report.totals;
    let verdict = match report.worst() {
        Some(Severity::Error) => "damaged",
        Some(Severity::Warning) => "sound, with warnings",
        Some(Severity::Note) | None => "sound",
    };
    writeln!(out, "{shown}: {verdict}")?;
    let objects = [
        counted(totals.groups, "group"),
        counted(totals.datasets, "dataset"),
        counted(totals.datatypes, "datatype"),
        counted(totals.links, "link"),
        counted(totals.attributes, "attribute"),
    ];
    writeln!(out, "  objects     {}", objects.join(", "))?;
    let (structures, chunks) = (counted(totals.structures, "structure"), counted(totals.chunks, "chunk"));
    writeln!(out, "  checked     {structures}, {chunks}, {} decoded", totals.decoded)?;
    let (free, lost) = (bytes(totals.free_bytes), bytes(totals.lost_bytes));
    writeln!(out, "  space       {}, {free} free, {lost} lost", bytes(totals.bytes))?;
    Ok(())
}

fn as_json(path: &str, data: bool, report: &Report, out: &mut dyn Write) -> anyhow::Result<()> {
    let totals = &report.totals;
    let count = |severity| report.count(severity);
    write!(out, r#"{{"file":{},"sound":{},"data":{data}"#, json(path), report.is_sound())?;
    write!(out, r#","errors":{},"warnings":{}"#, count(Severity::Error), count(Severity::Warning))?;
    write!(out, r#","notes":{},"left_out":{}"#, count(Severity::Note), report.left_out())?;
    write!(out, r#","groups":{},"datasets":{}"#, totals.groups, totals.datasets)?;
    write!(out, r#","datatypes":{},"links":{}"#, totals.datatypes, totals.links)?;
    write!(out, r#","attributes":{},"structures":{}"#, totals.attributes, totals.structures)?;
    write!(out, r#","chunks":{},"decoded":{}"#, totals.chunks, totals.decoded)?;
    write!(out, r#","bytes":{},"free_bytes":{}"#, totals.bytes, totals.free_bytes)?;
    write!(out, r#","lost_bytes":{},"holes":{}"#, totals.lost_bytes, totals.holes)?;
    let findings: Vec<String> = report.findings.iter().map(finding_as_json).collect();
    writeln!(out, r#","findings":[{}]}}"#, findings.join(","))?;
    Ok(())
}

fn finding_as_json(finding: &Finding) -> String {
    let Finding { severity, structure, spec, at, path, message } = finding;
    let address = at.defined().map_or("null".to_owned(), |at| at.get().to_string());
    let path = if path.is_empty() { "null".to_owned() } else { json(path) };
    format!(
        r#"{{"severity":"{severity}","structure":{},"spec":{},"address":{address},"path":{path},"message":{}}}"#,
        json(structure),
        json(spec),
        json(message)
    )
}
