//! `hyperslab segy slice`: extracts one plane of a survey.

use std::io::{BufWriter, IntoInnerError, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use hyperslab_plot::{Plane, PlaneAxis, Size};
use hyperslab_segy::{Cube, FieldKind, Number};
use npyz::WriterBuilder as _;

use super::blame;
use crate::error::Usage;
use crate::place;
use crate::plot;
use crate::show::{plain, shape};
use crate::target::{self, OutputFile};

/// Write one inline, crossline, offset or time slice of a survey to a file
#[derive(Debug, clap::Args)]
#[command(after_help = examples())]
#[command(group = clap::ArgGroup::new("plane").required(true))]
pub(super) struct Args {
    /// The HDF5 file or its URL
    #[arg(value_name = "CUBE")]
    from: PathBuf,
    /// The number of the inline
    #[arg(long, value_name = "NUMBER", group = "plane", allow_negative_numbers = true)]
    inline: Option<Number>,
    /// The number of the crossline
    #[arg(long, value_name = "NUMBER", group = "plane", allow_negative_numbers = true)]
    crossline: Option<Number>,
    /// The offset of the traces
    #[arg(long, value_name = "NUMBER", group = "plane", allow_negative_numbers = true)]
    offset: Option<Number>,
    /// The time or depth of the samples; the nearest sample is taken
    #[arg(long, value_name = "NUMBER", group = "plane", allow_negative_numbers = true)]
    slice: Option<f64>,
    #[cfg_attr(
        feature = "plot",
        doc = "The file to write: .npy or .sgy, or .png or .svg, which the Python package's command does not draw"
    )]
    #[cfg_attr(
        not(feature = "plot"),
        doc = "The file to write: .npy or .sgy (.png and .svg: not in this build)"
    )]
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// For pictures, the percentile of absolute amplitudes that gets the strongest colour
    #[arg(long, value_name = "PERCENT", default_value_t = 99.0)]
    clip: f64,
}

fn examples() -> String {
    let drawn = plot::example("\n  hyperslab segy slice cube.h5 --slice 752 --out t752.png");
    format!("Examples:\n  hyperslab segy slice cube.h5 --inline 1200 --out il1200.npy{drawn}")
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    let cube = Cube::of(place::open(&args.from)?).map_err(|error| blame(error, &args.from))?;
    target::check(&args.out, &args.from)?;
    let (axis, index) = args.place(&cube)?;
    match args.out.extension().and_then(|ending| ending.to_str()) {
        Some("npy") => npy(&cube, axis, index, &args.out)?,
        Some("sgy" | "segy") => hyperslab_segy::extract(&cube, axis, index, &args.out)
            .map_err(|error| blame(error, &args.from))?,
        Some("png" | "svg") => picture(&cube, axis, index, args)?,
        _ => {
            let out = args.out.display();
            let drawn = plot::example(".png, .svg, ");
            return Err(Usage(format!("--out {out}: name a {drawn}.npy or .sgy file")).into());
        }
    }
    let lengths: Vec<u64> = without(&cube.data.shape(), axis);
    writeln!(out, "{}: {}", plain(&args.out.display().to_string()), shape(&lengths))?;
    Ok(())
}

impl Args {
    /// Returns the axis of the plane, and its index on this axis.
    fn place(&self, cube: &Cube) -> anyhow::Result<(usize, u64)> {
        let named = [("inline", self.inline), ("crossline", self.crossline), ("offset", self.offset)];
        for (axis, number) in named {
            if let Some(number) = number {
                return cube.find(axis, number).map_err(|error| blame(error, &self.from));
            }
        }
        let (wanted, values) = (self.slice.unwrap_or(0.0), &cube.samples.values);
        let (first, last) = (values.first().copied().unwrap_or(0.0), values.last().copied().unwrap_or(0.0));
        if !(first..=last).contains(&wanted) {
            let unit = &cube.samples.unit;
            return Err(
                Usage(format!("--slice {wanted}: the samples range from {first} to {last} {unit}")).into()
            );
        }
        let distance = |value: f64| (value - wanted).abs();
        let nearest = (0..values.len()).min_by(|&a, &b| distance(values[a]).total_cmp(&distance(values[b])));
        Ok((cube.axes.len(), nearest.unwrap_or(0) as u64))
    }
}

fn without(shape: &[u64], axis: usize) -> Vec<u64> {
    shape.iter().enumerate().filter(|&(number, _)| number != axis).map(|(_, &len)| len).collect()
}

