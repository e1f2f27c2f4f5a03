//! `hyperslab segy info`: what is in a SEG-Y file, or in a survey made of one.

use std::io::Write;
use std::path::PathBuf;

use hyperslab_segy::{Axis, ByteOrder, Cube, SegyFile, Survey};
use serde_json::{Value, json};

use super::{Taking, blame};
use crate::show::{bytes, plain};

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
Example:
  hyperslab segy info volume.sgy
  hyperslab segy info cube.h5 --json";

/// The signature of an HDF5 file.
const SIGNATURE: [u8; 8] = *b"\x89HDF\r\n\x1a\n";

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    let said = if is_hdf5(&args.file) { of_cube(args)? } else { of_segy(args)? };
    if args.json {
        writeln!(out, "{}", Value::Object(said))?;
        return Ok(());
    }
    writeln!(out, "{}", plain(&args.file.display().to_string()))?;
    for (name, value) in &said {
        let name = name.replace('_', " ");
        match value {
            Value::String(text) if text.contains('\n') => {
                writeln!(out, "{name}:")?;
                text.lines()
                    .filter(|line| !line.is_empty())
                    .try_for_each(|line| writeln!(out, "  {}", plain(line)))?;
            }
            Value::String(text) => writeln!(out, "{name:20} {}", plain(text))?,
            Value::Array(axes) if name == "axes" => {
                for axis in axes {
                    writeln!(
                        out,
                        "{:20} {} to {}{}, {} positions",
                        axis["name"].as_str().unwrap_or_default(),
                        axis["first"],
                        axis["last"],
                        axis["unit"].as_str().map(|unit| format!(" {unit}")).unwrap_or_default(),
                        axis["length"],
                    )?;
                }
            }
            Value::Number(number) if name == "bytes" => {
                writeln!(out, "{name:20} {}", bytes(number.as_u64().unwrap_or(0)))?;
            }
            Value::Null => {}
            other => writeln!(out, "{name:20} {other}")?,
        }
    }
    Ok(())
}

fn is_hdf5(path: &PathBuf) -> bool {
    use std::io::Read as _;
    let mut start = [0; 8];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == SIGNATURE
}

type Said = serde_json::Map<String, Value>;

fn of_segy(args: &Args) -> anyhow::Result<Said> {
    let file = SegyFile::open(&args.file, &args.taking.segy()).map_err(blame)?;
    let layout = file.layout();
    let survey = Survey::find(&file, &args.taking.survey()).map_err(blame)?;
    let (lines, encoding) = file.text()?;
    let mut axes: Vec<Value> = survey.axes.iter().map(axis).collect();
    let samples = file.traces().samples();
    axes.push(json!({"name": "sample", "first": 0, "last": samples - 1, "length": samples}));
    let mut said = Said::new();
    said.insert("bytes".into(), file.len_bytes().into());
    said.insert("revision".into(), format!("{}.{}", layout.revision.0, layout.revision.1).into());
    said.insert("byte_order".into(), order(layout.order).into());
    said.insert("sample_format".into(), layout.format.name().into());
    said.insert("sample_interval".into(), format!("{} us", layout.interval).into());
    said.insert("traces".into(), file.traces().count().into());
    said.insert("headers_per_trace".into(), layout.headers.into());
    said.insert("extended_textual_headers".into(), layout.extended.into());
    said.insert("survey".into(), survey.kind.name().into());
    said.insert("axes".into(), axes.into());
    said.insert("positions".into(), survey.positions().into());
    said.insert("note".into(), survey.note.clone().into());
    said.insert("text_encoding".into(), encoding.name().into());
    said.insert("text".into(), (lines.join("\n").trim_end().to_owned() + "\n").into());
    Ok(said)
}

fn of_cube(args: &Args) -> anyhow::Result<Said> {
    let cube = Cube::open(&args.file).map_err(blame)?;
    let (data, source, samples) = (cube.data(), cube.source(), cube.samples());
    let mut axes: Vec<Value> = cube.axes().iter().map(axis).collect();
    let (first, last) = (samples.values.first(), samples.values.last());
    let length = samples.values.len();
    axes.push(
        json!({"name": samples.name, "first": first, "last": last, "length": length, "unit": samples.unit}),
    );
    let mut said = Said::new();
    said.insert("source".into(), source.name.clone().into());
    said.insert("bytes".into(), std::fs::metadata(&args.file)?.len().into());
    said.insert("source_bytes".into(), source.bytes.into());
    said.insert("revision".into(), source.revision.clone().into());
    said.insert("byte_order".into(), order(source.order).into());
    said.insert("sample_format".into(), source.format.name().into());
    said.insert("survey".into(), cube.kind().name().into());
    said.insert("axes".into(), axes.into());
    said.insert("chunks".into(), data.chunk_shape().into());
    said.insert("text".into(), (source.text.clone() + "\n").into());
    Ok(said)
}

fn axis(axis: &Axis) -> Value {
    json!({"name": axis.name, "first": axis.values.first(), "last": axis.values.last(), "length": axis.values.len()})
}

fn order(order: ByteOrder) -> &'static str {
    if order == ByteOrder::Big { "big" } else { "little" }
}
