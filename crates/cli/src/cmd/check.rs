//! `hyperslab check`: checks whether a file is sound.

use std::io::Write;
use std::path::{Path, PathBuf};

use anstyle::Style;
use anyhow::bail;
use hyperslab_check::{CheckOptions, Finding, Progress, Report, Severity};
use hyperslab_format::Addr;
use serde_json::json;

use super::Outputs;
use crate::place::NamedObject;
use crate::show::paint::{BROKEN, HEAD, Paint};
use crate::show::{bytes, counted, plain};
use crate::{error, place, progress};

/// Check every structure of files, and account for every byte
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hyperslab check climate.h5
  hyperslab check --data archive/*.h5
  hyperslab check climate.h5 --data --json | jq '.findings[] | select(.severity == \"error\")'

Follows everything that the superblock leads to. Decodes each structure, verifies its checksum, counts
and order, and makes sure that no two structures share a byte. Errors give exit code 1. Warnings, such
as 4096 or more bytes that nothing refers to, do no harm; with --strict they also give exit code 1. The
command writes nothing. After a crash, it checks the state that `hyperslab recover` would restore.")]
pub(crate) struct Args {
    /// HDF5 files or their URLs
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Decode every chunk, and follow variable-length elements and references
    #[arg(long)]
    data: bool,
    /// Also exit with code 1 on warnings
    #[arg(long)]
    strict: bool,
    /// Print JSON, a line for each file
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, to: &mut Outputs<'_>) -> anyhow::Result<()> {
    let files: Vec<NamedObject> = args.files.iter().map(|file| NamedObject::file(file)).collect();
    to.each(&files, |to, file| check(args, &file.file, to))
}

fn check(args: &Args, path: &Path, to: &mut Outputs<'_>) -> anyhow::Result<()> {
    let opening = |error| error::opening(path, error);
    let options = CheckOptions::default().data(args.data);
    let progress = progress::bar(progress::SPINNER, None)?;
    let mut tell = |now: Progress<'_>| {
        let chunks = now.totals.chunks;
        progress.set_message(if chunks == 0 {
            plain(now.path)
        } else {
            format!("{} {}", plain(now.path), counted(chunks, "chunk"))
        });
    };
    let medium = place::medium(path).map_err(opening)?;
    let report = hyperslab_check::check(medium, &options, &mut tell);
    progress.finish_and_clear();
    let report = report.map_err(opening)?;
    let path = place::shown(path);
    let shown = plain(&path);
    if args.json {
        as_json(&path, args.data, &report, to.out)?;
    } else {
        as_text(&shown, &report, to.paint, to.out)?;
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

fn as_text(shown: &str, report: &Report, paint: Paint, out: &mut dyn Write) -> anyhow::Result<()> {
    for finding in &report.findings {
        let style = if finding.severity == Severity::Error { BROKEN } else { Style::new() };
        writeln!(out, "{}", paint.styled(style, &plain(&finding.to_string())))?;
    }
    if report.left_out() > 0 {
        writeln!(out, "({} more)", report.left_out())?;
    }
    let totals = &report.totals;
    let (verdict, style) = match report.worst() {
        Some(Severity::Error) => ("damaged", BROKEN),
        Some(Severity::Warning) => ("sound, with warnings", HEAD),
        Some(Severity::Note) | None => ("sound", HEAD),
    };
    writeln!(out, "{shown}: {}", paint.styled(style, verdict))?;
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
    let (totals, count) = (&report.totals, |severity| report.count(severity));
    let finding = |finding: &Finding| {
        let Finding { severity, structure, spec, at, path, message, .. } = finding;
        let path = Some(path).filter(|path| !path.is_empty());
        json!({
            "severity": severity.to_string(), "structure": structure, "spec": spec,
            "address": at.defined().map(Addr::get), "path": path, "message": message,
        })
    };
    let said = json!({
        "file": path, "sound": report.is_sound(), "data": data, "errors": count(Severity::Error),
        "warnings": count(Severity::Warning), "notes": count(Severity::Note), "left_out": report.left_out(),
        "groups": totals.groups, "datasets": totals.datasets, "datatypes": totals.datatypes,
        "links": totals.links, "attributes": totals.attributes, "structures": totals.structures,
        "chunks": totals.chunks, "decoded": totals.decoded, "bytes": totals.bytes,
        "free_bytes": totals.free_bytes, "lost_bytes": totals.lost_bytes, "holes": totals.holes,
        "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
    });
    Ok(writeln!(out, "{said}")?)
}
