//! `hyperslab refs`: references to the chunks of HDF5 files, for the readers of Zarr.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::error::Usage;
use crate::interrupt::Left;
use crate::refs::{Options, Plan, kerchunk};
use crate::show::{counted, plain};
use crate::target::{self, OutputFile};
use crate::{place, progress};

/// Write kerchunk or Icechunk references, with which Zarr readers open HDF5 files
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hyperslab refs climate.h5 -o climate.json --url s3://archive/climate.h5
  hyperslab refs climate.h5 -o climate.parq --format parquet
  hyperslab refs run*.h5 --out-dir refs --url https://data.example/runs/

Zarr readers then read the HDF5 files in place: fsspec's `reference://`, xarray's engine `kerchunk`, and
VirtualiZarr. With several files, each gets its own references in --out-dir; kerchunk and VirtualiZarr combine
them. Datasets that Zarr cannot read in place, for example because it has no codec for a filter, are an error
that names them all; --skip-unsupported leaves them out. Strings of variable length are embedded.")]
pub(crate) struct Args {
    /// The HDF5 files or their URLs
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The form of the references
    #[arg(long, value_enum, default_value = "kerchunk")]
    format: Format,
    /// Write to TARGET, which is replaced if it is a JSON file [default: standard output]
    #[arg(short = 'o', long = "output", value_name = "TARGET", conflicts_with = "folder")]
    target: Option<PathBuf>,
    /// Write to a file or folder in DIR for each FILE
    #[arg(long = "out-dir", value_name = "DIR")]
    folder: Option<PathBuf>,
    /// The URL by which readers find the file; if it ends with `/`, the name of the file follows [default:
    /// the absolute path]
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Embed chunks of fewer bytes
    #[arg(long, value_name = "BYTES", default_value = "0")]
    inline: u64,
    /// Embed an array's strings, and its chunks stored without filters, up to BYTES
    #[arg(long, value_name = "BYTES", default_value = "1048576")]
    embed: u64,
    /// Split contiguous data into chunks of about BYTES
    #[arg(long, value_name = "BYTES", default_value = "67108864")]
    split: u64,
    /// The references in each file of Parquet
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "N", default_value = "100000")]
    record_size: std::num::NonZeroUsize,
    /// Also use codecs of the Python package imagecodecs
    #[arg(long)]
    imagecodecs: bool,
    /// Leave out datasets that cannot be referenced, and say why on standard error
    #[arg(long)]
    skip_unsupported: bool,
}

/// A form of references.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// The JSON of kerchunk, version 1
    Kerchunk,
    /// The Parquet files of kerchunk, which fsspec reads piece by piece
    #[cfg(feature = "parquet")]
    Parquet,
    /// An Icechunk repository, by the Python package icechunk
    Icechunk,
}

impl Format {
    fn extension(self) -> &'static str {
        match self {
            Self::Kerchunk => "json",
            #[cfg(feature = "parquet")]
            Self::Parquet => "parq",
            Self::Icechunk => "icechunk",
        }
    }
}

/// Writes references into an Icechunk repository.
pub trait Icechunk {
    /// Writes a repository at `target`, which does not exist, with references to the file at `source`. If
    /// `skip` is true, datasets that cannot be referenced are left out.
    fn write(&self, source: &Path, target: &Path, options: &Options, skip: bool) -> anyhow::Result<()>;
}

impl Args {
    /// Returns what to say about the repository if the command is interrupted.
    pub(super) fn left_by_interrupts(&self) -> Left {
        let begun = self.target.clone().filter(|target| self.format == Format::Icechunk && !target.exists());
        Box::new(move || {
            let target = begun.as_ref().filter(|target| target.exists())?;
            Some(format!("{} is incomplete: remove it", target.display()))
        })
    }
}

