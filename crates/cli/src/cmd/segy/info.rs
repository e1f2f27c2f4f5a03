//! `hyperslab segy info`: describes a SEG-Y file, or a survey made from one.

use std::io::Write;
use std::path::PathBuf;

use hyperslab_segy::{AxisSummary, Fact};
use serde_json::{Value, json};

use super::{Taking, blame, check_local};
use crate::show::{bytes, counted, plain};

/// Show the headers and the geometry of a SEG-Y file, or of a survey in HDF5
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct Args {
    /// The SEG-Y or HDF5 file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    taking: Taking,
}

const EXAMPLE: &str = "\
Examples:
  hyperslab segy info volume.sgy
  hyperslab segy info cube.h5 --json";

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    check_local(&args.file)?;
    let said = hyperslab_segy::summary(&args.file, &args.taking.segy(), &args.taking.survey())
        .map_err(|error| blame(error, &args.file))?;
    if args.json {
        let said: serde_json::Map<_, _> =
            said.into_iter().map(|(name, fact)| (name.to_owned(), json!(fact))).collect();
        writeln!(out, "{}", Value::Object(said))?;
        return Ok(());
    }
    writeln!(out, "{}", plain(&args.file.display().to_string()))?;
    for (name, fact) in &said {
        let name = name.replace('_', " ");
        match fact {
            Fact::Text(text) => writeln!(out, "{name:24} {}", plain(text))?,
            Fact::Count(number) => writeln!(out, "{name:24} {number}")?,
            Fact::Bytes(number) => writeln!(out, "{name:24} {}", bytes(*number))?,
            Fact::Microseconds(interval) => writeln!(out, "{name:24} {interval} us")?,
            Fact::Shape(shape) => {
                let sides: Vec<String> = shape.iter().map(u64::to_string).collect();
                writeln!(out, "{name:24} {}", sides.join(" x "))?;
            }
            Fact::Axes(axes) => {
                for axis in axes {
                    writeln!(out, "{:24} {}", plain(&axis.name), positions(axis))?;
                }
            }
            Fact::Lines(text) => {
                writeln!(out, "{name}:")?;
                text.lines()
                    .filter(|line| !line.is_empty())
                    .try_for_each(|line| writeln!(out, "  {}", plain(line)))?;
            }
        }
    }
    Ok(())
}

/// Returns the positions of an axis: `100 to 108, 5 positions`.
fn positions(axis: &AxisSummary) -> String {
    let ends = axis.first.zip(axis.last).map_or_else(String::new, |(first, last)| {
        let unit = axis.unit.as_ref().map_or_else(String::new, |unit| format!(" {}", plain(unit)));
        format!("{first} to {last}{unit}, ")
    });
    format!("{ends}{}", counted(axis.length, "position"))
}
