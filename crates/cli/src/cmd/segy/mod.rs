//! `hyperslab segy`: seismic surveys between SEG-Y and HDF5.

mod export;
mod info;
mod ingest;
mod slice;

use std::io::Write;
use std::ops::ControlFlow;

use clap::ValueEnum;
use hyperslab_segy::{Field, Kind, SegyOptions, SurveyOptions};
use indicatif::ProgressBar;

use crate::error::Usage;

/// Bring SEG-Y volumes into HDF5, look into them, cut slices out and write them back
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLE: &str = "\
Example:
  hyperslab segy info volume.sgy
  hyperslab segy ingest volume.sgy cube.h5 --filter blosc2:zstd:5
  hyperslab segy slice cube.h5 --inline 1200 --out il1200.npy
  hyperslab segy export cube.h5 back.sgy

docs/guide/seismic.md walks from a SEG-Y file to a slice.";

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

/// How a SEG-Y file is to be taken, and where its geometry is.
#[derive(Debug, clap::Args)]
struct Taking {
    /// Where trace headers hold the inline number: the first byte, counted from 1, and the kind of number if it is not i4
    #[arg(long, value_name = "BYTE[:KIND]", requires = "crossline_byte", help_heading = "Geometry")]
    inline_byte: Option<Field>,
    /// Where trace headers hold the crossline number
    #[arg(long, value_name = "BYTE[:KIND]", requires = "inline_byte", help_heading = "Geometry")]
    crossline_byte: Option<Field>,
    /// Where trace headers hold the offset, if not in byte 37
    #[arg(long, value_name = "BYTE[:KIND]", help_heading = "Geometry")]
    offset_byte: Option<Field>,
    /// Where trace headers hold the ensemble of a 2-D line, if not in byte 21
    #[arg(long, value_name = "BYTE[:KIND]", help_heading = "Geometry")]
    cdp_byte: Option<Field>,
    /// Where trace headers hold the x coordinate, if not in byte 181
    #[arg(long, value_name = "BYTE[:KIND]", requires = "y_byte", help_heading = "Geometry")]
    x_byte: Option<Field>,
    /// Where trace headers hold the y coordinate, if not in byte 185
    #[arg(long, value_name = "BYTE[:KIND]", requires = "x_byte", help_heading = "Geometry")]
    y_byte: Option<Field>,
    /// What the survey is, if that is not to be found out
    #[arg(long = "as", value_name = "KIND", help_heading = "Geometry")]
    kind: Option<KindArg>,
    /// Take traces of several lengths, and make them as long as the longest
    #[arg(long)]
    pad: bool,
    /// Take the whole traces of a file that is cut short
    #[arg(long)]
    ignore_rest: bool,
    /// Believe the file header where headers of traces count other samples
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
    /// Traces as they follow each other
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
                KindArg::Volume => Kind::Volume,
                KindArg::Prestack => Kind::Prestack,
                KindArg::Line => Kind::Line,
                KindArg::PrestackLine => Kind::PrestackLine,
                KindArg::Traces => Kind::Traces,
            }),
        }
    }
}

/// What the library says of a wrong argument is the user's fault.
fn blame(error: hyperslab_segy::Error) -> anyhow::Error {
    match error {
        error @ hyperslab_segy::Error::Argument { .. } => Usage(error.to_string()).into(),
        error => error.into(),
    }
}

/// Moves a bar.
fn moves(bar: &ProgressBar) -> impl Fn(u64, u64) -> ControlFlow<()> + Sync + '_ {
    |done, total| {
        bar.set_length(total);
        bar.set_position(done);
        ControlFlow::Continue(())
    }
}
