//! `hyperslab segy`: converts seismic surveys between SEG-Y and HDF5.

mod export;
mod info;
mod ingest;
mod slice;

use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

use clap::ValueEnum;
use hyperslab_remote::is_url;
use hyperslab_segy::{Field, SegyOptions, SurveyKind, SurveyOptions};
use indicatif::ProgressBar;

use crate::error::{Usage, opening};
use crate::interrupt::Left;
use crate::place;

/// Convert SEG-Y surveys to HDF5, inspect them, cut out slices, and write them back
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLE: &str = "\
Examples:
  hyperslab segy info volume.sgy
  hyperslab segy ingest volume.sgy cube.h5 --filter blosc2:zstd:5
  hyperslab segy slice cube.h5 --inline 1200 --out il1200.npy
  hyperslab segy export cube.h5 back.sgy

The page 'From a SEG-Y file to a slice' of the documentation is a guide.";

#[derive(Debug, clap::Subcommand)]
enum Command {
    Ingest(ingest::Args),
    Info(info::Args),
    Slice(slice::Args),
    Export(export::Args),
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    match &args.command {
        Command::Ingest(args) => ingest::run(args, out),
        Command::Info(args) => info::run(args, out),
        Command::Slice(args) => slice::run(args, out),
        Command::Export(args) => export::run(args, out),
    }
}

impl Args {
    /// Returns what to say about the file if the command is interrupted.
    pub(super) fn left_by_interrupts(&self) -> Left {
        match &self.command {
            Command::Ingest(args) => args.left_by_interrupts(),
            Command::Info(_) | Command::Slice(_) | Command::Export(_) => Box::new(|| None),
        }
    }
}

/// Options for reading a SEG-Y file and for its geometry.
#[derive(Debug, clap::Args)]
struct Taking {
    /// The trace header field of the inline number: its first byte, counted from 1, and its kind if that is
    /// not i4
    #[arg(long, value_name = "BYTE[:KIND]", requires = "crossline_byte", help_heading = "Geometry")]
    inline_byte: Option<Field>,
    /// The trace header field of the crossline number
    #[arg(long, value_name = "BYTE[:KIND]", requires = "inline_byte", help_heading = "Geometry")]
    crossline_byte: Option<Field>,
    /// The trace header field of the offset [default: 37]
    #[arg(long, value_name = "BYTE[:KIND]", help_heading = "Geometry")]
    offset_byte: Option<Field>,
    /// The trace header field of the ensemble of a 2-D line [default: 21]
    #[arg(long, value_name = "BYTE[:KIND]", help_heading = "Geometry")]
    cdp_byte: Option<Field>,
    /// The trace header field of the x coordinate [default: 181]
    #[arg(long, value_name = "BYTE[:KIND]", requires = "y_byte", help_heading = "Geometry")]
    x_byte: Option<Field>,
    /// The trace header field of the y coordinate [default: 185]
    #[arg(long, value_name = "BYTE[:KIND]", requires = "x_byte", help_heading = "Geometry")]
    y_byte: Option<Field>,
    /// The kind of the survey [default: inferred from the trace headers]
    #[arg(long = "as", value_name = "KIND", help_heading = "Geometry")]
    kind: Option<KindArg>,
    /// Accept traces of several lengths, and pad them to the length of the longest
    #[arg(long)]
    pad: bool,
    /// Accept a file that is cut short, and read its whole traces
    #[arg(long)]
    ignore_rest: bool,
    /// Trust the file header if trace headers give other numbers of samples
    #[arg(long)]
    trust_length: bool,
}

/// The kinds of surveys.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum KindArg {
    /// A trace for each inline and crossline
    Volume,
    /// A trace for each inline, crossline and offset
    Prestack,
    /// A trace for each common depth point
    Line,
    /// A trace for each common depth point and offset
    PrestackLine,
    /// Traces in file order
    Traces,
}

impl Taking {
    fn segy(&self) -> SegyOptions {
        SegyOptions { pad: self.pad, ignore_rest: self.ignore_rest, trust_length: self.trust_length }
    }

    fn survey(&self) -> SurveyOptions {
        SurveyOptions {
            lines: self.inline_byte.zip(self.crossline_byte),
            offset: self.offset_byte,
            cdp: self.cdp_byte,
            coordinates: self.x_byte.zip(self.y_byte),
            kind: self.kind.map(|kind| match kind {
                KindArg::Volume => SurveyKind::Volume,
                KindArg::Prestack => SurveyKind::Prestack,
                KindArg::Line => SurveyKind::Line,
                KindArg::PrestackLine => SurveyKind::PrestackLine,
                KindArg::Traces => SurveyKind::Traces,
            }),
        }
    }
}

/// Refuses a URL of a SEG-Y file.
fn check_local(path: &Path) -> anyhow::Result<()> {
    if path.to_str().is_some_and(is_url) {
        let why = "SEG-Y files are read from this machine: download the file first";
        return Err(Usage(format!("{}: {why}", place::shown(path))).into());
    }
    Ok(())
}

/// Turns an error about an argument into a usage error, and names the file of any other. `hdf5` is the HDF5
/// file.
fn blame(error: hyperslab_segy::Error, hdf5: &Path) -> anyhow::Error {
    match error {
        hyperslab_segy::Error::Hdf5(cause) => opening(hdf5, cause),
        hyperslab_segy::Error::Open { cause, .. } => opening(hdf5, *cause),
        error @ hyperslab_segy::Error::Argument { .. } => Usage(error.to_string()).into(),
        hyperslab_segy::Error::Io { path, cause } => anyhow::Error::new(cause).context(path),
        error => error.into(),
    }
}

/// Returns a progress function that moves `bar`.
fn moves(bar: &ProgressBar) -> impl Fn(u64, u64) -> ControlFlow<()> + Sync + '_ {
    |done, total| {
        bar.set_length(total);
        bar.set_position(done);
        ControlFlow::Continue(())
    }
}