/// Draws the plane as a picture, with samples or crosslines downwards.
fn picture(cube: &Cube, axis: usize, index: u64, args: &Args) -> anyhow::Result<()> {
    plot::check(&args.out, SIZE).map_err(|error| {
        let python = if cfg!(feature = "plot") { "" } else { ", or draw with `survey.plot` in Python" };
        Usage(format!("{error}{python}"))
    })?;
    let shape = cube.data.shape();
    let left: Vec<usize> = (0..shape.len()).filter(|&number| number != axis).collect();
    let &[across, down] = &left[..] else {
        let why = format!("a picture has two axes, and this slice has {}: write it as .npy", left.len());
        return Err(Usage(format!("--out {}: {why}", args.out.display())).into());
    };
    let values: Vec<f32> = cube.data.read(cube.plane(axis, index))?;
    let (rows, columns) = (usize::try_from(shape[down])?, usize::try_from(shape[across])?);
    let turned: Vec<f32> = (0..rows * columns).map(|i| values[i % columns * rows + i / columns]).collect();
    let (title, labels) = (named(cube, axis, index), [down, across].map(|axis| label(cube, axis)));
    let axis_of = |axis: usize, label| {
        let (first, last) = ends(cube, axis);
        PlaneAxis { label, first, last }
    };
    let plane = Plane {
        values: &turned,
        rows,
        columns,
        row_axis: axis_of(down, &labels[0]),
        column_axis: axis_of(across, &labels[1]),
        title: &title,
        clip: args.clip,
    };
    hyperslab_plot::plane(&args.out, SIZE, &plane)
}

/// The size of a picture in pixels.
const SIZE: Size = Size { width: 1200, height: 900 };

/// Returns the values at the ends of an axis.
fn ends(cube: &Cube, axis: usize) -> (f64, f64) {
    let (first, last) = match cube.axes.get(axis) {
        Some(axis) => (axis.values.first().map(Number::as_real), axis.values.last().map(Number::as_real)),
        None => (cube.samples.values.first().copied(), cube.samples.values.last().copied()),
    };
    (first.unwrap_or(0.0), last.unwrap_or(0.0))
}

/// Returns the name of an axis with its unit.
fn label(cube: &Cube, axis: usize) -> String {
    match cube.axes.get(axis) {
        Some(axis) => axis.name.to_owned(),
        None => format!("{} ({})", cube.samples.name, cube.samples.unit),
    }
}

/// Returns a description of the plane.
fn named(cube: &Cube, axis: usize, index: u64) -> String {
    let index = usize::try_from(index).unwrap_or(0);
    let samples = &cube.samples;
    match cube.axes.get(axis) {
        Some(axis) => {
            let number = axis.values.get(index).map_or_else(String::new, |number| number.to_string());
            format!("{}: {} {number}", cube.source.name, axis.name)
        }
        None => {
            format!("{}: {} {} {}", cube.source.name, samples.name, samples.values[index], samples.unit)
        }
    }
}

/// Saves the plane as a NumPy array.
fn npy(cube: &Cube, axis: usize, index: u64, to: &Path) -> anyhow::Result<()> {
    let shown = || to.display().to_string();
    macro_rules! save {
        ($($stored:pat => $number:ty),*) => {
            match cube.source.format.stored() {
                $($stored => {
                    let values: Vec<$number> = cube.data.read(cube.plane(axis, index))?;
                    let mut file = BufWriter::new(OutputFile::new(to).with_context(shown)?);
                    let shape = without(&cube.data.shape(), axis);
                    let mut writer = npyz::WriteOptions::new().default_dtype().shape(&shape).writer(&mut file).begin_nd()?;
                    writer.extend(values)?;
                    writer.finish()?;
                    let file = file.into_inner().map_err(IntoInnerError::into_error).with_context(shown)?;
                    file.finish().with_context(shown)?;
                })*
                FieldKind::Text8 => bail!("samples are numbers"),
            }
        };
    }
    save!(
        FieldKind::F32 => f32, FieldKind::F64 => f64, FieldKind::I8 => i8, FieldKind::I16 => i16,
        FieldKind::I32 => i32, FieldKind::I64 => i64, FieldKind::U8 => u8, FieldKind::U16 => u16,
        FieldKind::U32 => u32, FieldKind::U64 => u64
    );
    Ok(())
}
