//! `hyperslab diff`: shows the differences between two files or two objects.

mod finding;
mod tolerance;
mod tree;
mod values;

use std::ffi::OsString;
use std::io::Write;

use anyhow::bail;

use tolerance::Tolerance;
use tree::Trees;

use crate::show::value::Decoder;
use crate::show::{counted, json, plain};
use crate::{place, progress};

/// Show the differences between two files or two objects
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hyperslab diff before.h5 after.h5
  hyperslab diff run1.h5:/surface run2.h5:/surface --rtol 1e-6 --json | jq '.differences[].path'

Compares links, kinds of objects, datatypes, shapes, attributes and values. Storage, such as chunks and
filters, makes no difference. Numbers are equal if `|a - b| <= ATOL + RTOL * |b|`, and NaN equals NaN.
References are equal if they lead to objects with the same path. Exit codes: 0 equal, 1 different,
2 failure.")]
pub(crate) struct Args {
    /// The first file, or `FILE:/PATH` for an object in it
    #[arg(value_name = "A[:/PATH]")]
    a: OsString,
    /// The second file or object
    #[arg(value_name = "B[:/PATH]")]
    b: OsString,
    /// The tolerance for numbers, relative to the second number
    #[arg(long, value_name = "R", default_value = "0", value_parser = tolerance)]
    rtol: f64,
    /// The absolute tolerance for numbers
    #[arg(long, value_name = "A", default_value = "0", value_parser = tolerance)]
    atol: f64,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print nothing, and stop at the first difference
    #[arg(long, short, conflicts_with = "json")]
    quiet: bool,
    /// Show at most N elements of a dataset
    #[arg(long, value_name = "N", default_value_t = 10)]
    max: usize,
}

fn tolerance(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| *number >= 0.0);
    number.ok_or_else(|| "a tolerance is a number of 0 or more".to_owned())
}

/// Runs the comparison, and returns whether there are no differences.
pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<bool> {
    let (a, b) = (place::open_object(&args.a)?, place::open_object(&args.b)?);
    let (a_file, b_file) = (a.file().clone(), b.file().clone());
    let decoders = [&Decoder::thorough(&a_file), &Decoder::thorough(&b_file)];
    let mut trees = Trees {
        decoders,
        tolerance: Tolerance { relative: args.rtol, absolute: args.atol },
        most: args.max,
        first_alone: args.quiet,
        found: Vec::new(),
    };
    let progress = progress::bar("{spinner} {binary_bytes}, {binary_bytes_per_sec} {wide_msg}", None)?;
    trees.compare(a, b, &|path| progress.set_message(plain(path)), &|bytes| progress.inc(bytes));
    progress.finish_and_clear();
    let found = trees.found;
    let trouble = found.iter().filter(|finding| finding.is_trouble()).count() as u64;
    let differences = found.len() as u64 - trouble;
    if args.json {
        let [a, b] = [&args.a, &args.b].map(|name| json(&name.to_string_lossy()));
        let listed: Vec<String> = found.iter().map(finding::Finding::json).collect();
        let same = found.is_empty();
        writeln!(out, r#"{{"a":{a},"b":{b},"same":{same},"differences":[{}]}}"#, listed.join(","))?;
    } else if !args.quiet {
        found.iter().try_for_each(|finding| writeln!(out, "{}", finding.text()))?;
    }
    if trouble > 0 {
        bail!("{} cannot be compared", counted(trouble, "object"));
    }
    Ok(differences == 0)
}
