//! `hyperslab segy export`: converts HDF5 back to SEG-Y.

use std::io::Write;
use std::path::PathBuf;

use hyperslab_segy::Cube;

use super::blame;
use crate::cmd::Threads;
use crate::show::plain;
use crate::{place, progress, target};

/// Write a survey back as SEG-Y, byte for byte the original file
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct Args {
    /// The HDF5 file or its URL
    #[arg(value_name = "CUBE")]
    from: PathBuf,
    /// The new SEG-Y file, which gets its name only when it is complete
    #[arg(value_name = "OUT")]
    to: PathBuf,
    #[command(flatten)]
    threads: Threads,
}

const EXAMPLE: &str = "\
Example:
  hyperslab segy export cube.h5 back.sgy

Changed samples are written with their new values, and headers as they are in /segy.";

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    args.threads.set();
    let cube = Cube::of(place::open(&args.from)?).map_err(|error| blame(error, &args.from))?;
    target::check(&args.to, &args.from)?;
    let bar = progress::bar(progress::BYTES, Some(0))?;
    let done = hyperslab_segy::export(&cube, &args.to, &super::moves(&bar));
    bar.finish_and_clear();
    done.map_err(|error| blame(error, &args.from))?;
    let [from, to] = [&args.from, &args.to].map(|path| plain(&place::shown(path)));
    writeln!(out, "{from} -> {to}: {}", crate::show::bytes(std::fs::metadata(&args.to)?.len()))?;
    Ok(())
}
