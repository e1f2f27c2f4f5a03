//! `hyperslab copy`: an object from file to file, or within one.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::Path;

use anyhow::Context as _;
use hyperslab::{CopyOptions, File, Node};

use crate::error::{self, Usage};
use crate::place;
use crate::show::plain;

/// Copy an object, with everything in it, to another file or within one
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  hyperslab copy climate.h5:/surface/t2m small.h5:/t2m
  hyperslab copy climate.h5:/surface archive.h5:/2024/surface --parents --expand-refs

The file of TO is made if it is not there. A TO that ends in `:/`, or is a file alone, gets the name of FROM. Chunks are copied
as they are stored. If the copy fails nothing of it stays.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(crate) struct Args {
    /// What is copied
    #[arg(value_name = "FROM:/PATH")]
    from: OsString,
    /// Where the copy goes, where nothing may be yet
    #[arg(value_name = "TO[:/PATH]")]
    to: OsString,
    /// Copy groups below the first one without their members
    #[arg(long)]
    shallow: bool,
    /// Copy what soft links lead to in their place
    #[arg(long)]
    expand_soft: bool,
    /// Copy what external links lead to in their place
    #[arg(long)]
    expand_external: bool,
    /// Copy what references lead to, too; else references to another file's objects become null
    #[arg(long)]
    expand_refs: bool,
    /// Leave attributes out
    #[arg(long)]
    without_attrs: bool,
    /// Make the groups on the way to the copy
    #[arg(long, short)]
    parents: bool,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    let source_path = place::split_new(&args.from).1;
    let (file, path) = place::split_new(&args.to);
    let target = target(path, source_path)?;
    let options = CopyOptions {
        shallow: args.shallow,
        expand_soft: args.expand_soft,
        expand_external: args.expand_external,
        expand_refs: args.expand_refs,
        without_attributes: args.without_attrs,
    };
    let is_new = !Path::new(file).exists();
    let copied = copy(args, file, is_new, &target, options);
    if copied.is_err() && is_new {
        // The first error says more. What was made is no copy.
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
    // Opened before the source, which may be in the same file.
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
        to.group(group).context("a group on the way (--parents makes it)")?;
    }
    to.root().copy(source, target, &options)?;
    Ok(to.flush()?)
}

/// The path of the copy.
fn target(path: &str, source: &str) -> anyhow::Result<String> {
    if !path.ends_with('/') {
        return Ok(path.to_owned());
    }
    match source.trim_end_matches('/').rsplit('/').next() {
        Some(name) if !name.is_empty() => Ok(format!("{path}{name}")),
        _ => Err(Usage("the root group has no name: say one for the copy, TO:/NAME".to_owned()).into()),
    }
}
