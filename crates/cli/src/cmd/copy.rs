//! `hyperslab copy`: copies an object to another file or within a file.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::Path;

use anyhow::Context as _;
use hyperslab::{CopyOptions, File, Node};
use hyperslab_tables::index;

use crate::error::{self, Usage};
use crate::place;
use crate::show::plain;

/// Copy an object, with everything in it, to another file or within one
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hyperslab copy climate.h5:/surface/t2m small.h5:/t2m
  hyperslab copy climate.h5:/surface archive.h5:/2024/surface --parents --expand-refs

Creates the file of TO if it does not exist. If TO is only a file, or ends in `:/`, the copy keeps the
name of FROM. Chunks are copied as they are stored, and a table with its indexes. A copy that fails
leaves nothing behind.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(crate) struct Args {
    /// The object to copy
    #[arg(value_name = "FROM:/PATH")]
    from: OsString,
    /// The file of the copy, and a path that does not exist in it yet
    #[arg(value_name = "TO[:/PATH]")]
    to: OsString,
    /// Copy subgroups without their members
    #[arg(long)]
    shallow: bool,
    /// Copy the objects that soft links lead to, in place of the links
    #[arg(long)]
    expand_soft: bool,
    /// Copy the objects that external links lead to, in place of the links
    #[arg(long)]
    expand_external: bool,
    /// Copy the objects that references lead to, too; otherwise references to objects of another file become
    /// null
    #[arg(long)]
    expand_refs: bool,
    /// Do not copy attributes
    #[arg(long)]
    without_attrs: bool,
    /// Create the missing groups on the path of the copy
    #[arg(long, short)]
    parents: bool,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    let source_path = place::split_new(&args.from).1;
    let (file, path) = place::split_new(&args.to);
    let target = target(path, source_path)?;
    let options = CopyOptions::default()
        .shallow(args.shallow)
        .expand_soft(args.expand_soft)
        .expand_external(args.expand_external)
        .expand_refs(args.expand_refs)
        .without_attributes(args.without_attrs);
    let is_new = !Path::new(file).exists();
    let copied = copy(args, file, is_new, &target, options);
    if copied.is_err() && is_new {
        // The first error is more informative. The new file is not a complete copy.
        let _ = std::fs::remove_file(file);
    }
    copied?;
    let from = plain(&args.from.to_string_lossy());
    writeln!(out, "{from} -> {}:{}", plain(&file.to_string_lossy()), plain(&target))?;
    Ok(())
}

fn copy(args: &Args, file: &OsStr, is_new: bool, target: &str, options: CopyOptions) -> anyhow::Result<()> {
    let file = Path::new(file);
    let shown = || file.display().to_string();
    // The destination is opened before the source, because both may be the same file.
    let opened = (!is_new).then(|| File::options().write(true).open(file)).transpose();
    let opened = opened.map_err(|error| error::opening(file, error))?;
    let source = place::open_object(&args.from)?;
    let to = opened.map_or_else(|| File::create(file).map_err(|error| error::opening(file, error)), Ok)?;
    insert(args, &source, &to, target, options).with_context(shown)
}

fn insert(args: &Args, source: &Node, to: &File, target: &str, options: CopyOptions) -> anyhow::Result<()> {
    if !args.parents
        && let Some((group, _)) = target.rsplit_once('/').filter(|(group, _)| !group.is_empty())
    {
        to.group(group).context("a group on the path of the copy (--parents creates it)")?;
    }
    index::copy(&to.root(), source, target, &options)?;
    Ok(to.flush()?)
}

/// Returns the path of the copy.
fn target(path: &str, source: &str) -> anyhow::Result<String> {
    if !path.ends_with('/') {
        return Ok(path.to_owned());
    }
    match source.trim_end_matches('/').rsplit('/').next() {
        Some(name) if !name.is_empty() => Ok(format!("{path}{name}")),
        _ => Err(Usage("the root group has no name: give one to the copy, as in TO:/NAME".to_owned()).into()),
    }
}