pub(super) fn run(
    args: &Args,
    out: &mut dyn Write,
    err: &mut dyn Write,
    icechunk: Option<&dyn Icechunk>,
) -> anyhow::Result<()> {
    if args.files.len() > 1 && args.folder.is_none() {
        return Err(
            Usage("several files need --out-dir, in which each gets its references".to_owned()).into()
        );
    }
    if args.files.len() > 1 && args.url.as_ref().is_some_and(|url| !url.ends_with('/')) {
        return Err(Usage("--url of several files ends with `/`, and the names follow".to_owned()).into());
    }
    if let Some(folder) = &args.folder {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let targets: Vec<Option<PathBuf>> =
        args.files.iter().map(|file| target(args, file)).collect::<Result<_, _>>()?;
    for (index, target) in targets.iter().enumerate() {
        if target.is_some() && targets[..index].contains(target) {
            return Err(
                Usage("two of the files have the same name: write them to two folders".to_owned()).into()
            );
        }
    }
    for (file, target) in args.files.iter().zip(&targets) {
        one(args, file, target.as_deref(), out, err, icechunk)?;
    }
    Ok(())
}

/// Returns where the references of a file go; `None` is the standard output.
fn target(args: &Args, file: &Path) -> anyhow::Result<Option<PathBuf>> {
    let Some(folder) = &args.folder else {
        if args.target.is_none() && args.format != Format::Kerchunk {
            return Err(Usage("this format is a folder: name one with -o".to_owned()).into());
        }
        return Ok(args.target.clone());
    };
    let mut name = file.file_stem().with_context(|| file.display().to_string())?.to_owned();
    name.push(".");
    name.push(args.format.extension());
    Ok(Some(folder.join(name)))
}

fn one(
    args: &Args,
    file: &Path,
    target: Option<&Path>,
    out: &mut dyn Write,
    err: &mut dyn Write,
    icechunk: Option<&dyn Icechunk>,
) -> anyhow::Result<()> {
    let shown = || place::shown(file);
    let url = match &args.url {
        Some(url) if url.ends_with('/') => {
            let name = file.file_name().and_then(|name| name.to_str());
            Some(format!("{url}{}", name.with_context(|| format!("{}: no name in UTF-8", shown()))?))
        }
        url => url.clone(),
    };
    let Args { inline, embed, split, imagecodecs, .. } = *args;
    let options = Options { url, inline, embed, split, imagecodecs };
    if args.format == Format::Icechunk {
        let Some(icechunk) = icechunk else {
            bail!(
                "Icechunk is written by its Python package: `pip install hyperslab icechunk zarr`, and run \
                 the command of that installation; kerchunk and parquet need no package"
            );
        };
        let Some(target) = target else { return Ok(()) };
        if !target.exists() {
            target::check_other(target)?;
        }
        return icechunk.write(file, target, &options, args.skip_unsupported);
    }
    let opened = place::open(file)?;
    if let Some(target) = target.filter(|target| !target.is_dir()) {
        target::check(target, file)?;
    }
    let busy = progress::busy(&format!("looking up the chunks of {}", plain(&shown())))?;
    let plan = Plan::new(&opened.root(), options).with_context(shown)?;
    drop(busy);
    report(plan.left_out().iter().map(|left| (&*left.path, &*left.why)), args.skip_unsupported, err)
        .with_context(shown)?;
    match target {
        #[cfg(feature = "parquet")]
        Some(target) if args.format == Format::Parquet => {
            let _busy = progress::busy(&format!("writing {}", plain(&target.display().to_string())))?;
            crate::refs::parquet::write(&plan, target, args.record_size.get())
        }
        Some(path) => {
            target::check(path, file)?;
            let _busy = progress::busy(&format!("writing {}", plain(&path.display().to_string())))?;
            let named = || path.display().to_string();
            let mut out = BufWriter::new(OutputFile::new(path).with_context(named)?);
            kerchunk::write(&plan, &mut out).map_err(|error| whose(error, &shown(), Some(&named())))?;
            out.flush().with_context(named)?;
            out.into_inner()
                .map_err(std::io::IntoInnerError::into_error)
                .with_context(named)?
                .finish()
                .with_context(named)
        }
        None => kerchunk::write(&plan, out).map_err(|error| whose(error, &shown(), None)),
    }
}

/// Adds the name of the file that failed: the file that is read, or else the target, if it has a name.
fn whose(error: anyhow::Error, read: &str, written: Option<&str>) -> anyhow::Error {
    let name =
        if error.chain().any(<dyn std::error::Error>::is::<hyperslab::Error>) { Some(read) } else { written };
    match name {
        Some(name) => error.context(name.to_owned()),
        None => error,
    }
}

/// Tells which datasets are left out, or refuses to leave any out.
fn report<'l>(
    left_out: impl ExactSizeIterator<Item = (&'l str, &'l str)>,
    skip: bool,
    err: &mut dyn Write,
) -> anyhow::Result<()> {
    let count = left_out.len() as u64;
    let lines: Vec<String> =
        left_out.map(|(path, why)| format!("  {}: {}", plain(path), plain(why))).collect();
    if count == 0 {
        return Ok(());
    }
    let text = format!("{} left out:\n{}", counted(count, "dataset"), lines.join("\n"));
    if skip {
        // Standard error may be closed.
        let _ = writeln!(err, "hyperslab: {text}");
        return Ok(());
    }
    let text = format!(
        "{} cannot be referenced (--skip-unsupported leaves them out):\n{}",
        counted(count, "dataset"),
        lines.join("\n")
    );
    Err(crate::error::Lines(text).into())
}
