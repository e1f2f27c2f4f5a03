//! `hyperslab copy`: copies an object to another file or within a file.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use hyperslab::driver::Aside;
use hyperslab::{CopyOptions, Error, File, Node};
use hyperslab_tables::index;

use crate::error::{self, Usage};
use crate::interrupt::Left;
use crate::show::plain;
use crate::{place, progress, target};

/// Copy an object, with everything in it, to another file or within one
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hyperslab copy climate.h5:/surface/t2m small.h5:/t2m
  hyperslab copy s3://archive/climate.h5:/surface/t2m small.h5
  hyperslab copy climate.h5:/surface archive.h5:/2024/surface --parents --expand-refs

Creates the file of TO if it does not exist. If TO is only a file, or ends in `:/`, the copy keeps the
name of FROM. Chunks are copied as they are stored, and a table with its indexes. A copy that fails or
is interrupted leaves nothing behind.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(crate) struct Args {
    /// The object to copy
    #[arg(value_name = "FROM:/PATH", value_hint = clap::ValueHint::FilePath)]
    from: OsString,
    /// The file of the copy, and a path that does not exist in it yet
    #[arg(value_name = "TO[:/PATH]", value_hint = clap::ValueHint::FilePath)]
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
    /// Also copy the objects that references lead to; otherwise references to objects of another file become
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
    let target = path_of_copy(path, source_path)?;
    let options = CopyOptions::default()
        .shallow(args.shallow)
        .expand_soft(args.expand_soft)
        .expand_external(args.expand_external)
        .expand_refs(args.expand_refs)
        .without_attributes(args.without_attrs);
    let file = Path::new(file);
    target::check_other(file)?;
    let busy = progress::busy(&format!("copying {}", plain(&place::shown(Path::new(&args.from)))))?;
    let copied =
        if file.exists() { into(args, file, &target, options) } else { to_new(args, file, &target, options) };
    drop(busy);
    copied?;
    let from = plain(&place::shown(Path::new(&args.from)));
    writeln!(out, "{from} -> {}:{}", plain(&file.display().to_string()), plain(&target))?;
    Ok(())
}

impl Args {
    /// Returns what to say about the file if the command is interrupted.
    pub(super) fn left_by_interrupts(&self) -> Left {
        let file = Path::new(place::split_new(&self.to).0);
        let existing = file.exists().then(|| file.display().to_string());
        Box::new(move || {
            let file = existing.as_ref()?;
            Some(format!(
                "{file} has the whole copy or nothing of it; if it does not open, `hyperslab recover` mends it, \
                 and if it is larger now, `hyperslab repack` drops what is unused"
            ))
        })
    }
}

/// Copies into a file that exists.
fn into(args: &Args, file: &Path, target: &str, options: CopyOptions) -> anyhow::Result<()> {
    // The destination is opened before the source, because both may be the same file.
    let to = File::options().write(true).open(file).map_err(|error| error::opening(file, error))?;
    let source = place::open_object(&args.from)?;
    insert(args, &source, &to, file, target, options)
}

/// Copies into a new file, which gets its name when it is complete.
fn to_new(args: &Args, file: &Path, target: &str, options: CopyOptions) -> anyhow::Result<()> {
    let source = place::open_object(&args.from)?;
    let failed = |error| error::between(Path::new(&args.from), file, error);
    let aside = Aside::new(file).map_err(|cause| failed(Error::io("create", 0, 0)(cause)))?;
    // While the source was opened, another program may have made the file. From here on, none does.
    anyhow::ensure!(
        !file.exists(),
        "{} was made by another program meanwhile: run the command again to copy into it",
        file.display()
    );
    let new = File::options().create(true).truncate(true).location(file);
    let to = new.open_on(Arc::clone(aside.medium()) as _).map_err(failed)?;
    insert(args, &source, &to, file, target, options)?;
    to.close().map_err(failed)?;
    aside.finish().map_err(|cause| failed(Error::io("rename", 0, 0)(cause)))
}

fn insert(
    args: &Args,
    source: &Node,
    to: &File,
    file: &Path,
    target: &str,
    options: CopyOptions,
) -> anyhow::Result<()> {
    let shown = || file.display().to_string();
    if !args.parents
        && let Some((group, _)) = target.rsplit_once('/').filter(|(group, _)| !group.is_empty())
    {
        let found = to.group(group);
        found.context("a group on the path of the copy (--parents creates it)").with_context(shown)?;
    }
    let copied = index::copy(&to.root(), source, target, &options).and_then(|_| to.flush());
    copied.map_err(|error| match error.root() {
        Error::Request(_) => anyhow::Error::new(error).context(shown()),
        _ => error::between(Path::new(&args.from), file, error),
    })
}

/// Returns the path of the copy.
fn path_of_copy(path: &str, source: &str) -> anyhow::Result<String> {
    if !path.ends_with('/') {
        return Ok(path.to_owned());
    }
    match source.trim_end_matches('/').rsplit('/').next() {
        Some(name) if !name.is_empty() => Ok(format!("{path}{name}")),
        _ => Err(Usage("the root group has no name: give one to the copy, as in TO:/NAME".to_owned()).into()),
    }
}
