//! `hyperslab explain`: shows the plan of a read.

use std::io::Write;

use hyperslab::{Dataset, VirtualSource};
use serde_json::json;

use super::Selected;
use crate::place::ObjectPath;
use crate::show::{datatype, plain, shape};

/// Show how a selection would be read, without reading data
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  hyperslab explain climate.h5 /surface/t2m --select '[0, ::8, ::8]'

Shows the chunks that the selection touches, their positions in the file, and whether each is decoded
straight into the result.")]
pub(crate) struct Args {
    #[command(flatten)]
    place: ObjectPath,
    #[command(flatten)]
    selected: Selected,
    /// Print the whole plan as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    let dataset = args.place.open()?.into_dataset()?;
    let parsed = args.selected.elements(&dataset.shape())?;
    if dataset.is_virtual() {
        return sources(&dataset, args.json, out);
    }
    let plan = dataset.plan(&parsed.selection)?;
    if args.json {
        writeln!(out, "{}", plan.to_json())?;
        return Ok(());
    }
    let name = datatype::name(&dataset.datatype());
    writeln!(out, "{}  dataset  {name}  {}", plain(dataset.path()), shape(&dataset.shape()))?;
    write!(out, "{plan}")?;
    Ok(())
}

/// Prints the sources of a virtual dataset.
fn sources(dataset: &Dataset, is_json: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    let sources = dataset.virtual_sources_found()?;
    if is_json {
        let one = |source: &VirtualSource| json!({ "file": source.file, "dataset": source.dataset, "missing": source.is_missing });
        let all: Vec<_> = sources.iter().map(one).collect();
        writeln!(out, "{}", json!({ "virtual_sources": all }))?;
        return Ok(());
    }
    let name = datatype::name(&dataset.datatype());
    writeln!(out, "{}  virtual dataset  {name}  {}", plain(dataset.path()), shape(&dataset.shape()))?;
    for source in sources {
        let missing =
            if source.is_missing == Some(true) { "  (missing: reads as the fill value)" } else { "" };
        writeln!(out, "  {}{missing}", plain(&source.to_string()))?;
    }
    Ok(())
}
